"""The manager's side of an LDAP directory: its events as searches and changes (MS-MQDSSM 3.1.6).

What is asked and answered has the form of `DirectoryClient`. Attributes without a name in LDAP are not there.
"""

from __future__ import annotations

import struct
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from conformance.embedded import ldap_names as ldap
from conformance.embedded.directory_client import END, FAILED, NO_ATTRIBUTE, NO_OBJECT, NOT_CONNECTED, SUCCESS
from conformance.embedded.directory_objects import Attributes, Filter, only, satisfies
from conformance.embedded.ldap_line import ANY, ONE, SUBTREE, Entry, Line, Refused

Json = Any
_CONTEXTS: Final = ("rootDomainNamingContext", "configurationNamingContext")
_CONFIGURED: Final = frozenset({"enterprise", "site", "routing_link", "settings"})
_ORDERED: Final = frozenset({"number", "priority", "cost", "service", "time"})
_EQUAL: Final = _ORDERED | {"text", "text or null", "guid", "sid", "flag", "data", "level", "system", "bit"}
_OPERATORS: Final[Mapping[str, str]] = {
    "EQUALS": "({0}={1})",
    "NOT-EQUALS": "(&({0}=*)(!({0}={1})))",
    "LESS-THAN": "(&({0}=*)(!({0}>={1})))",
    "GREATER-THAN": "(&({0}=*)(!({0}<={1})))",
    "LESS-THAN-OR-EQUAL": "({0}<={1})",
    "GREATER-THAN-OR-EQUAL": "({0}>={1})",
}
_MEMBER: Final = {"group": "DL", "msmqqueue": "PUBLIC"}
_ALIAS, _ALIAS_NAME = "msmq-custom-recipient", "msMQ-Recipient-FormatName"


class LdapDirectory:
    """A client of the directory at `ldap://HOST:PORT`. wait_ms: how long it waits for all answers of a request."""

    def __init__(self, address: str, wait_ms: int) -> None:
        self.address, self.wait_ms = address, wait_ms
        self._queries: dict[str, deque[Attributes]] = {}
        self._last = 0

    def ask(self, method: str, params: dict[str, Json]) -> dict[str, Json]:
        """Return the result of a request: see `DirectoryClient.ask`. A query is asked for as a whole when it begins."""
        if method == "changed":
            return {"result": SUCCESS}  # notices are packets of MS-MQCN
        if method in ("next", "end"):
            return self._answer(method, params["query"])
        try:
            with Line(self.address, self.wait_ms) as line:
                answer = getattr(_Request(line), method)(params)
        except Refused as refused:
            return {"result": refused.result}
        except OSError:
            return {"result": NOT_CONNECTED}
        except (LookupError, ValueError, struct.error):  # a value that the directory or the manager cannot have
            return {"result": FAILED}
        if method == "begin":
            self._last += 1
            self._queries[str(self._last)] = deque(answer["objects"])
            return {"result": SUCCESS, "query": str(self._last)}
        return {"result": SUCCESS, **answer}

    def _answer(self, method: str, query: str) -> dict[str, Json]:
        if query not in self._queries:
            return {"result": FAILED}
        if method == "end":
            del self._queries[query]
            return {"result": SUCCESS}
        waiting = self._queries[query]
        return {"result": SUCCESS, "object": waiting.popleft()} if waiting else {"result": END}


