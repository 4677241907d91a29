"""The suite of the coordinator: honest managers pass, and each defect is blamed rightly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import coordinated_manager
import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.adapter.errors import NotAccepted, NotOffered
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.walk import walk
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.coordinator import (
    rejudge,
    test_mqdmpr_3_1_4_6_prepare,
    test_mqdmpr_3_1_4_7_commit,
    test_mqdmpr_3_1_4_8_abort,
    test_mqdmpr_3_1_4_9_outcomes,
    test_mqdmpr_3_1_4_in_doubt,
    test_mqmp_3_1_4_13_enlist,
)
from conformance.verdict import Outcome, Verdict

MODULES = (
    test_mqmp_3_1_4_13_enlist,
    test_mqdmpr_3_1_4_6_prepare,
    test_mqdmpr_3_1_4_7_commit,
    test_mqdmpr_3_1_4_8_abort,
    test_mqdmpr_3_1_4_9_outcomes,
    test_mqdmpr_3_1_4_in_doubt,
)
OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 3, 25, first_only=True)
HONEST = {
    "Coordinated": MODULES,
    "ReadOnly": MODULES[1:2],
    "FailsLater": MODULES[4:5],
    "SaysNoAnswer": MODULES[:4],
}
"""Managers without a defect, and what is asked of them."""
_4 = "MQDMPR-3.1.4"
_COLLECTION, _ASKS = "MQDMPR-3.1.1.1.transaction-collection", "MQDMPR-3.1.3.resource-manager"
BLAMED = {
    "PrepareCommits": ("test_what_is_prepared_waits", {f"{_4}.3.changes-nothing-visible", f"{_4}.6.prepared-reported"}),
    "PrepareNotStored": ("test_what_was_committed_is_done", {_COLLECTION}),
    "PreparedIsAbortedAtStart": ("test_a_kill_directly_after", {_COLLECTION, _ASKS}),
    "PreparedIsCommittedAtStart": ("test_what_was_aborted_is_undone", {_ASKS}),
    "AsksNobody": ("test_what_was_committed_is_done", {_ASKS}),
    "AsksForOne": ("test_each_transaction_has_its_own_outcome", {_COLLECTION}),
    "AsksForever": ("test_what_was_committed_is_done", {"MQDMPR-3.1.3.reenlist-commit"}),
    "EnlistedIsInDoubt": ("test_a_kill_directly_after", {"MQDMPR-3.1.3.unfinished-transaction-aborted"}),
    "SinglePhaseOnlyPrepares": ("test_a_single_phase_commits_at_once", {f"{_4}.6.two-phase-only"}),
    "SinglePhaseSaysPrepared": ("test_a_single_phase_commits_at_once", {f"{_4}.6.two-phase-only"}),
    "UnknownIsPrepared": ("test_what_is_unknown_cannot_be_prepared", {f"{_4}.6.failed-prepare-aborts"}),
    "CommitIgnored": ("test_what_is_over_cannot_be_prepared", {f"{_4}.7.commits"}),
    "CommitFailsTwice": ("test_told_twice_it_answers_twice", {f"{_4}.7.commit-reported"}),
    "AbortIgnored": ("test_what_was_received_returns_to_its_place", {f"{_4}.8.aborts"}),
    "AbortCommits": ("test_what_is_prepared_can_be_aborted", {f"{_4}.8.aborts"}),
    "OutcomeCommittedIgnored": ("test_what_was_committed_is_done", {f"{_4}.9.commits"}),
    "OutcomeAbortedCommits": ("test_what_was_aborted_is_undone", {f"{_4}.10.aborts"}),
    "TimeoutAborts": ("test_a_coordinator_that_does_not_answer_in_time", {"MQDMPR-3.1.3.reenlist-timeout"}),
    "TimeoutUntold": ("test_a_coordinator_that_does_not_answer_in_time", {f"{_4}.11.error-reported"}),
    "TimeAborts": ("test_an_outcome_that_does_not_come_is_waited_for", {_ASKS}),
    "SecondHandleIsAnother": ("test_a_second_handle_is_of_the_same_transaction", {f"{_4}.7.commits"}),
    "ForeignEndsAll": ("test_a_foreign_transaction_changes_nothing", {"MQDMPR-3.1.7.1.9.uncommitted-locked"}),
}
"""Each defect with a test that finds it, and what that test may blame."""


def cases(module: ModuleType) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each test of a module with each choice of its parameters."""
    for name, test in vars(module).items():
        if not name.startswith("test_") or isinstance(test, ModuleType) or "journal" in name:
            continue  # these managers keep no journals
        ways: list[dict[str, Any]] = [{}]
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                word, values = mark.args[:2]
                values = [value.values[0] if hasattr(value, "marks") else value for value in values]
                ways = [{**way, word: value} for way in ways for value in values]
        yield from ((name, way) for way in ways)


