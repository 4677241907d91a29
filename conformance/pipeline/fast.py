"""The tasks that judge a corpus by packet rules alone: walk a stream, and judge its ranges."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from conformance.capture.columns.reader import FastCapture
from conformance.capture.pcap import FILE_HEADER
from conformance.captures.defects import Trouble, contained
from conformance.captures.followed import Followed
from conformance.captures.packet_rules import PacketRules
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.lacking import add, incomplete_of
from conformance.pipeline.lake import Kept, Part, Target
from conformance.pipeline.memory import freeze, resumed, settle, thaw
from conformance.pipeline.memory import kept as state_bytes
from conformance.pipeline.ranges import Carry, Span, judge_span, packets_alone, walker
from conformance.pipeline.rows import Row, Rows, day, texts
from conformance.pipeline.rows_writer import Teller
from conformance.pipeline.streams import HOLD_NS, KEPT, SILENT_NS, How, State, capture_row
from conformance.pipeline.tables_sink import ArrowTables
from conformance.runlog import Incomplete
from conformance.runlog.incomplete import COMPLETE

LEAST = 20
"""The least number of verdicts that each range keeps as its share of KEPT."""


@dataclass(frozen=True, slots=True)
class WalkTask:
    """A stream to be walked. at_most: bytes of a range."""

    key: str
    captures: Sequence[Probe]
    resume: str | None
    keep: bool
    at_most: int
    how: How
    target: Target


@dataclass(frozen=True, slots=True)
class RangeWork:
    """A range of a capture to judge. number: its index in the stream. carry: a file with the state before it.

    before: records of the captures before it. ends: the stream ends after it, for now; part: the stream's name if it
    can continue. keep: verdicts other than pass that have a row of their own.
    """

    stream: str
    path: str
    capture: Probe
    position: int
    number: int
    start: int
    stop: int
    before: int = 0
    carry: str | None = None
    ends: bool = False
    part: str | None = None
    keep: int = KEPT


@dataclass(frozen=True, slots=True)
class Walked:
    """A stream cut into ranges. left: a file with its final state, if it is kept.

    defect: its last capture, if that could not be walked to its end.
    """

    key: str
    work: Sequence[RangeWork]
    keep: bool
    resume: str | None = None
    left: str | None = None
    last_ns: int = 0
    gone: Sequence[Probe] = ()
    defect: Probe | None = None


@dataclass(frozen=True, slots=True)
class RangesTask:
    """Ranges to judge, one after the other."""

    ranges: Sequence[RangeWork]
    how: How
    target: Target
    name: str


@dataclass(slots=True)
class RangeDone:
    """The result of a range. end: the result of ending the stream after it."""

    work: RangeWork
    records: int = 0
    packets: int = 0
    lost: int = 0
    lacking: Incomplete = COMPLETE
    last_ns: int = 0
    cut: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    slow: Counter[str] = field(default_factory=Counter)
    follow: Followed = field(default_factory=Followed)
    end: RangeDone | None = None
    trouble: Trouble = field(default_factory=Trouble)


@dataclass(frozen=True, slots=True)
class RangesDone:
    """The files written, the result of each range, and the number of verdicts by outcome."""

    parts: Sequence[Part]
    ranges: Sequence[RangeDone]
    outcomes: Mapping[str, int]


def walk_stream(task: WalkTask) -> list[Walked]:
    """Cut a stream into ranges, and write the state at each border."""
    state, line, own = parted(task)
    out: list[Walked] = []
    while line:
        walked, early, line = _walk(task, line, state, task.keep)
        out.append(walked)
        own += early
        state = None
    out += [_walk(task, [probe], None, False)[0] for probe in own]
    return out


def parted(task: WalkTask) -> tuple[State | None, list[Probe], list[Probe]]:
    """Return the state a stream continues from, its captures with records, and those without, which are own streams."""
    found = resumed(task.resume) if task.resume is not None else None
    line = [probe for probe in task.captures if probe.first_ns is not None]
    own = [probe for probe in task.captures if probe.first_ns is None]
    return found if isinstance(found, State) and found.sessions is None else None, line, own


def is_early(probe: Probe, last_ns: int) -> bool:
    """Tell whether a capture begins before the end of those before it: then it is a stream by itself."""
    return probe.first_ns is not None and probe.first_ns < last_ns - HOLD_NS


def _walk(
    task: WalkTask, captures: Sequence[Probe], state: State | None, keep: bool
) -> tuple[Walked, Sequence[Probe], list[Probe]]:
    """Walk over consecutive captures.

    Also returns those that begin before the end of an earlier one, and those after one that hit a defect of the
    harness.
    """
    stream, path, carry, position = begun(captures, state)
    part = stream if keep else None
    work: list[RangeWork] = []
    gone: list[Probe] = []
    early: list[Probe] = []
    last_ns = state.last_ns if state is not None else 0
    single = len(captures) == 1 and not keep and state is None
    rest: list[Probe] = []
    broken: Probe | None = None
    for at, probe in enumerate(captures):
        size = probe.size or FILE_HEADER
        if single and size <= task.at_most:
            only = RangeWork(stream, path, probe, 1, 0, FILE_HEADER, size, ends=True)
            return Walked(task.key, [only], False), (), []
        if is_early(probe, last_ns):
            early.append(probe)
            continue
        try:
            FastCapture(probe.path, probe.version)
        except (OSError, ValueError) as problem:
            gone.append(unread(probe, problem))
            continue
        if not work and state is None:
            stream, path, part = str(probe.capture), probe.path, str(probe.capture) if keep else None
        position += 1
        start, before, end_ns, trouble, cut = FILE_HEADER, carry.records, 0, Trouble(), False
        while start < size and not cut:
            name = task.target.carry(f"{stream}-{len(work)}.carry", freeze(carry))
            stop = min(start + task.at_most, size)
            share = max(LEAST, min(KEPT, KEPT * task.at_most // size))
            work.append(RangeWork(stream, path, probe, position, len(work), start, stop, before, name, keep=share))
            if single and stop >= size:
                break  # No range starts there.
            span = Span()
            with _contained(probe, trouble, before):
                judge = walker(probe.path, task.how.readings)
                judge_span(probe.path, start, stop, carry, before, judge, span, version=probe.version)
            start, end_ns = max(span.position, start + 1), span.time_ns or end_ns
            cut = span.cut is not None or trouble.cut is not None
        last_ns = max(last_ns, end_ns)
        if trouble.cut is not None:
            broken = troubled(probe, trouble)
            rest = list(captures[at + 1 :])
            break
    left = None
    if keep and work and broken is None:
        left = task.target.carry(f"{stream}-left.carry", leave(carry, last_ns))
    if work:
        work[-1] = replace(work[-1], ends=True, part=part if left is not None else None)
    resume = task.resume if state is not None else None
    return Walked(task.key, work, keep, resume, left, last_ns, gone, broken), early, rest


def _contained(probe: Probe, trouble: Trouble, before: int) -> AbstractContextManager[None]:
    """Collect a failure that a capture causes in `trouble`; a failure to write is raised."""
    return contained(probe.path, trouble, through=(PipelineError,), records_before=before)


def troubled(probe: Probe, trouble: Trouble) -> Probe:
    """Mark a capture as judged only in part."""
    if trouble.defect is not None:
        return probe.broken(trouble.defect)
    return replace(probe, error=trouble.unread, again=trouble.again)


def begun(captures: Sequence[Probe], state: State | None) -> tuple[str, str, Carry, int]:
    """Return a stream's name, its path, its state, and the number of its captures so far."""
    if state is None:
        return str(captures[0].capture), captures[0].path, Carry(), 0
    return state.stream, state.path, Carry(state.reading, state.ends, state.pings), state.position


