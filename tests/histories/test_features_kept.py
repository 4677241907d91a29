"""Features of what a message asks for, and of what its queue was like when it came: each case in some history."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from conformance.histories.features.facts import ASKED, kinds
from conformance.histories.features.table import FEATURES
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.table import METHODS
from conformance.histories.situations.probe import probe
from conformance.histories.situations.specified_calls import after, default_model, states
from conformance.model import Call, State

MODEL = default_model()
PLAIN = (
    Call("queues.create", queue="adm"),
    Call("queues.create", queue="q1"),
    Call("queues.open", name="h1", queue="q1", access="send"),
    Call("queues.open", name="h2", queue="q1", access="receive"),
)
SEND = Call("messages.send", message="a", handle="h1")
RECEIVE = Call("messages.receive", handle="h2")
PURGE = Call("queues.purge", handle="h2")
RESTART = Call("restart", kill=True)
TWO = tuple(
    call
    for number, name in ((1, "q1"), (3, "q2"))
    for call in (
        Call("queues.create", queue=name, transactional=True),
        Call("queues.open", name=f"h{number}", queue=name, access="send"),
        Call("queues.open", name=f"h{number + 1}", queue=name, access="receive"),
    )
)


def value(feature: str, before: Iterable[Call], call: Call) -> str | None:
    state = states(MODEL, before)[-1]
    return next(one for one in FEATURES[call.method] if one.name == feature).of(state, call)


def journaling(on: int) -> Call:
    return Call("queues.set", queue="q1", values=(("PROPID_Q_JOURNAL", on),))


def sent(**options: object) -> tuple[Call, ...]:
    return (*PLAIN, Call("messages.send", message="a", handle="h1", **options))  # type: ignore[arg-type]


def test_every_choice_of_acknowledgments_has_a_case() -> None:
    signs = [f"{sign}_{end}" for sign in ("positive", "negative") for end in ("arrival", "receive")]
    found = {kinds([one for place, one in enumerate(signs) if bits >> place & 1]) for bits in range(16)}
    assert found == set(ASKED)


@pytest.mark.parametrize("call", [PURGE, Call("queues.delete", queue="q1"), RESTART])
def test_a_loss_tells_which_acknowledgments_were_asked_for(call: Call) -> None:
    asks = sent(acks="positive_arrival", admin="adm", delivery="recoverable")
    assert value("asked", asks, call) == "positive_arrival"
    assert value("asked", sent(acks="negative_arrival+negative_receive", delivery="recoverable"), call) == "none"
    gone = (*asks, Call("queues.delete", queue="adm"))
    assert value("asked", gone, call) is None, "they have no queue to go to"


def test_an_expiry_and_the_end_of_a_receive_tell_it_too() -> None:
    asks = sent(acks="negative_receive+positive_arrival", admin="adm", live_s=2)
    assert value("asked", asks, Call("clock.advance", by_ms=4000)) == "both_signs"
    begun = (*asks, Call("messages.receive_begin", name="b1", handle="h2"))
    end = Call("messages.receive_end", read="b1", acknowledge=True)
    assert value("asked", begun, end) == "both_signs"


@pytest.mark.parametrize(
    ("switches", "expected"),
    [((), "off"), ((1,), "switched_on"), ((1, 0), "off"), ((1, 1), "switched_on"), ((0,), "off")],
)
def test_journaling_is_told_as_it_is_and_as_it_was_at_the_arrival(switches: tuple[int, ...], expected: str) -> None:
    switched = tuple(journaling(on) for on in switches)
    assert value("journaling", (*PLAIN, SEND, *switched), RECEIVE) == expected
    before = expected.removeprefix("switched_")
    assert value("journaling", (*PLAIN, *switched, SEND), RECEIVE) == before, "it was so when the message came"
    if before == "on":
        assert value("journaling", (*PLAIN, *switched, SEND, journaling(0)), RECEIVE) == "switched_off"


def test_a_commit_tells_it_of_what_it_has_received() -> None:
    held = (
        *TWO,
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="a", handle="h1", transaction="t1"),
        Call("transactions.commit", transaction="t1"),
        Call("transactions.begin", name="t2"),
        Call("messages.receive", handle="h2", transaction="t2"),
        journaling(1),
    )
    assert value("journaling", held, Call("transactions.commit", transaction="t2")) == "switched_on"


def test_a_quota_may_be_lowered_below_what_is_there() -> None:
    lowered = Call("queues.set", queue="q1", values=(("PROPID_Q_QUOTA", 20),))
    there = sent(size=30 * 1024)
    assert value("quota", there, RESTART) == "within"
    assert value("quota", (*there, lowered), RESTART) == "below"
    again = Call("messages.send", message="b", handle="h1")
    assert value("quota", (*there, lowered), again) == "queue_below"
    begun = (*there, Call("messages.receive_begin", name="b1", handle="h2"), lowered)
    assert value("quota", begun, Call("messages.receive_end", read="b1", acknowledge=False)) == "within", (
        "no section says whether a begun receive takes room"
    )


@pytest.mark.parametrize("call", [Call("queues.delete", queue="q1"), PURGE])
def test_a_loss_tells_what_the_transaction_has_done_elsewhere(call: Call) -> None:
    filled = (
        *TWO,
        Call("transactions.begin", name="t1"),
        *(Call("messages.send", message=f"m{h}", handle=h, transaction="t1") for h in ("h1", "h3")),
        Call("transactions.commit", transaction="t1"),
        Call("transactions.begin", name="t2"),
    )
    here = (*filled, Call("messages.receive", handle="h2", transaction="t2"))
    there = Call("messages.receive", handle="h4", transaction="t2")
    sends = Call("messages.send", message="b", handle="h3", transaction="t2")
    assert value("transaction", filled, call) == "none"
    assert value("transaction", (*filled, there), call) == "none", "it has done nothing here"
    assert value("transaction", here, call) == "here_alone"
    assert value("transaction", (*here, there), call) == "receives_elsewhere"
    assert value("transaction", (*here, there, sends), call) == "sends_elsewhere"


@pytest.mark.parametrize(("delivery", "expected"), [("express", "express"), ("recoverable", "recoverable")])
def test_a_restart_tells_which_copies_are_kept(delivery: str, expected: str) -> None:
    expired = (*sent(dead_letter=True, live_s=2, delivery=delivery), Call("clock.advance", by_ms=4000))
    assert value("dead_letters", expired, RESTART) == expected
    assert value("dead_letters", sent(delivery=delivery), RESTART) == "none"
    assert value("system_journal", sent(journal=True, delivery=delivery), RESTART) == expected
    received = (*PLAIN, journaling(1), *sent(delivery=delivery)[len(PLAIN) :], RECEIVE)
    assert value("journals", received, RESTART) == expected
    assert value("journals", (*PLAIN, journaling(1)), RESTART) == "empty"


def test_a_dead_letter_of_a_transaction_is_told_apart() -> None:
    expired = (
        *TWO,
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="a", handle="h1", transaction="t1", dead_letter=True, live_s=2),
        Call("transactions.commit", transaction="t1"),
        Call("clock.advance", by_ms=4000),
    )
    assert value("dead_letters", expired, RESTART) == "transactional"


def test_a_probe_with_little_room_still_looks_for_reports_that_nobody_asked_for() -> None:
    calls = (*sent(acks="positive_receive", admin="adm"), *[SEND, PURGE][1:])
    state: State = states(MODEL, calls)[-1]
    asking = probe(0, state, Offer(METHODS, virtual=True), most=2)
    first = next(asking)
    assert (first.method, first.queue) == ("queues.open", "adm")
    assert asking.send(after(MODEL, state, first)).method == "messages.receive"
