"""Features of reads, of opening and closing cursors, and of cancelling a wait (MS-MQDMPR 3.1.7.1, 3.1.7.3, 3.2.7)."""

from __future__ import annotations

from conformance.histories.features.facts import (
    ARRIVALS,
    CHOICES,
    access_of,
    arrival_of,
    choice_of,
    cursor_of,
    journaling,
    journaling_feature,
    kind_of,
    place_of,
    several,
    view,
    waiting_on,
    wished,
)
from conformance.histories.features.feature import Feature, among
from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.journals import is_kept, journal_of
from conformance.model.message_properties import fits
from conformance.model.state import Cursor, Position, Queue, Waiter
from conformance.model.tables import CursorState

ACCESS = ("MQDMPR-3.1.1.17.receive-access", "MQDMPR-3.1.1.17.send-access-no-receive")
_KINDS = ("plain", "transactional", "subqueue", "journal", "dead_letter")
CURSORS = ("unused", "available", "removed", "locked", "behind", "parked", "closed")
_PASSED = ("nothing", "removed", "received", "sent", "begun", "purged", "moving")


def kind(state: State, call: Call) -> str | None:
    """Return the kind of the queue of the call's handle."""
    queue = view(state, call).queue
    return None if queue is None else kind_of(queue)


def _time_out(state: State, call: Call) -> str:
    if call.timeout_ms == 0:
        return "none"
    if call.timeout_ms == INFINITE:
        return "infinite"
    return "below_second" if call.timeout_ms < 1000 else "seconds"


def transaction(state: State, call: Call) -> str | None:
    """Return the state of the call's transaction: none, fresh (it holds nothing yet), working or ended."""
    if call.transaction is None:
        return "none"
    found = state.transactions.get(call.transaction)
    if found is None or found.ended == "restart" or (found.prepared and found.ended is None):
        return None  # no section says what more work in a prepared transaction does
    if found.ended is not None:
        return "ended"
    return "working" if any(True for _ in state.held_by(found.name)) else "fresh"


def _cursor(state: State, call: Call) -> str | None:
    found = cursor_of(state, call)
    if found == "waiting" or (found == "none" and call.method == "messages.peek_next"):
        return None
    return found


def _before(state: State, call: Call) -> str | None:
    seen = view(state, call)
    if seen.cursor is None or cursor_of(state, call) in ("unused", "closed"):
        return None
    return "jumped" if seen.jumped else "older" if seen.before else "nothing"


def choice(state: State, call: Call) -> str | None:
    """Return what stands behind the message that the call leads to."""
    seen = view(state, call)
    return None if seen.queue is None else choice_of(seen.found, seen.next)


def passed(state: State, call: Call) -> str | None:
    """Return what became of the nearest message before the found one that no read can see."""
    seen = view(state, call)
    return None if seen.queue is None else seen.passed


def waiting(state: State, call: Call) -> str | None:
    """Return the reads that wait on the queue of the call's handle."""
    seen = view(state, call)
    return None if seen.queue is None else waiting_on(state, seen.queue.name) if state.waiters else "none"


def arrival(state: State, call: Call) -> str | None:
    """Return how the message that the call leads to came to be available."""
    found = view(state, call).found
    return None if found is None or found.doubtful else arrival_of(found)


def other_waiting_reads(state: State, call: Call) -> str | None:
    """Return who else is there: nobody, another handle that reads, or another cursor and where that one stands."""
    seen = view(state, call)
    if seen.handle is None:
        return None
    name, found = seen.handle.queue, "nobody"
    for cursor in state.cursors.values():
        if cursor is seen.cursor or cursor.state is CursorState.CLOSED:
            continue
        handle = state.handles.get(cursor.handle)
        if handle is not None and handle.queue == name and not handle.lost:
            if seen.found is not None and cursor.message == seen.found.message:
                return "cursor_there"
            found = "cursor_elsewhere"
    if found != "nobody":
        return found
    for other in state.handles.values():
        if other.queue == name and other is not seen.handle and other.is_open and other.access in ("receive", "peek"):
            return "handle"
    return found


