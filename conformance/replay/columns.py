"""Judging by columns: what `replay` says of a capture, most of it said by compiled code.

The walk of `capture.columns` tells where packets are, the compiled rules of `judge.columns` what each outcome is; only
what they leave alone, what deviates and what speaks of sessions is looked at packet by packet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conformance.capture import CaptureError, Closed, Cut, Ended, Event, Frame, Hole, Lost, Opened
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
from conformance.capture.columns.reader import FILE_HEADER, Batch, FastCapture, Rows, warm
from conformance.judge.columns.kernel import CAPACITY as OUTCOMES
from conformance.judge.columns.kernel import ColumnJudge, Slow, column_judge
from conformance.judge.session_context import Notes, Seen
from conformance.judge.session_opening import NULL_GUID, Opening
from conformance.judge.session_pings import Pings
from conformance.judge.signatures import CERTIFICATE
from conformance.replay.certificates import Certificates, Judged, with_rules
from conformance.replay.engine import (
    MAX_KEPT,
    CaptureSummary,
    OnPacket,
    OnProgress,
    Replay,
    alone,
    judged,
)
from conformance.replay.meanings import meanings
from conformance.replay.ranges import RangeResult as RangeResult
from conformance.replay.reading import SIDES, read_through
from conformance.replay.senders import CAPACITY, GUID, HIGH, LOW, USED, WIDTH, combine, firsts, marked
from conformance.replay.sums import PACKET, Meaning, Sums
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect
from conformance.wire.columns.chunks import SIGNED_APART
from conformance.wire.decode import guid_text

HOPS, MANAGER = "UserHeader.Flags.RC", "UserHeader.SourceQueueManager"
_FLAGS, _INTERNAL = 2, 0x08  # Of BaseHeader (MS-MQMQ 2.2.19.1).
SHORT = (HOPS, MANAGER, CERTIFICATE)
"""The columns that tell who sent a packet, and what compiled code leaves open."""
BEHIND = 1 << 20  # Where the verdicts of sessions stand among those of a packet.
REASONS = {
    Slow.TROUBLE: "not decoded whole",
    Slow.LAYOUT: "another layout may explain it",
    Slow.SIGNED: "signed",
    Slow.LETTERS: "letters beyond ASCII in a name",
    Slow.INSIDE: "a security item and its contents differ",
    Slow.CROWDED: "too many different outcomes",
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
    pass_damage: bool = False,
    keep: int = MAX_KEPT,
    into: Replay | None = None,
    on_packet: OnPacket | None = None,
    on_progress: OnProgress | None = None,
) -> RangeResult:
    """Judge the records of a capture that begin in [start, stop), as `replay` would if the file held no others.

    start: an offset in the file, within a record for the next one. stop: None for the end of the file. A file that is
    no classic pcap is read as a whole, record by record. sessions: also judge the rules of connections, which looks at
    every packet one by one; without it they are left out. pass_damage: where the file stops making sense, go on at the
    next record that can be found; without it that is the end, as it is for `replay`. keep: verdicts other than pass
    that are kept by themselves; further ones are counted. into: a replay that this is part of. on_packet is called with
    each packet that was looked at one by one and has a verdict other than pass; on_progress with (path, bytes, bytes in
    all). A file that cannot be read is noted in the summary. Raises MissingExtraError without the extra `columns`.
    """
    replay = into if into is not None else Replay()
    result = RangeResult(str(path), start, stop, sessions, replay, CaptureSummary(str(path)))
    replay.captures.append(result.summary)
    judging = _judging(result, profile, readings, level, keep, on_packet)
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
            capture.batches(max(start, FILE_HEADER), stop, align=start > FILE_HEADER, pass_damage=pass_damage),
            on_progress,
        )
    )
    told = capture.told
    result.joined, result.repeated, result.reordered = told.joined, told.repeated, told.reordered
    result.lost_bytes = told.lost_bytes
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
        from conformance.replay.session_columns import SessionJudging

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
    """The same with as many zeros behind it."""
    return np.concatenate((array, np.zeros_like(array)))


class Judging:
    """One range on its way."""

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
        self.on_packet = on_packet
        self.code = code
        self.meaning = meanings(code.code, profile, tuple(sorted(readings.items())), level)
        self.meanings: dict[int, Meaning] = {}
        # Whether packets with an outcome are to be looked at; the last is for those that have none.
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
        """Judge everything."""
        try:
            for batch in batches:
                self.batch(batch)
        except CaptureError as error:
            self.summary.error = str(error)
        self.flush()
        self.summary.selected = self.summary.packets
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
            for number, _, at, what in todo:
                if at == 2:
                    self.event(number, what)
                else:
                    self.row(both[at], at, what)
        for at, rows in enumerate(both):
            if len(rows):
                self.summary.packets += len(rows)
                self.combine(at, rows)
        self.forget(batch.events)

    def compiled(self, at: int, rows: Rows) -> int:
        """Let compiled code judge the packets of a buffer; how many it leaves to be judged one by one."""
        chunk, count = self.chunks[at], len(rows)
        chunk.offsets, chunk.lengths[:count] = rows.offsets, rows.lengths
        slow = self.code.judge(rows.buffer, chunk, count, self.counts)
        self.learn()
        return slow - self.certified(at, rows) if slow else 0

    def forget(self, events: Sequence[tuple[int, Event]]) -> None:
        """Let go of connections that have ended."""
        for _, event in events:
            if isinstance(event, Closed):
                self.openings.pop(event.connection, None)
                self.opened.pop(event.connection, None)

    def wanted(self, at: int, rows: Rows) -> Any:
        """The rows that are to be looked at one by one."""
        count = len(rows)
        chunk, out = self.chunks[at], self.found
        found = marked(
            chunk.slow, chunk.results, self.look, self.looked_at, rows.meta, self.unsettled, bool(self.openings), count,
            out,
        )  # fmt: skip
        return out[:found].tolist()

    def begin(self, both: tuple[Rows, Rows], events: Sequence[tuple[int, Event]]) -> None:
        """Find the connections that begin with a message, before their packets are looked at."""
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
        """Work out what outcomes mean that were not there before."""
        if self.counts[-1, 0] == len(self.meanings) - len(self.signed):
            return
        for outcome in map(int, np.flatnonzero(self.counts[:-1, 0])):
            if outcome not in self.meanings:
                self.told_of(outcome, self.meaning(self.code.words(self.counts, outcome)))

    def certified(self, at: int, rows: Rows) -> int:
        """Packets with a certificate: what the rules about it say is judged here, and what the others say is known.

        Returns how many are settled by that.
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
        """Note what an outcome means."""
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
        """A packet in place that is looked at by itself."""
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
        """The verdicts other than pass of a packet with an outcome that is to be looked at."""
        only = {name for name, _, _ in self.meanings[outcome].deviating}
        verdicts = alone(Seen(frame, packet), self.profile, self.readings, self.level, only)
        if self.sums.show(frame.number, verdicts):
            for other in map(int, np.flatnonzero(self.look)):
                self.look[other] = not self.sums.enough(self.meanings[other])
            self.looked_at = bool(self.look.any())
        return verdicts

    def one(self, frame: Frame, packet: Packet) -> None:
        """A packet that no compiled rule has judged."""
        verdicts = alone(Seen(frame, packet), self.profile, self.readings, self.level)
        self.see(frame, packet)
        self.sums.by(self.sender(frame, packet), frame.number, verdicts)
        self.sums.add(frame.number, verdicts, PACKET)
        self.told(frame, packet, verdicts)

    def told(self, frame: Frame, packet: Packet, verdicts: list[Verdict]) -> None:
        if self.on_packet is not None and any(verdict.outcome is not Outcome.PASS for verdict in verdicts):
            self.on_packet(judged(self.result.path, frame, packet, verdicts))

    def see(self, frame: Frame, packet: Packet) -> None:
        """Hear who the ends of its connection are."""
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
        """Where a connection begins with a message nothing will tell who its ends are: no need to decode it."""
        opening = self.openings[connection]
        if not opening.stage and not rows.buffer[int(rows.offsets[row]) + _FLAGS] & _INTERNAL:
            opening.derailed = True
            self.settle(connection, opening)

    def settle(self, connection: int, opening: Opening) -> None:
        """Note who the ends are, once nothing changes it any more."""
        if opening.known and not opening.derailed and opening.response is None:
            return
        for side, word in enumerate(SIDES):
            manager = opening.manager(word)
            if manager not in (None, NULL_GUID):
                assert manager is not None
                self.named[2 * connection + side] = self.name(manager)
        self.unsettled[connection] = 0
        self.openings.pop(connection, None)

    def sender(self, frame: Frame, packet: Packet) -> str:
        """As `SessionJudge.sender`."""
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
        """Hand the table of senders and outcomes over to the tally, and empty it."""
        for counted in self.counted():
            self.sums.count(*counted)
        self.senders[:] = 0

    def counted(self) -> Iterator[tuple[str, Meaning, int, int, int]]:
        """What the table of senders holds: sender, outcome, packets, and the lowest and highest of their numbers."""
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
