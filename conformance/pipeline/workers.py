"""Who carries out the tasks of a command: this process, others, or those of a cluster. Needs no package."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from conformance.children import safe_path
from conformance.pipeline.errors import PipelineError
from conformance.verdict import ExitCode

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Lost:
    """A task without a result, because whoever carried it out died. reason: a clause, as in `A worker {reason}`."""

    reason: str


class LostWorkError(PipelineError):
    """Workers died each time that they carried out a task, which no other one can do without."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"A worker {reason}, each time; run the command again.", ExitCode.UNUSABLE)
        self.reason = reason


class KilledError(LostWorkError):
    """A process of this machine was killed, with which all others end."""

    def __init__(self) -> None:
        super().__init__("was killed, or had too little memory")
        self.sentence = f"A process that worked for this command {self.reason}; run the command again."
        self.args, self.code = (self.sentence,), ExitCode.BAD_INPUT


class Workers(Protocol):
    """Workers that carry out tasks, some of them at once. cores: how many."""

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks. Raises LostWorkError."""

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[R | Lost]:
        """Return the results in the order of the tasks, with Lost for those whose worker died each time.

        each: called with every result as it comes, in any order.
        """


def found(results: Sequence[R | Lost]) -> list[R]:
    """Return results, of which every one must be there. Raises LostWorkError."""
    whole: list[R] = []
    for one in results:
        if isinstance(one, Lost):
            raise LostWorkError(one.reason)
        whole.append(one)
    return whole


@dataclass(frozen=True, slots=True)
class Here:
    """The present process, which carries out one task after the other."""

    cores: int = 1

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks."""
        return [function(task) for task in tasks]

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[R | Lost]:
        """Return the results in the order of the tasks. each: called with every result as it comes."""
        found: list[R] = []
        for task in tasks:
            found.append(function(task))
            if each is not None:
                each(found[-1])
        return found


@dataclass(frozen=True, slots=True)
class Processes:
    """Processes of this machine, for work that lasts longer than their start; they end with the work."""

    cores: int

    @classmethod
    def all(cls) -> Processes:
        """Return as many as this process may use cores."""
        return cls(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks. Raises KilledError."""
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import active_children, get_context

        before = set(active_children())
        pool = ProcessPoolExecutor(self.cores, get_context("spawn"), _begin)
        try:
            with safe_path():
                return list(pool.map(function, tasks))
        except BrokenProcessPool:
            raise KilledError from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(active_children()) - before:
                child.terminate()
            raise
        finally:
            pool.shutdown()

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[R | Lost]:
        """Return the results in the order of the tasks. Raises KilledError."""
        found = self.map(function, tasks)
        if each is not None:
            for one in found:
                each(one)
        return found


def deed(function: Callable[..., object]) -> str:
    """Return what a function does in a few words: the first sentence of its docstring, or its name."""
    told = (getattr(function, "__doc__", None) or "").strip().partition("\n")[0].partition(".")[0]
    plain = "".join(char for char in told if char.isalnum() or char == " ").strip()
    return (plain or str(getattr(function, "__name__", type(function).__name__)).strip("<>"))[:60].lower()


def _begin() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
