"""Stories of what a property does not take, of those that nobody changes, and of several that are set at once.

MS-MQMQ 2.3.1 to 2.3.10, MS-MQDMPR 3.1.1. A value that `ROWS` does not allow must neither be held nor be asked for.
"""

from __future__ import annotations

import base64
import itertools
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.model.descriptors import ALLOW, Descriptor, DescriptorError, Entry, decoded, encoded
from conformance.model.rights import EVERYBODY
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.properties import PROPERTIES
from conformance.suites.directory.properties import Row, claims, equal, linked, needed, rows, told_rows, vt_of
from conformance.suites.directory.scene import SID, Scene, plain
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_BITS: Final[Mapping[int, int]] = MappingProxyType({17: 8, 18: 16, 19: 32})
"""By variant type of the unsigned numbers: how many bits it has."""
_BEYOND: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]] = MappingProxyType(
    {
        "PROPID_L_ACTUAL_COST": ((1, 2, 999_998, 999_999), (0, 1_000_000, 0xFFFFFFFF)),
        "PROPID_E_NAMESTYLE": ((0, 1), (3, 0xFF)),  # 2 is the implementation's default, whichever that is
    }
)
"""Properties of which the samples are not all that is allowed: values at the edges within, and values beyond."""
_BARE, _OF_ALL, _OF_USER = 84, 20, 36  # bytes of a descriptor without entries, of an entry for everybody, for a user
_SIZES: Final = (252, 256, 260, 1000)
_WIDE: Final[Mapping[str, tuple[Json, ...]]] = MappingProxyType(
    {
        "VT_LPWSTR": ("",),
        "VT_CLSID": (str(uuid.UUID(int=0)),),
        "VT_CLSID | VT_VECTOR": ([], [str(uuid.UUID(int=each)) for each in range(1, 18)]),
        "VT_BLOB": (*(base64.b64encode(b"\x5a" * each).decode() for each in (255, 256, 257, 1000)), ""),
    }
)
"""By type: values that are empty, and such whose length takes another byte."""
_NAMES: Final = ("computer_name", "name", "path_name")
_FREE: Final = ("partition_id", "sequence_number")  # an implementation MAY use them
_FIXED: Final = ("=identifier", "=create_time", "=path_name")
_RESERVED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "queue": ("PROPID_Q_HASHKEY", "PROPID_Q_LABEL_HASHKEY"),
        "queue_manager": ("PROPID_QM_HASHKEY",),
        "enterprise": tuple(
            f"PROPID_E_{word}"
            for word in (
                *(
                    "S_INTERVAL1",
                    "S_INTERVAL2",
                    "CRL",
                    "CSP_TYPE",
                    "ENCRYPT_ALG",
                    "SIGN_ALG",
                    "HASH_ALG",
                    "CIPHER_MODE",
                ),
            )
        ),
    }
)
"""By class: the properties that nobody interprets."""


def _demand(name: str, word: str) -> str:
    return f"MQMQ-{PROPERTIES[name].section}.{word}"


def _limit(name: str) -> str:
    """Return the requirement on the values of a property; empty where there is none."""
    found = (_demand(name, word) for word in ("range", "values"))
    return next((each for each in found if each in catalogue().requirements), "")


