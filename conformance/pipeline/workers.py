"""Who carries out the tasks of a command: this process, or the workers of a cluster. Needs no package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

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
