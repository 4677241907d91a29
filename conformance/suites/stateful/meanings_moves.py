"""What can be asked next of subqueues, moves, receives in two phases and prepared transactions, by meaning."""

from __future__ import annotations

from conformance.model import Call, State
from conformance.model.state import Handle
from conformance.model.tables import PositionState
from conformance.suites.stateful.meanings import handles, listed, named_alone, names, open_transactions

SUBQUEUES = ("one",)
MAX_BEGUN = 3


def subqueue_openings(state: State) -> list[Call]:
    """Open a subqueue, or the queue itself, to move messages there; open a subqueue to read it."""
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
    if len(calls) < 2:  # all that is needed is there
        for handle in state.handles.values():
            if ";" in handle.queue and handle.access == "receive" and handle.is_open:
                calls.append(listed("queues.open", name=name, queue=handle.queue, access="peek"))
                break
    return calls if len(state.handles) < 16 else []


def moves(state: State) -> list[Call]:
    """Move a message whose lookup identifier is known: one that is there, and more rarely one held or gone."""
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
    free = [name for name in open_transactions(state) if not state.transactions[name].prepared]
    return [*free, *free, None] if state.queues[target.queue].transactional else [None]


def _move(source: Handle, target: Handle, message: str, within: str | None) -> Call:
    return listed("messages.move", message=message, handle=source.name, destination=target.name, transaction=within)


def move_mistakes(state: State) -> list[Call]:
    """Moves and reads that must be refused: the wrong access, a transaction that is over, an unrelated queue."""
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
        ended = _over(state)
        for target in handles(state, "move"):
            queue = state.queues[target.queue]
            if queue.family == family and target.queue != source.queue:
                wrong = ended if queue.transactional else open_transactions(state)
                calls += [_move(source, target, message, name) for name in wrong[:1]]
    calls += [listed("messages.receive", handle=handle.name) for handle in handles(state, "move")[:1]]
    calls += [listed("messages.peek", handle=handle.name) for handle in handles(state, "move")[:1]]
    return calls


def begun_receives(state: State) -> list[Call]:
    """Begin a receive, unless enough are open."""
    if sum(not read.ended for read in state.begun.values()) >= MAX_BEGUN:
        return []
    name = names("b", {*state.begun, *state.waited})
    return [
        listed("messages.receive_begin", name=name, handle=handle.name, cursor=cursor)
        for handle in handles(state, "receive")
        for cursor in (
            None,
            *(c.name for c in state.cursors.values() if c.handle == handle.name and _usable(state, c.name)),
        )
    ]


def _usable(state: State, cursor: str) -> bool:
    return state.cursors[cursor].state.value != "(end)" and not state.busy(cursor)


def receive_ends(state: State) -> list[Call]:
    """End a receive that was begun; now and then one whose end is over, while nobody holds the message again."""
    calls: list[Call] = []
    for read in state.begun.values():
        handle = state.handles.get(read.handle)
        if handle is None or not handle.is_open:
            continue
        now = state.position(read.queue, read.message).state
        if not read.ended:
            calls += [
                listed("messages.receive_end", read=read.name, acknowledge=acknowledge)
                for acknowledge in (True, False, False, True)
            ]
        elif handle.lost or now in (PositionState.AVAILABLE, PositionState.DELETED):
            calls.append(listed("messages.receive_end", read=read.name, acknowledge=False))
    return calls


def prepares(state: State) -> list[Call]:
    """Prepare a transaction that did something; now and then one that is over."""
    busy = {waiter.transaction for waiter in state.waiters}
    open_ones = [
        name
        for name in open_transactions(state)
        if not state.transactions[name].prepared and name not in busy and any(True for _ in state.held_by(name))
    ]
    return [listed("transactions.prepare", transaction=name) for name in (*open_ones, *open_ones, *_over(state)[-1:])]


def _over(state: State) -> list[str]:
    """The transactions that ended otherwise than by a restart, which takes their handles too."""
    return [found.name for found in state.transactions.values() if found.ended not in (None, "restart")]
