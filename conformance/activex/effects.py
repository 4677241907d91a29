"""Effects: the model's verdict on a call as a verdict on the members that the client has called, also for refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from conformance.activex.events import OBJECT, argument, timeout_ms
from conformance.activex.expected import Demand, Invoke, Readings, Seen, codes_of
from conformance.activex.members import Member, requirements
from conformance.activex.tables import CLASSES
from conformance.activex.values import S_OK, Variant, failed
from conformance.model import Call, Judged, Observation, Pending, State, States
from conformance.model.calls import INFINITE, LOOKUPS, READS
from conformance.model.expected import Blocks, Expected, Fails, Fit, Succeeds, match
from conformance.model.state import Position
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import catalogue, reading_id
from conformance.spec.constants import hresults
from conformance.verdict import Json, Outcome

PEEKS: Final = frozenset({"messages.peek", "messages.peek_next", "messages.peek_by_lookup_id"})
ALLOWED: Final = "MQAC-3.11.4.1.33.property-message-allow-peek-when-locked"
"""The requirement that is broken if such a message is not seen."""


def seen_by_peeks(states: States, messages: frozenset[str]) -> States:
    """Return the states with these messages available, as long as a transaction holds them."""
    return States(tuple(_available(state, messages) for state in states.states), states.capped)


def held_again(after: States, before: State, messages: frozenset[str]) -> States:
    """Return the states with these messages held by the transactions that held them before."""
    return States(tuple(_with_locked(state, before, messages) for state in after.states), after.capped)


def _available(state: State, messages: frozenset[str]) -> State:
    for queue in state.queues.values():
        for one in queue.positions:
            if one.message in messages and one.state is PositionState.LOCKED:
                state = state.with_position(queue.name, replace(one, state=PositionState.AVAILABLE, claim=ALLOWED))
    return state


def _with_locked(state: State, before: State, messages: frozenset[str]) -> State:
    for queue in before.queues.values():
        for one in queue.positions:
            if one.message in messages and one.state is PositionState.LOCKED:
                state = state.with_position(queue.name, one)
    return state


NOT_FOUND_VALUE: Final = reading_id("R-MQAC-message-not-found-value")
READ_TIMEOUT: Final = reading_id("R-MQAC-read-timeout")
LOOKUP_STATUS: Final = reading_id("R-MQAC-lookup-status")
NO_CONTEXT: Final = reading_id("R-MQAC-transaction-without-context")
SINGLE: Final = reading_id("R-MQAC-single-message")
LOOKUP_TYPE: Final = reading_id("R-MQAC-lookup-identifier-type")
ENDED_TRANSACTION: Final = reading_id("R-MQAC-ended-transaction")
AS_PRINTED: Final = 0xC00E0008

_UNREAD: Final = "illegal-cursor-action"
_GONE: Final = ("message-already-received", "already-received")
_NOTHING: Final = ("no-wait", "message-not-found", "io-timeout")


@dataclass(frozen=True, slots=True)
class Refusal:
    """How a member tells a failure. columns: of its cells. null: S_OK and no object tells it too.

    codes: the HRESULTs, each with the readings it follows; none if any failure will do.
    """

    columns: tuple[str, ...]
    codes: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = ()
    null: bool = False

    def holds(self, seen: Seen, readings: Readings) -> tuple[bool, tuple[tuple[str, str], ...]]:
        """Tell whether an answer tells this failure, and the readings that it follows."""
        if seen.waits or seen.gives:
            return False, ()
        if self.null:
            known = accepted(readings, READ_TIMEOUT)
            if seen.status == S_OK:
                return "null" in known, ((READ_TIMEOUT, "null"),) if len(known) > 1 else ()
            if "error" not in known:
                return False, ()
            assumed = ((READ_TIMEOUT, "error"),) if len(known) > 1 else ()
        else:
            assumed = ()
        if not self.codes:
            return failed(seen.status), assumed
        for code, follows in self.codes:
            if code == seen.status and all(which in accepted(readings, reading) for reading, which in follows):
                return True, (*assumed, *(one for one in follows if len(accepted(readings, one[0])) > 1))
        return False, assumed

    def default(self, readings: Readings) -> int:
        """Return the status of the first accepted alternative."""
        if self.null and accepted(readings, READ_TIMEOUT)[0] == "null":
            return S_OK
        for code, follows in self.codes:
            if all(which in accepted(readings, reading) for reading, which in follows):
                return code
        return hresults.MQ_ERROR

    def expected(self, readings: Readings) -> dict[str, object]:
        """Return the demanded status as data."""
        status = self.default(readings)
        if self.null and status == S_OK:
            return {"status": S_OK, "value": None}
        return {"status": status if self.codes else "a failing HRESULT"}


def accepted(readings: Readings, reading: str) -> tuple[str, ...]:
    """Return the accepted alternatives of a reading, the default first."""
    return readings.get(reading) or catalogue().readings[reading].defaults["windows"]


def excused(member: Member, call: Invoke, seen: Seen, readings: Readings) -> bool:
    """Tell whether an accepted reading lets a member answer so, whatever its event would: nothing has happened then."""
    value = argument(member, call, "Transaction")
    takes = any(one.name == "Transaction" for slot in member.slots for one in slot.arguments)
    if failed(seen.status):
        of_caller = takes and (value is None or value in (Variant("I4", 1), Variant("I4", 2)))
        if value == Variant("I4", 3) and "none" in accepted(readings, SINGLE):
            return True
        identifier = argument(member, call, "LookupId")
        as_text = identifier is not None and identifier.vt == "BSTR"
        if of_caller and "fails" in accepted(readings, NO_CONTEXT):
            return True
        return as_text and "number-only" in accepted(readings, LOOKUP_TYPE)
    return False


def renewed(member: Member, call: Invoke, seen: Seen, readings: Readings) -> bool:
    """Tell whether a transaction that has ended is taken for a new one, where this is accepted."""
    value = argument(member, call, "Transaction")
    given = value is not None and value.vt == "DISPATCH"
    return given and not failed(seen.status) and "new" in accepted(readings, ENDED_TRANSACTION)


NOT_FOUND: Final = (
    (hresults.MQ_ERROR_MESSAGE_NOT_FOUND, ((NOT_FOUND_VALUE, "by-name"),)),
    (AS_PRINTED, ((NOT_FOUND_VALUE, "as-printed"),)),
)
NO_MESSAGE: Final = Refusal(("not-found",), NOT_FOUND, null=True)
EXPIRED: Final = Refusal(("expired",), ((hresults.MQ_ERROR_IO_TIMEOUT, ()),), null=True)


def of_read(fails: Fails) -> Refusal:
    """Return how a read tells a failure of its event. Empty columns: the section of the member does not speak of it."""
    word = fails.must.rpartition(".")[2]
    if word == _UNREAD:
        return Refusal(("check:cursor-unread",), ((hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION, ()),))
    if word in _GONE:
        strict = all(code is not None for _, code in fails.by_reading)
        codes = ((hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED, ()),) if strict else ()
        return Refusal(("check:message-gone",), codes)
    if word == "transaction-ends":
        return Refusal(("transaction:object", "locks"))
    return NO_MESSAGE if word in _NOTHING else Refusal(())


def of_lookup(fails: Fails) -> Refusal:
    """Return how a read by lookup identifier tells a failure of its event."""
    if not fails.must.startswith("MQDMPR-3.1.7.3.3"):
        return of_read(fails)
    own = fails.codes or tuple(code for _, code in fails.by_reading if code is not None)
    found = hresults.MQ_ERROR_MESSAGE_NOT_FOUND
    events = tuple((code, ((LOOKUP_STATUS, "as-event"),)) for code in own if code != found)
    named = tuple((code, (*follows, (LOOKUP_STATUS, "not-found"))) for code, follows in NOT_FOUND)
    by_name = ((found, ()),) if found in own else ()
    return Refusal(("not-found",), (*by_name, *named, *events))


@dataclass(frozen=True, slots=True)
class Doer:
    """The call that had an effect. coclass: of the object."""

    coclass: str
    call: Invoke

    @property
    def member(self) -> Member:
        """The row of the member."""
        return CLASSES[self.coclass][self.call.member]

    def requirements(self, *columns: str) -> tuple[str, ...]:
        """Return the requirements of some columns of the method."""
        return requirements(self.member, "method", *columns)


Doers = Mapping[tuple[str, str], Doer]
"""Message or cursor, and kind of effect, to the call that had it last."""


@dataclass(frozen=True, slots=True)
class Told:
    """One demand on a call, with its subject, None for the call that was made, and the answer."""

    demand: Demand
    seen: Seen
    subject: str | None = None


_REMOVES: Final = (("read", "removes"),)
_LOCKS: Final = (("read", "locks"),)
_RETURNS: Final = (("end", "aborts"), ("read", "enlists"))
_SENT: Final = (("send", "arrives"),)
PAST: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "MQDMPR-3.1.7.1.10.removes": _REMOVES,
    "MQDMPR-3.1.7.1.13.receive-removes": _REMOVES,
    "MQDMPR-3.1.7.1.10.transaction-locks": _LOCKS,
    "MQDMPR-3.1.7.1.13.transaction-locks": _LOCKS,
    "MQDMPR-3.1.4.4.receives-gone": (("end", "commits"), ("read", "enlists")),
    "MQDMPR-3.1.4.5.receives-return": _RETURNS,
    "MQDMPR-3.1.4.5.receives-return-position": _RETURNS,
    "MQDMPR-3.1.7.1.7.available-deleted": (("purge", "removes"),),
    "MQDMPR-3.1.4.4.sends-appear": (("end", "commits"), ("send", "enlists")),
    "MQDMPR-3.1.4.5.sends-vanish": (("end", "aborts"), ("send", "enlists")),
    "MQDMPR-3.1.7.1.9.uncommitted-locked": (("send", "locks"),),
    "MQDMPR-3.1.7.1.9.available": (("send", "arrives"),),
    ALLOWED: (("read", "allow-peek"),),
    "MQMQ-2.3.1.4.journal-copy": (("read", "journals"),),
    "MQDMPR-3.1.1.12.negative-journaling": _SENT,
    "MQDMPR-3.1.1.12.negative-journaling-transactional": _SENT,
    "MQDMPR-3.1.7.2.7.dead-letter": _SENT,
}
"""The model's requirement to the kinds of effects that it speaks of, and the columns of their members."""
_ON_CURSOR: Final = frozenset(
    {
        "MQDMPR-3.2.7.4.continues",
        "MQDMPR-3.2.7.4.becomes-unread",
        "MQDMPR-3.2.7.4.unread-seeks",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.2.7.1.unread",
        "MQDMPR-3.2.7.1.starts-before-first",
    }
)

