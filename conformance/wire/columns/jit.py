"""The few machine words the emitted code is written in: loads, stores and a prefetch by address.

An address is an int64. No load is checked: the emitted walkers check every length before they read, and code that
reads what may be absent reads zeros instead (see `shapes`). Arrays are not passed between emitted functions, since
each costs seven machine words a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from conformance.wire.columns.extra import need_columns

need_columns()

from llvmlite import ir  # noqa: E402
from numba import njit, types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A function as machine code, compiled at its first call and kept on disk beside its module."""
    done: Any = njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(F, done)


def inner(function: F) -> F:
    """A function only `kernel`s call: it is compiled into them and not kept by itself."""
    done: Any = njit(nogil=True, error_model="numpy")(function)
    return cast(F, done)


def _load(bits: int) -> Any:
    def typed(_context: Any, address: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            word = ir.IntType(bits)
            value = builder.load(builder.inttoptr(arguments[0], word.as_pointer()), align=1)
            return value if bits == 64 else builder.zext(value, ir.IntType(64))

        return types.int64(types.int64), generate

    typed.__name__ = typed.__qualname__ = f"u{bits}"
    return intrinsic(typed)


def _get(_context: Any, base: Any, index: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = builder.inttoptr(arguments[0], word.as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]), align=8)

    return types.int64(types.int64, types.int64), generate


def _put(_context: Any, base: Any, index: Any, value: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = builder.inttoptr(arguments[0], word.as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]), align=8)
        return arguments[2]

    return types.int64(types.int64, types.int64, types.int64), generate


def _prefetch(_context: Any, address: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8), ir.IntType(32)
        pointer = builder.inttoptr(arguments[0], byte.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])
        name = "llvm.prefetch.p0i8" if "i8*" in str(byte.as_pointer()) else "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name=name)
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return arguments[0]

    return types.int64(types.int64), generate


def _select(_context: Any, condition: Any, one: Any, other: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        return builder.select(builder.icmp_signed("!=", arguments[0], word(0)), arguments[1], arguments[2])

    return types.int64(types.int64, types.int64, types.int64), generate


u8, u16, u32, u64 = (_load(bits) for bits in (8, 16, 32, 64))
"""An unsigned number of so many bits at an address, as int64: 64 bits wrap."""
get = intrinsic(_get)
"""get(base, index): an int64 of a row of them."""
put = intrinsic(_put)
"""put(base, index, value)"""
prefetch = intrinsic(_prefetch)
"""prefetch(address): ask for a cache line. Any address may be given."""
select = intrinsic(_select)
"""select(condition, one, other): without a branch; both are worked out."""
