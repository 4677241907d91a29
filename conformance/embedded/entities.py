"""The entities of a queue manager: queues, the order of their positions, messages, handles (MS-MQDMPR 3.1.1)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.embedded.clock import Timer
    from conformance.embedded.transfers import Transfer

Json = Any
Result = dict[str, Json]
INFINITE = 0xFFFFFFFF
NULL_GUID = "00000000-0000-0000-0000-000000000000"

START_KEY = -1  # in front of every position
END_KEY = 1 << 80  # behind every position


class MqError(Exception):
    """A status that is not MQ_OK, as an unsigned number, mostly a failure. values: what the answer has beside it."""

    def __init__(self, status: int, values: Mapping[str, Json] = MappingProxyType({})) -> None:
        super().__init__(f"0x{status:08X}")
        self.status = status
        self.values = values


class State(Enum):
    """State of a message position (MS-MQDMPR 3.1.1.11)."""

    AVAILABLE = "available"
    LOCKED = "locked"
    DELETED = "deleted"
    PURGE_PENDING = "purge-pending"


class Reason(Enum):
    """The reason for the deletion of a position (the iReason of MS-MQDMPR 3.1.7.2.1)."""

    RECEIVED = 0x4000
    QUEUE_DELETED = 0xC000
    PURGED = 0xC001
    EXPIRED = 0xC002


class CursorState(Enum):
    """State of a cursor (MS-MQDMPR 3.2.1.2)."""

    UNREAD = "unread"
    READ = "read"
    WAIT_PEEK = "wait-peek"
    WAIT_RECEIVE = "wait-receive"


@dataclass(slots=True, eq=False)
class Message:
    """A message. `fields` are the members of the adapter protocol's message; `size` is the storage it takes, in bytes.

    sent_ms: milliseconds since 1970. expires_ms: the end of its time to be received, None for never.
    carried: data for the packet of a message to another computer only: `destinations` if there are several, the
    `index` of its transaction, or the whole `packet`, in base64, of a message that this manager forwards.
    """

    fields: dict[str, Json]
    size: int
    sent_ms: int
    expires_ms: int | None
    transactional: bool
    carried: dict[str, Json] | None = None

    @property
    def recoverable(self) -> bool:
        return bool(self.fields["delivery"] == "recoverable")


@dataclass(slots=True, eq=False)
class Position:
    """A slot of a queue (MS-MQDMPR 3.1.1.11).

    key: its place, smallest first. lookup: its LookupIdentifier. row: its row in the store (reserved even before it is
    stored). uncommitted: sent in a transaction that is still open. expired: its time ran out while it was locked.
    """

    key: int
    lookup: int
    row: int
    message: Message
    queue: Queue
    arrival: int
    state: State = State.LOCKED
    uncommitted: bool = False
    expired: bool = False
    timer: Timer | None = None


@dataclass(slots=True, eq=False)
class Queue:
    """A queue. kind: private, public, system, journal, subqueue or outgoing. bytes: the total of its positions.

    transfer: of an outgoing queue that somebody has looked at or connected.
    locked: true for an outgoing queue from which hardened security keeps the messages (3.1.1.3).
    shown: positions that peeks see although they are locked (MC-MQAC 3.11.4.1.33).
    """

    id: str
    kind: str
    path: str
    positions: PositionList
    properties: dict[str, Json] = field(default_factory=dict)
    number: int = 0
    bytes: int = 0
    deleted: bool = False
    paused: bool = False
    locked: bool = False
    journal: Queue | None = None
    parent: Queue | None = None
    subqueues: dict[str, Queue] = field(default_factory=dict)
    descriptors: list[Descriptor] = field(default_factory=list)
    waiters: list[Waiter] = field(default_factory=list)
    transfer: Transfer | None = None
    shown: list[Position] = field(default_factory=list)

    @property
    def transactional(self) -> bool:
        owner = self.parent or self
        return bool(owner.properties.get("PROPID_Q_TRANSACTION", 0))

    @property
    def journaling(self) -> bool:
        owner = self.parent or self
        return bool(owner.properties.get("PROPID_Q_JOURNAL", 0))

    @property
    def quota_kb(self) -> int:
        if self.kind == "journal" and self.parent is not None:
            return int(self.parent.properties.get("PROPID_Q_JOURNAL_QUOTA", INFINITE))
        owner = self.parent or self
        return int(owner.properties.get("PROPID_Q_QUOTA", INFINITE))

    @property
    def is_journal(self) -> bool:
        """True if the bytes of the queue count towards the journal quota instead of the message quota."""
        return self.kind in ("journal", "system")


def is_shown(position: Position) -> bool:
    """Return true for a locked position that peeks see."""
    return position.state is State.LOCKED and position in position.queue.shown


def earliest_shown(queue: Queue, found: Position | None, behind: int = START_KEY) -> Position | None:
    """Return the first position behind a key that peeks see: `found`, or a locked one in front of it."""
    if not queue.shown:
        return found
    queue.shown = [position for position in queue.shown if position.state is State.LOCKED]
    seen = [position for position in queue.shown if position.key > behind]
    return min([*seen, *([found] if found is not None else [])], key=lambda position: position.key, default=None)


@dataclass(slots=True, eq=False)
class Descriptor:
    """An open handle (MS-MQDMPR 3.1.1.16). A multiple-element handle has `elements` instead of a queue."""

    handle: str
    access: str
    share: str
    queue: Queue | None
    elements: list[Descriptor] = field(default_factory=list)
    cursors: list[Cursor] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Cursor:
    """A cursor (MS-MQDMPR 3.2.1.2). key: the key of its position, or START_KEY or END_KEY."""

    handle: str
    descriptor: Descriptor
    state: CursorState = CursorState.UNREAD
    key: int = START_KEY
    position: Position | None = None


@dataclass(slots=True, eq=False)
class Waiter:
    """A waiting read (MS-MQDMPR 3.1.1.10). finish: makes the answer from the position found; it may raise MqError."""

    tag: Json
    descriptor: Descriptor
    queue: Queue
    destructive: bool
    cursor: Cursor | None
    finish: Callable[[Position], Result]
    answer: Callable[[Result], None]
    timer: Timer | None = None


class Operation(Enum):
    """A kind of operation in a transaction (MS-MQDMPR 3.1.1.13)."""

    ENQUEUE = "enqueue"
    DEQUEUE = "dequeue"
    MOVE = "move"


@dataclass(slots=True, eq=False)
class UndoStep:
    """One operation of a transaction; target: the destination queue of a move."""

    operation: Operation
    position: Position
    target: Queue | None = None


@dataclass(slots=True, eq=False)
class Transaction:
    """An open transaction (MS-MQDMPR 3.1.1.14). index: its number in packets, 0 until it has one.

    identifier: what its coordinator calls it; None for an internal one.
    failure: set if there is no such transaction, for a call that looks at other things first.
    """

    handle: str
    index: int = 0
    steps: list[UndoStep] = field(default_factory=list)
    waiters: list[Waiter] = field(default_factory=list)
    prepared: bool = False
    failure: MqError | None = None
    identifier: str | None = None


@dataclass(slots=True, eq=False)
class OpenRead:
    """A two-phase read that has begun and not ended (MS-MQDMPR 3.1.7.1.11)."""

    handle: str
    descriptor: Descriptor
    position: Position


SEQUENCE_BITS = 56


class PositionList:
    """Positions of one queue, higher priority nearer the front, first come first within a priority."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._items: list[Position] = []
        self._by_lookup: dict[int, Position] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Position]:
        return iter(list(self._items))

    @staticmethod
    def order(message: Message, sequence: int) -> int:
        """Return the key of the message that is placed as number `sequence`."""
        return (7 - int(message.fields["priority"])) << SEQUENCE_BITS | sequence

    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        """Return the LookupIdentifier: high byte from the priority, seven low bytes from the sequence number.

        MS-MQDMPR 3.1.7.1.9 gives the priority byte to transactional messages only, which contradicts the order of
        3.1.1.2; here every message has it, so identifiers increase along the queue.
        """
        return (7 - int(message.fields["priority"])) << SEQUENCE_BITS | sequence

    def insert(self, position: Position) -> None:
        """Insert a position at its place."""
        if not self._keys or position.key > self._keys[-1]:
            self._keys.append(position.key)
            self._items.append(position)
        else:
            at = bisect_left(self._keys, position.key)
            self._keys.insert(at, position.key)
            self._items.insert(at, position)
        self._by_lookup[position.lookup] = position

    def remove(self, position: Position) -> None:
        """Remove a position. Does nothing if it is not in the list."""
        at = bisect_left(self._keys, position.key)
        if at < len(self._items) and self._items[at] is position:
            del self._keys[at]
            del self._items[at]
            self._by_lookup.pop(position.lookup, None)

    def first_available(self) -> Position | None:
        """Return the first available position of the queue."""
        return self.after(START_KEY)

    def after(self, key: int) -> Position | None:
        """Return the first available position behind `key`."""
        for at in range(bisect_right(self._keys, key), len(self._items)):
            if self._items[at].state is State.AVAILABLE:
                return self._items[at]
        return None

    def before(self, key: int) -> Position | None:
        """Return the last available position in front of `key`."""
        for at in range(bisect_left(self._keys, key) - 1, -1, -1):
            if self._items[at].state is State.AVAILABLE:
                return self._items[at]
        return None

    def find(self, lookup: int) -> Position | None:
        """Return the position with this LookupIdentifier."""
        return self._by_lookup.get(lookup)
