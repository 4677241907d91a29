"""A stream judged from its beginning to its end in one go, where others keep the other cores busy.

Nothing is walked over twice then, and what is known at the end of a capture goes into the next as it is.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.capture.columns.reader import FastCapture
from conformance.capture.ranges import FILE_HEADER
from conformance.pipeline.compiled import Carry
from conformance.pipeline.fast import (
    KEPT,
    Assembled,
    FastState,
    RangeDone,
    RangeWork,
    Walked,
    WalkTask,
    assemble,
    begun,
    is_early,
    judge_pass,
    leave,
    parted,
    unread,
    walk_stream,
)
from conformance.pipeline.identity import Probe
from conformance.pipeline.lake import Part
from conformance.pipeline.memory import freeze, settle, thaw
from conformance.pipeline.rows import Rows, day
from conformance.pipeline.telling import Teller


@dataclass(frozen=True, slots=True)
class WholeTask:
    """Streams to judge, one after the other. name: the beginning of the names of its files."""

    streams: Sequence[WalkTask]
    name: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A stream that was judged: what it came to (None where none of its captures could be read any more)."""

    assembled: Assembled | None
    gone: Sequence[Probe]


@dataclass(frozen=True, slots=True)
class WholeDone:
    """The files written, and what became of each stream."""

    parts: Sequence[Part]
    streams: Sequence[Whole]


def walk_or_judge(task: WalkTask | WholeTask) -> list[Walked] | WholeDone:
    """Cut a stream into ranges for others, or judge streams here."""
    return walk_stream(task) if isinstance(task, WalkTask) else run_whole(task)


def run_whole(task: WholeTask) -> WholeDone:
    """Judge streams. A task that is tried again writes other files: what its first try left is in no lake."""
    rows = Rows(Path(task.streams[0].folder), f"{task.name}-{os.getpid()}-{os.urandom(3).hex()}")
    done: list[Whole] = []
    for stream in task.streams:
        state, line, own = parted(stream)
        if line:
            whole, early = _whole(stream, line, state, stream.keep, rows)
            done.append(whole)
            own += early
        done += [_whole(stream, [probe], None, False, rows)[0] for probe in own]
    settle()
    return WholeDone(rows.close(), done)


def _whole(
    task: WalkTask, captures: Sequence[Probe], state: FastState | None, keep: bool, rows: Rows
) -> tuple[Whole, Sequence[Probe]]:
    """Judge captures one behind the other; also those that begin before the end of one before them."""
    stream, path, carry, position = begun(captures, state)
    done: list[RangeDone] = []
    gone: list[Probe] = []
    early: list[Probe] = []
    last_ns = state.last_ns if state is not None else 0
    outcomes: Counter[str] = Counter()

    def judged(work: RangeWork, *, finish: bool) -> RangeDone:
        date, part = day(work.capture.first_ns), work.part if finish else None
        name = str(work.capture.capture)
        teller = Teller(rows, name, stream, date, task.how.every_packet, at_end=finish, part=part)
        one = judge_pass(work, task.how, carry, teller, finish=finish)
        teller.close()
        outcomes.update(teller.outcomes)
        return one

    for probe in captures:
        if is_early(probe, last_ns):
            early.append(probe)
            continue
        try:
            FastCapture(probe.path)
        except (OSError, ValueError) as problem:
            gone.append(unread(probe, problem))
            continue
        position += 1
        end = probe.size or FILE_HEADER
        work = RangeWork(stream, path, probe, position, len(done), FILE_HEADER, end, carry.records, keep=KEPT)
        done.append(judged(work, finish=False))
        last_ns = max(last_ns, done[-1].last_ns)
    if not done:
        return Whole(None, gone), early
    left = None
    if keep:
        left = f"{task.folder}/{stream}-left.carry"
        leave(_copy(carry), last_ns, left)
    last = done[-1]
    last.work = replace(last.work, ends=True, part=stream if keep else None)
    last.end = judged(last.work, finish=True)
    walked = Walked(
        task.key, [one.work for one in done], keep, task.resume if state is not None else None, left, last_ns
    )
    found = assemble(walked, done, task.how, rows)
    return Whole(replace(found, outcomes=outcomes + Counter(found.outcomes)), gone), early


def _copy(carry: Carry) -> Carry:
    copy: Carry = thaw(freeze(carry))
    return copy
