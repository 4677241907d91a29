"""At each stage of its way a message meets each event: MS-MQDMPR 3.1.1.2 to 3.1.1.4, 3.1.4.12-15, MS-MQMR 3.1.4.1."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import stages_local, stages_management
from conformance.histories.examples_management import ACT, GET, PLAYED, REMOTE, connected, shown, transfer
from conformance.histories.management_plan import BEGINNING, planned
from conformance.histories.stages import at, beside, played
from conformance.histories.walk import NEEDS
from conformance.model import Call
from conformance.model.management_rows import MACHINE, QUEUE

OTHER = "remote2"
PARTS = 6
SURVIVING = ("on hold", "in order", "both kinds")
COUNT, GOT = "MQMQ-2.3.12.7.propid-mgmt-queue-message-count", "MQMR-3.1.4.1.get"


@pytest.mark.requirement(COUNT, GOT, "MQMQ-2.3.12.11.values")
@pytest.mark.parametrize("stage", stages_management.STAGES)
def test_each_event_on_the_way_to_another_computer(mq: Any, judge: Any, mq_need: Any, stage: str) -> None:
    needs = ("queues.open", "messages.send", "reset", "transactions.begin", "transactions.commit")
    mq_need(*needs, GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    at(
        stages_management.STAGES[stage],
        stages_management.EVENTS,
        mq,
        judge,
        opening=stages_management.OPENING,
        behind=(transfer(),),
        shown=(*shown(MACHINE, judge.profile), *shown(QUEUE, judge.profile)),
        turn=list(stages_management.STAGES).index(stage),
    )


@pytest.mark.requirement(COUNT, GOT)
@pytest.mark.parametrize("stage", stages_local.STAGES)
def test_each_event_in_a_queue_of_this_computer(mq: Any, judge: Any, mq_need: Any, stage: str) -> None:
    mq_need(*NEEDS, "reset", "queues.set", GET, ACT)
    mq.need("format_names", "dead_letter")
    at(
        stages_local.STAGES[stage],
        stages_local.EVENTS,
        mq,
        judge,
        opening=stages_local.OPENING,
        behind=stages_local.BEHIND,
        shown=(*shown(MACHINE, judge.profile), *shown(QUEUE, judge.profile)),
        turn=list(stages_local.STAGES).index(stage),
    )


@pytest.mark.requirement(COUNT, GOT, "MQMQ-2.3.12.11.values")
@pytest.mark.parametrize("part", range(PARTS))
def test_each_pair_of_conditions_of_management(mq: Any, judge: Any, mq_need: Any, part: int) -> None:
    needs = ("queues.create", "queues.open", "messages.send", "reset", "transactions.begin", "transactions.commit")
    mq_need(*needs, GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    properties = (*shown(MACHINE, judge.profile), *shown(QUEUE, judge.profile))
    for calls in planned()[part::PARTS]:
        played(calls, mq, judge, opening=BEGINNING, shown=properties)


@pytest.mark.requirement(COUNT, GOT, "MQMR-3.1.4.2.eod-resend", "MQDMPR-3.1.4.14.paused-queue")
def test_what_happens_to_one_queue_does_not_happen_to_another(mq: Any, judge: Any, mq_need: Any) -> None:
    """Two sessions are at the same stage; each event on the way of one leaves the other as it is."""
    mq_need("queues.open", "messages.send", "reset", "transactions.begin", "transactions.commit", GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    properties = (*shown(MACHINE, judge.profile), *shown(QUEUE, judge.profile))
    beside(stages_management.BOTH, stages_management.EVENTS, mq, judge, other=OTHER, shown=properties)


@pytest.mark.requirement("MQDMPR-3.1.1.volatile", "MQMQ-2.3.12.11.mgmt-queue-state-nonactive", COUNT)
@pytest.mark.parametrize(("kill", "stages"), [(True, SURVIVING), (False, SURVIVING[:1])], ids=["killed", "stopped"])
def test_what_a_restart_leaves_of_a_stage(
    mq: Any, judge: Any, mq_need: Any, kill: bool, stages: tuple[str, ...]
) -> None:
    """Messages and pauses that were there, states and histories of connections that were not."""
    mq_need("queues.open", "messages.send", "reset", "transactions.begin", "transactions.commit", GET, ACT, *PLAYED)
    for kind in ("remote", "dead_letter"):
        mq.need("format_names", kind)
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    properties = (*shown(MACHINE, judge.profile), *shown(QUEUE, judge.profile))
    again = (Call("restart", kill=kill), Call("queues.open", name="s8", queue=REMOTE, access="send"))
    for name in stages:
        calls = (*stages_management.STAGES[name], *again, *connected(), transfer())
        played(calls, mq, judge, opening=stages_management.OPENING, shown=properties)
