"""The suite of outgoing queues: an honest manager passes under both readings, and each defect is blamed rightly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories import history
from conformance.spec.catalogue import assignment
from conformance.suites.outgoing import test_mqdmpr_3_1_4_14_pause_queue as suite
from conformance.verdict import Outcome, Verdict

TESTS = {name: test for name, test in vars(suite).items() if name.startswith("test_")}
OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)
BLAMED = {
    "PauseIgnored": {"4.14.pauses"},
    "PauseDropsMessages": {"7.2.3.on-hold", "1.3.state-on-hold", "4.15.resumes", "1.12.recoverable-survives"},
    "HoldsOnlyWhatWasThere": {"1.3.state-on-hold"},
    "SecondPauseResumes": {"7.2.3.on-hold"},
    "ResumeIgnored": {"4.15.resumes"},
    "ResumeOfUnpausedHolds": {"7.2.4.inactive", "4.15.resumes"},
    "ResumeResumesAll": {"4.15.resumed-queue"},
    "PauseStopsOtherQueues": {"4.14.paused-queue"},
    "PauseStopsLocalReads": {"4.14.paused-queue"},
    "HeldMessagesGoTwice": {"7.1.34.removed", "7.1.29.atomically-removed"},
    "TakenStays": {"7.1.29.atomically-removed"},
    "NewestFirst": {"1.2.arrival-order"},
    "PriorityIgnored": {"7.3.9.highest-priority"},
    "TransfersUncommitted": {"7.1.9.uncommitted-locked"},
    "OneQueueForAll": {"7.1.9.only-destination"},
    "WrongDestination": {"7.1.5.outgoing-destination"},
    "WrongDestinationAfterRestart": {"1.3.destination-format-name"},
    "TransfersNothing": {
        "4.14.paused-queue",
        "7.3.9.binary-protocol",
        "4.15.resumes",
        "7.2.4.inactive",
        "1.12.recoverable-survives",
    },
    "ForgetsDestinations": {"1.12.recoverable-survives", "4.4.durable"},
}


def told(
    client: Any, name: str, options: RunOptions = OPTIONS, **arguments: Any
) -> tuple[list[Verdict], ConformanceFailure | None]:
    """The verdicts of one test, and its failure if there is one."""
    seen: list[Verdict] = []
    judge = Recorder(options, lambda verdict, count: seen.append(verdict))
    try:
        TESTS[name](client, judge, lambda *methods: None, **arguments)
    except ConformanceFailure as failure:
        return seen, failure
    judge.flush()
    return seen, None


def talk(manager: str, folder: Path) -> Client:
    return connect(f"python:outgoing_manager:{manager}", state_dir=folder, in_process=True)


def every(client: Any) -> Iterator[tuple[str, list[Verdict], Any]]:
    for name, test in TESTS.items():
        for kill in (True, False) if "kill" in signature(test).parameters else (None,):
            yield name, *told(client, name, **({} if kill is None else {"kill": kill}))


def claimed(test: Callable[..., None]) -> set[str]:
    marks = getattr(test, "pytestmark", [])
    return {name for mark in marks if mark.name == "requirement" for name in mark.args}


@pytest.mark.parametrize(("manager", "reading"), [("Outgoing", "forgotten"), ("KeepsHold", "kept")])
def test_an_honest_manager_passes_and_what_a_test_claims_is_judged(manager: str, reading: str, tmp_path: Path) -> None:
    followed = set()
    with talk(manager, tmp_path) as client:
        for name, seen, failure in every(client):
            assert failure is None, failure and [step.text for step in failure.story]
            assert not [verdict for verdict in seen if verdict.outcome not in (Outcome.PASS, Outcome.READING)]
            followed |= {each for verdict in seen for each in verdict.readings}
            left = claimed(TESTS[name]) - {verdict.requirement for verdict in seen}
            assert not left or (manager == "KeepsHold" and left == {"MQDMPR-3.1.1.volatile"}), name
    assert ("R-MQDMPR-hold-after-restart", reading) in followed
    assert len({name for name, _ in followed}) == len(followed)


@pytest.mark.parametrize("manager", BLAMED)
def test_a_defect_is_blamed_on_what_it_breaks(manager: str, tmp_path: Path) -> None:
    with talk(manager, tmp_path) as client:
        failures = [failure for _, _, failure in every(client) if failure is not None]
        assert failures
        found = {failure.verdict.requirement: failure.story[-1].text for failure in failures}
        assert set(found) <= {f"MQDMPR-3.1.{word}" for word in BLAMED[manager]}, found
        again = history.rejudge(failures[0].repro, client, OPTIONS)
        assert again[-1].requirement == failures[0].verdict.requirement


def test_a_packet_that_is_none_is_blamed_on_the_packet(tmp_path: Path) -> None:
    with talk("TransfersRubbish", tmp_path) as client:
        _, failure = told(client, "test_the_highest_priority_goes_first")
    assert failure is not None
    assert failure.verdict.requirement.startswith("MQMQ-2.2.19.1")


def test_under_strict_the_hold_is_forgotten(tmp_path: Path) -> None:
    strict = RunOptions("msmq-4.0", "must", assignment("strict"), "strict", 0, 10, 10)
    name = "test_a_queue_on_hold_through_a_restart"
    for manager, wrong in (("Outgoing", None), ("KeepsHold", "MQDMPR-3.1.1.volatile")):
        with talk(manager, tmp_path / manager) as client:
            failure = told(client, name, strict)[1]
        assert (failure and failure.verdict.requirement) == wrong
