"""Every conditional step of the events, and every rule taken over that walks judge, has a feature or a reason."""

from __future__ import annotations

from no_feature import REASONS, unfeatured

from conformance.histories import claims
from conformance.histories.features.constraints import CONSTRAINTS, REFUSALS
from conformance.histories.features.table import CORE, FEATURES
from conformance.histories.operations.table import OPERATIONS
from conformance.spec.catalogue import catalogue
from tools.audit.steps import events

NAMED = {step for table in FEATURES.values() for feature in table for step in feature.steps}
SECTIONS = ("3.1.4.", "3.1.7.", "3.2.7.")
TAKEN_OVER = ("MQMP-", "MQQB-", "MQRR-")


def conditional() -> dict[str, str]:
    """The steps that enclose others, each with its section: what follows depends on them."""
    found = {}
    for section, event in events().items():
        if section.startswith(SECTIONS):
            for step, following in zip(event.steps, event.steps[1:], strict=False):
                if following.depth > step.depth:
                    found[step.id] = section
    return found


def test_each_conditional_step_has_a_feature_or_a_reason() -> None:
    lacking = [step for step in conditional() if step not in NAMED and step not in unfeatured()]
    assert not lacking, f"name them in a feature, or in no_feature.toml: {lacking}"


def test_reasons_are_needed_and_are_of_conditional_steps() -> None:
    steps = conditional()
    for one in unfeatured().values():
        assert one.id in steps, f"{one.id} encloses no other step"
        assert one.id not in NAMED, f"{one.id} has a feature and a reason not to have one"


def test_a_reason_agrees_with_what_the_requirement_needs() -> None:
    needs = {"directory": "directory", "security": "security", "management": "management", "coordinator": "coordinator"}
    for one in unfeatured().values():
        entry = catalogue().requirements[one.id]
        if one.reason in needs:
            assert entry.needs == needs[one.reason], f"{one.id} needs {entry.needs}, not {one.reason}"
        elif one.reason == "network":
            assert entry.needs == "peer" or entry.checked == "session", one.id
        elif one.reason == "forced":
            assert one.note, f"{one.id}: why has nobody a choice?"
    assert set(REASONS) == {one.reason for one in unfeatured().values()}, "a reason that no step has"


def test_each_rule_taken_over_that_walks_judge_has_a_feature() -> None:
    judged = {name for walk in claims.stored().values() for name in walk if name.startswith(TAKEN_OVER)}
    lacking = [name for name in judged if name not in NAMED and name.removesuffix("-code") not in NAMED]
    assert not lacking


def test_each_operation_has_features_and_each_feature_its_steps() -> None:
    assert set(FEATURES) == set(OPERATIONS)
    assert set(FEATURES) >= CORE
    known = catalogue().requirements
    for method, table in FEATURES.items():
        assert OPERATIONS[method].features == table
        names = [feature.name for feature in table]
        assert len(names) == len(set(names)), f"{method} has two features of one name"
        for feature in table:
            assert len(feature.values) > 1, f"{method} {feature.name} makes no difference"
            assert len(set(feature.values)) == len(feature.values)
            assert all(step in known for step in feature.steps), f"{method} {feature.name}: {feature.steps}"
            assert feature.steps, f"{method} {feature.name} comes from nowhere"


def test_constraints_and_refusals_are_about_cases_that_there_are() -> None:
    for one in CONSTRAINTS:
        used = 0
        for method in one.methods:
            values = {feature.name: set(feature.values) for feature in FEATURES[method]}
            if set(one.cases) <= set(values):
                used += all(given == {"*"} or given & values[name] for name, given in one.cases.items())
        assert used, f"nothing is excluded by: {one.reason} {dict(one.cases)}"
        for name, given in one.cases.items():
            everywhere = {
                value for method in one.methods for it in FEATURES[method] if it.name == name for value in it.values
            }
            assert given == {"*"} or given <= everywhere, f"{name} has no {given - everywhere}: {one.reason}"
    for method, cases in REFUSALS.items():
        values = {feature.name: set(feature.values) for feature in FEATURES[method]}
        for name, given in cases.items():
            assert name not in values or given & values[name]
