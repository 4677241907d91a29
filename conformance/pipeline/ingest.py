"""`pipeline ingest`: judge captures and add them to a lake, all or nothing. Captures in the lake are skipped.

Two steps on any engine: workers identify the files, then judge the streams and write Parquet files; the driver commits
the names of these files. No row passes the driver.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.capture import CaptureError
from conformance.capture.addresses import STDIN, is_stored, path_of
from conformance.capture.files import is_there
from conformance.capture.inputs import LeftOut, expand, natural, stream_key
from conformance.command_options import BadInput, check_chosen, check_words
from conformance.pipeline.engine import Engine, Spark
from conformance.pipeline.identity import Grouping, Probe, streams
from conformance.pipeline.lake import TRIES, Batches, Entry, Lake, Open, OvertakenError, added, new_batch
from conformance.pipeline.progress import Progress
from conformance.pipeline.rows import Rows, day, open_batch, plain
from conformance.pipeline.store import Files, Part
from conformance.pipeline.streams import How, Kept, StreamDone, StreamWork
from conformance.pipeline.untrusted_files import PipelineError
from conformance.pipeline.work import Judged, Judging, Probing, judge, look_all, probe_all, warm
from conformance.runlog import Incomplete
from conformance.runlog.counts import COMPLETE
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.suggest import near_file
from conformance.untrusted import UnfitError
from conformance.verdict import ExitCode, Outcome, exit_code, worst_code

_PROBED: Final = 64
"""Files that one task identifies."""
_TASKS: Final = 4
"""Tasks a core, so that a slow one does not leave the others idle."""
MOST_OPEN: Final = 10_000
FORGET_NS: Final = 7 * 86_400 * 1_000_000_000
"""Streams that are waited for: so many, none silent for a week before the newest one. Others begin anew."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest. known: captures that were in the lake already, or were named twice.

    batch: its name, empty if nothing was added. rejected: captures that could not be read, and those among `captures`
    that were judged only in part.
    """

    batch: str = ""
    captures: int = 0
    known: int = 0
    rejected: Sequence[Probe] = ()
    streams: int = 0
    records: int = 0
    packets: int = 0
    bytes: int = 0
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    incomplete: Incomplete = COMPLETE

    def code(self, *, strict: bool = False, allow_incomplete: bool = False) -> ExitCode:
        """Return the exit code like `Replay.exit_code`; an ingest without new captures conforms."""
        codes = [exit_code(self.outcomes, strict=strict) if self.captures else ExitCode.CONFORMS]
        codes += [ExitCode.HARNESS_ERROR if one.defect is not None else ExitCode.BAD_INPUT for one in self.rejected]
        return self.incomplete.exit_code(worst_code(codes), allowed=allow_incomplete)


def how(
    profile: str | None = None, level: str = "must", readings: str = "windows", chosen: Sequence[str] = (), *,
    packets: bool = False, stream: Grouping = "auto", sessions: bool = True, keep: bool = False,
) -> How:  # fmt: skip
    """Return the settings of an ingest. Raises BadInput for an invalid value."""
    check_words(profile=profile, level=level, readings=readings)
    accepted = dict(assignment(readings, check_chosen(chosen)))
    return How(profile or DEFAULT_PROFILE, level, readings, accepted, packets, sessions, stream, keep)


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
        raise BadInput(" ".join(f"There is no file {name}{near_file(name)}" for name in files))
    return files


def ingest(
    lake: Lake, files: Sequence[str], asked: How, engine: Engine, *, refused: Sequence[Probe] = (),
    progress: Progress | None = None,
) -> Ingested:  # fmt: skip
    """Judge the new files and add them to the lake. Raises BadInput and PipelineError.

    refused: files that are rejected without a look, with the reason. progress: told how far the work has come.
    """
    progress = progress or Progress()
    files = [one if is_stored(one) else os.path.abspath(one) for one in files] if isinstance(engine, Spark) else files  # noqa: PTH100
    return added(lake, lambda: _ingested(lake, files, asked, engine, refused, progress))


def _ingested(
    lake: Lake, files: Sequence[str], asked: How, engine: Engine, refused: Sequence[Probe], progress: Progress
) -> Ingested:
    """Judge the files and add them. Raises OvertakenError if others have added what this batch has, or goes on from."""
    batch = new_batch()
    asked = replace(asked, batch=batch)
    before = lake.batches()
    there = _objects(lake, before, files, engine) if before.live and any(map(is_stored, files)) else set()
    chunks = list(map(Probing, _chunks([one for one in files if one not in there])))
    progress.stage("looking at the files", len(chunks))
    probes = [one for some in engine.run(probe_all, chunks, lambda _: progress.step()) for one in some]
    _seen_by_workers(engine, probes)
    new, bad, known = _sorted(lake, before, [*probes, *refused])
    known += sum(one in there for one in files)
    if not (new or bad):
        return Ingested(known=known)
    work = _planned(before, new, asked)
    tasks = [Judging(some, asked, lake.place) for some in _binned(work, engine.cores * _TASKS)] if work else []
    if tasks:
        warm(asked)
    progress.judging({str(one.capture): one.size or 0 for one in new}, len(tasks))
    done: list[Judged] = engine.run(judge, tasks, lambda one: progress.judged(one.streams))
    found = [stream for one in done for stream in one.streams]
    bad += [probe for one in done for probe in one.bad]
    bad += [probe for stream in found for probe in (*stream.gone, *stream.defects)]
    parts = [part for one in done for part in one.parts] + _rejected(lake, bad, batch)
    captures = {name for stream in found for name in stream.captures}
    opened = [_open(batch, stream.kept) for stream in found if stream.kept is not None]
    entry = Entry("ingest", batch, parts, _ended(before, found), opened)
    if captures or bad:
        progress.stage("adding to the lake", 0)
        _commit(lake, entry, before, [one for one in new if one.capture in captures], [one.key for one in work])
        _drop_states(lake, before, entry.ends)
    outcomes: Counter[str] = Counter()
    for stream in found:
        outcomes.update(stream.outcomes)
    sizes = {one.capture: one.size or 0 for one in new}
    return Ingested(
        batch, len(captures), known, bad, len(found), sum(one.records for one in found),
        sum(one.packets for one in found), sum(sizes[name] for name in captures),
        {outcome: outcomes[outcome.value] for outcome in Outcome if outcomes[outcome.value]},
        Incomplete.sum(one.incomplete for one in found),
    )  # fmt: skip


def _chunks(files: Sequence[str]) -> list[Sequence[str]]:
    return [files[at : at + _PROBED] for at in range(0, len(files), _PROBED)]


def _objects(lake: Lake, batches: Batches, files: Sequence[str], engine: Engine) -> set[str]:
    """Return the objects of a store that are in the lake, which are not read again."""
    aliases = dict(chain(*engine.run(look_all, _chunks(files), lambda _: None)))
    found = lake.column("captures", ["object"], batches.live, ("object", aliases.values()))
    there = {row["object"] for row in found}
    return {path for path, alias in aliases.items() if alias in there}


def _there(lake: Lake, batches: Batches, probes: Iterable[Probe]) -> set[str]:
    """Return the captures among these that are in the lake, each under the day of its first record."""
    days = {one.capture: day(one.first_ns) for one in probes if one.capture is not None}
    found = lake.column("captures", ["capture_id"], batches.live, ("capture_id", days), set(days.values()))
    return {row["capture_id"] for row in found}


def _commit(lake: Lake, entry: Entry, before: Batches, new: Sequence[Probe], keys: Sequence[str]) -> None:
    """Commit a batch, also after others that have nothing to do with it. Raises OvertakenError after any other."""
    for again in range(TRIES):
        try:  # A compaction may have merged the files of the first try: added again, their rows would count twice.
            lake.commit(entry, before, () if again else None)
            return
        except OvertakenError:
            now = lake.batches()
            if _there(lake, now, new) or any(now.open.get(key) != before.open.get(key) for key in keys):
                raise
            before = now
    raise OvertakenError


def _drop_states(lake: Lake, before: Batches, ended: Sequence[str]) -> None:
    """Remove the states of streams that have gone on. An ingest that still needs one is overtaken."""
    for one in before.open.values():
        if one.batch in ended and "state" in one.entry:
            with suppress(OSError, UnfitError):
                lake.store.remove(str(one.entry["state"]))


def _seen_by_workers(engine: Engine, probes: Iterable[Probe]) -> None:
    """Raise PipelineError if a worker elsewhere does not see a file that is here."""
    for one in probes if isinstance(engine, Spark) else ():
        if one.error is not None and one.size is None and not is_stored(one.path) and os.access(one.path, os.R_OK):
            raise PipelineError(
                f"A worker of Spark does not see {one.path}, which is here: captures and lake must have the same paths"
                " on all machines, or lie in a store."
            )


def _rejection(path: str, capture: str | None, error: str | None) -> str:
    return f"{path}\0{capture or error}"


def _sorted(lake: Lake, batches: Batches, probes: Sequence[Probe]) -> tuple[list[Probe], list[Probe], int]:
    """Return the new captures, the unreadable ones not yet recorded as such, and the number of known ones."""
    there = _there(lake, batches, [one for one in probes if one.error is None])
    paths = [plain(one.path) for one in probes if one.error is not None]
    refused = lake.column("rejected", ["path", "capture_id", "reason"], batches.live, ("path", paths))
    rejected = {_rejection(row["path"], row["capture_id"], row["reason"]) for row in refused}
    new: dict[str, Probe] = {}
    bad: dict[str, Probe] = {}
    known = 0
    for one in probes:
        if one.error is not None:
            name = _rejection(plain(one.path), one.capture, plain(one.error))
            if name not in rejected:
                bad.setdefault(name, one)
        elif one.capture is None or one.capture in there or one.capture in new:
            known += 1
        else:
            new[one.capture] = one
    return list(new.values()), list(bad.values()), known


def _planned(before: Batches, new: Sequence[Probe], asked: How) -> list[StreamWork]:
    """Return the streams of these captures, each with the state that it goes on from."""
    waiting = {key: one.entry for key, one in before.open.items() if "state" in one.entry}
    newest = sorted(waiting, key=lambda key: int(waiting[key].get("last_ns", 0)), reverse=True)[:MOST_OPEN]
    since = max((int(waiting[key].get("last_ns", 0)) for key in newest), default=0) - FORGET_NS
    work: list[StreamWork] = []
    for key, group in streams(new, asked.stream):
        entry = waiting.get(key) if asked.stream == "auto" and key in newest else None
        state = str(entry["state"]) if entry is not None and int(entry.get("last_ns", 0)) >= since else None
        turned = asked.keep or len(group) > 1 or any(stream_key(one.path)[1] for one in group)
        keep = asked.stream == "auto" and (turned or state is not None) and not any(one.ours for one in group)
        work.append(StreamWork(key, group, state, keep))
    return work


def _open(batch: str, kept: Kept) -> Open:
    entry: dict[str, Any] = {"stream": kept.stream, "state": kept.state, "last_ns": kept.last_ns}
    return Open(open_batch(batch, kept.stream), kept.key, entry)


def _ended(before: Batches, found: Sequence[StreamDone]) -> list[str]:
    """Return the open batches of the streams that have gone on."""
    ended = {stream.ended for stream in found if stream.ended is not None}
    return sorted(one.batch for one in before.open.values() if one.entry.get("stream") in ended)


def _binned(work: Sequence[StreamWork], at_most: int) -> list[list[StreamWork]]:
    """Cut the streams into at most so many heaps of about the same size, the largest first.

    They are in the order of their times: a heap of few days writes few files.
    """
    bins: dict[int, list[StreamWork]] = {}
    total, before = sum(map(_size, work)), 0
    for one in sorted(work, key=lambda one: one.captures[0].first_ns or 0):
        bins.setdefault(before * at_most // total, []).append(one)
        before += _size(one)
    return sorted(bins.values(), key=lambda some: sum(map(_size, some)), reverse=True)


def _size(work: StreamWork) -> int:
    return sum(one.size or 0 for one in work.captures) + 1


def _rejected(lake: Lake, bad: Sequence[Probe], batch: str) -> list[Part]:
    """Write the rows of captures that could not be judged."""
    files = Files(lake.place)
    rows = Rows(batch, files)
    for one in bad:
        rows.reject(one.path, one.error or "", one.size, one.capture)
    rows.close()
    return files.close()


_HEAD: Final = 4096


class _Seen(NamedTuple):
    """Bytes of a file, the time of its last change, and its first bytes, which tell it from one of a reused name."""

    size: int
    changed_ns: int
    head: bytes


def watched(place: str) -> Path:
    """Return the folder to watch. Raises PipelineError if it does not exist, or is not a folder."""
    if is_stored(place):
        raise PipelineError(
            f"{place} is not a folder; watch looks at one; ingest a store again and again, which reads no object twice."
        )
    folder = Path(path_of(place))
    if not os.path.lexists(folder):
        raise PipelineError(f"There is no folder {folder}; watch one that captures are written to.")
    if not folder.is_dir():
        raise PipelineError(f"{folder} is not a folder; watch one that captures are written to.")
    return folder


def watch(
    folder: Path, lake: Lake, asked: How, engine: Engine, *, settle_s: float, every_s: float, once: bool,
    max_files: int, on_batch: Callable[[Ingested], None], ended: Callable[[], bool] = lambda: False,
    showing: Callable[[Progress], AbstractContextManager[object]] = nullcontext,
) -> None:  # fmt: skip
    """Ingest the finished files of a folder, now (once) or until `ended`. Raises PipelineError.

    settle_s: seconds for which the newest file of a set must not change. every_s: seconds between looks at the folder.
    max_files: of a batch. on_batch: called with the result of each batch. showing: shows the progress of one.
    """
    asked = replace(asked, keep=True)
    taken: dict[str, _Seen] = {}
    while not ended():
        found = finished(folder, settle_s)
        new = {name: seen for name, seen in found.items() if taken.get(name) != seen}
        some = dict(list(new.items())[:max_files])
        grown = [name for name, seen in some.items() if name in taken and _goes_on(taken[name], seen)]
        if some:
            refused = [
                Probe(name, some[name].size, error=f"{name} changed after it was ingested; raise --settle.")
                for name in grown
            ]
            progress = Progress()
            with showing(progress):
                done = ingest(lake, [one for one in some if one not in grown], asked, engine, refused=refused,
                              progress=progress)  # fmt: skip
            taken |= some
            if done.captures or done.rejected:
                on_batch(done)
        if len(some) < len(new):
            continue
        if once:
            return
        until = time.monotonic() + every_s
        while time.monotonic() < until and not ended():
            time.sleep(min(0.2, every_s))


def finished(folder: Path, settle_s: float) -> dict[str, _Seen]:
    """Return the finished files of a folder by name, the oldest first. Raises PipelineError."""
    now = time.time_ns()
    try:
        names = expand([str(folder)])
    except CaptureError:
        return {}  # There is none yet.
    found: dict[str, _Seen] = {}
    sets: dict[str, list[str]] = {}
    for name in names:
        try:
            status = Path(name).stat()
            with Path(name).open("rb") as file:
                head = file.read(_HEAD)
        except OSError:  # It was rotated away during the look.
            continue
        found[name] = _Seen(status.st_size, min(status.st_mtime_ns, now), head)
        sets.setdefault(stream_key(name)[0], []).append(name)
    out = dict(found)
    for members in sets.values():
        newest = max(members, key=lambda name: (found[name].changed_ns, natural(name)))
        if now - found[newest].changed_ns < settle_s * 1e9:
            del out[newest]
    return dict(sorted(out.items(), key=lambda one: (one[1].changed_ns, natural(one[0]))))


def _goes_on(before: _Seen, now: _Seen) -> bool:
    """Tell whether a file that was ingested has more by now; a file of another beginning is another one."""
    return now.size > before.size and now.head.startswith(before.head)
