"""Transactions, the clock and restarts, and calls that must fail because something is closed, ended or deleted."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.histories.operations.operation import (
    NEEDED,
    Action,
    Kind,
    Manner,
    Offer,
    Operation,
    action,
    gives,
    refers,
    value,
)
from conformance.histories.operations.state_queries import (
    ended_transactions,
    handles,
    internal,
    listed,
    message_name,
    names,
    open_transactions,
    working_transactions,
)
from conformance.model import Call, State
from conformance.model.expiry import due
from conformance.model.tables import CursorState, PositionState

MAX_OPEN_TRANSACTIONS = 2


def begins(state: State) -> list[Call]:
    """Begin a transaction, up to MAX_OPEN_TRANSACTIONS at once."""
    if len(open_transactions(state)) >= MAX_OPEN_TRANSACTIONS:
        return []
    return [listed("transactions.begin", name=names("t", state.transactions))]


def endings(state: State) -> list[Call]:
    """Commit or abort a transaction in which no read waits."""
    busy = {waiter.transaction for waiter in state.waiters}
    free = [name for name in internal(state, open_transactions(state)) if name not in busy]
    worked = [name for name in free if any(True for _ in state.held_by(name))]  # ending an empty one shows little
    calls: list[Call] = []
    for name in worked or free:
        took = any(position.state is PositionState.LOCKED for _, position in state.held_by(name))
        calls += [listed("transactions.commit", transaction=name)] * 2
        calls += [listed("transactions.abort", transaction=name)] * (3 if took else 1)
    return calls


def prepares(state: State) -> list[Call]:
    """Prepare a transaction that holds messages, or the last one that ended."""
    busy = {waiter.transaction for waiter in state.waiters}
    work = internal(state, working_transactions(state))
    able = [name for name in work if name not in busy and any(True for _ in state.held_by(name))]
    over = ended_transactions(state)[-1:]
    return [listed("transactions.prepare", transaction=name) for name in (*able, *able, *over)]


_ONE = {"transaction": refers(Kind.TRANSACTION, "transaction")}

TRANSACTIONS = (
    Operation(
        "transactions.begin",
        {"name": gives(Kind.TRANSACTION, result="transaction")},
        lambda call, state: f"begin transaction {call.name}",
        (action("begin", begins, "transactions.begin"),),
        subject="name",
    ),
    Operation(
        "transactions.prepare",
        _ONE,
        lambda call, state: f"prepare transaction {call.transaction}",
        (action("prepare", prepares, "transactions.prepare"),),
        subject="transaction",
    ),
    Operation(
        "transactions.commit",
        _ONE,
        lambda call, state: f"commit transaction {call.transaction}",
        (action("end", endings, "transactions.commit", "transactions.abort"),),
        settles=True,
        late=True,
        subject="transaction",
        ends=Kind.TRANSACTION,
    ),
    Operation(
        "transactions.abort",
        _ONE,
        lambda call, state: f"abort transaction {call.transaction}",
        restores=True,
        settles=True,
        late=True,
        subject="transaction",
        ends=Kind.TRANSACTION,
    ),
)

_HELD_STATES = (PositionState.SENDING, PositionState.LOCKED)


def passing_time(state: State) -> list[Call]:
    """Let time pass until a wait ends, or until just before."""
    deadlines = sorted({waiter.deadline for waiter in state.waiters if waiter.deadline is not None})
    return [
        listed("clock.advance", by_ms=by)
        for deadline in deadlines[:1]
        for by in (deadline - state.now, deadline - state.now - 1)
        if by > 0
    ]


def passing_seconds(state: State) -> list[Call]:
    """Let time pass to just before a message expires, to when it must have expired, or by a second.

    Never past the expiry of a message that a transaction still sends.
    """
    windows = [
        (position.state, window)
        for queue in state.queues.values()
        for position in queue.positions
        if position.state in (PositionState.AVAILABLE, *_HELD_STATES) and (window := due(state, position)) is not None
    ]
    moments = {state.now + 1000}
    for _, (earliest, latest) in windows:
        moments |= {earliest - 1, latest}
    last = min((window[0] for held, window in windows if held is PositionState.SENDING), default=None)
    return [
        listed("clock.advance", by_ms=moment - state.now)
        for moment in sorted(moments)
        if moment > state.now and (last is None or moment < last)
    ]


def _restarted(call: Call, state: State) -> str:
    return f"{'kill' if call.kill else 'stop'} the queue manager and start it again"


CLOCK = (
    Operation("clock.now", {}, lambda call, state: "read the clock"),
    Operation(
        "clock.advance",
        {"by_ms": value(NEEDED, parameter="by_ms")},
        lambda call, state: f"{call.by_ms} ms pass",
        (action("pass_time", passing_time, virtual=True), action("pass_seconds", passing_seconds, virtual=True)),
        Manner.TIME,
        timed=True,
    ),
    Operation("restart", {"kill": value(False, parameter="kill")}, _restarted, manner=Manner.RESTART, restores=True),
)


def mistakes(state: State, offer: Offer) -> list[Call]:
    """List the mistakes whose methods the driver offers."""
    return [call for call in _mistakes(state) if offer.has(call.method)]


def _mistakes(state: State) -> Iterator[Call]:
    for handle in state.handles.values():
        if not handle.is_open:
            yield listed("messages.receive", handle=handle.name)
            yield listed("messages.peek", handle=handle.name)
            yield listed("queues.close", handle=handle.name)
        elif handle.lost or handle.access == "send":
            yield listed("messages.receive", handle=handle.name)
            yield listed("messages.peek", handle=handle.name)
        elif handle.access != "move":  # `moves` has the mistakes with access to move
            yield listed("messages.send", message=message_name(state), handle=handle.name)
            if handle.access == "peek":
                yield listed("messages.receive", handle=handle.name)
    for cursor in state.cursors.values():
        handle = state.handles[cursor.handle]
        if cursor.state is CursorState.CLOSED and not handle.lost:
            others = [other for other in handles(state, "receive", "peek") if other.queue == handle.queue]
            for other in [handle] if handle.is_open else others[:1]:
                yield listed("messages.peek", handle=other.name, cursor=cursor.name)
            yield listed("cursors.close", cursor=cursor.name)
    for transaction in map(state.transactions.__getitem__, internal(state, state.transactions)):
        if transaction.ended not in (None, "restart"):  # a restart ends the handle too
            yield listed("transactions.commit", transaction=transaction.name)
            yield listed("transactions.abort", transaction=transaction.name)
            yield listed("transactions.prepare", transaction=transaction.name)
            for handle in handles(state, "receive"):
                if state.queues[handle.queue].transactional:
                    yield listed("messages.receive", handle=handle.name, transaction=transaction.name)


ACTION = Action("mistake", mistakes)
