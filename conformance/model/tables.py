"""Transition tables of cursors, positions, transactions and outgoing queues, and how many a run has followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final, TypeAlias


class _Key(Enum):
    """Part of a table's key. Members are hashed by identity: Enum's own hash, of the name, is slow."""

    __hash__ = object.__hash__


class CursorState(_Key):
    """State of a cursor: MS-MQDMPR 3.2.1.2 (CursorState), and the start and end of figure 3."""

    START = "(start)"
    UNREAD = "Unread"
    READ = "Read"
    WAIT_PEEK = "WaitPeek"
    WAIT_RECEIVE = "WaitReceive"
    CLOSED = "(end)"


class CursorEvent(_Key):
    """Event of a cursor: MS-MQDMPR 3.2.7."""

    INITIALIZE = "Initialize"
    PEEK = "Get Message For Peek"
    PEEK_NEXT = "Get Next Message For Peek"
    DEQUEUE = "Get Next Message For Dequeue"
    MESSAGE_AVAILABLE = "Message Available"
    WAIT_EXPIRED = "Wait Time Expired"
    CLOSE = "Close"


class Guard(_Key):
    """Condition of a transition beside state and event."""

    ALWAYS = ""
    FOUND = "position != End"
    NOT_FOUND = "position == End"
    NOT_FOUND_NO_WAIT = "position == End, no wait"
    AVAILABLE = "state == Available"
    UNAVAILABLE = "state != Available"


class Place(Enum):
    """Place of the cursor after a transition."""

    START = "Start"
    KEPT = "where it stood"
    SOUGHT = "where the seek ended"
    GIVEN = "at the message that ended the wait"
    PARKED = "behind the last message"


class Result(Enum):
    """Result that a cursor's event returns."""

    NONE = ""
    SUCCEEDED = "Succeeded"
    ALREADY_RECEIVED = "AlreadyReceived"
    ILLEGAL = "IllegalCursorAction"
    NOT_FOUND = "NotFound"
    WAITING = "Waiting"


@dataclass(frozen=True, slots=True)
class CursorTransition:
    """One arrow of figure 3.

    requirements: a run that follows the arrow shows them to hold; a run that does not breaks the first.
    id: a short name, for coverage and diagrams.
    reading: for an arrow that no history takes under the default readings, the reading that has it.
    """

    source: CursorState
    event: CursorEvent
    guard: Guard
    target: CursorState
    place: Place
    result: Result
    requirements: tuple[str, ...]
    reading: str | None = None
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        guard = f" [{self.guard.value}]" if self.guard.value else ""
        name = f"{self.source.value} --{self.event.value}{guard}--> {self.target.value}"
        object.__setattr__(self, "id", name)


_S, _E, _G, _P, _R = CursorState, CursorEvent, Guard, Place, Result
_T = CursorTransition

