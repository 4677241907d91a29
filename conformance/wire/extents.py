"""How long a packet is by its own headers, for Python and for machine code (see `conformance.wire.columns.lowering`).

`data` is bytes in Python, and their address in machine code. Nothing behind the bytes that may be read is read.
"""

from __future__ import annotations

from conformance.wire.framing import FLAGS_AT, INTERNAL, INTERNAL_SIZES, SESSION, u16, u32
from conformance.wire.headers import (
    ADMINISTRATION,
    DESTINATION,
    DIRECT_FORMAT,
    RESPONSE,
    SESSION_HEADER_SIZE,
    SIGNATURE,
    VERSION,
)
from conformance.wire.layout import UInt

ASTRAY = 64
"""The most bytes that a wrong PacketSize is told from another length by."""

_DEBUG = 0x20  # BaseHeader.Flags
_SECURED, _TRANSACTION, _PROPERTIES, _CONNECTOR = 1 << 19, 1 << 20, 1 << 21, 1 << 22  # UserHeader.Flags
_OTHERS = 1 << 23 | 1 << 25 | 1 << 28  # lists of queues, and headers of HTTP messages: their sizes are in doubt
_TYPE_AT, _USER_HEADER_END = 18, 64
_TYPE_BIT = 10  # of the first queue in UserHeader.Flags; each has three
_GUID, _DIRECT, _UNKNOWN = 16, -1, -2

_QUEUE_SIZES = tuple(
    _UNKNOWN
    if kind not in formats
    else _DIRECT
    if formats[kind] is DIRECT_FORMAT
    else sum(one.width if isinstance(one, UInt) else _GUID for one in formats[kind])
    for formats in (DESTINATION, ADMINISTRATION, RESPONSE)
    for kind in range(8)
)
_INTERNAL_SIZES = tuple(INTERNAL_SIZES.get(kind, 0) for kind in range(16))


def _padded(size: int) -> int:
    return (size + 3) & -4


def _security(data: bytes | bytearray, at: int) -> int:
    """Return the length of a SecurityHeader, of which 16 bytes are here."""
    texts = _padded(u16(data, at + 2)) + _padded(u16(data, at + 4)) + _padded(u16(data, at + 6))
    return 16 + texts + _padded(u32(data, at + 8)) + _padded(u32(data, at + 12))


def extent(data: bytes | bytearray, have: int) -> int:
    """Return the length in bytes that the headers of a packet add up to, its SessionHeader included.

    have: how many bytes of data may be read, at least 16. 0: they do not tell. -n: n bytes are needed to tell.
    """
    flags = u16(data, 2)
    if flags & INTERNAL != 0:
        return -_TYPE_AT - 2 if have < _TYPE_AT + 2 else _INTERNAL_SIZES[data[_TYPE_AT] & 15]
    if have < _USER_HEADER_END:
        return -_USER_HEADER_END
    word = u32(data, FLAGS_AT)
    if word & (_OTHERS | _PROPERTIES) != _PROPERTIES:
        return 0
    end = _USER_HEADER_END
    for queue in range(3):
        size = _QUEUE_SIZES[8 * queue + (word >> _TYPE_BIT + 3 * queue & 7)]
        if size == _UNKNOWN:
            return 0
        if size == _DIRECT:
            if have < end + 2:
                return -end - 2
            size = _padded(2 + u16(data, end))
        end += size
    if word & _CONNECTOR != 0:
        end += _GUID
    if word & _TRANSACTION != 0:
        if have < end + 4:
            return -end - 4
        end += 20 + _GUID * (data[end] & 1)
    if word & _SECURED != 0:
        if have < end + 16:
            return -end - 16
        end += _security(data, end)
    if have < end + 56:
        return -end - 56
    size = u32(data, end + 32)
    if u32(data, end + 40) != 0 and u32(data, end + 36) > size:
        return 0  # Two lengths of an encrypted body are possible.
    end += _padded(56 + 2 * data[end + 1] + size + u32(data, end + 52))
    if flags & _DEBUG != 0:
        if have < end + 4:
            return -end - 4
        if data[end] & 3 > 1:
            return 0
        end += 4 + _GUID * (data[end] & 3)
    return end + SESSION_HEADER_SIZE if flags & SESSION != 0 else end


def doubtful(data: bytes | bytearray, size: int) -> bool:
    """Return True if the bytes behind a packet must show whether it is really `size` bytes long, as it announces.

    Its headers add up to a few bytes more, or to fewer where the next packet may begin. data: at least `size` bytes.
    """
    own = extent(data, size)
    if own < 0 or own > size:
        return max(own, -own) <= size + ASTRAY
    if own == 0 or own == size or size > own + ASTRAY or data[own] != VERSION:
        return False
    byte = 4
    while byte < 8 and own + byte < size:
        if data[own + byte] != SIGNATURE >> 8 * (byte - 4) & 0xFF:
            return False
        byte += 1
    return True
