"""Steer a walk: of a few sensible calls, choose the one that would show the rarest thing.

The model tells what a call would show: the transitions it would follow, the requirements it would prove, and the kind
of state it would lead to. Only this walk's own counts matter, so that the same seed and the same answers give the same
walk again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Expected
from conformance.model.tables import CursorState, PositionState

CANDIDATES = 4  # calls compared for a step; each costs as much as a step of the model
PATIENCE = 400  # steps without anything new, after which steering ends
RARE = 3  # a thing shown fewer times than this counts as new
Choice = Callable[[State], Sequence[Call]]


@dataclass(slots=True)
class Steering:
    """Counts of the things shown so far, and the places to avoid. on: False for an unsteered walk.

    limit: steps after which the walk goes on unsteered: random steps find the remaining rare things as well.
    avoided: places (see `where`) of calls known to fail: making them again finds nothing new.
    """

    on: bool = True
    seen: dict[object, int] = field(default_factory=dict)
    avoided: set[str] = field(default_factory=set)
    idle: int = 0
    limit: int = 20_000
    steps: int = 0

    def choose(self, model: Model, state: State, choices: Sequence[Choice], roll: int) -> Call | None:
        """Return a call that `choices` offer in this state, chosen by `roll` and novelty; None if they offer none."""
        steered = self.learning and roll & 3 != 0  # a quarter of the steps is unsteered
        roll >>= 2
        first: Call | None = None
        best, least = None, 1 << 30
        for _ in range(CANDIDATES if steered else 1):
            call, roll = pick(state, choices, roll)
            for _ in range(CANDIDATES if self.avoided else 0):
                if call is None or where(state, call) not in self.avoided:
                    break
                call, roll = pick(state, choices, roll)
            if call is None or not steered:
                return call
            first = first or call
            rarity = self._rarity(model, state, call)
            if rarity < least:
                best, least = call, rarity
            if rarity == 0:
                break
        return best if least < RARE else first

    @property
    def learning(self) -> bool:
        """True while it is worth counting what steps show."""
        return self.on and self.idle < PATIENCE and self.steps < self.limit

    def took(self, shows: Iterable[object]) -> None:
        """Count the things that a step has shown."""
        self.idle += 1
        self.steps += 1
        for thing in shows:
            count = self.seen.get(thing, 0)
            self.seen[thing] = count + 1
            if count < RARE:
                self.idle = 0

    def _rarity(self, model: Model, state: State, call: Call) -> int:
        """Return how often the rarest thing that the call would show has been seen."""
        try:
            expected = model.allowed(state, call).outcomes[0]
        except BadCall:
            return 1 << 29
        return min((self.seen.get(thing, 0) for thing in shown_by(call, expected)), default=RARE)


def pick(state: State, choices: Sequence[Choice], roll: int) -> tuple[Call | None, int]:
    """Choose a call by this roll, with equal chances for all choices that offer calls; return it and a new roll."""
    left = choices
    while left:
        at = roll % len(left)
        calls = left[at](state)
        roll = mixed(roll)
        if calls:
            return calls[roll % len(calls)], mixed(roll)
        offers_nothing = left[at]
        left = [choice for choice in left if choice is not offers_nothing]
    return None, roll


def mixed(number: int) -> int:
    """Hash a number to 32 bits, so that neighbours end far apart."""
    number = (number + 0x9E3779B9) & 0xFFFFFFFF
    number = ((number ^ (number >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    number = ((number ^ (number >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return number ^ (number >> 15)


def shown_by(call: Call, expected: Expected) -> list[object]:
    """Return what an outcome shows: transitions, requirements, and the kind of state it leads to."""
    shown: list[object] = [*expected.transitions, expected.requirement, *expected.also]
    for completion in expected.completions:
        shown += (completion.requirement, *completion.also)
    shown.append((call.method, kind_of(expected.next)))
    return shown


def kind_of(state: State) -> tuple[object, ...]:
    """Return the kind of a state: the kinds of things in it, without names, numbers and times."""
    return (
        frozenset(
            (queue.transactional, position.state)
            for queue in state.queues.values()
            for position in queue.positions
            if position.state is not PositionState.DELETED
        ),
        frozenset(cursor.state for cursor in state.cursors.values() if cursor.state is not CursorState.CLOSED),
        frozenset((waiter.method, waiter.cursor is not None) for waiter in state.waiters),
    )


def where(state: State, call: Call) -> str:
    """Describe the operation and the kind of state it meets. Failures at different places may have different causes."""
    parts = [call.method]
    handle = state.handles.get(call.handle or "")
    queue = state.queues.get(handle.queue if handle is not None else call.queue or "")
    if queue is not None:
        parts.append("transactional queue" if queue.transactional else "plain queue")
    if handle is not None and (not handle.is_open or handle.lost):
        parts.append("handle gone")
    cursor = state.cursors.get(call.cursor or "")
    if cursor is not None:
        parts.append(f"cursor {cursor.state.value}")
        if cursor.message is not None and queue is not None:
            position = queue.find(cursor.message)
            parts.append(f"on {position.state.value}" if position is not None else "on nothing")
    if call.transaction is not None:
        known = state.transactions.get(call.transaction)
        parts.append("in a transaction" if known is None or known.ended is None else "in an ended transaction")
    if call.action is not None:
        parts.append(call.action)
    if call.timeout_ms:
        parts.append("waiting")
    if state.waiters:
        parts.append("others wait")
    return ", ".join(parts)
