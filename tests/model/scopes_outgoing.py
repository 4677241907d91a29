"""Small managers with queues on other computers."""

from __future__ import annotations

from collections.abc import Iterator

from exploring import Scope

from conformance.model import Call, State
from conformance.model.journals import HTTP

BEGUN = Call("transactions.begin", name="t")


def opening(*more: Call) -> tuple[Call, ...]:
    """A queue on another computer, open for send as s1."""
    return (Call("queues.open", name="s1", queue="remote1", access="send"), *more)


def posts(state: State, most: int, *priorities: int | None, to: int = 1, **how: str) -> Iterator[Call]:
    """The next message."""
    sent = sum(len(queue.positions) for queue in state.queues.values())
    if sent < most and f"s{to}" in state.handles:
        for priority in priorities or (None,):
            yield Call("messages.send", message="abc"[sent], handle=f"s{to}", priority=priority, **how)


def pausing_calls(state: State) -> Iterator[Call]:
    """One queue, messages of two priorities."""
    yield from posts(state, 3, None, 5)
    for method in ("pause", "resume", "take"):
        yield Call(f"outgoing.{method}", queue="remote1")


def two_calls(state: State) -> Iterator[Call]:
    """Two queues."""
    if "s2" not in state.handles:
        yield Call("queues.open", name="s2", queue="remote2", access="send")
    for number in (1, 2):
        if f"s{number}" not in state.handles:
            continue
        yield from posts(state, 2, to=number)
        for method in ("pause", "resume", "take"):
            yield Call(f"outgoing.{method}", queue=f"remote{number}")


def transactional_calls(state: State) -> Iterator[Call]:
    """Messages in a transaction and in none."""
    if state.transactions["t"].ended is None:
        yield from posts(state, 2, transaction="t")
        yield Call("transactions.commit", transaction="t")
        yield Call("transactions.abort", transaction="t")
    yield from posts(state, 2)
    yield Call("outgoing.pause", queue="remote1")
    yield Call("outgoing.take", queue="remote1")


def restart_calls(state: State) -> Iterator[Call]:
    """A restart, with the queue on hold or not."""
    yield from posts(state, 3)
    yield from posts(state, 3, delivery="recoverable")
    if "s1" not in state.handles:
        yield Call("queues.open", name="s1", queue="remote1", access="send")
        return
    for method in ("pause", "resume", "take"):
        yield Call(f"outgoing.{method}", queue="remote1")
    if state.restarts < 1:
        yield Call("restart", kill=True)


LOCKED = opening(
    Call("queues.open", name="s2", queue="remote2", access="send"),
    Call("messages.send", message="a", handle="s1", delivery="recoverable"),
    Call("outgoing.pause", queue="remote1"),
    Call("harden", hardened=True),
)


def hardened_calls(state: State) -> Iterator[Call]:
    """Queues that were locked at a start or when they were opened, one by HTTP, and starts that lock or unlock."""
    yield from posts(state, 2, to=3)
    yield Call("harden", hardened=not state.hardening)
    for number, queue in enumerate(("remote1", HTTP, "remote3"), 1):
        if f"s{number}" not in state.handles:
            yield Call("queues.open", name=f"s{number}", queue=queue, access="send")
        elif queue != HTTP:
            yield Call("outgoing.take", queue=queue)
    if state.restarts < 2:
        yield Call("restart", kill=True)


SCOPES = (
    Scope("outgoing and hardened security", LOCKED, hardened_calls, 5),
    Scope("outgoing", opening(), pausing_calls, 6),
    Scope("two outgoing queues", opening(), two_calls, 6),
    Scope("outgoing and transactions", opening(BEGUN), transactional_calls, 5),
    Scope("outgoing and a restart", opening(), restart_calls, 6),
)
