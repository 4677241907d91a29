"""The harness's directory over LDAP (RFC 4511): each request is one of the directory's methods, and is noted as such.

What a manager searches is a `read`, whether it wants one object or all; what it adds, deletes or modifies is `create`,
`delete` or `write`; a search for a distribution list is `resolve`. Names and values are those of `ldap_names`.
"""

from __future__ import annotations

import contextlib
import socketserver
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any, Final, Protocol, cast

from scapy.asn1.asn1 import ASN1_Error
from scapy.error import Scapy_Exception
from scapy.layers import ldap

from conformance.adapter import ldap_names as names
from conformance.adapter.directory_store import ERROR, EXISTS, NO_OBJECT, NOT_CONNECTED, SUCCESS, Away, Store
from conformance.verdict import Json

MOST_BYTES: Final = 1 << 22
_MOST_DEPTH, _MOST_ELEMENTS, _MOST_PAGES = 40, 100_000, 16
_IDLE_S: Final = 600
_PAGED: Final = b"1.2.840.113556.1.4.319"
_DISCONNECTION: Final = b"1.3.6.1.4.1.1466.20036"
_PROTOCOL_ERROR, _SIZE_EXCEEDED, _METHOD, _NO_TYPE, _CONSTRAINT, _NO_OBJECT, _UNWILLING, _FIXED_NAME = (
    2,
    4,
    7,
    17,
    19,
    32,
    53,
    67,
)
_DAMAGE: Final = (
    *(Scapy_Exception, ASN1_Error, ValueError, LookupError, TypeError, AttributeError, RecursionError),
    *(ArithmeticError, NotImplementedError, struct.error),
)
_FILTERS: Final = {
    ldap.LDAP_FilterEqual: "EQUALS",
    ldap.LDAP_FilterApproxMatch: "EQUALS",
    ldap.LDAP_FilterGreaterOrEqual: "GREATER-THAN-OR-EQUAL",
    ldap.LDAP_FilterLessOrEqual: "LESS-THAN-OR-EQUAL",
}
_OTHERWISE: Final = {
    "EQUALS": "NOT-EQUALS",
    "GREATER-THAN-OR-EQUAL": "LESS-THAN",
    "LESS-THAN-OR-EQUAL": "GREATER-THAN",
}


class Desk(Protocol):
    """The directory, as `DirectoryServer` is."""

    store: Store
    mode: str
    lock: threading.Lock

    def serve(
        self, method: str, params: Mapping[str, Json], act: Callable[[], Json], **more: Json
    ) -> Mapping[str, Json]:
        """Note a request, and do it as the mode says."""

    def awake(self) -> None:
        """Raise Away if the mode lets nothing be answered now."""


class Refused(Exception):
    """A request that the directory cannot do. code: of the result."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a distinguished name. kind: of the object, or empty. values: by LDAP name."""

    kind: str
    found: Mapping[str, Json]
    path: str
    values: Mapping[str, Sequence[bytes]]

    def of(self, name: str) -> Sequence[bytes]:
        """Return the values of an attribute, whatever the case of its name."""
        return next((found for each, found in self.values.items() if each.lower() == name), ())


def _entry(kind: str, found: Mapping[str, Json], path: str, category: str, values: Mapping[str, Any]) -> Entry:
    own = path.encode()
    common = names.elements(path)[0][1].encode()
    whole = {"objectClass": [b"top", category.encode()], "distinguishedName": [own], "cn": [common], "name": [common]}
    return Entry(kind, found, path, {**whole, **values})


