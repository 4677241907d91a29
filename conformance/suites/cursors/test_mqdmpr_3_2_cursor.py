"""Cursors, MS-MQDMPR 3.2, and the reads that use them, 3.1.7.1.10, .14 and .15."""

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
    expiry_ms,
    peek,
    peek_next,
    receive,
    send,
)
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call

CURSOR = ("cursors.open", "messages.peek")
FULL = (*CURSOR, "messages.peek_next")
BOTH = (*FULL, "transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement(*judged_in("cursors"))
def test_a_walk_with_cursors(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *CURSOR)
    walk(mq, judge, run_options, plans.CURSORS)


@pytest.mark.requirement(*judged_in("locked cursors"))
def test_a_walk_with_cursors_among_transactions(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *BOTH)
    walk(mq, judge, run_options, plans.LOCKED_CURSORS)


@pytest.mark.requirement(
    "MQDMPR-3.2.7.3.not-before-cursor",
    "MQDMPR-3.2.7.3.moves",
    "MQDMPR-3.1.7.1.14.next-available",
    "MQDMPR-3.1.1.11.next-of-removed",
)
def test_a_message_of_higher_priority_behind_the_cursors_back(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *FULL)
    history.run(cursor("c1"), send("a"), send("b"), peek("c1"), send("c", priority=7), peek_next("c1"))
    history.run(receive(), peek_next("c1"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.15.message-already-received",
    "MQDMPR-3.1.7.1.15.message-already-received-code",
    "MQDMPR-3.1.7.1.10.message-already-received",
    "MQDMPR-3.1.7.1.10.message-already-received-code",
    "MQDMPR-3.2.7.2.already-received",
    "MQDMPR-3.2.7.4.already-received",
)
def test_a_message_taken_from_under_the_cursor(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *FULL)
    history.run(cursor("c1"), send("a"), send("b"), send("c"), peek("c1"), receive())
    history.run(peek("c1"), receive("c1"), peek_next("c1"), receive("c1"), peek_next("c1"), peek("c1"))


@pytest.mark.requirement("MQDMPR-3.1.7.1.15.message-already-received", "MQDMPR-3.2.7.2.read-stays")
def test_a_cursor_on_a_locked_message_reads_it_again_after_the_abort(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *BOTH, transactional=True)
    history.run(
        begin_transaction("t1"), send("a", within="t1"), commit("t1"), cursor("c1"), peek("c1"), begin_transaction("t2")
    )
    history.run(receive(within="t2"), peek("c1"), receive("c1"), abort("t2"), peek("c1"), receive("c1"))


@pytest.mark.requirement("MQDMPR-3.2.7.4.continues", "MQDMPR-3.1.7.1.10.cursor-seeks")
def test_a_cursor_goes_on_from_the_place_of_what_it_received(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *FULL)
    history.run(cursor("c1"), *(send(name) for name in "abcdef"), peek("c1"), peek_next("c1"), receive("c1"))
    history.run(receive("c1"), peek("c1"), receive("c1"), peek("c1"), peek_next("c1"), receive("c1"))
    history.run(receive("c1"), send("g"), receive("c1"), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.2.7.3.illegal-cursor-action", "MQDMPR-3.2.7.4.continues")
def test_a_peek_next_that_is_refused_leaves_its_cursor(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *FULL)
    history.run(cursor("c1"), *(send(name) for name in "abcd"), peek("c1"), peek_next("c1"), receive("c1"))
    history.run(peek_next("c1"), receive("c1"), peek_next("c1"), peek("c1"), receive())


@pytest.mark.requirement(
    "MQDMPR-3.2.7.6.receive-unread", "MQDMPR-3.1.7.1.10.io-timeout", "MQDMPR-3.1.7.1.10.io-timeout-code"
)
def test_a_receive_with_a_cursor_that_times_out(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *FULL)
    history.run(send("a"), cursor("c1"), peek("c1"), receive("c1"))
    history.attempt(receive("c1", wait_ms=expiry_ms(mq), name="w1"), expires=True)
    history.run(peek_next("c1"), send("b"), receive())


@pytest.mark.requirement("MQDMPR-3.2.7.6.receive-at-end")
def test_a_cursor_behind_the_end_does_not_go_on_from_where_it_stood(mq: Any, judge: Any, mq_need: Any) -> None:
    """Two messages arrive, the first before the cursor's old place: it sees neither, or the first one first."""
    history = begin(mq, judge, mq_need, *CURSOR)
    history.run(send("a"), cursor("c1"), peek("c1"), receive("c1"))
    history.attempt(receive("c1", wait_ms=expiry_ms(mq), name="w1"), expires=True)
    history.run(send("b", priority=7), send("c", priority=1), receive("c1"), receive(), receive())


@pytest.mark.requirement(
    "MQDMPR-3.2.7.6.peek-unread", "MQDMPR-3.1.7.1.14.io-timeout", "MQDMPR-3.1.7.1.14.io-timeout-code"
)
def test_a_peek_next_that_times_out(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *FULL)
    history.run(send("a"), cursor("c1"), peek("c1"))
    history.attempt(peek_next("c1", wait_ms=expiry_ms(mq), name="w1"), expires=True)
    history.run(peek_next("c1"), peek())


@pytest.mark.requirement("MQDMPR-3.1.7.1.6.cursors-closed")
def test_a_cursor_ends_with_its_handle(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *CURSOR, "queues.close", "cursors.close")
    history.run(send("a"), cursor("c1"), peek("c1"), Call("queues.open", name="r2", queue="q1", access="receive"))
    history.run(Call("queues.close", handle="r"), Call("messages.peek", handle="r2", cursor="c1"))
    history.run(Call("cursors.close", cursor="c1"), Call("messages.receive", handle="r2"))


@pytest.mark.requirement("MQDMPR-3.1.7.1.2.closed")
def test_a_closed_cursor(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *CURSOR, "cursors.close")
    history.run(send("a"), cursor("c1"), cursor("c2"), peek("c1"), Call("cursors.close", cursor="c1"))
    history.run(peek("c1"), peek("c2"), receive("c2"))
