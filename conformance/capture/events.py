"""What reading a capture yields: connections, frames and what could not be decoded, in the order they happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    `aborted` (the connection was reset within it), `not-captured` (the capture lacks part of it).
    """

    kind: Literal["packet-size", "no-header", "ended", "aborted", "not-captured"]
    text: str

    @property
    def of_capture(self) -> bool:
        """Whether the capture is to blame, so that nothing can be said about the sender."""
        return self.kind in ("not-captured", "aborted")


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection was met for the first time. complete: its SYN is in the capture.

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
    completed it, from 1. time_ns: nanoseconds since 1970, of that record. connection: None for datagrams.
    side: who sent it. offset: bytes of this direction's stream before it (lost ones included), 0 for datagrams.
    heard: bytes of the other direction its sender had acknowledged when the packet was complete.
    gap_before: bytes of the stream between the packet before and this one that are not part of a packet (lost,
    or unintelligible). trouble: why `data` is not a whole packet, else None.
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

    @property
    def time(self) -> float:
        """Seconds since 1970."""
        return self.time_ns / 1e9


@dataclass(frozen=True, slots=True)
class Hole:
    """`length` bytes of one direction were not captured. Comes before whatever the other side sent knowing them."""

    connection: int
    side: Side
    time_ns: int
    length: int


@dataclass(frozen=True, slots=True)
class Lost:
    """`length` bytes at the end of one direction are no part of a packet: lost, or unintelligible."""

    connection: int
    side: Side
    time_ns: int
    length: int


@dataclass(frozen=True, slots=True)
class Closed:
    """A connection ended. by: the side that ended it first, None when the capture just stopped. how: fin, rst, reused,
    evicted (to bound memory) or end (of the capture)."""

    connection: int
    time_ns: int
    by: Side | None
    how: Literal["fin", "rst", "reused", "evicted", "end"]


@dataclass(frozen=True, slots=True)
class Cut:
    """The file ends, or stops making sense, within a record. What came before was read."""

    record: int
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of a capture. records: how many there were. skipped: records that carried no MSMQ, by reason."""

    records: int
    skipped: tuple[tuple[str, int], ...]


Event = Opened | Frame | Hole | Lost | Closed | Cut | Ended
