"""Receive, peek and peek-next, with or without a cursor, a transaction and a wait; and cancel a waiting read."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from conformance.histories.operations.operation import (
    NEEDED,
    Action,
    Kind,
    Manner,
    Member,
    Offer,
    Operation,
    action,
    gives,
    in_brackets,
    queue_of,
    refers,
    value,
)
from conformance.histories.operations.state_queries import (
    cursors,
    handles,
    listed,
    names,
    working_transactions,
    worth,
)
from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.state import Handle
from conformance.model.tables import CursorState

WAIT_MS = 1_000  # on a virtual clock
LONG_MS = 60_000  # on a real clock: another call must end the wait


@lru_cache(1 << 14)
def _read(
    method: str, handle: str, cursor: str | None, transaction: str | None, name: str | None = None, timeout_ms: int = 0
) -> Call:
    return Call(method, handle=handle, cursor=cursor, transaction=transaction, name=name, timeout_ms=timeout_ms)


def _in_transactions(state: State, handle: Handle) -> list[str | None]:
    if not state.queues[handle.queue].transactional:
        return [None]
    return [*working_transactions(state), None]


def _busy_first(state: State, calls: list[Call]) -> list[Call]:
    """Repeat each read by the worth of its queue: reads of empty queues all end alike, so few are enough."""
    times: dict[str | None, int] = {}
    busy: list[Call] = []
    for call in calls:
        often = times.get(call.handle)
        if often is None:
            often = times[call.handle] = worth(state.queues[state.handles[call.handle or ""].queue])
        busy += [call] * often
    return busy


def receives(state: State) -> list[Call]:
    """Receive a message, without and with a cursor, in and out of a transaction."""
    calls = [
        _read("messages.receive", handle.name, cursor, transaction)
        for handle in handles(state, "receive")
        for cursor in (None, *(cursor.name for cursor in cursors(state, handle.name)))
        for transaction in _in_transactions(state, handle)
    ]
    return _busy_first(state, calls)


def peeks(state: State) -> list[Call]:
    """Peek at a message, without and with a cursor."""
    calls = [
        _read("messages.peek", handle.name, cursor, None)
        for handle in handles(state, "receive", "peek")
        for cursor in (*(cursor.name for cursor in cursors(state, handle.name)), None)
    ]
    return _busy_first(state, calls)


def peek_nexts(state: State) -> list[Call]:
    """Move a cursor to the next message."""
    found = cursors(state)
    found.sort(key=lambda cursor: cursor.state is not CursorState.READ)
    return [
        _read("messages.peek_next", cursor.handle, cursor.name, None)
        for cursor in found
        if state.handles[cursor.handle].is_open and not state.handles[cursor.handle].lost
    ]


def waits(state: State, offer: Offer) -> list[Call]:
    """Start a read that may wait. Readings differ on which waiting reader is served first, so few wait on one queue."""
    name = names("w", state.waited)
    timeouts = (WAIT_MS, INFINITE) if offer.virtual else (LONG_MS,)
    calls: list[Call] = []
    for destructive, reads in ((True, receives(state)), (False, [*peeks(state), *peek_nexts(state)])):
        before: Call | None = None
        known: list[Call] = []
        for call in reads:
            if call is not before:  # reads of a busy queue are listed several times, one after the other
                before, known = call, _waiting(state, offer, call, destructive, name, timeouts)
            calls += known
    return calls


def _waiting(
    state: State, offer: Offer, call: Call, destructive: bool, name: str, timeouts: tuple[int, ...]
) -> list[Call]:
    """Return this read with each of the time-outs; none if it must not wait now."""
    if not offer.has(call.method):
        return []
    queue = state.handles[call.handle or ""].queue
    others = [waiter for waiter in state.waiters if waiter.queue == queue]
    alone = all(waiter.handle == call.handle for waiter in others)
    behind = not destructive and any(waiter.destructive for waiter in others)
    if not alone or behind or len(others) > 2:
        return []
    return [_read(call.method, call.handle or "", call.cursor, call.transaction, name, timeout) for timeout in timeouts]


def cancels(state: State) -> list[Call]:
    """Cancel a read that waits, or one that no longer waits."""
    return [listed("messages.cancel", request=name) for name in state.waited[-4:]]


def told(verb: str, *, named: bool = False) -> Callable[[Call, State], str]:
    """Return the story of a read. named: the story begins with its name even if it does not wait."""

    def story(call: Call, state: State) -> str:
        how = [f"cursor {call.cursor}"] if call.cursor else []
        how += [f"transaction {call.transaction}"] if call.transaction else []
        if call.timeout_ms == INFINITE:
            how.append("waiting without end")
        elif call.timeout_ms:
            how.append(f"waiting up to {call.timeout_ms} ms")
        name = f"{call.name}: " if call.name and (call.timeout_ms or named) else ""
        return f"{name}{verb} from {queue_of(call, state)}{in_brackets(how)}"

    return story


def members(*, cursor: object = None, transaction: bool = False, wait: Member | None = None) -> dict[str, Member]:
    """Return the members of a read. cursor: the plain value of `cursor`. wait: `name`, if it names more than a wait."""
    found = {
        "name": wait or gives(Kind.WAIT),
        "handle": refers(Kind.HANDLE, "queue"),
        "timeout_ms": value(0, parameter="timeout_ms", along=() if wait else ("name",)),
        "cursor": refers(Kind.CURSOR, "cursor", cursor),
    }
    return found | ({"transaction": refers(Kind.TRANSACTION, "transaction", None)} if transaction else {})


OPERATIONS = (
    Operation(
        "messages.receive",
        members(transaction=True),
        told("receive"),
        (action("receive", receives, "messages.receive"), Action("wait", waits)),
        Manner.READ,
    ),
    Operation(
        "messages.peek",
        members(),
        told("peek"),
        (action("peek", peeks, "messages.peek"),),
        Manner.READ,
        late=True,
    ),
    Operation(
        "messages.peek_next",
        members(cursor=NEEDED),
        told("peek-next"),
        (action("peek_next", peek_nexts, "messages.peek_next", "cursors.open"),),
        Manner.READ,
        late=True,
        verb="peek next",
    ),
    Operation(
        "messages.cancel",
        {"request": refers(Kind.WAIT, "request")},
        lambda call, state: f"cancel the waiting {call.request}",
        (action("cancel", cancels, "messages.cancel"),),
        subject="request",
    ),
)
