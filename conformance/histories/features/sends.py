"""Features of sends (MS-MQDMPR 3.1.7.1.9 and 3.1.7.1.27, 3.1.1.12)."""

from __future__ import annotations

from conformance.histories.features import reads
from conformance.histories.features.facts import ASKED, kinds, place_of, view, waiting_on
from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.journals import ELSEWHERE, UNLIMITED, is_kept, is_remote
from conformance.model.message_properties import used
from conformance.model.state import Queue
from conformance.model.tables import CursorState, OutgoingState, PositionState

_SENDING, _DELETED = PositionState.SENDING, PositionState.DELETED
_DEFAULT = 3


def _kind(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    if queue is None:
        return None
    if "," in queue.name:
        return "several"
    if queue.name == ELSEWHERE:
        return "elsewhere"
    if is_remote(queue.name):
        held = queue.outgoing is not None and queue.outgoing.state is OutgoingState.ON_HOLD
        return "outgoing_on_hold" if held else "outgoing"
    return "transactional" if queue.transactional else "plain"


def _single(state: State, call: Call) -> Queue | None:
    """Return the queue sent to; None for several at once, and for one whose computer cannot be reached."""
    queue = view(state, call).queue
    return None if queue is None or "," in queue.name or queue.name == ELSEWHERE else queue


def _local(state: State, call: Call) -> Queue | None:
    """Return the queue sent to, if readers can read from it here."""
    queue = _single(state, call)
    return None if queue is None or queue.outgoing is not None else queue


def _waiting(state: State, call: Call) -> str | None:
    queue = _local(state, call)
    return None if queue is None else waiting_on(state, queue.name)


def _priority(state: State, call: Call) -> str:
    if call.priority is None:
        return "default"
    if call.priority in (0, 7):
        return "lowest" if call.priority == 0 else "highest"
    return "below" if call.priority < _DEFAULT else "as_default" if call.priority == _DEFAULT else "above"


def _delivery(state: State, call: Call) -> str:
    return call.delivery or "default"


def _arrives_at(call: Call, queue: Queue) -> int:
    priority = 0 if call.transaction is not None else _DEFAULT if call.priority is None else call.priority
    return 7 - priority


def _place(state: State, call: Call) -> str | None:
    """Return where the message will stand among the available ones."""
    queue = _single(state, call)
    if queue is None:
        return None
    rank = _arrives_at(call, queue)
    before = equal = behind = False
    for position in queue.positions:
        if position.available:
            before = before or position.rank[0] < rank
            equal = equal or position.rank[0] == rank
            behind = behind or position.rank[0] > rank
    if not (before or equal or behind):
        return "alone"
    if not behind:
        return "behind_equal" if equal else "behind_higher"
    return "between" if before or equal else "front"


def _passed(state: State, call: Call) -> str | None:
    """Return what became of the queue's last message that no read can see."""
    queue = _single(state, call)
    if queue is None:
        return None
    found = "nothing"
    for position in queue.positions:
        if position.state is _SENDING:
            own = call.transaction is not None and position.holder == call.transaction
            found = "own_send" if own else "sent"
        elif position.state is _DELETED:
            found = "removed" if found == "nothing" else found
        elif not position.available:
            found = "locked"
    return found


def _cursors(state: State, call: Call) -> str | None:
    """Return where the cursors of the queue stand, seen from the place of the new message."""
    queue = _local(state, call)
    if queue is None:
        return None
    found = "none"
    rank = _arrives_at(call, queue)
    for cursor in state.cursors.values():
        handle = state.handles.get(cursor.handle)
        if handle is None or handle.queue != queue.name or cursor.state is CursorState.CLOSED:
            continue
        place = place_of(state, cursor)
        if place in ("parked", "waiting"):
            return place
        if place == "unused":
            found = found if found != "none" else "unused"
        else:
            found = "behind_it" if cursor.at[0] > rank else "before_it"
    return found


def _size(state: State, call: Call) -> str:
    return "small" if call.size < 4096 else "large"


def _quota(state: State, call: Call) -> str | None:
    """Return how much room the quotas leave."""
    queue = _local(state, call)
    if queue is None:
        return None
    limits: list[tuple[int, list[Queue], str]] = []
    if queue.attributes is not None and queue.attributes.quota is not None:
        limits.append((queue.attributes.quota, [queue], "queue"))
    if state.keeping is not None and state.keeping.quota is not None:
        every = [one for one in state.queues.values() if not is_kept(one.name)]
        limits.append((state.keeping.quota, every, "manager"))
    found = "unset"
    for limit, queues, whose in limits:
        low, high = used(state, queues)
        if low > limit and whose == "queue":
            return "queue_below"
        if low + max(call.size, 1) > limit:
            return f"{whose}_full"
        if found == "unset":
            found = "empty" if not high else "room"
    return found


def _wishes(state: State, call: Call) -> str:
    if call.journal:
        return "journal"
    if call.acks:
        return "acknowledged"
    return "dead_letter" if call.dead_letter else "none"


def _acks(state: State, call: Call) -> str:
    return kinds(call.acks.split("+") if call.acks else ())


def _lives(state: State, call: Call) -> str:
    if call.live_s is None:
        return "unset"
    return "zero" if call.live_s == 0 else "infinite" if call.live_s == UNLIMITED else "seconds"


def _since(state: State, call: Call) -> str | None:
    """Return what the queue has been through: nothing, deletion and creation again, or a restart."""
    queue = view(state, call).queue
    if queue is None:
        return None
    if any(handle.queue == queue.name and handle.lost for handle in state.handles.values()):
        return "recreated"
    return "restarted" if state.restarts else "nothing"


_9 = "MQDMPR-3.1.7.1.9"
SEND = (
    reads.handle_feature(
        f"{_9}.success",
        "MQDMPR-3.1.1.17.send-access",
        "MQDMPR-3.1.1.17.receive-access-no-send",
        "MQDMPR-3.1.1.17.peek-access-no-send",
        "MQDMPR-3.1.7.1.4.send-after-delete",
        without=("move",),
    ),
    Feature(
        "kind",
        ("plain", "transactional", "several", "elsewhere", "outgoing", "outgoing_on_hold"),
        _kind,
        (
            f"{_9}.transactional-queue",
            f"{_9}.nontransactional-queue",
            "MQDMPR-3.1.7.1.27.single-destination",
            "MQDMPR-3.1.7.1.27.multiple-destinations",
            "MQDMPR-3.1.7.1.5.remote-send",
            "MQDMPR-3.1.1.3.state-on-hold",
        ),
    ),
    Feature(
        "transaction",
        reads.TRANSACTION.values,
        reads.transaction,
        (f"{_9}.uncommitted-locked", f"{_9}.available", *reads.TRANSACTION.steps),
    ),
    Feature(
        "priority",
        ("default", "lowest", "below", "as_default", "above", "highest"),
        _priority,
        ("MQDMPR-3.1.1.12.priority-range", "MQMQ-2.2.19.1.higher-priority-nearer-front"),
    ),
    Feature(
        "delivery",
        ("default", "express", "recoverable"),
        _delivery,
        ("MQDMPR-3.1.1.12.recoverable-survives", "MQDMPR-3.1.1.12.express-may-survive"),
    ),
    Feature(
        "place",
        ("alone", "behind_equal", "behind_higher", "between", "front"),
        _place,
        ("MQDMPR-3.1.1.2.arrival-order", "MQDMPR-3.1.1.2.priority-before-arrival"),
    ),
    Feature(
        "passed",
        ("nothing", "removed", "locked", "sent", "own_send"),
        _passed,
        (f"{_9}.uncommitted-locked", "MQDMPR-3.1.4.4.send-order"),
    ),
    Feature(
        "waiting",
        ("none", "peek", "receive", "several"),
        _waiting,
        (f"{_9}.available", "MQDMPR-3.1.7.2.2.peekers-before-receiver", "MQDMPR-3.1.7.2.2.every-handle"),
    ),
    Feature(
        "cursors",
        ("none", "unused", "before_it", "behind_it", "parked", "waiting"),
        _cursors,
        ("MQDMPR-3.2.7.5.peek-waiting", "MQDMPR-3.2.7.5.receive-waiting", "MQDMPR-3.1.7.3.2.forward-inside"),
    ),
    Feature("size", ("small", "large"), _size, (f"{_9}.queue-quota",)),
    Feature(
        "quota",
        ("unset", "empty", "room", "queue_full", "queue_below", "manager_full"),
        _quota,
        (f"{_9}.queue-quota", f"{_9}.manager-quota"),
    ),
    Feature(
        "wishes",
        ("none", "journal", "acknowledged", "dead_letter"),
        _wishes,
        ("MQDMPR-3.1.1.12.positive-journaling", "MQDMPR-3.1.1.12.ack-pos-arrival", "MQQB-3.1.7.15.delivery"),
    ),
    Feature(
        "acks",
        ASKED,
        _acks,
        (
            *(f"MQDMPR-3.1.1.12.ack-{word}" for word in ("none", "pos-arrival", "pos-receive", "neg-arrival")),
            *("MQDMPR-3.1.1.12.ack-neg-receive", "MQQB-3.1.7.15.requested"),
        ),
    ),
    Feature(
        "lives",
        ("unset", "zero", "seconds", "infinite"),
        _lives,
        ("MQDMPR-3.1.2.4.zero", "MQDMPR-3.1.2.4.infinite", "MQDMPR-3.1.2.4.expires"),
    ),
    Feature("since", ("nothing", "recreated", "restarted"), _since, ("MQDMPR-3.1.7.1.4.messages-deleted",)),
)
