"""The tasks that a worker carries out by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from conformance.pipeline.identity import Probe, look, probe
from conformance.pipeline.lake import Part, Target
from conformance.pipeline.memory import collected_seldom, settle
from conformance.pipeline.rows import Rows
from conformance.pipeline.streams import How, StreamDone, StreamWork, judge_stream
from conformance.pipeline.workers import Here, Workers

_LOOKS = 16  # Requests at once.


@dataclass(frozen=True, slots=True)
class StreamTask:
    """Streams to judge, one after the other. target: where its rows go. name: prefix of file names.

    trial: only to see whether the worker survives; the streams are judged again.
    """

    streams: Sequence[StreamWork]
    how: How
    target: Target
    name: str
    trial: bool = False


@dataclass(frozen=True, slots=True)
class StreamTaskDone:
    """The files written, and the result of each stream. trial: as in the task."""

    parts: Sequence[Part]
    streams: Sequence[StreamDone]
    trial: bool = False


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
    with collected_seldom():
        done = [judge_stream(stream, task.how, rows) for stream in task.streams]
        settle()
        return StreamTaskDone(rows.close(), done, task.trial)


__all__ = ["Here", "StreamTask", "StreamTaskDone", "Workers", "look_all", "probe_all", "run_streams"]
