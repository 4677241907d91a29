"""Features of reads by lookup identifier and of moves to subqueues (MS-MQDMPR 3.1.7.1.13, 3.1.7.1.16, 3.1.7.3.2)."""

from __future__ import annotations

from conformance.histories.features import reads
from conformance.histories.features.facts import ARRIVALS, UNAVAILABLE, arrival_of, view, waiting_on
from conformance.histories.features.feature import Feature, among
from conformance.histories.features.transactions import cursors_at, place_in
from conformance.model import Call, State
from conformance.model.state import Position, Queue

_3 = "MQDMPR-3.1.7.3.3"
_2 = "MQDMPR-3.1.7.3.2"
_13 = "MQDMPR-3.1.7.1.13"
_NAMED = ("available", "removed", "received", "begun", "purged", "moving", "none")


def _action(state: State, call: Call) -> str:
    return call.action or "current"


def _named(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    if call.message is None:
        return "none" if call.action in ("first", "last") else None
    position = queue.find(call.message) if queue is not None else None
    return None if position is None else UNAVAILABLE.get(position.state, "available")


def _sought(queue: Queue, call: Call) -> tuple[Position | None, bool]:
    """Return the message that a read by lookup identifier leads to, and whether it passes over one it cannot see."""
    action = call.action or "current"
    named = queue.find(call.message) if call.message is not None else None
    if action == "current":
        return (named if named is not None and named.available else None), False
    backward = action in ("previous", "last")
    passes = False
    for position in reversed(queue.positions) if backward else queue.positions:
        if action in ("next", "previous"):
            if named is None:
                return None, False
            if not (position.rank < named.rank if backward else position.rank > named.rank):
                continue
        if position.available:
            return position, passes
        passes = True
    return None, passes


def _found(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    if queue is None:
        return None
    position, passes = _sought(queue, call)
    if position is None:
        return "nothing"
    return "beyond" if passes else "near"


def _place(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    position = _sought(queue, call)[0] if queue is not None else None
    return None if queue is None or position is None else place_in(queue, position)


def _priority(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    if queue is None or call.message is None:
        return None
    named, position = queue.find(call.message), _sought(queue, call)[0]
    if named is None or position is None:
        return None
    return "same" if named.rank[0] == position.rank[0] else "other"


def _arrival(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    position = _sought(queue, call)[0] if queue is not None else None
    return None if position is None or position.doubtful else arrival_of(position)


def _copies(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    position = _sought(queue, call)[0] if queue is not None else None
    return None if queue is None or position is None else reads.copies_of(state, queue, position)


def _cursors(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    if queue is None:
        return None
    position = _sought(queue, call)[0]
    return cursors_at(state, queue.name, () if position is None else (position.message,))


_BOTH = (
    reads.handle_feature(f"{_13}.queue-not-available", *reads.ACCESS),
    reads.kind_feature("3.1.7.1.13.does-not-wait"),
    Feature(
        "action",
        ("current", "next", "previous", "first", "last"),
        _action,
        (
            *(f"{_3}.{step}" for step in ("by-action", "seek-first", "seek-previous", "seek-current", "seek-next")),
            *(f"{_2}.{step}" for step in ("forward-test", "forward-from-start", "forward-inside", "backward-test")),
            *(f"{_2}.{step}" for step in ("backward-from-end", "backward-inside")),
            f"{_3}.seek-last",
        ),
    ),
    Feature(
        "named",
        _NAMED,
        among(_NAMED, _named),
        (
            *(
                f"{_3}.{step}"
                for step in ("initial-missing", "message-not-found", "current-found", "current-available")
            ),
            *(f"{_3}.{step}" for step in ("current-peek", "locked", "current-deleted", "current-receive")),
            *(f"{_3}.{step}" for step in ("current-locked-allowed", "current-locked-refused")),
        ),
    ),
    Feature(
        "found",
        ("near", "beyond", "nothing"),
        _found,
        (f"{_13}.seek-failed", f"{_2}.forward", f"{_2}.backward", f"{_2}.backward-locked", f"{_3}.seek-next"),
    ),
    Feature("place", ("alone", "front", "between", "end"), _place, (f"{_3}.seek-first", f"{_3}.seek-last")),
    Feature("priority", ("same", "other"), _priority, ("MQDMPR-3.1.1.2.priority-before-arrival",)),
    Feature("arrival", ARRIVALS, _arrival, reads.ARRIVAL.steps),
    Feature(
        "cursors",
        ("none", "elsewhere", "there", "parked"),
        _cursors,
        (f"{_13}.not-a-peek", "MQDMPR-3.2.7.2.current-unavailable"),
    ),
    reads.waiting_feature(),
)
PEEK_BY_LOOKUP = _BOTH
RECEIVE_BY_LOOKUP = (
    *_BOTH,
    Feature(
        "transaction",
        reads.TRANSACTION.values,
        reads.transaction,
        (
            f"{_13}.in-transaction",
            f"{_13}.outside-transaction",
            f"{_13}.one-phase",
            "MQDMPR-3.1.4.4.transaction-ends",
            "MQDMPR-3.1.4.5.transaction-ends",
        ),
    ),
    Feature("copies", reads.COPIES.values, _copies, reads.COPIES.steps),
)

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


def _move_place(state: State, call: Call) -> str | None:
    queue, position = view(state, call).queue, _position(state, call)
    return None if queue is None or position is None else place_in(queue, position)


def _there(state: State, call: Call) -> str | None:
    """Return where the message will stand among the available ones of its target."""
    target, position = _target(state, call), _position(state, call)
    if target is None or position is None:
        return None
    return place_in(target, position)


def _move_arrival(state: State, call: Call) -> str | None:
    position = _position(state, call)
    return None if position is None or position.doubtful or not position.available else arrival_of(position)


def _waiting(state: State, call: Call) -> str | None:
    target = _target(state, call)
    return None if target is None else waiting_on(state, target.name)


def _move_cursors(state: State, call: Call) -> str | None:
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
    Feature("place", ("alone", "front", "between", "end"), _move_place, (f"{_16}.moved",)),
    Feature("there", ("alone", "front", "between", "end"), _there, (f"{_16}.moved", "MQDMPR-3.1.1.2.arrival-order")),
    Feature("arrival", reads.ARRIVAL.values, _move_arrival, (f"{_16}.unchanged", *reads.ARRIVAL.steps)),
    Feature("waiting", ("none", "peek", "receive", "several"), _waiting, (f"{_16}.wakes-readers",)),
    Feature(
        "cursors", ("none", "elsewhere", "there", "parked"), _move_cursors, ("MQDMPR-3.2.7.2.current-unavailable",)
    ),
    Feature("before", ("never", "back_again"), _before, (f"{_16}.moved",)),
)
