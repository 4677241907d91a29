"""The harness's directory over LDAP (RFC 4511): each request is one of the directory's methods, and is noted as such.

What a manager searches is a `read`, whether it wants one object or all; what it adds, deletes or modifies is `create`,
`delete` or `write`; a search for a distribution list is `resolve`. Names and values are those of `ldap_names`.
"""

from __future__ import annotations

import contextlib
import socketserver
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import chain
from typing import Any, Final, cast

from scapy.asn1.asn1 import ASN1_Error
from scapy.asn1.ber import (
    BER_tagging_enc,
    BERcodec_ENUMERATED,
    BERcodec_INTEGER,
    BERcodec_SEQUENCE,
    BERcodec_SET,
    BERcodec_STRING,
)
from scapy.error import Scapy_Exception
from scapy.layers import ldap

from conformance.adapter import ldap_names as names
from conformance.adapter.directory_server import MOST_BYTES, DirectoryServer
from conformance.adapter.directory_store import ERROR, EXISTS, NO_OBJECT, NOT_CONNECTED, SUCCESS, Away
from conformance.verdict import Json

_MOST_DEPTH, _MOST_ELEMENTS, _MOST_PAGES, _IDLE_S = 40, 100_000, 16, 600
_PAGED, _DISCONNECTION = b"1.2.840.113556.1.4.319", b"1.3.6.1.4.1.1466.20036"
_PROTOCOL, _SIZE, _METHOD, _NO_VALUE, _NO_TYPE, _CONSTRAINT, _NO_OBJECT = 2, 4, 7, 16, 17, 19, 32
_NO_NAME, _UNWILLING, _FIXED_NAME = 34, 53, 67
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
_NOT: Final = {
    "EQUALS": "NOT-EQUALS",
    "GREATER-THAN-OR-EQUAL": "LESS-THAN",
    "LESS-THAN-OR-EQUAL": "GREATER-THAN",
}
_FIXED: Final = frozenset({"objectclass", "cn", "name", "distinguishedname", "objectcategory", "instancetype"})
"""Attributes that class and place of an object decide, whatever is said when it is added."""
_ACCOUNT: Final = frozenset({"objectsid", "samaccountname", "useraccountcontrol"})
"""Attributes that a computer has and its queue manager has not."""
_CERTIFIED: Final = ("msmqdigests", "msmqdigestsmig", "msmqsigncertificatesmig")
"""Attributes that follow from the keys of the computer (MS-MQDSSM 3.1.6.1.1.9)."""
Term = tuple[Any, ...]
"""A filter: a word, and what it is about."""


class Refused(Exception):
    """A request that the directory cannot do. code: of the result."""

    def __init__(self, code: int, words: str = "") -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True, slots=True)
class Entry:
    """The object at a distinguished name, or a place without one. kind: of an object, or empty. values: by name."""

    kind: str
    found: Mapping[str, Json]
    path: str
    values: Mapping[str, Sequence[bytes]]

    def of(self, name: str) -> Sequence[bytes]:
        """Return the values of an attribute, whatever the case of its name."""
        return next((found for each, found in self.values.items() if each.lower() == name), ())


def _entry(kind: str, found: Mapping[str, Json], path: str, category: str, values: Mapping[str, Any]) -> Entry:
    common = names.elements(path)[0][1].encode()
    own = {"objectClass": [b"top", category.encode()], "distinguishedName": [path.encode()]}
    return Entry(kind, found, path, {**own, "cn": [common], "name": [common], **values})


_ROOT_DSE: Final = Entry(
    "",
    {},
    "",
    {
        "defaultNamingContext": [names.ROOT.encode()],
        "rootDomainNamingContext": [names.ROOT.encode()],
        "configurationNamingContext": [names.CONFIGURATION.encode()],
        "supportedLDAPVersion": [b"3"],
        "supportedControl": [_PAGED],
    },
)


def term(packet: Any) -> Term:
    """Return a filter. Raises one of `_DAMAGE` for none."""
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
    return ("undefined", "")


def _name(field: Any) -> str:
    return str(field.val.decode().partition(";")[0].lower())


def holds(entry: Entry, wanted: Term) -> bool | None:
    """Return whether an entry satisfies a filter; None where that is undefined (RFC 4511 4.5.1.7)."""
    word, *about = wanted
    if word in ("and", "or"):
        results = [holds(entry, each) for each in about]
        return (word == "or") if (word == "or") in results else None if None in results else word == "and"
    if word == "not":
        result = holds(entry, about[0])
        return None if result is None else not result
    if about[0] not in names.syntaxes():
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
        place = len(text) - len(part) if kind.endswith("Final") else text.find(part)
        if place < 0 or not text.startswith(part, place) or (kind.endswith("Initial") and place):
            return False
        text = text[place + len(part) :]
    return True


