"""A kill of the queue manager undoes no completed call and loses nothing recoverable: MS-MQDMPR 3.1.1.2, 3.1.3."""

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

ENDS = ("transactions.begin", "transactions.commit")
MOVES = ("messages.move", "messages.peek")
SURVIVES = "MQDMPR-3.1.1.12.recoverable-survives"
PERSISTENT = "MQDMPR-3.1.1.11.recoverable-persistent"


def restarted(mq: Any, history: History, *more: Call, kill: bool = True) -> None:
    """Restart the manager, open `q1` again and make further calls. Skip if the connection does not keep the state."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history.run(Call("restart", kill=kill), *opened(), *more)


@pytest.mark.requirement("MQDMPR-3.1.1.2.system-queues-kept")
def test_journals_and_dead_letters_stay(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, journaling=True)
    history.run(post("a", journal=True, delivery="recoverable"), receive())
    history.run(post("b", live_s=1, dead_letter=True, delivery="recoverable"), passes(REAL_MS))
    restarted(mq, history, kill=False)  # other tests are about a kill between a receive and its copy
    for number, place in enumerate((SYSTEM_JOURNAL, DEAD_LETTER, TARGET_JOURNAL), 1):
        history.run(Call("queues.open", name=f"j{number}", queue=place, access="receive"), *receives(f"j{number}"))


@pytest.mark.requirement("MQDMPR-3.1.2.4.expires", SURVIVES)
def test_time_goes_on_for_a_message(mq: Any, judge: Any, mq_need: Any) -> None:
    """A message that had not expired when the manager ended expires after the restart."""
    history = begin_keeping(mq, judge, mq_need, "messages.peek")
    history.run(post("a", live_s=3, delivery="recoverable"), post("b", live_s=60, delivery="recoverable"))
    restarted(mq, history)
    history.run(passes(3_000 + REAL_MS), *receives("r", 2))
