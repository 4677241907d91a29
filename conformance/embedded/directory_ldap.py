"""The manager's side of an LDAP directory: its events as searches and changes (MS-MQDSSM 3.1.6).

What is asked and answered has the form of `DirectoryClient`. Attributes without a name in LDAP are not there.
"""

from __future__ import annotations

import struct
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ldap3 import MODIFY_REPLACE
from ldap3.operation.add import add_operation
from ldap3.operation.delete import delete_operation
from ldap3.operation.modify import modify_operation

from conformance.embedded import ldap_names as ldap
from conformance.embedded.directory_client import END, FAILED, NO_ATTRIBUTE, NO_OBJECT, NOT_CONNECTED, SUCCESS
from conformance.embedded.directory_objects import Attributes, Filter, only, satisfies
from conformance.embedded.ldap_line import ONE, SUBTREE, Entry, Line, Refused

Json = Any
Params = dict[str, Json]
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
_ALIAS, _ALIAS_NAME = "mSMQ-Custom-Recipient", "msMQ-Recipient-FormatName"
_MEMBERS: Final = {"DL": "distribution_list", "PUBLIC": "queue"}
# The common names of an object that has attributes, below a naming context (2.2.1).
_PLACES: Final[Mapping[str, Callable[[Attributes], tuple[str, ...]]]] = {
    "queue_manager": lambda given: ("msmq", given["computer_name"], "Computers"),
    "queue": lambda given: (ldap.split(_queue(given))[0], "msmq", given["path_name"].partition("\\")[0], "Computers"),
    "enterprise": lambda given: ("MsmqServices", "Services"),
    "site": lambda given: (given["name"], "Sites"),
    "routing_link": lambda given: (
        uuid.UUID(given["site1_identifier"]).hex + uuid.UUID(given["site2_identifier"]).hex,
        "MsmqServices",
        "Services",
    ),
    "settings": lambda given: ("MSMQ Settings", given["computer_name"], "Servers", given["site_name"], "Sites"),
    "computer": lambda given: (given["sam_account"].removesuffix("$"), "Computers"),
    "mq_user": lambda given: (str(uuid.uuid4()),),
    "user": lambda given: (str(uuid.uuid4()), "Users"),
    "distribution_list": lambda given: (str(uuid.uuid4()), "Users"),
}


