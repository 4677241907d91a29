"""How far long work has come: files, packets, deviations, rate and time left, in one line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from conformance.pipeline.streams import StreamDone
from conformance.runlog.counts import counted
from conformance.verdict import Outcome

_SOUND = {Outcome.PASS.value, Outcome.SKIP.value}


@dataclass(slots=True)
class Progress:
    """The progress of one ingest. Every thread may ask and tell."""

    clock: Callable[[], float] = time.monotonic
    name: str = "starting"
    done: int = 0
    tasks: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    packets: int = 0
    deviations: int = 0
    bytes: int = 0
    began: float | None = None
    _lock: Lock = field(default_factory=Lock, repr=False)

    def stage(self, name: str, tasks: int) -> None:
        """Note that a stage begins, of so many tasks."""
        with self._lock:
            self.name, self.done, self.tasks = name, 0, tasks

    def step(self) -> None:
        """Note that a task is done."""
        with self._lock:
            self.done += 1

    def judging(self, sizes: Mapping[str, int], tasks: int) -> None:
        """Note that judging begins. sizes: bytes of each capture."""
        self.stage("judging", tasks)
        with self._lock:
            self.sizes, self.began = sizes, self.clock()

    def judged(self, streams: Sequence[StreamDone]) -> None:
        """Count the streams of a task."""
        self.step()
        names = [name for stream in streams for name in stream.captures]
        with self._lock:
            self.files += len(names)
            self.bytes += sum(self.sizes.get(name, 0) for name in names)
            self.packets += sum(stream.packets for stream in streams)
            self.deviations += sum(
                count for stream in streams for outcome, count in stream.outcomes.items() if outcome not in _SOUND
            )

    def line(self) -> str:
        """Return the line."""
        from conformance.report.summary import in_words  # which has much to load

        with self._lock:
            stage = f"{self.name} ({self.done} of {self.tasks})" if self.tasks else self.name
            if self.began is None:
                return stage
            seconds = max(self.clock() - self.began, 1e-3)
            rate = f"{self.packets / seconds:,.0f} packets/s"
            rest = max(0, sum(self.sizes.values()) - self.bytes)
            left = f", {in_words(seconds * rest / self.bytes)} left" if self.bytes else ""
            files = f"{self.files:,} of {len(self.sizes):,} files"
            return f"{files}, {self.packets:,} packets, {counted(self.deviations, 'deviation')}, {rate}{left}; {stage}"
