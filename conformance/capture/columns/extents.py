"""How long a packet is by its own headers, to be lowered: `conformance.wire.framing` in machine code.

These functions are never run as Python: see `conformance.wire.columns.lowering`. They read nothing behind the packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.capture.columns.places import ASTRAY
    from conformance.wire.headers import SIGNATURE, VERSION

    def u8(at: int) -> int: ...
    def u16(at: int) -> int: ...
    def u32(at: int) -> int: ...


_QUEUE_SIZES = (
    0, -1, -1, 4, -1, 16, -1, -2,
    0, -1, 4, 4, -1, 16, 20, -2,
    0, 0, 4, 4, 4, 16, 20, -2,
)  # fmt: skip
_INTERNAL_SIZES = (0, 36, 572, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def padded(size: int) -> int:
    """Return the next multiple of four."""
    return (size + 3) & -4


def extent(at: int, have: int) -> int:
    """Return what `conformance.wire.framing.extent` does, of `have` bytes at an address."""
    flags = u16(at + 2)
    if flags & 0x08 != 0:
        return -20 if have < 20 else _INTERNAL_SIZES[u8(at + 18) & 15]
    if have < 64:
        return -64
    word = u32(at + 60)
    if word & 0x12A00000 != 0x00200000:
        return 0
    end = 64
    for queue in range(3):
        size = _QUEUE_SIZES[8 * queue + (word >> 10 + 3 * queue & 7)]
        if size == -1:
            return 0
        if size == -2:
            if have < end + 2:
                return -end - 2
            size = padded(2 + u16(at + end))
        end += size
    if word & 0x00400000 != 0:
        end += 16
    if word & 0x00100000 != 0:
        if have < end + 4:
            return -end - 4
        end += 20 + 16 * (u8(at + end) & 1)
    if word & 0x00080000 != 0:
        if have < end + 16:
            return -end - 16
        secured = at + end
        end += 16 + padded(u16(secured + 2)) + padded(u16(secured + 4)) + padded(u16(secured + 6))
        end += padded(u32(secured + 8)) + padded(u32(secured + 12))
    if have < end + 56:
        return -end - 56
    properties = at + end
    size = u32(properties + 32)
    if u32(properties + 40) != 0 and u32(properties + 36) > size:
        return 0
    end += padded(56 + 2 * u8(properties + 1) + size + u32(properties + 52))
    if flags & 0x20 != 0:
        if have < end + 4:
            return -end - 4
        kind = u8(at + end) & 3
        if kind > 1:
            return 0
        end += 4 + 16 * kind
    return end + (flags & 0x10)


def doubtful(at: int, size: int) -> int:
    """Return 1 for what `conformance.wire.framing.doubtful` is true of, else 0."""
    own = extent(at, size)
    if own == size or own == 0:
        return 0
    if own < 0 or own > size:
        return 1 if max(own, -own) <= size + ASTRAY else 0
    if size > own + ASTRAY or u8(at + own) != VERSION:
        return 0
    byte = 4
    while byte < 8 and own + byte < size:
        if u8(at + own + byte) != SIGNATURE >> 8 * (byte - 4) & 0xFF:
            return 0
        byte += 1
    return 1


def may_end(at: int, have: int, announced: int) -> int:
    """Return 1 if the packet may end within the `have` bytes at an address, a few bytes before it announces; else 0."""
    own = extent(at, have)
    return 1 if own > 0 and own <= have and announced <= own + ASTRAY else 0
