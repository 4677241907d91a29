"""Building blocks of short hand-written histories, for the example tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.histories.history import History
from conformance.model import Call

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")
EXPIRY_MS = 1_000  # on a virtual clock, where waiting takes no time
REAL_EXPIRY_MS = 60  # on a real clock


def begin(mq: Port, judge: Recorder, mq_need: Callable[..., None], *needs: str, transactional: bool = False) -> History:
    """Begin a history with queue `q1`, open for send as `s` and for receive as `r`.

    Skips the test if the driver does not offer all of `needs`.
    """
    mq_need(*NEEDS, *needs)
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1", transactional=transactional), *opened())
    return history


def opened() -> tuple[Call, Call]:
    """Return the calls that open `q1` for send as `s` and for receive as `r`."""
    return (
        Call("queues.open", name="s", queue="q1", access="send"),
        Call("queues.open", name="r", queue="q1", access="receive"),
    )


def send(message: str, *, priority: int | None = None, delivery: str | None = None, within: str | None = None) -> Call:
    """Return a send to q1."""
    return Call("messages.send", message=message, handle="s", priority=priority, delivery=delivery, transaction=within)


def receive(cursor: str | None = None, *, within: str | None = None, wait_ms: int = 0, name: str | None = None) -> Call:
    """Return a receive from q1."""
    return Call("messages.receive", name=name, handle="r", cursor=cursor, transaction=within, timeout_ms=wait_ms)


def peek(cursor: str | None = None, *, wait_ms: int = 0, name: str | None = None) -> Call:
    """Return a peek in q1."""
    return Call("messages.peek", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def peek_next(cursor: str, *, wait_ms: int = 0, name: str | None = None) -> Call:
    """Return a peek-next in q1."""
    return Call("messages.peek_next", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def begun(name: str) -> Call:
    """Return the beginning of a transaction."""
    return Call("transactions.begin", name=name)


def commit(name: str) -> Call:
    """Return the commit of a transaction."""
    return Call("transactions.commit", transaction=name)


def abort(name: str) -> Call:
    """Return the abort of a transaction."""
    return Call("transactions.abort", transaction=name)


def cursor(name: str) -> Call:
    """Return the opening of a cursor on q1."""
    return Call("cursors.open", name=name, handle="r")


def expiry_ms(mq: Port) -> int:
    """Return the time-out, in milliseconds, of an example's read that finds no message."""
    return EXPIRY_MS if mq.hello.clock == "virtual" and mq.offers("clock.advance") else REAL_EXPIRY_MS
