"""Write the verdicts and packets of one capture: single rows for outcomes other than pass, counts for passes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from conformance.capture import Frame
from conformance.captures.engine import MAX_KEPT, destination
from conformance.captures.followed import key_of
from conformance.pipeline.counted import Counts
from conformance.pipeline.rows import Days, Row, Rows, moment, plain, texts
from conformance.verdict import Outcome, Verdict, worst
from conformance.wire import Packet

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
    _counted: dict[_Key, _Counted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.days = Days(self.date)

    def verdict(self, verdict: Verdict, whose: Whose) -> None:
        """Add one verdict."""
        if verdict.outcome is Outcome.PASS and verdict.frame is not None:
            self.counts.more(whose.sender, (key_of(verdict),), 1, verdict.frame, whose.time_ns, whose.time_ns)
            return
        name = verdict.outcome.value
        self.outcomes[name] = self.outcomes.get(name, 0) + 1
        if verdict.outcome is not Outcome.PASS and self.single < MAX_KEPT:
            self.single += 1
            self._write(verdict, whose, 1, whose.time_ns, whose.time_ns)
            return
        key = (verdict.requirement, verdict.outcome, verdict.readings, whose.sender)
        known = self._counted.get(key)
        if known is None:
            known = self._counted[key] = _Counted(verdict, whose, 0, whose.time_ns, whose.time_ns)
        known.count += 1
        known.first_ns, known.last_ns = min(known.first_ns, whose.time_ns), max(known.last_ns, whose.time_ns)

    def packet_row(self, row: Row, sender: str) -> None:
        """Add a packet that is already a row."""
        row |= {"capture_id": self.capture, "stream_id": self.stream, "sender": plain(sender)}
        row["date"] = self.days.of(row["time_ns"])
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
            self.rows.add_table("verdicts", self.days, "first_ns", table, stream=self.part)
        self.counts.clear()

    def _write(
        self, verdict: Verdict, whose: Whose, count: int, first_ns: int, last_ns: int, *, single: bool = True
    ) -> None:
        good = verdict.outcome is Outcome.PASS
        single = single and count == 1 and not good
        expected, actual, evidence = (
            None if good else _json(one)
            for one in (verdict.expected, verdict.actual, verdict.to_json().get("evidence"))
        )
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
            "expected": expected,
            "actual": actual,
            "reason": verdict.reason and plain(verdict.reason),
            "evidence": evidence,
            "at_end": self.at_end,
            "first_ns": first_ns,
            "last_ns": last_ns,
            "expected_value": struct_of(expected),
            "actual_value": struct_of(actual),
            "evidence_value": struct_of(evidence),
            "date": self.days.of(first_ns),
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


MOST_FIELDS: Final = 64
"""Members of an object in `fields`."""
MOST_TEXT: Final = 256
"""Characters of a text; a longer one (the bytes of a packet) is null here."""
_MOST: Final = (1 << 63) - 1


def struct_of(text: str | None) -> dict[str, Any] | None:
    """Return the struct of a value that is given as JSON, which must not be changed; None for none."""
    return _struct(text) if text is None or len(text) <= MOST_TEXT else _struct.__wrapped__(text)


@lru_cache(maxsize=1 << 10)
def _struct(text: str | None) -> dict[str, Any] | None:
    value = None if text is None else json.loads(text)
    if value is None:
        return None
    fields = _fields(value) if isinstance(value, dict) else None
    return {"kind": _kind(value), **_leaf(None if fields is not None else value), "fields": fields}


def _fields(value: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found: dict[str, dict[str, Any]] = {}
    for name, one in _leaves(value):
        if len(found) == MOST_FIELDS:
            break
        found.setdefault(name, _leaf(one))
    return sorted(found.items())


def _leaves(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    waiting = [("", value)]
    while waiting:
        outer, members = waiting.pop()
        for name, one in members.items():
            path = outer + _plain(name)
            if isinstance(one, dict) and one:
                waiting.append((f"{path}.", one))
            else:
                yield path, one


def _kind(value: Any) -> str:
    kinds = {str: "text", bool: "bool", int: "number", float: "number", list: "list", dict: "object"}
    return kinds[type(value)]


def _leaf(value: Any) -> dict[str, Any]:
    if value is None:
        return {"text": None, "number": None}
    text = value if isinstance(value, str) else json.dumps(value)
    whole = type(value) is int and abs(value) <= _MOST
    return {"text": _plain(text) if len(text) <= MOST_TEXT else None, "number": value if whole else None}


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
