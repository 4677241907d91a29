"""Judge queue counts, and note message identifiers and the clock time that an implementation reports.

MS-MQDMPR 3.1.1.2 (TotalBytes), 3.1.7.2.1-2, MS-MQMQ 2.3.12. Counts are judged only while no message is held by a
transaction or doubtful: what counts meanwhile is a reading of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.model.calls import BadCall, Call
from conformance.model.expected import Either, Expected
from conformance.model.journals import Keeping, journal_of
from conformance.model.message_sizes import shape_of
from conformance.model.observation import Answer
from conformance.model.rules import TOTAL_BYTES, Rules
from conformance.model.state import Queue, State
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict

TELLING: Final = frozenset({"queues.counts", "messages.send", "clock.now"})
_BACK = "MQDMPR-3.1.1.2.total-bytes"
_DOWN = "MQDMPR-3.1.7.2.1.total-bytes"
_UP = "MQDMPR-3.1.7.2.2.total-bytes"
_NEW = "MQDMPR-3.1.7.1.3.total-bytes-zero"
_NEVER_SENT = "MQDMPR-3.1.4.5.sends-vanish"
_COMMITTED = "MQDMPR-3.1.4.4.receives-gone"


def counts(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the one allowed outcome of a count: any answer. `told` judges the numbers."""
    queue = state.queues.get(call.queue or "")
    if queue is None or not queue.exists:
        raise BadCall(f"no queue {call.queue} to count")
    yield Expected(Either(), "", replace(state, keeping=state.keeping or Keeping()))


def told(rules: Rules, state: State, call: Call, answer: Answer) -> tuple[State, list[Verdict]]:
    """Return the state with the values that an answer carries beside its status, and the verdicts about them."""
    if state.keeping is None or answer.failed:
        return state, []
    if call.method == "clock.now":
        moment = answer.values.get("time_ms")
        if not isinstance(moment, int):
            return state, []
        return replace(state, keeping=replace(state.keeping, phase=(moment - state.now) % 1000)), []
    if call.method == "messages.send":
        identifier = answer.values.get("identifier")
        if not isinstance(identifier, str) or call.message is None:
            return state, []
        known = (*state.keeping.identifiers, (identifier, call.message))
        return replace(state, keeping=replace(state.keeping, identifiers=known)), []
    verdicts: list[Verdict] = []
    for place, prefix in _places(call):
        state, found = counted(rules, state, place, prefix, answer.values)
        verdicts += found
    return state, verdicts


def miscounted(rules: Rules, state: State, call: Call, answer: Answer) -> str | None:
    """Return the queue or journal whose numbers in this answer are wrong, the first of them; None if all are right.

    state: before the call, which knows nothing yet of the answer.
    """
    state = replace(state, keeping=state.keeping or Keeping())
    for place, prefix in _places(call):
        state, found = counted(rules, state, place, prefix, answer.values)
        if any(verdict.outcome is Outcome.FAIL for verdict in found):
            return place
    return None


def _places(call: Call) -> tuple[tuple[str, str], ...]:
    """Return what a count tells of: each queue, and the prefix of its numbers."""
    name = call.queue or ""
    return (name, ""), (journal_of(name), "journal_")


def counted(
    rules: Rules, state: State, place: str, prefix: str, values: Mapping[str, Json]
) -> tuple[State, list[Verdict]]:
    """Return the state and the verdicts after the numbers of one queue. prefix: of their names."""
    verdicts: list[Verdict] = []
    queue = state.queues.get(place)
    if queue is None or not settled(queue):
        return state, verdicts
    there = frozenset(position.message for position in queue.positions if position.available)
    number, taken = values.get(f"{prefix}messages"), values.get(f"{prefix}bytes")
    if isinstance(number, int):
        verdicts.append(_verdict(_UP if number < len(there) else _DOWN, len(there), number))
    if isinstance(taken, int) and "as-written" not in rules.accepted(state, TOTAL_BYTES):
        state, found = _weighed(state, queue, there, taken)
        verdicts += found
    return state, verdicts


def settled(queue: Queue) -> bool:
    """Tell whether the content of a queue is certain and no transaction holds any of it."""
    final = (PositionState.AVAILABLE, PositionState.DELETED)
    return all(position.state in final and not position.doubtful for position in queue.positions)


def _weighed(state: State, queue: Queue, there: frozenset[str], taken: int) -> tuple[State, list[Verdict]]:
    assert state.keeping is not None
    keeping = state.keeping
    if not there:
        return state, [_verdict(_emptied(queue), 0, taken)]
    before = dict(keeping.weights).get(there)
    if before is not None:
        return state, [_verdict(_BACK, before, taken)]
    present = [position for position in queue.positions if position.available]
    known = dict(keeping.shapes)
    each = [known.get(shape_of(position)) for position in present]
    verdicts: list[Verdict] = []
    if None not in each:
        verdicts.append(_verdict(_UP, sum(weight for weight in each if weight is not None), taken))
    else:
        least = sum(shape_of(position)[0] for position in present)
        enough = taken >= least
        verdict = Verdict(_UP, Outcome.PASS, "queues.counts")
        verdicts.append(verdict if enough else _verdict(_UP, f"at least {least}", taken))
    weights = (*keeping.weights, (there, taken))
    shapes = keeping.shapes
    if len(present) == 1 and shape_of(present[0]) not in known:
        shapes = (*shapes, (shape_of(present[0]), taken))
    return replace(state, keeping=replace(keeping, weights=weights, shapes=shapes)), verdicts


def _emptied(queue: Queue) -> str:
    """Return the requirement broken by bytes that an empty queue reports.

    Of a deleted message they are only where none was aborted or moved: then it is the sum that did not come back.
    """
    if not queue.positions:
        return _NEW
    back = any(
        position.moved or position.claim == _NEVER_SENT or (position.was_locked and position.claim != _COMMITTED)
        for position in queue.positions
    )
    return _BACK if back else _DOWN


def _verdict(requirement: str, expected: Json, actual: Json) -> Verdict:
    if expected == actual:
        return Verdict(requirement, Outcome.PASS, "queues.counts")
    return Verdict(requirement, Outcome.FAIL, "queues.counts", expected, actual)
