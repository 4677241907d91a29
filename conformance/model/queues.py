"""Create, open, close, delete and purge queues, and open and close cursors.

MS-MQDMPR 3.1.7.1.1-7; the rule against a second queue of one name is MS-MQMP 3.1.4.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from conformance.model import reads
from conformance.model.arrivals import PEEKED, Branch, after_event, wait_ended
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Assumption, Completion, Either, Expected, Fails, Succeeds
from conformance.model.journals import ELSEWHERE, attributes_of, is_kept, journal_of
from conformance.model.refusals import closed_cursor
from conformance.model.rules import (
    CLOSE_PENDING,
    DELETE_SATELLITES,
    DELETE_WAITING,
    EXCLUSIVE_MOVE,
    EXCLUSIVE_SEND,
    OPEN_UNKNOWN,
    SEND_TO_SUBQUEUE,
    SHARE_PEEK,
    SUBQUEUE_CREATION,
    Rules,
)
from conformance.model.state import BegunRead, Cursor, Handle, Position, Queue, State
from conformance.model.tables import (
    CursorEvent,
    CursorState,
    PositionEvent,
    PositionState,
    cursor_transition,
)
from conformance.model.values import replace
from conformance.spec.constants import hresults

_OPEN = "MQDMPR-3.1.7.1.5"
_WITH_CODE = frozenset(
    {
        "exclusive-then-exclusive",
        "exclusive-then-receive",
        "exclusive-peek-then-receive",
        "receive-then-exclusive",
    }
)
_Placed = TypeVar("_Placed", Handle, BegunRead)
_READING = frozenset({"receive", "peek"})
_AVAILABLE, _DELETED = PositionState.AVAILABLE, PositionState.DELETED
_ACCESS = {"receive": "MQDMPR-3.1.1.17.receive-access", "send": "MQDMPR-3.1.1.17.send-access"}


def create(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Create Queue (MS-MQDMPR 3.1.7.1.3)."""
    name = named(call.queue)
    old = state.queues.get(name)
    if old is not None and old.exists:
        must = "MQMP-3.1.4.5.queue-exists"
        also = ("MQMP-3.1.4.5.existing-queue-unaltered",)
        yield Expected(Fails(must, f"{must}-code", (hresults.MQ_ERROR_QUEUE_EXISTS,)), must, state, also)
        return
    attributes = attributes_of(call.journaling, call.quota_kb, call.journal_quota_kb)
    queue = Queue(name, call.transactional, positions=old.positions if old else (), attributes=attributes)
    for subqueue in [other for other in state.queues.values() if other.parent == name]:
        state = _without_subqueue(state, subqueue)
    yield Expected(Succeeds(), "MQDMPR-3.1.7.1.3.success", state.put(queue))


def _without_subqueue(state: State, old: Queue) -> State:
    """Detach a subqueue of an earlier queue of this name: the new queue has no subqueues.

    Under the reading that the subqueue outlived its queue, its handles still reach it, but no name does.
    """
    claim = "MQDMPR-3.1.7.1.3.no-subqueues"
    gone = tuple(replace(item, state=PositionState.DELETED, holder=None, claim=claim) for item in old.positions)
    after = state.put(replace(old, exists=False, positions=gone))
    if not old.exists:
        return after
    left = replace(old, name=f"{old.name} (left {state.events})", parent=f"{old.family} (left {state.events})")

    def there(things: Mapping[str, _Placed]) -> dict[str, _Placed]:
        return {key: replace(it, queue=left.name) if it.queue == old.name else it for key, it in things.items()}

    waiters = tuple(replace(it, queue=left.name) if it.queue == old.name else it for it in state.waiters)
    after = replace(after, handles=there(state.handles), begun=there(state.begun), waiters=waiters)
    return after.tick().put(left)


