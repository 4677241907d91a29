"""Reads by lookup identifier: MS-MQDMPR 3.1.7.1.13 and 3.1.7.3.3."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.model.arrivals import kept, take
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Assumption, Expected, Fails, Succeeds
from conformance.model.refusals import refused
from conformance.model.rules import LOOKUP_EDGE, LOOKUP_LOCKED, LOOKUP_NEIGHBOUR, LOOKUP_REMOVED, Rules
from conformance.model.seeking import Sought, seek
from conformance.model.state import PARKED, START, Position, Queue, State
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.constants import hresults

_3 = "MQDMPR-3.1.7.3.3"


def read_by_lookup(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the allowed outcomes of a read by lookup identifier. call.message: the message with that identifier."""
    refusal = refused(rules, state, call)
    yield from refusal.outcomes
    if refusal.final:
        return
    queue = state.queues[state.handles[call.handle or ""].queue]
    action = call.action or "current"
    if action in ("first", "last"):
        backward = action == "last"
        named = queue.find(call.message) if call.message is not None else None
        known = named is not None and named.state is not PositionState.DELETED
        if known or rules.accepts(state, LOOKUP_EDGE, "ignored"):
            how: tuple[Assumption, ...] = () if known else ((LOOKUP_EDGE, "ignored"),)
            for sought in seek(queue, PARKED if backward else START, backward=backward):
                yield _outcome(state, call, sought, f"{_3}.seek-{action}", f"{_3}.edge-not-found", None, how)
        if not known and rules.accepts(state, LOOKUP_EDGE, "must-exist"):
            must = f"{_3}.message-not-found"
            yield Expected(Fails(must), must, state, readings=((LOOKUP_EDGE, "must-exist"),))
        return
    position = queue.find(call.message or "")
    if position is None:
        raise BadCall(f"{call.message} was never in {queue.name}")
    if position.doubtful:
        raise BadCall(f"{call.message} may not have survived the restart")
    if action == "current":
        yield _current(rules, state, call, queue, position)
    else:
        yield from _neighbour(rules, state, call, queue, position, backward=action == "previous")


def _current(rules: Rules, state: State, call: Call, queue: Queue, position: Position) -> Expected:
    if position.available:
        return _outcome(state, call, Sought(position, queue), f"{_3}.seek-current", f"{_3}.message-not-found", None)
    if position.state is PositionState.DELETED:
        must = f"{_3}.message-not-found"
        codes = {
            "message-not-found": hresults.MQ_ERROR_MESSAGE_NOT_FOUND,
            "already-received": hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
        }
        each = tuple((name, codes[name]) for name in rules.accepted(state, LOOKUP_REMOVED))
        return Expected(
            Fails(must, f"{must}-code", reading=LOOKUP_REMOVED, by_reading=each), must, state, (position.claim,)
        )
    must = f"{_3}.locked"
    if position.state is not PositionState.LOCKED:  # no section gives the code for a purged or an unsent message
        return Expected(Fails(must), must, state, (position.claim,))
    usage, missing = hresults.MQ_ERROR_TRANSACTION_USAGE, hresults.MQ_ERROR_MESSAGE_NOT_FOUND
    peeks = call.method == "messages.peek_by_lookup_id"
    locked_codes = {
        "by-kind": usage if peeks else missing,
        "transaction-usage": usage,
        "locked-under-transaction": hresults.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION,
    }
    accepted = tuple((name, locked_codes[name]) for name in rules.accepted(state, LOOKUP_LOCKED))
    fails = Fails(must, f"{must}-code", reading=LOOKUP_LOCKED, by_reading=accepted)
    return Expected(fails, must, state, (position.claim,))


def _neighbour(
    rules: Rules, state: State, call: Call, queue: Queue, position: Position, *, backward: bool
) -> Iterator[Expected]:
    requirement = f"{_3}.seek-{'previous' if backward else 'next'}"
    direction = f"MQDMPR-3.1.7.3.2.{'backward' if backward else 'forward'}"
    must = f"{_3}.neighbour-not-found"
    readings: tuple[Assumption, ...] = ()
    if position.state is PositionState.DELETED:
        if rules.accepts(state, LOOKUP_NEIGHBOUR, "not-found"):
            fails = Fails(must, f"{must}-code", (hresults.MQ_ERROR_MESSAGE_NOT_FOUND,))
            yield Expected(fails, must, state, readings=((LOOKUP_NEIGHBOUR, "not-found"),))
        if not rules.accepts(state, LOOKUP_NEIGHBOUR, "nearest"):
            return
        readings = ((LOOKUP_NEIGHBOUR, "nearest"),)
    for sought in seek(queue, position.rank, backward=backward):
        yield _outcome(state, call, sought, requirement, must, direction, readings)


def _outcome(
    state: State,
    call: Call,
    sought: Sought,
    requirement: str,
    must: str,
    also: str | None,
    readings: tuple[Assumption, ...] = (),
) -> Expected:
    state = state.put(sought.queue)
    if sought.position is None:
        code = None if must.endswith("edge-not-found") else f"{must}-code"
        fails = Fails(must, code, (hresults.MQ_ERROR_MESSAGE_NOT_FOUND,) if code else ())
        return Expected(fails, must, state, readings=readings, transitions=sought.rows)
    position = sought.position
    shown = [position.claim, "MQDMPR-3.1.7.1.13.does-not-wait"] + ([also] if also else [])
    rows = sought.rows
    if call.method == "messages.receive_by_lookup_id":
        state, row = take(state, sought.queue.name, position, call.transaction)
        rows += (row,)
        taken = state.position(sought.queue.name, position.message)
        if call.transaction is None:
            state = state.with_position(sought.queue.name, _claiming(taken, "MQDMPR-3.1.7.1.13.receive-removes"))
        else:
            state = state.with_position(sought.queue.name, _claiming(taken, "MQDMPR-3.1.7.1.13.transaction-locks"))
    else:
        state = kept(state, sought.queue.name, position, call.method)
    return Expected(
        Succeeds(position.message), requirement, state.tick(), tuple(shown), readings=readings, transitions=rows
    )


def _claiming(position: Position, claim: str) -> Position:
    return replace(position, claim=claim)
