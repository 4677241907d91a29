"""Features of counting the messages of a queue and of the manager's quotas (MS-MQDMPR 3.1.1.1, 3.1.1.2, 3.1.7.2)."""

from __future__ import annotations

from conformance.histories.features.contents import journal, named_queue, order
from conformance.histories.features.feature import Feature
from conformance.histories.features.views import CHOICES, kind_of, several
from conformance.model import Call, State
from conformance.model.journals import UNLIMITED, is_kept
from conformance.model.tables import PositionState


def _kind(state: State, call: Call) -> str | None:
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
    Feature("kind", ("plain", "transactional", "subqueue"), _kind, ("MQDMPR-3.1.7.1.3.total-bytes-zero",)),
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
