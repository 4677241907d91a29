"""Features of transactions and of receives in two phases (MS-MQDMPR 3.1.4.3 to 3.1.4.5, 3.1.7.1.8, .11 and .12)."""

from __future__ import annotations

from typing import NamedTuple

from conformance.histories.features import reads
from conformance.histories.features.facts import (
    asked,
    asked_feature,
    below,
    journaling,
    journaling_feature,
    kind_of,
    place_of,
    quota_feature,
    several,
    waiting_on,
)
from conformance.histories.features.feature import Feature
from conformance.histories.features.reads import COPIES, copies_of
from conformance.model import Call, State
from conformance.model.journals import is_kept
from conformance.model.state import BegunRead, Position, Queue
from conformance.model.tables import CursorState, PositionState

_BEGUN = PositionState.BEGUN
_ENDED = {PositionState.AVAILABLE: "ended_kept", PositionState.DELETED: "ended_gone"}


def _begun(state: State, call: Call) -> str:
    return several(sum(not read.ended for read in state.begun.values())) if state.begun else "none"


def _read(state: State, call: Call) -> tuple[BegunRead, Queue, Position] | None:
    read = state.begun.get(call.read or "")
    queue = state.queues.get(read.queue) if read is not None else None
    position = queue.find(read.message) if read is not None and queue is not None else None
    return None if read is None or queue is None or position is None else (read, queue, position)


def _standing(state: State, call: Call) -> str | None:
    found = _read(state, call)
    if found is None:
        return None
    read, queue, position = found
    handle = state.handles.get(read.handle)
    if handle is None or not handle.is_open:
        return None  # no section says what ends a receive whose handle is closed
    if handle.lost:
        return "queue_recreated" if queue.exists else "queue_deleted"
    if read.ended:
        return _ENDED.get(position.state)
    return "begun" if position.state is _BEGUN else "purged"


def _acknowledge(state: State, call: Call) -> str:
    return "delete" if call.acknowledge else "keep"


