"""Features of queues: create, open, close, delete and purge (MS-MQDMPR 3.1.7.1.3 to 3.1.7.1.7, MS-MQMP 3.1.4)."""

from __future__ import annotations

from typing import Final

from conformance.histories.features import reads
from conformance.histories.features.facts import (
    access_of,
    asked,
    asked_feature,
    available,
    beyond,
    copies,
    cursors_of,
    elsewhere,
    handles_of,
    held_by,
    journal,
    kind_of,
    lasting,
    named_queue,
    order,
    several,
    subqueues,
    view,
    waiting_on,
)
from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.journals import is_kept, is_remote
from conformance.model.properties import ROWS
from conformance.model.state import Handle
from conformance.model.tables import CursorState

HOLDERS: Final = ("none", "received", "sent", "begun", "moving", "purged")
"""The acts that hold a message of a queue."""
_READS = ("receive", "peek")


def _name(state: State, call: Call) -> str | None:
    queue = state.queues.get(call.queue or "")
    if queue is None:
        return "new"
    return "exists" if queue.exists else "deleted"


def _kind_to_be(state: State, call: Call) -> str:
    return "transactional" if call.transactional else "plain"


def _kind_was(state: State, call: Call) -> str | None:
    queue = state.queues.get(call.queue or "")
    return None if queue is None else "same" if queue.transactional == call.transactional else "other"


def _attributes(state: State, call: Call) -> str:
    if call.journaling:
        return "journaling"
    return "quota" if call.quota_kb is not None or call.journal_quota_kb is not None else "none"


def _had(state: State, call: Call) -> str | None:
    """Return what the queue of this name has had, if there was one: no message, removed ones, or ones still there."""
    queue = state.queues.get(call.queue or "")
    if queue is None:
        return None
    return "nothing" if not queue.positions else "messages" if available(queue) else "removed"


def _left(state: State, call: Call) -> str | None:
    """Return the handles on the queue of this name."""
    queue = state.queues.get(call.queue or "")
    return None if queue is None else handles_of(state, queue.name)


def _others(state: State, call: Call) -> str:
    return several(sum(one.exists and one.parent is None and not is_kept(one.name) for one in state.queues.values()))


def _gone(state: State, call: Call) -> str:
    """Return how many queues of other names are deleted."""
    return several(
        sum(not one.exists and one.parent is None and one.name != call.queue for one in state.queues.values())
    )


def _restarts(state: State, call: Call) -> str:
    return several(state.restarts)


def _ended(state: State, call: Call) -> str:
    """Return whether an earlier queue of this name has ended with other queues: its subqueues."""
    return subqueues(state, call.queue or "")


def _values(state: State, call: Call) -> str:
    """Return whether the call gives properties by name, and whether one of them is wrong."""
    found = "none"
    for name, value in call.values or ():
        row = ROWS.get(name)
        if row is None or row.given is None or row.problem(value) is not None:
            return "wrong"
        found = "right"
    return found


_3 = "MQDMPR-3.1.7.1.3"
CREATE = (
    Feature(
        "name",
        ("new", "deleted", "exists"),
        _name,
        (
            f"{_3}.success",
            "MQMP-3.1.4.5.queue-exists",
            "MQDMPR-3.1.7.1.4.messages-deleted",
            f"{_3}.private-queue-number",
        ),
    ),
    Feature("kind", ("plain", "transactional"), _kind_to_be, (f"{_3}.attribute-transactional",)),
    Feature(
        "was", ("same", "other"), _kind_was, (f"{_3}.attribute-transactional", "MQMP-3.1.4.5.existing-queue-unaltered")
    ),
    Feature(
        "attributes",
        ("none", "journaling", "quota"),
        _attributes,
        (f"{_3}.journal-queue", f"{_3}.attribute-journaling", f"{_3}.attribute-quota"),
    ),
    Feature(
        "values",
        ("none", "right", "wrong"),
        _values,
        (
            *(f"MQMP-3.1.4.5.{step}" for step in ("unknown-property", "property-type", "refused-no-queue")),
            *(f"{_3}.attribute-label", "MQMP-3.1.1.12.create-not-applicable"),
        ),
    ),
    Feature("had", ("nothing", "removed", "messages"), _had, (f"{_3}.empty", "MQDMPR-3.1.7.1.4.messages-deleted")),
    Feature(
        "handles",
        ("none", "open", "closed"),
        _left,
        ("MQDMPR-3.1.7.1.4.handle-invalidated", "MQDMPR-3.1.7.1.4.send-after-delete"),
    ),
    Feature("others", ("none", "one", "several"), _others, (f"{_3}.private-queue-number",)),
    Feature("gone", ("none", "one", "several"), _gone, (f"{_3}.private-queue-number",)),
    Feature("subqueues", ("none", "empty", "messages", "gone"), _ended, (f"{_3}.journal-queue",)),
    Feature("restarts", ("none", "one", "several"), _restarts, ("MQDMPR-3.1.1.2.private-attributes-persistent",)),
)


