"""The twin of a history of objects: the calls of the queue manager's user that its acts stand for.

Played over the plain facets of a driver, it tells whose fault a wrong answer of an object is: the object's, or that of
the queue manager below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.activex.events import Events, Untold, events
from conformance.activex.expected import Readings, Seen, refusing
from conformance.activex.plans import Act
from conformance.activex.tables import CLASSES
from conformance.activex.values import S_OK
from conformance.activex.world import World
from conformance.model import BadCall, Call, Model
from conformance.model.journals import DEAD_LETTERS


@dataclass(frozen=True, slots=True)
class Done:
    """An act, its answer, and those of the reads that ended with it. seen: None for a creation and for passing time."""

    act: Act
    seen: Seen | None = None
    ended: Mapping[str, Seen] = field(default_factory=dict)


def calls(history: Iterable[Done], readings: Readings) -> tuple[Call, ...]:
    """Return the calls that a history of objects stands for. What an object refuses by itself becomes no call."""
    found: list[Call] = []
    world = World(Model(readings))
    for done in history:
        if done.act.object in world.known.held or done.act.call is None:
            found += _calls(world, done)
            world = replace(_after(world, done), lost=False)
    return tuple(_plain_names(found))


def _calls(world: World, done: Done) -> Iterator[Call]:
    act, seen = done.act, done.seen
    if act.passes_ms:
        yield Call("clock.advance", by_ms=act.passes_ms)
    if act.call is None or act.call.kind != "method" or seen is None:
        return
    held = world.known.held[act.object]
    if refusing(CLASSES[held.coclass][act.call.member], held, act.call) is not None:
        return
    try:
        told = events(world.known, act.object, act.call, act.gives)
    except (Untold, BadCall):
        return
    yield from told.before
    yield told.main
    yield from told.failed if _failed(told, seen) else told.after


def _failed(told: Events, seen: Seen) -> bool:
    reads = told.main.method.startswith("messages.") and told.main.method != "messages.send"
    return seen.status != S_OK or (reads and not seen.gives and not seen.waits)


def _after(world: World, done: Done) -> World:
    act, seen = done.act, done.seen
    if act.passes_ms:
        return world.passed(act.passes_ms, _awaited(world, done))[0]
    if act.call is None:
        return world.created(act.object, act.coclass or "") if act.coclass in CLASSES else world
    assert seen is not None
    return world.called(act.object, act.call, seen, act.gives, _awaited(world, done))[0]


def _awaited(world: World, done: Done) -> dict[str, Seen]:
    return {name: seen for name, seen in done.ended.items() if name in world.waiting}


def _plain_names(found: Iterable[Call]) -> Iterator[Call]:
    """Yield the calls with names that every queue may have, in the place of words for path names."""
    names: dict[str, str] = {}
    for call in found:
        if call.queue is None or call.queue in DEAD_LETTERS:
            yield call
            continue
        path, _, rest = call.queue.partition(";")
        plain = names.setdefault(path, f"q{len(names) + 1}")
        yield replace(call, queue=f"{plain};{rest}" if rest else plain)
