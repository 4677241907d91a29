"""Features of management: queue properties, counts and quotas, what is looked at and acted on, outgoing queues."""

from __future__ import annotations

from typing import Final

from conformance.histories.features.facts import CHOICES, journal, kind_of, named_queue, order, several
from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.journals import UNLIMITED, is_kept
from conformance.model.management import MACHINE_ACTIONS, QUEUE_ACTIONS, SESSION
from conformance.model.outgoing import ACK_RECEIVE, STATES, session_of
from conformance.model.properties import ROWS, Problem
from conformance.model.state import Queue, Session
from conformance.model.tables import OutgoingState, PositionState

_PROBLEMS = {Problem.TYPE: "type", Problem.VALUE: "value"}


def _queue(state: State, call: Call) -> str:
    queue = state.queues.get(call.queue or "")
    properties = state.properties
    if properties is not None:
        return "there" if (call.queue or "") in properties.queues else "deleted" if queue is not None else "never"
    return "never" if queue is None else "there" if queue.exists else "deleted"


def _first(call: Call) -> str | None:
    return call.values[0][0] if call.values else call.names[0] if call.names else None


def _kind(state: State, call: Call) -> str | None:
    """Return the type of the first property that the call gives: a number, a choice, a text or an identifier."""
    row = ROWS.get(_first(call) or "")
    if row is None:
        return "unknown"
    if row.values:
        return "choice"
    kind = row.kind.name
    return "text" if kind == "TEXT" else "identifier" if kind == "GUID" else "number"


def _many(state: State, call: Call) -> str:
    return several(len(call.values or call.names or ()))


def _problem(state: State, call: Call) -> str:
    """Return what is wrong with a property, the first one that is."""
    for name, value in call.values or ():
        row = ROWS.get(name)
        if row is None:
            return "unknown"
        if row.kept is None:
            return "not_applicable"
        found = row.problem(value)
        if found is not None:
            return _PROBLEMS[found[0]]
    return "none"


def _clears(state: State, call: Call) -> str:
    """Return whether the call empties a text that is not empty."""
    properties = state.properties
    known = properties.queues.get(call.queue or "") if properties is not None else None
    if known is None:
        return "no"
    emptied = [known.known.get(name) for name, value in call.values or () if value == ""]
    return "yes" if any(one is not None and one.value for one in emptied) else "no"


def _wrong_at(state: State, call: Call) -> str:
    """Return where a wrong property stands among right ones."""
    wrong = []
    for name, value in call.values or ():
        row = ROWS.get(name)
        wrong.append(row is None or row.kept is None or row.problem(value) is not None)
    if True not in wrong:
        return "nowhere"
    if len(wrong) == 1:
        return "alone"
    return "first" if wrong[0] else "behind"


def _unknown(state: State, call: Call) -> str:
    unknown = [name not in ROWS for name in call.names or ()]
    return "none" if True not in unknown else "only" if all(unknown) else "beside_known"


def _time(state: State, call: Call) -> str:
    return "start" if state.now == 0 else "later"


def _restarts(state: State, call: Call) -> str:
    return "some" if state.restarts else "none"


