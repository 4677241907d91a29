"""The same queue named twice in a multiple-element name is one queue: MS-MQDMPR 3.1.7.3.8."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from conformance.histories.examples import begin, receive, send
from conformance.histories.history import History
from conformance.model import Call
from conformance.suites.cursors.rejudge import holds_or_fails, opened

ONE_LEFT = "MQDMPR-3.1.7.3.8.one-left-name"
NO_DUPLICATES = "MQDMPR-3.1.7.3.8.no-duplicates"
SPELLINGS = ("DIRECT=OS:", "direct=os:")
TEXT = "twice"


def _names(mq: Any, history: History, queue: str) -> list[str]:
    """Return the name of a queue in two spellings, which differ in case only."""
    path = f"{mq.hello.computer}\\private$\\mqconform-{queue}{history.driving.handles.own}"
    return [f"{spelling}{path}" for spelling in SPELLINGS]


def _received(mq: Any, handle: Any) -> str | None:
    """Receive a message; return its body, None if there is none."""
    read = mq.call("messages.receive", queue=handle, timeout_ms=mq.hello.settle_ms)
    if not read.ok:
        return None
    return base64.b64decode(read.values["message"].get("body", "")).decode("ascii", "replace")


@pytest.mark.requirement(ONE_LEFT)
def test_a_queue_named_twice_is_opened_as_one(mq: Any, judge: Any, mq_need: Any) -> None:
    """The rest is a single-element name, which can be opened for a read."""
    mq.need("format_names", "multiple_element")
    history = begin(mq, judge, mq_need)
    history.run(send("a"))
    judge.untold()
    result = opened(mq, judge.step, ",".join(_names(mq, history, "q1")), "receive")
    seen = _received(mq, result.values["queue"]) if result.ok else None
    judge.record(holds_or_fails(ONE_LEFT, seen == "a", "message 'a'", seen))


@pytest.mark.requirement(NO_DUPLICATES)
def test_a_queue_named_twice_among_others_gets_one_message(mq: Any, judge: Any, mq_need: Any) -> None:
    mq.need("format_names", "multiple_element")
    history = begin(mq, judge, mq_need)
    history.run(send("a"), receive(), Call("queues.create", queue="q2"))
    history.run(Call("queues.open", name="r2", queue="q2", access="receive"))
    judge.untold()
    first, again = _names(mq, history, "q1")
    result = opened(mq, judge.step, f"{first},{_names(mq, history, 'q2')[0]},{again}", "send")
    counts: list[int] = []
    if result.ok:
        body = base64.b64encode(TEXT.encode()).decode("ascii")
        mq.call("messages.send", queue=result.values["queue"], message={"body": body})
        known = history.driving.handles.known
        counts = [sum(_received(mq, known[name]) == TEXT for _ in range(3)) for name in ("r", "r2")]
    judge.record(holds_or_fails(NO_DUPLICATES, counts == [1, 1], [1, 1], counts))