def conjuncts(wanted: Term) -> Iterator[Term]:
    """Yield the parts of a filter that all have to hold."""
    return chain.from_iterable(map(conjuncts, wanted[1:])) if wanted[0] == "and" else iter((wanted,))


def expressions(kind: str, wanted: Term, refer: names.Refer) -> list[dict[str, Json]]:
    """Return the expressions of MS-MQDMPR 3.1.7.1.20 for which a filter stands, as far as it has such."""
    found = []
    for each in conjuncts(wanted):
        word, *about = each[1] if each[0] == "not" else each
        if word in _NOT and about[0] != "objectclass":
            with contextlib.suppress(LookupError, ValueError, struct.error):
                attribute, value = names.expression(kind, about[0], about[1], refer)
                operator = _NOT[word] if each[0] == "not" else word
                found.append({"attribute": attribute, "operator": operator, "value": value})
    return found


class Tree:
    """The objects of the directory as entries."""

    def __init__(self, desk: DirectoryServer) -> None:
        self._store = desk.store

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

    def _path(self, kind: str, identifier: str) -> str:
        """Return a DN for an identifier; of an object that is gone since, the place where it would be."""
        with contextlib.suppress(ValueError):
            return self.refer(kind, identifier)
        return names.path_of(kind, {}, identifier)

    def _member(self, format_name: str) -> str:
        """Return the DN of a member of a list: of a queue, a list, or else of an alias with the format name."""
        word, _, identifier = format_name.partition("=")
        kind = {"PUBLIC": "queue", "DL": "distribution_list"}.get(word.upper())
        if kind is not None:
            with contextlib.suppress(ValueError):
                return self.refer(kind, identifier.partition("@")[0])
        return f"CN={names.escaped(format_name)},CN=Users,{names.ROOT}"

    def entry(self, kind: str, found: Mapping[str, Json]) -> Entry:
        """Return the entry of an object; for COMPUTER, of the computer of a queue manager."""
        path = str(found["full_path"])
        values = names.shown(kind, found, self._path)
        if kind == names.COMPUTER:
            path = names.above(path)
        if kind == "distribution_list":
            values["member"] = [each.encode() for each in dict.fromkeys(map(self._member, found["members"]))]
        manager = self._store.at(f"CN=msmq,{path}") if kind == "computer" else None
        if manager is not None:
            values = {**names.shown(names.COMPUTER, manager[1], self._path), **values}
        return _entry(kind, found, path, str(names.table()[kind]["class"]), values)

    def at(self, path: str) -> Entry | None:
        """Return the entry of a distinguished name."""
        found, manager = self._store.at(path), self._store.at(f"CN=msmq,{path}")
        if found is not None or manager is not None:
            return self.entry(*found) if found is not None else self.entry(names.COMPUTER, cast("Any", manager)[1])
        own = names.elements(path)[0][1] if path else ""
        if path.endswith(f",CN=Users,{names.ROOT}") and "=" in own:
            return _entry("", {}, path, "msMQ-Custom-Recipient", {"msMQ-Recipient-FormatName": [own.encode()]})
        return _entry("", {}, path, "container", {}) if path.lower() in map(str.lower, names.CONTAINERS) else None

    def below(self, kind: str, base: str, one_level: bool, wanted: Sequence[Mapping[str, Json]]) -> Iterator[Entry]:
        """Yield the entries of a class under a base. wanted: a filter that all which matter satisfy."""
        for each in self._store.selected(kind, wanted):
            path = str(each["full_path"]).lower()
            if names.above(path) == base if one_level else not base or path == base or path.endswith(f",{base}"):
                yield self.entry(kind, each)


