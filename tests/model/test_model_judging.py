"""What the model says of answers that are right, wrong, wrong in the code only, or inconsistent."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.model import Answer, BadCall, Call, Judged, Model, Observation, Scan, SeenMessage, States
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults
from conformance.verdict import Outcome

IO_TIMEOUT = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
NOT_FOUND = Answer.of_status(hresults.MQ_ERROR_MESSAGE_NOT_FOUND)
OK = Answer()
OPENED = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
)


def message(name: str, priority: int = 3, lookup: int | None = None) -> Answer:
    return Answer.of_status(0, SeenMessage(name.encode(), name, priority, "express", lookup))


def history(*steps: tuple[Call, Answer | None], readings: str = "windows") -> Judged:
    """The judgement of the last step; those before it must hold."""
    model = Model(assignment(readings))
    states, judged = States(), None
    for number, (call, answer) in enumerate([*((call, OK) for call in OPENED), *steps]):
        judged = model.step(states, call, Observation(answer))
        assert number >= len(steps) + len(OPENED) - 1 or not judged.failed, judged.verdicts
        states = judged.states
    assert judged is not None
    return judged


def outcomes(judged: Judged) -> Mapping[str, Outcome]:
    return {verdict.requirement: verdict.outcome for verdict in judged.verdicts}


SEND_A = (Call("messages.send", message="a", handle="s"), OK)
SEND_B = (Call("messages.send", message="b", handle="s"), OK)
RECEIVE = Call("messages.receive", handle="r")
PEEK = Call("messages.peek", handle="r")


WITHIN = (
    Call("queues.create", queue="q", transactional=True),
    *OPENED[1:],
    Call("transactions.begin", name="t"),
    Call("messages.send", message="a", handle="s", transaction="t", priority=5),
    Call("transactions.commit", transaction="t"),
)


@pytest.mark.parametrize(("priority", "failed"), [(0, False), (3, False), (5, False), (6, True)])
def test_the_priority_a_queue_keeps_of_a_transactional_message_is_no_field_of_a_packet(
    priority: int, failed: bool
) -> None:
    model, states = Model(assignment("windows")), States()
    for call in WITHIN:
        states = model.step(states, call, Observation(OK)).states
    seen = Answer.of_status(0, SeenMessage(b"a", "a", priority, "recoverable", None))
    judged = model.step(states, PEEK, Observation(seen))
    assert judged.failed == failed
    if failed:
        assert outcomes(judged)["MQDMPR-3.1.1.12.priority-unchanged"] is Outcome.FAIL


def test_the_right_message_passes() -> None:
    found = outcomes(history(SEND_A, SEND_B, (RECEIVE, message("a"))))
    assert found["MQDMPR-3.1.7.1.10.first-available"] is Outcome.PASS
    assert found["MQDMPR-3.1.1.2.arrival-order"] is Outcome.PASS
    assert set(found.values()) == {Outcome.PASS}


def test_a_wrong_code_breaks_the_code_and_not_the_failing() -> None:
    found = outcomes(history((RECEIVE, Answer.of_status(hresults.MQ_ERROR_ACCESS_DENIED))))
    assert found == {
        "MQDMPR-3.1.7.1.10.no-wait": Outcome.PASS,
        "MQDMPR-3.1.7.1.10.no-wait-code": Outcome.FAIL,
    }


def test_success_where_failure_is_due_breaks_the_failing() -> None:
    closed = (Call("queues.close", handle="r"), OK)
    found = outcomes(history(SEND_A, closed, (RECEIVE, message("a"))))
    assert found == {"MQDMPR-3.1.7.1.6.handle-closed": Outcome.FAIL}


@pytest.mark.parametrize(("second", "fails"), [(IO_TIMEOUT, False), (NOT_FOUND, True)])
def test_a_reading_once_followed_is_followed(second: Answer, fails: bool) -> None:
    assert history((RECEIVE, IO_TIMEOUT), (RECEIVE, second)).failed is fails


def test_a_reading_that_is_not_accepted_fails() -> None:
    assert not history((RECEIVE, NOT_FOUND)).failed
    assert history((RECEIVE, NOT_FOUND), readings="strict").failed


def test_a_verdict_names_the_readings_it_assumes() -> None:
    judged = history((RECEIVE, NOT_FOUND))
    assert ("R-MQDMPR-zero-timeout-status", "message-not-found") in judged.verdicts[0].readings


def test_a_missing_message_is_blamed_on_what_lost_it_once_the_queue_was_looked_into() -> None:
    model, states = Model(), States()
    for call, answer in [*((call, OK) for call in OPENED), SEND_A, SEND_B, (PEEK, message("a"))]:
        states = model.step(states, call, Observation(answer)).states
    wrong = Observation(message("b"))
    asked = model.step(states, RECEIVE, wrong)
    assert asked.failed and asked.ask == "q"
    lost = model.step(states, RECEIVE, wrong, Scan(()))
    assert outcomes(lost) == {"MQDMPR-3.1.7.1.15.keeps": Outcome.FAIL}
    there = model.step(states, RECEIVE, wrong, Scan(("a",)))
    assert outcomes(there) == {"MQDMPR-3.1.7.1.10.first-available": Outcome.FAIL}
    twice = model.step(states, RECEIVE, wrong, Scan(("a", "b")))
    assert outcomes(twice) == {"MQDMPR-3.1.7.1.9.once": Outcome.FAIL}


def test_properties_and_identifiers_are_compared() -> None:
    assert (
        outcomes(history(SEND_A, (PEEK, message("a", priority=4))))["MQDMPR-3.1.1.12.default-priority"] is Outcome.FAIL
    )
    peeks = [(PEEK, message("a", lookup=7)), (RECEIVE, message("a", lookup=7))]
    falls = outcomes(history(SEND_A, SEND_B, *peeks, (PEEK, message("b", lookup=6))))
    assert falls["MQDMPR-3.1.7.1.9.lookup-identifier-increases"] is Outcome.FAIL
    assert not history(SEND_A, SEND_B, *peeks, (PEEK, message("b", lookup=8))).failed


def test_a_read_that_should_wait_and_answers_is_early() -> None:
    waits = Call("messages.receive", name="w", handle="r", timeout_ms=1000)
    assert not history((waits, None)).failed
    assert outcomes(history((waits, IO_TIMEOUT))) == {"MQDMPR-3.1.7.1.10.waits": Outcome.FAIL}


def test_the_read_that_an_arrival_must_wake() -> None:
    waits = Call("messages.receive", name="w", handle="r", timeout_ms=1000)
    model, states = Model(), States()
    for call, answer in [*((call, OK) for call in OPENED), (waits, None)]:
        states = model.step(states, call, Observation(answer)).states
    send = SEND_A[0]
    pending = model.due(states, send)
    assert pending.endings == {frozenset("w")} and model.due(states, Call("clock.now")).endings == {frozenset()}
    assert model.step(states, send, Observation(OK), None, pending) == model.step(states, send, Observation(OK))
    with pytest.raises(ValueError, match="another call"):
        model.step(states, Call("clock.now"), Observation(OK), None, pending)
    assert not model.step(states, send, Observation(OK, {"w": message("a")})).failed
    assert outcomes(model.step(states, send, Observation(OK))) == {"MQDMPR-3.1.7.1.10.wakes": Outcome.FAIL}
    assert model.step(states, send, Observation(OK, {"w": IO_TIMEOUT})).failed


def test_what_no_section_describes_is_not_judged() -> None:
    with pytest.raises(BadCall):
        Model().step(States(), RECEIVE, Observation(OK))
    with pytest.raises(BadCall):
        Call.from_json({"method": "messages.receive", "wrong": 1})
    for wrong in ({"timeout_ms": "x"}, {"handle": 3}, {"priority": True}, {"by_ms": -1}):
        with pytest.raises(BadCall):
            Call.from_json({"method": "messages.receive", **wrong})
    assert Call.from_json(SEND_A[0].to_json()) == SEND_A[0]
