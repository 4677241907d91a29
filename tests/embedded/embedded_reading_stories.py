"""Stories in which two readings of the documents part."""

from __future__ import annotations

from typing import Any

from embedded_every_story import STORIES, Story
from embedded_reading_stories_objects import OF_OBJECTS
from embedded_stories import NAME, WAIT, Teller
from embedded_talk import Talk


def readers_of_both_kinds(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.take(receive, timeout_ms=WAIT)
    tell.peek(receive, timeout_ms=WAIT)
    tell.send(send, "a")
    return tell.seen


def no_time_to_live(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "a", time_to_be_received=0)
    return tell.seen


def ended_from_outside(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive = talk.queue()
    number = talk.driver._requests + 1
    tell.peek(receive, timeout_ms=WAIT)
    tell("messages.cancel", request=number)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor, timeout_ms=WAIT)
    tell("cursors.close", cursor=cursor)
    return tell.seen


def polled(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor)
    tell.peek(receive, cursor=cursor)
    tell.send(send, "a")
    tell.peek(receive, cursor=cursor)
    return tell.seen


def unknown_public(talk: Talk) -> list[Any]:
    name = "PUBLIC=909ea0fc-9078-4445-8f11-394c43cd8907"
    return [talk("queues.open", format_name=name, access="send")]


def locked(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab", transactional=True)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.peek(receive, cursor=cursor)
    tell.take(receive, transaction=tell.begin())
    tell.peek(receive, cursor=cursor)
    return tell.seen


def purged(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, [lookup] = tell.filled("a", transactional=True)
    into, there = talk.open(f"{NAME};sub", "move"), talk.open(f"{NAME};sub")
    transaction = tell.begin()
    tell.send(send, "b", transaction)
    tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into, transaction=transaction)
    tell("queues.purge", queue=receive)
    tell.commit(transaction)
    for queue in (receive, there):
        tell.few(queue)
    return tell.seen


def room(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, _ = talk.queue(PROPID_Q_QUOTA=1, PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    for label in "ab":
        tell.send(send, label, transaction, body="A" * 1112)
    return tell.seen


def expired_while_locked(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "a", time_to_be_received=5)
    read = tell("messages.receive_begin", queue=receive, timeout_ms=0)["read"]
    tell("clock.advance", by_ms=6000)
    tell("messages.receive_end", read=read, acknowledge=False)
    tell.peek(receive)
    return tell.seen


def sent_nowhere(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, _ = talk.queue()
    tell("queues.delete", format_name=NAME)
    tell.send(send, "a")
    return tell.seen


def labelled_at_length(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.send(send, "x" * 250)
    tell.take(receive)
    return tell.seen


def opened_beside_a_reader(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue()
    tell("queues.open", format_name=NAME, access="move", share="deny_receive")
    return tell.seen


def sent_exclusively(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive = talk.queue()
    talk.ok("queues.close", queue=receive)
    tell("queues.open", format_name=NAME, access="send", share="deny_receive")
    tell("queues.open", format_name=NAME, access="receive", share="deny_receive")
    tell("queues.open", format_name=NAME, access="send", share="deny_receive")
    return tell.seen


def deleted_within(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a", transactional=True)
    transaction = tell.begin()
    tell.take(receive, transaction=transaction)
    tell("queues.delete", format_name=NAME)
    tell.commit(transaction)
    tell.commit(transaction)
    return tell.seen


def readers_of_two_handles(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, first = talk.queue()
    second = talk.open()
    for handle in (first, second, first):
        tell.take(handle, timeout_ms=WAIT)
    for label in "ab":
        tell.send(send, label)
    return tell.seen


def closed_while_reading(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a")
    tell("messages.receive_begin", queue=receive, timeout_ms=0)
    tell("queues.close", queue=receive)
    tell.take(talk.open())
    return tell.seen


def committed_late(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(send, "a", transaction, time_to_be_received=5)
    tell("clock.advance", by_ms=6000)
    tell.commit(transaction)
    tell.take(receive)
    return tell.seen


def a_cursor_at_what_is_removed(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for label, priority in (("high", 5), ("gone", 2), ("low", 1)):
        tell.send(send, label, priority=priority)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor)
    tell.take(receive)
    tell.send(send, "put", priority=4)
    tell.take(receive, cursor=cursor)
    return tell.seen


def copied_in_a_transaction(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a", transactional=True, PROPID_Q_JOURNAL=1)
    tell.take(receive, transaction=tell.begin())
    tell.take(talk.open(f"{NAME};journal"))
    return tell.seen


def ended_twice(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab")
    for keeps in (True, False):
        read = tell("messages.receive_begin", queue=receive, timeout_ms=0)["read"]
        tell.counts()
        for _ in range(2):
            tell("messages.receive_end", read=read, acknowledge=keeps)
    tell.few(receive)
    tell("queues.close", queue=receive)
    return tell.seen


def sought_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, [lookup] = tell.filled("a")
    tell.take(receive)
    tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action="current")
    return tell.seen


def written(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue(PROPID_Q_BASEPRIORITY=5)
    for properties in ({"PROPID_Q_QMID": "x"}, {"PROPID_Q_LABEL": 7}, {"PROPID_Q_BASEPRIORITY": 3}):
        tell("queues.set", format_name=NAME, properties=properties)
    tell("queues.create", path_name=".\\private$\\other", properties={"PROPID_Q_SCOPE": 1})
    tell("queues.get", format_name=NAME, properties=["PROPID_Q_BASEPRIORITY", "PROPID_Q_LABEL"])
    tell("queues.get", format_name=NAME, properties=["PROPID_NOT"])
    return tell.seen


def half_refused(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive = talk.queue()
    tell("queues.create", path_name=".\\private$\\second", properties={"PROPID_Q_TRANSACTION": 1})
    both = talk.open(f"{NAME},DIRECT=OS:.\\private$\\second", "send")
    tell.send(both, "a")
    tell.few(receive)
    return tell.seen


PARTINGS: list[Story] = [
    closed_while_reading,
    committed_late,
    ended_twice,
    sought_again,
    written,
    half_refused,
    a_cursor_at_what_is_removed,
    copied_in_a_transaction,
    opened_beside_a_reader,
    sent_exclusively,
    deleted_within,
    readers_of_two_handles,
    labelled_at_length,
    readers_of_both_kinds,
    no_time_to_live,
    ended_from_outside,
    polled,
    unknown_public,
    locked,
    purged,
    room,
    expired_while_locked,
    sent_nowhere,
    *OF_OBJECTS,
    *[story for suite in sorted(STORIES, key="objects".__eq__) for story in STORIES[suite]],
]
