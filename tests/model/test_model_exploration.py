"""Every history of a small manager, a few calls deep: each row of the tables is reached, nothing is lost or doubled.

The outcomes the model allows are taken as what an implementation answered, so the walk covers every conforming one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from conformance.model import BadCall, Call, Model, State, States
from conformance.model.calls import INFINITE
from conformance.model.expected import Expected, Succeeds
from conformance.model.tables import CURSOR, POSITION, CursorState, PositionEvent, PositionState, named_requirements
from conformance.spec.catalogue import requirement_id

MODEL = Model()


def begun(*calls: Call) -> State:
    """The state after calls that can only succeed."""
    state = State()
    for call in calls:
        state = MODEL.allowed(state, call).outcomes[0].next
    return state


def queue(*, transactional: bool) -> State:
    return begun(
        Call("queues.create", queue="q", transactional=transactional),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
    )


def reads(cursor: str | None, transaction: str | None = None) -> Iterator[Call]:
    for timeout, name in ((0, None), (1000, "w")):
        yield Call(
            "messages.receive", name=name, handle="r", cursor=cursor, transaction=transaction, timeout_ms=timeout
        )
        yield Call("messages.peek", name=name, handle="r", cursor=cursor, timeout_ms=timeout)
        if cursor is not None:
            yield Call("messages.peek_next", name=name, handle="r", cursor=cursor, timeout_ms=timeout)


def plain_calls(state: State) -> Iterator[Call]:
    """What can be asked of a queue without transactions and one cursor."""
    sent = len(state.queues["q"].positions)
    if sent < 3:
        for priority in (None, 5):
            yield Call("messages.send", message="abc"[sent], handle="s", priority=priority)
    if "c" not in state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    elif state.cursors["c"].state is not CursorState.CLOSED:
        yield from reads("c")
        yield Call("cursors.close", cursor="c")
    yield Call("messages.receive", handle="r")
    if state.waiters:
        yield Call("clock.advance", by_ms=1000)


def transactional_calls(state: State) -> Iterator[Call]:
    """What can be asked of a transactional queue with two transactions."""
    sent = len(state.queues["q"].positions)
    live = [name for name in ("t", "u") if name in state.transactions and state.transactions[name].ended is None]
    for name in ("t", "u"):
        if name not in state.transactions:
            yield Call("transactions.begin", name=name)
            break
    for name in live:
        if sent < 2:
            yield Call("messages.send", message="ab"[sent], handle="s", transaction=name)
        yield Call("messages.receive", handle="r", transaction=name)
        yield Call("transactions.commit", transaction=name)
        yield Call("transactions.abort", transaction=name)
    if sent:
        yield Call("queues.purge", handle="r")
        yield Call("messages.receive", handle="r")


def endings(state: State) -> Iterator[Call]:
    """The calls after which these histories end."""
    yield Call("queues.delete", queue="q")
    yield Call("restart", kill=True)


def normal(state: State) -> object:
    """The state with its times replaced by their order, so that histories that differ in nothing else are one."""
    times = sorted(
        {position.rank[1] for queue in state.queues.values() for position in queue.positions}
        | {position.since for queue in state.queues.values() for position in queue.positions}
        | {cursor.ended_at for cursor in state.cursors.values() if cursor.ended_at is not None}
        | {cursor.at[1] for cursor in state.cursors.values()}
    )
    place = {time: number for number, time in enumerate(times)}
    queues = {
        name: replace(
            queue,
            positions=tuple(
                replace(p, rank=(p.rank[0], place[p.rank[1]]), since=place[p.since], claim="") for p in queue.positions
            ),
        )
        for name, queue in state.queues.items()
    }
    cursors = {
        name: replace(
            cursor,
            at=(cursor.at[0], place[cursor.at[1]]),
            ended_at=None if cursor.ended_at is None else place[cursor.ended_at],
        )
        for name, cursor in state.cursors.items()
    }
    waiters = tuple(replace(w, deadline=None if w.deadline is None else w.deadline - state.now) for w in state.waiters)
    small = replace(state, queues=queues, cursors=cursors, waiters=waiters, now=0, waited=())
    return small.key()


@cache
def explored(kind: str) -> tuple[tuple[State, Call, Expected], ...]:
    """Every step of every history up to a depth, breadth first."""
    calls, depth = (plain_calls, 6) if kind == "plain" else (transactional_calls, 7)
    seen: set[object] = set()
    level, steps = [queue(transactional=kind != "plain")], []
    for _ in range(depth):
        following: list[State] = []
        for state in level:
            for call in (*calls(state), *endings(state)):
                try:
                    outcomes = MODEL.allowed(state, call).outcomes
                except BadCall:
                    continue
                for expected in outcomes:
                    steps.append((state, call, expected))
                    key = normal(expected.next)
                    if key not in seen and call.method not in ("queues.delete", "restart"):
                        seen.add(key)
                        following.append(expected.next)
        level = following
    return tuple(steps)


KINDS = pytest.mark.parametrize("kind", ["plain", "transactional"])


def everything() -> Iterator[tuple[State, Call, Expected]]:
    yield from explored("plain")
    yield from explored("transactional")


def test_every_transition_of_the_tables_is_taken() -> None:
    taken = {row for _, _, expected in everything() for row in expected.transitions}
    wanted = {row.id for row in CURSOR} | {row.id for row in POSITION}
    # A loss shows in a read after the restart (below), and messages with a time to be received have tests of their own.
    lost = {row.id for row in POSITION if row.event in (PositionEvent.LOSE, PositionEvent.EXPIRE)}
    assert wanted - taken == lost
    assert taken <= wanted


def test_what_a_restart_may_have_lost_a_later_read_decides() -> None:
    state = begun(
        Call("queues.create", queue="q"),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("messages.send", message="a", handle="s"),
        Call("messages.send", message="b", handle="s", delivery="recoverable"),
        Call("restart", kill=True),
        Call("queues.open", name="r", queue="q", access="receive"),
    )
    read = Call("messages.receive", handle="r")
    kept, lost = MODEL.allowed(state, read).outcomes
    assert (kept.result, lost.result) == (Succeeds("a"), Succeeds("b"))
    assert MODEL.allowed(lost.next, read).outcomes[0].result != Succeeds("a")
    assert lost.next.position("q", "a").state is PositionState.DELETED
    assert MODEL.allowed(kept.next, read).outcomes[0].result == Succeeds("b")


@KINDS
def test_no_message_is_lost_or_doubled(kind: str) -> None:
    for before, call, expected in explored(kind):
        names = [position.message for position in expected.next.queues["q"].positions]
        assert len(names) == len(set(names))
        old = {position.message for position in before.queues["q"].positions}
        assert old <= set(names)
        assert set(names) - old <= {call.message}


@KINDS
def test_the_queue_is_ordered_by_priority_and_then_by_arrival(kind: str) -> None:
    for _, _, expected in explored(kind):
        positions = expected.next.queues["q"].positions
        assert list(positions) == sorted(positions, key=lambda p: (-p.priority, p.rank[1]))


@KINDS
def test_locks_belong_to_open_transactions(kind: str) -> None:
    locked = {PositionState.SENDING, PositionState.LOCKED, PositionState.PURGE_PENDING}
    for _, _, expected in explored(kind):
        for position in expected.next.queues["q"].positions:
            assert (position.holder is not None) == (position.state in locked)
            if position.holder is not None:
                assert expected.next.transactions[position.holder].ended is None


@KINDS
def test_a_peek_changes_no_message(kind: str) -> None:
    for before, call, expected in explored(kind):
        if call.method in ("messages.peek", "messages.peek_next"):
            states = [
                [(p.message, p.state, p.rank) for p in state.queues["q"].positions] for state in (before, expected.next)
            ]
            assert states[0] == states[1]


@KINDS
def test_a_received_message_is_given_once(kind: str) -> None:
    for before, call, expected in explored(kind):
        given = getattr(expected.result, "message", None)
        if call.method == "messages.receive" and given is not None:
            assert before.position("q", given).available
            assert not expected.next.position("q", given).available


def test_a_waiting_cursor_has_a_waiting_read() -> None:
    waiting = {CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE}
    for _, _, expected in explored("plain"):
        for cursor in expected.next.cursors.values():
            assert (cursor.state in waiting) == expected.next.busy(cursor.name)
            assert (cursor.message is not None) <= (cursor.state not in (CursorState.UNREAD, CursorState.WAIT_RECEIVE))


def test_every_requirement_named_is_in_the_catalogue() -> None:
    named = set(named_requirements())
    for _, _, expected in everything():
        named |= {expected.requirement, *expected.also}
        for completion in expected.completions:
            named |= {completion.requirement, *completion.also}
        for result in (expected.result, *(completion.result for completion in expected.completions)):
            named |= {name for name in (getattr(result, "must", None), getattr(result, "code", None)) if name}
    for name in named - {""}:
        requirement_id(name)


def test_an_infinite_wait_never_ends() -> None:
    state = queue(transactional=False)
    waits = Call("messages.receive", name="w", handle="r", timeout_ms=INFINITE)
    state = MODEL.allowed(state, waits).outcomes[0].next
    (outcome,) = MODEL.allowed(state, Call("clock.advance", by_ms=10**12)).outcomes
    assert not outcome.completions
    assert MODEL.due(States((state,)), Call("clock.advance", by_ms=10**12)) == frozenset()
