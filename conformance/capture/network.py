"""Reassembles IP datagrams from fragments, in bounded memory."""

from __future__ import annotations

import ipaddress
import struct
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache

from conformance.capture.encapsulation import NO_IP, PROTOCOLS, UDP_PORTS, Step, follow, link_step
from conformance.capture.records import NO_PACKET, Record

MAX_DATAGRAMS = 256  # Datagrams waiting for fragments at once; the oldest is given up.
MAX_LENGTH = 65_535  # Of the payload, in both versions of IP.
WAIT_NS = 30_000_000_000  # RFC 791 and RFC 8200 give up after 15 and 60 seconds.


@dataclass(frozen=True, slots=True)
class Fragment:
    """One fragment. identifier: shared by the fragments of a datagram. offset: in bytes. last: nothing follows it."""

    source: str
    destination: str
    protocol: int
    identifier: int
    offset: int
    last: bool
    payload: bytes

    @property
    def datagram(self) -> tuple[str, str, int, int]:
        """The key that fragments of one datagram share."""
        return self.source, self.destination, self.protocol, self.identifier


@dataclass(slots=True)
class _Waiting:
    time_ns: int
    pieces: dict[int, bytes] = field(default_factory=dict)
    held: int = 0
    length: int | None = None
    count: int = 0


class Fragments:
    """The datagrams of a capture whose fragments are incomplete. given_up: fragments of datagrams never completed."""

    def __init__(self) -> None:
        self.given_up = 0
        self._waiting: OrderedDict[tuple[str, str, int, int], _Waiting] = OrderedDict()

    def add(self, time_ns: int, fragment: Fragment) -> bytes | None:
        """Add a fragment; return the whole payload once it is complete, else None. The first copy of a byte wins."""
        self._forget_old(time_ns)
        if not fragment.payload:
            self.given_up += 1
            return None
        key = fragment.datagram
        waiting = self._waiting.setdefault(key, _Waiting(time_ns))
        waiting.count += 1
        end = fragment.offset + len(fragment.payload)
        if end > MAX_LENGTH or (fragment.offset not in waiting.pieces and waiting.held > MAX_LENGTH):
            self._drop(key)
            return None
        if fragment.offset not in waiting.pieces:
            waiting.pieces[fragment.offset] = fragment.payload
            waiting.held += len(fragment.payload)
        if fragment.last and waiting.length is None:
            waiting.length = end
        if waiting.length is None or waiting.held < waiting.length:
            while len(self._waiting) > MAX_DATAGRAMS:
                self._drop(next(iter(self._waiting)))
            return None
        whole = _joined(waiting)
        if whole is not None:
            del self._waiting[key]
        return whole

    def end(self) -> None:
        """End the capture and give up incomplete datagrams."""
        for key in list(self._waiting):
            self._drop(key)

    def _forget_old(self, time_ns: int) -> None:
        while self._waiting:
            key, oldest = next(iter(self._waiting.items()))
            if time_ns - oldest.time_ns <= WAIT_NS:
                return
            self._drop(key)

    def _drop(self, key: tuple[str, str, int, int]) -> None:
        self.given_up += self._waiting.pop(key).count


def _joined(waiting: _Waiting) -> bytes | None:
    out = bytearray()
    for offset in sorted(waiting.pieces):
        if offset > len(out):
            return None
        out += waiting.pieces[offset][len(out) - offset :]
    assert waiting.length is not None
    return bytes(out[: waiting.length]) if len(out) >= waiting.length else None


