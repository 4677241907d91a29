"""Management actions: MS-MQMR 3.1.4.2, MS-MQDMPR 3.1.4.14 and 3.1.4.15."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import ACT, GET, acting, begin, begin_managed, of_machine, of_queue, receive, send
from conformance.histories.history import History
from conformance.model import Call

STATE = ("MQMQ-2.3.12.11.mgmt-queue-state-onhold", "MQMQ-2.3.12.11.values")


@pytest.mark.requirement(
    *STATE,
    "MQDMPR-3.1.4.14.pauses",
    "MQDMPR-3.1.4.15.resumes",
    "MQDMPR-3.1.7.2.3.on-hold",
    "MQDMPR-3.1.7.2.4.inactive",
    "MQDMPR-3.1.1.3.state-on-hold",
)
def test_a_queue_is_paused_and_resumed(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, ACT)
    state = of_queue(judge, "remote1", "STATE", "MESSAGE_COUNT")
    history.run(state, acting("PAUSE", "remote1"), state, acting("PAUSE", "remote1"), state)
    history.run(Call("messages.send", message="a", handle="s1"), state, acting("RESUME", "remote1"), state)
    history.run(acting("RESUME", "remote1"), state, acting("PAUSE", "remote1"), state)


@pytest.mark.requirement("MQDMPR-3.1.4.14.paused-queue", "MQDMPR-3.1.4.15.resumed-queue")
def test_other_queues_are_not_paused(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, ACT, queues=("remote1", "remote2"))
    both = [of_queue(judge, queue, "STATE") for queue in ("remote1", "remote2")]
    history.run(acting("PAUSE", "remote1"), *both, acting("PAUSE", "remote2"), *both)
    history.run(acting("RESUME", "remote1"), *both, acting("RESUME", "remote2"), *both)


@pytest.mark.requirement("MQDMPR-3.1.4.14.pauses", "MQDMPR-3.1.4.15.resumes")
def test_a_paused_queue_transfers_nothing(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, ACT, "outgoing.take")
    take = Call("outgoing.take", queue="remote1")
    history.run(Call("messages.send", message="a", handle="s1"), acting("PAUSE", "remote1"), take)
    history.run(Call("messages.send", message="b", handle="s1"), take, acting("RESUME", "remote1"), take, take)


@pytest.mark.requirement("MQMR-3.1.4.2.any-case")
def test_an_action_is_written_in_any_case(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, ACT)
    state = of_queue(judge, "remote1", "STATE")
    history.run(
        acting("pause", "remote1"), state, acting("Resume", "remote1"), state, acting("pAUSE", "remote1"), state
    )
    history.run(acting("disconnect"), acting("Connect"), acting("tidy"))


@pytest.mark.requirement("MQMR-3.1.4.2.tidy")
def test_tidying_keeps_every_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, ACT)
    history.run(acting("TIDY"), send("a"), send("b"), receive(), acting("TIDY"))
    history.attempt(receive(), shows="MQMR-3.1.4.2.tidy")
    history.run(receive())


@pytest.mark.requirement(
    "MQMR-3.1.4.2.session",
    "MQMR-3.1.4.2.unknown-action",
    "MQMR-3.1.4.2.kind-of-target",
    "MQMR-3.1.4.2.outgoing-only",
)
def test_what_is_no_action_on_the_target_is_refused(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, ACT)
    history.run(Call(ACT, target="session", action="CONNECT"), acting("STOP"), acting(""), acting("CONNECTED"))
    history.run(acting("PAUSE"), acting("RESUME"), acting("EOD_RESEND"), acting("CONNECT", "q1"), acting("TIDY", "q1"))
    history.run(acting("PAUSE", "q1"), acting("RESUME", "q1"), acting("EOD_RESEND", "q1"), acting("CONNECT"))


@pytest.mark.requirement("MQMR-3.1.4.2.outgoing-only")
def test_a_local_queue_that_was_not_paused_goes_on(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, ACT)
    history.run(send("a"), acting("PAUSE", "q1"), send("b"), receive(), receive())


@pytest.mark.requirement("MQMR-3.1.4.2.unknown-queue")
def test_what_is_gone_cannot_be_acted_on(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", "queues.delete", ACT)
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1"), Call("queues.delete", queue="q1"), acting("PAUSE", "q1"))
    mq.need("format_names", "remote")
    history.run(acting("PAUSE", "remote3"), acting("EOD_RESEND", "remote3"))


@pytest.mark.requirement(
    "MQDMPR-3.1.4.12.disconnected",
    "MQDMPR-3.1.4.13.connected",
    "MQDMPR-3.1.4.14.pauses",
    "MQMR-3.1.4.2.any-case",
    "MQMR-3.1.4.2.unknown-action",
    *STATE,
)
def test_each_action_after_each_other(mq: Any, judge: Any, mq_need: Any) -> None:
    """Only the actions that should undo the effect of another; refused ones do nothing."""
    history = begin_managed(mq, judge, mq_need, ACT, GET, "queues.create")
    history.run(Call("queues.create", queue="q1"))
    machine, queue = of_machine(judge, "CONNECTED"), of_queue(judge, "remote1", "STATE")
    actions = (
        *(acting(name) for name in ("CONNECT", "DISCONNECT", "TIDY", "disconnect", "PAUSE", "STOP")),
        *(acting(name, "remote1") for name in ("PAUSE", "RESUME", "EOD_RESEND", "resume", "DISCONNECT")),
        *(acting("PAUSE", "q1"), Call(ACT, target="session", action="CONNECT")),
    )
    for first in actions:
        for second in actions:
            history.run(first, second, machine, queue)


def test_paused_queues_are_as_they_were_when_nothing_is_asked_of_them(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, ACT, GET)
    history.run(acting("PAUSE", "remote1"), acting("TIDY"), acting("DISCONNECT"), acting("CONNECT"))
    history.run(of_queue(judge, "remote1", "STATE"))
