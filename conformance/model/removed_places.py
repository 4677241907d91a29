"""Note where cursors go on whose message is removed: readings differ on it (MS-MQDMPR 3.1.1.11, 3.1.7.2.1)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.model.expected import Assumption
from conformance.model.rules import PARKED, REMOVED_PLACE, Rules
from conformance.model.state import PARKED as END
from conformance.model.state import START, Cursor, Queue, Rank, State
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace

_GONE = (PositionState.DELETED, PositionState.ABSENT)


def with_successors(before: State, after: State) -> State:
    """Return the state in which each cursor whose message this call removed knows the message that was next to it."""
    if not after.cursors or after.queues is before.queues:
        return after
    for cursor in after.cursors.values():
        handle, place = after.handles.get(cursor.handle), cursor.successor or cursor.at
        if handle is None or cursor.state is CursorState.CLOSED:  # its handle ended with the manager
            continue
        name = handle.queue
        queue, old = after.queues[name], before.queues.get(name)
        if queue is old or not _gone(queue, place) or _gone(old, place):
            continue
        behind = (item.rank for item in queue.positions if item.rank > place and item.state not in _GONE)
        after = after.put(replace(cursor, successor=next(behind, END), removed_at=after.events))
    return after


def _gone(queue: Queue | None, place: Rank) -> bool:
    return queue is not None and any(item.rank == place and item.state in _GONE for item in queue.positions)


def starts(
    rules: Rules, state: State, queue: Queue, cursor: Cursor
) -> Iterator[tuple[Rank, int | None, tuple[Assumption, ...]]]:
    """Yield where a seek by this cursor starts, which arrivals it passes over, and the readings this assumes."""
    following = cursor.successor
    if following is None or not any(item.available and cursor.at < item.rank < following for item in queue.positions):
        yield cursor.at, None, ()
        return
    for alternative in rules.accepted(state, REMOVED_PLACE):
        assumed = ((REMOVED_PLACE, alternative),)
        if alternative == "keeps-place":
            yield cursor.at, None, assumed
        elif following != END:
            yield (following[0], following[1] - 1), None, assumed
        else:
            yield cursor.at, None, assumed  # nothing was next, so nothing says that it goes to the end
            for arrivals in rules.accepted(state, PARKED):
                readings = (*assumed, (PARKED, arrivals))
                yield (END, None, readings) if arrivals == "waits" else (START, cursor.removed_at, readings)
