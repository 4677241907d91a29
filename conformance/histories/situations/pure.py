"""Histories without an implementation: each call has the outcome that the text demands under the default readings."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Expected, Succeeds
from conformance.model.values import replace
from conformance.spec.catalogue import assignment


def default_model() -> Model:
    """Return the model with the readings that the planned histories follow."""
    return Model(assignment("windows"))


def foreseen(model: Model, state: State, call: Call) -> Expected | None:
    """Return the outcome that the text demands; None for a call that no section describes."""
    try:
        return model.allowed(state, call).outcomes[0]
    except (BadCall, KeyError):  # a KeyError: no row of a table has this event in this state
        return None


def after(model: Model, state: State, call: Call) -> State:
    """Return the state after a call. Raises BadCall for a call that no section describes."""
    return followed(model.allowed(state, call).outcomes[0])


def followed(expected: Expected) -> State:
    """Return the state after an outcome, with the lookup identifiers that its messages would have shown."""
    state = expected.next
    result = expected.result
    if not expected.completions and (not isinstance(result, Succeeds) or result.message is None):
        return state
    numbers = {}
    for told in (result, *(completion.result for completion in expected.completions)):
        name = told.message if isinstance(told, Succeeds) else None
        if name is None or name in state.lookups or "@" in name:
            continue
        for queue in state.queues.values():
            position = queue.find(name)
            if position is not None:
                numbers[name] = position.rank[0] * 1_000_000 + position.rank[1]
    return replace(state, lookups={**state.lookups, **numbers}) if numbers else state


def states(model: Model, calls: Iterable[Call], state: State | None = None) -> list[State]:
    """Return the state before each call, and the one after the last. Raises BadCall."""
    found = [state or State()]
    for call in calls:
        found.append(after(model, found[-1], call))
    return found
