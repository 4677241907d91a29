"""Bring the facts on streams to the buckets that judge them, and find which streams cannot be judged in parts.

A stream whose worker dies, or that meets a defect on the way, is left to one core, which judges it in order; the others
are judged in parts nevertheless.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from conformance.pipeline.connections_facts import PER_STREAM, SCHEMA, facts_of
from conformance.pipeline.connections_judge import RESULT, BucketDone, judge_buckets
from conformance.pipeline.connections_walk import Parted, PartedTask, part_stream
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Target
from conformance.pipeline.memory import unpacked
from conformance.pipeline.shuffle import grouped
from conformance.pipeline.spark import first_line
from conformance.pipeline.workers import Lost, LostWorkError, Workers
from conformance.report.text import label


def parted(tasks: Sequence[PartedTask], workers: Workers) -> list[Parted]:
    """Walk over the streams and plan their parts."""
    return [
        Parted(task.key, f"the worker that walked over it {found.reason}") if isinstance(found, Lost) else found
        for task, found in zip(tasks, workers.attempt(part_stream, tasks), strict=True)
    ]


def by_buckets(
    plans: Sequence[Parted], target: Target, workers: Workers, share: int = 1
) -> tuple[dict[str, list[BucketDone]], dict[str, str]]:
    """Return the buckets of streams by their place, and of the other streams, by their key, why there are none.

    share: only the first of so many of the ranges of a stream are judged.
    """
    planned = [one for one in plans if one.why is None]
    if not planned:
        return {}, {}
    try:
        return _shuffled(planned, target, workers, share), {}
    except Exception as problem:
        why = _reason(problem)
        if why is None:
            raise
        if len(planned) == 1:
            return {}, {planned[0].key: why}
    done: dict[str, list[BucketDone]] = {}
    failed: dict[str, str] = {}
    for one in planned:  # One of them has brought it about, and the others suffer no more.
        found, bad = by_buckets([one], target, workers, share)
        done |= found
        failed |= bad
    return done, failed


def _shuffled(plans: Sequence[Parted], target: Target, workers: Workers, share: int) -> dict[str, list[BucketDone]]:
    work = [
        replace(one, stream=plan.place, index=at)
        for at, plan in enumerate(plans)
        for one in plan.work[: -(-len(plan.work) // share)]
    ]  # fmt: skip
    keys = [at * PER_STREAM + bucket for at, plan in enumerate(plans) for bucket in range(plan.buckets)]
    made = grouped(
        workers, work, partial(facts_of, target), "bucket", keys, "at", partial(judge_buckets, target), SCHEMA, RESULT
    )
    done: dict[str, list[BucketDone]] = {}
    for batch in made:
        for data, place in zip(*(batch.column(name).to_pylist() for name in RESULT.names), strict=True):
            for found in unpacked(data if place is None else target.carried(place)):
                done.setdefault(found.place, []).append(found)
    return done


def _reason(problem: Exception) -> str | None:
    """Return why a stream is judged in order after this error; None for one that ends the command."""
    if isinstance(problem, LostWorkError):
        return f"a worker that judged a part of it {problem.reason}"
    if isinstance(problem, (PipelineError, ConnectionError)) or _full(problem):
        return None
    kind, module = type(problem).__name__, type(problem).__module__
    if module.startswith("py4j.") and kind != "Py4JJavaError":
        return None  # Java has ended.
    text = first_line(problem) if module.startswith(("pyspark.", "py4j.")) else f"{kind}: {problem}"
    return f"the shuffle of its connections ended with an error ({label(text, 200)})"


def _full(problem: Exception) -> bool:
    return getattr(problem, "errno", None) == errno.ENOSPC or "No space left on device" in str(problem)
