"""TCP connections of a capture: segments in; packets, openings and closings out, in a possible order.

A captured file need not be in order: a reply may come before its request. A segment that acknowledges unseen bytes is
therefore held back for a short time; if the bytes still do not come, they were not captured, and this is reported.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from conformance.capture.events import (
    REPEAT_NS,
    Attempt,
    Closed,
    Endpoint,
    Event,
    Frame,
    Hole,
    Lost,
    Opened,
    Repeated,
    Side,
)
from conformance.capture.framing import Ending, Framer, Piece, Stream
from conformance.capture.network import ACK, FIN, RST, SYN, Segment

MSMQ_PORT = 1801
MAX_CONNECTIONS = 8192  # Followed at once, ended ones included; the one silent longest is evicted.
MAX_BUFFERED = 256 * 1024 * 1024  # Bytes over all connections.
MAX_HELD = 64  # Segments of one side held back while bytes of the other are missing.
HOLD_NS = 200_000_000  # The most that a capture may be out of order.
SIDES: tuple[Side, Side] = ("initiator", "acceptor")

_ENDINGS: dict[str, Ending] = {"rst": "aborted", "reused": "replaced"}
"""The ending of an incomplete packet, by how its connection ends; any other way: its end was not captured."""

_Held = tuple[int, int, Segment]  # record, time_ns, segment


@dataclass(slots=True)
class _Half:
    """One direction: the bytes that one side sends.

    arrived: the record of its last bytes, the time, what its sender had heard, and the bytes up to them. fresh_ns: when
    bytes came last that had not come before.
    """

    stream: Stream
    framer: Framer
    held: deque[_Held] = field(default_factory=deque)
    finished: bool = False
    arrived: tuple[int, int, int, int] = (0, 0, 0, 0)
    fresh_ns: int = 0

    @property
    def whole(self) -> bool:
        """True when the FIN was seen and everything before it is present, or known to be lost."""
        return self.stream.ended is not None and self.stream.offset >= self.stream.ended


@dataclass(slots=True)
class _Connection:
    number: int
    ends: tuple[Endpoint, Endpoint]  # Initiator, acceptor.
    halves: tuple[_Half, _Half]
    opening: int | None  # The initial sequence number of the SYN, to recognise a repeated one.
    first_end: Side | None = None
    record: int = 0
    time_ns: int = 0
    closed: bool = False
    wireshark: int | None = None  # The number of its stream in Wireshark.

    @property
    def buffered(self) -> int:
        return sum(half.stream.waiting_bytes + half.framer.buffered for half in self.halves) + sum(
            len(segment.payload) for half in self.halves for _, _, segment in half.held
        )


class Connections:
    """All connections of one capture. `numbered` yields frame numbers, shared with the datagrams."""

    def __init__(self, numbered: Iterator[int]) -> None:
        self._numbered = numbered
        self._table: OrderedDict[frozenset[tuple[str, int]], _Connection] = OrderedDict()
        self._stalled: dict[frozenset[tuple[str, int]], None] = {}  # Connections with held segments, the oldest first.
        self._count = 0
        self._buffered = 0

    def tick(self, time_ns: int) -> Iterator[Event]:
        """Advance the time of the capture and release segments that were held back too long."""
        for key in list(self._stalled):
            connection = self._table.get(key)
            held = [half.held[0][1] for half in connection.halves if half.held] if connection else []
            if connection is None or not held:
                del self._stalled[key]
                continue
            if time_ns - min(held) < HOLD_NS:
                return
            before = connection.buffered
            for side in (0, 1):
                yield from self._release(connection, side, time_ns)
            if not connection.closed:
                yield from self._ends(connection, connection.record, connection.time_ns)
            self._buffered += connection.buffered - before

    def segment(self, record: int, time_ns: int, segment: Segment, stream: int | None = None) -> Iterator[Event]:
        """Process a segment of port 1801 and yield its events. stream: as in `Frame`."""
        key = frozenset((segment.source, segment.destination))
        connection = self._table.get(key)
        syn = bool(segment.flags & SYN)
        if connection is not None and syn and not segment.flags & ACK and segment.sequence != connection.opening:
            yield from self._close(connection, None, "reused")
            self._forget(key)
            connection = None
        if connection is None:
            if segment.flags & RST or (segment.flags & FIN and not segment.payload):
                return  # The tail of a connection that is over, or was never seen.
            connection = self._open(key, time_ns, segment)
            yield self._opened(connection, time_ns, complete=syn)
        self._table.move_to_end(key)
        if connection.closed:
            return
        before = connection.buffered
        connection.record, connection.time_ns = record, max(connection.time_ns, time_ns)
        connection.wireshark = stream
        yield from self._arrive(connection, record, time_ns, segment)
        self._buffered += connection.buffered - before
        while self._table and (len(self._table) > MAX_CONNECTIONS or self._held > MAX_BUFFERED):
            oldest = self._silent_longest()
            yield from self._close(self._table[oldest], None, "evicted")
            self._forget(oldest)

    def unfinished(self) -> Iterator[tuple[tuple[int, Side], int]]:
        """Yield the directions with an incomplete packet: (connection, side), and the offset where its bytes end."""
        for connection in self._table.values():
            for side, half in zip(SIDES, connection.halves, strict=True):
                if half.framer.buffered and half.framer.found:
                    yield (connection.number, side), half.framer.offset + half.framer.buffered

    def expire(self, before_ns: int) -> Iterator[Event]:
        """Evict connections, ended ones included, that have been silent since before this time."""
        for key, connection in list(self._table.items()):
            if connection.time_ns < before_ns:
                yield from self._close(connection, None, "evicted")
                self._forget(key)

    def end(self) -> Iterator[Event]:
        """End the capture and close every open connection."""
        for connection in list(self._table.values()):
            yield from self._close(connection, connection.first_end, "fin" if connection.first_end else "end")
        self._table.clear()

    @property
    def _held(self) -> int:
        """Bytes buffered over all connections."""
        return self._buffered

    def _silent_longest(self) -> frozenset[tuple[str, int]]:
        return next(iter(self._table))

    def _open(self, key: frozenset[tuple[str, int]], time_ns: int, segment: Segment) -> _Connection:
        """Open a connection. The initiator sent the SYN; without a SYN, it is the side that does not use port 1801."""
        source, destination = Endpoint(*segment.source), Endpoint(*segment.destination)
        answered = bool(segment.flags & SYN and segment.flags & ACK)
        from_acceptor = answered or (not segment.flags & SYN and source.port == MSMQ_PORT != destination.port)
        ends = (destination, source) if from_acceptor else (source, destination)
        complete = bool(segment.flags & SYN)
        self._count += 1
        connection = _Connection(
            self._count,
            ends,
            (_Half(Stream(), Framer(complete)), _Half(Stream(), Framer(complete))),
            _initial(segment),
            time_ns=time_ns,
        )
        self._table[key] = connection
        return connection

    def _opened(self, connection: _Connection, time_ns: int, *, complete: bool) -> Opened:
        return Opened(connection.number, time_ns, connection.ends[0], connection.ends[1], complete)

    def _forget(self, key: frozenset[tuple[str, int]]) -> None:
        self._buffered -= self._table.pop(key).buffered

    def _arrive(self, connection: _Connection, record: int, time_ns: int, segment: Segment) -> Iterator[Event]:
        side = 0 if Endpoint(*segment.source) == connection.ends[0] else 1
        mine, other = connection.halves[side], connection.halves[1 - side]
        if mine.held or not _heard_all(other, segment):
            mine.held.append((record, time_ns, segment))
            self._stalled[frozenset((segment.source, segment.destination))] = None
        else:
            yield from self._deliver(connection, side, record, time_ns, segment)
        for waiting in (1 - side, side):
            yield from self._release(connection, waiting, time_ns)
        if not connection.closed:
            yield from self._ends(connection, record, time_ns)

    def _release(self, connection: _Connection, side: int, time_ns: int) -> Iterator[Event]:
        """Release held segments whose bytes have come, or have been waited for long enough."""
        half, other = connection.halves[side], connection.halves[1 - side]
        while half.held and not connection.closed:
            record, held_time, segment = half.held[0]
            if not _heard_all(other, segment):
                if len(half.held) <= MAX_HELD and time_ns - held_time < HOLD_NS:
                    return
                yield from self._give_up(connection, 1 - side, record, held_time, segment.acknowledged)
            half.held.popleft()
            yield from self._deliver(connection, side, record, held_time, segment)

    def _deliver(
        self, connection: _Connection, side: int, record: int, time_ns: int, segment: Segment
    ) -> Iterator[Event]:
        half, other = connection.halves[side], connection.halves[1 - side]
        sequence = segment.sequence
        if segment.flags & SYN:
            sequence = (sequence + 1) & 0xFFFFFFFF
            if half.stream.expected is None:
                half.stream.expected = sequence
        if segment.flags & ACK and other.stream.expected is None:
            other.stream.expected = segment.acknowledged
        if half.finished:
            return
        if segment.payload or segment.lost:
            yield from self._bytes(connection, side, record, time_ns, sequence, segment)
        if segment.flags & FIN:
            half.stream.ended = half.stream.position(sequence) + len(segment.payload) + segment.lost
            connection.first_end = connection.first_end or SIDES[side]
        if segment.flags & RST:
            yield from self._close(connection, SIDES[side], "rst")

    def _bytes(
        self, connection: _Connection, side: int, record: int, time_ns: int, sequence: int, segment: Segment
    ) -> Iterator[Event]:
        half, other = connection.halves[side], connection.halves[1 - side]
        heard = other.stream.position(segment.acknowledged) if segment.flags & ACK else 0
        if not other.finished:
            yield from self._frames(connection, 1 - side, record, time_ns, other.framer.settle(), 0)
        again = half.stream.position(sequence) < half.stream.offset and len(segment.payload) > 1  # 1: to keep it alive.
        if again and time_ns - half.fresh_ns > REPEAT_NS:
            yield Repeated(connection.number, SIDES[side], time_ns)
        data = half.stream.add(sequence, segment.payload)
        if data:
            half.fresh_ns = time_ns
            yield from self._feed(connection, side, record, time_ns, data, heard)
        kept = half.stream.position(sequence) + len(segment.payload)
        if kept <= half.stream.offset < kept + segment.lost:  # Only its beginning was captured: do not wait.
            yield from self._skip(connection, side, record, time_ns, kept + segment.lost, short=True)
        while half.stream.overfull:
            yield from self._skip(connection, side, record, time_ns, None)

    def _give_up(
        self, connection: _Connection, side: int, record: int, time_ns: int, acknowledged: int
    ) -> Iterator[Event]:
        """Give up bytes before `acknowledged`: the other side received them, so those missing were not captured."""
        stream = connection.halves[side].stream
        while stream.offset < (upto := stream.position(acknowledged)):
            before = stream.offset
            yield from self._skip(connection, side, record, time_ns, upto)
            if stream.offset == before:
                return

    def _skip(
        self, connection: _Connection, side: int, record: int, time_ns: int, upto: int | None, *, short: bool = False
    ) -> Iterator[Event]:
        half = connection.halves[side]
        hole, data = half.stream.skip(upto)
        if hole:
            yield Hole(connection.number, SIDES[side], time_ns, hole, short)
            yield from self._frames(connection, side, record, time_ns, half.framer.lose(hole), 0)
        if data:
            yield from self._feed(connection, side, record, time_ns, data, 0)

    def _ends(self, connection: _Connection, record: int, time_ns: int) -> Iterator[Event]:
        """Finish the directions whose FIN has been reached, and the connection when both are finished."""
        for side, half in enumerate(connection.halves):
            if half.whole and not half.held:
                yield from self._finish(connection, side, record, time_ns, "ended")
        if all(half.finished for half in connection.halves):
            connection.closed = True
            attempt = attempted(connection, "fin")
            yield Closed(connection.number, time_ns, connection.first_end, "fin", attempt, both=True)

    def _finish(self, connection: _Connection, side: int, record: int, time_ns: int, ending: Ending) -> Iterator[Event]:
        half = connection.halves[side]
        if half.finished:
            return
        half.finished = True
        yield from self._frames(connection, side, record, time_ns, half.framer.finish(ending), 0)
        if half.framer.gap:
            yield Lost(connection.number, SIDES[side], time_ns, half.framer.gap, half.framer.stray)

    def _close(
        self, connection: _Connection, by: Side | None, how: Literal["fin", "rst", "reused", "evicted", "end"]
    ) -> Iterator[Event]:
        """End a connection: release everything held or waiting, in capture order, so that no byte is left behind."""
        if connection.closed:
            return
        connection.closed = True
        record, time_ns = connection.record, connection.time_ns
        while waiting := [side for side in (0, 1) if connection.halves[side].held]:
            side = min(waiting, key=lambda one: connection.halves[one].held[0][0])  # In capture order.
            held_record, held_time, segment = connection.halves[side].held.popleft()
            if not _heard_all(connection.halves[1 - side], segment):
                yield from self._give_up(connection, 1 - side, held_record, held_time, segment.acknowledged)
            if not segment.flags & RST:
                yield from self._deliver(connection, side, held_record, held_time, segment)
        for side in (0, 1):
            half = connection.halves[side]
            while half.stream.waiting_bytes:
                yield from self._skip(connection, side, record, time_ns, None)
            if half.stream.ended is not None:  # The bytes before a FIN were sent.
                yield from self._skip(connection, side, record, time_ns, half.stream.ended)
            yield from self._finish(
                connection, side, record, time_ns, "ended" if half.whole else _ENDINGS.get(how, "not-captured")
            )
        yield Closed(connection.number, time_ns, by, how, attempted(connection, how, by))

    def _feed(
        self, connection: _Connection, side: int, record: int, time_ns: int, data: bytes, heard: int
    ) -> Iterator[Event]:
        half = connection.halves[side]
        pieces = half.framer.feed(data)
        yield from self._frames(connection, side, record, time_ns, pieces, heard, fed=True)
        half.arrived = record, time_ns, heard, half.framer.offset + half.framer.buffered

    def _frames(
        self,
        connection: _Connection,
        side: int,
        record: int,
        time_ns: int,
        pieces: list[Piece],
        heard: int,
        *,
        fed: bool = False,
    ) -> Iterator[Event]:
        """Yield the frames of pieces.

        fed: new bytes led to them. A packet that was all there before is as old as its own last bytes.
        """
        *arrived, upto = connection.halves[side].arrived
        for piece in pieces:
            late = piece.trouble is None and (not fed or piece.offset + len(piece.data) <= upto)
            came, at_ns, knew = arrived if late else (record, time_ns, heard)
            yield Frame(
                number=next(self._numbered),
                record=came,
                time_ns=at_ns,
                source=connection.ends[side],
                destination=connection.ends[1 - side],
                transport="tcp",
                data=piece.data,
                connection=connection.number,
                side=SIDES[side],
                offset=piece.offset,
                heard=max(0, knew),
                gap_before=piece.gap_before,
                trouble=piece.trouble,
                stray=piece.stray,
                stream=connection.wireshark,
            )


def attempted(connection: _Connection, how: str, by: Side | None = None) -> Attempt | None:
    """Return what a connection was that ends so without having carried a byte; None for any other."""
    initiator, acceptor = (half.stream for half in connection.halves)
    if initiator.offset or acceptor.offset or connection.opening is None:
        return None
    if acceptor.expected is None and how != "fin":
        refused = how == "rst" and by == SIDES[1]
        return Attempt(*connection.ends, "refused" if refused else "unanswered", connection.wireshark)
    came: Literal["reset", "closed", "open"] = "reset" if how == "rst" else "closed" if how == "fin" else "open"
    return Attempt(*connection.ends, came, connection.wireshark)


def _initial(segment: Segment) -> int | None:
    """Return the initiator's initial sequence number, as far as this first segment shows it."""
    if not segment.flags & SYN:
        return None
    return (segment.acknowledged - 1) & 0xFFFFFFFF if segment.flags & ACK else segment.sequence


def _heard_all(other: _Half, segment: Segment) -> bool:
    """Return True when everything that this segment acknowledges has been delivered (a FIN counts one)."""
    stream = other.stream
    if not segment.flags & ACK or stream.expected is None:
        return True
    upto = stream.position(segment.acknowledged)
    if stream.ended is not None and upto > stream.ended:
        upto = stream.ended
    return stream.offset >= upto or upto - stream.offset > 1 << 28
