"""A member that an API cannot express skips its own checks: the rest of the test judges on."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from conformance.run import run
from conformance.runlog import read_run
from conformance.verdict import ExitCode, Outcome

ATTRIBUTES = "MQDMPR-3.1.1.12."
SHARES = "MQDMPR-3.1.7.1.5."
CURSORS = "MQDMPR-3.2.7.3."


def outcomes(driver: str, suite: str, only: str, out: Path) -> dict[str, set[Outcome]]:
    """Each requirement with its outcomes: nothing may deviate, and a skip names its reason."""
    result = run(
        adapter=f"python:lacking_drivers:{driver}",
        in_process=True,
        suites=suite,
        out=out,
        max_examples=3,
        steps=8,
        pytest_args=("-k", only),
    )
    assert result.exit_code == ExitCode.CONFORMS, result
    found: dict[str, set[Outcome]] = {}
    for each in read_run(out).verdicts:
        found.setdefault(each.verdict.requirement, set()).add(each.verdict.outcome)
        if each.verdict.outcome is Outcome.SKIP:
            assert (each.verdict.reason or "").startswith("not offered by the driver: ")
    return found


@pytest.mark.parametrize(
    ("driver", "suite", "only", "skipped", "judged"),
    [
        ("WithoutLabels", "cursors", "test_an_exclusive_receiver", (), {f"{SHARES}exclusive-then-receive"}),
        (
            "WithoutPriorities",
            "cursors",
            "test_a_message_of_higher_priority",
            {f"{CURSORS}not-before-cursor"},
            {f"{CURSORS}moves"},
        ),
        (
            "WithoutExclusiveHandles",
            "cursors",
            "test_an_exclusive_receiver",
            {f"{SHARES}exclusive-then-receive", f"{SHARES}exclusive-then-exclusive"},
            {"MQDMPR-3.1.7.1.10.first-available"},
        ),
        (
            "CannotNameAQueueForReports",
            "properties",
            "test_received_as_sent or test_attributes_survive",
            {f"{ATTRIBUTES}administration-queue"},
            {f"{ATTRIBUTES}label-unchanged", f"{ATTRIBUTES}response-queue"},
        ),
        (
            "WithoutLabelsOfQueues",
            "restart",
            "test_a_kill_after_properties_were_set",
            (),
            {"MQDMPR-3.1.1.2.private-attributes-persistent"},
        ),
        (
            "CannotOpenASecondCursor",
            "cursors",
            "test_a_receive_that_fails_leaves_its_cursor_in_its_place",
            {"MQDMPR-3.2.7.4.already-received-stays"},
            {"MQDMPR-3.2.7.3.moves"},
        ),
    ],
)
def test_the_rest_of_the_test_judges_on(
    driver: str, suite: str, only: str, skipped: Collection[str], judged: Collection[str], tmp_path: Path
) -> None:
    found = outcomes(driver, suite, only, tmp_path)
    assert {name for name in skipped if found.get(name) != {Outcome.SKIP}} == set(), found
    assert {name for name in judged if found.get(name) != {Outcome.PASS}} == set(), found


def test_nothing_is_left_out_where_nothing_lacks(tmp_path: Path) -> None:
    for suite, only in (("cursors", "test_an_exclusive_receiver"), ("properties", "test_received_as_sent")):
        found = outcomes("_Without", suite, only, tmp_path / suite)
        assert found and {Outcome.SKIP} not in found.values()
