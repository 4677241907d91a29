"""The walks against a manager in memory: an honest one passes, each defect is found, and its story is short."""

from __future__ import annotations

from pathlib import Path

import honest_memory
import memory_manager
import pytest

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.rejudge import rejudge
from conformance.histories.walk import Plan, walk
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict

WALKS = {
    "cursors": plans.CURSORS,
    "locked cursors": plans.LOCKED_CURSORS,
    "waits": plans.WAITS,
    "queues": plans.QUEUES,
    "transactions": plans.TRANSACTIONS,
    "several queues": plans.SEVERAL_QUEUES,
    "lookups": plans.LOOKUPS,
}


def options(examples: int = 40, steps: int = 25) -> RunOptions:
    return RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, examples, steps, first_only=True)


def walked(manager: str, plan: Plan, folder: Path, asked: RunOptions) -> tuple[list[Verdict], Recorder]:
    verdicts: list[Verdict] = []
    judge = Recorder(asked, lambda verdict, count: verdicts.append(verdict))
    with connect(f"python:memory_manager:{manager}", state_dir=folder, in_process=True) as client:
        walk(client, judge, asked, plan)
    judge.flush()
    return verdicts, judge


@pytest.mark.parametrize("name", WALKS)
def test_an_honest_manager_passes(name: str, tmp_path: Path) -> None:
    verdicts, judge = walked("HonestManager", WALKS[name], tmp_path, options())
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
    assert len({verdict.requirement for verdict in verdicts}) > 15
    assert judge.steps_taken > 500


def test_a_manager_without_status_codes_is_judged_on_failing_alone(tmp_path: Path) -> None:
    verdicts, _ = walked("NoStatusCodes", plans.CURSORS, tmp_path, options(20))
    by_outcome = {outcome: {v.requirement for v in verdicts if v.outcome is outcome} for outcome in Outcome}
    assert not by_outcome[Outcome.FAIL]
    assert "MQDMPR-3.2.7.3.illegal-cursor-action" in by_outcome[Outcome.PASS]
    assert "MQDMPR-3.2.7.3.illegal-cursor-action-code" in by_outcome[Outcome.SKIP]
    assert not any(name.endswith("-code") for name in by_outcome[Outcome.PASS])


DEFECTS = [
    ("AbortLosesMessage", "transactions", {"MQDMPR-3.1.4.5.receives-return"}, 12),
    ("AbortRequeuesAtEnd", "transactions", {"MQDMPR-3.1.4.5.receives-return-position"}, 15),
    ("CommitLosesLastSend", "transactions", {"MQDMPR-3.1.4.4.sends-appear"}, 12),
    ("UncommittedSendVisible", "transactions", {"MQDMPR-3.1.7.1.9.uncommitted-locked"}, 10),
    ("PeekRemovesMessage", "cursors", {"MQDMPR-3.1.7.1.15.keeps"}, 8),
    ("IgnoresPriority", "cursors", {"MQMQ-2.2.19.1.higher-priority-nearer-front"}, 8),
    ("ReceiveReturnsSecondMessage", "cursors", {"MQDMPR-3.1.7.1.10.first-available"}, 8),
    ("CursorMovesOnPeek", "cursors", {"MQDMPR-3.2.7.2.read-stays", "MQDMPR-3.1.7.1.15.message-already-received"}, 10),
    (
        "PeekNextStartsUnread",
        "cursors",
        {"MQDMPR-3.2.7.3.illegal-cursor-action", "MQDMPR-3.2.7.3.illegal-cursor-action-code"},
        7,
    ),
    ("WrongTimeoutStatus", "cursors", {f"MQDMPR-3.1.7.1.{n}.no-wait-code" for n in (10, 14, 15)}, 7),
    ("ForgetsLabel", "cursors", {"MQDMPR-3.1.1.12.label-unchanged"}, 6),
    (
        "WaitingReaderSleepsOn",
        "waits",
        {"MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.1.7.1.15.wakes", "MQDMPR-3.1.4.4.wakes-readers"},
        10,
    ),
    ("TimedOutReaderTakesNext", "waits", {"MQDMPR-3.1.7.1.10.timed-out-takes-nothing"}, 14),
    ("LookupIdsFall", "lookups", {"MQDMPR-3.1.7.1.9.lookup-identifier-increases"}, 14),
]


@pytest.mark.parametrize(("manager", "name", "requirements", "longest"), DEFECTS, ids=[case[0] for case in DEFECTS])
def test_each_defect_is_found_and_told_shortly(
    manager: str, name: str, requirements: set[str], longest: int, tmp_path: Path
) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        walked(manager, WALKS[name], tmp_path / "walk", options(150, 30))
    failure = caught.value
    story = "\n".join(f"{number}. {step.text}" for number, step in enumerate(failure.story, 1))
    print(failure.verdict, "\n" + story)
    assert failure.verdict.requirement in requirements, story
    assert failure.verdict.expected != failure.verdict.actual
    assert len(failure.story) <= longest, story
    with connect(f"python:memory_manager:{manager}", state_dir=tmp_path / "again", in_process=True) as client:
        again = rejudge(failure.repro, client, options())
    assert [verdict.requirement for verdict in again if verdict.outcome is Outcome.FAIL] == [
        failure.verdict.requirement
    ]
    with connect("python:memory_manager:HonestManager", state_dir=tmp_path / "fixed", in_process=True) as client:
        fixed = rejudge(failure.repro, client, options())
    assert fixed and all(verdict.outcome is not Outcome.FAIL for verdict in fixed)


def test_no_defect_here_is_untested() -> None:
    made = {
        name
        for name, value in vars(memory_manager).items()
        if isinstance(value, type) and issubclass(value, memory_manager.HonestManager)
    }
    elsewhere = {
        "HonestManager",
        "NoStatusCodes",
        "ForgetsRecoverable",
        "RestartRedelivers",
        "RealClock",
        "RealClockInAHurry",
        "NeverReset",
    }
    assert made == {case[0] for case in DEFECTS} | elsewhere


def test_a_manager_that_cannot_be_reset_is_walked_through_too(tmp_path: Path) -> None:
    facets = {**honest_memory.METHODS, "manager": ["hello", "stop"]}
    asked = options(10)
    verdicts: list[Verdict] = []
    judge = Recorder(asked, lambda verdict, count: verdicts.append(verdict))
    with connect("python:memory_manager:NeverReset", state_dir=tmp_path, in_process=True) as client:
        assert client.hello.facets["manager"] == frozenset(facets["manager"])
        walk(client, judge, asked, plans.WAITS)
    judge.flush()
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
