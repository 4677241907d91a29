"""The counts an implementation gives of a queue: MS-MQDMPR 3.1.1.2 (TotalBytes), 3.1.7.2.1, 3.1.7.2.2."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import abort, begin_keeping, begin_transaction, commit, counted, peek, post, receive
from conformance.model import Call

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
COUNTS = "queues.counts"


@pytest.mark.requirement(
    "MQDMPR-3.1.7.2.1.total-bytes",
    "MQDMPR-3.1.7.2.2.total-bytes",
    "MQDMPR-3.1.1.2.total-bytes",
    "MQDMPR-3.1.7.1.3.total-bytes-zero",
)
def test_sends_and_receives_are_counted(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, COUNTS, "messages.peek", journaling=True)
    history.run(counted(), post("a", size=100), counted(), post("b", size=100), counted(), post("c", size=300))
    history.run(counted(), peek(), counted(), receive(), counted(), receive(), counted(), receive(), counted())


@pytest.mark.requirement("MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes")
def test_an_abort_and_a_purge_give_bytes_back(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, COUNTS, *ENDS, "queues.purge", transactional=True)
    history.run(
        begin_transaction("t1"), post("a", size=100, within="t1"), post("b", size=200, within="t1"), commit("t1")
    )
    history.run(counted(), begin_transaction("t2"), receive(within="t2"), abort("t2"), counted())
    history.run(begin_transaction("t3"), post("c", size=50, within="t3"), abort("t3"), counted())
    history.run(begin_transaction("t4"), receive(within="t4"), commit("t4"), counted())
    history.run(Call("queues.purge", handle="r"), counted())


@pytest.mark.requirement("MQDMPR-3.1.7.1.3.total-bytes-zero")
def test_a_queue_that_was_deleted_and_made_again_is_empty(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, COUNTS, "queues.delete")
    history.run(post("a"), Call("queues.delete", queue="q1"), Call("queues.create", queue="q1"), counted())