def unread(probe: Probe, problem: OSError | ValueError) -> Probe:
    """Mark a capture that could be read at the first look and no longer can."""
    reason = getattr(problem, "strerror", None) or str(problem)
    return replace(probe, error=f"{probe.path} can no longer be read: {reason}.")


def leave(carry: Carry, last_ns: int) -> bytes:
    """Return the state of a stream, without connections that have been silent for too long. It uses the carry up."""
    for event in carry.reading.connections.expire(last_ns - SILENT_NS):
        carry.ends.pop(getattr(event, "connection", 0), None)
    return freeze(carry)


def run_ranges(task: RangesTask) -> RangesDone:
    """Judge ranges. A retried task writes other files: those of its first try are in no lake."""
    rows = Rows(task.target, f"{task.name}-{os.getpid()}-{os.urandom(3).hex()}")
    tellers: dict[tuple[str, bool], Teller] = {}

    def teller(work: RangeWork, finish: bool) -> Teller:
        """Return the teller of one capture, shared by its ranges in this task."""
        key = (str(work.capture.capture), finish)
        if key not in tellers:
            date, part = day(work.capture.first_ns), work.part if finish else None
            tellers[key] = Teller(rows, key[0], work.stream, date, task.how.every_packet, at_end=finish, part=part)
        return tellers[key]

    done = []
    for work in task.ranges:
        carry = Carry() if work.carry is None else thaw(task.target.carried(work.carry))
        one = judge_pass(work, task.how, carry, teller(work, False), finish=False)
        if work.ends:
            one.end = ending(one, task.how, carry, teller(work, True))
        done.append(one)
    outcomes: Counter[str] = Counter()
    for each in tellers.values():
        each.close()
        outcomes.update(each.outcomes)
    settle()
    return RangesDone(rows.close(), done, outcomes)


