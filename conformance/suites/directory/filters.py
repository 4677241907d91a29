"""Stories of filters with several expressions, of each class and operator, in both orders, online and offline.

MS-MQDMPR 3.1.7.1.20, 3.1.7.1.21.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.adapter.directory_store import satisfies
from conformance.suites.directory.public_queues import Queue
from conformance.suites.directory.scene import OWN_NAME, Scene, asks, filtered, part_of, plain, same, where
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.verdict import Json

_READ, EACH = "MQDMPR-3.1.7.1.20.", "MQDMPR-3.1.7.1.21.filter-each"
_TEXT: Final = ("EQUALS", "NOT-EQUALS")
_NUMBER: Final = (*_TEXT, "LESS-THAN", "GREATER-THAN", "LESS-THAN-OR-EQUAL", "GREATER-THAN-OR-EQUAL")
CLASSES: Final[Mapping[str, tuple[str, str, bool]]] = MappingProxyType(
    {
        "queue_manager": (OWN_NAME, "journal_quota", True),
        "queue": ("path_name", "base_priority", True),
        "site": ("name", "intra_site_replication_interval", True),
        "routing_link": ("description", "actual_cost", True),
        "enterprise": ("name", "default_time_to_live", False),
        "connected_network": ("name", "", False),
        "user": ("security_identifier", "", False),
        "settings": ("site_name", "service", True),
        "computer": ("sam_account", "account_control", True),
    }
)
"""By class: an attribute that is a text, one that is a number, and whether it has a full path."""
_WORDS: Final = ("one", "two", "three")
_NUMBERS: Final = (1, 2, 4)
_OFFLINE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "queue": ("queue-not-found", "queue-status", "queue-returned"),
        "queue_manager": ("not-connected", "own-status", "own-returned"),
    }
)
Filter = Sequence[Mapping[str, "Json"]]


def _objects(kind: str, *, places: bool) -> list[dict[str, Json]]:
    """Return three objects. places: with full paths of their own."""
    text, number, path = CLASSES[kind]
    form = {"queue": "OTHER\\{}", "user": "S-1-5-21-1-2-3-{}"}.get(kind, "{}")
    rows: list[dict[str, Json]] = []
    for word, value in zip(_WORDS, _NUMBERS, strict=True):
        row: dict[str, Json] = {text: form.format(value if kind == "user" else word)}
        row |= {number: value} if number else {}
        row |= {"full_path": f"CN={word},DC=example"} if path and places else {}
        rows.append(row)
    return rows


def _filters(kind: str, rows: Sequence[Mapping[str, Json]]) -> Iterator[Filter]:
    """Yield filters of two and three expressions, each in both orders."""
    text, number, path = CLASSES[kind]
    middle = rows[1]
    single = [where(text, middle[text], operator)[0] for operator in _TEXT]
    single += [where("identifier", middle["identifier"], operator)[0] for operator in _TEXT]
    if path:
        single += [where("full_path", middle["full_path"], operator)[0] for operator in _TEXT]
    if number:
        single += [where(number, middle[number], operator)[0] for operator in _NUMBER]
    for pair in itertools.permutations(single, 2):
        if pair[0]["attribute"] != pair[1]["attribute"]:
            yield pair
    if number and path:
        beyond = [where(number, rows[0][number], "GREATER-THAN")[0], where(number, rows[2][number], "LESS-THAN")[0]]
        yield [*beyond, single[0]]
        yield [single[0], *beyond[::-1]]


def online(scene: Scene, kind: str) -> None:
    """Each filter comes to the directory as it is, and the answer is the first object that satisfies all of it."""
    scene.used()
    for row in _objects(kind, places=not scene.over_ldap):
        scene.enter(kind, **row)
    rows = [each for each in scene.objects(kind) if each["identifier"] != scene.guid]
    text, number, path = CLASSES[kind]
    names = [text, "identifier", *([number] if number else []), *(["full_path"] if path else [])]
    for turn, expressions in enumerate(_filters(kind, rows)):
        asked = names[turn % len(names) :] + names[: turn % len(names)]
        params: dict[str, Any] = {"class": kind, "filter": list(expressions), "attributes": asked}
        scene.asked()
        answer = scene.call(f"read a {kind}", "directory.read", **params)
        requests = scene.asked()
        found = asks(requests, "read", kind, attributes=asked)
        given = [] if found is None else found["params"].get("filter") or []
        carried = filtered(given, scene.placed(kind, expressions, rows), loose=scene.over_ldap)
        carried = carried and (scene.over_ldap or len(given) == len(expressions)) and found is not None
        scene.shows(f"{_READ}delegated", carried, list(expressions), plain(requests))
        fits = next((each for each in scene.objects(kind) if satisfies(each, expressions)), None)
        wanted = {"result": "ObjectNotFound"} if fits is None else {"result": "Success"}
        told = {"result": answer.values.get("result")}
        scene.shows(f"{_READ}directory-status", told == wanted, {**wanted, "filter": list(expressions)}, told)
        if fits is not None:
            right = part_of(fits, dict.fromkeys(asked))
            shown = answer.values.get("object")
            demands = (f"{_READ}returned-matches-filter", f"{_READ}directory-object")
            scene.shows(demands, same(shown, right), right, part_of(shown, right))
    for expressions in itertools.islice(_filters(kind, rows), 0, None, 7):
        wanted_ones = [str(each["identifier"]) for each in scene.objects(kind) if satisfies(each, expressions)]
        queried(scene, {"class": kind, "filter": list(expressions), "attributes": ["identifier"]}, wanted_ones)


def stray(scene: Scene, kind: str) -> None:
    """The directory answers a read with an object that the filter excludes: the manager does not give that."""
    if scene.over_ldap:
        raise Untold("over LDAP, what a search gives has been selected")
    scene.used()
    for row in _objects(kind, places=True):
        scene.enter(kind, **row)
    rows = [each for each in scene.objects(kind) if each["identifier"] != scene.guid]
    for expressions in _filters(kind, rows):
        for other in [each for each in rows if not satisfies(each, expressions)][:1]:
            scene.lie("read", kind, {"result": "Success", "object": dict(other)})
            params: dict[str, Any] = {"class": kind, "filter": list(expressions)}
            answer = scene.call(f"read a {kind}", "directory.read", **params).values
            right = answer.get("result") != "Success" or satisfies(answer.get("object") or {}, expressions)
            scene.shows(f"{_READ}returned-matches-filter", right, list(expressions), dict(answer))


_TIES: Final = ("label", "path_name", "identifier", "full_path")


def queried(scene: Scene, params: dict[str, Any], wanted: Sequence[str]) -> None:
    """Judge the identifiers that a query gives. params: those of `directory.begin`. Raises Untold."""
    handle = scene.call("query each object", "directory.begin", **params).values.get("query")
    if handle is None:
        raise Untold("no query began")
    got: list[Json] = []
    for _ in range(len(wanted) + 2):
        answer = scene.call("the next object", "directory.next", query=handle).values
        if answer.get("result") != "Success":
            break
        got.append((answer.get("object") or {}).get("identifier"))
    scene.call("end the query", "directory.end", query=handle)
    scene.shows(EACH, got == list(wanted), {**params, "objects": list(wanted)}, list(got))


def offline(scene: Scene, kind: str) -> None:
    """Offline, the same filters find what the manager has, with the attributes asked for, as the directory had it."""
    scene.own_object(journal_quota=4, **scene.told(kind, {"full_path": "CN=msmq,CN=HOST,DC=example"}))
    scene.used()
    if kind == "queue":
        scene.mq.need("properties", "PROPID_Q_BASEPRIORITY")
        for word, value in zip(_WORDS, _NUMBERS, strict=True):
            Queue(scene, word, PROPID_Q_BASEPRIORITY=value)
    rows = [dict(each) for each in scene.objects(kind)]
    scene.turn("closed")
    scene.call("read a site", "directory.read", **{"class": "site"})
    if scene.own()["offline"] is not True:
        raise Untold("the manager is not offline")
    text, number, _ = CLASSES[kind]
    names = [text, "identifier", number, "full_path"]
    samples = _filters(kind, rows) if kind == "queue" else _own_filters(rows[0])
    for turn, expressions in enumerate(samples):
        ties = [each for each in expressions if each["attribute"] in _TIES and each["operator"] == "EQUALS"]
        if kind == "queue" and not ties:
            continue  # queues of the system may satisfy it, which the directory does not have
        asked = names[turn % len(names) :] + names[: turn % len(names)]
        params: dict[str, Any] = {"class": kind, "filter": list(expressions), "attributes": asked}
        answer = scene.call(f"read a {kind}", "directory.read", **params)
        told = answer.values.get("result")
        fits = [each for each in rows if satisfies(each, expressions)]
        if not fits:
            lacks = ["ObjectNotFound"] if kind == "queue" else ["DirectoryNotConnected"]
            if kind == "queue" and scene.reads("R-MQDMPR-offline-directory-read", "public-only"):
                lacks.append("DirectoryNotConnected")
            word = "offline-queue-not-found" if kind == "queue" else "offline-not-connected"
            scene.shows(f"{_READ}{word}", told in lacks, {"filter": list(expressions), "result": lacks}, told)
            continue
        shown = answer.values.get("object")
        word = "queue" if kind == "queue" else "own"
        demand = f"{_READ}offline-{word}-status"
        scene.shows(demand, told == "Success", {"filter": list(expressions), "result": "Success"}, told)
        rights = [part_of(each, dict.fromkeys(asked)) for each in fits]
        right = any(same(shown, each) for each in rights)
        scene.shows(f"{_READ}offline-{word}-returned", right, list(rights), part_of(shown, rights[0]))


def _own_filters(row: Mapping[str, Json]) -> Iterator[Filter]:
    """Yield filters of two expressions of which both, one or none fits the manager's own object."""
    single = [
        where(name, row[name], operator)[0] for name in (OWN_NAME, "identifier", "full_path") for operator in _TEXT
    ]
    single += [where("journal_quota", row["journal_quota"], operator)[0] for operator in _NUMBER]
    for pair in itertools.permutations(single, 2):
        if pair[0]["attribute"] != pair[1]["attribute"]:
            yield pair


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    _, when, kind = name.split("-")
    if when == "stray":
        return (f"{_READ}returned-matches-filter",)
    if when == "online":
        words = ("delegated", "directory-status", "returned-matches-filter", "directory-object")
        return (*(f"{_READ}{word}" for word in words), EACH)
    return tuple(f"{_READ}offline-{word}" for word in _OFFLINE[kind])


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"filters-online-{kind}": partial(online, kind=kind) for kind in CLASSES},
        **{f"filters-stray-{kind}": partial(stray, kind=kind) for kind in CLASSES},
        **{f"filters-offline-{kind}": partial(offline, kind=kind) for kind in ("queue", "queue_manager")},
    }
)
