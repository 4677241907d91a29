"""Histories on which a reader of the text and the model once disagreed: what the text says is what the model allows."""

from __future__ import annotations

import pytest

from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, State, States
from conformance.model.expected import Expected, Fails, Succeeds
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults

MODEL = Model(assignment("windows"))


def allowed(state: State, method: str, **members: object) -> tuple[Expected, ...]:
    """What may come of a call."""
    return MODEL.allowed(state, Call.from_json({"method": method, **members})).outcomes


def after(*calls: dict[str, object], state: State | None = None) -> State:
    """The state after these calls, each with the outcome that is demanded."""
    state = state or State()
    for call in calls:
        state = MODEL.allowed(state, Call.from_json(call)).outcomes[0].next
    return state


def made(queue: str, **members: object) -> dict[str, object]:
    return {"method": "queues.create", "queue": queue, **members}


def opened(name: str, queue: str, access: str = "receive") -> dict[str, object]:
    return {"method": "queues.open", "name": name, "queue": queue, "access": access}


def deleted(queue: str) -> dict[str, object]:
    return {"method": "queues.delete", "queue": queue}


def sent(message: str, handle: str, **members: object) -> dict[str, object]:
    return {"method": "messages.send", "message": message, "handle": handle, **members}


def musts(outcomes: tuple[Expected, ...]) -> list[str]:
    """The refusals that are allowed."""
    return [expected.result.must for expected in outcomes if isinstance(expected.result, Fails)]


def test_a_deleted_queue_and_an_ended_transaction_may_be_refused_in_either_order() -> None:
    ended = ({"method": "transactions.begin", "name": "t1"}, {"method": "transactions.commit", "transaction": "t1"})
    state = after(*ended, made("q1"), opened("h1", "q1"), deleted("q1"))
    outcomes = allowed(state, "messages.receive", handle="h1", transaction="t1")
    assert musts(outcomes) == ["MQDMPR-3.1.7.1.10.queue-not-available", "MQDMPR-3.1.4.4.transaction-ends"]
    assert len(allowed(state, "messages.receive", handle="h1")) == 1


def test_a_deleted_subqueue_opened_for_send_may_be_refused_for_either() -> None:
    state = after(made("q1"), opened("h1", "q1;one", "move"), deleted("q1"))
    outcomes = allowed(state, "queues.open", name="h2", queue="q1;one", access="send")
    assert musts(outcomes) == ["MQDMPR-3.1.7.1.5.not-found", "MQMP-3.1.4.17.subqueue-send-access"]
    (only,) = allowed(state, "queues.open", name="h2", queue="q1;one", access="receive")
    assert isinstance(only.result, Fails) and only.result.codes == (hresults.MQ_ERROR_QUEUE_NOT_FOUND,)


def test_a_purged_message_whose_receive_ends_was_not_received() -> None:
    acks = {"acks": "positive_receive+negative_receive", "admin": "adm"}
    start = after(
        made("adm"),
        made("q1", journaling=True),
        opened("h1", "q1", "send"),
        opened("h2", "q1"),
        sent("a", "h1", **acks),
        {"method": "messages.receive_begin", "name": "b1", "handle": "h2"},
        {"method": "queues.purge", "handle": "h2"},
    )
    for acknowledge in (True, False):
        state = after({"method": "messages.receive_end", "read": "b1", "acknowledge": acknowledge}, state=start)
        reports = [position.message for position in state.queues["adm"].positions if position.available]
        assert reports == ["ackC001-a@adm"]
        assert not any(position.available for position in state.queues["q1;JOURNAL"].positions)


def test_the_journal_of_a_deleted_queue_goes_with_it_or_is_left() -> None:
    state = after(
        made("q1", journaling=True),
        opened("h1", "q1", "send"),
        opened("h2", "q1"),
        opened("h3", "q1;JOURNAL"),
        sent("a", "h1"),
        {"method": "messages.receive", "handle": "h2"},
    )
    gone = after(deleted("q1"), state=state)
    (only,) = allowed(gone, "messages.receive", handle="h3")
    assert musts((only,)) == ["MQDMPR-3.1.7.1.10.queue-not-available"]
    strict = Model(assignment("strict")).allowed(state, Call("queues.delete", queue="q1")).outcomes
    assert {dict(way.readings)["R-MQDMPR-delete-satellites"] for way in strict} == {"left", "deleted"}
    left = strict[0].next
    (kept,) = allowed(left, "messages.receive", handle="h3")
    assert not isinstance(kept.result, Fails)


def test_a_queue_created_again_has_an_empty_journal() -> None:
    state = after(
        made("q1", journaling=True),
        opened("h1", "q1", "send"),
        opened("h2", "q1"),
        sent("a", "h1"),
        {"method": "messages.receive", "handle": "h2"},
        deleted("q1"),
        made("q1"),
        opened("h3", "q1;JOURNAL"),
    )
    (only,) = allowed(state, "messages.receive", handle="h3")
    assert isinstance(only.result, Fails)


