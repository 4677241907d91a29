"""Acknowledgments, as the administration queue shows them: MS-MQDMPR 3.1.1.12 and 3.1.7.2.1, MS-MQQB 3.1.7.15."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    ADMIN,
    EVERY_ACK,
    REAL_MS,
    abort,
    begin_keeping,
    begin_transaction,
    commit,
    passes,
    peek,
    post,
    receive,
    receives,
)
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, ELSEWHERE

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
REPORTS = "MQQB-3.1.7.15.correlation"
BY_LOOKUP = "messages.receive_by_lookup_id"


def by_lookup(message: str, *, within: str | None = None) -> Call:
    """Receive this message by its lookup identifier."""
    return Call(BY_LOOKUP, handle="r", message=message, action="current", transaction=within)


def known(history: Any) -> None:
    """Skip if sends return no message identifier, without which acknowledgments look alike."""
    keeping = history.state.keeping
    if not history.over and (keeping is None or not keeping.identifiers):
        pytest.skip("a send tells no message identifier")


@pytest.mark.requirement(
    "MQDMPR-3.1.1.12.ack-pos-arrival",
    "MQDMPR-3.1.1.12.ack-pos-receive",
    "MQDMPR-3.1.1.12.ack-none",
    "MQDMPR-3.1.1.12.class-ack-reach-queue",
    "MQDMPR-3.1.1.12.class-ack-receive",
    "MQMQ-2.2.18.1.6.ack-reach-queue",
    "MQMQ-2.2.18.1.6.ack-receive",
    REPORTS,
    "MQQB-3.1.7.15.requested",
    "MQQB-3.1.7.15.delivery",
)
def test_arrivals_and_receives_are_reported_as_asked(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, admin=True)
    history.attempt(post("a", acks="positive_arrival", admin=ADMIN))
    known(history)
    history.run(post("b", acks="positive_receive", admin=ADMIN, delivery="recoverable"), post("c", admin=ADMIN))
    history.run(post("d", acks=EVERY_ACK, admin=ADMIN), *(receive() for _ in range(4)), *receives("ra", 5))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.2.7.nack-receive-timeout",
    "MQDMPR-3.1.1.12.class-nack-receive-timeout",
    "MQMQ-2.2.18.1.6.nack-receive-timeout",
)
def test_an_expired_message_is_reported(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, admin=True)
    history.attempt(post("a", live_s=1, acks="negative_receive", admin=ADMIN))
    known(history)
    history.run(post("b", live_s=1, acks="positive_receive", admin=ADMIN), passes(REAL_MS), *receives("ra", 2))


@pytest.mark.requirement(
    "MQDMPR-3.1.1.12.ack-neg-arrival",
    "MQDMPR-3.1.1.12.class-nack-reach-queue-timeout",
    "MQMQ-2.2.18.1.6.nack-reach-queue-timeout",
    "MQDMPR-3.1.1.12.negative-journaling",
)
def test_a_message_that_reaches_nobody_in_its_time(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, admin=True, reads=(DEAD_LETTER,))
    history.attempt(Call("queues.open", name="e", queue=ELSEWHERE, access="send"))
    history.attempt(post("a", to="e", reach_s=1, acks="negative_arrival", admin=ADMIN, dead_letter=True))
    known(history)
    history.run(post("b", to="e", reach_s=1, acks="negative_receive", admin=ADMIN), post("c", to="e", reach_s=60))
    history.run(passes(REAL_MS), *receives("ra", 2), *receives("j1", 2))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.7.nack-queue-purged",
    "MQDMPR-3.1.1.12.class-nack-queue-purged",
    "MQMQ-2.2.18.1.6.nack-q-purged",
)
def test_each_purged_message_is_reported(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "queues.purge", admin=True)
    history.attempt(post("a", acks="negative_receive", admin=ADMIN))
    known(history)
    history.run(post("b", acks="negative_receive", admin=ADMIN), post("c"), Call("queues.purge", handle="r"))
    history.run(*receives("ra", 3), *receives("r"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.4.nack-queue-deleted",
    "MQDMPR-3.1.1.12.class-nack-queue-deleted",
    "MQMQ-2.2.18.1.6.nack-q-deleted",
)
def test_each_message_of_a_deleted_queue_is_reported(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "queues.delete", admin=True)
    history.attempt(post("a", acks="negative_receive", admin=ADMIN))
    known(history)
    history.run(post("b", acks="negative_receive", admin=ADMIN), Call("queues.delete", queue="q1"), *receives("ra", 3))


@pytest.mark.requirement("MQDMPR-3.1.1.12.ack-pos-receive", "MQDMPR-3.1.1.12.ack-pos-arrival")
def test_a_transaction_reports_when_it_commits(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, admin=True, transactional=True)
    history.run(begin_transaction("t1"), post("a", within="t1", acks=EVERY_ACK, admin=ADMIN))
    known(history)
    history.run(
        *receives("ra"),
        commit("t1"),
        *receives("ra", 2),
        begin_transaction("t2"),
        receive(within="t2"),
        *receives("ra"),
    )
    history.run(
        abort("t2"), *receives("ra"), begin_transaction("t3"), receive(within="t3"), commit("t3"), *receives("ra", 2)
    )


@pytest.mark.requirement("MQDMPR-3.1.7.1.13.deleted-reason")
def test_a_message_taken_by_its_lookup_identifier_is_reported(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, BY_LOOKUP, "messages.peek", admin=True)
    history.attempt(post("a", acks="positive_receive", admin=ADMIN))
    known(history)
    history.run(peek(), by_lookup("a"), *receives("ra", 2))


@pytest.mark.requirement("MQDMPR-3.1.7.1.13.operation-reason", "MQDMPR-3.1.4.4.receive-reason")
@pytest.mark.parametrize("purged", [False, True], ids=["", "purged"])
def test_a_commit_reports_what_it_took_as_received(purged: bool, mq: Any, judge: Any, mq_need: Any) -> None:
    """The message is received by its lookup identifier, or from a queue that is purged meanwhile."""
    needs = (*ENDS, BY_LOOKUP, "messages.peek", "queues.purge")
    history = begin_keeping(mq, judge, mq_need, *needs, admin=True, transactional=True)
    history.run(begin_transaction("t1"), post("a", within="t1", acks=EVERY_ACK, admin=ADMIN))
    known(history)
    history.run(commit("t1"), *receives("ra", 2), peek(), begin_transaction("t2"))
    purge = (Call("queues.purge", handle="r"), *receives("ra")) if purged else ()
    history.run(receive(within="t2") if purged else by_lookup("a", within="t2"), *purge)
    history.run(commit("t2"), *receives("ra", 2))
