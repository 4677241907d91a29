"""Stories of concurrency: what comes in the hole of another call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from embedded_stories import NAME, WAIT, Teller, begun, of, subqueue
from embedded_talk import Talk


class Meanwhile:
    """Does one thing the first time a call lets others go first."""

    def __init__(self, talk: Talk, other: Callable[[], object]) -> None:
        self.talk = talk
        self.others = [other]
        talk.driver.do_meanwhile(self)

    def __call__(self) -> None:
        if self.others:
            self.others.pop()()


def _raced(talk: Talk, one: Callable[[], object], other: Callable[[], object]) -> None:
    """Both: the other in the hole of the one, or behind it where there is none."""
    meanwhile = Meanwhile(talk, other)
    one()
    meanwhile()
    talk.driver.do_meanwhile(lambda: None)


@of("concurrency")
def received_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abcdef")
    _raced(talk, lambda: tell.take(receive), lambda: tell.take(receive))
    _raced(talk, lambda: begun(tell, receive), lambda: begun(tell, receive))
    tell.few(receive)
    return tell.seen


@of("concurrency")
def received_in_transactions_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("abc", transactional=True)
    first, second = tell.begin(), tell.begin()
    _raced(talk, lambda: tell.take(receive, transaction=first), lambda: tell.take(receive, transaction=second))
    tell.commit(first)
    tell.abort(second)
    tell.few(receive)
    return tell.seen


@of("concurrency")
def sent_to_a_read_about_to_wait(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    _raced(talk, lambda: tell.take(receive, timeout_ms=WAIT), lambda: tell.send(send, "a"))
    tell.counts()
    return tell.seen


@of("concurrency")
def committed_and_looked_at(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    other, there = talk.queue("private$\\second", PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(send, "a", transaction)
    tell.send(other, "x", transaction)
    _raced(talk, lambda: tell.commit(transaction), lambda: [tell.peek(receive), tell.peek(there)])
    return tell.seen


@of("concurrency")
def aborted_and_taken(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, _ = tell.filled("ab", transactional=True)
    held = tell.begin()
    for _ in range(2):
        tell.take(receive, transaction=held)
    _raced(talk, lambda: tell.abort(held), lambda: tell.take(receive))
    return tell.seen


@of("concurrency")
def ended_twice(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(send, "a", transaction)
    _raced(talk, lambda: tell.commit(transaction), lambda: tell.abort(transaction))
    tell.few(receive)
    return tell.seen


@of("concurrency")
def sent_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    _raced(talk, lambda: tell.send(send, "a"), lambda: tell.send(send, "b"))
    tell.counts()
    return [tell.seen[-2], *_drained(tell, receive)]


def _drained(tell: Teller, receive: str) -> list[str]:
    """The labels left in a queue, whatever their order."""
    answers = [tell.take(receive) for _ in range(4)]
    return sorted(str(answer["message"]["label"]) for answer in answers if "message" in answer)


@of("concurrency")
def two_for_one_waiter(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    tell.take(receive, timeout_ms=WAIT)
    _raced(talk, lambda: tell.send(send, "a"), lambda: tell.send(send, "b"))
    return _drained(tell, receive)


@of("concurrency")
def cancelled_and_sent(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    number = talk.driver._requests + 1
    tell.take(receive, timeout_ms=WAIT)
    _raced(talk, lambda: tell("messages.cancel", request=number), lambda: tell.send(send, "a"))
    return [tell.seen[0], *_drained(tell, receive)]


@of("concurrency")
def moved_and_taken(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive, [lookup] = tell.filled("a")
    into, there = subqueue(talk)

    def move() -> None:
        tell("messages.move", queue=receive, lookup_identifier=lookup, destination=into)

    _raced(talk, move, lambda: tell.take(receive))
    tell.few(there)
    return tell.seen


@of("concurrency")
def opened_and_made_at_once(talk: Talk) -> list[Any]:
    tell = Teller(talk)

    def make() -> None:
        tell("queues.create", path_name="HOST\\private$\\q")

    def take_over() -> None:
        tell("queues.open", format_name=NAME, access="receive", share="deny_receive")

    _raced(talk, make, make)
    _raced(talk, take_over, take_over)
    return sorted(len(each[0]) for each in tell.seen[::2])


@of("concurrency")
def three_wait(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    for _ in range(3):
        tell.take(receive, timeout_ms=WAIT)
    tell.send(send, "a")
    return tell.seen
