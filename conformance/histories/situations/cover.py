"""Cover: few histories that meet all that was found, the most valuable first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from conformance.histories.operations.table import renamed
from conformance.histories.situations.book import Planned
from conformance.histories.situations.harvest import History, replayed
from conformance.histories.situations.real_time import timing
from conformance.histories.situations.situation import Space
from conformance.model import Call, Model

CORE_PAIR: Final = 12
PAIR: Final = 6
_SETTING_UP: Final = 3  # calls that a history costs beside its own: a reset and its probe


@dataclass(slots=True)
class _Kept:
    """A history that may be chosen. each: for each call the place of its vector's situations among all vectors."""

    calls: History
    each: tuple[int, ...]


class Cover:
    """The greedy choice. Situations have weights, and the next history is the one worth most for each of its calls."""

    def __init__(self, model: Model, space: Space) -> None:
        self.model = model
        self.space = space
        self._weights = bytearray(b"\1") * space.count
        for method in space.features:
            pairs = space.pairs(method)
            weight = CORE_PAIR if method in space.core else PAIR
            self._weights[pairs.start : pairs.stop] = bytes([weight]) * len(pairs)
        self._left = bytearray(self._weights)  # the weight of each situation that no chosen history meets
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
