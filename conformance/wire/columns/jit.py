"""Where emitted code meets numba: a lowered source as a function that numba code calls, and the loop around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from conformance.wire.columns.extra import need_columns

need_columns()

from numba import njit, types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

from conformance.wire.columns.lowering import build  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A function as machine code, compiled at its first call and kept on disk beside its module."""
    done: Any = njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast(F, done)


def lowered(source: str, name: str) -> Any:
    """A function of an emitted source, to be called by a `kernel` with one tuple of int64."""

    def typed(_context: Any, arguments: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, values: Any) -> Any:
            function = build(builder.module, source)[name]
            return builder.call(function, [builder.extract_value(values[0], at) for at in range(len(function.args))])

        return types.int64(arguments), generate

    typed.__name__ = typed.__qualname__ = name
    return intrinsic(typed)
