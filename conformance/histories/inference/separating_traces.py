"""The shortest calls whose answers tell two alternatives of a reading apart: search them, and load those stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from conformance.files import resource
from conformance.histories.inference.probing import Player, defaults, every_alternative
from conformance.histories.operations.table import stored_call
from conformance.model import BadCall, Call, Model, Observation, State, States
from conformance.model.rules import PARKED, PEEK_TIMEOUT_POSITION, PEEK_TIMEOUT_STATE, POLL
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import alternative_of

WAIT_MS = 1_000
MAX_MESSAGES = 3


def opened(*, transactional: bool) -> tuple[Call, ...]:
    """Return the calls that begin every trace: a queue, open for send as `s` and for receive as `r`."""
    return (
        Call("queues.create", queue="q", transactional=transactional),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
    )


def _next_message(state: State) -> str | None:
    sent = sum(len(queue.positions) for queue in state.queues.values())
    return "abcdef"[sent] if sent < MAX_MESSAGES else None


def _sends(state: State, *priorities: int | None, within: str | None = None, delivery: str | None = None) -> list[Call]:
    name = _next_message(state)
    if name is None:
        return []
    return [
        Call("messages.send", message=name, handle="s", priority=priority, transaction=within, delivery=delivery)
        for priority in priorities or (None,)
    ]


def _waiting_name(state: State) -> str:
    return f"w{len(state.waited) + 1}"


def _free_cursors(state: State) -> list[str | None]:
    return [
        cursor.name
        for cursor in state.cursors.values()
        if cursor.state is not CursorState.CLOSED and not state.busy(cursor.name)
    ]


def cursor_calls(state: State) -> Iterator[Call]:
    """One queue, one cursor, reads that wait and reads that do not."""
    yield from _sends(state, None, 5)
    if not state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    for cursor in (None, *_free_cursors(state)):
        for method in ("messages.receive", "messages.peek", "messages.peek_next"):
            if cursor is None and method != "messages.receive":
                continue
            yield Call(method, handle="r", cursor=cursor)
            if cursor is not None and not state.waiters:
                yield Call(method, name=_waiting_name(state), handle="r", cursor=cursor, timeout_ms=WAIT_MS)
    if state.waiters:
        yield Call("clock.advance", by_ms=WAIT_MS)


def queue_calls(state: State) -> Iterator[Call]:
    """Queues that are deleted, handles that are closed and shared, with a read that waits."""
    yield from _sends(state)
    yield Call("messages.receive", handle="r")
    if not state.waiters:
        yield Call("messages.receive", name=_waiting_name(state), handle="r", timeout_ms=WAIT_MS)
    else:
        yield Call("clock.advance", by_ms=WAIT_MS)
    if state.queues["q"].exists:
        yield Call("queues.delete", queue="q")
        name = f"h{len(state.handles)}"
        for access, share in (("peek", None), ("peek", "deny_receive"), ("receive", "deny_receive")):
            yield Call("queues.open", name=name, queue="q", access=access, share=share)
    if state.handles["r"].is_open:
        yield Call("queues.close", handle="r")


def reader_calls(state: State) -> Iterator[Call]:
    """Several readers on two handles."""
    yield from _sends(state)
    if "r2" not in state.handles:
        yield Call("queues.open", name="r2", queue="q", access="receive")
    if len(state.waiters) < 4:
        for handle in ("r", "r2"):
            if handle in state.handles:
                for method in ("messages.receive", "messages.peek"):
                    yield Call(method, name=_waiting_name(state), handle=handle, timeout_ms=WAIT_MS)


def transaction_calls(state: State) -> Iterator[Call]:
    """A transactional queue, two transactions, a cursor, purge and restart."""
    live = [name for name in ("t", "u") if name in state.transactions and state.transactions[name].ended is None]
    if len(state.transactions) < 2:
        yield Call("transactions.begin", name="tu"[len(state.transactions)])
    if "r" not in state.handles:
        yield Call("queues.open", name="r", queue="q", access="receive")
        return
    for name in live:
        yield from _sends(state, within=name)
        yield Call("messages.receive", handle="r", transaction=name)
        yield Call("transactions.commit", transaction=name)
        yield Call("transactions.abort", transaction=name)
    if "s" not in state.handles:
        yield Call("messages.receive", handle="r")
        return
    if not state.cursors:
        yield Call("cursors.open", name="c", handle="r")
    for cursor in (None, *_free_cursors(state)):
        yield Call("messages.peek", handle="r", cursor=cursor)
    yield Call("messages.receive", handle="r")
    if state.queues["q"].positions:
        yield Call("queues.purge", handle="r")


def restart_calls(state: State) -> Iterator[Call]:
    """Express messages in transactions, and a restart."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    if not state.transactions:
        yield Call("transactions.begin", name="t")
    if "r" not in state.handles:
        yield Call("queues.open", name="r", queue="q", access="receive")
        return
    if "s" in state.handles:
        for name in live:
            yield from _sends(state, within=name)
            yield from _sends(state, within=name, delivery="express")
            yield Call("transactions.commit", transaction=name)
        yield Call("restart", kill=True)
    yield Call("messages.receive", handle="r")


