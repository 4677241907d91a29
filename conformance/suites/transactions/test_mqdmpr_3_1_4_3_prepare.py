"""Preparing a transaction, and ending it afterwards: MS-MQDMPR 3.1.4.3 to .5."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import abort, begin, begin_transaction, commit, peek, receive, send
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call

ENDS = ("transactions.begin", "transactions.prepare", "transactions.commit", "transactions.abort")


def prepared(name: str) -> Call:
    """Prepare a transaction."""
    return Call("transactions.prepare", transaction=name)


@pytest.mark.requirement(*judged_in("prepared"))
def test_a_walk_with_prepared_transactions(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    walk(mq, judge, run_options, plans.PREPARED)


@pytest.mark.requirement(
    "MQDMPR-3.1.4.3.success",
    "MQDMPR-3.1.4.3.changes-nothing-visible",
    "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.4.3.last-in-transaction",
)
def test_a_prepared_transaction_commits(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "messages.peek", transactional=True)
    history.run(
        begin_transaction("t1"), *(send(name, within="t1") for name in "abc"), peek(), prepared("t1"), peek(), receive()
    )
    history.run(commit("t1"), peek(), receive(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.4.3.changes-nothing-visible", "MQDMPR-3.1.4.5.receives-return")
def test_a_prepared_transaction_aborts(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "messages.peek", transactional=True)
    history.run(
        begin_transaction("t1"), send("a", within="t1"), commit("t1"), begin_transaction("t2"), receive(within="t2")
    )
    history.run(send("b", within="t2"), peek(), prepared("t2"), peek(), receive(), abort("t2"), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.4.3.unknown", "MQDMPR-3.1.4.3.unknown-code")
def test_a_transaction_that_is_over_is_not_prepared(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(
        begin_transaction("t1"),
        send("a", within="t1"),
        commit("t1"),
        prepared("t1"),
        begin_transaction("t2"),
        abort("t2"),
    )
    history.run(prepared("t2"), receive())


@pytest.mark.requirement("MQDMPR-3.1.4.3.success", "MQDMPR-3.1.4.3.changes-nothing-visible")
def test_preparing_one_transaction_leaves_the_other(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "messages.peek", transactional=True)
    history.run(
        begin_transaction("t1"), begin_transaction("t2"), send("a", within="t1"), send("b", within="t2"), peek()
    )
    history.run(prepared("t1"), send("c", within="t2"), commit("t2"), abort("t1"), receive(), receive(), receive())
