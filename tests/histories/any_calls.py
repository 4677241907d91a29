"""Any call in any state: refused ones, senseless ones, and all that walks make, for a walk of the model alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from conformance.histories.operations.state_queries import message_name, names
from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, UNLIMITED

T = TypeVar("T")
QUEUES = ("q1", "q2", "q3")
_OPENED = (
    *QUEUES,
    *("q1;one", "q2;one", "q1;two", "q1;JOURNAL", "q2;JOURNAL", SYSTEM_JOURNAL, DEAD_LETTER),
    *(DEAD_LETTER_TRANSACTIONAL, "remote1", "elsewhere", "q1,q3", "nope"),
)
_TIMES = (20, 1000, 1500, 2000, INFINITE)
_ACKS = {"acks": "positive_receive+negative_receive", "admin": "q3"}
_WISHES: Sequence[Mapping[str, Any]] = (
    *({"journal": True}, {"dead_letter": True}, _ACKS, {"live_s": 1}, {"live_s": 0}, {"live_s": UNLIMITED}),
    *({"live_s": 2, "dead_letter": True}, {"live_s": 2, **_ACKS}, {"size": 11_000}, {"size": 18_000}),
)


def any_call(roll: random.Random, state: State) -> Call | None:
    """Return a call that any state of the manager could meet; None if it needs something that is not there."""
    make = roll.choices(tuple(_MAKERS), tuple(_MAKERS.values()))[0]
    return make(roll, state)


def _one(roll: random.Random, things: Sequence[T]) -> T | None:
    return roll.choice(things) if things else None


def _transaction(roll: random.Random, state: State) -> str | None:
    return _one(roll, [one.name for one in state.transactions.values() if one.ended != "restart"])


def _read(roll: random.Random, state: State) -> Call | None:
    method = roll.choice(("receive", "receive", "peek", "peek_next", "receive_begin"))
    handle = _one(roll, list(state.handles))
    own = [cursor.name for cursor in state.cursors.values() if cursor.handle == handle]
    cursor = _one(roll, own) if method == "peek_next" or roll.random() < 0.5 else None
    if handle is None or (method == "peek_next" and cursor is None):
        return None
    time_out = 0 if roll.random() < 0.6 else roll.choice(_TIMES)
    named = names("w", {*state.waited, *state.begun}) if time_out or method == "receive_begin" else None
    transaction = _transaction(roll, state) if method == "receive" and roll.random() < 0.5 else None
    return Call(
        f"messages.{method}", handle=handle, cursor=cursor, timeout_ms=time_out, name=named, transaction=transaction
    )


def _lookup(roll: random.Random, state: State) -> Call | None:
    action, handle = roll.choice(("current", "next", "previous", "first", "last")), _one(roll, list(state.handles))
    edge = action in ("first", "last")
    message = None if edge and roll.random() < 0.5 else _one(roll, list(state.lookups))
    if handle is None or (message is None and not edge):
        return None
    if roll.random() < 0.5:
        return Call("messages.peek_by_lookup_id", handle=handle, message=message, action=action)
    within = _transaction(roll, state) if roll.random() < 0.4 else None
    return Call("messages.receive_by_lookup_id", handle=handle, message=message, action=action, transaction=within)


def _send(roll: random.Random, state: State) -> Call | None:
    senders = [handle.name for handle in state.handles.values() if handle.access == "send" or roll.random() < 0.1]
    wishes = roll.choice(_WISHES) if roll.random() < 0.35 else {}
    return Call(
        "messages.send",
        handle=_one(roll, senders) or "nobody",
        message=message_name(state),
        priority=roll.choice((None, None, 0, 1, 3, 5, 7)),
        delivery=roll.choice((None, None, "express", "recoverable")),
        transaction=_transaction(roll, state) if roll.random() < 0.5 else None,
        **wishes,
    )


def _move(roll: random.Random, state: State) -> Call | None:
    movers = [handle.name for handle in state.handles.values() if handle.access == "move" or roll.random() < 0.1]
    return Call(
        "messages.move",
        handle=_one(roll, list(state.handles)),
        destination=_one(roll, movers) or "nobody",
        message=_one(roll, list(state.lookups)) or "nothing",
        transaction=_transaction(roll, state) if roll.random() < 0.5 else None,
    )


def _small(roll: random.Random, state: State) -> Call | None:
    request, cursor, read = _one(roll, state.waited), _one(roll, list(state.cursors)), _one(roll, list(state.begun))
    calls = [Call("messages.cancel", request=request)] if request is not None else []
    calls += [Call("cursors.close", cursor=cursor)] if cursor is not None else []
    calls += [Call("messages.receive_end", read=read, acknowledge=roll.random() < 0.5)] * 2 if read is not None else []
    calls.append(Call("cursors.open", name=names("c", state.cursors), handle=_one(roll, list(state.handles))))
    return roll.choice(calls)


def _end(roll: random.Random, state: State) -> Call | None:
    calls = [Call("transactions.begin", name=names("t", state.transactions))]
    named = _transaction(roll, state)
    busy = {waiter.transaction for waiter in state.waiters}
    if named is not None and named not in busy:  # no section says what becomes of a read that waits in it
        calls += [Call(f"transactions.{how}", transaction=named) for how in ("prepare", "commit", "abort")]
    return roll.choice(calls)


def _queue(roll: random.Random, state: State) -> Call | None:
    name = roll.choice(QUEUES)
    quotas = {"quota_kb": roll.choice((None, None, 40)), "journal_quota_kb": roll.choice((None, None, 2))}
    calls = [
        Call("queues.create", queue=name, transactional=roll.random() < 0.5, journaling=roll.random() < 0.3, **quotas),
        Call("queues.delete", queue=name),
        Call("queues.counts", queue=_one(roll, list(state.queues))),
        Call("queues.purge", handle=_one(roll, list(state.handles))),
        Call("queues.close", handle=_one(roll, list(state.handles))),
        Call(f"outgoing.{roll.choice(('pause', 'resume', 'take'))}", queue="remote1"),
    ]
    return roll.choice(calls)


def _open(roll: random.Random, state: State) -> Call | None:
    access, share = (
        roll.choice(("receive", "receive", "peek", "send", "move")),
        roll.choice((None, None, "deny_receive")),
    )
    name = names("h", state.handles)
    return Call("queues.open", name=name, queue=roll.choice(_OPENED), access=access, share=share)


def _time(roll: random.Random, state: State) -> Call | None:
    if roll.random() < 0.3:
        return Call("restart", kill=roll.random() < 0.5)
    left = [waiter.deadline - state.now for waiter in state.waiters if waiter.deadline is not None]
    steps = [1, 500, 999, 1000, 1500, 2000, 3000, *(after + more for after in left for more in (-1, 0, 1))]
    return Call("clock.advance", by_ms=max(1, roll.choice(steps)))


_MAKERS: Mapping[Callable[[random.Random, State], Call | None], int] = {
    _read: 8,
    _lookup: 3,
    _send: 6,
    _move: 2,
    _small: 3,
    _end: 4,
    _queue: 3,
    _open: 3,
    _time: 2,
}
