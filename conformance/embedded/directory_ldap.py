"""The manager's side of an LDAP directory: its events as searches and changes (MS-MQDSSM 3.1.6).

What is asked and answered has the form of `DirectoryClient`. Attributes without a name in LDAP are not there.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid4

from ldap3 import MODIFY_REPLACE
from ldap3.operation.add import add_operation
from ldap3.operation.delete import delete_operation
from ldap3.operation.modify import modify_operation
from ldap3.utils.conv import escape_bytes

from conformance.embedded import ldap_names as ldap
from conformance.embedded.directory_client import END, FAILED, NO_ATTRIBUTE, NO_OBJECT, NOT_CONNECTED, SUCCESS
from conformance.embedded.directory_objects import TYPES, Attributes, only, satisfies
from conformance.embedded.ldap_line import SUBTREE, Line, NoObject, Refused

Json = Any
_CONFIGURED: Final = frozenset({"enterprise", "site", "routing_link", "settings"})
_ALIAS_NAME: Final = "msMQ-Recipient-FormatName"
_MEMBERS: Final = {"group": "DL", "msmqqueue": "PUBLIC"}
_ENDS: Final = ("site1_identifier", "site2_identifier")
# The common names of an object that has attributes, below a naming context (2.2.1).
_PLACES: Final[Mapping[str, Callable[[Attributes], tuple[str, ...]]]] = {
    "queue_manager": lambda given: ("msmq", given["computer_name"], "Computers"),
    "queue": lambda given: (*ldap.split(given["path_name"])[0], "Computers"),
    "enterprise": lambda given: ("MsmqServices", "Services"),
    "site": lambda given: (given["name"], "Sites"),
    "routing_link": lambda given: ("".join(UUID(given[each]).hex for each in _ENDS), "MsmqServices", "Services"),
    "user": lambda given: (str(uuid4()), "Users"),
}


class LdapDirectory:
    """A client of the directory at `ldap://HOST:PORT`. wait_ms: how long it waits for all answers of a request."""

    def __init__(self, address: str, wait_ms: int) -> None:
        self.address, self.wait_ms = address, wait_ms
        self._queries: dict[str, deque[Attributes]] = {}
        self._contexts: tuple[str, str] | None = None

    def ask(self, method: str, params: dict[str, Json]) -> dict[str, Json]:
        """Return the result of a request: see `DirectoryClient.ask`. A query is asked for as a whole when it begins."""
        if method == "changed":
            return {"result": SUCCESS}  # notices are packets of MS-MQCN
        if method == "end":
            return {"result": FAILED if self._queries.pop(params["query"], None) is None else SUCCESS}
        if method == "next":
            waiting = self._queries.get(params["query"])
            end = {"result": FAILED if waiting is None else END}
            return {"result": SUCCESS, "object": waiting.popleft()} if waiting else end
        try:
            with closing(Line(self.address, self.wait_ms)) as line:
                self._contexts = line.begin(self._contexts)
                answer = getattr(_Request(line, *self._contexts), method)(params)
        except Refused as refused:
            return {"result": str(refused)}
        except OSError:
            return {"result": NOT_CONNECTED}
        except (LookupError, ValueError, OverflowError, struct.error):
            return {"result": FAILED}  # for a value that the directory or the manager cannot have
        if method == "begin":
            self._queries[answer["query"]] = deque(answer.pop("objects"))
        return {"result": SUCCESS, **answer}


class _Request:
    """A request over one connection: its methods raise what `Line` does, LookupError, ValueError and struct.error."""

    def __init__(self, line: Line, root: str, configuration: str) -> None:
        self.line, self.root, self.configuration = line, root, configuration
        self._seen: dict[str, ldap.Values] = {}

    def read(self, params: dict[str, Json]) -> dict[str, Json]:
        for found in self.found(params):
            if all(each in found for each in params.get("attributes", ())):
                return {"object": found}
            raise Refused(NO_ATTRIBUTE)
        raise NoObject(NO_OBJECT)

    def begin(self, params: dict[str, Json]) -> dict[str, Json]:
        try:
            objects = list(self.found(params))
        except NoObject:
            objects = []  # 3.1.6.4.1.2
        pairs = zip(params.get("order", ()), params.get("attributes", ()), strict=False)
        order = [(each["priority"], each["ascending"], of) for each, of in pairs if each["priority"]]
        for _, ascending, of in sorted(order):  # the higher, the more it counts
            objects.sort(key=partial(_sorted, of), reverse=not ascending)
        return {"query": str(uuid4()), "objects": objects}

    def create(self, params: dict[str, Json]) -> dict[str, Json]:
        kind, given = params["class"], params["object"]
        name = ldap.distinguished(*_PLACES[kind](given), under=self.context(kind))
        values, hosted = self.values(kind, name, given)
        values["objectClass"] = [ldap.CLASS[kind].encode("ascii")]
        if kind == "queue_manager":
            values["mSMQServiceType"] = ldap.service(given)
        elif kind == "queue":
            values["mSMQQueueNameExt"] = ldap.values_of("text", ldap.split(given["path_name"])[1])
        self.line.ask("addRequest", add_operation(name, {each: values[each] for each in values if values[each]}, False))
        self.replace(ldap.above(name), hosted)
        return {"identifier": _identifier(self.line.one(name, ["objectGUID"])[1])}

    def delete(self, params: dict[str, Json]) -> dict[str, Json]:
        self.line.ask("delRequest", delete_operation(self.identified(params["class"], params["identifier"])))
        return {}

    def write(self, params: dict[str, Json]) -> dict[str, Json]:
        kind, given = params["class"], params["object"]
        name = self.identified(kind, params["identifier"])
        values, hosted = self.values(kind, name, given)
        values.pop("cn", None)  # 3.1.6.7.4.2
        if kind == "queue_manager" and given.keys() & ldap.SERVICES:
            present = self.line.one(name, ldap.names(kind, ldap.SERVICES))[1]
            values["mSMQServiceType"] = ldap.service({**ldap.attributes_of(kind, present), **given})
        self.replace(name, values)
        self.replace(ldap.above(name), hosted)
        return {}

    def resolve(self, params: dict[str, Json]) -> dict[str, Json]:
        """Return the format names of the members of a list: queues, lists and aliases (3.1.6.9)."""
        identifier = params["format_name"].partition("=")[2].partition(";")[0]
        members, name = [], self.identified("distribution_list", identifier)
        for each in self.line.one(name, ["member"])[1].get("member", []):
            values = self.line.one(each.decode("utf-8"), ["objectClass", "objectGUID", _ALIAS_NAME])[1]
            kinds = [_MEMBERS[kind] for value in values["objectclass"] if (kind := value.decode().lower()) in _MEMBERS]
            members.append(f"{kinds[0]}={_identifier(values)}" if kinds else values[_ALIAS_NAME.lower()][0].decode())
        return {"members": members}

    def context(self, kind: str) -> str:
        return self.configuration if kind in _CONFIGURED else self.root

    def identified(self, kind: str, identifier: str) -> str:
        """Return the distinguished name of an object (3.1.6.19). Raises NoObject."""
        wanted = f"(&{_class(kind)}(objectGUID={escape_bytes(*ldap.values_of('guid', identifier))}))"
        return self.line.one(self.context(kind), [ldap.NAME], wanted, SUBTREE)[0]

    def found(self, params: dict[str, Json]) -> Iterator[Attributes]:
        """Return the objects that satisfy a filter. Most expressions are compared here."""
        kind, asked = params["class"], params.get("attributes")
        fields = ldap.FIELDS[kind]
        wanted = [each for each in params.get("filter") or () if each["attribute"] in fields]  # 3.1.6.4.1.2
        told = [self.expression(kind, each["attribute"], each["operator"], each["value"]) for each in wanted]
        rest = [each for each, expression in zip(wanted, told, strict=True) if not expression]
        compared = [*(fields if asked is None else asked), *(each["attribute"] for each in rest)]
        names = ldap.names(kind, compared) or [ldap.NAME]
        for name, values in self.line.search(self.context(kind), SUBTREE, f"(&{_class(kind)}{''.join(told)})", names):
            attributes = self.attributes(kind, name, values, compared)
            if satisfies(attributes, rest):
                yield only(attributes, asked)

    def expression(self, kind: str, attribute: str, operator: str, value: Json) -> str:
        """Return an expression as LDAP has it, nothing for one that is compared by the manager."""
        name, form = ldap.FIELDS[kind][attribute]
        if operator != "EQUALS" or not isinstance(value, str) or name in ldap.HOSTED:
            return ""
        if attribute in ("path_name", "computer_name"):
            named = ldap.distinguished(*_PLACES[kind]({attribute: value}), under=self.root)
            return f"({ldap.NAME}={escape_bytes(named)})"
        if attribute in ("full_path", "directory_path"):
            return f"({ldap.NAME}={escape_bytes(value.removeprefix('LDAP://'))})"
        if not value or form not in ("text", "guid", "sid") or not TYPES[form](value):
            return ""
        return f"({name}={escape_bytes(*ldap.values_of(form, value))})"

    def attributes(self, kind: str, name: str, values: ldap.Values, asked: list[str]) -> Attributes:
        """Return the attributes of an object, with those that its name, its computer and other objects tell."""
        if kind == "queue_manager" and not ldap.HOSTED.isdisjoint(ldap.names(kind, asked)):
            values = {**values, **self.seen(ldap.above(name), ldap.HOSTED)}
        found = {**ldap.DEFAULTS[kind], **ldap.attributes_of(kind, values), "full_path": name}
        if kind == "queue_manager":
            found["computer_name"] = ldap.elements(name)[1]
        elif kind == "queue":
            host = self.seen(ldap.above(name, 2), ["dNSHostName"]) if "qualified_path_name" in asked else {}
            found |= ldap.path_names(name, found["name_suffix"], host.get("dnshostname", [b""])[0].decode("utf-8"))
        for attribute, (field, form) in ldap.FIELDS[kind].items():
            if form in ldap.FIELDS and attribute in asked and (present := values.get(field.lower())):
                others = [self.seen(each.decode("utf-8"), ["objectGUID"]) for each in present]
                told = [_identifier(other) for other in others if other]
                found[attribute] = told[0] if form == "site" else told
        return only(found, asked)

    def seen(self, name: str, names: Iterable[str]) -> ldap.Values:
        """Return the values of another object, none if it is gone."""
        if name not in self._seen:
            try:
                self._seen[name] = self.line.one(name, names)[1]
            except NoObject:
                self._seen[name] = {}
        return self._seen[name]

    def values(self, kind: str, name: str, given: Attributes) -> tuple[dict[str, list[bytes]], dict[str, list[bytes]]]:
        """Return the values of attributes of an object, and those that its computer has."""
        found: dict[str, list[bytes]] = {}
        hosted: dict[str, list[bytes]] = {}
        for attribute, value in given.items():
            field, form = ldap.FIELDS[kind].get(attribute, ("", ""))
            if form in ldap.FIELDS:
                named = (self.name_in(form, each) for each in (value if isinstance(value, list) else [value]))
                found[field] = [each.encode("utf-8") for each in named if each]
            elif form in ldap.WRITTEN and attribute != "identifier":
                of = hosted if kind == "queue_manager" and field in ldap.HOSTED else found
                of[field] = ldap.values_of(form, value)
        if services := hosted.get("servicePrincipalName"):
            services[0] += ldap.elements(name)[1].encode("utf-8")
        return found, hosted

    def name_in(self, kind: str, identifier: str) -> str | None:
        """Return the distinguished name of what a reference is to, None for a manager that is gone (3.1.6.1.1.6)."""
        try:
            return self.identified(kind, identifier)
        except NoObject as gone:
            if kind == "queue_manager":
                return None
            raise Refused(FAILED) from gone  # 3.1.6.1.4.4

    def replace(self, name: str, values: Mapping[str, list[bytes]]) -> None:
        if values:
            changes = {each: [(MODIFY_REPLACE, value)] for each, value in values.items()}
            self.line.ask("modifyRequest", modify_operation(name, changes, False))


def _identifier(values: ldap.Values) -> str:
    return str(ldap.attributes_of("queue", values)["identifier"])


def _class(kind: str) -> str:
    found = f"(objectClass={ldap.CLASS[kind]})"
    return f"{found}(!(objectClass=computer))" if kind == "user" else found  # a computer is a user too


def _sorted(of: str, found: Attributes) -> tuple[bool, Json]:
    value = found.get(of)
    return value is not None, value.lower() if isinstance(value, str) else value
