"""Outgoing queues: open, send, pause, resume and transfer; and the session between one and its destination."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from typing import Final

from conformance.model import sends_and_commits
from conformance.model.arrivals import after_event
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Assumption, Either, Expected, Succeeds, Transfers
from conformance.model.journal_copies import with_kept
from conformance.model.journals import (
    DEAD_LETTER_TRANSACTIONAL,
    HTTP,
    SYSTEM_JOURNAL,
    Keeping,
    Wishes,
    copy_name,
    is_multicast,
)
from conformance.model.management_rows import STATUSES
from conformance.model.queues import named
from conformance.model.rules import DISPATCH_ORDER, HOLD_AFTER_RESTART, Rules
from conformance.model.state import Handle, Management, Outgoing, Position, Queue, Session, State, Step
from conformance.model.tables import (
    OutgoingEvent,
    OutgoingState,
    OutgoingTransition,
    PositionEvent,
    PositionState,
    outgoing_transition,
)
from conformance.model.values import replace

MAX_DOUBTFUL = 6  # messages that a restart may have lost; each doubles the outcomes, and no history needs more
_ON_HOLD, _LOCKED = OutgoingState.ON_HOLD, OutgoingState.LOCKED


def open_remote(state: State, call: Call) -> Expected:
    """Open Queue, for a queue of another computer: create its outgoing queue, unless there is one (3.1.7.1.5)."""
    if call.access != "send" or call.share == "deny_receive":
        raise BadCall("a queue of another computer is only sent to")
    name = call.queue or ""
    rows: tuple[str, ...] = ()
    if name not in state.queues:
        event = OutgoingEvent.OPEN_HARDENED if _locks(state, name) else OutgoingEvent.OPEN
        row = outgoing_transition(OutgoingState.START, event)
        state = state.put(Queue(name, transactional=False, outgoing=Outgoing(row.target)))
        rows = (row.id,)
    opened = state.put(Handle(named(call.name), name, "send", "deny_none"))
    return Expected(Succeeds(), "MQDMPR-3.1.7.1.5.remote-send", opened, transitions=rows)


def _locks(state: State, name: str) -> bool:
    """Tell whether hardened security keeps an outgoing queue from transfers: one that HTTP does not reach."""
    return state.hardened and name != HTTP


def harden(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Set the computer's security (MS-MQDMPR 3.1.1.1). The adapter does this; the documents demand no answer."""
    yield Expected(Either(), "", replace(state, hardening=call.hardened))


def send(rules: Rules, state: State, call: Call, wishes: Wishes | None = None) -> Iterator[Expected]:
    """Enqueue Message. This queue manager does not know whether the destination is transactional."""
    queue = state.queues[state.handles[call.handle or ""].queue]
    fitting = state.put(replace(queue, transactional=call.transaction is not None))
    for expected in sends_and_commits.send(rules, fitting, call, wishes):
        after = replace(expected.next.queues[queue.name], transactional=False)
        yield replace(expected, next=expected.next.put(after))


