"""Moving messages between a queue and its subqueues: MS-MQDMPR 3.1.7.1.16, 3.1.4.4-5, and MS-MQRR 3.1.4.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import (
    REAL_MS,
    abort,
    begin,
    begin_transaction,
    commit,
    counted,
    passes,
    peek,
    receive,
    send,
)
from conformance.histories.history import History
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call
from conformance.model.values import replace

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
MOVES = ("messages.move", "messages.peek")
LONG_MS = 60_000


def begin_moves(mq: Any, judge: Any, mq_need: Callable[..., None], *needs: str, transactional: bool = False) -> History:
    """Open queue q1 (s, r; m to move to it) and its subqueue q1;one (r1 to receive, m1 to move to it)."""
    history = begin(mq, judge, mq_need, *MOVES, *needs, transactional=transactional)
    history.run(
        Call("queues.open", name="m1", queue="q1;one", access="move"),
        Call("queues.open", name="r1", queue="q1;one", access="receive"),
        Call("queues.open", name="m", queue="q1", access="move"),
    )
    return history


def moved(message: str, *, back: bool = False, within: str | None = None) -> Call:
    """Move a message to the subqueue, or back."""
    source, target = ("r1", "m") if back else ("r", "m1")
    return Call("messages.move", message=message, handle=source, destination=target, transaction=within)


def from_subqueue(*, method: str = "messages.receive", wait_ms: int = 0, name: str | None = None) -> Call:
    """Read the subqueue."""
    return Call(method, name=name, handle="r1", timeout_ms=wait_ms)


@pytest.mark.requirement("MQDMPR-3.1.1.2.subqueue-collection", "MQDMPR-3.1.7.1.7.other-queues-kept")
def test_a_subqueue_keeps_its_messages_apart(mq: Any, judge: Any, mq_need: Any) -> None:
    """Another subqueue holds none of them, and a purge of the queue or a subqueue spares the others."""
    history = begin_moves(mq, judge, mq_need, "queues.purge")
    history.run(Call("queues.open", name="r2", queue="q1;two", access="receive"))
    history.run(send("a"), peek(), moved("a"), send("b"), Call("messages.receive", handle="r2"), receive())
    history.run(from_subqueue(method="messages.peek"), send("c"), Call("queues.purge", handle="r"), receive())
    history.run(from_subqueue(method="messages.peek"))
    history.run(send("d"), Call("queues.purge", handle="r1"), from_subqueue(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.6.messages-kept")
def test_a_subqueue_outlives_its_handles(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, "queues.close")
    history.run(send("a"), peek(), moved("a"), from_subqueue(method="messages.peek"))
    history.run(Call("queues.close", handle="m1"), Call("queues.close", handle="r1"))
    history.run(Call("queues.open", name="r2", queue="q1;one", access="receive"))
    history.run(Call("messages.receive", handle="r2"))


@pytest.mark.requirement("MQDMPR-3.1.7.1.3.no-subqueues")
def test_a_new_queue_has_no_subqueue_of_an_earlier_one(mq: Any, judge: Any, mq_need: Any) -> None:
    """A message in a subqueue of a deleted queue is not in the subqueue of the next queue of that name."""
    history = begin_moves(mq, judge, mq_need, "queues.delete")
    history.run(send("a"), send("b"), peek(), moved("a"), from_subqueue(method="messages.peek"))
    history.run(Call("queues.delete", queue="q1"), Call("queues.create", queue="q1"))
    history.run(Call("queues.open", name="r2", queue="q1;one", access="receive"))
    history.run(Call("messages.receive", handle="r2"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.16.outside-transaction",
    "MQDMPR-3.1.7.1.16.moved",
    "MQDMPR-3.1.7.1.16.unchanged",
    "MQDMPR-3.1.1.17.move-access",
    "MQMQ-2.1.2.subqueue",
)
def test_a_message_moves_to_a_subqueue_and_back(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need)
    history.run(send("a"), send("b"), peek(), moved("a"), receive(), peek(), from_subqueue(method="messages.peek"))
    history.run(moved("a", back=True), from_subqueue(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.16.target-order", "MQMQ-2.2.19.1.higher-priority-nearer-front")
def test_a_moved_message_takes_its_place_by_priority(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need)
    history.run(send("a", priority=2), peek(), moved("a"), send("b", priority=6), peek(), moved("b"))
    history.run(send("c", priority=4), peek(), moved("c"), *(from_subqueue() for _ in range(4)))


@pytest.mark.requirement("MQDMPR-3.1.7.1.16.wakes-readers", "MQDMPR-3.1.7.1.10.wakes")
def test_a_move_wakes_a_reader(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need)
    history.run(from_subqueue(wait_ms=LONG_MS, name="w1"), send("a"), peek(), moved("a"), from_subqueue(), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.16.in-transaction",
    "MQDMPR-3.1.7.1.16.transaction-locks",
    "MQDMPR-3.1.4.4.move",
)
def test_a_committed_move(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        send("b", within="t1"),
        commit("t1"),
        peek(),
        begin_transaction("t2"),
    )
    history.run(moved("a", within="t2"), peek(), from_subqueue(), commit("t2"), from_subqueue(method="messages.peek"))
    history.run(receive(), receive(), from_subqueue(), from_subqueue())


@pytest.mark.requirement("MQDMPR-3.1.4.4.move-wakes-readers")
def test_the_commit_of_a_move_wakes_a_reader(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        commit("t1"),
        peek(),
        begin_transaction("t2"),
        moved("a", within="t2"),
    )
    history.run(from_subqueue(wait_ms=LONG_MS, name="w1"), commit("t2"), from_subqueue())


@pytest.mark.requirement("MQDMPR-3.1.4.5.move", "MQDMPR-3.1.4.5.wakes-readers")
def test_an_aborted_move(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        send("b", within="t1"),
        commit("t1"),
        peek(),
        begin_transaction("t2"),
    )
    history.run(moved("a", within="t2"), abort("t2"), from_subqueue(), receive(), begin_transaction("t3"))
    history.run(peek(), moved("b", within="t3"), receive(wait_ms=LONG_MS, name="w1"), abort("t3"), from_subqueue())


@pytest.mark.requirement("MQDMPR-3.1.7.1.16.target-order", "MQDMPR-3.1.4.4.move")
def test_moves_of_one_transaction_arrive_in_order(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, "messages.peek_by_lookup_id", transactional=True)
    history.run(
        begin_transaction("t1"), *(send(name, within="t1") for name in "abc"), commit("t1"), begin_transaction("t2")
    )
    for _ in range(3):
        history.attempt(peek())
        message = next((p.message for p in history.state.queues["q1"].positions if p.available), "a")
        history.run(moved(message, within="t2"))
    history.run(commit("t2"), *(from_subqueue() for _ in range(4)))


@pytest.mark.requirement("MQDMPR-3.1.4.5.purged-deleted", "MQDMPR-3.1.7.1.16.transaction-locks")
def test_a_purge_while_a_message_is_moved(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, "queues.purge", transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        commit("t1"),
        peek(),
        begin_transaction("t2"),
        moved("a", within="t2"),
    )
    history.run(Call("queues.purge", handle="r"), abort("t2"), receive(), from_subqueue())


@pytest.mark.requirement(
    "MQRR-3.1.4.10.related-queues",
    "MQRR-3.1.4.10.related-queues-code",
    "MQRR-3.1.4.10.move-access",
    "MQRR-3.1.4.10.move-access-code",
    "MQRR-3.1.4.10.message-not-found",
    "MQRR-3.1.4.10.message-not-found-code",
    "MQDMPR-3.1.1.17.move-access-no-receive",
)
def test_moves_that_are_refused_leave_the_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need)
    history.run(
        Call("queues.create", queue="q9"),
        Call("queues.open", name="m9", queue="q9", access="move"),
        send("a"),
        send("b"),
        peek(),
        Call("messages.move", message="a", handle="r", destination="m9"),
        Call("messages.move", message="a", handle="r", destination="r1"),
        Call("messages.receive", handle="m1"),
        receive(),
        moved("a"),
        peek(),
        from_subqueue(),
    )


@pytest.mark.requirement(
    "MQRR-3.1.4.10.transaction-usage",
    "MQRR-3.1.4.10.transaction-usage-code",
)
def test_a_move_in_a_transaction_between_queues_that_take_none(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS)
    history.run(send("a"), peek(), begin_transaction("t1"), moved("a", within="t1"), peek(), from_subqueue())


@pytest.mark.requirement(
    "MQRR-3.1.4.10.locked-under-transaction",
    "MQRR-3.1.4.10.locked-under-transaction-code",
    "MQRR-3.1.4.10.transaction-sequence",
    "MQRR-3.1.4.10.transaction-sequence-code",
)
def test_a_move_of_what_a_transaction_holds_or_in_one_that_is_over(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        send("b", within="t1"),
        commit("t1"),
        peek(),
        begin_transaction("t2"),
    )
    history.run(
        moved("a", within="t1"), receive(within="t2"), moved("a"), begin_transaction("t3"), moved("a", within="t3")
    )
    history.run(abort("t2"), receive(), from_subqueue())


@pytest.mark.requirement("MQMP-3.1.4.17.subqueue-send-access")
def test_a_subqueue_is_not_opened_for_send(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need)
    history.run(Call("queues.open", name="s1", queue="q1;one", access="send"))


@pytest.mark.requirement("MQDMPR-3.1.7.3.3.seek-current", "MQDMPR-3.1.7.1.13.receive-removes")
def test_a_lookup_in_a_subqueue(mq: Any, judge: Any, mq_need: Any) -> None:
    lookup = ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id")
    history = begin_moves(mq, judge, mq_need, *lookup)
    history.run(send("a"), peek(), moved("a"), from_subqueue(method="messages.peek"))
    for handle, method in (("r", lookup[0]), ("r1", lookup[0]), ("r1", lookup[1])):
        history.run(Call(method, handle=handle, message="a", action="current"))
    history.run(from_subqueue(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.7.2.2.total-bytes")
def test_what_moves_is_counted_where_it_is(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, "queues.counts", "reset")
    history.run(counted(), replace(send("a"), size=100), replace(send("b"), size=300), counted(), peek(), moved("a"))
    history.run(counted(), peek(), moved("b"), counted(), from_subqueue(method="messages.peek"))
    history.run(moved("a", back=True), counted(), receive(), counted(), from_subqueue(), counted())


@pytest.mark.requirement("MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.4.4.move", "MQDMPR-3.1.4.5.move")
def test_what_a_transaction_moves_is_counted_where_it_is(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, *ENDS, "queues.counts", "reset", transactional=True)
    history.run(
        counted(), begin_transaction("t1"), *(replace(send(name, within="t1"), size=100) for name in "ab"), commit("t1")
    )
    history.run(
        counted(),
        peek(),
        begin_transaction("t2"),
        moved("a", within="t2"),
        abort("t2"),
        counted(),
        begin_transaction("t3"),
    )
    history.run(moved("a", within="t3"), commit("t3"), counted(), from_subqueue(), receive(), counted())


@pytest.mark.requirement("MQDMPR-3.1.7.1.16.unchanged", "MQDMPR-3.1.4.4.move")
def test_a_moved_message_is_the_same_message(mq: Any, judge: Any, mq_need: Any) -> None:
    """Reads show the same identifier before the move, after it, and after the move back."""
    history = begin_moves(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), *(send(name, within="t1") for name in "ab"), commit("t1"), peek(), moved("a"))
    history.run(from_subqueue(method="messages.peek"), moved("a", back=True), peek(), begin_transaction("t2"))
    queue = history.state.queues.get("q1")  # None where the driver lacks what makes it
    first = next((p.message for p in queue.positions if p.available), "a") if queue is not None else "a"
    history.run(moved(first, within="t2"), commit("t2"), from_subqueue(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.2.4.expires")
def test_a_moved_message_expires(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_moves(mq, judge, mq_need, "reset")
    if mq.hello.clock == "virtual" and mq.offers("clock.now"):
        history.attempt(Call("clock.now"))
    history.run(replace(send("a"), live_s=1), send("b"), peek(), moved("a"), peek(), moved("b"), passes(REAL_MS))
    history.run(from_subqueue(), from_subqueue(), receive())


@pytest.mark.requirement(*judged_in("moves"))
def test_a_walk_with_moves(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *MOVES)
    walk(mq, judge, run_options, plans.MOVES)


@pytest.mark.requirement(*judged_in("moves in transactions"))
def test_a_walk_with_moves_in_transactions(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *MOVES, *ENDS)
    walk(mq, judge, run_options, plans.MOVES_IN_TRANSACTIONS)
