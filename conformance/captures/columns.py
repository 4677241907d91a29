"""Judge by columns: the same verdicts as `replay`, most of them from compiled code (`in_place`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.capture.columns.reader import Batch, FastCapture, warm
from conformance.capture.pcap import FILE_HEADER
from conformance.captures.batches import read_through
from conformance.captures.counted_replay import CountedReplay
from conformance.captures.defects import Outside
from conformance.captures.engine import MAX_KEPT, OnPacket, OnProgress, Replay
from conformance.captures.followed import Key
from conformance.captures.in_place import InPlace, code_for
from conformance.captures.judge import BySessions, CaptureJudge, SessionRules
from conformance.captures.packet_rules import PacketRules
from conformance.captures.senders import ByOpenings, Ends
from conformance.captures.summary import CaptureSummary
from conformance.captures.verdict_counts import Sums
from conformance.judge.sessions.columns.judge import ColumnSessions


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

    def senders(self) -> Mapping[str, Mapping[Key, int]]:
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