def switched(state: State, call: Call) -> str | None:
    """Return whether the queue journals, and whether it did when the message came that the call leads to."""
    seen = view(state, call)
    return None if seen.found is None or seen.queue is None else journaling(seen.queue, seen.found)


def related(state: State, call: Call) -> str | None:
    """Return whether the queue's family, itself apart, has messages: its parent, or its subqueues."""
    queue = view(state, call).queue
    if queue is None or is_kept(queue.name):
        return None
    rest = (other for other in state.queues.values() if other is not queue and other.family == queue.family)
    there = any(other.exists and any(position.available for position in other.positions) for other in rest)
    return "messages" if there else "none"


def copies_of(state: State, queue: Queue, position: Position) -> str | None:
    """Return what a receive of this message leaves behind: a copy in the journal, an acknowledgment, a dead letter.

    None for a copy, which leaves nothing behind, and where it is not known whether the journal has room for one.
    """
    if is_kept(queue.name):
        return None
    attributes, wishes = queue.attributes, position.wishes
    if attributes is not None and attributes.journaling:
        journal = state.queues.get(journal_of(queue.name))
        if attributes.journal_quota is None or journal is None:
            return "journal"
        room = fits(state, [journal], position, attributes.journal_quota)
        return None if room is None else "journal" if room else "journal_full"
    return wished(wishes)


def copies(state: State, call: Call) -> str | None:
    """Return what a receive of the message that the call leads to leaves behind."""
    seen = view(state, call)
    return None if seen.found is None or seen.queue is None else copies_of(state, seen.queue, seen.found)


def kind_feature(section: str, *values: str) -> Feature:
    """Return the feature of the kind of queue, with these values alone if any are given."""
    return Feature(
        "kind",
        values or _KINDS,
        kind,
        (f"MQDMPR-{section}", "MQDMPR-3.1.7.1.3.journal-queue", "MQMQ-2.1.2.subqueue"),
    )


def handle_feature(*steps: str, without: tuple[str, ...] = ()) -> Feature:
    """Return the feature of the handle: its access, or why it cannot be used. without: what no section describes."""
    every = ("receive", "peek", "send", "move", "closed", "deleted", "recreated")
    values = tuple(value for value in every if value not in without)
    of = among(values, access_of) if without else access_of
    return Feature("handle", values, of, ("MQDMPR-3.1.7.1.6.handle-closed", *steps))


def waiting_feature(*steps: str) -> Feature:
    """Return the feature of the reads that wait on the queue already."""
    of = tuple(f"MQDMPR-3.1.7.2.2.{step}" for step in ("every-handle", "fifo-in-handle", "one-destructive"))
    return Feature("waiting", ("none", "peek", "receive", "several"), waiting, (*of, *steps))


