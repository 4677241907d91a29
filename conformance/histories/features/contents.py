"""Contents of a queue, in the words of features of whole queues: deletions, purges, restarts, counts."""

from __future__ import annotations

from conformance.histories.features.asked import wished
from conformance.histories.features.views import choice_of, place_of
from conformance.model import Call, State
from conformance.model.journals import is_kept, journal_of
from conformance.model.state import Position, Queue
from conformance.model.tables import CursorState, PositionState

_WORDS = {
    PositionState.SENDING: "sent",
    PositionState.LOCKED: "received",
    PositionState.BEGUN: "begun",
    PositionState.MOVING: "moving",
    PositionState.PURGE_PENDING: "purged",
    PositionState.BEGUN_PURGED: "purged",
    PositionState.MOVING_PURGED: "purged",
}


def named_queue(state: State, call: Call) -> Queue | None:
    """Return the queue that a call names, if it exists."""
    queue = state.queues.get(call.queue or "")
    return queue if queue is not None and queue.exists else None


def available(queue: Queue) -> bool:
    """Tell whether a message is available."""
    return any(position.available for position in queue.positions)


def order(queue: Queue) -> str:
    """Return how many messages are available and what orders the first two, in the words of `choice_of`."""
    first: Position | None = None
    for position in queue.positions:
        if position.available:
            if first is not None:
                return choice_of(first, position)
            first = position
    return choice_of(first, None)


def held(queue: Queue) -> str:
    """Return what holds a message of the queue, the last one that is held; `none` for nothing."""
    found = "none"
    for position in queue.positions:
        found = _WORDS.get(position.state, found)
    return found


def handles_of(state: State, queue: str) -> str:
    """Return the handles on a queue: none, open ones, or closed ones only."""
    found = "none"
    for handle in state.handles.values():
        if handle.queue == queue:
            if handle.is_open:
                return "open"
            found = "closed"
    return found


def cursors_of(state: State, queue: str) -> str:
    """Return the open cursors of a queue: none, unused ones, one that stands at a message, one behind the last."""
    found = "none"
    for cursor in state.cursors.values():
        handle = state.handles.get(cursor.handle)
        if handle is None or handle.queue != queue or cursor.state is CursorState.CLOSED:
            continue
        place = place_of(state, cursor)
        if place in ("parked", "waiting"):
            return "parked"
        found = "on_message" if place != "unused" or found == "on_message" else "unused"
    return found


def subqueues(state: State, name: str) -> str:
    """Return the subqueues of a queue: none, empty ones, one with a message, or only ones that are gone."""
    found = "none"
    for queue in state.queues.values():
        if queue.parent == name:
            if queue.exists and available(queue):
                return "messages"
            found = "empty" if queue.exists or found == "empty" else "gone"
    return found


def journal(state: State, queue: Queue) -> str:
    """Return what is in the journal of a queue, `none` without journaling."""
    kept = state.queues.get(journal_of(queue.name))
    if kept is None:
        return "none"
    return "messages" if available(kept) else "empty"


def elsewhere(state: State, queue: Queue) -> str:
    """Return what is in the other queues, those of the same family and journals apart."""
    found = "none"
    for other in state.queues.values():
        if other.family != queue.family and other.exists and not is_kept(other.name):
            if available(other):
                return "messages"
            found = "empty"
    return found


def copies(state: State, queue: Queue) -> str | None:
    """Return what the sender of an available message asked for, should it get lost; None for a queue of copies."""
    if is_kept(queue.name):
        return None
    found = lasting(queue)
    return "none" if found is None else wished(found.wishes)


def lasting(queue: Queue) -> Position | None:
    """Return the message whose loss leaves something behind: the first available one that asks for something.

    The first available one if none does; None for a queue of copies and without messages.
    """
    if is_kept(queue.name):
        return None
    first: Position | None = None
    for position in queue.positions:
        if position.available:
            if wished(position.wishes) != "none":
                return position
            first = first or position
    return first


def beyond(state: State, queue: Queue) -> str:
    """Return what the open transaction that has done something in the queue has done in others of another family.

    none: there is no such transaction. here_alone: nothing. What it has sent elsewhere comes before what it received.
    """
    found = "none"
    holders = {one.holder for one in queue.positions if one.holder is not None}
    for name in sorted(holders):
        there = [one for other, one in state.held_by(name) if state.queues[other].family != queue.family]
        if any(one.state is PositionState.SENDING for one in there):
            return "sends_elsewhere"
        found = "receives_elsewhere" if there else "here_alone" if found == "none" else found
    return found
