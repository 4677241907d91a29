"""What a worker does, on this machine or on a cluster: identify files, and judge streams into the files of a lake.

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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final, TypeVar

from conformance import __version__
from conformance.capture.columns.reader import warm as warm_walk
from conformance.captures import verdict_counts
from conformance.captures.batch_judge import code_for
from conformance.captures.defects import Defect
from conformance.children import safe_path
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.pipeline.identity import Probe, look, probe
from conformance.pipeline.packet_columns import KEYS
from conformance.pipeline.rows import Rows
from conformance.pipeline.state import collected_seldom, settle
from conformance.pipeline.store import Files, Part
from conformance.pipeline.streams import How, StreamDone, StreamWork, judge_stream
from conformance.pipeline.untrusted_files import PipelineError

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
    by: str = __version__


@dataclass(frozen=True, slots=True)
class Judged:
    """The files written, and the result of each stream. bad: captures that are not among them, each with its reason."""

    parts: Sequence[Part] = ()
    streams: Sequence[StreamDone] = ()
    bad: Sequence[Probe] = ()


@dataclass(frozen=True, slots=True)
class Probing:
    """Files to identify. known: aliases of objects that are in the lake, which are not read again."""

    paths: Sequence[str]
    known: frozenset[str] = frozenset()


def probe_all(task: Probing, _: Child | None = None) -> list[Probe]:
    """Identify files."""
    with ThreadPoolExecutor(_LOOKS) as pool:
        aliases = list(pool.map(look, task.paths)) if task.known else [None] * len(task.paths)
    return [
        Probe(path, capture=alias, alias=alias) if alias is not None and alias in task.known else probe(path)
        for path, alias in zip(task.paths, aliases, strict=True)
    ]


def judge(task: Judging, child: Child) -> Judged:
    """Judge streams in a process of its own. Raises PipelineError for a failure of the lake."""
    if task.by != __version__:
        raise PipelineError(f"A worker has mqconform {__version__}, and this command {task.by}: install the same one.")
    bad: list[Probe] = []
    suspected: set[str] = set()
    streams = list(task.streams)
    while streams:
        try:
            done = child.run(_judge, replace(task, streams=streams), _limits(streams))
        except DiedError as died:
            if died.note in suspected or died.late is not None:
                bad += _dead(streams, died)
                streams = _without(streams, {one.path for one in bad})
            suspected.add(died.note)  # It is tried once more: the process may have died of another one's need.
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
        with collected_seldom():
            done = [judge_stream(stream, task.how, rows, note) for stream in task.streams]
            settle()
            rows.close()
            return Judged(files.close(), done)
    except BaseException:
        files.drop()
        raise


def _limits(streams: Sequence[StreamWork]) -> dict[str, float]:
    """Return how long the work at each capture may take, by its path."""
    return {one.path: LONGEST_S + (one.size or 0) / SLOWEST for stream in streams for one in stream.captures}


def _dead(streams: Sequence[StreamWork], died: DiedError) -> list[Probe]:
    """Return the captures that no process survives: the one that it was at, or all if none was begun."""
    reason = "died each time: it was killed, or had too little memory"
    if died.late is not None:
        reason = f"did not end within {died.late:,.0f} seconds"
    return [
        replace(
            one,
            error=f"{one.path} was not judged: its worker {reason}. Please report it, with the capture if you can.",
            defect=Defect(one.path, DIED, reason),
        )
        for stream in streams
        for one in stream.captures
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
            self._submit(gc.freeze)

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
    """Leave Ctrl-C to the process that started this one, and end with it."""
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
    verdict_counts.wanted().function()
    if how.sessions:
        ColumnSessions(how.readings, code.chunks.columns).warm()
    gc.collect()