def delete(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Delete Queue (MS-MQDMPR 3.1.7.1.4). A read that waits on the queue ends now, or when its wait is over."""
    queue = state.queues.get(named(call.queue))
    if queue is None or not queue.exists:
        raise BadCall(f"no queue {call.queue}")
    if queue.parent is not None:
        raise BadCall("no section says what deletes a subqueue")
    if queue.outgoing is not None or queue.name == ELSEWHERE:
        raise BadCall("a queue of another computer is not deleted here")
    place = journal_of(queue.name)
    satellites = [
        other for other in state.queues.values() if other.exists and (other.parent == queue.name or other.name == place)
    ]
    reached = {handle.queue for handle in state.handles.values() if handle.is_open}
    shows = any(other.parent is not None or other.name in reached for other in satellites)
    for alternative in rules.accepted(state, DELETE_SATELLITES) if shows else ("deleted",):
        gone = [queue, *satellites] if alternative == "deleted" else [queue]
        assumed: tuple[Assumption, ...] = ((DELETE_SATELLITES, alternative),) if shows else ()
        yield from _delete(rules, state, gone, assumed)


def _delete(rules: Rules, state: State, queues: list[Queue], assumed: tuple[Assumption, ...]) -> Iterator[Expected]:
    rows: list[str] = []
    names = {queue.name for queue in queues}
    for queue in queues:
        positions: list[Position] = []
        for position in queue.positions:
            if position.state is not _DELETED:
                holder = state.transactions.get(position.holder or "")
                if holder is not None:
                    state = state.put(replace(holder, bereft=True))
                position, row = after_event(position, PositionEvent.DELETE_QUEUE)
                rows.append(row)
            positions.append(position)
        state = state.put(replace(queue, exists=False, positions=tuple(positions)))
    waiting = [waiter for waiter in state.waiters if waiter.queue in names]
    for handle in state.handles.values():
        if handle.queue in names:
            state = state.put(replace(handle, lost=True))
        elif "," in handle.queue and names.intersection(handle.queue.split(",")):
            state = state.put(replace(handle, gone=handle.gone | names))
    for alternative in rules.accepted(state, DELETE_WAITING) if waiting else ("at-once",):
        after, completions = state, []
        for waiter in waiting if alternative == "at-once" else ():
            after, _ = wait_ended(after, waiter, "MQDMPR-3.1.7.3.1.cleaned-up")
            must = "MQDMPR-3.1.7.1.4.waiting-read-ends"
            completions.append(Completion(waiter.name, Fails(must), must))
        readings = (*assumed, *(((DELETE_WAITING, alternative),) if waiting else ()))
        yield Expected(
            Succeeds(),
            "MQDMPR-3.1.7.1.4.success",
            after.tick(),
            completions=tuple(completions),
            readings=readings,
            transitions=tuple(rows),
        )


def open_queue(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Open Queue (MS-MQDMPR 3.1.7.1.5) for receive, peek or send."""
    name, queue = named(call.name), state.queues.get(name_of(call))
    access, share = call.access or "receive", call.share or "deny_none"
    if ";" in name_of(call) and not is_kept(name_of(call)):
        return _open_subqueue(rules, state, call)
    if queue is None or not queue.exists:
        if access == "send" and (queue is None or share == "deny_receive"):
            raise BadCall("opening an unknown queue for send is judged by the tests of names")
        return _open_missing(rules, state, Handle(name, name_of(call), access, share), known=queue is not None)
    handle = Handle(name, queue.name, access, share)
    if access not in _READING and share == "deny_receive":
        return _open_exclusively(rules, state, queue, handle)
    return _open(rules, state, queue, handle)


def _open_missing(rules: Rules, state: State, handle: Handle, *, known: bool) -> Iterator[Expected]:
    """Open a queue that is not there. An open for send may succeed, to no queue; then it must not have made one."""
    sends = handle.access == "send"
    unmade = any(handle.queue in other.gone and "," not in other.queue for other in state.handles.values())
    must, demand = (f"{_OPEN}.not-found{'-send' if one else ''}" for one in (sends, sends or unmade))
    also = ("MQDMPR-3.1.7.1.4.removed",) if known and not unmade else ()
    fails = Fails(demand, f"{must}-code", (hresults.MQ_ERROR_QUEUE_NOT_FOUND,))
    for alternative in rules.accepted(state, OPEN_UNKNOWN) if sends else ("",):
        assumed = ((OPEN_UNKNOWN, alternative),) if alternative else ()
        if alternative == "accepted":
            opened = state.put(replace(handle, lost=True, gone=frozenset({handle.queue})))
            yield Expected(Succeeds(), must, opened, shows=False, readings=assumed)
        else:
            yield Expected(fails, must, state, also, readings=assumed)


def _open_exclusively(rules: Rules, state: State, queue: Queue, handle: Handle) -> Iterator[Expected]:
    """Open an existing queue for send or move, denying receive to others: two rows of the table look at that alone."""
    others = [other for other in state.handles.values() if other.queue == queue.name and _reads(other)]
    denied, sends = _refused_by_data_model(handle.access, handle.share, others), handle.access == "send"
    reading = EXCLUSIVE_SEND if sends else EXCLUSIVE_MOVE
    must = "MQMP-3.1.4.17.send-exclusive" if sends else f"{_OPEN}.{_conflict('receive', handle.share, others)}"
    fails = Fails(must) if sends else Fails(must, f"{must}-code", (hresults.MQ_ERROR_SHARING_VIOLATION,))
    for alternative in rules.accepted(state, reading) if sends or denied else ("",):
        assumed = ((reading, alternative),) if alternative else ()
        if alternative == "refused" or (sends and denied):
            yield Expected(fails, must, state, readings=assumed)
            continue
        for expected in _open(rules, state, queue, handle):
            yield replace(expected, readings=assumed)


def _open(rules: Rules, state: State, queue: Queue, handle: Handle) -> Iterator[Expected]:
    """Open an existing queue; the share modes decide whether that succeeds."""
    access, share, opened = handle.access, handle.share, state.put(handle)
    others = [handle for handle in state.handles.values() if handle.queue == queue.name and _reads(handle)]
    word = _conflict(access, share, others) if others and access in _READING else None
    if word is not None:
        refusals = {
            "data-model": _refused_by_data_model(access, share, others),
            "local-api": share == "deny_receive" or any(handle.share == "deny_receive" for handle in others),
        }
        fails = Fails(f"{_OPEN}.{word}")
        if word in _WITH_CODE:
            fails = Fails(fails.must, f"{fails.must}-code", (hresults.MQ_ERROR_SHARING_VIOLATION,))
        if all(refusals.values()):
            yield Expected(fails, fails.must, state, (f"{_OPEN}.refused-no-handle",))
            return
        for alternative in rules.accepted(state, SHARE_PEEK):
            denied = refusals[alternative]
            result, after = (fails, state) if denied else (Succeeds(), opened)
            yield Expected(result, fails.must, after, readings=((SHARE_PEEK, alternative),))
        return
    shows = _open_shows(state, queue, access, others)
    kept = "MQDMPR-3.1.1.2.private-attributes-persistent" if state.restarts else f"{_OPEN}.success"
    yield Expected(Succeeds(), kept, opened, shows)


def _open_subqueue(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Open `queue;subqueue` (MS-MQMQ 2.1.1-2). Under one reading, opening it for anything but send creates it."""
    full, access = name_of(call), call.access or "receive"
    parent = state.queues.get(full.partition(";")[0])
    queue = state.queues.get(full)
    if parent is None or (not parent.exists and (queue is None or queue.exists)):
        raise BadCall(f"no queue for the subqueue {full}")
    if not parent.exists:
        must = f"{_OPEN}.not-found"
        yield Expected(Fails(must, f"{must}-code", (hresults.MQ_ERROR_QUEUE_NOT_FOUND,)), must, state)
        if access == "send" and rules.accepts(state, SEND_TO_SUBQUEUE, "refused"):  # no section says what is seen first
            must = "MQMP-3.1.4.17.subqueue-send-access"
            yield Expected(Fails(must), must, state, readings=((SEND_TO_SUBQUEUE, "refused"),))
        return
    readings: tuple[Assumption, ...] = ()
    if access == "send":
        must = "MQMP-3.1.4.17.subqueue-send-access"
        if rules.accepts(state, SEND_TO_SUBQUEUE, "refused"):
            yield Expected(Fails(must), must, state, readings=((SEND_TO_SUBQUEUE, "refused"),))
        if not rules.accepts(state, SEND_TO_SUBQUEUE, "accepted"):
            return
        readings = ((SEND_TO_SUBQUEUE, "accepted"),)
    made = queue is None or not queue.exists
    for alternative in rules.accepted(state, SUBQUEUE_CREATION) if made else ("by-opening",):
        how = (*readings, (SUBQUEUE_CREATION, alternative)) if made else readings
        if alternative == "by-creating":
            must = f"{_OPEN}.not-found"
            yield Expected(Fails(must), must, state, readings=how)
            continue
        if queue is None or not queue.exists:
            old = queue.positions if queue is not None else ()
            queue = Queue(full, parent.transactional, positions=old, parent=parent.name)
        handle = Handle(named(call.name), full, access, call.share or "deny_none")
        opening = _open_exclusively if access not in _READING and handle.share == "deny_receive" else _open
        for expected in opening(rules, state.put(queue), queue, handle):
            readings = (*expected.readings, *how)
            if made and isinstance(expected.result, Fails):  # a refused open makes no subqueue
                yield replace(expected, next=state, readings=readings)
                continue
            yield replace(expected, also=(*expected.also, "MQMQ-2.1.2.subqueue"), readings=readings)


def _open_shows(state: State, queue: Queue, access: str, others: list[Handle]) -> tuple[str, ...]:
    shows = ["MQDMPR-3.1.7.1.3.openable"]
    if access == "send" and any(handle.share == "deny_receive" for handle in others):
        shows.append(f"{_OPEN}.exclusive-then-send")
    if access == "receive" and any(handle.access == "receive" for handle in others):
        shows.append(f"{_OPEN}.receive-then-receive")
    if access == "receive" and any(
        handle.share == "deny_receive" and handle.queue == queue.name and not handle.is_open
        for handle in state.handles.values()
    ):
        shows.append("MQDMPR-3.1.7.1.6.share-released")
    return tuple(shows)


def _reads(handle: Handle) -> bool:
    return handle.is_open and not handle.lost and handle.access in _READING


def _conflict(access: str, share: str, others: list[Handle]) -> str | None:
    """Return the sharing rule between an open for reading and the handles that already read; None for no conflict.

    All sections agree on receivers against receivers; they disagree where peeks are involved.
    """
    kinds = {(handle.access, handle.share) for handle in others}
    exclusive = share == "deny_receive"
    if ("receive", "deny_receive") in kinds:
        if access == "receive":
            return "exclusive-then-exclusive" if exclusive else "exclusive-then-receive"
        return "exclusive-then-exclusive-peek" if exclusive else "exclusive-then-peek"
    if ("peek", "deny_receive") in kinds:
        return "exclusive-peek-then-receive" if access == "receive" else "exclusive-then-peek"
    if exclusive and kinds:
        receivers = access == "receive" and ("receive", "deny_none") in kinds
        return "receive-then-exclusive" if receivers else "exclusive-then-exclusive-peek"
    return None


def _refused_by_data_model(access: str, share: str, others: list[Handle]) -> bool:
    """Apply the table of MS-MQDMPR 3.1.7.1.5: the first row that applies decides. True when it refuses the open."""
    kinds = {(handle.access, handle.share) for handle in others}
    if ("receive", "deny_receive") in kinds:
        return share == "deny_receive" or access == "receive"
    if ("peek", "deny_receive") in kinds:
        return access == "receive"
    return ("receive", "deny_none") in kinds and share == "deny_receive"


def close(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Close Queue (MS-MQDMPR 3.1.7.1.6): end the handle's cursors and waiting reads."""
    handle = state.handles.get(named(call.handle))
    if handle is None:
        raise BadCall(f"no handle {call.handle}")
    if not handle.is_open:
        must = "MQDMPR-3.1.7.1.6.handle-closed"
        yield Expected(Fails(must), must, state)
        return
    rows: list[str] = []
    closed = state
    for cursor in state.cursors.values():
        if cursor.handle == handle.name and cursor.state is not CursorState.CLOSED:
            row = cursor_transition(cursor.state, CursorEvent.CLOSE)
            rows.append(row.id)
            closed = closed.put(replace(cursor, state=row.target))
    closed = closed.put(replace(handle, is_open=False)).tick()
    users = (other for other in state.handles.values() if other.queue == handle.queue and other.name != handle.name)
    if ";" in handle.queue or not any(other.is_open and not other.lost for other in users):
        closed = _existing(closed, handle.queue, "MQDMPR-3.1.7.1.6.messages-kept")
    if handle.lost:  # no section says how closing is answered once the queue is deleted
        closed = _seen_elsewhere(closed, handle.queue, "MQDMPR-3.1.7.1.6.deleted-queue")
        yield Expected(Either(), "MQDMPR-3.1.7.1.6.handle-closed", closed)
        return
    waiting = [waiter for waiter in state.waiters if waiter.handle == handle.name]
    for alternative in rules.accepted(state, CLOSE_PENDING) if waiting else ("all",):
        after, completions = closed, []
        for waiter in waiting if alternative == "all" else ():
            after = after.without_waiters(frozenset({waiter.name}))
            must = "MQDMPR-3.1.7.1.6.pending-read-cancelled"
            cancelled = Fails(must, f"{must}-code", (hresults.MQ_ERROR_OPERATION_CANCELLED,))
            completions.append(Completion(waiter.name, cancelled, must))
            if waiter.destructive:
                after = after.put(replace(after.queues[waiter.queue], ended_reader="MQDMPR-3.1.7.3.1.cleaned-up"))
        assumed: tuple[Assumption, ...] = ((CLOSE_PENDING, alternative),) if waiting else ()
        for way in reads.closed(rules, Branch(after, tuple(completions), assumed, tuple(rows)), handle):
            others = any(one.handle != handle.name and one.queue == handle.queue for one in way.state.waiters)
            yield Expected(
                Succeeds(),
                "MQDMPR-3.1.7.1.6.messages-kept",
                way.state,
                ("MQDMPR-3.1.7.1.6.pending-read-others-kept",) if others else (),
                completions=way.completions,
                readings=way.readings,
                transitions=way.transitions,
            )


def purge(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Purge Queue (MS-MQDMPR 3.1.7.1.7)."""
    handle = state.handles.get(named(call.handle))
    if handle is None or handle.lost:
        raise BadCall(f"nothing to purge at {call.handle}")
    if not handle.is_open:
        must = "MQDMPR-3.1.7.1.6.handle-closed"
        yield Expected(Fails(must), must, state)
        return
    if handle.access != "receive":
        if handle.access == "move":
            raise BadCall("no section says what a purge by a handle for moving answers")
        must = f"MQDMPR-3.1.1.17.{handle.access}-access-no-purge"
        yield Expected(Fails(must), must, _existing(state, handle.queue, must))
        return
    queue, rows = state.queues[handle.queue], []
    positions: list[Position] = []
    for position in queue.positions:
        if position.state is _DELETED:
            positions.append(position)
            continue
        new, row = after_event(position, PositionEvent.PURGE)
        rows.append(row)
        if position.state is PositionState.SENDING:
            new = replace(new, purged=True)
        positions.append(new)
    state = state.put(replace(queue, positions=tuple(positions)))
    state = _seen_elsewhere(state, queue.name, "MQDMPR-3.1.7.1.7.other-queues-kept")
    yield Expected(Succeeds(), _ACCESS["receive"], state.tick(), transitions=tuple(rows))


def _seen_elsewhere(state: State, queue: str, claim: str) -> State:
    """Mark messages that peeks have shown in other queues: if one goes missing now, the call on `queue` is to blame."""
    for other in state.queues:
        state = _existing(state, other, claim) if other != queue else state
    return state


def _existing(state: State, queue: str, claim: str) -> State:
    """Mark messages of one queue that a peek has shown, and a second peek has shown not to be taken by the first."""
    for position in state.queues[queue].positions:
        shown = position.steady or ";" in queue
        if shown and position.state is _AVAILABLE and position.claim in PEEKED:
            state = state.with_position(queue, replace(position, claim=claim))
    return state


def open_cursor(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Open Cursor (MS-MQDMPR 3.1.7.1.1, 3.2.7.1)."""
    handle = state.handles.get(named(call.handle))
    if handle is None:
        raise BadCall(f"no handle {call.handle}")
    if not handle.is_open:
        must = "MQDMPR-3.1.7.1.6.handle-closed"
        yield Expected(Fails(must), must, state)
        return
    if handle.access == "send":
        raise BadCall("no section says what a cursor on a handle for send is")
    if handle.lost:
        must = "MQDMPR-3.1.7.1.1.queue-deleted"
        yield Expected(Fails(must), must, state)
        return
    row = cursor_transition(CursorState.START, CursorEvent.INITIALIZE)
    cursor = Cursor(named(call.name), handle.name, row.target)
    yield Expected(Succeeds(), row.requirements[0], state.put(cursor), transitions=(row.id,))


def close_cursor(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Close Cursor (MS-MQDMPR 3.1.7.1.2). A read that waits with it takes no message; its end may come later."""
    cursor = state.cursors.get(named(call.cursor))
    if cursor is None:
        raise BadCall(f"no cursor {call.cursor}")
    if cursor.state is CursorState.CLOSED:
        must = closed_cursor(state, cursor)
        yield Expected(Fails(must), must, state)
        return
    row = cursor_transition(cursor.state, CursorEvent.CLOSE)
    waiting = [waiter for waiter in state.waiters if waiter.cursor == cursor.name]
    closed = state.put(replace(cursor, state=row.target)).tick()
    closed = closed.without_waiters(frozenset(waiter.name for waiter in waiting))
    ends = tuple(Completion(waiter.name, Fails(row.requirements[0]), row.requirements[0]) for waiter in waiting)
    also = ("MQDMPR-3.1.7.1.2.own-reads-only",) if closed.waiters else ()
    # A read whose end was observed is over: it is not to blame for messages that others miss from now on.
    yield Expected(Succeeds(), row.requirements[0], closed, also, completions=ends, transitions=(row.id,))
    if not waiting:
        return
    for waiter in waiting:
        if waiter.destructive:
            closed = closed.put(replace(closed.queues[waiter.queue], ended_reader=row.requirements[0]))
    yield Expected(Succeeds(), row.requirements[0], closed, also, transitions=(row.id,))


def name_of(call: Call) -> str:
    """Return the name of the queue a call is about. Raises BadCall when the call has none."""
    return named(call.queue)


def named(name: str | None) -> str:
    """Return the name that a call must have. Raises BadCall when it has none."""
    if not name:
        raise BadCall("a name is missing")
    return name
