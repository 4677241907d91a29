"""State of the queue manager in the model, with what management shows of it: immutable values, copied to be changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from conformance.model.journals import Attributes, Keeping, Wishes
from conformance.model.properties import APART, ROWS, SINCE
from conformance.model.tables import CoordinatedState, CursorState, OutgoingState, PositionState, TransactionState
from conformance.model.values import copied, replace, value
from conformance.spec.versions import applies
from conformance.verdict import Json

Times: TypeAlias = tuple[int, int] | None
"""An interval of seconds since 1970, ends included; None: any time will do."""


@value
class Step:
    """An entry of a connection history. name: as in `management_rows.STATUSES`. at: when it was made."""

    name: str
    at: Times
    error: int
    addresses: tuple[str, ...]


@value
class Session:
    """The session between an outgoing queue and its destination, and what was transferred in it.

    state: the text of the queue's state while it is not on hold. hops: addresses of the next hop. steps: the connection
    history. sent: messages that were transferred and are in the queue still, in the order of their transfer. stored:
    those of them with a session acknowledgment. due: those to be transferred again, `why` since when. numbers: the
    transactional ones without an order acknowledgment, each with its number. following: the number of the next one.
    sequence: the identifier of the present sequence, as told; None while nobody has seen it. before: of the one before.
    acked: the number that the last order acknowledgment was for, 0 for none, None while not known. acks, repeats: order
    acknowledgments that came, and how often the last one did, None where one for an older message came last. place: of
    the resend interval in the table of intervals, None while not known; emptied: all was acknowledged, so the interval
    may still be the one of the place before. acked_at: when. sends: how often the last transactional
    message was transferred. sent_at, sent_ms: when a transactional message was last transferred, in seconds and in the
    model's milliseconds; waits: the resend interval that began then, None while not known. interval: the resend
    interval as told; base: as told before any order acknowledgment came.
    unread: messages with source journaling that await their final acknowledgment. unread_plain: the number of the
    others. torn: it is not said what is sent again.
    """

    state: str = "INACTIVE"
    hops: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    sent: tuple[str, ...] = ()
    stored: frozenset[str] = frozenset()
    due: frozenset[str] = frozenset()
    why: str = ""
    numbers: tuple[tuple[str, int], ...] = ()
    following: int = 1
    sequence: int | None = None
    before: int | None = None
    acked: tuple[int | None, int] | None = (None, 0)
    acks: int | None = 0
    repeats: int | None = 0
    place: int | None = 0
    emptied: bool = False
    acked_at: Times = None
    sends: int = 0
    sent_at: Times = None
    sent_ms: int | None = None
    waits: int | None = None
    interval: int | None = None
    base: int | None = None
    unread: tuple[str, ...] = ()
    unread_plain: int = 0
    torn: bool = False

    @property
    def used(self) -> bool:
        """True once a message was transferred in it."""
        return bool(self.sent or self.numbers or self.acks != 0 or self.following > 1)

    @property
    def awaiting(self) -> dict[str, int]:
        """The messages without an order acknowledgment, with their numbers."""
        return dict(self.numbers)


@value
class Management:
    """The acts and answers of management. The mapping is never changed in place.

    connected: whether the machine is connected to the network; None while not known. by: the action that connected or
    disconnected it. tidied: message files were cleaned up. weights: bytes that single queues told last, with what was
    in them. played: the harness plays all connections, so each state is known.
    """

    connected: bool | None = None
    by: str = ""
    tidied: bool = False
    sessions: Mapping[str, Session] = field(default_factory=dict)
    weights: tuple[tuple[str, frozenset[str], int], ...] = ()
    floor: int | None = None
    played: bool = False

    def having(self, queue: str, session: Session) -> Management:
        """Return the same with this session of an outgoing queue."""
        return replace(self, sessions={**self.sessions, queue: session})

    def key(self) -> object:
        """Return a value that is equal for equal slices, and can be hashed."""
        sessions = tuple(sorted((name, hash(session)) for name, session in self.sessions.items()))
        return self.connected, self.tidied, sessions, self.weights, self.floor, self.played


TimeRanges: TypeAlias = tuple[tuple[int, int], ...]
"""Intervals of seconds since 1970, ends included; none: any time will do."""


@value
class Known:
    """The value a property has. demand: what it breaks to read otherwise. written: what was last written to it.

    instead: a value it may have by mistake, with the demand that this mistake breaks; none, or one.
    """

    value: Json
    demand: str
    written: Json = None
    instead: tuple[tuple[Json, str], ...] = ()


@value
class QueueProperties:
    """A queue that exists. created, modified: when that can have been; timed: the demand on the time of the change.

    format_name: the one its creation gave, None where it gave none.
    """

    known: Mapping[str, Known]
    created: TimeRanges
    modified: TimeRanges
    timed: str
    format_name: str | None = None

    def blaming(self, demand: str, names: Iterable[str] | None = None) -> QueueProperties:
        """The same, with another demand for these properties (None: all, and the times)."""
        chosen = self.known if names is None else names
        known = {
            name: replace(one, demand=demand, instead=()) if name in chosen else one for name, one in self.known.items()
        }
        return replace(self, known=known, timed=demand if names is None else self.timed)

    def key(self) -> Hashable:
        """Equal for equal values."""
        return tuple(sorted(self.known.items())), self.created, self.modified, self.timed, self.format_name


@value
class Properties:
    """The properties of all queues. The mappings are never changed in place.

    shown: the properties the manager shows at all. queue_manager: its GUID, None where unknown. gone: for a queue that
    must not be there, the demand that is broken if it is. unread: queues that a call may have changed and that nobody
    has read since, the one it was about first. former: GUIDs of queues that are gone.
    """

    shown: tuple[str, ...] = ()
    queue_manager: str | None = None
    queues: Mapping[str, QueueProperties] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    former: frozenset[str] = frozenset()

    def having(self, name: str, queue: QueueProperties) -> Properties:
        """The same with this queue."""
        gone = {other: demand for other, demand in self.gone.items() if other != name}
        return replace(self, queues={**self.queues, name: queue}, gone=gone)

    def without(self, name: str, demand: str) -> Properties:
        """The same without this queue; `demand` is broken if it is there all the same."""
        queues = {other: queue for other, queue in self.queues.items() if other != name}
        known = self.queues[name].known.get("PROPID_Q_INSTANCE") if name in self.queues else None
        former = self.former | {str(known.value).casefold()} if known is not None else self.former
        return replace(self, queues=queues, gone={**self.gone, name: demand}, former=former)

    def blaming(self, demand: str) -> Properties:
        """The same, with another demand for everything."""
        return replace(self, queues={name: queue.blaming(demand) for name, queue in self.queues.items()})

    def to_read(self, *names: str) -> Properties:
        """The same, with these queues to be read."""
        return replace(self, unread=tuple(dict.fromkeys((*self.unread, *names))))

    def read(self, name: str) -> Properties:
        """The same, with this queue read."""
        return replace(self, unread=tuple(other for other in self.unread if other != name))

    def key(self) -> Hashable:
        """Equal for equal values."""
        queues = tuple((name, queue.key()) for name, queue in sorted(self.queues.items()))
        return self.shown, self.queue_manager, queues, tuple(sorted(self.gone.items())), self.unread, self.former


def shown_in(profile: str) -> tuple[str, ...]:
    """The properties that a version of MSMQ has and that every manager is asked for."""
    return tuple(name for name in ROWS if name not in APART and applies(profile, SINCE.get(name), None))


Rank = tuple[int, int]
"""Place of a message: 7 minus its priority, then its number in the order of arrival. Smaller is nearer the front
(MS-MQDMPR 3.1.1.2, MS-MQMQ 2.2.19.1). A rank outlives its message, so a cursor can stand where a message was."""

TAKING = frozenset({"messages.receive", "messages.receive_begin"})

Options: TypeAlias = tuple[tuple[str, Any], ...]
"""Options of a message's sender, as a read of it shows them: members of the protocol's message, with values."""

START: Rank = (-1, 0)
_AVAILABLE = PositionState.AVAILABLE  # a look into an enumeration takes ten times as long, and is frequent
PARKED: Rank = (99, 0)  # the reserved End entry: behind everything


@value
class Position:
    """A message and its slot (MS-MQDMPR 3.1.1.11).

    asked, delivery: priority and delivery guarantee as sent, None for the default. holder: the transaction that locks
    it. since: when, in events of the model, it last became available. claim: the requirement broken if the message
    turns out not to be in `state`. doubtful: it may not be there, as an express message after a restart, or a copy that
    may not have been made. purged: sent in a transaction that was open when the queue was purged. wishes: further
    options of its sender. tie: the event that put it here together with others, in no demanded order. locked_at: when,
    in events, the transaction locked it. target: the queue a transaction moves it to. moved: it came or left by a move,
    so its lookup identifier need not tell its place. identifier: the lookup identifier it must have kept in that move.
    marks: whether it is the first and the last message of its transaction to its queue, None if that is not judged.
    carries: what it carries beside its label, bits of `carried`. options: those of its sender, as reads show them; none
    where they are not judged.
    steady: two peeks in turn have seen it, so the first has not removed it; or, while a transaction holds it, a read
    has shown it to be hidden.
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
    carries: int = 0
    options: Options = ()

    @property
    def available(self) -> bool:
        """True if reads can see it."""
        return self.state is _AVAILABLE

    @property
    def was_locked(self) -> bool:
        """True if a transaction has received or moved it since it came; if it is available, an abort put it back."""
        return self.locked_at > self.rank[1]

    @property
    def priority(self) -> int:
        """Priority, 0 to 7."""
        return 7 - self.rank[0]

    @property
    def recoverable(self) -> bool:
        """True if it survives a restart (MS-MQDMPR 3.1.1.12; MS-MQMQ 2.2.19.2 for transactional messages)."""
        return self.transactional or self.delivery == "recoverable"


