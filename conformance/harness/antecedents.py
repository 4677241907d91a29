"""What went before an example on the same state folder, so that a failure that needs it can be brought about again.

A driver's process, or its folder, may remember what a reset should have removed. A repro file therefore has the number
of processes that ended before its example, and the examples that the worker played before it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

MOST = 12  # examples in a file
MAX_SIZE = 256 << 10  # characters of them
MAX_STARTS = 3
"""Processes that are started on one folder to bring a failure about again, however many there were."""


@dataclass(frozen=True, slots=True)
class Antecedents:
    """starts: driver processes that ended on the state folder before the example. examples: those before it, each with
    its suite and the data that repeats it, the oldest first. left_out: number of examples before those.
    """

    starts: int = 0
    examples: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.starts or self.examples)

    def to_json(self) -> dict[str, Any]:
        """Return what a repro file holds."""
        examples = [{"suite": suite, "repro": dict(data)} for suite, data in self.examples]
        return {"starts": self.starts, "left_out": self.left_out, "examples": examples}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Antecedents:
        """Read a value of `to_json`. Raises KeyError, TypeError or ValueError for a value it cannot have written."""
        examples = tuple((str(one["suite"]), dict(one["repro"])) for one in raw["examples"][:MOST])
        return cls(int(raw["starts"]), examples, int(raw["left_out"]))

    def sentence(self) -> str:
        """Return the line of a story for the processes before it; empty for the first process."""
        times = "once" if self.starts == 1 else f"{self.starts} times"
        return f"before this, the driver was started again {times} on the same state folder" if self.starts else ""


@dataclass(slots=True)
class Precursors:
    """The last examples of a worker: the newest is the one being played."""

    _count: int = 0
    _starts: int = 0
    _last: deque[tuple[str, str, Mapping[str, Any]]] = field(default_factory=lambda: deque(maxlen=MOST + 1))

    def began(self, starts: int, suite: str, kind: str, data: Mapping[str, Any]) -> None:
        """Note that an example begins. data: may change until the example ends."""
        self._count += 1
        self._starts = starts
        self._last.append((suite, kind, data))

    def now(self) -> Antecedents:
        """Return what went before the newest example."""
        kept: list[tuple[str, Mapping[str, Any]]] = []
        size = 0
        for suite, kind, data in list(self._last)[-2::-1]:
            with suppress(ValueError, RecursionError):
                text = json.dumps({"kind": kind, **data}, default=str)
                size += len(text)
                if size > MAX_SIZE:
                    break
                kept.append((suite, json.loads(text)))
        return Antecedents(self._starts, tuple(kept[::-1]), max(0, self._count - 1 - len(kept)))
