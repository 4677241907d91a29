"""Receives in two phases: MS-MQDMPR 3.1.7.1.11 and .12, and the lock between them (3.1.1.11)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import (
    REAL_MS,
    begin,
    begin_keeping,
    counted,
    cursor,
    expiry_ms,
    passes,
    peek,
    peek_next,
    post,
    receive,
    receives,
    send,
)
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call

PHASES = ("messages.receive_begin", "messages.receive_end")
LONG_MS = 60_000


def receiving(name: str, cursor: str | None = None, *, wait_ms: int = 0) -> Call:
    """Begin a receive from q1."""
    return Call("messages.receive_begin", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def ended(name: str, *, deletes: bool) -> Call:
    """End a begun receive."""
    return Call("messages.receive_end", read=name, acknowledge=deletes)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.11.locks",
    "MQDMPR-3.1.7.1.11.first-available",
    "MQDMPR-3.1.7.1.11.mq-ok",
    "MQDMPR-3.1.7.1.12.mq-ok",
    "MQDMPR-3.1.7.1.12.deletes",
)
def test_a_receive_that_ends_by_deleting(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "messages.peek")
    history.run(send("a"), send("b"), receiving("b1"), peek(), receiving("b2"), peek(), receive())
    history.run(ended("b1", deletes=True), peek(), ended("b2", deletes=True), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.12.restores")
def test_a_receive_that_ends_without_deleting_puts_the_message_back_in_its_place(
    mq: Any, judge: Any, mq_need: Any
) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "messages.peek")
    history.run(send("a"), send("b"), receiving("b1"), receiving("b2"), ended("b1", deletes=False), peek())
    history.run(ended("b2", deletes=False), receive(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.12.restores", "MQDMPR-3.1.7.1.10.wakes")
def test_a_message_given_back_wakes_a_reader(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES)
    history.run(send("a"), receiving("b1"), receive(wait_ms=LONG_MS, name="w1"), ended("b1", deletes=False), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.11.locks", "MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.1.7.1.12.deletes")
def test_a_receive_that_waits_in_its_first_phase(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "messages.peek")
    history.run(receiving("w1", wait_ms=LONG_MS), send("a"), peek(), receive(), ended("w1", deletes=True), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.11.io-timeout", "MQDMPR-3.1.7.1.11.io-timeout-code")
def test_a_first_phase_whose_time_is_over(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES)
    history.attempt(receiving("w1", wait_ms=expiry_ms(mq)), expires=True)
    history.run(send("a"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.12.purged")
def test_a_purge_between_the_phases(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "queues.purge")
    history.run(send("a"), send("b"), receiving("b1"), receiving("b2"), Call("queues.purge", handle="r"), receive())
    history.run(ended("b1", deletes=False), receive(), ended("b2", deletes=True), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.12.not-begun", "MQDMPR-3.1.7.1.12.not-begun-ends", "MQDMPR-3.1.7.1.12.no-resurrection"
)
def test_a_receive_ends_once(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "messages.peek")
    history.run(send("a"), receiving("b1"), ended("b1", deletes=False), peek(), ended("b1", deletes=True), receive())
    history.run(send("b"), receiving("b2"), ended("b2", deletes=True), ended("b2", deletes=False), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.11.queue-not-available",
    "MQDMPR-3.1.7.1.11.queue-not-available-code",
    "MQDMPR-3.1.7.1.12.queue-not-available",
    "MQDMPR-3.1.7.1.12.queue-not-available-code",
    "MQDMPR-3.1.7.1.12.queue-not-available-ends",
)
def test_the_queue_is_deleted_between_the_phases(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "queues.delete")
    history.run(send("a"), receiving("b1"), Call("queues.delete", queue="q1"), ended("b1", deletes=False))
    history.run(receiving("b2"), Call("queues.create", queue="q1"))
    history.run(Call("queues.open", name="r2", queue="q1", access="receive"), Call("messages.receive", handle="r2"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.11.message-already-received",
    "MQDMPR-3.1.7.1.11.message-already-received-code",
    "MQDMPR-3.1.7.1.11.message-not-found",
    "MQDMPR-3.1.7.1.11.message-not-found-code",
)
def test_a_cursor_and_a_receive_in_two_phases(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PHASES, "cursors.open", "messages.peek", "messages.peek_next")
    history.run(cursor("c1"), cursor("c2"), send("a"), send("b"), peek("c1"), peek("c2"), receiving("b1", "c1"))
    history.run(receiving("b2", "c2"), peek("c2"), ended("b1", deletes=False), peek("c2"), peek_next("c2"))
    history.run(receiving("b3", "c2"), receiving("b4", "c2"), ended("b3", deletes=True), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.1.2.total-bytes")
def test_both_ends_of_a_receive_are_counted(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *PHASES, "queues.counts", "queues.purge")
    history.run(post("a", size=100), counted(), receiving("b1"), ended("b1", deletes=False), counted())
    history.run(receiving("b2"), ended("b2", deletes=True), counted(), post("b", size=300), post("c", size=50))
    history.run(counted(), receiving("b3"), receive(), ended("b3", deletes=True), counted())
    history.run(post("d", size=40), receiving("b4"), Call("queues.purge", handle="r"), ended("b4", deletes=False))
    history.run(counted())


@pytest.mark.requirement("MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.7.1.12.restores")
def test_a_message_that_was_given_back_expires(mq: Any, judge: Any, mq_need: Any) -> None:
    """Its time runs while a reader holds it, and afterwards."""
    history = begin_keeping(mq, judge, mq_need, *PHASES, "messages.peek")
    history.run(post("a", live_s=1), post("b"), receiving("b1"), ended("b1", deletes=False), peek())
    history.run(passes(REAL_MS), *receives("r", 2))
    history.run(post("c", live_s=1), receiving("b2"), passes(REAL_MS), ended("b2", deletes=True), *receives("r"))
    history.run(post("d", live_s=1), receiving("b3"), passes(REAL_MS), ended("b3", deletes=False), passes(REAL_MS))
    history.run(*receives("r", 2))


@pytest.mark.requirement(*judged_in("two phases"))
def test_a_walk_with_receives_in_two_phases(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *PHASES)
    walk(mq, judge, run_options, plans.TWO_PHASES)
