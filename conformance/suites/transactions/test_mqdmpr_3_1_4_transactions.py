"""Internal transactions: MS-MQDMPR 3.1.4.4, 3.1.4.5 and 3.1.7.1.8, and what a lock means (3.1.1.11)."""

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

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
LONG_MS = 60_000


@pytest.mark.requirement(*judged_in("transactions"))
def test_a_walk_with_transactions(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    walk(mq, judge, run_options, plans.TRANSACTIONS)


@pytest.mark.requirement(*judged_in("several queues"))
def test_a_walk_with_transactions_over_several_queues(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    walk(mq, judge, run_options, plans.SEVERAL_QUEUES)


@pytest.mark.requirement(
    "MQDMPR-3.1.4.5.receives-return",
    "MQDMPR-3.1.4.5.receives-return-position",
    "MQDMPR-3.1.7.1.10.transaction-locks",
    "MQDMPR-3.1.4.4.sends-appear",
    "MQDMPR-3.1.4.4.send-order",
)
def test_an_abort_puts_messages_back_where_they_were(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"), *(send(name, within="t1") for name in "abc"), commit("t1"), begin_transaction("t2")
    )
    history.run(receive(within="t2"), receive(within="t2"), receive(), abort("t2"), receive(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.4.5.sends-vanish", "MQDMPR-3.1.7.1.9.uncommitted-locked")
def test_an_aborted_send_never_shows(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "messages.peek", transactional=True)
    history.run(
        begin_transaction("t1"), send("a", within="t1"), peek(), receive(within="t1"), abort("t1"), peek(), receive()
    )


@pytest.mark.requirement("MQDMPR-3.1.4.4.receives-gone")
def test_a_committed_receive_is_final(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"), send("a", within="t1"), send("b", within="t1"), commit("t1"), begin_transaction("t2")
    )
    history.run(receive(within="t2"), commit("t2"), receive(), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.4.4.unknown",
    "MQDMPR-3.1.4.4.unknown-code",
    "MQDMPR-3.1.4.5.unknown",
    "MQDMPR-3.1.4.5.unknown-code",
    "MQDMPR-3.1.4.4.transaction-ends",
    "MQDMPR-3.1.4.5.transaction-ends",
)
def test_a_transaction_ends_once(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), commit("t1"), commit("t1"), abort("t1"), send("a", within="t1"))
    history.run(begin_transaction("t2"), abort("t2"), abort("t2"), commit("t2"), receive(within="t2"))


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.transactional-queue")
def test_a_send_outside_any_transaction_to_a_transactional_queue(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, transactional=True)
    history.run(send("a"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.nontransactional-queue")
def test_a_send_in_a_transaction_to_a_queue_that_is_not_transactional(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS)
    history.run(begin_transaction("t1"), send("a", within="t1"), receive(), commit("t1"), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.4.5.purged-receive", "MQDMPR-3.1.4.4.receives-gone", "MQDMPR-3.1.7.1.7.locked-commit"
)
def test_a_purge_while_messages_are_locked(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "queues.purge", transactional=True)
    history.run(
        begin_transaction("t1"),
        *(send(name, within="t1") for name in "abc"),
        commit("t1"),
        begin_transaction("t2"),
        begin_transaction("t3"),
    )
    history.run(receive(within="t2"), receive(within="t3"), Call("queues.purge", handle="r"))
    history.run(abort("t2"), commit("t3"), receive())


@pytest.mark.requirement("MQDMPR-3.1.4.4.wakes-readers", "MQDMPR-3.1.4.5.wakes-readers")
def test_the_end_of_a_transaction_wakes_readers(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), send("a", within="t1"), receive(wait_ms=LONG_MS, name="w1"), commit("t1"))
    history.run(
        begin_transaction("t2"), send("b", within="t2"), commit("t2"), begin_transaction("t3"), receive(within="t3")
    )
    history.run(receive(wait_ms=LONG_MS, name="w2"), abort("t3"))


@pytest.mark.requirement("MQDMPR-3.1.1.14.in-order", "MQDMPR-3.1.4.4.wakes-readers")
def test_a_transaction_takes_effect_in_the_order_of_its_work(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), *(send(name, within="t1") for name in "abc"))
    history.run(receive(wait_ms=LONG_MS, name="w1"), commit("t1"), receive(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.4.messages-deleted", "MQDMPR-3.1.4.4.success", "MQDMPR-3.1.4.5.success")
def test_a_queue_is_deleted_while_transactions_work_in_it(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "queues.delete", transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        send("b", within="t1"),
        commit("t1"),
        begin_transaction("t2"),
        begin_transaction("t3"),
    )
    history.run(receive(within="t2"), send("c", within="t3"), Call("queues.delete", queue="q1"), abort("t2"))
    history.run(commit("t3"), Call("queues.create", queue="q1", transactional=True))
    history.run(Call("queues.open", name="r2", queue="q1", access="receive"), Call("messages.receive", handle="r2"))


@pytest.mark.requirement("MQDMPR-3.2.7.3.skips-unavailable", "MQDMPR-3.1.7.1.15.skips-locked")
def test_a_cursor_passes_over_what_a_transaction_holds(mq: Any, judge: Any, mq_need: Any) -> None:
    needs = ("cursors.open", "messages.peek", "messages.peek_next")
    history = begin(mq, judge, mq_need, *ENDS, *needs, transactional=True)
    history.run(
        begin_transaction("t1"), *(send(name, within="t1") for name in "abc"), commit("t1"), cursor("c1"), peek("c1")
    )
    history.run(
        begin_transaction("t2"), receive(within="t2"), receive(within="t2"), cursor("c2"), peek("c2"), peek_next("c1")
    )
    history.run(abort("t2"), peek())


@pytest.mark.requirement("MQDMPR-3.1.4.4.receives-gone", "MQDMPR-3.1.7.2.1.total-bytes")
def test_what_a_commit_leaves_is_counted(mq: Any, judge: Any, mq_need: Any) -> None:
    """A message that no read shows may still be in the queue, held by nobody."""
    history = begin(mq, judge, mq_need, *ENDS, "queues.counts", transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        commit("t1"),
        begin_transaction("t2"),
        send("b", within="t2"),
        commit("t2"),
    )
    history.run(begin_transaction("t3"), receive(within="t3"), receive(within="t3"), commit("t3"), receive())
    history.attempt(Call("queues.counts", queue="q1"))


@pytest.mark.requirement("MQDMPR-3.1.4.4.all-together", "MQDMPR-3.1.1.14.several-queues")
def test_a_transaction_over_two_queues(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        Call("queues.create", queue="q2", transactional=True),
        Call("queues.open", name="s2", queue="q2", access="send"),
        Call("queues.open", name="r2", queue="q2", access="receive"),
    )
    for number, end in enumerate((commit, abort, commit), 1):
        name, first, second = f"t{number}", f"a{number}", f"b{number}"
        history.run(begin_transaction(name), send(first, within=name))
        history.run(Call("messages.send", handle="s2", message=second, transaction=name), end(name))
        history.run(receive(), Call("messages.receive", handle="r2"))
    history.run(
        begin_transaction("t4"),
        send("c", within="t4"),
        Call("messages.send", handle="s2", message="d", transaction="t4"),
    )
    history.attempt(commit("t4"))
    for name, end in (("t5", abort), ("t6", commit)):
        history.run(
            begin_transaction(name), receive(within=name), Call("messages.receive", handle="r2", transaction=name)
        )
        history.attempt(end(name))
    history.run(receive(), Call("messages.receive", handle="r2"))


@pytest.mark.requirement("MQDMPR-3.1.1.14.identifier-unique")
def test_transactions_open_at_once_are_told_apart(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "transactions.begin", "transactions.commit", transactional=True)
    history.run(begin_transaction("t1"), begin_transaction("t2"), commit("t1"), begin_transaction("t3"))
