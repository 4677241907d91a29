"""Hardened security locks outgoing queues: MS-MQDMPR 3.1.1.1, 3.1.1.3, 3.1.3 and 3.1.7.1.5.

The computer is set up with it, and the queue manager reads that when it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from conformance.histories.examples import (
    ACT,
    NEEDS,
    REMOTE,
    acting,
    begin_managed,
    connected,
    of_queue,
    opened,
    receives,
    send,
    step,
    stored,
    transfer,
    within,
)
from conformance.model import Call
from conformance.model.journals import HTTP, MULTICAST

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.histories.history import History

ALIAS = "remote3"  # by the name of its computer
HARDENED = "MQDMPR-3.1.1.1.hardened-security"
LOCKED = "MQDMPR-3.1.1.3.state-locked"
MADE = ("MQDMPR-3.1.7.1.5.hardened-locked", "MQDMPR-3.1.7.1.5.hardened-state")
START = ("MQDMPR-3.1.3.lock", "MQDMPR-3.1.3.not-http-hardened")
EACH = "MQDMPR-3.1.3.for-each-outgoing-queue"
UNLOCKED = ("MQDMPR-3.1.3.unlock", "MQDMPR-3.1.3.locked-not-hardened")
BOTH = pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])
Begin = Callable[..., "History"]


@pytest.fixture
def begin(mq: Port, judge: Recorder, mq_need: Callable[..., None]) -> Iterator[Begin]:
    """Begin a history of outgoing queues. Afterwards security is as it was: a driver may have no `reset`."""
    mq_need("harden", "outgoing.take")
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")

    def begun(*needs: str, queues: tuple[str, ...] = (REMOTE, ALIAS)) -> History:
        return begin_managed(mq, judge, mq_need, *needs, queues=queues)

    yield begun
    mq.call("harden", hardened=False)
    if not mq.offers("reset"):
        mq.restart(kill=False)


def harden(hardened: bool = True) -> Call:
    """Turn hardened security on or off."""
    return Call("harden", hardened=hardened)


def started(*queues: str, kill: bool = False) -> tuple[Call, ...]:
    """Restart the queue manager and open these queues."""
    return (Call("restart", kill=kill), *map(to_send, queues))


def to_send(queue: str) -> Call:
    """Open a queue on another computer."""
    return Call("queues.open", name=f"s{queue[-1]}", queue=queue, access="send")


def sent(*messages: str, to: str = "s1") -> tuple[Call, ...]:
    """Send messages that a restart keeps to another computer."""
    return tuple(Call("messages.send", message=message, handle=to, delivery="recoverable") for message in messages)


def take(queue: str = REMOTE) -> Call:
    """Take what an outgoing queue transfers."""
    return Call("outgoing.take", queue=queue)


@pytest.mark.requirement(*MADE, LOCKED)
@pytest.mark.parametrize("queue", [REMOTE, ALIAS])
def test_a_queue_that_is_opened_under_hardened_security_is_locked(begin: Begin, judge: Recorder, queue: str) -> None:
    history = begin(queues=())
    history.run(harden(), *started(queue))
    handle, state = f"s{queue[-1]}", of_queue(judge, queue, "STATE")
    history.run(state, *sent("a", to=handle), take(queue), state, *sent("b", to=handle), take(queue))


@pytest.mark.requirement(*MADE)
def test_a_queue_to_a_multicast_address_is_locked(mq: Port, begin: Begin, judge: Recorder) -> None:
    mq.need("format_names", "multicast")
    history = begin(queues=())
    history.run(harden(), *started(MULTICAST), of_queue(judge, MULTICAST, "STATE"))
    history.run(*sent("a", to="st"), take(MULTICAST))


@BOTH
@pytest.mark.requirement(*START, EACH, LOCKED, HARDENED, *UNLOCKED)
def test_a_start_locks_each_queue_until_security_is_not_hardened(begin: Begin, judge: Recorder, kill: bool) -> None:
    history = begin()
    looks = (of_queue(judge, REMOTE, "STATE"), take(), of_queue(judge, ALIAS, "STATE"), take(ALIAS))
    history.run(*sent("a"), harden(), *looks, *sent("b"), *sent("c", to="s3"))
    history.run(*started(REMOTE, ALIAS, kill=kill), *looks, *sent("d"), *sent("e", to="s3"), *looks)
    history.run(*started(REMOTE, ALIAS, kill=kill), *looks, harden(False), *sent("f"), *looks)
    history.run(*started(REMOTE, ALIAS, kill=kill), *looks, *sent("g"), *looks)


@pytest.mark.requirement(*START, EACH, *UNLOCKED)
def test_transfers_alone_show_that_a_start_locks_and_unlocks(begin: Begin) -> None:
    history = begin()
    history.run(*sent("a"), *sent("b", to="s3"), harden(), *started(REMOTE, ALIAS), take(), take(ALIAS))
    history.run(harden(False), *started(REMOTE, ALIAS), take(ALIAS), take())


@pytest.mark.requirement(HARDENED)
def test_security_is_hardened_if_it_is_so_at_the_start(begin: Begin, judge: Recorder) -> None:
    history = begin()
    state = of_queue(judge, REMOTE, "STATE")
    history.run(*sent("a"), state, *started(REMOTE), state, take())
    history.run(*sent("b"), harden(), harden(False), *started(REMOTE), state, take())
    history.run(*sent("c"), harden(), *started(REMOTE), state, harden(False), harden(), *started(REMOTE), state, take())


@pytest.mark.requirement(*START, *MADE)
def test_a_queue_that_http_reaches_is_not_locked(mq: Port, begin: Begin, judge: Recorder) -> None:
    mq.need("format_names", "http")
    history = begin(queues=(REMOTE, HTTP))
    looks = of_queue(judge, HTTP, "STATE"), of_queue(judge, REMOTE, "STATE")
    history.run(*sent("a"), *sent("b", to="sp"), *looks, harden(), *started(REMOTE, HTTP), *looks, take())


@pytest.mark.requirement(*MADE)
def test_a_queue_that_http_reaches_is_opened_under_hardened_security(mq: Port, begin: Begin, judge: Recorder) -> None:
    mq.need("format_names", "http")
    history = begin(queues=())
    history.run(harden(), *started(HTTP, REMOTE), of_queue(judge, HTTP, "STATE"), of_queue(judge, REMOTE, "STATE"))


@pytest.mark.requirement(START[0])
def test_a_start_locks_what_was_on_hold(begin: Begin, judge: Recorder) -> None:
    history = begin(ACT)
    state = of_queue(judge, REMOTE, "STATE")
    history.run(*sent("a"), acting("PAUSE", REMOTE), state, harden(), *started(REMOTE), state, take())
    history.run(harden(False), *started(REMOTE), state, take())


@pytest.mark.requirement(LOCKED, UNLOCKED[0])
def test_transactional_messages_wait_and_go_in_their_order(begin: Begin, judge: Recorder) -> None:
    history = begin("management.connection", "management.transfer", "management.acknowledge", "transactions.begin")
    state = of_queue(judge, REMOTE, "STATE", "MESSAGE_COUNT")
    history.run(*within("t1", "a", "b"), harden(), *started(REMOTE), state, step("in_process", "192.0.2.7"), transfer())
    history.run(*within("t2", "c"), transfer(), state, harden(False), *started(REMOTE), state, *connected())
    history.run(transfer(), stored(3), state)


@pytest.mark.requirement(LOCKED)
def test_local_queues_go_on(begin: Begin, mq_need: Callable[..., None]) -> None:
    mq_need(*NEEDS)
    history = begin()
    history.run(Call("queues.create", queue="q1"), harden(), *started(REMOTE), *opened(), *sent("a"), take())
    history.run(send("b"), *receives("r", 2), take())