CHOICE = Feature(
    "choice",
    CHOICES,
    choice,
    (
        "MQDMPR-3.1.1.2.arrival-order",
        "MQDMPR-3.1.1.2.priority-before-arrival",
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
        "MQDMPR-3.1.7.3.2.forward",
        "MQDMPR-3.1.7.3.2.forward-test",
    ),
)
PASSED = Feature(
    "passed",
    _PASSED,
    passed,
    (
        "MQDMPR-3.1.7.3.2.forward",
        "MQDMPR-3.1.7.3.2.allow-peek-when-locked",
        "MQDMPR-3.1.7.1.9.uncommitted-locked",
        "MQDMPR-3.1.7.1.10.transaction-locks",
        "MQDMPR-3.1.7.1.11.locks",
        "MQDMPR-3.1.7.1.16.transaction-locks",
    ),
)
ARRIVAL = Feature(
    "arrival",
    ARRIVALS,
    arrival,
    (
        "MQDMPR-3.1.7.1.9.available",
        "MQDMPR-3.1.7.1.15.keeps",
        "MQDMPR-3.1.4.5.receives-return",
        "MQDMPR-3.1.7.1.12.restores",
        "MQDMPR-3.1.7.1.16.moved",
        "MQDMPR-3.1.1.12.recoverable-survives",
    ),
)
BEFORE = Feature(
    "before",
    ("nothing", "older", "jumped"),
    _before,
    ("MQDMPR-3.2.7.3.not-before-cursor", "MQDMPR-3.1.1.2.priority-before-arrival", "MQDMPR-3.1.7.3.2.forward-inside"),
)
OTHER_READS = Feature(
    "others",
    ("nobody", "handle", "cursor_there", "cursor_elsewhere"),
    other_waiting_reads,
    (
        "MQDMPR-3.1.7.1.5.receive-then-receive",
        "MQDMPR-3.2.7.2.current-unavailable",
        "MQDMPR-3.2.7.4.current-unavailable",
        "MQDMPR-3.2.7.3.skips-unavailable",
        "MQDMPR-3.1.1.11.next-of-removed",
    ),
)
COPIES = Feature(
    "copies",
    ("none", "journal", "journal_full", "acknowledged", "acknowledged_twice", "dead_letter", "expires"),
    copies,
    (
        "MQMQ-2.3.1.4.journal-copy",
        "MQDMPR-3.1.1.2.journal-quota",
        "MQDMPR-3.1.1.12.ack-pos-receive",
        "MQQB-3.1.7.15.requested",
        "MQQB-3.1.7.15.correlation",
        "MQDMPR-3.1.1.12.negative-journaling",
        "MQDMPR-3.1.2.4.expires",
    ),
)
RELATED = Feature("related", ("none", "messages"), related, ("MQMQ-2.1.2.subqueue", "MQDMPR-3.1.7.3.2.forward"))
TRANSACTION = Feature(
    "transaction",
    ("none", "fresh", "working", "ended"),
    transaction,
    (
        "MQDMPR-3.1.7.1.10.in-transaction",
        "MQDMPR-3.1.7.1.10.outside-transaction",
        "MQDMPR-3.1.7.1.10.one-phase",
        "MQDMPR-3.1.4.4.transaction-ends",
        "MQDMPR-3.1.4.5.transaction-ends",
    ),
)


def _time_out_feature(section: str, *steps: str) -> Feature:
    of = (f"MQDMPR-{section}.{step}" for step in steps)
    common = ("MQDMPR-3.1.7.3.1.no-time", "MQDMPR-3.1.7.3.1.time-left", "MQDMPR-3.1.2.3.infinite")
    return Feature("time_out", ("none", "below_second", "seconds", "infinite"), _time_out, (*of, *common))


def _cursor_feature(event: str, *steps: str, needed: bool = False) -> Feature:
    return Feature("cursor", CURSORS if needed else ("none", *CURSORS), _cursor, (event, *steps))


_PEEK = "MQDMPR-3.1.7.1.15"
_DEQUEUE = "MQDMPR-3.1.7.1.10"
_NEXT = "MQDMPR-3.1.7.1.14"
DEQUEUE_CURSOR = _cursor_feature(
    "MQDMPR-3.2.7.4.by-state",
    f"{_DEQUEUE}.with-cursor",
    f"{_DEQUEUE}.without-cursor",
    f"{_DEQUEUE}.cursor-succeeded",
    f"{_DEQUEUE}.message-already-received",
    "MQDMPR-3.2.7.4.unread-seeks",
    "MQDMPR-3.2.7.4.nothing-there",
    "MQDMPR-3.2.7.4.found",
    "MQDMPR-3.2.7.4.read-takes-current",
    "MQDMPR-3.2.7.4.current-available",
    "MQDMPR-3.2.7.4.current-unavailable",
    "MQDMPR-3.1.7.1.6.cursors-closed",
)
DEQUEUE_TIME_OUT = _time_out_feature(
    "3.1.7.1.10",
    "no-wait",
    "message-not-found",
    "cursor-waits",
    "cursor-wait-satisfied",
    "cursor-wait-failed",
    "io-timeout",
    "wakes",
)
NO_WAIT_TEST = ("MQDMPR-3.2.7.4.no-wait-test", "MQDMPR-3.2.7.6.receive-waiting", "MQDMPR-3.2.7.5.receive-waiting")

