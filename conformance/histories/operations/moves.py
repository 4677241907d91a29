"""Moves between a queue and its subqueues."""

from __future__ import annotations

from conformance.histories.operations.operation import Kind, Operation, action, queue_of, refers
from conformance.histories.operations.state_queries import (
    ended_transactions,
    handles,
    listed,
    named_alone,
    names,
    open_transactions,
    working_transactions,
)
from conformance.model import Call, State
from conformance.model.state import Handle
from conformance.model.tables import PositionState

SUBQUEUES = ("one",)


def subqueue_openings(state: State) -> list[Call]:
    """Open a queue or its subqueue to move messages there or to receive from it."""
    name = names("h", state.handles)
    calls: list[Call] = []
    for queue in state.queues.values():
        if not queue.exists or not named_alone(queue):
            continue
        family = [queue.name, *(f"{queue.name};{subqueue}" for subqueue in SUBQUEUES)]
        for member in family:
            opened = {(handle.access) for handle in state.handles.values() if handle.queue == member and handle.is_open}
            missing = [access for access in ("move", "receive") if access not in opened]
            calls += [listed("queues.open", name=name, queue=member, access=access) for access in missing]
    if len(calls) < 2:  # all handles that moves need are open
        for handle in state.handles.values():
            parent = state.queues.get(handle.queue.partition(";")[0])
            there = parent is not None and parent.exists
            if ";" in handle.queue and handle.access == "receive" and handle.is_open and there:
                calls.append(listed("queues.open", name=name, queue=handle.queue, access="peek"))
                break
    return calls if len(state.handles) < 16 else []


def moves(state: State) -> list[Call]:
    """Move a message whose lookup identifier is known: mostly an available one, sometimes one held or gone."""
    targets = handles(state, "move")
    fine: list[Call] = []
    refused: list[Call] = []
    for source in handles(state, "receive"):
        queue = state.queues[source.queue]
        for position in queue.positions:
            if position.message not in state.lookups or position.doubtful:
                continue
            for target in targets:
                if target.queue == source.queue:
                    continue
                related = state.queues[target.queue].family == queue.family
                calls = [_move(source, target, position.message, within) for within in _within(state, target)]
                if related and position.available:
                    fine += calls
                elif position.state is not PositionState.BEGUN and position.state is not PositionState.BEGUN_PURGED:
                    refused += calls[:1]
    return fine * 3 + refused


def _within(state: State, target: Handle) -> list[str | None]:
    free = working_transactions(state)
    return [*free, *free, None] if state.queues[target.queue].transactional else [None]


def _move(source: Handle, target: Handle, message: str, within: str | None) -> Call:
    return listed("messages.move", message=message, handle=source.name, destination=target.name, transaction=within)


def move_mistakes(state: State) -> list[Call]:
    """Move or read in a way that must fail: wrong access, an ended transaction, an unrelated queue."""
    calls: list[Call] = []
    known = [
        (source, position.message)
        for source in handles(state, "receive")
        for position in state.queues[source.queue].positions
        if position.message in state.lookups and position.available and not position.doubtful
    ]
    for source, message in known[:3]:
        family = state.queues[source.queue].family
        others = [handle for handle in handles(state, "receive", "peek") if handle.queue != source.queue]
        calls += [_move(source, other, message, None) for other in others[:1]]
        ended = ended_transactions(state)
        for target in handles(state, "move"):
            queue = state.queues[target.queue]
            if queue.family == family and target.queue != source.queue:
                wrong = ended if queue.transactional else open_transactions(state)
                calls += [_move(source, target, message, name) for name in wrong[:1]]
    calls += [listed("messages.receive", handle=handle.name) for handle in handles(state, "move")[:1]]
    calls += [listed("messages.peek", handle=handle.name) for handle in handles(state, "move")[:1]]
    return calls


def _told(call: Call, state: State) -> str:
    to = state.handles[call.destination or ""].queue if call.destination in state.handles else call.destination
    within = f" (transaction {call.transaction})" if call.transaction else ""
    return f"move '{call.message}' from {queue_of(call, state)} to {to}{within}"


OPERATIONS = (
    Operation(
        "messages.move",
        {
            "handle": refers(Kind.HANDLE, "queue"),
            "message": refers(Kind.MESSAGE, "lookup_identifier"),
            "destination": refers(Kind.HANDLE, "destination"),
            "transaction": refers(Kind.TRANSACTION, "transaction", None),
        },
        _told,
        (
            action("open_subqueue", subqueue_openings, "messages.move"),
            action("move", moves, "messages.move"),
            action("move_mistake", move_mistakes, "messages.move"),
        ),
        late=True,
    ),
)
