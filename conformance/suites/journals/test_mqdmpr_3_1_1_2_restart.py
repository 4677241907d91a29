"""Journals and dead-letter queues after the queue manager was stopped or killed: MS-MQDMPR 3.1.1.2."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    REAL_MS,
    TARGET_JOURNAL,
    begin_keeping,
    opened,
    passes,
    post,
    receive,
    receives,
)
from conformance.histories.history import History
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, SYSTEM_JOURNAL

KEPT = (SYSTEM_JOURNAL, DEAD_LETTER, TARGET_JOURNAL)


def _shown(history: History) -> None:
    """Read journals and dead-letter queues before the restart, to not blame it for copies that are missing already."""
    for number, place in enumerate(KEPT, 1):
        handle, cursor = f"k{number}", f"c{number}"
        history.run(
            Call("queues.open", name=handle, queue=place, access="receive"),
            Call("cursors.open", name=cursor, handle=handle),
            Call("messages.peek", handle=handle, cursor=cursor),
            *(Call("messages.peek_next", handle=handle, cursor=cursor),) * 2,
        )


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
@pytest.mark.requirement("MQDMPR-3.1.1.2.system-queues-kept")
def test_what_is_in_them_is_there_after_a_restart(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin_keeping(mq, judge, mq_need, journaling=True)
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history.run(post("a", journal=True, delivery="recoverable"), post("b", journal=True), receive(), receive())
    history.run(post("c", live_s=1, dead_letter=True, delivery="recoverable"), passes(REAL_MS))
    if all(mq.offers(method) for method in ("cursors.open", "messages.peek", "messages.peek_next")):
        _shown(history)
    history.run(Call("restart", kill=kill), *opened())
    for number, place in enumerate(KEPT, 1):
        history.run(Call("queues.open", name=f"j{number}", queue=place, access="receive"), *receives(f"j{number}", 3))
    history.run(post("d"), receive(), *receives("j3"))