class _Request:
    """A request over one connection. Methods raise what `Line` does, and ValueError or struct.error for a value."""

    def __init__(self, line: Line) -> None:
        self.line = line
        contexts = line.one("", ONE, ANY, _CONTEXTS).values
        try:
            self.root, self.configuration = (contexts[each.lower()][0].decode("utf-8") for each in _CONTEXTS)
        except (LookupError, ValueError) as wrong:  # MS-MQDSSM 3.1.6.12
            raise OSError("the directory does not name its contexts") from wrong
        self._seen: dict[str, Entry | None] = {}

    # The methods.

    def read(self, params: dict[str, Json]) -> dict[str, Json]:
        names: list[str] | None = params.get("attributes")
        found = next(self.found(params["class"], params.get("filter"), names), None)
        if found is None:
            raise Refused(NO_OBJECT)
        if any(each not in found for each in names or ()):
            raise Refused(NO_ATTRIBUTE)
        return {"object": found}

    def begin(self, params: dict[str, Json]) -> dict[str, Json]:
        names: list[str] | None = params.get("attributes")
        try:
            objects = list(self.found(params["class"], params.get("filter"), names))
        except Refused as refused:
            if refused.result != NO_OBJECT:
                raise
            objects = []  # 3.1.6.4.1.2
        order = [
            (each["priority"], each["ascending"], of)
            for each, of in zip(params.get("order") or (), names or (), strict=False)
        ]
        for _, ascending, of in sorted(each for each in order if each[0]):
            objects = sorted(objects, key=partial(_sorted, of), reverse=not ascending)
        return {"objects": objects}

    def create(self, params: dict[str, Json]) -> dict[str, Json]:
        kind, given = params["class"], params["object"]
        name = self.place(kind, given)
        values = {"objectClass": [ldap.CLASS[kind].encode()], **ldap.values_of(kind, given), **self.names(kind, given)}
        if kind == "queue_manager":
            values["mSMQServiceType"] = ldap.service(given)
        elif kind == "queue":
            values["mSMQQueueNameExt"] = ldap.FORMS["text"][0](ldap.split(_queue(given))[1])
        self.line.add(name, {each: value for each, value in values.items() if value})
        self.write_computer(kind, name, given)
        made = self.line.one(name, ONE, ANY, ["objectGUID"])
        return {"identifier": ldap.guid_text(made.values["objectguid"][0])}

    def delete(self, params: dict[str, Json]) -> dict[str, Json]:
        self.line.delete(self.identified(params["class"], params["identifier"]))
        return {}

    def write(self, params: dict[str, Json]) -> dict[str, Json]:
        kind, given = params["class"], params["object"]
        name = self.identified(kind, params["identifier"])
        values = {**ldap.values_of(kind, given), **self.names(kind, given)}
        values.pop("cn", None)  # 3.1.6.7.4.2
        if kind == "queue_manager" and given.keys() & ldap.SERVICES:
            present = self.line.one(name, ONE, ANY, ldap.names(kind, ldap.SERVICES))
            values["mSMQServiceType"] = ldap.service({**ldap.attributes_of(kind, present.values), **given})
        if values:
            self.line.replace(name, values)
        self.write_computer(kind, name, given)
        return {}

    def resolve(self, params: dict[str, Json]) -> dict[str, Json]:
        identifier = params["format_name"].partition("=")[2].partition(";")[0]
        list_ = self.identified("distribution_list", identifier)
        return {"members": self.members(self.line.one(list_, ONE, ANY, ["member"]).values.get("member", []))}

    # Objects.

    def base(self, kind: str) -> str:
        return self.configuration if kind in _CONFIGURED else self.root

    def identified(self, kind: str, identifier: str) -> str:
        """Return the distinguished name of an object (3.1.6.19). Raises Refused(ObjectNotFound)."""
        wanted = f"(&{_class(kind)}(objectGUID={_octets(ldap.guid_bytes(identifier))}))"
        return self.line.one(self.base(kind), SUBTREE, wanted, [ldap.NAME]).name

    def found(self, kind: str, wanted: Filter | None, names: list[str] | None) -> Iterator[Attributes]:
        """Return the objects that satisfy a filter. What LDAP cannot compare so is compared here."""
        base, scope, told, rest = self.base(kind), SUBTREE, "", []
        for each in wanted or ():
            name = self.name_of(kind, each)
            expression = _expression(kind, each)
            if name is not None:
                base, scope = name, ONE
            if expression is not None:
                told += expression
            elif each["attribute"] in ldap.FIELDS[kind]:  # 3.1.6.4.1.2 ignores others
                rest.append(each)
        asked = list(names or ldap.FIELDS[kind])
        compared = [*asked, *(each["attribute"] for each in rest)]
        for entry in self.line.search(base, scope, f"(&{_class(kind)}{told})", ldap.names(kind, compared)):
            attributes = self.attributes(kind, entry, compared)
            if satisfies(attributes, rest):
                yield only(attributes, asked)

    def name_of(self, kind: str, each: dict[str, Json]) -> str | None:
        """Return the distinguished name that an expression says an object has, None if it says none."""
        if each["operator"] != "EQUALS" or not isinstance(each["value"], str):
            return None
        if each["attribute"] in ("full_path", "directory_path"):
            return each["value"].removeprefix("LDAP://")
        return (
            self.place(kind, {each["attribute"]: each["value"]}) if each["attribute"] in _NAMING.get(kind, ()) else None
        )

    def place(self, kind: str, given: Attributes) -> str:
        """Return the distinguished name of an object that has attributes (2.2.1). Raises LookupError for too few."""
        root, services = self.root, f"CN=Services,{self.configuration}"
        match kind:
            case "queue_manager":
                return ldap.distinguished("msmq", given["computer_name"], "Computers", under=root)
            case "queue":
                computer = given["path_name"].partition("\\")[0]
                return ldap.distinguished(ldap.split(_queue(given))[0], "msmq", computer, "Computers", under=root)
            case "enterprise":
                return ldap.distinguished("MsmqServices", under=services)
            case "site":
                return ldap.distinguished(given["name"], "Sites", under=self.configuration)
            case "routing_link":
                ends = "".join(uuid.UUID(given[each]).hex for each in ("site1_identifier", "site2_identifier"))
                return ldap.distinguished(ends, "MsmqServices", under=services)
            case "computer":
                return ldap.distinguished(given["sam_account"].removesuffix("$"), "Computers", under=root)
            case "settings":
                computer = ldap.elements(self.identified("queue_manager", given["queue_manager_identifier"]))[1]
                names = ("MSMQ Settings", computer, "Servers", given["site_name"], "Sites")
                return ldap.distinguished(*names, under=self.configuration)
        return ldap.distinguished(str(uuid.uuid4()), *(["Users"] if kind != "mq_user" else []), under=root)

    def attributes(self, kind: str, entry: Entry, asked: list[str]) -> Attributes:
        """Return the attributes of an object, with those that its name, its computer and other objects tell."""
        found = {**ldap.DEFAULTS[kind], **ldap.attributes_of(kind, entry.values), "full_path": entry.name}
        if kind == "queue_manager":
            found["computer_name"] = ldap.elements(entry.name)[1]
            if hosted := ldap.names(kind, asked, computer=True):
                found |= ldap.attributes_of(kind, self.seen(ldap.above(entry.name), hosted).values, computer=True)
        elif kind == "queue":
            host = b""
            if "qualified_path_name" in asked:
                host = self.seen(ldap.above(entry.name, 2), ["dNSHostName"]).values.get("dnshostname", [b""])[0]
            found |= ldap.path_names(entry.name, found["name_suffix"], host.decode("utf-8"))
        for attribute, (name, form) in ldap.FIELDS[kind].items():
            values = entry.values.get(name.lower())
            if form in ldap.REFERENCES and values and attribute in asked:
                told = self.members(values) if form == "members" else self.identifiers(values)
                found[attribute] = told if form != "site" else told[0]
        return only(found, asked)

    def seen(self, name: str, names: Iterable[str]) -> Entry:
        """Return another object, of which nothing is known if there is none."""
        if name not in self._seen:
            try:
                self._seen[name] = self.line.one(name, ONE, ANY, names)
            except Refused as refused:
                if refused.result != NO_OBJECT:
                    raise
                self._seen[name] = None
        return self._seen[name] or Entry(name, {})

    def write_computer(self, kind: str, name: str, given: Attributes) -> None:
        """Write the attributes of a queue manager that its computer has."""
        if values := ldap.values_of(kind, given, computer=True):
            self.line.replace(ldap.above(name), values)

    # References.

    def identifiers(self, names: list[bytes]) -> list[str]:
        """Return the identifiers of the objects of distinguished names; one that is gone is skipped."""
        entries = [self.seen(each.decode("utf-8"), ["objectGUID"]) for each in names]
        return [ldap.guid_text(entry.values["objectguid"][0]) for entry in entries if entry.values]

    def members(self, names: list[bytes]) -> list[str]:
        """Return the format names of the members of a list (3.1.6.9)."""
        found = []
        for each in names:
            values = self.line.one(each.decode("utf-8"), ONE, ANY, ["objectClass", "objectGUID", _ALIAS_NAME]).values
            classes = {value.decode("utf-8").lower() for value in values["objectclass"]}
            kind = next((_MEMBER[name] for name in _MEMBER if name in classes), None)
            if kind is None:
                found.append(values[_ALIAS_NAME.lower()][0].decode("utf-8"))
            else:
                found.append(f"{kind}={ldap.guid_text(values['objectguid'][0])}")
        return found

    def names(self, kind: str, given: Attributes) -> dict[str, list[bytes]]:
        """Return the values of attributes that are references: the distinguished names of objects."""
        found = {}
        for attribute, value in given.items():
            name, form = ldap.FIELDS[kind].get(attribute, ("", ""))
            if form == "members":
                found[name] = [self.member(each).encode("utf-8") for each in value]
            elif form in ldap.REFERENCES:
                found[name] = [
                    self.identified(form, each).encode("utf-8") for each in (value if form != "site" else [value])
                ]
        return found

    def member(self, format_name: str) -> str:
        kind, _, rest = format_name.partition("=")
        for class_, named in (("distribution_list", "DL"), ("queue", "PUBLIC")):
            if kind.upper() == named:
                return self.identified(class_, rest)
        wanted = f"(&(objectClass={_ALIAS})({_ALIAS_NAME}={_octets(format_name.encode('utf-8'))}))"
        return self.line.one(self.root, SUBTREE, wanted, [ldap.NAME]).name


