"""Numbers each combination of verdicts that the rules of connections give a packet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.judge.sessions.context import Said


class Patterns:
    """Combinations of verdicts by number: indexes of `SessionJudge.kinds`. Number 0 is no verdict."""

    def __init__(self) -> None:
        self.kinds: list[tuple[int, ...]] = [()]
        self._numbers: dict[tuple[int, ...], int] = {(): 0}

    def number(self, kinds: Sequence[Said]) -> int:
        """Return the number of these kinds together."""
        key: tuple[Any, ...] = tuple(kinds)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.kinds)
            self.kinds.append(key)
        return number