def judge_pass(work: RangeWork, how: How, carry: Carry, teller: Teller, *, finish: bool) -> RangeDone:
    """Judge a range, or the end of the stream after it. The carry is replaced by the state after the range."""
    probe, done = work.capture, RangeDone(work)
    rules = PacketRules(how.profile, how.readings, how.level)
    sink = ArrowTables(teller, rules, done.follow, work.path, None, work.keep)
    judge = packets_alone(work.path, rules, sink)
    records, skipped, span = carry.records, Counter(carry.reading.skipped), Span()
    start, stop = (work.stop, work.stop) if finish else (work.start, work.stop)
    with _contained(probe, done.trouble, work.before):
        judge_span(probe.path, start, stop, carry, work.before, judge, span, finish=finish, version=probe.version)
    with _contained(probe, done.trouble, work.before):
        judge.end()
    summary = judge.summary
    assert judge.in_place is not None
    done.packets, done.lost, done.slow = summary.packets, summary.lost, judge.in_place.slow
    done.records = 0 if finish else max(span.records, work.before + done.trouble.record, records) - records
    done.skipped = Counter(dict(summary.skipped) if finish else carry.reading.skipped) - skipped
    done.lacking, done.cut, done.last_ns = summary.incomplete, span.cut or done.trouble.cut, span.time_ns
    return done


def ending(last: RangeDone, how: How, carry: Carry, teller: Teller) -> RangeDone:
    """Judge the end of a stream after its last range; if that was judged only in part, judge nothing."""
    if last.trouble.cut is not None:
        return RangeDone(last.work)
    return judge_pass(last.work, how, carry, teller, finish=True)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A stream with all its ranges. kept: its state, in the staging folder. defects, over: as in `StreamDone`."""

    captures: Sequence[str]
    kept: Kept | None
    ended: str | None
    outcomes: Mapping[str, int]
    packets: int
    records: int
    ranges: int
    incomplete: Incomplete
    defects: Sequence[Probe] = ()
    over: str | None = None


def assemble(walked: Walked, done: Sequence[RangeDone], how: How, rows: Rows) -> Assembled:
    """Write the rows of a stream's captures, and of its senders as a whole, after all its ranges were judged."""
    state: State | None = resumed(walked.resume) if walked.resume else None
    follow = state.followed if state is not None else Followed()
    if state is not None:
        assert state.pending is not None
        rows.add("captures", state.pending)
    by: dict[str, list[RangeDone]] = {}
    for one in sorted(done, key=lambda one: one.work.number):
        by.setdefault(str(one.work.capture.capture), []).append(one)
        follow.merge(one.follow)
    found = [_row(ranges, how) for ranges in by.values()]
    for row in found[:-1]:
        rows.add("captures", row)
    last, final = max(done, key=lambda one: one.work.number), dict(found[-1])
    assert last.end is not None
    work = last.work
    kept = None
    defects = {} if walked.defect is None else {walked.defect.capture: walked.defect}
    for one in (*done, last.end):
        if one.trouble.cut is not None:
            defects.setdefault(one.work.capture.capture, troubled(one.work.capture, one.trouble))
    if walked.keep and walked.left is not None and last.end.trouble.cut is None:
        carry = thaw(rows.target.carried(walked.left))
        name = f"{work.stream}-{work.position}.state"
        state = State(work.stream, work.path, None, carry.reading, carry.ends, carry.pings, follow)
        state.position, state.last_ns, state.pending = work.position, walked.last_ns, found[-1]
        data = state_bytes(state)
        name = rows.keep(name, data)
        kept = Kept(walked.key, work.stream, name, walked.last_ns, work.position, len(data))
    end = last.end
    follow.merge(end.follow)
    final["packets"] += end.packets
    final["lost_bytes"] += end.lost
    final["cut"] = final["cut"] or end.cut
    final["skipped"] = texts(Counter(dict(final["skipped"])) + end.skipped)
    final["handed_over"] = texts(Counter(dict(final["handed_over"])) + end.slow)
    add(final, end.lacking)
    rows.add("captures", final, stream=work.part)
    teller = Teller(rows, str(work.capture.capture), work.stream, final["date"], False, at_end=True, part=work.part)
    sink = ArrowTables(teller, PacketRules(how.profile, how.readings, how.level), follow, work.path, None, 0)
    sink.now_ns = walked.last_ns or work.capture.first_ns or 0
    sink.conclude()
    teller.close()
    packets = sum(one.packets for one in done) + end.packets
    records = sum(one.records for one in done)
    ended = work.stream if walked.resume else None
    lacking = Incomplete.sum(map(incomplete_of, [*found[:-1], final]))
    over = walked.key if walked.keep and kept is None else None
    return Assembled(
        list(by), kept, ended, teller.outcomes, packets, records, len(done), lacking, list(defects.values()), over
    )


def _row(ranges: Sequence[RangeDone], how: How) -> Row:
    work = ranges[0].work
    skipped: Counter[str] = Counter()
    slow: Counter[str] = Counter()
    for one in ranges:
        skipped.update(one.skipped)
        slow.update(one.slow)
    last_ns = next((one.last_ns for one in reversed(ranges) if one.last_ns), None)
    return capture_row(
        work.capture, how, work.stream, work.position, (work.capture.first_ns, last_ns),
        records=sum(one.records for one in ranges), packets=sum(one.packets for one in ranges),
        lost=sum(one.lost for one in ranges), skipped=skipped, slow=slow,
        cut=next((one.cut for one in ranges if one.cut), None), ranges=len(ranges),
        lacking=Incomplete.sum(one.lacking for one in ranges),
    )  # fmt: skip
