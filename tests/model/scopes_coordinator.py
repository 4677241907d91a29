"""Small managers with a coordinator: transactions prepared, ended, told twice, and in doubt after restarts."""

from __future__ import annotations

from collections.abc import Iterator

from exploring import Scope

from conformance.model import Call, State
from conformance.model.tables import CoordinatedState

QUEUE = (
    Call("queues.create", queue="q", transactional=True),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
)
FILLED = (
    *QUEUE,
    Call("transactions.begin", name="t0"),
    Call("messages.send", message="a", handle="s", transaction="t0"),
    Call("transactions.commit", transaction="t0"),
)
ENLISTED = (*FILLED, Call("coordinator.enlist", name="t", identifier="x"))
WORKED = (
    *ENLISTED,
    Call("messages.receive", handle="r", transaction="t"),
    Call("messages.send", message="b", handle="s", transaction="t"),
)
PREPARED = Call("coordinator.prepare", identifier="x")
KILL = Call("restart", kill=True)


def told(identifier: str) -> Iterator[Call]:
    """Everything that a coordinator says of a transaction."""
    for single in (False, True):
        yield Call("coordinator.prepare", identifier=identifier, single_phase=single)
    yield Call("coordinator.commit", identifier=identifier)
    yield Call("coordinator.abort", identifier=identifier)
    for word in ("committed", "aborted", "timeout"):
        yield Call("coordinator.outcome", identifier=identifier, action=word)


def work_calls(state: State) -> Iterator[Call]:
    """Enlist, work by either handle, and be told everything; another transaction is known to nobody."""
    for name in ("t", "u"):
        if name not in state.transactions:
            yield Call("coordinator.enlist", name=name, identifier="x")
            break
    for name in state.transactions:
        if len(state.queues["q"].positions) < 2 and name != "t0":
            yield Call("messages.send", message="b", handle="s", transaction=name)
        yield Call("messages.receive", handle="r", transaction=name)
        yield Call("transactions.commit", transaction=name)
    yield from told("x")
    yield from told("foreign")
    if not state.waited:
        yield Call("messages.receive", name="w", handle="r", timeout_ms=1000)
    yield Call("coordinator.in_doubt")


def doubtful_calls(state: State) -> Iterator[Call]:
    """Restart, ask, enlist again, answer, look and purge, for what is prepared and in doubt."""
    yield from told("x")
    if state.restarts == 1 and "u" not in state.transactions:
        yield Call("coordinator.enlist", name="u", identifier="x")
    if state.restarts < 3:
        yield KILL
    yield Call("coordinator.in_doubt")
    if "r" not in state.handles and not state.halted:
        yield Call("queues.open", name="r", queue="q", access="receive")
    elif "r" in state.handles:
        yield Call("messages.receive", handle="r")
        yield Call("queues.purge", handle="r")


def moving_calls(state: State) -> Iterator[Call]:
    """The same for a move, whose target not every reading lets be opened."""
    if "a" not in state.lookups:
        yield Call("messages.peek", handle="r")
    elif state.restarts == 0 and "m" in state.handles and not any(state.held_by("t")):
        yield Call("messages.move", message="a", handle="r", destination="m", transaction="t")
    if state.restarts == 0 and "m" not in state.handles:
        yield Call("queues.open", name="m", queue="q;one", access="move")
    if any(state.held_by("t")) or state.restarts:
        yield from doubtful_calls(state)


def over(state: State) -> Iterator[Call]:
    """The calls after which these histories end."""
    if any(found.coordinated is not CoordinatedState.ENLISTED for found in state.transactions.values()):
        yield KILL


SCOPES = (
    Scope("enlisted", FILLED, work_calls, 5, over),
    Scope("worked", (*WORKED, Call("coordinator.enlist", name="u", identifier="x")), work_calls, 4, over),
    Scope("in doubt", WORKED, doubtful_calls, 6),
    Scope("a move in doubt", ENLISTED, moving_calls, 7),
    Scope("nothing in doubt", (*ENLISTED, PREPARED), doubtful_calls, 4),
)