_SHOWN_BY: Final = {"arrives": "shown", "allow-peek": "peeked"}
"""Column to the kind of look that shows it."""
_GIVEN_BACK: Final = "MQDMPR-3.1.4.5.receives-return"
TELL_NOTHING: Final = frozenset({*(code for code, _ in NOT_FOUND), hresults.MQ_ERROR_IO_TIMEOUT})


def answered(
    pending: Pending,
    judged: Judged,
    observation: Observation,
    doer: Doer | None,
    doers: Doers,
    seen: Seen,
    ended: Mapping[str, Seen],
    readers: Mapping[str, Doer],
    readings: Readings,
) -> list[Told]:
    """Return the demands that an answer meets or breaks. pending: what the model allowed. doer: None for time alone."""
    state, call = pending.states.likely, pending.call
    fitting = [one for ways in pending.ways for one in ways if match(one, observation).fit is Fit.FITS]
    if not judged.failed and fitting:
        told = list(_of_call(call, fitting, doer, seen, readings))
        told += _of_ends(fitting[0], readers, ended, readings)
        return told + list(_of_past(state, call, judged, doers, seen))
    return list(_broken(state, call, judged, pending.ways[0][0], observation, doer, doers, seen, ended, readers))


def _of_call(call: Call, fitting: list[Expected], doer: Doer | None, seen: Seen, readings: Readings) -> Iterator[Told]:
    if doer is None:
        return
    result = fitting[0].result
    if isinstance(result, Fails):
        ways = [refusal(call, one.result) for one in fitting if isinstance(one.result, Fails)]
        found = next(((way, how) for way in ways for how in [way.holds(seen, readings)] if how[0]), None)
        way, (holds, assumed) = found or (ways[0], ways[0].holds(seen, readings))
        for demand in _refused(doer.requirements(*way.columns), holds, way, assumed, seen, readings):
            yield Told(demand, seen)
        return
    names = doer.requirements(*columns(call, doer, fitting[0]))
    yield Told(Demand(names, seen.waits or seen.status == S_OK, expected_of(fitting[0])), seen)


