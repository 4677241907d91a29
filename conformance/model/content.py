"""Judge received messages: their content against the sent one (MS-MQDMPR 3.1.1.12), lookup identifiers, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.model.calls import Answer, BadCall, Call, SeenMessage
from conformance.model.expected import Either, Expected
from conformance.model.journals import CLASSES, NUMBERS, Keeping, ack_class, is_kept, journal_of, plain_name
from conformance.model.message_properties import (
    NO_BODY,
    demand,
    doubtful,
    identified,
    judge_carried,
    judge_identifier,
    judge_options,
    shape_of,
)
from conformance.model.rules import LOOKUP_ORDER, TOTAL_BYTES, TRANSACTIONAL_PRIORITY, Rules
from conformance.model.sends_and_commits import DEFAULT_PRIORITY
from conformance.model.state import Position, Queue, State
from conformance.model.tables import ABORTS, COMMITS, PositionState
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict, held

TELLING: Final = frozenset({"queues.counts", "messages.send", "clock.now"})
_BACK = "MQDMPR-3.1.1.2.total-bytes"
_DOWN = "MQDMPR-3.1.7.2.1.total-bytes"
_UP = "MQDMPR-3.1.7.2.2.total-bytes"
_NEW = "MQDMPR-3.1.7.1.3.total-bytes-zero"
_NEVER_SENT = ("MQDMPR-3.1.4.5.sends-vanish", *ABORTS)
_COMMITTED = ("MQDMPR-3.1.4.4.receives-gone", *COMMITS)


def counts(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the one allowed outcome of a count: any answer. `told` judges the numbers."""
    queue = state.queues.get(call.queue or "")
    if queue is None or not queue.exists:
        raise BadCall(f"no queue {call.queue} to count")
    yield Expected(Either(), "", replace(state, keeping=state.keeping or Keeping()))


def counts_judged(rules: Rules, state: State, call: Call, answer: Answer) -> tuple[State, list[Verdict]]:
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
        if Outcome.FAIL in [verdict.outcome for verdict in found]:
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
        verdict = held(_UP, "queues.counts")
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
        position.moved or position.claim in _NEVER_SENT or (position.was_locked and position.claim not in _COMMITTED)
        for position in queue.positions
    )
    return _BACK if back else _DOWN


def _verdict(requirement: str, expected: Json, actual: Json) -> Verdict:
    if expected == actual:
        return held(requirement, "queues.counts")
    return Verdict(requirement, Outcome.FAIL, "queues.counts", expected, actual)


RETURNS = "MQDMPR-3.1.4.5.receives-return"
_KEPT_BY = {  # the claim of what put a message back in its place -> the requirement that its attributes are unchanged
    RETURNS: f"{RETURNS}-unchanged",
    "MQDMPR-3.1.4.5.move": "MQDMPR-3.1.4.5.move",
    "MQDMPR-3.1.7.1.12.restores": "MQDMPR-3.1.7.1.12.restores",
}
_SINCE = frozenset({RETURNS, "MQDMPR-3.1.7.1.12.restores"})  # such a claim was made after the restart, if there was one
_MOVED = "MQDMPR-3.1.7.1.16.unchanged"
_INCREASES = "MQDMPR-3.1.7.1.9.lookup-identifier-increases"
_ORDER = "MQDMPR-3.1.1.12.lookup-identifier-order"
_TO, _STILL_TO = "MQDMPR-3.1.7.1.5.outgoing-destination", "MQDMPR-3.1.1.3.destination-format-name"
_BODY = "MQDMPR-3.1.1.12.body-unchanged"
_PRIORITY = ("MQDMPR-3.1.1.12.priority-unchanged", "MQDMPR-3.1.1.12.default-priority")  # asked for, or not
_DELETED = PositionState.DELETED

_STATUS_OK = {
    "messages.receive": "MQDMPR-3.1.7.1.10.mq-ok",
    "messages.receive_begin": "MQDMPR-3.1.7.1.11.mq-ok",
    "messages.receive_by_lookup_id": "MQDMPR-3.1.7.1.13.mq-ok",
    "messages.peek_by_lookup_id": "MQDMPR-3.1.7.1.13.mq-ok",
    "messages.peek_next": "MQDMPR-3.1.7.1.14.mq-ok",
    "messages.peek": "MQDMPR-3.1.7.1.15.mq-ok",
}


def judge_status(method: str, subject: str, status: int | None) -> tuple[Verdict, ...]:
    """Judge the status of a read that gives a message: MQ_OK, and no other success."""
    if status is None:
        return ()
    if status == 0:
        return (held(_STATUS_OK[method], subject),)
    return (Verdict(_STATUS_OK[method], Outcome.FAIL, subject, "0x00000000", f"0x{status:08X}"),)


