"""`pipeline ingest`: captures into a lake. What is there already is left alone; the rest is added, all or nothing."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from conformance.asking import BadInput, check_chosen, check_words
from conformance.capture import CaptureError
from conformance.capture.inputs import STDIN, expand
from conformance.capture.ranges import split
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Grouping, Probe, stream_key, streams
from conformance.pipeline.lake import Entry, Kept, Lake, Part, Snapshot
from conformance.pipeline.rows import Rows, plain
from conformance.pipeline.streams import How, StreamDone, StreamWork, in_columns
from conformance.pipeline.work import RangeTask, StreamTask, Workers, probe_all, run_range, run_streams
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode, Outcome, exit_code

if TYPE_CHECKING:
    from conformance.pipeline.fast import Assembled

SPLIT = 128 << 20
MOST_SPLIT = 1 << 30
"""Bytes of a range: at least, and at most, where nobody says how many and packets alone are judged."""
MIN_SPLIT = 256
FORGET_NS = 7 * 86_400 * 1_000_000_000
"""A stream whose last record is this much older than the newest of a stream that goes on is not waited for."""
_PROBED = 64  # Files one task looks at.
_TASKS = 4  # For each core, so that an unlucky one does not wait alone.


class _Stream(Protocol):
    @property
    def captures(self) -> Sequence[Probe]: ...


S = TypeVar("S", bound=_Stream)


@dataclass(frozen=True, slots=True)
class Options:
    """How captures are judged and cut. split: bytes of a range; None: as many as it takes to use every core."""

    profile: str | None = None
    level: str = "must"
    readings: str = "windows"
    chosen: Sequence[str] = ()
    packets: bool = False
    split: int | None = None
    stream: Grouping = "auto"
    sessions: bool = True
    """Judge the rules of connections too; without them what is classic pcap is judged by compiled code."""
    keep: bool = False
    """Keep the state of every stream, not only of those whose names show that they are part of a set."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did. known: captures that were in the lake already, or twice among those named."""

    version: int
    captures: int = 0
    known: int = 0
    rejected: Sequence[Probe] = ()
    streams: int = 0
    ranges: int = 0
    records: int = 0
    packets: int = 0
    bytes: int = 0
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)

    def code(self, *, strict: bool = False) -> ExitCode:
        """A proven deviation outweighs a file that could not be read; that nothing new came is no fault."""
        code = exit_code(self.outcomes, strict=strict) if self.captures else ExitCode.CONFORMS
        return ExitCode.BAD_INPUT if self.rejected and code is not ExitCode.DEVIATES else code


def how(options: Options, batch: str) -> How:
    """The options as the workers take them. Raises BadInput for a word that names nothing."""
    check_words(profile=options.profile, level=options.level, readings=options.readings)
    accepted = assignment(options.readings, check_chosen(options.chosen))
    if options.split is not None and options.split < MIN_SPLIT:
        raise BadInput(f"--split {options.split} is too small; a range has at least {MIN_SPLIT} bytes.")
    return How(
        options.profile or DEFAULT_PROFILE,
        options.level,
        options.readings,
        dict(accepted),
        options.packets,
        batch,
        options.sessions,
    )


def files_of(names: Iterable[str]) -> list[str]:
    """The captures meant. Raises BadInput for a folder or pattern without any, and for standard input."""
    try:
        files = expand(names)
    except CaptureError as error:
        raise BadInput(str(error)) from None
    if STDIN in files:
        raise BadInput("The pipeline reads files; judge standard input with mqconform replay -.")
    return files


