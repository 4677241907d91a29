"""The small managers that are explored: each is about one thing, so that a few calls go deep."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import cache

import exploring
import scopes_coordinator
import scopes_keeping
import scopes_management
import scopes_moves
import scopes_outgoing
from exploring import Reached, Scope, Step

from conformance.histories import plans
from conformance.histories.walk import Plan
from conformance.model import Call, Model, State
from conformance.model.calls import INFINITE
from conformance.model.tables import CursorState, PositionState


def opening(*more: Call, transactional: bool = False) -> tuple[Call, ...]:
    """A queue, open for send and for receive."""
    return (
        Call("queues.create", queue="q", transactional=transactional),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
        *more,
    )


def sends(state: State, most: int, *priorities: int | None, transaction: str | None = None) -> Iterator[Call]:
    """The next message, in each of these priorities."""
    sent = len(state.queues["q"].positions)
    if sent < most:
        for priority in priorities or (None,):
            yield Call("messages.send", message="abc"[sent], handle="s", priority=priority, transaction=transaction)


def reads(cursor: str | None, transaction: str | None = None) -> Iterator[Call]:
    """Each read, once without waiting and once with."""
    for timeout, name in ((0, None), (1000, "w")):
        within = {"name": name, "handle": "r", "cursor": cursor, "timeout_ms": timeout}
        yield Call("messages.receive", transaction=transaction, **within)
        yield Call("messages.peek", **within)
        yield Call("messages.peek_next", **within)


def ends(state: State) -> Iterator[Call]:
    """The calls after which these histories end."""
    yield Call("queues.delete", queue="q")
    yield Call("restart", kill=True)


def cursor_calls(state: State) -> Iterator[Call]:
    """What can be asked of a queue without transactions and one cursor."""
    yield from sends(state, 3, None, 5)
    if "c" not in state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    else:
        yield from reads("c")
        yield Call("cursors.close", cursor="c")
    yield Call("messages.receive", handle="r")
    if state.waiters:
        yield Call("clock.advance", by_ms=1000)


def locked_cursor_calls(state: State) -> Iterator[Call]:
    """A cursor, and a transaction that locks what it stands at."""
    if "t" not in state.transactions:
        yield Call("transactions.begin", name="t")
        return
    if state.transactions["t"].ended is None:
        yield from sends(state, 2, transaction="t")
        yield Call("messages.receive", handle="r", transaction="t")
        yield Call("transactions.commit", transaction="t")
        yield Call("transactions.abort", transaction="t")
    elif "u" not in state.transactions:
        yield Call("transactions.begin", name="u")
    elif state.transactions["u"].ended is None:
        yield Call("messages.receive", handle="r", transaction="u")
        yield Call("transactions.abort", transaction="u")
    if "c" not in state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    else:
        yield Call("messages.peek", handle="r", cursor="c")
        yield Call("messages.peek_next", handle="r", cursor="c")
        yield Call("messages.receive", handle="r", cursor="c")


def transaction_calls(state: State) -> Iterator[Call]:
    """What can be asked of a transactional queue with two transactions."""
    sent = len(state.queues["q"].positions)
    for name in ("t", "u"):
        if name not in state.transactions:
            yield Call("transactions.begin", name=name)
            break
    for name, found in state.transactions.items():
        yield Call("transactions.commit", transaction=name)
        yield Call("transactions.abort", transaction=name)
        if name == "t":
            yield Call("transactions.prepare", transaction=name)
        if found.ended is None:
            yield from sends(state, 2, transaction=name)
        yield Call("messages.receive", handle="r", transaction=name)
    if sent:
        yield Call("queues.purge", handle="r")
        yield Call("messages.receive", handle="r")


def waiting_calls(state: State) -> Iterator[Call]:
    """Readers that wait on two handles, and everything that ends a wait."""
    yield from sends(state, 2)
    waiting = len(state.waited)
    if waiting < 3:
        name = f"w{waiting + 1}"
        for handle, timeout in (("r", 1000), ("o", INFINITE), ("r", 2000)):
            yield Call("messages.receive", name=name, handle=handle, timeout_ms=timeout)
            yield Call("messages.peek", name=name, handle=handle, timeout_ms=timeout)
        for method in ("messages.receive", "messages.peek"):
            if not state.busy("c"):
                yield Call(method, name=name, handle="r", cursor="c", timeout_ms=1000)
    if state.waited:
        yield Call("messages.cancel", request=state.waited[-1])
        yield Call("messages.cancel", request=state.waited[0])
        yield Call("clock.advance", by_ms=1000)
        yield Call("queues.close", handle="r")
        yield Call("queues.close", handle="o")
        yield Call("cursors.close", cursor="c")
        yield Call("queues.delete", queue="q")


def woken_calls(state: State) -> Iterator[Call]:
    """Readers that wait for what a transaction brings or gives back."""
    if "t" not in state.transactions:
        yield Call("transactions.begin", name="t")
        return
    if state.transactions["t"].ended is None:
        yield from sends(state, 2, transaction="t")
        yield Call("messages.receive", handle="r", transaction="t")
        yield Call("transactions.commit", transaction="t")
        yield Call("transactions.abort", transaction="t")
    if len(state.waited) < 2:
        name = f"w{len(state.waited) + 1}"
        yield Call("messages.receive", name=name, handle="r", timeout_ms=1000)
        yield Call("messages.peek", name=name, handle="r", timeout_ms=1000)
    if "u" not in state.transactions:
        yield Call("transactions.begin", name="u")
    else:
        yield Call("messages.receive", handle="r", transaction="u")
        yield Call("transactions.abort", transaction="u")


def opening_calls(state: State) -> Iterator[Call]:
    """Handles with every access and share mode, on a queue that comes and goes."""
    for number in (1, 2):
        name = f"h{number}"
        if name not in state.handles:
            for access in ("receive", "peek", "send"):
                for share in ("deny_none", "deny_receive"):
                    yield Call("queues.open", name=name, queue="q", access=access, share=share)
            break
    if "q" not in state.queues or not state.queues["q"].exists:
        yield Call("queues.create", queue="q")
    else:
        yield Call("queues.create", queue="q")
        yield Call("queues.delete", queue="q")
    sent = len(state.queues["q"].positions)
    for name in state.handles:
        yield Call("queues.close", handle=name)
        yield Call("queues.purge", handle=name)
        yield Call("messages.send", message="abcd"[sent], handle=name)
        yield Call("messages.receive", handle=name)
        yield Call("messages.peek", handle=name)
        if not state.cursors:
            yield Call("cursors.open", name="c", handle=name)
    for cursor in state.cursors.values():
        yield Call("messages.peek", handle=cursor.handle, cursor=cursor.name)
        yield Call("messages.peek_next", handle=cursor.handle, cursor=cursor.name)
        yield Call("cursors.close", cursor=cursor.name)


def lookup_calls(state: State) -> Iterator[Call]:
    """Reads by lookup identifier of what is there, locked, purged, gone, or not yet to be seen."""
    for name in ("t", "u"):
        if name not in state.transactions:
            yield Call("transactions.begin", name=name)
            break
        if state.transactions[name].ended is None:
            yield from sends(state, 2, transaction=name)
            yield Call("transactions.commit", transaction=name)
            break
    known = [position.message for position in state.queues["q"].positions if position.message in state.lookups]
    live = [name for name, found in state.transactions.items() if found.ended is None]
    for method in ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id"):
        within = live[:1] if method == "messages.receive_by_lookup_id" else []
        for transaction in (None, *within):
            for action in ("first", "last"):
                yield Call(method, handle="r", action=action, transaction=transaction)
            for message in known:
                for action in ("current", "next", "previous"):
                    yield Call(method, handle="r", message=message, action=action, transaction=transaction)
    if known:
        yield Call("queues.purge", handle="r")


def restart_calls(state: State) -> Iterator[Call]:
    """Messages of every kind, a restart, and what is found then."""
    open_handles = state.handles
    sent = len(state.queues["q"].positions)
    if "s" in open_handles and sent < 3:
        for delivery in (None, "recoverable"):
            yield Call("messages.send", message="abc"[sent], handle="s", delivery=delivery)
    if "r" in open_handles:
        yield Call("messages.receive", handle="r")
        yield Call("messages.peek", handle="r")
    elif state.restarts:
        yield Call("queues.open", name="r", queue="q", access="receive")
    if state.restarts < 2:
        yield Call("restart", kill=True)


def transactional_restart_calls(state: State) -> Iterator[Call]:
    """As before, with transactions."""
    if "t" not in state.transactions:
        yield Call("transactions.begin", name="t")
        return
    if state.transactions["t"].ended is None:
        sent = len(state.queues["q"].positions)
        if sent < 2:
            for delivery in (None, "express"):
                yield Call("messages.send", message="ab"[sent], handle="s", transaction="t", delivery=delivery)
        yield Call("transactions.commit", transaction="t")
    if state.transactions["t"].ended == "commit" and "u" not in state.transactions:
        yield Call("transactions.begin", name="u")
    if "u" in state.transactions and state.transactions["u"].ended is None:
        yield Call("messages.receive", handle="r", transaction="u")
    if "r" not in state.handles:
        yield Call("queues.open", name="r", queue="q", access="receive")
    else:
        yield Call("messages.receive", handle="r")
    if state.restarts < 1:
        yield Call("restart", kill=True)


def mistaken_calls(state: State) -> Iterator[Call]:
    """What is refused: wrong access, closed handles and cursors, ended transactions, numbers out of range."""
    live = [position for position in state.queues["q"].positions if position.state is not PositionState.DELETED]
    if not live:
        yield from sends(state, 2, None, 8)
    name = "abcdef"[len(state.queues["q"].positions)]
    yield Call("messages.send", message=name, handle="r")
    yield Call("messages.send", message=name, handle="p")
    yield Call("messages.send", message=name, handle="s", transaction="t")
    for handle in ("s", "p", "r"):
        for method in ("messages.receive", "messages.peek", "messages.receive_by_lookup_id"):
            yield Call(method, handle=handle, action="first" if method.endswith("id") else None)
        yield Call("queues.purge", handle=handle)
        yield Call("queues.close", handle=handle)
        yield Call("cursors.open", name="d", handle=handle)
    yield Call("messages.receive", handle="r", transaction="t")
    yield Call("messages.peek_next", handle="r")
    for cursor in state.cursors.values():
        yield Call("messages.peek", handle=cursor.handle, cursor=cursor.name)
        if cursor.state is not CursorState.CLOSED:
            yield Call("cursors.close", cursor=cursor.name)
    yield Call("transactions.begin", name="t")
    for method in ("transactions.prepare", "transactions.commit", "transactions.abort"):
        yield Call(method, transaction="t")


def purging_calls(state: State) -> Iterator[Call]:
    """Two queues, one of which is purged."""
    yield from sends(state, 1)
    if not state.queues["p"].positions:
        yield Call("messages.send", message="x", handle="t")
    yield Call("messages.peek", handle="o")
    yield Call("queues.purge", handle="r")


def returned_calls(state: State) -> Iterator[Call]:
    """Two messages that an abort puts back."""
    if state.transactions["t"].ended is None:
        yield Call("messages.receive", handle="r", transaction="t")
        yield Call("transactions.abort", transaction="t")
    yield Call("messages.receive", handle="r")
    yield Call("messages.peek", handle="r")


PEEKER = Call("queues.open", name="p", queue="q", access="peek")
OTHER = Call("queues.open", name="o", queue="q", access="receive")
CURSOR = Call("cursors.open", name="c", handle="r")
BEGUN = Call("transactions.begin", name="t")
TWO_SENT = (
    Call("transactions.begin", name="v"),
    *(Call("messages.send", message=name, handle="s", transaction="v") for name in "ab"),
    Call("transactions.commit", transaction="v"),
)


def property_calls(state: State) -> Iterator[Call]:
    """Write and read properties of a queue that is there, and of one that is not."""
    label = (("PROPID_Q_LABEL", "x"),)
    yield Call("watch", names=("PROPID_Q_LABEL",))
    for queue in ("q", "p"):
        yield Call("queues.create", queue=queue, values=label)
        yield Call("queues.set", queue=queue, values=label)
        yield Call("queues.get", queue=queue, names=("PROPID_Q_LABEL",))
    if state.queues["q"].exists:
        yield Call("use", queue="q")
        yield Call("queues.delete", queue="q")
    yield Call("restart")


SCOPES = (
    Scope("cursor", opening(), cursor_calls, 6, ends),
    Scope("locked cursor", opening(transactional=True), locked_cursor_calls, 9),
    Scope("transactions", opening(transactional=True), transaction_calls, 7, ends),
    Scope("returned", opening(*TWO_SENT, BEGUN, transactional=True), returned_calls, 5),
    Scope(
        "purging",
        opening(
            Call("queues.create", queue="p"),
            Call("queues.open", name="t", queue="p", access="send"),
            Call("queues.open", name="o", queue="p", access="receive"),
        ),
        purging_calls,
        5,
    ),
    Scope("waiting", opening(OTHER, CURSOR), waiting_calls, 4, ends),
    Scope("woken", opening(transactional=True), woken_calls, 7),
    Scope("opening", opening()[:1], opening_calls, 4),
    Scope("lookups", opening(transactional=True), lookup_calls, 7),
    Scope("restart", opening(), restart_calls, 7),
    Scope("transactional restart", opening(transactional=True), transactional_restart_calls, 9),
    Scope("mistakes", opening(PEEKER, CURSOR, BEGUN), mistaken_calls, 3, ends),
    Scope("properties", opening(), property_calls, 3),
    *scopes_moves.SCOPES,
    *scopes_keeping.SCOPES,
    *scopes_outgoing.SCOPES,
    *scopes_management.SCOPES,
    *scopes_coordinator.SCOPES,
)

PLANS = {name.lower(): plan for name, plan in vars(plans).items() if isinstance(plan, Plan)}


@cache
def everything() -> tuple[tuple[Step, ...], Reached]:
    """Every step of every scope under every reading and of seeded walks of every plan, and what of the code made it."""
    wide = Model(exploring.all_readings())
    with exploring.recording() as reached:
        steps = [step for scope in SCOPES for step in exploring.explored(wide, scope)]
        for name, plan in PLANS.items():
            steps += exploring.walked(wide, name, plan, seed=0, walks=12, steps=25)
    gc.freeze()  # they stay: to look through a million values again and again would take longer than all tests
    return tuple(steps), reached
