"""Facts that several features ask of one step: its queue, its cursor, the message it leads to, and what is about it.

The planner asks a dozen features for each of millions of steps, so the facts of a step are found in one pass and kept
until the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from conformance.model import Call, State
from conformance.model.calls import LOOKUPS, READS
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, is_kept
from conformance.model.state import PARKED, START, Cursor, Handle, Position, Queue
from conformance.model.tables import CursorState, PositionState

_AVAILABLE, _DELETED = PositionState.AVAILABLE, PositionState.DELETED
_READ, _CLOSED = CursorState.READ, CursorState.CLOSED
WAITING: Final = (CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE)
UNAVAILABLE: Final[Mapping[PositionState, str]] = {
    PositionState.DELETED: "removed",
    PositionState.SENDING: "sent",
    PositionState.LOCKED: "received",
    PositionState.BEGUN: "begun",
    PositionState.MOVING: "moving",
    PositionState.PURGE_PENDING: "purged",
    PositionState.BEGUN_PURGED: "purged",
    PositionState.MOVING_PURGED: "purged",
}
"""One word for each way in which a message that no read can see has gone."""


class View(NamedTuple):
    """Messages that a call by a handle meets.

    found: the message a read leads to: with a cursor on a message that message, otherwise the next available one.
    next: the available message behind it. before: an available message stands before it. jumped: one that arrived
    later than what the cursor stands at. passed: what became of the nearest message before the found one that no read
    can see: `nothing` for none, `removed` only if all of them are gone.
    """

    handle: Handle | None
    queue: Queue | None
    cursor: Cursor | None
    found: Position | None
    next: Position | None
    before: bool
    jumped: bool
    passed: str


_READS: Final = READS | LOOKUPS
_last: list[tuple[State, Call, View] | None] = [None]


def view(state: State, call: Call) -> View:
    """Return the facts of a call by a handle, perhaps with a cursor."""
    known = _last[0]
    if known is not None and known[1] is call and known[0] is state:
        return known[2]
    found = _viewed(state, call)
    _last[0] = (state, call, found)
    return found


def _viewed(state: State, call: Call) -> View:
    handle = state.handles.get(call.handle or "")
    queue = state.queues.get(handle.queue) if handle is not None else None
    cursor = state.cursors.get(call.cursor) if call.cursor is not None else None
    if queue is None or (call.method in _READS and (queue.outgoing is not None or "," in queue.name)):
        return View(handle, None, cursor, None, None, False, False, "nothing")  # nobody can ask what is in there
    start, current = START, None
    if cursor is not None and cursor.state is not _CLOSED:
        start = PARKED if cursor.ended is not None else cursor.at
        if cursor.state is _READ and cursor.ended is None and call.method != "messages.peek_next":
            current = cursor.message
    found: Position | None = None
    behind: Position | None = None
    before = jumped = False
    passed = "nothing"
    for position in queue.positions:
        if position.state is _AVAILABLE:
            if found is not None:
                behind = position
                break
            if position.message == current or position.rank > start:
                found = position
                continue
            before = True
            jumped = jumped or (start != PARKED and position.rank[1] > start[1])
        elif found is None and (position.state is not _DELETED or passed == "nothing"):
            passed = UNAVAILABLE.get(position.state, "removed")
    return View(handle, queue, cursor, found, behind, before, jumped, passed)


def access_of(state: State, call: Call) -> str:
    """Return the access of the call's handle, or why it cannot be used: `closed`, `deleted`, `recreated`."""
    handle = state.handles.get(call.handle or "")
    if handle is None:
        return "closed"
    if not handle.is_open:
        return "closed"
    if handle.lost:
        return "recreated" if state.queues[handle.queue].exists else "deleted"
    return handle.access


def kind_of(queue: Queue) -> str:
    """Return the kind of a queue: plain, transactional, subqueue, journal or dead_letter."""
    name = queue.name
    if queue.parent is not None:
        return "subqueue"
    if is_kept(name):
        return "dead_letter" if name in (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL) else "journal"
    return "transactional" if queue.transactional else "plain"


