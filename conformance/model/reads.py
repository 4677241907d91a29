"""Receive, peek, peek next and both phases of a receive: MS-MQDMPR 3.1.7.1.10 to .15; with a cursor: 3.2.7."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from conformance.model.arrivals import KEEPS, Branch, after_event, made_available, note_peeked, parked, take
from conformance.model.calls import INFINITE, BadCall, Call
from conformance.model.expected import Assumption, Blocks, Expected, Fails, Succeeds
from conformance.model.lookups import Sought, order_shown, passed_over, seek
from conformance.model.refusals import queue_gone, read_begun, refused
from conformance.model.rules import (
    CLOSE_BEGUN,
    CURSOR_LOCKED,
    END_TWICE,
    PARKED,
    PEEK_NEXT_PLAIN,
    PEEK_TIMEOUT_POSITION,
    PEEK_TIMEOUT_STATE,
    POLL,
    REMOVED_PLACE,
    ZERO_TIMEOUT,
    Rules,
)
from conformance.model.state import PARKED as END
from conformance.model.state import START, TAKING, BegunRead, Cursor, Handle, Position, Queue, Rank, State, Waiter
from conformance.model.tables import (
    CursorEvent,
    CursorState,
    CursorTransition,
    Guard,
    PositionEvent,
    PositionState,
    cursor_transition,
)
from conformance.model.values import replace, value
from conformance.spec.constants import hresults

_GONE = (PositionState.DELETED, PositionState.ABSENT)


def with_successors(before: State, after: State) -> State:
    """Return the state in which each cursor whose message this call removed knows the message that was next to it."""
    if not after.cursors or after.queues is before.queues:
        return after
    for cursor in after.cursors.values():
        handle, place = after.handles.get(cursor.handle), cursor.successor or cursor.at
        if handle is None or cursor.state is CursorState.CLOSED:  # its handle ended with the manager
            continue
        name = handle.queue
        queue, old = after.queues[name], before.queues.get(name)
        if queue is old or not _gone(queue, place) or _gone(old, place):
            continue
        behind = (item.rank for item in queue.positions if item.rank > place and item.state not in _GONE)
        after = after.put(replace(cursor, successor=next(behind, END), removed_at=after.events))
    return after


def _gone(queue: Queue | None, place: Rank) -> bool:
    return queue is not None and any(item.rank == place and item.state in _GONE for item in queue.positions)


def starts(
    rules: Rules, state: State, queue: Queue, cursor: Cursor
) -> Iterator[tuple[Rank, int | None, tuple[Assumption, ...]]]:
    """Yield where a seek by this cursor starts, which arrivals it passes over, and the readings this assumes."""
    following = cursor.successor
    if following is None or not any(item.available and cursor.at < item.rank < following for item in queue.positions):
        yield cursor.at, None, ()
        return
    for alternative in rules.accepted(state, REMOVED_PLACE):
        assumed = ((REMOVED_PLACE, alternative),)
        if alternative == "keeps-place":
            yield cursor.at, None, assumed
        elif following != END:
            yield (following[0], following[1] - 1), None, assumed
        else:
            yield cursor.at, None, assumed  # nothing was next, so nothing says that it goes to the end
            for arrivals in rules.accepted(state, PARKED):
                readings = (*assumed, (PARKED, arrivals))
                yield (END, None, readings) if arrivals == "waits" else (START, cursor.removed_at, readings)


_12 = "MQDMPR-3.1.7.1.12"
_BEGUN = (PositionState.BEGUN, PositionState.BEGUN_PURGED)


def end_receive(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the outcomes of ending a begun receive. call.read: its name. call.acknowledge: delete the message."""
    begun = read_begun(state, call.read or "")
    handle = state.handles.get(begun.handle)
    if handle is None or not handle.is_open:
        raise BadCall(f"no section says what ends {begun.name} once its handle is closed")
    if handle.lost:
        gone = queue_gone(rules, state.put(replace(begun, ended=True)), _12)
        also = (*gone.also, f"{_12}.queue-not-available-ends")
        if begun.ended:  # the first end may have ended the read's handle, so the documents leave the code open
            yield Expected(Fails(gone.requirement), gone.requirement, state, also)
        else:
            yield replace(gone, also=also)
        return
    position = state.position(begun.queue, begun.message)
    if begun.ended:
        yield from _again(rules, state, begun.queue, position, begun.name)
        return
    event = PositionEvent.END_DELETING if call.acknowledge else PositionEvent.END_KEEPING
    for after in _ended(rules, Branch(state), begun, event):
        yield Expected(
            Succeeds(ok=True), f"{_12}.mq-ok", after.state, (), after.completions, after.readings, after.transitions
        )


