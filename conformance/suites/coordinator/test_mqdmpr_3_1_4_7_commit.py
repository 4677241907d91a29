"""The coordinator tells to commit: MS-MQDMPR 3.1.4.7."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    peek,
    receive,
    receives,
    send,
)
from conformance.model import Call
from conformance.suites.coordinator.acts import (
    FOREIGN,
    abort,
    commit,
    enlist,
    filled,
    looked,
    other_ends,
    other_work,
    prepare,
    story,
)

COMMITS = ("MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.7.commit-reported")


@pytest.mark.requirement(*COMMITS, "MQDMPR-3.1.4.4.send-order", "MQDMPR-3.1.1.14.several-queues")
def test_work_on_several_queues_is_done_together(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(Call("queues.create", queue="q2", transactional=True))
    history.run(
        *(Call("queues.open", name=f"{access[0]}2", queue="q2", access=access) for access in ("send", "receive"))
    )
    history.run(*filled("a", "b"), enlist(), receive(within="t1"))
    for number, message in enumerate("cdef"):
        handle = "s2" if number % 2 else "s"
        history.run(Call("messages.send", message=message, handle=handle, transaction="t1", priority=number))
    history.run(prepare(), receive(), *receives("r2"), commit(), *looked(3), *receives("r2", 3))


@pytest.mark.requirement(*COMMITS, "MQDMPR-3.1.4.4.wakes-readers")
def test_a_commit_ends_a_wait(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(enlist(), send("a", within="t1"), send("b", within="t1"), receive(wait_ms=60_000, name="w1"))
    history.run(prepare(), commit(), *looked(2))


@pytest.mark.requirement(*COMMITS, "MQDMPR-3.1.7.1.7.locked-commit", "MQDMPR-3.1.7.1.10.transaction-locks")
def test_a_purge_leaves_what_is_held(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, "queues.purge")
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), prepare(), Call("queues.purge", handle="r"))
    history.run(commit(), *looked(2))


@pytest.mark.requirement(*COMMITS, "MQDMPR-3.1.4.4.move")
def test_a_commit_moves(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, "messages.move", "messages.peek")
    history.run(Call("queues.open", name="m1", queue="q1;one", access="move"), *filled("a", "b"), peek(), enlist())
    history.run(Call("messages.move", message="a", handle="r", destination="m1", transaction="t1"), prepare(), peek())
    history.run(
        commit(), Call("queues.open", name="e1", queue="q1;one", access="receive"), *receives("e1", 2), *looked(2)
    )


@pytest.mark.requirement(*COMMITS)
def test_told_twice_it_answers_twice(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(
        *filled("a", "b"), enlist(), receive(within="t1"), send("c", within="t1"), prepare(), commit(), commit()
    )
    history.run(*looked(1), commit(), abort(), commit(), *looked(2))


@pytest.mark.requirement("MQDMPR-3.1.4.7.commit-reported")
def test_a_foreign_transaction_changes_nothing(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, "transactions.abort")
    history.run(*filled("a", "b"), *other_work(), enlist(), receive(within="t1"), send("c", within="t1"), prepare())
    history.run(commit(FOREIGN), *looked(2), commit(), *looked(1), other_ends(), *looked(1))
