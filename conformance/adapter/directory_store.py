"""The directory that the harness holds: objects of MS-MQDMPR 3.1.1 by class, selected by filters and changed.

An object is a mapping of attribute names to values, as `directory_CLASS` of the protocol's schema describes them.
"""

from __future__ import annotations

import operator
import uuid
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final

from conformance.adapter import protocol
from conformance.adapter.protocol import SchemaInvalid
from conformance.verdict import Json

Attributes = Mapping[str, Json]
Filter = Sequence[Mapping[str, Json]]
SUCCESS, ERROR, NOT_CONNECTED = "Success", "GenericError", "DirectoryNotConnected"
NO_OBJECT, NO_ATTRIBUTE, END, EXISTS = "ObjectNotFound", "AttributeNotFound", "EndOfData", "ObjectAlreadyExists"
FIRST_TIME: Final = 1_700_000_000
"""CreateTime of the first object, in seconds since 1970; each operation is one second later."""
MOST_OBJECTS: Final = 200_000
_LIST_NAME: Final = "DL="
_UNIQUE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "queue_manager": "computer_name",
        "queue": "path_name",
        "site": "name",
        "connected_network": "name",
        "user": "security_identifier",
        "mq_user": "security_identifier",
        "computer": "sam_account",
    }
)
"""The attribute by which two objects of a class differ, beside the identifier."""
_INDEXED: Final = frozenset({*_UNIQUE.values(), "label", "qualified_path_name", "full_path"})
_UNORDERED: Final = frozenset({"EQUALS", "NOT-EQUALS"})  # operators that every two values have
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        "EQUALS": operator.eq,
        "NOT-EQUALS": operator.ne,
        "LESS-THAN": operator.lt,
        "GREATER-THAN": operator.gt,
        "LESS-THAN-OR-EQUAL": operator.le,
        "GREATER-THAN-OR-EQUAL": operator.ge,
    }
)


class Away(Exception):
    """The directory gives no answer. hangs_up: it closes the connection."""

    def __init__(self, hangs_up: bool) -> None:
        super().__init__("the directory is away")
        self.hangs_up = hangs_up


@cache
def attributes_of(kind: str) -> Mapping[str, Mapping[str, Json]]:
    """Return the schema of each attribute of a class, the identifier's among them."""
    schema = protocol.document("common")["$defs"][f"directory_{kind}"]
    return MappingProxyType(schema["properties"])


@cache
def classes() -> tuple[str, ...]:
    """Return the classes of objects."""
    return tuple(protocol.document("common")["$defs"]["directory_class"]["enum"])


@cache
def defaults_of(kind: str) -> Attributes:
    """Return the values that a new object of a class has where nobody gives any."""
    return MappingProxyType({name: each["default"] for name, each in attributes_of(kind).items() if "default" in each})


def flaw(kind: str, given: Attributes) -> str | None:
    """Return what is wrong with attributes of a class, in a few words; None for nothing."""
    try:
        protocol.value_validator(f"directory_{kind}")(given)
    except SchemaInvalid as wrong:
        return str(wrong)
    return None


def satisfies(found: Attributes, wanted: Filter) -> bool:
    """Return true if an object satisfies every expression. An absent attribute satisfies none.

    Texts are compared without case. Raises TypeError for values that have no order.
    """
    for each in wanted:
        value = found.get(each["attribute"])
        if value is None or not _ORDERS[each["operator"]](_plain(value), _plain(each["value"])):
            return False
    return True


def _plain(value: Json) -> Json:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.lower() if isinstance(value, str) else value


def part(found: Attributes, names: Sequence[str] | None) -> dict[str, Json] | None:
    """Return the attributes of these names, all for None; None if the object lacks one of them."""
    if names is None:
        return dict(found)
    return {name: found[name] for name in names} if all(name in found for name in names) else None


def ordered(found: Iterable[Attributes], names: Sequence[str], order: Sequence[Mapping[str, Json]]) -> list[Attributes]:
    """Sort objects: by the attribute with the highest priority first (MS-MQDMPR 3.1.7.1.21)."""
    rows = list(found)
    keys = sorted(zip(names, order, strict=True), key=lambda pair: pair[1]["priority"])
    for name, how in keys:
        if how["priority"]:
            rows.sort(key=lambda each: _rank(each.get(name)), reverse=not how["ascending"])
    return rows


