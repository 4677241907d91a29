"""Features of outgoing queues: pause, resume, take (MS-MQDMPR 3.1.1.3, 3.1.4.14, 3.1.4.15, 3.1.7.2.3, 3.1.7.3.9)."""

from __future__ import annotations

from conformance.histories.features.contents import order
from conformance.histories.features.feature import Feature
from conformance.histories.features.views import CHOICES
from conformance.model import Call, State
from conformance.model.state import Queue
from conformance.model.tables import OutgoingState, PositionState


def _queue(state: State, call: Call) -> Queue | None:
    queue = state.queues.get(call.queue or "")
    return queue if queue is not None and queue.outgoing is not None else None


def _state(state: State, call: Call) -> str | None:
    queue = _queue(state, call)
    if queue is None or queue.outgoing is None:
        return None
    if queue.outgoing.state is OutgoingState.ON_HOLD:
        return "on_hold"
    return "inactive" if queue.outgoing.paused is None else "resumed"


def _content(state: State, call: Call) -> str | None:
    queue = _queue(state, call)
    return None if queue is None else order(queue)


def _since(state: State, call: Call) -> str | None:
    """Return whether the available messages were sent before or after the queue was last put on hold."""
    queue = _queue(state, call)
    if queue is None or queue.outgoing is None or queue.outgoing.paused is None:
        return None
    paused = queue.outgoing.paused
    before = any(one.available and one.since <= paused for one in queue.positions)
    after = any(one.available and one.since > paused for one in queue.positions)
    return ("both" if after else "before") if before else "after" if after else "neither"


def _taken(state: State, call: Call) -> str | None:
    queue = _queue(state, call)
    if queue is None:
        return None
    return "some" if any(one.state is PositionState.DELETED for one in queue.positions) else "none"


def _uncommitted(state: State, call: Call) -> str | None:
    queue = _queue(state, call)
    if queue is None:
        return None
    return "some" if any(one.state is PositionState.SENDING for one in queue.positions) else "none"


def _kinds(state: State, call: Call) -> str | None:
    """Return what kinds of messages are to be transferred."""
    queue = _queue(state, call)
    if queue is None:
        return None
    kinds = {one.transactional for one in queue.positions if one.available}
    return "both" if len(kinds) == 2 else "none" if not kinds else "transactional" if True in kinds else "plain"


def _other(state: State, call: Call) -> str | None:
    """Return the state of another outgoing queue."""
    queue = _queue(state, call)
    if queue is None:
        return None
    found = "none"
    for one in state.queues.values():
        if one.outgoing is not None and one is not queue:
            if one.outgoing.state is OutgoingState.ON_HOLD:
                return "on_hold"
            found = "messages" if order(one) != "nothing" or found == "messages" else "empty"
    return found


def _handles(state: State, call: Call) -> str | None:
    queue = _queue(state, call)
    if queue is None:
        return None
    its = [handle for handle in state.handles.values() if handle.queue == queue.name]
    return None if not its else "open" if any(handle.is_open for handle in its) else "closed"


def _restarts(state: State, call: Call) -> str:
    return "some" if state.restarts else "none"


_STATE = Feature(
    "state",
    ("inactive", "on_hold", "resumed"),
    _state,
    (
        *("MQDMPR-3.1.4.14.pauses", "MQDMPR-3.1.4.15.resumes", "MQDMPR-3.1.1.3.state-on-hold"),
        *("MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.7.2.4.inactive"),
    ),
)
_ALL = (
    _STATE,
    Feature("content", CHOICES, _content, ("MQDMPR-3.1.7.3.9.highest-priority", "MQDMPR-3.1.1.2.arrival-order")),
    Feature("since", ("neither", "before", "after", "both"), _since, ("MQDMPR-3.1.7.1.34.removed",)),
    Feature("taken", ("none", "some"), _taken, ("MQDMPR-3.1.7.1.29.atomically-removed",)),
    Feature("uncommitted", ("none", "some"), _uncommitted, ("MQDMPR-3.1.7.1.9.uncommitted-locked",)),
    Feature("kinds", ("none", "plain", "transactional", "both"), _kinds, ("MQDMPR-3.1.7.3.9.binary-protocol",)),
    Feature(
        "other",
        ("none", "empty", "messages", "on_hold"),
        _other,
        ("MQDMPR-3.1.7.1.9.only-destination", "MQDMPR-3.1.4.14.paused-queue", "MQDMPR-3.1.4.15.resumed-queue"),
    ),
    Feature("handles", ("open", "closed"), _handles, ("MQDMPR-3.1.7.1.5.remote-send",)),
    Feature("restarts", ("none", "some"), _restarts, ("MQDMPR-3.1.1.volatile",)),
)
PAUSE = RESUME = TAKE = _ALL
