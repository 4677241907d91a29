"""A cursor stays where it is while messages around it are removed and calls with it are refused: MS-MQDMPR 3.2.7."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import begin, cursor, expiry_ms, peek, peek_next, receive, send

NEEDS = ("cursors.open", "messages.peek", "messages.peek_next")
PEEK_STAYS = "MQDMPR-3.2.7.2.already-received-stays"
LONG_MS = 60_000
ILLEGAL_STAYS = "MQDMPR-3.2.7.3.illegal-cursor-action-stays"
USABLE = "MQDMPR-3.2.7.6.usable"


@pytest.mark.requirement("MQDMPR-3.2.7.2.read-stays", "MQDMPR-3.1.1.11.next-of-removed")
def test_messages_before_at_and_behind_the_cursor_are_removed(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *NEEDS)
    history.run(*(send(name) for name in "abcdef"), cursor("c1"), cursor("c2"), peek("c1"), peek_next("c1"))
    history.run(receive(), peek("c1"), peek("c2"), peek_next("c2"), receive("c2"), peek("c1"))
    history.run(receive(), peek("c1"), peek_next("c1"), receive(), peek_next("c1"), peek("c1"))


@pytest.mark.requirement(PEEK_STAYS)
def test_a_peek_that_fails_leaves_its_cursor_in_its_place(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *NEEDS)
    history.run(cursor("c1"), cursor("c2"), *(send(name) for name in "abc"), peek("c1"), peek("c2"), receive())
    history.run(peek_next("c1"), peek("c2"))
    history.attempt(peek_next("c2"), shows=PEEK_STAYS)


@pytest.mark.requirement(ILLEGAL_STAYS)
def test_an_illegal_peek_next_leaves_its_cursor_in_its_place(mq: Any, judge: Any, mq_need: Any) -> None:
    """The cursor stands behind what it received; a message of higher priority has come before it."""
    history = begin(mq, judge, mq_need, *NEEDS)
    history.run(cursor("c1"), *(send(name) for name in "abcd"), receive("c1"), send("e", priority=7), receive("c1"))
    history.run(peek_next("c1"))
    history.attempt(receive("c1"), shows=ILLEGAL_STAYS)


@pytest.mark.requirement(USABLE)
def test_a_cursor_waits_again_after_its_wait_timed_out(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "cursors.open")
    ms = expiry_ms(mq)
    history.run(cursor("c1"), receive("c1", wait_ms=LONG_MS, name="w1"), send("a"))
    history.attempt(receive("c1", wait_ms=ms, name="w2"), expires=True)
    history.attempt(receive("c1", wait_ms=LONG_MS, name="w3"), shows=USABLE)
    history.attempt(send("b"), shows=USABLE)
