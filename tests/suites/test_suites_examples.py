"""The examples about restarts, and time on a real clock, against managers in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.examples import begin, receive, send
from conformance.spec.catalogue import assignment
from conformance.suites.transactions import test_mqdmpr_3_1_3_restart as restarts

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
