"""The operations that lowered functions call; they are never run as Python (see `lowering`).

A module to be lowered imports these names, all but `apart`, for type checkers alone: the lowering knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

F = TypeVar("F", bound=Callable[..., int])


def apart(function: F) -> F:
    """Mark a function that is not to be built into its callers."""
    return function


if TYPE_CHECKING:

    def u8(at: int) -> int:
        """Return the unsigned number of 8 bits at an address; `u16`, `u32` and, signed, `u64` are like this.

        `be16`, `be32` and, signed, `be64` take the most significant byte first. Code that Python runs, too, has bytes
        and an offset in place of the address: `data[at]`, `u16(data, at)`.
        """

    def u16(at: int) -> int: ...
    def u32(at: int) -> int: ...
    def u64(at: int) -> int: ...
    def be16(at: int) -> int: ...
    def be32(at: int) -> int: ...
    def be64(at: int) -> int: ...

    def put8(at: int, value: int) -> int:
        """Store the lowest 8 bits of a number at an address; `put32` and `put64` are like this."""

    def put32(at: int, value: int) -> int: ...
    def put64(at: int, value: int) -> int: ...

    def get(base: int, index: int) -> int:
        """Return a number of an array of 64-bit numbers at an address."""

    def put(base: int, index: int, *values: int) -> int:
        """Store numbers from there on; return the last."""

    def add(base: int, index: int, value: int) -> int:
        """Add to a number there; return the sum."""

    def move(to: int, source: int, count: int) -> int:
        """Copy bytes between addresses that do not overlap."""

    def select(condition: int, one: int, other: int) -> int:
        """Return one of two numbers, without a branch."""

    def prefetch(at: int) -> int:
        """Request a line of the cache; any address is allowed."""

    def nuls(at: int) -> int:
        """Return a bit for each NUL among the 32 WCHARs at an address, the first one's lowest."""