def _refused(
    names: tuple[str, ...],
    holds: bool,
    way: Refusal,
    assumed: tuple[tuple[str, str], ...],
    seen: Seen,
    readings: Readings,
) -> Iterator[Demand]:
    """Yield the demands on a failure: that nothing is given, and how this is told."""
    expected, codes = way.expected(readings), codes_of(names)
    others = tuple(name for name in names if name not in codes)
    if others and codes:
        yield Demand(others, not seen.waits and not seen.gives, expected, assumed)
        yield Demand(codes, holds, expected, assumed)
    else:
        yield Demand(names, holds, expected, assumed)


def refusal(call: Call, fails: Fails) -> Refusal:
    """Return how the member of a call tells that its event has failed."""
    if call.method in LOOKUPS:
        return of_lookup(fails)
    return of_read(fails) if call.method in READS else Refusal(())


def columns(call: Call, doer: Doer, expected: Expected) -> tuple[str, ...]:
    """Return the columns of a member that an outcome stands for."""
    if isinstance(expected.result, Blocks):
        left_out = argument(doer.member, doer.call, "ReceiveTimeout") is None
        waits = "blocks" if call.timeout_ms == INFINITE else "waits"
        return ("default:ReceiveTimeout", waits) if left_out else (waits,)
    of_transaction = tuple(_transaction(doer))
    of_message = ("gives", "seeks") if call.method in READS | LOOKUPS else ()
    if of_transaction[:1] == ("default:Transaction",):
        return (*of_transaction, "success", *of_message)
    return ("success", *of_message, *of_transaction)


