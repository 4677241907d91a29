"""Features of moves between a queue and its subqueues (MS-MQDMPR 3.1.7.1.16, MS-MQRR 3.1.4.10)."""

from __future__ import annotations

from conformance.histories.features import reads
from conformance.histories.features.feature import Feature
from conformance.histories.features.two_phase import cursors_at, place_in
from conformance.histories.features.views import UNAVAILABLE, arrival_of, view, waiting_on
from conformance.model import Call, State
from conformance.model.state import Position, Queue

_MESSAGES = ("available", "removed", "received", "purged", "moving")


def _target(state: State, call: Call) -> Queue | None:
    handle = state.handles.get(call.destination or "")
    return state.queues.get(handle.queue) if handle is not None else None


def _position(state: State, call: Call) -> Position | None:
    queue = view(state, call).queue
    return queue.find(call.message or "") if queue is not None else None


def _way(state: State, call: Call) -> str | None:
    source, target = view(state, call).queue, _target(state, call)
    if source is None or target is None:
        return None
    if source.family != target.family:
        return "unrelated"
    return "to_subqueue" if source.parent is None else "to_main" if target.parent is None else "between_subqueues"


def _source(state: State, call: Call) -> str | None:
    handle = view(state, call).handle
    return None if handle is None else "open" if handle.is_open else "closed"


def _destination(state: State, call: Call) -> str | None:
    handle = state.handles.get(call.destination or "")
    return None if handle is None else handle.access if handle.is_open else "closed"


def _transactional(state: State, call: Call) -> str | None:
    target = _target(state, call)
    return None if target is None else "yes" if target.transactional else "no"


def _message(state: State, call: Call) -> str | None:
    position = _position(state, call)
    if position is None:
        return None
    word = UNAVAILABLE.get(position.state, "available")
    return word if word in _MESSAGES else None  # no section says what moving any other one does


def _place(state: State, call: Call) -> str | None:
    queue, position = view(state, call).queue, _position(state, call)
    return None if queue is None or position is None else place_in(queue, position)


def _there(state: State, call: Call) -> str | None:
    """Return where the message will stand among the available ones of its target."""
    target, position = _target(state, call), _position(state, call)
    if target is None or position is None:
        return None
    return place_in(target, position)


def _arrival(state: State, call: Call) -> str | None:
    position = _position(state, call)
    return None if position is None or position.doubtful or not position.available else arrival_of(position)


def _waiting(state: State, call: Call) -> str | None:
    target = _target(state, call)
    return None if target is None else waiting_on(state, target.name)


def _cursors(state: State, call: Call) -> str | None:
    queue, position = view(state, call).queue, _position(state, call)
    return None if queue is None or position is None else cursors_at(state, queue.name, (position.message,))


def _before(state: State, call: Call) -> str | None:
    """Return what the target has held of this message before: nothing, or its position from an earlier stay."""
    target, position = _target(state, call), _position(state, call)
    if target is None or position is None:
        return None
    return "never" if target.find(position.message) is None else "back_again"


_16, _RR = "MQDMPR-3.1.7.1.16", "MQRR-3.1.4.10"
MOVE = (
    Feature("source", ("open", "closed"), _source, ("MQDMPR-3.1.7.1.6.handle-closed",)),
    Feature(
        "destination",
        ("move", "receive", "peek", "send", "closed"),
        _destination,
        (f"{_RR}.move-access", "MQDMPR-3.1.1.17.move-access"),
    ),
    Feature(
        "way",
        ("to_subqueue", "to_main", "between_subqueues", "unrelated"),
        _way,
        (f"{_16}.moved", f"{_RR}.related-queues"),
    ),
    Feature("transactional", ("no", "yes"), _transactional, (f"{_RR}.transaction-usage",)),
    Feature(
        "transaction",
        reads.TRANSACTION.values,
        reads.transaction,
        (
            f"{_16}.outside-transaction",
            f"{_16}.in-transaction",
            f"{_RR}.transaction-usage",
            f"{_RR}.transaction-sequence",
        ),
    ),
    Feature(
        "message",
        _MESSAGES,
        _message,
        (f"{_RR}.message-not-found", f"{_RR}.locked-under-transaction"),
    ),
    Feature("place", ("alone", "front", "between", "end"), _place, (f"{_16}.moved",)),
    Feature("there", ("alone", "front", "between", "end"), _there, (f"{_16}.moved", "MQDMPR-3.1.1.2.arrival-order")),
    Feature("arrival", reads.ARRIVAL.values, _arrival, (f"{_16}.unchanged", *reads.ARRIVAL.steps)),
    Feature("waiting", ("none", "peek", "receive", "several"), _waiting, (f"{_16}.wakes-readers",)),
    Feature("cursors", ("none", "elsewhere", "there", "parked"), _cursors, ("MQDMPR-3.2.7.2.current-unavailable",)),
    Feature("before", ("never", "back_again"), _before, (f"{_16}.moved",)),
)
