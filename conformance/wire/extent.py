"""How long a packet is by its own headers, whatever its PacketSize says (MS-MQMQ 2.2.19 and 2.2.20, MS-MQQB 2.2)."""

from __future__ import annotations

from struct import unpack_from

from conformance.wire.framing import is_head
from conformance.wire.recognition import FLAGS_AT, INTERNAL_SIZES
from conformance.wire.session_header import SESSION_HEADER_SIZE

ASTRAY = 64
"""The most bytes that a wrong PacketSize is told from another length by."""

_INTERNAL, _SESSION, _DEBUG = 0x08, 0x10, 0x20  # BaseHeader.Flags
_SECURED, _TRANSACTION, _PROPERTIES, _CONNECTOR = 1 << 19, 1 << 20, 1 << 21, 1 << 22  # UserHeader.Flags
_OTHERS = 1 << 23 | 1 << 25 | 1 << 28  # lists of queues, and headers of HTTP messages: their sizes are in doubt
_TYPE_AT, _USER_HEADER_END = 18, 64
_ID, _GUID, _DIRECT = 4, 16, -1
_QUEUES: tuple[tuple[int, dict[int, int]], ...] = (
    (10, {0: 0, 3: _ID, 5: _GUID, 7: _DIRECT}),
    (13, {0: 0, 2: _ID, 3: _ID, 5: _GUID, 6: _GUID + _ID, 7: _DIRECT}),
    (16, {0: 0, 1: 0, 2: _ID, 3: _ID, 4: _ID, 5: _GUID, 6: _GUID + _ID, 7: _DIRECT}),
)
"""The low bit of each queue's type in UserHeader.Flags, and the bytes of its name by type."""


def extent(data: bytes | bytearray, have: int) -> int:
    """Return the length in bytes that the headers of a packet add up to, its SessionHeader included.

    have: how many bytes of data may be read, at least 16. 0: they do not tell. -n: n bytes are needed to tell.
    """
    (flags,) = unpack_from("<H", data, 2)
    if flags & _INTERNAL:
        return INTERNAL_SIZES.get(data[_TYPE_AT] & 0x0F, 0) if have >= _TYPE_AT + 2 else -_TYPE_AT - 2
    if have < _USER_HEADER_END:
        return -_USER_HEADER_END
    (word,) = unpack_from("<I", data, FLAGS_AT)
    if word & _OTHERS or not word & _PROPERTIES:
        return 0
    end = _USER_HEADER_END
    for low, sizes in _QUEUES:
        size = sizes.get(word >> low & 7)
        if size is None:
            return 0
        if size == _DIRECT:
            if have < end + 2:
                return -end - 2
            size = _padded(2 + int.from_bytes(data[end : end + 2], "little"))
        end += size
    if word & _CONNECTOR:
        end += _GUID
    if word & _TRANSACTION:
        if have < end + 4:
            return -end - 4
        end += 20 + _GUID * (data[end] & 1)
    if word & _SECURED:
        if have < end + 16:
            return -end - 16
        identity, key, signature, certificate, provider = unpack_from("<HHHII", data, end + 2)
        end += 16 + sum(map(_padded, (identity, key, signature, certificate, provider)))
    if have < end + 56:
        return -end - 56
    size, allocated, privacy = unpack_from("<III", data, end + 32)
    if privacy and allocated > size:
        return 0  # Two lengths of an encrypted body are possible.
    end += _padded(56 + 2 * data[end + 1] + size + unpack_from("<I", data, end + 52)[0])
    if flags & _DEBUG:
        if have < end + 4:
            return -end - 4
        kind = data[end] & 3
        if kind > 1:
            return 0
        end += 4 + _GUID * kind
    return end + SESSION_HEADER_SIZE if flags & _SESSION else end


def doubtful(data: bytes | bytearray, size: int) -> bool:
    """Return True if the bytes behind a packet must show whether it is really `size` bytes long, as it announces.

    Its headers add up to a few bytes more, or to fewer where the next packet may begin. data: at least `size` bytes.
    """
    own = extent(data, size)
    if own < 0 or own > size:
        return abs(own) <= size + ASTRAY
    return 0 < own < size <= own + ASTRAY and is_head(bytes(data[own : min(size, own + 8)]), 0)


def _padded(size: int) -> int:
    return (size + 3) & ~3