class Tree:
    """The objects of a store as entries."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def refer(self, kind: str, value: str) -> str:
        """Return the DN for an identifier of a class, or the identifier for a DN. Raises ValueError for neither."""
        if "=" in value:
            found = self._store.at(names.canonical(value))
            if found is not None and found[0] == kind:
                return str(found[1]["identifier"])
        else:
            one = next(self._store.selected(kind, names.by_identifier(value)), None)
            if one is not None:
                return str(one["full_path"])
        raise ValueError(f"no {kind} has {value}")

    def entry(self, kind: str, found: Mapping[str, Json]) -> Entry:
        """Return the entry of an object."""
        path = str(found["full_path"])
        values = names.shown(kind, found, self._known)
        if kind == "distribution_list":
            values["member"] = [each.encode() for each in dict.fromkeys(map(self._member, found["members"]))]
        if kind == "computer":
            manager = self._store.at(f"CN=msmq,{path}")
            own = names.shown(names.COMPUTER, manager[1], self._known) if manager is not None else {}
            values = {**own, **values}
        return _entry(kind, found, path, str(names.table()[kind]["class"]), values)

    def _known(self, kind: str, value: str) -> str:
        """Return a DN for an identifier; of one that is gone since, the place where it would be."""
        with contextlib.suppress(ValueError):
            return self.refer(kind, value)
        return names.path_of(kind, {}, value)

    def _member(self, format_name: str) -> str:
        kind = {"PUBLIC": "queue", "DL": "distribution_list"}.get(format_name.partition("=")[0].upper(), "")
        identifier = format_name.partition("=")[2].partition("@")[0]
        with contextlib.suppress(ValueError):
            return self.refer(kind, identifier) if kind else self._alias(format_name)
        return self._alias(format_name)

    def _alias(self, format_name: str) -> str:
        return f"CN={names.escaped(format_name)},CN=Users,{names.ROOT}"

    def at(self, path: str) -> Entry | None:
        """Return the entry of a distinguished name. Raises ValueError."""
        path = names.canonical(path)
        found = self._store.at(path)
        if found is not None:
            return self.entry(*found)
        manager = self._store.at(f"CN=msmq,{path}")
        if manager is not None:
            return self._computer(manager[1])
        own = names.elements(path)[0][1] if path else ""
        if path.endswith(f",CN=Users,{names.ROOT}") and "=" in own:
            return _entry("", {}, path, "msMQ-Custom-Recipient", {"msMQ-Recipient-FormatName": [own.encode()]})
        if path.lower() in map(str.lower, names.CONTAINERS):
            return _entry("", {}, path, "container", {})
        return None

    def _computer(self, manager: Mapping[str, Json]) -> Entry:
        path = names.above(str(manager["full_path"]))
        return _entry(names.COMPUTER, manager, path, "computer", names.shown(names.COMPUTER, manager, self._known))

    def below(self, kind: str, base: str, one_level: bool, wanted: Sequence[Mapping[str, Json]]) -> Iterator[Entry]:
        """Yield the entries of a class under a base. wanted: a filter that all which matter satisfy."""
        base = base.lower()
        for each in self._store.selected(kind, wanted):
            path = str(each["full_path"]).lower()
            if names.above(path) == base if one_level else not base or path == base or path.endswith(f",{base}"):
                yield self.entry(kind, each)
        if kind == "computer" and not wanted:
            for each in self._store.all("queue_manager"):
                entry = self._computer(each)
                if self._store.at(entry.path) is None and (not base or entry.path.lower().endswith(f",{base}")):
                    yield entry


Term = tuple[Any, ...]


def term(packet: Any) -> Term:
    """Return a filter as a tuple: a word, and what it is about. Raises one of `_DAMAGE` for no filter."""
    if isinstance(packet, ldap.LDAP_Filter):
        return term(packet.filter)
    if isinstance(packet, (ldap.LDAP_FilterAnd, ldap.LDAP_FilterOr)):
        return ("and" if isinstance(packet, ldap.LDAP_FilterAnd) else "or", *map(term, packet.vals))
    if isinstance(packet, ldap.LDAP_FilterNot):
        return ("not", term(packet.val))
    if isinstance(packet, ldap.LDAP_FilterPresent):
        return ("present", _name(packet.present))
    if isinstance(packet, ldap.LDAP_SubstringFilter):
        parts = [(type(each.str).__name__, each.str.val.val.decode().casefold()) for each in packet.filters]
        return ("substring", _name(packet.type), parts)
    if type(packet) in _FILTERS:
        return (_FILTERS[type(packet)], _name(packet.attributeType), packet.attributeValue.val)
    return ("undefined",)


def _name(field: Any) -> str:
    return str(field.val.decode().partition(";")[0].lower())


def holds(entry: Entry, wanted: Term) -> bool | None:
    """Return whether an entry satisfies a filter; None where that is undefined (RFC 4511 4.5.1.7)."""
    word, *about = wanted
    if word in ("and", "or"):
        results = [holds(entry, each) for each in about]
        decided = word == "or"
        return decided if decided in results else None if None in results else not decided
    if word == "not":
        result = holds(entry, about[0])
        return None if result is None else not result
    if word == "undefined" or about[0] not in names.syntaxes():
        return None
    values = entry.of(about[0])
    if word == "present":
        return bool(values)
    if word == "substring":
        return any(_matches(each.decode(errors="replace").casefold(), about[1]) for each in values)
    try:
        other: Any = names.comparable(about[0], about[1])
        found: list[Any] = [names.comparable(about[0], each) for each in values]
    except ValueError:
        return None
    if word == "EQUALS":
        return other in found
    return any(each >= other if word.startswith("GREATER") else each <= other for each in found)


def _matches(text: str, parts: Sequence[tuple[str, str]]) -> bool:
    for kind, part in parts:
        place = text.find(part)
        if place < 0 or (kind.endswith("Initial") and place) or (kind.endswith("Final") and not text.endswith(part)):
            return False
        text = text[place + len(part) :] if not kind.endswith("Final") else ""
    return True


def expressions(kind: str, wanted: Term, refer: names.Refer) -> list[dict[str, Json]]:
    """Return the expressions of MS-MQDMPR 3.1.7.1.20 for which a filter stands, as far as it has such."""
    word, *about = wanted
    if word == "and":
        found = [each for one in about for each in expressions(kind, one, refer)]
        return _strict(found)
    if word == "not" and about[0][0] in _OTHERWISE:
        return [{**each, "operator": _OTHERWISE[each["operator"]]} for each in expressions(kind, about[0], refer)]
    if word not in _OTHERWISE or about[0] in ("objectclass", "objectcategory"):
        return []
    name = about[0]
    if name == "distinguishedname":
        told: Mapping[str, Json] = {"full_path": names.canonical(about[1].decode())}
    elif names.syntaxes().get(name) == "time":
        moment = names.comparable(name, about[1])
        told = {"create_time" if name == "whencreated" else "modify_time": moment}
    else:
        with contextlib.suppress(KeyError, ValueError):
            told = names.taken(kind, name, [about[1]], refer)
            attribute, value = next(iter(told.items()))
            return [{"attribute": attribute, "operator": word, "value": value[0] if isinstance(value, list) else value}]
        return []
    return [{"attribute": attribute, "operator": word, "value": value} for attribute, value in told.items()]


def _strict(found: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Return expressions with `at least, and not equal` as `more`, and the other way round."""
    unlike = [each for each in found if each["operator"] == "NOT-EQUALS"]
    for each in unlike:
        for word in ("GREATER-THAN", "LESS-THAN"):
            loose = {**each, "operator": f"{word}-OR-EQUAL"}
            if loose in found:
                found = [one for one in found if one not in (each, loose)] + [{**each, "operator": word}]
    return found