@value
class Outgoing:
    """Attributes of an outgoing queue beside its messages (MS-MQDMPR 3.1.1.3).

    by, since: the call that last affected its state, and when, in events. paused: when it was last put on hold. held: a
    transfer was asked for while it was on hold or locked with messages, and transferred none; or it was told as locked.
    """

    state: OutgoingState = OutgoingState.INACTIVE
    by: str = "queues.open"
    since: int = 0
    paused: int | None = None
    held: bool = False


@value
class Queue:
    """A queue and every message it ever had, in the order of their ranks.

    ended_reader: the requirement broken if the next sent message goes missing, because an ended read took it.
    attributes: quotas and journaling, if its creator gave any.
    parent: the queue of which this is a subqueue.
    outgoing: attributes of an outgoing queue, None for a local one.
    switches: when, in events, its journaling was switched on or off.
    """

    name: str
    transactional: bool
    exists: bool = True
    positions: tuple[Position, ...] = ()
    ended_reader: str | None = None
    attributes: Attributes | None = None
    parent: str | None = None
    outgoing: Outgoing | None = None
    switches: tuple[int, ...] = ()

    @property
    def family(self) -> str:
        """Name of the parent of a subqueue, otherwise of the queue itself."""
        return self.parent or self.name

    def find(self, message: str) -> Position | None:
        """Return the position of a message, or None."""
        for position in self.positions:
            if position.message == message:
                return position
        return None

    def with_position(self, new: Position) -> Queue:
        """Return the queue with this position added, in place of an old one of the same message."""
        others, rank, message = self.positions, new.rank, new.message
        if not others:
            return self._holding((new,))
        place = len(others)
        for at, position in enumerate(others):
            if position.message == message:
                if position.rank == rank:  # the usual case: it stays in its place
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
    """An OpenQueueDescriptor (MS-MQDMPR 3.1.1.16).

    lost: its queue was deleted, QueueReference is NULL. gone: of a handle on several queues, those that were deleted;
    of one opened for a queue that was not there, that queue.
    """

    name: str
    queue: str
    access: str
    share: str
    is_open: bool = True
    lost: bool = False
    gone: frozenset[str] = frozenset()