class Session:
    """One connection. over: it has ended."""

    def __init__(self, desk: DirectoryServer) -> None:
        self._desk, self.over = desk, False
        self._pages: dict[bytes, list[Entry]] = {}

    def answers(self, data: bytes) -> Iterable[bytes]:
        """Return the answers to one message. Raises Away."""
        try:
            message: Any = ldap.LDAP(data) if bounded(data) else None
            with self._desk.lock:
                return self._answered(message.messageID.val, message.protocolOp, message.Controls or ())
        except _DAMAGE:
            self.over = True
            return [_message(0, _result(0x78, _PROTOCOL, "this is no LDAP", _string(_DISCONNECTION, 0x8A)))]

    def _answered(self, number: int, request: Any, controls: Iterable[Any]) -> list[bytes]:
        if isinstance(request, (ldap.LDAP_UnbindRequest, ldap.LDAP_AbandonRequest)):
            self.over = isinstance(request, ldap.LDAP_UnbindRequest)
            return []
        act, tag = next((each[1:] for each in _REQUESTS if isinstance(request, each[0])), (None, 0x65))
        try:
            if act is None:
                return [_message(number, *each) for each in self._search(request, controls)]
            code, words = act(self, request), ""
        except Refused as refused:
            self._desk.awake()
            code, words = refused.code, str(refused)
        return [_message(number, _result(tag, code, words))]

    def _bind(self, request: Any) -> int:
        self._desk.awake()
        simple = isinstance(request.authentication, ldap.LDAP_Authentication_simple)
        return _PROTOCOL if request.version.val != 3 else 0 if simple else _METHOD

    def _rename(self, request: Any) -> int:
        raise Refused(_UNWILLING, "the directory does not do this")

    def _served(self, method: str, params: Mapping[str, Json], act: Callable[[], Json], **more: Json) -> Any:
        """Return the note of a request that is done. Raises Away."""
        told = self._desk.serve(method, params, act, **more)
        if told["answer"].get("result") == NOT_CONNECTED:
            raise Away(hangs_up=True)
        return told

    def _search(self, request: Any, controls: Iterable[Any]) -> Iterator[tuple[bytes, ...]]:
        """Yield each answer, and the controls of the last."""
        paged = next((each.controlValue for each in controls if each.controlType.val == _PAGED), None)
        base, size, code = _path(request.baseObject), request.sizeLimit.val, 0
        wanted = [each.type.val.decode().lower() for each in request.attributes]
        if paged is not None and paged.cookie.val:
            found = self._pages.pop(paged.cookie.val)
        elif not base and not request.scope.val:
            self._desk.awake()
            found = [_ROOT_DSE]
        else:
            found, code = self._found(base, request.scope.val, term(request.filter), set(wanted))
        if size and len(found) > size and paged is None:
            found, code = found[:size], _SIZE
        most = len(found) if paged is None else max(1, paged.size.val)
        for entry in found[:most]:
            yield (_shown(entry, set(wanted), bare=bool(request.attrsOnly.val)),)
        if paged is None:
            yield (_result(0x65, code),)
            return
        cookie = b"%d" % id(found) if found[most:] else b""
        self._pages |= {cookie: found[most:]} if cookie else {}
        while len(self._pages) > _MOST_PAGES:
            del self._pages[next(iter(self._pages))]
        page = _sequence(BERcodec_INTEGER.enc(0), _string(cookie))
        yield _result(0x65, code), _sequence(_string(_PAGED), _string(page))

    def _found(self, base: str, scope: int, wanted: Term, told: set[str]) -> tuple[list[Entry], int]:
        """Return the entries that a search finds, and the result code. told: LDAP names that it wants."""
        tree = Tree(self._desk)
        at = tree.at(base) if base else None
        listed = [each[2] for each in conjuncts(wanted) if each[:2] == ("EQUALS", "objectclass")]
        kind = names.classes().get(listed[0].decode().lower(), "") if listed else ""
        if not scope and at is not None:
            kind = kind or at.kind
            if at.kind == names.COMPUTER:
                kind = "computer" if told & _ACCOUNT else "queue_manager"
        # an identifier has the same form in each class
        asked = expressions(kind or "site", wanted, tree.refer)
        exact = [each for each in asked if each["operator"] == "EQUALS" and each["attribute"] in _EXACT]
        if scope:
            kinds = [kind] if kind else [] if listed else list(names.classes().values())
            places = (tree.below(each, base.lower(), scope == 1, exact) for each in kinds)
            matches = [each for each in chain.from_iterable(places) if holds(each, wanted)]
            kind = kind or (matches[0].kind if matches else "")
        else:
            matches = [at] if at is not None and holds(at, wanted) else []
            place = [{"attribute": "full_path", "operator": "EQUALS", "value": base}]
            asked = asked if kind == "enterprise" else [*place, *asked]
        code = _NO_OBJECT if base and at is None else 0
        if not kind or (at is not None and not scope and not at.kind):
            self._desk.awake()
            return matches, code
        note = self._read(kind, asked, told, matches)
        if not note.get("lie"):
            return matches, code
        answer = note["answer"]
        return [tree.entry(kind, answer["object"])] if "object" in answer else [], names.CODES[answer["result"]]

    def _read(self, kind: str, asked: Sequence[Mapping[str, Json]], told: set[str], matches: Sequence[Entry]) -> Any:
        """Note a search, and as `names` the LDAP names that it wants."""
        found: Mapping[str, Json] = matches[0].found if matches else {}
        answer: dict[str, Json] = {"result": SUCCESS if matches else NO_OBJECT}
        if kind == "distribution_list":
            lists = [str(each["value"]) for each in asked if each["attribute"] == "identifier"]
            answer |= {"members": list(found["members"])} if matches else {}
            name = {"format_name": f"DL={found.get('identifier', next(iter(lists), ''))}"}
            return self._served("resolve", name, lambda: answer, names=[])
        known = {each.attribute: each.ldap.lower() for each in names.names_of(kind).values()}
        whole = not told or "*" in told or told >= set(known.values())
        listed = [each for each, ldap_name in known.items() if whole or ldap_name in told]
        params = {"class": kind, **({"filter": asked} if asked else {}), **({} if whole else {"attributes": listed})}
        answer |= {"object": {each: found[each] for each in found if whole or each in listed}} if matches else {}
        return self._served("read", params, lambda: answer, names=sorted(known.values() if whole else told))

    def _add(self, request: Any) -> int:
        path, store = _path(request.entry), self._desk.store
        given = {_name(each.type): [one.value.val for one in each.values] for each in request.attributes}
        kind = next(filter(None, (names.classes().get(each.decode().lower()) for each in given["objectclass"])), None)
        if kind is None:
            raise Refused(_UNWILLING, "the directory has no such class")
        suffix = b"".join(given.get("msmqqueuenameext", ())).decode()
        made = self._taken(kind, {name: given[name] for name in given if name not in _FIXED})
        made |= names.named(kind, path, suffix)

        def act() -> Json:
            if store.at(path) is not None:
                return {"result": EXISTS}
            return store.answer("create", {"class": kind, "object": made, "place": path})

        note = self._served("create", {"class": kind, "object": made}, act)
        if note.get("lie") and note["answer"]["result"] == SUCCESS and store.at(path) is None:
            store.put(kind, {**made, "full_path": path})  # who adds an object looks for it there
        return names.CODES.get(note["answer"]["result"], names.CODES[ERROR])

    def _taken(self, kind: str, given: Mapping[str, Sequence[bytes]]) -> dict[str, Json]:
        made: dict[str, Json] = {}
        try:
            for name, values in given.items():
                made |= names.taken(kind, name, values, Tree(self._desk).refer)
        except KeyError:
            raise Refused(_NO_TYPE, f"{kind} has no {name}") from None
        except (ValueError, LookupError, ArithmeticError, struct.error) as wrong:
            raise Refused(_CONSTRAINT, str(wrong)) from None
        return made

    def _at(self, method: str, field: Any) -> Entry:
        found = Tree(self._desk).at(_path(field))
        if found is None:
            self._served(method, {"identifier": ""}, lambda: {"result": NO_OBJECT})
        if found is None or not found.kind:
            raise Refused(_NO_OBJECT if found is None else _UNWILLING, "there is no object")
        return found

    def _delete(self, request: Any) -> int:
        entry = self._at("delete", request.entry)
        if entry.kind == names.COMPUTER:
            raise Refused(_UNWILLING, "the computer has a queue manager")
        return self._done("delete", entry)

    def _done(self, method: str, entry: Entry, **more: Json) -> int:
        kind = entry.kind.partition(" ")[0]
        params = {"class": kind, "identifier": entry.found["identifier"], **more}
        note = self._served(method, params, lambda: self._desk.store.answer(method, params))
        return names.CODES.get(note["answer"]["result"], names.CODES[ERROR])

    def _modify(self, request: Any) -> int:
        entry = self._at("write", request.object)
        changed: dict[str, list[bytes]] = {}
        for each in request.changes:
            name, what = _name(each.modification.type), each.operation.val
            values = [one.value.val for one in each.modification.values]
            before = changed.get(name, list(entry.of(name)))
            if what == 1 and not set(values) <= set(before):
                raise Refused(_NO_VALUE, f"{name} has no such value")
            left = [one for one in before if values and one not in values]
            changed[name] = {0: before + values, 1: left, 2: values}[what]
        if not _FIXED.isdisjoint(changed):
            raise Refused(_FIXED_NAME, "the name of an object cannot be modified")
        if entry.kind == names.COMPUTER:
            changed = {name: values for name, values in changed.items() if name not in _CERTIFIED}
        return self._done("write", entry, object=self._taken(entry.kind, changed))


