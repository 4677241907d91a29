"""The numbers of messages and bytes that management tells of a queue: MS-MQMQ 2.3.12.7 to 2.3.12.10."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.model.counts import counted, settled
from conformance.model.management_shown import Shown, Told, passes
from conformance.model.management_state import Management
from conformance.model.property_refusals import by_reading
from conformance.model.rules import COUNT_HELD
from conformance.model.state import Queue
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict

_DELETED: Final = PositionState.DELETED


def messages(shown: Shown, queue: Queue) -> Iterator[Verdict]:
    """Judge the number of messages in a queue."""
    if any(position.doubtful for position in queue.positions):
        return
    left = sum(position.state is not _DELETED for position in queue.positions)
    available = sum(position.available for position in queue.positions)
    if left == available:
        yield shown.equal(shown.row.shown, shown.value == left, left)
        return
    allowed: dict[str, Json] = {"counted": left, "available": available}
    fits = {name: shown.value == number for name, number in allowed.items()}
    yield by_reading(shown.rules, shown.row.shown, COUNT_HELD, fits, shown.subject, allowed, shown.value)


def count(shown: Shown) -> Iterator[Verdict]:
    """Judge the number of messages in the queue itself."""
    assert shown.queue is not None
    yield from messages(shown, shown.queue)


def weighed(shown: Shown, place: str) -> Told:
    """Judge the bytes in a queue, and note them for the sum of all queues."""
    queue = shown.state.queues.get(place)
    if queue is None:
        return shown.state, [shown.equal(shown.row.shown, shown.value == 0, 0)]
    state, found = counted(shown.rules, shown.state, place, "", {"bytes": shown.value})
    wrong = next((verdict for verdict in found if verdict.outcome is Outcome.FAIL), None)
    verdicts = [shown.equal(shown.row.shown, False, wrong.expected)] if wrong is not None else []
    if found and wrong is None:
        verdicts = [passes(shown.row.shown, shown)]
    if settled(queue) and isinstance(shown.value, int):
        management = state.management or Management()
        there = frozenset(position.message for position in queue.positions if position.available)
        others = tuple(one for one in management.weights if one[0] != place)
        state = replace(state, management=replace(management, weights=(*others, (place, there, shown.value))))
    return state, [*verdicts, *found]


def bytes_in_queue(shown: Shown) -> Told:
    """Judge the bytes in the queue itself."""
    return weighed(shown, shown.name)
