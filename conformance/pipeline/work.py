"""The work of a worker, here or on a cluster: it identifies files, and judges streams into the files of a lake.

It works in a process of its own, a child of the worker, which may die of a capture. The capture is named, and the
others are judged again without it.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from conformance.capture.columns.reader import warm as warm_walk
from conformance.captures import verdict_counts
from conformance.captures.batch_judge import code_for
from conformance.captures.defects import Defect
from conformance.children import safe_path
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.pipeline.identity import Probe, look, probe
from conformance.pipeline.packet_columns import KEYS
from conformance.pipeline.rows import Rows
from conformance.pipeline.store import Files, Part
from conformance.pipeline.streams import How, StreamDone, StreamWork, judge_stream

DIED: Final = "WorkerDied"
"""The error of a defect whose process died, so that nothing of the capture is in the lake."""
LONGEST_S: Final = 900.0
"""Seconds that the work at one capture may take, beside a second for each `SLOWEST` bytes of it."""
SLOWEST: Final = 1 << 16
_LOOKS: Final = 16
"""Requests at once."""
_GLANCE_S: Final = 1.0
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Judging:
    """Streams to judge, one after the other, into the lake at `place`."""

    streams: Sequence[StreamWork]
    how: How
    place: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The files written, and the result of each stream. bad: captures that are not among them, each with its reason."""

    parts: Sequence[Part] = ()
    streams: Sequence[StreamDone] = ()
    bad: Sequence[Probe] = ()


@dataclass(frozen=True, slots=True)
class Probing:
    """Files to identify."""

    paths: Sequence[str]


def look_all(paths: Sequence[str], child: Child) -> list[tuple[str, str]]:
    """Return the files that have an alias, each with it, without reading any."""
    with ThreadPoolExecutor(_LOOKS) as pool:
        return [(path, alias) for path, alias in zip(paths, pool.map(look, paths), strict=True) if alias is not None]


def probe_all(task: Probing, child: Child) -> list[Probe]:
    """Identify files in a process of its own."""
    dead: list[Probe] = []
    suspected: set[str] = set()
    paths = list(task.paths)
    while paths:
        try:
            return [*child.run(_probe_all, replace(task, paths=paths), _limits(map(Probe, paths))), *dead]
        except DiedError as died:
            dead += _dead(map(Probe, paths), died, suspected)
            paths = [path for path in paths if path not in {one.path for one in dead}]
    return dead


def _probe_all(task: Probing, note: Callable[[str], None]) -> list[Probe]:
    """Identify files in this process. note: told of each before it is read."""

    def one(path: str) -> Probe:
        note(path)
        return probe(path)

    return list(map(one, task.paths))


def judge(task: Judging, child: Child) -> Judged:
    """Judge streams in a process of its own. Raises PipelineError for a failure of the lake."""
    bad: list[Probe] = []
    suspected: set[str] = set()
    streams = list(task.streams)
    while streams:
        captures = [one for stream in streams for one in stream.captures]
        try:
            done = child.run(_judge, replace(task, streams=streams), _limits(captures))
        except DiedError as died:
            bad += _dead(captures, died, suspected)
            streams = _without(streams, {one.path for one in bad})
            continue
        again = [one for stream in done.streams for one in stream.gone if one.again]
        if not again:
            return replace(done, bad=bad)
        Files(task.place, list(done.parts)).drop()
        bad += [replace(one, again=False) for one in again]
        streams = _without(streams, {one.path for one in again})
    return Judged(bad=bad)


def _judge(task: Judging, note: Callable[[str], None]) -> Judged:
    """Judge streams in this process. note: told of each capture before it is judged."""
    files = Files(task.place)
    rows = Rows(task.how.batch, files)
    try:
        done = [judge_stream(stream, task.how, rows, note) for stream in task.streams]
        rows.close()
        return Judged(files.close(), done)
    except BaseException:
        files.drop()
        raise


def _limits(captures: Iterable[Probe]) -> dict[str, float]:
    """Return how long the work at each capture may take, by its path."""
    return {one.path: LONGEST_S + (one.size or 0) / SLOWEST for one in captures}