_EXACT: Final = ("identifier", "full_path")
"""Attributes that the store compares as LDAP does, and has an index of."""
_REQUESTS: Final[tuple[tuple[Any, Callable[[Session, Any], int] | None, int], ...]] = (
    (ldap.LDAP_SearchRequest, None, 0x65),
    (ldap.LDAP_BindRequest, Session._bind, 0x61),
    (ldap.LDAP_ModifyRequest, Session._modify, 0x67),
    (ldap.LDAP_AddRequest, Session._add, 0x69),
    (ldap.LDAP_DelRequest, Session._delete, 0x6B),
    (ldap.LDAP_ModifyDNRequest, Session._rename, 0x6D),
)
"""By request: what does it, and the tag of the answer."""


def _path(field: Any) -> str:
    try:
        return names.canonical(field.val.decode())
    except ValueError:
        raise Refused(_NO_NAME, "this is no distinguished name") from None


def _sequence(*parts: bytes) -> bytes:
    return bytes(BERcodec_SEQUENCE.enc(b"".join(parts)))


def _string(data: bytes, tag: int | None = None) -> bytes:
    return bytes(BER_tagging_enc(BERcodec_STRING.enc(data), implicit_tag=tag))


def _result(tag: int, code: int, words: str = "", *more: bytes) -> bytes:
    parts = BERcodec_ENUMERATED.enc(code), _string(b""), _string(words.encode()), *more
    return bytes(BER_tagging_enc(_sequence(*parts), implicit_tag=tag))


