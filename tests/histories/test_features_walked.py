"""Walks of the model: a feature gives one of its values or none, and no call meets what the constraints exclude."""

from __future__ import annotations

from itertools import combinations

import pytest
from nightly import amount
from pure_walks import PLANS, walked

from conformance.histories import plans
from conformance.histories.features.constraints import CONSTRAINTS
from conformance.histories.features.table import FEATURES


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
