"""Reads by lookup identifier: MS-MQDMPR 3.1.7.1.13 and 3.1.7.3.3."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import (
    abort,
    begin,
    begin_transaction,
    commit,
    cursor,
    peek,
    peek_next,
    receive,
    send,
)
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call


@pytest.mark.requirement(*judged_in("lookups"))
def test_a_walk_with_lookup_identifiers(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.peek", "messages.peek_by_lookup_id", "messages.receive_by_lookup_id")
    walk(mq, judge, run_options, plans.LOOKUPS)


LOOKUP = ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id")
ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.13.queue-not-available",
    "MQDMPR-3.1.7.1.13.queue-not-available-code",
    "MQDMPR-3.1.7.1.14.queue-not-available",
    "MQDMPR-3.1.7.1.14.queue-not-available-code",
)
def test_reads_on_a_handle_whose_queue_was_deleted(mq: Any, judge: Any, mq_need: Any) -> None:
    needs = ("messages.peek", "messages.peek_next", "cursors.open", "queues.delete")
    history = begin(mq, judge, mq_need, *LOOKUP, *needs)
    history.run(send("a"), send("b"), cursor("c1"), peek("c1"), receive("c1"), receive())
    history.run(Call("queues.delete", queue="q1"), peek_next("c1"))  # empty: other tests ask what a delete leaves
    for method in LOOKUP:
        history.run(Call(method, handle="r", message="a", action="current"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.3.3.locked",
    "MQDMPR-3.1.7.3.3.locked-code",
    "MQDMPR-3.1.7.1.13.transaction-locks",
    "MQDMPR-3.1.7.1.13.mq-ok",
)
def test_a_message_that_a_transaction_holds(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *LOOKUP, *ENDS, "messages.peek", transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        send("b", within="t1"),
        commit("t1"),
        peek(),
        begin_transaction("t2"),
    )
    history.run(Call(LOOKUP[1], handle="r", message="a", action="current", transaction="t2"))
    for method in LOOKUP:
        history.run(Call(method, handle="r", message="a", action="current"))
    history.run(peek(), abort("t2"), receive(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.3.3.seek-next", "MQDMPR-3.1.7.3.3.seek-previous")
def test_the_neighbours_of_a_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *LOOKUP, "messages.peek", "messages.peek_next", "cursors.open")
    history.run(*(send(name) for name in "abcde"), cursor("c1"), peek("c1"), *(peek_next("c1") for _ in range(4)))
    for message in "abcde":
        for action in ("previous", "next"):
            history.attempt(Call(LOOKUP[0], handle="r", message=message, action=action))
    history.run(Call(LOOKUP[1], handle="r", message="d", action="previous"), *(receive() for _ in range(5)))
