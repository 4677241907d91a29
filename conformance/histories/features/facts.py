"""Facts that features ask of a step: its queue, cursor and message, the queue's contents, acknowledgments asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.calls import LOOKUPS, READS
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, Wishes, is_kept, journal_of
from conformance.model.message_properties import used
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


ASKED: Final = (
    *("none", "positive_arrival", "positive_receive", "negative_arrival", "negative_receive"),
    *("positives", "negatives", "both_signs"),
)
"""No acknowledgment, one of a kind, two of one sign, or some of both signs."""


def kinds(acks: Collection[str]) -> str:
    """Return one of `ASKED` for kinds of acknowledgment."""
    if not acks:
        return "none"
    if len(acks) == 1:
        return next(iter(acks))
    signs = {one.partition("_")[0] for one in acks}
    return f"{signs.pop()}s" if len(signs) == 1 else "both_signs"


def wished(wishes: Wishes | None) -> str:
    """Return what a loss of the message leaves behind: nothing, one acknowledgment or two, a dead letter, or time."""
    if wishes is None:
        return "none"
    if wishes.admin is not None and wishes.acks:
        return "acknowledged_twice" if asked_twice(wishes.acks) else "acknowledged"
    return "dead_letter" if wishes.dead_letter else "expires" if wishes.live_ms is not None else "none"


def asked_twice(acks: Collection[str]) -> bool:
    """Tell whether two acknowledgments of one sign are asked for: the one that is due must come, and come once."""
    return any(f"{sign}_arrival" in acks and f"{sign}_receive" in acks for sign in ("positive", "negative"))


def asked(state: State, position: Position | None) -> str | None:
    """Return which acknowledgments a message asks for; None without a message or where they have no queue to go to."""
    if position is None:
        return None
    wishes = position.wishes
    if wishes is None or wishes.admin is None or not wishes.acks:
        return "none"
    queue = state.queues.get(wishes.admin)
    return kinds(wishes.acks) if queue is not None and queue.exists else None


def asked_feature(of: Callable[[State, Call], str | None], *steps: str) -> Feature:
    """Return the feature of the acknowledgments that the message asks for. steps: where a report is due, or none."""
    words = ("none", "pos-arrival", "pos-receive", "neg-arrival", "neg-receive")
    each = tuple(f"MQDMPR-3.1.1.12.ack-{word}" for word in words)
    return Feature("asked", ASKED, of, (*each, "MQQB-3.1.7.15.requested", *steps))


JOURNALING: Final = ("off", "on", "switched_on", "switched_off")


def journaling(queue: Queue, position: Position) -> str | None:
    """Return whether the queue journals, and whether that was switched since the message came; None for a copy."""
    if is_kept(queue.name):
        return None
    now = queue.attributes is not None and queue.attributes.journaling
    switched = sum(when >= position.rank[1] for when in queue.switches) % 2
    return f"switched_{'on' if now else 'off'}" if switched else "on" if now else "off"


def below(state: State, queues: Iterable[Queue]) -> str:
    """Return whether the quota of one of the queues is below what is there: it was lowered since."""
    for queue in queues:
        quota = queue.attributes.quota if queue.attributes is not None else None
        if quota is not None and used(state, [queue])[0] > quota:
            return "below"
    return "within"


def journaling_feature(of: Callable[[State, Call], str | None], *steps: str) -> Feature:
    """Return the feature of journaling now, and when the message came."""
    return Feature(
        "journaling",
        JOURNALING,
        of,
        ("MQDMPR-3.1.1.2.journaling", "MQMQ-2.3.1.4.journal-copy", "MQMQ-2.3.1.4.journal-none", *steps),
    )


def quota_feature(of: Callable[[State, Call], str | None], *steps: str) -> Feature:
    """Return the feature of a quota that was lowered below what is in the queue."""
    return Feature("quota", ("within", "below"), of, ("MQDMPR-3.1.1.2.quota", "MQDMPR-3.1.7.1.9.queue-quota", *steps))


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


def held_by(queue: Queue) -> str:
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
