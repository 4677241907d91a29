"""The intrinsics of the walk: loads, a prefetch and a move by address.

An address is an int64. Loads are unchecked: the walk checks every length before it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

Load = Callable[[int], int]


def source_of(module: ModuleType, *constants: ModuleType) -> str:
    """Return the source of a module to be lowered, preceded by the numbers that these modules define."""
    numbers = {name: value for one in constants for name, value in vars(one).items() if isinstance(value, int)}
    lines = [f"{name} = {int(value)}" for name, value in numbers.items() if name.isupper()]
    return "\n".join([*lines, Path(str(module.__file__)).read_text("utf-8")])


def _load(bits: int) -> Any:
    def typed(_context: Any, address: Any) -> Any:
        def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            word = ir.IntType(bits)
            return builder.zext(
                builder.load(builder.inttoptr(arguments[0], word.as_pointer()), align=1), ir.IntType(64)
            )

        return types.int64(types.int64), generate

    typed.__name__ = typed.__qualname__ = f"u{bits}"
    return intrinsic(typed)


def _prefetch(_context: Any, address: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        name = "llvm.prefetch.p0i8" if "i8*" in str(byte) else "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name=name)
        builder.call(function, [builder.inttoptr(arguments[0], byte), number(0), number(3), number(1)])
        return arguments[0]

    return types.int64(types.int64), generate


def _move(_context: Any, to: Any, source: Any, count: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        there, here = (builder.inttoptr(address, byte) for address in arguments[:2])
        cast(Any, cgutils.raw_memcpy)(builder, there, here, arguments[2], 1, 1)
        return arguments[2]

    return types.int64(types.int64, types.int64, types.int64), generate


u8: Load = _load(8)
u16: Load = _load(16)
u32: Load = _load(32)
"""The unsigned number of 8, 16 or 32 bits at an address."""
u64: Load = _load(64)
"""The signed number of 64 bits at an address."""
prefetch: Load = cast(Any, intrinsic(_prefetch))
"""prefetch(address): request a cache line. Any address is allowed."""
move: Callable[[int, int, int], int] = cast(Any, intrinsic(_move))
"""move(to, source, count): copy bytes; the two ranges must not overlap."""
