"""Events of reading a capture in order, errors that concern a whole file, and counts of what a capture lacks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from conformance.runlog.counts import Incomplete

BACK_NS = 30_000_000
"""So much earlier than one before it a record may be: those of two interfaces are in order only so far."""
REPEAT_NS = 500_000_000
"""Bytes that come again later than this behind the last new ones were lost; sooner, they were captured twice."""
FIRST_NS = 852_076_800_000_000_000
"""1997, when MSMQ appeared: a clock that shows less was not set yet, and is set when more comes."""


class CaptureError(ValueError):
    """Raised when a file cannot be read as a capture. The text is one sentence that says what to do."""


Transport = Literal["tcp", "udp"]
Side = Literal["initiator", "acceptor"]


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """An address in its usual text form, and a port."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a frame is not a whole packet.

    kind: `packet-size` (impossible), `no-header` (nothing like a packet), `ended` (the sender closed within it),
    `aborted` (the connection was reset within it), `replaced` (another connection took its place within it),
    `not-captured` (the capture lacks part of it).
    """

    kind: Literal["packet-size", "no-header", "ended", "aborted", "replaced", "not-captured"]
    text: str

    @property
    def of_capture(self) -> bool:
        """True when the cause is the capture, so that nothing can be said about the sender."""
        return self.kind in ("not-captured", "aborted", "replaced")


@dataclass(frozen=True, slots=True)
class Opened:
    """The first event of a connection. complete: its SYN is in the capture.

    connection: counts from 1 within a capture. time_ns: nanoseconds since 1970.
    """

    connection: int
    time_ns: int
    initiator: Endpoint
    acceptor: Endpoint
    complete: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """One MSMQ packet as it was on the wire.

    number: counts from 1 within a capture, in the order packets became complete. record: the capture record that
    completed it, from 1. time_ns: nanoseconds since 1970, of that record. connection: None for datagrams. side: the
    sender. offset: bytes of this direction's stream before it (lost ones included), 0 for datagrams. heard: bytes of
    the other direction that its sender had acknowledged when the packet was complete. gap_before: bytes of the stream
    between the packet before and this one that belong to no packet (lost or unintelligible). stray: how many bytes
    before it, or of it, were passed over to find a packet although the stream had been understood before. trouble: why
    `data` is not a whole packet, else None. stream: the number that Wireshark gives the TCP stream (`tcp.stream`, from
    0), None when it is not known.
    """

    number: int
    record: int
    time_ns: int
    source: Endpoint
    destination: Endpoint
    transport: Transport
    data: bytes
    connection: int | None = None
    side: Side | None = None
    offset: int = 0
    heard: int = 0
    gap_before: int = 0
    trouble: Trouble | None = None
    stray: int = 0
    stream: int | None = field(default=None, compare=False)

    @property
    def time(self) -> float:
        """Seconds since 1970."""
        return self.time_ns / 1e9


@dataclass(frozen=True, slots=True)
class Hole:
    """`length` bytes of one direction were not captured. Precedes everything the other side sent knowing them.

    short: they are the end of a record that was captured in part.
    """

    connection: int
    side: Side
    time_ns: int
    length: int
    short: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """`length` bytes at the end of one direction belong to no packet: lost, or unintelligible. stray: see Frame."""

    connection: int
    side: Side
    time_ns: int
    length: int
    stray: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A connection that carried no byte.

    came: refused (the other end reset it at once), unanswered, reset (it was answered before), closed, or open (at the
    end of the capture). stream: as in `Frame`.
    """

    source: Endpoint
    destination: Endpoint
    came: Literal["refused", "unanswered", "reset", "closed", "open"]
    stream: int | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a connection. by: the side that ended it first, None when the capture just stopped. how: fin, rst,
    reused, evicted (to bound memory) or end (of the capture). attempt: what it was if it carried no byte. both: each
    side has ended it."""

    connection: int
    time_ns: int
    by: Side | None
    how: Literal["fin", "rst", "reused", "evicted", "end"]
    attempt: Attempt | None = field(default=None, compare=False)
    both: bool = False


@dataclass(frozen=True, slots=True)
class SetBack:
    """The time of this record is before `latest_ns`, the latest one so far: the clock was set back, or the records are
    not in their order. Or `latest_ns` is before MSMQ, and this is not: the clock was set. Of an interval that began by
    then nobody knows how long it is."""

    record: int
    latest_ns: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """TCP sent bytes of one direction once more, long after its last new ones: until then, they may not have come."""

    connection: int
    side: Side
    time_ns: int


@dataclass(frozen=True, slots=True)
class Passed:
    """`length` bytes of the file before this record were passed over, because they make no sense."""

    record: int
    length: int


@dataclass(frozen=True, slots=True)
class Renewed:
    """Before this record another file took the place of the followed one, or it began anew. cut: as of `Cut`."""

    record: int
    cut: str | None


@dataclass(frozen=True, slots=True)
class Short:
    """A record that carries MSMQ, or is too short to tell, was captured in part: `length` bytes of it are missing."""

    record: int
    length: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The file ends, or stops making sense, within a record. Everything before it was read.

    stopped: the file goes on, but its reader was stopped.
    """

    record: int
    text: str
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of a capture. records: their number. skipped: records that carried no MSMQ, by reason.

    services: what of these MSMQ uses, by its name: connections that begin, records, bytes.
    """

    records: int
    skipped: tuple[tuple[str, int], ...]
    services: tuple[tuple[str, int, int, int], ...] = ()


Event = Opened | Frame | Hole | Lost | Closed | Repeated | SetBack | Passed | Renewed | Short | Cut | Ended

_UNFINISHED = frozenset({"ended", "aborted", "replaced"})


@dataclass(slots=True)
class Lacking:
    """Counts what a capture announces but lacks; events about nothing missing may be left out.

    began_before, go_on: connections that began before the capture, and those that go on behind it. They lack nothing
    that was announced, so they do not make a capture incomplete; neither does the packet in which the capture ends.
    """

    began_before: int = 0
    go_on: int = 0
    _counts: Counter[str] = field(default_factory=Counter)

    def see(self, event: Event) -> None:
        """Count an event."""
        counts = self._counts
        match event:
            case Frame():
                counts["stray"] += event.stray
                counts["unfinished"] += event.trouble is not None and event.trouble.kind in _UNFINISHED
            case Hole(short=False):
                counts["gaps"] += 1
                counts["gap_bytes"] += event.length
            case Lost():
                counts["stray"] += event.stray
            case Passed():
                counts["passed_over"] += event.length
            case Short():
                counts["short"] += 1
                counts["short_bytes"] += event.length
            case Cut(stopped=False):
                counts["cut"] += 1
            case Opened(complete=False):
                self.began_before += 1
            case Closed(how="end"):
                self.go_on += 1

    def meant(self, frame: Frame) -> None:
        """Take back that a packet has no end: the program itself has cut it, to see what the other end does."""
        self._counts["unfinished"] -= frame.trouble is not None and frame.trouble.kind in _UNFINISHED

    def count(self, more: Incomplete) -> None:
        """Add counts from elsewhere."""
        self._counts.update({name: int(count) for name, count in more.to_json().items()})

    @property
    def incomplete(self) -> Incomplete:
        """The counts so far."""
        return Incomplete(**self._counts)
