"""What holds in every step of every small history, whatever reading is followed.

An invariant is a function from a step to what is wrong with it, None for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import exploring
import pytest
from exploring import Step
from scopes import everything, opening

from conformance.model import Call, Model, State
from conformance.model.coordinated import internal_call
from conformance.model.expected import Blocks, Completion, Expected, Fails, Result, Succeeds, Transfers
from conformance.model.journals import Attributes, Wishes
from conformance.model.message_properties import shape_of, used
from conformance.model.tables import HELD, CursorState, OutgoingState, PositionState

BEGUN = frozenset({PositionState.BEGUN, PositionState.BEGUN_PURGED})
TAKES = frozenset({"messages.receive", "messages.receive_begin", "messages.receive_by_lookup_id"})
PEEKS = frozenset({"messages.peek", "messages.peek_next", "messages.peek_by_lookup_id"})


_ENDED = ("MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.zero")
_ABORTED = {True: {"transactions.abort"}, False: set[str]()}
_EXPIRES = {True: {"clock.advance"}, False: set[str]()}


def messages(state: State) -> Counter[str]:
    """How often each message that is not gone is in a queue."""
    return Counter(
        position.message
        for queue in state.queues.values()
        for position in queue.positions
        if position.state is not PositionState.DELETED
    )


def fates(state: State) -> list[tuple[str, PositionState, object]]:
    """Each message with its state and place."""
    positions = [position for queue in state.queues.values() for position in queue.positions]
    gone = PositionState.DELETED  # of copies that were never made a place is kept, to say why there are none
    return [(p.message, p.state, p.rank) for p in positions if "@" not in p.message or p.state is not gone]


def no_message_is_doubled(step: Step) -> str | None:
    return next((name for name, count in messages(step.expected.next).items() if count > 1), None)


def no_message_is_forgotten(step: Step) -> str | None:
    """Whatever was sent has a position for ever, and only a send adds one, beside copies and reports."""
    before, after = (
        {position.message for queue in state.queues.values() for position in queue.positions}
        for state in (step.before, step.expected.next)
    )
    new = {step.call.message} if step.call.method == "messages.send" else set()
    new |= {name for name in after if "@" in name}
    return f"{before} {after}" if not before <= after <= before | new else None


_MANAGED = ("management.acknowledge", "management.act")  # the destination has it; TIDY, where that is a purge


def no_message_vanishes(step: Step) -> str | None:
    """A message goes by being given, purged, aborted, or with its queue; or was express in a restart."""
    gone = set(messages(step.before)) - set(messages(step.expected.next))
    ends = step.expected.completions
    given = {getattr(result, "message", None) for result in (step.expected.result, *(item.result for item in ends))}
    given |= set(getattr(step.expected.result, "messages", ()))
    method = internal_call(step.before, step.call).method
    expired = {p.message for queue in step.expected.next.queues.values() for p in queue.positions if p.claim in _ENDED}
    for name in gone - given:
        fates = [p for queue in step.before.queues.values() for p in queue.positions if p.message == name]
        fate = next(p for p in fates if p.state is not PositionState.DELETED)
        may = {
            PositionState.SENDING: {"transactions.abort", "transactions.commit", "queues.delete", "restart"},
            PositionState.LOCKED: {"transactions.commit", "queues.delete", *_ABORTED[name in expired]},
            PositionState.PURGE_PENDING: {"transactions.commit", "transactions.abort", "queues.delete", "restart"},
            PositionState.AVAILABLE: {"queues.purge", "queues.delete", *_EXPIRES[name in expired], *_MANAGED},
            PositionState.BEGUN: {"messages.receive_end", "queues.delete"},
            PositionState.BEGUN_PURGED: {"messages.receive_end", "queues.delete", "restart"},
            PositionState.MOVING: {"queues.delete"},
            PositionState.MOVING_PURGED: {"transactions.commit", "transactions.abort", "queues.delete", "restart"},
        }[fate.state]
        passed_over = fate.doubtful and method.startswith(("messages.", "outgoing.take"))
        if method not in may and not passed_over:
            return f"{name}, {fate.state}, {method}"
        if fate.state is PositionState.SENDING and method == "transactions.commit" and not fate.purged:
            return f"{name}: committed and gone"
    return None


def the_queue_is_in_order(step: Step) -> str | None:
    """Priority first, then arrival, and no two at one place."""
    for queue in step.expected.next.queues.values():
        places = [(-position.priority, position.rank[1]) for position in queue.positions]
        if places != sorted(set(places)):
            return str(places)
    return None


def a_lock_has_an_open_holder(step: Step) -> str | None:
    for queue in step.expected.next.queues.values():
        for position in queue.positions:
            held = position.holder is not None
            if held != (position.state in HELD):
                return str(position)
            if position.holder is not None and step.expected.next.transactions[position.holder].ended is not None:
                return str(position)
    return None


def a_lock_of_no_transaction_is_a_receive_that_was_begun(step: Step) -> str | None:
    state = step.expected.next
    locked = {p.message for queue in state.queues.values() for p in queue.positions if p.state in BEGUN}
    begun = {read.message for read in state.begun.values() if not read.ended and not state.handles[read.handle].lost}
    if state.restarts:  # under one reading the lock outlives who could take it away
        return None if begun <= locked else f"{locked} {begun}"
    return None if begun == locked else f"{locked} {begun}"


def a_peek_changes_no_message(step: Step) -> str | None:
    if step.call.method not in PEEKS:
        return None
    before, after = (
        [fate for fate in fates(state) if fate[0] not in doubted(step.before)]
        for state in (step.before, step.expected.next)
    )
    return f"{before} {after}" if before != after else None


def doubted(state: State) -> set[str]:
    """What a restart may have lost: that a read tells that it did is no doing of the read."""
    return {p.message for queue in state.queues.values() for p in queue.positions if p.doubtful}


def a_message_is_given_while_it_is_available(step: Step) -> str | None:
    result = step.expected.result
    if not isinstance(result, Succeeds) or result.message is None:
        return None
    if step.call.method not in TAKES | PEEKS:
        return None
    queue = step.before.handles[step.call.handle or ""].queue
    available = step.before.position(queue, result.message).available
    stays = step.expected.next.position(queue, result.message).available
    return None if available and stays is (step.call.method in PEEKS) else str(step.call)


def a_message_is_taken_once(step: Step) -> str | None:
    """Of the readers a call serves, one takes the message at most."""
    waiting = {waiter.name: waiter for waiter in step.before.waiters}
    takers = Counter(
        item.result.message
        for item in step.expected.completions
        if isinstance(item.result, Succeeds) and item.waiter in waiting and waiting[item.waiter].destructive
    )
    return next((str(name) for name, count in takers.items() if count > 1), None)


def a_refusal_changes_no_message(step: Step) -> str | None:
    if not isinstance(step.expected.result, Fails):
        return None
    before, after = (
        {name: (state, rank) for name, state, rank in fates(state) if name not in doubted(step.before)}
        for state in (step.before, step.expected.next)
    )
    after = {name: fate for name, fate in after.items() if name in before}
    return f"{before} {after}" if before != after else None


def what_a_refused_send_leaves_is_no_message(step: Step) -> str | None:
    if step.call.method != "messages.send" or not isinstance(step.expected.result, Fails):
        return None
    return step.call.message if step.call.message in messages(step.expected.next) else None


def a_wait_begins_and_ends_once(step: Step) -> str | None:
    before, after = ({waiter.name for waiter in state.waiters} for state in (step.before, step.expected.next))
    ended = {item.waiter for item in step.expected.completions}
    began = {step.call.name} if isinstance(step.expected.result, Blocks) else set()
    if after - before != began or not ended <= before or ended & after:
        return f"{before} {after} {ended}"
    return None


def no_wait_is_overdue(step: Step) -> str | None:
    state = step.expected.next
    late = [waiter.name for waiter in state.waiters if waiter.deadline is not None and waiter.deadline <= state.now]
    return str(late) if late else None


def a_reader_waits_only_while_there_is_nothing_for_it(step: Step) -> str | None:
    """Without a cursor it would be given any message that is there."""
    state = step.expected.next
    for waiter in state.waiters:
        there = any(p.available and not p.doubtful for p in state.queues[waiter.queue].positions)
        if there and waiter.cursor is None and state.handles[waiter.handle].is_open:
            return waiter.name
    return None


def a_waiting_cursor_has_a_waiting_read(step: Step) -> str | None:
    waiting = {CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE}
    state = step.expected.next
    for cursor in state.cursors.values():
        if cursor.state is CursorState.CLOSED:
            continue
        if (cursor.state in waiting) != state.busy(cursor.name):
            return str(cursor)
        if cursor.message is not None and cursor.state in (CursorState.UNREAD, CursorState.WAIT_RECEIVE):
            return str(cursor)
        if cursor.state is CursorState.READ and cursor.message is None:
            return str(cursor)
    return None


def time_does_not_go_back(step: Step) -> str | None:
    before, after = step.before, step.expected.next
    ahead = after.now - before.now == step.call.by_ms and after.events >= before.events
    return None if ahead and after.restarts - before.restarts == (step.call.method == "restart") else str(after.now)


def a_message_takes_the_same_bytes_all_its_life(step: Step) -> str | None:
    """What a queue takes changes by what comes and goes, and by nothing else."""
    before, after = (
        {p.message: shape_of(p) for queue in state.queues.values() for p in queue.positions}
        for state in (step.before, step.expected.next)
    )
    return next((name for name, shape in before.items() if after[name] != shape), None)


def no_queue_takes_more_than_its_quota(step: Step) -> str | None:
    """Where the bytes are certain; a commit may bring more under the reading that counts only then."""
    state = step.expected.next
    if step.call.method in ("transactions.commit", "limits"):
        return None
    for queue in state.queues.values():
        quota = queue.attributes.quota if queue.attributes is not None else None
        if quota is None:
            continue
        old = step.before.queues.get(queue.name)
        before = used(step.before, [old])[0] if old is not None else 0
        least, _ = used(state, [queue], uncommitted=False)
        if least > max(before, quota):
            return f"{queue.name}: {least} of {quota}"
    return None


def nothing_leaves_a_queue_on_hold(step: Step) -> str | None:
    """A transfer gives what is available, all of it and once; a queue on hold gives nothing and keeps what it has."""
    queue = step.before.queues.get(step.call.queue or "")
    if not isinstance(step.expected.result, Transfers) or queue is None or queue.outgoing is None:
        return None
    given = step.expected.result.messages
    if step.call.method == "management.transfer":  # it stays until it is acknowledged, and goes again where that is due
        kept = step.expected.next.queues[queue.name].positions == queue.positions
        return None if kept and len(given) == len(set(given)) else f"{given}, and not kept"
    if queue.outgoing.state in (OutgoingState.ON_HOLD, OutgoingState.LOCKED):
        kept = step.expected.next.queues[queue.name].positions == queue.positions
        return None if kept and not given else f"on hold, and {given}"
    sure = {position.message for position in queue.positions if position.available and not position.doubtful}
    there = {position.message for position in queue.positions if position.available}
    left = {item.message for item in step.expected.next.queues[queue.name].positions if item.available}
    return None if sure <= set(given) <= there and len(given) == len(set(given)) and not left else f"{given} of {there}"


INVARIANTS: tuple[Callable[[Step], str | None], ...] = (
    no_message_is_doubled,
    no_message_is_forgotten,
    no_message_vanishes,
    the_queue_is_in_order,
    a_lock_has_an_open_holder,
    a_lock_of_no_transaction_is_a_receive_that_was_begun,
    a_peek_changes_no_message,
    a_message_is_given_while_it_is_available,
    a_message_is_taken_once,
    a_refusal_changes_no_message,
    what_a_refused_send_leaves_is_no_message,
    a_wait_begins_and_ends_once,
    no_wait_is_overdue,
    a_reader_waits_only_while_there_is_nothing_for_it,
    a_waiting_cursor_has_a_waiting_read,
    time_does_not_go_back,
    a_message_takes_the_same_bytes_all_its_life,
    no_queue_takes_more_than_its_quota,
    nothing_leaves_a_queue_on_hold,
)


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.__name__)
def test_it_holds_in_every_step(invariant: Callable[[Step], str | None]) -> None:
    steps, _ = everything()
    for step in steps:
        wrong = invariant(step)
        assert wrong is None, f"{step.scope}: {step.call} -> {step.expected.result}: {wrong}"
    assert len(steps) > 20_000


MODEL = Model()
SENT = exploring.begun(
    MODEL,
    *opening(Call("queues.create", queue="other"), Call("cursors.open", name="c", handle="r")),
    Call("messages.send", message="a", handle="s"),
    Call("messages.send", message="b", handle="s"),
)
HELD_BACK = exploring.begun(
    MODEL,
    Call("queues.open", name="s1", queue="remote1", access="send"),
    Call("messages.send", message="a", handle="s1"),
    Call("outgoing.pause", queue="remote1"),
)
TAKE = Call("outgoing.take", queue="remote1")
WAITS = Call("messages.receive", name="w", handle="r", timeout_ms=1000)
WAITING = exploring.begun(MODEL, *opening(Call("transactions.begin", name="t")), WAITS)
A, B = SENT.position("q", "a"), SENT.position("q", "b")
RECEIVE, PEEK = Call("messages.receive", handle="r"), Call("messages.peek", handle="r")
SEND = Call("messages.send", message="c", handle="s")
GONE = replace(A, state=PositionState.DELETED)
PURGED = replace(A, state=PositionState.PURGE_PENDING)


def step(call: Call, result: Result, after: State, before: State = SENT, *ends: Completion) -> Step:
    """What a model that is wrong might say."""
    return Step("wrong", before, call, Expected(result, "", after, completions=ends))


REFUSED = Fails("")
BROKEN: dict[Callable[[Step], str | None], Step] = {
    no_message_is_doubled: step(RECEIVE, REFUSED, SENT.with_position("other", A)),
    no_message_is_forgotten: step(RECEIVE, REFUSED, SENT.put(replace(SENT.queues["q"], positions=(A,)))),
    no_message_vanishes: step(RECEIVE, Succeeds("b"), SENT.with_position("q", GONE)),
    the_queue_is_in_order: step(RECEIVE, REFUSED, SENT.put(replace(SENT.queues["q"], positions=(B, A)))),
    a_lock_has_an_open_holder: step(RECEIVE, REFUSED, SENT.with_position("q", PURGED)),
    a_lock_of_no_transaction_is_a_receive_that_was_begun: step(
        RECEIVE, REFUSED, SENT.with_position("q", replace(A, state=PositionState.BEGUN))
    ),
    a_peek_changes_no_message: step(PEEK, Succeeds("a"), SENT.with_position("q", GONE)),
    a_message_is_given_while_it_is_available: step(RECEIVE, Succeeds("a"), SENT),
    a_message_is_taken_once: step(
        SEND, Succeeds(), SENT, WAITING, Completion("w", Succeeds("c"), ""), Completion("w", Succeeds("c"), "")
    ),
    a_refusal_changes_no_message: step(RECEIVE, REFUSED, SENT.with_position("q", GONE)),
    what_a_refused_send_leaves_is_no_message: step(SEND, REFUSED, SENT.with_position("q", replace(A, message="c"))),
    a_wait_begins_and_ends_once: step(RECEIVE, REFUSED, replace(SENT, waiters=WAITING.waiters)),
    no_wait_is_overdue: step(RECEIVE, REFUSED, replace(WAITING, now=2000), WAITING),
    a_reader_waits_only_while_there_is_nothing_for_it: step(SEND, Succeeds(), WAITING.with_position("q", A), WAITING),
    a_waiting_cursor_has_a_waiting_read: step(
        RECEIVE, REFUSED, SENT.put(replace(SENT.cursors["c"], state=CursorState.WAIT_PEEK))
    ),
    a_message_takes_the_same_bytes_all_its_life: step(
        RECEIVE, REFUSED, SENT.with_position("q", replace(A, wishes=Wishes(5000)))
    ),
    nothing_leaves_a_queue_on_hold: step(TAKE, Transfers((("a",),)), HELD_BACK, HELD_BACK),
    no_queue_takes_more_than_its_quota: step(
        SEND,
        Succeeds(),
        SENT.put(replace(SENT.queues["q"], attributes=Attributes(quota=1024))).with_position(
            "q", replace(A, message="c", rank=(4, 99), wishes=Wishes(2000))
        ),
    ),
    time_does_not_go_back: step(RECEIVE, REFUSED, replace(SENT, now=-1)),
}


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.__name__)
def test_a_model_that_breaks_it_is_noticed(invariant: Callable[[Step], str | None]) -> None:
    assert invariant(BROKEN[invariant]) is not None
