"""A kill of the queue manager undoes no completed call and loses nothing recoverable: MS-MQDMPR 3.1.1.2, 3.1.3."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    REAL_MS,
    TARGET_JOURNAL,
    begin,
    begin_keeping,
    begin_transaction,
    commit,
    opened,
    passes,
    peek,
    post,
    receive,
    receives,
    send,
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


def subqueue(*accesses: str) -> list[Call]:
    """Open the subqueue, as m1 to move messages there and as r1 to receive them."""
    return [Call("queues.open", name=f"{access[0]}1", queue="q1;one", access=access) for access in accesses]


def kept(message: str) -> Call:
    """Send a recoverable message to q1."""
    return send(message, delivery="recoverable")


def moved(message: str, within: str | None = None) -> Call:
    """Move it to the subqueue."""
    return Call("messages.move", message=message, handle="r", destination="m1", transaction=within)


def from_subqueue() -> Call:
    """Receive from the subqueue."""
    return Call("messages.receive", handle="r1")


@pytest.mark.requirement(SURVIVES, PERSISTENT)
def test_a_moved_message_stays_where_it_went(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *MOVES)
    history.run(*subqueue("move", "receive"), kept("a"), kept("b"), peek(), moved("a"))
    restarted(mq, history, *subqueue("receive"))
    history.run(from_subqueue(), from_subqueue(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.4.4.durable")
def test_a_committed_move_stays_done(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, *MOVES, *ENDS, transactional=True)
    for name in "ab":  # one transaction each: other tests kill the manager during a commit
        history.run(begin_transaction(f"t{name}"), send(name, within=f"t{name}"), commit(f"t{name}"))
    history.run(*subqueue("move"), peek(), begin_transaction("t1"), moved("a", "t1"), commit("t1"), peek())
    history.run(begin_transaction("t2"), moved("b", "t2"))
    restarted(mq, history, *subqueue("receive"))
    history.run(from_subqueue(), from_subqueue(), receive(), receive())


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


@pytest.mark.requirement(PERSISTENT, SURVIVES)
def test_a_purge_stays_done(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.purge")
    history.run(kept("a"), kept("b"), Call("queues.purge", handle="r"), kept("c"))
    restarted(mq, history)
    history.run(receive(), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.5.not-found", "MQDMPR-3.1.7.1.4.removed", "MQDMPR-3.1.7.1.4.messages-deleted")
def test_a_deleted_queue_stays_deleted(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "queues.delete")
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history.run(Call("queues.create", queue="q2"), kept("a"), Call("queues.delete", queue="q1"))
    history.run(Call("restart", kill=True), Call("queues.open", name="r2", queue="q2", access="receive"))
    history.run(Call("queues.open", name="r3", queue="q1", access="receive"))
    history.run(Call("queues.create", queue="q1"), *opened(), receive())


@pytest.mark.requirement("MQDMPR-3.1.1.12.received-not-redelivered", SURVIVES)
def test_the_second_phase_of_a_receive_stays_done(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.receive_begin", "messages.receive_end")
    history.run(*(kept(name) for name in "abc"), *(_begins(name) for name in ("b1", "b2")))
    history.run(_ended("b1", deletes=True), _ended("b2", deletes=False))
    restarted(mq, history)
    history.run(*(receive() for _ in range(3)))


@pytest.mark.requirement("MQDMPR-3.1.1.12.received-not-redelivered")
def test_what_a_lookup_took_stays_taken(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, "messages.receive_by_lookup_id", "messages.peek")
    taking = Call("messages.receive_by_lookup_id", handle="r", message="a", action="current")
    history.run(kept("a"), kept("b"), peek(), taking)
    restarted(mq, history)
    history.run(receive(), receive())


def _begins(name: str) -> Call:
    return Call("messages.receive_begin", name=name, handle="r")


def _ended(name: str, *, deletes: bool) -> Call:
    return Call("messages.receive_end", read=name, acknowledge=deletes)
