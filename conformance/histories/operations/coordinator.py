"""Transactions of the coordinator, which the harness plays (MS-MQDMPR 3.1.3, 3.1.4.6 to 3.1.4.11, MS-MQMP 3.1.4.13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.histories.operations.operation import (
    NEEDED,
    Handles,
    Kind,
    Member,
    Operation,
    action,
    gives,
    value,
)
from conformance.histories.operations.state_queries import listed, names, open_transactions
from conformance.model import Answer, Call, State
from conformance.model.state import Transaction
from conformance.model.tables import CoordinatedState
from conformance.model.values import replace

MAX_OPEN: Final = 2
FOREIGN: Final = "foreign"
"""A transaction that nobody has enlisted the manager in."""


def _enlisted(state: State) -> dict[str, Transaction]:
    """Return the transactions of the coordinator by their identifiers."""
    return {found.identifier: found for found in state.transactions.values() if found.identifier is not None}


def _able(state: State, *states: CoordinatedState) -> list[str]:
    """Return the identifiers of transactions in one of these states in which no read waits."""
    waited = {waiter.transaction for waiter in state.waiters}
    busy = {found.identifier for name, found in state.transactions.items() if name in waited}
    known = _enlisted(state)
    return [name for name, found in known.items() if found.coordinated in states and name not in busy]


def enlistments(state: State) -> list[Call]:
    """Enlist in a new transaction, or once more in one that is not over, by another handle.

    Not in one that was prepared without work: a manager that has answered read-only takes no part in it any more.
    """
    known = _enlisted(state)
    handle = names("t", state.transactions)
    holders = {position.holder for queue in state.queues.values() for position in queue.positions}
    working_in = {found.identifier for name, found in state.transactions.items() if name in holders}
    again = _able(state, CoordinatedState.ENLISTED)
    again += [name for name in _able(state, CoordinatedState.PREPARED) if name in working_in]
    new = [names("x", known)] * 3 if len(open_transactions(state)) < MAX_OPEN else []
    return [listed("coordinator.enlist", name=handle, identifier=name) for name in (*new, *again[:1])]


def prepares(state: State) -> list[Call]:
    """Prepare a transaction, once more, in a single phase, or one that is over or never was."""
    ready, again = _able(state, CoordinatedState.ENLISTED), _able(state, CoordinatedState.PREPARED)
    over = _able(state, CoordinatedState.COMMITTED, CoordinatedState.ABORTED)[-1:]
    calls = [listed("coordinator.prepare", identifier=name) for name in (*ready, *ready, *again, *over, FOREIGN)]
    return [*calls, *(listed("coordinator.prepare", identifier=name, single_phase=True) for name in (*ready, *over))]


def decisions(state: State) -> list[Call]:
    """Commit what is prepared, abort what is not over, and tell the same again, or of a transaction that never was."""
    ready, prepared = _able(state, CoordinatedState.ENLISTED), _able(state, CoordinatedState.PREPARED)
    over = _able(state, CoordinatedState.COMMITTED, CoordinatedState.ABORTED)[-1:]
    commits = [listed("coordinator.commit", identifier=name) for name in (*prepared, *prepared, *over, FOREIGN)]
    aborts = [listed("coordinator.abort", identifier=name) for name in (*prepared, *ready, *over, FOREIGN)]
    return [*commits, *aborts]


def doubts(state: State) -> list[Call]:
    """Ask which transactions are in doubt, once there was a restart."""
    return [listed("coordinator.in_doubt")] if state.restarts and _enlisted(state) else []


def outcomes(state: State) -> list[Call]:
    """Answer how a transaction in doubt ended, and once more, or of one that never was; never too late."""
    doubtful = _able(state, CoordinatedState.IN_DOUBT)
    over = [name for name, found in _enlisted(state).items() if found.asked and found.ended is not None][-1:]
    asked = [*doubtful, *doubtful, *over, *([FOREIGN] if state.restarts else [])]
    return [
        listed("coordinator.outcome", identifier=name, action=word)
        for name in asked
        for word in ("committed", "aborted")
    ]


def recoveries(state: State) -> list[Call]:
    """Restart the manager, where the coordinator has a transaction that is not over."""
    alive = _able(state, CoordinatedState.ENLISTED, CoordinatedState.PREPARED, CoordinatedState.IN_DOUBT)
    return [listed("restart", kill=kill) for kill in (True, False)] if alive and state.restarts < MAX_RESTARTS else []


MAX_RESTARTS: Final = 3


def _answered(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    """Return the answer with what the coordinator is told."""
    return replace(answer, values={**answer.values, "answer": values["answer"]}) if "answer" in values else answer


def _doubtful(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    """Return the answer with the harness's names of the transactions in doubt.

    What an earlier example or another program has left there is passed over, where nothing could remove it.
    """
    if "transactions" not in values:
        return answer
    known = {guid: name for name, guid in handles.coordinated.items()}
    found = [known.get(guid.lower(), guid) for guid in values["transactions"]]
    found = sorted(name for name in found if name in handles.coordinated or not handles.own)
    return replace(answer, values={**answer.values, "transactions": found})


def _member(parameter: str) -> Member:
    return value(NEEDED, parameter=parameter, sent=lambda given, call, handles: handles.identifier(given))


_ONE: Final = {"identifier": _member("identifier")}

_END: Final[Mapping[str, Any]] = {"settles": True, "late": True, "subject": "identifier"}
COORDINATOR: Final = (
    Operation(
        "coordinator.enlist",
        {"name": gives(Kind.TRANSACTION, result="transaction"), "identifier": _member("transaction")},
        lambda call, state: f"enlist in transaction {call.identifier} of the coordinator, as {call.name}",
        (action("enlist", enlistments, "coordinator.enlist"),),
        subject="name",
    ),
    Operation(
        "coordinator.prepare",
        {**_ONE, "single_phase": value(False, parameter="single_phase")},
        lambda call, state: (
            f"the coordinator asks to prepare {call.identifier}{' in a single phase' * call.single_phase}"
        ),
        (action("prepare_for_coordinator", prepares, "coordinator.prepare"),),
        answer=_answered,
        **_END,
    ),
    Operation(
        "coordinator.commit",
        _ONE,
        lambda call, state: f"the coordinator tells to commit {call.identifier}",
        (action("decide", decisions, "coordinator.commit", "coordinator.abort"),),
        answer=_answered,
        **_END,
    ),
    Operation(
        "coordinator.abort",
        _ONE,
        lambda call, state: f"the coordinator tells to abort {call.identifier}",
        answer=_answered,
        restores=True,
        **_END,
    ),
    Operation(
        "coordinator.in_doubt",
        {},
        lambda call, state: "ask which transactions are in doubt",
        (
            action("ask_doubt", doubts, "coordinator.in_doubt"),
            action("recover", recoveries, "coordinator.in_doubt", "coordinator.outcome"),
        ),
        answer=_doubtful,
    ),
    Operation(
        "coordinator.outcome",
        {**_ONE, "action": value(NEEDED, parameter="outcome")},
        lambda call, state: f"the coordinator answers of {call.identifier}: {call.action}",
        (action("answer_doubt", outcomes, "coordinator.outcome"),),
        restores=True,
        **_END,
    ),
)
ACTIONS: Final = frozenset(one.name for operation in COORDINATOR for one in operation.choices)
"""The actions of walks that only this facet has."""
