"""How far long work has come: files, packets, deviations, rate and time left, in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from conformance.pipeline.fast import RangesDone
from conformance.pipeline.streams import StreamDone
from conformance.pipeline.work import StreamTaskDone
from conformance.pipeline.workers import Lost, Workers, deed, found
from conformance.verdict import Outcome

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Counts:
    """What was judged: files, their packets, verdicts other than pass, and bytes of the files."""

    files: float = 0
    packets: int = 0
    deviations: int = 0
    bytes: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sums."""
        return Counts(
            self.files + other.files,
            self.packets + other.packets,
            self.deviations + other.deviations,
            self.bytes + other.bytes,
        )


@dataclass(slots=True)
class Progress:
    """The progress of one ingest. Every thread may ask and tell.

    stage: what is under way, with its tasks, if they are known. began: seconds of a clock when the first capture was
    given to a worker.
    """

    clock: Callable[[], float]
    counts: Counts = field(default_factory=Counts)
    stage: str = ""
    done: int = 0
    tasks: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    began: float | None = None
    _lock: Lock = field(default_factory=Lock, repr=False)

    def judging(self, sizes: Mapping[str, int]) -> None:
        """Note that judging begins. sizes: bytes of each capture."""
        with self._lock:
            self.counts, self.sizes, self.began = Counts(), sizes, self.clock()

    def stages(self, name: str, tasks: int) -> None:
        """Note that a stage begins."""
        with self._lock:
            self.stage, self.done, self.tasks = name, 0, tasks

    def note(self, result: object) -> None:
        """Count the result of a task."""
        counted = counts_of(result, self.sizes)
        with self._lock:
            self.done += 1
            self.counts += counted

    def judged(self, streams: Sequence[StreamDone]) -> None:
        """Count streams that no single task has judged."""
        with self._lock:
            self.counts += _of_streams(streams, self.sizes)

    def line(self) -> str:
        """Return the line."""
        with self._lock:
            tasks = f" ({self.done} of {self.tasks})" if self.tasks else ""
            stage = f"{self.stage}{tasks}" if self.stage else "starting"
            if self.began is None:
                return stage
            seconds = max(self.clock() - self.began, 1e-3)
            counts, whole = self.counts, sum(self.sizes.values())
            files = f"{int(counts.files + 1e-6):,} of {len(self.sizes):,} files"
            rate = f"{counts.packets / seconds:,.0f} packets/s"
            left = "" if not counts.bytes else f", {_time(seconds * max(0, whole - counts.bytes) / counts.bytes)} left"
            return f"{files}, {counts.packets:,} packets, {counts.deviations:,} deviations, {rate}{left}; {stage}"


def counts_of(result: object, sizes: Mapping[str, int]) -> Counts:
    """Return what the result of a task counts; nothing for one that judges nothing. sizes: bytes by capture."""
    if isinstance(result, StreamTaskDone):
        return _of_streams(result.streams, sizes)
    if isinstance(result, RangesDone):
        judged = sum(one.work.stop - one.work.start for one in result.ranges)
        files = sum((one.work.stop - one.work.start) / max(1, one.work.capture.size or 1) for one in result.ranges)
        return Counts(files, sum(one.packets for one in result.ranges), _deviations(result.outcomes), judged)
    return Counts()


def _of_streams(streams: Sequence[StreamDone], sizes: Mapping[str, int]) -> Counts:
    named = [name for stream in streams for name in stream.captures]
    return Counts(
        len(named),
        sum(stream.packets for stream in streams),
        sum(_deviations(stream.outcomes) for stream in streams),
        sum(sizes.get(name, 0) for name in named),
    )


def _deviations(outcomes: Mapping[str, int]) -> int:
    return sum(count for outcome, count in outcomes.items() if outcome not in _SOUND)


_SOUND = {Outcome.PASS.value, Outcome.SKIP.value}


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@dataclass(frozen=True, slots=True)
class Watched:
    """Workers whose results are counted as they come."""

    workers: Workers
    progress: Progress

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""
        return self.workers.cores

    @property
    def spark(self) -> Any:
        """The session of Spark that the workers belong to; None for others."""
        return getattr(self.workers, "spark", None)

    def stage(self, name: str, tasks: int) -> None:
        """Note that a stage begins whose tasks tell nothing."""
        self.progress.stages(name, tasks)

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks. Raises LostWorkError."""
        return found(self.attempt(function, tasks))

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[R | Lost]:
        """Return the results in the order of the tasks, with Lost for those whose worker died each time."""

        def noted(result: R) -> None:
            self.progress.note(result)
            if each is not None:
                each(result)

        self.progress.stages(deed(function), len(tasks))
        return self.workers.attempt(function, tasks, noted)
