"""What a live judge has found so far, as its process tells it line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.verdict import ExitCode

MAX_ROWS: Final = 200
"""Pairs of ends that are told; the one silent longest makes room."""
MAX_DEVIATIONS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of ends. packets: both ways. deviations: failed verdicts on them. last: the kind of the last packet."""

    ends: str
    packets: int
    deviations: int
    last: str


@dataclass(frozen=True, slots=True)
class Deviation:
    """A packet that deviates. outcomes: requirement id to outcome, of all verdicts other than pass."""

    packet: int
    direction: str
    kind: str
    outcomes: Mapping[str, str]


@dataclass(slots=True)
class State:
    """packets: judged so far. deviations: failed verdicts, and rows and packets with them. outcomes, exit_code,
    sentence, folder: at the end."""

    packets: int = 0
    deviations: int = 0
    rows: Sequence[Row] = ()
    deviating: list[Deviation] = field(default_factory=list)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    exit_code: ExitCode | None = None
    sentence: str | None = None
    folder: str | None = None

    def take(self, told: Mapping[str, Any]) -> Deviation | None:
        """Take in a line. Returns the packet it tells of, if it does and there is room."""
        if "deviation" in told:
            found = Deviation(**told["deviation"])
            if len(self.deviating) < MAX_DEVIATIONS:
                self.deviating.append(found)
                return found
            return None
        self.packets, self.deviations = told["packets"], told["deviations"]
        self.rows = [Row(**each) for each in told["rows"]]
        if "end" in told:
            end = told["end"]
            self.outcomes, self.exit_code = end["outcomes"], ExitCode(end["exit_code"])
            self.sentence, self.folder = end["sentence"], end["folder"]
        return None