RECEIVE = (
    handle_feature(f"{_DEQUEUE}.queue-not-available", "MQDMPR-3.1.7.3.1.queue-gone", *ACCESS),
    kind_feature("3.1.7.1.10.queue-variable"),
    Feature("time_out", DEQUEUE_TIME_OUT.values, _time_out, (*DEQUEUE_TIME_OUT.steps, *NO_WAIT_TEST)),
    TRANSACTION,
    DEQUEUE_CURSOR,
    BEFORE,
    CHOICE,
    PASSED,
    waiting_feature(f"{_DEQUEUE}.wakes"),
    ARRIVAL,
    COPIES,
    journaling_feature(switched),
    OTHER_READS,
    RELATED,
)
PEEK = (
    handle_feature(f"{_PEEK}.queue-not-available", "MQDMPR-3.1.7.3.1.queue-gone", *ACCESS),
    kind_feature("3.1.7.1.15.keeps"),
    _time_out_feature(
        "3.1.7.1.15", "no-wait", "cursor-waits", "cursor-wait-satisfied", "cursor-wait-failed", "io-timeout", "wakes"
    ),
    _cursor_feature(
        "MQDMPR-3.2.7.2.by-state",
        f"{_PEEK}.with-cursor",
        f"{_PEEK}.without-cursor",
        f"{_PEEK}.cursor-succeeded",
        f"{_PEEK}.message-already-received",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.2.7.2.nothing-there",
        "MQDMPR-3.2.7.2.found",
        "MQDMPR-3.2.7.2.read-stays",
        "MQDMPR-3.2.7.2.current-available",
        "MQDMPR-3.2.7.2.current-unavailable",
        "MQDMPR-3.2.7.5.peek-waiting",
        "MQDMPR-3.1.7.1.6.cursors-closed",
    ),
    BEFORE,
    Feature("choice", CHOICE.values, choice, (*CHOICE.steps, f"{_PEEK}.found")),
    PASSED,
    waiting_feature(f"{_PEEK}.releases-next-reader"),
    ARRIVAL,
    OTHER_READS,
    RELATED,
)
PEEK_NEXT = (
    handle_feature(f"{_NEXT}.queue-not-available", "MQDMPR-3.1.7.3.1.queue-gone", *ACCESS),
    kind_feature("3.1.7.1.14.keeps"),
    _time_out_feature("3.1.7.1.14", "waits", "wait-satisfied", "io-timeout"),
    _cursor_feature(
        "MQDMPR-3.2.7.3.by-state",
        f"{_NEXT}.illegal-cursor-action",
        "MQDMPR-3.2.7.3.illegal-cursor-action",
        "MQDMPR-3.2.7.3.read",
        "MQDMPR-3.1.7.1.6.cursors-closed",
        "MQDMPR-3.1.1.11.next-of-removed",
        needed=True,
    ),
    BEFORE,
    Feature(
        "choice",
        CHOICE.values,
        choice,
        (*CHOICE.steps, f"{_NEXT}.succeeded", "MQDMPR-3.2.7.3.nothing-behind", "MQDMPR-3.2.7.3.found"),
    ),
    PASSED,
    waiting_feature(),
    ARRIVAL,
    OTHER_READS,
    RELATED,
)

_CLOSED = CursorState.CLOSED