def lookup_calls(state: State) -> Iterator[Call]:
    """Reads by lookup identifier in a queue with two priorities."""
    yield from _sends(state, None, 5)
    yield Call("messages.receive", handle="r")
    yield Call("messages.peek", handle="r")
    yield from _lookups(state)


def locked_lookup_calls(state: State) -> Iterator[Call]:
    """Reads by lookup identifier in a transactional queue, of messages sent with a priority."""
    if not state.transactions:
        yield Call("transactions.begin", name="t")
    for name, found in state.transactions.items():
        if found.ended is None:
            yield from _sends(state, 5, within=name)
            yield Call("messages.receive", handle="r", transaction=name)
            yield Call("transactions.commit", transaction=name)
        elif len(state.transactions) < 2:
            yield Call("transactions.begin", name="u")
    yield from _lookups(state)


def _lookups(state: State) -> Iterator[Call]:
    known = [position.message for position in state.queues["q"].positions if position.message in state.lookups]
    for method in ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id"):
        for message in known:
            for action in ("current", "next", "previous"):
                yield Call(method, handle="r", message=message, action=action)
        if any(position.state is not PositionState.DELETED for position in state.queues["q"].positions):
            yield Call(method, handle="r", action="first")


def move_calls(state: State) -> Iterator[Call]:
    """Moves from the queue to its subqueue and back, outside transactions; the calls between seeing and moving."""
    yield from _sends(state)
    yield from _moves(state, "r", "m", None)
    for handle in ("r", "o"):
        yield Call("messages.peek", handle=handle)
        yield Call("messages.receive", handle=handle)


def transacted_move_calls(state: State) -> Iterator[Call]:
    """A move in a transaction, and a purge before it ends."""
    live = [name for name, found in state.transactions.items() if found.ended is None]
    if not live and len(state.transactions) < 2:
        yield Call("transactions.begin", name="tu"[len(state.transactions)])
    for name in live:
        if not any(queue.positions for queue in state.queues.values()):
            yield from _sends(state, within=name)
        yield Call("transactions.commit", transaction=name)
        yield from _moves(state, "r", "m", name)
    yield Call("messages.peek", handle="r")
    yield Call("messages.peek", handle="o")
    yield Call("queues.purge", handle="r")


def _moves(state: State, source: str, target: str, within: str | None) -> Iterator[Call]:
    for position in state.queues["q"].positions:
        if position.message in state.lookups:
            yield Call("messages.move", message=position.message, handle=source, destination=target, transaction=within)


def outgoing_calls(state: State) -> Iterator[Call]:
    """A queue on another computer, paused, and a restart."""
    if "s" not in state.handles:
        yield Call("queues.open", name="s", queue="remote1", access="send")
        return
    yield from _sends(state, delivery="recoverable")
    yield Call("outgoing.take", queue="remote1")
    yield Call("outgoing.pause", queue="remote1")
    if not state.restarts:
        yield Call("restart", kill=False)


TOGETHER = (PEEK_TIMEOUT_STATE, PEEK_TIMEOUT_POSITION, PARKED, POLL)
"""Readings on the end of a peek that found nothing: each shows only under some alternatives of the others."""