# The dequeue rows differ from figure 3 in two places, and the text of 3.2.7.4 decides both. A dequeue that must not
# wait and finds nothing leaves the cursor unchanged (the figure has only the waiting row). A dequeue from Read leaves
# the position unchanged. A peek has no "no wait": with time-out zero it enters WaitPeek and leaves it at once by Wait
# Time Expired, so it has no row of its own.
CURSOR: Final[tuple[CursorTransition, ...]] = (
    _T(_S.START, _E.INITIALIZE, _G.ALWAYS, _S.UNREAD, _P.START, _R.NONE, ("MQDMPR-3.1.7.1.1.opened",)),
    _T(_S.UNREAD, _E.PEEK_NEXT, _G.ALWAYS, _S.UNREAD, _P.KEPT, _R.ILLEGAL, ("MQDMPR-3.2.7.3.illegal-cursor-action",)),
    _T(_S.UNREAD, _E.PEEK, _G.FOUND, _S.READ, _P.SOUGHT, _R.SUCCEEDED, ("MQDMPR-3.2.7.2.unread-seeks",)),
    _T(_S.UNREAD, _E.PEEK, _G.NOT_FOUND, _S.WAIT_PEEK, _P.KEPT, _R.WAITING, ("MQDMPR-3.2.7.2.waits",)),
    _T(
        _S.UNREAD,
        _E.DEQUEUE,
        _G.FOUND,
        _S.UNREAD,
        _P.SOUGHT,
        _R.SUCCEEDED,
        ("MQDMPR-3.2.7.4.unread-seeks", "MQDMPR-3.1.7.1.10.cursor-seeks"),
    ),
    _T(_S.UNREAD, _E.DEQUEUE, _G.NOT_FOUND, _S.WAIT_RECEIVE, _P.KEPT, _R.WAITING, ("MQDMPR-3.2.7.4.waits",)),
    _T(
        _S.UNREAD,
        _E.DEQUEUE,
        _G.NOT_FOUND_NO_WAIT,
        _S.UNREAD,
        _P.KEPT,
        _R.NOT_FOUND,
        ("MQDMPR-3.2.7.4.not-found", "MQDMPR-3.1.7.1.10.message-not-found"),
    ),
    _T(
        _S.READ,
        _E.PEEK,
        _G.AVAILABLE,
        _S.READ,
        _P.KEPT,
        _R.SUCCEEDED,
        ("MQDMPR-3.2.7.2.read-stays", "MQDMPR-3.1.7.1.15.cursor-position"),
    ),
    _T(
        _S.READ,
        _E.PEEK,
        _G.UNAVAILABLE,
        _S.READ,
        _P.KEPT,
        _R.ALREADY_RECEIVED,
        ("MQDMPR-3.1.7.1.15.message-already-received", "MQDMPR-3.2.7.2.already-received"),
    ),
    _T(
        _S.READ,
        _E.PEEK_NEXT,
        _G.FOUND,
        _S.READ,
        _P.SOUGHT,
        _R.SUCCEEDED,
        ("MQDMPR-3.1.7.1.14.next-available", "MQDMPR-3.2.7.3.moves", "MQDMPR-3.2.7.2.becomes-read"),
    ),
    _T(_S.READ, _E.PEEK_NEXT, _G.NOT_FOUND, _S.WAIT_PEEK, _P.KEPT, _R.WAITING, ("MQDMPR-3.2.7.3.waits",)),
    _T(
        _S.READ,
        _E.DEQUEUE,
        _G.AVAILABLE,
        _S.UNREAD,
        _P.KEPT,
        _R.SUCCEEDED,
        ("MQDMPR-3.2.7.4.read-takes-current", "MQDMPR-3.1.7.1.10.cursor-position"),
    ),
    _T(
        _S.READ,
        _E.DEQUEUE,
        _G.UNAVAILABLE,
        _S.READ,
        _P.KEPT,
        _R.ALREADY_RECEIVED,
        ("MQDMPR-3.1.7.1.10.message-already-received", "MQDMPR-3.2.7.4.already-received"),
    ),
    _T(
        _S.WAIT_RECEIVE,
        _E.MESSAGE_AVAILABLE,
        _G.ALWAYS,
        _S.UNREAD,
        _P.GIVEN,
        _R.NONE,
        ("MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.2.7.5.position"),
    ),
    _T(_S.WAIT_RECEIVE, _E.WAIT_EXPIRED, _G.ALWAYS, _S.UNREAD, _P.PARKED, _R.NONE, ("MQDMPR-3.1.7.1.10.io-timeout",)),
    _T(
        _S.WAIT_PEEK,
        _E.MESSAGE_AVAILABLE,
        _G.ALWAYS,
        _S.READ,
        _P.GIVEN,
        _R.NONE,
        ("MQDMPR-3.1.7.1.15.wakes", "MQDMPR-3.2.7.5.position"),
    ),
    # 3.2.7.6 covers only WaitReceive. The figure has this arrow, but leaves open where the cursor stands afterwards.
    _T(_S.WAIT_PEEK, _E.WAIT_EXPIRED, _G.ALWAYS, _S.UNREAD, _P.PARKED, _R.NONE, ("MQDMPR-3.1.7.1.15.io-timeout",)),
    _T(_S.UNREAD, _E.CLOSE, _G.ALWAYS, _S.CLOSED, _P.KEPT, _R.NONE, ("MQDMPR-3.1.7.1.2.messages-kept",)),
    _T(_S.READ, _E.CLOSE, _G.ALWAYS, _S.CLOSED, _P.KEPT, _R.NONE, ("MQDMPR-3.1.7.1.2.messages-kept",)),
    _T(_S.WAIT_PEEK, _E.CLOSE, _G.ALWAYS, _S.CLOSED, _P.KEPT, _R.NONE, ("MQDMPR-3.1.7.1.2.pending-read-ends",)),
    _T(_S.WAIT_RECEIVE, _E.CLOSE, _G.ALWAYS, _S.CLOSED, _P.KEPT, _R.NONE, ("MQDMPR-3.1.7.1.2.pending-read-ends",)),
)
_CURSOR = {(row.source, row.event, row.guard): row for row in CURSOR}


def cursor_transition(state: CursorState, event: CursorEvent, guard: Guard = Guard.ALWAYS) -> CursorTransition:
    """Return the row for this state, event and guard. Raises KeyError when the documents have none."""
    return _CURSOR[(state, event, guard)]


