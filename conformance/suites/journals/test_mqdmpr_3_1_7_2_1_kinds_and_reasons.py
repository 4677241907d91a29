"""Several kinds of acknowledgment asked for at once, and their reasons: MS-MQDMPR 3.1.1.12, 3.1.4.5, 3.1.7.1."""

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
    post,
    receive,
    receives,
)
from conformance.histories.history import History
from conformance.model import Call
from conformance.model.journals import ELSEWHERE

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
PHASES = ("messages.receive_begin", "messages.receive_end")
FULL_REACH = "MQDMPR-3.1.1.12.ack-full-reach-queue"
NACK_RECEIVE = "MQDMPR-3.1.1.12.ack-nack-receive"
FULL_RECEIVE = "MQDMPR-3.1.1.12.ack-full-receive"
KINDS = {
    FULL_REACH: "positive_arrival+negative_arrival",
    NACK_RECEIVE: "negative_arrival+negative_receive",
    FULL_RECEIVE: "positive_receive+negative_arrival+negative_receive",
}
DELETED_REASON = "MQDMPR-3.1.7.1.10.deleted-reason"
OPERATION_REASON = "MQDMPR-3.1.7.1.10.operation-reason"
ENDED_REASON = "MQDMPR-3.1.7.1.12.deleted-reason"
PURGED_RECEIVE = "MQDMPR-3.1.4.5.purged-receive-nack"
REPORTED = receives("ra")[0]


def _known(history: History) -> None:
    """Skip if sends return no message identifier, without which acknowledgments look alike."""
    keeping = history.state.keeping
    if not history.over and (keeping is None or not keeping.identifiers):
        pytest.skip("a send tells no message identifier")


def _reports(history: History, requirement: str) -> None:
    """Read the administration queue until it is empty: what is there, or missing, is blamed on the requirement."""
    for _ in range(2):
        history.attempt(REPORTED, shows=requirement)


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.requirement(kind)) for kind in KINDS])
def test_each_end_of_a_message_is_reported_as_asked(mq: Any, judge: Any, mq_need: Any, kind: str) -> None:
    """Messages arrive and are received, are not received in their time, and do not arrive in their time."""
    history = begin_keeping(mq, judge, mq_need, admin=True)
    asked = {"acks": KINDS[kind], "admin": ADMIN}
    history.attempt(post("a", **asked))
    _known(history)
    _reports(history, kind)
    history.attempt(receive())
    _reports(history, kind)
    history.run(post("b", live_s=1, **asked))
    _reports(history, kind)
    history.run(passes(REAL_MS))
    _reports(history, kind)
    history.attempt(Call("queues.open", name="e", queue=ELSEWHERE, access="send"))
    history.run(post("c", to="e", reach_s=1, **asked), passes(REAL_MS))
    _reports(history, kind)


@pytest.mark.requirement(DELETED_REASON)
def test_a_plain_receive_is_reported_as_a_receive(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, admin=True)
    history.attempt(post("a", acks=EVERY_ACK, admin=ADMIN))
    _known(history)
    history.run(REPORTED, receive())
    _reports(history, DELETED_REASON)


@pytest.mark.requirement(OPERATION_REASON)
def test_a_commit_reports_its_receive(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, admin=True, transactional=True)
    history.run(begin_transaction("t1"), post("a", within="t1", acks=EVERY_ACK, admin=ADMIN))
    _known(history)
    history.run(commit("t1"), REPORTED, begin_transaction("t2"), receive(within="t2"), commit("t2"))
    _reports(history, OPERATION_REASON)


@pytest.mark.requirement(PURGED_RECEIVE)
def test_an_abort_reports_what_was_purged_meanwhile(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, "queues.purge", admin=True, transactional=True)
    history.run(begin_transaction("t1"), post("a", within="t1", acks=EVERY_ACK, admin=ADMIN))
    _known(history)
    history.run(
        commit("t1"),
        REPORTED,
        begin_transaction("t2"),
        receive(within="t2"),
        Call("queues.purge", handle="r"),
        REPORTED,
    )
    history.run(abort("t2"))
    _reports(history, PURGED_RECEIVE)


@pytest.mark.parametrize("purged", [False, True], ids=["", "purged"])
@pytest.mark.requirement(ENDED_REASON)
def test_the_end_of_a_begun_receive_is_reported(mq: Any, judge: Any, mq_need: Any, purged: bool) -> None:
    history = begin_keeping(mq, judge, mq_need, *PHASES, "queues.purge", admin=True)
    history.attempt(post("a", acks=EVERY_ACK, admin=ADMIN))
    _known(history)
    history.run(REPORTED, Call("messages.receive_begin", name="b1", handle="r"))
    history.run(*(Call("queues.purge", handle="r") for _ in range(purged)))
    history.run(REPORTED, Call("messages.receive_end", read="b1", acknowledge=True))
    _reports(history, ENDED_REASON)