def _place(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else place_in(found[1], found[2])


def place_in(queue: Queue, position: Position) -> str:
    """Return where a message stands among the available ones: alone, front, between or end."""
    before = behind = False
    for other in queue.positions:
        if other.available and other is not position:
            before = before or other.rank < position.rank
            behind = behind or other.rank > position.rank
    return ("between" if behind else "end") if before else "front" if behind else "alone"


def _waiting(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else waiting_on(state, found[1].name)


def cursors_at(state: State, queue: str, messages: tuple[str, ...]) -> str:
    """Return whether a cursor of the queue stands at one of the messages: none, elsewhere, there or parked."""
    found = "none"
    for cursor in state.cursors.values():
        handle = state.handles.get(cursor.handle)
        if handle is None or handle.queue != queue or cursor.state is CursorState.CLOSED:
            continue
        if cursor.message in messages and cursor.ended is None:
            return "there"
        if place_of(state, cursor) == "parked":
            found = "parked"
        elif found == "none":
            found = "elsewhere"
    return found


def _cursors(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else cursors_at(state, found[1].name, (found[2].message,))


def _other_messages(state: State, call: Call) -> str | None:
    found = _read(state, call)
    if found is None:
        return None
    rest = [read for read in state.begun.values() if not read.ended and read is not found[0]]
    if not rest:
        return "none"
    return "same_queue" if any(read.queue == found[1].name for read in rest) else "other_queue"


def _copies(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else reads.copies_of(state, found[1], found[2])


def _asked(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None or is_kept(found[1].name) else asked(state, found[2])


def _journaling(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else journaling(found[1], found[2])


def _quota(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else below(state, found[1:2])


def _kind(state: State, call: Call) -> str | None:
    found = _read(state, call)
    return None if found is None else kind_of(found[1])


_END = "MQDMPR-3.1.7.1.12"
_BEGIN = "MQDMPR-3.1.7.1.11"
RECEIVE_BEGIN = (
    reads.handle_feature(f"{_BEGIN}.queue-not-available", *reads.ACCESS),
    reads.kind_feature("3.1.7.1.11.locks"),
    Feature(
        "time_out",
        reads.DEQUEUE_TIME_OUT.values,
        reads.DEQUEUE_TIME_OUT.of,
        (f"{_BEGIN}.io-timeout", *reads.DEQUEUE_TIME_OUT.steps),
    ),
    reads.DEQUEUE_CURSOR,
    reads.BEFORE,
    reads.CHOICE,
    reads.PASSED,
    reads.waiting_feature("MQDMPR-3.1.7.1.10.two-phase"),
    reads.ARRIVAL,
    Feature(
        "begun",
        ("none", "one", "several"),
        _begun,
        (f"{_BEGIN}.locks", "MQDMPR-3.1.7.1.10.two-phase", "MQDMPR-3.1.7.1.10.two-phase-locks"),
    ),
    reads.OTHER_READS,
)
RECEIVE_END = (
    Feature("acknowledge", ("keep", "delete"), _acknowledge, (f"{_END}.deletes", f"{_END}.kept", f"{_END}.restores")),
    Feature(
        "read",
        ("begun", "purged", "ended_kept", "ended_gone", "queue_deleted", "queue_recreated"),
        _standing,
        (f"{_END}.queue-not-available", f"{_END}.not-begun", f"{_END}.purged", f"{_END}.no-resurrection"),
    ),
    Feature(
        "place", ("alone", "front", "between", "end"), _place, (f"{_END}.restores", "MQDMPR-3.1.1.2.arrival-order")
    ),
    Feature("waiting", ("none", "peek", "receive", "several"), _waiting, ("MQDMPR-3.1.7.2.2.every-handle",)),
    Feature(
        "cursors",
        ("none", "elsewhere", "there", "parked"),
        _cursors,
        ("MQDMPR-3.2.7.4.current-unavailable", "MQDMPR-3.2.7.5.peek-waiting"),
    ),
    Feature("others", ("none", "same_queue", "other_queue"), _other_messages, (f"{_END}.not-begun",)),
    Feature("copies", reads.COPIES.values, _copies, reads.COPIES.steps),
    journaling_feature(_journaling, f"{_END}.deletes"),
    quota_feature(_quota, f"{_END}.restores"),
    asked_feature(_asked, f"{_END}.deletes", f"{_END}.kept"),
    Feature("kind", ("plain", "transactional", "subqueue", "journal", "dead_letter"), _kind, (f"{_END}.restores",)),
)

_SENDING, _LOCKED, _MOVING = PositionState.SENDING, PositionState.LOCKED, PositionState.MOVING
_PURGED = (PositionState.PURGE_PENDING, PositionState.MOVING_PURGED)
_DELETED = PositionState.DELETED


class _Held(NamedTuple):
    """Work of a transaction so far. sends, receives, moves: its positions, each with its queue."""

    sends: tuple[tuple[Queue, Position], ...]
    receives: tuple[tuple[Queue, Position], ...]
    moves: tuple[tuple[Queue, Position], ...]
    purged: bool


_last: list[tuple[State, str, _Held] | None] = [None]


def _held(state: State, call: Call) -> _Held:
    name = call.transaction or ""
    known = _last[0]
    if known is not None and known[0] is state and known[1] == name:
        return known[2]
    sends: list[tuple[Queue, Position]] = []
    receives: list[tuple[Queue, Position]] = []
    moves: list[tuple[Queue, Position]] = []
    purged = False
    for queue in state.queues.values():
        for position in queue.positions:
            if position.holder != name:
                continue
            purged = purged or position.purged or position.state in _PURGED
            kind = position.state
            if kind is _SENDING:
                sends.append((queue, position))
            elif position.target is not None:
                moves.append((queue, position))
            else:
                receives.append((queue, position))
    found = _Held(tuple(sends), tuple(receives), tuple(moves), purged)
    _last[0] = (state, name, found)
    return found


def _state(state: State, call: Call) -> str | None:
    found = state.transactions.get(call.transaction or "")
    if found is None or found.ended == "restart":
        return None
    if found.ended is not None:
        return "committed" if found.ended == "commit" else "aborted"
    return "prepared" if found.prepared else "open"


def _open(state: State, call: Call) -> bool:
    return _state(state, call) in ("open", "prepared")


def _sends(state: State, call: Call) -> str | None:
    if not _open(state, call):
        return None
    sends = _held(state, call).sends
    if len(sends) < 2:
        return several(len(sends))
    return "several" if len({queue.name for queue, _ in sends}) == 1 else "several_queues"


def _receives(state: State, call: Call) -> str | None:
    if not _open(state, call):
        return None
    receives = _held(state, call).receives
    if len(receives) < 2:
        return several(len(receives))
    return "several" if len({queue.name for queue, _ in receives}) == 1 else "several_queues"


def _moves(state: State, call: Call) -> str | None:
    if not _open(state, call):
        return None
    moves = _held(state, call).moves
    if not moves:
        return "none"
    return "to_subqueue" if moves[0][0].parent is None else "from_subqueue"


def _disturbed(state: State, call: Call) -> str | None:
    if not _open(state, call):
        return None
    if state.transactions[call.transaction or ""].bereft:
        return "queue_deleted"
    return "purged" if _held(state, call).purged else "nothing"


def _transaction_waiting(state: State, call: Call) -> str | None:
    """Return the reads that wait on a queue in which the transaction has done something.

    bystander: only one that waits where a moved message does not come.
    """
    if not _open(state, call):
        return None
    if not state.waiters:
        return "none"
    held = _held(state, call)
    for queue, _ in (*held.sends, *held.receives):
        found = waiting_on(state, queue.name)
        if found != "none":
            return found
    comes_back = call.method == "transactions.abort"
    bystander = False
    for queue, position in held.moves:
        here, there = queue.name, position.target or ""
        arrives, leaves = (here, there) if comes_back else (there, here)
        found = waiting_on(state, arrives)
        if found != "none":
            return found
        bystander = bystander or waiting_on(state, leaves) != "none"
    return "bystander" if bystander else "none"


def _other_transactions(state: State, call: Call) -> str | None:
    """Return the other open transactions: none, one that holds nothing here, or one that does, perhaps prepared."""
    if not _open(state, call):
        return None
    rest = [one for one in state.transactions.values() if one.ended is None and one.name != call.transaction]
    if not rest:
        return "none"
    held = _held(state, call)
    queues = {queue.name for queue, _ in (*held.sends, *held.receives, *held.moves)}
    for one in rest:
        if any(queue in queues for queue, _ in state.held_by(one.name)):
            return "prepared_here" if one.prepared else "here"
    return "elsewhere"


def _overtaken(state: State, call: Call) -> str | None:
    """Return whether a message that others sent later stands behind a send of the transaction already."""
    if not _open(state, call) or not _held(state, call).sends:
        return None
    for queue, position in _held(state, call).sends:
        for other in queue.positions:
            if other.rank > position.rank and other.holder != position.holder and other.rank[0] == position.rank[0]:
                if other.state is _SENDING:
                    return "by_uncommitted"
                if other.state is not _DELETED:
                    return "by_committed"
    return "no"


def _transaction_place(state: State, call: Call) -> str | None:
    """Return where the first message that the transaction received stands among the available ones."""
    if not _open(state, call) or not _held(state, call).receives:
        return None
    return place_in(*_held(state, call).receives[0])


def _transaction_cursors(state: State, call: Call) -> str | None:
    """Return where cursors stand in the first queue of the transaction."""
    if not _open(state, call):
        return None
    held = _held(state, call)
    every = (*held.receives, *held.moves, *held.sends)
    if not every:
        return None
    queue = every[0][0].name
    return cursors_at(state, queue, tuple(position.message for at, position in every if at.name == queue))


def _transaction_copies(state: State, call: Call) -> str | None:
    if not _open(state, call):
        return None
    held = _held(state, call)
    every = held.receives or held.sends
    return None if not every else copies_of(state, *every[0])


def _transaction_journaling(state: State, call: Call) -> str | None:
    receives = _held(state, call).receives if _open(state, call) else ()
    return journaling(*receives[0]) if receives else None


def _transaction_quota(state: State, call: Call) -> str | None:
    if not _open(state, call):
        return None
    held = _held(state, call)
    return below(state, [queue for queue, _ in (*held.receives, *held.sends)])


def _before(state: State, call: Call) -> str:
    """Return what became of the transactions before this one."""
    found = "nothing"
    for one in state.transactions.values():
        if one.name == call.transaction or one.name == call.name:
            continue
        if one.ended == "restart":
            return "restarted"
        if one.ended is not None:
            found = "committed" if one.ended == "commit" else "aborted"
    return found


def _transaction_begun(state: State, call: Call) -> str:
    rest = [one for one in state.transactions.values() if one.ended is None]
    if any(one.prepared for one in rest):
        return "prepared"
    return several(len(rest))


def _holding(state: State, call: Call) -> str:
    holders = {position.holder for queue in state.queues.values() for position in queue.positions}
    return "some" if holders - {None} else "none"


_P, _C, _A = "MQDMPR-3.1.4.3", "MQDMPR-3.1.4.4", "MQDMPR-3.1.4.5"
_MARKS = (f"{_P}.first-in-transaction", f"{_P}.last-in-transaction")
BEGIN = (
    Feature(
        "open",
        ("none", "one", "several", "prepared"),
        _transaction_begun,
        ("MQDMPR-3.1.7.1.8.created", "MQDMPR-3.1.1.14.identifier-unique"),
    ),
    Feature(
        "before",
        ("nothing", "committed", "aborted", "restarted"),
        _before,
        ("MQDMPR-3.1.7.1.8.created", "MQDMPR-3.1.3.unfinished-transaction-aborted"),
    ),
    Feature("holding", ("none", "some"), _holding, ("MQDMPR-3.1.1.14.identifier-unique",)),
)


def _ending(section: str, sends: tuple[str, ...], receives: tuple[str, ...]) -> tuple[Feature, ...]:
    return (
        Feature(
            "state",
            ("open", "prepared", "committed", "aborted"),
            _state,
            (f"{section}.success", f"{section}.unknown", f"{_P}.unknown"),
        ),
        Feature("sends", ("none", "one", "several", "several_queues"), _sends, (*sends, *_MARKS)),
        Feature("receives", ("none", "one", "several", "several_queues"), _receives, receives),
        Feature("moves", ("none", "to_subqueue", "from_subqueue"), _moves, (f"{_C}.move", f"{_A}.move")),
        Feature(
            "disturbed",
            ("nothing", "purged", "queue_deleted"),
            _disturbed,
            (
                f"{_A}.purged-receive",
                f"{_A}.unpurged-return",
                "MQDMPR-3.1.7.1.7.locked-commit",
                "MQDMPR-3.1.7.1.4.messages-deleted",
            ),
        ),
        Feature(
            "waiting",
            ("none", "peek", "receive", "several", "bystander"),
            _transaction_waiting,
            (
                f"{_C}.wakes-readers",
                f"{_A}.wakes-readers",
                f"{_C}.move-wakes-readers",
                "MQDMPR-3.1.7.2.2.every-handle",
                "MQDMPR-3.1.7.2.2.one-destructive",
            ),
        ),
        Feature(
            "others",
            ("none", "elsewhere", "here", "prepared_here"),
            _other_transactions,
            (f"{_C}.every-operation", f"{_A}.every-operation", "MQDMPR-3.1.1.14.several-queues"),
        ),
        Feature(
            "overtaken",
            ("no", "by_committed", "by_uncommitted"),
            _overtaken,
            (f"{_C}.send-order", "MQDMPR-3.1.1.2.arrival-order"),
        ),
        Feature(
            "place",
            ("alone", "front", "between", "end"),
            _transaction_place,
            (f"{_A}.receives-return-position", f"{_C}.receives-gone"),
        ),
        Feature(
            "cursors",
            ("none", "elsewhere", "there", "parked"),
            _transaction_cursors,
            ("MQDMPR-3.2.7.2.current-unavailable", "MQDMPR-3.2.7.4.current-unavailable"),
        ),
        Feature(
            "copies",
            COPIES.values,
            _transaction_copies,
            (*COPIES.steps, "MQDMPR-3.1.7.2.7.transactional"),
        ),
    )


COMMIT = (
    *_ending(_C, (f"{_C}.sends-appear", f"{_C}.send-order"), (f"{_C}.receives-gone",)),
    journaling_feature(_transaction_journaling, f"{_C}.receives-gone"),
)
ABORT = (
    *_ending(_A, (f"{_A}.sends-vanish",), (f"{_A}.receives-return",)),
    quota_feature(_transaction_quota, f"{_A}.receives-return"),
)
PREPARE = tuple(
    one for one in _ending(_P, (f"{_P}.success",), (f"{_P}.success", *_MARKS)) if one.name not in ("copies", "place")
)