def _siblings(state: State, handle: str, cursor: Cursor | None) -> str:
    """Return the other open cursors: none, of the same handle, or of another handle on the same queue."""
    known = state.handles.get(handle)
    found = "none"
    for other in state.cursors.values():
        if other is cursor or other.state is _CLOSED:
            continue
        if other.handle == handle:
            return "same_handle"
        its = state.handles.get(other.handle)
        if known is not None and its is not None and its.queue == known.queue:
            found = "other_handle"
    return found


def _others(state: State, call: Call) -> str | None:
    return _siblings(state, call.handle, None) if call.handle is not None else None


def _closed_before(state: State, call: Call) -> str:
    return several(sum(one.handle == call.handle and one.state is _CLOSED for one in state.cursors.values()))


OPEN = (
    handle_feature(
        *("MQDMPR-3.1.7.1.1.queue-deleted", "MQDMPR-3.1.7.1.1.opened", "MQDMPR-3.2.7.1.queue-gone"), without=("send",)
    ),
    kind_feature("3.1.7.1.1.opened"),
    Feature("choice", CHOICE.values, choice, ("MQDMPR-3.2.7.1.starts-before-first",)),
    Feature("passed", PASSED.values, passed, ("MQDMPR-3.2.7.1.starts-before-first",)),
    Feature("others", ("none", "same_handle", "other_handle"), _others, ("MQDMPR-3.1.7.1.1.opened",)),
    Feature("closed", ("none", "one", "several"), _closed_before, ("MQDMPR-3.1.7.1.2.closed",)),
    waiting_feature(),
)


def _cursor_state(state: State, call: Call) -> Cursor | None:
    return state.cursors.get(call.cursor or "")


def _place(state: State, call: Call) -> str | None:
    cursor = _cursor_state(state, call)
    if cursor is None:
        return None
    if cursor.state is _CLOSED:
        handle = state.handles.get(cursor.handle)
        return "closed" if handle is not None and handle.is_open else "closed_with_handle"
    if cursor.state is CursorState.WAIT_PEEK:
        return "waits_to_peek"
    return "waits_to_receive" if cursor.state is CursorState.WAIT_RECEIVE else place_of(state, cursor)


def _others_of_cursor(state: State, call: Call) -> str | None:
    cursor = _cursor_state(state, call)
    return None if cursor is None else _siblings(state, cursor.handle, cursor)


def _waiters(state: State, call: Call) -> str | None:
    """Return the other reads that wait: none, on the same handle, or on another handle of the same queue."""
    cursor = _cursor_state(state, call)
    handle = state.handles.get(cursor.handle) if cursor is not None else None
    if cursor is None or handle is None:
        return None
    return _waiting_beside(state, handle.name, handle.queue, lambda waiter: waiter.cursor == cursor.name)


def _waiting_beside(state: State, handle: str, queue: str, own: object) -> str:
    found = "none"
    for waiter in state.waiters:
        if callable(own) and own(waiter):
            continue
        if waiter.handle == handle:
            return "same_handle"
        if waiter.queue == queue:
            found = "other_handle"
    return found


def _content(state: State, call: Call) -> str | None:
    cursor = _cursor_state(state, call)
    handle = state.handles.get(cursor.handle) if cursor is not None else None
    if handle is None:
        return None
    there = [position for position in state.queues[handle.queue].positions if position.available]
    return choice_of(there[0] if there else None, there[1] if len(there) > 1 else None)


def _kind(state: State, call: Call) -> str | None:
    cursor = _cursor_state(state, call)
    handle = state.handles.get(cursor.handle) if cursor is not None else None
    return None if handle is None else kind_of(state.queues[handle.queue])


def _gone(state: State, call: Call) -> str | None:
    cursor = _cursor_state(state, call)
    handle = state.handles.get(cursor.handle) if cursor is not None else None
    return None if handle is None else "deleted" if handle.lost else "there"


