"""Worlds: objects with the queue manager behind them. A wrong answer is blamed on the member that has the effect."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace

import pytest

from conformance.activex.expected import Seen
from conformance.activex.plans import Plan, call_on, passes
from conformance.activex.plans_reads import (
    ABORT,
    BEGIN,
    RECEIVE,
    SOON,
    base,
    dispatch,
    opened,
    read,
    send,
    sent,
    watched,
)
from conformance.activex.plans_reads import message as text_message
from conformance.activex.reference_answers import Objects, answer, message, played
from conformance.activex.scenes import read_plans
from conformance.activex.values import MISSING, Variant, text, truth
from conformance.activex.walk import walks
from conformance.verdict import Outcome, Verdict

NULL = Seen(0, Variant("DISPATCH"))
NOT_FOUND, PRINTED, TIMED_OUT, DENIED = 0xC00E0088, 0xC00E0008, 0xC00E001B, 0xC00E0025


def run(plan: Plan, readings: Mapping[str, tuple[str, ...]] | None = None) -> Objects:
    """Return the objects after ideal answers to a plan."""
    objects = Objects(readings or {})
    for act in plan:
        seen, ended = answer(objects, act)
        verdicts = objects.do(act, seen, ended)
        assert {verdict.outcome for verdict in verdicts} <= {Outcome.PASS}, act
    assert not objects.world.lost
    return objects


def broken(verdicts: tuple[Verdict, ...]) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}


def sections(verdicts: tuple[Verdict, ...]) -> set[str]:
    return {name.rpartition(".")[0] for name in broken(verdicts)}


def test_every_plan_is_followed_to_its_end() -> None:
    """No plan asks for anything that the model does not describe: it would not be judged from there on."""
    for world, act, _, _, verdicts in played((*read_plans(), *walks(0, 5)), {}):
        assert not world.lost, act
        assert {verdict.outcome for verdict in verdicts} <= {Outcome.PASS}, act


def test_a_message_that_comes_again_is_the_fault_of_the_receive_that_took_it() -> None:
    objects = run((*base("a", "b"), read("Receive", "m")))
    act = read("Peek", "p")
    verdicts = objects.do(act, message(objects.world, act.call, "a", "p"))  # type: ignore[arg-type]
    assert broken(verdicts) == {"MQAC-3.11.4.1.14.remove-suitable-message-message-position-list"}


def test_a_message_that_a_transaction_holds_is_hidden_by_its_receive() -> None:
    taken = read("ReceiveCurrent", "m", transaction=dispatch("t"))
    objects = run((*watched("a", "b", transactional=True), *BEGIN, taken))
    act = read("Peek", "p")
    verdicts = objects.do(act, message(objects.world, act.call, "a", "p"))  # type: ignore[arg-type]
    assert "MQAC-3.11.4.1.16.state-suitable-message-property" in broken(verdicts)
    assert sections(verdicts) == {"MQAC-3.11.4.1.16"}


def test_a_message_that_an_abort_does_not_give_back() -> None:
    taken = read("Receive", "m", transaction=dispatch("t"))
    objects = run((*watched("a", "b", transactional=True), *BEGIN, taken, ABORT))
    act = read("Peek", "p")
    verdicts = objects.do(act, message(objects.world, act.call, "b", "p"))  # type: ignore[arg-type]
    assert "MQAC-3.11.4.1.14.add-transactional-operation-transactional" in broken(verdicts)


def test_the_wrong_message_is_the_fault_of_the_read() -> None:
    objects = run(base("a", "b"))
    act = read("Peek", "p")
    verdicts = objects.do(act, message(objects.world, act.call, "b", "p"))  # type: ignore[arg-type]
    assert sections(verdicts) == {"MQAC-3.11.4.1.15"}
    assert objects.world.lost


@pytest.mark.parametrize(
    ("accepted", "seen", "holds"),
    [
        (("null", "error"), NULL, True),
        (("null", "error"), Seen(NOT_FOUND), True),
        (("null", "error"), Seen(PRINTED), False),
        (("null", "error"), Seen(TIMED_OUT), False),
        (("error",), NULL, False),
        (("null",), Seen(NOT_FOUND), False),
    ],
)
def test_a_read_that_finds_nothing(accepted: tuple[str, ...], seen: Seen, holds: bool) -> None:
    objects = run(base(), {"R-MQAC-read-timeout": accepted})
    verdicts = objects.do(read("Receive"), seen)
    assert (broken(verdicts) == set()) is holds
    assert verdicts


def test_the_number_that_is_printed_is_a_reading() -> None:
    objects = run(base(), {"R-MQAC-message-not-found-value": ("by-name", "as-printed")})
    assert not broken(objects.do(read("Receive"), Seen(PRINTED)))


def test_a_read_that_waits_ends_in_time() -> None:
    objects = run((*base(), read("Receive", timeout=SOON)))
    early = run((*base(), read("Receive", timeout=SOON)))
    assert broken(early.do(passes(500), None, {"m": Seen(TIMED_OUT)}))
    assert not broken(objects.do(passes(500), None))
    assert sections(objects.do(passes(500), None)) == {"MQAC-3.11.4.1.14", "MQAC-3.11.2"}


def test_a_read_that_waits_is_given_the_message_that_is_sent() -> None:
    objects = run((*base(), read("Peek", timeout=MISSING), *sent("a")[:-1]))
    act = sent("a")[-1]
    assert objects.due(act) == {"m"}
    assert sections(objects.do(act, Seen(0), {})) == {"MQAC-3.11.4.1.15"}


def test_what_a_read_did_not_ask_for_is_not_there() -> None:
    objects = run((*base("a"), read("Peek", given={"WantBody": truth(False)})))
    act = call_on("m", "Body", kind="get")
    body = Seen(0, Variant("ARRAY", b"body of a", "UI1"))
    assert broken(objects.do(act, body)) == {"MQAC-3.11.4.1.15.want-body-false"}
    assert not broken(objects.do(act, Seen(0, Variant("EMPTY"))))
    assert not broken(objects.do(act, Seen(0x80004005)))


def test_another_body_is_the_fault_of_the_getter_and_none_that_of_the_read_that_asked_for_it() -> None:
    objects = run((*base(), *text_message("a", body=True), send("a")))
    act = read("Receive", "m")
    seen, _ = answer(objects, act)
    assert seen is not None
    other = replace(seen, shown={**seen.shown, "Body": Seen(0, text("other"))})
    assert {name.rpartition(".")[0] for name in broken(deepcopy(objects).do(act, other))} == {"MQAC-3.17.4.1.21"}
    none = replace(seen, shown={**seen.shown, "Body": Seen(0, Variant("EMPTY"))})
    assert {"MQAC-3.11.4.1.14.want-body-true", "MQAC-3.11.4.1.14.want-body-default"} <= broken(objects.do(act, none))


def test_the_state_is_tested_before_the_access_and_this_before_the_transaction() -> None:
    wrong = read("Receive", transaction=text("a"))
    assert not broken(run(base("a", access=2)).do(wrong, Seen(DENIED)))
    assert broken(run(base("a", access=2)).do(wrong, Seen(0x80004005)))
    assert broken(run((*base("a", access=2), call_on("q", "Close"))).do(wrong, Seen(DENIED)))


def test_a_wrong_answer_is_the_last_that_the_model_judges() -> None:
    objects = run(base("a"))
    objects.do(read("Receive"), NULL)
    assert objects.world.lost
    assert not objects.do(read("Receive"), Seen(0x80004005))
    assert not broken(objects.do(call_on("q", "Access", kind="get"), Seen(0, Variant("I4", RECEIVE))))


def test_a_peek_sees_what_was_received_with_leave_to_peek() -> None:
    taken = read("ReceiveByLookupIdAllowPeek", "m", of="a", transaction=dispatch("t"))
    plan = (*watched("a", "b", transactional=True), *BEGIN, taken)
    act = read("Peek", "p")
    objects = run(plan)
    assert not broken(objects.do(act, message(objects.world, act.call, "a", "p")))  # type: ignore[arg-type]
    hidden = run(plan)
    verdicts = hidden.do(act, message(hidden.world, act.call, "b", "p"))  # type: ignore[arg-type]
    assert broken(verdicts) == {"MQAC-3.11.4.1.33.property-message-allow-peek-when-locked"}
    receive = read("Receive", "r", transaction=dispatch("t"))
    assert not broken(run(plan).do(receive, message(hidden.world, receive.call, "b", "r")))  # type: ignore[arg-type]


def test_a_second_opening_is_refused_while_the_queue_is_closed_to_others() -> None:
    alone = call_on("i", "Open", Variant("I4", 1), Variant("I4", 1), gives="x")
    objects = run((*base("a")[:4], alone))
    assert broken(objects.do(opened(RECEIVE, "y"), Seen(0, Variant("DISPATCH", "y"))))


def test_messages_that_look_alike_are_told_by_their_order() -> None:
    run((*base(), *text_message("a"), send("a"), send("a"), read("Receive", "m1"), read("Receive", "m2"), read("Peek")))
