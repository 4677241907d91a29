"""Move a message between a queue and its subqueues: MS-MQDMPR 3.1.7.1.16, with the checks of MS-MQRR 3.1.4.10."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.model.arrivals import Branch, after_event, made_available
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Either, Expected, Fails, Succeeds
from conformance.model.queues import named
from conformance.model.refusals import transaction
from conformance.model.rules import COMMIT_PURGED_MOVE, MOVE_CHECKS, MOVE_STATUS, MOVED_PLACE, Rules
from conformance.model.state import Handle, Position, Queue, State
from conformance.model.tables import HELD, PositionEvent, PositionState
from conformance.model.values import replace
from conformance.spec.constants import hresults

_16 = "MQDMPR-3.1.7.1.16"
_RR = "MQRR-3.1.4.10"
_INVALID_PARAMETER = 0xC000000D  # STATUS_INVALID_PARAMETER, an NTSTATUS that MS-MQMQ 2.4 does not list


def move(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the allowed outcomes of moving `call.message` from one handle's queue to the queue of a move handle."""
    source, target = _handle(state, call.handle), _handle(state, call.destination)
    if not source.is_open or not target.is_open:
        must = "MQDMPR-3.1.7.1.6.handle-closed"
        yield Expected(Fails(must), must, state)
        return
    if source.lost or target.lost or source.access != "receive" or source.queue == target.queue:
        raise BadCall(f"no section says what a move from {source.name} to {target.name} does")
    if target.access != "move":
        yield _by_interface(
            rules, state, "move-access", hresults.MQ_ERROR_INVALID_HANDLE, hresults.MQ_ERROR_ACCESS_DENIED
        )
        return
    queue = state.queues[source.queue]
    position = queue.find(named(call.message))
    ended = None if call.transaction is None else transaction(state, call.transaction).ended
    gone = position is not None and position.state is PositionState.DELETED  # then any identifier of it is unknown
    if call.message not in state.lookups and not gone:
        raise BadCall(f"the lookup identifier of {call.message} is not known")
    if position is None and queue.family == state.queues[target.queue].family:
        raise BadCall(f"{call.message} was never in {queue.name}")
    refusal = _refusal(rules, state, call, queue, state.queues[target.queue], position)
    if refusal is not None:
        if rules.accepts(state, MOVE_CHECKS, "checked"):
            yield replace(refusal, readings=((MOVE_CHECKS, "checked"),))
        if rules.accepts(state, MOVE_CHECKS, "unchecked"):  # then the documents leave the result open
            yield Expected(Either(), f"{_16}.moved", state, readings=((MOVE_CHECKS, "unchecked"),))
        return
    if ended is not None:
        yield _fails(state, "transaction-sequence", hresults.MQ_ERROR_TRANSACTION_SEQUENCE)
        return
    assert position is not None
    if position.doubtful or not position.available:
        raise BadCall(f"no section says what moving {position.message} does now")
    yield from _moved(rules, state, call, queue, target.queue, position)


def _handle(state: State, name: str | None) -> Handle:
    found = state.handles.get(named(name))
    if found is None:
        raise BadCall(f"no handle {name}")
    return found


def _fails(state: State, word: str, code: int) -> Expected:
    must = f"{_RR}.{word}"
    return Expected(Fails(must, f"{must}-code", (code,)), must, state)


def _by_interface(rules: Rules, state: State, word: str, remote: int, local: int) -> Expected:
    must, codes = f"{_RR}.{word}", {"remote": remote, "local": local}
    each = tuple((name, codes[name]) for name in rules.accepted(state, MOVE_STATUS))
    return Expected(Fails(must, f"{must}-code", reading=MOVE_STATUS, by_reading=each), must, state)


def _refusal(
    rules: Rules, state: State, call: Call, source: Queue, target: Queue, position: Position | None
) -> Expected | None:
    """Return the refusal of MS-MQRR 3.1.4.10 before it raises the event, checked in its order; None if it has none."""
    if source.family != target.family:
        return _by_interface(rules, state, "related-queues", _INVALID_PARAMETER, hresults.MQ_ERROR_INVALID_PARAMETER)
    if call.transaction is not None and not target.transactional:
        return _fails(state, "transaction-usage", hresults.MQ_ERROR_TRANSACTION_USAGE)
    if position is None or position.state is PositionState.DELETED:
        failed = _fails(state, "message-not-found", hresults.MQ_ERROR_MESSAGE_NOT_FOUND)
        return replace(failed, also=(position.claim,)) if position is not None else failed
    if position.state in HELD and position.state is not PositionState.SENDING:
        failed = _fails(state, "locked-under-transaction", hresults.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION)
        return replace(failed, also=(position.claim,))
    return None