def _transaction(doer: Doer) -> Iterator[str]:
    if not any(one.name == "Transaction" for slot in doer.member.slots for one in slot.arguments):
        return
    value = argument(doer.member, doer.call, "Transaction")
    if value is None:
        yield "default:Transaction"
    else:
        yield "transaction:object" if value.vt in OBJECT else "transaction:number"


def expected_of(expected: Expected) -> Json:
    """Return an outcome as data."""
    if isinstance(expected.result, Blocks):
        return {"waits": True}
    if isinstance(expected.result, Succeeds):
        message = expected.result.message
        return {"status": S_OK, "because": expected.requirement, **({} if message is None else {"message": message})}
    return {"status": "a failing HRESULT", "because": expected.requirement}


def _of_ends(
    expected: Expected, readers: Mapping[str, Doer], ended: Mapping[str, Seen], readings: Readings
) -> Iterator[Told]:
    for item in expected.completions:
        reader, seen = readers.get(item.waiter), ended.get(item.waiter)
        if reader is None or seen is None:
            continue
        subject = f"{reader.coclass}.{reader.call.member}"
        if isinstance(item.result, Succeeds):
            how = "blocked" if timeout_ms(reader.member, reader.call) == INFINITE else "waited"
            names = reader.requirements("success", f"gives:{how}", *_transaction(reader))
            expects: Json = {"status": S_OK, "message": item.result.message, "because": item.requirement}
            yield Told(Demand(names, seen.status == S_OK, expects), seen, subject)
        elif isinstance(item.result, Fails):
            expired = item.result.must.endswith("io-timeout")
            way = EXPIRED if expired else Refusal(())
            holds, assumed = way.holds(seen, readings)
            holds = holds if expired else failed(seen.status)
            for demand in _refused(reader.requirements(*way.columns), holds, way, assumed, seen, readings):
                yield Told(demand, seen, subject)


def _of_past(state: State, call: Call, judged: Judged, doers: Doers, seen: Seen) -> Iterator[Told]:
    """Yield what an answer shows to hold of earlier calls."""
    names: dict[str, None] = {}
    for verdict in judged.verdicts:
        if verdict.outcome is Outcome.PASS:
            names.update(dict.fromkeys(_earlier(state, call, verdict.requirement, doers, None)))
    if names:
        yield Told(Demand(tuple(names), True, None), seen)


