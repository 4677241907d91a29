"""Send messages, begin, prepare and end transactions, let time pass, cancel waits and restart the manager.

MS-MQDMPR 3.1.7.1.8-9, 3.1.7.1.17, 3.1.7.1.27, 3.1.4.3-5, 3.1.6.3, 3.1.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.model.arrivals import IN_ORDER, Branch, after_event, made_available, wait_ended
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Assumption, Completion, Expected, Fails, Result, Succeeds
from conformance.model.journals import Wishes, is_kept
from conformance.model.message_properties import options_of
from conformance.model.moves import settle_move
from conformance.model.queues import named
from conformance.model.refusals import transaction
from conformance.model.rules import (
    CANCEL_PEEK,
    DELETE_LOCKED,
    EXPIRY_START,
    PURGE_UNCOMMITTED,
    RESTART_BEGUN,
    SEND_AFTER_DELETE,
    TRANSACTION_MARKS,
    TRANSACTION_ORDER,
    TRANSACTIONAL_EXPRESS,
    Rules,
)
from conformance.model.state import Handle, Position, Queue, State, Transaction
from conformance.model.tables import (
    HELD,
    CoordinatedEvent,
    PositionEvent,
    PositionState,
    TransactionEvent,
    TransactionState,
    coordinated_transition,
    transaction_transition,
)
from conformance.model.values import replace
from conformance.spec.constants import hresults

DEFAULT_PRIORITY = 3  # MS-MQDMPR 3.1.1.12
_ENDS = {"commit": "MQDMPR-3.1.4.4", "abort": "MQDMPR-3.1.4.5"}
_ENDING = {"commit": TransactionEvent.COMMIT, "abort": TransactionEvent.ABORT}
_WAIT_SECTION = {
    "messages.receive": "MQDMPR-3.1.7.1.10",
    "messages.receive_begin": "MQDMPR-3.1.7.1.11",
    "messages.peek": "MQDMPR-3.1.7.1.15",
    "messages.peek_next": "MQDMPR-3.1.7.1.14",
}
_WAKES = {"commit": "MQDMPR-3.1.4.4.wakes-readers", "abort": "MQDMPR-3.1.4.5.wakes-readers"}

_ABSENT, _SENDING, _LOCKED = PositionState.ABSENT, PositionState.SENDING, PositionState.LOCKED
_BEGUN, _MOVING = PositionState.BEGUN, PositionState.MOVING
_PURGE_PENDING, _DELETED = PositionState.PURGE_PENDING, PositionState.DELETED
_SEND, _SEND_IN_TRANSACTION = PositionEvent.SEND, PositionEvent.SEND_IN_TRANSACTION
_COMMIT, _ABORT, _RESTART = PositionEvent.COMMIT, PositionEvent.ABORT, PositionEvent.RESTART
_SEND_ACCESS = ("MQDMPR-3.1.1.17.send-access",)
_RECEIVED = frozenset(
    {
        "MQDMPR-3.1.7.1.10.removes",
        "MQDMPR-3.1.7.1.12.deletes",
        "MQDMPR-3.1.7.1.13.receive-removes",
        "MQDMPR-3.1.4.4.receives-gone",
    }
)
_PERSISTENT = {  # the claim by which a recoverable message ended -> the requirement broken if a restart brings it back
    "MQDMPR-3.1.7.1.16.moved": "MQDMPR-3.1.1.11.recoverable-persistent",
    "MQDMPR-3.1.7.1.7.available-deleted": "MQDMPR-3.1.1.11.recoverable-persistent",
    "MQDMPR-3.1.2.4.expires": "MQDMPR-3.1.1.11.recoverable-persistent",
    "MQDMPR-3.1.4.4.move": "MQDMPR-3.1.4.4.durable",
}


def send(rules: Rules, state: State, call: Call, wishes: Wishes | None = None) -> Iterable[Expected]:
    """Enqueue Message (MS-MQDMPR 3.1.7.1.9 and .27). wishes: further options of the sender."""
    handle = state.handles.get(named(call.handle))
    if handle is None:
        raise BadCall(f"no handle {call.handle}")
    refusal = _refused(state, handle, call)
    if refusal is not None:
        return (Expected(Fails(refusal), refusal, state),)
    queue = state.queues[handle.queue]
    in_transaction = call.transaction is not None
    state = state.tick()
    priority = 0 if in_transaction else DEFAULT_PRIORITY if call.priority is None else call.priority
    absent = Position(
        named(call.message),
        (7 - priority, state.events),
        _ABSENT,
        "",
        state.events,
        in_transaction,
        call.priority,
        call.delivery,
        wishes=wishes,
        carries=call.carries,
        options=options_of(call),
    )
    if handle.lost or queue.transactional != in_transaction:
        return _nowhere(rules, state, handle, queue, absent, in_transaction)
    if in_transaction:
        event = _SEND_IN_TRANSACTION
        new, row = after_event(absent, event, holder=call.transaction, locked_at=state.events)
        after = state.with_position(queue.name, new)
        return (Expected(Succeeds(), "MQDMPR-3.1.7.1.9.success", after, transitions=(row,)),)
    new, row = after_event(absent, _SEND)
    return [
        _as_expected(branch, "MQDMPR-3.1.7.1.9.success", _SEND_ACCESS)
        for branch in made_available(rules, Branch(state, transitions=(row,)), queue.name, new, None)
    ]


def _refused(state: State, handle: Handle, call: Call) -> str | None:
    if not handle.is_open:
        return "MQDMPR-3.1.7.1.6.handle-closed"
    if handle.access != "send":
        if handle.access == "move":
            raise BadCall("no section says what a send by a handle for moving answers")
        return f"MQDMPR-3.1.1.17.{handle.access}-access-no-send"
    if call.priority is not None and not 0 <= call.priority <= 7:
        return "MQDMPR-3.1.1.12.priority-range"
    if call.transaction is not None:
        ended = transaction(state, call.transaction).ended
        if ended is not None:
            return f"{_ENDS[ended]}.transaction-ends"
    return None


def _nowhere(
    rules: Rules, state: State, handle: Handle, queue: Queue, absent: Position, in_transaction: bool
) -> Iterator[Expected]:
    """Send a message that no reader may ever see. The documents leave open whether the send fails; failing is first."""
    if handle.lost:
        claim = "MQDMPR-3.1.7.1.4.send-after-delete"
    else:
        claim = f"MQDMPR-3.1.7.1.9.{'nontransactional' if in_transaction else 'transactional'}-queue"
    gone = replace(absent, state=_DELETED, claim=claim)
    after = state.with_position(queue.name, gone)
    results: dict[str, Result] = {"refused": Fails(claim), "lost": Succeeds()}
    if not handle.lost:  # the documents only say that no reader sees the message
        for result in results.values():
            yield Expected(result, claim, after)
        return
    for alternative in rules.accepted(state, SEND_AFTER_DELETE):
        yield Expected(results[alternative], claim, after, readings=((SEND_AFTER_DELETE, alternative),))


def begin(rules: Rules, state: State, call: Call) -> Iterable[Expected]:
    """Create Transaction (MS-MQDMPR 3.1.7.1.8)."""
    row = transaction_transition(TransactionState.START, TransactionEvent.BEGIN)
    return (Expected(Succeeds(), row.claim, state.put(Transaction(named(call.name))), transitions=(row.id,)),)


def prepare(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transaction Prepare (MS-MQDMPR 3.1.4.3): it changes nothing that a reader can see.

    A message visible afterwards is blamed on the prepare only if an earlier read has shown it to be hidden.
    """
    found = transaction(state, named(call.transaction))
    arrow = transaction_transition(found.state, TransactionEvent.PREPARE)
    if found.ended is not None:
        must = arrow.claim
        fails = Fails(must, f"{must}-code", (hresults.MQ_ERROR_TRANSACTION_SEQUENCE,))
        ends = (f"{_ENDS[found.ended]}.transaction-ends",)
        yield Expected(fails, must, state, ends, transitions=(arrow.id,))
        return
    state = state.put(replace(found, prepared=True))
    for queue, position in tuple(state.held_by(found.name)):
        if position.steady:
            state = state.with_position(queue, replace(position, claim="MQDMPR-3.1.4.3.changes-nothing-visible"))
    yield Expected(Succeeds(), arrow.claim, state, transitions=(arrow.id,))


