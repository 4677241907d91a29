"""The tasks of a corpus whose packet rules alone are judged: walking a stream, and judging its ranges."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from conformance import __version__
from conformance.capture.ranges import FILE_HEADER
from conformance.pipeline.compiled import Carry, Follow, Judge, Span, Walker, spans
from conformance.pipeline.identity import Probe
from conformance.pipeline.lake import Kept, Part
from conformance.pipeline.memory import freeze, resumed, settle, thaw
from conformance.pipeline.rows import Row, Rows, day, moment, plain, texts
from conformance.pipeline.streams import HOLD_NS, SILENT_NS, How
from conformance.pipeline.telling import Teller, Whose
from conformance.replay.sums import plain_verdict
from conformance.spec.assignment import Assignment

KEPT = 100
"""Verdicts other than pass that have a row of their own, of one capture; each range has its share, and LEAST at least.

Of each kind (requirement, outcome, readings) EACH of a range have one in any case. Looking at one packet by itself
takes as long as judging a thousand.
"""
LEAST = 20


@dataclass(slots=True)
class FastState:
    """A stream that can go on. pending: the row of its last capture without its end so far. follow: by sender."""

    stream: str
    path: str
    position: int
    last_ns: int
    carry: Carry
    pending: Row
    follow: Follow


@dataclass(frozen=True, slots=True)
class WalkTask:
    """A stream to be walked. at_most: bytes of a range."""

    key: str
    captures: Sequence[Probe]
    resume: str | None
    keep: bool
    at_most: int
    how: How
    folder: str


@dataclass(frozen=True, slots=True)
class RangeWork:
    """A range of a capture to judge. number: of the range in its stream. carry: a file with what came before.

    before: records of the captures before it. ends: the stream ends behind it, as far as it has come; part: its name,
    where it can go on. keep: verdicts other than pass that have a row of their own.
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
    """A stream in ranges. left: a file with what it has come to, where it is kept. ended: as in `StreamDone`."""

    key: str
    work: Sequence[RangeWork]
    keep: bool
    resume: str | None = None
    left: str | None = None
    last_ns: int = 0
    gone: Sequence[Probe] = ()


@dataclass(frozen=True, slots=True)
class RangesTask:
    """Ranges to judge, one after the other."""

    ranges: Sequence[RangeWork]
    how: How
    folder: str
    name: str


@dataclass(slots=True)
class RangeDone:
    """What a range came to. end: the same for what was said at the end of the stream behind it."""

    work: RangeWork
    records: int = 0
    packets: int = 0
    lost: int = 0
    damaged: int = 0
    last_ns: int = 0
    cut: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    slow: Counter[str] = field(default_factory=Counter)
    follow: Follow = field(default_factory=dict)
    end: RangeDone | None = None


@dataclass(frozen=True, slots=True)
class RangesDone:
    """The files written, what each range came to, and how many verdicts of each outcome there were."""

    parts: Sequence[Part]
    ranges: Sequence[RangeDone]
    outcomes: Mapping[str, int]


def walk_stream(task: WalkTask) -> list[Walked]:
    """Cut a stream into ranges, and write down what is known at each border."""
    state, line, own = parted(task)
    out: list[Walked] = []
    if line:
        walked, early = _walk(task, line, state, task.keep)
        out.append(walked)
        own += early
    out += [_walk(task, [probe], None, False)[0] for probe in own]
    return out


def parted(task: WalkTask) -> tuple[FastState | None, list[Probe], list[Probe]]:
    """What a stream goes on with, its captures that have records, and those that have none: streams by themselves."""
    found = resumed(task.resume) if task.resume is not None else None
    line = [probe for probe in task.captures if probe.first_ns is not None]
    own = [probe for probe in task.captures if probe.first_ns is None]
    return found if isinstance(found, FastState) else None, line, own


def is_early(probe: Probe, last_ns: int) -> bool:
    """Whether a capture begins before the end of those before it: then it is a stream by itself."""
    return probe.first_ns is not None and probe.first_ns < last_ns - HOLD_NS


