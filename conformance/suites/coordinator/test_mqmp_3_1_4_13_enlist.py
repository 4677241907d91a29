"""The manager takes part in a transaction of the coordinator: MS-MQMP 3.1.4.13."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import peek, receive, send
from conformance.model import Call
from conformance.suites.coordinator.acts import abort, commit, enlist, filled, looked, prepare, story

PEEK = "messages.peek"


@pytest.mark.requirement("MQMP-3.1.4.13.created", "MQMP-3.1.4.13.enlisted", "MQDMPR-3.1.7.1.9.uncommitted-locked")
def test_work_waits_for_the_coordinator(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, PEEK)
    history.run(*filled("a"), enlist(), receive(within="t1"), send("b", within="t1"), peek(), peek())
    history.run(prepare(), peek(), commit(), *looked(2))


@pytest.mark.requirement("MQMP-3.1.4.13.known", "MQDMPR-3.1.4.7.commits")
def test_a_second_handle_is_of_the_same_transaction(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a"), enlist("t1"), send("b", within="t1"), enlist("t2"), receive(within="t2"))
    history.run(send("c", within="t2"), prepare(), enlist("t3"), commit(), *looked(3))


@pytest.mark.requirement("MQMP-3.1.4.13.known", "MQDMPR-3.1.4.8.aborts")
def test_an_abort_ends_the_work_of_both_handles(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a"), enlist("t1"), receive(within="t1"), enlist("t2"), send("b", within="t2"))
    history.run(abort(), send("c", within="t1"), *looked(3))


@pytest.mark.requirement("MQDMPR-3.1.1.14.identifier-unique", "MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.8.aborts")
def test_two_transactions_are_two(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a", "b"), enlist("t1", "x1"), enlist("t2", "x2"), receive(within="t1"), receive(within="t2"))
    history.run(send("c", within="t1"), send("d", within="t2"), prepare("x2"), prepare("x1"))
    history.run(abort("x1"), *looked(2), commit("x2"), *looked(2))


@pytest.mark.requirement("MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.4.transaction-ends", "MQDMPR-3.1.4.5.transaction-ends")
def test_work_in_what_is_over_is_refused(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need)
    history.run(*filled("a"), enlist("t1", "x1"), enlist("t2", "x2"), send("b", within="t1"), prepare("x1"))
    history.run(commit("x1"), abort("x2"))
    for handle in ("t1", "t2"):
        history.run(send("c", within=handle), receive(within=handle))
    history.run(*looked(3))


@pytest.mark.requirement("MQMP-3.1.4.13.created", "MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.8.aborts")
@pytest.mark.parametrize("first", [(prepare(), commit()), (abort(),), (prepare(single=True),)])
@pytest.mark.parametrize("second", [(prepare(), commit()), (abort(),)])
def test_an_identifier_names_a_new_transaction_after_its_end(
    mq: Any, judge: Any, mq_need: Any, first: tuple[Call, ...], second: tuple[Call, ...]
) -> None:
    """An ended transaction is in no collection (MS-MQDMPR 3.1.4.4, 3.1.4.5): nothing of it is found again."""
    history = story(mq, judge, mq_need)
    history.run(*filled("a", "b", "c"), enlist("t1"), receive(within="t1"), send("d", within="t1"), *first)
    history.run(enlist("t2"), receive(within="t2"), send("e", within="t2"), *looked(1), *second, *looked(5))
