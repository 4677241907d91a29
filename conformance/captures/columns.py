"""Judge by columns: the same verdicts as `replay`, most of them from compiled code.

The walk of `capture.columns` finds the packets, and the compiled rules of `judge.columns` give each an outcome. Only
packets that these leave undecided, deviations and packets that concern sessions are judged one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from conformance.capture import Closed, Cut, Ended, Event, Frame, Hole, Lost, Opened
from conformance.capture.columns.places import (
    OF_CONNECTION,
    OF_HEARD,
    OF_NUMBER,
    OF_OFFSET,
    OF_RECORD,
    OF_SIDE,
    OF_TIME,
    ROWS,
)
from conformance.capture.columns.reader import Batch, FastCapture, Rows, warm
from conformance.capture.pcap import FILE_HEADER
from conformance.captures.batches import SIDES, read_through
from conformance.captures.certificates import Certificates, Judged, with_rules
from conformance.captures.defects import Outside, contained, place_of
from conformance.captures.engine import MAX_KEPT, CaptureSummary, OnPacket, OnProgress, Replay, alone, judged
from conformance.captures.outcome_cache import meanings
from conformance.captures.ranges import RangeResult as RangeResult
from conformance.captures.senders import CAPACITY, GUID, HIGH, LOW, USED, WIDTH, combine, firsts, marked
from conformance.captures.verdict_counts import PACKET, Meaning, Sums
from conformance.judge.columns.kernel import CAPACITY as OUTCOMES
from conformance.judge.columns.kernel import ColumnJudge, Slow, column_judge
from conformance.judge.packets.signatures import CERTIFICATE
from conformance.judge.sessions.context import Notes, Seen
from conformance.judge.sessions.opening import NULL_GUID, Opening
from conformance.judge.sessions.pings import Pings
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect
from conformance.wire.columns.chunks import SIGNED_APART
from conformance.wire.decode import guid_text

HOPS, MANAGER = "UserHeader.Flags.RC", "UserHeader.SourceQueueManager"
_FLAGS, _INTERNAL = 2, 0x08  # Of BaseHeader (MS-MQMQ 2.2.19.1).
SHORT = (HOPS, MANAGER, CERTIFICATE)
"""The columns that identify a packet's sender and the rules that compiled code leaves undecided."""
BEHIND = 1 << 20  # Added to the place of session verdicts, so that they follow the other verdicts of a packet.
REASONS = {
    Slow.TROUBLE: "not decoded whole",
    Slow.LAYOUT: "another layout may explain it",
    Slow.SIGNED: "signed",
    Slow.LETTERS: "letters beyond ASCII in a name",
    Slow.INSIDE: "a security item and its contents differ",
    Slow.CROWDED: "too many different outcomes",
    Slow.ODD: "holds what no header explains",
}
_SIGNED = int(Slow.SIGNED)
UNUSUAL = "of a connection that does not go its usual way"


def judge_range(
    path: str | Path,
    start: int = 0,
    stop: int | None = None,
    *,
    profile: str,
    readings: Mapping[str, tuple[str, ...]],
    level: str = "must",
    sessions: bool = True,
    keep: int = MAX_KEPT,
    into: Replay | None = None,
    on_packet: OnPacket | None = None,
    on_progress: OnProgress | None = None,
    outside: Outside | None = None,
) -> RangeResult:
    """Judge the records of a capture that begin in [start, stop), as `replay` would if the file held no others.

    start: an offset in the file; within a record, it means the next one. stop: None for the end of the file. A file
    that is not classic pcap is read as a whole, record by record. sessions: also judge the rules of connections, which
    reads every packet one by one. keep: verdicts other than pass that are stored singly; further ones are counted.
    into: a replay that this is part of. on_packet is called with each packet that was judged one by one and has a
    verdict other than pass; on_progress with (path, bytes, bytes in all). If a file cannot be read, or hits a defect of
    the harness, the summary tells, and what was judged of it counts. outside: calls whose exceptions are no defects.
    Raises MissingExtraError without the extra `columns`.
    """
    replay = into if into is not None else Replay()
    result = RangeResult(str(path), start, stop, sessions, replay, CaptureSummary(str(path)))
    replay.captures.append(result.summary)
    outside = outside or Outside()
    on_packet, on_progress = on_packet and outside.calls(on_packet), on_progress and outside.calls(on_progress)
    judging = _judging(result, profile, readings, level, keep, on_packet)
    judging.outside = outside
    judging.code.warm()
    warm()
    try:
        capture = FastCapture(path)
    except (OSError, ValueError):
        judging.all(read_through(path, on_progress))
        return result
    judging.all(
        _telling(
            capture,
            capture.batches(max(start, FILE_HEADER), stop, align=start > FILE_HEADER),
            on_progress,
        )
    )
    told = capture.told
    result.joined, result.repeated, result.reordered = told.joined, told.repeated, told.reordered
    return result