def closed(rules: Rules, branch: Branch, handle: Handle) -> Iterator[Branch]:
    """Yield what becomes of the receives that this handle began and did not end, once it is closed."""
    state = branch.state
    mine = [read for read in state.begun.values() if read.handle == handle.name and not read.ended]
    begun = [read for read in mine if state.position(read.queue, read.message).state in _BEGUN]
    for alternative in rules.accepted(state, CLOSE_BEGUN) if begun else ("",):
        assumed = ((CLOSE_BEGUN, alternative),) if alternative else ()
        branches = [replace(branch, readings=(*branch.readings, *assumed))]
        for read in begun if alternative == "released" else ():
            branches = [new for each in branches for new in _ended(rules, each, read, PositionEvent.END_KEEPING)]
        yield from branches


def _ended(rules: Rules, branch: Branch, begun: BegunRead, event: PositionEvent) -> Sequence[Branch]:
    """End the second phase of this receive: its message is deleted, or available again."""
    new, row = after_event(branch.state.position(begun.queue, begun.message), event)
    state = branch.state.put(replace(begun, ended=True))
    branch = replace(branch, state=state, transitions=(*branch.transitions, row))
    if not new.available:
        return (replace(branch, state=state.with_position(begun.queue, new).tick()),)
    return made_available(rules, branch, begun.queue, new, f"{_12}.restores")


def _again(rules: Rules, state: State, queue: str, position: Position, name: str) -> Iterator[Expected]:
    """End a receive a second time. For an available message this fails; it must not bring back a deleted one."""
    if position.available:
        must, leaves = f"{_12}.not-begun", f"{_12}.not-begun-ends"
        if position.claim in KEEPS.values():  # a peek has seen the message
            state = state.with_position(queue, replace(position, claim=leaves))
        # The code is the demanded one only for implementations that end the message, not a handle of the read.
        yield Expected(Fails(must), must, state, (leaves,))
        return
    if position.state is _DELETED:
        claim = position.claim
        if claim != f"{_12}.purged":  # otherwise no read has shown yet that the first end removed the message
            claim = f"{_12}.no-resurrection"
            state = state.with_position(queue, replace(position, claim=claim))
        for alternative in rules.accepted(state, END_TWICE):
            result = Fails(claim) if alternative == "refused" else Succeeds()
            yield Expected(result, claim, state, shows=False, readings=((END_TWICE, alternative),))
        return
    raise BadCall(f"no section says what ending {name} again does to a message that somebody else holds")


SECTION = {
    "messages.receive": "MQDMPR-3.1.7.1.10",
    "messages.receive_begin": "MQDMPR-3.1.7.1.11",
    "messages.peek": "MQDMPR-3.1.7.1.15",
    "messages.peek_next": "MQDMPR-3.1.7.1.14",
}
_EVENT = {
    "messages.receive": CursorEvent.DEQUEUE,
    "messages.receive_begin": CursorEvent.DEQUEUE,
    "messages.peek": CursorEvent.PEEK,
    "messages.peek_next": CursorEvent.PEEK_NEXT,
}
# Beginning a receive is a receive that locks. Where its own section is silent, the section of the receive applies.
_OWN = {
    "messages.receive_begin": {
        "MQDMPR-3.1.7.1.11.waits": "MQDMPR-3.1.7.1.10.waits",
        "MQDMPR-3.1.7.1.11.skips-locked": "MQDMPR-3.1.7.1.10.skips-locked",
        "MQDMPR-3.1.7.1.11.no-wait": "MQDMPR-3.1.7.1.11.io-timeout",
        "MQDMPR-3.1.7.1.10.message-already-received": "MQDMPR-3.1.7.1.11.message-already-received",
    }
}


def own(method: str, requirement: str) -> str:
    """Map a requirement to the one that its method's own section has for it, if any."""
    return _OWN.get(method, {}).get(requirement, requirement)


_FIRST = {method: (f"{section}.first-available",) for method, section in SECTION.items()}
_NO_WAIT = {method: own(method, f"{section}.no-wait") for method, section in SECTION.items()}
_SKIPS_LOCKED = {method: own(method, f"{section}.skips-locked") for method, section in SECTION.items()}
# Looking up an Enum member is slow, so the most used modules bind the members once.
_AVAILABLE, _DELETED = PositionState.AVAILABLE, PositionState.DELETED
_UNREAD, _READ = CursorState.UNREAD, CursorState.READ
_WAIT_PEEK, _WAIT_RECEIVE = CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE
_PEEK, _PEEK_NEXT, _DEQUEUE = CursorEvent.PEEK, CursorEvent.PEEK_NEXT, CursorEvent.DEQUEUE
_WAIT_EXPIRED = CursorEvent.WAIT_EXPIRED
_FOUND, _NOT_FOUND, _NOT_FOUND_NO_WAIT = Guard.FOUND, Guard.NOT_FOUND, Guard.NOT_FOUND_NO_WAIT
_IS_AVAILABLE, _UNAVAILABLE = Guard.AVAILABLE, Guard.UNAVAILABLE


