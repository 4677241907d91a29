"""The numbering of all situations: pairs of the features of each operation, and triples of the core operations."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import prod
from typing import Final, TypeAlias

from conformance.histories.features.constraints import excluded
from conformance.histories.features.feature import Distinction
from conformance.histories.features.table import CORE, PLANNED
from conformance.model import Call, State

Vector: TypeAlias = tuple[str | None, ...]
"""The value of each feature of an operation, in the order of its table; None where the feature means nothing."""
_Strides: TypeAlias = tuple[
    list[tuple[int, int]], list[tuple[int, int, int, int]], list[tuple[int, int, int, int, int, int]]
]
Why: TypeAlias = Callable[[str, Iterable[tuple[str, str]]], str | None]
"""Returns why a situation does not count, given its method and values; None for one that counts."""
_NOWHERE: Final = -(1 << 40)  # the place of a value that meets nothing: it makes every number negative
_NAME: Final = re.compile(r"(?P<method>[\w.]+): (?P<values>\w+=\w+(?:, \w+=\w+)*)")


class UnknownSituation(ValueError):
    """No situation has this name or number."""


@dataclass(frozen=True, slots=True)
class Situation:
    """An operation and the values of some of its features. number: its place among all situations."""

    number: int
    method: str
    values: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.method}: {', '.join(f'{name}={value}' for name, value in self.values)}"


@dataclass(frozen=True, slots=True)
class Block:
    """The situations of some features of an operation. first: the number of the first one; the others follow."""

    first: int
    method: str
    features: tuple[int, ...]
    count: int


class Space:
    """All situations of some feature tables. features: by method. core: the methods whose triples count. why: tells
    why a situation does not count.

    The numbers of a method are consecutive, its pairs before its triples. A method with one feature has a situation
    for each of its values. strays: methods, features and values that features gave so far and that their tables lack;
    such a value meets nothing.
    """

    def __init__(
        self, features: Mapping[str, tuple[Distinction, ...]], core: frozenset[str], why: Why = excluded
    ) -> None:
        self._why = why
        self.features = features
        self.core = core
        self.strays: set[tuple[str, str, str]] = set()
        self._ofs = {method: tuple(one.of for one in table) for method, table in features.items()}
        self._met: dict[str, dict[Vector, tuple[int, ...]]] = {method: {} for method in features}
        self._places = {
            method: tuple({value: at for at, value in enumerate(one.values)} for one in table)
            for method, table in features.items()
        }
        self._excluded: dict[int, str] | None = None
        self._blocks: list[Block] = []
        self._of_method: dict[str, list[Block]] = {}
        self.count = 0
        for method, table in features.items():
            for size in (min(2, len(table)), *((3,) if method in core else ())):
                for chosen in combinations(range(len(table)), size) if size else ():
                    block = Block(self.count, method, chosen, prod(len(table[at].values) for at in chosen))
                    self._blocks.append(block)
                    self._of_method.setdefault(method, []).append(block)
                    self.count += block.count
        self._firsts = [block.first for block in self._blocks]
        self._strides = {method: self._stridden(method) for method in features}

    def _stridden(self, method: str) -> _Strides:
        """Return the blocks of a method by their width: what each adds up to the number of a situation."""
        table = self.features[method]
        ones: list[tuple[int, int]] = []
        twos: list[tuple[int, int, int, int]] = []
        threes: list[tuple[int, int, int, int, int, int]] = []
        for block in self._of_method.get(method, ()):
            sizes = [len(table[at].values) for at in block.features]
            match block.features:
                case (one,):
                    ones.append((block.first, one))
                case (one, two):
                    twos.append((block.first, one, sizes[1], two))
                case (one, two, three):
                    threes.append((block.first, one, sizes[1] * sizes[2], two, sizes[2], three))
        return ones, twos, threes

    def vector(self, state: State, call: Call) -> Vector:
        """Return the value of each feature when the call is made in the state; empty for a method without features."""
        return tuple([of(state, call) for of in self._ofs.get(call.method, ())])

    def numbers(self, method: str, vector: Vector) -> tuple[int, ...]:
        """Return the numbers of the situations that a vector of the method meets, in order."""
        known = self._met.get(method)
        if known is None:
            return ()
        found = known.get(vector)
        if found is None:
            found = known[vector] = tuple(self._numbered(method, vector))
        return found

    def met(self, state: State, call: Call) -> tuple[int, ...]:
        """Return the numbers of the situations that this call meets in this state, in order."""
        return self.numbers(call.method, self.vector(state, call))

    def _numbered(self, method: str, vector: Vector) -> list[int]:
        table = self.features[method]
        places: list[int] = []
        for one, values, value in zip(table, self._places[method], vector, strict=True):
            place = _NOWHERE if value is None else values.get(value)
            if place is None:
                self.strays.add((method, one.name, value or ""))
                place = _NOWHERE
            places.append(place)
        ones, twos, threes = self._strides[method]
        found = [first + places[one] for first, one in ones]
        found += [first + places[one] * step + places[two] for first, one, step, two in twos]
        found += [
            first + places[one] * step + places[two] * stride + places[three]
            for first, one, step, two, stride, three in threes
        ]
        return [number for number in found if number >= 0]

    def situation(self, number: int) -> Situation:
        """Return the situation with this number. Raises UnknownSituation."""
        if not 0 <= number < self.count:
            raise UnknownSituation(f"there is no situation {number}: they go from 0 to {self.count - 1}")
        block = self._blocks[bisect_right(self._firsts, number) - 1]
        at, values = number - block.first, []
        for place in reversed(block.features):
            one = self.features[block.method][place]
            at, value = divmod(at, len(one.values))
            values.append((one.name, one.values[value]))
        return Situation(number, block.method, tuple(reversed(values)))

    def parted(self, number: int) -> tuple[str, Vector]:
        """Return the method of a situation, and the vector that meets it and its parts alone."""
        block = self._blocks[bisect_right(self._firsts, number) - 1]
        at, table = number - block.first, self.features[block.method]
        vector: list[str | None] = [None] * len(table)
        for place in reversed(block.features):
            at, value = divmod(at, len(table[place].values))
            vector[place] = table[place].values[value]
        return block.method, tuple(vector)

    def by_method(self, numbers: Iterable[int]) -> dict[str, int]:
        """Return how many of these situations each method has."""
        return dict(Counter(self._blocks[bisect_right(self._firsts, number) - 1].method for number in numbers))

    def named(self, name: str) -> Situation:
        """Return the situation with this name, or with this number in decimal. Raises UnknownSituation."""
        if name.isascii() and name.isdecimal():
            return self.situation(int(name[:12]))
        found = _NAME.fullmatch(name.strip())
        if found is None or found["method"] not in self.features:
            raise UnknownSituation(f"{name[:80]!r} names no situation: write METHOD: FEATURE=VALUE, FEATURE=VALUE")
        wanted = dict(pair.split("=") for pair in found["values"].split(", "))
        vector = tuple(wanted.get(one.name) for one in self.features[found["method"]])
        for number in self._numbered(found["method"], vector):
            situation = self.situation(number)
            if dict(situation.values) == wanted:
                return situation
        raise UnknownSituation(f"{name[:80]!r} is no situation of {found['method']}")

    def of_method(self, method: str) -> range:
        """Return the numbers of all situations of a method."""
        blocks = self._of_method.get(method)
        return range(blocks[0].first, blocks[-1].first + blocks[-1].count) if blocks else range(0)

    def pairs(self, method: str) -> range:
        """Return the numbers of the situations of a method that are no triples."""
        blocks = [block for block in self._of_method.get(method, ()) if len(block.features) < 3]
        return range(blocks[0].first, blocks[-1].first + blocks[-1].count) if blocks else range(0)

    def blocks(self, method: str) -> tuple[Block, ...]:
        """Return the blocks of a method: the features that its situations are made of."""
        return tuple(self._of_method.get(method, ()))

    def parts(self, method: str) -> Iterator[tuple[int, tuple[int, int, int]]]:
        """Yield the number of each triple of a method, with the numbers of the three pairs it consists of."""
        blocks = {block.features: block.first for block in self.blocks(method)}
        table = self.features[method]
        for block in self.blocks(method):
            if len(block.features) == 3:
                one, two, three = block.features
                firsts = blocks[one, two], blocks[one, three], blocks[two, three]
                twos, threes = len(table[two].values), len(table[three].values)
                for at in range(block.count):
                    rest, last = divmod(at, threes)
                    first, second = divmod(rest, twos)
                    yield (
                        block.first + at,
                        (
                            firsts[0] + first * twos + second,
                            firsts[1] + first * threes + last,
                            firsts[2] + second * threes + last,
                        ),
                    )

    def all_of(self, method: str) -> Iterator[Situation]:
        """Yield all situations of a method, in the order of their numbers."""
        table = self.features[method]
        for block in self._of_method.get(method, ()):
            each = [[(table[at].name, value) for value in table[at].values] for at in block.features]
            for offset, values in enumerate(product(*each)):
                yield Situation(block.first + offset, method, values)

    def excluded(self) -> dict[int, str]:
        """Return the situations that do not count, by the constraints of the tables, each with its reason. Slow."""
        if self._excluded is None:
            found: dict[int, str] = {}
            for method in self.features:
                for situation in self.all_of(method):
                    why = self._why(method, situation.values)
                    if why is not None:
                        found[situation.number] = why
            self._excluded = found
        return self._excluded

    def groups(self, method: str) -> Iterator[tuple[range, tuple[Distinction, ...]]]:
        """Yield the numbers of the situations of each choice of features of a method, and these features."""
        table = self.features[method]
        for block in self._of_method.get(method, ()):
            yield range(block.first, block.first + block.count), tuple(table[at] for at in block.features)

    @property
    def digest(self) -> str:
        """A digest of what the numbers depend on: methods, features and values."""
        told = [
            (method, method in self.core, [(one.name, one.values) for one in table])
            for method, table in self.features.items()
        ]
        return hashlib.sha256(json.dumps(told).encode("ascii")).hexdigest()[:16]


@cache
def space() -> Space:
    """Return all situations of the tables of `conformance.histories.features`."""
    return Space(PLANNED, CORE)
