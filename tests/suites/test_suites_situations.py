"""Planned histories: an honest manager meets what was planned, and each way in which a driver falls short is told."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from small_book import small_book

from conformance.adapter.client import Client
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.findings import expiring, fitted
from conformance.histories.operations.reads import LONG_MS
from conformance.histories.situations import play as playing
from conformance.histories.situations.book import CHUNKS, DEFAULT_RESTARTS, Book, Planned, chunk, selection
from conformance.histories.situations.coverage import CUT, FAILED, NOT_OFFERED, OTHERWISE, Met, packed, unpacked
from conformance.histories.situations.play import Known, Player
from conformance.histories.situations.probe import restarts
from conformance.histories.situations.situation import space
from conformance.model import Call
from conformance.run import run
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)
Opened = Callable[[str], Client]


@cache
def book() -> Book:
    return small_book(2, 20)


def player(client: Client, known: Known | None = None, options: RunOptions = OPTIONS) -> tuple[Player, Recorder]:
    judge = Recorder(options, lambda verdict, count: None)
    return Player(GuardedClient(client), judge, options, space(), known), judge


def planned(*histories: Planned) -> set[int]:
    return {number for one in histories for numbers in one.met for number in numbers}


def told(made: Player) -> list[Verdict]:
    return [failure.verdict for failure in made.told(20.0)]


def test_an_honest_manager_meets_what_was_planned(opened: Opened) -> None:
    made, judge = player(opened("embedded"))
    met = made.play(book().histories)
    assert not told(made) and not judge.cut
    lost = planned(*book().histories) - met.met
    assert len(lost) < len(planned(*book().histories)) / 50, "some follow from readings that the manager has otherwise"
    assert met.played == len(book().histories)
    assert met.calls < 2 * sum(len(one.calls) for one in book().histories)


def test_a_probe_restarts_the_manager_in_a_share_of_the_histories(opened: Opened) -> None:
    made, _ = player(opened("embedded"))
    assert sum(map(made.due, book().histories[:17])) == 2
    assert sum(restarts(number, cheap=False) for number in range(96)) == 3


def test_a_deviation_is_told_once_by_all_tests_of_a_worker(opened: Opened) -> None:
    client, known = opened("embedded+ignores-priority"), Known()
    first, _ = player(client, known)
    first.play(book().histories)
    found = told(first)
    assert found and {verdict.outcome for verdict in found} == {Outcome.FAIL}
    assert "MQMQ-2.2.19.1.higher-priority-nearer-front" in {verdict.requirement for verdict in found}
    second, judge = player(client, known)
    met = second.play(book().histories)
    assert not told(second), "the same histories show nothing new"
    assert not judge.first_failures and not met.met, "and meet nothing new"


def test_a_run_that_stops_at_the_first_deviation_plays_no_more(opened: Opened) -> None:
    made, _ = player(opened("embedded+ignores-priority"), options=replace(OPTIONS, first_only=True))
    met = made.play(book().histories)
    assert len(told(made)) == 1
    assert met.played < len(book().histories) and met.fell[CUT] and met.fell[FAILED]


def test_what_fails_now_and_then_is_flaky(opened: Opened) -> None:
    made, _ = player(opened("python:faulty_managers:ForgetsLabelNowAndThen"))
    made.play(book().histories)
    flaky = [verdict for verdict in told(made) if verdict.outcome is Outcome.FLAKY]
    assert flaky and all("/5)" in str(verdict.reason) for verdict in flaky)


def test_a_crash_is_told_and_the_other_histories_are_played(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MAX_GONE", 1_000)
    made, judge = player(opened("python:faulty_managers:CrashesAtThirdMessage"))
    histories = book().histories[:8]
    met = made.play(histories)
    crashes = [verdict for verdict in told(made) if verdict.outcome is Outcome.CRASH]
    assert crashes and any("the driver went away in history" in remark for remark in judge.remarks)
    assert met.played == len(histories) and met.fell[FAILED] and met.met


def test_a_driver_that_goes_away_again_and_again_ends_the_test(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MAX_GONE", 1)
    made, judge = player(opened("python:faulty_managers:CrashesAtThirdMessage"))
    met = made.play(book().histories)
    assert met.played < len(book().histories) and not judge.cut


def test_what_a_driver_does_not_offer_is_told_as_such(opened: Opened) -> None:
    made, _ = player(opened("python:memory_manager:HonestManager"))
    met = made.play(book().histories)
    assert not told(made)
    lacking = {number for number in met.fell[NOT_OFFERED] if space().situation(number).method == "outgoing.take"}
    assert lacking, "it has no outgoing queues"
    assert FAILED not in met.fell and len(met.met) > 1_000


def test_a_test_without_time_plays_nothing_and_says_so(opened: Opened) -> None:
    made, judge = player(opened("embedded"))
    judge.until = 0.0
    met = made.play(book().histories[:3])
    assert judge.cut and not met.met and met.fell[CUT] == planned(*book().histories[:3])


def test_a_real_clock_plays_histories_without_moving_it(opened: Opened) -> None:
    made, _ = player(opened("python:memory_manager:RealClock"))
    met = made.play([one for one in book().histories if one.virtual][:2])
    assert met.fell[NOT_OFFERED] and not met.played
    wait = Call("messages.receive", name="w1", handle="h2", timeout_ms=20)
    calls = (*book().histories[0].calls[:3], wait, Call("clock.advance", by_ms=20))
    waited = Planned(0, calls, tuple(() for _ in calls), False, frozenset(call.method for call in calls), 20)
    met = made.play([waited])
    assert met.played == 1 and not told(made)


# --- waits on a real clock

READ = Call("messages.receive", name="w1", handle="r", timeout_ms=50)
SEND = Call("messages.send", message="a", handle="s")


def test_a_read_that_is_left_to_its_time_out_is_one_wait() -> None:
    end = Call("clock.advance", by_ms=50)
    assert list(expiring([SEND, READ, end, SEND])) == [(SEND, None), (READ, end), (SEND, None)]
    assert list(expiring([READ, READ])) == [(READ, None), (READ, None)]
    assert fitted([SEND, READ, end]) == (SEND, READ, end)


def test_a_wait_that_a_message_ends_is_long_on_a_real_clock() -> None:
    assert fitted([READ, SEND]) == (replace(READ, timeout_ms=LONG_MS), SEND)


@pytest.mark.parametrize(
    "late", [(READ, SEND, Call("clock.advance", by_ms=50)), (Call("clock.advance", by_ms=60_000),)]
)
def test_some_histories_are_not_for_a_real_clock(late: tuple[Call, ...]) -> None:
    assert fitted(late) is None


# --- which histories


def test_the_tests_in_turn_play_the_book_in_its_order() -> None:
    parts = [chunk(book().histories, number) for number in range(CHUNKS)]
    assert [one for part in parts for one in part] == list(book().histories)


def test_a_number_of_situations_is_a_beginning_of_the_book() -> None:
    few = selection(book().histories, "3000", space())
    assert few == book().histories[: len(few)] and len(planned(*few)) >= 3_000 > len(planned(*few[:-1]))
    assert (
        selection(book().histories, "all", space())
        == book().histories
        == selection(book().histories, "999999", space())
    )
    assert len(selection(book().histories, "default", space())) == len(book().histories)
    restart = Planned(0, (Call("restart"),), ((),), False, frozenset(), 0)
    assert len(selection((restart,) * 200, "default", space())) == DEFAULT_RESTARTS
    assert len(selection(book().histories, "pairs", space())) <= len(book().histories)


# --- what a record keeps


def test_numbers_are_kept_and_read_again() -> None:
    numbers = {0, 1, 127, 128, 129, 70_000, 193_536}
    assert unpacked(packed(numbers)) == numbers and unpacked(packed(())) == set()
    met = Met(numbers, {FAILED: {5}, CUT: set()}, 3, 40)
    assert Met.from_json(met.to_json()) == Met(numbers, {FAILED: {5}}, 3, 40)
    assert met.since(Met({0}, {FAILED: {5}})).met == numbers - {0}


@pytest.mark.parametrize(
    "text",
    [
        None,
        "no base64",
        base64.b64encode(b"no zlib").decode(),
        packed({1, 2, 3})[:-8],
        base64.b64encode(zlib.compress(b"\x01" * (1 << 24))).decode(),
        base64.b64encode(zlib.compress(b"\xff" * 40)).decode(),
    ],
)
def test_other_texts_are_no_numbers(text: object) -> None:
    with pytest.raises(ValueError, match="num"):
        unpacked(text)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        Met.from_json({"met": text, "fell": {}, "played": 1, "calls": 1})  # type: ignore[dict-item]


def test_a_failure_of_a_known_requirement_is_not_told_twice() -> None:
    heard: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: None, on_first_failure=heard.append)
    judge.told_before(["MQDMPR-3.2.7.3.moves"])
    with pytest.raises(ConformanceFailure):
        judge.record(Verdict("MQDMPR-3.2.7.3.moves", Outcome.FAIL, "s", 1, 2))
    assert not heard and not judge.first_failures


def test_a_name_that_a_restart_took_away_ends_its_history(opened: Opened) -> None:
    """The model may judge a call by a handle from before a restart; the harness has nothing to send in its place."""
    calls = (
        Call("queues.create", queue="q1", transactional=True),
        Call("transactions.begin", name="t1"),
        Call("restart"),
        Call("transactions.abort", transaction="t1"),
        Call("queues.create", queue="q2"),
    )
    history = Planned(0, calls, ((), (), (), (1,), (2,)), False, frozenset(), 0)
    made, _ = player(opened("embedded"))
    met = made.play([history])
    assert met.fell[OTHERWISE] == {1, 2} - met.met and not told(made)


def test_a_cursor_whose_handle_ended_with_the_manager_does_not_disturb_the_harness(tmp_path: Path) -> None:
    """In permissive readings, a message that a restart removes has been one at which such a cursor stood."""
    result = run(
        adapter="embedded",
        suites="situations",
        readings="permissive",
        out=tmp_path,
        pytest_args=("-k", "test_planned_histories[12] or test_planned_histories[16]"),
    )
    assert result.record is not None and result.record.said
    assert [one for one in result.record.verdicts if one.verdict.outcome is Outcome.ERROR] == []
