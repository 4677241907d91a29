"""Writes what goes over sockets as pcapng, with made-up Ethernet, IP and TCP headers.

A socket gives bytes, not segments. The headers are made so that a reader of captures finds the connections again: a
handshake, segments in the order in which the bytes passed, an acknowledgment number that covers all that came from the
other side before, and an end. Whatever the real port of a server is, the file says 1801 (pings: 3527), where readers
look for MSMQ; a comment on the interface tells the real one. Checksums are right.
"""

from __future__ import annotations

import ipaddress
import os
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from conformance.capture.own_end import OwnEnd
from conformance.net.addresses import MSMQ_PORT, PING_PORT

Side = Literal["initiator", "acceptor"]
End = tuple[str, int]
"""An address and a port."""
MAX_BYTES: Final = 8 << 30
"""The longest file; what comes later is counted only."""
_PIECE = 32_768  # Bytes of one made-up segment.
_FIN, _SYN, _RST, _PUSH, _ACK = 1, 2, 4, 8, 16
_TCP, _UDP = 6, 17
_ETHERNET, _NANOSECONDS = 1, 9
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_COMMENT, _RESOLUTION = 1, 9
_WINDOW = 65_535
_FIRST: Final = (0x10000000, 0x20000000)  # First sequence numbers of an initiator and of an acceptor.
_MACS = (b"\x02\x00\x00\x00\x00\x01", b"\x02\x00\x00\x00\x00\x02")


@dataclass(slots=True)
class _Flow:
    """A connection. ends: initiator, acceptor. next: the next sequence number of each. over: the sides that ended."""

    ends: tuple[End, End]
    next: list[int] = field(default_factory=lambda: [first + 1 for first in _FIRST])
    over: set[int] = field(default_factory=set)