_SET, _GET = "MQMP-3.1.4.10", "MQMP-3.1.4.9"
_WHERE = Feature(
    "queue",
    ("there", "deleted", "never"),
    _queue,
    ("MQDMPR-3.1.7.1.4.removed", f"{_SET}.unknown-queue", f"{_GET}.unknown-queue"),
)
_RESTARTS = Feature("restarts", ("none", "some"), _restarts, ("MQDMPR-3.1.1.2.private-attributes-persistent",))
_TIME = Feature("time", ("start", "later"), _time, ("MQDMPR-3.1.7.1.3.modify-time",))
SET = (
    _WHERE,
    Feature("kind", ("choice", "number", "text", "identifier", "unknown"), _kind, (f"{_SET}.property-type",)),
    Feature("many", ("one", "several"), _many, (f"{_SET}.every-property", f"{_SET}.others-unchanged")),
    Feature(
        "problem",
        ("none", "unknown", "not_applicable", "type", "value"),
        _problem,
        (
            *(f"{_SET}.{step}" for step in ("set", "unknown-property", "property-type", "refused-unchanged")),
            *("MQMP-3.1.1.12.set-not-applicable", "MQMP-3.1.1.12.set-not-applicable-unchanged"),
        ),
    ),
    Feature("wrong", ("nowhere", "alone", "first", "behind"), _wrong_at, (f"{_SET}.unknown-property",)),
    Feature("clears", ("no", "yes"), _clears, (f"{_SET}.set", "MQDMPR-3.1.1.2.label")),
    _TIME,
    _RESTARTS,
)
GET = (
    _WHERE,
    Feature("kind", ("choice", "number", "text", "identifier", "unknown"), _kind, (f"{_GET}.unknown-property",)),
    Feature("many", ("one", "several"), _many, (f"{_GET}.get",)),
    Feature("unknown", ("none", "only", "beside_known"), _unknown, (f"{_GET}.unknown-property",)),
    _TIME,
    _RESTARTS,
)


def _used(state: State, call: Call) -> str | None:
    queue = state.queues.get(call.queue or "")
    return None if queue is None else "transactional" if queue.transactional else "plain"


def _shown(state: State, call: Call) -> str:
    return "all" if len(call.names or ()) == len(ROWS) else "some"


WATCH = (Feature("shown", ("all", "some"), _shown, (f"{_GET}.unknown-property",)),)
USE = (
    Feature("kind", ("plain", "transactional"), _used, ("MQDMPR-3.1.7.1.3.openable",)),
    _RESTARTS,
)


