"""Stories of what is refused: moves, ended transactions, a read ended twice; and of what a read answers."""

from __future__ import annotations

from typing import Any

from embedded_stories import NAME, SECOND, WAIT, Teller, begun, of, subqueue
from embedded_talk import Talk


def _move(tell: Teller, source: str, lookup: str, destination: str, transaction: str | None = None) -> None:
    tell(
        "messages.move",
        queue=source,
        lookup_identifier=lookup,
        destination=destination,
        transaction=transaction,
    )


@of("subqueues")
def refused_moves(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc")
    talk.queue("private$\\second")
    into, there = subqueue(talk)
    stranger = talk.open(SECOND, "move")
    _move(tell, receive, lookups[0], stranger)
    _move(tell, receive, lookups[0], there)
    _move(tell, receive, "12345", into)
    _move(tell, receive, lookups[0], into, tell.begin())
    tell.counts()
    tell.counts(SECOND)
    tell.few(there)
    return tell.seen


@of("subqueues")
def refused_moves_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc", transactional=True)
    into, there = subqueue(talk)
    for end in (tell.commit, tell.abort):
        ended = tell.begin()
        end(ended)
        _move(tell, receive, lookups[0], into, ended)
    held = tell.begin()
    _move(tell, receive, lookups[1], into, held)
    _move(tell, receive, lookups[1], into)
    tell("queues.purge", queue=receive)
    tell.abort(held)
    tell.few(receive)
    tell.few(there)
    return tell.seen


@of("subqueues")
def sent_to_a_subqueue(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue()
    _, there = subqueue(talk)
    tell("queues.open", format_name=f"{NAME};sub", access="send")
    tell("queues.open", format_name=f"{NAME};none", access="send")
    tell.few(there)
    return tell.seen


@of("subqueues")
def made_with_subqueues_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("ab")
    into, _ = subqueue(talk)
    _move(tell, receive, lookups[0], into)
    tell("queues.delete", format_name=NAME)
    talk.queue()
    tell.counts()
    tell.few(talk.open(f"{NAME};sub"))
    return tell.seen


@of("subqueues")
def ended_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab")
    for first in (False, True):
        read = begun(tell, receive)
        tell("messages.receive_end", read=read, acknowledge=first)
        tell("messages.receive_end", read=read, acknowledge=not first)
        tell.counts()
        tell.peek(receive)
    tell("queues.close", queue=receive)
    return tell.seen


@of("transactions")
def prepared_too_late(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("a", transactional=True)
    for end in (tell.commit, tell.abort):
        ended = tell.begin()
        end(ended)
        for call in ("prepare", "commit", "abort"):
            tell(f"transactions.{call}", transaction=ended)
        tell.send(send, "b", ended)
        tell.take(receive, transaction=ended)
    tell.few(receive)
    return tell.seen


@of("transactions")
def ended_while_readers_wait(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    for end in (tell.commit, tell.abort):
        held = tell.begin()
        for label in "ab":
            tell.send(send, label, held)
        tell.take(receive, timeout_ms=WAIT)
        end(held)
    return tell.seen


@of("cursors")
def one_of_two_closed(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    one, other = (tell("cursors.open", queue=receive)["cursor"] for _ in range(2))
    tell.take(receive, timeout_ms=WAIT)
    tell.peek(receive, cursor=other, timeout_ms=WAIT)
    tell("cursors.close", cursor=one)
    tell.send(send, "a")
    tell.send(send, "b")
    tell.peek(receive, cursor=other)
    third = tell("cursors.open", queue=receive)["cursor"]
    tell("cursors.close", cursor=third)
    tell.peek(receive, cursor=other)
    tell("cursors.close", cursor=other)
    return tell.seen


@of("cursors")
def every_way_to_read(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abc")
    cursor = tell("cursors.open", queue=receive)["cursor"]
    tell.peek(receive, cursor=cursor)
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookups[2], action="current")
    tell.take(receive)
    return tell.seen
