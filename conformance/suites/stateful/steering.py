"""Which call comes next: of a few that make sense, the one that shows most of what no call has shown yet.

What a call would show is asked of the model: the transitions it would follow, the requirements it would prove, and the
kind of state it would lead to. All that counts is what this walk has seen, so that a seed and an implementation that
answers alike give the same walk again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Expected
from conformance.model.tables import CursorState, PositionState

CANDIDATES = 4  # looked at for a step; each costs as much as a step of the model
PATIENCE = 400  # steps without anything new after which it is no longer worth the trouble
RARE = 3  # what was shown this often is as good as new
Choice = Callable[[State], Sequence[Call]]


@dataclass(slots=True)
class Steering:
    """What has been shown so far, and where not to go. `on`: False for a walk that takes what comes.

    limit: steps after which it takes what comes too: what is rare then is for numbers to find, not for choice.
    avoided: what `where` says of calls that are known to fail: a walk that makes them again finds nothing new.
    """

    on: bool = True
    seen: dict[object, int] = field(default_factory=dict)
    avoided: set[str] = field(default_factory=set)
    idle: int = 0
    limit: int = 20_000
    steps: int = 0

    def choose(self, model: Model, state: State, choices: Sequence[Choice], roll: int) -> Call | None:
        """One of the calls that `choices` offer in this state, decided by `roll` and by what is new; None for none."""
        steered = self.learning and roll & 3 != 0  # a quarter of the steps goes anywhere
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
        """Whether it is still worth noting what steps show."""
        return self.on and self.idle < PATIENCE and self.steps < self.limit

    def took(self, shows: Iterable[object]) -> None:
        """Note what a step has shown."""
        self.idle += 1
        self.steps += 1
        for thing in shows:
            count = self.seen.get(thing, 0)
            self.seen[thing] = count + 1
            if count < RARE:
                self.idle = 0

    def _rarity(self, model: Model, state: State, call: Call) -> int:
        """How often the rarest of what the call would show was seen."""
        try:
            expected = model.allowed(state, call).outcomes[0]
        except BadCall:
            return 1 << 29
        return min((self.seen.get(thing, 0) for thing in shown_by(call, expected)), default=RARE)


def pick(state: State, choices: Sequence[Choice], roll: int) -> tuple[Call | None, int]:
    """A call by this roll, each choice that offers any being as likely as the others; and the roll mixed anew."""
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
    """Another number of 32 bits: neighbours end far apart."""
    number = (number + 0x9E3779B9) & 0xFFFFFFFF
    number = ((number ^ (number >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    number = ((number ^ (number >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return number ^ (number >> 15)


def shown_by(call: Call, expected: Expected) -> list[object]:
    """What an outcome shows: transitions, requirements, and the kind of state it leads to."""
    shown: list[object] = [*expected.transitions, expected.requirement, *expected.also]
    for completion in expected.completions:
        shown += (completion.requirement, *completion.also)
    shown.append((call.method, kind_of(expected.next)))
    return shown


def kind_of(state: State) -> tuple[object, ...]:
    """A state with its names, numbers and times left out: what there is, not how much of it."""
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
    """The operation and the kind of state it meets, in words: two failures that differ in it may have two causes."""
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
