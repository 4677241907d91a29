"""Features of a queue's attributes at a call, and whether they were so when its messages came (MS-MQDMPR 3.1.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.journals import is_kept
from conformance.model.message_sizes import used
from conformance.model.state import Position, Queue

JOURNALING: Final = ("off", "on", "switched_on", "switched_off")


def journaling(queue: Queue, position: Position) -> str | None:
    """Return whether the queue journals, and whether that was switched since the message came; None for a copy."""
    if is_kept(queue.name):
        return None
    now = queue.attributes is not None and queue.attributes.journaling
    switched = sum(when >= position.rank[1] for when in queue.switches) % 2
    return f"switched_{'on' if now else 'off'}" if switched else "on" if now else "off"


def below(state: State, queues: Iterable[Queue]) -> str:
    """Return whether the quota of one of the queues is below what is there: it was lowered since."""
    for queue in queues:
        quota = queue.attributes.quota if queue.attributes is not None else None
        if quota is not None and used(state, [queue])[0] > quota:
            return "below"
    return "within"


def journaling_feature(of: Callable[[State, Call], str | None], *steps: str) -> Feature:
    """Return the feature of journaling now, and when the message came."""
    return Feature(
        "journaling",
        JOURNALING,
        of,
        ("MQDMPR-3.1.1.2.journaling", "MQMQ-2.3.1.4.journal-copy", "MQMQ-2.3.1.4.journal-none", *steps),
    )


def quota_feature(of: Callable[[State, Call], str | None], *steps: str) -> Feature:
    """Return the feature of a quota that was lowered below what is in the queue."""
    return Feature("quota", ("within", "below"), of, ("MQDMPR-3.1.1.2.quota", "MQDMPR-3.1.7.1.9.queue-quota", *steps))
