"""How long judging a requirement took, for formats that ask for a time of each."""

from __future__ import annotations

from typing import TypeAlias

from conformance.runlog import Run

Times: TypeAlias = dict[tuple[str, str], float]
"""Seconds by suite and requirement."""


def times(run: Run) -> Times:
    """A test's time is shared evenly among the requirements it judged, so that the sum is the time of all tests.

    Empty for a record that tells none.
    """
    judged: dict[str, set[tuple[str, str]]] = {}
    for recorded in run.verdicts:
        if recorded.test in run.took:
            judged.setdefault(recorded.test, set()).add((recorded.suite, recorded.verdict.requirement))
    spent: Times = {}
    for test, keys in judged.items():
        for key in keys:
            spent[key] = spent.get(key, 0.0) + run.took[test] / 1000 / len(keys)
    return spent
