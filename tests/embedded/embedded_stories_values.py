"""Stories of values at the ends of their ranges, and of times that are no whole seconds or span a restart."""

from __future__ import annotations

from typing import Any

from embedded_stories import NAME, Teller, of
from embedded_stories_restart import SURE, started_again
from embedded_talk import Talk

LARGE = "QUJD" * 400_000  # 1.2 million bytes
PAIRS = "a" + "\U0001f600" * 124


@of("properties")
def large_and_long(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    tell.send(send, PAIRS, response_queue="DIRECT=OS:HOST\\private$\\z,DIRECT=OS:HOST\\private$\\a", body=LARGE)
    tell.few(receive)
    tell.few(talk.open(NAME + ";JOURNAL"))
    return tell.seen


@of("properties")
def options_and_none(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue()
    options = {"trace": True, "administration_queue": "DIRECT=OS:HOST\\private$\\a"}
    tell.send(send, "a", **options)
    tell.send(send, "b")
    tell.few(receive)
    return tell.seen


@of("properties")
def large_and_aborted(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    transaction = tell.begin()
    tell.send(send, "a", transaction, extension="QUJD" * 22_000)
    tell.commit(transaction)
    again = tell.begin()
    tell.take(receive, transaction=again)
    tell.abort(again)
    tell.few(receive)
    return tell.seen


def _after_a_kill(talk: Talk, **message: Any) -> list[Any]:
    send, _ = talk.queue()
    talk.ok("messages.send", queue=send, message={**message, **SURE})
    talk.ok("clock.advance", by_ms=2_000)
    again = started_again(talk, kill=True)
    try:
        tell = Teller(again)
        tell("clock.advance", by_ms=2_000)
        tell.few(again.open())
        return tell.seen
    finally:
        again.driver.close()


@of("properties")
def large_and_killed(talk: Talk) -> list[Any]:
    return _after_a_kill(talk, body=LARGE)


@of("properties")
def long_label_and_killed(talk: Talk) -> list[Any]:
    return _after_a_kill(talk, label="x" * 249)


@of("journals")
def expiry_after_a_kill(talk: Talk) -> list[Any]:
    return _after_a_kill(talk, time_to_be_received=3)


@of("cursors")
def long_and_longer(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive = talk.queue()
    tell("queues.open", format_name=f"{NAME}x", access="receive")
    tell.take(receive, timeout_ms=1 << 31)
    tell("clock.advance", by_ms=1_000)
    return tell.seen


@of("cursors")
def a_second_and_a_half(talk: Talk) -> list[Any]:
    tell = Teller(talk)
    _, receive = talk.queue()
    tell.take(receive, timeout_ms=1_500)
    tell("clock.advance", by_ms=1_499)
    tell("clock.advance", by_ms=1)
    tell("clock.advance", by_ms=500)
    return tell.seen
