"""Which values of a feature the model tells from one another: steps that differ in it alone, and end otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

from conformance.histories.features.table import FEATURES
from conformance.model import Call, State
from conformance.model.expected import Expected

Vector = tuple[str | None, ...]


def effect(before: State, expected: Expected) -> Hashable:
    """What a step does, as far as the model tells it: result, requirements, rows, ended reads, and what has changed."""
    moved = []
    for name, queue in expected.next.queues.items():
        old = before.queues.get(name)
        if old is not queue:
            states = {} if old is None else {one.message: one.state for one in old.positions}
            changed = tuple(
                (states.get(one.message), one.state, one.claim, one.doubtful)
                for one in queue.positions
                if states.get(one.message) is not one.state
            )
            moved.append((name.partition(";")[2], queue.exists, queue.transactional, changed))
    return (
        type(expected.result),
        expected.requirement,
        expected.also,
        expected.transitions,
        tuple((type(one.result), one.requirement) for one in expected.completions),
        tuple(sorted(moved, key=repr)),
    )


def told(steps: Iterable[tuple[State, Call, Expected]]) -> dict[str, dict[str, set[str]]]:
    """Return, by method and feature, the values that some two steps tell from another value.

    The two steps have the same values of all other features of the method, and their effects differ.
    """
    effects: dict[str, dict[Vector, set[Hashable]]] = defaultdict(lambda: defaultdict(set))
    for state, call, expected in steps:
        vector = tuple(feature.of(state, call) for feature in FEATURES[call.method])
        effects[call.method][vector].add(effect(state, expected))
    return {method: _of_method(method, effects[method]) for method in effects}


def _of_method(method: str, effects: Mapping[Vector, set[Hashable]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for at, feature in enumerate(FEATURES[method]):
        alike: dict[Vector, dict[str, set[Hashable]]] = defaultdict(dict)
        for vector, ends in effects.items():
            value = vector[at]
            if value is not None:
                alike[(*vector[:at], *vector[at + 1 :])][value] = ends
        found[feature.name] = {
            value
            for ends in alike.values()
            for value, its in ends.items()
            if any(its.isdisjoint(theirs) for other, theirs in ends.items() if other != value)
        }
    return found
