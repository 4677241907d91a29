"""Messages and transactions after a restart of the queue manager: MS-MQDMPR 3.1.1.11-12 and 3.1.3."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    begin,
    begin_transaction,
    commit,
    cursor,
    opened,
    peek,
    peek_next,
    receive,
    send,
)
from conformance.histories.history import History
from conformance.model import Call

ENDS = ("transactions.begin", "transactions.commit")
SEEN = ("cursors.open", "messages.peek", "messages.peek_next")
ENDINGS = pytest.mark.parametrize("kill", [True, False], ids=["killed", "stopped"])


def restarted(mq: Any, history: History, *, kill: bool) -> None:
    """Restart the manager and open the queue again. Skip if the connection does not keep the state."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history.run(Call("restart", kill=kill), *opened())


@ENDINGS
@pytest.mark.requirement(
    "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.1.12.received-not-redelivered",
    "MQDMPR-3.1.1.2.private-attributes-persistent",
)
def test_recoverable_messages_survive(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need)
    history.run(*(send(name, delivery="recoverable") for name in "ab"), send("c", priority=6, delivery="recoverable"))
    history.run(send("d"), send("e", delivery="recoverable"), receive())
    restarted(mq, history, kill=kill)
    history.run(*(receive() for _ in range(5)))


@ENDINGS
@pytest.mark.requirement(
    "MQDMPR-3.1.4.4.durable",
    "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
    "MQDMPR-3.1.3.uncommitted-send-lost",
    "MQMQ-2.2.19.2.transactional-recoverable",
)
def test_transactions_across_a_restart(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), send("a", within="t1"), send("b", within="t1", delivery="express"))
    history.run(
        send("c", within="t1"), commit("t1"), begin_transaction("t2"), receive(within="t2"), send("d", within="t2")
    )
    if all(mq.offers(method) for method in SEEN):  # do not blame the restart for messages that are missing already
        history.run(cursor("c1"), peek("c1"), peek_next("c1"))
    restarted(mq, history, kill=kill)
    history.run(*(receive() for _ in range(4)))


@ENDINGS
@pytest.mark.requirement("MQDMPR-3.1.1.persistent-survives")
def test_a_transactional_queue_stays_one(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), send("a", within="t1"), commit("t1"), receive())
    restarted(mq, history, kill=kill)
    history.attempt(begin_transaction("t2"))
    for call in (send("b", within="t2"), commit("t2"), receive()):
        history.attempt(call, shows="MQDMPR-3.1.1.persistent-survives")


@ENDINGS
@pytest.mark.requirement("MQDMPR-3.1.3.unfinished-transaction-aborted")
def test_what_is_unfinished_is_aborted_at_the_start(mq: Any, judge: Any, mq_need: Any, kill: bool) -> None:
    history = begin(mq, judge, mq_need, *ENDS, transactional=True)
    history.run(begin_transaction("t1"), send("a", within="t1"), commit("t1"))
    history.run(begin_transaction("t2"), receive(within="t2"), send("b", within="t2"))
    restarted(mq, history, kill=kill)
    for _ in range(2):
        history.attempt(receive(), shows="MQDMPR-3.1.3.unfinished-transaction-aborted")
