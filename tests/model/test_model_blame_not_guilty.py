"""What a requirement is not blamed for: a wait that was seen to end, a time that another message has not."""

from __future__ import annotations

import pytest

from conformance.model import Answer, Call, Judged, Model, Observation, Scan, SeenMessage, States
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults
from conformance.verdict import Outcome

OK = Observation(Answer())
WAITS, CANCELLED = Observation(None), Answer.of_status(hresults.MQ_ERROR_OPERATION_CANCELLED)
START = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
)
RECEIVE = Call("messages.receive", handle="r")


def told(*steps: tuple[Call, Observation]) -> tuple[Model, States]:
    model, states = Model(assignment("windows")), States()
    for call, observation in (*((call, OK) for call in START), *steps):
        found = model.step(states, call, observation)
        assert not found.failed, found.verdicts
        states = found.states
    return model, states


def blamed(found: Judged) -> set[str]:
    return {verdict.requirement for verdict in found.verdicts if verdict.outcome is Outcome.FAIL}


@pytest.mark.parametrize(
    ("seen", "broken"),
    [(True, "MQDMPR-3.1.7.1.10.wakes"), (False, "MQDMPR-3.1.7.1.2.pending-read-ends")],
    ids=["seen-to-end", "not-seen-to-end"],
)
def test_a_wait_with_a_closed_cursor_that_was_seen_to_end_takes_nothing_from_others(seen: bool, broken: str) -> None:
    waits = [Call("messages.receive", name=f"w{n}", handle="r", cursor=f"c{n}", timeout_ms=60_000) for n in (1, 2)]
    closed = Observation(Answer(), {"w1": CANCELLED} if seen else {})
    model, states = told(
        *((Call("cursors.open", name=f"c{n}", handle="r"), OK) for n in (1, 2)),
        *((call, WAITS) for call in waits),
        (Call("cursors.close", cursor="c1"), closed),
    )
    send = Call("messages.send", message="a", handle="s")
    found = model.step(states, send, OK)
    assert blamed(model.step(states, send, OK, Scan((), "q")) if found.ask else found) == {broken}


@pytest.mark.parametrize(
    ("left", "broken"),
    [(("b",), "MQDMPR-3.1.2.4.not-early"), ((), "MQDMPR-3.1.7.1.9.available")],
    ids=["alone", "with-one-that-has-no-time"],
)
def test_time_has_not_taken_a_message_that_went_with_one_that_has_none(left: tuple[str, ...], broken: str) -> None:
    model, states = told(
        (Call("messages.send", message="a", handle="s", live_s=60), OK),
        (Call("messages.send", message="b", handle="s"), OK),
        (Call("clock.advance", by_ms=2_500), OK),
    )
    lost = Observation(Answer.of_status(hresults.MQ_ERROR))
    scan = Scan(left, "q", tuple(SeenMessage(name.encode()) for name in left))
    assert model.step(states, RECEIVE, lost).ask == "q"
    assert blamed(model.step(states, RECEIVE, lost, scan)) == {broken}
    if left:
        other = Observation(Answer(message=SeenMessage(b"b", "b", 3, "express", 2)))
        assert blamed(model.step(states, RECEIVE, other, Scan((), "q"))) == {broken}
