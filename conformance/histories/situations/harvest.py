"""Harvest: walks of the pure model, steered to situations that no walk has met, each cut down to what meets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeAlias

from conformance.histories.operations.operation import Manner, Offer
from conformance.histories.operations.table import ACTIONS, METHODS, OPERATIONS
from conformance.histories.situations.asking import DRAWS
from conformance.histories.situations.pure import followed, foreseen
from conformance.histories.situations.scenes import SCENES, Scene
from conformance.histories.situations.situation import Space, Vector
from conformance.model import Call, Model, State
from conformance.model.expected import Fails

OFFER: Final = Offer(METHODS, virtual=True)
LONGEST: Final = 40  # calls of a history, its opening included
DRAWN: Final = 4  # calls drawn of each method in each state
KEPT: Final = 4_000  # states to begin from again
STALE: Final = 14  # steps without anything new, after which a walk ends
History: TypeAlias = tuple[Call, ...]


@dataclass(slots=True)
class Harvest:
    """Findings of the walks so far. met: a byte for each situation, 1 once some history meets it.

    spent: vectors by method that bring nothing new any more. histories: each with the situations it was kept for.
    """

    space: Space
    met: bytearray
    spent: dict[str, set[Vector]] = field(default_factory=dict)
    histories: list[tuple[History, tuple[int, ...]]] = field(default_factory=list)

    def gain(self, method: str, vector: Vector) -> int:
        """Return how many situations a vector would bring."""
        spent = self.spent.get(method)
        if spent is None:
            spent = self.spent[method] = set()
        elif vector in spent:
            return 0
        met = self.met
        found = 0
        for number in self.space.numbers(method, vector):
            if not met[number]:
                found += 1
        if not found:
            spent.add(vector)
        return found

    def take(self, numbers: Iterable[int]) -> list[int]:
        """Count these situations as met; return those that are new."""
        met, new = self.met, []
        for number in numbers:
            if not met[number]:
                met[number] = 1
                new.append(number)
        return new


@dataclass(frozen=True, slots=True)
class Start:
    """A state to begin a walk from, and the calls that led there."""

    scene: Scene
    calls: History
    state: State


class Walker:
    """Walks of one lane: its own random numbers and starts, from a harvest that several lanes begin with."""

    def __init__(self, model: Model, harvest: Harvest, seed: str) -> None:
        self.model = model
        self.harvest = harvest
        self.random = Random(seed)
        self.starts: list[Start] = []
        self.scenes = [_begun(model, scene) for scene in SCENES for _ in range(scene.weight)]
        self._methods = [method for method in harvest.space.features if method in DRAWS]

    def walk(self) -> None:
        """Walk once: to the call that brings most, else to one that gets somewhere, until nothing new comes."""
        random, space, harvest = self.random, self.harvest.space, self.harvest
        start = self._start()
        calls, state, brought, idle = list(start.calls), start.state, [], 0
        kept = 0
        while len(calls) < LONGEST and idle < STALE:
            call, gain, after = self._next(start.scene, state)
            if call is None or after is None:
                break
            calls.append(call)
            idle += 1
            if gain:
                idle = 0
                brought += harvest.take(space.met(state, call))
                kept = len(calls)
                if len(self.starts) < KEPT:
                    self.starts.append(Start(start.scene, tuple(calls), after))
                else:
                    self.starts[int(random.random() * KEPT)] = Start(start.scene, tuple(calls), after)
            state = after
        if brought:
            wanted = tuple(sorted(brought))
            history = tuple(calls[:kept])
            if len(wanted) < 60:
                history = cut(self.model, space, history, wanted)
            harvest.histories.append((history, wanted))

    def _start(self) -> Start:
        random = self.random
        if self.starts and random.random() < 0.6:
            for _ in range(4):
                start = self.starts[int(random.random() * len(self.starts))]
                if len(start.calls) < LONGEST - 4:
                    return start
        return self.scenes[int(random.random() * len(self.scenes))]

    def _next(self, scene: Scene, state: State) -> tuple[Call | None, int, State | None]:
        """Return the call that brings most with its gain and the state after it; without gain, one that goes on."""
        found: list[tuple[int, int, Call]] = []
        sensible = self._sensible(scene, state)
        drawn = self._drawn(state)
        seen: set[int] = set()
        for call in (*sensible, *drawn):
            if id(call) in seen:
                continue
            seen.add(id(call))
            gain = self._gain(state, call)
            if gain:
                found.append((gain, len(found), call))
        found.sort(reverse=True)
        for gain, _, call in found:
            after = self._after(state, call)
            if after is not None:
                return call, gain, after
        return self._onward(state, sensible, drawn)

    def _gain(self, state: State, call: Call) -> int:
        harvest = self.harvest
        try:
            return harvest.gain(call.method, harvest.space.vector(state, call))
        except (KeyError, AttributeError, TypeError, ValueError):
            if self._after(state, call) is not None:
                raise
            return 0  # features know nothing of calls that no section describes

    def _after(self, state: State, call: Call) -> State | None:
        outcome = foreseen(self.model, state, call)
        return None if outcome is None else followed(outcome)

    def _sensible(self, scene: Scene, state: State) -> list[Call]:
        random, steps = self.random, scene.steps
        found: list[Call] = []
        for _ in range(8):
            try:
                calls = ACTIONS[steps[int(random.random() * len(steps))]].choose(state, OFFER)
            except KeyError:  # a cursor on a journal's handle that went with its queue
                continue
            for _ in range(min(3, len(calls))):
                found.append(calls[int(random.random() * len(calls))])
        return found

    def _drawn(self, state: State) -> list[Call]:
        random = self.random
        found = []
        for method in self._methods:
            draw = DRAWS[method]
            for _ in range(DRAWN):
                call = draw(random, state)
                if call is not None:
                    found.append(call)
        return found

    def _onward(
        self, state: State, sensible: Sequence[Call], drawn: Sequence[Call]
    ) -> tuple[Call | None, int, State | None]:
        random = self.random
        for turn in range(12):
            among = sensible if turn < 6 and random.random() < 0.7 else drawn
            if not among:
                continue
            call = among[int(random.random() * len(among))]
            if OPERATIONS[call.method].manner is Manner.RESTART and random.random() < 0.7:
                continue
            outcome = foreseen(self.model, state, call)
            if outcome is None or (isinstance(outcome.result, Fails) and turn < 10):
                continue
            return call, 0, followed(outcome)
        return None, 0, None


def _begun(model: Model, scene: Scene) -> Start:
    state = State()
    for call in scene.opening:
        state = followed(model.allowed(state, call).outcomes[0])
    return Start(scene, scene.opening, state)


def replayed(model: Model, space: Space, calls: Iterable[Call]) -> tuple[History, list[tuple[int, ...]]]:
    """Return the calls that still make sense one after the other, and what each meets."""
    state, made, met = State(), [], []
    for call in calls:
        outcome = foreseen(model, state, call)
        if outcome is None:
            continue
        met.append(space.met(state, call))
        made.append(call)
        state = followed(outcome)
    return tuple(made), met


def cut(model: Model, space: Space, history: History, wanted: Sequence[int]) -> History:
    """Return a shorter history that still meets all the wanted situations."""
    needed = frozenset(wanted)

    def meets(calls: Sequence[Call]) -> History | None:
        made, met = replayed(model, space, calls)
        left = set(needed)
        for at, numbers in enumerate(met):
            left.difference_update(numbers)
            if not left:
                return made[: at + 1]
        return None

    at = len(history) - 1
    while at >= 0:
        found = meets((*history[:at], *history[at + 1 :])) if at < len(history) else None
        if found is not None:
            history = found
        at -= 1
    return history
