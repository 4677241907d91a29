"""Serve waiting readers when a message becomes available (MS-MQDMPR 3.1.7.2.2), and end a wait (3.2.7.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from conformance.model.expected import Assumption, Completion, Succeeds
from conformance.model.rules import READERS_ORDER, Rules
from conformance.model.state import BegunRead, Cursor, Position, State, Waiter
from conformance.model.tables import (
    HELD,
    CursorEvent,
    CursorState,
    PositionEvent,
    cursor_transition,
    position_transition,
)
from conformance.model.values import copied, replace, value

IN_ORDER = "MQDMPR-3.1.1.14.in-order"
KEEPS = {
    "messages.peek": "MQDMPR-3.1.7.1.15.keeps",
    "messages.peek_next": "MQDMPR-3.1.7.1.14.keeps",
    "messages.peek_by_lookup_id": "MQDMPR-3.1.7.1.13.peek-keeps",
}
PEEKED = frozenset(KEEPS.values())
TAKEN_LATE = frozenset(  # the loss of a message to such a reader shows only after other readers have seen the message
    {
        "MQDMPR-3.1.7.1.2.pending-read-ends",
        "MQDMPR-3.1.7.1.10.timed-out-takes-nothing",
        "MQDMPR-3.1.7.1.17.takes-nothing",
        "MQDMPR-3.1.7.3.1.cleaned-up",
    }
)
WAKES = {
    "messages.receive": "MQDMPR-3.1.7.1.10.wakes",
    "messages.receive_begin": "MQDMPR-3.1.7.1.10.wakes",  # its first phase is a receive
    "messages.peek": "MQDMPR-3.1.7.1.15.wakes",
    "messages.peek_next": "MQDMPR-3.1.7.1.14.wakes",
}
_RECEIVE, _BEGIN_RECEIVE = PositionEvent.RECEIVE, PositionEvent.BEGIN_RECEIVE
_RECEIVE_IN_TRANSACTION = PositionEvent.RECEIVE_IN_TRANSACTION
_MESSAGE_AVAILABLE, _WAIT_EXPIRED = CursorEvent.MESSAGE_AVAILABLE, CursorEvent.WAIT_EXPIRED
_UNREAD, _READ, _CLOSED = CursorState.UNREAD, CursorState.READ, CursorState.CLOSED
_AFTER_WAKE = {
    CursorState.READ: "MQDMPR-3.2.7.5.peek-becomes-read",
    CursorState.UNREAD: "MQDMPR-3.2.7.5.receive-becomes-unread",
}


@value
class Branch:
    """One possible course of a call: its end state, completed waiting reads, assumed readings and table rows."""

    state: State
    completions: tuple[Completion, ...] = ()
    readings: tuple[Assumption, ...] = ()
    transitions: tuple[str, ...] = ()


def after_event(position: Position, event: PositionEvent, **changes: object) -> tuple[Position, str]:
    """Return the position after this event, by the table, and the row's id. An abort or commit releases the lock."""
    row = position_transition(position.state, event)
    moved: Any = copied(position)
    moved.state, moved.claim, moved.steady = row.target, row.claim, False
    if moved.holder is not None and row.target not in HELD:
        moved.holder = None
    return replace(moved, **changes) if changes else moved, row.id


def take(
    state: State, queue: str, position: Position, transaction: str | None, begun: BegunRead | None = None
) -> tuple[State, str]:
    """Remove the message, or lock it: for a transaction or, with `begun`, until the read's second phase.

    MS-MQDMPR 3.1.7.1.10 and .11.
    """
    if begun is not None:
        new, row = after_event(position, _BEGIN_RECEIVE)
        state = state.put(begun)
    elif transaction is None:
        new, row = after_event(position, _RECEIVE)
    else:
        event = _RECEIVE_IN_TRANSACTION
        new, row = after_event(position, event, holder=transaction, locked_at=state.events + 1)
    return state.with_position(queue, new), row


def note_peeked(state: State, queue: str, position: Position, method: str) -> State:
    """Note that a peek has seen the message: if it goes missing from now on, the peek is to blame."""
    claim, again = KEEPS[method], position.claim in PEEKED
    if position.claim == claim and position.steady == again:
        return state
    return state.with_position(queue, replace(position, claim=claim, steady=again))


def made_available(rules: Rules, branch: Branch, queue: str, position: Position, wakes: str | None) -> Sequence[Branch]:
    """Make this position (its new state is already set) available and serve the waiting readers.

    wakes: the requirement that readers are woken; None for the one in the read's own section. Returns every allowed
    branch.
    """
    state = branch.state
    ended_reader = state.queues[queue].ended_reader
    there: Any = copied(position)
    there.since = state.events + 1
    if ended_reader is not None:  # if this message goes missing, a read that has already ended took it
        there.claim = ended_reader
    state = state.later(queue, there)
    waiting = state.waiters and [
        waiter for waiter in state.waiters if waiter.queue == queue and state.handles[waiter.handle].is_open
    ]
    if not waiting and ended_reader is None:
        return (Branch(state, branch.completions, branch.readings, branch.transitions),)
    if len(waiting) < 2:
        return (_serve(branch, state, queue, position.message, tuple(waiting), wakes, ()),)
    return [
        _serve(branch, state, queue, position.message, served, wakes, ((READERS_ORDER, alternative),))
        for served, alternative in _orders(rules, state, waiting)
    ]