def end(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Transaction Commit and Transaction Abort (MS-MQDMPR 3.1.4.4-5)."""
    how = "commit" if call.method == "transactions.commit" else "abort"
    found = transaction(state, named(call.transaction))
    arrow = transaction_transition(found.state, _ENDING[how])
    if found.ended is not None:
        must = arrow.claim
        fails = Fails(must, f"{must}-code", (hresults.MQ_ERROR_TRANSACTION_SEQUENCE,))
        ends = (f"{_ENDS[found.ended]}.transaction-ends",)
        yield Expected(fails, must, state, ends, transitions=(arrow.id,))
        return
    if any(waiter.transaction == found.name for waiter in state.waiters):
        raise BadCall("no section says what becomes of a waiting read whose transaction ends")
    held = sorted(state.held_by(found.name), key=lambda item: item[1].locked_at)
    also: tuple[str, ...] = ()
    if len({queue for queue, _ in held}) > 1:
        also += ("MQDMPR-3.1.1.14.several-queues",)
    if any(position.state is _PURGE_PENDING for _, position in held):
        also += ("MQDMPR-3.1.7.1.7.locked-commit",) if how == "commit" else ()
    if how == "abort" or not found.bereft:
        for branch in _ended(rules, state, found, held, how):
            woken = len(branch.completions) == 1 and len(held) > 1  # the first message of several woke the reader
            yield _as_expected(branch, arrow.claim, (*also, IN_ORDER) if woken else also)
        return
    for alternative in rules.accepted(state, DELETE_LOCKED):
        assumed = ((DELETE_LOCKED, alternative),)
        commits = alternative == "commits"
        for branch in _ended(rules, state, found, held, "commit" if commits else "abort"):
            outcome = _as_expected(replace(branch, readings=(*branch.readings, *assumed)), arrow.claim, also)
            yield outcome if commits else replace(outcome, result=Fails(arrow.claim))
        if not commits:  # no section says that a commit which fails ends its transaction
            yield Expected(Fails(arrow.claim), arrow.claim, state, readings=assumed)


def _ended(
    rules: Rules, state: State, found: Transaction, held: list[tuple[str, Position]], how: str
) -> Iterator[Branch]:
    row = transaction_transition(found.state, _ENDING[how])
    for start in _starts(rules, state, found, held, how):
        branches = [replace(start, transitions=(row.id,))]
        for queue, position in held:
            branches = [after for branch in branches for after in _settle(rules, branch, queue, position.message, how)]
        yield from branches


def _starts(
    rules: Rules, state: State, found: Transaction, held: list[tuple[str, Position]], how: str
) -> Iterator[Branch]:
    """Yield one start per reading of a commit: the place where its sends arrive, and whether a purge removed them."""
    state = state.put(replace(found, ended=how)).tick()
    sends = [(queue, position) for queue, position in held if position.state is _SENDING]
    marked = bool(sends) and (found.prepared or rules.accepted(state, TRANSACTION_MARKS) == ("per-destination",))
    if marked:
        sends = _marked(sends)
    late = how == "commit" and any(_overtaken(state.queues[queue], position) for queue, position in sends)
    purged = how == "commit" and any(position.purged for _, position in sends)
    for order in rules.accepted(state, TRANSACTION_ORDER) if late else ("by-send",):
        for purge in rules.accepted(state, PURGE_UNCOMMITTED) if purged else ("appears",):
            after = state
            for queue, position in sends:
                if not marked and not position.purged and order != "by-commit":
                    continue
                if order == "by-commit":
                    after = after.tick()
                    position = replace(position, rank=(position.rank[0], after.events))
                if purge == "appears":
                    position = replace(position, purged=False)
                after = after.with_position(queue, position)
            readings: tuple[Assumption, ...] = ((TRANSACTION_ORDER, order),) if late else ()
            readings += ((PURGE_UNCOMMITTED, purge),) if purged else ()
            yield Branch(after, readings=readings)


def _marked(sends: list[tuple[str, Position]]) -> list[tuple[str, Position]]:
    """Return a transaction's sends in order, with the first and the last message to each queue marked (3.1.4.3)."""
    first = {queue: position.message for queue, position in reversed(sends)}
    last = {queue: position.message for queue, position in sends}
    return [
        (queue, replace(position, marks=(first[queue] == position.message, last[queue] == position.message)))
        for queue, position in sends
    ]


def _overtaken(queue: Queue, position: Position) -> bool:
    """Tell whether a later message from outside this transaction is already in the queue or on its way."""
    rank, holder = position.rank, position.holder
    for other in queue.positions:
        if other.rank > rank and other.holder != holder and other.rank[0] == rank[0] and other.state is not _DELETED:
            return True
    return False


def _settle(rules: Rules, branch: Branch, queue: str, message: str, how: str) -> Iterator[Branch]:
    """Commit or abort one operation of a transaction that ends."""
    position = branch.state.position(queue, message)
    if position.target is not None:
        yield from settle_move(rules, branch, queue, position, how)
        return
    new, row = after_event(position, _COMMIT if how == "commit" else _ABORT)
    if how == "commit" and position.purged:
        new = replace(new, state=_DELETED, claim="MQDMPR-3.1.7.1.7.available-deleted")
    branch = replace(branch, transitions=(*branch.transitions, row))
    if not new.available:
        yield replace(branch, state=branch.state.with_position(queue, new))
    elif position.state is not _SENDING:
        yield from made_available(rules, branch, queue, new, _WAKES[how])
    else:
        for start, there in _timed(rules, branch, new):
            yield from made_available(rules, start, queue, there, _WAKES[how])


def _timed(rules: Rules, branch: Branch, position: Position) -> Iterator[tuple[Branch, Position]]:
    """Yield this message that arrives now with the moment from which its time to be received counts."""
    wishes, now, known = position.wishes, branch.state.now, rules.accepted(branch.state, EXPIRY_START)
    if wishes is None or wishes.live_ms is None or wishes.sent == now or known == ("from-send",):
        yield branch, position
        return
    taken = dict(branch.readings).get(EXPIRY_START)
    for alternative in known if taken is None else (taken,):
        begun = replace(position, wishes=replace(wishes, sent=now)) if alternative == "from-arrival" else position
        assumed = branch if taken else replace(branch, readings=(*branch.readings, (EXPIRY_START, alternative)))
        yield assumed, begun


def _as_expected(branch: Branch, requirement: str, also: tuple[str, ...]) -> Expected:
    return Expected(
        Succeeds(), requirement, branch.state, also, branch.completions, branch.readings, branch.transitions
    )


def advance(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Let time pass and end the waits whose deadline is reached (MS-MQDMPR 3.1.2.3, 3.1.6.3)."""
    state = replace(state, now=state.now + call.by_ms).tick()
    due = [waiter for waiter in state.waiters if waiter.deadline is not None and waiter.deadline <= state.now]
    completions: list[Completion] = []
    rows: list[str] = []
    for waiter in due:
        if not state.handles[waiter.handle].is_open or state.handles[waiter.handle].lost:
            must = "MQDMPR-3.1.7.1.4.waiting-read-ends"
            result = Fails(must)
        else:
            must = f"{_WAIT_SECTION[waiter.method]}.io-timeout"
            result = Fails(must, f"{must}-code", (hresults.MQ_ERROR_IO_TIMEOUT,))
        state, taken = wait_ended(state, waiter, "MQDMPR-3.1.7.1.10.timed-out-takes-nothing")
        rows += taken
        completions.append(Completion(waiter.name, result, must, ("MQDMPR-3.1.2.3.expires",)))
    waits_on = tuple(waiter.deadline is None for waiter in state.waiters)
    also: tuple[str, ...] = ("MQDMPR-3.1.7.3.1.no-early-timeout",) if len(waits_on) > sum(waits_on) else ()
    also += ("MQDMPR-3.1.2.3.infinite",) if any(waits_on) else ()
    yield Expected(Succeeds(), "MQDMPR-3.1.2.3.expires", state, also, tuple(completions), transitions=tuple(rows))


def cancel(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Cancel Waiting Message Read Request (MS-MQDMPR 3.1.7.1.17)."""
    waiter = next((waiter for waiter in state.waiters if waiter.name == call.request), None)
    section = "MQDMPR-3.1.7.1.17"
    if waiter is None:
        if call.request not in state.waited:
            raise BadCall(f"{call.request} never waited")
        must = f"{section}.not-found"
        yield Expected(Fails(must, f"{must}-code", (hresults.STATUS_NOT_FOUND,)), must, state)
        return
    must = f"{section}.cancelled"
    fails = Fails(must, must, (hresults.MQ_ERROR_OPERATION_CANCELLED,))
    after, rows = wait_ended(state, waiter, f"{section}.takes-nothing")
    also = (f"{section}.others-kept",) if after.waiters else ()
    completion = Completion(waiter.name, fails, must)
    missed = f"{section}.not-found"
    ways = {
        "cancelled": Expected(Succeeds(), f"{section}.success", after, also, (completion,), transitions=rows),
        "not-found": Expected(Fails(missed, f"{missed}-code", (hresults.STATUS_NOT_FOUND,)), missed, state),
    }
    if waiter.destructive:
        yield ways["cancelled"]
        return
    for alternative in rules.accepted(state, CANCEL_PEEK):
        yield replace(ways[alternative], readings=((CANCEL_PEEK, alternative),))


def restart(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Stop or kill the manager and start it again (MS-MQDMPR 3.1.3).

    Every handle, cursor and waiting read is gone. Open transactions are aborted, except those that their coordinator
    has had prepared. Express messages may be lost.
    """
    every = [position for queue in state.queues.values() for position in queue.positions]
    begun = any(position.state is _BEGUN for position in every)
    started = [_started(found) for found in state.transactions.values() if found.ended != "restart"]
    transactions = {**state.transactions, **{found.name: found for found, _ in started}}
    in_doubt = {name: found for name, found in transactions.items() if found.ended is None}
    for alternative in rules.accepted(state, RESTART_BEGUN) if begun else ("released",):
        rows: list[str] = []
        after = state
        for queue in state.queues.values():
            for position in queue.positions:
                if alternative == "locked" and position.state is _BEGUN:
                    continue  # the handle that could end the read is gone, so no reader sees the message again
                holder = in_doubt.get(position.holder or "")
                if holder is None:
                    new, row = after_event(position, _RESTART, target=None)
                else:
                    new, row = after_event(position, PositionEvent.RESTART_PREPARED)
                    new = replace(new, claim=position.claim) if holder.overdue else new
                rows.append(row)
                after = after.with_position(queue.name, _through_restart(rules, after, position, new))
        after = replace(after, handles={}, cursors={}, begun={}, waiters=(), transactions=transactions, halted="")
        yield Expected(
            Succeeds(),
            "MQDMPR-3.1.1.2.private-attributes-persistent",
            replace(after, restarts=state.restarts + 1).tick(),
            shows=False,  # what was kept is seen where it is opened, read or got
            readings=((RESTART_BEGUN, alternative),) if begun else (),
            transitions=(*rows, *(row for _, row in started)),
        )


def _started(found: Transaction) -> tuple[Transaction, str]:
    """Return a transaction as a start finds it, and the row taken: its coordinator decides of a prepared one."""
    if found.identifier is None:
        row = transaction_transition(found.state, TransactionEvent.RESTART)
        return replace(found, ended="restart"), row.id
    arrow = coordinated_transition(found.coordinated, CoordinatedEvent.RESTART)
    ended = found.ended or (None if found.prepared else "abort")
    return replace(found, dropped=True, asked=found.asked or ended is None, ended=ended), arrow.id


def _through_restart(rules: Rules, state: State, old: Position, new: Position) -> Position:
    """Return the position after a restart, with its new claim, and doubtful if the message may be lost."""
    if new.state is _DELETED:
        if old.state is _DELETED and old.claim not in _RECEIVED:
            persistent = _PERSISTENT.get(old.claim) if old.recoverable else None
            return replace(new, claim=persistent or old.claim)
        return new
    lossy = not old.recoverable
    if old.transactional and old.delivery == "express":
        lossy = rules.accepts(state, TRANSACTIONAL_EXPRESS, "express")
    if lossy:
        return replace(new, doubtful=True, claim="MQDMPR-3.1.1.12.express-may-survive")
    if is_kept(old.message):
        return replace(new, claim="MQDMPR-3.1.1.2.system-queues-kept")
    if old.state in HELD:
        return new
    if old.transactional:
        express = old.delivery == "express"
        return replace(new, claim="MQMQ-2.2.19.2.transactional-recoverable" if express else "MQDMPR-3.1.4.4.durable")
    return new
