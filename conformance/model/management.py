"""Management of the manager and its queues: read properties, act, and judge what the answers tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from conformance.model import outgoing, queues
from conformance.model.calls import Answer, BadCall, Call
from conformance.model.content import transferred as content_of
from conformance.model.expected import Expected, Fails, Succeeds
from conformance.model.journals import Keeping, is_kept
from conformance.model.management_outgoing import is_locked, short
from conformance.model.management_rows import MACHINE, QUEUE, ROWS, ManagementRow, left_out, no_value, value_of
from conformance.model.management_values import MACHINE_VALUES, OUTGOING_VALUES, QUEUE_VALUES, Shown, may_lack
from conformance.model.outgoing import (
    ACKNOWLEDGE,
    CONNECTION,
    TRANSFER,
    again,
    held_messages,
    resumed,
    session_of,
    transferred,
    with_session,
)
from conformance.model.property_refusals import equal
from conformance.model.rules import RESUME, TIDY, Rules
from conformance.model.state import Handle, Management, State, Times
from conformance.model.tables import OutgoingState, PositionState
from conformance.model.values import replace
from conformance.verdict import Json, Outcome, Verdict, held

GET, ACT = "management.get", "management.act"
SESSION = "session"
MACHINE_ACTIONS: Final = ("CONNECT", "DISCONNECT", "TIDY")
QUEUE_ACTIONS: Final = ("PAUSE", "RESUME", "EOD_RESEND")
_ANY_CASE: Final = "MQMR-3.1.4.2.any-case"


def managed(state: State) -> State:
    """Return the state with management judged, and with the account of counts that it needs."""
    if state.management is not None:
        return state
    return replace(state, management=Management(), keeping=state.keeping or Keeping())


def slice_of(state: State) -> Management:
    """Return the part of the state that management shows."""
    return state.management or Management()


def get(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Get properties of the machine, or of a queue."""
    if not call.names:
        raise BadCall("no properties to get")
    state = managed(state)
    must = _refused(state, call)
    if must is not None:
        yield Expected(Fails(must), must, state)
        return
    kept = slice_of(state).tidied and call.queue is not None and not _is_open(state, call.queue)
    yield Expected(Succeeds(), "MQMR-3.1.4.2.tidy" if kept else "MQMR-3.1.4.1.get", state)


def _is_open(state: State, queue: str) -> bool:
    return any(handle.is_open and queue in handle.queue.split(",") for handle in state.handles.values())


def _refused(state: State, call: Call) -> str | None:
    """Return the requirement that a get of properties fails; None where it succeeds."""
    if call.target == SESSION:
        return "MQMR-3.1.4.1.session"
    if call.queue is not None and not _there(state, call.queue):
        return "MQMR-3.1.4.1.unknown-queue"
    prefix = MACHINE if call.queue is None else QUEUE
    foreign = [name for name in call.names or () if not name.startswith(prefix)]
    if foreign:
        own = {row.number for row in ROWS.values() if row.name.startswith(prefix)}
        if any(number_of(name) in own for name in foreign):
            raise BadCall("the number of this property is another property of what is asked")
        return "MQMR-3.1.4.1.machine-properties" if call.queue is None else "MQMR-3.1.4.1.queue-properties"
    return None


def number_of(name: str) -> int:
    """Return the number of a property; of one that no table has, the number that its name ends in."""
    row = ROWS.get(name)
    if row is not None:
        return row.number
    digits = name.rpartition("#")[2]
    if not digits.isascii() or not digits.isdigit():
        raise BadCall(f"{name} is no management property")
    return int(digits)


def _there(state: State, name: str) -> bool:
    queue = state.queues.get(name)
    if queue is None:
        return False
    if queue.outgoing is not None and state.restarts:
        outgoing.outgoing_queue(state, name)  # raises BadCall
    return queue.exists