class Session:
    """One connection. over: it has ended."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self.over = desk, False
        self._pages: dict[bytes, list[Entry]] = {}

    @property
    def _tree(self) -> Tree:
        return Tree(self._desk.store)

    def answers(self, data: bytes) -> list[bytes]:
        """Return the answers to one message. Raises Away."""
        try:
            message = ldap.LDAP(data) if bounded(data) else None
            number, request = message.messageID.val, message.protocolOp  # type: ignore[union-attr]
            with self._desk.lock:
                return self._answered(number, request, message.Controls or ())  # type: ignore[union-attr]
        except _DAMAGE:
            self.over = True
            ended = ldap.LDAP_ExtendedResponse(responseName=_DISCONNECTION, **_result(_PROTOCOL_ERROR, "no LDAP"))
            return [_message(0, ended)]

    def _answered(self, number: int, request: Any, controls: Iterable[Any]) -> list[bytes]:
        if isinstance(request, (ldap.LDAP_UnbindRequest, ldap.LDAP_AbandonRequest)):
            self.over = isinstance(request, ldap.LDAP_UnbindRequest)
            return []
        if isinstance(request, ldap.LDAP_SearchRequest):
            return [_message(number, each, *more) for each, more in self._search(request, controls)]
        kind, act = next((row[1:] for row in _REQUESTS if isinstance(request, row[0])), (None, None))
        if kind is None or act is None:
            raise ValueError("this is no request")
        try:
            code, words = act(self, request), ""
        except Refused as refused:
            self._desk.awake()
            code, words = refused.code, str(refused)
        return [_message(number, kind(**_result(code, words)))]

    def _bind(self, request: Any) -> int:
        self._desk.awake()
        if request.version.val != 3:
            return _PROTOCOL_ERROR
        return 0 if isinstance(request.authentication, ldap.LDAP_Authentication_simple) else _METHOD

    def _unwilling(self, request: Any) -> int:
        raise Refused(_UNWILLING, "the directory does not do this")

    def _served(self, method: str, params: Mapping[str, Json], act: Callable[[], Json], **more: Json) -> Any:
        """Return the note of a request that is done. Raises Away."""
        told = self._desk.serve(method, params, act, **more)
        if told["answer"].get("result") == NOT_CONNECTED:
            raise Away(hangs_up=True)
        return told

    def _search(self, request: Any, controls: Iterable[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
        paged = next((each.controlValue for each in controls if each.controlType.val == _PAGED), None)
        base, size, code = request.baseObject.val.decode(), request.sizeLimit.val, 0
        wanted = [each.type.val.decode() for each in request.attributes]
        try:
            if paged is not None and paged.cookie.val:
                found = self._pages.pop(paged.cookie.val)
            elif not base and not request.scope.val:
                self._desk.awake()
                found = [_ROOT_DSE]
            else:
                found, code = self._found(base, request.scope.val, term(request.filter), wanted)
        except Refused as refused:
            self._desk.awake()
            found, code = [], refused.code
        if size and len(found) > size and paged is None:
            found, code = found[:size], _SIZE_EXCEEDED
        most = len(found) if paged is None else max(0, min(paged.size.val, len(found)))
        for entry in found[:most]:
            yield _selected(entry, wanted, bare=bool(request.attrsOnly.val)), ()
        more: list[Any] = []
        if paged is not None:
            cookie = b"%d" % id(found) if found[most:] and most else b""
            self._pages |= {cookie: found[most:]} if cookie else {}
            while len(self._pages) > _MOST_PAGES:
                del self._pages[next(iter(self._pages))]
            page = ldap.LDAP_realSearchControlValue(size=0, cookie=cookie)
            more = [ldap.LDAP_Control(controlType=_PAGED, criticality=False, controlValue=page)]
        yield ldap.LDAP_SearchResponseResultDone(**_result(code)), more

    def _found(self, base: str, scope: int, wanted: Term, attributes: list[str]) -> tuple[list[Entry], int]:
        """Return the entries that a search finds, and the result code."""
        tree = self._tree
        try:
            base = names.canonical(base)
            at = tree.at(base) if base else None
        except ValueError:
            raise Refused(34, "this is no distinguished name") from None
        listed = [each for each in _conjuncts(wanted) if each[0] == "EQUALS" and each[1] == "objectclass"]
        kind = names.classes().get(listed[0][2].decode().lower(), "") if listed else ""
        if not scope:
            kind = kind or (at.kind if at is not None else names.kind_at(base))
        if kind == names.COMPUTER or (kind == "computer" and at is not None and at.kind == names.COMPUTER):
            kind = "computer" if {each.lower() for each in attributes} & _ACCOUNT else "queue_manager"
        asked = expressions(kind, wanted, tree.refer) if kind else []
        if not scope:
            matches = [at] if at is not None and holds(at, wanted) else []
            if kind != "enterprise":
                asked = [{"attribute": "full_path", "operator": "EQUALS", "value": base}, *asked]
        else:
            kinds = [kind] if kind in names.table() else [each for each in names.classes().values() if not listed]
            exact = _exact(asked) if kind else _by_guid(wanted)
            matches = [
                each for one in kinds for each in tree.below(one, base, scope == 1, exact) if holds(each, wanted)
            ]
            kind = kind or (matches[0].kind if matches else "")
        lost = base and at is None and base.lower() not in map(str.lower, names.CONTAINERS)
        if not kind or (at is not None and not scope and not at.kind):
            self._desk.awake()
            return matches, _NO_OBJECT if lost else 0
        told = self._read(kind, asked, attributes, matches)
        if told.get("lie"):
            matches = [tree.entry(kind, told["answer"]["object"])] if "object" in told["answer"] else []
            return matches, names.CODES[told["answer"]["result"]]
        return matches, _NO_OBJECT if lost else 0

    def _read(self, kind: str, asked: list[dict[str, Json]], attributes: list[str], matches: list[Entry]) -> Any:
        """Note a search, with the LDAP names that it asks for as `names`; of every attribute, none."""
        answer: dict[str, Json] = {"result": SUCCESS if matches else NO_OBJECT}
        if kind == "distribution_list":
            identifiers = [str(each["value"]) for each in asked if each["attribute"] == "identifier"]
            identifiers += [str(each.found["identifier"]) for each in matches]
            answer |= {"members": list(matches[0].found["members"])} if matches else {}
            return self._served("resolve", {"format_name": f"DL={(identifiers or [''])[0]}"}, lambda: answer, names=[])
        told = {each.lower() for each in attributes}
        known = {each.ldap.lower() for each in names.names_of(kind).values()}
        whole = not told or "*" in told or known <= told
        listed = [each.attribute for each in names.names_of(kind).values() if each.ldap.lower() in told]
        params: dict[str, Json] = {"class": kind, **({"filter": asked} if asked else {})}
        params |= {} if whole else {"attributes": listed}
        if matches:
            answer["object"] = {name: value for name, value in matches[0].found.items() if whole or name in listed}
        return self._served("read", params, lambda: answer, names=sorted(known if whole else told))

    def _add(self, request: Any) -> int:
        path = names.canonical(request.entry.val.decode())
        given = {each.type.val.decode(): [one.value.val for one in each.values] for each in request.attributes}
        listed = next((found for name, found in given.items() if name.lower() == "objectclass"), [])
        kind = next(filter(None, (names.classes().get(each.decode().lower()) for each in listed)), names.kind_at(path))
        if kind not in names.table():
            raise Refused(_UNWILLING, "the directory has no such class")
        own = [name for name in given if name.lower() not in _FIXED]
        suffix = next((b"".join(given[each]).decode() for each in own if each.lower() == "msmqqueuenameext"), "")
        made = {**self._taken(kind, {name: given[name] for name in own}), **names.named(kind, path, suffix)}

        def act() -> Json:
            if self._desk.store.at(path) is not None:
                return {"result": EXISTS}
            return self._desk.store.answer("create", {"class": kind, "object": made, "place": path})

        told = self._served("create", {"class": kind, "object": made}, act)
        if told.get("lie") and told["answer"]["result"] == SUCCESS and self._desk.store.at(path) is None:
            self._desk.store.put(kind, {**made, "full_path": path})  # who adds an object looks for it there
        return names.CODES.get(told["answer"]["result"], names.CODES[ERROR])

    def _taken(self, kind: str, given: Mapping[str, Sequence[bytes]]) -> dict[str, Json]:
        made: dict[str, Json] = {}
        try:
            for name, values in given.items():
                made |= names.taken(kind, name, values, self._tree.refer)
        except KeyError:
            raise Refused(_NO_TYPE, f"{kind} has no {name}") from None
        except (ValueError, LookupError, ArithmeticError) as wrong:
            raise Refused(_CONSTRAINT, str(wrong)) from None
        return made

    def _at(self, path: str) -> tuple[str, str]:
        """Return class and identifier of an object; of one that is not there, the class that its place tells."""
        try:
            found = self._tree.at(path)
            kind = names.kind_at(path) if found is None else found.kind
        except ValueError:
            raise Refused(34, "this is no distinguished name") from None
        if not kind:
            raise Refused(_NO_OBJECT if found is None else _UNWILLING, "there is no object")
        return kind, "" if found is None else str(found.found["identifier"])

    def _delete(self, request: Any) -> int:
        kind, identifier = self._at(request.entry.val.decode())
        if kind == names.COMPUTER:
            raise Refused(_UNWILLING, "the computer has a queue manager")
        return self._done("delete", {"class": kind, "identifier": identifier})

    def _done(self, method: str, params: Mapping[str, Json]) -> int:
        told = self._served(method, params, lambda: self._desk.store.answer(method, params))
        return names.CODES.get(told["answer"]["result"], names.CODES[ERROR])

    def _modify(self, request: Any) -> int:
        path = request.object.val.decode()
        kind, identifier = self._at(path)
        entry = self._tree.at(path)
        changed: dict[str, list[bytes]] = {}
        for each in request.changes:
            name = each.modification.type.val.decode().lower()
            values = [one.value.val for one in each.modification.values]
            before = changed.get(name, list(entry.of(name)) if entry is not None else [])
            what = each.operation.val
            if what == 1 and values and not set(values) <= set(before):
                raise Refused(16, f"{name} has no such value")
            left = [one for one in before if one not in values] if values else []
            changed[name] = {0: before + values, 1: left, 2: values}[what]
        if not _FIXED.isdisjoint(changed):
            raise Refused(_FIXED_NAME, "the name of an object cannot be modified")
        if kind == names.COMPUTER:
            changed = {name: values for name, values in changed.items() if name not in _CERTIFIED}
        made = self._taken(kind, changed)
        kind = "queue_manager" if kind == names.COMPUTER else kind
        return self._done("write", {"class": kind, "identifier": identifier, "object": made})


_FIXED: Final = frozenset({"objectclass", "cn", "name", "distinguishedname", "objectcategory", "instancetype"})
"""What an object has by its class and place, whatever is said when it is added."""
_ACCOUNT: Final = frozenset({"objectsid", "samaccountname", "useraccountcontrol"})
"""What a computer has and its queue manager has not."""
_CERTIFIED: Final = ("msmqdigests", "msmqdigestsmig", "msmqsigncertificatesmig")
"""What follows from the keys of a queue manager's computer (MS-MQDSSM 3.1.6.1.1.9)."""
_REQUESTS: Final[tuple[tuple[Any, Any, Callable[[Session, Any], int]], ...]] = (
    (ldap.LDAP_BindRequest, ldap.LDAP_BindResponse, Session._bind),
    (ldap.LDAP_AddRequest, ldap.LDAP_AddResponse, Session._add),
    (ldap.LDAP_DelRequest, ldap.LDAP_DelResponse, Session._delete),
    (ldap.LDAP_ModifyRequest, ldap.LDAP_ModifyResponse, Session._modify),
    (ldap.LDAP_ModifyDNRequest, ldap.LDAP_ModifyDNResponse, Session._unwilling),
)
_ROOT_DSE: Final = Entry(
    "",
    {},
    "",
    {
        "defaultNamingContext": [names.ROOT.encode()],
        "rootDomainNamingContext": [names.ROOT.encode()],
        "configurationNamingContext": [names.CONFIGURATION.encode()],
        "namingContexts": [names.ROOT.encode()],
        "supportedLDAPVersion": [b"3"],
        "supportedControl": [_PAGED],
    },
)


