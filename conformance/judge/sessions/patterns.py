"""What the rules of connections say of packets, by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.judge.sessions.context import Said


class Patterns:
    """What is said of packets, by number: indexes of `SessionJudge.kinds`. Number 0 is nothing."""

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