def _orders(rules: Rules, state: State, waiting: Sequence[Waiter]) -> Iterator[tuple[tuple[Waiter, ...], str]]:
    """Yield each set of readers that may get the message, once per alternative of the reading that allows it."""
    found: dict[tuple[str, ...], tuple[tuple[Waiter, ...], list[str]]] = {}
    for alternative in rules.accepted(state, READERS_ORDER):
        for order in _queueings(alternative, waiting):
            served = _until_taken(order)
            names = tuple(sorted(waiter.name for waiter in served))
            entry = found.setdefault(names, (served, []))
            if alternative not in entry[1]:
                entry[1].append(alternative)
    for served, alternatives in found.values():
        yield from ((served, alternative) for alternative in alternatives)  # every alternative that explains the set


def _queueings(alternative: str, waiting: Sequence[Waiter]) -> Iterator[Sequence[Waiter]]:
    if alternative == "by-arrival":
        yield waiting
    elif alternative == "peeks-first":
        yield sorted(waiting, key=lambda waiter: waiter.destructive)  # a stable sort
    else:
        handles = list(dict.fromkeys(waiter.handle for waiter in waiting))
        for order in permutations(handles[:4]):  # only the first four handles are permuted; no suite opens more
            yield [waiter for handle in order for waiter in waiting if waiter.handle == handle]


def _until_taken(order: Sequence[Waiter]) -> tuple[Waiter, ...]:
    """Return the readers served: all peeks up to and including the first receive, which takes the message."""
    served: list[Waiter] = []
    for waiter in order:
        served.append(waiter)
        if waiter.destructive:
            break
    return tuple(served)


def _serve(
    branch: Branch,
    state: State,
    queue: str,
    message: str,
    served: tuple[Waiter, ...],
    wakes: str | None,
    assumed: tuple[Assumption, ...],
) -> Branch:
    completions = list(branch.completions)
    transitions = list(branch.transitions)
    left = [waiter for waiter in state.waiters if waiter.queue == queue and waiter not in served]
    for place, waiter in enumerate(served):
        also: list[str] = [WAKES[waiter.method], *_shown_by_serving(served[:place], waiter, served[place + 1 :], left)]
        position = state.position(queue, message)
        if waiter.cursor is not None:
            cursor = state.cursors[waiter.cursor]
            row = cursor_transition(cursor.state, _MESSAGE_AVAILABLE)
            transitions.append(row.id)
            also += [*row.requirements[1:], _AFTER_WAKE[row.target]]
            peeked = message if row.target is _READ else None
            state = state.put(Cursor(cursor.name, cursor.handle, row.target, position.rank, peeked))
        if waiter.destructive:
            begun = BegunRead(waiter.name, waiter.handle, queue, message) if waiter.two_phase else None
            state, taken = take(state, queue, position, waiter.transaction, begun)
            transitions.append(taken)
            also.append("MQDMPR-3.1.7.2.2.one-destructive")
        elif position.claim not in TAKEN_LATE:
            state = note_peeked(state, queue, position, waiter.method)
        completions.append(
            Completion(waiter.name, Succeeds(message), wakes or WAKES[waiter.method], tuple(dict.fromkeys(also)))
        )
    state = state.without_waiters(frozenset(waiter.name for waiter in served))
    if state.queues[queue].ended_reader is not None and not any(waiter.destructive for waiter in served):
        state = state.put(replace(state.queues[queue], ended_reader=None))
    return Branch(state, tuple(completions), branch.readings + assumed, tuple(transitions))


def _shown_by_serving(
    before: tuple[Waiter, ...], waiter: Waiter, after: tuple[Waiter, ...], left: list[Waiter]
) -> list[str]:
    shown: list[str] = []
    if waiter.destructive and any(other.handle == waiter.handle for other in left):
        shown += ["MQDMPR-3.1.7.2.2.others-remain"]
        if any(other.handle == waiter.handle and other.destructive for other in left):
            shown += ["MQDMPR-3.1.7.2.2.fifo-in-handle"]
    if waiter.destructive and any(other.handle == waiter.handle for other in before):
        shown += ["MQDMPR-3.1.7.2.2.peekers-before-receiver"]
    if not waiter.destructive and after:
        shown += [f"{WAKES[waiter.method].removesuffix('wakes')}releases-next-reader"]
    return shown


def wait_ended(state: State, waiter: Waiter, blame: str) -> tuple[State, tuple[str, ...]]:
    """End a wait without a message (MS-MQDMPR 3.1.7.3.5, 3.2.7.6); return the state and the rows taken.

    blame: the requirement broken if a later message goes missing because this read took it after all.
    """
    state = state.without_waiters(frozenset({waiter.name})).tick()
    if waiter.destructive and waiter.transaction is None:
        state = state.put(replace(state.queues[waiter.queue], ended_reader=blame))
    if waiter.cursor is None:
        return state, ()
    cursor = state.cursors[waiter.cursor]
    if cursor.state is _CLOSED:  # closed with its handle, under the reading that lets the wait go on
        return state, ()
    row = cursor_transition(cursor.state, _WAIT_EXPIRED)
    return state.put(parked(cursor, "receive" if waiter.destructive else "peek", state.events)), (row.id,)


def parked(cursor: Cursor, how: str, event: int) -> Cursor:
    """Return the cursor after a wait without a message. Its next use decides, by the readings, where it stands."""
    before = _UNREAD if cursor.message is None else _READ
    return replace(cursor, state=before, ended=how, ended_at=event)