PLAIN, TRANSACTIONAL = opened(transactional=False), opened(transactional=True)
_SUBQUEUE = (
    Call("queues.open", name="o", queue="q;one", access="receive"),
    Call("queues.open", name="m", queue="q;one", access="move"),
)
KITS: tuple[tuple[Callable[[State], Iterator[Call]], tuple[Call, ...], int], ...] = (
    (cursor_calls, PLAIN, 7),
    (queue_calls, PLAIN, 5),
    (reader_calls, PLAIN, 7),
    (transaction_calls, TRANSACTIONAL, 9),
    (restart_calls, TRANSACTIONAL, 7),
    (lookup_calls, PLAIN, 6),
    (locked_lookup_calls, TRANSACTIONAL, 8),
    (move_calls, (*PLAIN, *_SUBQUEUE), 8),
    (outgoing_calls, (Call("queues.open", name="s", queue="remote1", access="send"),), 6),
    (transacted_move_calls, (*TRANSACTIONAL, *_SUBQUEUE), 10),
)
"""Each kit: the function from a state to its sensible calls, the first calls, and the depth of the search."""

MAX_NODES = 60_000  # nodes of one search: more than a kit has to its depth, unless its traces get too long to be useful


@dataclass(frozen=True, slots=True)
class Trace:
    """Calls that separate two alternatives of a reading.

    rules_out: those of the two that the calls rule out on an implementation that follows the other. given: other
    readings, each with the alternative that the implementation must follow for the trace to work.
    """

    reading: str
    alternatives: tuple[str, str]
    calls: tuple[Call, ...]
    rules_out: frozenset[str]
    given: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Node:
    """Two players after the same calls. doubts: for each player, the states that a judge with only the other
    alternative still holds possible; None once that judge cannot explain its answers."""

    calls: tuple[Call, ...]
    states: tuple[State, State]
    doubts: tuple[States | None, States | None]
    differ: bool = False

    def key(self) -> Hashable:
        doubts = tuple(None if doubt is None else len(doubt.states) for doubt in self.doubts) if self.differ else ()
        return normal(self.states[0]), normal(self.states[1]), self.differ, doubts

    @property
    def ruled_out(self) -> int:
        return sum(doubt is None for doubt in self.doubts)


_START = _Node((), (State(), State()), (States(), States()))


def separate(reading: str, one: str, other: str, given: Mapping[str, str] | None = None) -> Trace | None:
    """Return the shortest trace found that separates two alternatives: both ways if possible, else one way, or None."""
    searches = [_search(reading, (one, other), given or {}, calls, start, depth) for calls, start, depth in KITS]
    one_way: _Node | None = None
    while searches:  # all kits to the same depth, so the first trace found is the shortest
        for search in list(searches):
            node = next(search, None)
            if node is None:
                searches.remove(search)
            elif node.ruled_out == 2:
                return _trace(reading, (one, other), given or {}, node)
            elif node.ruled_out and one_way is None:
                one_way = node
    return _trace(reading, (one, other), given or {}, one_way) if one_way is not None else None


def ruled_out(
    reading: str, pair: tuple[str, str], calls: Iterable[Call], given: Mapping[str, str]
) -> frozenset[str] | None:
    """Return those of two alternatives that these calls rule out if the other is followed; None for senseless calls."""
    players, judges = _both(reading, pair, given)
    node: _Node | None = _START
    for call in calls:
        node = node and _after(node, call, players, judges)
    return None if node is None else _ruled(pair, node)


def _trace(reading: str, pair: tuple[str, str], given: Mapping[str, str], node: _Node) -> Trace:
    told, calls = _ruled(pair, node), node.calls
    while ruled_out(reading, pair, calls[:-1], given) == told:  # the first calls of a kit may suffice
        calls = calls[:-1]
    return Trace(reading, pair, calls, told, dict(given))


def _ruled(pair: tuple[str, str], node: _Node) -> frozenset[str]:
    return frozenset(name for name, doubt in zip(reversed(pair), node.doubts, strict=True) if doubt is None)


def _both(
    reading: str, pair: tuple[str, str], given: Mapping[str, str]
) -> tuple[tuple[Player, ...], tuple[Model, ...]]:
    """Return a player for each alternative, and for each player a judge that knows only the other alternative."""
    players = tuple(Player(defaults({**given, reading: name})) for name in pair)
    known = every_alternative() | {name: (alternative,) for name, alternative in given.items()}
    return players, tuple(Model(known | {reading: (name,)}) for name in reversed(pair))


