"""Walks of the model: a feature gives one of its values or none, and no call meets what the constraints exclude."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

import pytest
from nightly import amount

from conformance.histories import plans
from conformance.histories.features.constraints import CONSTRAINTS
from conformance.histories.features.table import FEATURES
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.table import ACTIONS, METHODS
from conformance.histories.walk import Plan, set_up
from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Expected
from conformance.model.values import replace
from conformance.spec.catalogue import assignment

OFFER = Offer(frozenset(METHODS), virtual=True)
PLANS = {name: plan for name, plan in sorted(vars(plans).items()) if isinstance(plan, Plan) and plan.actions}
STEPS = 40


class Pure:
    """A history on the model alone: each call ends as it does under the default readings."""

    def __init__(self) -> None:
        self.model = Model(assignment("windows"))
        self.state = State()
        self.met: list[tuple[State, Call]] = []

    def do(self, call: Call) -> None:
        expected = self.model.allowed(self.state, call).outcomes[0]
        self.met.append((self.state, call))
        self.went(expected)

    def went(self, expected: Expected) -> None:
        self.state = _identified(expected.next)


def _identified(state: State) -> State:
    """Give each available message a lookup identifier, as the answers of reads would."""
    known = dict(state.lookups)
    for queue in state.queues.values():
        for position in queue.positions:
            if position.available:
                known.setdefault(position.message, len(known) + 1)
    return state if len(known) == len(state.lookups) else replace(state, lookups=known)


def walked(plan: Plan, seed: int) -> Iterator[tuple[State, Call]]:
    roll, history = random.Random(seed), Pure()
    set_up(history, plan)
    for _ in range(STEPS):
        calls = list(ACTIONS[roll.choice(plan.actions)].choose(history.state, OFFER))
        if calls:
            try:
                history.do(roll.choice(calls))
            except BadCall:
                break
    yield from history.met


@pytest.mark.parametrize("name", PLANS)
def test_values_are_those_of_the_table_and_meet_no_constraint(name: str) -> None:
    for seed in range(amount("features.walks-of-a-plan")):
        for state, call in walked(PLANS[name], seed):
            values = {}
            for feature in FEATURES[call.method]:
                value = feature.of(state, call)
                assert value is None or value in feature.values, (call, feature.name, value)
                if value is not None:
                    values[feature.name] = value
            broken = [one for one in CONSTRAINTS if call.method in one.methods and one.excludes(values)]
            assert not broken, (call, broken[0])


def test_a_situation_asked_about_is_told_by_its_state_alone() -> None:
    met = list(walked(plans.EVERYTHING, 3))
    once = [[feature.of(state, call) for feature in FEATURES[call.method]] for state, call in met]
    again = [[feature.of(state, call) for feature in FEATURES[call.method]] for state, call in reversed(met)]
    assert once == again[::-1]
    assert any(len(set(pair)) > 1 for pair in combinations(map(tuple, once), 2))
