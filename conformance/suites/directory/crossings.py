"""Stories of attributes together: each two values of two attributes of a class, in objects of which all is read.

MS-MQMQ 2.3.1 to 2.3.10. A property shows its attribute, whatever the others are, and whatever else is read with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter.directory_store import defaults_of
from conformance.spec.constants.properties import PROPERTIES
from conformance.suites.directory.properties import Row, alike, claims, linked, needed, rows, told_rows, vt_of
from conformance.suites.directory.scene import Scene

if TYPE_CHECKING:
    from conformance.verdict import Json

_NULL: Final = 1  # VT_NULL
_NAMES: Final = ("identifier", "computer_name", "path_name", "name", "security_identifier", "sam_account")
"""Attributes that tell objects apart: each object has its own."""


def covering(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield rows of numbers, each below its size, in which each two numbers of two places stand together."""
    left = {
        (one, each, other, beside)
        for one, other in itertools.combinations(range(len(sizes)), 2)
        for each in range(sizes[one])
        for beside in range(sizes[other])
    }
    while left:
        one, each, other, beside = min(left)
        row = {one: each, other: beside}
        for place, size in enumerate(sizes):
            if place not in row:
                row[place] = max(range(size), key=partial(_met, left, row, place))
        found = tuple(row[place] for place in range(len(sizes)))
        left -= {(a, found[a], b, found[b]) for a, b in itertools.combinations(range(len(sizes)), 2)}
        yield found


def _met(left: set[tuple[int, int, int, int]], row: Mapping[int, int], place: int, value: int) -> int:
    """Return how many pairs that are left a row would have with a value at a place."""
    pairs = ((other, row[other], place, value) if other < place else (place, value, other, row[other]) for other in row)
    return sum(pair in left for pair in pairs)


def _known(kind: str) -> dict[str, Row]:
    """Return the rows of a class of which one attribute decides the value."""
    return {
        name: row
        for name, row in rows().items()
        if row.kind == kind and all(len(attributes) == 1 for attributes, *_ in row.samples)
    }


def values_of(kind: str) -> dict[str, list[Json]]:
    """Return each attribute of a class that can be varied, with its values, the one by default among them."""
    found: dict[str, list[Json]] = {}
    for row in _known(kind).values():
        for (attribute, value), *_ in (tuple(attributes.items()) for attributes, *_ in row.samples):
            listed = found.setdefault(attribute, [])
            listed += [value] * (value not in listed and attribute not in _NAMES)
    for attribute, value in defaults_of(kind).items():
        if attribute in found and attribute not in _NAMES and value not in found[attribute]:
            found[attribute].append(value)
    return {attribute: values for attribute, values in found.items() if values}


def _wanted(row: Row, given: Mapping[str, Json]) -> list[Json]:
    """Return the value that a property shows of an object; nothing if no sample decides it."""
    ((attribute, _),) = row.samples[0][0].items()
    if attribute not in given:
        return []
    decided = [shown for has, shown, _ in row.samples if has[attribute] == given[attribute] and shown is not None]
    plain = all(shown == has[attribute] for has, shown, _ in row.samples)
    return decided[:1] or ([given[attribute]] if plain else [])


def _read(scene: Scene, kind: str, identifier: str, given: Mapping[str, Json], names: Sequence[str]) -> None:
    """Read properties of an object in one call, and judge each that its attributes decide."""
    params: dict[str, Any] = {"class": kind, "identifier": identifier}
    params["properties"] = [PROPERTIES[name].value for name in names]
    answer = scene.call(f"read {len(names)} properties of a {kind}", "directory.get", **params)
    values = answer.values.get("values") or []
    for name, found in zip(names, values, strict=False):
        row = rows()[name]
        ((attribute, _),) = row.samples[0][0].items()
        bare = given.get(attribute) == defaults_of(kind).get(attribute, "")
        if found.get("vt") == _NULL and (bare or row.spared or name.endswith("_PARTITIONID")):
            continue  # a property without a value, or one that an implementation MAY use
        for value in _wanted(row, given):
            wanted = {"vt": vt_of(name), "value": value}
            right = all(alike(scene, found.get(word), wanted[word]) for word in wanted)
            scene.shows(next(claims(name)), right, {name: wanted}, {name: found})


def crossed(scene: Scene, kind: str) -> None:
    """Objects in which each two values stand together, of this computer and of others, are read whole and by halves."""
    scene.used()
    linked(scene)
    names = list(told_rows(scene, _known(kind)))
    values = scene.told(kind, values_of(kind))
    before: tuple[str, dict[str, Json]] | None = None
    for number, places in enumerate(covering([len(each) for each in values.values()])):
        given = {name: each[place] for (name, each), place in zip(values.items(), places, strict=True)}
        given |= {**needed(kind, number), **_unlike(kind, number)}
        if number % 2 and kind == "queue":
            given["path_name"] = f"{scene.mq.hello.computer}\\q{number}"
        if number % 2 and kind == "queue_manager":
            given["computer_name"], identifier = scene.mq.hello.computer, scene.own_object(**_others(given))
            scene.used()
        else:
            identifier = scene.enter(kind, **given)
        turned = names[number % len(names) :] + names[: number % len(names)]
        half = len(turned) // 2
        for part in (turned, turned[:half], turned[half:]):
            _read(scene, kind, identifier, given, part)
        if before is not None and before[0] != identifier and number % 4 == 1:
            _read(scene, kind, *before, turned)
        before = identifier, given
    scene.asked()


def _others(given: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in given.items() if name not in _NAMES}


def _unlike(kind: str, number: int) -> dict[str, Json]:
    """Return the other attributes that tell an object from those before it."""
    names = {"user": "security_identifier", "mq_user": "security_identifier", "computer": "sam_account"}
    value = f"C{number}$" if kind == "computer" else f"S-1-5-21-1-2-3-{2_000 + number}"
    return {names[kind]: value} if kind in names else {}


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    kind = name.partition("-")[2]
    return tuple(next(claims(each)) for each in _known(kind))


KINDS: Final = tuple(dict.fromkeys(row.kind for row in rows().values()))
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {f"crossed-{kind}": partial(crossed, kind=kind) for kind in KINDS}
)
