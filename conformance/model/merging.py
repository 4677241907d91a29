"""States that a call leaves possible, with those put together that differ in assumptions alone."""

from __future__ import annotations

from collections.abc import Hashable

from conformance.model.state import State
from conformance.model.values import replace


class Merged:
    """States in the order they came. States that differ only in assumptions become one with their union."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self._alike: dict[Hashable, list[int]] = {}

    def add(self, state: State) -> None:
        """Add a state, or merge its assumptions into an equal one."""
        states = self.states
        places = self._alike.setdefault(state.outline(), [])
        for place in places:
            other = states[place]
            if not other.like(state):
                continue
            if state.assumed != other.assumed:
                both = {
                    reading: possible | other.assumed[reading]
                    for reading, possible in state.assumed.items()
                    if reading in other.assumed
                }
                states[place] = replace(other, assumed=both)
            return
        places.append(len(states))
        states.append(state)