def judge_content(
    state: State, subject: str, position: Position, seen: SeenMessage, queue: str = "", claim: str = ""
) -> Iterator[Verdict]:
    """Judge the properties of one message. Properties that the implementation does not show are not judged.

    queue: where it was read. claim: that of its position before the read.
    """
    if position.message.startswith("ack"):
        yield from _judge_report(subject, position, seen)
        return
    if "@" in position.message and not is_kept(position.message):
        if not (position.carries and doubtful(queue, claim, position)):
            copy = "MQDMPR-3.1.7.1.27.message-copy"
            copy = demand(queue, claim, position, copy) if position.carries else copy
            yield _judge_one_of_several(copy, subject, position, seen)
        yield from judge_carried(queue, claim, position, subject, seen)
        yield from judge_options(queue, claim, position, subject, seen)
        return
    if seen.label is not None:
        label = _MOVED if position.moved and not state.restarts else "MQDMPR-3.1.1.12.label-unchanged"
        yield _equal(label, subject, plain_name(position.message), seen.label)
    known = state.identifiers.get(position.message)
    if position.moved and not position.carries and seen.identifier is not None and known is not None:
        yield _equal(_MOVED, subject, known, seen.identifier)
    size = position.wishes.size if position.wishes is not None else 0
    if position.carries:  # a body that is gone shows as such, because the message is known without it
        unchanged = demand(queue, claim, position, _BODY)
        yield _equal(unchanged, subject, _length(position, size), len(seen.body))
        yield from judge_carried(queue, claim, position, subject, seen)
        yield from judge_identifier(state, queue, claim, position, subject, seen)
    else:
        yield _equal(_BODY, subject, max(size, seen.written), len(seen.body))
    yield from judge_options(queue, claim, position, subject, seen)
    if position.marks is not None and not is_kept(position.message):
        marks = ("first", seen.first_in_transaction), ("last", seen.last_in_transaction)
        for wanted, (word, mark) in zip(position.marks, marks, strict=True):
            if mark is not None:
                yield _equal(f"MQDMPR-3.1.4.3.{word}-in-transaction", subject, wanted, mark)
    if seen.priority is not None and not position.transactional:
        yield _equal(_PRIORITY[position.asked is None], subject, _priority(position, seen.priority), seen.priority)
    if seen.delivery is not None:
        if position.transactional:
            yield _equal("MQMQ-2.2.19.2.transactional-recoverable", subject, "recoverable", seen.delivery)
        elif position.delivery is None:
            yield _equal("MQDMPR-3.1.1.12.default-delivery-guarantee", subject, "express", seen.delivery)
        else:
            unchanged = "MQDMPR-3.1.1.12.delivery-guarantee-unchanged"
            yield _equal(unchanged, subject, position.delivery, seen.delivery)


def judge_priority(
    rules: Rules, state: State, subject: str, position: Position, seen: SeenMessage
) -> tuple[State, list[Verdict]]:
    """Judge the priority of a transactional message; its value tells which reading is followed."""
    several = "@" in position.message and not is_kept(position.message)
    if seen.priority is None or not position.transactional or several:
        return state, []
    own = DEFAULT_PRIORITY if position.asked is None else position.asked
    values = {"none": 0, "default": DEFAULT_PRIORITY, "own": own}
    known, requirement = rules.accepted(state, TRANSACTIONAL_PRIORITY), _PRIORITY[position.asked is None]
    left = frozenset(name for name in known if values[name] == seen.priority)
    if not left:
        allowed: list[Json] = sorted({values[name] for name in known})
        return state, [Verdict(requirement, Outcome.FAIL, subject, {"one of": allowed}, seen.priority)]
    if len(left) < len(known):
        state = replace(state, assumed={**state.assumed, TRANSACTIONAL_PRIORITY: left})
    return state, [] if seen.priority == 0 else [held(requirement, subject)]


def _length(position: Position, size: int) -> int:
    """Return the bytes that the body of a message must have, by what it carries."""
    return size if position.carries & NO_BODY else max(size, len(plain_name(position.message)))


def _judge_one_of_several(requirement: str, subject: str, position: Position, seen: SeenMessage) -> Verdict:
    """Judge one copy of a message sent to several queues: every copy equals the message."""
    size = position.wishes.size if position.wishes is not None else 0
    wanted: dict[str, Json] = {"label": plain_name(position.message), "priority": _priority(position, seen.priority)}
    wanted["delivery"] = "recoverable" if position.recoverable else "express"
    came: dict[str, Json] = {"label": seen.label, "priority": seen.priority, "delivery": seen.delivery}
    wanted = {name: value for name, value in wanted.items() if came[name] is not None}
    wanted["size"] = _length(position, size) if position.carries else max(size, seen.written)
    came = {name: value for name, value in came.items() if value is not None} | {"size": len(seen.body)}
    return _equal(requirement, subject, wanted, came)


def _priority(position: Position, seen: int | None) -> int:
    """Return the priority that a message must have. seen: in a transaction, readings allow several."""
    if position.transactional and seen in (0, DEFAULT_PRIORITY):
        return seen
    return DEFAULT_PRIORITY if position.asked is None else position.asked


def _judge_report(subject: str, position: Position, seen: SeenMessage) -> Iterator[Verdict]:
    """Judge an acknowledgment. Its name already holds its class and its message."""
    yield held(CLASSES[ack_class(position.message)], subject)
    yield held(NUMBERS[ack_class(position.message)], subject)
    yield held("MQQB-3.1.7.15.correlation", subject)
    if seen.delivery is not None:
        yield _equal("MQQB-3.1.7.15.delivery", subject, position.delivery, seen.delivery)