def test_a_send_to_several_queues_does_not_reach_one_that_was_deleted_and_created_again() -> None:
    start = after(made("q1"), made("q2"), opened("h1", "q1,q2", "send"), deleted("q1"), made("q1"))
    outcomes = allowed(start, "messages.send", message="a", handle="h1")
    assert {dict(way.readings)["R-MQDMPR-send-after-delete"] for way in outcomes} == {"lost", "refused"}
    for way in outcomes:
        assert not any(position.available for position in way.next.queues["q1"].positions)
        assert way.next.handles["h1"] == start.handles["h1"]
    lost = outcomes[0]
    assert not isinstance(lost.result, Fails)
    assert [position.message for position in lost.next.queues["q2"].positions if position.available] == ["a@q2"]
    journaled = allowed(start, "messages.send", message="a", handle="h1", journal=True)[0].next
    copies = journaled.queues["SYSTEM;JOURNAL"].positions
    assert [position.message for position in copies if position.available] == ["a@q2@SYSTEM;JOURNAL"]


def test_copies_of_a_message_sent_to_several_queues_look_alike() -> None:
    state = after(
        made("q1"),
        made("q2"),
        opened("h1", "q1,q2", "send"),
        sent("a", "h1", journal=True),
        opened("h2", "SYSTEM;JOURNAL"),
    )
    read = Call("messages.receive", handle="h2")
    states, came = States((state,)), Observation(Answer(0, message=SeenMessage(b"a")))
    for _ in range(2):
        judged = MODEL.step(states, read, came)
        assert not judged.failed
        states = judged.states
    assert MODEL.step(states, read, came).failed


def test_a_read_that_waits_on_a_journal_may_get_the_copy_or_wait_on() -> None:
    state = after(
        made("q1", journaling=True),
        opened("h1", "q1", "send"),
        opened("h2", "q1"),
        opened("h3", "q1;JOURNAL"),
        sent("a", "h1"),
        {"method": "messages.peek", "name": "w1", "handle": "h3", "timeout_ms": 1000},
    )
    wakes, silent = allowed(state, "messages.receive", handle="h2")
    assert [completion.waiter for completion in wakes.completions] == ["w1"]
    assert not silent.completions and silent.next.waiters


def test_a_read_that_waits_for_an_acknowledgment_gets_it() -> None:
    state = after(
        made("adm"),
        made("q1"),
        opened("h1", "q1", "send"),
        opened("h2", "adm"),
        {"method": "messages.receive", "name": "w1", "handle": "h2", "timeout_ms": 1000},
    )
    (only,) = allowed(state, "messages.send", message="a", handle="h1", acks="positive_arrival", admin="adm")
    (end,) = only.completions
    assert isinstance(end.result, Succeeds) and end.result.message == "ack0002-a@adm"


def test_a_wait_that_ends_when_its_copy_may_come_is_not_judged() -> None:
    state = after(
        made("q1"),
        opened("h1", "q1", "send"),
        opened("h2", "SYSTEM;DEADLETTER"),
        sent("a", "h1", dead_letter=True, live_s=5),
        {"method": "messages.peek", "name": "w1", "handle": "h2", "timeout_ms": 60000},
    )
    with pytest.raises(BadCall, match="before the copy comes"):
        allowed(state, "clock.advance", by_ms=60000)


def test_no_acknowledgment_waits_for_a_queue_that_is_created_later() -> None:
    wishes = {"acks": "negative_receive", "admin": "adm"}
    state = after(made("adm"), made("q1"), opened("h1", "q1", "send"), deleted("adm"), sent("a", "h1", **wishes))
    state = after(deleted("q1"), made("adm"), state=state)
    assert not state.queues["adm"].positions


def test_no_acknowledgment_is_demanded_of_a_queue_that_may_not_take_it() -> None:
    wishes = {"acks": "positive_arrival", "admin": "adm"}
    start = after(made("adm", transactional=True), made("q1"), opened("h1", "q1", "send"))
    state = after(sent("a", "h1", **wishes), state=start)
    assert [position.doubtful for position in state.queues["adm"].positions] == [True]
    with pytest.raises(BadCall, match="takes acknowledgments"):
        allowed(start, "messages.send", message="a", handle="h1", acks="positive_arrival", admin="SYSTEM;DEADLETTER")


def test_a_message_with_no_time_to_be_received_is_a_dead_letter_at_once() -> None:
    state = after(
        made("q1"),
        opened("h1", "q1", "send"),
        sent("a", "h1", dead_letter=True, journal=True, live_s=0),
    )
    (letter,) = state.queues["SYSTEM;DEADLETTER"].positions
    (copy,) = state.queues["SYSTEM;JOURNAL"].positions
    assert letter.available and not letter.doubtful and copy.doubtful


def test_what_the_use_of_a_journaling_queue_leaves_is_not_counted() -> None:
    state = after(made("q1", journaling=True), {"method": "use", "queue": "q1"})
    counted = Answer(0, values={"messages": 0, "bytes": 0, "journal_messages": 1, "journal_bytes": 130})
    judged = MODEL.step(States((state,)), Call("queues.counts", queue="q1"), Observation(counted))
    assert not judged.failed
