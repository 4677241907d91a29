"""At each stage of a message the queue manager is killed, or stopped: what is persistent is there: MS-MQDMPR 3.1.1.11.

What management tells of every queue is read afterwards, and the messages that are left are received.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import stage_event_pairs
from conformance.histories.examples import ADDRESS, GET, PLAYED, REMOTE, properties_of, step, transfer
from conformance.histories.stage_event_pairs import at
from conformance.histories.walk import NEEDS
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, SYSTEM_JOURNAL, journal_of
from conformance.model.management_rows import MACHINE, QUEUE

PLACES = {"r8": "q1", "u8": "q1;one", "j8": journal_of("q1"), "k8": SYSTEM_JOURNAL, "l8": DEAD_LETTER}
LOCAL = tuple(
    call
    for name, queue in PLACES.items()
    for call in (
        Call("queues.open", name=name, queue=queue, access="receive"),
        *(Call("messages.receive", handle=name),) * 3,
    )
)
AWAY = (
    Call("queues.open", name="s8", queue=REMOTE, access="send"),
    step("in_process", ADDRESS),
    step("established", ADDRESS),
    transfer(),
)
IN_A_QUEUE = (
    *("sent", "journaled", "journal switched off", "begun and purged", "moved", "kept", "kept and received", "expired"),
    *("several", "made again"),
)
ON_ITS_WAY = ("plain transferred", "committed", "transferred", "in order", "all in order", "both kinds", "limited")
KEPT = ("MQDMPR-3.1.1.2.private-attributes-persistent", "MQMR-3.1.4.1.get")


@pytest.mark.requirement(*KEPT)
@pytest.mark.parametrize("stage", IN_A_QUEUE)
def test_what_is_in_a_queue_is_kept(mq: Any, judge: Any, mq_need: Any, stage: str) -> None:
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    mq_need(*NEEDS, "reset", "clock.now", "queues.set", GET)
    mq.need("format_names", "dead_letter")
    at(
        stage_event_pairs.LOCAL_STAGES[stage],
        {"killed": (Call("restart", kill=True),)},
        mq,
        judge,
        opening=stage_event_pairs.LOCAL_OPENING,
        behind=LOCAL,
        shown=(*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile)),
    )


@pytest.mark.requirement(*KEPT)
@pytest.mark.parametrize("stage", ON_ITS_WAY)
def test_what_is_on_its_way_is_kept(mq: Any, judge: Any, mq_need: Any, stage: str) -> None:
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    mq_need(*NEEDS, "reset", "clock.now", "transactions.begin", "transactions.commit", GET, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    at(
        stage_event_pairs.REMOTE_STAGES[stage],
        {"stopped": (Call("restart", kill=False),)},
        mq,
        judge,
        opening=stage_event_pairs.REMOTE_OPENING,
        behind=AWAY,
        shown=(*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile)),
    )
