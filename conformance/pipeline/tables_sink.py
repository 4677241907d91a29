"""Write the verdicts and packets of one capture: single rows for outcomes other than pass, counts for passes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from conformance.capture import Closed, Event, Frame, Lost, Opened, Side
from conformance.capture.columns.places import OF_CONNECTION, OF_NUMBER, OF_SIDE
from conformance.captures.batch_judge import Counted, Decoded, code_for
from conformance.captures.batches import SIDES
from conformance.captures.engine import MAX_KEPT, MAX_SENDERS, destination
from conformance.captures.judge import PACKET, SESSION, Managers, Told
from conformance.captures.meanings import Meaning
from conformance.captures.packet_rules import PacketRules
from conformance.captures.sender_readings import Followed, ReadingEvidence, VerdictKind, key_of, plain_verdict, read_of
from conformance.captures.verdict_counts import BEHIND, keys_of, read_in
from conformance.judge.packets.packet_verdicts import Judged, Pattern
from conformance.judge.sessions.context import Seen
from conformance.pipeline.counted import Counts
from conformance.pipeline.packet_columns import KEYS, PacketColumns
from conformance.pipeline.rows import Days, Row, Rows, moment, plain, texts
from conformance.verdict import Outcome, Verdict, worst
from conformance.wire import Packet
from conformance.wire.columns.table import ColumnSet


@dataclass(frozen=True, slots=True)
class Whose:
    """The packet and sender of a verdict. time_ns: since 1970. number: of the packet within the stream."""

    time_ns: int
    number: int | None = None
    sender: str | None = None
    queue: str | None = None


@dataclass(slots=True)
class Teller:
    """Writes the verdicts on one capture of a stream. at_end: those at the provisional end of the stream.

    part: the stream about whose provisional end the rows are, if it can continue. date: the day of the capture.
    """

    rows: Rows
    capture: str
    stream: str
    date: str
    every_packet: bool
    at_end: bool = False
    part: str | None = None
    single: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    """Counts of passes, and of what has no row of its own."""
    days: Days = field(init=False)
    """The days of its rows."""

    def __post_init__(self) -> None:
        self.days = Days(self.date)

    def verdict(self, verdict: Verdict, whose: Whose) -> None:
        """Add one verdict."""
        good = verdict.outcome is Outcome.PASS
        if verdict.frame is not None and (good or self.single >= MAX_KEPT):
            self.counts.more(whose.sender, (key_of(verdict),), 1, verdict.frame, whose.time_ns, whose.time_ns)
            return
        self.single += not good
        self.outcomes[verdict.outcome.value] = self.outcomes.get(verdict.outcome.value, 0) + 1
        self._write(verdict, whose)

    def packet_row(self, row: Row, sender: str) -> None:
        """Add a packet that is already a row."""
        row |= {"capture_id": self.capture, "stream_id": self.stream, "sender": plain(sender)}
        row["date"] = self.days.of(row["time_ns"])
        self.rows.add("packets", row, stream=self.part)

    def close(self) -> None:
        """Write the counts so far."""
        for name, count in self.counts.outcomes().items():
            self.outcomes[name] = self.outcomes.get(name, 0) + count
        table = self.counts.table({"capture_id": self.capture, "stream_id": self.stream, "at_end": self.at_end})
        if table is not None:
            self.rows.add_table("verdicts", self.days, "first_ns", table, stream=self.part)
        self.counts.clear()

    def _write(self, verdict: Verdict, whose: Whose) -> None:
        single = verdict.outcome is not Outcome.PASS
        row: Row = {
            "capture_id": self.capture,
            "stream_id": self.stream,
            "requirement": verdict.requirement,
            "outcome": verdict.outcome.value,
            "count": 1,
            "sender": whose.sender and plain(whose.sender),
            "queue": plain(whose.queue) if single and whose.queue else None,
            "readings": texts(dict(verdict.readings)),
            "subject": plain(verdict.subject),
            "packet": whose.number if single else None,
            "first_time": moment(whose.time_ns),
            "last_time": moment(whose.time_ns),
            "expected": _json(verdict.expected) if single else None,
            "actual": _json(verdict.actual) if single else None,
            "reason": verdict.reason and plain(verdict.reason),
            "evidence": _json(verdict.to_json().get("evidence")) if single else None,
            "at_end": self.at_end,
            "first_ns": whose.time_ns,
            "last_ns": whose.time_ns,
            "date": self.days.of(whose.time_ns),
        }
        self.rows.add("verdicts", row, stream=self.part)


def packet_row(frame: Frame, packet: Packet, verdicts: Sequence[Verdict]) -> Row:
    """Return a packet as a row, with the roll-up of the verdicts on it alone."""
    fields, queue = packet.fields, destination(packet)
    roll_up = worst(verdict.outcome for verdict in verdicts)
    return {
        "number": frame.number,
        "record": frame.record,
        "time": moment(frame.time_ns),
        "time_ns": frame.time_ns,
        "transport": frame.transport,
        "connection": frame.connection,
        "side": frame.side,
        "source": frame.source.address,
        "source_port": frame.source.port,
        "destination": frame.destination.address,
        "destination_port": frame.destination.port,
        "kind": packet.kind,
        "queue": plain(queue) if queue else None,
        "source_manager": _text(fields.get("UserHeader.SourceQueueManager")),
        "message_id": _number(fields.get("UserHeader.MessageID")),
        "message_class": _number(fields.get("MessagePropertiesHeader.MessageClass")),
        "transactional": packet.has("TransactionHeader"),
        "length": len(frame.data),
        "trouble": frame.trouble.text if frame.trouble else None,
        "worst": roll_up.value if roll_up else None,
        "deviating": list(dict.fromkeys(one.requirement for one in verdicts if one.outcome is not Outcome.PASS)),
    }


def whose_was(verdict: Verdict, now_ns: int) -> Whose:
    """Return the packet and sender of a verdict made later, from its own evidence."""
    data = verdict.evidence.data if verdict.evidence is not None else {}
    source = data.get("source")
    address = source.rpartition(":")[0].strip("[]") if isinstance(source, str) else None
    when = data.get("time_ns")
    return Whose(when if isinstance(when, int) else now_ns, verdict.frame, address)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=True, default=str, sort_keys=True)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None


_MOST_UNCOUNTED = 1 << 16  # Packets.
EACH = 10
"""Verdicts other than pass of one kind (requirement, outcome, readings) that always have a row of their own."""


def columns_with(*, sessions: bool) -> ColumnSet:
    """Return the columns of decoded packets. sessions: and those that session rules read."""
    return code_for(sessions=sessions, keys=KEYS).chunks.columns


@dataclass(slots=True)
class Connection:
    """The facts for the row of a connection. packets, sizes: by side."""

    opened: Opened
    packets: Counter[Side] = field(default_factory=Counter)
    sizes: Counter[Side] = field(default_factory=Counter)
    lost: int = 0


class ArrowTables:
    """Writes what is said of a capture. followed: how the senders of its stream read the documents.

    open: the open connections of the stream, None where connections are not judged. keep: verdicts other than pass that
    have a row of their own, beside EACH of a kind; further ones are counted like passes. None: all have one, as far as
    `Teller` has room, and packets with such a verdict are looked at one by one.
    """

    def __init__(
        self, teller: Teller, rules: PacketRules, followed: Followed, path: str,
        open_: MutableMapping[int, Connection] | None, keep: int | None = None,
    ) -> None:  # fmt: skip
        self.teller, self.rules, self.followed, self.path = teller, rules, followed, path
        self.open, self.keep = open_, keep
        self.now_ns = 0
        self.full = False
        self.keys: tuple[str, ...] = KEYS
        columns = columns_with(sessions=open_ is not None)
        self.packets = PacketColumns(columns, teller.capture, teller.stream) if teller.every_packet else None
        self.own: set[int] = set()
        self._uncounted: list[tuple[Any, Any]] = []  # The ends of packets, and their lengths.
        self.kinds: Counter[VerdictKind] = Counter()
        self.singled: Counter[tuple[str, VerdictKind]] = Counter()

    def _room(self, key: VerdictKind) -> bool:
        """Tell whether a further verdict of this kind has a row of its own."""
        return self.keep is None or self.keep > 0 or self.kinds[key] < EACH

    def enough(self, meaning: Meaning) -> bool:
        """Tell whether packets with this meaning need not be looked at."""
        return not any(map(self._room, meaning.deviating))

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Write a packet that was judged by itself. counted: its packet rules are counted by meaning."""
        frame, number = seen.frame, seen.frame_number
        self.now_ns = frame.time_ns
        alone, more = told[PACKET], told[SESSION]
        good, alone, read = parted(alone, number, self._room)
        if not counted:
            self._traffic(frame)
            self.followed.add(sender, number, number, read)
        self.followed.add(sender, number, number, read_of([key_of(one) for one in more], BEHIND))
        self._forget()
        queue = None if _passes(alone, more) else destination(seen.packet)
        rest: list[VerdictKind] = [] if counted else list(good)
        here: list[Verdict | VerdictKind] = list(good[:1])
        enough = shown = False
        for said in (alone, more):
            for one in said:
                key = key_of(one)
                own = not isinstance(one, Verdict) or one.frame == number
                if own:
                    here.append(one)
                if own and key[1] is Outcome.PASS:
                    if said is more or not counted:
                        rest.append(key)
                    continue
                if key[1] is not Outcome.PASS and not self._room(key):
                    if not counted:
                        rest.append(key)
                    continue
                verdict = one if isinstance(one, Verdict) else plain_verdict(one, number)
                whose = Whose(frame.time_ns, number, sender, queue) if own else whose_was(verdict, frame.time_ns)
                if key[1] is Outcome.PASS:
                    if said is more or not counted:
                        self.teller.verdict(verdict, whose)
                else:
                    self._single(verdict, whose, key, counted=counted)
                    enough = enough or not self._room(key)
                    shown = shown or own
        if rest:
            self.teller.counts.more(sender, tuple(rest), 1, number, frame.time_ns, frame.time_ns)
        if shown or (self.teller.every_packet and not counted):
            self.own.add(number)
            shown_verdicts = [one if isinstance(one, Verdict) else plain_verdict(one, number) for one in here]
            self.teller.packet_row(packet_row(frame, seen.packet, shown_verdicts), sender)
        return enough

    def _single(self, verdict: Verdict, whose: Whose, key: VerdictKind, *, counted: bool) -> None:
        self.teller.verdict(verdict, whose)
        if self.keep is not None:
            self.keep -= 1
            self.kinds[key] += 1
            if counted:
                self.singled[str(whose.sender), key] += 1

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Write the verdicts that an event allows, and a connection that it ends."""
        self.now_ns = getattr(event, "time_ns", self.now_ns)
        for verdict in verdicts:
            self.teller.verdict(verdict, whose_was(verdict, self.now_ns))
        if self.open is None:
            return
        if isinstance(event, Opened):
            self.open.setdefault(event.connection, Connection(event))
        elif isinstance(event, Lost) and event.connection in self.open:
            self.open[event.connection].lost += event.length
        elif isinstance(event, Closed) and event.connection in self.open:
            self._traffic_of_ends()
            row = _session(self.open.pop(event.connection), event, self.teller, managers)
            self.teller.rows.add("sessions", row, stream=self.teller.part)

    def _traffic(self, frame: Frame) -> None:
        known = self.open.get(frame.connection) if self.open is not None and frame.connection is not None else None
        if known is not None and frame.side is not None:
            known.lost += frame.gap_before
            known.packets[frame.side] += 1
            known.sizes[frame.side] += len(frame.data)

    def decoded(self, found: Decoded) -> None:
        """Note the packets of connections, before one of them ends."""
        self.own.clear()
        if self.open is None:
            return
        for event in (event for _, event in found.events if isinstance(event, Opened)):
            self.open.setdefault(event.connection, Connection(event))
        for table, results in zip(found.tables, found.results, strict=True):
            usual = results >= 0
            meta, lengths = table.rows.meta, table.rows.lengths
            if not usual.all():
                meta, lengths = meta[usual], lengths[usual]
            if not len(meta):
                continue
            self._uncounted.append((2 * meta[:, OF_CONNECTION] + meta[:, OF_SIDE], lengths.astype(np.int64)))
        if sum(len(ends) for ends, _ in self._uncounted) >= _MOST_UNCOUNTED:
            self._traffic_of_ends()

    def _traffic_of_ends(self) -> None:
        """Count the packets of connections that were not counted yet: before one ends, and in the end."""
        if not self._uncounted or self.open is None:
            return
        ends, lengths = (np.concatenate(one) for one in zip(*self._uncounted, strict=True))
        self._uncounted.clear()
        for end, count, size in zip(*_by_end(ends, lengths), strict=True):
            known, side = self.open[end >> 1], SIDES[end & 1]
            known.packets[side] += count
            known.sizes[side] += int(size)

    def judged(self, found: Decoded) -> None:
        """Write the packets of a batch that have no row yet."""
        for table, results, given in zip(found.tables, found.results, found.given, strict=True):
            if self.packets is not None and table.count:
                left = results
                if self.own:
                    left = np.where(np.isin(table.rows.meta[:, OF_NUMBER], list(self.own)), -1, results)
                columns = table.columns[:, : table.count]
                rows = self.packets.table(table.rows, columns, left, given, found.ends, found.meanings)
                self.teller.rows.add_table("packets", self.teller.days, "time_ns", rows, stream=self.teller.part)

    def many(self, counted: Iterable[Counted]) -> None:
        """Count packets that compiled code has counted; what deviates in them is written elsewhere, or counted too."""
        found = list(counted)
        self.teller.counts.many(found, passes=self.keep is None)
        reads: dict[int, tuple[tuple[int, VerdictKind], ...]] = {}
        for one in found:
            if one.meaning.read:
                self.followed.add(one.sender, one.first, one.last, one.meaning.read)
            read = reads.get(id(one.session))
            if read is None:
                read = reads[id(one.session)] = read_of(one.session, BEHIND)
            if read:
                self.followed.add(one.sender, one.first, one.last, read)
        self._forget()

    def _forget(self) -> None:
        """Judge the senders that were silent longest as a whole, if there are too many."""
        if self.open is not None and len(self.followed.senders) > MAX_SENDERS:
            self.conclude(MAX_SENDERS // 2)

    def conclude(self, most: int = 0) -> None:
        """Judge senders as a whole: all but so many."""
        wholes = list(self.followed.wholes(self.path))
        for name, whole in wholes[: max(0, len(wholes) - most)]:
            del self.followed.senders[name]
            for one in whole.conclude(self.rules.readings, level=self.rules.level, subject=f"all packets of {name}"):
                self.teller.verdict(one, Whose(self.now_ns, None, name))

    def end(self) -> None:
        """Take from the counts what has rows of its own."""
        self._traffic_of_ends()
        for (name, key), count in self.singled.items():
            self.teller.counts.more(name, (key,), -count)
        self.singled.clear()
        if self.teller.counts.full:
            self.teller.close()


def _passes(*said: Iterable[Verdict | VerdictKind]) -> bool:
    """Tell whether all are passes: their rows name no queue."""
    return all(key_of(one)[1] is Outcome.PASS for some in said for one in some)


def _by_end(ends: Any, lengths: Any) -> tuple[list[int], list[int], list[float]]:
    """Return the ends, and the number and bytes of the packets of each. ends: int64, at least one."""
    whose, where = np.unique(ends, return_inverse=True)
    return whose.tolist(), np.bincount(where).tolist(), np.bincount(where, lengths).tolist()


def _session(known: Connection, closed: Closed, teller: Teller, managers: Managers) -> Row:
    row: Row = {
        "stream_id": teller.stream,
        "capture_id": teller.capture,
        "connection": closed.connection,
        "complete": known.opened.complete,
        "opened": moment(known.opened.time_ns),
        "closed": moment(closed.time_ns),
        "closed_by": closed.by,
        "closed_how": closed.how,
        "lost_bytes": known.lost,
        "opened_ns": known.opened.time_ns,
        "closed_ns": closed.time_ns,
        "date": teller.days.of(known.opened.time_ns),
    }
    for side, point, manager in zip(SIDES, (known.opened.initiator, known.opened.acceptor), managers, strict=True):
        row |= {
            side: point.address,
            f"{side}_port": point.port,
            f"{side}_manager": manager,
            f"{side}_packets": known.packets[side],
            f"{side}_bytes": known.sizes[side],
        }
    return row


Said = Sequence[Verdict | VerdictKind]


def parted(
    said: Said, number: int, wanted: Callable[[VerdictKind], bool]
) -> tuple[tuple[VerdictKind, ...], Said, ReadingEvidence]:
    """Part what was said of packet `number`: the passes known by their kind alone, and the rest.

    wanted: tells of which kinds the rest has verdicts; of others it may have the kind alone. The third are the verdicts
    of both that show how the sender reads the documents.
    """
    if not isinstance(said, Judged) or said.frame != number or said.behind:
        return (), said, read_of([key_of(one) for one in said])
    keys = keys_of(said.pattern)
    rest = [said.others[at] if wanted(keys[at]) else keys[at] for at in said.pattern.others]
    return _passes_of(said.pattern), rest, read_in(said.pattern)


@lru_cache(maxsize=1 << 12)
def _passes_of(pattern: Pattern) -> tuple[VerdictKind, ...]:
    return tuple(key for key in keys_of(pattern) if key[1] is Outcome.PASS)
