"""Steered walks of the model to situations not met yet, cut down, and the few histories that meet all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from random import Random
from typing import Final, TypeAlias

from conformance.histories.features.constraints import REFUSED
from conformance.histories.operations.operation import Manner, Offer
from conformance.histories.operations.table import ACTIONS, METHODS, OPERATIONS, renamed
from conformance.histories.situations.book import Planned
from conformance.histories.situations.situation import Space, Vector
from conformance.histories.situations.specified_calls import after, followed, foreseen
from conformance.model import Call, Model, State
from conformance.model.expected import Fails
from conformance.model.expiry import due
from tools.planner.arbitrary_calls import DRAWS
from tools.planner.random_setups import SCENE, mixed, mutated
from tools.planner.setups import SCENES, Scene

_SAFE_MS: Final = 900  # a wait as long as this is not over while a few other calls are made
_CALLS: Final = 6
_MOST_MS: Final = 6_000  # nobody waits longer for one history


def timing(model: Model, calls: Sequence[Call]) -> tuple[bool, int]:
    """Return whether a history needs a virtual clock, and the milliseconds of its waits on a real one.

    A real clock can play a wait that times out only by waiting for it: where time passes right after the read, by as
    much as its time-out. Time that passes otherwise must not come near to the end of a wait or of a message's time.
    """
    state, wait_ms = State(), 0
    ends: dict[str, int] = {}  # waiting read to the place of the last call before which it is surely not over
    for at, call in enumerate(calls):
        following = calls[at + 1] if at + 1 < len(calls) else None
        before, state = state, after(model, state, call)
        manner = OPERATIONS[call.method].manner
        if any(name not in ends or ends[name] < at for name in _limited(before)):
            return True, 0
        if manner is Manner.READ and call.name in _limited(state):
            timed_out = following is not None and OPERATIONS[following.method].manner is Manner.TIME
            if timed_out and following is not None and following.by_ms == call.timeout_ms and not _limited(before):
                ends[call.name or ""] = at + 1
            elif call.timeout_ms >= _SAFE_MS:
                ends[call.name or ""] = at + (_CALLS if call.timeout_ms < 30_000 else 1000)
            else:
                return True, 0
        if manner is Manner.TIME:
            left = _limited(state)
            expired = [name for name in _limited(before) if name not in left]
            alone = len(expired) == 1 and calls[at - 1].name == expired[0]
            if left or (expired and not alone) or _near(state):
                return True, 0
            wait_ms += call.by_ms
    return wait_ms > _MOST_MS, 0 if wait_ms > _MOST_MS else wait_ms


def _limited(state: State) -> list[str]:
    return [waiter.name for waiter in state.waiters if waiter.deadline is not None]


def _near(state: State) -> bool:
    """Tell whether some message's time is about to be over, or may be over."""
    for queue in state.queues.values():
        for position in queue.positions:
            window = due(state, position) if position.wishes is not None and position.available else None
            if window is not None and state.now > window[0] - _SAFE_MS:
                return True
    return False


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


CORE_PAIR: Final = 12
PAIR: Final = 6
_SETTING_UP: Final = 3  # calls that a history costs beside its own: a reset and its probe


@dataclass(slots=True)
class _Kept:
    """A history that may be chosen. each: for each call the place of its vector's situations among all vectors."""

    calls: History
    each: tuple[int, ...]


class Cover:
    """The greedy choice. Situations have weights, and the next history is the one worth most for each of its calls.

    excluded: situations that do not count.
    """

    def __init__(self, model: Model, space: Space, excluded: Iterable[int] = ()) -> None:
        self.model = model
        self.space = space
        self._weights = bytearray(b"\1") * space.count
        for method in space.features:
            pairs = space.pairs(method)
            weight = CORE_PAIR if method in space.core else PAIR
            self._weights[pairs.start : pairs.stop] = bytes([weight]) * len(pairs)
        self._left = bytearray(self._weights)  # the weight of each situation that no chosen history meets
        for number in excluded:
            self._left[number] = 0
        self._vectors: list[tuple[int, ...]] = []
        self._places: dict[tuple[int, ...], int] = {}
        self._spent: set[int] = set()
        self._kept: list[_Kept] = []
        self._known: set[History] = set()

    def add(self, calls: Iterable[Call]) -> None:
        """Offer a history."""
        made, met = replayed(self.model, self.space, calls)
        if made in self._known:
            return
        self._known.add(made)
        each = []
        for numbers in met:
            place = self._places.setdefault(numbers, len(self._vectors))
            if place == len(self._vectors):
                self._vectors.append(numbers)
            each.append(place)
        self._kept.append(_Kept(made, tuple(each)))

    def met(self) -> set[int]:
        """Return every situation that some offered history meets."""
        return {number for numbers in self._vectors for number in numbers}

    def without_met(self, excluded: Mapping[int, str]) -> dict[int, str]:
        """Return what is excluded and rightly so: what some history meets, as if it could not be, counts after all."""
        met = {number for number in self.met() if excluded.get(number, REFUSED) != REFUSED}
        for number in met:
            self._left[number] = self._weights[number]
        return {number: why for number, why in excluded.items() if number not in met}

    def _worth(self, kept: _Kept) -> tuple[float, int]:
        """Return the best worth for each call that a beginning of the history has, and the length of that beginning."""
        left, spent = self._left, self._spent
        seen: set[int] = set()
        worth, best, length = 0, 0.0, 0
        for at, place in enumerate(kept.each, 1 + _SETTING_UP):
            if place in spent:
                continue
            before = worth
            for number in self._vectors[place]:
                if left[number] and number not in seen:
                    seen.add(number)
                    worth += left[number]
            if worth == before:
                if not any(left[number] for number in self._vectors[place]):
                    spent.add(place)
            elif worth / at >= best:
                best, length = worth / at, at - _SETTING_UP
        return best, length

    def chosen(self) -> list[Planned]:
        """Return the histories that meet all situations that any offered one meets, in their order."""
        heap = []
        for at, kept in enumerate(self._kept):
            best, length = self._worth(kept)
            if length:
                heap.append((-best, at))
        heapify(heap)
        found: list[Planned] = []
        while heap:
            _, at = heappop(heap)
            best, length = self._worth(self._kept[at])
            if not length:
                continue
            if heap and -best > heap[0][0]:
                heappush(heap, (-best, at))
                continue
            found.append(self._planned(len(found), self._kept[at].calls[:length]))
            again, rest = self._worth(self._kept[at])
            if rest:
                heappush(heap, (-again, at))
        return found

    def _planned(self, number: int, calls: History) -> Planned:
        told = renamed(calls)
        made, met = replayed(self.model, self.space, told)
        if made != told or met != replayed(self.model, self.space, calls)[1]:
            made, met = replayed(self.model, self.space, calls)
        new: list[tuple[int, ...]] = []
        for numbers in met:
            fresh = tuple(one for one in numbers if self._left[one])
            for one in fresh:
                self._left[one] = 0
            new.append(fresh)
        virtual, wait_ms = timing(self.model, made)
        return Planned(number, made, tuple(new), virtual, frozenset(call.method for call in made), wait_ms)