class Recording:
    """A pcapng file that grows. Any thread may write; each call is in the file when it returns.

    records: their number. lost: those of them that found no room in the file.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        comment: str = "",
        own: OwnEnd | None = None,
        limit: int = MAX_BYTES,
        clock: Callable[[], int] = time.time_ns,
        feed: Callable[[bytes], object] | None = None,
    ) -> None:
        """Begin a new file. comment: on the interface. own: which end is ours, None for neither. Raises OSError.

        clock: nanoseconds since 1970. path: None keeps nothing. feed: gets the same blocks, each as it is made; it must
        not wait.
        """
        self._clock, self._feed = clock, feed
        self.path, self.records, self.lost, self.problem = path, 0, 0, ""
        self._lock = threading.Lock()
        self._flows: dict[int, _Flow] = {}
        self._last_ns, self._identification, self._left = 0, 0, limit
        self._file = -1
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        self._keeps = path is not None
        section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
        if own is not None:
            section += _option(_COMMENT, own.comment.encode()) + bytes(4)
        options = _option(_RESOLUTION, bytes([_NANOSECONDS]))
        options += _option(_COMMENT, comment.encode()) if comment else b""
        options += bytes(4)  # The end of the options.
        begin = _block(_SECTION, section) + _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0) + options)
        if feed is not None:
            feed(begin)
        self._write(begin)

    def opened(self, number: int, initiator: End, acceptor: End) -> None:
        """Record that a connection was made. number: the caller's name of it."""
        with self._lock:
            flow = self._flows[number] = _Flow((initiator, (acceptor[0], MSMQ_PORT)))
            for side, flags, sequence, acknowledged in (
                (0, _SYN, _FIRST[0], 0),
                (1, _SYN | _ACK, _FIRST[1], _FIRST[0] + 1),
                (0, _ACK, _FIRST[0] + 1, _FIRST[1] + 1),
            ):
                self._segment(flow, side, flags, b"", sequence, acknowledged)

    def data(self, number: int, side: Side, data: bytes | memoryview) -> None:
        """Record bytes that a side sent."""
        with self._lock:
            flow, at = self._flows.get(number), int(side == "acceptor")
            if flow is None:  # The connection is over for both sides: the system takes no more bytes either.
                return
            for start in range(0, len(data), _PIECE):
                piece = bytes(data[start : start + _PIECE])
                self._segment(flow, at, _PUSH | _ACK, piece, flow.next[at], flow.next[1 - at])
                flow.next[at] = (flow.next[at] + len(piece)) & 0xFFFFFFFF

    def ended(self, number: int, side: Side, how: Literal["fin", "rst"]) -> None:
        """Record that a side closed its direction, or reset the connection. A second end of a side is ignored."""
        with self._lock:
            flow, at = self._flows.get(number), int(side == "acceptor")
            if flow is None or at in flow.over:
                return
            flags = _FIN | _ACK if how == "fin" else _RST | _ACK
            self._segment(flow, at, flags, b"", flow.next[at], flow.next[1 - at])
            flow.next[at] = (flow.next[at] + 1) & 0xFFFFFFFF
            flow.over |= {at} if how == "fin" else {0, 1}
            if len(flow.over) == 2:
                del self._flows[number]

    def forget(self, number: int) -> None:
        """Take notice that nothing more can be seen of a connection, though a side may not have ended."""
        with self._lock:
            self._flows.pop(number, None)

    def datagram(self, source: End, destination: End, data: bytes, *, answer: bool = False) -> None:
        """Record a ping. answer: its source, and not its destination, is the one that is pinged."""
        ends = (source[0], PING_PORT) if answer else source, destination if answer else (destination[0], PING_PORT)
        with self._lock:
            header = struct.pack(">HHHH", ends[0][1], ends[1][1], 8 + len(data), 0)
            self._packet(ends[0][0], ends[1][0], _UDP, header, data, 6, int(answer))

    def close(self) -> None:
        """End the file. Later calls are ignored."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def _segment(self, flow: _Flow, side: int, flags: int, data: bytes, sequence: int, acknowledged: int) -> None:
        source, destination = flow.ends[side], flow.ends[1 - side]
        header = struct.pack(
            ">HHIIBBHHH", source[1], destination[1], sequence, acknowledged, 0x50, flags, _WINDOW, 0, 0
        )
        self._packet(source[0], destination[0], _TCP, header, data, 16, side)

    def _packet(
        self, source: str, destination: str, protocol: int, header: bytes, data: bytes, place: int, side: int
    ) -> None:
        """Write one record. header: of TCP or UDP, with a checksum of 0 at `place`."""
        ends = _packed(source), _packed(destination)
        if len(ends[0]) != len(ends[1]):
            ends = _as_ipv6(ends[0]), _as_ipv6(ends[1])
        length = len(header) + len(data)
        pseudo = ends[0] + ends[1] + struct.pack(">II", length, protocol)
        total = _checksum(pseudo + header + data) or (0xFFFF if protocol == _UDP else 0)
        header = header[:place] + total.to_bytes(2, "big") + header[place + 2 :]
        if len(ends[0]) == 4:
            self._identification = (self._identification + 1) & 0xFFFF
            known = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + length, self._identification, 0, 64, protocol, 0, *ends)
            network = known[:10] + _checksum(known).to_bytes(2, "big") + known[12:]
            kind = b"\x08\x00"
        else:
            network = struct.pack(">IHBB16s16s", 6 << 28, length, protocol, 64, *ends)
            kind = b"\x86\xdd"
        frame = _MACS[1 - side] + _MACS[side] + kind + network + header + data
        now = self._last_ns = max(self._clock(), self._last_ns + 1)
        head = struct.pack("<IIIII", 0, now >> 32, now & 0xFFFFFFFF, len(frame), len(frame))
        block = _block(_PACKET, head + frame)
        self.records += 1
        if self._feed is not None:
            self._feed(block)
        if not self._keeps:
            return
        if self._file < 0 or self.problem or self._left < len(block):
            self.lost += 1
            self.problem = self.problem or f"{self.path} is full: later packets are not recorded"
            return
        self._write(block)

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            return
        self._left -= len(data)
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self.problem = f"{self.path} cannot be written ({error.strerror}): later packets are not recorded"


def _packed(address: str) -> bytes:
    found = ipaddress.ip_address(address.partition("%")[0])
    return (getattr(found, "ipv4_mapped", None) or found).packed


def _as_ipv6(packed: bytes) -> bytes:
    return packed if len(packed) == 16 else bytes(10) + b"\xff\xff" + packed


def _checksum(data: bytes) -> int:
    """Return the checksum of the internet: the complement of the sum of all words, found as one remainder."""
    even = data if len(data) % 2 == 0 else data + b"\x00"
    number = int.from_bytes(even, "big")
    rest = number % 0xFFFF
    return 0xFFFF - (0xFFFF if rest == 0 and number else rest)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body) + -len(body) % 4)
    return struct.pack("<I", kind) + length + body + bytes(-len(body) % 4) + length