@value
class _Standing:
    """A cursor under one reading. since: see only what became available after this event. ended: its last wait."""

    cursor: Cursor
    readings: tuple[Assumption, ...] = ()
    since: int | None = None
    ended: str | None = None


def read(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Return the allowed outcomes of a receive, begun receive, peek or peek next."""
    refusal = refused(rules, state, call)
    if refusal.final:
        return refusal.outcomes
    queue = state.queues[state.handles[call.handle or ""].queue]
    if call.cursor is not None:
        return (*refusal.outcomes, *_by_cursor(rules, state, call, queue, state.cursors[call.cursor]))
    if call.method == "messages.peek_next":
        return (*refusal.outcomes, *_without_cursor(rules, state, call))
    first = _FIRST[call.method]
    found = [_found(rules, state, call, sought, first, None) for sought in seek(queue, START)]
    return (*refusal.outcomes, *found) if refusal.outcomes else found


def _without_cursor(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Yield the outcomes of a peek-next without a cursor: it fails, or is a peek."""
    known = rules.accepted(state, PEEK_NEXT_PLAIN)
    must = "MQDMPR-3.1.7.1.14.cursor-required"
    for alternative in known:
        ways = [Expected(Fails(must), must, state)]
        if alternative == "peeks":
            ways = list(read(rules, state, replace(call, method="messages.peek")))
        assumed = ((PEEK_NEXT_PLAIN, alternative),) if len(known) > 1 else ()
        yield from (replace(way, readings=(*way.readings, *assumed)) for way in ways)


def _by_cursor(rules: Rules, state: State, call: Call, queue: Queue, cursor: Cursor) -> Iterator[Expected]:
    for standing in _standings(rules, state, cursor):
        if standing.ended != cursor.ended:
            standing = replace(standing, ended=cursor.ended)
        if standing.cursor is not cursor:
            yield from _with_cursor(rules, state.put(standing.cursor), call, queue, standing)
        else:
            yield from _with_cursor(rules, state, call, queue, standing)


def _standings(rules: Rules, state: State, cursor: Cursor) -> Iterator[_Standing]:
    """Yield the places where the cursor may stand: several only if its last use was a wait that found nothing."""
    if cursor.ended is None:
        if cursor.at == END:
            yield from _at_end(rules, state, _Standing(cursor))
        else:
            yield _Standing(cursor)
        return
    here = replace(cursor, ended=None)
    if cursor.ended == "receive":
        at_end = replace(here, state=_UNREAD, message=None, at=END)
        yield from _at_end(rules, state, _Standing(at_end))
        return
    if cursor.ended == "peek":
        yield from _after_peek(rules, state, cursor, ())
        return
    for alternative in rules.accepted(state, POLL):
        if alternative == "no-effect":
            yield _Standing(replace(here, ended_at=None), ((POLL, alternative),))
        else:
            yield from _after_peek(rules, state, cursor, ((POLL, alternative),))


def _after_peek(rules: Rules, state: State, cursor: Cursor, assumed: tuple[Assumption, ...]) -> Iterator[_Standing]:
    """Yield the places where a cursor may stand after a peek that timed out."""
    unread = replace(cursor, ended=None, state=_UNREAD, message=None)
    was_read = cursor.state is _READ
    for alternative in rules.accepted(state, PEEK_TIMEOUT_STATE):
        how = (*assumed, (PEEK_TIMEOUT_STATE, alternative)) if was_read else assumed
        if alternative == "as-before" and was_read:
            yield _Standing(replace(cursor, ended=None, ended_at=None), how)
            continue
        if alternative == "as-before" and rules.accepts(state, PEEK_TIMEOUT_STATE, "unread"):
            continue  # it was Unread before, so both alternatives mean the same
        for position in rules.accepted(state, PEEK_TIMEOUT_POSITION):
            here = (*how, (PEEK_TIMEOUT_POSITION, position))
            if position == "as-before":
                yield _Standing(replace(unread, ended_at=None), here)
            else:
                yield from _at_end(rules, state, _Standing(replace(unread, at=END), here))


def _at_end(rules: Rules, state: State, standing: _Standing) -> Iterator[_Standing]:
    """Yield a cursor behind the last message: a reading decides whether it sees messages that arrived since."""
    for alternative in rules.accepted(state, PARKED):
        since = standing.cursor.ended_at if alternative == "sees-arrivals" else None
        yield _Standing(standing.cursor, (*standing.readings, (PARKED, alternative)), since)


def _with_cursor(rules: Rules, state: State, call: Call, queue: Queue, standing: _Standing) -> Iterator[Expected]:
    cursor, event = standing.cursor, _EVENT[call.method]
    if cursor.state is _UNREAD and event is _PEEK_NEXT:
        row = cursor_transition(cursor.state, event)
        must = "MQDMPR-3.2.7.3.illegal-cursor-action"
        also = (
            "MQDMPR-3.1.7.1.14.illegal-cursor-action",
            "MQDMPR-3.1.7.1.14.illegal-cursor-action-code",
            _why_unread(standing),
        )
        code = f"{must}-code"
        fails = Fails(must, code, (hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION,))
        state = state.put(replace(cursor, refused=f"{must}-stays"))
        yield Expected(fails, must, state, also, readings=standing.readings, transitions=(row.id,))
        return
    if cursor.state is _READ and event is not _PEEK_NEXT:
        position = queue.find(cursor.message or "")
        if position is None or not position.available:
            yield _already_received(rules, state, call, cursor, position is None or position.holder is None, standing)
        else:
            row = cursor_transition(cursor.state, event, _IS_AVAILABLE)
            yield _found(rules, state, call, Sought(position, queue), row.requirements, row, standing.readings)
        return
    ways = starts(rules, state, queue, cursor) if standing.since is None else ((START, standing.since, ()),)
    for start, since, assumed in ways:
        for sought in seek(queue, start, since=since):
            if sought.position is not None:
                guard = _FOUND
            else:
                guard = _NOT_FOUND
                if event is _DEQUEUE and call.timeout_ms == 0:
                    guard = _NOT_FOUND_NO_WAIT
            row = cursor_transition(cursor.state, event, guard)
            yield _found(rules, state, call, sought, row.requirements, row, (*standing.readings, *assumed))


def _why_unread(standing: _Standing) -> str:
    cursor = standing.cursor
    if standing.ended is not None:
        return f"MQDMPR-3.2.7.6.{'receive' if standing.ended == 'receive' else 'peek'}-unread"
    return "MQDMPR-3.2.7.1.unread" if cursor.at == START else "MQDMPR-3.2.7.4.becomes-unread"


def _already_received(
    rules: Rules, state: State, call: Call, cursor: Cursor, gone: bool, standing: _Standing
) -> Expected:
    """Fail because the cursor's message is gone or locked. For a locked one, a reading allows other codes."""
    row = cursor_transition(cursor.state, _EVENT[call.method], _UNAVAILABLE)
    must = own(call.method, row.requirements[0])
    code = hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
    if gone:
        fails = Fails(must, f"{must}-code", (code,))
    else:
        each = tuple(
            (name, code if name == "already-received" else None) for name in rules.accepted(state, CURSOR_LOCKED)
        )
        fails = Fails(must, f"{must}-code", reading=CURSOR_LOCKED, by_reading=each)
    return Expected(fails, must, state, row.requirements[1:], readings=standing.readings, transitions=(row.id,))


def _found(
    rules: Rules,
    state: State,
    call: Call,
    sought: Sought,
    requirements: tuple[str, ...],
    row: CursorTransition | None,
    readings: tuple[Assumption, ...] = (),
) -> Expected:
    """Return the outcome of a seek: success for a message found, a failure or a wait for none."""
    if sought.queue is not state.queues[sought.queue.name]:
        state = state.put(sought.queue)
    rows = (row.id, *sought.rows) if row is not None else sought.rows
    position = sought.position
    if position is None:
        return _nothing(rules, state, call, sought.queue, readings, rows)
    if row is None and state.transactions:
        state = _hidden(state, sought.queue, position.rank)
    also = [*requirements[1:], position.claim, *_shown(state, call, sought.queue, position.rank)]
    if row is None:
        also += order_shown(sought.queue, position)
    if row is not None and call.cursor is not None:
        cursor = state.cursors[call.cursor]
        if row.event is _PEEK and row.source is _UNREAD and cursor.at == START:
            also.append("MQDMPR-3.2.7.1.starts-before-first")
        if row.event is not _PEEK_NEXT and row.source is _UNREAD and cursor.at != START:
            also.append("MQDMPR-3.2.7.4.continues")
        behind = sought.queue.find(cursor.message or "") if row.event is _PEEK_NEXT else None
        if behind is not None and behind.state is _DELETED:
            also.append("MQDMPR-3.1.1.11.next-of-removed")
        peeked = position.message if row.target is _READ else None
        state = state.put(Cursor(cursor.name, cursor.handle, row.target, position.rank, peeked))
    if call.method in TAKING:
        begun = _begun(call, sought.queue.name, position.message)
        state, taken = take(state, sought.queue.name, position, call.transaction, begun)
        rows += (taken,)
    else:
        state = note_peeked(state, sought.queue.name, position, call.method)
    return Expected(
        Succeeds(position.message), requirements[0], state.tick(), tuple(dict.fromkeys(also)), (), readings, rows
    )


def _hidden(state: State, queue: Queue, limit: Rank | None) -> State:
    """Note that this read has shown messages held by transactions before `limit` to be hidden."""
    for position in queue.positions:
        if limit is not None and position.rank > limit:
            break
        if position.holder is not None and not position.steady:
            state = state.with_position(queue.name, replace(position, steady=True))
    return state


def _begun(call: Call, queue: str, message: str) -> BegunRead | None:
    if call.method != "messages.receive_begin":
        return None
    if call.name is None or call.handle is None:
        raise BadCall(f"{call.method} needs a name")
    return BegunRead(call.name, call.handle, queue, message)


def _shown(state: State, call: Call, queue: Queue, limit: Rank | None) -> tuple[str, ...]:
    """Return the requirements shown by passing over unavailable messages, for the method that did so."""
    positions = queue.positions
    if not positions or (call.cursor is not None and call.method != "messages.peek_next"):
        return ()
    claims = passed_over(queue, limit)
    if not claims:
        return ()
    if call.cursor is not None:
        return ("MQDMPR-3.2.7.3.skips-unavailable",)
    for position in positions:
        if limit is not None and position.rank >= limit:
            break  # positions are sorted by rank
        if position.state is not _DELETED and position.state is not _AVAILABLE:
            return (*claims, _SKIPS_LOCKED[call.method])
    return claims


def _nothing(
    rules: Rules,
    state: State,
    call: Call,
    queue: Queue,
    readings: tuple[Assumption, ...],
    rows: tuple[str, ...],
) -> Expected:
    """Return the outcome of a read that finds no message: a failure with time-out zero, otherwise a wait."""
    section = SECTION[call.method]
    shown = _shown(state, call, queue, None)
    if call.cursor is None and state.transactions:
        state = _hidden(state, queue, None)
    if call.timeout_ms > 0:
        deadline = None if call.timeout_ms == INFINITE else state.now + call.timeout_ms
        if call.name is None:
            raise BadCall(f"{call.method} may wait and needs a name")
        waiter = Waiter(call.name, call.method, call.handle or "", queue.name, call.cursor, call.transaction, deadline)
        if call.cursor is not None:
            cursor = state.cursors[call.cursor]
            target = _WAIT_RECEIVE if call.method in TAKING else _WAIT_PEEK
            state = state.put(replace(cursor, state=target, ended=None))
        waits = own(call.method, f"{section}.waits")
        state = replace(state, waiters=(*state.waiters, waiter), waited=(*state.waited, call.name)).tick()
        return Expected(Blocks(), waits, state, shown, (), readings, rows)
    state = state.tick()
    with_cursor = call.cursor is not None and call.method in TAKING
    must = f"{section}.message-not-found" if with_cursor else _NO_WAIT[call.method]
    if call.cursor is not None and not with_cursor:
        cursor = state.cursors[call.cursor]
        waits_as = cursor_transition(_WAIT_PEEK, _WAIT_EXPIRED)
        rows += (waits_as.id,)
        state = state.put(parked(cursor, "poll", state.events))
    if with_cursor:
        shown += ("MQDMPR-3.2.7.4.not-found",)
    fails = _finds_nothing(must, with_cursor, rules.accepted(state, ZERO_TIMEOUT))
    return Expected(fails, must, state, shown, (), readings, rows)


@lru_cache(1024)
def _finds_nothing(must: str, with_cursor: bool, accepted: tuple[str, ...]) -> Fails:
    """Return the failure of a read that does not wait. Cached: few arguments recur."""
    timeout, not_found = hresults.MQ_ERROR_IO_TIMEOUT, hresults.MQ_ERROR_MESSAGE_NOT_FOUND
    codes = {
        "by-kind": not_found if with_cursor else timeout,
        "io-timeout": timeout,
        "message-not-found": not_found,
    }
    each = tuple((name, codes[name]) for name in accepted)
    return Fails(must, f"{must}-code", reading=ZERO_TIMEOUT, by_reading=each)
