"""Messages that a transaction holds and peeks see: those of ReceiveByLookupIdAllowPeek (MC-MQAC 3.11.4.1.33).

The model hides what a transaction holds. So a peek is judged in states where these messages are available, and what
it leaves is put back into the transaction.
"""

from __future__ import annotations

from typing import Final

from conformance.model import State, States
from conformance.model.tables import PositionState
from conformance.model.values import replace

PEEKS: Final = frozenset({"messages.peek", "messages.peek_next", "messages.peek_by_lookup_id"})
ALLOWED: Final = "MQAC-3.11.4.1.33.property-message-allow-peek-when-locked"
"""The requirement that is broken if such a message is not seen."""


def seen_by_peeks(states: States, messages: frozenset[str]) -> States:
    """Return the states with these messages available, as long as a transaction holds them."""
    return States(tuple(_available(state, messages) for state in states.states), states.capped)


def held_again(after: States, before: State, messages: frozenset[str]) -> States:
    """Return the states with these messages held by the transactions that held them before."""
    return States(tuple(_held(state, before, messages) for state in after.states), after.capped)


def _available(state: State, messages: frozenset[str]) -> State:
    for queue in state.queues.values():
        for one in queue.positions:
            if one.message in messages and one.state is PositionState.LOCKED:
                state = state.with_position(queue.name, replace(one, state=PositionState.AVAILABLE, claim=ALLOWED))
    return state


def _held(state: State, before: State, messages: frozenset[str]) -> State:
    for queue in before.queues.values():
        for one in queue.positions:
            if one.message in messages and one.state is PositionState.LOCKED:
                state = state.with_position(queue.name, one)
    return state
