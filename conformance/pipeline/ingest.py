"""`pipeline ingest`: judge captures and add them to a lake, all or nothing. Captures in the lake are skipped."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol, TypeVar

from conformance.capture import CaptureError
from conformance.capture.addresses import is_stored
from conformance.capture.files import is_there
from conformance.capture.inputs import STDIN, LeftOut, expand, stream_key
from conformance.command_options import BadInput, check_chosen, check_words
from conformance.pipeline.elsewhere import named
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.fast import Assembled, RangesTask, WalkTask, assemble, run_ranges, walk_stream
from conformance.pipeline.identity import Grouping, Probe, streams
from conformance.pipeline.isolation import LostTasksError, judged, killing, lost, one_by_one, survived
from conformance.pipeline.kept_streams import Dropped, dropped
from conformance.pipeline.lake import Entry, Kept, Lake, Part, Snapshot, Target
from conformance.pipeline.progress import Progress, Watched
from conformance.pipeline.ranges import walkable, warm
from conformance.pipeline.rows import Rows, plain
from conformance.pipeline.streams import How, StreamDone, StreamWork
from conformance.pipeline.work import Here, StreamTask, Workers, look_all, probe_all
from conformance.runlog import Incomplete
from conformance.runlog.incomplete import COMPLETE
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode, Outcome, exit_code, worst_code

SPLIT = 128 << 20
MOST_SPLIT = 1 << 30
"""Bytes of a range, least and most, if the user gives no number and packets alone are judged."""
MIN_SPLIT = 256
_PROBED = 64  # Files that one task probes.
_TASKS = 4  # Tasks a core, so that a slow one does not leave the others idle.


class _Stream(Protocol):
    @property
    def captures(self) -> Sequence[Probe]: ...


S = TypeVar("S", bound=_Stream)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """The settings for judging and cutting captures. split: bytes of a range; None: as many as keep every core busy."""

    profile: str | None = None
    level: str = "must"
    readings: str = "windows"
    chosen: Sequence[str] = ()
    packets: bool = False
    split: int | None = None
    stream: Grouping = "auto"
    sessions: bool = True
    """Judge the rules of connections too; without them, compiled code judges classic pcap files."""
    keep: bool = False
    """Keep the state of every stream, not only of those whose names show that they are part of a set."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest. known: captures that were in the lake already, or were named twice.

    rejected: captures that could not be read, and those among `captures` that were judged only in part.
    dropped: streams that are no longer waited for.
    """

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
    incomplete: Incomplete = COMPLETE
    dropped: Sequence[Dropped] = ()

    def code(self, *, strict: bool = False, allow_incomplete: bool = False) -> ExitCode:
        """Return the exit code like `Replay.exit_code`; an ingest without new captures conforms."""
        codes = [exit_code(self.outcomes, strict=strict) if self.captures else ExitCode.CONFORMS]
        codes += [ExitCode.HARNESS_ERROR if one.defect is not None else ExitCode.BAD_INPUT for one in self.rejected]
        return self.incomplete.exit_code(worst_code(codes), allowed=allow_incomplete)


def how(options: Options, batch: str) -> How:
    """Return the options as the workers take them. Raises BadInput for an invalid value."""
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


def files_of(names: Iterable[str], left_out: LeftOut | None = None) -> list[str]:
    """Return the captures that the names mean. Raises BadInput for a folder or pattern without any, for standard input,
    and if no file exists; the ingest rejects single missing files. left_out: see `expand`."""
    try:
        files = expand(names, left_out)
    except CaptureError as error:
        raise BadInput(str(error)) from None
    if STDIN in files:
        raise BadInput("The pipeline reads files; judge standard input with mqconform replay -.")
    if not any(map(is_there, files)):
        raise BadInput(" ".join(f"There is no file {name}." for name in files))
    return files


def ingest(
    lake: Lake,
    files: Sequence[str],
    options: Options,
    workers: Workers,
    *,
    refused: Sequence[Probe] = (),
    progress: Progress | None = None,
) -> Ingested:
    """Judge the new files and add them to the lake. Raises BadInput and PipelineError.

    refused: files that are rejected without a look, with the reason. progress: told how far the work has come.

    A file that changes, vanishes or fails when a part of it is judged already must not be in the lake in part:
    everything is judged again, without it.
    """
    progress = progress or Progress(time.monotonic)
    watched = Watched(workers, progress)
    files = named(files, lake, watched)
    while True:
        try:
            return _ingested(lake, files, options, watched, refused, progress)
        except _PartError as part:
            bad = part.probes
        except LostTasksError as found:
            bad = _killing(lake, found.captures, options, watched)
            if not bad:
                raise
        refused = [*refused, *bad]
        gone = {one.path for one in bad}
        files = [name for name in files if name not in gone]


def _killing(lake: Lake, captures: Sequence[Probe], options: Options, workers: Workers) -> Sequence[Probe]:
    """Return those of these captures that kill a worker which judges nothing else. Nothing is added to the lake."""
    batch = _batch()
    with lake.writing(batch) as target:
        return killing(workers, captures, how(options, batch), target, f"part-{batch}")


class _PartError(Exception):
    """Raised before the commit when captures were judged in part that can be judged whole at another time."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        super().__init__()
        self.probes = probes


