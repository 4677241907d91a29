"""Features of management: what is looked at, acted on, connected, transferred and acknowledged.

MS-MQMR 3.1.4, MS-MQDMPR 3.1.1.1 to 3.1.1.4 and 3.1.4.12 to 3.1.4.15, MS-MQQB 3.1.1.5 and 3.1.5.6.
"""

from __future__ import annotations

from typing import Final

from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.management import MACHINE_ACTIONS, QUEUE_ACTIONS, SESSION
from conformance.model.management_sessions import ACK_RECEIVE, STATES, session_of
from conformance.model.management_state import Session
from conformance.model.state import Queue
from conformance.model.tables import OutgoingState, PositionState

_STATES: Final = ("INACTIVE", "WAITING", "CONNECTED", "DISCONNECTING", "DISCONNECTED", "NEED VALIDATION", "ONHOLD")


def _outgoing(state: State, call: Call) -> Queue | None:
    """Return the outgoing queue of a call; of a call about the machine, the first one that there is."""
    if call.target == SESSION:
        return None
    if call.queue is None:
        return next((queue for queue in state.queues.values() if queue.outgoing is not None), None)
    queue = state.queues.get(call.queue)
    return queue if queue is not None and queue.outgoing is not None else None


def _session(state: State, call: Call) -> Session | None:
    queue = _outgoing(state, call)
    return session_of(state, queue.name) if queue is not None else None


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
    queue = _outgoing(state, call)
    if queue is None or queue.outgoing is None:
        return None
    return "ONHOLD" if queue.outgoing.state is OutgoingState.ON_HOLD else session_of(state, queue.name).state


def _holds(state: State, call: Call) -> str | None:
    """Return what is in the queue: nothing, messages, or also some that a transaction holds."""
    queue = state.queues.get(call.queue) if call.queue is not None else _outgoing(state, call)
    if queue is None:
        return None
    if any(one.state in (PositionState.SENDING, PositionState.LOCKED) for one in queue.positions):
        return "held"
    return "messages" if any(one.available for one in queue.positions) else "nothing"


def _opened(state: State, call: Call) -> str | None:
    """Return whether somebody has the outgoing queue open."""
    queue = _outgoing(state, call)
    if queue is None:
        return None
    its = [handle for handle in state.handles.values() if handle.queue == queue.name]
    return "open" if any(handle.is_open for handle in its) else "closed"


def _online(state: State, call: Call) -> str:
    connected = state.management.connected if state.management is not None else None
    return "started" if connected is None else "online" if connected else "offline"


def _action(state: State, call: Call) -> str:
    name = (call.action or "").upper()
    return name if name in (*MACHINE_ACTIONS, *QUEUE_ACTIONS) else "unknown"


def _case(state: State, call: Call) -> str:
    return "upper" if (call.action or "").isupper() else "other"


def _under_way(state: State, call: Call) -> str | None:
    """Return whether messages were transferred that are not acknowledged, and whether they go again."""
    session = _session(state, call)
    return None if session is None else "again" if session.due else "some" if session.sent else "none"


def _stored(state: State, call: Call) -> str | None:
    """Return how much of what was transferred has a session acknowledgment."""
    session = _session(state, call)
    if session is None:
        return None
    lacking = [one for one in session.sent if one not in session.stored]
    return "nothing" if not session.stored else "in_part" if lacking else "all"


def _numbers(state: State, call: Call) -> str | None:
    """Return how far the present sequence of transactional messages has come."""
    session = _session(state, call)
    if session is None:
        return None
    acked = session.acked is not None and session.acked[1] > 0
    if session.numbers:
        return "in_part" if acked and session.following > len(session.numbers) + 1 else "pending"
    return "complete" if acked else "none"


def _unread(state: State, call: Call) -> str | None:
    session = _session(state, call)
    return None if session is None else "awaited" if session.unread else "none"


def _kind(state: State, call: Call) -> str | None:
    """Return the kind of an acknowledgment; of an order acknowledgment, whether it comes again, or late."""
    session = _session(state, call)
    if call.action == "session":
        return "session"
    if call.action == "final":
        return "received" if call.klass == ACK_RECEIVE else "rejected"
    if session is None or call.action != "order":
        return None
    _, last = session.acked or (None, 0)
    number = call.number or 0
    return "order" if number > last else "order_again" if number == last else "order_late"


_TARGETS: Final = ("machine", "local", "outgoing", "session", "absent")
_OF_STATE = Feature("state", _STATES, _state, tuple(STATES.values()))
_UNDER_WAY = Feature(
    "under_way", ("none", "some", "again"), _under_way, ("MQDMPR-3.1.1.3.state-disconnected", "MQMR-3.1.4.2.eod-resend")
)
_SEQUENCE = Feature(
    "sequence",
    ("none", "pending", "in_part", "complete"),
    _numbers,
    (
        *("MQQB-3.1.1.5.first-number", "MQQB-3.1.7.1.3.next-number", "MQQB-3.1.7.1.3.previous-number"),
        *("MQQB-3.1.7.1.3.resent-number", "MQQB-3.1.1.5.next-sequence", "MQQB-3.1.1.5.all-acknowledged"),
        *("MQDMPR-3.1.1.4.eod-no-ack-count", "MQDMPR-3.1.1.4.eod-first-non-ack", "MQDMPR-3.1.1.4.eod-last-ack"),
    ),
)
_CONTENT = Feature(
    "content",
    ("nothing", "messages", "held"),
    _holds,
    ("MQMQ-2.3.12.7.propid-mgmt-queue-message-count", "MQDMPR-3.1.1.2.active-outgoing"),
)
_OPENED = Feature("opened", ("open", "closed"), _opened, ("MQDMPR-3.1.1.2.active",))
_ONLINE = Feature(
    "online",
    ("started", "online", "offline"),
    _online,
    ("MQDMPR-3.1.4.12.disconnected", "MQDMPR-3.1.4.13.connected", "MQDMPR-3.1.1.1.connection-active"),
)
_STORED = Feature("stored", ("nothing", "in_part", "all"), _stored, ("MQDMPR-3.1.1.12.positive-journaling",))
_UNREAD = Feature("unread", ("none", "awaited"), _unread, ("MQDMPR-3.1.1.4.eod-no-read-count",))
_OF_SESSION = (_OF_STATE, _CONTENT, _UNDER_WAY, _SEQUENCE, _STORED, _UNREAD, _OPENED, _ONLINE)
GET = (
    Feature("target", _TARGETS, _target, ("MQMR-3.1.4.1.session", "MQMR-3.1.4.1.unknown-queue")),
    *_OF_SESSION,
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
    *_OF_SESSION,
)
CONNECTION = TRANSFER = _OF_SESSION
ACKNOWLEDGE = (
    Feature(
        "kind",
        ("session", "order", "order_again", "order_late", "received", "rejected"),
        _kind,
        ("MQDMPR-3.1.1.4.eod-last-ack", "MQDMPR-3.1.1.4.eod-last-ack-count", "MQDMPR-3.1.1.4.eod-no-read-count"),
    ),
    *_OF_SESSION,
)
