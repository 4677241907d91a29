"""Which requirement is blamed for a message that expires too early, and for a cursor that a refused action moves."""

from __future__ import annotations

import pytest
from blamed_steps import IO_TIMEOUT, OK, PEEK, RECEIVE, START, broken, judged, message

from conformance.model import Answer, Call, Scan
from conformance.spec.constants import hresults

NOW = (Call("clock.now"), OK)
LATER = (Call("clock.advance", by_ms=3000), OK)
ILLEGAL = Answer.of_status(hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION)
DEFAULT = "MQDMPR-3.1.1.12.default-time-to-be-received"


def sent(name: str, seconds: int | None = None) -> tuple[Call, Answer]:
    return Call("messages.send", message=name, handle="s", live_s=seconds), OK


@pytest.mark.parametrize("peeked", [True, False])
def test_a_message_that_has_the_time_of_the_one_before_it(peeked: bool) -> None:
    seen = ((RECEIVE, message("a")), (PEEK, message("b"))) if peeked else ()
    found = judged(NOW, *START, sent("a", 1), sent("b"), *seen, LATER, (RECEIVE, IO_TIMEOUT), scan=Scan((), queue="q"))
    assert broken(found) == {DEFAULT: "messages.receive"}


def test_a_message_without_a_time_that_goes_missing_where_no_other_has_one() -> None:
    before = (NOW, *START, sent("a"), (PEEK, message("a")), LATER)
    found = judged(*before, (RECEIVE, IO_TIMEOUT), scan=Scan((), queue="q"))
    assert broken(found) == {"MQDMPR-3.1.7.1.15.keeps": "messages.receive"}


@pytest.mark.parametrize("later", [(), (LATER,)], ids=["at once", "before its time"])
def test_a_message_that_expires_before_its_time(later: tuple[tuple[Call, Answer], ...]) -> None:
    """Nobody has seen it since it was sent; a message without a time that was lost as well would say otherwise."""
    before = (NOW, *START, sent("a", 5), sent("b"), *later)
    found = judged(*before, (RECEIVE, message("b")), scan=Scan((), queue="q"))
    assert broken(found) == {"MQDMPR-3.1.2.4.not-early": "messages.receive"}
    found = judged(*before, (RECEIVE, IO_TIMEOUT), scan=Scan((), queue="q"))
    assert broken(found) == {"MQDMPR-3.1.7.1.9.available": "messages.receive"}


CURSOR = (Call("cursors.open", name="c", handle="r"), OK)
REFUSED = (Call("messages.peek_next", handle="r", cursor="c"), ILLEGAL)


@pytest.mark.parametrize("method", ["peek", "receive"])
@pytest.mark.parametrize("given", ["b", None])
def test_an_action_that_is_refused_and_moves_the_cursor_all_the_same(method: str, given: str | None) -> None:
    read = Call(f"messages.{method}", handle="r", cursor="c")
    before = (*START, CURSOR, sent("a"), *((sent("b"),) if given else ()))
    answer = message(given) if given else IO_TIMEOUT
    there = Scan(("a",) if method == "receive" or not given else ("a", "b"), queue="q")
    moved = "MQDMPR-3.2.7.3.illegal-cursor-action-stays"
    assert broken(judged(*before, REFUSED, (read, answer), scan=there)) == {moved: read.method}
    assert moved not in broken(judged(*before, (read, answer), scan=there))  # nothing was refused
    seen = (REFUSED, (Call("messages.peek", handle="r", cursor="c"), message("a")))
    assert moved not in broken(judged(*before, *seen, (read, answer), scan=there))  # and it did not move
    gone = Scan(("b",) if given and method == "peek" else (), queue="q")
    assert moved not in broken(judged(*before, REFUSED, (read, answer), scan=gone))  # the message was lost
