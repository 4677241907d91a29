"""Reads that wait: MS-MQDMPR 3.1.7.3.1, whom an arrival wakes (3.1.7.2.2), how a wait ends (3.1.6.3, 3.1.7.1.17)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import begin, cursor, expiry_ms, peek, peek_next, receive, send
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.model import Call
from conformance.model.calls import INFINITE

LONG_MS = 60_000  # another call ends the wait


@pytest.mark.requirement(*judged_in("waits"))
def test_a_walk_with_waiting_reads(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.peek")
    walk(mq, judge, run_options, plans.WAITS)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.2.2.fifo-in-handle", "MQDMPR-3.1.7.2.2.one-destructive", "MQDMPR-3.1.7.1.10.wakes"
)
def test_receives_on_one_handle_are_served_in_turn(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.run(receive(wait_ms=LONG_MS, name="w1"), receive(wait_ms=LONG_MS, name="w2"))
    history.run(send("a"), send("b", priority=7), send("c"), receive())


@pytest.mark.parametrize("wait_ms", [2**31 - 1, 2**31, 2**32 - 2, INFINITE])
@pytest.mark.requirement("MQDMPR-3.1.7.1.10.waits", "MQDMPR-3.1.7.1.10.wakes")
def test_a_receive_waits_for_the_longest_times(mq: Any, judge: Any, mq_need: Any, wait_ms: int) -> None:
    history = begin(mq, judge, mq_need)
    # On a virtual clock nothing ends before time passes, however short an overflow makes the wait.
    history.run(receive(wait_ms=wait_ms, name="w1"), Call("clock.advance", by_ms=10), send("a"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.2.2.peekers-before-receiver",
    "MQDMPR-3.1.7.1.15.releases-next-reader",
    "MQDMPR-3.1.7.1.15.wakes",
)
def test_peeks_that_wait_do_not_keep_a_receive_from_its_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek")
    history.run(peek(wait_ms=LONG_MS, name="w1"), peek(wait_ms=LONG_MS, name="w2"))
    history.run(receive(wait_ms=LONG_MS, name="w3"), send("a"), peek())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.10.timed-out-takes-nothing",
    "MQDMPR-3.1.7.1.10.io-timeout",
    "MQDMPR-3.1.7.1.10.io-timeout-code",
)
def test_a_receive_whose_time_is_over_takes_nothing_later(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.attempt(receive(wait_ms=expiry_ms(mq), name="w1"), expires=True)
    history.run(send("a"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.15.io-timeout", "MQDMPR-3.1.7.1.15.io-timeout-code")
def test_a_peek_whose_time_is_over(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek")
    history.attempt(peek(wait_ms=expiry_ms(mq), name="w1"), expires=True)
    history.run(send("a"), peek())


@pytest.mark.requirement("MQDMPR-3.1.7.3.1.no-early-timeout", "MQDMPR-3.1.2.3.expires")
def test_a_wait_ends_at_its_time_and_not_before(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "clock.advance")
    if mq.hello.clock != "virtual":
        pytest.skip("needs a virtual clock")
    history.run(receive(wait_ms=2_000, name="w1"), receive(wait_ms=INFINITE, name="w2"))
    history.run(Call("clock.advance", by_ms=1_999), Call("clock.advance", by_ms=1), Call("clock.advance", by_ms=10**9))
    history.run(send("a"))


@pytest.mark.requirement("MQDMPR-3.1.7.3.1.no-early-timeout", "MQDMPR-3.1.2.3.expires")
def test_a_wait_ends_in_the_midst_of_a_second(mq: Any, judge: Any, mq_need: Any) -> None:
    """Time-outs are milliseconds: one, and numbers just beside and between those that are whole seconds."""
    history = begin(mq, judge, mq_need, "clock.advance", "messages.peek")
    if mq.hello.clock != "virtual":
        pytest.skip("needs a virtual clock")
    for wait_ms in (1, 999, 1_001, 1_500):
        history.run(receive(wait_ms=wait_ms, name=f"w{wait_ms}"), peek(wait_ms=wait_ms, name=f"p{wait_ms}"))
        history.run(*(Call("clock.advance", by_ms=by_ms) for by_ms in (wait_ms - 1, 1) if by_ms))
        history.run(send(f"m{wait_ms}"), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.6.pending-read-cancelled",
    "MQDMPR-3.1.7.1.6.pending-read-cancelled-code",
    "MQDMPR-3.1.7.1.6.pending-read-others-kept",
)
def test_a_close_ends_the_reads_of_its_handle(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.close")
    history.run(
        Call("queues.open", name="r2", queue="q1", access="receive"),
        receive(wait_ms=LONG_MS, name="w1"),
        Call("messages.receive", name="w2", handle="r2", timeout_ms=LONG_MS),
        Call("queues.close", handle="r"),
        send("a"),
    )


@pytest.mark.requirement("MQDMPR-3.1.7.1.17.success", "MQDMPR-3.1.7.1.17.cancelled", "MQDMPR-3.1.7.1.17.takes-nothing")
def test_a_cancelled_receive_takes_nothing_later(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.cancel")
    history.run(receive(wait_ms=LONG_MS, name="w1"), receive(wait_ms=LONG_MS, name="w2"))
    history.run(Call("messages.cancel", request="w1"), send("a"), send("b"), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.17.not-found", "MQDMPR-3.1.7.1.17.not-found-code", "MQDMPR-3.1.7.1.17.others-kept"
)
def test_a_read_that_waits_no_more_cannot_be_cancelled(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.cancel")
    history.run(receive(wait_ms=LONG_MS, name="w1"), send("a"), receive(wait_ms=LONG_MS, name="w2"))
    history.run(receive(wait_ms=LONG_MS, name="w3"), Call("messages.cancel", request="w1"))
    history.run(Call("messages.cancel", request="w2"), Call("messages.cancel", request="w2"), send("b"))


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.14.waits",
    "MQDMPR-3.1.7.1.14.wakes",
    "MQDMPR-3.1.7.1.14.releases-next-reader",
    "MQDMPR-3.1.7.1.14.mq-ok",
)
def test_a_peek_next_that_waits_does_not_keep_a_receive_from_its_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek", "messages.peek_next", "cursors.open")
    history.run(cursor("c1"), send("a"), peek("c1"), receive(), peek_next("c1", wait_ms=LONG_MS, name="w1"))
    history.run(receive(wait_ms=LONG_MS, name="w2"), send("b"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.2.pending-read-ends", "MQDMPR-3.1.7.1.2.own-reads-only")
def test_a_cursor_is_closed_while_a_read_waits_with_it(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.peek", "cursors.open", "cursors.close")
    history.run(cursor("c1"), cursor("c2"), receive("c1", wait_ms=LONG_MS, name="w1"))
    history.run(receive("c2", wait_ms=LONG_MS, name="w2"), receive(wait_ms=LONG_MS, name="w3"))
    history.run(Call("cursors.close", cursor="c1"), send("a"), send("b"), send("c"), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.4.waiting-read-ends")
def test_a_queue_is_deleted_while_reads_wait(mq: Any, judge: Any, mq_need: Any) -> None:
    """The reads end with the queue or at their time-out."""
    history = begin(mq, judge, mq_need, "queues.delete", "messages.peek", "clock.advance")
    if mq.hello.clock != "virtual":
        pytest.skip("needs a virtual clock")
    history.run(receive(wait_ms=1_000, name="w1"), peek(wait_ms=LONG_MS, name="w2"))
    history.run(Call("queues.delete", queue="q1"), Call("clock.advance", by_ms=999), Call("clock.advance", by_ms=1))
    history.attempt(Call("clock.advance", by_ms=LONG_MS))