def _opened_kind(state: State, call: Call) -> str:
    name = call.queue or ""
    if "," in name:
        return "several"
    if is_remote(name) or name == "elsewhere":
        return "remote"
    if is_kept(name):
        return "journal" if name.endswith("JOURNAL") else "dead_letter"
    if ";" in name:
        queue = state.queues.get(name)
        return "subqueue" if queue is not None and queue.exists else "new_subqueue"
    queue = state.queues.get(name)
    return "transactional" if queue is not None and queue.transactional else "plain"


def _opened(state: State, call: Call) -> str | None:
    """Return what is there under the name: a queue, one that was deleted, one created again, or none ever."""
    name = (call.queue or "").partition(";")[0]
    if "," in name or is_remote(name) or name in ("elsewhere", "SYSTEM"):
        return None
    queue = state.queues.get(name)
    if queue is None:
        return "never"
    if not queue.exists:
        return "deleted"
    lost = any(handle.queue == name and handle.lost for handle in state.handles.values())
    return "recreated" if lost else "there"


def _access(state: State, call: Call) -> str:
    return call.access or "receive"


def _share(state: State, call: Call) -> str:
    return call.share or "deny_none"


def _users(state: State, call: Call) -> str:
    """Return the strictest of the handles that have the queue open: it decides whether this one may."""
    found = "none"
    for handle in state.handles.values():
        if handle.queue != call.queue or not handle.is_open or handle.lost:
            continue
        if handle.access in _READS:
            if handle.share == "deny_receive":
                return f"{handle.access}_exclusive"
            found = "receive" if handle.access == "receive" or found == "receive" else "peek"
        elif found == "none":
            found = "other"
    return found


def _released(state: State, call: Call) -> str:
    """Return how handles on the queue were closed: none, a shared one, an exclusive one."""
    found = "none"
    for handle in state.handles.values():
        if handle.queue == call.queue and not handle.is_open:
            if handle.share == "deny_receive":
                return "exclusive"
            found = "shared"
    return found


def _open_content(state: State, call: Call) -> str | None:
    queue = state.queues.get(call.queue or "")
    return None if queue is None or "," in queue.name else order(queue)


_4, _5 = "MQDMPR-3.1.7.1.4", "MQDMPR-3.1.7.1.5"
OPEN = (
    Feature(
        "kind",
        ("plain", "transactional", "subqueue", "new_subqueue", "journal", "dead_letter", "remote", "several"),
        _opened_kind,
        (
            *(f"{_5}.{step}" for step in ("multiple-element-access", "multiple-element-success", "remote-send")),
            *(f"{_5}.{step}" for step in ("multiple-each-element", "multiple-element-failed-element")),
            *("MQDMPR-3.1.7.1.3.journal-queue", "MQDMPR-3.1.7.3.8.single-element", "MQDMPR-3.1.7.3.8.one-left"),
            "MQMP-3.1.4.17.subqueue-send-access",
        ),
    ),
    Feature(
        "queue",
        ("there", "recreated", "deleted", "never"),
        _opened,
        (f"{_5}.not-found", f"{_5}.success", f"{_4}.removed"),
    ),
    Feature(
        "access",
        ("receive", "peek", "send", "move"),
        _access,
        (
            *(
                f"{_5}.{step}"
                for step in ("multiple-element-access", "multiple-element-send-only", "not-found-reading")
            ),
            "MQDMPR-3.1.1.17.receive-access",
        ),
    ),
    Feature(
        "share",
        ("deny_none", "deny_receive"),
        _share,
        (f"{_5}.multiple-element-share", "MQMP-3.1.4.17.send-exclusive", f"{_5}.exclusive-then-exclusive"),
    ),
    Feature(
        "users",
        ("none", "other", "receive", "peek", "receive_exclusive", "peek_exclusive"),
        _users,
        (
            *(f"{_5}.{step}" for step in ("exclusive-then-exclusive", "exclusive-then-exclusive-peek")),
            *(f"{_5}.{step}" for step in ("exclusive-then-receive", "exclusive-peek-then-receive")),
            *(f"{_5}.{step}" for step in ("exclusive-peek-shared-peek", "receive-then-exclusive")),
            *(f"{_5}.{step}" for step in ("receive-then-receive", "refused-no-handle", "exclusive-then-send")),
        ),
    ),
    Feature("released", ("none", "shared", "exclusive"), _released, ("MQDMPR-3.1.7.1.6.share-released",)),
    Feature("content", reads.CHOICE.values, _open_content, (f"{_5}.success", "MQDMPR-3.1.7.1.6.messages-kept")),
    Feature("restarts", ("none", "one", "several"), _restarts, ("MQDMPR-3.1.1.2.private-attributes-persistent",)),
)