def _conjuncts(wanted: Term) -> Iterator[Term]:
    if wanted[0] != "and":
        yield wanted
    else:
        for each in wanted[1:]:
            yield from _conjuncts(each)


def _exact(asked: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """Return what the store compares as LDAP does, and has an index of."""
    return [each for each in asked if each["operator"] == "EQUALS" and each["attribute"] in ("identifier", "full_path")]


def _by_guid(wanted: Term) -> list[Mapping[str, Json]]:
    guids = [each[2] for each in _conjuncts(wanted) if each[0] == "EQUALS" and each[1] == "objectguid"]
    return _exact(expressions("site", ("EQUALS", "objectguid", guids[0]), lambda _, value: value)) if guids else []


def _selected(entry: Entry, wanted: Sequence[str], *, bare: bool) -> Any:
    """Return an entry with the attributes wanted, all for none and `*`. bare: without their values."""
    told = {each.lower() for each in wanted}
    whole = not told or "*" in told
    return ldap.LDAP_SearchResponseEntry(
        objectName=entry.path.encode(),
        attributes=[
            ldap.LDAP_PartialAttribute(
                type=name.encode(), values=[] if bare else [ldap.LDAP_AttributeValue(value=each) for each in values]
            )
            for name, values in entry.values.items()
            if whole or name.lower() in told
        ],
    )


def _result(code: int, words: str = "") -> dict[str, Any]:
    return {"resultCode": code, "diagnosticMessage": words.encode(), "referral": None}


def _message(number: int, operation: Any, *controls: Any) -> bytes:
    more = {"Controls": list(controls)} if controls else {}
    return bytes(ldap.LDAP(messageID=number, protocolOp=operation, **more))


def bounded(data: bytes) -> bool:
    """Return true if bytes are nested BER elements of definite length, not too deep and not too many."""
    ends, at = [len(data)], 0
    for _ in range(_MOST_ELEMENTS):
        while ends and at == ends[-1]:
            ends.pop()
        if not ends:
            return True
        head = data[at : at + 6]
        if len(head) < 2 or head[0] & 0x1F == 0x1F or head[1] == 0x80:
            return False
        size = head[1] & 0x7F if head[1] & 0x80 else 0
        length = int.from_bytes(head[2 : 2 + size], "big") if size else head[1]
        start = at + 2 + size
        if size > 4 or start + length > ends[-1]:
            return False
        at = start if head[0] & 0x20 else start + length
        ends += [start + length] if head[0] & 0x20 else []
        if len(ends) > _MOST_DEPTH:
            return False
    return False


def _read_message(source: BufferedIOBase) -> bytes | None:
    """Return the next message; None at the end, and for what is none or too long."""
    head = source.read(2)
    if len(head) < 2 or head[0] != 0x30 or head[1] == 0x80:
        return None
    more = source.read(head[1] & 0x7F) if head[1] & 0x80 else b""
    length = int.from_bytes(more, "big") if more else head[1]
    if length > MOST_BYTES:
        return None
    body = source.read(length)
    return head + more + body if len(body) == length else None


class Handler(socketserver.StreamRequestHandler):
    """One connection of the manager."""

    timeout = _IDLE_S

    def handle(self) -> None:
        """Answer each message until the manager or the directory ends the connection."""
        desk: Desk = cast("Any", self.server).desk
        session = Session(desk)
        while desk.mode != "closed" and not session.over:
            message = _read_message(self.rfile)
            if message is None:
                return
            try:
                for each in session.answers(message):
                    self.wfile.write(each)
            except Away as away:
                if away.hangs_up:
                    return
