"""Judges batches of packets: compiled code decodes and judges them, and counts what is usual."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.capture import Closed, Event, Frame, Opened
from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, ROWS
from conformance.capture.columns.reader import Batch, Rows
from conformance.captures.defects import place_of
from conformance.captures.judge import PACKET, SESSION, CaptureJudge, CountingSink, SessionRules
from conformance.captures.meanings import Meaning, meanings
from conformance.captures.packet_rules import PacketRules
from conformance.captures.sender_readings import VerdictKind, key_of
from conformance.captures.senders import ByOpenings, Ends, busy_of
from conformance.captures.verdict_counts import CAPACITY, COUNT, GUID, HIGH, LOW, WIDTH, combine
from conformance.judge.columns.judge import CAPACITY as OUTCOMES
from conformance.judge.columns.judge import ColumnJudge, Sieve, Slow, column_judge
from conformance.judge.columns.rule_trees import signature_rules
from conformance.judge.packets.judge import judge_dissected, rules_of
from conformance.judge.packets.signatures import CERTIFICATE, key_facts
from conformance.judge.sessions.columns.judge import ColumnSessions, Part
from conformance.judge.sessions.columns.packet_row import KEYS, PacketRow, Table, Texts
from conformance.judge.sessions.context import Seen
from conformance.judge.sessions.keys import FREQUENT, HOPS, MANAGER
from conformance.judge.sessions.opening import Opening
from conformance.verdict import Verdict
from conformance.wire import dissect
from conformance.wire.certificates import read_certificate
from conformance.wire.columns.table import SIGNED_APART, ColumnSet
from conformance.wire.layout import guid_text

Judged = tuple[tuple[str, VerdictKind], ...]
"""The results of rules, each with the rule's id."""
_ORDER = {rule.id: at for at, rule in enumerate(rules_of("tcp"))}
_REQUIREMENTS = frozenset(rule.requirement for rule in rules_of("tcp") if rule.id in signature_rules())


def with_rules(before: Meaning, judged: Judged) -> Meaning:
    """Return the results of all rules: `judged` for those about certificates and signatures, the others as before."""
    parts = [one for one in zip(before.rules, before.keys, strict=True) if one[0] not in signature_rules()]
    parts = sorted([*parts, *judged], key=lambda one: _ORDER[one[0]])
    return Meaning(tuple(rule for rule, _ in parts), tuple(key for _, key in parts))


class Certificates:
    """Judges by the rules about certificates and signatures."""

    def __init__(self, columns: ColumnSet, rules: PacketRules) -> None:
        self._column = columns.columns.get(CERTIFICATE)
        self._rules = rules

    def judged(self, data: bytes) -> Judged:
        """Return the results of these rules for a packet."""
        verdicts = judge_dissected(
            dissect(data, transport="tcp"),
            profile=self._rules.profile,
            readings=self._rules.readings,
            level=self._rules.level,
            only=_REQUIREMENTS,
        )
        return tuple((one.rule, key_of(one)) for one in verdicts if one.rule in signature_rules())

    def kind(self, columns: Any, row: int, rows: Rows) -> str:
        """Return a key shared by packets of one outcome that get the same results; empty to judge a packet itself.

        A certificate that cannot be read checks no signature: the outcome has all else that the rules ask. columns,
        row: values of the packet.
        """
        column = self._column
        if column is None or not columns[column.flags, row] >> column.bit & 1:
            return ""
        at = int(columns[column.at, row])
        certificate = read_certificate(rows.buffer[at : at + int(columns[column.at + 1, row])].tobytes())
        return f"no key, {certificate.x509}, {key_facts(certificate.bits)}" if certificate.why else ""


SHORT = (HOPS, MANAGER, CERTIFICATE)
"""The columns that identify a packet's sender and the rules that compiled code leaves undecided."""
REASONS = {
    Slow.TROUBLE: "not decoded whole",
    Slow.LAYOUT: "another layout may explain it",
    Slow.SIGNED: "signed",
    Slow.LETTERS: "letters beyond ASCII in a name",
    Slow.INSIDE: "a security item and its contents differ",
    Slow.CROWDED: "too many different outcomes",
    Slow.ODD: "holds what no header explains",
    Slow.UNREADABLE: "not decoded whole",
}
_SIGNED = int(Slow.SIGNED)
_UNUSUAL = "of a connection that does not go its usual way"
_NEVER = 1 << 62  # Greater than the number of any packet.


def code_for(*, sessions: bool, keys: Sequence[str] = ()) -> ColumnJudge:
    """Return compiled rules, which fill the columns of `keys`. sessions: and those that session rules read."""
    return column_judge(tuple(dict.fromkeys((*SHORT, *(KEYS if sessions else ()), *keys))))


