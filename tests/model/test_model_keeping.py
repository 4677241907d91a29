"""Quotas, journals, reports and times: every history of a small manager keeps account of every message, once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, State, States
from conformance.model.expected import Either, Expected, Fails, Succeeds
from conformance.model.journals import (
    DEAD_LETTER,
    DEAD_LETTER_TRANSACTIONAL,
    SYSTEM_JOURNAL,
    is_kept,
    journal_of,
    plain_name,
)
from conformance.model.message_properties import used
from conformance.model.tables import POSITION, PositionEvent, PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import assignment, requirement_id
from conformance.verdict import Outcome

MODEL = Model(assignment("permissive"))
JOURNAL = journal_of("q")
WISHES: tuple[dict[str, object], ...] = (
    {"journal": True, "dead_letter": True, "live_s": 1},
    {"acks": "positive_arrival+positive_receive+negative_receive", "admin": "adm", "size": 6000},
)


COMMITTED = (
    Call("transactions.begin", name="t1"),
    Call("messages.send", message="a", handle="s", transaction="t1", live_s=1, dead_letter=True, journal=True),
    Call("transactions.commit", transaction="t1"),
)


def begun(*, transactional: bool, **attributes: int) -> State:
    """A queue that journals, with a quota of two messages, and one for reports."""
    state = State()
    for call in (
        Call("clock.now"),
        Call("queues.create", queue="adm"),
        Call("queues.create", queue="q", transactional=transactional, journaling=True, **attributes),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
        Call("queues.open", name="j", queue=JOURNAL, access="receive"),
        Call("queues.open", name="d", queue=DEAD_LETTER, access="receive"),
        *(COMMITTED if transactional else ()),
    ):
        state = MODEL.allowed(state, call).outcomes[0].next
    return state


def calls(state: State) -> Iterator[Call]:
    """What can be asked."""
    transactional = state.queues["q"].transactional
    sent = len(state.queues["q"].positions)
    live = [name for name, found in state.transactions.items() if found.ended is None]
    if transactional and not live and len(state.transactions) < 2:
        yield Call("transactions.begin", name=f"t{len(state.transactions) + 1}")
    for within in live if transactional else [None]:
        for wishes in WISHES if sent < (3 if transactional else 2) else ():
            yield Call("messages.send", message="abc"[sent], handle="s", transaction=within, **wishes)  # type: ignore[arg-type]
        yield Call("messages.receive", handle="r", transaction=within)
    for name in live:
        yield Call("transactions.commit", transaction=name)
        yield Call("transactions.abort", transaction=name)
    yield Call("messages.receive", handle="j")
    yield Call("messages.receive", handle="d")
    yield Call("clock.advance", by_ms=1500)
    yield Call("queues.purge", handle="r")


@cache
def explored(transactional: bool) -> tuple[tuple[State, Call, Expected], ...]:
    """Every step of every history up to a depth, breadth first."""
    seen: set[object] = set()
    level, steps = [begun(transactional=transactional, quota_kb=8)], []
    for _ in range(5):
        following: list[State] = []
        for state in level:
            for call in calls(state):
                try:
                    outcomes = MODEL.allowed(state, call).outcomes
                except BadCall:
                    continue
                for expected in outcomes:
                    steps.append((state, call, expected))
                    after = MODEL.step(States((state,)), call, observed(expected, state, call)).states
                    for following_state in after.states:
                        key = (following_state.key(), tuple(sorted(following_state.assumed.items())))
                        if key not in seen:
                            seen.add(key)
                            following.append(following_state)
        level = following
    return tuple(steps)


def observed(expected: Expected, state: State, call: Call) -> Observation:
    """What an implementation that went this way would show."""
    result = expected.result
    if isinstance(result, Either):
        return Observation(Answer.of_status(0))
    if isinstance(result, Fails):
        codes = result.codes or tuple(code for _, code in result.by_reading if code is not None) or (0xC00E0001,)
        return Observation(Answer.of_status(codes[0]))
    assert isinstance(result, Succeeds)
    if result.message is None:
        return Observation(Answer.of_status(0))
    sent = state.position(state.handles[call.handle or ""].queue, result.message)
    size = sent.wishes.size if sent.wishes is not None else 0
    body = plain_name(result.message).encode().ljust(size)
    return Observation(Answer.of_status(0, SeenMessage(body, plain_name(result.message))))


KINDS = pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])


@KINDS
def test_what_is_allowed_is_accepted(transactional: bool) -> None:
    for state, call, expected in explored(transactional):
        judged = MODEL.step(States((state,)), call, observed(expected, state, call))
        assert not judged.failed, (call, expected.result, judged.verdicts)


@KINDS
def test_every_claim_is_a_requirement(transactional: bool) -> None:
    for _, _, expected in explored(transactional):
        for name in (expected.requirement, *expected.also):
            assert not name or requirement_id(name)
        for queue in expected.next.queues.values():
            for position in queue.positions:
                assert requirement_id(position.claim)


@KINDS
def test_a_message_is_journaled_once_if_it_was_received_for_good(transactional: bool) -> None:
    for _, _, expected in explored(transactional):
        state = expected.next
        received = {
            position.message
            for position in state.queues["q"].positions
            if position.claim in ("MQDMPR-3.1.7.1.10.removes", "MQDMPR-3.1.4.4.receives-gone")
        }
        copies = [plain_name(position.message) for position in state.queues[JOURNAL].positions]
        assert len(copies) == len(set(copies))
        assert received <= set(copies)


@KINDS
def test_a_dead_letter_was_lost_and_is_in_one_queue(transactional: bool) -> None:
    for _, _, expected in explored(transactional):
        state = expected.next
        lost = {p.message for p in state.queues["q"].positions if p.state is PositionState.DELETED}
        places = [state.queues[name] for name in (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL) if name in state.queues]
        there = [plain_name(position.message) for queue in places for position in queue.positions if position.available]
        assert len(there) == len(set(there))
        assert set(there) <= lost


@KINDS
def test_a_quota_is_never_surely_exceeded(transactional: bool) -> None:
    for _, _, expected in explored(transactional):
        queue = expected.next.queues["q"]
        quota = queue.attributes.quota if queue.attributes is not None else None
        assert quota is not None
        assert used(expected.next, [queue], uncommitted=False)[0] <= quota or transactional


@KINDS
def test_copies_stay_when_time_passes(transactional: bool) -> None:
    for before, call, expected in explored(transactional):
        if call.method == "clock.advance":
            for name, queue in before.queues.items():
                old = {position.message for position in queue.positions if position.available}
                new = {position.message for position in expected.next.queues[name].positions if position.available}
                assert not is_kept(name) or old <= new


def test_every_reading_and_the_end_of_a_time_are_reached() -> None:
    steps = (*explored(False), *explored(True))
    assumed = {reading for _, _, expected in steps for reading in expected.readings}
    for name in (
        "R-MQDMPR-target-journal-time",
        "R-MQDMPR-dead-letter-queue",
        "R-MQDMPR-expiry-while-locked",
        "R-MQDMPR-quota-uncommitted",
    ):
        alternatives = set(MODEL.rules.known(name))
        assert {alternative for reading, alternative in assumed if reading == name} == alternatives, name
    expiry = next(row.id for row in POSITION if row.event is PositionEvent.EXPIRE)
    assert expiry in {row for _, _, expected in steps for row in expected.transitions}


def test_journals_of_the_manager_hold_what_was_asked_for_and_nothing_else() -> None:
    wanted = [p for _, _, e in explored(False) for p in e.next.queues.get(SYSTEM_JOURNAL, e.next.queues["q"]).positions]
    assert {p.claim for p in wanted if "@SYSTEM" in p.message and p.available} == {
        "MQDMPR-3.1.1.12.positive-journaling",  # and nothing of its time: nobody has seen it before that was over
    }


def test_a_wrong_answer_is_blamed_on_the_copy() -> None:
    states = States((begun(transactional=False),))
    post = Call("messages.send", message="a", handle="s")
    states = MODEL.step(states, post, Observation(Answer.of_status(0))).states
    came = Observation(Answer.of_status(0, SeenMessage(b"a", "a")))
    judged = MODEL.step(states, Call("messages.receive", handle="j"), came)
    assert [v.requirement for v in judged.verdicts if v.outcome is Outcome.FAIL] == ["MQMQ-2.3.1.4.journal-none"]


def test_a_report_of_an_uncommitted_message_whose_queue_is_deleted_may_come_or_not() -> None:
    send = Call("messages.send", message="b", handle="s", acks="negative_receive", admin="adm")
    look = Call("messages.receive", handle="a")

    def came(*calls: Call) -> set[bool]:
        """Tell whether the report may come, and whether it may not."""
        state = begun(transactional=True)
        for call in (Call("queues.open", name="a", queue="adm", access="receive"), *calls):
            state = MODEL.allowed(state, call).outcomes[0].next
        return {isinstance(one.result, Succeeds) for one in MODEL.allowed(state, look).outcomes}

    begin, delete = Call("transactions.begin", name="t"), Call("queues.delete", queue="q")
    within = replace(send, transaction="t")
    assert came(begin, within, delete) == {True, False}
    assert came(begin, within, Call("transactions.commit", transaction="t"), delete) == {True}
    assert came(begin, replace(within, acks=None, admin=None), delete) == {False}


def test_a_message_that_was_moved_back_is_journaled_when_it_is_received() -> None:
    """What is moved comes to no end; what is received has one, wherever it has been."""
    state = begun(transactional=False)
    for call in (
        Call("queues.open", name="m", queue="q", access="move"),
        Call("queues.open", name="sub", queue="q;one", access="receive"),
        Call("queues.open", name="to", queue="q;one", access="move"),
        Call("messages.send", message="a", handle="s"),
    ):
        state = MODEL.allowed(state, call).outcomes[0].next
    for source, target in (("r", "to"), ("sub", "m")):
        state = replace(state, lookups={"a": 1})
        move = Call("messages.move", message="a", handle=source, destination=target)
        state = MODEL.allowed(state, move).outcomes[0].next
        kept = state.queues.get(JOURNAL)
        assert kept is None or not any(one.available for one in kept.positions)
    state = MODEL.allowed(state, Call("messages.receive", handle="r")).outcomes[0].next
    assert [one.message for one in state.queues[JOURNAL].positions if one.available] == [f"a@{JOURNAL}"]


def test_a_report_of_a_purged_message_whose_receive_a_restart_ends_may_come_or_not() -> None:
    state = begun(transactional=True)
    for call in (
        Call("transactions.begin", name="t"),
        Call("messages.send", message="b", handle="s", transaction="t", acks="negative_receive", admin="adm"),
        Call("transactions.commit", transaction="t"),
        Call("transactions.begin", name="u"),
        Call("messages.receive", handle="r", transaction="u"),
        Call("messages.receive", handle="r", transaction="u"),
        Call("queues.purge", handle="r"),
        Call("restart", kill=True),
        Call("queues.open", name="a", queue="adm", access="receive"),
    ):
        state = MODEL.allowed(state, call).outcomes[0].next
    outcomes = MODEL.allowed(state, Call("messages.receive", handle="a")).outcomes
    assert {isinstance(one.result, Succeeds) for one in outcomes} == {True, False}
