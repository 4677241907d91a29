"""Queries of a state that the choices of calls need: open handles, free cursors, unused names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from conformance.model import Call, State
from conformance.model.journals import is_kept
from conformance.model.state import Cursor, Handle, Queue
from conformance.model.tables import CursorState, PositionState

MAX_MESSAGES = 24
_AVAILABLE, _DELETED, _CLOSED = PositionState.AVAILABLE, PositionState.DELETED, CursorState.CLOSED

listed = lru_cache(1 << 14)(Call)
"""Make a call. Each step lists many calls and makes one of them; equal calls are one object, which saves time."""


def names(prefix: str, taken: Iterable[str]) -> str:
    """Return the first unused name: q1, q2, ..."""
    used = set(taken)
    return next(name for number in range(1, len(used) + 2) if (name := f"{prefix}{number}") not in used)


def message_name(state: State) -> str:
    """Return the name of the next message."""
    return numbered(sum(len(queue.positions) for queue in state.queues.values()))


def numbered(sent: int) -> str:
    """Return the name of a message after `sent` others: a, b, ... z, a2, b2, ..."""
    letter, turn = chr(ord("a") + sent % 26), sent // 26
    return letter if not turn else f"{letter}{turn + 1}"


def handles(state: State, *access: str) -> list[Handle]:
    """Return the open handles with one of these kinds of access whose queue still exists."""
    return [
        handle for handle in state.handles.values() if handle.is_open and not handle.lost and handle.access in access
    ]


def open_transactions(state: State) -> list[str]:
    """Return the handles of transactions that have not ended."""
    return [found.name for found in state.transactions.values() if found.ended is None and not found.dropped]


def working_transactions(state: State) -> list[str]:
    """Return the open transactions that are not prepared: the text does not describe more work in a prepared one."""
    return [name for name in open_transactions(state) if not state.transactions[name].prepared]


def ended_transactions(state: State) -> list[str]:
    """Return the ended transactions without coordinator, except those that a restart ended with their handles."""
    return internal(
        state, [found.name for found in state.transactions.values() if found.ended not in (None, "restart")]
    )


def internal(state: State, given: Iterable[str]) -> list[str]:
    """Return those transactions that have no coordinator."""
    return [name for name in given if state.transactions[name].identifier is None]


def cursors(state: State, handle: str | None = None) -> list[Cursor]:
    """Return the open cursors that no waiting read uses; those of one handle, if given."""
    if not state.cursors:
        return []
    waiting = {waiter.cursor for waiter in state.waiters}
    return [
        cursor
        for cursor in state.cursors.values()
        if cursor.state is not _CLOSED and cursor.name not in waiting and (handle is None or handle == cursor.handle)
    ]


def worth(queue: Queue) -> int:
    """Return how often to list a read of a queue: most if a message is available, least if all are gone."""
    times = 1
    for position in queue.positions:
        if position.state is _AVAILABLE:
            return 6
        if position.state is not _DELETED:
            times = 2
    return times


def named_alone(queue: Queue) -> bool:
    """Return True for a single main queue: no subqueue, journal or dead-letter queue, and no list of several queues."""
    return queue.parent is None and not is_kept(queue.name) and "," not in queue.name


def kind_of(state: State) -> tuple[object, ...]:
    """Return the kind of a state: the kinds of things in it, without names, numbers and times."""
    return (
        frozenset(
            (queue.transactional, position.state)
            for queue in state.queues.values()
            for position in queue.positions
            if position.state is not PositionState.DELETED
        ),
        frozenset(cursor.state for cursor in state.cursors.values() if cursor.state is not CursorState.CLOSED),
        frozenset((waiter.method, waiter.cursor is not None) for waiter in state.waiters),
    )


def where(state: State, call: Call) -> str:
    """Describe the operation and the kind of state it meets. Failures at different places may have different causes."""
    parts = [call.method]
    handle = state.handles.get(call.handle or "")
    queue = state.queues.get(handle.queue if handle is not None else call.queue or "")
    if queue is not None:
        parts.append("transactional queue" if queue.transactional else "plain queue")
    if handle is not None and (not handle.is_open or handle.lost):
        parts.append("handle gone")
    cursor = state.cursors.get(call.cursor or "")
    if cursor is not None:
        parts.append(f"cursor {cursor.state.value}")
        if cursor.message is not None and queue is not None:
            position = queue.find(cursor.message)
            parts.append(f"on {position.state.value}" if position is not None else "on nothing")
    if call.transaction is not None:
        known = state.transactions.get(call.transaction)
        parts.append("in a transaction" if known is None or known.ended is None else "in an ended transaction")
    if call.action is not None:
        parts.append(call.action)
    if call.timeout_ms:
        parts.append("waiting")
    if state.waiters:
        parts.append("others wait")
    return ", ".join(parts)
