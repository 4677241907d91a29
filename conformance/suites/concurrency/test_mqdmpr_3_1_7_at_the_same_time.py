"""A few calls at the same moment, to show events that do not happen as a whole: MS-MQDMPR 3.1.4.5, 3.1.7.1."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.model import Call
from conformance.model.calls import INFINITE
from conformance.suites.concurrency.running import NEEDS, at_once, in_a_row

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
TIMES = 0.2  # of the run's examples, for each test: which calls meet differs each time


def opened(queue: str, *names: str, access: str = "receive") -> list[Call]:
    """Open a queue under these names."""
    return [Call("queues.open", name=name, queue=queue, access=access) for name in names]


def sent(*messages: str, within: str | None = None, handle: str = "s") -> list[Call]:
    """Send these messages."""
    return [Call("messages.send", message=name, handle=handle, transaction=within) for name in messages]


def received(*handles: str, within: str | None = None) -> list[Call]:
    """Receive by each of these handles."""
    return [Call("messages.receive", handle=handle, transaction=within) for handle in handles]


def several(mq: Any, judge: Any, options: Any, before: list[Call], together: list[Call]) -> None:
    """Run `at_once` several times."""
    for _ in range(max(1, round(options.max_examples * TIMES))):
        at_once(mq, judge, before, together)


@pytest.mark.requirement("MQDMPR-3.1.4.5.receives-return", "MQDMPR-3.1.7.1.10.first-available")
def test_an_abort_and_receives(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    before = [Call("queues.create", queue="q1", transactional=True), *opened("q1", "s", access="send")]
    before += [*opened("q1", "r1", "r2", "r3", "d1"), Call("transactions.begin", name="t1")]
    before += [*sent(*"abcd", within="t1"), Call("transactions.commit", transaction="t1")]
    before += [Call("transactions.begin", name="t2"), *received("r1", "r1", "r1", within="t2")]
    together = [Call("transactions.abort", transaction="t2"), *received("r2", "r3", "r2", "r3")]
    several(mq, judge, run_options, before, together)


@pytest.mark.requirement("MQDMPR-3.1.7.1.16.moved", "MQDMPR-3.1.7.1.10.first-available")
def test_a_move_and_receives(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.move")
    before = [Call("queues.create", queue="q1"), *opened("q1", "s", access="send"), *opened("q1", "r1", "r2", "d1")]
    before += [*opened("q1;one", "m", access="move"), *opened("q1;one", "d2"), *sent(*"ab")]
    before += [Call("messages.peek", handle="r1")]
    moves = Call("messages.move", message="a", handle="r1", destination="m")
    several(mq, judge, run_options, before, [moves, *received("r2"), moves, *received("r1")])


@pytest.mark.requirement("MQDMPR-3.1.7.1.5.exclusive-then-exclusive", "MQDMPR-3.1.7.1.5.exclusive-then-exclusive-code")
def test_opens_that_deny_each_other(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS)
    alone = [
        Call("queues.open", name=f"x{number}", queue="q1", access="receive", share="deny_receive")
        for number in range(4)
    ]
    several(mq, judge, run_options, [Call("queues.create", queue="q1")], alone)


@pytest.mark.requirement("MQMP-3.1.4.5.queue-exists", "MQMP-3.1.4.5.queue-exists-code")
def test_creations_of_one_name(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS)
    before = [Call("queues.create", queue="q2")]
    several(mq, judge, run_options, before, [Call("queues.create", queue="q1")] * 4)


@pytest.mark.requirement(
    "MQDMPR-3.1.1.16.waiting-reads-in-order",
    "MQDMPR-3.1.7.2.2.fifo-in-handle",
    "MQDMPR-3.1.7.2.2.others-remain",
    "MQDMPR-3.1.7.1.10.wakes",
)
@pytest.mark.parametrize("readers", [1, 2])
def test_many_wait_and_the_oldest_is_served_first(mq: Any, judge: Any, mq_need: Any, readers: int) -> None:
    mq_need(*NEEDS)
    handles = [f"r{number}" for number in range(readers)]
    before = [Call("queues.create", queue="q1"), *opened("q1", "s", access="send"), *opened("q1", *handles)]
    waits = [
        Call("messages.receive", name=f"w{number}", handle=handles[number % readers], timeout_ms=INFINITE)
        for number in range(4)
    ]
    in_a_row(mq, judge, before, waits, sent(*"abc"))
