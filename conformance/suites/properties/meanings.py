"""Values of queue properties by what they mean: the ends of a range, one beyond, another type; and walks over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from random import Random

from conformance.model.properties import LONGEST_LABEL, NO_GUID, ROWS, UNLIMITED, Kind, Row
from conformance.model.property_calls import ADVANCE, CREATE, DELETE, GET, RESTART, SET, USE, PropertyCall
from conformance.model.property_state import PropertyState
from conformance.suites.properties.history import QUEUES
from conformance.verdict import Json

UNKNOWN = ("PROPID_Q_NONE", "PROPID_Q_", "", "propid_q_label", "PROPID_M_LABEL")
"""Names that no property of a queue has."""
GUID = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
_NUMBERS: Mapping[Kind, tuple[int, ...]] = {
    Kind.UI4: (0, 1, 0x7FFFFFFF, 0x80000000, UNLIMITED - 1, UNLIMITED),
    Kind.I2: (1, -1, 0x7FFF, -0x8000, 0),
    Kind.I4: (0, 1, 0x7FFFFFFF),
}
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "PROPID_Q_LABEL": ("orders", "", "x" * LONGEST_LABEL, " two  spaces ", "Жук \U0001f600"),
    "PROPID_Q_MULTICAST_ADDRESS": ("234.1.1.1:1801", "239.255.255.255:65535"),
}


def good(row: Row) -> tuple[Json, ...]:
    """Values that a property can have; where they differ, none is its default."""
    if row.values:
        return tuple(sorted(row.values, key=lambda value: row.default is not None and value == row.default[0]))
    if row.kind is Kind.GUID:
        return (GUID, GUID.lower(), NO_GUID)
    return _TEXTS.get(row.name, ("text",)) if row.kind is Kind.TEXT else _NUMBERS.get(row.kind, (1, 0))


def bad(row: Row) -> tuple[Json, ...]:
    """Values that it cannot have: out of its range, or of another type. None for what a private queue passes over."""
    if row.name == "PROPID_Q_BASEPRIORITY":
        return ()
    if row.values:
        return (max(row.values) + 1, 0xFF, 0x100, -1, "1")
    if row.kind is Kind.GUID:
        return ("", "orders", GUID[:-1], 5)
    if row.name == "PROPID_Q_MULTICAST_ADDRESS":
        return ("orders", "10.0.0.1:1801", "234.1.1.1", 5)
    if row.kind is Kind.TEXT:
        return ("x" * (2 * LONGEST_LABEL + 1), 5)
    return (-1, UNLIMITED + 1, "7")


def plausible(row: Row) -> Json:
    """A value of its type for a property that cannot be written, other than the one it has."""
    values: dict[str, Json] = {"PROPID_Q_SCOPE": 0, "PROPID_Q_TRANSACTION": 1, "PROPID_Q_PATHNAME": "HOST\\private$\\z"}
    return values.get(row.name, good(row)[0])


@dataclass(frozen=True, slots=True)
class Walker:
    """Chooses calls that make sense in a state. shown: the properties at hand; methods: what the driver offers."""

    shown: Collection[str]
    methods: Collection[str]
    restarts: bool

    def call(self, state: PropertyState, roll: int) -> PropertyCall:
        """The call that a roll of the dice stands for."""
        dice = Random(roll)
        there = [name for name in QUEUES if name in state.queues]
        absent = [name for name in QUEUES if name not in state.queues]
        if not there:
            return self._creation(dice, absent)
        actions: list[Callable[[], PropertyCall]] = [
            *[lambda: self._setting(dice, there, wrong=False)] * 5,
            *[lambda: self._setting(dice, there, wrong=True)] * 4,
            lambda: PropertyCall(CREATE, dice.choice(there), self._values(dice, CREATE, 1)),
            lambda: PropertyCall(GET, dice.choice(there), names=("PROPID_Q_LABEL", dice.choice(UNKNOWN))),
            lambda: PropertyCall(USE, dice.choice(there)),
        ]
        if absent:
            actions += [lambda: self._creation(dice, absent)] * 3
            actions.append(lambda: PropertyCall(GET, dice.choice(absent), names=("PROPID_Q_LABEL",)))
            if SET in self.methods:
                actions.append(lambda: PropertyCall(SET, dice.choice(absent), {"PROPID_Q_LABEL": "orders"}))
        if DELETE in self.methods:
            actions.append(lambda: PropertyCall(DELETE, dice.choice(there)))
        if ADVANCE in self.methods:
            actions += [lambda: PropertyCall(ADVANCE, by_ms=dice.choice((1, 999, 1000, 61_000)))] * 3
        if self.restarts and dice.random() < 0.01:
            return PropertyCall(RESTART, kill=dice.random() < 0.5)
        return dice.choice(actions)()

    def _creation(self, dice: Random, absent: list[str]) -> PropertyCall:
        values = self._values(dice, CREATE, dice.choice((0, 1, 2, 3)))
        if dice.random() < 0.25:
            values = self._spoilt(dice, CREATE, values)
        return PropertyCall(CREATE, dice.choice(absent), values)

    def _setting(self, dice: Random, there: list[str], *, wrong: bool) -> PropertyCall:
        queue = dice.choice(there)
        if SET not in self.methods:
            return PropertyCall(USE, queue)
        values = self._values(dice, SET, dice.choice((1, 1, 2, 3)) - wrong)
        return PropertyCall(SET, queue, self._spoilt(dice, SET, values) if wrong else values)

    def _values(self, dice: Random, method: str, count: int) -> dict[str, Json]:
        rows = [ROWS[name] for name in self.shown if writable(ROWS[name], method)]
        return {row.name: dice.choice(good(row)) for row in dice.sample(rows, min(count, len(rows)))}

    def _spoilt(self, dice: Random, method: str, values: dict[str, Json]) -> dict[str, Json]:
        """With one property more that is refused, before or behind the others."""
        roll = dice.random()
        if roll < 0.15:
            wrong: dict[str, Json] = {dice.choice(UNKNOWN): 1}
        elif roll < 0.4:
            fixed = [ROWS[name] for name in self.shown if not writable(ROWS[name], method) and not _named(name, method)]
            wrong = {row.name: plausible(row) for row in dice.sample(fixed, min(1, len(fixed)))}
        else:
            rows = [ROWS[name] for name in self.shown if writable(ROWS[name], method) and bad(ROWS[name])]
            wrong = {row.name: dice.choice(bad(row)) for row in dice.sample(rows, min(1, len(rows)))}
        rest = {name: value for name, value in values.items() if name not in wrong}
        return {**wrong, **rest} if dice.random() < 0.5 else {**rest, **wrong}


def writable(row: Row, method: str) -> bool:
    """Whether a call of this kind can write a property."""
    return (row.given if method == CREATE else row.kept) is not None


def _named(name: str, method: str) -> bool:
    """The path name is a property of a creation, but one that the creation names apart."""
    return method == CREATE and name == "PROPID_Q_PATHNAME"
