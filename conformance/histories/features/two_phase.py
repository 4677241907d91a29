"""Features of receives in two phases (MS-MQDMPR 3.1.7.1.11 and 3.1.7.1.12)."""

from __future__ import annotations

from conformance.histories.features import reads
from conformance.histories.features.asked import asked, asked_feature
from conformance.histories.features.feature import Feature
from conformance.histories.features.since import below, journaling, journaling_feature, quota_feature
from conformance.histories.features.views import kind_of, place_of, several, waiting_on
from conformance.model import Call, State
from conformance.model.journals import is_kept
from conformance.model.state import BegunRead, Position, Queue
from conformance.model.tables import CursorState, PositionState

_BEGUN = PositionState.BEGUN
_ENDED = {PositionState.AVAILABLE: "ended_kept", PositionState.DELETED: "ended_gone"}


def _begun(state: State, call: Call) -> str:
    return several(sum(not read.ended for read in state.begun.values())) if state.begun else "none"


def _read(state: State, call: Call) -> tuple[BegunRead, Queue, Position] | None:
    read = state.begun.get(call.read or "")
    queue = state.queues.get(read.queue) if read is not None else None
    position = queue.find(read.message) if read is not None and queue is not None else None
    return None if read is None or queue is None or position is None else (read, queue, position)


def _standing(state: State, call: Call) -> str | None:
    found = _read(state, call)
    if found is None:
        return None
    read, queue, position = found
    handle = state.handles.get(read.handle)
    if handle is None or not handle.is_open:
        return None  # no section says what ends a receive whose handle is closed
    if handle.lost:
        return "queue_recreated" if queue.exists else "queue_deleted"
    if read.ended:
        return _ENDED.get(position.state)
    return "begun" if position.state is _BEGUN else "purged"


def _acknowledge(state: State, call: Call) -> str:
    return "delete" if call.acknowledge else "keep"


def _place(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else place_in(found[1], found[2])


def place_in(queue: Queue, position: Position) -> str:
    """Return where a message stands among the available ones: alone, front, between or end."""
    before = behind = False
    for other in queue.positions:
        if other.available and other is not position:
            before = before or other.rank < position.rank
            behind = behind or other.rank > position.rank
    return ("between" if behind else "end") if before else "front" if behind else "alone"


def _waiting(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else waiting_on(state, found[1].name)


def cursors_at(state: State, queue: str, messages: tuple[str, ...]) -> str:
    """Return whether a cursor of the queue stands at one of the messages: none, elsewhere, there or parked."""
    found = "none"
    for cursor in state.cursors.values():
        handle = state.handles.get(cursor.handle)
        if handle is None or handle.queue != queue or cursor.state is CursorState.CLOSED:
            continue
        if cursor.message in messages and cursor.ended is None:
            return "there"
        if place_of(state, cursor) == "parked":
            found = "parked"
        elif found == "none":
            found = "elsewhere"
    return found


def _cursors(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else cursors_at(state, found[1].name, (found[2].message,))


def _others(state: State, call: Call) -> str | None:
    found = _read(state, call)
    if found is None:
        return None
    rest = [read for read in state.begun.values() if not read.ended and read is not found[0]]
    if not rest:
        return "none"
    return "same_queue" if any(read.queue == found[1].name for read in rest) else "other_queue"


def _copies(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else reads.copies_of(state, found[1], found[2])


def _asked(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None or is_kept(found[1].name) else asked(state, found[2])


def _journaling(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else journaling(found[1], found[2])


def _quota(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else below(state, found[1:2])


def _kind(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else kind_of(found[1])


_END = "MQDMPR-3.1.7.1.12"
_BEGIN = "MQDMPR-3.1.7.1.11"
RECEIVE_BEGIN = (
    reads.handle_feature(f"{_BEGIN}.queue-not-available", *reads.ACCESS),
    reads.kind_feature("3.1.7.1.11.locks"),
    Feature(
        "time_out",
        reads.DEQUEUE_TIME_OUT.values,
        reads.DEQUEUE_TIME_OUT.of,
        (f"{_BEGIN}.io-timeout", *reads.DEQUEUE_TIME_OUT.steps),
    ),
    reads.DEQUEUE_CURSOR,
    reads.BEFORE,
    reads.CHOICE,
    reads.PASSED,
    reads.waiting_feature("MQDMPR-3.1.7.1.10.two-phase"),
    reads.ARRIVAL,
    Feature(
        "begun",
        ("none", "one", "several"),
        _begun,
        (f"{_BEGIN}.locks", "MQDMPR-3.1.7.1.10.two-phase", "MQDMPR-3.1.7.1.10.two-phase-locks"),
    ),
    reads.OTHERS,
)
RECEIVE_END = (
    Feature("acknowledge", ("keep", "delete"), _acknowledge, (f"{_END}.deletes", f"{_END}.kept", f"{_END}.restores")),
    Feature(
        "read",
        ("begun", "purged", "ended_kept", "ended_gone", "queue_deleted", "queue_recreated"),
        _standing,
        (f"{_END}.queue-not-available", f"{_END}.not-begun", f"{_END}.purged", f"{_END}.no-resurrection"),
    ),
    Feature(
        "place", ("alone", "front", "between", "end"), _place, (f"{_END}.restores", "MQDMPR-3.1.1.2.arrival-order")
    ),
    Feature("waiting", ("none", "peek", "receive", "several"), _waiting, ("MQDMPR-3.1.7.2.2.every-handle",)),
    Feature(
        "cursors",
        ("none", "elsewhere", "there", "parked"),
        _cursors,
        ("MQDMPR-3.2.7.4.current-unavailable", "MQDMPR-3.2.7.5.peek-waiting"),
    ),
    Feature("others", ("none", "same_queue", "other_queue"), _others, (f"{_END}.not-begun",)),
    Feature("copies", reads.COPIES.values, _copies, reads.COPIES.steps),
    journaling_feature(_journaling, f"{_END}.deletes"),
    quota_feature(_quota, f"{_END}.restores"),
    asked_feature(_asked, f"{_END}.deletes", f"{_END}.kept"),
    Feature("kind", ("plain", "transactional", "subqueue", "journal", "dead_letter"), _kind, (f"{_END}.restores",)),
)
