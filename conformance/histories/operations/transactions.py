"""Transactions: begin, prepare, commit, abort."""

from __future__ import annotations

from conformance.histories.operations.operation import Kind, Operation, action, gives, refers
from conformance.histories.operations.state_queries import (
    ended_transactions,
    listed,
    names,
    open_transactions,
    working_transactions,
)
from conformance.model import Call, State
from conformance.model.tables import PositionState

MAX_OPEN_TRANSACTIONS = 2


def begins(state: State) -> list[Call]:
    """Begin a transaction, up to MAX_OPEN_TRANSACTIONS at once."""
    if len(open_transactions(state)) >= MAX_OPEN_TRANSACTIONS:
        return []
    return [listed("transactions.begin", name=names("t", state.transactions))]


def endings(state: State) -> list[Call]:
    """Commit or abort a transaction in which no read waits."""
    busy = {waiter.transaction for waiter in state.waiters}
    free = [name for name in open_transactions(state) if name not in busy]
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
    able = [name for name in working_transactions(state) if name not in busy and any(True for _ in state.held_by(name))]
    over = ended_transactions(state)[-1:]
    return [listed("transactions.prepare", transaction=name) for name in (*able, *able, *over)]


_ONE = {"transaction": refers(Kind.TRANSACTION, "transaction")}

OPERATIONS = (
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
