"""The system has queues for dead letters and a journal, from its start on: MS-MQDMPR 3.1.3."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import begin
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL

QUEUES = {
    "MQDMPR-3.1.3.create-deadletter-queue": DEAD_LETTER,
    "MQDMPR-3.1.3.create-transactional-deadletter-queue": DEAD_LETTER_TRANSACTIONAL,
    "MQDMPR-3.1.3.create-journal-queue": SYSTEM_JOURNAL,
}


@pytest.mark.requirement(*QUEUES)
def test_the_system_queues_are_there(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    for number, (created, queue) in enumerate(QUEUES.items(), 1):
        history.attempt(Call("queues.open", name=f"k{number}", queue=queue, access="receive"), shows=created)


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
@pytest.mark.requirement(*QUEUES)
def test_the_system_queues_are_there_after_a_restart(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need)
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history.attempt(Call("restart", kill=kill))
    for number, (created, queue) in enumerate(QUEUES.items(), 1):
        history.attempt(Call("queues.open", name=f"k{number}", queue=queue, access="receive"), shows=created)