_2 = "MQDMPR-3.1.7.1.2"
CLOSE = (
    Feature(
        "cursor",
        (
            *("unused", "available", "removed", "locked", "behind", "parked"),
            *("waits_to_peek", "waits_to_receive", "closed", "closed_with_handle"),
        ),
        _place,
        (f"{_2}.messages-kept", f"{_2}.pending-read-ends", f"{_2}.closed", "MQDMPR-3.1.7.1.6.cursors-closed"),
    ),
    Feature("others", ("none", "same_handle", "other_handle"), _others_of_cursor, (f"{_2}.own-reads-only",)),
    Feature("waiting", ("none", "same_handle", "other_handle"), _waiters, (f"{_2}.own-reads-only",)),
    Feature("content", CHOICE.values, _content, (f"{_2}.messages-kept",)),
    Feature("kind", ("plain", "transactional", "subqueue", "journal", "dead_letter"), _kind, (f"{_2}.messages-kept",)),
    Feature("queue", ("there", "deleted"), _gone, ("MQDMPR-3.1.7.1.4.handle-invalidated",)),
)


def _waiter(state: State, call: Call) -> Waiter | None:
    return next((waiter for waiter in state.waiters if waiter.name == call.request), None)


def _read(state: State, call: Call) -> str | None:
    if call.request not in state.waited:
        return None
    waiter = _waiter(state, call)
    if waiter is None:
        return "over"
    return {
        "messages.receive": "receive",
        "messages.receive_begin": "receive_begin",
        "messages.peek": "peek",
    }.get(waiter.method, "peek_next")


def _by(state: State, call: Call) -> str | None:
    waiter = _waiter(state, call)
    if waiter is None:
        return None
    return "cursor" if waiter.cursor is not None else "transaction" if waiter.transaction is not None else "handle"


def _limit(state: State, call: Call) -> str | None:
    waiter = _waiter(state, call)
    if waiter is None:
        return None
    return "infinite" if waiter.deadline is None or waiter.deadline == INFINITE else "limited"


def _beside(state: State, call: Call) -> str | None:
    waiter = _waiter(state, call)
    if waiter is None:
        return "other_queue" if state.waiters else "none"
    found = "none"
    before = True
    for other in state.waiters:
        if other is waiter:
            before = False
        elif other.handle == waiter.handle:
            return "before_it" if before else "behind_it"
        else:
            found = "other_handle" if other.queue == waiter.queue else "other_queue"
    return found


def _passed(state: State, call: Call) -> str | None:
    waiter = _waiter(state, call)
    if waiter is None:
        return None
    return view(state, Call("messages.peek", handle=waiter.handle)).passed


def _waiting_kind(state: State, call: Call) -> str | None:
    waiter = _waiter(state, call)
    return None if waiter is None else kind_of(state.queues[waiter.queue])


_17 = "MQDMPR-3.1.7.1.17"
CANCEL = (
    Feature(
        "read",
        ("receive", "receive_begin", "peek", "peek_next", "over"),
        _read,
        (
            f"{_17}.every-handle",
            f"{_17}.every-read",
            f"{_17}.others-kept",
            "MQDMPR-3.1.7.1.15.cursor-wait-no-tag",
            f"{_17}.not-found",
            f"{_17}.cancelled",
            "MQDMPR-3.1.7.3.1.stopped",
        ),
    ),
    Feature("by", ("handle", "cursor", "transaction"), _by, (f"{_17}.takes-nothing", "MQDMPR-3.2.7.6.receive-waiting")),
    Feature("limit", ("limited", "infinite"), _limit, ("MQDMPR-3.1.2.3.infinite", "MQDMPR-3.1.7.3.1.blocks")),
    Feature(
        "beside",
        ("none", "before_it", "behind_it", "other_handle", "other_queue"),
        _beside,
        (f"{_17}.others-kept", "MQDMPR-3.1.7.3.1.satisfied"),
    ),
    Feature("passed", PASSED.values, _passed, (f"{_17}.takes-nothing",)),
    Feature(
        "kind", ("plain", "transactional", "subqueue", "journal", "dead_letter"), _waiting_kind, (f"{_17}.cancelled",)
    ),
)