def _message(number: int, operation: bytes, *controls: bytes) -> bytes:
    more = [BER_tagging_enc(_sequence(*controls), implicit_tag=0xA0)] if controls else []
    return _sequence(BERcodec_INTEGER.enc(number), operation, *more)


def _shown(entry: Entry, told: set[str], *, bare: bool) -> bytes:
    """Return an entry with the attributes that are wanted, all for none and `*`. bare: without their values."""
    listed = [
        _sequence(_string(name.encode()), BERcodec_SET.enc(b"" if bare else b"".join(map(_string, values))))
        for name, values in entry.values.items()
        if not told or "*" in told or name.lower() in told
    ]
    return bytes(BER_tagging_enc(_sequence(_string(entry.path.encode()), _sequence(*listed)), implicit_tag=0x64))


def bounded(data: bytes) -> bool:
    """Return true if bytes are nested BER elements of definite length, not too deep and not too many."""
    ends, at = [len(data)], 0
    for _ in range(_MOST_ELEMENTS):
        while ends and at == ends[-1]:
            ends.pop()
        if not ends:
            return True
        tag, form = data[at : at + 2].ljust(2, b"\x80")
        long = form & 0x7F if form & 0x80 else 0
        start = at + 2 + long
        size = int.from_bytes(data[at + 2 : start], "big") if long else form
        if tag & 0x1F == 0x1F or form == 0x80 or long > 4 or start + size > ends[-1] or len(ends) > _MOST_DEPTH:
            return False
        at = start if tag & 0x20 else start + size
        ends += [start + size] if tag & 0x20 else []
    return False


def _read_message(source: BufferedIOBase) -> bytes | None:
    """Return the next message; None at the end, and for what is none or too long."""
    head = source.read(2)
    if len(head) < 2 or head[0] != 0x30 or head[1] == 0x80:
        return None
    more = source.read(head[1] & 0x7F) if head[1] & 0x80 else b""
    length = int.from_bytes(more, "big") if more else head[1]
    body = source.read(length) if length <= MOST_BYTES else b""
    return head + more + body if len(body) == length else None


class Handler(socketserver.StreamRequestHandler):
    """One connection of the manager."""

    timeout = _IDLE_S

    def handle(self) -> None:
        """Answer each message until the manager or the directory ends the connection."""
        desk: DirectoryServer = cast("Any", self.server).desk
        session = Session(desk)
        while desk.mode != "closed" and not session.over:
            message = _read_message(self.rfile)
            if message is None:
                return
            try:
                self.wfile.write(b"".join(session.answers(message)))
            except Away as away:
                if away.hangs_up:
                    return