class PositionState(_Key):
    """State of a message position: MS-MQDMPR 3.1.1.11 (State), with `absent` for a message not yet sent.

    The text has one Locked and one PurgePending, whoever holds the lock. The possible next events depend on the holder,
    so there are several here: for a send, a receive and a move in a transaction, and for a begun receive.
    """

    ABSENT = "absent"
    SENDING = "Locked by a send"
    AVAILABLE = "Available"
    LOCKED = "Locked by a receive"
    BEGUN = "Locked by a begun receive"
    MOVING = "Locked by a move"
    PURGE_PENDING = "PurgePending"
    BEGUN_PURGED = "PurgePending, receive begun"
    MOVING_PURGED = "PurgePending, move"
    DELETED = "Deleted"


class PositionEvent(_Key):
    """Event of a message in its queue."""

    SEND = "send"
    SEND_IN_TRANSACTION = "send in a transaction"
    RECEIVE = "receive"
    RECEIVE_IN_TRANSACTION = "receive in a transaction"
    BEGIN_RECEIVE = "begin a receive"
    END_DELETING = "end the receive, deleting"
    END_KEEPING = "end the receive, keeping"
    MOVE = "move"
    MOVE_IN_TRANSACTION = "move in a transaction"
    MOVED_IN = "moved in"
    PURGE = "purge"
    COMMIT = "commit"
    ABORT = "abort"
    DELETE_QUEUE = "delete the queue"
    RESTART = "restart"
    RESTART_PREPARED = "restart, held by a prepared transaction of the coordinator"
    LOSE = "lost in a restart"
    EXPIRE = "time to be received is over"
    TRANSFER = "transferred to its destination"


@dataclass(frozen=True, slots=True)
class PositionTransition:
    """One arrow. claim: the requirement broken if the message is not in state `target` from then on.

    id: a short name, for coverage and diagrams.
    reading: as for a cursor's arrow.
    """

    source: PositionState
    event: PositionEvent
    target: PositionState
    claim: str
    reading: str | None = None
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"{self.source.value} --{self.event.value}--> {self.target.value}")


_Q, _V = PositionState, PositionEvent
_M = PositionTransition