_NAMING: Final[Mapping[str, tuple[str, ...]]] = {"queue_manager": ("computer_name",), "queue": ("path_name",)}


def _queue(given: Attributes) -> str:
    return str(given["path_name"].partition("\\")[2])


def _octets(value: bytes) -> str:
    return "".join(f"\\{octet:02x}" for octet in value)


def _class(kind: str) -> str:
    found = f"(objectClass={ldap.CLASS[kind]})"
    return f"{found}(!(objectClass=computer))" if kind == "user" else found  # a computer is a user too


def _expression(kind: str, each: dict[str, Json]) -> str | None:
    """Return an expression as LDAP has it, None for one that is compared by the manager."""
    name, form = ldap.FIELDS[kind].get(each["attribute"], ("^", ""))
    if name.startswith("^") or form not in (_EQUAL if each["operator"].endswith("EQUALS") else _ORDERED):
        return None
    try:
        values = ldap.FORMS[form][0](each["value"])
    except (TypeError, ValueError, AttributeError, struct.error, OverflowError):
        return None
    if not values:
        return None
    told = _OPERATORS[each["operator"]].format(name, _octets(values[0]))
    return f"(|{told}(!({name}=*)))" if satisfies(ldap.DEFAULTS[kind], [each]) else told


def _sorted(of: str, found: Attributes) -> tuple[bool, Json]:
    value = found.get(of)
    return value is not None, value.lower() if isinstance(value, str) else value
