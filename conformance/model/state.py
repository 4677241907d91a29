"""The queue manager as the model sees it: values only, copied with a change, never changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from typing import Any

from conformance.model.keeping import Attributes, Keeping, Wishes
from conformance.model.tables import CursorState, OutgoingState, PositionState, TransactionState
from conformance.model.values import copied, replace, value

Rank = tuple[int, int]
"""Where a message stands: 7 minus its priority, then its number in the order of arrival. Smaller is nearer the front
(MS-MQDMPR 3.1.1.2, MS-MQMQ 2.2.19.1). A rank outlives its message, so a cursor can stand where one was."""

TAKING = frozenset({"messages.receive", "messages.receive_begin"})

START: Rank = (-1, 0)
PARKED: Rank = (99, 0)  # the reserved End entry: behind everything


@value
class Position:
    """A message and its slot (MS-MQDMPR 3.1.1.11).

    asked, delivery: priority and delivery guarantee as sent, None for the default. holder: the transaction that locks
    it. since: when, in events of the model, it last became available. claim: the requirement that is broken if the
    message turns out not to be as `state` says. doubtful: express and through a restart, so it may be gone.
    purged: sent in a transaction that was open when the queue was purged. wishes: what its sender asked to be done with
    it. tie: the event that put it here together with others, in an order nobody demands.
    purged: sent in a transaction that was open when the queue was purged. locked_at: when, in events, the transaction
    locked it. target: the queue a transaction moves it to. moved: came or left by a move, so that its lookup identifier
    need not tell its place. identifier: the lookup identifier it must have kept in that move.
    marks: whether it is the first and the last its transaction sent to its queue, None where that is not judged.
    steady: seen by more than one peek in turn, so that the first has not taken it away; or, while a transaction holds
    it, hidden from a read.
    """

    message: str
    rank: Rank
    state: PositionState
    claim: str
    since: int
    transactional: bool
    asked: int | None = None
    delivery: str | None = None
    holder: str | None = None
    doubtful: bool = False
    purged: bool = False
    wishes: Wishes | None = None
    tie: int | None = None
    locked_at: int = 0
    target: str | None = None
    moved: bool = False
    identifier: int | None = None
    marks: tuple[bool, bool] | None = None
    steady: bool = False

    @property
    def available(self) -> bool:
        """Whether reads can see it."""
        return self.state is PositionState.AVAILABLE

    @property
    def priority(self) -> int:
        """0 to 7."""
        return 7 - self.rank[0]

    @property
    def recoverable(self) -> bool:
        """Whether it survives a restart (MS-MQDMPR 3.1.1.12, MS-MQMQ 2.2.19.2 for transactional ones)."""
        return self.transactional or self.delivery == "recoverable"


@value
class Outgoing:
    """What a queue of another computer has beside its messages (MS-MQDMPR 3.1.1.3).

    by, since: the call that last had to do with its state, and when, in events. paused: when it last was put on hold.
    held: something of it was to be transferred while it was on hold, and was not.
    """

    state: OutgoingState = OutgoingState.INACTIVE
    by: str = "queues.open"
    since: int = 0
    paused: int | None = None
    held: bool = False


@value
class Queue:
    """A queue and every message it ever held, in the order of their ranks.

    ended_reader: what is broken if the next message that is sent goes missing, because a read that ended took it.
    attributes: quotas and journaling, where its creator gave any.
    parent: the queue whose subqueue this is.
    outgoing: of a queue on another computer, which is here only to send to.
    """

    name: str
    transactional: bool
    exists: bool = True
    positions: tuple[Position, ...] = ()
    ended_reader: str | None = None
    attributes: Attributes | None = None
    parent: str | None = None
    outgoing: Outgoing | None = None

    @property
    def family(self) -> str:
        """The queue it belongs to: itself, or the queue whose subqueue it is."""
        return self.parent or self.name

    def find(self, message: str) -> Position | None:
        """The position of a message, or None."""
        for position in self.positions:
            if position.message == message:
                return position
        return None

    def with_position(self, new: Position) -> Queue:
        """The queue with this position added, or put in the place of the one of the same message."""
        others, rank, message = self.positions, new.rank, new.message
        if not others:
            return self._holding((new,))
        place = len(others)
        for at, position in enumerate(others):
            if position.message == message:
                if position.rank == rank:  # as nearly always: it stays in its place
                    return self._holding((*others[:at], new, *others[at + 1 :]))
                return self._holding((*others[:at], *others[at + 1 :])).with_position(new)
            if place > at and position.rank > rank:
                place = at
        return self._holding((*others[:place], new, *others[place:]))

    def _holding(self, positions: tuple[Position, ...]) -> Queue:
        new: Any = copied(self)
        new.positions = positions
        return new  # type: ignore[no-any-return]


@value
class Handle:
    """An OpenQueueDescriptor (MS-MQDMPR 3.1.1.16). lost: its queue was deleted, QueueReference is NULL."""

    name: str
    queue: str
    access: str
    share: str
    is_open: bool = True
    lost: bool = False


@value
class Cursor:
    """MS-MQDMPR 3.2.

    at: where it stands. message: the peeked message it stands at, None when it has peeked none. ended_at: when, in
    events, its last wait ended without a message. ended: what that wait was, `receive`, `peek` or `poll` (a peek with
    time-out zero); until the next use of the cursor, `state` and `at` are those before the wait, because the readings
    differ in what became of them.
    """

    name: str
    handle: str
    state: CursorState
    at: Rank = START
    message: str | None = None
    ended_at: int | None = None
    ended: str | None = None


@value
class Waiter:
    """A WaitingMessageReadOperation (MS-MQDMPR 3.1.1.10). deadline: model time in milliseconds, None for never."""

    name: str
    method: str
    handle: str
    queue: str
    cursor: str | None
    transaction: str | None
    deadline: int | None

    @property
    def destructive(self) -> bool:
        """Whether it takes the message it gets, at once or in two phases."""
        return self.method in TAKING

    @property
    def two_phase(self) -> bool:
        """Whether it only locks the message it gets."""
        return self.method == "messages.receive_begin"


@value
class BegunRead:
    """A receive that was begun (MS-MQDMPR 3.1.7.1.11). ended: its second phase is over."""

    name: str
    handle: str
    queue: str
    message: str
    ended: bool = False


@value
class Transaction:
    """MS-MQDMPR 3.1.1.14. What it did is in the positions it holds. ended: `commit`, `abort` or `restart`.

    prepared: MS-MQDMPR 3.1.4.3. bereft: a queue it had worked in was deleted before it ended.
    """

    name: str
    ended: str | None = None
    prepared: bool = False
    bereft: bool = False

    @property
    def state(self) -> TransactionState:
        """Its state in the table."""
        return TransactionState.PREPARED if self.prepared and self.ended is None else _ENDED[self.ended]


_ENDED = {
    None: TransactionState.OPEN,
    "commit": TransactionState.COMMITTED,
    "abort": TransactionState.ABORTED,
    "restart": TransactionState.FORGOTTEN,
}


@value(eq=False)
class State:
    """Everything. The mappings are never changed in place.

    waited: every read that ever waited. restarts: of the manager. now: milliseconds since the start. events: counts
    what happened, to compare times exactly. lookups: message name to lookup identifier as observed; identifiers: to
    message identifier, where messages move. assumed: reading id to the alternatives this history leaves possible.
    keeping: quotas, journals and clocks, None until a call has to do with them.
    """

    queues: Mapping[str, Queue] = field(default_factory=dict)
    handles: Mapping[str, Handle] = field(default_factory=dict)
    cursors: Mapping[str, Cursor] = field(default_factory=dict)
    transactions: Mapping[str, Transaction] = field(default_factory=dict)
    begun: Mapping[str, BegunRead] = field(default_factory=dict)
    waiters: tuple[Waiter, ...] = ()
    waited: tuple[str, ...] = ()
    restarts: int = 0
    now: int = 0
    events: int = 0
    lookups: Mapping[str, int] = field(default_factory=dict)
    identifiers: Mapping[str, str] = field(default_factory=dict)
    assumed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    keeping: Keeping | None = None

    def key(self) -> Hashable:
        """Equal for states that differ in nothing but what they assume."""
        return (
            tuple(self.queues.values()),
            tuple(self.handles.values()),
            tuple(self.cursors.values()),
            tuple(self.transactions.values()),
            tuple(self.begun.values()),
            self.waiters,
            self.now,
            self.keeping,
            tuple(sorted(self.lookups.items())),
        )

    def like(self, other: State) -> bool:
        """Whether both have the same key. Much of two states that came of one is the same object."""
        return (
            self.now == other.now
            and _alike(self.cursors, other.cursors)
            and _alike(self.queues, other.queues)
            and _alike(self.handles, other.handles)
            and _alike(self.transactions, other.transactions)
            and _alike(self.begun, other.begun)
            and self.waiters == other.waiters
            and self.keeping == other.keeping
            and self.lookups == other.lookups
        )

    def outline(self) -> Hashable:
        """The same for states with the same key, and much cheaper: two others may share it too."""
        return (
            self.now,
            self.waiters,
            tuple([cursor.at for cursor in self.cursors.values()]),
            tuple([position.state for queue in self.queues.values() for position in queue.positions]),
        )

    def put(self, thing: Queue | Handle | Cursor | Transaction | BegunRead) -> State:
        """The state with this thing new, or in place of the one of the same name."""
        new: Any = copied(self)
        if isinstance(thing, Queue):
            new.queues = {**self.queues, thing.name: thing}
        elif isinstance(thing, Cursor):
            new.cursors = {**self.cursors, thing.name: thing}
        elif isinstance(thing, Handle):
            new.handles = {**self.handles, thing.name: thing}
        elif isinstance(thing, BegunRead):
            new.begun = {**self.begun, thing.name: thing}
        else:
            new.transactions = {**self.transactions, thing.name: thing}
        return new  # type: ignore[no-any-return]

    def tick(self) -> State:
        """One event later."""
        new: Any = copied(self)
        new.events += 1
        return new  # type: ignore[no-any-return]

    def position(self, queue: str, message: str) -> Position:
        """The position of a message known to be in this queue. Raises KeyError otherwise."""
        found = self.queues[queue].find(message)
        if found is None:
            raise KeyError(message)
        return found

    def with_position(self, queue: str, position: Position) -> State:
        """The state with this position added or replaced."""
        new: Any = copied(self)
        new.queues = {**self.queues, queue: self.queues[queue].with_position(position)}
        return new  # type: ignore[no-any-return]

    def later(self, queue: str, position: Position) -> State:
        """One event later, with this position added or replaced."""
        new: Any = copied(self)
        new.events += 1
        new.queues = {**self.queues, queue: self.queues[queue].with_position(position)}
        return new  # type: ignore[no-any-return]

    def held_by(self, transaction: str) -> Iterator[tuple[str, Position]]:
        """What a transaction holds: queue name and position, in the order of the queues and of the ranks."""
        for queue in self.queues.values():
            for position in queue.positions:
                if position.holder == transaction:
                    yield queue.name, position

    def without_waiters(self, names: frozenset[str]) -> State:
        """The state without these waiting reads."""
        if not names:
            return self
        return replace(self, waiters=tuple(waiter for waiter in self.waiters if waiter.name not in names))

    def busy(self, cursor: str) -> bool:
        """Whether a read waits with this cursor."""
        return bool(self.waiters) and any(waiter.cursor == cursor for waiter in self.waiters)


def _alike(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one is other or tuple(one.values()) == tuple(other.values())