# An uncommitted send is not yet a message of the queue, so a purge leaves it. Under another reading the purge wins;
# the engine handles both. A restart ends every open transaction by an abort (3.1.3).
POSITION: Final[tuple[PositionTransition, ...]] = (
    _M(_Q.ABSENT, _V.SEND, _Q.AVAILABLE, "MQDMPR-3.1.7.1.9.available"),
    _M(_Q.ABSENT, _V.SEND_IN_TRANSACTION, _Q.SENDING, "MQDMPR-3.1.7.1.9.uncommitted-locked"),
    _M(_Q.SENDING, _V.COMMIT, _Q.AVAILABLE, "MQDMPR-3.1.4.4.sends-appear"),
    _M(_Q.SENDING, _V.ABORT, _Q.DELETED, "MQDMPR-3.1.4.5.sends-vanish"),
    _M(_Q.SENDING, _V.PURGE, _Q.SENDING, "MQDMPR-3.1.7.1.9.uncommitted-locked"),
    _M(_Q.SENDING, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.4.messages-deleted"),
    _M(_Q.SENDING, _V.RESTART, _Q.DELETED, "MQDMPR-3.1.3.uncommitted-send-lost"),
    _M(_Q.AVAILABLE, _V.RECEIVE, _Q.DELETED, "MQDMPR-3.1.7.1.10.removes"),
    _M(_Q.AVAILABLE, _V.RECEIVE_IN_TRANSACTION, _Q.LOCKED, "MQDMPR-3.1.7.1.10.transaction-locks"),
    _M(_Q.AVAILABLE, _V.PURGE, _Q.DELETED, "MQDMPR-3.1.7.1.7.available-deleted"),
    _M(_Q.AVAILABLE, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.4.messages-deleted"),
    _M(_Q.AVAILABLE, _V.RESTART, _Q.AVAILABLE, "MQDMPR-3.1.1.12.recoverable-survives"),
    _M(_Q.AVAILABLE, _V.LOSE, _Q.DELETED, "MQDMPR-3.1.1.12.express-may-survive"),
    _M(_Q.AVAILABLE, _V.EXPIRE, _Q.DELETED, "MQDMPR-3.1.2.4.expires"),
    _M(_Q.AVAILABLE, _V.TRANSFER, _Q.DELETED, "MQDMPR-3.1.7.1.29.atomically-removed"),
    _M(_Q.LOCKED, _V.COMMIT, _Q.DELETED, "MQDMPR-3.1.4.4.receives-gone"),
    _M(_Q.LOCKED, _V.ABORT, _Q.AVAILABLE, "MQDMPR-3.1.4.5.receives-return"),
    _M(_Q.LOCKED, _V.PURGE, _Q.PURGE_PENDING, "MQDMPR-3.1.7.1.10.transaction-locks"),
    _M(_Q.LOCKED, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.4.messages-deleted"),
    _M(_Q.LOCKED, _V.RESTART, _Q.AVAILABLE, "MQDMPR-3.1.1.11.uncommitted-receive-not-lost"),
    _M(_Q.PURGE_PENDING, _V.COMMIT, _Q.DELETED, "MQDMPR-3.1.4.4.receives-gone"),
    _M(_Q.PURGE_PENDING, _V.ABORT, _Q.DELETED, "MQDMPR-3.1.4.5.purged-receive"),
    _M(_Q.PURGE_PENDING, _V.PURGE, _Q.PURGE_PENDING, "MQDMPR-3.1.7.1.10.transaction-locks"),
    _M(_Q.PURGE_PENDING, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.4.messages-deleted"),
    _M(_Q.PURGE_PENDING, _V.RESTART, _Q.DELETED, "MQDMPR-3.1.4.5.purged-receive"),
    _M(_Q.DELETED, _V.RESTART, _Q.DELETED, "MQDMPR-3.1.1.12.received-not-redelivered"),
    # A two-phase receive (3.1.7.1.11-12). No transaction holds its lock, so only the end of the receive releases it.
    _M(_Q.AVAILABLE, _V.BEGIN_RECEIVE, _Q.BEGUN, "MQDMPR-3.1.7.1.11.locks"),
    _M(_Q.BEGUN, _V.END_DELETING, _Q.DELETED, "MQDMPR-3.1.7.1.12.deletes"),
    _M(_Q.BEGUN, _V.END_KEEPING, _Q.AVAILABLE, "MQDMPR-3.1.7.1.12.restores"),
    _M(_Q.BEGUN, _V.PURGE, _Q.BEGUN_PURGED, "MQDMPR-3.1.7.1.11.locks"),
    _M(_Q.BEGUN, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.12.queue-not-available-ends"),
    _M(_Q.BEGUN, _V.RESTART, _Q.AVAILABLE, "MQDMPR-3.1.1.12.recoverable-survives"),
    _M(_Q.BEGUN_PURGED, _V.END_DELETING, _Q.DELETED, "MQDMPR-3.1.7.1.12.purged"),
    _M(_Q.BEGUN_PURGED, _V.END_KEEPING, _Q.DELETED, "MQDMPR-3.1.7.1.12.purged"),
    _M(_Q.BEGUN_PURGED, _V.PURGE, _Q.BEGUN_PURGED, "MQDMPR-3.1.7.1.11.locks"),
    _M(_Q.BEGUN_PURGED, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.12.queue-not-available-ends"),
    _M(_Q.BEGUN_PURGED, _V.RESTART, _Q.DELETED, "MQDMPR-3.1.7.1.12.purged"),
    # A move (3.1.7.1.16) leaves nothing in the source. The message gets a new position in the target, at every move.
    _M(_Q.AVAILABLE, _V.MOVE, _Q.DELETED, "MQDMPR-3.1.7.1.16.moved"),
    _M(_Q.ABSENT, _V.MOVED_IN, _Q.AVAILABLE, "MQDMPR-3.1.7.1.16.moved"),
    _M(_Q.AVAILABLE, _V.MOVE_IN_TRANSACTION, _Q.MOVING, "MQDMPR-3.1.7.1.16.transaction-locks"),
    _M(_Q.MOVING, _V.COMMIT, _Q.DELETED, "MQDMPR-3.1.4.4.move"),
    _M(_Q.MOVING, _V.ABORT, _Q.AVAILABLE, "MQDMPR-3.1.4.5.move"),
    _M(_Q.MOVING, _V.PURGE, _Q.MOVING_PURGED, "MQDMPR-3.1.7.1.16.transaction-locks"),
    _M(_Q.MOVING, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.4.messages-deleted"),
    _M(_Q.MOVING, _V.RESTART, _Q.AVAILABLE, "MQDMPR-3.1.4.5.move"),
    _M(_Q.MOVING_PURGED, _V.COMMIT, _Q.DELETED, "MQDMPR-3.1.4.4.move"),
    _M(_Q.MOVING_PURGED, _V.ABORT, _Q.DELETED, "MQDMPR-3.1.4.5.purged-deleted"),
    _M(_Q.MOVING_PURGED, _V.PURGE, _Q.MOVING_PURGED, "MQDMPR-3.1.7.1.16.transaction-locks"),
    _M(_Q.MOVING_PURGED, _V.DELETE_QUEUE, _Q.DELETED, "MQDMPR-3.1.7.1.4.messages-deleted"),
    _M(_Q.MOVING_PURGED, _V.RESTART, _Q.DELETED, "MQDMPR-3.1.4.5.purged-deleted"),
    # What a coordinator has asked to prepare outlives the manager, with all it holds (3.1.1.1, 3.1.1.13, 3.1.1.14).
    _M(_Q.SENDING, _V.RESTART_PREPARED, _Q.SENDING, "MQDMPR-3.1.1.1.transaction-collection"),
    _M(_Q.LOCKED, _V.RESTART_PREPARED, _Q.LOCKED, "MQDMPR-3.1.1.1.transaction-collection"),
    _M(_Q.PURGE_PENDING, _V.RESTART_PREPARED, _Q.PURGE_PENDING, "MQDMPR-3.1.1.1.transaction-collection"),
    _M(_Q.MOVING, _V.RESTART_PREPARED, _Q.MOVING, "MQDMPR-3.1.1.1.transaction-collection"),
    _M(_Q.MOVING_PURGED, _V.RESTART_PREPARED, _Q.MOVING_PURGED, "MQDMPR-3.1.1.1.transaction-collection"),
)
HELD: Final = frozenset({_Q.SENDING, _Q.LOCKED, _Q.PURGE_PENDING, _Q.MOVING, _Q.MOVING_PURGED})  # in a transaction
_POSITION = {(row.source, row.event): row for row in POSITION}


def position_transition(state: PositionState, event: PositionEvent) -> PositionTransition:
    """Return the row for this state and event. Raises KeyError when the documents have none."""
    return _POSITION[(state, event)]


class TransactionState(_Key):
    """State of a transaction as its user sees it (MS-MQDMPR 3.1.1.14). An ended one stays known to the model."""

    START = "(start)"
    OPEN = "Open"
    PREPARED = "Prepared"
    COMMITTED = "Committed"
    ABORTED = "Aborted"
    FORGOTTEN = "(end)"


class TransactionEvent(_Key):
    """Event of a transaction."""

    BEGIN = "begin"
    PREPARE = "prepare"
    COMMIT = "commit"
    ABORT = "abort"
    RESTART = "restart"


class Ending(Enum):
    """Result that a transaction's event returns."""

    SUCCEEDED = "Succeeded"
    UNKNOWN = "TransactionSequence"
    NONE = ""


@dataclass(frozen=True, slots=True)
class TransactionTransition:
    """One arrow. claim: the requirement broken if the result differs. reading, id: as for a cursor's arrow."""

    source: TransactionState
    event: TransactionEvent
    target: TransactionState
    result: Ending
    claim: str
    reading: str | None = None
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"{self.source.value} --{self.event.value}--> {self.target.value}")


_X, _W, _N = TransactionState, TransactionEvent, Ending
_Y = TransactionTransition

# An ended transaction is no longer in the collection, so every event that names it finds nothing. A restart ends an
# open transaction by an abort (3.1.3) and drops the handles of all transactions.
TRANSACTION: Final[tuple[TransactionTransition, ...]] = (
    _Y(_X.START, _W.BEGIN, _X.OPEN, _N.SUCCEEDED, "MQDMPR-3.1.7.1.8.created"),
    _Y(_X.OPEN, _W.COMMIT, _X.COMMITTED, _N.SUCCEEDED, "MQDMPR-3.1.4.4.success"),
    _Y(_X.OPEN, _W.ABORT, _X.ABORTED, _N.SUCCEEDED, "MQDMPR-3.1.4.5.success"),
    _Y(_X.OPEN, _W.RESTART, _X.FORGOTTEN, _N.NONE, "MQDMPR-3.1.3.uncommitted-send-lost"),
    _Y(_X.OPEN, _W.PREPARE, _X.PREPARED, _N.SUCCEEDED, "MQDMPR-3.1.4.3.success"),
    _Y(_X.PREPARED, _W.PREPARE, _X.PREPARED, _N.SUCCEEDED, "MQDMPR-3.1.4.3.success"),
    _Y(_X.PREPARED, _W.COMMIT, _X.COMMITTED, _N.SUCCEEDED, "MQDMPR-3.1.4.4.success"),
    _Y(_X.PREPARED, _W.ABORT, _X.ABORTED, _N.SUCCEEDED, "MQDMPR-3.1.4.5.success"),
    _Y(_X.PREPARED, _W.RESTART, _X.FORGOTTEN, _N.NONE, "MQDMPR-3.1.3.uncommitted-send-lost"),
    _Y(_X.COMMITTED, _W.PREPARE, _X.COMMITTED, _N.UNKNOWN, "MQDMPR-3.1.4.3.unknown"),
    _Y(_X.ABORTED, _W.PREPARE, _X.ABORTED, _N.UNKNOWN, "MQDMPR-3.1.4.3.unknown"),
    _Y(_X.COMMITTED, _W.COMMIT, _X.COMMITTED, _N.UNKNOWN, "MQDMPR-3.1.4.4.unknown"),
    _Y(_X.COMMITTED, _W.ABORT, _X.COMMITTED, _N.UNKNOWN, "MQDMPR-3.1.4.5.unknown"),
    _Y(_X.COMMITTED, _W.RESTART, _X.FORGOTTEN, _N.NONE, "MQDMPR-3.1.4.4.durable"),
    _Y(_X.ABORTED, _W.COMMIT, _X.ABORTED, _N.UNKNOWN, "MQDMPR-3.1.4.4.unknown"),
    _Y(_X.ABORTED, _W.ABORT, _X.ABORTED, _N.UNKNOWN, "MQDMPR-3.1.4.5.unknown"),
    _Y(_X.ABORTED, _W.RESTART, _X.FORGOTTEN, _N.NONE, "MQDMPR-3.1.4.5.sends-vanish"),
)
_TRANSACTION = {(row.source, row.event): row for row in TRANSACTION}


def transaction_transition(state: TransactionState, event: TransactionEvent) -> TransactionTransition:
    """Return the row for this state and event. Raises KeyError when the documents have none."""
    return _TRANSACTION[(state, event)]


class CoordinatedState(_Key):
    """State of a transaction of the coordinator (MS-MQDMPR 3.1.3, 3.1.4.6 to 3.1.4.11). An ended one stays known."""

    START = "(unknown)"
    ENLISTED = "Enlisted"
    PREPARED = "Prepared for its coordinator"
    IN_DOUBT = "In doubt"
    COMMITTED = "Committed by its coordinator"
    ABORTED = "Aborted by its coordinator"


class CoordinatedEvent(_Key):
    """Event of a transaction of the coordinator."""

    ENLIST = "enlist"
    PREPARE = "prepare"
    PREPARE_NOTHING = "prepare, nothing to end"
    PREPARE_SINGLE = "prepare in a single phase"
    COMMIT = "commit"
    ABORT = "abort"
    RESTART = "restart"
    OUTCOME_COMMITTED = "outcome committed"
    OUTCOME_ABORTED = "outcome aborted"
    OUTCOME_TIMEOUT = "no outcome in time"


@dataclass(frozen=True, slots=True)
class CoordinatedTransition:
    """One arrow. answer: what the manager tells the coordinator, empty for nothing.

    claim: the requirement broken if the event fails. shown: those that the answer shows to hold; another one breaks the
    first. reading, id: as for a cursor's arrow.
    """

    source: CoordinatedState
    event: CoordinatedEvent
    target: CoordinatedState
    answer: str
    claim: str
    shown: tuple[str, ...] = ()
    reading: str | None = None
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"coordinated {self.source.value} --{self.event.value}--> {self.target.value}")


_D, _K = CoordinatedState, CoordinatedEvent
_J = CoordinatedTransition
_PREPARED = ("MQDMPR-3.1.4.6.prepared-reported", "MQDMPR-3.1.4.6.prepare-done-sent")
_SINGLE = ("MQDMPR-3.1.4.6.two-phase-only", "MQDMPR-3.1.4.7.commit-reported")
_UNPREPARED = (
    "MQDMPR-3.1.4.6.failed-prepare-aborts",
    "MQDMPR-3.1.4.6.failed-prepare-raises-abort",
    "MQDMPR-3.1.4.8.abort-reported",
)
_COMMIT_TOLD, _ABORT_TOLD = ("MQDMPR-3.1.4.7.commit-reported",), ("MQDMPR-3.1.4.8.abort-reported",)
_READ_ONLY = "R-MQDMPR-dtc-read-only"
_OVER = (_D.START, _D.COMMITTED, _D.ABORTED)

# What no coordinator does has no row: a commit without a prepare, an outcome that nobody asked for. A transaction that
# is over is not in the collection, as an unknown one, so its events fail without a word of it (3.1.4.6 to 3.1.4.8).
COORDINATED: Final[tuple[CoordinatedTransition, ...]] = (
    _J(_D.START, _K.ENLIST, _D.ENLISTED, "", "MQMP-3.1.4.13.created"),
    _J(_D.ENLISTED, _K.ENLIST, _D.ENLISTED, "", "MQMP-3.1.4.13.known"),
    _J(_D.PREPARED, _K.ENLIST, _D.PREPARED, "", "MQMP-3.1.4.13.known"),
    _J(
        _D.ENLISTED,
        _K.PREPARE,
        _D.PREPARED,
        "prepared",
        "MQDMPR-3.1.4.6.prepares",
        (*_PREPARED, "MQMP-3.1.4.13.enlisted"),
    ),
    _J(_D.ENLISTED, _K.PREPARE_NOTHING, _D.COMMITTED, "read_only", "MQDMPR-3.1.4.6.prepares", (), _READ_ONLY),
    _J(_D.ENLISTED, _K.PREPARE_SINGLE, _D.COMMITTED, "committed", "MQDMPR-3.1.4.6.single-phase-commits", _SINGLE),
    _J(_D.ENLISTED, _K.ABORT, _D.ABORTED, "aborted", "MQDMPR-3.1.4.8.aborts", _ABORT_TOLD),
    _J(_D.ENLISTED, _K.RESTART, _D.ABORTED, "", "MQDMPR-3.1.3.unfinished-transaction-aborted"),
    _J(_D.PREPARED, _K.PREPARE, _D.PREPARED, "prepared", "MQDMPR-3.1.4.6.prepares", _PREPARED),
    _J(_D.PREPARED, _K.COMMIT, _D.COMMITTED, "committed", "MQDMPR-3.1.4.7.commits", _COMMIT_TOLD),
    _J(_D.PREPARED, _K.ABORT, _D.ABORTED, "aborted", "MQDMPR-3.1.4.8.aborts", _ABORT_TOLD),
    _J(_D.PREPARED, _K.RESTART, _D.IN_DOUBT, "", "MQDMPR-3.1.1.1.transaction-collection"),
    _J(_D.IN_DOUBT, _K.ENLIST, _D.IN_DOUBT, "", "MQMP-3.1.4.13.known"),
    _J(_D.IN_DOUBT, _K.PREPARE, _D.IN_DOUBT, "prepared", "MQDMPR-3.1.4.6.prepares", _PREPARED),
    _J(_D.IN_DOUBT, _K.OUTCOME_COMMITTED, _D.COMMITTED, "", "MQDMPR-3.1.4.9.commits"),
    _J(_D.IN_DOUBT, _K.OUTCOME_ABORTED, _D.ABORTED, "", "MQDMPR-3.1.4.10.aborts"),
    _J(_D.IN_DOUBT, _K.OUTCOME_TIMEOUT, _D.IN_DOUBT, "", "MQDMPR-3.1.4.11.error-reported"),
    _J(_D.IN_DOUBT, _K.RESTART, _D.IN_DOUBT, "", "MQDMPR-3.1.1.1.transaction-collection"),
    *(
        _J(over, event, over, *told)
        for over in _OVER
        for event, told in (
            (_K.PREPARE, ("aborted", _UNPREPARED[0], _UNPREPARED)),
            (_K.PREPARE_SINGLE, ("aborted", _UNPREPARED[0], _UNPREPARED)),
            (_K.COMMIT, ("committed", _COMMIT_TOLD[0], _COMMIT_TOLD)),
            (_K.ABORT, ("aborted", _ABORT_TOLD[0], _ABORT_TOLD)),
            (_K.OUTCOME_COMMITTED, ("", "MQDMPR-3.1.4.9.commits", ())),
            (_K.OUTCOME_ABORTED, ("", "MQDMPR-3.1.4.10.aborts", ())),
        )
    ),
    *(_J(over, _K.RESTART, over, "", "MQDMPR-3.1.1.1.transaction-collection") for over in _OVER[1:]),
)
COMMITS: Final = ("MQDMPR-3.1.4.6.single-phase-commits", "MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.9.commits")
ABORTS: Final = ("MQDMPR-3.1.4.8.aborts", "MQDMPR-3.1.4.10.aborts")
"""The claims of messages whose transaction its coordinator has ended."""
_COORDINATED = {(row.source, row.event): row for row in COORDINATED}


def coordinated_transition(state: CoordinatedState, event: CoordinatedEvent) -> CoordinatedTransition:
    """Return the row for this state and event. Raises KeyError when the documents have none."""
    return _COORDINATED[(state, event)]


class OutgoingState(_Key):
    """State of an outgoing queue: MS-MQDMPR 3.1.1.3 (State), as far as transfers show it from outside.

    `INACTIVE` covers every state in which messages are transferred if possible: Inactive, Waiting, Connected.
    """

    START = "(start)"
    INACTIVE = "Inactive"
    ON_HOLD = "OnHold"
    LOCKED = "Locked"


class OutgoingEvent(_Key):
    """Event of an outgoing queue."""

    OPEN = "open"
    PAUSE = "pause"
    RESUME = "resume"
    TAKE = "transfer"
    RESTART = "restart"
    RESTART_KEEPING = "restart that keeps the state"
    OPEN_HARDENED = "open under hardened security"
    START_HARDENED = "start with hardened security"


@dataclass(frozen=True, slots=True)
class OutgoingTransition:
    """One arrow. claim: the requirement broken if transfer does not follow state `target` from then on.

    reading, id: as for a cursor's arrow.
    """

    source: OutgoingState
    event: OutgoingEvent
    target: OutgoingState
    claim: str
    reading: str | None = None
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"outgoing {self.source.value} --{self.event.value}--> {self.target.value}")


_O, _F = OutgoingState, OutgoingEvent
_Z = OutgoingTransition

# Pausing and resuming set the state whatever it was (3.1.7.2.3, 3.1.7.2.4), so each has an arrow from both states.
# State is not a persistent attribute, and only those survive a restart (3.1.1). Under another reading, 3.1.3 keeps it.
OUTGOING: Final[tuple[OutgoingTransition, ...]] = (
    _Z(_O.START, _F.OPEN, _O.INACTIVE, "MQDMPR-3.1.7.1.5.remote-send"),
    _Z(_O.INACTIVE, _F.PAUSE, _O.ON_HOLD, "MQDMPR-3.1.4.14.pauses"),
    _Z(_O.INACTIVE, _F.RESUME, _O.INACTIVE, "MQDMPR-3.1.7.2.4.inactive"),
    _Z(_O.INACTIVE, _F.TAKE, _O.INACTIVE, "MQDMPR-3.1.7.3.9.binary-protocol"),
    _Z(_O.INACTIVE, _F.RESTART, _O.INACTIVE, "MQDMPR-3.1.1.3.destination-format-name"),
    _Z(_O.ON_HOLD, _F.PAUSE, _O.ON_HOLD, "MQDMPR-3.1.7.2.3.on-hold"),
    _Z(_O.ON_HOLD, _F.RESUME, _O.INACTIVE, "MQDMPR-3.1.4.15.resumes"),
    _Z(_O.ON_HOLD, _F.TAKE, _O.ON_HOLD, "MQDMPR-3.1.1.3.state-on-hold"),
    _Z(_O.ON_HOLD, _F.RESTART, _O.INACTIVE, "MQDMPR-3.1.1.volatile"),
    _Z(_O.ON_HOLD, _F.RESTART_KEEPING, _O.ON_HOLD, "MQDMPR-3.1.1.3.state-on-hold", "R-MQDMPR-hold-after-restart"),
    _Z(_O.START, _F.OPEN_HARDENED, _O.LOCKED, "MQDMPR-3.1.7.1.5.hardened-locked"),
    _Z(_O.INACTIVE, _F.START_HARDENED, _O.LOCKED, "MQDMPR-3.1.3.lock"),
    _Z(_O.ON_HOLD, _F.START_HARDENED, _O.LOCKED, "MQDMPR-3.1.3.lock"),
    _Z(_O.LOCKED, _F.START_HARDENED, _O.LOCKED, "MQDMPR-3.1.1.1.hardened-security"),
    _Z(_O.LOCKED, _F.TAKE, _O.LOCKED, "MQDMPR-3.1.1.3.state-locked"),
    _Z(_O.LOCKED, _F.RESTART, _O.INACTIVE, "MQDMPR-3.1.3.unlock"),
)
_OUTGOING = {(row.source, row.event): row for row in OUTGOING}


def outgoing_transition(state: OutgoingState, event: OutgoingEvent) -> OutgoingTransition:
    """Return the row for this state and event. Raises KeyError when the documents have none."""
    return _OUTGOING[(state, event)]


Transition: TypeAlias = (
    CursorTransition | PositionTransition | TransactionTransition | CoordinatedTransition | OutgoingTransition
)
TABLES: Final[Mapping[str, tuple[Transition, ...]]] = MappingProxyType(
    {
        "cursor": CURSOR,
        "message position": POSITION,
        "transaction": TRANSACTION,
        "coordinated transaction": COORDINATED,
        "outgoing queue": OUTGOING,
    }
)
"""Every table, by its subject. Row ids are unique."""


@cache
def table_rows() -> Mapping[str, tuple[str, ...]]:
    """Map each table's name (`cursor`, `position`, ...) to the ids of its rows, for every table in `tables`."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in list(globals().items()):
        if name.isupper() and isinstance(value, tuple) and value and all(hasattr(row, "id") for row in value):
            found[name.lower().strip("_").replace("_", " ")] = tuple(row.id for row in value)
    return found


def by_table(taken: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return how often each row of each table was followed, 0 for a row never followed. taken: row id to count."""
    return {name: {row: taken.get(row, 0) for row in rows} for name, rows in table_rows().items()}
