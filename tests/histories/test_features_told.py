"""The model tells the values of a feature from one another: what it makes no difference of would not be judged."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from any_calls import any_call
from features_told import told
from nightly import nightly_only
from pure_walks import OFFER, PLANS, Pure

from conformance.histories.features.table import FEATURES
from conformance.histories.operations.table import ACTIONS
from conformance.histories.walk import set_up
from conformance.model import BadCall, Call, State
from conformance.model.expected import Expected

HISTORIES = 25_000
STEPS = 40
# What the model makes no difference of at that step, though an implementation might: what follows would show it.
_ALL_OF = ("clock.now", "use", "watch", "queues.set", "queues.get", "queues.counts", "limits", "transactions.begin")
UNTOLD = {
    **{method: {feature.name for feature in FEATURES[method]} for method in _ALL_OF},
    "cursors.open": {"kind", "choice", "passed", "others", "closed", "waiting"},
    "cursors.close": {"content", "queue"},
    "messages.cancel": {"passed"},
    "messages.receive_by_lookup_id": {"priority"},
    "transactions.prepare": {"moves", "overtaken", "cursors", "waiting"},
    "queues.create": {"values"},
    **{
        f"outgoing.{what}": {feature.name for feature in FEATURES[f"outgoing.{what}"]} - {"state"}
        for what in ("pause", "resume")
    },
    "outgoing.take": {"restarts"},
}


def steps(history: int) -> Iterator[tuple[State, Call, Expected]]:
    roll, pure = random.Random(history), Pure()
    plan = PLANS[roll.choice(sorted(PLANS))]
    set_up(pure, plan)
    wild = roll.choice((0.15, 0.5, 0.9))
    for _ in range(STEPS):
        if roll.random() < wild:
            call = any_call(roll, pure.state)
        else:
            calls = list(ACTIONS[roll.choice(plan.actions)].choose(pure.state, OFFER))
            call = roll.choice(calls) if calls else None
        if call is None:
            continue
        try:
            expected = pure.model.allowed(pure.state, call).outcomes[0]
        except BadCall:
            continue
        yield pure.state, call, expected
        pure.went(expected)


@nightly_only("features.values-told")
def test_the_model_tells_the_values_of_each_feature() -> None:
    found = told(step for history in range(HISTORIES) for step in steps(history))
    silent = [
        f"{method} {feature.name}"
        for method, table in FEATURES.items()
        for feature in table
        if feature.name not in UNTOLD.get(method, ()) and len(found.get(method, {}).get(feature.name, ())) < 2
    ]
    assert not silent, f"drop the feature, or say in UNTOLD why it stays: {silent}"


def test_what_is_left_out_has_a_feature() -> None:
    for method, names in UNTOLD.items():
        assert names <= {feature.name for feature in FEATURES[method]}


@pytest.mark.parametrize("history", range(3))
def test_any_calls_are_made_alike_each_time(history: int) -> None:
    assert [call for _, call, _ in steps(history)] == [call for _, call, _ in steps(history)]