def _dead(captures: Iterable[Probe], died: DiedError, suspected: set[str]) -> list[Probe]:
    """Return the captures that no process survives: the one that it was at, or all if none was begun."""
    if died.note not in suspected and died.late is None:
        suspected.add(died.note)  # It is tried once more: the process may have died of another one's need.
        return []
    reason = "died each time: it was killed, or had too little memory"
    if died.late is not None:
        reason = f"did not end within {died.late:,.0f} seconds"
    text = f"was not judged: its worker {reason}. Please report it, with the capture if you can."
    return [
        replace(one, error=f"{one.path} {text}", defect=Defect(one.path, DIED, reason))
        for one in captures
        if died.note in ("", one.path)
    ]


def _without(streams: Sequence[StreamWork], paths: set[str]) -> list[StreamWork]:
    left = [replace(one, captures=[probe for probe in one.captures if probe.path not in paths]) for one in streams]
    return [one for one in left if one.captures]


class DiedError(Exception):
    """The child died. note: the last word that it gave. late: seconds after which it was ended."""

    def __init__(self, note: str, late: float | None = None) -> None:
        super().__init__(note)
        self.note, self.late = note, late


@dataclass(slots=True)
class Child:
    """A process of its own, which is started when it is needed and goes with this one."""

    _pool: ProcessPoolExecutor | None = None
    _note: Path | None = None
    _lock: Any = field(default_factory=Lock)

    def run(
        self, function: Callable[[Any, Callable[[str], None]], R], task: Any, limits: Mapping[str, float]
    ) -> R:  # fmt: skip
        """Call a function of a task there, and give it a function for notes. Raises DiedError, and what it raises.

        limits: the seconds until the next note, by note. A process that needs longer is ended.
        """
        with self._lock:
            future = self._submit(_call, function, task)
            last, since = "", time.monotonic()
            try:
                while not wait([future], _GLANCE_S).done:
                    note, now = self._last(), time.monotonic()
                    if note != last:
                        last, since = note, now
                    if now - since > (limit := limits.get(note, LONGEST_S)):
                        self.end()
                        raise DiedError(note, limit)
                found: R = future.result()
                return found
            except BrokenProcessPool:
                note = self._last()
                self.end()
                raise DiedError(note) from None
            except BaseException:  # An interrupt leaves the child at work.
                if not future.done():
                    self.end()
                raise

    def _last(self) -> str:
        assert self._note is not None
        return self._note.read_text(errors="surrogateescape")

    def begin(self) -> None:
        """Start the process."""
        with self._lock:
            self._submit(os.getpid)

    def _submit(self, *call: Any) -> Future[Any]:
        if self._pool is None:
            number, name = tempfile.mkstemp(prefix="mqconform-note-")
            os.close(number)
            self._note = Path(name)
            self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _begin, (name, os.getpid()))
        with safe_path():
            return self._pool.submit(*call)

    def end(self) -> None:
        """End the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for one in list((pool._processes or {}).values()):
                one.kill()
            pool.shutdown(cancel_futures=True)
        if self._note is not None:
            with suppress(OSError):
                self._note.unlink()


CHILD: Final = Child()
_NOTES: list[Path] = []


def _begin(note: str, parent: int) -> None:
    """Leave Ctrl-C to the process that started this one, and end with it.

    Garbage is collected less often: a task makes many objects that stay, and few cycles.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _NOTES.append(Path(note))
    Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    """End this process when the one that has started it was killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _call(function: Callable[[Any, Callable[[str], None]], R], task: Any) -> R:
    return function(task, _tell)


def _tell(note: str) -> None:
    _NOTES[0].write_text(note, errors="surrogateescape")


def warm(how: How) -> None:
    """Compile missing code in this process, with a message, before the workers need it, each for itself."""
    code = code_for(sessions=how.sessions, keys=KEYS)
    code.warm()
    warm_walk()
    verdict_counts.machine_code().function()
    if how.sessions:
        ColumnSessions(how.readings, code.chunks.columns).warm()
    gc.collect()