def _earlier(
    state: State, call: Call, requirement: str, doers: Doers, message: str | None, *, broken: bool = False
) -> Iterator[str]:
    """Yield the requirements of earlier calls that a requirement of the model speaks of. message: of this one alone.

    broken: the answer is wrong. A message that a read has shown has arrived, and one that a peek has shown while it is
    locked may be peeked at; who does not see it then is wrong itself. So is who misses a message when others that were
    sent so have arrived.
    """
    if requirement in _ON_CURSOR and call.cursor is not None:
        doer = doers.get((call.cursor, "cursor"))
        if doer is not None:
            yield from doer.requirements("resets" if doer.call.member == "Reset" else "advances")
        return
    kinds = PAST.get(requirement)
    if kinds is None:
        return
    claim = requirement.removesuffix("-position")
    claimed = [one.message for queue in state.queues.values() for one in queue.positions if one.claim == claim]
    for name in [message] if message in claimed else claimed:
        plain = (name or "").partition("@")[0]
        for kind, column in kinds:
            doer = doers.get((plain, kind))
            there = column in _SHOWN_BY and (plain, _SHOWN_BY[column]) in doers
            there = there or (column == "arrives" and doer is not None and _others_arrived(doer, doers))
            if doer is not None and not (broken and there):
                yield from doer.requirements(column)


def _others_arrived(sender: Doer, doers: Doers) -> bool:
    """Tell whether a read has shown another message that was sent so."""
    how = sender.call.arguments[1:]
    return any(
        kind == "send" and one.call.arguments[1:] == how and (name, "shown") in doers
        for (name, kind), one in doers.items()
    )


def _broken(
    state: State,
    call: Call,
    judged: Judged,
    demanded: Expected,
    observation: Observation,
    doer: Doer | None,
    doers: Doers,
    seen: Seen,
    ended: Mapping[str, Seen],
    readers: Mapping[str, Doer],
) -> Iterator[Told]:
    """Yield the demands that a wrong answer breaks: those of the effect that the model blames, or of the call."""
    failures = [one for one in judged.verdicts if one.outcome is Outcome.FAIL]
    if not failures:
        return
    requirement = failures[0].requirement
    wrong = _wrong_end(demanded, observation, readers)
    answer = observation.answer if wrong is None else observation.completed.get(wrong)
    message = answer.message.name if answer is not None and answer.message is not None else None
    expected: Json = {"demanded": expected_of(demanded), "because": requirement}
    given = _position(state, call, message)
    if given is not None and not given.available and given.claim in PAST:
        requirement = given.claim  # it is seen though an earlier call has taken it
    if isinstance(demanded.result, Succeeds) and demanded.result.message != message:
        lacking = _position(state, call, demanded.result.message)
        if lacking is not None and lacking.claim in (ALLOWED, _GIVEN_BACK):
            requirement, message = lacking.claim, lacking.message
    names = tuple(dict.fromkeys(_earlier(state, call, requirement, doers, message, broken=True)))
    if wrong is None and failed(seen.status) and seen.status not in TELL_NOTHING:
        names = ()  # the call itself fails, whatever is in the queue
    subject = None
    if not names and wrong is not None:
        reader, item = readers[wrong], next((one for one in demanded.completions if one.waiter == wrong), None)
        subject = f"{reader.coclass}.{reader.call.member}"
        names, seen = reader.requirements(*_ending(reader, item)), ended.get(wrong, Seen(S_OK, waits=True))
    elif not names and doer is not None:
        if isinstance(demanded.result, Fails):
            names = doer.requirements(*refusal(call, demanded.result).columns)
        names = names or _closing(call, demanded, doers) or _beginning(call, doer, doers, seen)
        names = names or doer.requirements(*_wrong(call, doer, demanded, seen))
        names = names or doer.requirements("success")
    if names:
        yield Told(Demand(names, False, expected), seen, subject)


def _wrong(call: Call, doer: Doer, demanded: Expected, seen: Seen) -> tuple[str, ...]:
    """Return the columns of the demands that an answer breaks: those of the status only if it is wrong."""
    every = columns(call, doer, demanded)
    if seen.waits or seen.status != S_OK:
        return every
    kept = "seeks" if seen.gives else "gives"
    return tuple(one for one in every if one not in ("success", "gives", "seeks") or one == kept)


def _closing(call: Call, demanded: Expected, doers: Doers) -> tuple[str, ...]:
    """Return what Close breaks if the queue cannot be opened because of a handle that was closed."""
    doer = doers.get((call.queue or "", "close"))
    opens = call.method == "queues.open" and isinstance(demanded.result, Succeeds)
    return doer.requirements("closes") if doer is not None and opens else ()