def _rank(value: Json) -> tuple[str, Any]:
    plain = _plain(value)
    return ("0", plain) if isinstance(plain, int) else (type(plain).__name__, plain or "")


def completed(kind: str, given: Attributes, number: int) -> dict[str, Json]:
    """Return a new object with what nobody has given: the defaults, and what the directory sets.

    number: of the operation.
    """
    known = attributes_of(kind)
    name = str(given.get(_UNIQUE.get(kind, ""), kind)).replace("\\", ",CN=")
    path = f"CN={name},CN=msmq"
    own = {"create_time": FIRST_TIME + number, "modify_time": FIRST_TIME + number, "full_path": path}
    own |= {"directory_path": f"LDAP://{path}", "identifier": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{number}"))}
    return {**defaults_of(kind), **{each: value for each, value in own.items() if each in known}, **given}


class Store:
    """The objects, in the order in which they were created."""

    def __init__(self, complete: Callable[[str, Attributes, int], dict[str, Json]] = completed) -> None:
        """Begin without any. complete: see `completed`."""
        self._complete = complete
        self._objects: dict[str, dict[str, dict[str, Json]]] = {kind: {} for kind in classes()}
        self._places: dict[str, dict[str, int]] = {kind: {} for kind in classes()}
        self._at: dict[int, dict[str, Json]] = {}
        self._index: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        self._made = 0
        self._queries: dict[str, Iterator[dict[str, Json]]] = {}

    def all(self, kind: str) -> Iterator[dict[str, Json]]:
        """Return the objects of a class, in order."""
        return iter(self._objects[kind].values())

    def put(self, kind: str, given: Attributes) -> str:
        """Enter an object as it is, with the defaults of its class, in place of one with its identifier."""
        self._made += 1
        entered = self._complete(kind, given, self._made)
        key = entered["identifier"].lower()
        if key in self._objects[kind]:
            self._unindex(kind, key)
        self._objects[kind][key] = entered
        self._index_it(kind, key)
        return str(entered["identifier"])

    def _index_it(self, kind: str, key: str) -> None:
        found = self._objects[kind][key]
        place = self._places[kind].setdefault(key, self._made)
        self._at[place] = found
        for name in _INDEXED.intersection(found):
            if isinstance(found[name], str):
                insort(self._index[kind, name, found[name].lower()], place)

    def _unindex(self, kind: str, key: str) -> None:
        found, place = self._objects[kind][key], self._places[kind][key]
        for name in _INDEXED.intersection(found):
            if isinstance(found[name], str):
                places = self._index[kind, name, found[name].lower()]
                del places[bisect_left(places, place)]

    def at(self, path: str) -> tuple[str, dict[str, Json]] | None:
        """Return the object of a full path, and its class."""
        places = [(kind, self._index.get((kind, "full_path", path.lower()))) for kind in self._objects]
        return next(((kind, self._at[found[0]]) for kind, found in places if found), None)

    def selected(self, kind: str, wanted: Filter) -> Iterator[dict[str, Json]]:
        """Return the objects that satisfy a filter, in order. Raises TypeError like `satisfies`."""
        return (each for each in self._candidates(kind, wanted) if satisfies(each, wanted))

    def _candidates(self, kind: str, wanted: Filter) -> Iterable[dict[str, Json]]:
        """Return the objects that an expression which the index knows selects, or all."""
        for each in takewhile(lambda each: each["operator"] in _UNORDERED, wanted):
            name, value = each["attribute"], each["value"]
            if each["operator"] != "EQUALS" or not isinstance(value, str):
                continue
            if name == "identifier":
                found = self._objects[kind].get(value.lower())
                return () if found is None else (found,)
            if name in _INDEXED:
                return map(self._at.__getitem__, self._index.get((kind, name, value.lower()), ()))
        return self._objects[kind].values()

    def answer(self, method: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """Do what a manager asks for. params: fit the schema of the directory's side; `place`: the full path to be."""
        try:
            given = {"kind" if name == "class" else name: value for name, value in params.items()}
            return _METHODS[method](self, **given)
        except (TypeError, KeyError):
            return {"result": ERROR}

    def _read(self, kind: str, filter: Filter = (), attributes: Sequence[str] | None = None) -> dict[str, Json]:
        found = next(self.selected(kind, filter), None)
        return {"result": NO_OBJECT} if found is None else _shown(found, attributes)

    def _begin(
        self,
        kind: str,
        filter: Filter = (),
        attributes: Sequence[str] | None = None,
        order: Sequence[Mapping[str, Json]] | None = None,
    ) -> dict[str, Json]:
        rows = list(self.selected(kind, filter))
        if order is not None:
            rows = [dict(each) for each in ordered(rows, attributes or (), order)]
        self._made += 1
        self._queries[str(self._made)] = (_shown(row, attributes) for row in rows)
        return {"result": SUCCESS, "query": str(self._made)}

    def _next(self, query: str) -> dict[str, Json]:
        return next(self._queries[query], {"result": END})

    def _end(self, query: str) -> dict[str, Json]:
        return {"result": SUCCESS if self._queries.pop(query, None) is not None else ERROR}

    def _create(self, kind: str, object: Attributes, place: str = "") -> dict[str, Json]:
        if flaw(kind, object) is not None or sum(map(len, self._objects.values())) >= MOST_OBJECTS:
            return {"result": ERROR}
        unique = _UNIQUE.get(kind)
        same = (
            [{"attribute": unique, "operator": "EQUALS", "value": object[unique]}]
            if unique and unique in object
            else []
        )
        known = str(object.get("identifier", "")).lower() in self._objects[kind]
        if known or (same and next(self.selected(kind, same), None) is not None):
            return {"result": EXISTS}
        return {"result": SUCCESS, "identifier": self.put(kind, {**object, **({"full_path": place} if place else {})})}

    def _delete(self, kind: str, identifier: str) -> dict[str, Json]:
        key = identifier.lower()
        if key not in self._objects[kind]:
            return {"result": NO_OBJECT}
        self._unindex(kind, key)
        del self._objects[kind][key], self._at[self._places[kind].pop(key)]
        return {"result": SUCCESS}

    def _write(self, kind: str, identifier: str, object: Attributes) -> dict[str, Json]:
        found = self._objects[kind].get(identifier.lower())
        if found is None:
            return {"result": NO_OBJECT}
        if flaw(kind, object) is not None or object.get("identifier", identifier).lower() != identifier.lower():
            return {"result": ERROR}
        self._made += 1
        times = {"modify_time": FIRST_TIME + self._made} if "modify_time" in attributes_of(kind) else {}
        self._unindex(kind, identifier.lower())
        found |= {**object, **times}
        self._index_it(kind, identifier.lower())
        return {"result": SUCCESS}

    def _resolve(self, format_name: str) -> dict[str, Json]:
        if not format_name.upper().startswith(_LIST_NAME):
            return {"result": ERROR}
        found = self._objects["distribution_list"].get(format_name[len(_LIST_NAME) :].partition(";")[0].lower())
        return {"result": NO_OBJECT} if found is None else {"result": SUCCESS, "members": list(found["members"])}

    def _changed(self, operation: str, identifier: str = "", path_name: str = "") -> dict[str, Json]:
        return {"result": SUCCESS}


def _shown(found: Attributes, names: Sequence[str] | None) -> dict[str, Json]:
    shown = part(found, names)
    return {"result": NO_ATTRIBUTE} if shown is None else {"result": SUCCESS, "object": shown}


_METHODS: Final[Mapping[str, Callable[..., dict[str, Json]]]] = MappingProxyType(
    {
        "read": Store._read,
        "begin": Store._begin,
        "next": Store._next,
        "end": Store._end,
        "create": Store._create,
        "delete": Store._delete,
        "write": Store._write,
        "resolve": Store._resolve,
        "changed": Store._changed,
    }
)
