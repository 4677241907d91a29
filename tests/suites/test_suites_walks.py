"""Walks: refused sends, failed receives, and readings after a failure."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import honest_memory
import memory_manager
import pytest
from distorting import OPTIONS, Distorting, same, silent

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories import observed_mutations, plans
from conformance.histories.history import rejudge
from conformance.histories.observed_mutations import caught
from conformance.histories.walk import Plan, walk
from conformance.model import Judged, Model
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.cursors import test_mqdmpr_3_1_7_1_10_failed_receives as failed
from conformance.suites.properties import stories
from conformance.suites.properties.stories import SIZE, SIZES
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


@pytest.fixture
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with connect("embedded", state_dir=tmp_path_factory.mktemp("state"), in_process=True) as found:
        yield found


def judged(client: Any) -> list[Verdict]:
    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    try:
        stories.tell("wrong-sizes", client, judge)
    except ConformanceFailure as failure:
        return [*seen, failure.verdict]
    judge.flush()
    return seen


def cut(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send the first 20 bytes of a correlation identifier, filled up with nulls."""
    given = params.get("message", {}).get("correlation_identifier")
    if given is not None:
        raw = base64.b64decode(given)[:20].ljust(20, b"\0")
        params["message"]["correlation_identifier"] = base64.b64encode(raw).decode()
    return params


def test_the_shipped_manager_refuses_each_size(client: Client) -> None:
    found = {verdict.outcome for verdict in judged(client) if verdict.requirement == SIZE}
    assert found == {Outcome.PASS} and 20 not in SIZES


def test_a_manager_that_takes_another_size_is_found(client: Client) -> None:
    [*_, last] = judged(Distorting(client, cut, silent))
    assert (last.requirement, last.outcome) == (SIZE, Outcome.FAIL)


@pytest.mark.parametrize("status", [0xC00E0018, 0xC00E0006])
def test_another_code_is_found(client: Client, status: int) -> None:
    wrong = Distorting(client, same, silent)
    right = wrong.call

    def call(method: str, **params: Any) -> Any:
        result = right(method, **params)
        if method == "messages.send" and not result.ok:
            object.__setattr__(result, "status", status)
        return result

    wrong.call = call  # type: ignore[method-assign]
    [*_, last] = judged(wrong)
    assert (last.requirement, last.outcome) == (SIZE, Outcome.FAIL)


GONE, MISSING = 0xC00E001D, 0xC00E0088


class Overdoing:
    """A manager that does something more when a receive by a cursor fails with this status."""

    def __init__(self, client: Any, status: int, more: Callable[[Any, dict[str, Any]], None]) -> None:
        self._client, self._status, self._more = client, status, more

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def call(self, method: str, **params: Any) -> Any:
        result = self._client.call(method, **params)
        if method == "messages.receive" and "cursor" in params and result.status == self._status:
            self._more(self._client, params)
        return result

    def start(self, method: str, **params: Any) -> Any:
        return self._client.start(method, **params)


def takes_another(client: Any, params: dict[str, Any]) -> None:
    client.call("messages.receive", queue=params["queue"], timeout_ms=0)


def moves_on(client: Any, params: dict[str, Any]) -> None:
    client.call("messages.peek_next", queue=params["queue"], cursor=params["cursor"], timeout_ms=0)


def closes(client: Any, params: dict[str, Any]) -> None:
    client.call("cursors.close", cursor=params["cursor"])


CASES = (
    (failed.test_a_receive_that_fails_takes_no_other_message, GONE, takes_another, failed.ENDS),
    (failed.test_a_receive_that_fails_leaves_its_cursor_in_its_place, GONE, moves_on, failed.KEEPS_PLACE),
    (failed.test_a_receive_that_finds_nothing_leaves_its_cursor_usable, MISSING, closes, failed.USABLE),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[3])
def test_a_manager_that_does_more_than_fail(case: Any, tmp_path: Path) -> None:
    test, status, more, requirement = case
    verdicts: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: verdicts.append(verdict))
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:
        test(client, judge, lambda *needs: None)
        judge.flush()
        assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
        assert requirement in {verdict.requirement for verdict in verdicts}
        with pytest.raises(ConformanceFailure) as caught:
            test(Overdoing(client, status, more), judge, lambda *needs: None)
        assert caught.value.verdict.requirement == requirement
        again = rejudge(caught.value.repro, Overdoing(client, status, more), OPTIONS)
        assert (again[-1].outcome, again[-1].requirement) == (Outcome.FAIL, requirement)
        assert rejudge(caught.value.repro, client, OPTIONS)[-1].outcome is Outcome.PASS


def test_demands_of_every_kind_notice() -> None:
    found = caught(6, 40)
    assert found <= set(catalogue().requirements)
    assert len(found) > 100
    assert {
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.10.no-wait-code",
        "MQDMPR-3.1.7.1.9.success",
        "MQDMPR-3.1.7.1.10.wakes",
        "MQDMPR-3.1.4.4.success",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.1.7.3.3.seek-first",
    } <= found
    assert caught(6, 40) == found


def test_a_judge_that_lets_everything_pass_is_caught_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lenient(Model):
        def step(self, *arguments: Any) -> Judged:
            judged = super().step(*arguments)
            return judged if not judged.failed else Judged(judged.states, ())

    monkeypatch.setattr(observed_mutations, "Model", Lenient)
    assert caught(2, 20) == frozenset()