def pause(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Pause Queue (MS-MQDMPR 3.1.4.14, 3.1.7.2.3)."""
    queue, found = _changeable(state, call.queue or "")
    row = outgoing_transition(found.state, OutgoingEvent.PAUSE)
    state = state.tick()
    held = found.held and found.state is _ON_HOLD
    now = replace(found, state=row.target, by=call.method, since=state.events, paused=state.events, held=held)
    yield Expected(Succeeds(), row.claim, state.put(replace(queue, outgoing=now)), transitions=(row.id,))


def resume(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Resume Queue (MS-MQDMPR 3.1.4.15, 3.1.7.2.4)."""
    queue, found = _changeable(state, call.queue or "")
    row = outgoing_transition(found.state, OutgoingEvent.RESUME)
    state = state.tick()
    now = replace(found, state=row.target, by=call.method, since=state.events)
    yield Expected(Succeeds(), row.claim, state.put(replace(queue, outgoing=now)), transitions=(row.id,))


def take(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transfer messages: none while the queue is on hold or locked, otherwise all available ones, which then leave."""
    queue, found = _binary(state, call.queue or "")
    there = [position for position in queue.positions if position.available]
    row = outgoing_transition(found.state, OutgoingEvent.TAKE)
    if found.state in (_ON_HOLD, _LOCKED):
        shows = any(not position.doubtful for position in there)
        after = state.put(replace(queue, outgoing=replace(found, held=found.held or shows))).tick()
        claims = _held_claims if found.state is _ON_HOLD else locked_claims
        also = claims(state, queue, found) if shows else ()
        yield Expected(Transfers(()), row.claim if shows else "", after, also, transitions=(row.id,))
        return
    doubtful = [position for position in there if position.doubtful]
    if len(doubtful) > MAX_DOUBTFUL:
        raise BadCall("too many messages may have been lost")
    for kept in product((True, False), repeat=len(doubtful)):
        lost = {position.message for position, stays in zip(doubtful, kept, strict=True) if not stays}
        coming = [position for position in there if position.message not in lost]
        for groups, assumed in orders(rules, state, coming):
            after, rows = _transferred(state, queue, there, lost)
            claim = _claim(row, found) if coming else ""
            also = (*_given_claims(state, queue, found, coming), *_order_claims(groups, coming))
            yield Expected(Transfers(groups), claim, after, also, (), assumed, (row.id, *rows))


def restart(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Restart the manager as `sends_and_commits.restart` does, and with it the state of outgoing queues."""
    state = state if state.hardened == state.hardening else replace(state, hardened=state.hardening)
    remote = [queue for queue in state.queues.values() if queue.outgoing is not None]
    if not remote:
        yield from sends_and_commits.restart(rules, state, call)
        return
    on_hold = any(_held(queue) and not _locks(state, queue.name) for queue in remote)
    for expected in sends_and_commits.restart(rules, state, call):
        for alternative in rules.accepted(state, HOLD_AFTER_RESTART) if on_hold else ("forgotten",):
            after, rows = expected.next, expected.transitions
            for queue in remote:
                after, row = _restarted(after, queue.name, keeping=alternative == "kept")
                rows = (*rows, row.id)
            assumed: tuple[Assumption, ...] = ((HOLD_AFTER_RESTART, alternative),) if on_hold else ()
            yield replace(expected, next=after, transitions=rows, readings=(*expected.readings, *assumed))


def _held(queue: Queue) -> bool:
    return queue.outgoing is not None and queue.outgoing.state is _ON_HOLD


def _restarted(state: State, name: str, *, keeping: bool) -> tuple[State, OutgoingTransition]:
    queue = state.queues[name]
    found = queue.outgoing or Outgoing()
    if _locks(state, name):
        row = outgoing_transition(found.state, OutgoingEvent.START_HARDENED)
        by = "again" if found.state is _LOCKED else "restart"
        now = replace(found, state=row.target, by=by, since=state.events, held=False)
        return state.put(replace(queue, outgoing=now)), row
    keeps = keeping and found.state is _ON_HOLD
    row = outgoing_transition(found.state, OutgoingEvent.RESTART_KEEPING if keeps else OutgoingEvent.RESTART)
    if keeps:  # the hold from before the restart goes on
        return state.put(replace(queue, outgoing=replace(found, state=row.target))), row
    by = "unlock" if found.state is _LOCKED else "restart"
    now = replace(found, state=row.target, by=by, since=state.events, held=False)
    return state.put(replace(queue, outgoing=now)), row


def outgoing_queue(state: State, name: str) -> tuple[Queue, Outgoing]:
    """Return an outgoing queue. Raises BadCall where no section says what a call on it leads to."""
    queue = state.queues.get(name)
    if queue is None or queue.outgoing is None:
        raise BadCall(f"no section says what such a call leads to: {name} is not outgoing")
    if not any(handle.queue == queue.name for handle in state.handles.values()) and state.restarts:
        raise BadCall("after a restart the queue is opened first: that it is there without is not said")
    return queue, queue.outgoing


def _changeable(state: State, name: str) -> tuple[Queue, Outgoing]:
    """Return an outgoing queue that is to be paused or resumed."""
    queue, found = outgoing_queue(state, name)
    if found.state is _LOCKED:
        raise BadCall("whether a queue that was locked transfers once it is resumed is not settled")
    return queue, found


def _binary(state: State, name: str) -> tuple[Queue, Outgoing]:
    """Return an outgoing queue whose messages go in the packets of these documents."""
    if name == HTTP:
        raise BadCall("what is transferred over HTTP is in no packets of these documents")
    return outgoing_queue(state, name)


def _transferred(state: State, queue: Queue, there: Sequence[Position], lost: set[str]) -> tuple[State, list[str]]:
    rows: list[str] = []
    for position in there:
        new, row = after_event(position, PositionEvent.LOSE if position.message in lost else PositionEvent.TRANSFER)
        state = state.with_position(queue.name, replace(new, doubtful=False))
        rows.append(row)
    return state.tick(), rows


def orders(
    rules: Rules, state: State, coming: Sequence[Position]
) -> Iterator[tuple[tuple[tuple[str, ...], ...], tuple[Assumption, ...]]]:
    """Yield the allowed orders of transfer: by priority and, under all readings but one, by arrival."""
    by_priority = [[item.message for item in group] for _, group in groupby(coming, lambda item: item.priority)]
    one_by_one = tuple((position.message,) for position in coming)
    if len(by_priority) == len(coming):
        yield one_by_one, ()
        return
    ways = {"queue-state-heeded": one_by_one, "as-written": tuple(map(tuple, by_priority))}
    for alternative in rules.accepted(state, DISPATCH_ORDER):
        yield ways[alternative], ((DISPATCH_ORDER, alternative),)


def _claim(row: OutgoingTransition, found: Outgoing) -> str:
    """Return the requirement that a transfer shows: the last operation on the queue lets transfer go on."""
    if found.by == "outgoing.resume":
        return "MQDMPR-3.1.7.2.4.inactive" if found.paused is None else "MQDMPR-3.1.4.15.resumes"
    if found.by == "restart" and found.paused is not None:
        return "MQDMPR-3.1.1.volatile"
    return "MQDMPR-3.1.3.unlock" if found.by == "unlock" else row.claim


def locked_claims(state: State, queue: Queue, found: Outgoing) -> tuple[str, ...]:
    """Return what it shows that a queue is locked, the requirement first that is broken if it is not."""
    if found.by == "queues.open":  # a queue that is one by its name shows that its making heeds the security
        return LOCKED_WHEN_MADE if is_multicast(queue.name) else LOCKED_WHEN_MADE[::-1]
    if found.by == "again":
        return ("MQDMPR-3.1.1.1.hardened-security",)
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    each = any(other.state is _LOCKED and other.by == found.by for other in others)
    return (*LOCKED_AT_START, EACH) if each else LOCKED_AT_START


def _held_claims(state: State, queue: Queue, found: Outgoing) -> tuple[str, ...]:
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    resumed = any(other.by == "outgoing.resume" and other.since > found.since for other in others)
    also = ("MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.4.14.pauses")
    return (*also, "MQDMPR-3.1.4.15.resumed-queue") if resumed else also


def _given_claims(state: State, queue: Queue, found: Outgoing, coming: Sequence[Position]) -> Iterator[str]:
    if not coming:
        return
    yield from dict.fromkeys(position.claim for position in coming)
    if any(item.state is PositionState.SENDING for item in queue.positions):
        yield "MQDMPR-3.1.7.1.9.uncommitted-locked"
    transferred = {item.message for item in queue.positions if item.state is PositionState.DELETED}
    if transferred:
        yield "MQDMPR-3.1.7.1.29.atomically-removed"
    if found.by == "outgoing.resume" and found.paused is not None:
        yield "MQDMPR-3.1.7.2.4.inactive"
        if any(item.since <= found.paused for item in coming):
            yield "MQDMPR-3.1.7.1.34.removed"
    others = [other for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if found.by == "unlock":
        yield "MQDMPR-3.1.3.locked-not-hardened"
    if any(item.available for other in others for item in other.positions):
        yield "MQDMPR-3.1.7.1.9.only-destination"
    if any(other.outgoing is not None and other.outgoing.state is _ON_HOLD for other in others):
        yield "MQDMPR-3.1.4.14.paused-queue"


def _order_claims(groups: Sequence[Sequence[str]], coming: Sequence[Position]) -> Iterator[str]:
    if len({position.priority for position in coming}) > 1:
        yield "MQDMPR-3.1.7.3.9.highest-priority"
    if len(groups) == len(coming) > len({position.priority for position in coming}):
        yield "MQDMPR-3.1.1.2.arrival-order"


CONNECTION, TRANSFER, ACKNOWLEDGE = "management.connection", "management.transfer", "management.acknowledge"
CONNECTED: Final = "CONNECTED"
ACK_RECEIVE: Final = 0x4000  # MS-MQMQ 2.2.18.1.6
STATES: Final = {
    "INACTIVE": "MQDMPR-3.1.1.3.state-inactive",
    "WAITING": "MQDMPR-3.1.1.3.state-waiting",
    "CONNECTED": "MQDMPR-3.1.1.3.state-connected",
    "DISCONNECTING": "MQDMPR-3.1.1.3.state-disconnecting",
    "DISCONNECTED": "MQDMPR-3.1.1.3.state-disconnected",
    "NEED VALIDATION": "MQDMPR-3.1.1.3.state-need-validation",
    "ONHOLD": "MQDMPR-3.1.1.3.state-on-hold",
    "LOCKED": "MQDMPR-3.1.1.3.state-locked",
}
"""The text of a state, and the requirement on its meaning."""
LOCKED_WHEN_MADE: Final = ("MQDMPR-3.1.7.1.5.hardened-locked", "MQDMPR-3.1.7.1.5.hardened-state")
LOCKED_AT_START: Final = ("MQDMPR-3.1.3.lock", "MQDMPR-3.1.3.not-http-hardened")
EACH: Final = "MQDMPR-3.1.3.for-each-outgoing-queue"
_UNRESOLVED: Final = frozenset({"dns_failure", "routing_data_not_available"})
_SECOND: Final = 1000
INTERVALS: Final = (*(30,) * 3, *(300,) * 3, *(1800,) * 3, 21_600)
"""Seconds of the ResendTimerTable, MS-MQQB 3.1.3.1, as they are by default: Short, Medium, Long and Final."""


def _management(state: State) -> Management:
    return state.management or Management()


def session_of(state: State, queue: str) -> Session:
    """Return the session of an outgoing queue; a new one for a queue that has had none."""
    return _management(state).sessions.get(queue) or Session()


def with_session(state: State, queue: str, session: Session) -> State:
    """Return the state with this session."""
    state = replace(state, keeping=state.keeping or Keeping())
    return replace(state, management=_management(state).having(queue, session))


def again(state: State, queue: str) -> State:
    """Return the state in which transactional messages without an order acknowledgment are to be transferred again."""
    session = session_of(state, queue)
    pending = frozenset(session.awaiting) & frozenset(session.sent)
    if not session.sent:
        return state
    return with_session(state, queue, replace(session, due=session.due | pending, why="EOD_RESEND"))


def connection(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Take one step of the connection."""
    queue, found = _binary(state, call.queue or "")
    session, step = session_of(state, queue.name), call.step or ""
    if step not in STATUSES and step not in ("closing", "closed"):
        raise BadCall(f"{step} is no step of a connection")
    addresses = call.addresses or (session.steps[-1].addresses if session.steps else ())
    if step in ("in_process", "established") and not call.addresses:
        raise BadCall(f"{step} needs addresses")
    steps = (*session.steps, Step(step, None, call.error, addresses)) if step in STATUSES else session.steps
    changes: dict[str, object] = {"steps": steps}
    if step in ("in_process", "established") and not session.due.issuperset(session.sent):
        changes["torn"] = True  # no section says what becomes of a session when another one is begun beside it
    if step == "closed":
        changes |= {
            "due": frozenset(session.sent),
            "why": "closed",
            "stored": frozenset(),
            "torn": False,
            "acked": None,
            "acks": None,
            "place": None,
            "emptied": False,
            "acked_at": None,
            "sent_ms": None,
        }
    if found.state not in (_ON_HOLD, _LOCKED):
        waits = any(position.available for position in queue.positions)
        changes |= _moved(session, step, addresses, waits=waits)
    after = with_session(state, queue.name, replace(session, **changes))
    yield Expected(Succeeds(), "MQDMPR-3.1.1.3.connection-history", after.tick())


def _moved(session: Session, step: str, addresses: tuple[str, ...], *, waits: bool) -> dict[str, object]:
    if step == "in_process":
        return {"state": "WAITING", "hops": addresses}
    if step == "established":
        return {"state": CONNECTED, "hops": addresses[:1]}
    if step in _UNRESOLVED and waits:
        return {"state": "NEED VALIDATION"}
    ended = {"closing": "DISCONNECTING", "closed": "DISCONNECTED"}.get(step)
    return {"state": ended} if ended is not None else {}


def transfer(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transfer messages to the destination, which has yet to acknowledge them."""
    queue, found = _binary(state, call.queue or "")
    session = session_of(state, queue.name)
    there = [position for position in queue.positions if position.available]
    silent = _silent(state, found.state, session)
    if silent is not None:
        yield Expected(Transfers(()), silent if there else "", state.tick())
        return
    if session.torn or any(position.doubtful for position in there):
        raise BadCall("which messages are transferred now is not said")
    due = _due(state, session, there)
    coming = [position for position in there if position.message in due or position.message not in session.sent]
    for groups, assumed in orders(rules, state, coming):
        if call.count is not None and call.count < len(coming):
            if any(len(group) > 1 for group in groups):
                if rules.accepted(state, DISPATCH_ORDER)[0] != "as-written":
                    continue
                raise BadCall("which messages are the first is not said")
            groups = groups[: call.count]
        names = [name for group in groups for name in group]
        after = with_session(state, queue.name, transferred(state, queue, session, names, due))
        yield Expected(Transfers(groups), _shows(state, session, names), after.tick(), (), (), assumed)


def _silent(state: State, held: OutgoingState, session: Session) -> str | None:
    """Return the requirement that nothing is transferred now; None where messages are."""
    if held in (_ON_HOLD, _LOCKED):
        return STATES["ONHOLD" if held is _ON_HOLD else "LOCKED"]
    if session.state != CONNECTED:
        return STATES[session.state]
    management = _management(state)
    if management.connected is None and management.by:
        raise BadCall("whether the machine is connected after a restart is not said")
    return "MQDMPR-3.1.4.12.disconnected" if management.connected is False else None


def _due(state: State, session: Session, there: Sequence[Position]) -> frozenset[str]:
    """Return the messages that are to be transferred again."""
    pending = frozenset(session.awaiting) & frozenset(session.sent)
    if not pending or session.sent_ms is None or state.now - session.sent_ms < _SECOND:
        return session.due
    waited, interval = state.now - session.sent_ms, _interval(session)
    if abs(waited - interval) <= _SECOND:
        raise BadCall("whether the resend interval has passed is not sure")
    return session.due | pending if waited > interval else session.due


def _interval(session: Session) -> int:
    """Return the resend interval in milliseconds: as it was read, otherwise the one that it should be."""
    return (session.interval or INTERVALS[session.place or 0]) * 1000


def _shows(state: State, session: Session, names: Sequence[str]) -> str:
    if not names:
        return ""
    if all(name in session.sent for name in names):
        if not session.due:
            return "MQDMPR-3.1.1.4.eod-resend-interval"
        return "MQMR-3.1.4.2.eod-resend" if session.why == "EOD_RESEND" else STATES[CONNECTED]
    return "MQDMPR-3.1.4.13.connected" if _management(state).by == "CONNECT" else STATES[CONNECTED]


def sure(state: State, name: str) -> bool:
    """Tell whether it is sure what a transfer of this outgoing queue brings now."""
    session, queue, management = session_of(state, name), state.queues[name], _management(state)
    waited = 0 if session.sent_ms is None or not session.numbers else state.now - session.sent_ms
    near = abs(waited - _interval(session)) <= _SECOND
    return not (
        session.torn
        or (management.connected is None and bool(management.by))
        or (waited >= _SECOND and near)
        or any(position.available and position.doubtful for position in queue.positions)
    )


def transferred(state: State, queue: Queue, session: Session, names: Sequence[str], due: Iterable[str]) -> Session:
    """Return the session after these messages were transferred, in this order."""
    numbers, following = list(session.numbers), session.following
    known, sends = dict(numbers), session.sends
    transactional = [name for name in names if state.position(queue.name, name).transactional]
    last = max(known, key=lambda name: known[name]) if known else None
    for name in transactional:
        if name not in known:
            numbers.append((name, following))
            following, last, sends = following + 1, name, 1
        elif name == last:
            sends += 1
    rest = tuple(name for name in session.sent if name not in names)
    return replace(
        session,
        sent=(*rest, *names),
        stored=session.stored - frozenset(names),
        due=frozenset(due) - frozenset(names),
        why="" if names else session.why,
        numbers=tuple(numbers),
        following=following,
        sends=sends,
        sent_ms=state.now if transactional else session.sent_ms,
        sent_at=None if transactional else session.sent_at,
        waits=session.interval if transactional else session.waits,
    )


def acknowledge(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Take an acknowledgment from the destination."""
    queue, found = _binary(state, call.queue or "")
    session = session_of(state, queue.name)
    if found.state in (_ON_HOLD, _LOCKED) or session.state != CONNECTED or session.torn:
        raise BadCall("an acknowledgment comes on a connection alone")
    if call.action == "session":
        after = _stored(state, queue, session, call.count or 0)
    elif call.action == "order":
        after = _in_order(state, queue, session, call.number or 0)
    elif call.action == "final":
        after = _final(state, queue, session, call.message or "", call.klass or 0)
    else:
        raise BadCall(f"{call.action} is no kind of acknowledgment")
    yield Expected(Succeeds(), STATES[CONNECTED], after.tick())


def _stored(state: State, queue: Queue, session: Session, count: int) -> State:
    """Store the oldest messages; those that are not transactional leave the queue."""
    new = [name for name in session.sent if name not in session.stored and name not in session.due][:count]
    stored = session.stored | frozenset(new)
    leaving = [name for name in new if not queue_position(queue, name).transactional]
    state = _left(state, queue, leaving)
    for name in leaving:
        wishes = queue_position(queue, name).wishes
        if wishes is not None and wishes.journal:
            state = _copied(state, queue, name, SYSTEM_JOURNAL, "MQDMPR-3.1.1.12.positive-journaling")
    sent = tuple(name for name in session.sent if name not in leaving)
    return with_session(state, queue.name, replace(session, sent=sent, stored=stored - frozenset(leaving)))


def _in_order(state: State, queue: Queue, session: Session, number: int) -> State:
    """Take an order acknowledgment up to a number of the present sequence."""
    pending = session.awaiting
    if number < 1 or number >= session.following:
        raise BadCall("nothing of this number was transferred")
    done = [name for name, its in pending.items() if its <= number]
    if any(name not in session.stored for name in done):
        raise BadCall("a message that is acknowledged in order has a session acknowledgment")
    acks = None if session.acks is None else session.acks + 1
    late = session.acked is not None and number < session.acked[1]
    repeats = 1 if done else None if late or session.repeats is None else session.repeats + 1
    journaled = [name for name in done if _keeps_a_copy(queue_position(queue, name))]
    state = _left(state, queue, done)
    left = tuple((name, its) for name, its in session.numbers if name not in done)
    acked = (session.sequence, number) if done else session.acked
    changes: dict[str, object] = {
        "sent": tuple(name for name in session.sent if name not in done),
        "stored": session.stored - frozenset(done),
        "due": session.due - frozenset(done),
        "numbers": left,
        "acked": acked,
        "acks": acks,
        "repeats": repeats,
        "acked_at": None,
        "unread": (*session.unread, *journaled),
        "unread_plain": session.unread_plain + len(done) - len(journaled),
    }
    changes |= _next_interval(session, emptied=not left)
    if not left and done:  # MS-MQQB 3.1.1.5: the next message begins a new sequence
        changes |= {"following": 1, "before": session.sequence, "sequence": None}
    return with_session(state, queue.name, replace(session, **changes))


def _next_interval(session: Session, *, emptied: bool) -> dict[str, object]:
    """Return what an order acknowledgment makes of the resend interval: the next one of the table (MS-MQQB 3.1.5.6)."""
    if session.place is None:
        return {}
    place = min(session.place + 1, len(INTERVALS) - 1)
    same = INTERVALS[place] == INTERVALS[session.place] and not emptied
    return {
        "place": 0 if emptied else place,
        "emptied": emptied and INTERVALS[place] != INTERVALS[0],
        "interval": session.interval if same else None,
    }


def _final(state: State, queue: Queue, session: Session, message: str, klass: int) -> State:
    """Take the word of a message's end at its destination."""
    if message not in session.unread:
        raise BadCall("no final acknowledgment of this message is awaited")
    wishes = queue_position(queue, message).wishes
    if klass == ACK_RECEIVE:
        if wishes is not None and wishes.journal:
            state = _copied(state, queue, message, SYSTEM_JOURNAL, "MQDMPR-3.1.1.12.positive-journaling")
    elif wishes is not None and wishes.dead_letter:
        place = DEAD_LETTER_TRANSACTIONAL
        state = _copied(state, queue, message, place, "MQDMPR-3.1.1.12.negative-journaling")
    unread = tuple(name for name in session.unread if name != message)
    return with_session(state, queue.name, replace(session, unread=unread))


def queue_position(queue: Queue, message: str) -> Position:
    """Return the position of a message that was sent to this queue."""
    found = queue.find(message)
    assert found is not None
    return found


def _keeps_a_copy(position: Position) -> bool:
    return position.wishes is not None and (position.wishes.journal or position.wishes.dead_letter)


def _left(state: State, queue: Queue, names: Iterable[str]) -> State:
    for name in names:
        new, _ = after_event(queue_position(queue, name), PositionEvent.TRANSFER)
        state = state.with_position(queue.name, replace(new, doubtful=False))
    return state


def _copied(state: State, queue: Queue, message: str, place: str, claim: str) -> State:
    old = queue_position(queue, message)
    state = with_kept(state, place)
    copy = copy_name(message, place)
    rank = (old.rank[0], state.events)
    left = replace(
        old, message=copy, rank=rank, state=PositionState.AVAILABLE, claim=claim, since=state.events, wishes=None
    )
    return state.with_position(place, replace(left, doubtful=False, holder=None, tie=None))


def held_messages(state: State, queue: str) -> State:
    """Return the state after the queue was paused: what is under way is not said to be sent again or not."""
    session = _management(state).sessions.get(queue)
    if session is None or not session.sent:
        return state
    return with_session(state, queue, replace(session, torn=True))


def resumed(state: State, queue: str) -> State:
    """Return the state after the queue was resumed: it is inactive, whatever it was."""
    session = _management(state).sessions.get(queue)
    if session is None:
        return state
    torn = session.torn or bool(session.sent)
    return with_session(state, queue, replace(session, state="INACTIVE", hops=(), torn=torn))
