"""Histories without an implementation: each call has the outcome that the text demands under the default readings."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.histories.situations.askable import askable
from conformance.model import Answer, BadCall, Call, Model, State
from conformance.model.expected import Expected, Succeeds
from conformance.model.property_judging import TELLING, given, told
from conformance.model.property_refusals import CREATE, GET, problems, unknown
from conformance.model.values import replace
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults


def default_model() -> Model:
    """Return the model with the readings that the planned histories follow."""
    return Model(assignment("windows"))


def foreseen(model: Model, state: State, call: Call) -> Expected | None:
    """Return the outcome that the text demands; None for a call that no section describes, or that is left alone."""
    if not askable(state, call):
        return None
    try:
        outcome = model.allowed(state, call).outcomes[0]
    except (BadCall, KeyError):  # a KeyError: no row of a table has this event in this state
        return None
    if outcome.next.properties is None or call.method not in TELLING:
        return outcome
    answer = Answer.of_status(hresults.MQ_ERROR_PROPERTY if _refused(outcome.next, call) else 0)
    return replace(outcome, next=told(model.rules, outcome.next, call, answer)[0])


def _refused(state: State, call: Call) -> bool:
    """Tell whether a call about properties must fail."""
    assert state.properties is not None
    there = (call.queue or "") in state.properties.queues
    if call.method == GET:
        return not there or bool(unknown(call.names or ()))
    return there is (call.method == CREATE) or bool(problems(call.method, given(call)))


def after(model: Model, state: State, call: Call) -> State:
    """Return the state after a call. Raises BadCall for a call that no section describes."""
    outcome = foreseen(model, state, call)
    if outcome is None:
        raise BadCall(f"no section describes {call.method} here")
    return followed(outcome)


def followed(expected: Expected) -> State:
    """Return the state after an outcome, with the lookup identifiers that its messages would have shown."""
    state = expected.next
    result = expected.result
    if not expected.completions and (not isinstance(result, Succeeds) or result.message is None):
        return state
    numbers = {}
    for came in (result, *(completion.result for completion in expected.completions)):
        name = came.message if isinstance(came, Succeeds) else None
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
