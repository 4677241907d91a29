"""Work whose worker dies is tried again in smaller pieces, until the captures that kill their workers are known.

They are rejected, each with a reason, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from conformance.captures.defects import Defect
from conformance.pipeline.identity import Probe
from conformance.pipeline.lake import Target
from conformance.pipeline.streams import How, StreamWork
from conformance.pipeline.work import StreamTask, StreamTaskDone, run_streams
from conformance.pipeline.workers import Lost, LostWorkError, Workers

T = TypeVar("T")
R = TypeVar("R")

DIED = "WorkerDied"
"""The error of a defect whose worker died, so that nothing of the capture is in the lake."""


def lost(probe: Probe, reason: str) -> Probe:
    """Return a capture that no worker survives. reason: a clause, as in `its worker {reason}`."""
    sentence = (
        f"{probe.path} was not judged: its worker {reason}, each time. Please report it, with the capture if you can."
    )
    return replace(probe, error=sentence, defect=Defect(probe.path, DIED, reason))


class LostTasksError(LostWorkError):
    """Workers died of tasks that nothing goes on without. captures: of these tasks; one of them may be to blame."""

    def __init__(self, reason: str, captures: Sequence[Probe]) -> None:
        super().__init__(reason)
        self.captures = captures


def survived(tasks: Sequence[T], results: Sequence[R | Lost], captures: Callable[[T], Iterable[Probe]]) -> list[R]:
    """Return the results of tasks. Raises LostTasksError if one is lost. captures: those of a task."""
    lost_tasks = [(task, one) for task, one in zip(tasks, results, strict=True) if isinstance(one, Lost)]
    if lost_tasks:
        suspected = {probe.capture: probe for task, _ in lost_tasks for probe in captures(task)}
        raise LostTasksError(lost_tasks[0][1].reason, list(suspected.values()))
    return [one for one in results if not isinstance(one, Lost)]


def one_by_one(
    workers: Workers,
    function: Callable[[Sequence[str]], list[R]],
    chunks: Sequence[Sequence[str]],
    without: Callable[[str, str], R],
) -> list[R]:
    """Return what a function finds of each file, asked for some files at a time.

    without: what to take for a file whose worker dies, from its name and the reason.
    """
    found: list[R] = []
    for chunk, results in zip(chunks, workers.attempt(function, chunks), strict=True):
        if not isinstance(results, Lost):
            found += results
        elif len(chunk) == 1:
            found.append(without(chunk[0], results.reason))
        else:
            found += one_by_one(workers, function, [[name] for name in chunk], without)
    return found


def judged(workers: Workers, tasks: Sequence[StreamTask]) -> tuple[list[StreamTaskDone], list[Probe]]:
    """Judge streams, and return the results with the captures that killed their workers, which no result has."""
    done: list[StreamTaskDone] = []
    bad: list[Probe] = []
    for task, result in zip(tasks, workers.attempt(run_streams, tasks), strict=True):
        if not isinstance(result, Lost):
            done.append(result)
            continue
        for at, stream in enumerate(task.streams):
            found, lost_here = _judged_alone(workers, replace(task, streams=[stream], name=f"{task.name}-{at}"))
            done += found
            bad += lost_here
    return done, bad


def _judged_alone(workers: Workers, task: StreamTask) -> tuple[list[StreamTaskDone], list[Probe]]:
    """Judge one stream, without those of its captures that kill their workers."""
    (result,) = workers.attempt(run_streams, [task])
    if not isinstance(result, Lost):
        return [result], []
    (stream,) = task.streams
    bad = killing(workers, stream.captures, task.how, task.target, task.name) if len(stream.captures) > 1 else []
    if not bad:  # None of them does it by itself.
        return [], [lost(probe, result.reason) for probe in stream.captures]
    named = {probe.path for probe in bad}
    rest = replace(stream, captures=[probe for probe in stream.captures if probe.path not in named])
    if not rest.captures:
        return [], bad
    found, more = _judged_alone(workers, replace(task, streams=[rest], name=f"{task.name}-rest"))
    return found, bad + more


def killing(workers: Workers, captures: Sequence[Probe], how: How, target: Target, name: str) -> list[Probe]:
    """Return the captures that kill a worker which judges nothing else. What is judged here is in no lake."""
    tasks = [
        StreamTask([StreamWork(str(probe.capture), [probe])], how, target, f"{name}-try-{at}", trial=True)
        for at, probe in enumerate(captures)
    ]
    results = workers.attempt(run_streams, tasks)
    return [lost(probe, one.reason) for probe, one in zip(captures, results, strict=True) if isinstance(one, Lost)]