@dataclass(frozen=True, slots=True)
class Decoded:
    """A batch of packets that compiled code has decoded: those in the file, and those joined from several segments.

    tables: the values of each row, with `rows`, their places in the capture. results: the outcome of each row, below 0
    where the packet is judged by itself. given: afterwards, the number of its sender's name in `ends`, -1 for the queue
    manager that the packet names. events: what lies between, each with the number of the packet that it precedes.
    meanings: what each outcome means.
    """

    tables: tuple[Table, Table]
    results: tuple[Any, Any]
    given: tuple[Any, Any]
    events: Sequence[tuple[int, Event]]
    ends: Ends
    meanings: Mapping[int, Meaning]


@dataclass(frozen=True, slots=True)
class Counted:
    """Packets of a sender with the same outcome and the same passes of the session rules.

    first, last: the lowest and highest of their numbers; first_ns, last_ns: of their times.
    """

    sender: str
    meaning: Meaning
    session: tuple[VerdictKind, ...]
    count: int
    first: int
    last: int
    first_ns: int
    last_ns: int


class InPlace:
    """Judges the batches of a capture. slow: packets that were judged by themselves, by reason.

    ends: who the ends of connections are. owner: what
    keeps the bytes of the file in their place; None where they go with each batch.
    """

    def __init__(self, judge: CaptureJudge, rules: PacketRules, sink: CountingSink, ends: Ends) -> None:
        self.judge, self.sink, self.ends = judge, sink, ends
        self.owner: object = None
        self.sessions = judge.session_rules
        self.openings = judge.senders if isinstance(judge.senders, ByOpenings) else None
        self.rules = rules
        self.code = code_for(sessions=self.sessions is not None, keys=sink.keys)
        rules.search.sieve = Sieve(self.code)
        self.slow: Counter[str] = Counter()
        self.meaning = meanings(self.code.code, rules)
        self.meanings: dict[int, Meaning] = {}
        # By outcome: 1 if its packets must be judged one by one. The last place is for packets without an outcome.
        self.look = np.zeros(2 * OUTCOMES + 1, np.uint8)
        self.looked_at = False
        columns = self.code.chunks.columns
        hops, manager = columns[HOPS], columns[MANAGER]
        assert hops.flags == manager.flags
        self.whose = (hops.flags, 1 << hops.bit | 1 << manager.bit, hops.at, manager.at)
        self.signed: dict[tuple[int, Judged], int] = {}
        self.same: dict[tuple[int, str], int] = {}
        self.certificates = Certificates(columns, rules)
        self.chunks = [self.code.chunk(ROWS) for _ in range(2)]
        for chunk in self.chunks:
            chunk.transport[:] = SIGNED_APART
        self.counts = self.code.counts(OUTCOMES)
        self.given = [np.zeros(ROWS, np.int32) for _ in range(2)]
        self.patterns = [np.zeros(ROWS, np.int32) for _ in range(2)]
        self.table = np.zeros((CAPACITY + 1, WIDTH), np.int64)
        self.texts = Texts()

    def batch(self, batch: Batch) -> None:
        """Judge a batch: everything in the order of the capture, the events of a number before its packet."""
        for _, event in batch.events:
            if isinstance(event, Opened):
                self.ends.open(event)
                if self.openings is not None:
                    self.openings.open(event, Opening(event) if event.complete else None)
        found = self._decoded(batch)
        if self.openings is not None:
            self.openings.begin((batch.in_file, batch.in_arena), busy_of(batch.events))
        self.sink.decoded(found)
        with uncollected(), self._until(found):
            if self.sessions is not None:
                self._connected(found, self.sessions)
            else:
                self._through(found, self._wanted(found))
        self._count(found)
        for _, event in batch.events:
            if isinstance(event, Closed):
                self.ends.opened.pop(event.connection, None)

    def _decoded(self, batch: Batch) -> Decoded:
        tables, results = [], []
        for at, rows in enumerate((batch.in_file, batch.in_arena)):
            chunk, count = self.chunks[at], len(rows)
            if count:
                chunk.offsets, chunk.lengths[:count] = rows.offsets, rows.lengths
                slow = self.code.judge(rows.buffer, chunk, count, self.counts)
                self._learn()
                if slow:
                    self._certified(at, batch)
            self.given[at][:count] = self.patterns[at][:count] = 0
            found = chunk.results[:count]
            results.append(found)
            tables.append(Table(rows, chunk.columns, found, self.code.chunks.columns, self.texts, self.ends.opened))
        given = self.given[0][: tables[0].count], self.given[1][: tables[1].count]
        return Decoded(
            (tables[0], tables[1]), (results[0], results[1]), given, batch.events, self.ends, self.meanings,
        )  # fmt: skip

    def _wanted(self, found: Decoded) -> tuple[Any, Any]:
        """Return the rows of both tables that are judged by themselves."""
        out: list[Any] = []
        for at, table in enumerate(found.tables):
            wanted = self._open_left(found, at)
            if self.openings is not None and self.openings.openings:
                wanted |= self.openings.unsettled[table.rows.meta[:, OF_CONNECTION]] != 0
            out.append(np.flatnonzero(wanted))
        return out[0], out[1]

    def _open_left(self, found: Decoded, at: int) -> Any:
        """Mark the rows of a table that the packet rules leave open or that must be looked at."""
        wanted = self.chunks[at].slow[: found.tables[at].count] != 0
        if self.looked_at:
            wanted |= self.look[found.results[at]] != 0
        return wanted

    def _through(self, found: Decoded, places: tuple[Any, Any]) -> None:
        first = len(places[0])
        if not found.events and not first and not len(places[1]):
            return
        numbers = [table.rows.meta[rows, OF_NUMBER] for table, rows in zip(found.tables, places, strict=True)]
        waiting = iter([*sorted(found.events, key=_turn), (_NEVER, None)])
        next_, event = next(waiting)
        for place in np.argsort(np.concatenate(numbers), kind="stable").tolist():
            at = int(place >= first)
            row = found.tables[at].packet(int(places[at][place - at * first]))
            while next_ <= row.frame_number and event is not None:
                self._event(next_, event)
                next_, event = next(waiting)
            self._row(at, row)
        while event is not None:
            self._event(next_, event)
            next_, event = next(waiting)

    def _connected(self, found: Decoded, rules: SessionRules) -> None:
        """Judge connections too: from one packet that is not usual to the next, and from event to event."""
        numbers = np.concatenate([table.rows.meta[:, OF_NUMBER] for table in found.tables])
        order = np.argsort(numbers, kind="stable")
        numbers, first = numbers[order], found.tables[0].count
        prover = rules.judge if isinstance(rules.judge, ColumnSessions) else None
        if prover is not None:
            one, other = (self._part(found, at) for at in range(2))
            prover.begin((one, other), order, self.owner)
        done = 0
        for before, event in (*sorted(found.events, key=_turn), (_NEVER, None)):
            end = len(order) if event is None else int(np.searchsorted(numbers, before))
            while done < end:
                if prover is not None:
                    done = prover.go(done, end)
                if done < end:
                    place = int(order[done])
                    at = int(place >= first)
                    self._row(at, found.tables[at].packet(place - at * first))
                    done += 1
            if event is not None:
                self._event(before, event)
        if prover is not None:
            means = prover.means[: len(order)]
            for at, proven in enumerate((means[:first], means[first:])):
                patterns = self.patterns[at][: len(proven)]
                patterns[:] = np.where(proven >= 0, proven, patterns)

    def _part(self, found: Decoded, at: int) -> Part:
        table, rows = found.tables[at], found.tables[at].rows
        stops = self._open_left(found, at).view(np.uint8)
        return Part(rows.buffer, table.columns, rows.meta, stops, rows.offsets, rows.lengths)

    def _event(self, before: int, event: Event) -> None:
        if isinstance(event, Frame):
            self.slow["a datagram" if event.transport == "udp" else _UNUSUAL] += 1
        self.judge.event(event, before)

    def _row(self, at: int, row: PacketRow) -> None:
        """Judge a packet of a table by itself, as far as it must be."""
        index, sessions, judge = row.index, self.sessions, self.judge
        slow, outcome = int(self.chunks[at].slow[index]), int(self.chunks[at].results[index])
        if self.openings is not None and self.openings.unsettled[row.connection]:
            self.openings.not_opened(row.connection, row.table.rows, index)
        if slow:
            self.slow[REASONS[Slow(slow)]] += 1
            self.given[at][index] = self.ends.name(judge.packet(Seen(row.frame, row.packet)))
            return
        look = bool(self.look[outcome])
        if sessions is None:
            assert self.openings is not None
            if not look and not self.openings.unsettled[row.connection]:
                self.given[at][index] = self.ends.named[2 * row.connection + (row.side == "acceptor")]
                return
        seen = row if row.kind in FREQUENT else Seen(row.frame, row.packet)
        said: Sequence[Any] = ()
        single = False
        if sessions is not None:
            said = sessions.judge.see(seen)
            single = sessions.judge.single
            if isinstance(sessions.judge, ColumnSessions):
                sessions.judge.learn(said)
            self.patterns[at][index] = 0 if single else sessions.patterns.number(said)
        verdicts: Sequence[Verdict] = ()
        if look:
            only = {name for name, _, _ in self.meanings[outcome].deviating}
            verdicts = self.rules.judge(Seen(seen.frame, seen.packet), only)
        judge.senders.see(seen)
        sender = judge.senders.of(seen)
        self.given[at][index] = self.ends.name(sender)
        if verdicts or single:
            more = judge.levelled(said) if single else ()
            if self.sink.packet(seen, sender, {PACKET: verdicts, SESSION: more}, counted=True):
                for other in map(int, np.flatnonzero(self.look)):
                    self.look[other] = not self.sink.enough(self.meanings[other])
                self.looked_at = bool(self.look.any())
            if single and sessions is not None and self.sink.full:
                sessions.judge.count_all()

    @contextmanager
    def _until(self, found: Decoded) -> Iterator[None]:
        """Count the packets before a failure within a batch."""
        try:
            yield
        except Exception as error:
            self._count(found, place_of(error).packet or 0)
            raise

    def _count(self, found: Decoded, before: int = _NEVER) -> None:
        """Count the packets of a batch. before: the number of the first packet that is not judged, if there is one."""
        for at, table in enumerate(found.tables):
            if not table.count:
                continue
            beyond = table.rows.meta[:, OF_NUMBER] >= before
            self.chunks[at].results[: table.count][beyond] = -1
            self.judge.summary.packets += table.count - int(beyond.sum())
            begin = 0
            while begin < table.count:
                begin = combine(
                    self.chunks[at].results, self.chunks[at].columns, self.whose, begin, table.count, table.rows.meta,
                    self.ends.named, self.ends.addresses, self.given[at], self.patterns[at], self.table,
                )  # fmt: skip
                if begin < table.count:
                    self.flush()
        self.sink.judged(found)

    def leave(self) -> None:
        """Let go of the bytes of the file, since nothing more is judged."""
        self.owner = None
        if self.sessions is not None and isinstance(self.sessions.judge, ColumnSessions):
            self.sessions.judge.leave()

    def flush(self) -> None:
        """Give the counts to the sink, and empty their table."""
        self.sink.many(self._counted())
        self.table[:] = 0

    def _counted(self) -> Iterator[Counted]:
        rows = self.table[:CAPACITY][self.table[:CAPACITY, COUNT] != 0]
        managers: dict[tuple[int, int], str] = {}
        sessions: dict[int, tuple[VerdictKind, ...]] = {}
        for row, (code, high, low, count, *span) in zip(rows, rows.tolist(), strict=True):
            pattern, outcome = code >> 32, code >> 2 & 0x3FFF_FFFF
            if code & 3 == GUID:
                name = managers.get((high, low))
                if name is None:
                    name = managers[high, low] = guid_text(row[[HIGH, LOW]].tobytes())
            else:
                name = self.ends.names[low]
            keys = sessions.get(pattern)
            if keys is None:
                keys = sessions[pattern] = self._session_keys(pattern)
            yield Counted(name, self.meanings[outcome], keys, count, *span)

    def _session_keys(self, pattern: int) -> tuple[VerdictKind, ...]:
        sessions = self.sessions
        if not pattern or sessions is None:
            return ()
        kinds = (self.rules.kind(sessions.judge.kinds[one]) for one in sessions.patterns.kinds[pattern])
        return tuple(key for key in kinds if key is not None)

    def _learn(self) -> None:
        """Work out the meanings of new outcomes."""
        if self.counts[-1, 0] == len(self.meanings) - len(self.signed):
            return
        for outcome in map(int, np.flatnonzero(self.counts[:-1, 0])):
            if outcome not in self.meanings:
                self._told_of(outcome, self.meaning(self.code.words(self.counts, outcome)))

    def _certified(self, at: int, batch: Batch) -> None:
        """Judge packets with a certificate by the rules about it; the results of the other rules are known."""
        chunk, rows = self.chunks[at], (batch.in_file, batch.in_arena)[at]
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
                    self._told_of(number, with_rules(self.meanings[outcome], judged))
                if kind:
                    self.same[outcome, kind] = number
            self.slow[REASONS[Slow.SIGNED]] += 1
            chunk.results[row], chunk.slow[row] = number, Slow.NOT

    def _told_of(self, outcome: int, meaning: Meaning) -> None:
        """Store the meaning of an outcome."""
        self.meanings[outcome] = meaning
        self.look[outcome] = not self.sink.enough(meaning)
        self.looked_at = self.looked_at or bool(self.look[outcome])


def _turn(one: tuple[int, Event]) -> tuple[int, bool]:
    return one[0], isinstance(one[1], Frame)


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch off the garbage collector: the objects of a batch are freed or kept, and form no cycles."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
