"""Functions of UTF-16LE text for rules, to be lowered. `at` is an address, `length` bytes, `chars` WCHARs.

Texts and their lengths are random, so these functions have few branches: a misprediction costs as much as reading a
text. Bytes before a text may be read: every text has at least 64 bytes of its packet before its end, and so have the
zeros that are read instead of an absent one (see `frames`).

These functions are never run as Python: their source is a part of all emitted code (see `lowering`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.wire.columns.calls import nuls, select, u8, u16, u64

_ONES = 0x0001_0001_0001_0001
_HIGHS = -0x7FFF_7FFF_7FFF_8000  # 0x8000 in each of four WCHARs, as a signed number


def terminated(at: int, length: int) -> int:
    """Return 1 when the last WCHAR is a NUL and no half WCHAR is left over."""
    return (length >= 2) & (length & 1 == 0) & (u16(at + length - 2) == 0)


def shown(at: int, length: int) -> int:
    """Return the WCHARs of the value: without the NUL at the end, without half a WCHAR."""
    return (length >> 1) - terminated(at, length)


def has_nul(at: int, chars: int) -> int:
    """Return 1 when one of these WCHARs is a NUL. The last 64 bytes are read to their end, and so are the first,
    unless they are fewer. No branch depends on a text of up to 64 WCHARs."""
    last = at + 2 * chars - 64
    whole = chars >= 32
    found = nuls(last) >> select(whole, 0, 32 - chars)
    found |= nuls(select(whole, at, last)) & -whole
    while at + 64 < last:
        at += 64
        found |= nuls(at)
    return found != 0


def inner_nul(at: int, length: int) -> int:
    """Return 1 when the value holds a NUL."""
    return has_nul(at, shown(at, length))


def nul_at(at: int, length: int) -> int:
    """Return the bytes before the first NUL WCHAR that lies whole within `length`; -1 when there is none."""
    gone = 0
    while gone + 8 <= length:
        four = u64(at + gone)
        if (four - _ONES) & ~four & _HIGHS != 0:
            break
        gone += 8
    while gone + 2 <= length:
        if u16(at + gone) == 0:
            return gone
        gone += 2
    return -1


def behind(at: int, length: int) -> int:
    """Return the bytes behind the first NUL WCHAR; 0 when there is none."""
    gone = nul_at(at, length)
    return select(gone < 0, 0, length - gone - 2)


def zeros(at: int, length: int) -> int:
    """Return 1 when all bytes behind the first NUL WCHAR are zero."""
    left = behind(at, length)
    found = 0
    while left > 0:
        found |= u8(at + length - left)
        left -= 1
    return found == 0


def mixed(at: int, length: int) -> int:
    """Return a 64-bit hash of bytes: multiply and fold, eight at a time. Only the presence of an odd last byte
    counts. Equal bytes give equal hashes; the reverse holds up to chance."""
    word = length * -0x61C8_8646_80B5_83EB
    while length >= 8:
        word = (word ^ u64(at)) * -0x40A7_B892_E31B_1A47
        word ^= (word >> 29) & 0x7_FFFF_FFFF
        at += 8
        length -= 8
    while length >= 2:
        word = (word ^ u16(at)) * -0x6B2F_B644_ECCE_EE15
        word ^= (word >> 32) & 0xFFFF_FFFF
        at += 2
        length -= 2
    return word