def act(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Perform an action."""
    name = (call.action or "").upper()
    if call.target == SESSION:
        yield _refusal(managed(state), "MQMR-3.1.4.2.session")
        return
    if name not in (*MACHINE_ACTIONS, *QUEUE_ACTIONS):
        yield _refusal(managed(state), "MQMR-3.1.4.2.unknown-action")
        return
    if (call.queue is None) != (name in MACHINE_ACTIONS):
        yield _refusal(managed(state), "MQMR-3.1.4.2.kind-of-target")
        return
    if call.queue is None:
        for expected in _of_the_machine(rules, managed(state), name):
            yield _cased(call, expected)
        return
    queue = state.queues.get(call.queue)
    if queue is None or not queue.exists:
        yield _refusal(managed(state), "MQMR-3.1.4.2.unknown-queue")
        return
    if queue.outgoing is None:
        yield _refusal(managed(state), "MQMR-3.1.4.2.outgoing-only")
        return
    if name == "EOD_RESEND":
        outgoing.outgoing_queue(state, call.queue)
        state = again(managed(state), call.queue)
        yield _cased(call, Expected(Succeeds(), "MQMR-3.1.4.2.eod-resend", state.tick()))
        return
    perform = pause if name == "PAUSE" else resume
    for expected in perform(rules, managed(state), replace(call, method=f"outgoing.{name.lower()}")):
        yield _cased(call, expected)


def _refusal(state: State, must: str) -> Expected:
    return Expected(Fails(must), must, state)


def _cased(call: Call, expected: Expected) -> Expected:
    """Return what is expected of an action that succeeds: its case is to blame first where it is not in capitals."""
    if (call.action or "").isupper():
        return expected
    return replace(expected, requirement=_ANY_CASE, also=(expected.requirement, *expected.also))


def _of_the_machine(rules: Rules, state: State, name: str) -> Iterator[Expected]:
    management = slice_of(state)
    if name != "TIDY":
        after = replace(management, connected=name == "CONNECT", by=name)
        required = "MQDMPR-3.1.4.13.connected" if name == "CONNECT" else "MQDMPR-3.1.4.12.disconnected"
        yield Expected(Succeeds(), required, replace(state, management=after).tick())
        return
    must = "MQMR-3.1.4.2.tidy"
    state = replace(state, management=replace(management, tidied=True))
    held = any(one.available for queue in state.queues.values() if queue.exists for one in queue.positions)
    if not held:
        yield Expected(Succeeds(), must, state)
        return
    for alternative in rules.accepted(state, TIDY):
        after_it = state if alternative == "files" else _purged(rules, state)
        yield Expected(Succeeds(), must, after_it, readings=((TIDY, alternative),))


def _purged(rules: Rules, state: State) -> State:
    """Return the state after a Purge Queue event for each queue."""
    for queue in list(state.queues.values()):
        if not queue.exists or is_kept(queue.name) or queue.parent is not None or queue.outgoing is not None:
            continue
        if all(position.state is PositionState.DELETED for position in queue.positions):
            continue
        handle = Handle("(tidy)", queue.name, "receive", "deny_none")
        purge = Call("queues.purge", handle=handle.name)
        for expected in queues.purge(rules, state.put(handle), purge):
            handles = {name: one for name, one in expected.next.handles.items() if name != handle.name}
            state = replace(expected.next, handles=handles)
    return state


def pause(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Pause Queue, with what it does to the session."""
    for expected in outgoing.pause(rules, state, call):
        yield replace(expected, next=held_messages(expected.next, call.queue or ""))


def resume(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Resume Queue, with what it does to the session."""
    name = call.queue or ""
    for expected in outgoing.resume(rules, state, call):
        session = slice_of(state).sessions.get(name)
        _, found = outgoing.outgoing_queue(state, name)
        if session is None or session.state == "INACTIVE" or found.state is OutgoingState.ON_HOLD:
            yield replace(expected, next=resumed(expected.next, name))
            continue
        for alternative in rules.accepted(state, RESUME):
            after = resumed(expected.next, name) if alternative == "inactive" else expected.next
            yield replace(expected, next=after, readings=(*expected.readings, (RESUME, alternative)))


def take(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transfer messages of a queue that has no session."""
    session = slice_of(state).sessions.get(call.queue or "")
    if session is not None and session.used:
        raise BadCall("what of this queue was transferred is not acknowledged by a further transfer")
    queue = state.queues.get(call.queue or "")
    if queue is not None and any(position.available and position.wishes is not None for position in queue.positions):
        raise BadCall("which acknowledgments such a transfer stands for is not said")
    yield from outgoing.take(rules, state, call)


def restart(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Restart the manager: connections are gone, sequences and their numbers are not."""
    management = state.management
    for expected in outgoing.restart(rules, state, call):
        if management is None:
            yield expected
            continue
        after = expected.next.management or management
        if after.connected is not None:
            after = replace(after, connected=None, by="restart")
        sessions = {
            name: replace(
                session,
                state="INACTIVE",
                hops=(),
                steps=(),
                stored=frozenset(),
                due=frozenset(session.sent),
                why="restart",
                acked=None,
                acks=None,
                place=None,
                emptied=False,
                acked_at=None,
                sent_ms=None,
                sent_at=None,
                waits=None,
                torn=session.torn or bool(session.sent),
            )
            for name, session in after.sessions.items()
        }
        yield replace(expected, next=replace(expected.next, management=replace(after, sessions=sessions, weights=())))


TELLING: Final = frozenset({GET, CONNECTION, TRANSFER, ACKNOWLEDGE})
ManagementJudged: TypeAlias = tuple[State, list[Verdict]]
NO_VALUE: Final = "the driver gives no value of it"
_LAST: Final = frozenset(f"{QUEUE}{word}" for word in ("MESSAGE_COUNT", "BYTES_IN_QUEUE"))
"""Judged behind all others, which tell more of what is wrong with a session."""
_FIRST, _NEXT = "MQQB-3.1.1.5.first-number", "MQQB-3.1.7.1.3.next-number"
_PREVIOUS, _AGAIN = "MQQB-3.1.7.1.3.previous-number", "MQQB-3.1.7.1.3.resent-number"
_SEQUENCE, _OLDER = "MQQB-3.1.1.5.next-sequence", "MQQB-3.1.1.5.all-acknowledged"


def management_judged(rules: Rules, before: State, state: State, call: Call, answer: Answer) -> ManagementJudged:
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


def _transferred(before: State, state: State, call: Call, answer: Answer) -> ManagementJudged:
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


def _got(rules: Rules, state: State, call: Call, answer: Answer) -> ManagementJudged:
    raw = answer.values.get("told")
    given: dict[str, Json] = raw if isinstance(raw, dict) else {}
    if answer.values.get("played") is True and not slice_of(state).played:
        state = replace(state, management=replace(slice_of(state), played=True))
    number = answer.values.get("number", len(call.names or ()))
    if number != len(call.names or ()):
        return state, [
            Verdict("MQMR-3.1.4.1.get", Outcome.FAIL, call.method, {"values": len(call.names or ())}, number)
        ]
    fit = _fit(call.names or (), [given.get(name) for name in call.names or ()])
    if not fit and _turned(call.names or (), given):
        expected: Json = {"values in the order of": list(call.names or ())}
        return state, [Verdict("MQMR-3.1.4.1.get", Outcome.FAIL, call.method, expected, list(given.values()))]
    verdicts: list[Verdict] = []
    for name in sorted(call.names or (), key=_LAST.__contains__):
        state, found = _judged(rules, state, call, ROWS[name], given.get(name), answer, fit)
        verdicts += found
    return state, verdicts


def _turned(names: Sequence[str], given: Mapping[str, Json]) -> bool:
    """Tell whether the values have the types of the properties in another order: of their numbers, or backwards."""
    values = [given.get(name) for name in names]
    by_number = sorted(names, key=lambda name: ROWS[name].number)
    return any(_fit(order, values) for order in (by_number, by_number[::-1], list(names)[::-1]))


def _fit(names: Sequence[str], values: Sequence[Json]) -> bool:
    return all(one is None or no_value(one) or ROWS[name].of_type(one) for name, one in zip(names, values, strict=True))


def _judged(
    rules: Rules, state: State, call: Call, row: ManagementRow, given: Json, answer: Answer, fit: bool
) -> ManagementJudged:
    """Judge the value of a property. fit: it is known to be of its type, or none."""
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
        if not fit and not row.of_type(given):
            told: Json = (
                {**given, "value": short(shown.value)} if isinstance(given, dict) and "value" in given else given
            )
            return state, [equal(row.shown, subject, False, {"type": row.vt}, told)]
        verdicts.append(held(row.shown, subject))
    elif row.name.startswith(MACHINE):
        verdicts.append(held(row.shown, subject))
    after, found = _of_value(shown)
    verdicts += found
    if row.among is not None and not lacks and not is_locked(shown):
        verdicts.append(shown.equal(row.among, shown.value in row.values, {"one of": list(row.values)}))
    return after, verdicts


def _of_value(shown: Shown) -> ManagementJudged:
    name = shown.row.name
    if name in MACHINE_VALUES:
        return MACHINE_VALUES[name](shown)
    if shown.queue is None:
        return shown.state, []
    table = QUEUE_VALUES if shown.queue.outgoing is None else OUTGOING_VALUES
    return table[name](shown) if name in table else (shown.state, [])
