"""Reads of memory for functions compiled by numba. An address is an int64; nothing checks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.extending import intrinsic

from conformance.wire.columns.lowering import PREFIX, build


def _call(name: str) -> Callable[[int], int]:
    """Return a call of `lowering`, as an intrinsic of numba."""
    source = f"def {name}_at(address):\n    return {name}(address)\n"

    def typed(_context: Any, address: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            found = builder.module.globals.get(f"{PREFIX}{name}_at")
            return builder.call(found or build(builder.module, source)[f"{name}_at"], arguments)

        return types.int64(types.int64), generate

    typed.__name__ = typed.__qualname__ = name
    return cast(Callable[[int], int], intrinsic(typed))


u8, u16, u64, prefetch = map(_call, ("u8", "u16", "u64", "prefetch"))
"""See `calls`."""
