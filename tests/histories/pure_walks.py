"""Walks on the model alone: each call ends as it does under the default readings."""

from __future__ import annotations

import random
from collections.abc import Iterator

from conformance.histories import plans
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
