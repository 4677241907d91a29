"""Stories of waiting, seeking and handles."""

from __future__ import annotations

from typing import Any

from embedded_stories import NAME, WAIT, Teller, _opened, of
from embedded_talk import Talk


@of("cursors")
def readers_in_line(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    other = talk.open()
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, timeout_ms=WAIT)
    tell.take(other, timeout_ms=WAIT)
    tell.send(send, "a")
    tell.send(send, "b")
    tell.counts()
    tell.peek(receive, timeout_ms=WAIT)
    tell.send(send, "c")
    tell.few(receive)
    tell.take(receive, cursor=cursor, timeout_ms=WAIT)
    tell.send(send, "d")
    tell.few(receive)
    return tell.seen


@of("cursors")
def ended_waits(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.take(receive, timeout_ms=WAIT)
    for _ in range(3):
        tell("clock.advance", by_ms=WAIT // 2)
    tell.send(send, "a")
    tell.few(receive)
    number = talk.driver._requests + 1
    tell.take(receive, timeout_ms=WAIT)
    tell.peek(receive, timeout_ms=0xFFFFFFFF)
    tell("messages.cancel", request=number)
    tell("messages.cancel", request=number)
    tell("clock.advance", by_ms=10 * WAIT)
    tell.send(send, "b")
    tell.few(receive)
    return tell.seen


@of("cursors")
def closed_and_deleted(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    other = talk.open()
    tell.take(receive, timeout_ms=WAIT)
    tell.take(other, timeout_ms=WAIT)
    tell("queues.close", queue=other)
    tell.peek(other)
    tell.send(send, "a")
    tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "b")
    tell.take(receive)
    tell.send(send, "kept")
    tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "c")
    tell.send(send, "d")
    for queue in (send, receive):
        tell("queues.close", queue=queue)
    send, receive = talk.open(access="send"), talk.open()
    tell.peek(receive)
    tell.send(send, "e")
    tell("queues.purge", queue=receive)
    tell.few(receive)
    tell.take(receive, timeout_ms=WAIT)
    tell("queues.delete", format_name=NAME)
    tell("clock.advance", by_ms=WAIT)
    tell.peek(receive)
    return tell.seen


@of("cursors")
def made_again(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    tell.filled("ab")
    tell("queues.delete", format_name=NAME)
    tell("queues.open", format_name=NAME, access="peek")
    tell("queues.create", path_name="HOST\\private$\\q")
    tell.few(talk.open())
    return tell.seen


@of("cursors")
def shared(talk: Talk) -> list[Any]:
    talk.queue("private$\\second")
    talk.ok("queues.create", path_name="HOST\\private$\\q")
    seen: list[Any] = []
    for access, share in (("receive", "deny_receive"), ("peek", "deny_receive"), ("receive", "deny_none")):
        held = _opened(talk, access, share)
        seen.append(held)
        others = [("receive", "deny_none"), ("receive", "deny_receive"), ("send", "deny_none"), ("peek", "deny_none")]
        for wanted in others:
            got = _opened(talk, *wanted)
            seen.append(got)
            if "queue" in got:
                talk("queues.close", queue=got["queue"])
        if "queue" in held:
            talk("queues.close", queue=held["queue"])
    return seen


@of("cursors")
def used_otherwise(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab")
    peek = talk.open(access="peek")
    tell.take(peek)
    tell("queues.purge", queue=peek)
    tell.peek(send)
    tell.send(receive, "c")
    tell.few(receive)
    return tell.seen


@of("cursors")
def looked_up(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, lookups = tell.filled("abcd")
    for lookup in (*lookups, "77"):
        for action in ("first", "previous", "current", "next", "last"):
            tell("messages.peek_by_lookup_id", queue=receive, lookup_identifier=lookup, action=action)
    return tell.seen


@of("cursors")
def with_cursors(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abcd")
    cursor, other = (talk.ok("cursors.open", queue=receive)["cursor"] for _ in range(2))
    at = {"queue": receive, "cursor": cursor, "timeout_ms": 0}
    tell("messages.peek", **at)
    tell.take(receive)
    for method in ("peek", "peek", "receive", "peek_next", "peek"):
        tell(f"messages.{method}", **at)
    for method in ("receive", "peek_next", "peek"):
        tell(f"messages.{method}", **{**at, "cursor": other})
    tell.take(receive, cursor=talk.ok("cursors.open", queue=receive)["cursor"])
    tell.peek(receive)
    return tell.seen


@of("cursors")
def a_receive_goes_on(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive, _ = tell.filled("ab")
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    tell.take(receive, cursor=cursor)
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    tell.send(send, "urgent", priority=7)
    tell("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)
    tell.peek(receive, cursor=cursor)
    return tell.seen


@of("cursors")
def one_cursor_closed(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc")
    cursor, other = (talk.ok("cursors.open", queue=receive)["cursor"] for _ in range(2))
    for each in (cursor, other):
        tell.peek(receive, cursor=each)
    tell("messages.peek_next", queue=receive, cursor=other, timeout_ms=0)
    tell("cursors.close", cursor=cursor)
    tell("messages.peek_next", queue=receive, cursor=other, timeout_ms=0)
    return tell.seen


@of("cursors")
def two_handles_want_the_last(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a")
    other = talk.open()
    tell.take(receive)
    tell.take(other)
    return tell.seen


@of("cursors")
def handles_are_told_apart(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("a")
    tell.seen.append(talk.open() == talk.open())
    cursors = [talk.ok("cursors.open", queue=receive)["cursor"] for _ in range(2)]
    return [*tell.seen, cursors[0] == cursors[1]]