def _search(
    reading: str,
    pair: tuple[str, str],
    given: Mapping[str, str],
    calls: Callable[[State], Iterator[Call]],
    start: tuple[Call, ...],
    depth: int,
) -> Iterator[_Node]:
    """Yield the node that rules out most, for each depth."""
    players, judges = _both(reading, pair, given)
    first: _Node | None = _START
    for call in start:
        first = first and _after(first, call, players, judges)
    if first is None:
        return
    level, seen = [first], {first.key()}
    for _ in range(depth):
        following: list[_Node] = []
        for node in level:
            for call in calls(node.states[0]):
                after = _after(node, call, players, judges)
                if after is None or (key := after.key()) in seen:
                    continue
                seen.add(key)
                following.append(after)
                if after.ruled_out == 2:
                    break
        if not following or len(seen) > MAX_NODES:
            return
        yield max(following, key=lambda node: node.ruled_out)
        level = following


def _after(node: _Node, call: Call, players: tuple[Player, ...], judges: tuple[Model, ...]) -> _Node | None:
    """Return the node after a call; None unless the call makes sense for both players."""
    try:
        (seen, mine), (theirs, yours) = (
            player.play(state, call) for player, state in zip(players, node.states, strict=True)
        )
        differ = node.differ or _answer_key(seen) != _answer_key(theirs)
        doubts = tuple(
            None if doubt is None else judged(judge, doubt, call, what)
            for judge, doubt, what in zip(judges, node.doubts, (seen, theirs), strict=True)
        )
    except BadCall:
        return None
    return _Node((*node.calls, call), (mine, yours), (doubts[0], doubts[1]), differ)


def judged(model: Model, states: States, call: Call, seen: Observation) -> States | None:
    """Return the states this model holds possible after a call; None when it cannot explain the answer."""
    after = model.step(states, call, seen)
    return None if after.failed else after.states


def _answer_key(seen: Observation) -> Hashable:
    return seen.answer, tuple(sorted(seen.completed.items(), key=lambda item: item[0]))


def normal(state: State) -> Hashable:
    """Return the state's key with times replaced by their order: histories that differ only in times are equal."""
    positions = [position for queue in state.queues.values() for position in queue.positions]
    times = {position.rank[1] for position in positions} | {position.since for position in positions}
    times |= {cursor.ended_at for cursor in state.cursors.values() if cursor.ended_at is not None}
    times |= {cursor.at[1] for cursor in state.cursors.values()}
    place = {time: number for number, time in enumerate(sorted(times))}
    queues = {
        name: replace(
            queue,
            ended_reader=None,
            positions=tuple(
                replace(found, rank=(found.rank[0], place[found.rank[1]]), since=place[found.since], claim="")
                for found in queue.positions
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
    waiters = tuple(
        replace(waiter, deadline=None if waiter.deadline is None else waiter.deadline - state.now)
        for waiter in state.waiters
    )
    known = dict.fromkeys(state.lookups, 0)  # which identifiers are known; their values follow from the places
    return replace(state, queues=queues, cursors=cursors, waiters=waiters, now=0, lookups=known).key()


FORMAT = 1


class TraceError(ValueError):
    """A file of traces cannot be used; the message is one sentence."""


def from_json(reading: str, raw: Mapping[str, object]) -> Trace:
    """Return a trace from its JSON form: the inverse of `to_json` in `tools.traces`. Raises TraceError."""
    try:
        one, other = (alternative_of(reading, name) for name in raw["alternatives"])  # type: ignore[attr-defined]
        calls = tuple(stored_call(call) for call in raw["calls"])  # type: ignore[attr-defined]
        given = {name: alternative_of(name, value) for name, value in raw.get("given", {}).items()}  # type: ignore[attr-defined]
        return Trace(reading, (one, other), calls, frozenset(raw["rules_out"]), given)  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError) as wrong:
        raise TraceError(f"A trace of {reading} cannot be read: {wrong}.") from None


@cache
def shipped() -> tuple[Trace, ...]:
    """Return every shipped trace, the shortest first. Raises TraceError, or FileNotFoundError if none are installed."""
    found = []
    for path in sorted(resource("fixtures/traces").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("format") != FORMAT:
            raise TraceError(f"{path} has format {content.get('format')!r}; this version reads format {FORMAT}.")
        found += [from_json(content["reading"], raw) for raw in content["traces"]]
    return tuple(sorted(found, key=lambda trace: (len(trace.given), len(trace.calls), trace.reading)))
