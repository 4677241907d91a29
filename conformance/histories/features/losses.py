"""Features of losing what is in a queue: delete and purge (MS-MQDMPR 3.1.7.1.4 and 3.1.7.1.7)."""

from __future__ import annotations

from typing import Final

from conformance.histories.features import reads
from conformance.histories.features.asked import asked, asked_feature
from conformance.histories.features.contents import (
    beyond,
    copies,
    cursors_of,
    elsewhere,
    handles_of,
    held,
    journal,
    lasting,
    named_queue,
    order,
    subqueues,
)
from conformance.histories.features.feature import Feature
from conformance.histories.features.queues import HELD, its_content, its_held
from conformance.histories.features.views import kind_of, view, waiting_on
from conformance.model import Call, State

_LOSSES: Final = ("none", "acknowledged", "acknowledged_twice", "dead_letter", "expires")
_BEYOND: Final = ("none", "here_alone", "sends_elsewhere", "receives_elsewhere")


def _left(state: State, call: Call) -> str | None:
    """Return the handles on the queue of this name."""
    queue = state.queues.get(call.queue or "")
    return None if queue is None else handles_of(state, queue.name)


def _delete_kind(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else kind_of(queue)


def _content(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else order(queue)


def _held(state: State, call: Call) -> str | None:
    queue = named_queue(state, call)
    return None if queue is None else held(queue)


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


_3, _4 = "MQDMPR-3.1.7.1.3", "MQDMPR-3.1.7.1.4"
DELETE = (
    Feature("kind", ("plain", "transactional"), _delete_kind, (f"{_4}.success", f"{_4}.removed")),
    Feature("content", reads.CHOICE.values, _content, (f"{_4}.messages-deleted",)),
    Feature("held", HELD, _held, (f"{_4}.messages-deleted", "MQDMPR-3.1.7.1.12.queue-not-available-ends")),
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
    Feature("held", HELD, its_held, (f"{_7}.available-deleted", f"{_7}.locked-purge-pending", f"{_7}.locked-commit")),
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