def _moved(
    rules: Rules, state: State, call: Call, source: Queue, target: str, position: Position
) -> Iterator[Expected]:
    also = ("MQDMPR-3.1.1.17.move-access", position.claim)
    if call.transaction is not None:
        event = PositionEvent.MOVE_IN_TRANSACTION
        state = state.tick()
        locked, row = after_event(position, event, holder=call.transaction, target=target, locked_at=state.events)
        state = state.with_position(source.name, locked)
        yield Expected(Succeeds(), f"{_16}.in-transaction", state, also, transitions=(row,))
        return
    gone, row = after_event(position, PositionEvent.MOVE, moved=True)
    start = Branch(state.with_position(source.name, gone).tick(), transitions=(row,))
    for branch in _arrive(rules, start, target, position, f"{_16}.moved", f"{_16}.wakes-readers"):
        yield Expected(
            Succeeds(),
            f"{_16}.moved",
            branch.state,
            (*also, f"{_16}.outside-transaction"),
            branch.completions,
            branch.readings,
            branch.transitions,
        )


def settle_move(rules: Rules, branch: Branch, queue: str, position: Position, how: str) -> Iterator[Branch]:
    """Complete or undo a move when its transaction ends (MS-MQDMPR 3.1.4.4-5). how: "commit" or "abort"."""
    target = position.target
    assert target is not None
    new, row = after_event(position, PositionEvent.COMMIT if how == "commit" else PositionEvent.ABORT, target=None)
    branch = replace(branch, transitions=(*branch.transitions, row))
    if new.available:
        yield from made_available(rules, branch, queue, new, "MQDMPR-3.1.4.5.wakes-readers")
        return
    branch = replace(branch, state=branch.state.with_position(queue, replace(new, moved=True)))
    if how == "abort":
        yield branch
        return
    arrive: tuple[str, ...] = ("moved",)
    if position.state is PositionState.MOVING_PURGED:
        arrive = rules.accepted(branch.state, COMMIT_PURGED_MOVE)
    for alternative in arrive:
        assumed = branch
        if position.state is PositionState.MOVING_PURGED:
            assumed = replace(branch, readings=(*branch.readings, (COMMIT_PURGED_MOVE, alternative)))
        if alternative == "purged":
            yield assumed
        else:
            wakes = "MQDMPR-3.1.4.4.move-wakes-readers"
            yield from _arrive(rules, assumed, target, position, "MQDMPR-3.1.4.4.move", wakes)


def _arrive(rules: Rules, branch: Branch, target: str, position: Position, claim: str, wakes: str) -> Iterator[Branch]:
    """Make the message available in the target queue. Readings decide its place and its identifier."""
    state = branch.state.tick()
    end = (position.rank[0], state.events)
    lookups = {name: number for name, number in state.lookups.items() if name != position.message}
    for alternative in _places(rules, branch, state):
        known = state.lookups.get(position.message)
        absent = replace(
            position,
            rank=position.rank if alternative == "kept-by-arrival" else end,
            state=PositionState.ABSENT,
            holder=None,
            target=None,
            moved=True,
            since=state.events,
            identifier=None if alternative == "new-at-end" else known,
        )
        new, row = after_event(absent, PositionEvent.MOVED_IN)
        readings = (*branch.readings, (MOVED_PLACE, alternative))
        # The identifier has to be seen again before a call can name the message by it.
        arriving = _left_behind(replace(state, lookups=lookups), target, position.message)
        start = Branch(arriving, branch.completions, readings, (*branch.transitions, row))
        yield from made_available(rules, start, target, replace(new, claim=claim), wakes)


def _left_behind(state: State, target: str, message: str) -> State:
    """Detach cursors from the old position of a message that is moved back: it gets a new position."""
    for cursor in state.cursors.values():
        if cursor.message == message and state.handles[cursor.handle].queue == target:
            state = state.put(replace(cursor, message=f"{message} (moved)"))
    return state


def _places(rules: Rules, branch: Branch, state: State) -> tuple[str, ...]:
    """Return the alternatives still open; an earlier message of the same transaction may have fixed one."""
    here = tuple(name for reading, name in branch.readings if reading == MOVED_PLACE)
    return here[:1] or rules.accepted(state, MOVED_PLACE)