def _edges(name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return values that a property takes, and values beyond: beside each of these, and the largest of its type."""
    if name in _BEYOND:
        return _BEYOND[name]
    within = [shown for _, shown, _ in rows()[name].samples if isinstance(shown, int)]
    most = (1 << _BITS[vt_of(name)]) - 1
    beside = {value for each in within for value in (each - 1, each + 1, most) if 0 <= value <= most}
    return tuple(within), tuple(sorted(beside - set(within)))


def _written(kind: str) -> dict[str, Row]:
    return {name: row for name, row in rows().items() if row.kind == kind and row.written}


LIMITED: Final = tuple(name for name, row in rows().items() if row.written and vt_of(name) in _BITS and _limit(name))
KINDS: Final = tuple(dict.fromkeys(row.kind for row in rows().values()))


def _put(scene: Scene, kind: str, number: int) -> str:
    return scene.enter(kind, **needed(kind, number))


def _set(scene: Scene, kind: str, identifier: str, values: Mapping[str, Json]) -> Result:
    given = [
        {"property": PROPERTIES[name].value, "value": {"vt": vt_of(name), "value": value}}
        for name, value in values.items()
    ]
    params: dict[str, Any] = {"class": kind, "identifier": identifier, "properties": given}
    return scene.call(f"set {', '.join(values)}", "directory.set", **params)


def _got(scene: Scene, kind: str, identifier: str, names: Sequence[str]) -> dict[str, Json]:
    """Return the values of properties, without those that the object does not have."""
    params: dict[str, Any] = {"class": kind, "identifier": identifier}
    params["properties"] = [PROPERTIES[name].value for name in names]
    answer = scene.call(f"read {', '.join(names)}", "directory.get", **params)
    values = answer.values.get("values") or []
    return {name: each.get("value") for name, each in zip(names, values, strict=False) if "value" in each}


def _sample(row: Row) -> Json:
    return row.samples[0][1]


def limited(scene: Scene, name: str) -> None:
    """A value beyond the limits is neither held nor written, alone and beside another; those at the edges are held."""
    scene.used()
    linked(scene)
    row, demand = rows()[name], _limit(name)
    if not told_rows(scene, {name: row}, written=True):
        raise Untold(f"LDAP does not tell {name}")
    ((attribute, _),) = row.samples[0][0].items()
    within, beyond = _edges(name)
    others = [
        other
        for other in told_rows(scene, _written(row.kind), written=True)
        if attribute not in rows()[other].samples[0][0]
    ]
    identifier = _put(scene, row.kind, 0)
    for value in within:
        if _set(scene, row.kind, identifier, {name: value}).ok:
            found = _got(scene, row.kind, identifier, [name])
            scene.shows(demand, equal(found.get(name), value), {name: value}, dict(found))
    before = _got(scene, row.kind, identifier, [name])
    scene.asked()
    for number, value in enumerate(beyond):
        beside = {others[number % len(others)]: _sample(rows()[others[number % len(others)]])} if others else {}
        for given in ({name: value}, {name: value, **beside}, {**beside, name: value}):
            taken = _set(scene, row.kind, identifier, given).ok
            found = _got(scene, row.kind, identifier, [name])
            right = found == before or (taken and not any(equal(found.get(name), each) for each in beyond))
            scene.shows(demand, right, dict(before), dict(found))
            writes = [each for each in scene.asked() if each["method"] == "write"]
            carried = [each for each in writes if each["params"]["object"].get(attribute) == value]
            demands = ["MQDMPR-3.1.1.8.actual-cost-range"] if name == "PROPID_L_ACTUAL_COST" else [demand]
            scene.shows(demands, not carried, [], plain(carried))


def _unchanging(kind: str) -> Iterator[tuple[str, Json]]:
    """Yield the properties that nobody changes, each with another value."""
    for name, row in rows().items():
        attributes = row.samples[0][0]
        fixed = next(iter(attributes), "")
        if row.kind == kind and not row.written and f"={fixed}" in _FIXED:
            yield name, row.samples[-1][1]
            yield name, _WIDE.get(PROPERTIES[name].variant_type, (0,))[0]
        elif row.kind == kind and not attributes:
            yield from ((name, each) for each in ("another name", ""))


def fixed(scene: Scene, kind: str) -> None:
    """Identifier, path name, time of creation and constant name stay as they are, whatever somebody sets."""
    scene.used()
    linked(scene)
    names = [*dict(_unchanging(kind))]
    identifier = _put(scene, kind, 0)
    (spare, row), *_ = [*told_rows(scene, _written(kind), written=True).items()]
    before = _got(scene, kind, identifier, names)
    for name, value in _unchanging(kind):
        if name not in before or before[name] == value:
            continue
        other = {spare: _sample(row)}
        for given in ({name: value}, {name: value, **other}, {**other, name: value}):
            answer = _set(scene, kind, identifier, given)
            found = _got(scene, kind, identifier, [name, spare])
            kept = equal(found.get(name), before[name])
            demands = [next(claims(name))]
            if equal(before[name], identifier):
                demands.append("MQDMPR-3.1.1.identifier-constant")
            scene.shows(demands, kept, {name: before[name]}, {name: found.get(name)})
            if answer.ok and spare in given:
                demand = next(claims(spare))
                scene.shows(demand, equal(found.get(spare), given[spare]), dict(other), {spare: found.get(spare)})


def together(scene: Scene, kind: str) -> None:
    """Properties that are set at once, each two of them and all, have the values given."""
    scene.used()
    linked(scene)
    written = told_rows(scene, _written(kind), written=True)
    attributes = {name: next(iter(row.samples[0][0])) for name, row in written.items()}
    sets = [(one, other) for one, other in itertools.combinations(written, 2) if attributes[one] != attributes[other]]
    whole = {attribute: name for name, attribute in attributes.items()}
    for number, names in enumerate([*sets, tuple(whole.values())]):
        ordered = names[::-1] if number % 2 else names
        given = {
            name: written[name].samples[(number + each) % len(written[name].samples)][1]
            for each, name in enumerate(ordered)
        }
        identifier = _put(scene, kind, number)
        if not _set(scene, kind, identifier, given).ok:
            continue
        found = _got(scene, kind, identifier, ordered)
        for name, value in given.items():
            scene.shows(next(claims(name)), equal(found.get(name), value), {name: value}, {name: found.get(name)})


def _descriptor(size: int) -> str:
    """Return a security descriptor of so many bytes, of two users and of entries for them and for everybody."""
    own = next(each for each in range(20) if (size - _BARE - each * _OF_USER) % _OF_ALL == 0)
    entries = [Entry(ALLOW, 1 << number % 8, SID, 0) for number in range(own)]
    entries += [Entry(ALLOW, 0x20, EVERYBODY, 0)] * ((size - _BARE - own * _OF_USER) // _OF_ALL)
    return base64.b64encode(encoded(Descriptor(SID, SID, tuple(entries)))).decode()


def _beside_samples(name: str, attribute: str) -> tuple[Json, ...]:
    """Return what a property takes beside its samples, as far as no form of it is known: what is empty or long."""
    if attribute in _NAMES or attribute in _FREE or _limit(name) or not _as_it_is(name):
        return ()
    if attribute == "security":
        return tuple(map(_descriptor, _SIZES))
    return _WIDE.get(PROPERTIES[name].variant_type, ())


def _as_it_is(name: str) -> bool:
    """Return true if a property shows its attribute without a change."""
    return all(shown in attributes.values() for attributes, shown, _ in rows()[name].samples)


def _alike(attribute: str, one: Json, other: Json) -> bool:
    if attribute == "security" and one and other:
        with suppress(DescriptorError):
            held, given = (decoded(base64.b64decode(str(each))) for each in (one, other))
            return held == given
    return equal(one, other) or (not one and not other)


def sets(scene: Scene, kind: str) -> None:
    """A property that is set to each value, from each other one there and back, is in the directory as it was given."""
    scene.used()
    linked(scene)
    for number, (name, row) in enumerate(told_rows(scene, _written(kind), written=True).items()):
        identifier = _put(scene, kind, number)
        attribute = next(iter(row.samples[0][0]))
        values = [(shown, attributes[attribute]) for attributes, shown, _ in row.samples]
        values += [(value, value) for value in _beside_samples(name, attribute)]
        last: Json = None
        for value, wanted in [*values, *values[-2::-1]]:
            scene.refer(kind, {attribute: wanted})
            if not _set(scene, kind, identifier, {name: value}).ok:
                continue  # no section says that a property can be set
            held = next(each for each in scene.objects(kind) if each["identifier"] == identifier).get(attribute)
            scene.shows(next(claims(name)), _alike(attribute, held, wanted), {name: wanted}, {name: held})
            last = value
        found = _got(scene, kind, identifier, [name]).get(name)
        right = last is None or _alike(attribute, found, last)
        scene.shows(next(claims(name)), right, {name: last}, {name: found})


def reserved(scene: Scene, kind: str) -> None:
    """The value of a reserved property changes nothing else of the object."""
    scene.used()
    linked(scene)
    taken = False
    for number, name in enumerate(_RESERVED[kind]):
        attributes = {
            attribute: value
            for row in told_rows(scene, _written(kind), written=True).values()
            for attribute, value in row.samples[0][0].items()
        }
        identifier = scene.enter(kind, **{**attributes, **needed(kind, number)})
        others = [other for other, row in rows().items() if row.kind == kind and other not in _RESERVED[kind]]
        others = [other for other in others if not other.endswith("_MODIFY_TIME")]
        before = _got(scene, kind, identifier, others)
        for value in ("AQIDBA==", "") if vt_of(name) not in _BITS else (1, (1 << _BITS[vt_of(name)]) - 1):
            if not _set(scene, kind, identifier, {name: value}).ok:
                continue
            taken = True
            after = _got(scene, kind, identifier, others)
            changed = {other: after.get(other) for other in before if not equal(after.get(other), before[other])}
            wanted = {other: before[other] for other in changed}
            scene.shows(_demand(name, "not-interpreted"), not changed, wanted, changed)
    if not taken:
        raise Untold("no reserved property can be set")


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    act, _, about = name.partition("-")
    if act == "limits":
        cost = ("MQDMPR-3.1.1.8.actual-cost-range",) if about == "L_ACTUAL_COST" else ()
        return (_limit(f"PROPID_{about}"), *cost)
    if act == "reserved":
        return tuple(_demand(each, "not-interpreted") for each in _RESERVED[about])
    if act == "fixed":
        names = [*dict(_unchanging(about)), next(iter(_written(about)))]
        constant = any("identifier" in rows()[each].samples[0][0] for each in names)
        return (*(next(claims(each)) for each in names), *(["MQDMPR-3.1.1.identifier-constant"] * constant))
    return tuple(next(claims(each)) for each in _written(about))


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"limits-{name.removeprefix('PROPID_')}": partial(limited, name=name) for name in LIMITED},
        **{f"fixed-{kind}": partial(fixed, kind=kind) for kind in KINDS if dict(_unchanging(kind)) and _written(kind)},
        **{f"together-{kind}": partial(together, kind=kind) for kind in KINDS if len(_written(kind)) > 1},
        **{f"sets-{kind}": partial(sets, kind=kind) for kind in KINDS if _written(kind)},
        **{f"reserved-{kind}": partial(reserved, kind=kind) for kind in _RESERVED},
    }
)
