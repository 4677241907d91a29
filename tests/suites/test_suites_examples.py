"""Examples of the suites, drivers that lack methods, and the index of claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.examples import begin, receive, send
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.transactions import mistakes
from conformance.model import Call, Model, State
from conformance.model.expected import Expected, Fails
from conformance.run import run
from conformance.runlog import read_run
from conformance.spec.catalogue import assignment
from conformance.suites.transactions import test_mqdmpr_3_1_3_restart as restarts
from conformance.verdict import ExitCode, Outcome

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)


@contextmanager
def opened(manager: str, folder: Path) -> Iterator[tuple[Any, Recorder, Callable[..., None]]]:
    """The fixtures of a suite, without a run."""
    with connect(f"python:memory_manager:{manager}", state_dir=folder, in_process=True) as client:
        yield client, Recorder(OPTIONS, lambda verdict, count: None), lambda *methods: None


@pytest.mark.parametrize("kill", [True, False])
def test_an_honest_manager_survives_restarts(kill: bool, tmp_path: Path) -> None:
    with opened("HonestManager", tmp_path) as (client, judge, need):
        restarts.test_recoverable_messages_survive(client, judge, need, kill)
        assert "MQDMPR-3.1.1.12.recoverable-order" in judge.judged
        restarts.test_transactions_across_a_restart(client, judge, need, kill)
        assert {"MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.3.uncommitted-send-lost"} <= judge.judged


@pytest.mark.parametrize(
    ("manager", "requirement"),
    [
        ("ForgetsRecoverable", "MQDMPR-3.1.1.12.recoverable-survives"),
        ("RestartRedelivers", "MQDMPR-3.1.1.12.received-not-redelivered"),
    ],
)
def test_a_restart_that_loses_or_repeats(manager: str, requirement: str, tmp_path: Path) -> None:
    with opened(manager, tmp_path) as (client, judge, need), pytest.raises(ConformanceFailure) as caught:
        restarts.test_recoverable_messages_survive(client, judge, need, kill=True)
    assert caught.value.verdict.requirement == requirement


def test_a_real_clock_is_waited_for(tmp_path: Path) -> None:
    with opened("RealClock", tmp_path) as (client, judge, need):
        history = begin(client, judge, need)
        history.expire(receive(wait_ms=30, name="w1"))
        history.run(send("a"), receive())
        assert {"MQDMPR-3.1.7.1.10.io-timeout", "MQDMPR-3.1.2.3.expires"} <= judge.judged


@pytest.mark.parametrize(("took_ms", "early"), [(30.0, False), (29.2, False), (29.0, True), (28.9, True)])
def test_a_wait_is_early_by_whole_milliseconds(
    took_ms: float, early: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that counts whole milliseconds may cut the first of them short, and no more."""
    with opened("RealClock", tmp_path) as (client, judge, need):
        history = begin(client, judge, need)
        expire = history.driving.expire
        monkeypatch.setattr(type(history.driving), "expire", lambda driving, call: (*expire(call)[:2], took_ms))
        if early:
            with pytest.raises(ConformanceFailure, match="no-early-timeout"):
                history.expire(receive(wait_ms=30, name="w1"))
        else:
            history.expire(receive(wait_ms=30, name="w1"))
            assert "MQDMPR-3.1.7.1.10.io-timeout" in judge.judged


def test_a_time_out_that_comes_early(tmp_path: Path) -> None:
    with opened("RealClockInAHurry", tmp_path) as (client, judge, need):
        history = begin(client, judge, need)
        with pytest.raises(ConformanceFailure) as caught:
            history.expire(receive(wait_ms=400, name="w1"))
    assert caught.value.verdict.requirement == "MQDMPR-3.1.7.3.1.no-early-timeout"


MODEL = Model()
OPEN = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
)


def after(calls: Iterable[Call]) -> State:
    state = State()
    for call in calls:
        state = MODEL.allowed(state, call).outcomes[0].next
    return state


def only(state: State, call: Call) -> Expected:
    (expected,) = MODEL.allowed(state, call).outcomes
    return expected


def test_a_read_ended_twice_whose_queue_is_gone_fails_with_any_code() -> None:
    begin = Call("messages.receive_begin", name="b", handle="r")
    end = Call("messages.receive_end", read="b", acknowledge=True)
    gone = Call("queues.delete", queue="q")
    state = after((*OPEN, Call("messages.send", message="a", handle="s"), begin, gone))
    first = only(state, end)
    assert isinstance(first.result, Fails) and first.result.by_reading
    for again in (first.next, after((*OPEN, Call("messages.send", message="a", handle="s"), begin, end, gone))):
        result = only(again, end).result
        assert isinstance(result, Fails) and not result.code and not result.codes and not result.by_reading


def test_nobody_asks_what_sending_by_a_handle_for_move_is() -> None:
    state = after((*OPEN, Call("queues.open", name="m", queue="q", access="move")))
    asked = mistakes(state, Offer(frozenset({"messages.send", "messages.receive", "messages.peek"}), True))
    assert all(call.handle != "m" for call in asked if call.method == "messages.send")


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
            "test_what_was_answered_is_done and set",
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
