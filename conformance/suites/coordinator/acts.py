"""The acts of a coordinator, and histories of a transactional queue in which it does them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest

from conformance.histories.examples import abort as aborted
from conformance.histories.examples import begin, begin_transaction, opened, receives, send
from conformance.histories.examples import commit as committed
from conformance.histories.history import History
from conformance.model import Call

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

ENDS: Final = ("coordinator.enlist", "coordinator.prepare", "coordinator.commit", "coordinator.abort")
DOUBTS: Final = ("coordinator.in_doubt", "coordinator.outcome")
FILLS: Final = ("transactions.begin", "transactions.commit")
KILL: Final = Call("restart", kill=True)
STOP: Final = Call("restart", kill=False)
DOUBT: Final = Call("coordinator.in_doubt")
FOREIGN: Final = "foreign"


def enlist(name: str = "t1", identifier: str = "x1") -> Call:
    """Enlist in a transaction of the coordinator."""
    return Call("coordinator.enlist", name=name, identifier=identifier)


def prepare(identifier: str = "x1", *, single: bool = False) -> Call:
    """The coordinator asks to prepare."""
    return Call("coordinator.prepare", identifier=identifier, single_phase=single)


def commit(identifier: str = "x1") -> Call:
    """The coordinator tells to commit."""
    return Call("coordinator.commit", identifier=identifier)


def abort(identifier: str = "x1") -> Call:
    """The coordinator tells to abort."""
    return Call("coordinator.abort", identifier=identifier)


def outcome(word: str, identifier: str = "x1") -> Call:
    """The coordinator answers how a transaction in doubt ended."""
    return Call("coordinator.outcome", identifier=identifier, action=word)


def filled(*messages: str) -> tuple[Call, ...]:
    """Put messages into the queue, in a transaction without coordinator."""
    return begin_transaction("t0"), *(send(message, within="t0") for message in messages), committed("t0")


def other_work() -> tuple[Call, ...]:
    """Send a message in a transaction without coordinator, which stays open."""
    return begin_transaction("t9"), send("z", within="t9")


def other_ends() -> Call:
    """Abort that transaction."""
    return aborted("t9")


def looked(times: int = 4) -> tuple[Call, ...]:
    """Receive all there is."""
    return receives("r", times)


def story(mq: Port, judge: Recorder, mq_need: Callable[..., None], *needs: str) -> History:
    """Begin a history of a transactional queue whose transactions a coordinator ends."""
    return begin(mq, judge, mq_need, *ENDS, *FILLS, *needs, transactional=True)


def recovery(mq: Port, judge: Recorder, mq_need: Callable[..., None], *needs: str) -> History:
    """Begin such a history with restarts. Skips the test if the connection does not keep the state."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    return story(mq, judge, mq_need, *DOUBTS, *needs)


def restarted(*calls: Call, how: Call = KILL) -> tuple[Call, ...]:
    """End the manager, ask for its doubts and open the queue again."""
    return how, DOUBT, *opened(), *calls
