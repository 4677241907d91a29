"""What can be asked next of journals, quotas and clocks, by meaning: a send over a quota, a moment before an expiry.

As in `meanings`, each function lists calls that make sense in a state, the plainest first.
"""

from __future__ import annotations

from typing import Any

from conformance.model import Call, State
from conformance.model.expiry import due
from conformance.model.keeping import is_kept
from conformance.model.tables import PositionState
from conformance.suites.stateful.meanings import MAX_MESSAGES, handles, listed, message_name, open_transactions

ADMIN = "adm"
_ACKS = "positive_arrival+positive_receive+negative_receive"
_WISHES: tuple[dict[str, Any], ...] = (
    {"live_s": 3, "dead_letter": True},
    {"journal": True},
    {"live_s": 2},
    {"acks": _ACKS, "admin": ADMIN},
    {},
    {"live_s": 5, "dead_letter": True, "acks": "negative_receive", "admin": ADMIN},
    {"dead_letter": True, "journal": True, "delivery": "recoverable"},
    {"acks": "positive_receive", "admin": ADMIN, "priority": 5},
)
_SIZES = (11 * 1024, 18 * 1024, 1024)  # of a quota of 40 KB: three, two, and as many as there are headers for
_HELD = (PositionState.SENDING, PositionState.LOCKED)


def posts(state: State) -> list[Call]:
    """A message more, with something asked for."""
    if sum(len(queue.positions) for queue in state.queues.values() if not is_kept(queue.name)) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    return [
        listed("messages.send", message=name, handle=handle.name, transaction=transaction, **wishes)
        for handle in handles(state, "send")
        for transaction in (open_transactions(state) if state.queues[handle.queue].transactional else [None])
        for wishes in _WISHES
        if not (transaction and ("priority" in wishes or "delivery" in wishes))
    ]


def fillings(state: State) -> list[Call]:
    """A large message more, or a small one."""
    if sum(len(queue.positions) for queue in state.queues.values()) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    return [
        listed("messages.send", message=name, handle=handle.name, transaction=transaction, size=size)
        for handle in handles(state, "send")
        for transaction in (open_transactions(state) if state.queues[handle.queue].transactional else [None])
        for size in _SIZES
    ]


def passing_seconds(state: State) -> list[Call]:
    """To just before a message expires, to when it must have, or a second; not past the end of what a send holds."""
    windows = [
        (position.state, window)
        for queue in state.queues.values()
        for position in queue.positions
        if position.state in (PositionState.AVAILABLE, *_HELD) and (window := due(state, position)) is not None
    ]
    moments = {state.now + 1000}
    for _, (earliest, latest) in windows:
        moments |= {earliest - 1, latest}
    last = min((window[0] for held, window in windows if held is PositionState.SENDING), default=None)
    return [
        listed("clock.advance", by_ms=moment - state.now)
        for moment in sorted(moments)
        if moment > state.now and (last is None or moment < last)
    ]


def counts(state: State) -> list[Call]:
    """Count what is in a queue whose content is certain."""
    return [
        listed("queues.counts", queue=queue.name)
        for queue in state.queues.values()
        if queue.exists and not is_kept(queue.name) and not any(position.holder for position in queue.positions)
    ]
