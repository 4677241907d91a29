"""Bounds for the bytes that messages take: MS-MQDMPR 3.1.1.2 (Quota, TotalBytes), 3.1.7.1.9.

Headers and body count, and each implementation decides the size of its headers. The size that it reports for one
message is assumed for every message of the same shape. Without a report, a message takes its body at least, and
`OVERHEAD` bytes more at most.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.model import carried
from conformance.model.journals import OVERHEAD, Shape, plain_name
from conformance.model.state import Position, Queue, State
from conformance.model.tables import PositionState

_AVAILABLE, _SENDING = PositionState.AVAILABLE, PositionState.SENDING
_HELD = tuple(
    state for state in PositionState if state not in (PositionState.ABSENT, _AVAILABLE, _SENDING, PositionState.DELETED)
)


def shape_of(position: Position) -> Shape:
    """Return the properties that decide the size of this message."""
    wishes = position.wishes
    length = len(plain_name(position.message))
    if wishes is None:
        return (_body(position, length), length, False, position.transactional, carried.size_of(position.carries))
    body = max(_body(position, length), wishes.size)
    return (body, length, wishes.admin is not None, position.transactional, carried.size_of(position.carries))


def _body(position: Position, length: int) -> int:
    return 0 if position.carries & carried.NO_BODY else length


def bounds(state: State, position: Position) -> tuple[int, int]:
    """Return the least and the most bytes that this message takes."""
    return _bounds(dict(state.keeping.shapes) if state.keeping is not None else {}, shape_of(position))


def _bounds(known: dict[Shape, int], shape: Shape) -> tuple[int, int]:
    weight = known.get(shape)
    return (shape[0], shape[0] + OVERHEAD) if weight is None else (weight, weight)


def used(state: State, queues: Iterable[Queue], *, uncommitted: bool = True) -> tuple[int, int]:
    """Return the least and the most bytes these queues take. uncommitted: sends of open transactions count."""
    low = high = 0
    known = dict(state.keeping.shapes) if state.keeping is not None else {}
    for queue in queues:
        for position in queue.positions:
            held = position.state in _HELD
            sending = position.state is _SENDING
            if not (held or position.state is _AVAILABLE or (sending and uncommitted)):
                continue
            least, most = _bounds(known, shape_of(position))
            high += most
            if not held and not position.doubtful:
                low += least
    return low, high


def fits(
    state: State, queues: Iterable[Queue], position: Position, quota: int | None, *, uncommitted: bool = True
) -> bool | None:
    """Tell whether one more message stays within a quota; None when that cannot be known."""
    if quota is None:
        return True
    low, high = used(state, queues, uncommitted=uncommitted)
    least, most = bounds(state, position)
    if low + least > quota:
        return False
    return True if high + most <= quota else None
