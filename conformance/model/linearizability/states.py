"""Reduce states for the search for an order to what later calls can show, without the times of past events."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType

from conformance.model.state import PARKED, Cursor, Queue, State
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace

_GONE = PositionState.DELETED
_NOTHING: Mapping[str, int] = MappingProxyType({})


def forgotten(
    state: State, waited: tuple[str, ...], transaction: str | None, named: Mapping[str, int] = _NOTHING
) -> State:
    """The state without the messages that are gone and that no cursor stands at, and without this ended transaction.

    waited: the reads that count as having waited. named: messages that a call names, which are kept in mind.
    """
    if state.waited is not waited:
        state = replace(state, waited=waited)
    if transaction is not None:
        left = {name: found for name, found in state.transactions.items() if name != transaction}
        state = replace(state, transactions=left)
    for queue in state.queues.values():
        if any(position.state is _GONE for position in queue.positions):
            seen = {cursor.message for cursor in state.cursors.values() if cursor.state is not CursorState.CLOSED}
            seen.update(named)
            seen |= {begun.message for begun in state.begun.values()}
            kept = tuple(
                position for position in queue.positions if position.state is not _GONE or position.message in seen
            )
            if len(kept) < len(queue.positions):
                state = state.put(replace(queue, positions=kept))
    return state


def same(state: State, kept: dict[Hashable, Hashable] | None = None) -> Hashable:
    """Return a key that is equal for states that allow the same for all later calls: with orders in place of times.

    kept: parts of keys, each once: a search holds hundreds of thousands of keys that differ in little.
    """
    once: Callable[[Hashable, Hashable], Hashable] = (lambda part, _: part) if kept is None else kept.setdefault
    parts = (
        frozenset((queue.name, queue.exists, _positions(queue, once)) for queue in state.queues.values()),
        frozenset((handle.name, handle.is_open, handle.lost) for handle in state.handles.values()),
        frozenset(_cursor(state, cursor) for cursor in state.cursors.values()),
        frozenset((found.name, found.ended, found.prepared) for found in state.transactions.values()),
        frozenset((begun.name, begun.message, begun.ended) for begun in state.begun.values()),
        tuple(waiter.name for waiter in state.waiters),
        frozenset(state.assumed.items()) if state.assumed else None,
        state.restarts,
        state.now,
    )
    return tuple(once(part, part) for part in parts)


def _positions(queue: Queue, once: Callable[[Hashable, Hashable], Hashable]) -> Hashable:
    told = ((p.message, p.state, p.holder, p.doubtful, p.purged, p.target, p.marks) for p in queue.positions)
    return tuple(once(each, each) for each in told)


def _cursor(state: State, cursor: Cursor) -> Hashable:
    queue = _queue(state, cursor)
    if queue is None or cursor.state is CursorState.CLOSED:
        return (cursor.name, cursor.state)
    ranks = [position.rank for position in queue.positions]
    place = bisect_right(ranks, cursor.at)
    following = cursor.successor and bisect_left(ranks, cursor.successor)
    # What came after its last wait, or after its message was removed as the last one, may be all it sees.
    times = (cursor.ended_at, cursor.removed_at if cursor.successor == PARKED else None)
    beyond = tuple(
        flag
        for time in times
        if time is not None
        for p in queue.positions
        for flag in (p.since > time, p.rank[1] > time)
    )
    return (cursor.name, cursor.state, cursor.at[0], place, following, cursor.message, cursor.ended, beyond)


def _queue(state: State, cursor: Cursor) -> Queue | None:
    handle = state.handles.get(cursor.handle)
    return state.queues.get(handle.queue) if handle is not None else None