def _handle(state: State, call: Call) -> Handle | None:
    return view(state, call).handle


def _own_cursors(state: State, call: Call) -> str | None:
    handle = _handle(state, call)
    if handle is None:
        return None
    own = [one for one in state.cursors.values() if one.handle == handle.name and one.state is not CursorState.CLOSED]
    if not own:
        return "none"
    if any(one.state in (CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE) for one in own):
        return "waiting"
    if len(own) > 1:
        return "several"
    return "on_message" if own[0].state is CursorState.READ else "unread"


def _own_waits(state: State, call: Call) -> str | None:
    handle = _handle(state, call)
    if handle is None:
        return None
    found = "none"
    for waiter in state.waiters:
        if waiter.handle == handle.name:
            if found != "none":
                return "several"
            found = "receive" if waiter.destructive else "peek"
    return found


def _others_waits(state: State, call: Call) -> str | None:
    handle = _handle(state, call)
    if handle is None:
        return None
    found = "none"
    for waiter in state.waiters:
        if waiter.handle != handle.name:
            if waiter.queue == handle.queue:
                return "same_queue"
            found = "other_queue"
    return found


def _users_beside(state: State, call: Call) -> str | None:
    handle = _handle(state, call)
    if handle is None:
        return None
    rest = [one for one in state.handles.values() if one.queue == handle.queue and one is not handle and one.is_open]
    if not rest:
        return "none"
    return "reader" if any(one.access in _READS for one in rest) else "sender"


def _its_share(state: State, call: Call) -> str | None:
    handle = _handle(state, call)
    return None if handle is None else handle.share


def its_held(state: State, call: Call) -> str | None:
    """Return what holds a message of the queue of the call's handle."""
    queue = view(state, call).queue
    return None if queue is None else held_by(queue)


def its_content(state: State, call: Call) -> str | None:
    """Return what is in the queue of the call's handle."""
    queue = view(state, call).queue
    return None if queue is None else order(queue)


_6 = "MQDMPR-3.1.7.1.6"
CLOSE = (
    Feature(
        "handle",
        ("receive", "peek", "send", "move", "closed", "deleted", "recreated"),
        access_of,
        (f"{_6}.handle-closed", f"{_6}.deleted-queue"),
    ),
    Feature("share", ("deny_none", "deny_receive"), _its_share, (f"{_6}.share-released",)),
    reads.kind_feature("3.1.7.1.6.messages-kept"),
    Feature("cursors", ("none", "unread", "on_message", "several", "waiting"), _own_cursors, (f"{_6}.cursors-closed",)),
    Feature("waits", ("none", "peek", "receive", "several"), _own_waits, (f"{_6}.pending-read-cancelled",)),
    Feature("beside", ("none", "same_queue", "other_queue"), _others_waits, (f"{_6}.pending-read-others-kept",)),
    Feature("users", ("none", "sender", "reader"), _users_beside, (f"{_6}.messages-kept", f"{_6}.share-released")),
    Feature("held", HOLDERS, its_held, (f"{_6}.messages-kept", "MQDMPR-3.1.7.1.11.locks")),
    Feature("content", reads.CHOICE.values, its_content, (f"{_6}.messages-kept",)),
)

_LOSSES: Final = ("none", "acknowledged", "acknowledged_twice", "dead_letter", "expires")
_BEYOND: Final = ("none", "here_alone", "sends_elsewhere", "receives_elsewhere")


