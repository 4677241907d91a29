"""Search the shortest calls whose answers tell two alternatives of a reading apart.

The search is breadth first, over two players of the model that differ in one reading. While they answer alike, there
is one history. After that there are two, and the search goes on until neither is explained by the other alternative,
whatever the other readings are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from conformance.histories.inference.playing import Player, defaults, every_alternative
from conformance.histories.inference.search_alphabets import KITS
from conformance.model import BadCall, Call, Model, Observation, State, States
from conformance.model.values import replace

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
        differ = node.differ or _told(seen) != _told(theirs)
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


def _told(seen: Observation) -> Hashable:
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