def _equal(requirement: str, subject: str, expected: Json, actual: Json) -> Verdict:
    if expected == actual:
        return held(requirement, subject)
    return Verdict(requirement, Outcome.FAIL, subject, expected, actual)


def transferred(state: State, call: Call, messages: Sequence[SeenMessage]) -> list[Verdict]:
    """Judge the content and the destination of messages that were transferred in the right order."""
    queue = state.queues[call.queue or ""]
    verdicts: list[Verdict] = []
    for seen in messages:
        position = queue.find(seen.name)
        if position is None:
            continue
        verdicts += judge_content(state, call.method, position, seen, queue.name, position.claim)
        if seen.destination is not None:
            verdicts.append(_equal(_STILL_TO if state.restarts else _TO, call.method, queue.name, seen.destination))
    return verdicts


def judge_lookup(
    rules: Rules, state: State, subject: str, queue: str, before: str, position: Position, seen: SeenMessage
) -> tuple[State, list[Verdict]]:
    """Bind the lookup identifier to the message and compare it with the identifiers of the other messages in the queue.

    before: the claim the message had before this read.
    """
    number = seen.lookup_identifier
    if number is None:
        return state, []
    what = f"lookup identifier of {position.message}"
    bound = state.lookups.get(position.message)
    if bound is not None:
        unchanged = _KEPT_BY.get(before, "MQDMPR-3.1.1.12.lookup-identifier-unique")
        if state.restarts and position.recoverable and before not in _SINCE:
            unchanged = "MQDMPR-3.1.1.12.recoverable-attributes-survive"
        if bound == number:
            return state, [held(unchanged, subject)]
        return state, [Verdict(unchanged, Outcome.FAIL, subject, {what: str(bound)}, {what: str(number)})]
    if position.identifier is not None:
        expected, actual = {what: str(position.identifier)}, {what: str(number)}
        return _bound(state, position, number), [_equal(_MOVED, subject, expected, actual)]
    verdicts: list[Verdict] = []
    possible = rules.accepted(state, LOOKUP_ORDER)
    lookups = state.lookups
    for other in state.queues[queue].positions if lookups else ():
        theirs = lookups.get(other.message)
        if theirs is None or other.message == position.message:
            continue
        if theirs == number:
            unique = "MQDMPR-3.1.1.12.lookup-identifier-unique"
            actual = {position.message: str(number), other.message: str(theirs)}
            verdicts.append(Verdict(unique, Outcome.FAIL, subject, "two identifiers", actual))
            break
        if position.moved or other.moved:
            continue  # what a move keeps of identifier and place is a reading, and the order of reads settles it
        same = other.rank[0] == position.rank[0]
        if not same and ("follows-queue" not in possible or other.state is _DELETED):
            continue  # across priorities identifiers follow places, and only a message in the queue has a place
        ordered = (theirs < number) == (other.rank < position.rank)
        if not ordered and not same and "within-priority" in possible:
            possible = ("within-priority",)
            continue
        requirement = _INCREASES if same else _ORDER
        if not ordered:
            front, back = sorted((position, other), key=lambda item: item.rank)
            numbers = {position.message: number, other.message: theirs}
            actual = {item.message: str(numbers[item.message]) for item in (front, back)}
            ordered_so = f"lookup identifier of {front.message} less than that of {back.message}"
            verdicts.append(Verdict(requirement, Outcome.FAIL, subject, ordered_so, actual))
            break
        verdicts.append(held(requirement, subject))
    if len(possible) == 1 and len(rules.accepted(state, LOOKUP_ORDER)) > 1:
        state = replace(state, assumed={**state.assumed, LOOKUP_ORDER: frozenset(possible)})
    return _bound(state, position, number), verdicts


def with_given(state: State, call: Call, values: Mapping[str, Json]) -> State:
    """Note the identifiers that a send has answered: in a transaction, the message has no place yet. values: of it."""
    given, lookup = values.get("identifier"), values.get("lookup_identifier")
    if isinstance(lookup, int) and call.transaction is None and call.message is not None:
        state = replace(state, shown={**state.shown, call.message: (None, None, lookup)})
    if not call.carries or call.message is None or not isinstance(given, str):
        return state
    return replace(state, identifiers={**state.identifiers, call.message: given})


def with_identifier(state: State, queue: str, position: Position, seen: SeenMessage) -> State:
    """Note the message's identifier in the state: of a filled message, and where a subqueue makes moves possible."""
    if seen.identifier is None or position.message in state.identifiers:
        return state
    if position.carries:
        name = identified(queue, position)
        if name is None or name in state.identifiers:
            return state
        return replace(state, identifiers={**state.identifiers, name: seen.identifier})
    for one in state.queues.values():
        if one.parent is not None:
            break
    else:
        return state
    return replace(state, identifiers={**state.identifiers, position.message: seen.identifier})


def _bound(state: State, position: Position, number: int) -> State:
    return replace(state, lookups={**state.lookups, position.message: number})