@value
class Cursor:
    """A cursor (MS-MQDMPR 3.2).

    at: its place. message: the peeked message at that place, None when it has peeked none. ended_at: when, in events,
    its last wait ended without a message. ended: the kind of that wait, `receive`, `peek` or `poll` (a peek with
    time-out zero). Until the cursor's next use, `state` and `at` are those before the wait, because readings differ on
    the wait's effect. successor: what followed its message when that was removed, at the event `removed_at`.
    refused: the requirement that has refused its last use, which must not have moved it.
    """

    name: str
    handle: str
    state: CursorState
    at: Rank = START
    message: str | None = None
    ended_at: int | None = None
    ended: str | None = None
    successor: Rank | None = None
    removed_at: int | None = None
    refused: str | None = None


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
        """True if it removes the message it gets, at once or in two phases."""
        return self.method in TAKING

    @property
    def two_phase(self) -> bool:
        """True if it only locks the message it gets."""
        return self.method == "messages.receive_begin"


@value
class BegunRead:
    """A begun two-phase receive (MS-MQDMPR 3.1.7.1.11). ended: its second phase is over."""

    name: str
    handle: str
    queue: str
    message: str
    ended: bool = False


@value
class Transaction:
    """A transaction (MS-MQDMPR 3.1.1.14). The positions it holds record its operations.

    ended: `commit`, `abort` or `restart`, None while open. prepared: MS-MQDMPR 3.1.4.3. bereft: a queue of its
    operations was deleted before it ended.
    identifier: what its coordinator calls it, None for an internal one; each name given to it is a handle. dropped: a
    restart has ended its handle. asked: that restart found it prepared. overdue: no outcome came in time.
    """

    name: str
    ended: str | None = None
    prepared: bool = False
    bereft: bool = False
    identifier: str | None = None
    dropped: bool = False
    asked: bool = False
    overdue: bool = False

    @property
    def state(self) -> TransactionState:
        """State in the transaction table."""
        return TransactionState.PREPARED if self.prepared and self.ended is None else _ENDED[self.ended]

    @property
    def coordinated(self) -> CoordinatedState:
        """State in the table of transactions of the coordinator."""
        if self.ended is not None:
            return CoordinatedState.COMMITTED if self.ended == "commit" else CoordinatedState.ABORTED
        if self.dropped:
            return CoordinatedState.IN_DOUBT
        return CoordinatedState.PREPARED if self.prepared else CoordinatedState.ENLISTED