def ingest(
    lake: Lake, files: Sequence[str], options: Options, workers: Workers, *, refused: Sequence[Probe] = ()
) -> Ingested:
    """Judge what is new among the files and add it. Raises BadInput and PipelineError.

    refused: files that are rejected without a look, with the reason.
    """
    batch = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    asked = how(options, batch)
    outcomes: Counter[str] = Counter()
    with lake.writing(batch) as staging:
        before = lake.snapshot()
        chunks = [files[at : at + _PROBED] for at in range(0, len(files), _PROBED)]
        probes = [one for found in workers.map(probe_all, chunks) for one in found]
        new, bad, known = _sorted([*probes, *refused], before)
        fast, slow = _parted(new, options)
        work, ranges = _planned(lake, slow, options, asked, str(staging), workers)
        tasks = _packed(work, asked, str(staging), workers.cores * _TASKS)
        done = workers.map(run_streams, tasks)
        streams_done = [one for task in done for one in task.streams]
        parts = [part for task in done for part in task.parts]
        if fast:
            quick = fast_ingest(lake, fast, options, asked, str(staging), workers)
            streams_done += quick.streams
            parts += quick.parts
            ranges += quick.ranges
            outcomes.update(quick.outcomes)
        bad += [one for stream in streams_done for one in stream.gone]
        parts += _rejected(bad, asked, str(staging))
        captures = [name for stream in streams_done for name in stream.captures]
        version = before.version
        keep = [stream.kept for stream in streams_done if stream.kept is not None]
        if captures or bad:
            version = lake.commit(
                Entry(
                    "ingest",
                    batch,
                    parts,
                    captures=captures,
                    rejected=[one.rejection for one in bad],
                    keep=keep,
                    forget=_silent(before, keep),
                    ended=[stream.ended for stream in streams_done if stream.ended is not None],
                )
            )
    for stream in streams_done:
        outcomes.update(stream.outcomes)
    sizes = {one.capture: one.size or 0 for one in new}
    return Ingested(
        version,
        len(captures),
        known,
        bad,
        len(streams_done),
        ranges,
        sum(stream.records for stream in streams_done),
        sum(stream.packets for stream in streams_done),
        sum(sizes[name] for name in captures),
        {outcome: outcomes[outcome.value] for outcome in Outcome if outcomes[outcome.value]},
    )


def _silent(before: Snapshot, keep: Sequence[Kept]) -> list[str]:
    """The streams that have not gone on for so long, in the time of the captures, that nobody waits for more."""
    newest = max((one.last_ns for one in keep), default=0)
    going = {one.key for one in keep}
    return [key for key, one in before.kept.items() if one.last_ns < newest - FORGET_NS and key not in going]


def _sorted(probes: Sequence[Probe], before: Snapshot) -> tuple[list[Probe], list[Probe], int]:
    """What is new, what cannot be read (and was not said to be so), and how many are known."""
    new: dict[str, Probe] = {}
    bad: dict[str, Probe] = {}
    known = 0
    for one in probes:
        if one.error is not None:
            if one.rejection not in before.rejected:
                bad.setdefault(one.rejection, one)
        elif one.capture is None or one.capture in before.captures or one.capture in new:
            known += 1
        else:
            new[one.capture] = one
    return list(new.values()), list(bad.values()), known


def _parted(new: Sequence[Probe], options: Options) -> tuple[list[Probe], list[Probe]]:
    """The captures that compiled code can judge, and the others; streams are not torn apart."""
    if options.sessions:
        return [], list(new)
    from conformance.pipeline.compiled import walkable

    fast: list[Probe] = []
    slow: list[Probe] = []
    for _, group in streams(new, options.stream):
        (fast if all(one.format == "pcap" and walkable(one.path) for one in group) else slow).extend(group)
    return fast, slow


