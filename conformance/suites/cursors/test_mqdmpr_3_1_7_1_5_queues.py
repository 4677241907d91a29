"""Opening, closing, deleting and purging queues: MS-MQDMPR 3.1.7.1.3 to .7, access types and share modes (3.1.1.17)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import begin, peek, receive, send
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call

EXCLUSIVE = "deny_receive"
SHARES = ("queues.close",)


@pytest.mark.requirement(*judged_in("queues"))
def test_a_walk_with_handles(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.close", "queues.delete", "messages.peek")
    walk(mq, judge, run_options, plans.QUEUES)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.exclusive-then-receive",
    "MQDMPR-3.1.7.1.5.exclusive-then-receive-code",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-code",
    "MQDMPR-3.1.7.1.5.exclusive-then-send",
    "MQDMPR-3.1.7.1.6.share-released",
)
def test_an_exclusive_receiver(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *SHARES)
    history.run(
        Call("queues.close", handle="r"),
        Call("queues.open", name="x", queue="q1", access="receive", share=EXCLUSIVE),
        Call("queues.open", name="h1", queue="q1", access="receive"),
        Call("queues.open", name="h2", queue="q1", access="receive", share=EXCLUSIVE),
        Call("queues.open", name="h3", queue="q1", access="send"),
        Call("queues.close", handle="x"),
        Call("queues.open", name="r2", queue="q1", access="receive"),
        send("a"),
        Call("messages.receive", handle="r2"),
    )


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.receive-then-exclusive",
    "MQDMPR-3.1.7.1.5.receive-then-exclusive-code",
    "MQDMPR-3.1.7.1.5.receive-then-receive",
)
def test_exclusive_against_a_receiver(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.run(
        Call("queues.open", name="h1", queue="q1", access="receive", share=EXCLUSIVE),
        Call("queues.open", name="h2", queue="q1", access="receive"),
    )


@pytest.mark.requirement(
    "MQMP-3.1.4.5.queue-exists", "MQMP-3.1.4.5.queue-exists-code", "MQMP-3.1.4.5.existing-queue-unaltered"
)
def test_creating_a_queue_twice(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.run(send("a"), Call("queues.create", queue="q1"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.5.not-found", "MQDMPR-3.1.7.1.5.not-found-code")
def test_opening_what_was_never_created(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.run(Call("queues.open", name="h1", queue="q9", access="receive"))


@pytest.mark.requirement("MQDMPR-3.1.7.1.6.messages-kept")
def test_messages_stay_when_nobody_has_their_queue_open(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.close", "messages.peek")
    history.run(send("a", delivery="express"), send("b", delivery="recoverable"), peek(), peek())
    history.run(Call("queues.close", handle="s"), Call("queues.close", handle="r"))
    history.attempt(Call("queues.open", name="r2", queue="q1", access="receive"))
    history.run(*(Call("messages.receive", handle="r2"),) * 3)
