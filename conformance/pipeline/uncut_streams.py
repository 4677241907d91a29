"""Judge a stream in one go from beginning to end, when other streams keep the other cores busy.

Then nothing is walked over twice, and the state at the end of a capture goes unchanged into the next.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.capture.columns.reader import FastCapture
from conformance.capture.pcap import FILE_HEADER
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
    ending,
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
from conformance.pipeline.rows_writer import Teller


@dataclass(frozen=True, slots=True)
class WholeTask:
    """Streams to judge, one after the other. name: prefix of its file names."""

    streams: Sequence[WalkTask]
    name: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A stream that was judged: its result, None if none of its captures could be read any more."""

    assembled: Assembled | None
    gone: Sequence[Probe]


@dataclass(frozen=True, slots=True)
class WholeDone:
    """The files written, and the result of each stream."""

    parts: Sequence[Part]
    streams: Sequence[Whole]


def walk_or_judge(task: WalkTask | WholeTask) -> list[Walked] | WholeDone:
    """Cut a stream into ranges for other tasks, or judge streams in this one."""
    return walk_stream(task) if isinstance(task, WalkTask) else run_whole(task)


def run_whole(task: WholeTask) -> WholeDone:
    """Judge streams. A retried task writes other files: those of its first try are in no lake."""
    rows = Rows(Path(task.streams[0].folder), f"{task.name}-{os.getpid()}-{os.urandom(3).hex()}")
    done: list[Whole] = []
    for stream in task.streams:
        state, line, own = parted(stream)
        while line:
            whole, early, line = _whole(stream, line, state, stream.keep, rows)
            done.append(whole)
            own += early
            state = None
        done += [_whole(stream, [probe], None, False, rows)[0] for probe in own]
    settle()
    return WholeDone(rows.close(), done)


def _whole(
    task: WalkTask, captures: Sequence[Probe], state: FastState | None, keep: bool, rows: Rows
) -> tuple[Whole, Sequence[Probe], list[Probe]]:
    """Judge consecutive captures.

    Also returns those that begin before the end of an earlier one, and those after one that hit a defect of the
    harness.
    """
    stream, path, carry, position = begun(captures, state)
    done: list[RangeDone] = []
    gone: list[Probe] = []
    early: list[Probe] = []
    last_ns = state.last_ns if state is not None else 0
    outcomes: Counter[str] = Counter()

    @contextmanager
    def teller(work: RangeWork, *, finish: bool) -> Iterator[Teller]:
        date, part = day(work.capture.first_ns), work.part if finish else None
        name = str(work.capture.capture)
        found = Teller(rows, name, stream, date, task.how.every_packet, at_end=finish, part=part)
        yield found
        found.close()
        outcomes.update(found.outcomes)

    rest: list[Probe] = []
    for at, probe in enumerate(captures):
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
        with teller(work, finish=False) as told:
            done.append(judge_pass(work, task.how, carry, told, finish=False))
        last_ns = max(last_ns, done[-1].last_ns)
        if done[-1].trouble.cut is not None:
            rest = list(captures[at + 1 :])
            break
    if not done:
        return Whole(None, gone), early, rest
    left, last = None, done[-1]
    if keep and last.trouble.cut is None:
        left = f"{task.folder}/{stream}-left.carry"
        leave(_copy(carry), last_ns, left)
    last.work = replace(last.work, ends=True, part=stream if left is not None else None)
    with teller(last.work, finish=True) as told:
        last.end = ending(last, task.how, carry, told)
    walked = Walked(
        task.key, [one.work for one in done], keep, task.resume if state is not None else None, left, last_ns
    )
    found = assemble(walked, done, task.how, rows)
    return Whole(replace(found, outcomes=outcomes + Counter(found.outcomes)), gone), early, rest


def _copy(carry: Carry) -> Carry:
    copy: Carry = thaw(freeze(carry))
    return copy
