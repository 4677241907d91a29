"""Alphabets of the search for separating traces: the few calls to choose from, one kit for each kind of reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.model import Call, State
from conformance.model.rules import PARKED, PEEK_TIMEOUT_POSITION, PEEK_TIMEOUT_STATE, POLL
from conformance.model.tables import CursorState, PositionState

WAIT_MS = 1_000
MAX_MESSAGES = 3


def opened(*, transactional: bool) -> tuple[Call, ...]:
    """Return the calls that begin every trace: a queue, open for send as `s` and for receive as `r`."""
    return (
        Call("queues.create", queue="q", transactional=transactional),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
    )


def _next_message(state: State) -> str | None:
    sent = sum(len(queue.positions) for queue in state.queues.values())
    return "abcdef"[sent] if sent < MAX_MESSAGES else None


def _sends(state: State, *priorities: int | None, within: str | None = None, delivery: str | None = None) -> list[Call]:
    name = _next_message(state)
    if name is None:
        return []
    return [
        Call("messages.send", message=name, handle="s", priority=priority, transaction=within, delivery=delivery)
        for priority in priorities or (None,)
    ]


def _waiting_name(state: State) -> str:
    return f"w{len(state.waited) + 1}"


def _free_cursors(state: State) -> list[str | None]:
    return [
        cursor.name
        for cursor in state.cursors.values()
        if cursor.state is not CursorState.CLOSED and not state.busy(cursor.name)
    ]


def cursor_calls(state: State) -> Iterator[Call]:
    """One queue, one cursor, reads that wait and reads that do not."""
    yield from _sends(state, None, 5)
    if not state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    for cursor in (None, *_free_cursors(state)):
        for method in ("messages.receive", "messages.peek", "messages.peek_next"):
            if cursor is None and method != "messages.receive":
                continue
            yield Call(method, handle="r", cursor=cursor)
            if cursor is not None and not state.waiters:
                yield Call(method, name=_waiting_name(state), handle="r", cursor=cursor, timeout_ms=WAIT_MS)
    if state.waiters:
        yield Call("clock.advance", by_ms=WAIT_MS)


def queue_calls(state: State) -> Iterator[Call]:
    """Queues that are deleted, handles that are closed and shared, with a read that waits."""
    yield from _sends(state)
    yield Call("messages.receive", handle="r")
    if not state.waiters:
        yield Call("messages.receive", name=_waiting_name(state), handle="r", timeout_ms=WAIT_MS)
    else:
        yield Call("clock.advance", by_ms=WAIT_MS)
    if state.queues["q"].exists:
        yield Call("queues.delete", queue="q")
        name = f"h{len(state.handles)}"
        for access, share in (("peek", None), ("peek", "deny_receive"), ("receive", "deny_receive")):
            yield Call("queues.open", name=name, queue="q", access=access, share=share)
    if state.handles["r"].is_open:
        yield Call("queues.close", handle="r")


def reader_calls(state: State) -> Iterator[Call]:
    """Several readers on two handles."""
    yield from _sends(state)
    if "r2" not in state.handles:
        yield Call("queues.open", name="r2", queue="q", access="receive")
    if len(state.waiters) < 4:
        for handle in ("r", "r2"):
            if handle in state.handles:
                for method in ("messages.receive", "messages.peek"):
                    yield Call(method, name=_waiting_name(state), handle=handle, timeout_ms=WAIT_MS)


def transaction_calls(state: State) -> Iterator[Call]:
    """A transactional queue, two transactions, a cursor, purge and restart."""
    live = [name for name in ("t", "u") if name in state.transactions and state.transactions[name].ended is None]
    if len(state.transactions) < 2:
        yield Call("transactions.begin", name="tu"[len(state.transactions)])
    if "r" not in state.handles:
        yield Call("queues.open", name="r", queue="q", access="receive")
        return
    for name in live:
        yield from _sends(state, within=name)
        yield Call("messages.receive", handle="r", transaction=name)
        yield Call("transactions.commit", transaction=name)
        yield Call("transactions.abort", transaction=name)
    if "s" not in state.handles:
        yield Call("messages.receive", handle="r")
        return
    if not state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    for cursor in (None, *_free_cursors(state)):
        yield Call("messages.peek", handle="r", cursor=cursor)
    yield Call("messages.receive", handle="r")
    if state.queues["q"].positions:
        yield Call("queues.purge", handle="r")


def restart_calls(state: State) -> Iterator[Call]:
    """Express messages in transactions, and a restart."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    if not state.transactions:
        yield Call("transactions.begin", name="t")
    if "r" not in state.handles:
        yield Call("queues.open", name="r", queue="q", access="receive")
        return
    if "s" in state.handles:
        for name in live:
            yield from _sends(state, within=name)
            yield from _sends(state, within=name, delivery="express")
            yield Call("transactions.commit", transaction=name)
        yield Call("restart", kill=True)
    yield Call("messages.receive", handle="r")


