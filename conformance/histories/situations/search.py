"""Search: every history of a small scope, breadth first, for what no walk has met and to prove what none can.

A scope proves a situation unreachable where it is exhausted, has each of the values by itself, and never together.
That is believed only as far as the scope contradicts nothing: for features of which some history elsewhere has met
values together that the scope never has, the scope is too small.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from conformance.histories.situations.pure import followed, foreseen
from conformance.histories.situations.scopes import Scope
from conformance.histories.situations.situation import Space, Vector
from conformance.model import Call, Model, State
from conformance.model.state import Position


@dataclass(slots=True)
class Searched:
    """Situations that a scope reaches.

    vectors: by method, each with the shortest history that meets it. exhausted: nothing in the scope is left to see.
    states: how many there are. depth: the calls after the opening up to which every history was gone through.
    """

    scope: Scope
    vectors: dict[str, dict[Vector, tuple[Call, ...]]] = field(default_factory=dict)
    exhausted: bool = False
    states: int = 0
    depth: int = 0


def key_of(state: State) -> Hashable:
    """Return a key that is equal for states that differ in times and names of what is over."""
    times: set[int] = set()
    for queue in state.queues.values():
        for position in queue.positions:
            times.add(position.rank[1])
            times.add(position.locked_at)
    for cursor in state.cursors.values():
        times.add(cursor.at[1])
    place = {time: number for number, time in enumerate(sorted(times))}
    keeping = state.keeping
    return (
        tuple(
            [
                (
                    queue.name,
                    queue.exists,
                    queue.transactional,
                    queue.attributes,
                    queue.outgoing and (queue.outgoing.state, queue.outgoing.held, queue.outgoing.paused is None),
                    tuple([_slot(position, place) for position in queue.positions]),
                )
                for queue in state.queues.values()
            ]
        ),
        tuple(state.handles.values()),
        tuple(
            [
                (cursor.handle, cursor.state, cursor.at[0], place[cursor.at[1]], cursor.message, cursor.ended)
                for cursor in state.cursors.values()
            ]
        ),
        tuple([(one.ended, one.prepared, one.bereft) for one in state.transactions.values()]),
        tuple([(one.handle, one.queue, one.message, one.ended) for one in state.begun.values()]),
        tuple(
            [
                (
                    one.method,
                    one.handle,
                    one.cursor,
                    one.transaction,
                    one.deadline and one.deadline - state.now,
                )
                for one in state.waiters
            ]
        ),
        bool(state.waited),
        state.restarts,
        keeping and (keeping.quota, keeping.journal_quota, state.now),
        tuple(sorted(state.lookups)),
    )


def _slot(position: Position, place: dict[int, int]) -> Hashable:
    return (
        position.message,
        position.rank[0],
        place[position.rank[1]],
        position.state,
        position.claim,
        position.holder,
        place[position.locked_at],
        position.delivery,
        position.doubtful,
        position.purged,
        position.wishes,
        position.target,
        position.moved,
    )


def searched(model: Model, space: Space, scope: Scope, states: int | None = None) -> Searched:
    """Go through every history of a scope. states: go through no more states than these."""
    found = Searched(scope)
    state = State()
    for call in scope.begins:
        state = followed(model.allowed(state, call).outcomes[0])
    most = states or scope.states
    seen = {key_of(state)}
    level: list[tuple[State, _Trail | None]] = [(state, None)]
    while level:
        following: list[tuple[State, _Trail | None]] = []
        for state, trail in level:
            found.states += 1
            for call in scope.calls(state):
                outcome = foreseen(model, state, call)
                if outcome is None:
                    continue
                vector = space.vector(state, call)
                known = found.vectors.setdefault(call.method, {})
                if vector not in known:
                    known[vector] = (*scope.begins, *_told(trail), call)
                if outcome.next is state:
                    continue
                after = followed(outcome)
                key = key_of(after)
                if key not in seen and len(seen) < most:
                    seen.add(key)
                    following.append((after, (trail, call)))
        if len(seen) >= most:
            return found
        found.depth += 1
        level = following
    found.exhausted = True
    return found


_Trail = tuple["_Trail | None", Call]


def _told(trail: _Trail | None) -> list[Call]:
    calls: list[Call] = []
    while trail is not None:
        trail, call = trail
        calls.append(call)
    return calls[::-1]