def _beginning(call: Call, doer: Doer, doers: Doers, seen: Seen) -> tuple[str, ...]:
    """Return what BeginTransaction breaks if a member refuses a transaction that was begun after one it has taken."""
    begun = doers.get((call.transaction or "", "begin"))
    took = (doer.member.name, "enlists") in doers
    if begun is None or not took or not failed(seen.status) or not any(kind == "ended" for _, kind in doers):
        return ()
    return begun.requirements("fresh")


def _position(state: State, call: Call, message: str | None) -> Position | None:
    handle = state.handles.get(call.handle or "")
    return state.queues[handle.queue].find(message or "") if handle is not None else None


def _wrong_end(demanded: Expected, observation: Observation, readers: Mapping[str, Doer]) -> str | None:
    """Return the waiting read that did not end as demanded, or ended without a demand."""
    wanted = {item.waiter: item.result for item in demanded.completions}
    for name, result in wanted.items():
        answer = observation.completed.get(name)
        gave = answer is not None and answer.message is not None
        if name in readers and (answer is None or gave != isinstance(result, Succeeds)):
            return name
        came = answer.message.name if answer is not None and answer.message is not None else None
        if name in readers and isinstance(result, Succeeds) and came != result.message:
            return name
    return next((name for name in observation.completed if name not in wanted and name in readers), None)


def _ending(reader: Doer, item: object) -> tuple[str, ...]:
    infinite = timeout_ms(reader.member, reader.call) == INFINITE
    result = getattr(item, "result", None)
    if isinstance(result, Fails):
        return ("expired",) if result.must.endswith("io-timeout") else ("success",)
    if result is None:
        return ("blocks",) if infinite else ("waits",)
    return ("gives:blocked",) if infinite else ("gives:waited",)


def doers_after(doers: Doers, before: State, call: Call, doer: Doer | None, observation: Observation) -> Doers:
    """Return the doers after a call that was answered as it should."""
    answer = observation.answer
    if doer is None or answer is None or answer.failed:
        return doers
    if answer.message is not None:
        effects: Iterable[Effect] = _reads(before, call, answer.message.name)
        if call.method not in PEEKS:
            plain = answer.message.name.partition("@")[0]
            doers = {at: one for at, one in doers.items() if at != (plain, "peeked")}
    else:
        effects = _EFFECTS[call.method](before, call, doer) if call.method in _EFFECTS else ()
    enlists = call.transaction is not None and call.method not in _ENDS
    new = dict.fromkeys([*([(doer.member.name, "enlists")] if enlists else []), *effects], doer)
    return {**{at: one for at, one in doers.items() if at not in new}, **new} if new else doers


Effect = tuple[str, str]
"""A message, cursor, queue or transaction, and the kind of effect on it."""
_ENDS: Final = ("transactions.commit", "transactions.abort")


def _reads(before: State, call: Call, message: str) -> Iterator[Effect]:
    plain = message.partition("@")[0]
    yield plain, "shown"
    if call.method not in PEEKS:
        yield message, "read"
    elif (position := _position(before, call, message)) is not None and position.claim == ALLOWED:
        yield plain, "peeked"
    if call.cursor is not None:
        yield call.cursor, "cursor"


def _ended(before: State, call: Call, doer: Doer) -> list[Effect]:
    of = call.transaction or ""
    return [*((one.message, "end") for _, one in before.held_by(of)), (of, "ended")]


def _purged(before: State, call: Call, doer: Doer) -> list[Effect]:
    queue = before.queues[before.handles[call.handle or ""].queue]
    return [(one.message, "purge") for one in queue.positions if one.available]


_EFFECTS: Final[Mapping[str, Callable[[State, Call, Doer], list[Effect]]]] = {
    "cursors.open": lambda _, call, doer: [(call.name or "", "cursor")] if doer.call.member == "Reset" else [],
    "queues.close": lambda before, call, _: [(before.handles[call.handle or ""].queue, "close")],
    "queues.purge": _purged,
    "transactions.commit": _ended,
    "transactions.abort": _ended,
    "transactions.begin": lambda _, call, __: [(call.name or "", "begin")],
    "messages.send": lambda _, call, __: [(call.message or "", "send")],
}
"""Method to the effects of a call that shows no message."""