def _queue_kind(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None or is_kept(queue.name) else kind_of(queue)


def _content(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else order(queue)


def _removed(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    if queue is None:
        return None
    return several(sum(position.state is PositionState.DELETED for position in queue.positions))


def _journal(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else journal(state, queue)


def _sizes(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    if queue is None:
        return None
    sizes = {
        position.wishes.size if position.wishes is not None else 0 for position in queue.positions if position.available
    }
    return "none" if not sizes else "one" if len(sizes) == 1 else "several"


def _since(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    if queue is None:
        return None
    if any(handle.queue == queue.name and handle.lost for handle in state.handles.values()):
        return "recreated"
    return "restarted" if state.restarts else "nothing"


_COUNTED = ("MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.7.2.2.total-bytes")
COUNTS = (
    Feature("kind", ("plain", "transactional", "subqueue"), _queue_kind, ("MQDMPR-3.1.7.1.3.total-bytes-zero",)),
    Feature("content", CHOICES, _content, _COUNTED),
    Feature("removed", ("none", "one", "several"), _removed, _COUNTED),
    Feature("journal", ("none", "empty", "messages"), _journal, ("MQDMPR-3.1.7.1.3.journal-queue", *_COUNTED)),
    Feature("sizes", ("none", "one", "several"), _sizes, _COUNTED),
    Feature("since", ("nothing", "recreated", "restarted"), _since, ("MQDMPR-3.1.7.1.3.total-bytes-zero",)),
)


def _quota(given: int | None) -> str:
    return "unset" if given is None else "unlimited" if given == UNLIMITED else "limited"


def _messages(state: State, call: Call) -> str:
    return _quota(call.quota_kb)


def _journals(state: State, call: Call) -> str:
    return _quota(call.journal_quota_kb)


def _before(state: State, call: Call) -> str:
    keeping = state.keeping
    return "limited" if keeping is not None and (keeping.quota or keeping.journal_quota) else "unlimited"


def _there(state: State, call: Call) -> str:
    return several(sum(position.available for queue in state.queues.values() for position in queue.positions))


LIMITS = (
    Feature("messages", ("unset", "limited", "unlimited"), _messages, ("MQDMPR-3.1.7.1.9.manager-quota",)),
    Feature("journals", ("unset", "limited", "unlimited"), _journals, ("MQDMPR-3.1.1.1.journal-quota",)),
    Feature("before", ("unlimited", "limited"), _before, ("MQDMPR-3.1.7.1.9.manager-quota",)),
    Feature("there", ("none", "one", "several"), _there, ("MQDMPR-3.1.7.1.9.manager-quota",)),
)


def _hardened(state: State, call: Call) -> str:
    return "hardened" if state.hardened else "not_hardened"


def _hardening(state: State, call: Call) -> str:
    return "on" if call.hardened else "off"


HARDEN = (
    Feature("to", ("off", "on"), _hardening, ("MQDMPR-3.1.3.lock", "MQDMPR-3.1.3.unlock")),
    Feature("before", ("not_hardened", "hardened"), _hardened, ("MQDMPR-3.1.7.1.5.hardened-locked",)),
)
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


def _management_kind(state: State, call: Call) -> str | None:
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
MANAGEMENT_GET = (
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
        _management_kind,
        ("MQDMPR-3.1.1.4.eod-last-ack", "MQDMPR-3.1.1.4.eod-last-ack-count", "MQDMPR-3.1.1.4.eod-no-read-count"),
    ),
    *_OF_SESSION,
)


def _outgoing_queue(state: State, call: Call) -> Queue | None:
    queue = state.queues.get(call.queue or "")
    return queue if queue is not None and queue.outgoing is not None else None


def _outgoing_state(state: State, call: Call) -> str | None:
    queue = _outgoing_queue(state, call)
    if queue is None or queue.outgoing is None:
        return None
    if queue.outgoing.state is OutgoingState.ON_HOLD:
        return "on_hold"
    return "inactive" if queue.outgoing.paused is None else "resumed"


def _outgoing_content(state: State, call: Call) -> str | None:
    queue = _outgoing_queue(state, call)
    return None if queue is None else order(queue)


def _outgoing_since(state: State, call: Call) -> str | None:
    """Return whether the available messages were sent before or after the queue was last put on hold."""
    queue = _outgoing_queue(state, call)
    if queue is None or queue.outgoing is None or queue.outgoing.paused is None:
        return None
    paused = queue.outgoing.paused
    before = any(one.available and one.since <= paused for one in queue.positions)
    after = any(one.available and one.since > paused for one in queue.positions)
    return ("both" if after else "before") if before else "after" if after else "neither"


def _taken(state: State, call: Call) -> str | None:
    queue = _outgoing_queue(state, call)
    if queue is None:
        return None
    return "some" if any(one.state is PositionState.DELETED for one in queue.positions) else "none"


def _uncommitted(state: State, call: Call) -> str | None:
    queue = _outgoing_queue(state, call)
    if queue is None:
        return None
    return "some" if any(one.state is PositionState.SENDING for one in queue.positions) else "none"


def _kinds(state: State, call: Call) -> str | None:
    """Return what kinds of messages are to be transferred."""
    queue = _outgoing_queue(state, call)
    if queue is None:
        return None
    kinds = {one.transactional for one in queue.positions if one.available}
    return "both" if len(kinds) == 2 else "none" if not kinds else "transactional" if True in kinds else "plain"


def _other(state: State, call: Call) -> str | None:
    """Return the state of another outgoing queue."""
    queue = _outgoing_queue(state, call)
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
    queue = _outgoing_queue(state, call)
    if queue is None:
        return None
    its = [handle for handle in state.handles.values() if handle.queue == queue.name]
    return None if not its else "open" if any(handle.is_open for handle in its) else "closed"


_STATE = Feature(
    "state",
    ("inactive", "on_hold", "resumed"),
    _outgoing_state,
    (
        *("MQDMPR-3.1.4.14.pauses", "MQDMPR-3.1.4.15.resumes", "MQDMPR-3.1.1.3.state-on-hold"),
        *("MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.7.2.4.inactive"),
    ),
)
_ALL = (
    _STATE,
    Feature(
        "content", CHOICES, _outgoing_content, ("MQDMPR-3.1.7.3.9.highest-priority", "MQDMPR-3.1.1.2.arrival-order")
    ),
    Feature("since", ("neither", "before", "after", "both"), _outgoing_since, ("MQDMPR-3.1.7.1.34.removed",)),
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
