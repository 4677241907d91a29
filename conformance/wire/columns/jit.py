"""Compiles functions over arrays to LLVM code by numba: functions of 64-bit integers, without the Python runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from conformance.wire.columns.extra import need_columns

need_columns()

import numba  # noqa: E402
import numpy as np  # noqa: E402
from llvmlite import binding, ir  # noqa: E402
from numba import from_dtype, njit, types  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])
Kind = tuple[str, int] | None
"""The type of an argument: the type and the number of dimensions of an array, None for an integer."""
_POINTER = cast(Any, types.CPointer)
_WORD = ir.IntType(64)
_BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # these wrappers are for callers from Python
_COUNTING = ("NRT_incref", "NRT_decref", "NRT_MemInfo_call_dtor")
"""Functions that numba calls to count references to arrays; nothing counts them here, so they do nothing."""


def compiled(function: F) -> F:
    """Compile a function so that others compiled in the same way can call it."""
    done: Any = cast(Any, njit)(nogil=True, error_model="numpy", **_BARE)(function)
    return cast(F, done)


def inlined(function: F) -> F:
    """Compile a function as a part of each that calls it: a call that passes many arrays takes as long as its work."""
    done: Any = cast(Any, njit)(nogil=True, error_model="numpy", inline="always", **_BARE)(function)
    return cast(F, done)


def text_of(function: Any, kinds: Sequence[Kind], symbol: str) -> str:
    """Return the LLVM code of a `compiled` function that returns an integer, under this symbol.

    For an array it takes an address and the length of each dimension; the array must be contiguous.
    """
    names: list[str] = []
    given: list[str] = []
    signature: list[Any] = []
    for at, kind in enumerate(kinds):
        names.append(f"a{at}")
        if kind is None:
            given.append(f"a{at}")
            signature.append(types.int64)
            continue
        lengths = [f"a{at}_{number}" for number in range(kind[1])]
        names += lengths
        given.append(f"carray(a{at}, ({', '.join(lengths)},))")
        signature += [_POINTER(from_dtype(np.dtype(kind[0]))), *[types.int64] * kind[1]]
    defined: dict[str, Any] = {"carray": cast(Any, numba).carray, "function": function}
    exec(f"def entry({', '.join(names)}):\n    return function({', '.join(given)})\n", defined)
    compiling = cast(Any, njit)(types.int64(*signature), nogil=True, error_model="numpy", **_BARE)
    made = compiling(defined["entry"])
    found = made.overloads[made.signatures[0]]
    module = binding.parse_assembly(found.library.get_llvm_str())
    module.link_in(binding.parse_assembly(_entry(signature, found.fndesc.mangled_name, symbol)))
    return str(module)


def _entry(signature: Sequence[Any], name: str, symbol: str) -> str:
    """Build a function of integers that calls numba's, which returns its result by address, and a status."""
    module = ir.Module("entry")
    for counting in _COUNTING:
        nothing = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()]), name=counting)
        ir.IRBuilder(nothing.append_basic_block()).ret_void()
    byte = ir.IntType(8).as_pointer()
    kinds = [_WORD if kind is types.int64 else byte for kind in signature]
    status = ir.IntType(32)
    callee = ir.Function(module, ir.FunctionType(status, [_WORD.as_pointer(), byte.as_pointer(), *kinds]), name=name)
    function = ir.Function(module, ir.FunctionType(_WORD, [_WORD] * len(kinds)), name=symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    result, error = builder.alloca(_WORD), builder.alloca(byte)
    builder.store(_WORD(0), result)
    arguments = [
        value if kind is _WORD else builder.inttoptr(value, kind)
        for value, kind in zip(function.args, kinds, strict=True)
    ]
    builder.call(callee, [result, error, *arguments])
    builder.ret(builder.load(result))
    return str(module)
