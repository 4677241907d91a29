"""Stories that an implementation passed and failed, and what they tell of a fault that may be its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from conformance.explaining.causes import compared
from conformance.explaining.playing import Player, Tolerated
from conformance.explaining.stories import Implementation, Told

MAX_FAILED: Final = 60
MAX_PASSED: Final = 120
MAX_ALIKE: Final = 4  # passed stories with the same methods: enough to contradict a fault that shows in them
_GROWTH: Final = 1.25  # comparing everything again is worth its time only when there is as much more to compare


@dataclass(slots=True)
class Seen:
    """The stories that the worker has seen so far.

    tolerated: differences that mean nothing. telling: passed stories that the embedded manager without any fault
    answers as the implementation did: a fault that makes it answer otherwise is not in the implementation.
    """

    passed: list[Told] = field(default_factory=list)
    failed: list[Told] = field(default_factory=list)
    tolerated: Tolerated = frozenset()
    telling: Sequence[Told] = ()
    _alike: Counter[frozenset[str]] = field(default_factory=Counter)
    _compared: int = 0

    @property
    def known(self) -> int:
        """Return the number of passed stories that can contradict a fault."""
        return len(self.telling)

    def passes(self, told: Told) -> None:
        """Note a passed story."""
        if len(self.passed) < MAX_PASSED and self._alike[told.methods] < MAX_ALIKE:
            self._alike[told.methods] += 1
            self.passed.append(told)

    def fails(self, stories: Sequence[Told], implementation: Implementation) -> None:
        """Note failed stories."""
        self.failed += stories[: MAX_FAILED - len(self.failed)]
        every = len(self.failed) + len(self.passed)
        if every > self._compared * _GROWTH:
            self._compared = every
            self.tolerated, self.telling = compared(self.passed, implementation, self.failed)

    def against(self, faults: Collection[str], implementation: Implementation, enough: int) -> int:
        """Return how many passed stories contradict faults; counting ends at `enough`."""
        found = 0
        with Player(tuple(faults), implementation) as player:
            for told in self.telling:
                if found >= enough:
                    break
                found += not player.play(told, self.tolerated).agrees
        return found
