"""The coordinator tells to abort: MS-MQDMPR 3.1.4.8."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import peek, receive, receives, send
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

ABORTS = ("MQDMPR-3.1.4.8.aborts", "MQDMPR-3.1.4.8.abort-reported")
READY = pytest.mark.parametrize("ready", [(), (prepare(),)], ids=["before a prepare", "prepared"])


@READY
@pytest.mark.requirement(*ABORTS, "MQDMPR-3.1.4.5.receives-return-position")
def test_what_was_received_returns_to_its_place(mq: Any, judge: Any, mq_need: Any, ready: tuple[Call, ...]) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a", "b", "c"), enlist(), receive(within="t1"), receive(within="t1"), send("d", within="t1"))
    history.run(*ready, abort(), *looked(4))


@READY
@pytest.mark.requirement(*ABORTS, "MQDMPR-3.1.4.5.wakes-readers")
def test_an_abort_ends_a_wait(mq: Any, judge: Any, mq_need: Any, ready: tuple[Call, ...]) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a"), enlist(), receive(within="t1"), receive(wait_ms=60_000, name="w1"))
    history.run(*ready, abort(), *looked(1))


@READY
@pytest.mark.requirement("MQDMPR-3.1.4.8.abort-reported", "MQDMPR-3.1.4.5.purged-receive")
def test_what_was_purged_does_not_return(mq: Any, judge: Any, mq_need: Any, ready: tuple[Call, ...]) -> None:
    history = story(mq, judge, mq_need, "queues.purge")
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), *ready, Call("queues.purge", handle="r"))
    history.run(abort(), *looked(2))


@READY
@pytest.mark.requirement("MQDMPR-3.1.4.8.abort-reported", "MQDMPR-3.1.4.5.move")
def test_an_abort_moves_nothing(mq: Any, judge: Any, mq_need: Any, ready: tuple[Call, ...]) -> None:
    history = story(mq, judge, mq_need, "messages.move", "messages.peek")
    history.run(Call("queues.open", name="m1", queue="q1;one", access="move"), *filled("a", "b"), peek(), enlist())
    history.run(Call("messages.move", message="a", handle="r", destination="m1", transaction="t1"), *ready, peek())
    history.run(abort(), Call("queues.open", name="e1", queue="q1;one", access="receive"), *receives("e1"), *looked(3))


@READY
@pytest.mark.requirement(*ABORTS)
def test_told_twice_it_answers_twice(mq: Any, judge: Any, mq_need: Any, ready: tuple[Call, ...]) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), send("c", within="t1"), *ready, abort(), abort())
    history.run(*looked(1), abort(), commit(), abort(), *looked(2))


@pytest.mark.requirement("MQDMPR-3.1.4.8.abort-reported")
def test_a_foreign_transaction_changes_nothing(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, "transactions.abort")
    history.run(*filled("a", "b"), *other_work(), enlist(), receive(within="t1"), send("c", within="t1"))
    history.run(abort(FOREIGN), *looked(2), prepare(), abort(FOREIGN), commit(), *looked(1), other_ends(), *looked(1))
