"""Events of a capture written as a capture again, so that edits of sessions reach whatever reads one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import build_tcp

from conformance.capture import Closed, Endpoint, Event, Frame, Hole, Opened

MOST = 60_000
"""Bytes of a segment, unless a test says otherwise."""


@dataclass
class _Sides:
    ends: tuple[Endpoint, Endpoint]
    next: list[int] = field(default_factory=lambda: [1000, 700_000])

    def segment(self, capture: build_tcp.Capture, side: int, data: bytes, flags: int) -> None:
        ends = tuple((end.address, end.port) for end in self.ends)
        made = build_tcp.Connection(capture, ends, self.next)  # type: ignore[arg-type]
        made.segment(side, data, flags)


def capture_of(events: Iterable[Event], most: int = MOST) -> bytes:
    """A classic capture in which these events are seen, as far as one can show them: IPv4 addresses alone.

    most: bytes of a segment.
    """
    ack, psh, syn, fin, rst = (getattr(build_tcp, name) for name in ("ACK", "PSH", "SYN", "FIN", "RST"))
    capture = build_tcp.Capture(0)
    open_: dict[int, _Sides] = {}
    for event in events:
        capture.now = max(capture.now, getattr(event, "time_ns", 0))
        if isinstance(event, Opened):
            sides = open_[event.connection] = _Sides((event.initiator, event.acceptor))
            if event.complete:
                sides.segment(capture, 0, b"", syn)
                sides.segment(capture, 1, b"", syn | ack)
                sides.segment(capture, 0, b"", ack)
        elif isinstance(event, Frame):
            if event.connection is None:
                ends = [(end.address, end.port) for end in (event.source, event.destination)]
                capture.udp(ends[0], ends[1], event.data)
                continue
            sides, side = open_[event.connection], int(event.side == "acceptor")
            for at in range(0, len(event.data), most):
                sides.segment(capture, side, event.data[at : at + most], ack | psh)
        elif isinstance(event, Hole):
            open_[event.connection].next[int(event.side == "acceptor")] += event.length
        elif isinstance(event, Closed) and event.how in ("fin", "rst"):
            sides, side = open_[event.connection], int(event.by == "acceptor")
            sides.segment(capture, side, b"", rst if event.how == "rst" else fin | ack)
            if event.how == "fin":
                sides.segment(capture, 1 - side, b"", fin | ack)
                sides.segment(capture, side, b"", ack)
    return capture.pcap()
