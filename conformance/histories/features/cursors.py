"""Features of opening and closing cursors, and of cancelling a read (MS-MQDMPR 3.1.7.1.1, .2 and .17, 3.2.7)."""

from __future__ import annotations

from conformance.histories.features import reads
from conformance.histories.features.feature import Feature
from conformance.histories.features.views import choice_of, kind_of, place_of, several, view
from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.state import Cursor, Waiter
from conformance.model.tables import CursorState

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
    reads.handle_feature(
        *("MQDMPR-3.1.7.1.1.queue-deleted", "MQDMPR-3.1.7.1.1.opened", "MQDMPR-3.2.7.1.queue-gone"), without=("send",)
    ),
    reads.kind_feature("3.1.7.1.1.opened"),
    Feature("choice", reads.CHOICE.values, reads.choice, ("MQDMPR-3.2.7.1.starts-before-first",)),
    Feature("passed", reads.PASSED.values, reads.passed, ("MQDMPR-3.2.7.1.starts-before-first",)),
    Feature("others", ("none", "same_handle", "other_handle"), _others, ("MQDMPR-3.1.7.1.1.opened",)),
    Feature("closed", ("none", "one", "several"), _closed_before, ("MQDMPR-3.1.7.1.2.closed",)),
    reads.waiting_feature(),
)


def _cursor(state: State, call: Call) -> Cursor | None:
    return state.cursors.get(call.cursor or "")


def _place(state: State, call: Call) -> str | None:
    cursor = _cursor(state, call)
    if cursor is None:
        return None
    if cursor.state is _CLOSED:
        handle = state.handles.get(cursor.handle)
        return "closed" if handle is not None and handle.is_open else "closed_with_handle"
    if cursor.state is CursorState.WAIT_PEEK:
        return "waits_to_peek"
    return "waits_to_receive" if cursor.state is CursorState.WAIT_RECEIVE else place_of(state, cursor)


def _others_of_cursor(state: State, call: Call) -> str | None:
    cursor = _cursor(state, call)
    return None if cursor is None else _siblings(state, cursor.handle, cursor)


def _waiters(state: State, call: Call) -> str | None:
    """Return the other reads that wait: none, on the same handle, or on another handle of the same queue."""
    cursor = _cursor(state, call)
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
    cursor = _cursor(state, call)
    handle = state.handles.get(cursor.handle) if cursor is not None else None
    if handle is None:
        return None
    there = [position for position in state.queues[handle.queue].positions if position.available]
    return choice_of(there[0] if there else None, there[1] if len(there) > 1 else None)


def _kind(state: State, call: Call) -> str | None:
    cursor = _cursor(state, call)
    handle = state.handles.get(cursor.handle) if cursor is not None else None
    return None if handle is None else kind_of(state.queues[handle.queue])


def _gone(state: State, call: Call) -> str | None:
    cursor = _cursor(state, call)
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
    Feature("content", reads.CHOICE.values, _content, (f"{_2}.messages-kept",)),
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
    Feature("passed", reads.PASSED.values, _passed, (f"{_17}.takes-nothing",)),
    Feature(
        "kind", ("plain", "transactional", "subqueue", "journal", "dead_letter"), _waiting_kind, (f"{_17}.cancelled",)
    ),
)