def _delete_kind(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else kind_of(queue)


def _content(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else order(queue)


def _held(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else held_by(queue)


def _cursors(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else cursors_of(state, queue.name)


def _waiting(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else waiting_on(state, queue.name)


def _subqueues(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else _living(state, queue.name)


def _living(state: State, name: str) -> str:
    found = subqueues(state, name)
    return "none" if found == "gone" else found


def _journal(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else journal(state, queue)


def _elsewhere(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else elsewhere(state, queue)


def _deleted_before(state: State, call: Call) -> str | None:
    """Return whether a queue of this name was deleted before."""
    queue = named_queue(state, call)
    if queue is None:
        return None
    return "yes" if any(one.queue == queue.name and one.lost for one in state.handles.values()) else "no"


def _copies(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else copies(state, queue)


def _asked(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else asked(state, lasting(queue))


def _beyond(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else beyond(state, queue)


DELETE = (
    Feature("kind", ("plain", "transactional"), _delete_kind, (f"{_4}.success", f"{_4}.removed")),
    Feature("content", reads.CHOICE.values, _content, (f"{_4}.messages-deleted",)),
    Feature("held", HOLDERS, _held, (f"{_4}.messages-deleted", "MQDMPR-3.1.7.1.12.queue-not-available-ends")),
    Feature("handles", ("none", "open", "closed"), _left, (f"{_4}.handle-invalidated",)),
    Feature("cursors", ("none", "unused", "on_message", "parked"), _cursors, ("MQDMPR-3.1.7.1.1.queue-deleted",)),
    Feature("waiting", ("none", "peek", "receive", "several"), _waiting, (f"{_4}.waiting-read-ends",)),
    Feature("subqueues", ("none", "empty", "messages"), _subqueues, ("MQMQ-2.1.2.subqueue",)),
    Feature("journal", ("none", "empty", "messages"), _journal, (f"{_3}.journal-queue",)),
    Feature("elsewhere", ("none", "empty", "messages"), _elsewhere, (f"{_4}.success",)),
    Feature("deleted_before", ("no", "yes"), _deleted_before, (f"{_4}.removed",)),
    Feature(
        "copies",
        _LOSSES,
        _copies,
        (f"{_4}.nack-queue-deleted",),
    ),
    asked_feature(_asked, f"{_4}.nack-queue-deleted"),
    Feature(
        "transaction",
        _BEYOND,
        _beyond,
        (f"{_4}.messages-deleted", "MQDMPR-3.1.1.14.several-queues", "MQDMPR-3.1.4.5.receives-return"),
    ),
)


def _its_cursors(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    return None if queue is None else cursors_of(state, queue.name)


def _its_copies(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    return None if queue is None else copies(state, queue)


def _its_subqueues(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    return None if queue is None else _living(state, queue.name)


def _its_elsewhere(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    return None if queue is None else elsewhere(state, queue)


def _its_asked(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    return None if queue is None else asked(state, lasting(queue))


def _its_beyond(state: State, call: Call) -> str | None:
    queue = view(state, call).queue
    return None if queue is None else beyond(state, queue)


def _its_arrival(state: State, call: Call) -> str | None:
    return reads.arrival(state, call)


_7 = "MQDMPR-3.1.7.1.7"
PURGE = (
    reads.handle_feature(
        *("MQDMPR-3.1.1.17.send-access-no-purge", "MQDMPR-3.1.1.17.peek-access-no-purge", f"{_7}.available-deleted"),
        without=("move", "deleted", "recreated"),
    ),
    reads.kind_feature("3.1.7.1.7.available-deleted"),
    Feature("content", reads.CHOICE.values, its_content, (f"{_7}.available-deleted", f"{_7}.available-only")),
    Feature(
        "held", HOLDERS, its_held, (f"{_7}.available-deleted", f"{_7}.locked-purge-pending", f"{_7}.locked-commit")
    ),
    Feature(
        "cursors", ("none", "unused", "on_message", "parked"), _its_cursors, ("MQDMPR-3.2.7.2.current-unavailable",)
    ),
    Feature("arrival", reads.ARRIVAL.values, _its_arrival, ("MQDMPR-3.1.1.11.recoverable-persistent",)),
    Feature("subqueues", ("none", "empty", "messages"), _its_subqueues, (f"{_7}.other-queues-kept",)),
    Feature("elsewhere", ("none", "empty", "messages"), _its_elsewhere, (f"{_7}.other-queues-kept",)),
    Feature(
        "copies",
        _LOSSES,
        _its_copies,
        (f"{_7}.nack-queue-purged",),
    ),
    asked_feature(_its_asked, f"{_7}.nack-queue-purged"),
    Feature(
        "transaction",
        _BEYOND,
        _its_beyond,
        (f"{_7}.locked-purge-pending", f"{_7}.other-queues-kept", "MQDMPR-3.1.1.14.several-queues"),
    ),
    reads.waiting_feature(f"{_7}.later-messages-kept"),
)