def lookup_calls(state: State) -> Iterator[Call]:
    """Reads by lookup identifier in a queue with two priorities."""
    yield from _sends(state, None, 5)
    yield Call("messages.receive", handle="r")
    yield Call("messages.peek", handle="r")
    yield from _lookups(state)


def locked_lookup_calls(state: State) -> Iterator[Call]:
    """Reads by lookup identifier in a transactional queue, of messages sent with a priority."""
    if not state.transactions:
        yield Call("transactions.begin", name="t")
    for name, found in state.transactions.items():
        if found.ended is None:
            yield from _sends(state, 5, within=name)
            yield Call("messages.receive", handle="r", transaction=name)
            yield Call("transactions.commit", transaction=name)
        elif len(state.transactions) < 2:
            yield Call("transactions.begin", name="u")
    yield from _lookups(state)


def _lookups(state: State) -> Iterator[Call]:
    known = [position.message for position in state.queues["q"].positions if position.message in state.lookups]
    for method in ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id"):
        for message in known:
            for action in ("current", "next", "previous"):
                yield Call(method, handle="r", message=message, action=action)
        if any(position.state is not PositionState.DELETED for position in state.queues["q"].positions):
            yield Call(method, handle="r", action="first")


def move_calls(state: State) -> Iterator[Call]:
    """Moves from the queue to its subqueue and back, outside transactions; the calls between seeing and moving."""
    yield from _sends(state)
    yield from _moves(state, "r", "m", None)
    for handle in ("r", "o"):
        yield Call("messages.peek", handle=handle)
        yield Call("messages.receive", handle=handle)


def transacted_move_calls(state: State) -> Iterator[Call]:
    """A move in a transaction, and a purge before it ends."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    if not live and len(state.transactions) < 2:
        yield Call("transactions.begin", name="tu"[len(state.transactions)])
    for name in live:
        if not any(queue.positions for queue in state.queues.values()):
            yield from _sends(state, within=name)
        yield Call("transactions.commit", transaction=name)
        yield from _moves(state, "r", "m", name)
    yield Call("messages.peek", handle="r")
    yield Call("messages.peek", handle="o")
    yield Call("queues.purge", handle="r")


def _moves(state: State, source: str, target: str, within: str | None) -> Iterator[Call]:
    for position in state.queues["q"].positions:
        if position.message in state.lookups:
            yield Call("messages.move", message=position.message, handle=source, destination=target, transaction=within)


def outgoing_calls(state: State) -> Iterator[Call]:
    """A queue on another computer, paused, and a restart."""
    if "s" not in state.handles:
        yield Call("queues.open", name="s", queue="remote1", access="send")
        return
    yield from _sends(state, delivery="recoverable")
    yield Call("outgoing.take", queue="remote1")
    yield Call("outgoing.pause", queue="remote1")
    if not state.restarts:
        yield Call("restart", kill=False)


TOGETHER = (PEEK_TIMEOUT_STATE, PEEK_TIMEOUT_POSITION, PARKED, POLL)
"""Readings on the end of a peek that found nothing: each shows only under some alternatives of the others."""

PLAIN, TRANSACTIONAL = opened(transactional=False), opened(transactional=True)
_SUBQUEUE = (
    Call("queues.open", name="o", queue="q;one", access="receive"),
    Call("queues.open", name="m", queue="q;one", access="move"),
)
KITS: tuple[tuple[Callable[[State], Iterator[Call]], tuple[Call, ...], int], ...] = (
    (cursor_calls, PLAIN, 7),
    (queue_calls, PLAIN, 5),
    (reader_calls, PLAIN, 7),
    (transaction_calls, TRANSACTIONAL, 9),
    (restart_calls, TRANSACTIONAL, 7),
    (lookup_calls, PLAIN, 6),
    (locked_lookup_calls, TRANSACTIONAL, 8),
    (move_calls, (*PLAIN, *_SUBQUEUE), 8),
    (outgoing_calls, (Call("queues.open", name="s", queue="remote1", access="send"),), 6),
    (transacted_move_calls, (*TRANSACTIONAL, *_SUBQUEUE), 10),
)
"""Each kit: the function from a state to its sensible calls, the first calls, and the depth of the search."""
