"""Go through every history of small managers, to find situations no walk has met and prove what none can meet."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from conformance.histories.operations.state_queries import numbered
from conformance.histories.situations.situation import Space, Vector
from conformance.histories.situations.specified_calls import followed, foreseen
from conformance.model import Call, Model, State
from conformance.model.calls import INFINITE
from conformance.model.state import Position
from tools.planner.setups import SCENES

_call = lru_cache(1 << 16)(Call)
_OPENINGS: Final = {scene.name: scene.opening for scene in SCENES}
_PLAIN_SENDS: Final[tuple[Mapping[str, Any], ...]] = ({}, {"priority": 5})
_WISHES: Final[tuple[Mapping[str, Any], ...]] = (
    {"journal": True},
    {"live_s": 2, "dead_letter": True},
    {"acks": "positive_arrival+positive_receive+negative_receive", "admin": "adm"},
    {},
)


@dataclass(frozen=True, slots=True)
class Scope:
    """A small manager and the most it may hold.

    messages: sent in all. sends: the options of a send. cursors, transactions, begun: made in all. waits: at once.
    openings: queue, access and share of handles opened beside those of the scene, `handles` in all. deletes: queues are
    deleted and created again. restarts: in all. states: at most so many are gone through.
    """

    name: str
    scene: str
    messages: int = 3
    sends: tuple[Mapping[str, Any], ...] = _PLAIN_SENDS
    cursors: int = 0
    transactions: int = 0
    begun: int = 0
    waits: int = 0
    lookups: bool = False
    moves: bool = False
    purges: bool = True
    closes: bool = False
    deletes: bool = False
    handles: int = 0
    openings: tuple[tuple[str, str, str | None], ...] = ()
    restarts: int = 0
    passes: tuple[int, ...] = ()
    counts: bool = False
    remote: bool = False
    states: int = 45_000
    opening: tuple[Call, ...] = field(default=())

    @property
    def begins(self) -> tuple[Call, ...]:
        """The calls that begin every history of the scope."""
        return (*_OPENINGS[self.scene], *self.opening)

    def calls(self, state: State) -> Iterator[Call]:
        """Yield every call of the scope in a state."""
        handles = [*state.handles]
        live = [name for name, one in state.transactions.items() if one.ended != "restart"]
        within: list[str | None] = [None, *live] if self.transactions else [None]
        yield from self._sends(state, handles, within)
        yield from self._reads(state, handles, within)
        if self.lookups:
            yield from self._by_lookup(state, handles, within)
        yield from self._made(state, handles, live)
        if self.begun:
            for read in state.begun:
                yield _call("messages.receive_end", read=read, acknowledge=True)
                yield _call("messages.receive_end", read=read, acknowledge=False)
        if self.moves:
            yield from self._moves(state, within)
        for handle in handles:
            if self.purges:
                yield _call("queues.purge", handle=handle)
            if self.closes:
                yield _call("queues.close", handle=handle)
        yield from self._managed(state)

    def _sends(self, state: State, handles: list[str], within: list[str | None]) -> Iterator[Call]:
        sent = sum("@" not in one.message for queue in state.queues.values() for one in queue.positions)
        if sent < self.messages:
            for handle in handles:
                for transaction in within:
                    for options in self.sends:
                        if not (transaction and "priority" in options):
                            yield _call(
                                "messages.send",
                                message=numbered(sent),
                                handle=handle,
                                transaction=transaction,
                                **options,
                            )

    def _reads(self, state: State, handles: list[str], within: list[str | None]) -> Iterator[Call]:
        number = len(state.waited) + len(state.begun) + 1  # a name is given once
        name = f"w{number}"
        timeouts = (0, 40, 2000, INFINITE) if len(state.waiters) < self.waits else (0,)
        for handle in handles:
            cursors = [None, *(one.name for one in state.cursors.values() if one.handle == handle)]
            for cursor in cursors:
                for timeout in timeouts:
                    named = name if timeout else None
                    for transaction in within:
                        yield _call(
                            "messages.receive",
                            name=named,
                            handle=handle,
                            cursor=cursor,
                            transaction=transaction,
                            timeout_ms=timeout,
                        )
                    for method in ("messages.peek", "messages.peek_next"):
                        if cursor is not None or method == "messages.peek":
                            yield _call(method, name=named, handle=handle, cursor=cursor, timeout_ms=timeout)
                    if len(state.begun) < self.begun:
                        begun = f"b{number}"
                        yield _call(
                            "messages.receive_begin", name=begun, handle=handle, cursor=cursor, timeout_ms=timeout
                        )
        for request in [waiter.name for waiter in state.waiters] or state.waited[-1:]:
            yield _call("messages.cancel", request=request)
        for waiter in state.waiters:
            if waiter.deadline is not None:
                yield _call("clock.advance", by_ms=waiter.deadline - state.now)

    def _by_lookup(self, state: State, handles: list[str], within: list[str | None]) -> Iterator[Call]:
        for handle in handles:
            queue = state.queues.get(state.handles[handle].queue)
            known = [one.message for one in queue.positions if one.message in state.lookups] if queue else []
            for method in ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id"):
                for transaction in within if method == "messages.receive_by_lookup_id" else (None,):
                    for action in ("first", "last"):
                        yield _call(method, handle=handle, action=action, transaction=transaction)
                    for message in known:
                        for action in ("current", "next", "previous"):
                            yield _call(method, handle=handle, message=message, action=action, transaction=transaction)

    def _made(self, state: State, handles: list[str], live: list[str]) -> Iterator[Call]:
        if len(state.cursors) < self.cursors:
            for handle in handles:
                yield _call("cursors.open", name=f"c{len(state.cursors) + 1}", handle=handle)
        for cursor in state.cursors:
            yield _call("cursors.close", cursor=cursor)
        if len(state.transactions) < self.transactions:
            yield _call("transactions.begin", name=f"t{len(state.transactions) + 1}")
        for transaction in live:
            for how in ("prepare", "commit", "abort"):
                yield _call(f"transactions.{how}", transaction=transaction)
        if len(handles) < self.handles:
            name = next(one for number in range(20) if (one := f"h{number + 1}") not in state.handles)
            for queue, access, share in self.openings:
                yield _call("queues.open", name=name, queue=queue, access=access, share=share)

    def _moves(self, state: State, within: list[str | None]) -> Iterator[Call]:
        for source in state.handles.values():
            queue = state.queues.get(source.queue)
            for position in queue.positions if queue is not None else ():
                if position.message in state.lookups:
                    for target in state.handles.values():
                        for transaction in within:
                            yield _call(
                                "messages.move",
                                message=position.message,
                                handle=source.name,
                                destination=target.name,
                                transaction=transaction,
                            )

    def _managed(self, state: State) -> Iterator[Call]:
        mains = [queue for queue in state.queues.values() if queue.parent is None and ";" not in queue.name]
        for queue in mains:
            if self.deletes:
                yield _call("queues.delete", queue=queue.name)
                attributes = queue.attributes is not None and queue.attributes.journaling
                yield _call("queues.create", queue=queue.name, transactional=queue.transactional, journaling=attributes)
            if self.counts:
                yield _call("queues.counts", queue=queue.name)
            if queue.outgoing is not None and self.remote:
                for how in ("pause", "resume", "take"):
                    yield _call(f"outgoing.{how}", queue=queue.name)
        if state.restarts < self.restarts:
            yield _call("restart", kill=True)
            yield _call("restart", kill=False)
        for by in self.passes:
            if state.now < 3 * by:
                yield _call("clock.advance", by_ms=by)


_READERS: Final = (
    ("q1", "receive", None),
    ("q1", "receive", "deny_receive"),
    ("q1", "peek", None),
    ("q1", "send", None),
)
SCOPES: Final = (
    Scope("a plain queue, 3 messages, a cursor", "plain", 3, cursors=1, purges=True),
    Scope("a plain queue, 2 messages, a cursor, a wait", "plain", 2, cursors=1, waits=1),
    Scope("a transactional queue, 2 messages, 2 transactions", "transactional", 2, transactions=2, lookups=True),
    Scope("a transactional queue, 2 messages, a cursor, a transaction", "transactional", 2, cursors=1, transactions=2),
    Scope("a transactional queue, a message, a wait", "transactional", 2, transactions=2, waits=1),
    Scope("a plain queue, 2 messages, 2 waits", "two handles", 2, waits=2),
    Scope("a plain queue, 2 messages, a begun receive", "plain", 2, cursors=1, begun=2, lookups=True),
    Scope(
        "a queue deleted and closed",
        "bare",
        2,
        cursors=1,
        closes=True,
        deletes=True,
        handles=3,
        openings=_READERS,
        begun=1,
        lookups=True,
    ),
    Scope("a queue with a subqueue", "subqueues", 2, moves=True, lookups=True, cursors=1, sends=({},)),
    Scope("a transactional queue with a subqueue", "subqueues, transactional", 2, moves=True, transactions=2),
    Scope("a queue with journals", "journals", 2, _WISHES, cursors=1, passes=(3001,), deletes=True),
    Scope("a transactional queue with journals", "journals, transactional", 2, _WISHES, transactions=2, passes=(3001,)),
    Scope(
        "a queue and a restart",
        "bare",
        2,
        ({}, {"delivery": "recoverable"}),
        handles=2,
        openings=_READERS[:1] + _READERS[3:],
        restarts=1,
        cursors=1,
        lookups=True,
    ),
    Scope("outgoing queues", "outgoing", 2, ({},), transactions=1, remote=True, restarts=0),
)


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
                    known[vector] = (*scope.begins, *_calls_of(trail), call)
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


def _calls_of(trail: _Trail | None) -> list[Call]:
    calls: list[Call] = []
    while trail is not None:
        trail, call = trail
        calls.append(call)
    return calls[::-1]
