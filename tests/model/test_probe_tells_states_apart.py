"""Every two states of a small manager answer the probe differently, but for kinds of difference that nobody can see."""

from __future__ import annotations

from dataclasses import replace

import exploring
import pytest
import scopes_coordinator
import scopes_management
import telling_apart
from cases import all_of
from exploring import Scope
from scopes import SCOPES
from telling_apart import alike, answer, asked, outside

from conformance.histories.situations.probe import LEAST, MOST, probe, room
from conformance.model import Model, State
from conformance.model.journals import DEAD_LETTERS

DEPTH = 4
STATES = 60  # of one scope, spread over all that are found; a hundred pairs of states a millisecond are told apart
MODEL = Model(exploring.default_readings())
SURE = ("queues.open", "messages.receive", "messages.cancel", "messages.send", "clock.", "transactions.")
"""What a probe asks whatever room it has: it ends what is open, and looks into the queues."""
HARDENED = "outgoing and hardened security"
MANAGED = {HARDENED, *(scope.name for scope in (*scopes_management.SCOPES, *scopes_coordinator.SCOPES))}
"""Histories of management, of hardened security and of a coordinator end without a probe: none is planned for them."""
BY_NAME = {scope.name: scope for scope in SCOPES if scope.name not in MANAGED}


def states(scope: Scope) -> list[State]:
    """States of a scope that differ, the same ones each time."""
    first = exploring.begun(MODEL, *scope.opening)
    found = {exploring.normal(first): first}
    for step in exploring.explored(MODEL, replace(scope, depth=min(scope.depth, DEPTH))):
        after = exploring.followed(step.expected)
        found.setdefault(exploring.normal(after), after)
    every = list(found.values())
    return every[:: len(every) // STATES + 1]


@all_of("name", BY_NAME)
def test_the_probe_tells_every_two_states_apart(name: str) -> None:
    known = states(BY_NAME[name])
    pairs = 0
    for one in known:
        mine = outside(one, one)
        others = [other for other in known if other is not one and outside(other, one) != mine]
        pairs += len(others)
        same = alike(MODEL, one, others)
        assert not same, f"not told apart:\n{mine}\n{outside(same[0], one)}"
    assert pairs >= 10


def test_without_room_the_probe_tells_few_states_apart() -> None:
    """The comparison above can fail: a probe that asks nothing sees nothing."""
    known = states(BY_NAME["cursor"])
    assert all(call.method.startswith(SURE) for call, _ in asked(MODEL, known[0], 0, most=0))
    counted = [list(asked(MODEL, state, 0))[:1] for state in known]
    assert len({str(told) for told in counted}) < len(known)


def test_every_unseen_kind_has_a_reason() -> None:
    assert all(len(reason) > 15 for reason in telling_apart.UNSEEN.values())


@pytest.mark.parametrize(("calls", "most"), [(1, LEAST), (40, 20), (1000, MOST)])
def test_a_probe_has_room_for_a_third_of_all_calls(calls: int, most: int) -> None:
    assert room(calls) == most


@pytest.mark.parametrize("name", ["cursor", "transactions", "journals"])
def test_a_probe_keeps_to_its_room(name: str) -> None:
    known = states(BY_NAME[name])[::9]
    for state in known:
        calls = [call.method for call, _ in asked(MODEL, state, 7, most=9)]
        assert sum(not method.startswith(SURE) for method in calls) <= 9
    assert any(len(list(asked(MODEL, state, 0))) > 9 for state in known)


@pytest.mark.parametrize("most", [0, 9])
@pytest.mark.parametrize("name", ["transactions", "journals", "expiry"])
def test_a_probe_without_room_leaves_nothing_in_a_queue(name: str, most: int) -> None:
    """It ends what is open, and looks into every queue that can be opened, the dead-letter queues in any case."""
    for first in states(BY_NAME[name])[::9]:
        state, looked = first, set()
        calls = probe(1, state, exploring.OFFER, most=most)
        call = next(calls, None)
        while call is not None:
            if call.method == "messages.receive":
                looked.add(state.handles[call.handle or ""].queue)
            state = answer(MODEL, state, call)[1]
            try:
                call = calls.send(state)
            except StopIteration:
                call = None
        assert looked.issuperset(DEAD_LETTERS)
        assert not any(found.ended is None for found in state.transactions.values())
        left = [each for queue in state.queues.values() if queue.exists for each in queue.positions if each.available]
        assert not left
