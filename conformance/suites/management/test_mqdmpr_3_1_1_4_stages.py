"""At each stage of its way a message meets each event: MS-MQDMPR 3.1.1.2 to 3.1.1.4, 3.1.4.12-15, MS-MQMR 3.1.4.1."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import stage_event_pairs
from conformance.histories.examples import ACT, GET, PLAYED, REMOTE, connected, properties_of, transfer
from conformance.histories.stage_event_pairs import BEGINNING, at, beside, planned, played
from conformance.histories.walk import NEEDS
from conformance.model import Call
from conformance.model.management_rows import MACHINE, QUEUE

OTHER = "remote2"
PARTS = 6
AWAY = ("clock.now", "queues.open", "messages.send", "reset", "transactions.begin", "transactions.commit")
SURVIVING = ("on hold", "in order", "both kinds")
COUNT, GOT = "MQMQ-2.3.12.7.propid-mgmt-queue-message-count", "MQMR-3.1.4.1.get"


@pytest.mark.requirement(COUNT, GOT, "MQMQ-2.3.12.11.values")
@pytest.mark.parametrize("stage", stage_event_pairs.REMOTE_STAGES)
def test_each_event_on_the_way_to_another_computer(mq: Any, judge: Any, mq_need: Any, stage: str) -> None:
    mq_need(*AWAY, GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    at(
        stage_event_pairs.REMOTE_STAGES[stage],
        stage_event_pairs.REMOTE_EVENTS,
        mq,
        judge,
        opening=stage_event_pairs.REMOTE_OPENING,
        behind=(transfer(),),
        shown=(*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile)),
        turn=list(stage_event_pairs.REMOTE_STAGES).index(stage),
    )


@pytest.mark.requirement(COUNT, GOT)
@pytest.mark.parametrize("stage", stage_event_pairs.LOCAL_STAGES)
def test_each_event_in_a_queue_of_this_computer(mq: Any, judge: Any, mq_need: Any, stage: str) -> None:
    mq_need(*NEEDS, "reset", "clock.now", "queues.set", GET, ACT)
    mq.need("format_names", "dead_letter")
    at(
        stage_event_pairs.LOCAL_STAGES[stage],
        stage_event_pairs.LOCAL_EVENTS,
        mq,
        judge,
        opening=stage_event_pairs.LOCAL_OPENING,
        behind=stage_event_pairs.BEHIND,
        shown=(*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile)),
        turn=list(stage_event_pairs.LOCAL_STAGES).index(stage),
    )


@pytest.mark.requirement(COUNT, GOT, "MQMQ-2.3.12.11.values")
@pytest.mark.parametrize("part", range(PARTS))
def test_each_pair_of_conditions_of_management(mq: Any, judge: Any, mq_need: Any, part: int) -> None:
    needs = ("queues.create", "queues.open", "messages.send", "reset", "transactions.begin", "transactions.commit")
    mq_need(*needs, "clock.now", GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    properties = (*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile))
    for calls in planned()[part::PARTS]:
        played(calls, mq, judge, opening=BEGINNING, shown=properties)


@pytest.mark.requirement(COUNT, GOT, "MQMR-3.1.4.2.eod-resend", "MQDMPR-3.1.4.14.paused-queue")
def test_what_happens_to_one_queue_does_not_happen_to_another(mq: Any, judge: Any, mq_need: Any) -> None:
    """Two sessions are at the same stage; each event on the way of one leaves the other as it is."""
    mq_need(*AWAY, GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    properties = (*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile))
    beside(stage_event_pairs.BOTH, stage_event_pairs.REMOTE_EVENTS, mq, judge, other=OTHER, shown=properties)


@pytest.mark.requirement("MQDMPR-3.1.1.volatile", "MQMQ-2.3.12.11.mgmt-queue-state-nonactive", COUNT)
@pytest.mark.parametrize(("kill", "stages"), [(True, SURVIVING), (False, SURVIVING[:1])], ids=["killed", "stopped"])
def test_what_a_restart_leaves_of_a_stage(
    mq: Any, judge: Any, mq_need: Any, kill: bool, stages: tuple[str, ...]
) -> None:
    """Messages and pauses that were there, states and histories of connections that were not."""
    mq_need(*AWAY, GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    properties = (*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile))
    again = (Call("restart", kill=kill), Call("queues.open", name="s8", queue=REMOTE, access="send"))
    for name in stages:
        calls = (*stage_event_pairs.REMOTE_STAGES[name], *again, *connected(), transfer())
        played(calls, mq, judge, opening=stage_event_pairs.REMOTE_OPENING, shown=properties)