def lacking(client: Client, *methods: str) -> None:
    if not all(map(client.offers, methods)):
        pytest.skip("the manager does not offer it")


def told(client: Client, module: ModuleType, name: str, way: dict[str, Any], seen: list[Verdict]) -> Recorder:
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    test = vars(module)[name]
    given: dict[str, Any] = {"mq": client, "judge": judge, "mq_need": lambda *methods: lacking(client, *methods), **way}
    if "run_options" in test.__code__.co_varnames[: test.__code__.co_argcount]:
        given["run_options"] = OPTIONS
    with suppress(pytest.skip.Exception, NotAccepted, NotOffered):
        test(**given)
    judge.flush()
    return judge


def opened(manager: str, folder: Path) -> Client:
    return connect(f"python:coordinated_manager:{manager}", state_dir=folder, in_process=True)


SECTIONS = (
    *(f"{_4}.{number}." for number in range(6, 12)),
    *("MQDMPR-3.1.3.reenlist-", "MQMP-3.1.4.13.", _ASKS, _COLLECTION),
)
JUDGED = {
    name
    for name, entry in catalogue().requirements.items()
    if name.startswith(SECTIONS) and entry.checked in ("call", "history")
} - {"MQMP-3.1.4.13.failure"}  # in the suite objects, as the coordinator is made to refuse there


@pytest.mark.parametrize("manager", HONEST)
def test_an_honest_manager_passes(manager: str, tmp_path: Path) -> None:
    seen: list[Verdict] = []
    with opened(manager, tmp_path) as client:
        for module in HONEST[manager]:
            for name, way in cases(module):
                told(client, module, name, way, seen)
    assert {verdict.outcome for verdict in seen} <= {Outcome.PASS, Outcome.READING}
    judged = {verdict.requirement for verdict in seen}
    assert manager != "Coordinated" or judged >= JUDGED, JUDGED - judged


@pytest.mark.parametrize("manager", HONEST)
def test_an_honest_manager_is_walked_through(manager: str, tmp_path: Path) -> None:
    asked = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 40, 30, first_only=True)
    seen: list[Verdict] = []
    with opened(manager, tmp_path) as client:
        for plan in (plans.COORDINATED, plans.RECOVERED):
            judge = Recorder(asked, lambda verdict, count: seen.append(verdict))
            walk(client, judge, asked, plan)
            judge.flush()
    assert {verdict.outcome for verdict in seen} <= {Outcome.PASS, Outcome.READING}


@pytest.mark.parametrize("manager", BLAMED)
def test_a_defect_is_blamed_and_found_again(manager: str, tmp_path: Path) -> None:
    sought, blamed = BLAMED[manager]
    found: list[ConformanceFailure] = []
    with opened(manager, tmp_path / "suite") as client:
        for module in MODULES:
            for name, way in cases(module):
                if name == sought and not found:
                    try:
                        told(client, module, name, way, [])
                    except ConformanceFailure as failure:
                        found.append(failure)
    assert found and found[0].verdict.requirement in blamed
    assert found[0].verdict.expected != found[0].verdict.actual
    for again, outcome in ((manager, Outcome.FAIL), ("Coordinated", Outcome.PASS)):
        with opened(again, tmp_path / f"again-{again}") as client:
            verdicts = rejudge.rejudge(found[0].repro, client, OPTIONS)
        assert {verdict.outcome for verdict in verdicts} - {Outcome.PASS, Outcome.READING} == {outcome} - {Outcome.PASS}


def test_no_defect_here_is_untested() -> None:
    classes = (value for value in vars(coordinated_manager).values() if isinstance(value, type))
    made = {value.__name__ for value in classes if issubclass(value, coordinated_manager.Coordinated)}
    assert made == {*BLAMED, *HONEST}


def test_a_driver_without_the_facet_is_skipped(tmp_path: Path) -> None:
    with connect("python:honest_memory:HonestManager", state_dir=tmp_path, in_process=True) as client:
        for module in MODULES:
            for name, way in cases(module):
                seen: list[Verdict] = []
                told(client, module, name, way, seen)
                assert not seen
