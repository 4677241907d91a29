"""The tasks that a worker carries out by itself, and the interface of workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from conformance.pipeline.identity import Probe, look, probe
from conformance.pipeline.lake import Part, Target
from conformance.pipeline.memory import settle
from conformance.pipeline.rows import Rows
from conformance.pipeline.streams import How, StreamDone, StreamWork, judge_stream

_LOOKS = 16  # Requests at once.

T = TypeVar("T")
R = TypeVar("R")


class Workers(Protocol):
    """Workers that carry out tasks, some of them at once. cores: how many."""

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks."""


@dataclass(frozen=True, slots=True)
class Here:
    """The present process, which carries out one task after the other."""

    cores: int = 1

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks."""
        return [function(task) for task in tasks]


@dataclass(frozen=True, slots=True)
class StreamTask:
    """Streams to judge, one after the other. target: where its rows go. name: prefix of file names."""

    streams: Sequence[StreamWork]
    how: How
    target: Target
    name: str


@dataclass(frozen=True, slots=True)
class StreamTaskDone:
    """The files written, and the result of each stream."""

    parts: Sequence[Part]
    streams: Sequence[StreamDone]


def probe_all(paths: Sequence[str]) -> list[Probe]:
    """Probe some files."""
    return [probe(path) for path in paths]


def look_all(paths: Sequence[str]) -> list[str | None]:
    """Return the alias of each object in a store, with several requests at once."""
    with ThreadPoolExecutor(_LOOKS) as pool:
        return list(pool.map(look, paths))


def run_streams(task: StreamTask) -> StreamTaskDone:
    """Judge streams. A retried task writes other files: those of its first try are in no lake."""
    rows = Rows(task.target, f"{task.name}-{os.getpid()}-{os.urandom(3).hex()}")
    done = [judge_stream(stream, task.how, rows) for stream in task.streams]
    settle()
    return StreamTaskDone(rows.close(), done)