_ENDED = {
    None: TransactionState.OPEN,
    "commit": TransactionState.COMMITTED,
    "abort": TransactionState.ABORTED,
    "restart": TransactionState.FORGOTTEN,
}


@value(eq=False)
class State:
    """State of the whole queue manager. The mappings are never changed in place.

    waited: every read that ever waited. restarts: number of restarts. now: milliseconds since the start. events: number
    of events so far, the exact time scale. lookups: message name to observed lookup identifier; identifiers: to message
    identifier, where messages move. shown: to the sent time, the arrival time and the lookup identifier that answers
    have shown. assumed: reading id to the alternatives that this history leaves possible. keeping: account of quotas,
    journals and clock, None until a call needs it. properties: those of the queues, None until a call needs them.
    management: what management did and showed, None until a call is about it. halted: until the next restart, a
    coordinator that did not answer has stopped the start: `reported`, or `silent` where no call has failed yet.
    hardened: whether messages go over HTTP alone; hardening: whether they will after the next start.
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
    shown: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    assumed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    keeping: Keeping | None = None
    properties: Properties | None = None
    management: Management | None = None
    halted: str = ""
    hardened: bool = False
    hardening: bool = False

    def key(self) -> Hashable:
        """Return a key that is equal for states that differ only in assumptions."""
        return (
            tuple(self.queues.values()),
            tuple(self.handles.values()),
            tuple(self.cursors.values()),
            tuple(self.transactions.values()),
            tuple(self.begun.values()),
            self.waiters,
            self.now,
            self.halted,
            self.hardened,
            self.hardening,
            self.keeping,
            self.properties and self.properties.key(),
            self.management and self.management.key(),
            tuple(sorted(self.lookups.items())),
        )

    def like(self, other: State) -> bool:
        """Tell whether both have the same key. Fast, because states with a common origin share many objects."""
        return (
            self.now == other.now
            and self.halted == other.halted
            and self.hardened == other.hardened
            and self.hardening == other.hardening
            and _alike(self.cursors, other.cursors)
            and _alike(self.queues, other.queues)
            and _alike(self.handles, other.handles)
            and _alike(self.transactions, other.transactions)
            and _alike(self.begun, other.begun)
            and self.waiters == other.waiters
            and self.keeping == other.keeping
            and self.lookups == other.lookups
            and self.properties == other.properties
            and self.management == other.management
        )

    def outline(self) -> Hashable:
        """Return a cheap hash key: equal for states with the same key, and possibly for others."""
        return (
            self.now,
            self.waiters,
            tuple([cursor.at for cursor in self.cursors.values()]),
            tuple([position.state for queue in self.queues.values() for position in queue.positions]),
        )

    def put(self, thing: Queue | Handle | Cursor | Transaction | BegunRead) -> State:
        """Return the state with this thing added, in place of an old one of the same name."""
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
        """Return the state one event later."""
        new: Any = copied(self)
        new.events += 1
        return new  # type: ignore[no-any-return]

    def position(self, queue: str, message: str) -> Position:
        """Return the position of a message in this queue. Raises KeyError if it has none."""
        found = self.queues[queue].find(message)
        if found is None:
            raise KeyError(message)
        return found

    def with_position(self, queue: str, position: Position) -> State:
        """Return the state with this position added or replaced."""
        new: Any = copied(self)
        new.queues = {**self.queues, queue: self.queues[queue].with_position(position)}
        return new  # type: ignore[no-any-return]

    def later(self, queue: str, position: Position) -> State:
        """Return the state one event later, with this position added or replaced."""
        new: Any = copied(self)
        new.events += 1
        new.queues = {**self.queues, queue: self.queues[queue].with_position(position)}
        return new  # type: ignore[no-any-return]

    def held_by(self, transaction: str) -> Iterator[tuple[str, Position]]:
        """Yield the positions a transaction holds, each with its queue's name, in the order of queues and ranks."""
        for queue in self.queues.values():
            for position in queue.positions:
                if position.holder == transaction:
                    yield queue.name, position

    def without_waiters(self, names: frozenset[str]) -> State:
        """Return the state without these waiting reads."""
        if not names:
            return self
        return replace(self, waiters=tuple(waiter for waiter in self.waiters if waiter.name not in names))

    def busy(self, cursor: str) -> bool:
        """Tell whether a read waits with this cursor."""
        return bool(self.waiters) and any(waiter.cursor == cursor for waiter in self.waiters)


def _alike(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return one is other or tuple(one.values()) == tuple(other.values())