def fast_ingest(
    lake: Lake, new: Sequence[Probe], options: Options, asked: How, staging: str, workers: Workers
) -> Quick:
    """Walk the streams, judge their ranges, put them together."""
    from conformance.pipeline.compiled import warm
    from conformance.pipeline.fast import RangesTask, Walked, WalkTask, assemble, run_ranges
    from conformance.pipeline.whole import WholeTask, walk_or_judge

    warm()
    before = lake.snapshot()
    every = sum(one.size or 0 for one in new)
    at_most = options.split or min(MOST_SPLIT, max(SPLIT, every // (workers.cores * _TASKS)))
    walks = []
    for key, group in streams(new, options.stream):
        kept = before.kept.get(key) if options.stream == "auto" else None
        turned = options.keep or len(group) > 1 or any(stream_key(one.path)[1] for one in group)
        keep = options.stream == "auto" and (turned or kept is not None)
        state = str(lake.state_file(kept)) if kept is not None else None
        walks.append(WalkTask(key, group, state, keep, at_most, asked, staging))
    # What is small enough not to keep one core busy when the others have nothing left to do is not cut.
    limit = max(at_most, every // (2 * workers.cores))
    uncut: list[WalkTask] = []
    first: list[WalkTask | WholeTask] = []
    for one in walks:
        whole_at_once = options.split is None and (workers.cores == 1 or _size(one) <= limit)
        (uncut if whole_at_once else first).append(one)
    first += [
        WholeTask(found, f"part-{asked.batch}-whole-{at:05}")
        for at, found in enumerate(_binned(uncut, workers.cores * _TASKS))
    ]
    quick = Quick()
    walked: list[Walked] = []
    for found in workers.map(walk_or_judge, first):
        if isinstance(found, list):
            walked += found
            continue
        quick.parts += found.parts
        for each in found.streams:
            quick.add(each.assembled, each.gone)
    ranges = [work for one in walked for work in one.work]
    # Neighbours go to one task: what is counted of a capture there is one set of rows.
    share = -(-len(ranges) // max(1, min(len(ranges), workers.cores * _TASKS))) or 1
    tasks = [
        RangesTask(ranges[at : at + share], asked, staging, f"part-{asked.batch}-fast-{at:05}")
        for at in range(0, len(ranges), share)
    ]
    by: dict[str, list[Any]] = {}
    for task in workers.map(run_ranges, tasks):
        quick.parts += task.parts
        quick.outcomes.update(task.outcomes)
        for part in task.ranges:
            by.setdefault(part.work.stream, []).append(part)
    rows = Rows(Path(staging), f"part-{asked.batch}-streams")
    for cut in walked:
        quick.add(assemble(cut, by[cut.work[0].stream], asked, rows) if cut.work else None, cut.gone)
    quick.parts += rows.close()
    return quick


@dataclass(slots=True)
class Quick:
    """What compiled code has judged."""

    parts: list[Part] = field(default_factory=list)
    streams: list[StreamDone] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    ranges: int = 0

    def add(self, whole: Assembled | None, gone: Sequence[Probe]) -> None:
        """A stream that is judged. gone: its captures that cannot be read any more."""
        if whole is None:
            self.streams.append(StreamDone((), gone))
            return
        self.ranges += whole.ranges
        self.streams.append(
            StreamDone(whole.captures, gone, whole.kept, whole.ended, whole.packets, whole.records, whole.outcomes)
        )


def _planned(
    lake: Lake, new: Sequence[Probe], options: Options, asked: How, staging: str, workers: Workers
) -> tuple[list[StreamWork], int]:
    """The streams to judge, their big captures judged range by range already; and how many ranges there were."""
    before, groups = lake.snapshot(), streams(new, options.stream)
    tasks: list[RangeTask] = []
    ranges: dict[str, list[tuple[int, int, str]]] = {}
    share = SPLIT if len(groups) < 2 * workers.cores and workers.cores > 1 else None
    at_most = options.split or share
    for one in new if at_most is not None else ():
        assert one.capture is not None and one.size is not None and at_most is not None
        whole = options.sessions and in_columns(one)
        pieces = split(one.size, at_most) if not whole and one.format == "pcap" and one.size > at_most else []
        for number, (start, stop) in enumerate(pieces):
            file = f"{staging}/{one.capture}-{number}.memo"
            tasks.append(RangeTask(one.path, start, stop, file, asked))
            ranges.setdefault(one.capture, []).append((start, stop, file))
    for task, good in zip(tasks, workers.map(run_range, tasks), strict=True):
        if not good:
            for found in ranges.values():
                found[:] = [one for one in found if one[2] != task.file]
    work = []
    for key, group in groups:
        kept = before.kept.get(key) if options.stream == "auto" else None
        turned = options.keep or len(group) > 1 or any(stream_key(one.path)[1] for one in group)
        memos = {one.capture: ranges[one.capture] for one in group if one.capture in ranges}
        state = str(lake.state_file(kept)) if kept is not None else None
        work.append(StreamWork(key, group, state, options.stream == "auto" and (turned or kept is not None), memos))
    return work, len(tasks)


def _packed(work: Sequence[StreamWork], asked: How, staging: str, at_most: int) -> list[StreamTask]:
    """The streams as tasks of about the same size, the largest first."""
    return [
        StreamTask(found, asked, staging, f"part-{asked.batch}-{at:05}")
        for at, found in enumerate(_binned(work, at_most))
    ]


def _binned(work: Sequence[S], at_most: int) -> list[list[S]]:
    """So many heaps at most, of about the same size, the largest first."""
    bins: list[tuple[int, list[S]]] = [(0, []) for _ in range(min(at_most, len(work)))]
    for one in sorted(work, key=_size, reverse=True):
        at = min(range(len(bins)), key=lambda number: bins[number][0])
        bins[at] = (bins[at][0] + _size(one), [*bins[at][1], one])
    return [found for _, found in sorted(bins, key=lambda one: one[0], reverse=True)]


def _size(work: _Stream) -> int:
    return sum(one.size or 0 for one in work.captures) + 1


def _rejected(bad: Sequence[Probe], asked: How, staging: str) -> list[Part]:
    rows, now = Rows(Path(staging), f"part-{asked.batch}-rejected"), datetime.now(UTC)
    for one in bad:
        rows.add(
            "rejected",
            {
                "path": plain(one.path),
                "reason": plain(one.error or ""),
                "bytes": one.size,
                "capture_id": one.capture,
                "rejected_at": now,
                "date": now.date().isoformat(),
                "batch": asked.batch,
            },
        )
    return rows.close()


__all__ = ["BadInput", "Ingested", "Options", "PipelineError", "files_of", "ingest"]
