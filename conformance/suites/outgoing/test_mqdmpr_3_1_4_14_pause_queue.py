"""An outgoing queue is paused and resumed: MS-MQDMPR 3.1.4.14, 3.1.4.15, 3.1.7.2.3, 3.1.7.2.4 and 3.1.1.3.

The harness takes the packets that the queue would transfer, in place of the destination.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.histories.examples import NEEDS, abort, begin_transaction, commit, opened, receive, send
from conformance.histories.history import History
from conformance.model import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

PAUSING = ("outgoing.pause", "outgoing.resume")
ENDS = ("transactions.begin", "transactions.commit")
CHOSEN = "MQDMPR-3.1.4.14.paused-queue"


def begin(
    mq: Port, judge: Recorder, mq_need: Callable[..., None], *needs: str, queues: tuple[str, ...] = ("remote1",)
) -> History:
    """Open queues on other computers for send as s1, s2, ... Skip if the driver lacks a method."""
    mq_need("queues.open", "messages.send", "outgoing.take", *needs)
    history = History(mq, judge)
    history.run(*(to_send(queue) for queue in queues))
    return history


def to_send(queue: str) -> Call:
    """Open a queue on another computer."""
    return Call("queues.open", name=f"s{queue[-1]}", queue=queue, access="send")


def sent(*messages: str, to: str = "s1", **how: Any) -> tuple[Call, ...]:
    """Send messages to another computer."""
    return tuple(Call("messages.send", message=message, handle=to, **how) for message in messages)


def pause(queue: str = "remote1") -> Call:
    """Pause an outgoing queue."""
    return Call("outgoing.pause", queue=queue)


def resume(queue: str = "remote1") -> Call:
    """Resume an outgoing queue."""
    return Call("outgoing.resume", queue=queue)


def take(queue: str = "remote1") -> Call:
    """Take the packets of an outgoing queue."""
    return Call("outgoing.take", queue=queue)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.remote-send",
    "MQDMPR-3.1.7.1.5.outgoing-destination",
    "MQDMPR-3.1.7.3.9.binary-protocol",
    "MQDMPR-3.1.7.1.29.atomically-removed",
    "MQDMPR-3.1.1.2.arrival-order",
)
def test_what_is_sent_to_another_computer_is_transferred_once(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.run(take(), *sent("a"), take(), take(), *sent("b", "c"), *sent("d", delivery="recoverable"), take(), take())


@pytest.mark.requirement("MQDMPR-3.1.7.3.9.highest-priority", "MQDMPR-3.1.1.2.arrival-order")
def test_the_highest_priority_goes_first(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need)
    history.run(*sent("a"), *sent("b", "c", priority=6), *sent("d", priority=0), *sent("e"), *sent("f", priority=7))
    history.run(take(), take())


@pytest.mark.requirement(
    "MQDMPR-3.1.4.14.pauses",
    "MQDMPR-3.1.4.15.resumes",
    "MQDMPR-3.1.7.2.3.on-hold",
    "MQDMPR-3.1.7.2.4.inactive",
    "MQDMPR-3.1.1.3.state-on-hold",
    "MQDMPR-3.1.7.1.34.removed",
)
def test_a_paused_queue_keeps_what_it_has_and_gets(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING)
    history.run(*sent("a", "b", "c"), pause(), *sent("d", "e"), take(), take(), resume(), take(), take())


@pytest.mark.requirement("MQDMPR-3.1.1.3.state-on-hold", "MQDMPR-3.1.4.15.resumes", "MQDMPR-3.1.7.3.9.highest-priority")
def test_what_was_held_goes_in_the_order_of_the_queue(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING)
    history.run(*sent("a"), pause(), take(), *sent("b", priority=5), *sent("c"), *sent("d", priority=5), take())
    history.run(resume(), *sent("e"), *sent("f", priority=7), take(), *sent("g"), take())


@pytest.mark.requirement("MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.7.2.4.inactive", "MQDMPR-3.1.4.15.resumes")
def test_pausing_and_resuming_set_the_state_whatever_it_was(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING)
    history.run(resume(), *sent("a"), take(), *sent("b"), pause(), take(), pause(), take(), *sent("c"), take())
    history.run(resume(), resume(), take(), *sent("d"), resume(), take(), pause(), resume(), *sent("e"), take())


@pytest.mark.requirement("MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.4.14.pauses")
def test_a_queue_that_was_resumed_can_be_paused_again(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING)
    for number, names in enumerate(("ab", "cd", "ef")):
        history.run(*sent(names[0]), pause(), take(), *sent(names[1]), take(), resume(), take())
        if number == 1:
            history.run(take(), *sent("x"), take())


@pytest.mark.requirement(
    CHOSEN, "MQDMPR-3.1.4.15.resumed-queue", "MQDMPR-3.1.4.14.pauses", "MQDMPR-3.1.7.1.9.only-destination"
)
def test_other_outgoing_queues_go_on(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING, queues=("remote1", "remote2", "remote3"))
    history.run(
        *sent("a"), *sent("b", to="s2"), *sent("c", to="s3"), pause("remote1"), take("remote2"), take("remote1")
    )
    history.run(take("remote3"), *sent("d", to="s2"), *sent("e", to="s3"), pause("remote2"), *sent("f"))
    history.run(take("remote3"), take("remote2"), take("remote1"), resume("remote1"))
    history.run(take("remote2"), take("remote1"), resume("remote2"), take("remote2"))


@pytest.mark.requirement(CHOSEN)
def test_local_queues_go_on(mq: Any, judge: Any, mq_need: Any) -> None:
    """The pause concerns the outgoing queue alone; reads and waits on other queues work as before."""
    history = begin(mq, judge, mq_need, *NEEDS, *PAUSING)
    history.run(
        Call("queues.create", queue="q1"), *opened(), send("a"), send("b"), receive(), *sent("c"), pause(), take()
    )
    history.attempt(receive(), shows=CHOSEN)
    history.attempt(send("d"), shows=CHOSEN)
    history.attempt(receive(), shows=CHOSEN)
    history.run(take(), resume(), take())


@pytest.mark.requirement("MQDMPR-3.1.1.3.state-on-hold", "MQDMPR-3.1.4.15.resumes")
def test_a_queue_on_hold_stays_so_when_its_handle_is_closed(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING, "queues.close")
    history.run(*sent("a"), pause(), *sent("b"), take(), Call("queues.close", handle="s1"), take(), to_send("remote1"))
    history.run(take(), resume(), take())


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.uncommitted-locked", "MQDMPR-3.1.4.4.sends-appear")
def test_only_what_is_committed_is_transferred(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *ENDS, "transactions.abort")
    history.run(
        begin_transaction("t1"),
        *sent("a", "b", transaction="t1"),
        take(),
        *sent("c"),
        take(),
        commit("t1"),
        take(),
        take(),
    )
    history.run(begin_transaction("t2"), *sent("d", transaction="t2"), abort("t2"), take(), *sent("e"), take())


@pytest.mark.requirement("MQDMPR-3.1.1.3.state-on-hold", "MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.4.4.sends-appear")
def test_what_is_committed_on_hold_waits_for_the_end_of_it(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING, *ENDS)
    history.run(
        *sent("a"), begin_transaction("t1"), *sent("b", transaction="t1"), pause(), *sent("c", transaction="t1")
    )
    history.run(
        commit("t1"),
        take(),
        begin_transaction("t2"),
        *sent("d", transaction="t2"),
        resume(),
        take(),
        commit("t2"),
        take(),
    )


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
@pytest.mark.requirement(
    "MQDMPR-3.1.1.3.destination-format-name",
    "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.7.1.29.atomically-removed",
)
def test_what_waits_for_its_transfer_survives(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need, *ENDS)
    history.run(*sent("a", delivery="recoverable"), take(), *sent("b", "c", delivery="recoverable"))
    history.run(*sent("d"), begin_transaction("t1"), *sent("e", transaction="t1"), commit("t1"))
    restarted(mq, history, kill=kill)
    history.run(take(), *sent("f"), take(), take())


@pytest.mark.requirement("MQDMPR-3.1.1.volatile", "MQDMPR-3.1.1.12.recoverable-survives")
def test_a_queue_on_hold_through_a_restart(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *PAUSING)
    history.run(
        *sent("a"), take(), *sent("b", delivery="recoverable"), pause(), *sent("c", delivery="recoverable"), take()
    )
    restarted(mq, history, kill=False)
    history.run(take(), *sent("d", delivery="recoverable"), take(), resume(), take(), take())


def restarted(mq: Any, history: History, *, kill: bool) -> None:
    """Restart the manager and open the queue again. Skip if the connection does not keep the state."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history.run(Call("restart", kill=kill), to_send("remote1"))
