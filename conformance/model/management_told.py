"""Judge what management tells, and note what only its answers show: times, sequences and numbers.

MS-MQMQ 2.3.11 and 2.3.12, MS-MQDMPR 3.1.1.1 to 3.1.1.4, MS-MQMR 3.1.4.1. A property that the driver leaves out is not
judged where the text gives it a value; VT_NULL there fails, as any other type does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from conformance.model.calls import Call
from conformance.model.content import transferred as content_of
from conformance.model.management import GET, slice_of
from conformance.model.management_rows import MACHINE, QUEUE, ROWS, ManagementRow, left_out, no_value, value_of
from conformance.model.management_sessions import (
    ACKNOWLEDGE,
    CONNECTION,
    TRANSFER,
    session_of,
    transferred,
    with_session,
)
from conformance.model.management_shown import passed, short
from conformance.model.management_state import Times
from conformance.model.management_values import MACHINE_VALUES, OUTGOING_VALUES, QUEUE_VALUES, Shown, may_lack
from conformance.model.observation import Answer
from conformance.model.property_refusals import equal
from conformance.model.rules import Rules
from conformance.model.state import State
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict

TELLING: Final = frozenset({GET, CONNECTION, TRANSFER, ACKNOWLEDGE})
Told: TypeAlias = tuple[State, list[Verdict]]
NO_VALUE: Final = "the driver gives no value of it"
_LAST: Final = frozenset(f"{QUEUE}{word}" for word in ("MESSAGE_COUNT", "BYTES_IN_QUEUE"))
"""Judged behind all others, which tell more of what is wrong with a session."""
_FIRST, _NEXT = "MQQB-3.1.1.5.first-number", "MQQB-3.1.7.1.3.next-number"
_PREVIOUS, _AGAIN = "MQQB-3.1.7.1.3.previous-number", "MQQB-3.1.7.1.3.resent-number"
_SEQUENCE, _OLDER = "MQQB-3.1.1.5.next-sequence", "MQQB-3.1.1.5.all-acknowledged"


def told(rules: Rules, before: State, state: State, call: Call, answer: Answer) -> Told:
    """Return the state after an answer, and the verdicts on it. before: the state before the call."""
    if answer.failed:
        return state, []
    if call.method == GET:
        return _got(rules, state, call, answer)
    if call.method == TRANSFER:
        return _transferred(before, state, call, answer)
    times, name = times_of(answer), call.queue or ""
    session = session_of(state, name)
    if call.method == CONNECTION and len(session.steps) > len(session_of(before, name).steps):
        steps = (*session.steps[:-1], replace(session.steps[-1], at=times))
        return with_session(state, name, replace(session, steps=steps)), []
    if call.method == ACKNOWLEDGE and session.acks != session_of(before, name).acks:
        return with_session(state, name, replace(session, acked_at=times)), []
    return state, []


def times_of(answer: Answer) -> Times:
    """Return the seconds in which a call was made; None for a driver that does not show its clock."""
    began, ended = answer.values.get("began_ms"), answer.values.get("ended_ms")
    if not isinstance(began, int) or not isinstance(ended, int):
        return None
    return began // 1000, -(-ended // 1000)


def _transferred(before: State, state: State, call: Call, answer: Answer) -> Told:
    """Judge the messages of a transfer and the numbers they have."""
    verdicts = content_of(before, call, answer.messages or ())
    name = call.queue or ""
    old = session_of(before, name)
    names = [seen.name for seen in answer.messages or ()]
    if not names:
        return state, verdicts
    due = session_of(state, name).due | frozenset(names)
    session = transferred(before, before.queues[name], old, names, due)
    raw = answer.values.get("sequences")
    shown = {str(one["message"]): one for one in raw if isinstance(one, dict)} if isinstance(raw, list) else {}
    subject, known, sequence = call.method, old.awaiting, session.sequence
    for message, number in session.numbers:
        if message not in names or message not in shown:
            continue
        came = shown[message]
        again = message in known
        demand = _AGAIN if again else _FIRST if number == 1 else _NEXT
        verdicts.append(equal(demand, subject, came["number"] == number, number, came["number"]))
        if not again:
            verdicts.append(equal(_PREVIOUS, subject, came["previous"] == number - 1, number - 1, came["previous"]))
        its = int(str(came["sequence"]))
        if sequence is None:
            sequence = its
            if old.before is not None:
                verdicts.append(equal(_SEQUENCE, subject, its == old.before + 1, str(old.before + 1), str(its)))
        else:
            verdicts.append(equal(_AGAIN if again else _OLDER, subject, its == sequence, str(sequence), str(its)))
    transactional = any(message in names for message, _ in session.numbers)
    session = replace(session, sequence=sequence)
    if transactional:
        session = replace(session, sent_at=times_of(answer))
    return with_session(state, name, session), verdicts


def _got(rules: Rules, state: State, call: Call, answer: Answer) -> Told:
    raw = answer.values.get("told")
    given: dict[str, Json] = raw if isinstance(raw, dict) else {}
    if answer.values.get("played") is True and not slice_of(state).played:
        state = replace(state, management=replace(slice_of(state), played=True))
    number = answer.values.get("number", len(call.names or ()))
    if number != len(call.names or ()):
        return state, [
            Verdict("MQMR-3.1.4.1.get", Outcome.FAIL, call.method, {"values": len(call.names or ())}, number)
        ]
    if _turned(call.names or (), given):
        expected: Json = {"values in the order of": list(call.names or ())}
        return state, [Verdict("MQMR-3.1.4.1.get", Outcome.FAIL, call.method, expected, list(given.values()))]
    verdicts: list[Verdict] = []
    for name in sorted(call.names or (), key=_LAST.__contains__):
        state, found = _judged(rules, state, call, ROWS[name], given.get(name), answer)
        verdicts += found
    return state, verdicts


def _turned(names: Sequence[str], given: Mapping[str, Json]) -> bool:
    """Tell whether the values have the types of the properties in another order: of their numbers, or backwards."""
    values = [given.get(name) for name in names]
    if _fit(names, values):
        return False
    by_number = sorted(names, key=lambda name: ROWS[name].number)
    return any(_fit(order, values) for order in (by_number, by_number[::-1], list(names)[::-1]))


def _fit(names: Sequence[str], values: Sequence[Json]) -> bool:
    return all(one is None or no_value(one) or ROWS[name].of_type(one) for name, one in zip(names, values, strict=True))


def _judged(rules: Rules, state: State, call: Call, row: ManagementRow, given: Json, answer: Answer) -> Told:
    subject = f"{row.name} of {call.queue or 'the machine'}"
    queue = state.queues.get(call.queue or "")
    shown = Shown(rules, state, queue, row, subject, value_of(given), given, answer)
    lacks = given is None or no_value(given)
    if lacks and not may_lack(shown):
        if left_out(given):
            return state, [Verdict(row.shown, Outcome.SKIP, subject, reason=NO_VALUE)]
        return state, [equal(row.shown, subject, False, {"type": row.vt}, given)]
    verdicts: list[Verdict] = []
    if not lacks:
        if not row.of_type(given):
            told: Json = (
                {**given, "value": short(shown.value)} if isinstance(given, dict) and "value" in given else given
            )
            return state, [equal(row.shown, subject, False, {"type": row.vt}, told)]
        verdicts.append(passed(row.shown, subject))
    elif row.name.startswith(MACHINE):
        verdicts.append(passed(row.shown, subject))
    after, found = _of_value(shown)
    verdicts += found
    if row.among is not None and not lacks:
        verdicts.append(shown.equal(row.among, shown.value in row.values, {"one of": list(row.values)}))
    return after, verdicts


def _of_value(shown: Shown) -> Told:
    name = shown.row.name
    if name in MACHINE_VALUES:
        return MACHINE_VALUES[name](shown)
    if shown.queue is None:
        return shown.state, []
    table = QUEUE_VALUES if shown.queue.outgoing is None else OUTGOING_VALUES
    return table[name](shown) if name in table else (shown.state, [])
