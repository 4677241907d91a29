"""Where the packet of a verdict is in its capture: its number, and what finds it in Wireshark."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from conformance.report.text import label
from conformance.runlog import PacketLine, RecordedVerdict, Run
from conformance.verdict import FRAME, Evidence, Json

_SUBJECT = re.compile(rf"{FRAME} ([0-9]{{1,18}})")
_EPOCH = datetime(1970, 1, 1)  # in UTC, of which the text below has its Z


def packet_number(subject: str) -> int | None:
    """Return the number of the packet that is the subject of a verdict on a capture; None for another subject."""
    found = _SUBJECT.fullmatch(subject)
    return None if found is None else int(found[1])


@dataclass(frozen=True, slots=True)
class PacketPlace:
    """A packet of a capture. frame, stream: Wireshark's `frame.number` and `tcp.stream`; None where not known.

    time: RFC 3339, in UTC. direction: `source -> destination`. Both are empty where not known.
    """

    capture: str
    packet: int
    frame: int | None = None
    stream: int | None = None
    time: str = ""
    direction: str = ""

    @property
    def words(self) -> str:
        """The packet by both its numbers."""
        return f"packet {self.packet}" + (f" (Wireshark frame {self.frame})" if self.frame is not None else "")

    @property
    def details(self) -> str:
        """Stream, time and ends in one line, as far as they are known."""
        stream = "" if self.stream is None else f"TCP stream {self.stream}"
        return ", ".join(one for one in (stream, self.time, label(self.direction, 120)) if one)

    @property
    def line(self) -> str:
        """All of it in one line, without the name of the capture."""
        return ", ".join(one for one in (self.words, self.details) if one)

    def to_json(self) -> dict[str, Json]:
        """Return the place as JSON; a member is null where it is not known."""
        source, _, destination = self.direction.partition(" -> ")
        return {
            "capture": self.capture,
            "packet": self.packet,
            "frame": self.frame,
            "stream": self.stream,
            "time": self.time or None,
            "source": source or None,
            "destination": destination or None,
        }


def evidence_of(run: Run, recorded: RecordedVerdict) -> Evidence | None:
    """Return the evidence of a verdict, in full if the record has it."""
    evidence = recorded.verdict.evidence
    if evidence is not None and not evidence.data:
        return run.evidence.get(evidence.ref, evidence)
    return evidence


def place_of(run: Run, recorded: RecordedVerdict, evidence: Evidence | None) -> PacketPlace | None:
    """Return where the packet of a verdict is; None unless it is about a packet of a capture of this run."""
    number = packet_number(recorded.verdict.subject) if recorded.test in run.header.captures else None
    if number is None:
        return None
    data, line = evidence.data if evidence is not None else {}, _line(run, recorded.test, number)
    ends = [data.get(name) for name in ("source", "destination")]
    direction = f"{ends[0]} -> {ends[1]}" if all(isinstance(one, str) for one in ends) else ""
    return PacketPlace(
        recorded.test,
        number,
        _whole(data, "record") if line is None or line.record is None else line.record,
        None if line is None else line.stream,
        moment(_nanoseconds(data, line)),
        direction or (line.direction if line is not None else ""),
    )


def moment(time_ns: int | None) -> str:
    """Return a time as RFC 3339 to the microsecond, in UTC; empty for one that no calendar has."""
    try:
        return (
            ""
            if time_ns is None
            else f"{(_EPOCH + timedelta(microseconds=time_ns // 1000)).isoformat(timespec='microseconds')}Z"
        )
    except OverflowError:
        return ""


def _nanoseconds(data: Mapping[str, Json], line: PacketLine | None) -> int | None:
    exact = _whole(data, "time_ns")
    if exact is not None or line is None or line.time is None:
        return exact
    try:
        return round(line.time * 1e6) * 1000
    except (OverflowError, ValueError):
        return None


def _whole(data: Mapping[str, Json], name: str) -> int | None:
    value = data.get(name)
    return value if type(value) is int else None


def _line(run: Run, capture: str, number: int) -> PacketLine | None:
    """Return the packet's own line of the record: captures follow each other there, and so do packets of each."""
    order = {path: at for at, path in enumerate(run.header.captures)}
    wanted = order[capture], number

    def key(line: PacketLine) -> tuple[int, int]:
        return order.get(line.capture or "", -1), line.number

    at = bisect_left(run.packets, wanted, key=key)
    found = run.packets[at] if at < len(run.packets) else None
    return found if found is not None and key(found) == wanted else None
