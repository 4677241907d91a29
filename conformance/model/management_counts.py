"""The numbers of messages and bytes that management tells of a queue: MS-MQMQ 2.3.12.7 to 2.3.12.10."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.model.counts import counted
from conformance.model.journals import SYSTEM_JOURNAL, SYSTEM_QUEUES, is_kept
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
    if is_kept(queue.name) and is_kept(shown.name) and shown.value != left and isinstance(shown.value, int):
        yield shown.equal(_kept_wrongly(queue, more=shown.value > left), False, left)
    available = sum(position.available for position in queue.positions)
    if left == available:
        yield shown.equal(shown.row.shown, shown.value == left, left)
        return
    allowed: dict[str, Json] = {"counted": left, "available": available}
    fits = {name: shown.value == number for name, number in allowed.items()}
    yield by_reading(shown.rules, shown.row.shown, COUNT_HELD, fits, shown.subject, allowed, shown.value)


def _kept_wrongly(queue: Queue, *, more: bool) -> str:
    """Return the requirement broken by a copy too many in a journal or dead-letter queue, or by one that is lacking."""
    copies = sorted(queue.positions, key=lambda position: position.since)
    claims = [position.claim for position in copies if (position.state is _DELETED) == more]
    if claims and not claims[-1].endswith("-off"):
        return claims[-1]
    if queue.name not in SYSTEM_QUEUES:
        return claims[-1] if claims else "MQMQ-2.3.1.4.journal-none"
    journal = queue.name == SYSTEM_JOURNAL
    return "MQDMPR-3.1.1.12.positive-journaling" if journal else "MQDMPR-3.1.1.12.negative-journaling"


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
    if isinstance(shown.value, int):
        management = state.management or Management()
        others = tuple(one for one in management.weights if one[0] != place)
        weights = (*others, (place, content_of(queue), shown.value))
        state = replace(state, management=replace(management, weights=weights))
    return state, [*verdicts, *found]


def content_of(queue: Queue) -> frozenset[str]:
    """Return what is in a queue: each message that is left, with its state."""
    return frozenset(f"{one.message} {one.state.name}" for one in queue.positions if one.state is not _DELETED)


def bytes_in_queue(shown: Shown) -> Told:
    """Judge the bytes in the queue itself."""
    return weighed(shown, shown.name)