def _ingested(
    lake: Lake,
    files: Sequence[str],
    options: Options,
    workers: Workers,
    refused: Sequence[Probe],
    progress: Progress,
) -> Ingested:
    """Judge and add the files once. Raises _PartError."""
    batch = _batch()
    asked = how(options, batch)
    outcomes: Counter[str] = Counter()
    before = lake.known()
    unknown = _unknown(files, before, workers)
    probes = _probed(unknown, workers)
    found = _sorted([*probes, *refused], before)
    if not (found.new or found.bad or _aliases(probes, before, ()) or lake.staged()):
        return Ingested(before.version, known=found.known + len(files) - len(unknown))
    with lake.writing(batch) as target:
        before = lake.known()
        found = _sorted([*probes, *refused], before)  # Another command may have added some meanwhile.
        new, bad, known = found.new, found.bad, found.known + len(files) - len(unknown)
        work, walks = _planned(before, lake, new, options, asked, target, workers.cores)
        if work or walks:
            warm(asked.readings if options.sessions else None)
        progress.judging({str(one.capture): one.size or 0 for one in new})
        tasks = _packed(work, asked, target, workers.cores * _TASKS)
        done, killing_workers = judged(workers, tasks)
        bad += killing_workers
        streams_done = [one for task in done for one in task.streams]
        parts = [part for task in done for part in task.parts]
        ranges = 0 if options.sessions else sum(len(one.captures) for one in streams_done)
        if walks:
            quick = _cut(walks, asked, target, workers)
            streams_done += quick.streams
            parts += quick.parts
            ranges += quick.ranges
            outcomes.update(quick.outcomes)
        failed = [one for stream in streams_done for one in (*stream.gone, *stream.defects)]
        if part := [one for one in failed if one.again]:
            raise _PartError([replace(one, again=False) for one in part])
        bad += failed
        parts += _rejected(bad, asked, target)
        captures = [name for stream in streams_done for name in stream.captures]
        aliases = _aliases(probes, before, captures)
        version = before.version
        keep = [stream.kept for stream in streams_done if stream.kept is not None]
        given_up = dropped(before.kept, keep)
        gone = {one.key for one in given_up}
        if captures or bad or aliases:
            version = lake.commit(
                Entry(
                    "ingest",
                    batch,
                    parts,
                    captures=[*captures, *aliases],
                    rejected=[one.rejection for one in bad],
                    keep=[one for one in keep if one.key not in gone],
                    forget=[*gone.intersection(before.kept), *_over(streams_done, keep)],
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
        Incomplete.sum(stream.incomplete for stream in streams_done),
        given_up,
    )


def _batch() -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def _probed(files: Sequence[str], workers: Workers) -> list[Probe]:
    return _by_chunks(probe_all, files, workers, lambda path, reason: lost(Probe(path), reason))


def _by_chunks(
    function: Callable[[Sequence[str]], list[T]],
    files: Sequence[str],
    workers: Workers,
    without: Callable[[str, str], T],
) -> list[T]:
    """Return what a function finds of each file, asked for some files at a time. without: see `one_by_one`."""
    chunks = [files[at : at + _PROBED] for at in range(0, len(files), _PROBED)]
    probing = workers if len(chunks) > 1 else Here()  # Workers begin with what takes long, all at once.
    return one_by_one(probing, function, chunks, without)


def _unknown(files: Sequence[str], before: Snapshot, workers: Workers) -> list[str]:
    """Return the files without the objects of stores that are in the lake, in the version that they have now."""
    stored = [name for name in files if is_stored(name)]
    known = {
        name
        for name, alias in zip(stored, _by_chunks(look_all, stored, workers, lambda *_: None), strict=True)
        if alias is not None and alias in before.captures
    }
    return [name for name in files if name not in known] if known else list(files)


def _aliases(probes: Sequence[Probe], before: Snapshot, captures: Sequence[str]) -> list[str]:
    """Return the new aliases of captures that are in the lake, or will be: then they need not be read again."""
    there = before.captures.union(captures)
    return sorted({one.alias for one in probes if one.alias is not None and one.capture in there} - before.captures)


def _over(done: Sequence[StreamDone], keep: Sequence[Kept]) -> list[str]:
    """Return the streams that ended with a defect of the harness and cannot continue from their kept state."""
    return sorted({one.over for one in done if one.over is not None} - {one.key for one in keep})


class _Sorted(NamedTuple):
    """The new captures, the unreadable ones not yet recorded as such, and the number of known ones."""

    new: list[Probe]
    bad: list[Probe]
    known: int


def _sorted(probes: Sequence[Probe], before: Snapshot) -> _Sorted:
    new: dict[str, Probe] = {}
    bad: dict[str, Probe] = {}
    known = 0
    for one in probes:
        if one.error is not None:
            if one.rejection not in before.rejected and one.capture not in before.rejected:  # as in old lakes
                bad.setdefault(one.rejection, one)
        elif one.capture is None or one.capture in before.captures or one.capture in new:
            known += 1
        else:
            new[one.capture] = one
    return _Sorted(list(new.values()), list(bad.values()), known)


def _cut(walks: Sequence[WalkTask], asked: How, target: Target, workers: Workers) -> Quick:
    """Walk over streams, judge their ranges, and assemble the results."""
    quick = Quick()
    done = survived(walks, workers.attempt(walk_stream, walks), lambda task: task.captures)
    walked = [one for found in done for one in found]
    ranges = [work for one in walked for work in one.work]
    # Neighbouring ranges go to one task, so that their counts of a capture become one set of rows.
    share = -(-len(ranges) // max(1, min(len(ranges), workers.cores * _TASKS))) or 1
    tasks = [
        RangesTask(ranges[at : at + share], asked, target, f"part-{asked.batch}-fast-{at:05}")
        for at in range(0, len(ranges), share)
    ]
    by: dict[str, list[Any]] = {}
    judged_ranges = workers.attempt(run_ranges, tasks)
    for task in survived(tasks, judged_ranges, lambda task: [one.capture for one in task.ranges]):
        quick.parts += task.parts
        quick.outcomes.update(task.outcomes)
        for part in task.ranges:
            by.setdefault(part.work.stream, []).append(part)
    rows = Rows(target, f"part-{asked.batch}-streams")
    for cut in walked:
        quick.add(assemble(cut, by[cut.work[0].stream], asked, rows) if cut.work else None, cut.gone)
    quick.parts += rows.close()
    return quick


@dataclass(slots=True)
class Quick:
    """The results of compiled code."""

    parts: list[Part] = field(default_factory=list)
    streams: list[StreamDone] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    ranges: int = 0

    def add(self, whole: Assembled | None, gone: Sequence[Probe]) -> None:
        """Add a judged stream. gone: its captures that can no longer be read."""
        if whole is None:
            self.streams.append(StreamDone((), gone))
            return
        self.ranges += whole.ranges
        self.streams.append(
            StreamDone(
                whole.captures,
                gone,
                whole.kept,
                whole.ended,
                whole.packets,
                whole.records,
                whole.outcomes,
                whole.incomplete,
                whole.defects,
                whole.over,
            )
        )


def _planned(
    before: Snapshot, lake: Lake, new: Sequence[Probe], options: Options, asked: How, target: Target, cores: int
) -> tuple[list[StreamWork], list[WalkTask]]:
    """Return the streams to judge each in one go, and those to cut into ranges that several cores judge."""
    every = sum(one.size or 0 for one in new)
    at_most = options.split or min(MOST_SPLIT, max(SPLIT, every // (cores * _TASKS)))
    # A stream that is too small to keep one core busy after the others have finished is not cut.
    limit = max(at_most, every // (2 * cores))
    work: list[StreamWork] = []
    walks: list[WalkTask] = []
    for key, group in streams(new, options.stream):
        kept = before.kept.get(key) if options.stream == "auto" else None
        turned = options.keep or len(group) > 1 or any(stream_key(one.path)[1] for one in group)
        keep = options.stream == "auto" and (turned or kept is not None) and not any(one.ours for one in group)
        state = lake.state_file(kept) if kept is not None else None
        one = StreamWork(key, group, state, keep)
        large = options.split is not None or (cores > 1 and _size(one) > limit)
        fits = large and all(one.format == "pcap" and walkable(one.path) for one in group)
        if fits and not options.sessions:
            walks.append(WalkTask(key, group, state, keep, at_most, asked, target))
        else:
            work.append(one)
    return work, walks


def _packed(work: Sequence[StreamWork], asked: How, target: Target, at_most: int) -> list[StreamTask]:
    """Pack the streams into tasks of about the same size, the largest first."""
    return [
        StreamTask(found, asked, target, f"part-{asked.batch}-{at:05}")
        for at, found in enumerate(_binned(work, at_most))
    ]


def _binned(work: Sequence[S], at_most: int) -> list[list[S]]:
    """Pack the work into at most so many heaps of about the same size, the largest first."""
    bins: list[tuple[int, list[S]]] = [(0, []) for _ in range(min(at_most, len(work)))]
    for one in sorted(work, key=_size, reverse=True):
        at = min(range(len(bins)), key=lambda number: bins[number][0])
        bins[at] = (bins[at][0] + _size(one), [*bins[at][1], one])
    return [found for _, found in sorted(bins, key=lambda one: one[0], reverse=True)]


def _size(work: _Stream) -> int:
    return sum(one.size or 0 for one in work.captures) + 1


def _rejected(bad: Sequence[Probe], asked: How, target: Target) -> list[Part]:
    rows, now = Rows(target, f"part-{asked.batch}-rejected"), datetime.now(UTC)
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
