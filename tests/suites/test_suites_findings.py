"""Walks that go on after a failure: distinct ones are told apart, each short, flaky ones called so."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures, Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.history import History
from conformance.histories.operations.state_queries import kind_of, where
from conformance.histories.walk import Walk, possible_choices, set_up, shown_by, steering, walk
from conformance.model import Call, Model, State
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.walks import RARE, mixed, pick


def options(examples: int = 40, *, seed: int = 0, first_only: bool = False) -> RunOptions:
    return RunOptions("msmq-4.0", "must", assignment("windows"), "windows", seed, examples, 25, first_only=first_only)


def found(manager: str, plan: object, folder: Path, asked: RunOptions) -> list[ConformanceFailure]:
    judge = Recorder(asked, lambda verdict, count: None)
    with connect(f"python:{manager}", state_dir=folder, in_process=True) as client:
        try:
            walk(client, judge, asked, plan)  # type: ignore[arg-type]
        except ConformanceFailure as failure:
            return [failure]
        except ConformanceFailures as failures:
            return list(failures.exceptions)
    return []


def test_distinct_defects_are_all_found_in_one_walk(tmp_path: Path) -> None:
    failures = found("faulty_managers:ThreeDefects", plans.CURSORS, tmp_path, options())
    broken = {failure.verdict.requirement for failure in failures}
    assert "MQDMPR-3.1.7.1.2.messages-kept" in broken, broken
    assert any(name.endswith("no-wait-code") for name in broken), broken
    assert {failure.verdict.outcome for failure in failures} == {Outcome.FAIL}
    assert all(len(failure.story) <= 9 for failure in failures)
    met = [failure.unshrunk for failure in failures]
    assert all(one is not None for one in met), "each is kept as it was met"
    assert max(len(one.repro["calls"]) for one in met if one is not None) > 9


def test_a_wrong_code_does_not_hide_what_comes_behind_it(tmp_path: Path) -> None:
    failures = found("faulty_managers:ThreeDefects", plans.TRANSACTIONS, tmp_path, options(200, seed=1))
    broken = {failure.verdict.requirement: failure for failure in failures}
    assert any(name.endswith("no-wait-code") for name in broken), broken
    lost = broken["MQDMPR-3.1.4.5.receives-return"]
    assert not any("no-wait" in step.text for step in lost.story)
    assert 0 < len(lost.repro["calls"]) <= 12


def test_what_a_left_out_call_did_is_no_flaky_finding(tmp_path: Path) -> None:
    failures = found("faulty_managers:RefusalLosesMessage", plans.CURSORS, tmp_path, options(60))
    assert failures
    assert {failure.verdict.outcome for failure in failures} == {Outcome.FAIL}
    words = {failure.verdict.requirement.rpartition(".")[2] for failure in failures}
    assert words == {"illegal-cursor-action-code", "no-wait-code"}


def test_a_run_that_stops_at_the_first_looks_for_no_second(tmp_path: Path) -> None:
    failures = found("faulty_managers:ThreeDefects", plans.CURSORS, tmp_path, options(first_only=True))
    assert len(failures) == 1


def test_what_fails_now_and_then_is_flaky_and_says_how_often(tmp_path: Path) -> None:
    failures = found("faulty_managers:ForgetsLabelNowAndThen", plans.CURSORS, tmp_path, options(15))
    flaky = [failure.verdict for failure in failures if failure.verdict.outcome is Outcome.FLAKY]
    assert flaky
    for verdict in flaky:
        assert verdict.reason is not None and verdict.reason.startswith("flaky(")
        times = int(verdict.reason.removeprefix("flaky(")[0])
        assert 0 <= times < 5


def test_one_seed_gives_one_walk(tmp_path: Path) -> None:
    def calls(folder: Path, seed: int) -> list[str]:
        asked, seen = options(6, seed=seed), []
        judge = Recorder(asked, lambda verdict, count: None)
        judge.took = lambda rows: seen.extend(rows)  # type: ignore[method-assign]
        with connect("python:memory_manager:HonestManager", state_dir=folder, in_process=True) as client:
            walk(client, judge, asked, plans.TRANSACTIONS)
        return seen

    first = calls(tmp_path / "a", 1)
    assert first and first == calls(tmp_path / "b", 1)
    assert first != calls(tmp_path / "c", 2)


def test_steering_prefers_what_was_never_shown(tmp_path: Path) -> None:
    model = Model()
    steered = steering(model)
    with connect("python:memory_manager:HonestManager", state_dir=tmp_path, in_process=True) as client:
        history = History(client, Recorder(options(), lambda verdict, count: None), model)
        set_up(history, plans.CURSORS)
        offered = possible_choices(client, plans.CURSORS)
    state = history.state
    dull = Call("messages.receive", handle="h2")
    shown = shown_by(dull, model.allowed(state, dull).outcomes[0])
    for _ in range(RARE):
        steered.took(shown)
    rolls = [mixed(number) for number in range(400)]
    plain = [pick(state, offered, roll)[0] for roll in rolls]
    rare = [steered.choose(state, offered, roll) for roll in rolls]
    assert sum(call == dull for call in rare) * 2 < sum(call == dull for call in plain)


def test_a_place_is_told_by_the_operation_and_the_kind_of_state(tmp_path: Path) -> None:
    model, state = Model(), State()
    for call in (
        Call("queues.create", queue="q", transactional=True),
        Call("queues.open", name="r", queue="q", access="receive"),
        Call("cursors.open", name="c", handle="r"),
    ):
        state = model.allowed(state, call).outcomes[0].next
    read = Call("messages.receive", handle="r", cursor="c")
    assert where(state, read) == "messages.receive, transactional queue, cursor Unread"
    later = model.allowed(state, read).outcomes[0].next
    assert kind_of(later) == kind_of(state) and where(later, read) == where(state, read)


def test_a_walk_has_no_memory_of_other_walks(tmp_path: Path) -> None:
    with connect("python:memory_manager:HonestManager", state_dir=tmp_path, in_process=True) as client:
        judge = Recorder(options(), lambda verdict, count: None)
        one, two = Walk(client, judge, plans.CURSORS), Walk(client, judge, plans.CURSORS)
    assert one.steering is not two.steering and one.findings is not two.findings


@pytest.mark.parametrize("manager", ["CrashesAtThirdMessage", "AnswersNothing"])
def test_a_driver_that_breaks_ends_the_walk_and_nothing_else(manager: str, tmp_path: Path) -> None:
    from conformance.harness.guarded_client import DriverGone, GuardedClient

    asked = options(10)
    judge = Recorder(asked, lambda verdict, count: None)
    connector = f"python:faulty_managers:{manager}"
    with (
        connect(connector, state_dir=tmp_path, in_process=True, deadline_ms=300) as client,
        pytest.raises(DriverGone),
    ):
        walk(GuardedClient(client), judge, asked, plans.CURSORS)  # type: ignore[arg-type]