class LdapDirectory:
    """A client of the directory at `ldap://HOST:PORT`. wait_ms: how long it waits for all answers of a request."""

    def __init__(self, address: str, wait_ms: int) -> None:
        self.address, self.wait_ms = address, wait_ms
        self._queries: dict[str, deque[Attributes]] = {}
        self._last = 0
        self._contexts: tuple[str, str] | None = None

    def ask(self, method: str, params: Params) -> dict[str, Json]:
        """Return the result of a request: see `DirectoryClient.ask`. A query is asked for as a whole when it begins."""
        if method == "changed":
            return {"result": SUCCESS}  # notices are packets of MS-MQCN
        if method in ("next", "end"):
            return self._answer(method, params["query"])
        try:
            with Line(self.address, self.wait_ms) as line:
                line.bind()
                self._contexts = self._contexts or _contexts(line)
                answer = getattr(_Request(line, *self._contexts), method)(params)
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
    """A request over one connection: its methods raise what `Line` does, LookupError, ValueError and struct.error."""

    def __init__(self, line: Line, root: str, configuration: str) -> None:
        self.line, self.root, self.configuration = line, root, configuration
        self._seen: dict[str, Entry] = {}

    # The methods.

    def read(self, params: Params) -> dict[str, Json]:
        for found in self.found(params["class"], params.get("filter"), params.get("attributes")):
            if all(each in found for each in params.get("attributes", ())):
                return {"object": found}
            raise Refused(NO_ATTRIBUTE)
        raise Refused(NO_OBJECT)

    def begin(self, params: Params) -> dict[str, Json]:
        try:
            objects = list(self.found(params["class"], params.get("filter"), params.get("attributes")))
        except Refused as refused:
            if refused.result != NO_OBJECT:
                raise
            objects = []  # 3.1.6.4.1.2
        pairs = zip(params.get("order", ()), params.get("attributes", ()), strict=False)
        order = [(each["priority"], each["ascending"], of) for each, of in pairs if each["priority"]]
        for _, ascending, of in sorted(order):  # the higher, the more it counts
            objects.sort(key=partial(_sorted, of), reverse=not ascending)
        return {"objects": objects}

    def create(self, params: Params) -> dict[str, Json]:
        kind, given = params["class"], params["object"]
        if kind == "settings":
            manager = self.identified("queue_manager", given["queue_manager_identifier"])
            given = {**given, "computer_name": ldap.elements(manager)[1]}
        name = ldap.distinguished(*_PLACES[kind](given), under=self.context(kind))
        values = {"objectClass": [ldap.CLASS[kind].encode("ascii")], **self.values(kind, given)}
        if kind == "queue_manager":
            values["mSMQServiceType"] = ldap.service(given)
        elif kind == "queue" and (suffix := ldap.split(_queue(given))[1]):
            values["mSMQQueueNameExt"] = [suffix.encode("utf-8")]
        present = {each: value for each, value in values.items() if value}
        self.line.ask("addRequest", add_operation(name, present, False))
        self.write_host(kind, name, given)
        return {"identifier": ldap.guid_text(self.line.one(name, ["objectGUID"]).values["objectguid"][0])}

    def delete(self, params: Params) -> dict[str, Json]:
        self.line.ask("delRequest", delete_operation(self.identified(params["class"], params["identifier"])))
        return {}

    def write(self, params: Params) -> dict[str, Json]:
        kind, given = params["class"], params["object"]
        name = self.identified(kind, params["identifier"])
        values = self.values(kind, given)
        values.pop("cn", None)  # 3.1.6.7.4.2
        if kind == "queue_manager" and given.keys() & ldap.SERVICES:
            present = self.line.one(name, ldap.names(kind, ldap.SERVICES)).values
            values["mSMQServiceType"] = ldap.service({**ldap.attributes_of(kind, present), **given})
        self.replace(name, values)
        self.write_host(kind, name, given)
        return {}

    def resolve(self, params: Params) -> dict[str, Json]:
        identifier = params["format_name"].partition("=")[2].partition(";")[0]
        values = self.line.one(self.identified("distribution_list", identifier), ["member"]).values
        return {"members": self.members(values.get("member", []))}

    # Objects.

    def context(self, kind: str) -> str:
        return self.configuration if kind in _CONFIGURED else self.root

    def identified(self, kind: str, identifier: str) -> str:
        """Return the distinguished name of an object (3.1.6.19). Raises Refused(ObjectNotFound)."""
        wanted = f"(&{_class(kind)}(objectGUID={_octets(ldap.guid(identifier))}))"
        return self.line.one(self.context(kind), [ldap.NAME], wanted, SUBTREE).name

    def found(self, kind: str, wanted: Filter | None, names: list[str] | None) -> Iterator[Attributes]:
        """Return the objects that satisfy a filter. What LDAP cannot is compared here."""
        base, scope, told, rest = self.context(kind), SUBTREE, _class(kind), []
        for each in wanted or ():
            name, expression = self.name_of(kind, each), _expression(kind, each)
            base, scope = (base, scope) if name is None else (name, ONE)
            if expression is not None:
                told += expression
            elif each["attribute"] in {**ldap.FIELDS[kind], **_hosted(kind)}:  # 3.1.6.4.1.2 ignores others
                rest.append(each)
        asked = [*ldap.FIELDS[kind], *_hosted(kind)] if names is None else names
        compared = [*asked, *(each["attribute"] for each in rest)]
        for entry in self.line.search(base, scope, f"(&{told})", ldap.names(kind, compared) or [ldap.NAME]):
            attributes = self.attributes(kind, entry, compared)
            if satisfies(attributes, rest):
                yield only(attributes, asked)

    def name_of(self, kind: str, each: dict[str, Json]) -> str | None:
        """Return the distinguished name that an expression says an object has, None if it says none."""
        attribute, value = each["attribute"], each["value"]
        if each["operator"] != "EQUALS" or not isinstance(value, str):
            return None
        if attribute in ("full_path", "directory_path"):
            return value.removeprefix("LDAP://")
        if (kind, attribute) in (("queue", "path_name"), ("queue_manager", "computer_name")):
            return ldap.distinguished(*_PLACES[kind]({attribute: value}), under=self.root)
        return None

    def attributes(self, kind: str, entry: Entry, asked: list[str]) -> Attributes:
        """Return the attributes of an object, with those that its name, its computer and other objects tell."""
        found = {**ldap.DEFAULTS[kind], **ldap.attributes_of(kind, entry.values), "full_path": entry.name}
        if kind == "queue_manager":
            found["computer_name"] = ldap.elements(entry.name)[1]
            if hosted := [each for each in asked if each in _hosted(kind)]:
                host = self.seen(ldap.above(entry.name), ldap.names("host", hosted)).values
                found |= {**ldap.DEFAULTS["host"], **only(ldap.attributes_of("host", host), hosted)}
        elif kind == "queue":
            names = [b""]
            if "qualified_path_name" in asked:
                names = self.seen(ldap.above(entry.name, 2), ["dNSHostName"]).values.get("dnshostname", names)
            found |= ldap.path_names(entry.name, found["name_suffix"], names[0].decode("utf-8"))
        for attribute, (name, form) in ldap.FIELDS[kind].items():
            if form in ldap.REFERENCES and attribute in asked and (values := entry.values.get(name.lower())):
                told = self.members(values) if form == "members" else self.identifiers(values)
                found[attribute] = told[0] if form == "site" else told
        return only(found, asked)

    def seen(self, name: str, names: Iterable[str]) -> Entry:
        """Return another object, of which nothing is known if there is none."""
        if name not in self._seen:
            try:
                self._seen[name] = self.line.one(name, names)
            except Refused as refused:
                if refused.result != NO_OBJECT:
                    raise
                self._seen[name] = Entry(name, {})
        return self._seen[name]

    def values(self, kind: str, given: Attributes) -> dict[str, list[bytes]]:
        """Return the values of attributes; references are the distinguished names of objects."""
        found = ldap.values_of(kind, given)
        for attribute, value in given.items():
            name, form = ldap.FIELDS[kind].get(attribute, ("", ""))
            if form in ldap.REFERENCES:
                named = (self.name_in(form, each) for each in (value if isinstance(value, list) else [value]))
                found[name] = [each.encode("utf-8") for each in named if each]
        return found

    def name_in(self, form: str, told: str) -> str | None:
        """Return the distinguished name of what a reference is to, None for a manager that is gone (3.1.6.1.1.6)."""
        try:
            return self.member(told) if form == "members" else self.identified(form, told)
        except Refused as refused:
            if refused.result != NO_OBJECT:
                raise
            if form == "queue_manager":
                return None
            raise Refused(FAILED) from refused  # 3.1.6.1.4.4

    def replace(self, name: str, values: Mapping[str, list[bytes]]) -> None:
        if values:
            changes = {each: [(MODIFY_REPLACE, value)] for each, value in values.items()}
            self.line.ask("modifyRequest", modify_operation(name, changes, False))

    def write_host(self, kind: str, name: str, given: Attributes) -> None:
        """Write the attributes of a queue manager that its computer has."""
        values = ldap.values_of("host", only(given, _hosted(kind)))
        if services := values.get("servicePrincipalName"):
            services[0] += ldap.elements(name)[1].encode("utf-8")
        self.replace(ldap.above(name), values)

    # References.

    def identifiers(self, names: list[bytes]) -> list[str]:
        """Return the identifiers of the objects of distinguished names; one that is gone is skipped."""
        entries = [self.seen(each.decode("utf-8"), ["objectGUID"]) for each in names]
        return [ldap.guid_text(entry.values["objectguid"][0]) for entry in entries if entry.values]

    def members(self, names: list[bytes]) -> list[str]:
        """Return the format names of the members of a list (3.1.6.9)."""
        found = []
        for each in names:
            values = self.line.one(each.decode("utf-8"), ["objectClass", "objectGUID", _ALIAS_NAME]).values
            classes = {value.decode("utf-8").lower() for value in values["objectclass"]}
            kinds = [word for word, kind in _MEMBERS.items() if ldap.CLASS[kind].lower() in classes]
            alias = values.get(_ALIAS_NAME.lower(), [])
            found.append(f"{kinds[0]}={ldap.guid_text(values['objectguid'][0])}" if kinds else alias[0].decode("utf-8"))
        return found

    def member(self, format_name: str) -> str:
        """Return the distinguished name of a queue, an alias or a list. Raises Refused(ObjectNotFound)."""
        word, _, identifier = format_name.partition("=")
        if word.upper() in _MEMBERS:
            return self.identified(_MEMBERS[word.upper()], identifier)
        wanted = f"(&(objectClass={_ALIAS})({_ALIAS_NAME}={_octets(format_name.encode('utf-8'))}))"
        return self.line.one(self.root, [ldap.NAME], wanted, SUBTREE).name


