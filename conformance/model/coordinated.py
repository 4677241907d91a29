"""Transactions of a coordinator: enlist, prepare, commit, abort, and those in doubt after a restart.

MS-MQDMPR 3.1.3, 3.1.4.6 to 3.1.4.11, MS-MQMP 3.1.4.13. Each does to messages what the call of `transactions` does
that it stands for. It differs in who ends the transaction, in what is answered and in what a restart does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from conformance.model.calls import Answer, BadCall, Call
from conformance.model.expected import Assumption, Either, Expected, Fails, Result, Succeeds, Tells
from conformance.model.queues import named
from conformance.model.rules import READ_ONLY, Rules
from conformance.model.sends_and_commits import end, prepare
from conformance.model.state import State, Transaction
from conformance.model.tables import (
    CoordinatedEvent,
    CoordinatedState,
    CoordinatedTransition,
    coordinated_transition,
)
from conformance.model.values import replace

IN_DOUBT: Final = "coordinator.in_doubt"
_ASKS: Final = "MQDMPR-3.1.3.resource-manager"
_LASTS: Final = "MQDMPR-3.1.1.1.transaction-collection"
_LATE: Final = "MQDMPR-3.1.3.reenlist-timeout"
_REPORTED, _STOPPED = "MQDMPR-3.1.4.11.error-reported", "MQDMPR-3.1.4.11.initialization-stopped"
_TOLD: Final = {"commit": "MQDMPR-3.1.3.reenlist-commit", "abort": "MQDMPR-3.1.3.reenlist-abort"}
_EVENTS: Final = {
    "coordinator.commit": CoordinatedEvent.COMMIT,
    "coordinator.abort": CoordinatedEvent.ABORT,
    "committed": CoordinatedEvent.OUTCOME_COMMITTED,
    "aborted": CoordinatedEvent.OUTCOME_ABORTED,
    "timeout": CoordinatedEvent.OUTCOME_TIMEOUT,
}
_HOW: Final = {CoordinatedState.COMMITTED: "transactions.commit", CoordinatedState.ABORTED: "transactions.abort"}
_ENDS: Final = frozenset(  # what an end says of a message, unless it was purged or moved
    {
        "MQDMPR-3.1.4.4.sends-appear",
        "MQDMPR-3.1.4.4.receives-gone",
        "MQDMPR-3.1.4.5.sends-vanish",
        "MQDMPR-3.1.4.5.receives-return",
    }
)


def of_coordinator(state: State, identifier: str | None) -> Transaction | None:
    """Return the transaction that the coordinator calls so, in whatever case; None if the manager never knew one."""
    name = None if identifier is None else identifier.lower()
    return next((found for found in state.transactions.values() if found.identifier == name), None)


def internal_call(state: State, call: Call) -> Call:
    """Return the call of `transactions` with the same effect, and work by the first handle of its transaction.

    Any other call is returned as it is. Raises BadCall for what no section describes.
    """
    if call.identifier is not None:
        found = of_coordinator(state, call.identifier)
        if found is None or found.ended is not None or call.method == "coordinator.enlist":
            return call
        how = _HOW.get(_arrow(found.coordinated, call).target)
        return call if how is None else Call(how, transaction=found.name)
    handle = state.transactions.get(call.transaction or "")
    if handle is None or handle.identifier is None:
        return call
    if handle.dropped:
        raise BadCall(f"a restart ended the handle {handle.name}")
    if call.method.startswith("transactions."):
        raise BadCall(f"only its coordinator prepares and ends {handle.identifier}")
    if handle.prepared and handle.ended is None:
        raise BadCall(f"no section says what work in {handle.identifier} does once it is prepared")
    first = of_coordinator(state, handle.identifier)
    return call if first is None or first is handle else replace(call, transaction=first.name)


def _arrow(state: CoordinatedState, call: Call) -> CoordinatedTransition:
    if call.method == "coordinator.prepare":
        event = CoordinatedEvent.PREPARE_SINGLE if call.single_phase else CoordinatedEvent.PREPARE
    else:
        event = _EVENTS[call.action or "" if call.method == "coordinator.outcome" else call.method]
    try:
        return coordinated_transition(state, event)
    except KeyError:
        raise BadCall(f"no section says what {event.value} does to a transaction that is {state.value}") from None


def enlist(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """R_QMEnlistTransaction (MS-MQMP 3.1.4.13): once more for the same transaction, it gives another handle of it.

    A transaction that is over is no longer among those of the manager, so its identifier names a new one.
    """
    found = of_coordinator(state, named(call.identifier))
    if found is not None and found.ended is not None:
        state, found = _marked(state, found, identifier=None, asked=False, dropped=False), None
    start = CoordinatedState.START if found is None else found.coordinated
    row = coordinated_transition(start, CoordinatedEvent.ENLIST)
    like = found or Transaction("", identifier=call.identifier)
    after = state.put(replace(like, name=named(call.name)))
    yield Expected(Succeeds(ok=True), row.claim, after, transitions=(row.id,))


def decision(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """The coordinator asks to prepare, or tells to commit or abort (MS-MQDMPR 3.1.4.6 to 3.1.4.8)."""
    found = of_coordinator(state, named(call.identifier))
    row = _arrow(CoordinatedState.START if found is None else found.coordinated, call)
    if found is None or found.ended is not None:
        yield Expected(_tells(row), row.claim, state, transitions=(row.id,), shows=False)
        return
    preparing = call.method == "coordinator.prepare"
    empty = preparing and not found.prepared and not any(True for _ in state.held_by(found.name))
    ways = rules.accepted(state, READ_ONLY) if empty else ("prepared",)
    if any(waiter.transaction == found.name for waiter in state.waiters):
        raise BadCall("no section says what becomes of a waiting read whose transaction is prepared or ends")
    for way in ways:
        assumed: tuple[Assumption, ...] = ((READ_ONLY, way),) if empty else ()
        if way == "read-only":
            nothing = coordinated_transition(CoordinatedState.ENLISTED, CoordinatedEvent.PREPARE_NOTHING)
            after = _marked(state, found, prepared=True, ended="commit")
            yield Expected(_tells(nothing), row.claim, after, (), (), assumed, (nothing.id,), shows=False)
            continue
        start = _marked(state, found, prepared=True) if preparing else state
        if row.target in (CoordinatedState.PREPARED, CoordinatedState.IN_DOUBT):
            for expected in prepare(rules, start, Call("transactions.prepare", transaction=found.name)):
                yield replace(_coordinated(expected, found, row), readings=assumed)
        else:
            for expected in _ended(rules, start, found, row):
                yield replace(expected, readings=(*expected.readings, *assumed))


def _tells(row: CoordinatedTransition) -> Tells:
    return Tells("answer", row.answer, row.shown)


def _ended(rules: Rules, state: State, found: Transaction, row: CoordinatedTransition) -> Iterator[Expected]:
    """Yield the outcomes of an end that the coordinator has decided."""
    how = _HOW[row.target]
    if found.bereft and how == "transactions.commit":
        raise BadCall("no section says what the coordinator is told of a commit whose queue is deleted")
    held = [(queue, position.message) for queue, position in state.held_by(found.name)]
    for expected in end(rules, state, Call(how, transaction=found.name)):
        after = expected.next
        for queue, message in held:
            position = after.position(queue, message)
            if position.claim in _ENDS:
                after = after.with_position(queue, replace(position, claim=row.claim))
        yield _coordinated(replace(expected, next=after), found, row)


def _coordinated(expected: Expected, found: Transaction, row: CoordinatedTransition) -> Expected:
    """Return the outcome of an internal transaction's event as that of a coordinator's."""
    known = expected.next.transactions[found.name]
    after = _marked(expected.next, found, prepared=known.prepared, ended=known.ended)
    rows = (row.id, *expected.transitions[1:])
    result: Result = _tells(row) if row.answer else Either()
    return replace(expected, result=result, requirement=row.claim, next=after, transitions=rows, shows=False)


def _marked(state: State, found: Transaction, **changes: object) -> State:
    """Return the state with these changes of a transaction, by whichever handle."""
    for handle in state.transactions.values():
        if handle.identifier == found.identifier:
            state = state.put(replace(handle, **changes))
    return state


def outcome(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """The coordinator answers how a transaction in doubt ended, or does not in time (MS-MQDMPR 3.1.4.9 to 3.1.4.11).

    Of its status only that of a time-out is judged. What still works after that, no section says.
    """
    found = of_coordinator(state, named(call.identifier))
    row = _arrow(CoordinatedState.START if found is None else found.coordinated, call)
    if found is None or found.ended is not None:
        yield Expected(Either(), row.claim, state, transitions=(row.id,), shows=False)
    elif row.target is not CoordinatedState.IN_DOUBT:
        yield from _ended(rules, state, found, row)
    else:
        state = _marked(state, found, overdue=True)
        for queue, position in tuple(state.held_by(found.name)):
            state = state.with_position(queue, replace(position, claim=_STOPPED))
        reported, silent = replace(state, halted="reported"), replace(state, halted="silent")
        yield Expected(Fails(row.claim), row.claim, reported, transitions=(row.id,))
        yield Expected(Succeeds(), row.claim, silent, transitions=(row.id,), shows=False)


def in_doubt(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Answer which transactions the manager has asked the coordinator about (MS-MQDMPR 3.1.3)."""
    listed: dict[str, Transaction] = {}
    shown: list[str] = []
    for found in state.transactions.values():
        if found.coordinated is CoordinatedState.IN_DOUBT:
            listed[found.identifier or ""] = found
        elif found.asked:
            shown.append(_TOLD[found.ended or ""])
        elif found.dropped and found.ended == "abort" and not found.prepared:
            shown.append("MQDMPR-3.1.3.unfinished-transaction-aborted")
    if listed:
        shown = [_ASKS, "MQDMPR-3.1.4.6.prepares", _LASTS, *shown]
    if any(found.overdue for found in listed.values()):
        shown.append(_LATE)
    if state.halted != "silent":
        result = Tells("transactions", sorted(listed), tuple(dict.fromkeys(shown or (_ASKS,))))
        yield Expected(result, _ASKS, state, shows=False)
    if state.halted:
        must = _REPORTED if state.halted == "silent" else _STOPPED
        yield Expected(Fails(must), must, replace(state, halted="reported"))


def misnamed(state: State, answer: Answer) -> str:
    """Return the requirement that a wrong list of transactions in doubt breaks."""
    given = answer.values.get("transactions")
    names = [str(name) for name in given] if isinstance(given, list) else []
    by_name: Mapping[str, Transaction] = {found.identifier or "": found for found in state.transactions.values()}
    for name in names:
        found = by_name.get(name)
        if found is None:
            return _ASKS
        if found.asked and found.ended is not None:
            return _TOLD[found.ended]
        if found.ended is not None:
            return _LASTS if found.prepared else "MQDMPR-3.1.3.unfinished-transaction-aborted"
        if not found.dropped or names.count(name) > 1:
            return _ASKS
    missing = [found for found in by_name.values() if found.dropped and found.ended is None]
    if any(found.overdue and found.identifier not in names for found in missing):
        return _LATE
    return _LASTS if names else _ASKS
