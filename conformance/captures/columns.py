"""The sink that adds to a replay what compiled code has counted, with the result that `sinks.ToReplay` would have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.capture import Cut, Event
from conformance.capture.columns.reader import Batch, FastCapture, warm
from conformance.capture.records import FILE_HEADER
from conformance.captures.batch_judge import Counted, Decoded, InPlace, code_for
from conformance.captures.batches import read_through
from conformance.captures.defects import Outside
from conformance.captures.engine import MAX_KEPT, OnPacket, OnProgress, Replay, judged
from conformance.captures.judge import PACKET, SESSION, BySessions, CaptureJudge, Managers, SessionRules, Told
from conformance.captures.meanings import Meaning
from conformance.captures.packet_rules import PacketRules
from conformance.captures.sender_readings import VerdictKind
from conformance.captures.senders import ByOpenings, Ends
from conformance.captures.summary import CaptureSummary
from conformance.captures.verdict_counts import BEHIND, Sums
from conformance.judge.packets.packet_verdicts import Judged
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.context import Seen
from conformance.verdict import Outcome, Verdict


def _deviating(said: Sequence[Verdict | VerdictKind]) -> list[Verdict]:
    if isinstance(said, Judged):
        return said.deviating
    return [one for one in said if isinstance(one, Verdict) and one.outcome is not Outcome.PASS]


@dataclass(slots=True)
class CountedReplay:
    """Counts the verdicts of a range. on_packet: gets each packet that has a verdict other than pass of its own."""

    sums: Sums
    rules: PacketRules
    on_packet: OnPacket | None = None
    keys: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Return True once no further verdict is stored singly."""
        return self.on_packet is None and self.sums.full

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Count the verdicts on a packet."""
        sums, number, alone, more = self.sums, seen.frame_number, told[PACKET], told[SESSION]
        enough = counted and sums.show(number, _deviating(alone))
        if isinstance(alone, Judged) and not counted and not more:
            sums.by(sender, number, alone)
        elif more or not counted:
            sums.by(sender, number, [*(() if counted else alone), *more], BEHIND if counted else 0)
        if not counted:
            sums.add(number, alone, PACKET)
        sums.add(number, more, SESSION, BEHIND)
        if self.on_packet is not None and (_deviating(alone) or _deviating(more)):
            behind = [one for one in more if isinstance(one, Verdict)]
            verdicts: Sequence[Verdict]
            if isinstance(alone, Judged):
                verdicts = alone.followed_by(behind) if behind else alone
            else:
                verdicts = [*(one for one in alone if isinstance(one, Verdict)), *behind]
            self.on_packet(judged(self.sums.path, seen, verdicts))
        return enough

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Count the verdicts that an event allows."""
        if not isinstance(event, Cut):
            self.sums.add(before, verdicts, SESSION, -BEHIND)

    def enough(self, meaning: Meaning) -> bool:
        """Tell whether packets with this meaning need not be looked at."""
        return self.sums.enough(meaning)

    def decoded(self, found: Decoded) -> None:
        """Do nothing: the counts have it all."""

    def judged(self, found: Decoded) -> None:
        """Do nothing: the counts have it all."""

    def many(self, counted: Iterable[Counted]) -> None:
        """Add packets that compiled code has counted."""
        for one in counted:
            self.sums.count(one.sender, one.meaning, one.count, one.first, one.last)
            if one.session:
                self.sums.more(one.sender, one.session, one.count, one.first, one.last, SESSION, BEHIND)

    def end(self) -> None:
        """Give the counts to the replay, and judge each sender as a whole."""
        self.sums.conclude(self.rules.readings, self.rules.level)


@dataclass(slots=True)
class RangeResult:
    """The result of judging a byte range of a capture.

    replay: verdicts in the form of `replay`, counted. slow: packets that were judged one by one, by reason. sessions:
    the rules of connections were judged too. joined, repeated, reordered: packets reassembled from several segments,
    and segments that came twice or too late.
    """

    path: str
    start: int
    stop: int | None
    sessions: bool
    replay: Replay
    summary: CaptureSummary
    sums: Sums
    slow: Counter[str] = field(default_factory=Counter)
    joined: int = 0
    repeated: int = 0
    reordered: int = 0

    def senders(self) -> Mapping[str, Mapping[VerdictKind, int]]:
        """Return by sender and kind of verdict (requirement, outcome, readings) how many its packets got."""
        return self.sums.senders()


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
    summary = CaptureSummary(str(path))
    replay.captures.append(summary)
    outside = outside or Outside()
    on_packet, on_progress = on_packet and outside.calls(on_packet), on_progress and outside.calls(on_progress)
    rules, ends = PacketRules(profile, readings, level), Ends()
    sums = Sums(replay, str(path), min(keep, MAX_KEPT - len(replay._single)))
    result = RangeResult(str(path), start, stop, sessions, replay, summary, sums)
    sink = CountedReplay(sums, rules, on_packet)
    columns = code_for(sessions=sessions).chunks.columns
    connections = SessionRules.in_columns(ColumnSessions(readings, columns)) if sessions else None
    senders = BySessions(connections.judge, ends) if connections is not None else ByOpenings(ends, readings)
    judge = CaptureJudge((), rules, connections, senders, sink, summary, outside=outside)
    judge.in_place = in_place = InPlace(judge, rules, sink, ends)
    in_place.code.warm()
    warm()
    try:
        capture = FastCapture(path)
    except (OSError, ValueError):
        judge.reader = read_through(path, on_progress)
        judge.run()
    else:
        in_place.owner = capture
        batches = capture.batches(max(start, FILE_HEADER), stop, align=start > FILE_HEADER)
        judge.reader = _telling(capture, batches, on_progress)
        judge.run()
        told = capture.told
        result.joined, result.repeated, result.reordered = told.joined, told.repeated, told.reordered
    in_place.leave()
    summary.selected, result.slow = summary.packets, in_place.slow
    return result


def _telling(capture: FastCapture, batches: Iterator[Batch], on_progress: OnProgress | None) -> Iterator[Batch]:
    told = 0
    for batch in batches:
        yield batch
        if on_progress is not None and capture.position >> 20 != told:
            told = capture.position >> 20
            on_progress(capture.path, capture.position, capture.size)