def _walk(
    task: WalkTask, captures: Sequence[Probe], state: FastState | None, keep: bool
) -> tuple[Walked, Sequence[Probe]]:
    """Walk over captures one behind the other; also those that begin before the end of one before them."""
    stream, path, carry, position = begun(captures, state)
    part = stream if keep else None
    work: list[RangeWork] = []
    gone: list[Probe] = []
    early: list[Probe] = []
    last_ns = state.last_ns if state is not None else 0
    single = len(captures) == 1 and not keep and state is None
    for probe in captures:
        size = probe.size or FILE_HEADER
        if single and size <= task.at_most:
            return Walked(task.key, [RangeWork(stream, path, probe, 1, 0, FILE_HEADER, size, ends=True)], False), ()
        if is_early(probe, last_ns):
            early.append(probe)
            continue
        position += 1
        start, before, end_ns = FILE_HEADER, carry.records, 0
        try:
            while start < size:
                name = f"{task.folder}/{stream}-{len(work)}.carry"
                Path(name).write_bytes(freeze(carry))
                stop = min(start + task.at_most, size)
                share = max(LEAST, min(KEPT, KEPT * task.at_most // size))
                work.append(RangeWork(stream, path, probe, position, len(work), start, stop, before, name, keep=share))
                if single and stop >= size:
                    break  # Nobody goes on from there.
                span = Span()
                walker = Walker(probe.path, task.how.readings)
                spans(probe.path, start, stop, carry, before, walker, span)
                start, end_ns = max(span.position, start + 1), span.time_ns or end_ns
                if span.cut is not None:
                    break
            last_ns = max(last_ns, end_ns)
        except (OSError, ValueError) as problem:
            gone.append(unread(probe, problem))
            work = [one for one in work if one.capture != probe]
            position -= 1
    left = f"{task.folder}/{stream}-left.carry" if keep and work else None
    if left is not None:
        leave(carry, last_ns, left)
    if work:
        work[-1] = replace(work[-1], ends=True, part=part)
    return Walked(task.key, work, keep, task.resume if state is not None else None, left, last_ns, gone), early


def begun(captures: Sequence[Probe], state: FastState | None) -> tuple[str, str, Carry, int]:
    """What a stream is called, the path it goes by, what is known of it, and its captures so far."""
    if state is None:
        return str(captures[0].capture), captures[0].path, Carry(), 0
    return state.stream, state.path, state.carry, state.position


def unread(probe: Probe, problem: OSError | ValueError) -> Probe:
    """A capture that could be read when it was looked at, and cannot now."""
    reason = getattr(problem, "strerror", None) or str(problem)
    return replace(probe, error=f"{probe.path} cannot be read any more: {reason}.")


def leave(carry: Carry, last_ns: int, file: str) -> None:
    """Write down what a stream has come to, without the connections nobody waits for. It uses the carry up."""
    for event in carry.reading.connections.expire(last_ns - SILENT_NS):
        carry.ends.pop(getattr(event, "connection", 0), None)
    Path(file).write_bytes(freeze(carry))


def run_ranges(task: RangesTask) -> RangesDone:
    """Judge ranges. A task that is tried again writes other files: what its first try left is in no lake."""
    rows = Rows(Path(task.folder), f"{task.name}-{os.getpid()}-{os.urandom(3).hex()}")
    tellers: dict[tuple[str, bool], Teller] = {}

    def teller(work: RangeWork, finish: bool) -> Teller:
        """What is said of one capture, in all its ranges here."""
        key = (str(work.capture.capture), finish)
        if key not in tellers:
            date, part = day(work.capture.first_ns), work.part if finish else None
            tellers[key] = Teller(rows, key[0], work.stream, date, task.how.every_packet, at_end=finish, part=part)
        return tellers[key]

    done = []
    for work in task.ranges:
        carry = Carry() if work.carry is None else thaw(Path(work.carry).read_bytes())
        one = judge_pass(work, task.how, carry, teller(work, False), finish=False)
        if work.ends:
            one.end = judge_pass(work, task.how, carry, teller(work, True), finish=True)
        done.append(one)
    outcomes: Counter[str] = Counter()
    for each in tellers.values():
        each.close()
        outcomes.update(each.outcomes)
    settle()
    return RangesDone(rows.close(), done, outcomes)


def judge_pass(work: RangeWork, how: How, carry: Carry, teller: Teller, *, finish: bool) -> RangeDone:
    """Judge a range, or the end of the stream behind it. It uses the carry up; what follows it is in the carry."""
    probe, done = work.capture, RangeDone(work)
    judge = Judge(work.path, how.profile, how.readings, how.level, work.keep, teller)
    records, skipped, span = carry.records, Counter(carry.reading.skipped), Span()
    start, stop = (work.stop, work.stop) if finish else (work.start, work.stop)
    spans(probe.path, start, stop, carry, work.before, judge, span, finish=finish)
    first_ns = probe.first_ns or 0
    done.follow = judge.close(first_ns, max(first_ns, span.time_ns))
    summary = judge.summary
    done.packets, done.lost, done.slow = summary.packets, summary.lost, judge.result.slow
    done.records = 0 if finish else span.records - records
    done.skipped = Counter(dict(summary.skipped) if finish else carry.reading.skipped) - skipped
    done.damaged, done.cut, done.last_ns = span.damaged, span.cut, span.time_ns
    return done


@dataclass(frozen=True, slots=True)
class Assembled:
    """A stream put together. kept: its state, in the staging folder."""

    captures: Sequence[str]
    kept: Kept | None
    ended: str | None
    outcomes: Mapping[str, int]
    packets: int
    records: int
    ranges: int


def assemble(walked: Walked, done: Sequence[RangeDone], how: How, rows: Rows) -> Assembled:
    """The rows of a stream's captures, and of its senders as a whole, once all its ranges are judged."""
    state: FastState | None = resumed(walked.resume) if walked.resume else None
    follow = dict(state.follow) if state is not None else {}
    if state is not None:
        rows.add("captures", state.pending)
    by: dict[str, list[RangeDone]] = {}
    for one in sorted(done, key=lambda one: one.work.number):
        by.setdefault(str(one.work.capture.capture), []).append(one)
        _merge(follow, one.follow)
    found = [_row(ranges, how) for ranges in by.values()]
    for row in found[:-1]:
        rows.add("captures", row)
    last, final = max(done, key=lambda one: one.work.number), dict(found[-1])
    assert last.end is not None
    work = last.work
    kept = None
    if walked.keep and walked.left is not None:
        carry = thaw(Path(walked.left).read_bytes())
        name = f"{work.stream}-{work.position}.state"
        kept_follow = {sender: (number, dict(seen)) for sender, (number, seen) in follow.items()}
        state = FastState(work.stream, work.path, work.position, walked.last_ns, carry, found[-1], kept_follow)
        (rows.folder / name).write_bytes(freeze(state))
        kept = Kept(walked.key, work.stream, name, walked.last_ns, work.position)
    end = last.end
    _merge(follow, end.follow)
    final["packets"] += end.packets
    final["lost_bytes"] += end.lost
    final["skipped"] = texts(Counter(dict(final["skipped"])) + end.skipped)
    final["handed_over"] = texts(Counter(dict(final["handed_over"])) + end.slow)
    rows.add("captures", final, stream=work.part)
    teller = Teller(rows, str(work.capture.capture), work.stream, final["date"], False, at_end=True, part=work.part)
    for sender, (_, seen) in sorted(follow.items()):
        whole = Assignment()
        for key, (number, _) in sorted(seen.items(), key=lambda item: item[1]):
            whole.add(plain_verdict(key, number), f"{work.path}, {sender}")
        for verdict in whole.conclude(how.readings, level=how.level, subject=f"all packets of {sender}"):
            teller.verdict(verdict, Whose(walked.last_ns or (work.capture.first_ns or 0), None, sender))
    teller.close()
    packets = sum(one.packets for one in done) + end.packets
    records = sum(one.records for one in done)
    ended = work.stream if walked.resume else None
    return Assembled(list(by), kept, ended, teller.outcomes, packets, records, len(done))


def _merge(follow: Follow, more: Follow) -> None:
    for sender, (last, seen) in more.items():
        known_last, known = follow.get(sender, (0, {}))
        for key, first in seen.items():
            known[key] = min(known.get(key, first), first)
        follow[sender] = (max(last, known_last), known)


def _row(ranges: Sequence[RangeDone], how: How) -> Row:
    work = ranges[0].work
    probe = work.capture
    skipped: Counter[str] = Counter()
    slow: Counter[str] = Counter()
    for one in ranges:
        skipped.update(one.skipped)
        slow.update(one.slow)
    last_ns = next((one.last_ns for one in reversed(ranges) if one.last_ns), 0)
    return {
        "capture_id": probe.capture,
        "stream_id": work.stream,
        "position": work.position,
        "path": plain(probe.path),
        "bytes": probe.size,
        "format": probe.format,
        "date": day(probe.first_ns),
        "first_time": None if probe.first_ns is None else moment(probe.first_ns),
        "last_time": moment(last_ns) if last_ns else None,
        "records": sum(one.records for one in ranges),
        "packets": sum(one.packets for one in ranges),
        "lost_bytes": sum(one.lost for one in ranges),
        "damaged_bytes": sum(one.damaged for one in ranges),
        "skipped": texts(skipped),
        "cut": next((one.cut for one in ranges if one.cut), None),
        "ranges": len(ranges),
        "handed_over": texts(slow),
        "profile": how.profile,
        "level": how.level,
        "reading_set": how.reading_set,
        "judged_by": __version__,
        "ingested_at": datetime.now(UTC),
        "batch": how.batch,
    }