def cursor_of(state: State, call: Call) -> str:
    """Return what the call's cursor stands at; `none` for a call without one."""
    if call.cursor is None:
        return "none"
    cursor = state.cursors.get(call.cursor)
    if cursor is None or cursor.state is _CLOSED:
        return "closed"
    return place_of(state, cursor)


def place_of(state: State, cursor: Cursor) -> str:
    """Return what an open cursor stands at.

    unused: it was not read with. available, removed, locked: the message it has peeked, as it is now. behind: where it
    took a message. parked: its last wait ended without a message. waiting: a read waits with it.
    """
    if cursor.state in WAITING:
        return "waiting"
    if cursor.ended is not None:
        return "parked"
    if cursor.state is _READ:
        handle = state.handles.get(cursor.handle)
        queue = state.queues.get(handle.queue) if handle is not None else None
        position = queue.find(cursor.message or "") if queue is not None else None
        if position is None or position.state is _DELETED:
            return "removed"
        return "available" if position.state is _AVAILABLE else "locked"
    return "unused" if cursor.at == START else "behind"


def waiting_on(state: State, queue: str) -> str:
    """Return which reads wait on a queue: none, peek, receive, or several."""
    found = "none"
    for waiter in state.waiters:
        if waiter.queue == queue:
            if found != "none":
                return "several"
            found = "receive" if waiter.destructive else "peek"
    return found


_RETURNED = (
    "MQDMPR-3.1.4.5.receives-return",
    "MQDMPR-3.1.4.5.move",
    "MQDMPR-3.1.7.1.12.restores",
    "MQDMPR-3.1.7.1.12.not-begun-ends",
)
_MOVED = ("MQDMPR-3.1.7.1.16.moved", "MQDMPR-3.1.4.4.move")
_SURVIVED = (
    "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.4.4.durable",
    "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
    "MQDMPR-3.1.1.12.express-may-survive",
    "MQMQ-2.2.19.2.transactional-recoverable",
    "MQDMPR-3.1.1.2.system-queues-kept",
)
_SEEN = (
    "MQDMPR-3.1.7.1.15.keeps",
    "MQDMPR-3.1.7.1.14.keeps",
    "MQDMPR-3.1.7.1.13.peek-keeps",
    "MQDMPR-3.1.7.1.6.messages-kept",
    "MQDMPR-3.1.7.1.6.deleted-queue",
    "MQDMPR-3.1.7.1.7.other-queues-kept",
)
_ARRIVALS: Final = {
    **dict.fromkeys(_RETURNED, "returned"),
    **dict.fromkeys(_MOVED, "moved"),
    **dict.fromkeys(_SURVIVED, "survived"),
    **dict.fromkeys(_SEEN, "seen"),
}
ARRIVALS: Final = ("sent", "seen", "returned", "moved", "survived")
"""How a message came to be available: sent (or made as a copy), seen by a peek since, returned by an abort or by the
end of a begun receive, moved, or kept through a restart."""


def arrival_of(position: Position) -> str:
    """Return how a message came to be available, see `ARRIVALS`. The model keeps it as what its loss would break."""
    return _ARRIVALS.get(position.claim) or ("moved" if position.moved else "sent")


CHOICES: Final = ("nothing", "only", "equal", "lower", "overtaking")


def choice_of(found: Position | None, behind: Position | None) -> str:
    """Return what else a read could give instead of the found message: the next available one behind it.

    equal: one of the same priority. lower: one of a lower priority that arrived later. overtaking: one of a lower
    priority that arrived earlier.
    """
    if found is None:
        return "nothing"
    if behind is None:
        return "only"
    if behind.rank[0] == found.rank[0]:
        return "equal"
    return "lower" if behind.rank[1] > found.rank[1] else "overtaking"


def several(number: int) -> str:
    """Return `none`, `one` or `several`."""
    return "none" if not number else "one" if number == 1 else "several"
