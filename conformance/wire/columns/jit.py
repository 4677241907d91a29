"""Where machine code meets numba: decorators, words of memory by address, and lowered sources as functions.

An address is an int64, and none is checked. Passing addresses instead of arrays saves seven machine words a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from conformance.wire.columns.extra import need_columns

need_columns()

from numba import njit, types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

from conformance.wire.columns.lowering import ask_for, build, load  # noqa: E402

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
            return load(builder, arguments[0], bits)

        return types.int64(types.int64), generate

    typed.__name__ = typed.__qualname__ = f"u{bits}"
    return intrinsic(typed)


def _prefetch(_context: Any, address: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        ask_for(builder, arguments[0])
        return arguments[0]

    return types.int64(types.int64), generate


u8, u16, u32, u64 = (_load(bits) for bits in (8, 16, 32, 64))
"""An unsigned number of so many bits at an address, as int64: 64 bits wrap."""
prefetch = intrinsic(_prefetch)
"""prefetch(address): ask for a cache line. Any address may be given."""


def lowered(source: str, name: str) -> Any:
    """A function of an emitted source, to be called by a `kernel` with one tuple of int64."""

    def typed(_context: Any, arguments: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, values: Any) -> Any:
            function = build(builder.module, source)[name]
            return builder.call(function, [builder.extract_value(values[0], at) for at in range(len(function.args))])

        return types.int64(arguments), generate

    typed.__name__ = typed.__qualname__ = name
    return intrinsic(typed)
