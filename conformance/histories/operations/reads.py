"""Reads: receive, peek, by cursor, by lookup identifier, in two phases; open and close cursors; cancel a wait."""

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
from conformance.histories.operations.state_queries import cursors, handles, listed, names, working_transactions, worth
from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.state import Handle
from conformance.model.tables import CursorState, PositionState

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


def read_text(verb: str, *, named: bool = False) -> Callable[[Call, State], str]:
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


READS = (
    Operation(
        "messages.receive",
        members(transaction=True),
        read_text("receive"),
        (action("receive", receives, "messages.receive"), Action("wait", waits)),
        Manner.READ,
    ),
    Operation(
        "messages.peek",
        members(),
        read_text("peek"),
        (action("peek", peeks, "messages.peek"),),
        Manner.READ,
        late=True,
    ),
    Operation(
        "messages.peek_next",
        members(cursor=NEEDED),
        read_text("peek-next"),
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

MAX_CURSORS = 3


def cursor_openings(state: State) -> list[Call]:
    """Open a cursor, up to MAX_CURSORS."""
    if len(cursors(state)) >= MAX_CURSORS:
        return []
    return [
        listed("cursors.open", name=names("c", state.cursors), handle=handle.name)
        for handle in handles(state, "receive", "peek")
    ]


def cursor_closings(state: State) -> list[Call]:
    """Close a cursor that no waiting read uses."""
    return [listed("cursors.close", cursor=cursor.name) for cursor in cursors(state)]


CURSORS = (
    Operation(
        "cursors.open",
        {"name": gives(Kind.CURSOR, result="cursor"), "handle": refers(Kind.HANDLE, "queue")},
        lambda call, state: f"open cursor {call.name} on {queue_of(call, state)}",
        (action("open_cursor", cursor_openings, "cursors.open"),),
        verb="cursor",
    ),
    Operation(
        "cursors.close",
        {"cursor": refers(Kind.CURSOR, "cursor")},
        lambda call, state: f"close cursor {call.cursor}",
        (action("close_cursor", cursor_closings, "cursors.close"),),
        verb="close cursor",
        ends=Kind.CURSOR,
    ),
)


def lookups(state: State, offer: Offer) -> list[Call]:
    """Read by a lookup identifier seen so far, whether its message is available, locked or gone."""
    calls: list[Call] = []
    for handle in handles(state, "receive"):
        queue = state.queues[handle.queue]
        known = [
            position.message
            for position in queue.positions
            if position.message in state.lookups and not position.doubtful
        ]
        for method in ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id"):
            if not offer.has(method):
                continue
            calls += [
                listed(method, handle=handle.name, message=message, action=action)
                for message in known
                for action in ("current", "next", "previous")
            ]
            calls += [listed(method, handle=handle.name, action=action) for action in ("first", "last")]
    return calls


def _lookup_text(verb: str) -> Callable[[Call, State], str]:
    def story(call: Call, state: State) -> str:
        start = f" from '{call.message}'" if call.message else ""
        how = f"{verb}, {call.action}{start}," if call.action is not None else verb
        within = [f"transaction {call.transaction}"] if call.transaction else []
        return f"{how} from {queue_of(call, state)}{in_brackets(within)}"

    return story


_MEMBERS: dict[str, Member] = {
    "handle": refers(Kind.HANDLE, "queue"),
    "message": refers(Kind.MESSAGE, "lookup_identifier", default=""),
    "action": value(NEEDED, parameter="action", default="current"),
}
LOOKUPS = (
    Operation(
        "messages.peek_by_lookup_id",
        _MEMBERS,
        _lookup_text("peek by lookup identifier"),
        (Action("lookup", lookups, ("messages.peek_by_lookup_id",)),),
    ),
    Operation(
        "messages.receive_by_lookup_id",
        _MEMBERS | {"transaction": refers(Kind.TRANSACTION, "transaction", None)},
        _lookup_text("receive by lookup identifier"),
    ),
)

MAX_BEGUN = 3


def begun_receives(state: State) -> list[Call]:
    """Begin a receive, up to MAX_BEGUN at once."""
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
    return state.cursors[cursor].state is not CursorState.CLOSED and not state.busy(cursor)


def receive_ends(state: State) -> list[Call]:
    """End a begun receive, or one that has ended already, unless another reader holds its message by now."""
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


def _ended(call: Call, state: State) -> str:
    return f"end the receive {call.read}, {'deleting' if call.acknowledge else 'keeping'} its message"


TWO_PHASE = (
    Operation(
        "messages.receive_begin",
        members(wait=gives(Kind.READ, result="read")),
        read_text("begin to receive", named=True),
        (action("begin_receive", begun_receives, "messages.receive_begin"),),
        Manner.READ,
    ),
    Operation(
        "messages.receive_end",
        {"read": refers(Kind.READ, "read"), "acknowledge": value(NEEDED, parameter="acknowledge")},
        _ended,
        (action("end_receive", receive_ends, "messages.receive_end"),),
        ends=Kind.READ,
    ),
)
