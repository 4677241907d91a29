"""Stories of transactions, of reads in two phases and of moves."""

from __future__ import annotations

from typing import Any

from embedded_stories import NAME, WAIT, Teller, begun, of, subqueue
from embedded_talk import Talk


@of("transactions")
def prepared(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    for end in ("commit", "abort"):
        transaction = tell.begin()
        for label in "abc":
            tell.send(send, label, transaction)
        tell("transactions.prepare", transaction=transaction)
        tell.peek(receive)
        tell(f"transactions.{end}", transaction=transaction)
        tell.few(receive)
        tell("transactions.prepare", transaction=transaction)
        tell("transactions.abort", transaction=transaction)
    return tell.seen


@of("transactions")
def two_queues_and_waiters(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    other, there = talk.queue("private$\\second", PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    for queue, label in ((send, "a"), (other, "x"), (send, "b"), (send, "c")):
        tell.send(queue, label, transaction)
    tell.take(receive, timeout_ms=WAIT)
    tell.commit(transaction)
    tell.peek(there)
    tell.take(receive, transaction=(held := tell.begin()))
    tell.take(receive, transaction=held)
    tell.peek(receive, timeout_ms=WAIT)
    tell.abort(held)
    tell.few(receive)
    tell.counts()
    return tell.seen


@of("cursors")
@of("transactions")
def held_and_given_back(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abcd", transactional=True)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor, transaction=(first := tell.begin()))
    tell.peek(receive, cursor=cursor)
    held = tell.begin()
    tell(
        "messages.receive_by_lookup_id", queue=receive, lookup_identifier=lookups[2], action="current", transaction=held
    )
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    for lookup in lookups:
        tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action="current")
    tell("messages.receive_by_lookup_id", queue=receive, lookup_identifier=lookups[2], action="current")
    tell.commit(first)
    tell.abort(held)
    for lookup in lookups[2:]:
        tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action="current")
    tell.counts()
    tell.few(receive)
    return tell.seen


@of("transactions")
def order_after_abort(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc", transactional=True)
    held = tell.begin()
    action = {"lookup_identifier": lookups[1], "action": "current"}
    tell("messages.receive_by_lookup_id", queue=receive, **action, transaction=held)
    tell.abort(held)
    tell.few(receive)
    return tell.seen


@of("transactions")
def purged_meanwhile(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab", transactional=True)
    for end in (tell.commit, tell.abort):
        held = tell.begin()
        tell.take(receive, transaction=held)
        tell("queues.purge", queue=receive)
        end(held)
        tell.few(receive)
        tell.send(talk.open(access="send"), "c", fill := tell.begin())
        tell.commit(fill)
    tell.few(receive)
    return tell.seen


@of("transactions")
def wrong_usage(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    plain, there = talk.queue("private$\\second")
    tell.send(send, "a")
    tell.send(plain, "b", transaction := tell.begin())
    tell.commit(transaction)
    tell.few(receive)
    tell.few(there)
    return tell.seen


@of("transactions")
def lost_and_found(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc", transactional=True)
    held = tell.begin()
    for _ in range(3):
        tell.take(receive, transaction=held)
    tell.abort(held)
    tell.few(receive)
    return tell.seen


@of("subqueues")
def two_phases(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, lookups = tell.filled("abcd")
    for acknowledge in (False, True):
        read = begun(tell, receive)
        tell.counts()
        tell.peek(receive)
        tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookups[0], action="current")
        tell("messages.receive_end", read=read, acknowledge=acknowledge)
        tell.peek(receive)
        tell.counts()
    read = begun(tell, receive)
    tell("queues.purge", queue=receive)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell.few(receive)
    tell.send(send, "e")
    read = begun(tell, receive)
    tell.take(receive, timeout_ms=WAIT)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell.counts()
    return tell.seen


@of("subqueues")
def two_phases_and_loss(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "a", time_to_be_received=5)
    read = begun(tell, receive)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell("clock.advance", by_ms=6000)
    tell.peek(receive)
    tell.send(send, "b")
    read = begun(tell, receive)
    tell("queues.delete", format_name=NAME)
    tell("messages.receive_end", read=read, acknowledge=True)
    return tell.seen


@of("subqueues")
def moved(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, lookups = tell.filled("abc")
    into, there = subqueue(talk)
    into_second, in_second = subqueue(talk, "other")
    tell("messages.move", queue=receive, lookup_identifier=lookups[1], destination=into)
    tell.counts()
    tell.peek(there)
    tell.take(in_second)
    tell.take(in_second, timeout_ms=WAIT)
    tell("messages.move", queue=receive, lookup_identifier=lookups[2], destination=into_second)
    urgent = tell.send(send, "d", priority=7)["lookup_identifier"]
    low = tell.send(send, "e", priority=1)["lookup_identifier"]
    for lookup in (urgent, low):
        tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into)
    tell("queues.purge", queue=receive)
    tell.counts()
    for queue in (there, into, into_second, in_second):
        tell("queues.close", queue=queue)
    tell.few(talk.open(f"{NAME};sub"))
    return tell.seen


@of("subqueues")
def moved_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc", transactional=True)
    into, there = subqueue(talk)
    for lookup, end in ((lookups[0], tell.abort), (lookups[1], tell.commit)):
        transaction = tell.begin()
        tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into, transaction=transaction)
        tell.peek(there)
        tell.peek(receive)
        end(transaction)
        tell.peek(there)
        tell.counts()
    held = tell.begin()
    tell.take(receive, transaction=held)
    tell("messages.move", queue=receive, lookup_identifier=lookups[0], destination=into)
    tell("messages.move", queue=receive, lookup_identifier=lookups[2], destination=into)
    tell.abort(held)
    tell.few(there)
    tell.few(receive)
    return tell.seen


@of("transactions")
def transactions_are_told_apart(talk: Talk) -> list[Any]:
    begun = [talk.ok("transactions.begin")["transaction"] for _ in range(2)]
    return [begun[0] == begun[1]]
