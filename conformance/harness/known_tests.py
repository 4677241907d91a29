"""Facets that each test of the suites needs and how long it takes, as a table that `tools/known_tests.py` measures."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from conformance.harness.suite_registry import cost

FILE = "known_tests.json"
"""For each suite and test function: the mean seconds of a test on the embedded manager, and the facets it needs."""


@dataclass(frozen=True, slots=True)
class KnownTest:
    """A test function. seconds: of one test in a default run on the embedded manager. facets: those it cannot miss."""

    seconds: float
    facets: frozenset[str] = frozenset()


@cache
def known_tests() -> Mapping[tuple[str, str], KnownTest]:
    """Return the test functions of the suites, by suite and name."""
    content = json.loads(resources.files("conformance.harness").joinpath(FILE).read_text(encoding="utf-8"))
    return {
        (suite, function): KnownTest(seconds, frozenset(facets.split()))
        for suite, functions in content.items()
        for function, (seconds, facets) in functions.items()
    }


def known_test(suite: str, node: str) -> KnownTest:
    """Return what is known of the test with this node id; one that is unknown takes the usual time of its suite."""
    function = node.partition("[")[0].rpartition("::")[2]
    return known_tests().get((suite, function)) or KnownTest(cost(suite) / 100)


def playable(claims: Mapping[str, Collection[str]], facets: Collection[str]) -> bool:
    """Tell whether one of the tests that claim a requirement needs no other facets. claims: suite to its functions.

    Planned histories (`situations`) count only where no other test claims it: they need few facets, and what they reach
    depends on the others.
    """
    suites = [suite for suite in claims if suite != "situations"] or list(claims)
    known = (known_tests().get((suite, function)) for suite in suites for function in claims[suite])
    return any(test is not None and test.facets <= set(facets) for test in known)
