"""Harvest: walks of the pure model, steered to situations that no walk has met, each cut down to what meets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeAlias

from conformance.histories.operations.operation import Manner, Offer
from conformance.histories.operations.table import ACTIONS, METHODS, OPERATIONS
from conformance.histories.situations.asking import DRAWS
from conformance.histories.situations.mixtures import SCENE, mixed, mutated
from conformance.histories.situations.pure import followed, foreseen
from conformance.histories.situations.scenes import SCENES, Scene
from conformance.histories.situations.situation import Space, Vector
from conformance.model import Call, Model, State
from conformance.model.expected import Fails

OFFER: Final = Offer(METHODS, virtual=True)
LONGEST: Final = 60  # calls of a history, its opening included
MIXED: Final = 36  # calls of a mixture
DRAWN: Final = 2  # calls drawn of each method in each state, at least
DRAWN_IN_ALL: Final = 60  # calls drawn in each state beside these, of the methods that lack most
DRAWN_OF_WANTED: Final = 16  # calls drawn of the method whose situation a walk looks for
KEPT_OF_PAIR: Final = 3  # states to begin from again for each pair
KEPT_OF_VALUE: Final = 24  # and for each value
CHANGED, NEAR, DRAWN_ANEW = 0.55, 0.75, 0.95
"""Shares of walks, each with those before it: from near what is lacking after a change of the history, from near it,
from a mixture. The others begin at scenes."""
STALE: Final = 4  # steps without anything new, after which a walk ends
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
    """A state to begin a walk from, and the calls that led there. steps: the actions that get somewhere."""

    steps: tuple[str, ...]
    calls: History
    state: State


class Starts:
    """States in which something was met for the first time, by what that was: near them lies what is lacking.

    lacking: how many situations of each method no history meets.
    """

    def __init__(self, harvest: Harvest) -> None:
        self.harvest = harvest
        self.lacking: dict[str, int] = {}
        self._lacking: list[int] = []
        self._by_pair: dict[int, list[Start]] = {}
        self._by_value: dict[tuple[str, int, str], list[Start]] = {}
        self._pairs = {method: harvest.space.pairs(method) for method in harvest.space.features}

    def renew(self) -> None:
        """Look again at what is lacking."""
        met = self.harvest.met
        self._lacking = [number for number in range(len(met)) if not met[number]]
        self.lacking = self.harvest.space.by_method(self._lacking)

    def add(self, start: Start, call: Call, numbers: Iterable[int]) -> None:
        """Keep a state, in which this call has met something new."""
        pairs = self._pairs[call.method]
        for number in numbers:
            if number in pairs:
                known = self._by_pair.setdefault(number, [])
                if len(known) < KEPT_OF_PAIR:
                    known.append(start)
        for place, value in enumerate(self.harvest.space.vector(start.state, call)):
            if value is not None:
                known = self._by_value.setdefault((call.method, place, value), [])
                known.append(start)
                if len(known) > KEPT_OF_VALUE:
                    del known[0]

    def near(self, random: Random) -> tuple[Start, str] | None:
        """Draw a lacking situation and return a state where a part of it was met, with its method; None if none was."""
        space, met = self.harvest.space, self.harvest.met
        for _ in range(8):
            if not self._lacking:
                return None
            number = self._lacking[int(random.random() * len(self._lacking))]
            if met[number]:
                continue
            method, vector = space.parted(number)
            among = [one for pair in space.numbers(method, vector) for one in self._by_pair.get(pair, ())]
            if not among:
                among = [
                    one
                    for place, value in enumerate(vector)
                    if value is not None
                    for one in self._by_value.get((method, place, value), ())
                ]
            if among:
                start = among[int(random.random() * len(among))]
                if len(start.calls) < LONGEST - 4:
                    return start, method
        return None


class Walker:
    """Walks of one lane: its own random numbers and starts, from a harvest that several lanes begin with."""

    def __init__(self, model: Model, harvest: Harvest, seed: str) -> None:
        self.model = model
        self.harvest = harvest
        self.random = Random(seed)
        self.starts = Starts(harvest)
        self.scenes = [_begun(model, scene) for scene in SCENES for _ in range(scene.weight)]
        self._methods = [method for method in harvest.space.features if method in DRAWS]
        self._draws = dict.fromkeys(self._methods, DRAWN)

    def renew(self) -> None:
        """Look again at what is lacking."""
        self.starts.renew()
        lacking = {method: self.starts.lacking.get(method, 0) for method in self._methods}
        every = sum(lacking.values()) or 1
        self._draws = {method: DRAWN + DRAWN_IN_ALL * lacking[method] // every for method in self._methods}

    def learn(self, history: History) -> None:
        """Take what a history meets, and its states to begin from again."""
        state = State()
        made: list[Call] = []
        for call in history:
            outcome = foreseen(self.model, state, call)
            if outcome is None:
                continue
            numbers = self.harvest.space.met(state, call)
            if self.harvest.take(numbers):
                self.starts.add(Start(SCENE.steps, tuple(made), state), call, numbers)
            made.append(call)
            state = followed(outcome)

    def walk(self) -> None:
        """Walk once: to the call that brings most, else to one that gets somewhere, until nothing new comes."""
        space, harvest = self.harvest.space, self.harvest
        start, wanted = self._start()
        calls, state, brought, idle = list(start.calls), start.state, [], 0
        kept = 0
        while len(calls) < LONGEST and idle < STALE:
            call, gain, after = self._next(start.steps, state, wanted)
            if call is None or after is None:
                break
            idle += 1
            if gain:
                idle = 0
                numbers = space.met(state, call)
                self.starts.add(Start(start.steps, tuple(calls), state), call, numbers)
                brought += harvest.take(numbers)
                kept = len(calls) + 1
            calls.append(call)
            state = after
        if brought:
            told = tuple(sorted(brought))
            history = tuple(calls[:kept])
            if len(told) < 60:
                history = cut(self.model, space, history, told)
            harvest.histories.append((history, told))

    def _start(self) -> tuple[Start, str | None]:
        """Return where to begin: where a part of a lacking situation is met, with its method; at a mixture; a scene."""
        random = self.random
        draw = random.random()
        if draw < NEAR:
            found = self.starts.near(random)
            if found is not None:
                start, method = found
                if draw < CHANGED:
                    calls, state = mutated(self.model, random, start.calls, LONGEST - 8)
                    start = Start(start.steps, calls, state)
                return start, method
        if draw < DRAWN_ANEW:
            calls, state = mixed(self.model, random, MIXED)
            return Start(SCENE.steps, calls, state), None
        return self.scenes[int(random.random() * len(self.scenes))], None

    def _next(self, steps: tuple[str, ...], state: State, wanted: str | None) -> tuple[Call | None, int, State | None]:
        """Return the call that brings most with its gain and the state after it; without gain, one that goes on."""
        found: list[tuple[int, int, Call]] = []
        sensible = self._sensible(steps, state)
        drawn = self._drawn(state, wanted)
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

    def _sensible(self, steps: tuple[str, ...], state: State) -> list[Call]:
        random = self.random
        found: list[Call] = []
        for _ in range(8):
            try:
                calls = ACTIONS[steps[int(random.random() * len(steps))]].choose(state, OFFER)
            except KeyError:  # a cursor on a journal's handle that went with its queue
                continue
            for _ in range(min(3, len(calls))):
                found.append(calls[int(random.random() * len(calls))])
        return found

    def _drawn(self, state: State, wanted: str | None) -> list[Call]:
        random = self.random
        found = []
        for method in self._methods:
            draw = DRAWS[method]
            for _ in range(self._draws[method] + (DRAWN_OF_WANTED if method == wanted else 0)):
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
    return Start(scene.steps, scene.opening, state)


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
