"""Sends to several queues at once: MS-MQDMPR 3.1.7.1.5 and 3.1.7.1.27."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import abort, begin_keeping, begin_transaction, commit, post, receives
from conformance.histories.history import History
from conformance.model import Call

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
BOTH = "q1,q2"


def several(mq: Any, judge: Any, mq_need: Any, *needs: str, transactional: bool = False) -> History:
    """Open two queues for receive as `r` and `r2`, and both for send by the handle `m`."""
    history = begin_keeping(mq, judge, mq_need, *needs, transactional=transactional)
    history.run(
        Call("queues.create", queue="q2", transactional=transactional),
        Call("queues.open", name="r2", queue="q2", access="receive"),
        Call("queues.open", name="m", queue=BOTH, access="send"),
    )
    return history


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.multiple-element-success",
    "MQDMPR-3.1.7.1.27.multiple-destinations",
    "MQDMPR-3.1.7.1.27.message-copy",
)
def test_each_queue_gets_a_copy(mq: Any, judge: Any, mq_need: Any) -> None:
    history = several(mq, judge, mq_need)
    history.run(post("a", to="m", priority=6, delivery="recoverable", size=200), post("b"), post("c", to="m"))
    history.run(*receives("r", 4), *receives("r2", 3))


@pytest.mark.requirement("MQDMPR-3.1.7.1.27.multiple-destinations", "MQDMPR-3.1.1.14.several-queues")
def test_a_transaction_covers_each_copy(mq: Any, judge: Any, mq_need: Any) -> None:
    history = several(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), post("a", to="m", within="t1"), *receives("r"), *receives("r2"), commit("t1"))
    history.run(
        begin_transaction("t2"), post("b", to="m", within="t2"), abort("t2"), *receives("r", 2), *receives("r2", 2)
    )


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.multiple-element-access",
    "MQDMPR-3.1.7.1.5.multiple-element-access-code",
    "MQDMPR-3.1.7.1.5.multiple-element-share",
    "MQDMPR-3.1.7.1.5.multiple-element-share-code",
    "MQDMPR-3.1.7.1.5.multiple-element-failed-element",
    "MQDMPR-3.1.7.1.5.multiple-element-status",
)
def test_how_several_queues_cannot_be_opened(mq: Any, judge: Any, mq_need: Any) -> None:
    history = several(mq, judge, mq_need)
    for number, access in enumerate(("receive", "peek"), 1):
        history.attempt(Call("queues.open", name=f"x{number}", queue=BOTH, access=access))
    history.attempt(Call("queues.open", name="x3", queue=BOTH, access="send", share="deny_receive"))
    history.attempt(Call("queues.open", name="x4", queue="q1,q9", access="send"))
    history.run(post("a", to="m"), *receives("r", 2), *receives("r2", 2))


@pytest.mark.requirement("MQDMPR-3.1.7.1.27.failing-element")
@pytest.mark.parametrize("full", ["q1", "q2"])
def test_one_of_several_queues_is_full(mq: Any, judge: Any, mq_need: Any, full: str) -> None:
    history = begin_keeping(mq, judge, mq_need, quota_kb=40 if full == "q1" else None)
    history.run(
        Call("queues.create", queue="q2", quota_kb=40 if full == "q2" else None),
        Call("queues.open", name="r2", queue="q2", access="receive"),
        Call("queues.open", name="m", queue=BOTH, access="send"),
        post("a", to="m", size=30 * 1024),
        post("b", to="m", size=30 * 1024),
        *receives("r", 2),
        *receives("r2", 2),
    )


@pytest.mark.requirement("MQDMPR-3.1.7.1.6.handle-closed")
def test_a_closed_handle_of_several_queues(mq: Any, judge: Any, mq_need: Any) -> None:
    history = several(mq, judge, mq_need, "queues.close")
    history.run(Call("queues.close", handle="m"), post("a", to="m"), *receives("r"), *receives("r2"))