_TCP, _UDP, _FRAGMENT, _AH = 6, 17, 44, 51
_IPV6_OPTIONS = frozenset({0, 43, 60, 135})  # Hop-by-hop, routing, destination, mobility: lengths in units of 8 bytes.
_MAX_IPV6_OPTIONS = 16
PING_PORT = 3527
MAX_TUNNELS = 8  # IP headers that are read behind each other.
FIN, SYN, RST, ACK = 1, 2, 4, 16
CUT_SHORT = "cut short"
BROKEN_TCP = "broken TCP header"
NEITHER = "neither TCP nor UDP"
INCOMPLETE = "IP fragment"
_ICMP, _ICMP_ERRORS = 1, frozenset({3, 4, 11, 12})  # Errors that quote the packet they are about.
_QUOTED_BYTES = 16  # Bytes of a quoted TCP header from which its stream can be told.


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP segment. lost: bytes at the end of its payload that the capture did not keep."""

    source: tuple[str, int]
    destination: tuple[str, int]
    sequence: int
    acknowledged: int
    flags: int
    payload: bytes
    lost: int


@dataclass(frozen=True, slots=True)
class Datagram:
    """A UDP datagram. lost: bytes at its end that the capture did not keep."""

    source: tuple[str, int]
    destination: tuple[str, int]
    payload: bytes
    lost: int


Decoded = Segment | Datagram | Fragment | str


def decode(record: Record) -> Decoded:
    """Decode the content of a record; a str is the reason why it has none, in a few words to count by."""
    return "not a packet" if record.link == NO_PACKET else _inside(link_step(record.link), record.data, 0, 0)


def whole(record: Record, fragments: Fragments) -> Segment | Datagram | str | None:
    """Decode the content of a record, or of the datagram that its fragment completes; None for another fragment."""
    found = decode(record)
    for _ in range(MAX_TUNNELS):
        if not isinstance(found, Fragment):
            return found
        payload = fragments.add(record.time_ns, found)
        if payload is None:
            return None
        found = transport(found, payload)
    return INCOMPLETE


def quoted(record: Record) -> Segment | None:
    """Return the segment that an ICMP error over IPv4 is about; None for any other record."""
    data = record.data
    try:
        at = follow(link_step(record.link), data, 0)
        if isinstance(at, str) or data[at] >> 4 != 4:
            return None
        error = at + (data[at] & 15) * 4
        if data[at + 9] != _ICMP or data[error] not in _ICMP_ERRORS:
            return None
        inner = error + 8
        if (
            data[inner] >> 4 != 4
            or data[inner + 9] != _TCP
            or len(data) < inner + (data[inner] & 15) * 4 + _QUOTED_BYTES
        ):
            return None
        segment = _ipv4(data, inner, MAX_TUNNELS)
    except (struct.error, IndexError):
        return None
    return segment if isinstance(segment, Segment) else None


def _inside(step: Step, data: bytes, at: int, depth: int) -> Decoded:
    """Decode what follows a header. depth: IP headers before it. An empty reason: it is no such header."""
    if depth >= MAX_TUNNELS:
        return f"more than {MAX_TUNNELS} tunnels in each other"
    try:
        found = follow(step, data, at)
        if isinstance(found, str):
            return found
        return _ipv4(data, found, depth) if data[found] >> 4 == 4 else _ipv6(data, found, depth)
    except (struct.error, IndexError):
        return CUT_SHORT


def transport(fragment: Fragment, payload: bytes) -> Decoded:
    """Decode a reassembled datagram. fragment: the last of its fragments; payload: the whole payload."""
    try:
        return _transport(fragment.protocol, payload, 0, len(payload), fragment.source, fragment.destination, 0)
    except struct.error:
        return CUT_SHORT


def _ipv4(data: bytes, at: int, depth: int) -> Decoded:
    first, _, total, identifier, fragment, _, protocol = struct.unpack_from(">BBHHHBB", data, at)
    header = (first & 15) * 4
    if header < 20 or (total and total < header):
        return NO_IP
    source, destination = struct.unpack_from(">4s4s", data, at + 12)
    # Segmentation hardware leaves a total length of zero: then the end of the record counts.
    end = at + total if total else len(data)
    if fragment & 0x3FFF:  # More fragments, or not the first.
        if end > len(data):
            return INCOMPLETE
        return Fragment(
            _text(source), _text(destination), protocol, identifier, (fragment & 0x1FFF) * 8,
            not fragment & 0x2000, data[at + header : end],
        )  # fmt: skip
    return _transport(protocol, data, at + header, end, _text(source), _text(destination), depth)


def _ipv6(data: bytes, at: int, depth: int) -> Decoded:
    length, following = struct.unpack_from(">HB", data, at + 4)
    source, destination = struct.unpack_from(">16s16s", data, at + 8)
    at += 40
    end = at + length if length else len(data)
    for _ in range(_MAX_IPV6_OPTIONS):
        if following in _IPV6_OPTIONS:
            following, size = struct.unpack_from(">BB", data, at)
            at += (size + 1) * 8
        elif following == _AH:
            following, at = _behind_ah(data, at)
        elif following == _FRAGMENT:
            following, _, fragment, identifier = struct.unpack_from(">BBHI", data, at)
            at += 8
            if fragment & 0xFFF9:
                if end > len(data):
                    return INCOMPLETE
                return Fragment(
                    _text(source), _text(destination), following, identifier, fragment & 0xFFF8,
                    not fragment & 1, data[at:end],
                )  # fmt: skip
        else:
            break
    return _transport(following, data, at, end, _text(source), _text(destination), depth)


def _behind_ah(data: bytes, at: int) -> tuple[int, int]:
    """Pass over the header that signs what follows, and does not encrypt it."""
    protocol, size = struct.unpack_from(">BB", data, at)
    return protocol, at + (size + 2) * 4


def _transport(protocol: int, data: bytes, at: int, end: int, source: str, destination: str, depth: int) -> Decoded:
    if protocol == _AH:
        protocol, at = _behind_ah(data, at)
    if protocol == _TCP:
        from_port, to_port, sequence, acknowledged, offset, flags = struct.unpack_from(">HHIIBB", data, at)
        start = at + (offset >> 4) * 4
        if offset >> 4 < 5 or start > end:
            return BROKEN_TCP
        payload = data[start:end]
        return Segment(
            (source, from_port), (destination, to_port), sequence, acknowledged, flags, payload,
            end - start - len(payload),
        )  # fmt: skip
    if protocol == _UDP:
        from_port, to_port, length = struct.unpack_from(">HHH", data, at)
        if length and length < 8:
            return "broken UDP header"
        tunnel = UDP_PORTS.get(to_port) or UDP_PORTS.get(from_port)
        if tunnel is not None and PING_PORT not in (from_port, to_port):
            inner = _inside(tunnel, data, at + 8, depth + 1)
            if inner:
                return inner
        end = min(end, at + length) if length else end
        payload = data[at + 8 : end]
        return Datagram((source, from_port), (destination, to_port), payload, max(0, end - at - 8 - len(payload)))
    step = PROTOCOLS.get(protocol)
    return NEITHER if step is None else _inside(step, data, at, depth + 1)


@lru_cache(maxsize=4096)
def _text(packed: bytes) -> str:
    address = ipaddress.ip_address(packed)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
