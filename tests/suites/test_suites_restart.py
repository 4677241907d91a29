"""Kills directly after an act, and during it: stores that write too late are found, and nothing comes in between."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import late_stores
import pytest

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories import history as histories
from conformance.histories.driver_side import Driving
from conformance.histories.history import History
from conformance.model import Call, State
from conformance.spec.catalogue import assignment
from conformance.suites.restart import test_mqdmpr_3_1_3_then_killed as acts
from conformance.suites.restart.acts import ACTS, ATTRIBUTES, DURABLE, KILL, ONCE, PERSISTENT, SURVIVES, Act

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 3, 10)
NAMES = frozenset(act.name for act in ACTS)
FLYING = tuple(act for act in ACTS if act.name not in acts.ELSEWHERE)
BLAMED = {ATTRIBUTES, DURABLE, ONCE, PERSISTENT, SURVIVES, *(name for act in ACTS for name in act.shows)}
TAKING = {"receive", "receive with a copy", "receive by lookup identifier", "acknowledge", "commit of receives"}


def offered(*methods: str) -> None:
    assert methods


def answered(client: Client, act: Act) -> None:
    """Judge one act that is answered."""
    acts.test_what_was_answered_is_done(act, client, Recorder(OPTIONS, lambda verdict, count: None), offered)


def unanswered(client: Client, act: Act) -> None:
    """Judge one act in flight."""
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    acts.test_what_was_not_answered_is_done_or_not(act, client, judge, OPTIONS, offered)


def caught(connector: str, story: Any, chosen: tuple[Act, ...], folder: Path) -> dict[str, ConformanceFailure]:
    """The acts of which a manager does not keep what it must, with the failures."""
    found = {}
    for act in chosen:
        with connect(connector, state_dir=folder / act.name, in_process=True) as client:
            try:
                story(client, act)
            except ConformanceFailure as failure:
                found[act.name] = failure
    return found


def test_an_honest_store_passes(tmp_path: Path) -> None:
    assert not caught("python:late_stores:Stored", answered, ACTS, tmp_path / "answered")
    assert not caught("python:late_stores:Stored", unanswered, FLYING, tmp_path / "unanswered")


@pytest.mark.parametrize(
    ("store", "names"),
    [
        ("WritesAtTheNextSend", {"create", "delete", "set", "purge", "receive"}),
        ("WritesAfterTheAnswerOfTheNextSend", NAMES),  # each act is looked at
        ("WritesAfterAMoment", {"create"}),  # nothing is 50 ms old, unless the machine is busy
        ("LosesTheLastRecord", {"set", "receive", "move", "purge", "commit of sends", "abort"}),
        ("DeletesLazily", {"delete", "purge", "move", "commit of a move", *TAKING}),
        ("RevivesPurgedMessages", {"purge"}),
        ("LosesAtTheSecondKill", {"create", "send", "purge", "commit of sends"}),
        ("HalvesBatches", {"purge", "commit of sends", "commit of receives"}),
    ],
)
def test_a_store_that_writes_too_late_is_found(store: str, names: set[str], tmp_path: Path) -> None:
    chosen = tuple(act for act in ACTS if act.name in names)
    found = caught(f"python:late_stores:With{store}", answered, chosen, tmp_path)
    assert found.keys() == names
    assert {failure.verdict.requirement for failure in found.values()} <= BLAMED


def test_a_repro_kills_directly_after_the_act_too(tmp_path: Path) -> None:
    purge = next(act for act in ACTS if act.name == "purge")
    failure = caught("python:late_stores:WithRevivesPurgedMessages", answered, (purge,), tmp_path)["purge"]
    for store, outcome in (("WithRevivesPurgedMessages", "FAIL"), ("Stored", "PASS")):
        with connect(f"python:late_stores:{store}", state_dir=tmp_path / store, in_process=True) as client:
            assert histories.rejudge(failure.repro, client, OPTIONS)[-1].outcome.name == outcome


@pytest.mark.parametrize(
    ("connector", "names"),
    [
        ("python:late_stores:WithHalvesBatches", {"purge", "delete"}),
        ("embedded+moved-message-returns", {"move", "commit of a move"}),
    ],
)
def test_an_act_in_flight_is_whole(connector: str, names: set[str], tmp_path: Path) -> None:
    assert caught(connector, unanswered, FLYING, tmp_path).keys() >= names


def test_an_order_that_a_start_reverses_is_blamed_for_both_kinds_of_queues(tmp_path: Path) -> None:
    chosen = tuple(act for act in ACTS if act.name in ("send", "commit of sends", "abort"))
    found = caught("embedded+recovery-reverses-order", answered, chosen, tmp_path)
    assert [failure.verdict.requirement for failure in found.values()] == ["MQDMPR-3.1.1.12.recoverable-order"] * 3


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.name)
def test_nothing_comes_between_the_answer_and_the_kill(act: Act, tmp_path: Path) -> None:
    made = late_stores.Stored.made
    with connect("python:late_stores:Stored", state_dir=tmp_path, in_process=True) as client:
        del made[:]
        answered(client, act)
    before = [made[at - 1] for at, method in enumerate(made) if method == "hello"]
    assert before == [act.call.method, "hello", act.call.method]


class Slow(late_stores.Stored):
    """No defect: what is sent shows only after a minute by its clock."""

    def handle(self, method: str, params: Any, reply: Any, *rest: Any, **more: Any) -> None:
        def told(result: dict[str, Any]) -> None:
            reply({**result, "clock": "real", "settle_ms": 60_000} if method == "hello" else result)

        super().handle(method, params, told, *rest, **more)


def test_the_time_until_a_message_shows_passes_after_the_kill(tmp_path: Path) -> None:
    slept: list[tuple[str, float]] = []
    made = late_stores.Stored.made
    with connect(f"python:{__name__}:Slow", state_dir=tmp_path, in_process=True) as client:
        client.time = SimpleNamespace(sleep=lambda s: slept.append((made[-1], s)), monotonic=lambda: 0.0)  # type: ignore[assignment]
        history = History(client, Recorder(OPTIONS, lambda verdict, count: None))
        first, last = (Call("messages.send", message=name, handle="s", delivery="recoverable") for name in ("a", "b"))
        opened = Call("queues.open", name="s", queue="q1", access="send")
        history.run(Call("queues.create", queue="q1"), opened, first, last, KILL, KILL)
        assert slept == [("messages.send", 60.0), ("hello", 60.0)]
        driving = Driving(client)
        driving.perform(Call("restart", kill=True), State())
        assert len(slept) == 2
