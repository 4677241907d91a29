"""All plans that the scene of a client's objects judges, by the suite's modules."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.activex import (
    plans_message_queues,
    plans_queue_info,
    plans_queue_info_values,
    plans_send,
    plans_sent_together,
    plans_transactions,
)
from conformance.activex.plans import Plan
from conformance.activex.scene_client import client_objects
from conformance.activex.scenes import caught


def client_plans() -> Iterator[Plan]:
    """Yield every plan."""
    for groups in (
        plans_queue_info.groups(),
        plans_queue_info_values.groups(),
        plans_message_queues.message_queues(),
        plans_message_queues.destinations(),
        plans_send.groups(),
        plans_sent_together.groups(),
    ):
        for plans in groups.values():
            yield from plans
    yield from plans_transactions.transactions().values()


def caught_in_client_plans() -> frozenset[str]:
    """Return the requirements that hold for an ideal answer of a plan and fail for one that differs in one thing."""
    return caught(client_plans(), client_objects)
