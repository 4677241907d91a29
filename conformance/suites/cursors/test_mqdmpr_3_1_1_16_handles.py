"""Handles and cursors are told apart, and what becomes of one changes no other: MS-MQDMPR 3.1.1.16, 3.2.1.2."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import begin, cursor, peek, peek_next, receive, send
from conformance.model import Call

CURSOR = ("cursors.open", "messages.peek")
OTHERS_KEPT = "MQDMPR-3.1.7.1.2.others-kept"
AT_MOST_ONCE = "MQDMPR-3.1.7.1.10.at-most-once"


@pytest.mark.requirement("MQDMPR-3.1.1.16.handle-unique")
def test_a_queue_opened_again_has_another_handle(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    for name, access in (("s2", "send"), ("r2", "receive"), ("r3", "receive")):
        history.run(Call("queues.open", name=name, queue="q1", access=access))


@pytest.mark.requirement("MQDMPR-3.2.1.2.handle-unique")
def test_cursors_of_one_handle_and_of_two(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *CURSOR)
    history.run(Call("queues.open", name="r2", queue="q1", access="receive"), cursor("c1"), cursor("c2"))
    history.run(Call("cursors.open", name="c3", handle="r2"))


@pytest.mark.requirement(OTHERS_KEPT)
def test_a_closed_cursor_leaves_the_others_of_its_handle(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *CURSOR, "messages.peek_next", "cursors.close")
    history.run(*(send(name) for name in "abc"), cursor("c1"), cursor("c2"), peek("c1"), peek("c2"), peek_next("c2"))
    history.run(peek("c2"), Call("cursors.close", cursor="c1"))
    history.attempt(peek("c2"), shows=OTHERS_KEPT)
    history.attempt(peek_next("c2"), shows=OTHERS_KEPT)


@pytest.mark.requirement(AT_MOST_ONCE)
def test_a_message_is_for_one_reader(mq: Any, judge: Any, mq_need: Any) -> None:
    """Two handles have each read before: what one of them has received is not there for the other."""
    history = begin(mq, judge, mq_need, *CURSOR)
    other = Call("messages.receive", handle="r2")
    history.run(Call("queues.open", name="r2", queue="q1", access="receive"), cursor("c1"))
    history.run(*(send(name) for name in "abcd"), other, receive(), receive("c1"), receive())
    for again in (other, receive(), receive("c1")):
        history.attempt(again, shows=AT_MOST_ONCE)