def _judging(
    result: RangeResult,
    profile: str,
    readings: Mapping[str, tuple[str, ...]],
    level: str,
    keep: int,
    on_packet: OnPacket | None,
) -> Judging:
    if result.sessions:
        from conformance.captures.session_columns import SessionJudging

        return SessionJudging(result, profile, readings, level, keep, on_packet)
    return Judging(result, profile, readings, level, keep, column_judge(SHORT), on_packet)


def _telling(capture: FastCapture, batches: Iterator[Batch], on_progress: OnProgress | None) -> Iterator[Batch]:
    told = 0
    for batch in batches:
        yield batch
        if on_progress is not None and capture.position >> 20 != told:
            told = capture.position >> 20
            on_progress(capture.path, capture.position, capture.size)


def _doubled(array: Any) -> Any:
    """Return the array followed by as many zeros."""
    return np.concatenate((array, np.zeros_like(array)))


class Judging:
    """The judging of one range."""

    def __init__(
        self,
        result: RangeResult,
        profile: str,
        readings: Mapping[str, tuple[str, ...]],
        level: str,
        keep: int,
        code: ColumnJudge,
        on_packet: OnPacket | None,
    ) -> None:
        self.result, self.summary = result, result.summary
        self.profile, self.readings, self.level = profile, readings, level
        self.sums = Sums(result.replay, result.path, min(keep, MAX_KEPT - len(result.replay._single)))
        self.on_packet, self.outside = on_packet, Outside()
        self.code = code
        self.meaning = meanings(code.code, profile, tuple(sorted(readings.items())), level)
        self.meanings: dict[int, Meaning] = {}
        # By outcome: 1 if its packets must be judged one by one. The last place is for packets without an outcome.
        self.look = np.zeros(2 * OUTCOMES + 1, np.uint8)
        self.looked_at = False
        columns = code.chunks.columns
        hops, manager = columns[HOPS], columns[MANAGER]
        assert hops.flags == manager.flags
        self.whose = (hops.flags, 1 << hops.bit | 1 << manager.bit, hops.at, manager.at)
        self.signed: dict[tuple[int, Judged], int] = {}
        self.same: dict[tuple[int, str], int] = {}
        self.certificates = Certificates(code.chunks.columns, profile, readings, level)
        self.chunks = [code.chunk(ROWS) for _ in range(2)]
        for chunk in self.chunks:
            chunk.transport[:] = SIGNED_APART
        self.counts = code.counts(OUTCOMES)
        self.given = [np.zeros(ROWS, np.int32) for _ in range(2)]
        self.found = np.zeros(ROWS, np.int64)
        self.senders = np.zeros((CAPACITY + 1, WIDTH), np.int64)
        self.names: list[str] = [""]
        self.numbers: dict[str, int] = {}
        self.named: Any = np.zeros(64, np.int32)
        self.addresses: Any = np.zeros(64, np.int32)
        self.unsettled: Any = np.zeros(32, np.uint8)
        self.opened: dict[int, Opened] = {}
        self.openings: dict[int, Opening] = {}
        self.notes, self.pings = Notes(readings), Pings()

    def all(self, batches: Iterator[Batch]) -> None:
        """Judge all batches."""
        summary = self.summary
        with contained(summary.path, summary, outside=self.outside):
            for batch in batches:
                self.batch(batch)
        with contained(summary.path, summary, outside=self.outside):
            self.flush()
            summary.selected = summary.packets
            self.sums.conclude(self.readings, self.level)
            self.result.sums = self.sums

    def batch(self, batch: Batch) -> None:
        both = (batch.in_file, batch.in_arena)
        for _, event in batch.events:
            if isinstance(event, Opened):
                self.open(event)
        self.begin(both, batch.events)
        todo: list[tuple[int, int, int, Any]] = []
        for at, rows in enumerate(both):
            count = len(rows)
            if not count:
                continue
            slow = self.compiled(at, rows)
            self.given[at][:count] = 0
            if slow or self.looked_at or self.openings:
                todo += [(int(rows.meta[row, OF_NUMBER]), 1, at, row) for row in self.wanted(at, rows)]
        if todo or batch.events:
            todo += [(number, int(isinstance(event, Frame)), 2, event) for number, event in batch.events]
            todo.sort(key=lambda one: one[:2])
            with self.until(both):
                for number, _, at, what in todo:
                    if at == 2:
                        self.event(number, what)
                    else:
                        self.row(both[at], at, what)
        self.count(both)
        self.forget(batch.events)

    def count(self, both: tuple[Rows, Rows], before: int | None = None) -> None:
        """Count the packets of a batch. before: the number of the first packet that is not judged, if there is one."""
        for at, rows in enumerate(both):
            if len(rows):
                beyond = rows.meta[:, OF_NUMBER] >= (1 << 62 if before is None else before)
                self.chunks[at].results[: len(rows)][beyond] = -1
                self.summary.packets += len(rows) - int(beyond.sum())
                self.combine(at, rows)

    @contextmanager
    def until(self, both: tuple[Rows, Rows]) -> Iterator[None]:
        """Count the packets before a failure within a batch."""
        try:
            yield
        except Exception as error:
            self.count(both, place_of(error).packet or 0)
            raise

    def compiled(self, at: int, rows: Rows) -> int:
        """Let compiled code judge the packets of a buffer; return how many it leaves to be judged one by one."""
        chunk, count = self.chunks[at], len(rows)
        chunk.offsets, chunk.lengths[:count] = rows.offsets, rows.lengths
        slow = self.code.judge(rows.buffer, chunk, count, self.counts)
        self.learn()
        return slow - self.certified(at, rows) if slow else 0

    def forget(self, events: Sequence[tuple[int, Event]]) -> None:
        """Forget connections that have ended."""
        for _, event in events:
            if isinstance(event, Closed):
                self.openings.pop(event.connection, None)
                self.opened.pop(event.connection, None)

    def wanted(self, at: int, rows: Rows) -> Any:
        """Return the rows to be judged one by one."""
        count = len(rows)
        chunk, out = self.chunks[at], self.found
        found = marked(
            chunk.slow, chunk.results, self.look, self.looked_at, rows.meta, self.unsettled, bool(self.openings), count,
            out,
        )  # fmt: skip
        return out[:found].tolist()

    def begin(self, both: tuple[Rows, Rows], events: Sequence[tuple[int, Event]]) -> None:
        """Find the connections that begin with a message, before their packets are judged."""
        if not self.openings:
            return
        busy = {event.connection for _, event in events if isinstance(event, Frame | Hole | Lost)}
        first: dict[int, tuple[int, int, int]] = {}
        for at, rows in enumerate(both):
            found = self.found[: firsts(rows.meta, self.unsettled, len(rows), self.found)] if len(rows) else ()
            for row in found:
                connection = int(rows.meta[row, OF_CONNECTION])
                one = (int(rows.meta[row, OF_NUMBER]), at, int(row))
                first[connection] = min(first.get(connection, one), one)
        for connection, (_, at, row) in first.items():
            if connection not in busy:
                self.no_opening(connection, both[at], row)

    def learn(self) -> None:
        """Work out the meanings of new outcomes."""
        if self.counts[-1, 0] == len(self.meanings) - len(self.signed):
            return
        for outcome in map(int, np.flatnonzero(self.counts[:-1, 0])):
            if outcome not in self.meanings:
                self.told_of(outcome, self.meaning(self.code.words(self.counts, outcome)))

    def certified(self, at: int, rows: Rows) -> int:
        """Judge packets with a certificate by the rules about it; the results of the other rules are known.

        Returns how many packets are settled by that.
        """
        chunk, settled = self.chunks[at], 0
        for row in (chunk.slow[: len(rows)] == _SIGNED).nonzero()[0].tolist():
            outcome = int(chunk.results[row])
            kind = self.certificates.kind(chunk.columns, row, rows)
            number = self.same.get((outcome, kind))
            if number is None:
                judged = self.certificates.judged(rows.data(row))
                number = self.signed.get((outcome, judged))
                if number is None:
                    if len(self.signed) == OUTCOMES:
                        chunk.results[row] = -1
                        continue
                    number = self.signed[outcome, judged] = OUTCOMES + len(self.signed)
                    self.told_of(number, with_rules(self.meanings[outcome], judged))
                if kind:
                    self.same[outcome, kind] = number
            self.result.slow[REASONS[Slow.SIGNED]] += 1
            chunk.results[row], chunk.slow[row] = number, Slow.NOT
            settled += 1
        return settled

    def told_of(self, outcome: int, meaning: Meaning) -> None:
        """Store the meaning of an outcome."""
        self.meanings[outcome] = meaning
        self.look[outcome] = not self.sums.enough(meaning)
        self.looked_at = self.looked_at or bool(self.look[outcome])

    def open(self, event: Opened) -> None:
        number = event.connection
        self.opened[number] = event
        while number >= len(self.unsettled):
            self.named, self.addresses = _doubled(self.named), _doubled(self.addresses)
            self.unsettled = _doubled(self.unsettled)
        for side, end in enumerate((event.initiator, event.acceptor)):
            self.addresses[2 * number + side] = self.name(end.address)
        if event.complete:
            self.openings[number] = Opening(event)
            self.unsettled[number] = 1

    def name(self, text: str) -> int:
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.names)
            self.names.append(text)
        return number

    def event(self, number: int, event: Event) -> None:
        self.summary.lacking.see(event)
        if isinstance(event, Frame):
            self.summary.packets += 1
            self.summary.lost += event.gap_before
            self.result.slow["a datagram" if event.transport == "udp" else UNUSUAL] += 1
            packet = dissect(event.data, transport=event.transport)
            self.one(event, packet)
            return
        if isinstance(event, Cut):
            self.summary.cut = event.text
        elif isinstance(event, Ended):
            self.summary.records, self.summary.skipped = event.records, dict(event.skipped)
        elif isinstance(event, Lost):
            self.summary.lost += event.length
        if isinstance(event, Hole | Lost):
            self.lose(event.connection)

    def lose(self, connection: int) -> None:
        opening = self.openings.get(connection)
        if opening is not None:
            opening.lose()
            self.settle(connection, opening)

    def row(self, rows: Rows, at: int, row: int) -> None:
        """Judge a packet of a buffer by itself."""
        meta = rows.meta[row]
        connection, side = int(meta[OF_CONNECTION]), int(meta[OF_SIDE])
        outcome = int(self.chunks[at].results[row])
        why = Slow(int(self.chunks[at].slow[row]))
        wanted = bool(why) or bool(self.look[outcome])
        if self.unsettled[connection]:
            self.no_opening(connection, rows, row)
        if not wanted and not self.unsettled[connection]:
            self.given[at][row] = self.named[2 * connection + side]
            return
        opened = self.opened[connection]
        ends = (opened.initiator, opened.acceptor)
        frame = Frame(
            int(meta[OF_NUMBER]), int(meta[OF_RECORD]), int(meta[OF_TIME]), ends[side], ends[1 - side], "tcp",
            rows.data(row), connection, SIDES[side], int(meta[OF_OFFSET]), int(meta[OF_HEARD]),
        )  # fmt: skip
        packet = dissect(frame.data, transport="tcp")
        if why:
            self.result.slow[REASONS[why]] += 1
            self.one(frame, packet)
            return
        verdicts = self.look_at(frame, packet, outcome) if wanted else []
        self.see(frame, packet)
        self.given[at][row] = self.name(self.sender(frame, packet))
        self.told(frame, packet, verdicts)

    def look_at(self, frame: Frame, packet: Packet, outcome: int) -> list[Verdict]:
        """Return the verdicts other than pass of a packet whose outcome must be looked at."""
        only = {name for name, _, _ in self.meanings[outcome].deviating}
        verdicts = alone(Seen(frame, packet), self.profile, self.readings, self.level, only)
        if self.sums.show(frame.number, verdicts):
            for other in map(int, np.flatnonzero(self.look)):
                self.look[other] = not self.sums.enough(self.meanings[other])
            self.looked_at = bool(self.look.any())
        return verdicts

    def one(self, frame: Frame, packet: Packet) -> None:
        """Judge a packet that no compiled rule has judged."""
        verdicts = alone(Seen(frame, packet), self.profile, self.readings, self.level)
        self.see(frame, packet)
        self.sums.by(self.sender(frame, packet), frame.number, verdicts)
        self.sums.add(frame.number, verdicts, PACKET)
        self.told(frame, packet, verdicts)

    def told(self, frame: Frame, packet: Packet, verdicts: list[Verdict]) -> None:
        if self.on_packet is not None and any(verdict.outcome is not Outcome.PASS for verdict in verdicts):
            self.on_packet(judged(self.result.path, frame, packet, verdicts))

    def see(self, frame: Frame, packet: Packet) -> None:
        """Note who the ends of the packet's connection are."""
        opening = self.openings.get(frame.connection) if frame.connection is not None else None
        if opening is not None:
            if frame.gap_before:
                opening.lose()
            opening.see(Seen(frame, packet), self.notes, self.pings)
            self.notes.take()
            if frame.trouble is not None:
                opening.lose()
            self.settle(opening.opened.connection, opening)

    def no_opening(self, connection: int, rows: Rows, row: int) -> None:
        """Settle a connection that begins with a message, since nothing identifies its ends; decode nothing."""
        opening = self.openings[connection]
        if not opening.stage and not rows.buffer[int(rows.offsets[row]) + _FLAGS] & _INTERNAL:
            opening.derailed = True
            self.settle(connection, opening)

    def settle(self, connection: int, opening: Opening) -> None:
        """Store who the ends are, as soon as nothing can change it any more."""
        if opening.known and not opening.derailed and opening.response is None:
            return
        for end, word in enumerate(SIDES, 2 * connection):
            manager = opening.manager(word)
            if manager is not None:  # a null GUID means that the manager stays unknown, whatever the messages hold
                self.named[end] = self.addresses[end] if manager == NULL_GUID else self.name(manager)
        self.unsettled[connection] = 0
        self.openings.pop(connection, None)

    def sender(self, frame: Frame, packet: Packet) -> str:
        """Return the sender like `SessionJudge.sender`."""
        seen = Seen(frame, packet)
        if frame.connection is None or frame.side is None:
            return seen.text("Ping.QMGuid") or frame.source.address
        opening = self.openings.get(frame.connection)
        manager = opening.manager(frame.side) if opening is not None else None
        if manager is None and opening is None:
            manager = self.names[self.named[2 * frame.connection + SIDES.index(frame.side)]] or None
        if manager is None and seen.number(HOPS) == 0:
            manager = seen.text(MANAGER)
        return frame.source.address if manager is None or manager == NULL_GUID else manager

    def combine(self, at: int, rows: Rows) -> None:
        begin, count = 0, len(rows)
        while begin < count:
            begin = combine(
                self.chunks[at].results, self.chunks[at].columns, *self.whose, begin, count, rows.meta, self.named,
                self.addresses, self.given[at], self.senders,
            )  # fmt: skip
            if begin < count:
                self.flush()

    def flush(self) -> None:
        """Move the table of senders and outcomes to the sums, and empty it."""
        for counted in self.counted():
            self.sums.count(*counted)
        self.senders[:] = 0

    def counted(self) -> Iterator[tuple[str, Meaning, int, int, int]]:
        """Yield each row of the table: sender, outcome, number of packets, and the lowest and highest packet number."""
        rows = self.senders[:CAPACITY][self.senders[:CAPACITY, USED] != 0]
        managers: dict[tuple[int, int], str] = {}
        for row, (_, high, low, code, count, first, last, _) in zip(rows, rows.tolist(), strict=True):
            outcome, kind = code >> 2, code & 3
            if kind == GUID:
                name = managers.get((high, low))
                if name is None:
                    name = managers[high, low] = guid_text(row[[HIGH, LOW]].tobytes())
            else:
                name = self.names[low]
            yield name, self.meanings[outcome], count, first, last
