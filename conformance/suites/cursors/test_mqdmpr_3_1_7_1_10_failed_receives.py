"""Receives by a cursor that fail, and the state they leave (MS-MQDMPR 3.1.7.1.10 and 3.2.7.4)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import begin, cursor, peek, peek_next, receive, send

NEEDS = ("cursors.open", "messages.peek")
ENDS = "MQDMPR-3.1.7.1.10.already-received-ends"
KEEPS_PLACE = "MQDMPR-3.2.7.4.already-received-stays"
USABLE = "MQDMPR-3.2.7.4.not-found-stays"


@pytest.mark.requirement(ENDS)
def test_a_receive_that_fails_takes_no_other_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *NEEDS)
    history.run(cursor("c1"), send("a"), send("b"), peek("c1"), receive(), peek(), peek())
    history.run(receive("c1"))
    history.attempt(peek(), shows=ENDS)
    history.attempt(receive(), shows=ENDS)


@pytest.mark.requirement(KEEPS_PLACE)
def test_a_receive_that_fails_leaves_its_cursor_in_its_place(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *NEEDS, "messages.peek_next")
    history.run(cursor("c1"), cursor("c2"), *(send(name) for name in "abc"), peek("c1"), peek("c2"), receive())
    history.run(peek_next("c1"), receive("c2"))
    history.attempt(peek_next("c2"), shows=KEEPS_PLACE)


@pytest.mark.requirement(USABLE)
def test_a_receive_that_finds_nothing_leaves_its_cursor_usable(mq: Any, judge: Any, mq_need: Any) -> None:
    """The cursor stands behind the message it received; a later message arrives behind the cursor."""
    history = begin(mq, judge, mq_need, *NEEDS)
    history.run(cursor("c1"), send("a"), receive("c1"), send("b"), receive("c1"))
    history.run(receive("c1"), send("c"))
    history.attempt(receive("c1"), shows=USABLE)
    history.run(cursor("c2"), receive("c2"), send("d"))
    history.attempt(receive("c2"), shows=USABLE)
