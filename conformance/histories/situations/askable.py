"""Calls that planned histories leave alone: the model has an answer for them, and the text has not.

The actions of walks avoid them too. What they lead to depends on things that a black box does not show, such as which
of two waiting readers a manager serves, or on names of what a restart has taken away.
"""

from __future__ import annotations

from typing import Final

from conformance.model import Call, State
from conformance.model.calls import READS
from conformance.model.expiry import due
from conformance.model.journals import ELSEWHERE, is_kept, is_remote
from conformance.model.properties import ROWS
from conformance.model.tables import PositionState

MOST_WAITING: Final = 3
_TAKING: Final = ("PROPID_Q_QUOTA", "PROPID_Q_AUTHENTICATE", "PROPID_Q_PRIV_LEVEL")
_ENDINGS: Final = frozenset({"transactions.commit", "transactions.abort", "transactions.prepare"})


def askable(state: State, call: Call) -> bool:
    """Tell whether a planned history may make this call in this state."""
    method = call.method
    if _given_twice(state, call):
        return False
    if call.transaction is not None:
        found = state.transactions.get(call.transaction)
        if found is None or found.ended == "restart":
            return False
        if method in _ENDINGS and any(waiter.transaction == call.transaction for waiter in state.waiters):
            return False
    if method in ("queues.delete", "queues.create", "queues.open"):
        return _queue_may_be(state, call)
    if method == "cursors.open":
        handle = state.handles.get(call.handle or "")
        return handle is not None and (handle.access in ("receive", "peek") or not handle.is_open)
    if call.destination is not None and call.transaction is not None and not _may_move(state, call):
        return False
    if (method == "messages.receive_end" or method in _ENDINGS) and _late(state, call):
        return False
    if call.cursor is not None and method in READS:
        cursor = state.cursors.get(call.cursor)
        if cursor is None or cursor.handle != call.handle or tied(state, call.handle or ""):
            return False
    if method == "queues.close":
        return not _busy(state, call.handle or "")
    if method == "messages.send":
        return _may_be_acknowledged(state, call)
    if method == "use":
        return not _journals(state, call.queue or "")
    return not (call.timeout_ms and method in READS) or _may_wait(state, call)


def _given_twice(state: State, call: Call) -> bool:
    """Tell whether the call gives a name that something else has: from then on nobody could say which is meant."""
    name, method = call.name or "", call.method
    if method == "queues.open":
        return name in state.handles
    if method == "cursors.open":
        return name in state.cursors
    if method == "transactions.begin":
        return name in state.transactions
    if method == "messages.send":
        return any(queue.find(call.message or "") is not None for queue in state.queues.values())
    return method in READS and bool(name) and (name in state.begun or name in state.waited)


def _may_be_acknowledged(state: State, call: Call) -> bool:
    """Tell whether it is settled that the administration queue takes reports of this send.

    It is not for a transactional queue, not for reports of what the administration queue itself is sent, and not for
    a message with no time to reach its queue.
    """
    handle = state.handles.get(call.handle or "")
    if call.reach_s == 0 and (call.acks is not None or call.dead_letter):
        return False  # when it is lost, at the send or in the next second, is open
    if call.admin is None or handle is None:
        return True
    if not _takes_all(state, call.admin):
        return False
    admin = state.queues.get(call.admin)
    return call.admin not in handle.queue.split(",") and (admin is None or not admin.transactional)


def _takes_all(state: State, queue: str) -> bool:
    """Tell whether a queue has room for all messages and demands nothing of them, as far as its properties say."""
    its = state.properties.queues.get(queue) if state.properties is not None else None
    return its is None or all(
        (default := ROWS[name].default) is None or its.known[name].value == default[0] for name in _TAKING
    )


def _journals(state: State, queue: str) -> bool:
    """Tell whether a queue journals: what its use by the harness leaves there has no name."""
    found = state.queues.get(queue)
    return found is not None and found.attributes is not None and found.attributes.journaling


def _queue_may_be(state: State, call: Call) -> bool:
    name = call.queue or ""
    if name == ELSEWHERE or is_remote(name):
        return call.method == "queues.open" and call.access == "send" and call.share is None
    return call.method != "queues.delete" or not (is_kept(name) or "," in name or _reported_unsent(state, name))


def _reported_unsent(state: State, name: str) -> bool:
    """Tell whether the loss of a message that is not committed yet may be reported: nobody says that it is."""
    queue = state.queues.get(name)
    return queue is not None and any(
        one.state is PositionState.SENDING and one.wishes is not None and (one.wishes.acks or one.wishes.dead_letter)
        for one in queue.positions
    )


def _late(state: State, call: Call) -> bool:
    """Tell whether the call gives back a message whose time is over: whether it expires or somebody gets it is open.

    Without a reader that waits, the model has both answers.
    """
    read = state.begun.get(call.read or "")
    waiting = {waiter.queue for waiter in state.waiters}
    for queue in state.queues.values():
        for position in queue.positions:
            begun = read is not None and queue.name == read.queue and position.message == read.message
            held = position.holder is not None and position.holder == call.transaction
            if (begun or held) and queue.name in waiting:
                wishes, window = position.wishes, due(state, position)
                lives = wishes is not None and wishes.live_ms is not None
                if lives and (window is None or state.now >= window[0]):
                    return True
    return False


def tied(state: State, handle: str) -> bool:
    """Tell whether copies came together to the queue of a handle: no section orders them, so cursors tell nothing."""
    found = state.handles.get(handle)
    queue = state.queues.get(found.queue) if found is not None else None
    return queue is not None and any(position.tie is not None for position in queue.positions)


def _may_move(state: State, call: Call) -> bool:
    """Tell whether a move in this transaction is settled: not if it has ended and something holds the message too."""
    ended = state.transactions[call.transaction or ""].ended
    handle = state.handles.get(call.handle or "")
    queue = state.queues.get(handle.queue) if handle is not None else None
    position = queue.find(call.message or "") if queue is not None else None
    return ended is None or position is None or position.available


def _busy(state: State, handle: str) -> bool:
    """Tell whether a receive has begun by the handle and has not ended: no section says what becomes of it."""
    return any(read.handle == handle and not read.ended for read in state.begun.values())


def _may_wait(state: State, call: Call) -> bool:
    """Tell whether a read may wait: at most three do on one queue."""
    handle = state.handles.get(call.handle or "")
    return handle is None or sum(waiter.queue == handle.queue for waiter in state.waiters) < MOST_WAITING