def _contexts(line: Line) -> tuple[str, str]:
    values = line.one("", _CONTEXTS).values
    try:
        root, configuration = (values[each.lower()][0].decode("utf-8") for each in _CONTEXTS)
    except (LookupError, ValueError) as wrong:  # 3.1.6.12
        raise OSError("the directory does not name its contexts") from wrong
    return root, configuration


def _hosted(kind: str) -> Mapping[str, Json]:
    fields = ldap.FIELDS["host"] if kind == "queue_manager" else {}
    return {attribute: field for attribute, field in fields.items() if attribute != "identifier"}


def _queue(given: Attributes) -> str:
    return str(given["path_name"].partition("\\")[2])


def _octets(value: bytes) -> str:
    return "".join(f"\\{octet:02x}" for octet in value)


def _class(kind: str) -> str:
    found = f"(objectClass={ldap.CLASS[kind]})"
    return f"{found}(!(objectClass=computer))" if kind == "user" else found  # a computer is a user too


def _expression(kind: str, each: dict[str, Json]) -> str | None:
    """Return an expression as LDAP has it, None for one that is compared by the manager."""
    name, form = ldap.FIELDS[kind].get(each["attribute"], ("", ""))
    if form not in (_EQUAL if each["operator"] in ("EQUALS", "NOT-EQUALS") else _ORDERED):
        return None
    try:
        [value] = ldap.FORMS[form][0](each["value"])
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error):
        return None
    told = _OPERATORS[each["operator"]].format(name, _octets(value))
    return f"(|{told}(!({name}=*)))" if satisfies(ldap.DEFAULTS[kind], [each]) else told


def _sorted(of: str, found: Attributes) -> tuple[bool, Json]:
    value = found.get(of)
    return value is not None, value.lower() if isinstance(value, str) else value
