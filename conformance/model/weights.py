"""How many bytes messages take, as far as anybody can know: MS-MQDMPR 3.1.1.2 (Quota, TotalBytes), 3.1.7.1.9.

Headers and body count, and how large headers are is the implementation's affair. What it tells of one message is taken
to hold for another of the same shape; without that a message takes its body at least, and `OVERHEAD` more at most.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.model.keeping import OVERHEAD, Shape, plain_name
from conformance.model.state import Position, Queue, State
from conformance.model.tables import PositionState

_HELD = (PositionState.LOCKED, PositionState.PURGE_PENDING)


def shape_of(position: Position) -> Shape:
    """What decides the size of this message."""
    name, wishes = plain_name(position.message), position.wishes
    size = max(len(name), wishes.size if wishes is not None else 0)
    return (size, len(name), wishes is not None and wishes.admin is not None, position.transactional)


def bounds(state: State, position: Position) -> tuple[int, int]:
    """The least and the most bytes this message takes."""
    shape = shape_of(position)
    for known, weight in state.keeping.shapes if state.keeping is not None else ():
        if known == shape:
            return weight, weight
    return shape[0], shape[0] + OVERHEAD


def used(state: State, queues: Iterable[Queue], *, uncommitted: bool = True) -> tuple[int, int]:
    """The least and the most bytes these queues take. uncommitted: whether sends of open transactions count."""
    low = high = 0
    for queue in queues:
        for position in queue.positions:
            sending = position.state is PositionState.SENDING
            if not (position.available or position.state in _HELD or (sending and uncommitted)):
                continue
            least, most = bounds(state, position)
            high += most
            if not position.doubtful and position.state not in _HELD:
                low += least
    return low, high


def fits(
    state: State, queues: Iterable[Queue], position: Position, quota: int | None, *, uncommitted: bool = True
) -> bool | None:
    """Whether one message more stays within a quota; None when that cannot be known."""
    if quota is None:
        return True
    low, high = used(state, queues, uncommitted=uncommitted)
    least, most = bounds(state, position)
    if low + least > quota:
        return False
    return True if high + most <= quota else None
