"""Features of passing time and of restarts (MS-MQDMPR 3.1.2.3, 3.1.2.4, 3.1.3, 3.1.6.3, 3.1.7.2.7)."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from conformance.histories.features.facts import (
    UNAVAILABLE,
    asked,
    asked_feature,
    available,
    below,
    held_by,
    kind_of,
    quota_feature,
    several,
    wished,
)
from conformance.histories.features.feature import Feature, among
from conformance.model import Call, State
from conformance.model.expiry import due
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, is_kept
from conformance.model.state import Position, Queue, Waiter
from conformance.model.tables import CursorState, OutgoingState, PositionState

DAY_MS: Final = 86_400_000


def _by(state: State, call: Call) -> str:
    if call.by_ms < 1000:
        return "below_second"
    if call.by_ms >= DAY_MS:
        return "days"
    return "part_seconds" if call.by_ms % 1000 else "seconds"


def _next(state: State) -> Waiter | None:
    """Return the wait that ends first of all limited ones."""
    found: Waiter | None = None
    for waiter in state.waiters:
        if waiter.deadline is not None and (found is None or waiter.deadline < (found.deadline or 0)):
            found = waiter
    return found


def _deadline(state: State, call: Call) -> str:
    waiter = _next(state)
    if waiter is None or waiter.deadline is None:
        return "infinite" if state.waiters else "none"
    left = waiter.deadline - state.now - call.by_ms
    if left > 0:
        return "just_before" if left == 1 else "before"
    return "at" if left == 0 else "past"


def _ends(state: State, call: Call) -> str:
    now = state.now + call.by_ms
    return several(sum(waiter.deadline is not None and waiter.deadline <= now for waiter in state.waiters))


def _read(state: State, call: Call) -> str | None:
    waiter = _next(state)
    return None if waiter is None else waiter.method.partition(".")[2]


def _with(state: State, call: Call) -> str | None:
    waiter = _next(state)
    if waiter is None:
        return None
    return "cursor" if waiter.cursor is not None else "transaction" if waiter.transaction is not None else "handle"


def _left(state: State, call: Call) -> str:
    now = state.now + call.by_ms
    return several(sum(waiter.deadline is None or waiter.deadline > now for waiter in state.waiters))


def _mortal(state: State) -> tuple[Queue, Position, tuple[int, int]] | None:
    """Return the message whose time is over first, of those that are not gone."""
    found: tuple[Queue, Position, tuple[int, int]] | None = None
    if state.keeping is None:
        return None
    for queue in state.queues.values():
        if is_kept(queue.name):
            continue
        for position in queue.positions:
            if position.state is PositionState.DELETED or position.wishes is None:
                continue
            window = due(state, position)
            if window is not None and window[1] > state.now and (found is None or window[1] < found[2][1]):
                found = queue, position, window
    return found


def _expiry(state: State, call: Call) -> str:
    mortal = _mortal(state)
    if mortal is None:
        return "none"
    now = state.now + call.by_ms
    return "over" if now >= mortal[2][1] else "perhaps" if now >= mortal[2][0] else "before"


def _expiring(state: State, call: Call) -> str | None:
    mortal = _mortal(state)
    return None if mortal is None else UNAVAILABLE.get(mortal[1].state, "available")


def _wanted(state: State, call: Call) -> str | None:
    mortal = _mortal(state)
    if mortal is None or mortal[1].wishes is None:
        return None
    found = wished(mortal[1].wishes)
    return "none" if found == "expires" else found


def _asked(state: State, call: Call) -> str | None:
    mortal = _mortal(state)
    return None if mortal is None else asked(state, mortal[1])


def _transactional(state: State, call: Call) -> str | None:
    mortal = _mortal(state)
    return None if mortal is None else "yes" if mortal[1].transactional else "no"


def _beside(state: State, call: Call) -> str | None:
    """Return what else is in the queue of the message whose time is over first."""
    mortal = _mortal(state)
    if mortal is None:
        return None
    before = behind = False
    for other in mortal[0].positions:
        if other.available and other is not mortal[1]:
            before = before or other.rank < mortal[1].rank
            behind = behind or other.rank > mortal[1].rank
    return ("between" if behind else "end") if before else "front" if behind else "alone"


def _copies(state: State, call: Call) -> str:
    """Return the copies in journals and dead-letter queues: none, one, one whose message had a time to be received."""
    found = "none"
    for queue in state.queues.values():
        if is_kept(queue.name):
            for position in queue.positions:
                if position.available:
                    if position.wishes is not None and position.wishes.live_ms is not None:
                        return "limited"
                    found = "lasting"
    return found


_EXPIRING = ("available", "received", "sent", "begun", "purged")
ADVANCE = (
    Feature(
        "by",
        ("seconds", "below_second", "part_seconds", "days"),
        _by,
        ("MQDMPR-3.1.7.3.1.no-early-timeout", "MQDMPR-3.1.2.4.system-queues-kept"),
    ),
    Feature(
        "deadline",
        ("none", "infinite", "before", "just_before", "at", "past"),
        _deadline,
        ("MQDMPR-3.1.2.3.expires", "MQDMPR-3.1.2.3.infinite", "MQDMPR-3.1.7.3.1.no-early-timeout"),
    ),
    Feature(
        "ends",
        ("none", "one", "several"),
        _ends,
        ("MQDMPR-3.1.2.3.expires", "MQDMPR-3.1.7.1.10.timed-out-takes-nothing"),
    ),
    Feature(
        "read",
        ("receive", "receive_begin", "peek", "peek_next"),
        _read,
        ("MQDMPR-3.1.7.1.10.io-timeout", "MQDMPR-3.1.7.1.15.io-timeout", "MQDMPR-3.1.7.1.14.io-timeout"),
    ),
    Feature(
        "with",
        ("handle", "cursor", "transaction"),
        _with,
        (
            "MQDMPR-3.1.7.1.10.cursor-wait-failed",
            "MQDMPR-3.1.7.1.15.cursor-wait-failed",
            "MQDMPR-3.2.7.6.receive-waiting",
        ),
    ),
    Feature("left", ("none", "one", "several"), _left, ("MQDMPR-3.1.2.3.infinite",)),
    Feature(
        "expiry", ("none", "before", "perhaps", "over"), _expiry, ("MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.not-early")
    ),
    Feature(
        "expiring",
        _EXPIRING,
        among(_EXPIRING, _expiring),
        ("MQDMPR-3.1.7.2.7.locked", "MQDMPR-3.1.7.2.7.transactional", "MQDMPR-3.1.7.2.7.not-transactional"),
    ),
    Feature(
        "wanted",
        ("none", "acknowledged", "acknowledged_twice", "dead_letter"),
        _wanted,
        ("MQDMPR-3.1.7.2.7.nack-receive-timeout", "MQDMPR-3.1.7.2.7.dead-letter"),
    ),
    asked_feature(_asked, "MQDMPR-3.1.7.2.7.nack-receive-timeout"),
    Feature("transactional", ("no", "yes"), _transactional, ("MQDMPR-3.1.7.2.7.transactional",)),
    Feature("beside", ("alone", "front", "between", "end"), _beside, ("MQDMPR-3.1.2.4.expires",)),
    Feature("copies", ("none", "lasting", "limited"), _copies, ("MQDMPR-3.1.2.4.system-queues-kept",)),
)


def _moment(state: State, call: Call) -> str:
    return "start" if state.now == 0 else "later"


def _lives(state: State, call: Call) -> str:
    return "none" if _mortal(state) is None else "some"


NOW = (
    Feature("moment", ("start", "later"), _moment, ("MQDMPR-3.1.2.4.expires",)),
    Feature("lives", ("none", "some"), _lives, ("MQDMPR-3.1.2.4.not-early",)),
)


def _kill(state: State, call: Call) -> str:
    return "killed" if call.kill else "stopped"


def _express(state: State, call: Call) -> str:
    """Return which messages are available outside journals: none, express ones, recoverable ones, both."""
    express = recoverable = False
    for queue in state.queues.values():
        if is_kept(queue.name) or queue.outgoing is not None:
            continue
        for position in queue.positions:
            if position.available:
                recoverable = recoverable or position.recoverable
                express = express or not position.recoverable
    if express:
        return "both" if recoverable else "express"
    return "recoverable" if recoverable else "none"


def _order(state: State, call: Call) -> str:
    """Return what orders the recoverable messages of a queue: nothing, arrival, priority."""
    found = "nothing"
    for queue in state.queues.values():
        if is_kept(queue.name) or queue.outgoing is not None:
            continue
        there = [one for one in queue.positions if one.available and one.recoverable]
        if len(there) > 1:
            if any(one.rank[1] > other.rank[1] for one, other in pairwise(there)):
                return "priority"
            found = "arrival"
    return found


def _removed(state: State, call: Call) -> str:
    """Return whether recoverable messages are gone that must not come back: received, purged, moved or expired ones."""
    found = "none"
    for queue in state.queues.values():
        for position in queue.positions:
            if position.state is PositionState.DELETED and position.recoverable and not is_kept(queue.name):
                if position.claim == "MQDMPR-3.1.7.1.7.available-deleted":
                    return "purged"
                found = "moved" if position.moved else found if found != "none" else "received"
    return found


def _held_by(state: State, call: Call) -> str:
    found = "none"
    for queue in state.queues.values():
        its = held_by(queue)
        found = its if its != "none" else found
    return found


def _transactions(state: State, call: Call) -> str:
    found = "none"
    for one in state.transactions.values():
        if one.ended is None:
            return "prepared" if one.prepared else "open"
        if one.ended != "restart":
            found = "committed" if one.ended == "commit" else "aborted"
    return found


def _users(state: State, call: Call) -> str:
    if state.waiters:
        return "waiting"
    if any(cursor.state is not CursorState.CLOSED for cursor in state.cursors.values()):
        return "cursor"
    exclusive = any(handle.is_open and handle.share == "deny_receive" for handle in state.handles.values())
    return "exclusive" if exclusive else "open" if any(one.is_open for one in state.handles.values()) else "none"


def _queues(state: State, call: Call) -> str:
    """Return what queues have been through: nothing, a deletion, a deletion and creation again."""
    found = "kept"
    for queue in state.queues.values():
        if queue.parent is None and not queue.exists:
            found = "deleted"
        if queue.exists and any(handle.queue == queue.name and handle.lost for handle in state.handles.values()):
            return "recreated"
    return found


def _subqueues(state: State, call: Call) -> str:
    found = "none"
    for queue in state.queues.values():
        if queue.parent is not None and queue.exists:
            if available(queue):
                return "messages"
            found = "empty"
    return found


def _survives(queue: Queue | None) -> str:
    """Return which copies a queue has that nobody doubts: none, express, recoverable or transactional ones.

    What must survive comes before what may.
    """
    found = "none"
    for position in queue.positions if queue is not None else ():
        if position.available and not position.doubtful:
            if position.transactional:
                return "transactional"
            found = "recoverable" if position.recoverable or found == "recoverable" else "express"
    return found


def _journals(state: State, call: Call) -> str:
    found = "none"
    for queue in state.queues.values():
        if is_kept(queue.name) and kind_of(queue) == "journal" and queue.name != SYSTEM_JOURNAL:
            its = _survives(queue)
            found = its if its != "none" else "empty" if found == "none" else found
    return found


def _system_journal(state: State, call: Call) -> str:
    return _survives(state.queues.get(SYSTEM_JOURNAL))


def _dead_letters(state: State, call: Call) -> str:
    found = _survives(state.queues.get(DEAD_LETTER_TRANSACTIONAL))
    return found if found != "none" else _survives(state.queues.get(DEAD_LETTER))


def _kept_asked(state: State, call: Call) -> str | None:
    """Return which acknowledgments the first message asks for that must come through the restart and asks for one."""
    found: str | None = "none"
    for queue in state.queues.values():
        if is_kept(queue.name) or queue.outgoing is not None:
            continue
        for position in queue.positions:
            if position.available and position.recoverable and found == "none":
                found = asked(state, position)
    return found


def _quota(state: State, call: Call) -> str:
    return below(state, [queue for queue in state.queues.values() if queue.outgoing is None])


def _outgoing(state: State, call: Call) -> str:
    found = "none"
    for queue in state.queues.values():
        if queue.outgoing is not None:
            if queue.outgoing.state is OutgoingState.ON_HOLD:
                return "on_hold"
            found = "messages" if available(queue) or found == "messages" else "empty"
    return found


def _again(state: State, call: Call) -> str:
    return several(state.restarts)


_12, _START = "MQDMPR-3.1.1.12", "MQDMPR-3.1.3"
RESTART = (
    Feature("how", ("stopped", "killed"), _kill, ("MQDMPR-3.1.1.12.recoverable-survives", "MQDMPR-3.1.1.volatile")),
    Feature(
        "messages",
        ("none", "express", "recoverable", "both"),
        _express,
        (f"{_12}.recoverable-survives", f"{_12}.express-may-survive", "MQMQ-2.2.19.2.transactional-recoverable"),
    ),
    Feature("order", ("nothing", "arrival", "priority"), _order, (f"{_12}.recoverable-order",)),
    Feature(
        "removed",
        ("none", "received", "moved", "purged"),
        _removed,
        (f"{_12}.received-not-redelivered", "MQDMPR-3.1.1.11.recoverable-persistent"),
    ),
    Feature(
        "held",
        ("none", "received", "sent", "begun", "moving", "purged"),
        _held_by,
        (f"{_START}.uncommitted-send-lost", "MQDMPR-3.1.1.11.uncommitted-receive-not-lost", "MQDMPR-3.1.4.5.move"),
    ),
    Feature(
        "transactions",
        ("none", "open", "prepared", "committed", "aborted"),
        _transactions,
        (
            f"{_START}.unfinished-transaction-aborted",
            f"{_START}.for-each-internal-transaction",
            "MQDMPR-3.1.4.4.durable",
        ),
    ),
    Feature("users", ("none", "open", "exclusive", "cursor", "waiting"), _users, ("MQDMPR-3.1.1.volatile",)),
    Feature("queues", ("kept", "deleted", "recreated"), _queues, ("MQDMPR-3.1.1.2.private-attributes-persistent",)),
    Feature(
        "subqueues",
        ("none", "empty", "messages"),
        _subqueues,
        ("MQDMPR-3.1.1.2.subqueue-collection", "MQDMPR-3.1.1.2.private-attributes-persistent"),
    ),
    Feature(
        "journals",
        ("none", "empty", "express", "recoverable", "transactional"),
        _journals,
        ("MQDMPR-3.1.1.2.system-queues-kept", f"{_12}.recoverable-survives", f"{_12}.express-may-survive"),
    ),
    Feature(
        "system_journal",
        ("none", "express", "recoverable", "transactional"),
        _system_journal,
        (f"{_12}.recoverable-survives", f"{_12}.express-may-survive", f"{_START}.create-system-queues"),
    ),
    Feature(
        "dead_letters",
        ("none", "express", "recoverable", "transactional"),
        _dead_letters,
        (
            *("MQDMPR-3.1.1.2.system-queues-kept", f"{_START}.create-system-queues", f"{_12}.negative-journaling"),
            *(f"{_12}.negative-journaling-transactional", "MQDMPR-3.1.7.2.7.dead-letter"),
        ),
    ),
    quota_feature(_quota, f"{_12}.recoverable-survives"),
    asked_feature(_kept_asked, f"{_12}.recoverable-attributes-survive"),
    Feature("outgoing", ("none", "empty", "messages", "on_hold"), _outgoing, ("MQDMPR-3.1.1.volatile",)),
    Feature("again", ("none", "one", "several"), _again, (f"{_12}.received-not-redelivered",)),
)
