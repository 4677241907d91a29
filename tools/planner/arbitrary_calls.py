"""Any call that could be asked of a manager in a state: each member drawn among the names and values it can have.

The actions of walks list calls that get somewhere; these are all the others too: on what is closed, ended or deleted,
with every option and every kind of time-out. What no section describes, the model refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Final, TypeAlias

from conformance.histories.features.clock import DAY_MS
from conformance.histories.operations.properties import UNKNOWN
from conformance.histories.operations.state_queries import message_name, named_alone, names
from conformance.histories.situations.specified_calls import MOST_WAITING
from conformance.model import Call, State
from conformance.model.calls import INFINITE
from conformance.model.expiry import due
from conformance.model.journals import ELSEWHERE, UNLIMITED, is_kept, is_remote, journal_of

SHORT_MS: Final = 40
"""A time-out below a second: on a real clock it is waited for."""
MOST_SENT: Final = 12
MOST_RESTARTS: Final = 3
_TIME_OUTS: Final = (0, 0, SHORT_MS, 1000, 60_000, INFINITE)
_ACKS: Final = (
    "positive_arrival",
    "positive_receive",
    "negative_arrival",
    "negative_receive",
    "positive_arrival+positive_receive",
    "negative_arrival+negative_receive",
    "positive_arrival+positive_receive+negative_receive",
)
_OPTIONS: Final[tuple[tuple[str, tuple[Any, ...]], ...]] = (
    ("priority", (0, 1, 3, 4, 5, 7)),
    ("delivery", ("express", "recoverable")),
    ("journal", (True,)),
    ("dead_letter", (True,)),
    ("acks", _ACKS),
    ("live_s", (0, 2, 3, UNLIMITED)),
    ("size", (1024, 11 * 1024, 18 * 1024)),
)
Draw: TypeAlias = Callable[[Random, State], Call | None]
_call = lru_cache(1 << 16)(Call)


def _one(random: Random, among: Sequence[str]) -> str | None:
    return among[int(random.random() * len(among))] if among else None


def _handle(random: Random, state: State) -> str | None:
    """Draw a handle; mostly one that can be used."""
    every = [*state.handles.values()]
    for _ in range(2):
        if not every:
            break
        handle = every[int(random.random() * len(every))]
        if handle.is_open and not handle.lost:
            return handle.name
    return _one(random, [*state.handles])


def _queue(random: Random, state: State) -> str | None:
    return _one(random, [name for name in state.queues if "(" not in name])


def _transaction(random: Random, state: State) -> str | None:
    return _one(random, [*state.transactions, *(name for name, one in state.transactions.items() if not one.ended)])


def _read(method: str) -> Draw:
    def draw(random: Random, state: State) -> Call | None:
        handle = _handle(random, state)
        if handle is None:
            return None
        own = [cursor.name for cursor in state.cursors.values() if cursor.handle == handle]
        cursor = _one(random, own) if own and (random.random() < 0.6 or method == "messages.peek_next") else None
        if cursor is None and method == "messages.peek_next":
            cursor = _one(random, [*state.cursors])
            if cursor is None:
                return None
            handle = state.cursors[cursor].handle
        timeout = _TIME_OUTS[int(random.random() * len(_TIME_OUTS))] if len(state.waiters) < MOST_WAITING else 0
        name: str | None = names("w", state.waited) if timeout else None
        within = None
        if method == "messages.receive":
            within = _transaction(random, state) if random.random() < 0.5 else None
        elif method == "messages.receive_begin":
            name = names("b", {*state.begun, *state.waited})
        return _call(method, name=name, handle=handle, cursor=cursor, transaction=within, timeout_ms=timeout)

    return draw


def _lookup(method: str) -> Draw:
    def draw(random: Random, state: State) -> Call | None:
        handle = _handle(random, state)
        if handle is None:
            return None
        within = None
        if method == "messages.receive_by_lookup_id" and random.random() < 0.4:
            within = _transaction(random, state)
        queue = state.queues.get(state.handles[handle].queue)
        known = [one.message for one in queue.positions if one.message in state.lookups] if queue else []
        message = _one(random, known)
        actions = ("first", "last") if message is None else ("current", "next", "previous", "first", "last")
        action = _one(random, actions)
        if action in ("first", "last") and random.random() < 0.5:
            message = None
        return _call(method, handle=handle, message=message, action=action, transaction=within)

    return draw


def _send(random: Random, state: State) -> Call | None:
    handle = _handle(random, state)
    if handle is None or sum(len(queue.positions) for queue in state.queues.values()) >= 4 * MOST_SENT:
        return None
    options: dict[str, Any] = {}
    remote = is_remote(state.handles[handle].queue)
    for name, values in _OPTIONS:
        if random.random() < 0.22 and (not remote or name in ("priority", "delivery")):
            options[name] = values[int(random.random() * len(values))]
    if "acks" in options:
        options["admin"] = "adm" if "adm" in state.queues else _queue(random, state)
    if state.handles[handle].queue == ELSEWHERE:
        options["reach_s"] = (None, 0, 2, UNLIMITED)[int(random.random() * 4)]
    within = _transaction(random, state) if random.random() < 0.5 else None
    return _call("messages.send", message=message_name(state), handle=handle, transaction=within, **options)


def _create(random: Random, state: State) -> Call | None:
    plain = [name for name in state.queues if ";" not in name and "," not in name and "(" not in name]
    name = _one(random, [*(name for name in plain if not is_remote(name) and name != ELSEWHERE), "q1", "q3"])
    if random.random() < 0.7:
        return _call("queues.create", queue=name, transactional=random.random() < 0.5)
    return _call(
        "queues.create",
        queue=name,
        transactional=random.random() < 0.5,
        journaling=random.random() < 0.6,
        quota_kb=(None, 0, 20, UNLIMITED)[int(random.random() * 4)],
        journal_quota_kb=(None, None, 0, 20)[int(random.random() * 4)],
    )


def _open(random: Random, state: State) -> Call | None:
    name = _queue(random, state)
    if name is None or len(state.handles) > 11:
        return None
    draw = random.random()
    if draw < 0.1:
        name = "q9"
    elif ";" not in name and "," not in name and not is_remote(name) and name != ELSEWHERE:
        if draw < 0.25:
            name = f"{name};one"
        elif draw < 0.3:
            name = journal_of(name)
    access = "send" if is_remote(name) or name == ELSEWHERE else _one(random, ("receive", "peek", "send", "move"))
    share = "deny_receive" if random.random() < 0.3 else None
    return _call("queues.open", name=names("h", state.handles), queue=name, access=access, share=share)


def _by_handle(method: str) -> Draw:
    return lambda random, state: _call(method, handle=_handle(random, state)) if state.handles else None


def _delete(random: Random, state: State) -> Call | None:
    name = _one(random, [queue.name for queue in state.queues.values() if named_alone(queue) and "(" not in queue.name])
    return _call("queues.delete", queue=name) if name and not is_remote(name) and name != ELSEWHERE else None


def _by_transaction(method: str) -> Draw:
    return lambda random, state: _call(method, transaction=_transaction(random, state)) if state.transactions else None


def _open_cursor(random: Random, state: State) -> Call | None:
    handle = _handle(random, state)
    if handle is None or sum(cursor.state.value != "closed" for cursor in state.cursors.values()) > 2:
        return None
    return _call("cursors.open", name=names("c", state.cursors), handle=handle)


def _close_cursor(random: Random, state: State) -> Call | None:
    return _call("cursors.close", cursor=_one(random, [*state.cursors])) if state.cursors else None


def _begin(random: Random, state: State) -> Call | None:
    if sum(not one.ended for one in state.transactions.values()) > 1:
        return None
    return _call("transactions.begin", name=names("t", state.transactions))


def _end_receive(random: Random, state: State) -> Call | None:
    if not state.begun:
        return None
    return _call("messages.receive_end", read=_one(random, [*state.begun]), acknowledge=random.random() < 0.5)


def _move(random: Random, state: State) -> Call | None:
    source, target = _handle(random, state), _handle(random, state)
    targets = [one.name for one in state.handles.values() if one.access == "move"]
    if targets and random.random() < 0.8:
        target = _one(random, targets)
    if source is None:
        return None
    queue = state.queues.get(state.handles[source].queue)
    message = _one(random, [one.message for one in queue.positions if one.message in state.lookups] if queue else [])
    if message is None:
        return None
    within = _transaction(random, state) if random.random() < 0.5 else None
    return _call("messages.move", message=message, handle=source, destination=target, transaction=within)


def _cancel(random: Random, state: State) -> Call | None:
    return _call("messages.cancel", request=_one(random, state.waited)) if state.waited else None


def _pass(random: Random, state: State) -> Call | None:
    moments = {state.now + 1, state.now + 1000}
    for waiter in state.waiters:
        if waiter.deadline is not None:
            moments |= {waiter.deadline - 1, waiter.deadline, waiter.deadline + 1}
    if state.keeping is not None:
        for queue in state.queues.values():
            for position in queue.positions:
                window = None if position.wishes is None else due(state, position)
                if window is not None:
                    moments |= {window[0] - 1, window[1]}
                elif position.available and is_kept(queue.name):
                    moments.add(state.now + 5 * DAY_MS)
    later = sorted(moment - state.now for moment in moments if moment > state.now)
    return _call("clock.advance", by_ms=later[int(random.random() * len(later))])


def _restart(random: Random, state: State) -> Call | None:
    return _call("restart", kill=random.random() < 0.5) if state.restarts < MOST_RESTARTS else None


def _remote(method: str) -> Draw:
    def draw(random: Random, state: State) -> Call | None:
        name = _one(random, [name for name in state.queues if is_remote(name)])
        return _call(method, queue=name) if name else None

    return draw


def _limits(random: Random, state: State) -> Call | None:
    return _call(
        "limits",
        quota_kb=(None, 30, UNLIMITED)[int(random.random() * 3)],
        journal_quota_kb=(None, 30, UNLIMITED)[int(random.random() * 3)],
    )


def _counts(random: Random, state: State) -> Call | None:
    name = _one(random, [name for name in state.queues if not is_kept(name) and "(" not in name and "," not in name])
    return _call("queues.counts", queue=name) if name else None


def _get(random: Random, state: State) -> Call | None:
    """Draw a read of a few properties, perhaps of one that no queue has; between other reads of all of them."""
    properties = state.properties
    if properties is None or properties.unread or not properties.shown:
        return None
    among = (*properties.shown, UNKNOWN[0], UNKNOWN[0], UNKNOWN[3])
    names = dict.fromkeys(_one(random, among) or "" for _ in range(1 + random.randrange(3)))
    queue = _one(random, [*properties.queues, *properties.gone, "q9"])
    return _call("queues.get", queue=queue, names=tuple(names))


def _set(random: Random, state: State) -> Call | None:
    """Draw journaling switched on or off, or another quota, of a queue that messages are sent to."""
    name = _one(random, [name for name in ("q1", "q2", "q3") if name in state.queues])
    if name is None:
        return None
    if random.random() < 0.6:
        return _call("queues.set", queue=name, values=(("PROPID_Q_JOURNAL", int(random.random() * 2)),))
    return _call("queues.set", queue=name, values=(("PROPID_Q_QUOTA", (0, 20, UNLIMITED)[int(random.random() * 3)]),))


DRAWS: Final[Mapping[str, Draw]] = {
    **{f"messages.{name}": _read(f"messages.{name}") for name in ("receive", "peek", "peek_next", "receive_begin")},
    **{f"messages.{name}_by_lookup_id": _lookup(f"messages.{name}_by_lookup_id") for name in ("receive", "peek")},
    "messages.receive_end": _end_receive,
    "messages.send": _send,
    "messages.move": _move,
    "messages.cancel": _cancel,
    "queues.create": _create,
    "queues.delete": _delete,
    "queues.open": _open,
    "queues.close": _by_handle("queues.close"),
    "queues.purge": _by_handle("queues.purge"),
    "queues.counts": _counts,
    "queues.get": _get,
    "queues.set": _set,
    "cursors.open": _open_cursor,
    "cursors.close": _close_cursor,
    "transactions.begin": _begin,
    "transactions.prepare": _by_transaction("transactions.prepare"),
    "transactions.commit": _by_transaction("transactions.commit"),
    "transactions.abort": _by_transaction("transactions.abort"),
    "clock.now": lambda random, state: _call("clock.now"),
    "clock.advance": _pass,
    "restart": _restart,
    "limits": _limits,
    "outgoing.pause": _remote("outgoing.pause"),
    "outgoing.resume": _remote("outgoing.resume"),
    "outgoing.take": _remote("outgoing.take"),
}
"""Draws a call of each method; None if nothing can be asked in this state."""
