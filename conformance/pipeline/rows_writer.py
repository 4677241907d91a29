"""Write the verdicts and packets of one capture: single rows for outcomes other than pass, counts for passes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from conformance.capture import Frame
from conformance.capture.lacking import Lacking
from conformance.captures.engine import MAX_KEPT, destination
from conformance.captures.verdict_counts import plain_verdict
from conformance.pipeline.counted import Counts
from conformance.pipeline.rows import Row, Rows, moment, plain, texts
from conformance.verdict import Outcome, Verdict, worst
from conformance.wire import Packet

Key = tuple[str, Outcome, tuple[tuple[str, str], ...]]
_Key = tuple[str, Outcome, tuple[tuple[str, str], ...], str | None]


@dataclass(frozen=True, slots=True)
class Whose:
    """The packet and sender of a verdict. time_ns: since 1970. number: of the packet within the stream."""

    time_ns: int
    number: int | None = None
    sender: str | None = None
    queue: str | None = None


@dataclass(slots=True)
class _Counted:
    verdict: Verdict
    whose: Whose
    count: int = 0
    first_ns: int = 0
    last_ns: int = 0


@dataclass(slots=True)
class Teller:
    """Writes the verdicts on one capture of a stream. at_end: those at the provisional end of the stream.

    part: the stream about whose provisional end the rows are, if it can continue.
    """

    rows: Rows
    capture: str
    stream: str
    date: str
    every_packet: bool
    at_end: bool = False
    part: str | None = None
    packets: int = 0
    single: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    """Counts from compiled code."""
    lacking: Lacking = field(default_factory=Lacking)
    _counted: dict[_Key, _Counted] = field(default_factory=dict)

    def verdict(self, verdict: Verdict, whose: Whose, count: int = 1) -> None:
        """Add one verdict, or several of a kind."""
        name = verdict.outcome.value
        self.outcomes[name] = self.outcomes.get(name, 0) + count
        if verdict.outcome is not Outcome.PASS and count == 1 and self.single < MAX_KEPT:
            self.single += 1
            self._write(verdict, whose, 1, whose.time_ns, whose.time_ns)
            return
        key = (verdict.requirement, verdict.outcome, verdict.readings, whose.sender)
        known = self._counted.get(key)
        if known is None:
            known = self._counted[key] = _Counted(verdict, whose, 0, whose.time_ns, whose.time_ns)
        known.count += count
        known.first_ns, known.last_ns = min(known.first_ns, whose.time_ns), max(known.last_ns, whose.time_ns)

    def alike(self, key: Key, sender: str, count: int, number: int, first_ns: int, last_ns: int) -> None:
        """Count verdicts on packets of a sender without single rows. number: of the first of these packets."""
        outcome = key[1]
        self.outcomes[outcome.value] = self.outcomes.get(outcome.value, 0) + count
        known = self._counted.get((*key, sender))
        if known is None or number < (known.whose.number or 0):
            verdict, whose = plain_verdict(key, number), Whose(first_ns, number, sender)
            before = known
            known = self._counted[(*key, sender)] = _Counted(verdict, whose, 0, first_ns, last_ns)
            if before is not None:
                known.count, known.first_ns, known.last_ns = before.count, before.first_ns, before.last_ns
        known.count += count
        known.first_ns, known.last_ns = min(known.first_ns, first_ns), max(known.last_ns, last_ns)

    def packet(self, frame: Frame, packet: Packet, sender: str, verdicts: list[Verdict]) -> None:
        """Add a packet and all verdicts made when it came."""
        self.packets += 1
        said = [verdict for verdict in verdicts if verdict.frame == frame.number]
        queue = destination(packet)
        for verdict in verdicts:
            self.verdict(verdict, whose_is(verdict, frame, sender, queue))
        if self.every_packet or any(verdict.outcome is not Outcome.PASS for verdict in said):
            self.packet_row(packet_row(frame, packet, said), sender)

    def packet_row(self, row: Row, sender: str) -> None:
        """Add a packet that is already a row."""
        row |= {"capture_id": self.capture, "stream_id": self.stream, "sender": plain(sender), "date": self.date}
        self.rows.add("packets", row, stream=self.part)

    def close(self) -> None:
        """Write the counts."""
        for one in self._counted.values():
            self._write(one.verdict, one.whose, one.count, one.first_ns, one.last_ns, single=False)
        self._counted.clear()
        self.write_counts()

    def write_counts(self) -> None:
        """Write the counts of compiled code so far."""
        for name, count in self.counts.outcomes().items():
            self.outcomes[name] = self.outcomes.get(name, 0) + count
        table = self.counts.table({"capture_id": self.capture, "stream_id": self.stream, "at_end": self.at_end})
        if table is not None:
            self.rows.add_table("verdicts", self.date, table, stream=self.part)
        self.counts.clear()

    def _write(
        self, verdict: Verdict, whose: Whose, count: int, first_ns: int, last_ns: int, *, single: bool = True
    ) -> None:
        good = verdict.outcome is Outcome.PASS
        single = single and count == 1 and not good
        row: Row = {
            "capture_id": self.capture,
            "stream_id": self.stream,
            "requirement": verdict.requirement,
            "outcome": verdict.outcome.value,
            "count": count,
            "sender": whose.sender and plain(whose.sender),
            "queue": plain(whose.queue) if single and whose.queue else None,
            "readings": texts(dict(verdict.readings)),
            "subject": plain(verdict.subject),
            "packet": whose.number if single else None,
            "first_time": moment(first_ns),
            "last_time": moment(last_ns),
            "expected": None if good else _json(verdict.expected),
            "actual": None if good else _json(verdict.actual),
            "reason": verdict.reason and plain(verdict.reason),
            "evidence": _json(verdict.to_json().get("evidence")) if not good else None,
            "at_end": self.at_end,
            "date": self.date,
        }
        self.rows.add("verdicts", row, stream=self.part)


def packet_row(frame: Frame, packet: Packet, verdicts: list[Verdict]) -> Row:
    """Return a packet as a row, with the roll-up of the verdicts on it alone."""
    fields, queue = packet.fields, destination(packet)
    roll_up = worst(verdict.outcome for verdict in verdicts)
    return {
        "number": frame.number,
        "record": frame.record,
        "time": moment(frame.time_ns),
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


def whose_is(verdict: Verdict, frame: Frame, sender: str, queue: str | None) -> Whose:
    """Return the packet and sender of a verdict made when a frame came; some verdicts are about an earlier frame."""
    if verdict.frame == frame.number:
        return Whose(frame.time_ns, frame.number, sender, queue)
    return whose_was(verdict, frame.time_ns)


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
