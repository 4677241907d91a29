"""Counting the messages of queues and journals, and setting the quotas of the queue manager."""

from __future__ import annotations

from conformance.histories.operations.operation import Kind, Operation, action, in_brackets, refers, value
from conformance.histories.operations.queues import attributes
from conformance.histories.operations.state_queries import listed
from conformance.model import Call, State
from conformance.model.journals import is_kept


def counts(state: State) -> list[Call]:
    """Count the messages of a queue in which nothing holds one, so that its content is certain."""
    return [
        listed("queues.counts", queue=queue.name)
        for queue in state.queues.values()
        if queue.exists and not is_kept(queue.name) and not any(position.holder for position in queue.positions)
    ]


OPERATIONS = (
    Operation(
        "queues.counts",
        {"queue": refers(Kind.QUEUE, "format_name")},
        lambda call, state: f"count what is in {call.queue}",
        (action("count", counts, "queues.counts"),),
    ),
    Operation(
        "limits",
        {"quota_kb": value(parameter="message_quota_kb"), "journal_quota_kb": value(parameter="journal_quota_kb")},
        lambda call, state: f"set the limits of the queue manager{in_brackets(attributes(call))}",
    ),
)
