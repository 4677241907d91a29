"""Outgoing queues: open, send to, pause and resume a queue of another computer, and transfer its messages.

MS-MQDMPR 3.1.1.3, 3.1.4.14-15, 3.1.7.1.5, 3.1.7.2.3-4, 3.1.7.3.9. The harness plays the destination: a message that
it takes has been transferred and acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, product

from conformance.model import sends_and_commits
from conformance.model.arrivals import changed
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Assumption, Expected, Succeeds, Transfers
from conformance.model.journals import Wishes
from conformance.model.queues import named
from conformance.model.rules import DISPATCH_ORDER, HOLD_AFTER_RESTART, Rules
from conformance.model.state import Handle, Outgoing, Position, Queue, State
from conformance.model.tables import (
    OutgoingEvent,
    OutgoingState,
    OutgoingTransition,
    PositionEvent,
    PositionState,
    outgoing_transition,
)
from conformance.model.values import replace

MAX_DOUBTFUL = 6  # messages that a restart may have lost; each doubles the outcomes, and no history needs more
_ON_HOLD = OutgoingState.ON_HOLD


def open_remote(state: State, call: Call) -> Expected:
    """Open Queue, for a queue of another computer: create its outgoing queue, unless there is one (3.1.7.1.5)."""
    if call.access != "send" or call.share == "deny_receive":
        raise BadCall("a queue of another computer is only sent to")
    name = call.queue or ""
    rows: tuple[str, ...] = ()
    if name not in state.queues:
        row = outgoing_transition(OutgoingState.START, OutgoingEvent.OPEN)
        state = state.put(Queue(name, transactional=False, outgoing=Outgoing(row.target)))
        rows = (row.id,)
    opened = state.put(Handle(named(call.name), name, "send", "deny_none"))
    return Expected(Succeeds(), "MQDMPR-3.1.7.1.5.remote-send", opened, transitions=rows)


def send(rules: Rules, state: State, call: Call, wishes: Wishes | None = None) -> Iterator[Expected]:
    """Enqueue Message. This queue manager does not know whether the destination is transactional."""
    queue = state.queues[state.handles[call.handle or ""].queue]
    fitting = state.put(replace(queue, transactional=call.transaction is not None))
    for expected in sends_and_commits.send(rules, fitting, call, wishes):
        after = replace(expected.next.queues[queue.name], transactional=False)
        yield replace(expected, next=expected.next.put(after))


def pause(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Pause Queue (MS-MQDMPR 3.1.4.14, 3.1.7.2.3)."""
    queue, found = known(state, call.queue or "")
    row = outgoing_transition(found.state, OutgoingEvent.PAUSE)
    state = state.tick()
    held = found.held and found.state is _ON_HOLD
    now = replace(found, state=row.target, by=call.method, since=state.events, paused=state.events, held=held)
    yield Expected(Succeeds(), row.claim, state.put(replace(queue, outgoing=now)), transitions=(row.id,))


