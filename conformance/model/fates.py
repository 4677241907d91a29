"""Tell what befell each message in a call: it arrived, was received, came back or was lost.

MS-MQDMPR 3.1.1.12, 3.1.4.5, 3.1.7.2. Derived from the state of its position before and after the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from conformance.model.calls import BadCall, Call
from conformance.model.expected import Expected, Succeeds
from conformance.model.expiry import held_too_long
from conformance.model.state import Position, Queue
from conformance.model.tables import PositionState

_ABSENT, _AVAILABLE, _DELETED = PositionState.ABSENT, PositionState.AVAILABLE, PositionState.DELETED
_SENDING, _LOCKED, _MOVING = PositionState.SENDING, PositionState.LOCKED, PositionState.MOVING
_PURGE_PENDING, _BEGUN_PURGED = PositionState.PURGE_PENDING, PositionState.BEGUN_PURGED
_ELSEWHERE = (PositionState.ABSENT, PositionState.DELETED, PositionState.MOVING_PURGED)
_MOVED_FROM = (_MOVING, PositionState.MOVING_PURGED)


class Fate(Enum):
    """Event that befell a message in one call."""

    ARRIVED = "arrived"
    TAKEN = "received, in a transaction that is open"
    RECEIVED = "received"
    RETURNED = "came back"
    EXPIRED = "expired"
    EXPIRED_AT_ONCE = "expired when it arrived"
    PURGED = "purged"
    PURGED_THEN_DELETED = "purged while a receive held it that then ended with delete"
    PURGED_THEN_ABORTED = "purged while a receive held it that was then aborted"
    QUEUE_DELETED = "deleted with its queue"
    SEND_DELETED = "deleted with its queue before its send or its move was committed"
    ABORTED = "purged while a move or a receive held it that a restart or an abort has ended"


def fates(old: Queue | None, new: Position, call: Call, expected: Expected) -> Iterator[Fate]:
    """Yield what befell a message in this call. old: its queue before the call; new: its position after it."""
    was = old.find(new.message) if old is not None else None
    state = _ABSENT if was is None else was.state
    if was is new or new.doubtful:
        return
    if state in _MOVED_FROM and call.method == "queues.delete":
        yield Fate.SEND_DELETED
        return
    if state is PositionState.MOVING_PURGED and call.method in ("transactions.abort", "restart"):
        yield Fate.ABORTED  # 3.1.4.5 deletes it for the reason of a receive, and it was not received
        return
    if state is _MOVING:
        if call.method != "transactions.commit":
            yield from _moved_back(new, expected)
        return
    if new.moved and (call.destination is not None or state in _ELSEWHERE):
        taken = new.state in (_LOCKED, _DELETED) and state in (_ABSENT, _DELETED)
        if taken and _is_given(new.message, expected):  # it came by a move, to one who waited
            yield Fate.TAKEN if new.state is _LOCKED else Fate.RECEIVED
        return
    if state is new.state:
        return
    outside = state is _ABSENT or state is _SENDING
    given = _is_given(new.message, expected)
    if outside and (given or new.state is _AVAILABLE or new.state is _LOCKED):
        if state is _SENDING and held_too_long(expected.next, new):
            raise BadCall(f"whether {new.message} expires before its commit or after is not settled")
        yield Fate.ARRIVED
    if new.state is _LOCKED:
        if new.holder in expected.next.transactions:  # a lock of a two-phase receive is not yet a receive
            yield Fate.TAKEN
    elif new.state is _AVAILABLE and state in (_LOCKED, PositionState.BEGUN):
        yield Fate.RETURNED
    elif new.state is _DELETED and state is _ABSENT and new.claim == "MQDMPR-3.1.2.4.zero":
        yield Fate.EXPIRED_AT_ONCE
    elif new.state is _DELETED:
        yield from _end(state, call, given)


def _moved_back(new: Position, expected: Expected) -> Iterator[Fate]:
    """Yield what becomes of a message whose move is undone. Its time may have ended, and a reader may wait for it."""
    if new.state is _AVAILABLE:
        yield Fate.RETURNED
    elif _is_given(new.message, expected):
        yield Fate.TAKEN if new.state is _LOCKED else Fate.RECEIVED


def _end(state: PositionState, call: Call, given: bool) -> Iterator[Fate]:
    """Yield how a message ended, judged by the call that ended it."""
    held = state in (_LOCKED, _PURGE_PENDING)
    if state is _BEGUN_PURGED and call.method == "messages.receive_end":
        yield Fate.PURGED_THEN_DELETED if call.acknowledge else Fate.PURGED
    elif given or (call.method == "transactions.commit" and held) or call.acknowledge:
        yield Fate.RECEIVED
    elif call.method == "transactions.abort" and state is _PURGE_PENDING:
        yield Fate.PURGED_THEN_ABORTED
    elif state in (_PURGE_PENDING, _BEGUN_PURGED) and call.method == "restart":
        yield Fate.ABORTED
    elif state is _SENDING:
        if call.method == "queues.delete":
            yield Fate.SEND_DELETED
    else:
        by_method = {
            "clock.advance": Fate.EXPIRED,
            "queues.purge": Fate.PURGED,
            "queues.delete": Fate.QUEUE_DELETED,
        }
        if call.method in by_method:
            yield by_method[call.method]


def _is_given(message: str, expected: Expected) -> bool:
    result = expected.result
    if isinstance(result, Succeeds) and result.message == message:
        return True
    results = (completion.result for completion in expected.completions)
    return any(isinstance(result, Succeeds) and result.message == message for result in results)
