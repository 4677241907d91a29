"""The honest queue manager of `directory_manager`, which asks its directory over LDAP, and variants that are not."""

from __future__ import annotations

import math
import uuid
from typing import Any

import ldap3
from directory_manager import AWAY, Directed
from ldap3.core.exceptions import LDAPException
from ldap3.utils.conv import escape_filter_chars

from conformance.adapter import ldap_names as names
from conformance.adapter.directory_store import defaults_of

RESULTS = {code: result for result, code in names.CODES.items()}
FIXED = ("objectClass", "distinguishedName", "cn", "name")


class OverLdap(Directed):
    """Does what the documents say."""

    def do_hello(self, **asked: Any) -> dict[str, Any]:
        return super().do_hello(**asked) | {"protocol": "1.4", "directory_protocols": ["ldap", "json-rpc"]}

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        server = ldap3.Server(self.address, get_info=ldap3.NONE, connect_timeout=math.ceil(self.wait))
        try:
            with ldap3.Connection(
                server, auto_bind=True, receive_timeout=math.ceil(self.wait), check_names=False
            ) as self.directory:
                params["kind"] = params.pop("class", "")
                answer: dict[str, Any] = getattr(self, f"over_{method}")(**params)
                return answer
        except LDAPException:
            return AWAY

    def entries(
        self, wanted: str, base: str = names.ROOT, scope: str = "SUBTREE", told: tuple[str, ...] = ("*",)
    ) -> list[Any]:
        """Raises KeyError for a result that is none of success."""
        self.directory.search(base, wanted, search_scope=scope, attributes=told)
        if self.directory.result["result"] not in (0, 32):
            raise KeyError(RESULTS.get(self.directory.result["result"], "GenericError"))
        return [each for each in self.directory.response if each["type"] == "searchResEntry"]

    def refer(self, kind: str, value: str) -> str:
        if "=" in value:
            (entry,) = self.entries("(objectClass=*)", value, "BASE")
            return str(uuid.UUID(bytes_le=entry["raw_attributes"]["objectGUID"][0]))
        return str(self.at(kind, value)["dn"])

    def at(self, kind: str, identifier: str) -> Any:
        (entry,) = self.entries(self.filter(kind, by(identifier)))
        return entry

    def filter(self, kind: str, wanted: Any) -> str:
        parts = [f"(objectClass={names.table()[kind]['class']})"]
        for each in wanted or ():
            if each["attribute"] == "identifier" and each["operator"] == "EQUALS":
                parts.append(f"(objectGUID={escape_filter_chars(uuid.UUID(each['value']).bytes_le)})")
        return f"(&{''.join(parts)})"

    def object(self, kind: str, entry: Any, whole: bool) -> dict[str, Any]:
        found = {**defaults_of(kind), "full_path": entry["dn"], **names.named(kind, entry["dn"])}
        rows = [(kind, entry)]
        if kind == "queue_manager" and whole:
            rows += [(names.COMPUTER, each) for each in self.entries("(cn=*)", names.above(entry["dn"]), "BASE")]
        for own, row in rows:
            for name, values in row["raw_attributes"].items():
                if name.startswith("when"):
                    found |= dict([names.expression(own, name, values[0], self.refer)])
                elif name not in FIXED:
                    found |= names.taken(own, name, values, self.refer)
        return found

    def over_read(self, kind: str, filter: Any = None, attributes: Any = None) -> dict[str, Any]:
        known = names.names_of(kind)
        compared = [each["attribute"] for each in filter or ()]
        told = tuple(known[each].ldap for each in (*(attributes or ()), *compared) if each in known)
        told = ("*",) if attributes is None else told
        try:
            found = self.entries(self.filter(kind, filter), told=told)
        except KeyError as result:
            return {"result": result.args[0]}
        rows = [self.object(kind, each, attributes is None) for each in found]
        for each in rows:
            if all(self.fits(each, one) for one in filter or ()):
                lacks = any(name not in each for name in attributes or ())
                return {"result": "AttributeNotFound"} if lacks else {"result": "Success", "object": each}
        return {"result": "ObjectNotFound"}

    def over_create(self, kind: str, object: dict[str, Any]) -> dict[str, Any]:
        path = names.path_of(kind, object, str(uuid.uuid4()))
        given = {name: values for name, values in names.shown(kind, object, self.refer).items() if name not in FIXED}
        self.directory.add(path, str(names.table()[kind]["class"]), given)
        answer = {"result": RESULTS.get(self.directory.result["result"], "GenericError")}
        if answer["result"] == "Success":
            (entry,) = self.entries("(objectClass=*)", path, "BASE")
            answer["identifier"] = str(uuid.UUID(bytes_le=entry["raw_attributes"]["objectGUID"][0]))
        return answer

    def over_write(self, kind: str, identifier: str, object: dict[str, Any]) -> dict[str, Any]:
        given = names.shown(kind, object, self.refer)
        given.pop("mSMQServiceType", None)
        return self.changed(kind, identifier, {name: [(ldap3.MODIFY_REPLACE, given[name])] for name in given})

    def changed(self, kind: str, identifier: str, change: dict[str, Any]) -> dict[str, Any]:
        try:
            path = self.at(kind, identifier)["dn"]
        except ValueError:
            return {"result": "ObjectNotFound"}
        self.directory.modify(path, change) if change else self.directory.delete(path)
        return {"result": RESULTS.get(self.directory.result["result"], "GenericError")}

    def over_delete(self, kind: str, identifier: str) -> dict[str, Any]:
        return self.changed(kind, identifier, {})

    def over_changed(self, **more: Any) -> dict[str, Any]:
        return {"result": "Success"}

    def initialize(self, provisioning: bool) -> bool:
        self.gates = {}
        return super().initialize(provisioning)


def by(identifier: str) -> list[dict[str, Any]]:
    return [{"attribute": "identifier", "operator": "EQUALS", "value": identifier}]


class AsksForEachSite(OverLdap):
    """Has the first of all sites for each."""

    def filter(self, kind: str, wanted: Any) -> str:
        return super().filter(kind, None if kind == "site" else wanted)


class WritesNothing(OverLdap):
    """Says that it has written."""

    def over_write(self, **more: Any) -> dict[str, Any]:
        return {"result": "Success"}


class MistakesItsResults(OverLdap):
    """Takes an entry that is there for one that is not."""

    def over_create(self, **params: Any) -> dict[str, Any]:
        answer = super().over_create(**params)
        return {"result": "ObjectNotFound"} if answer["result"] == "ObjectAlreadyExists" else answer


class KeepsNoNumbers(OverLdap):
    """Reads integers without their value."""

    def object(self, kind: str, entry: Any, whole: bool) -> dict[str, Any]:
        found = super().object(kind, entry, whole)
        return {name: 0 if type(value) is int else value for name, value in found.items()}
