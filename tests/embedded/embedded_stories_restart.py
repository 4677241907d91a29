"""Stories of a stop and a start, and of kills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from embedded_stories import NAME, SECOND, Teller, begun, of, started_again, subqueue
from embedded_talk import Talk


def _left(talk: Talk, queues: list[str], *, kill: bool) -> Iterator[Any]:
    again = started_again(talk, kill)
    tell = Teller(again)
    try:
        tell("clock.advance", by_ms=20_000)
        for name in queues:
            opened = again("queues.open", format_name=name, access="receive")
            tell(
                "queues.get", format_name=NAME, properties=["PROPID_Q_LABEL", "PROPID_Q_QUOTA", "PROPID_Q_TRANSACTION"]
            )
            tell.counts(name)
            if "queue" in opened:
                tell.few(opened["queue"])
                tell.few(opened["queue"])
        yield from tell.seen
    finally:
        again.driver.close()


SURE = {"delivery": "recoverable"}


@of("properties")
@of("restart")
def stopped(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_LABEL="kept", PROPID_Q_QUOTA=100, PROPID_Q_JOURNAL=1)
    into, _ = subqueue(talk)
    for label, priority in (("a", 3), ("b", 7), ("d", 1), ("c", 3)):
        tell.send(send, label, priority=priority, application_tag=9, **SURE)
    tell.send(send, "brief", time_to_be_received=10, negative_journaling=True, **SURE)
    tell.send(send, "dead", time_to_be_received=0, negative_journaling=True, **SURE)
    tell.send(send, "express")
    tell.take(receive)
    begun(tell, receive)
    there = tell.send(send, "moved", **SURE)["lookup_identifier"]
    tell("messages.move", queue=receive, lookup_identifier=there, destination=into)
    names = [NAME, f"{NAME};sub", f"{NAME};JOURNAL", f"MACHINE={talk.driver.manager.guid};DEADLETTER"]
    return [*tell.seen, *_left(talk, names, kill=False)]


@of("transactions")
@of("restart")
def stopped_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab", transactional=True)
    held, sent, ready = tell.begin(), tell.begin(), tell.begin()
    tell.take(receive, transaction=held)
    tell.send(send, "never", sent)
    tell.send(send, "prepared", ready)
    tell("transactions.prepare", transaction=ready)
    return [*tell.seen, *_left(talk, [NAME], kill=False)]


@of("restart")
def killed_after_sends_and_receives(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for label in "abc":
        tell.send(send, label, **SURE)
    for _ in range(20):
        tell("clock.now")
    tell.take(receive)
    tell.send(send, "d", **SURE)
    return [*tell.seen, *_left(talk, [NAME], kill=True)]


@of("restart")
def killed_after_a_commit(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc", transactional=True)
    other, _ = talk.queue("private$\\second", PROPID_Q_TRANSACTION=1)
    for _ in range(20):
        tell("clock.now")
    both = tell.begin()
    tell.take(receive, transaction=both)
    tell.take(receive, transaction=both)
    for label in "xyz":
        tell.send(other, label, both)
    tell.commit(both)
    return [*tell.seen, *_left(talk, [NAME, SECOND], kill=True)]


@of("restart")
def killed_after_sends_only(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, _ = talk.queue(PROPID_Q_TRANSACTION=1)
    both = tell.begin()
    for label in "xyz":
        tell.send(send, label, both)
    tell.commit(both)
    return [*tell.seen, *_left(talk, [NAME], kill=True)]


@of("restart")
def killed_after_a_purge(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for label in "abc":
        tell.send(send, label, **SURE)
    for _ in range(20):
        tell("clock.now")
    tell("queues.purge", queue=receive)
    return [*tell.seen, *_left(talk, [NAME], kill=True)]


@of("restart")
def killed_after_changes(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue("private$\\second")
    talk.queue()
    for _ in range(20):
        tell("clock.now")
    tell("queues.set", format_name=NAME, properties={"PROPID_Q_LABEL": "new"})
    tell("queues.delete", format_name=SECOND)
    return [*tell.seen, *_left(talk, [NAME, SECOND], kill=True)]
