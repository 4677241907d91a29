"""Short histories written by hand: the frame of the example tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conformance.model import Call
from conformance.suites.stateful.history import History

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import Judge

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")
EXPIRY_MS = 1_000  # on a virtual clock, where it costs nothing
REAL_EXPIRY_MS = 60  # on a real one


def begin(mq: Client, judge: Judge, mq_need: Callable[..., None], *needs: str, transactional: bool = False) -> History:
    """A queue `q1`, open for send as `s` and for receive as `r`. Skips what the driver does not offer."""
    mq_need(*NEEDS, *needs)
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1", transactional=transactional), *opened())
    return history


def opened() -> tuple[Call, Call]:
    """The calls that open `q1` as `s` and `r`."""
    return (
        Call("queues.open", name="s", queue="q1", access="send"),
        Call("queues.open", name="r", queue="q1", access="receive"),
    )


def send(message: str, *, priority: int | None = None, delivery: str | None = None, within: str | None = None) -> Call:
    """Send to q1."""
    return Call("messages.send", message=message, handle="s", priority=priority, delivery=delivery, transaction=within)


def receive(cursor: str | None = None, *, within: str | None = None, wait_ms: int = 0, name: str | None = None) -> Call:
    """Receive from q1."""
    return Call("messages.receive", name=name, handle="r", cursor=cursor, transaction=within, timeout_ms=wait_ms)


def peek(cursor: str | None = None, *, wait_ms: int = 0, name: str | None = None) -> Call:
    """Peek in q1."""
    return Call("messages.peek", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def peek_next(cursor: str, *, wait_ms: int = 0, name: str | None = None) -> Call:
    """Peek-next in q1."""
    return Call("messages.peek_next", name=name, handle="r", cursor=cursor, timeout_ms=wait_ms)


def begun(name: str) -> Call:
    """Begin a transaction."""
    return Call("transactions.begin", name=name)


def commit(name: str) -> Call:
    """Commit it."""
    return Call("transactions.commit", transaction=name)


def abort(name: str) -> Call:
    """Abort it."""
    return Call("transactions.abort", transaction=name)


def cursor(name: str) -> Call:
    """Open a cursor on q1."""
    return Call("cursors.open", name=name, handle="r")


def expiry_ms(mq: Client) -> int:
    """How long a read of an example waits for nothing."""
    return EXPIRY_MS if mq.hello.clock == "virtual" and mq.offers("clock.advance") else REAL_EXPIRY_MS
