"""The one machine word of the walk that `wire.columns.jit` has not: bytes from one address to another."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _move(_context: Any, to: Any, source: Any, count: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        there, here = (builder.inttoptr(address, byte) for address in arguments[:2])
        cgutils.raw_memcpy(builder, there, here, arguments[2], 1, 1)
        return arguments[2]

    return types.int64(types.int64, types.int64, types.int64), generate


move = intrinsic(_move)
"""move(to, source, count): the two must not overlap."""
