"""Features of management: what is looked at, acted on, connected, transferred and acknowledged.

MS-MQMR 3.1.4, MS-MQDMPR 3.1.1.3 and 3.1.1.4, MS-MQQB 3.1.1.5 and 3.1.5.6.
"""

from __future__ import annotations

from typing import Final

from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.management import MACHINE_ACTIONS, QUEUE_ACTIONS, SESSION
from conformance.model.management_sessions import STATES, session_of
from conformance.model.tables import OutgoingState, PositionState

_STATES: Final = ("INACTIVE", "WAITING", "CONNECTED", "DISCONNECTING", "DISCONNECTED", "NEED VALIDATION", "ONHOLD")


def _target(state: State, call: Call) -> str:
    if call.target == SESSION:
        return "session"
    if call.queue is None:
        return "machine"
    queue = state.queues.get(call.queue)
    if queue is None or not queue.exists:
        return "absent"
    return "local" if queue.outgoing is None else "outgoing"


def _state(state: State, call: Call) -> str | None:
    queue = state.queues.get(call.queue or "")
    if queue is None or queue.outgoing is None:
        return None
    return "ONHOLD" if queue.outgoing.state is OutgoingState.ON_HOLD else session_of(state, queue.name).state


def _holds(state: State, call: Call) -> str | None:
    """Return what is in the queue: nothing, messages, or also some that a transaction holds."""
    queue = state.queues.get(call.queue or "")
    if queue is None:
        return None
    if any(one.state in (PositionState.SENDING, PositionState.LOCKED) for one in queue.positions):
        return "held"
    return "messages" if any(one.available for one in queue.positions) else "nothing"


def _action(state: State, call: Call) -> str:
    name = (call.action or "").upper()
    return name if name in (*MACHINE_ACTIONS, *QUEUE_ACTIONS) else "unknown"


def _case(state: State, call: Call) -> str:
    return "upper" if (call.action or "").isupper() else "other"


def _under_way(state: State, call: Call) -> str | None:
    """Return whether messages were transferred that are not acknowledged, and whether they go again."""
    queue = state.queues.get(call.queue or "")
    if queue is None or queue.outgoing is None:
        return None
    session = session_of(state, queue.name)
    return "again" if session.due else "some" if session.sent else "none"


def _numbers(state: State, call: Call) -> str | None:
    """Return how far the present sequence of transactional messages has come."""
    queue = state.queues.get(call.queue or "")
    if queue is None or queue.outgoing is None:
        return None
    session = session_of(state, queue.name)
    if session.numbers:
        return "pending"
    return "next_sequence" if session.before is not None else "none"


_TARGETS: Final = ("machine", "local", "outgoing", "session", "absent")
_OF_STATE = Feature("state", _STATES, _state, tuple(STATES.values()))
_UNDER_WAY = Feature(
    "under_way", ("none", "some", "again"), _under_way, ("MQDMPR-3.1.1.3.state-disconnected", "MQMR-3.1.4.2.eod-resend")
)
_SEQUENCE = Feature(
    "sequence",
    ("none", "pending", "next_sequence"),
    _numbers,
    (
        *("MQQB-3.1.1.5.first-number", "MQQB-3.1.7.1.3.next-number", "MQQB-3.1.7.1.3.previous-number"),
        *("MQQB-3.1.7.1.3.resent-number", "MQQB-3.1.1.5.next-sequence", "MQQB-3.1.1.5.all-acknowledged"),
        "MQDMPR-3.1.1.4.eod-no-ack-count",
    ),
)
_CONTENT = Feature(
    "content",
    ("nothing", "messages", "held"),
    _holds,
    ("MQMQ-2.3.12.7.propid-mgmt-queue-message-count", "MQDMPR-3.1.1.2.active-outgoing"),
)
GET = (
    Feature("target", _TARGETS, _target, ("MQMR-3.1.4.1.session", "MQMR-3.1.4.1.unknown-queue")),
    _OF_STATE,
    _CONTENT,
    _SEQUENCE,
)
ACT = (
    Feature("target", _TARGETS, _target, ("MQMR-3.1.4.2.kind-of-target", "MQMR-3.1.4.2.outgoing-only")),
    Feature(
        "action",
        (*MACHINE_ACTIONS, *QUEUE_ACTIONS, "unknown"),
        _action,
        ("MQMR-3.1.4.2.unknown-action", "MQDMPR-3.1.4.12.disconnected", "MQDMPR-3.1.4.13.connected"),
    ),
    Feature("case", ("upper", "other"), _case, ("MQMR-3.1.4.2.any-case",)),
    _OF_STATE,
    _UNDER_WAY,
)
CONNECTION = TRANSFER = ACKNOWLEDGE = (_OF_STATE, _CONTENT, _UNDER_WAY, _SEQUENCE)
