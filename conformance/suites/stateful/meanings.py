"""What can be asked next, by meaning: an open cursor, a closed one, one whose message somebody else has taken.

Each function lists calls that make sense in a state, the plainest first, so that a shrunk story uses plain ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.keeping import is_kept
from conformance.model.state import Cursor, Handle, Queue
from conformance.model.tables import CursorState, PositionState
from conformance.suites.stateful.accepting import given

WAIT_MS = 1_000  # on a virtual clock
LONG_MS = 60_000  # on a real clock: a wait that something else must end
MAX_OPEN_TRANSACTIONS = 2
MAX_CURSORS = 3
MAX_MESSAGES = 24
_AVAILABLE, _DELETED, _CLOSED = PositionState.AVAILABLE, PositionState.DELETED, CursorState.CLOSED
_MANNERS = ((None, None), (5, None), (1, None), (None, "recoverable"), (7, None))  # priority and delivery of a message


@dataclass(frozen=True, slots=True)
class Offer:
    """What the driver offers beside queues, send and receive."""

    methods: frozenset[str]
    virtual: bool
    accepts: Mapping[str, frozenset[str]] = field(default_factory=dict)  # as in hello

    def has(self, method: str) -> bool:
        """Whether this method can be called."""
        return method in self.methods

    def takes(self, call: Call) -> bool:
        """Whether a call gives nothing that its method does not accept."""
        return not self.accepts or all(
            kind not in self.accepts or name in self.accepts[kind] for kind, name in given(call)
        )


def names(prefix: str, taken: Iterable[str]) -> str:
    """The next free name: q1, q2, ..."""
    used = set(taken)
    return next(name for number in range(1, len(used) + 2) if (name := f"{prefix}{number}") not in used)


def message_name(state: State) -> str:
    """The next message: a, b, ... z, a2, b2, ..."""
    sent = sum(len(queue.positions) for queue in state.queues.values())
    letter, turn = chr(ord("a") + sent % 26), sent // 26
    return letter if not turn else f"{letter}{turn + 1}"


def handles(state: State, *access: str) -> list[Handle]:
    """The open handles with one of these kinds of access, whose queue is there."""
    return [
        handle for handle in state.handles.values() if handle.is_open and not handle.lost and handle.access in access
    ]


def open_transactions(state: State) -> list[str]:
    """The transactions that have not ended."""
    return [transaction.name for transaction in state.transactions.values() if transaction.ended is None]


def working_transactions(state: State) -> list[str]:
    """Those that can still be worked in: what a prepared one does with more work is not described."""
    return [name for name in open_transactions(state) if not state.transactions[name].prepared]


def cursors(state: State, handle: str | None = None) -> list[Cursor]:
    """The open cursors no read waits with."""
    if not state.cursors:
        return []
    waiting = {waiter.cursor for waiter in state.waiters}
    return [
        cursor
        for cursor in state.cursors.values()
        if cursor.state is not _CLOSED and cursor.name not in waiting and (handle is None or handle == cursor.handle)
    ]


listed = lru_cache(1 << 14)(Call)
"""A call. Of all that are listed at a step one is made, and the same are listed again and again: each is one object."""


@lru_cache(1 << 14)
def _send(message: str, handle: str, transaction: str | None, priority: int | None, delivery: str | None) -> Call:
    return Call(
        "messages.send", message=message, handle=handle, transaction=transaction, priority=priority, delivery=delivery
    )


@lru_cache(1 << 14)
def _read(
    method: str, handle: str, cursor: str | None, transaction: str | None, name: str | None = None, timeout_ms: int = 0
) -> Call:
    return Call(method, handle=handle, cursor=cursor, transaction=transaction, name=name, timeout_ms=timeout_ms)


def sends(state: State) -> list[Call]:
    """A message more: its priority matters outside transactions only."""
    if sum(len(queue.positions) for queue in state.queues.values()) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    calls: list[Call] = []
    for handle in handles(state, "send"):
        if state.queues[handle.queue].transactional:
            calls += [
                _send(name, handle.name, transaction, priority, None)
                for transaction in working_transactions(state)
                for priority in (None, 6)
            ]
        else:
            calls += [_send(name, handle.name, None, priority, delivery) for priority, delivery in _MANNERS]
    return calls


def _in_transactions(state: State, handle: Handle) -> list[str | None]:
    if not state.queues[handle.queue].transactional:
        return [None]
    return [*working_transactions(state), None]


def _busy_first(state: State, calls: list[Call]) -> list[Call]:
    """Reads of queues with something to read, and a few of those with nothing: they all end alike."""

    worth: dict[str | None, int] = {}
    busy: list[Call] = []
    for call in calls:
        times = worth.get(call.handle)
        if times is None:
            times = worth[call.handle] = _worth(state.queues[state.handles[call.handle or ""].queue])
        busy += [call] * times
    return busy


def _worth(queue: Queue) -> int:
    """How often to read it: most where a message can be read, little where all are gone."""
    times = 1
    for position in queue.positions:
        if position.state is _AVAILABLE:
            return 6
        if position.state is not _DELETED:
            times = 2
    return times


def receives(state: State) -> list[Call]:
    """Take a message, without and with a cursor, in and out of a transaction."""
    calls = [
        _read("messages.receive", handle.name, cursor, transaction)
        for handle in handles(state, "receive")
        for cursor in (None, *(cursor.name for cursor in cursors(state, handle.name)))
        for transaction in _in_transactions(state, handle)
    ]
    return _busy_first(state, calls)


def peeks(state: State) -> list[Call]:
    """Read a message, without and with a cursor."""
    calls = [
        _read("messages.peek", handle.name, cursor, None)
        for handle in handles(state, "receive", "peek")
        for cursor in (*(cursor.name for cursor in cursors(state, handle.name)), None)
    ]
    return _busy_first(state, calls)


def peek_nexts(state: State) -> list[Call]:
    """Move a cursor."""
    found = cursors(state)
    found.sort(key=lambda cursor: cursor.state is not CursorState.READ)
    return [
        _read("messages.peek_next", cursor.handle, cursor.name, None)
        for cursor in found
        if state.handles[cursor.handle].is_open and not state.handles[cursor.handle].lost
    ]


def waits(state: State, offer: Offer) -> list[Call]:
    """Reads that may wait. Which of several readers is served first is not settled, so few wait on a queue at once."""
    name = names("w", state.waited)
    timeouts = (WAIT_MS, INFINITE) if offer.virtual else (LONG_MS,)
    calls: list[Call] = []
    made: dict[int, list[Call]] = {}  # the same read comes several times
    reads = (*receives(state), *peeks(state), *peek_nexts(state))
    for call in reads:
        known = made.get(id(call))
        if known is None:
            known = made[id(call)] = _waiting(state, offer, call, name, timeouts)
        calls += known
    return calls


def _waiting(state: State, offer: Offer, call: Call, name: str, timeouts: tuple[int, ...]) -> list[Call]:
    """This read, if it may wait, with each of the time-outs."""
    if not offer.has(call.method):
        return []
    queue = state.handles[call.handle or ""].queue
    others = [waiter for waiter in state.waiters if waiter.queue == queue]
    alone = all(waiter.handle == call.handle for waiter in others)
    behind = call.method != "messages.receive" and any(waiter.destructive for waiter in others)
    if not alone or behind or len(others) > 2:
        return []
    return [_read(call.method, call.handle or "", call.cursor, call.transaction, name, timeout) for timeout in timeouts]


def endings(state: State) -> list[Call]:
    """Commit or abort, unless a read waits in that transaction."""
    busy = {waiter.transaction for waiter in state.waiters}
    free = [name for name in open_transactions(state) if name not in busy]
    worked = [name for name in free if any(True for _ in state.held_by(name))]  # an empty one teaches little
    calls: list[Call] = []
    for name in worked or free:
        took = any(position.state is PositionState.LOCKED for _, position in state.held_by(name))
        calls += [listed("transactions.commit", transaction=name)] * 2
        calls += [listed("transactions.abort", transaction=name)] * (3 if took else 1)
    return calls


def begins(state: State) -> list[Call]:
    """One more transaction, unless there are enough."""
    if len(open_transactions(state)) >= MAX_OPEN_TRANSACTIONS:
        return []
    return [listed("transactions.begin", name=names("t", state.transactions))]


def cursor_openings(state: State) -> list[Call]:
    """One more cursor, unless there are enough."""
    if len(cursors(state)) >= MAX_CURSORS:
        return []
    return [
        listed("cursors.open", name=names("c", state.cursors), handle=handle.name)
        for handle in handles(state, "receive", "peek")
    ]


def cursor_closings(state: State) -> list[Call]:
    """Close a cursor nobody waits with."""
    return [listed("cursors.close", cursor=cursor.name) for cursor in cursors(state)]


def passing_time(state: State) -> list[Call]:
    """Time until a wait is over, or until just before."""
    deadlines = sorted({waiter.deadline for waiter in state.waiters if waiter.deadline is not None})
    return [
        listed("clock.advance", by_ms=by)
        for deadline in deadlines[:1]
        for by in (deadline - state.now, deadline - state.now - 1)
        if by > 0
    ]


def cancels(state: State) -> list[Call]:
    """Cancel a read that waits, or one that waits no more."""
    return [listed("messages.cancel", request=name) for name in state.waited[-4:]]


def openings(state: State) -> list[Call]:
    """Open a queue once more, for something it may be open for already."""
    name = names("h", state.handles)
    calls: list[Call] = []
    for queue in state.queues.values():
        opened = sum(handle.queue == queue.name and handle.is_open for handle in state.handles.values())
        if queue.exists and opened < 5 and not is_kept(queue.name):
            calls += [
                listed("queues.open", name=name, queue=queue.name, access=access, share=share)
                for access, share in (
                    ("receive", None),
                    ("send", None),
                    ("peek", None),
                    ("receive", "deny_receive"),
                    ("peek", "deny_receive"),
                )
            ]
    return calls


def closings(state: State) -> list[Call]:
    """Close a handle."""
    busy = {waiter.handle for waiter in state.waiters if waiter.cursor is not None or waiter.transaction is not None}
    busy |= {read.handle for read in state.begun.values() if not read.ended}
    return [
        listed("queues.close", handle=handle.name)
        for handle in state.handles.values()
        if handle.is_open and handle.name not in busy
    ]


def purges(state: State) -> list[Call]:
    """Empty a queue that holds something."""
    return [
        listed("queues.purge", handle=handle.name)
        for handle in handles(state, "receive")
        if _worth(state.queues[handle.queue]) > 1
    ]


def deletions(state: State) -> list[Call]:
    """Delete a queue no read waits on and no transaction has worked with."""
    busy = {waiter.queue for waiter in state.waiters}
    held = {queue.family for queue in state.queues.values() if any(position.holder for position in queue.positions)}
    busy |= {state.queues[name].family for name in busy}
    return [
        listed("queues.delete", queue=queue.name)
        for queue in state.queues.values()
        if queue.exists and named_alone(queue) and queue.name not in busy | held
    ]


def creations(state: State) -> list[Call]:
    """Create what was deleted, again; or what is there, which must fail."""
    return [
        listed("queues.create", queue=queue.name, transactional=queue.transactional)
        for queue in sorted(state.queues.values(), key=lambda queue: queue.exists)
        if named_alone(queue)
    ]


def named_alone(queue: Queue) -> bool:
    """Whether it is a queue of its own: no subqueue, journal or dead-letter queue, and no name of several queues."""
    return queue.parent is None and not is_kept(queue.name) and "," not in queue.name


def mistakes(state: State, offer: Offer) -> list[Call]:
    """Calls that must be refused: on what is closed, over or deleted, or with the wrong access."""
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
        elif handle.access != "move":  # mistakes with those: `meanings_moves`
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
    for transaction in state.transactions.values():
        if transaction.ended not in (None, "restart"):  # a restart takes the handle too
            yield listed("transactions.commit", transaction=transaction.name)
            yield listed("transactions.abort", transaction=transaction.name)
            yield listed("transactions.prepare", transaction=transaction.name)
            for handle in handles(state, "receive"):
                if state.queues[handle.queue].transactional:
                    yield listed("messages.receive", handle=handle.name, transaction=transaction.name)


def lookups(state: State, offer: Offer) -> list[Call]:
    """Reads by the lookup identifiers seen so far, of messages that are there, locked or gone."""
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
