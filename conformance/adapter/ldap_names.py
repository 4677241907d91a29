"""Names of the directory's classes and attributes over LDAP, where objects stand, and how values are written.

MS-MQDSSM 2.2.1, 2.2.5, 2.2.6, 3.1.6.1, 3.1.6.10, 3.1.6.11. The table is `ldap_names.json`.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

from conformance.adapter.directory_store import (
    FIRST_TIME,
    NOT_CONNECTED,
    SUCCESS,
    Attributes,
    Store,
    attributes_of,
    defaults_of,
    flaw,
)
from conformance.verdict import Json

ROOT: Final = "DC=example,DC=com"
CONFIGURATION: Final = f"CN=Configuration,{ROOT}"
CONTAINERS: Final = (
    *(ROOT, CONFIGURATION, *(f"{each},{ROOT}" for each in ("CN=Computers", "CN=Users", "OU=MSMQ Users"))),
    *(f"{each},{CONFIGURATION}" for each in ("CN=Sites", "CN=Services", "CN=MsmqServices,CN=Services")),
)
"""Places that are there without an object."""
CODES: Final[Mapping[str, int]] = MappingProxyType(
    {"Success": 0, "AttributeNotFound": 16, "ObjectNotFound": 32, "ObjectAlreadyExists": 68, "GenericError": 80}
)
"""The LDAP result code of a result (MS-MQDSSM 2.2.6); EndOfData and DirectoryNotConnected have none."""
COMPUTER: Final = "queue_manager of its computer"
"""The class of what a queue manager has at the object of its computer."""
_CONTROLLERS: Final = MappingProxyType(
    {"BackupSiteController": 2, "PrimarySiteController": 4, "PrimaryEnterpriseController": 8}
)
_NOTIFIES: Final = "non_ldap_capable_queue_manager_notification"
_CLUSTER: Final = "MSClusterVirtualServer"
_LONGEST, _CUT = 63, 55  # characters of a queue name, and of what is left of a longer one: MS-MQDSSM 3.1.6.1.2.5
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FREE: Final = base64.b64encode(struct.pack("<BBH4I", 1, 0, 0x8004, 0, 0, 0, 0)).decode()
"""A security descriptor that lets everybody do everything: each object has one (MS-MQDSSM 3.1.6.11)."""
Refer = Callable[[str, str], str]
"""Returns the DN for an identifier of a class, or the identifier for a DN. Raises ValueError where there is none."""


@dataclass(frozen=True, slots=True)
class Name:
    """An attribute over LDAP. syntax: of one value; `name` for a part of the DN, a class for the DN of an object."""

    attribute: str
    ldap: str
    syntax: str
    several: bool
    source: str


@cache
def table() -> Mapping[str, Mapping[str, Json]]:
    """Return the table: `class`, `path`, `source` and `names` of each class, COMPUTER among them."""
    text = resources.files("conformance.adapter").joinpath("ldap_names.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Mapping[str, Json]] = json.loads(text.replace("<root>", ROOT))
    return loaded


@cache
def names_of(kind: str) -> Mapping[str, Name]:
    """Return the names of a class by attribute."""
    rows = table()[kind]["names"]
    return MappingProxyType({row[0]: Name(row[0], row[1], row[2].strip("*"), "*" in row[2], row[3]) for row in rows})


@cache
def _known(kind: str) -> frozenset[str]:
    own = frozenset(names_of(kind)) if kind in table() else frozenset()
    return own | frozenset(names_of(COMPUTER)) if kind == "queue_manager" else own


@cache
def classes() -> Mapping[str, str]:
    """Return the class that each LDAP class stands for, in small letters."""
    return MappingProxyType({each["class"].lower(): kind for kind, each in table().items() if kind != COMPUTER})


@cache
def syntaxes() -> Mapping[str, str]:
    """Return the syntax of each LDAP name, in small letters."""
    own = dict.fromkeys(("objectclass", "cn", "name", "msmq-recipient-formatname"), "text")
    return MappingProxyType(
        own | {each.ldap.lower(): each.syntax for kind in table() for each in names_of(kind).values()}
    )


def nameless(kind: str, attributes: Iterable[str]) -> str | None:
    """Return for what LDAP has no name, in a few words; None for nothing."""
    if kind not in table():
        return f"LDAP has no class for {kind}"
    lost = next((each for each in attributes if each not in _known(kind)), None)
    return None if lost is None else f"LDAP has no attribute for {lost} of {kind}"


DERIVED: Final = frozenset({"full_path", "directory_path", "qualified_path_name", "name_suffix"})
"""Attributes that are what the names of an object make them."""
PLACES: Final = frozenset({"computer_name", "path_name", "name"})
"""Attributes of which a distinguished name is made, which nobody writes."""


def references(kind: str, given: Attributes) -> Iterator[tuple[str, str]]:
    """Yield class and identifier of the objects that attributes refer to by their DN."""
    for name in names_of(kind).values() if kind in table() else ():
        value = given.get(name.attribute)
        if name.syntax in table() and value:
            yield from ((name.syntax, str(each).lower()) for each in (value if name.several else [value]))


def elements(path: str) -> list[tuple[str, str]]:
    """Return the elements of a distinguished name, its own first: type and value. Raises ValueError."""
    found = []
    for element in re.findall(r"(?:[^,\\]|\\.)+", path, re.DOTALL):
        kind, equals, value = element.partition("=")
        if not equals:
            raise ValueError(f"this is no distinguished name: {path[:80]}")
        data = re.sub(
            rb"\\(?:([0-9A-Fa-f]{2})|(.))",
            lambda each: bytes.fromhex(each[1].decode()) if each[1] else each[2],
            re.sub(r"^ +|(?<!\\) +$", "", value).encode(),
            flags=re.DOTALL,
        )
        found.append((kind.strip().upper(), data.decode()))
    return found


def escaped(value: str) -> str:
    """Return a value as it stands in a distinguished name (RFC 4514)."""
    return re.sub(r'([,+"\\<>;=]|^[# ]| $)', r"\\\1", value).replace("\0", "\\00")


def canonical(path: str) -> str:
    """Return a distinguished name as the directory writes it. Raises ValueError."""
    return ",".join(f"{kind}={escaped(value)}" for kind, value in elements(path))


def above(path: str) -> str:
    """Return the distinguished name of what is over an object; empty over the root."""
    return re.sub(r"^(?:[^,\\]|\\.)*,?", "", path, flags=re.DOTALL)


def _hash(name: str) -> str:
    """Return the hash of a long queue name, eight digits (MS-MQDSSM 2.2.5): a CRC with the polynomial of its table."""
    value = 0
    for octet in name.lower().encode("utf-16-be"):
        value ^= octet
        for _ in range(8):
            value = value >> 1 ^ (0x9B619023 if value & 1 else 0)
    return f"{value:08x}"


def path_of(kind: str, given: Attributes, identifier: str) -> str:
    """Return the distinguished name of an object (MS-MQDSSM 2.2.1, 3.1.6.1.2.5)."""
    if kind == "queue":
        computer, _, name = str(given.get("path_name", f"{identifier}\\{identifier}")).partition("\\")
        values = [name if len(name) <= _LONGEST else f"{name[:_CUT]}-{_hash(name)}", computer]
    elif kind == "settings":
        values = [identifier, str(given.get("site_name") or "Default-First-Site-Name")]
    else:
        names = ("computer_name", "name", "sam_account")
        values = [str(next(filter(None, map(given.get, names)), identifier)).removesuffix("$")]
    return str(table()[kind]["path"]).format(*map(escaped, values))


def named(kind: str, path: str, suffix: str = "") -> dict[str, Json]:
    """Return the attributes that a distinguished name tells. suffix: the rest of a long queue name."""
    values = [value for _, value in elements(path)]
    if kind == "queue" and len(values) > 2:
        name = values[0][:_CUT] + suffix if len(values[0]) > _LONGEST and suffix else values[0]
        return {"path_name": f"{values[2]}\\{name}"}
    if kind == "queue_manager" and len(values) > 1:
        return {"computer_name": values[1]}
    return {"name": values[0]} if kind == "site" else {}


def completed(kind: str, given: Attributes, number: int) -> dict[str, Json]:
    """Return an object as LDAP tells it: with defaults, and what the directory sets. number: of the operation."""
    identifier = str(given.get("identifier") or uuid.uuid5(uuid.NAMESPACE_OID, f"{number}"))
    path = str(given.get("full_path") or path_of(kind, given, identifier))
    own: dict[str, Json] = {"identifier": identifier, "full_path": path, "directory_path": f"LDAP://{path}"}
    own |= {"security": _FREE, "version": 3 if given.get("old_directory") else 200}
    own |= {"create_time": FIRST_TIME + number, "modify_time": FIRST_TIME + number, **named(kind, path)}
    own |= {"qualified_computer_name": f"{own.get('computer_name', identifier)}.example.com".lower()}
    name = str(given.get("path_name") or own.get("path_name", "")).partition("\\")[2]
    own |= {"name_suffix": name[_CUT:] if len(name) > _LONGEST else ""}
    whole = {**defaults_of(kind), **own, **given}
    known = (_known(kind) | {"full_path"}) - ({"qualified_path_name", "csp_name"} - set(given))
    return {each: value for each, value in whole.items() if each in known}


def _sid(text: str) -> bytes:
    revision, authority, *parts = map(int, text.split("-")[1:])
    return struct.pack(f"<BB6s{len(parts)}I", revision, len(parts), authority.to_bytes(6, "big"), *parts)


def _sid_text(data: bytes) -> str:
    revision, count, authority = struct.unpack_from("<BB6s", data)
    parts = struct.unpack(f"<{count}I", data[8:])
    return "-".join(map(str, ("S", revision, int.from_bytes(authority, "big"), *parts)))


def _time(data: bytes) -> int:
    moment = datetime.strptime(data[:14].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(seconds=1)


def _truth(data: bytes) -> bool:
    if data.upper() not in (b"TRUE", b"FALSE"):
        raise ValueError("this is no Boolean")
    return data.upper() == b"TRUE"


def _guid(data: bytes) -> bytes:
    """Return the 16 bytes of a GUID, which may stand as its digits (MS-MQDSSM 3.1.6.19)."""
    return data if len(data) == 16 else uuid.UUID(data.decode()).bytes_le


_SYSTEMS: Final = ("Other", "Foreign", "Win95", "WinClient", "WinServer", "WinEnt")
_LEVELS: Final = ("None", "Optional", "Body")
_FORMS: Final[Mapping[str, tuple[Callable[[Json], bytes], Callable[[bytes], Json], Callable[[bytes], object]]]] = (
    MappingProxyType(
        {
            "text": (str.encode, bytes.decode, lambda data: data.decode().casefold()),
            "integer": (lambda value: b"%d" % value, int, int),
            "flag": (lambda value: b"%d" % value, lambda data: bool(int(data)), int),
            "boolean": (lambda value: b"TRUE" if value else b"FALSE", _truth, _truth),
            "time": (
                lambda value: (_EPOCH + timedelta(seconds=value)).strftime("%Y%m%d%H%M%S.0Z").encode(),
                _time,
                _time,
            ),
            "guid": (
                lambda value: uuid.UUID(value).bytes_le,
                lambda data: str(uuid.UUID(bytes_le=_guid(data))),
                _guid,
            ),
            "octets": (base64.b64decode, lambda data: base64.b64encode(data).decode(), bytes),
            "sid": (_sid, _sid_text, bytes),
            "system": (
                lambda value: b"%d" % (_SYSTEMS.index(value) << 8),
                lambda data: _SYSTEMS[int(data) >> 8],
                int,
            ),
            "privacy": (lambda value: b"%d" % _LEVELS.index(value), lambda data: _LEVELS[int(data)], int),
        }
    )
)
"""By syntax: the value written, read, and read for a comparison."""


def comparable(ldap: str, data: bytes) -> object:
    """Return a value so that equal ones are equal and numbers and times have their order. Raises ValueError."""
    syntax = syntaxes()[ldap.lower()]
    if syntax in ("name", "member") or syntax in table():
        return canonical(data.decode()).lower()
    form = {"service": "integer", "version": "integer", "provider": "text", "cluster": "text"}.get(syntax, syntax)
    return _FORMS[form][2](data)


def shown(kind: str, found: Attributes, refer: Refer) -> dict[str, list[bytes]]:
    """Return the LDAP attributes of an object, as far as its attributes have values. kind: COMPUTER too."""
    entry: dict[str, list[bytes]] = {}
    for name in names_of(kind).values():
        value = found.get(name.attribute)
        if value in (None, "", []) or (name.syntax not in _FORMS and name.syntax not in table()):
            continue
        values = value if name.several else [value]
        if name.syntax in table():
            entry[name.ldap] = [refer(name.syntax, each).encode() for each in values]
        else:
            entry[name.ldap] = [_FORMS[name.syntax][0](each) for each in values]
    if kind == "queue_manager":
        bits = _CONTROLLERS.get(str(found.get("directory_server_type")), 0)
        bits |= bool(found.get("routing_server")) | bool(found.get("remote_access_server")) << 4
        entry["mSMQServiceType"] = [b"%d" % bits]
    if kind == COMPUTER:
        host = str(found["computer_name"])
        entry["servicePrincipalName"] = [f"HOST/{host}".encode()]
        entry["servicePrincipalName"] += [f"{_CLUSTER}/{host}".encode()] if found.get("clustered") else []
    if kind == "enterprise":
        if "version" in found:
            entry["mSMQVersion"] = [b"%d" % found["version"]]
        if _NOTIFIES in found:
            entry["mSMQCSPName"] = [b"Y" if found[_NOTIFIES] else b"N"]
        elif "csp_name" in found:
            entry["mSMQCSPName"] = [str(found["csp_name"]).encode()]
    return entry


def taken(kind: str, ldap: str, values: Sequence[bytes], refer: Refer) -> dict[str, Json]:
    """Return the attributes for which the values of an LDAP attribute stand; what is empty for none.

    Raises KeyError for an attribute that the class does not have, and ValueError for values that it cannot have.
    """
    rows = [each for each in names_of(kind).values() if each.ldap.lower() == ldap.lower()]
    if not rows:
        raise KeyError(ldap)
    name, own = rows[0], kind.partition(" ")[0]
    if name.syntax == "cluster":
        return {name.attribute: any(each.decode().startswith(_CLUSTER) for each in values)}
    if name.syntax in ("name", "member", "time"):
        raise ValueError(f"the directory alone sets {ldap}")
    if name.several:
        return {name.attribute: [_read(name, own, each, refer) for each in values]}
    if not values or (not values[0] and name.syntax != "octets"):
        empty = "" if name.syntax in ("text", "octets") else None
        default = defaults_of(own).get(name.attribute, empty)
        if default is None and name.attribute != "multicast_address":
            raise ValueError(f"{ldap} has a value")
        return {name.attribute: default}
    if len(values) > 1:
        raise ValueError(f"{ldap} has one value")
    if name.syntax == "service":
        word = next((each for each, bit in _CONTROLLERS.items() if int(values[0]) & bit), "Standalone")
        return {"directory_server_type": word, "remote_access_server": bool(int(values[0]) & 0x10)}
    if name.syntax == "version":
        return {"version": int(values[0]), "old_directory": int(values[0]) == 3}
    if name.syntax == "provider":
        text = values[0].decode()
        return {_NOTIFIES: text == "Y"} if text in ("Y", "N") else {"csp_name": text}
    return {name.attribute: _read(name, own, values[0], refer)}


def expression(kind: str, ldap: str, data: bytes, refer: Refer) -> tuple[str, Json]:
    """Return the attribute and the value of it that a filter compares. Raises KeyError and ValueError as `taken`."""
    if ldap.lower() == "distinguishedname":
        return "full_path", canonical(data.decode())
    if syntaxes()[ldap.lower()] == "time":
        return "create_time" if ldap.lower() == "whencreated" else "modify_time", _time(data)
    attribute, value = next(iter(taken(kind, ldap, [data], refer).items()))
    return attribute, value[0] if isinstance(value, list) else value


def _read(name: Name, kind: str, data: bytes, refer: Refer) -> Json:
    if name.syntax in table():
        return refer(name.syntax, data.decode())
    value = _FORMS[name.syntax][1](data)
    unsigned = name.syntax == "integer" and "minimum" not in attributes_of(kind)[name.attribute]
    return value & 0xFFFFFFFF if unsigned else value  # whose sign an Integer of 32 bits has (MS-ADTS 3.1.1.2.2.2)


def refusal(store: Store, kind: str, given: Attributes) -> str | None:
    """Return why an object cannot be told over LDAP, in a few words; None if it can."""
    lost = nameless(kind, given)
    if lost is not None:
        return lost
    if {"csp_name", _NOTIFIES} <= set(given):
        return "LDAP has one attribute for csp_name and the notification"
    path = str(given.get("full_path") or path_of(kind, given, str(given.get("identifier", ""))))
    place = str(table()[kind]["path"]).rpartition("}")[2]
    if not path.lower().endswith(place.lower()):
        return f"LDAP has each {kind} below {place.removeprefix(',')}"
    beside = store.at(path)
    if beside is not None and beside[1]["identifier"] != given.get("identifier"):
        return "LDAP has one object of a distinguished name"
    derived = completed(kind, {**{each: given[each] for each in given if each not in DERIVED}, "full_path": path}, 0)
    places = named(kind, path), named(kind, path_of(kind, given, ""))
    if any(str(derived.get(each)).lower() != str(given[each]).lower() for each in DERIVED.intersection(given)) or any(
        each in given and str(places[1][each]).lower() != str(value).lower() for each, value in places[0].items()
    ):
        return "LDAP derives names and paths from the distinguished name"
    for other, identifier in references(kind, given):
        if next(store.selected(other, by_identifier(identifier)), None) is None:
            return "LDAP has references only to objects that are there"
    return None


def by_identifier(identifier: str) -> list[dict[str, Json]]:
    """Return the filter for the object of an identifier."""
    return [{"attribute": "identifier", "operator": "EQUALS", "value": identifier}]


def tells(method: str, kind: str | None, answer: Json) -> bool:
    """Return true if LDAP has a form for an answer to a request about a class."""
    if not isinstance(answer, Mapping) or answer.get("result") not in (*CODES, NOT_CONNECTED):
        return False
    if method not in ("read", "begin") or answer["result"] != SUCCESS:
        return method in ("read", "begin", "create", "write", "delete", "resolve") and "members" not in answer
    found = answer.get("object")
    return kind in table() and isinstance(found, Mapping) and "full_path" in found and flaw(str(kind), found) is None