def resume(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Resume Queue (MS-MQDMPR 3.1.4.15, 3.1.7.2.4)."""
    queue, found = known(state, call.queue or "")
    row = outgoing_transition(found.state, OutgoingEvent.RESUME)
    state = state.tick()
    now = replace(found, state=row.target, by=call.method, since=state.events)
    yield Expected(Succeeds(), row.claim, state.put(replace(queue, outgoing=now)), transitions=(row.id,))


def take(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transfer messages: none while the queue is on hold, otherwise all available ones, which then leave the queue."""
    queue, found = known(state, call.queue or "")
    there = [position for position in queue.positions if position.available]
    row = outgoing_transition(found.state, OutgoingEvent.TAKE)
    if found.state is _ON_HOLD:
        shows = any(not position.doubtful for position in there)
        after = state.put(replace(queue, outgoing=replace(found, held=found.held or shows))).tick()
        also = _held_claims(state, queue, found) if shows else ()
        yield Expected(Transfers(()), row.claim if shows else "", after, also, transitions=(row.id,))
        return
    doubtful = [position for position in there if position.doubtful]
    if len(doubtful) > MAX_DOUBTFUL:
        raise BadCall("too many messages may have been lost")
    for kept in product((True, False), repeat=len(doubtful)):
        lost = {position.message for position, stays in zip(doubtful, kept, strict=True) if not stays}
        coming = [position for position in there if position.message not in lost]
        for groups, assumed in orders(rules, state, coming):
            after, rows = _transferred(state, queue, there, lost)
            claim = _claim(row, found) if coming else ""
            also = (*_given_claims(state, queue, found, coming), *_order_claims(groups, coming))
            yield Expected(Transfers(groups), claim, after, also, (), assumed, (row.id, *rows))


def restart(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Restart the manager as `sends_and_commits.restart` does, and with it the state of outgoing queues."""
    remote = [queue for queue in state.queues.values() if queue.outgoing is not None]
    if not remote:
        yield from sends_and_commits.restart(rules, state, call)
        return
    on_hold = any(queue.outgoing is not None and queue.outgoing.state is _ON_HOLD for queue in remote)
    for expected in sends_and_commits.restart(rules, state, call):
        for alternative in rules.accepted(state, HOLD_AFTER_RESTART) if on_hold else ("forgotten",):
            after, rows = expected.next, expected.transitions
            for queue in remote:
                after, row = _restarted(after, queue.name, keeping=alternative == "kept")
                rows = (*rows, row.id)
            assumed: tuple[Assumption, ...] = ((HOLD_AFTER_RESTART, alternative),) if on_hold else ()
            yield replace(expected, next=after, transitions=rows, readings=(*expected.readings, *assumed))


def _restarted(state: State, name: str, *, keeping: bool) -> tuple[State, OutgoingTransition]:
    queue = state.queues[name]
    found = queue.outgoing or Outgoing()
    keeps = keeping and found.state is _ON_HOLD
    row = outgoing_transition(found.state, OutgoingEvent.RESTART_KEEPING if keeps else OutgoingEvent.RESTART)
    if keeps:  # the hold from before the restart goes on
        return state.put(replace(queue, outgoing=replace(found, state=row.target))), row
    now = replace(found, state=row.target, by="restart", since=state.events, held=False)
    return state.put(replace(queue, outgoing=now)), row


def known(state: State, name: str) -> tuple[Queue, Outgoing]:
    """Return an outgoing queue. Raises BadCall where no section says what a call on it leads to."""
    queue = state.queues.get(name)
    if queue is None or queue.outgoing is None:
        raise BadCall(f"no section says what such a call leads to: {name} is not outgoing")
    if not any(handle.queue == queue.name for handle in state.handles.values()) and state.restarts:
        raise BadCall("after a restart the queue is opened first: that it is there without is not said")
    return queue, queue.outgoing


def _transferred(state: State, queue: Queue, there: Sequence[Position], lost: set[str]) -> tuple[State, list[str]]:
    rows: list[str] = []
    for position in there:
        new, row = changed(position, PositionEvent.LOSE if position.message in lost else PositionEvent.TRANSFER)
        state = state.with_position(queue.name, replace(new, doubtful=False))
        rows.append(row)
    return state.tick(), rows


def orders(
    rules: Rules, state: State, coming: Sequence[Position]
) -> Iterator[tuple[tuple[tuple[str, ...], ...], tuple[Assumption, ...]]]:
    """Yield the allowed orders of transfer: by priority and, under all readings but one, by arrival."""
    by_priority = [[item.message for item in group] for _, group in groupby(coming, lambda item: item.priority)]
    one_by_one = tuple((position.message,) for position in coming)
    if len(by_priority) == len(coming):
        yield one_by_one, ()
        return
    ways = {"queue-state-heeded": one_by_one, "as-written": tuple(map(tuple, by_priority))}
    for alternative in rules.accepted(state, DISPATCH_ORDER):
        yield ways[alternative], ((DISPATCH_ORDER, alternative),)


def _claim(row: OutgoingTransition, found: Outgoing) -> str:
    """Return the requirement that a transfer shows: the last operation on the queue lets transfer go on."""
    if found.by == "outgoing.resume":
        return "MQDMPR-3.1.7.2.4.inactive" if found.paused is None else "MQDMPR-3.1.4.15.resumes"
    if found.by == "restart" and found.paused is not None:
        return "MQDMPR-3.1.1.volatile"
    return row.claim


def _held_claims(state: State, queue: Queue, found: Outgoing) -> tuple[str, ...]:
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    resumed = any(other.by == "outgoing.resume" and other.since > found.since for other in others)
    also = ("MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.4.14.pauses")
    return (*also, "MQDMPR-3.1.4.15.resumed-queue") if resumed else also


def _given_claims(state: State, queue: Queue, found: Outgoing, coming: Sequence[Position]) -> Iterator[str]:
    if not coming:
        return
    yield from dict.fromkeys(position.claim for position in coming)
    if any(item.state is PositionState.SENDING for item in queue.positions):
        yield "MQDMPR-3.1.7.1.9.uncommitted-locked"
    transferred = {item.message for item in queue.positions if item.state is PositionState.DELETED}
    if transferred:
        yield "MQDMPR-3.1.7.1.29.atomically-removed"
    if found.by == "outgoing.resume" and found.paused is not None:
        yield "MQDMPR-3.1.7.2.4.inactive"
        if any(item.since <= found.paused for item in coming):
            yield "MQDMPR-3.1.7.1.34.removed"
    others = [other for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if any(item.available for other in others for item in other.positions):
        yield "MQDMPR-3.1.7.1.9.only-destination"
    if any(other.outgoing is not None and other.outgoing.state is _ON_HOLD for other in others):
        yield "MQDMPR-3.1.4.14.paused-queue"


def _order_claims(groups: Sequence[Sequence[str]], coming: Sequence[Position]) -> Iterator[str]:
    if len({position.priority for position in coming}) > 1:
        yield "MQDMPR-3.1.7.3.9.highest-priority"
    if len(groups) == len(coming) > len({position.priority for position in coming}):
        yield "MQDMPR-3.1.1.2.arrival-order"
