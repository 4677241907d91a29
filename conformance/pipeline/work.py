"""What is done where: tasks that a worker carries out by itself, and those who hand them out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from conformance.capture import CaptureError
from conformance.pipeline.identity import Probe, probe
from conformance.pipeline.lake import Part
from conformance.pipeline.memos import judge_range
from conformance.pipeline.rows import Rows
from conformance.pipeline.streams import How, StreamDone, StreamWork, judge_stream

T = TypeVar("T")
R = TypeVar("R")


class Workers(Protocol):
    """Those who carry out tasks, some of them at once. cores: how many."""

    @property
    def cores(self) -> int:
        """How many tasks run at once."""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """The results, in the order of the tasks."""


@dataclass(frozen=True, slots=True)
class Here:
    """This process, one task after the other."""

    cores: int = 1

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """The results, in the order of the tasks."""
        return [function(task) for task in tasks]


@dataclass(frozen=True, slots=True)
class RangeTask:
    """A byte range to judge. file: where what is said of its packets goes."""

    path: str
    start: int
    stop: int
    file: str
    how: How


@dataclass(frozen=True, slots=True)
class StreamTask:
    """Streams to judge, one after the other. folder: the staging folder. name: the beginning of its files' names."""

    streams: Sequence[StreamWork]
    how: How
    folder: str
    name: str


@dataclass(frozen=True, slots=True)
class StreamTaskDone:
    """The files written, and what became of each stream."""

    parts: Sequence[Part]
    streams: Sequence[StreamDone]


def probe_all(paths: Sequence[str]) -> list[Probe]:
    """Look at some files."""
    return [probe(path) for path in paths]


def run_range(task: RangeTask) -> bool:
    """Judge a range; False where the file can no longer be read, which its stream will tell."""
    how = task.how
    try:
        judge_range(
            task.path, task.start, task.stop, Path(task.file),
            profile=how.profile, level=how.level, readings=how.readings,
        )  # fmt: skip
    except CaptureError:
        return False
    return True


def run_streams(task: StreamTask) -> StreamTaskDone:
    """Judge streams. A task that is tried again writes other files: what its first try left is in no lake."""
    rows = Rows(Path(task.folder), f"{task.name}-{os.getpid()}-{os.urandom(3).hex()}")
    done = [judge_stream(stream, task.how, rows) for stream in task.streams]
    return StreamTaskDone(rows.close(), done)
