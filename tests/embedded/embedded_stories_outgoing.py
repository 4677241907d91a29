"""Stories of outgoing queues: what is transferred, and what a hold changes."""

from __future__ import annotations

from typing import Any

from embedded_stories import FAR, NAME, Teller, of
from embedded_talk import Talk

ELSEWHERE = "DIRECT=TCP:192.0.2.7\\private$\\q"
SURE = {"delivery": "recoverable"}


def _transfer(tell: Teller, *names: str) -> None:
    """What is transferred now, and what is left."""
    for name in names or (FAR,):
        tell("outgoing.take", format_name=name)
        tell.counts(name)


def _pause(tell: Teller, name: str = FAR) -> None:
    tell("outgoing.pause", format_name=name)


def _resume(tell: Teller, name: str = FAR) -> None:
    tell("outgoing.resume", format_name=name)


def _again(talk: Talk, *names: str) -> list[Any]:
    """What is transferred after a stop and a start."""
    talk.driver.close()
    after = Talk(talk.state_dir, talk.faults, **talk.options)
    tell = Teller(after)
    try:
        for name in names:
            tell("queues.open", format_name=name, access="send")
        _transfer(tell, *names)
        return tell.seen
    finally:
        after.driver.close()


@of("outgoing")
def held_and_let_go(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far = talk.open(FAR, "send")
    for label in "abc":
        tell.send(far, label)
    _pause(tell)
    for label, priority in (("d", 3), ("e", 7)):
        tell.send(far, label, priority=priority)
    _transfer(tell)
    _resume(tell)
    _transfer(tell)
    tell.send(far, "f")
    _transfer(tell)
    return tell.seen


@of("outgoing")
def held_twice_and_let_go_twice(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far = talk.open(FAR, "send")
    _pause(tell)
    _pause(tell)
    tell.send(far, "a")
    _transfer(tell)
    for label in "bc":
        _resume(tell)
        tell.send(far, label)
        _transfer(tell)
    return tell.seen


@of("outgoing")
def others_go_on(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far, other = talk.open(FAR, "send"), talk.open(ELSEWHERE, "send")
    send, receive = talk.queue()
    _pause(tell)
    for queue, label in ((far, "far"), (other, "other"), (send, "here")):
        tell.send(queue, label)
    tell.take(receive)
    _transfer(tell, FAR, ELSEWHERE)
    tell.send(other, "more")
    _pause(tell, ELSEWHERE)
    _resume(tell)
    _transfer(tell, FAR, ELSEWHERE)
    return tell.seen


@of("outgoing")
def transferred_by_priority(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far = talk.open(FAR, "send")
    for label, priority in (("a", 3), ("b", 5), ("c", 3), ("d", 0)):
        tell.send(far, label, priority=priority, **SURE)
    _transfer(tell)
    _transfer(tell)
    return [*tell.seen, *_again(talk, FAR)]


@of("outgoing")
def transferred_in_transactions(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far = talk.open(FAR, "send")
    one, two = tell.begin(), tell.begin()
    for label in "ab":
        tell.send(far, label, one)
    tell.send(far, "x", two)
    _transfer(tell)
    tell.commit(one)
    tell.abort(two)
    _transfer(tell)
    return tell.seen


@of("outgoing")
def expires_on_hold(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far = talk.open(FAR, "send")
    tell.send(far, "a", time_to_reach_queue=5)
    tell.send(far, "b")
    _pause(tell)
    tell("clock.advance", by_ms=6000)
    _resume(tell)
    _transfer(tell)
    return tell.seen


@of("outgoing")
def held_over_a_restart(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    far, other = talk.open(FAR, "send"), talk.open(ELSEWHERE, "send")
    for queue in (far, other):
        tell.send(queue, "kept", **SURE)
        tell.send(queue, "express")
    _pause(tell)
    return [*tell.seen, *_again(talk, FAR, ELSEWHERE)]


@of("outgoing")
def no_outgoing_queue(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    talk.queue()
    for name in (FAR, NAME):
        for method in ("pause", "resume", "take"):
            tell(f"outgoing.{method}", format_name=name)
    return tell.seen
