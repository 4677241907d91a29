"""Reads by lookup identifier, and the seek of an available position: MS-MQDMPR 3.1.7.1.13, 3.1.7.3.2 and 3.1.7.3.3."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.model.arrivals import note_peeked, take
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Assumption, Expected, Fails, Succeeds
from conformance.model.refusals import refused
from conformance.model.rules import LOOKUP_EDGE, LOOKUP_LOCKED, LOOKUP_NEIGHBOUR, LOOKUP_REMOVED, Rules
from conformance.model.state import PARKED, START, Position, Queue, Rank, State
from conformance.model.tables import ABORTS, COMMITS, PositionEvent, PositionState, position_transition
from conformance.model.values import replace, value
from conformance.spec.constants import hresults

_IN_ORDER = {  # the claim that two messages share -> the requirement shown when they come in their order
    "MQDMPR-3.1.1.12.recoverable-survives": "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.4.4.durable": "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.4.4.sends-appear": "MQDMPR-3.1.4.4.send-order",
    "MQDMPR-3.1.4.5.receives-return": "MQDMPR-3.1.4.5.receives-return-position",
    **dict.fromkeys(COMMITS, "MQDMPR-3.1.4.4.send-order"),
    **dict.fromkeys(ABORTS, "MQDMPR-3.1.4.5.receives-return-position"),
}

_AVAILABLE, _DELETED = PositionState.AVAILABLE, PositionState.DELETED


@value
class Sought:
    """One possible result of a seek. position: None for the end of the list. queue: updated by what the result reveals.

    rows: the table rows of the messages passed over because a restart has lost them.
    """

    position: Position | None
    queue: Queue
    rows: tuple[str, ...] = ()


def seek(queue: Queue, start: Rank, *, backward: bool = False, since: int | None = None) -> tuple[Sought, ...]:
    """Return the first available position beyond `start`, or the end; several results if a position is uncertain.

    A restart makes positions uncertain: an express message may have survived it or not, and a result implies that the
    messages it passes over did not. since: pass over messages that became available at this event or before. A message
    sent before that event and made available later, by a commit or an abort, may count as arrived later or not.
    """
    found: list[Sought] = []
    rows: tuple[str, ...] = ()
    for position in reversed(queue.positions) if backward else queue.positions:
        beyond = position.rank < start if backward else position.rank > start
        if not beyond or position.state is not _AVAILABLE or (since is not None and position.since <= since):
            continue
        if position.doubtful:
            sure = replace(position, doubtful=False)
            found.append(Sought(sure, queue.with_position(sure), rows))
        else:
            found.append(Sought(position, queue, rows))
        if position.tie is not None:
            found += _tied(queue, position)
        if since is not None and position.rank[1] <= since:
            continue
        if not position.doubtful:
            return tuple(found)
        row = position_transition(position.state, PositionEvent.LOSE)
        # A message may have been lost; a copy that may or may not have been made can only come too late.
        claim = row.claim if "@" not in position.message else "MQDMPR-3.1.1.2.arrival-order"
        rows += (row.id,)
        queue = queue.with_position(replace(position, state=row.target, claim=claim, doubtful=False))
    return (*found, Sought(None, queue, rows))


def _tied(queue: Queue, first: Position) -> list[Sought]:
    """Return the copies made together with this one: any of them may come first."""
    return [
        Sought(sure, queue.with_position(sure))
        for other in queue.positions
        if other.tie == first.tie and other.available and other.rank[0] == first.rank[0] and other is not first
        for sure in [replace(other, doubtful=False)]
    ]


def passed_over(queue: Queue, limit: Rank | None) -> tuple[str, ...]:
    """Return the requirements shown to hold because no unavailable message before `limit` was given."""
    claims: dict[str, None] = {}
    for position in queue.positions:
        if limit is not None and position.rank >= limit:
            break  # positions are sorted by rank
        if position.state is not _AVAILABLE:
            claims[position.claim] = None
    return tuple(claims)


def order_shown(queue: Queue, position: Position) -> tuple[str, ...]:
    """Return the requirements on order shown to hold because this message came before the others."""
    shown: dict[str, None] = {}
    rank, claim = position.rank, position.claim
    alike = _IN_ORDER.get(claim)
    for other in queue.positions:
        theirs = other.rank
        if other.state is not _AVAILABLE or theirs <= rank:
            continue
        if theirs[0] > rank[0]:  # of a lower priority
            shown["MQMQ-2.2.19.1.higher-priority-nearer-front"] = None
            if theirs[1] < rank[1]:
                shown["MQDMPR-3.1.1.2.priority-before-arrival"] = None
        else:
            shown["MQDMPR-3.1.1.2.arrival-order"] = None
        if alike is not None and other.claim == claim:
            shown[alike] = None
    return tuple(shown)


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
        known = named is not None and named.state is not _DELETED
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
    if position.state is _DELETED:
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
    if position.state is _DELETED:
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
        state = note_peeked(state, sought.queue.name, position, call.method)
    return Expected(
        Succeeds(position.message), requirement, state.tick(), tuple(shown), readings=readings, transitions=rows
    )


def _claiming(position: Position, claim: str) -> Position:
    return replace(position, claim=claim)
