"""Calls that the text has an answer for, and histories played by the model alone, under the default readings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.model import Answer, BadCall, Call, Model, State
from conformance.model.calls import READS
from conformance.model.expected import Expected, Succeeds
from conformance.model.expiry import due
from conformance.model.journals import ELSEWHERE, is_kept, is_remote
from conformance.model.properties import ROWS
from conformance.model.property_judging import TELLING, properties_judged, written_properties
from conformance.model.property_refusals import CREATE, GET, problems, unknown
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults

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

    It is not for a transactional queue, for a subqueue, which nothing is sent to, for reports of what the
    administration queue itself is sent, and for a message with no time to reach its queue.
    """
    handle = state.handles.get(call.handle or "")
    if call.reach_s == 0 and (call.acks is not None or call.dead_letter):
        return False  # when it is lost, at the send or in the next second, is open
    if call.admin is None or handle is None:
        return True
    if ";" in call.admin or not _takes_all(state, call.admin):
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


def default_model() -> Model:
    """Return the model with the readings that the planned histories follow."""
    return Model(assignment("windows"))


def foreseen(model: Model, state: State, call: Call) -> Expected | None:
    """Return the outcome that the text demands; None for a call that no section describes, or that is left alone."""
    if not askable(state, call):
        return None
    try:
        outcome = model.allowed(state, call).outcomes[0]
    except (BadCall, KeyError):  # a KeyError: no row of a table has this event in this state
        return None
    if outcome.next.properties is None or call.method not in TELLING:
        return outcome
    answer = Answer.of_status(hresults.MQ_ERROR_PROPERTY if _refused(outcome.next, call) else 0)
    return replace(outcome, next=properties_judged(model.rules, outcome.next, call, answer)[0])


def _refused(state: State, call: Call) -> bool:
    """Tell whether a call about properties must fail."""
    assert state.properties is not None
    there = (call.queue or "") in state.properties.queues
    if call.method == GET:
        return not there or bool(unknown(call.names or ()))
    return there is (call.method == CREATE) or bool(problems(call.method, written_properties(call)))


def after(model: Model, state: State, call: Call) -> State:
    """Return the state after a call. Raises BadCall for a call that no section describes."""
    outcome = foreseen(model, state, call)
    if outcome is None:
        raise BadCall(f"no section describes {call.method} here")
    return followed(outcome)


def followed(expected: Expected) -> State:
    """Return the state after an outcome, with the lookup identifiers that its messages would have shown."""
    state = expected.next
    result = expected.result
    if not expected.completions and (not isinstance(result, Succeeds) or result.message is None):
        return state
    numbers = {}
    for came in (result, *(completion.result for completion in expected.completions)):
        name = came.message if isinstance(came, Succeeds) else None
        if name is None or name in state.lookups or "@" in name:
            continue
        for queue in state.queues.values():
            position = queue.find(name)
            if position is not None:
                numbers[name] = position.rank[0] * 1_000_000 + position.rank[1]
    return replace(state, lookups={**state.lookups, **numbers}) if numbers else state


def states(model: Model, calls: Iterable[Call], state: State | None = None) -> list[State]:
    """Return the state before each call, and the one after the last. Raises BadCall."""
    found = [state or State()]
    for call in calls:
        found.append(after(model, found[-1], call))
    return found
