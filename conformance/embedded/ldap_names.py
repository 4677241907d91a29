"""Names and values of the directory's objects in LDAP (MS-MQDSSM 2.2.1, 2.2.5, 3.1.6.1, 3.1.6.10 and 3.1.6.11)."""

from __future__ import annotations

import base64
import re
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from conformance.embedded.directory_objects import CLASSES, PRIVACY_LEVELS, SERVERS, SYSTEMS, Attributes
from conformance.embedded.entities import INFINITE, NULL_GUID

Json = Any
Values = Mapping[str, list[bytes]]
NAME: Final = "distinguishedName"
SERVICES: Final = ("routing_server", "remote_access_server", "directory_server", "directory_server_type")
"""Attributes that one LDAP attribute has together."""
_TABLE: Final[Mapping[str, tuple[str, str]]] = {
    "queue_manager": (
        "mSMQConfiguration",
        "computer_name=distinguishedName full_path=distinguishedName queue_manager_version=mSMQComputerTypeEx"
        " operating_system_type=mSMQOSType create_time=whenCreated:time modify_time=whenChanged:time"
        " queue_manager_quota=mSMQQuota journal_quota=mSMQJournalQuota foreign_system=mSMQForeign"
        " site_identifier_list=mSMQSites out_routing_server_identifier_list=mSMQOutRoutingServers:queue_manager"
        " in_routing_server_identifier_list=mSMQInRoutingServers:queue_manager routing_server=mSMQRoutingServices"
        " directory_server=mSMQDsServices directory_server_type=mSMQServiceType:server"
        " remote_access_server=mSMQServiceType:remote supporting_server=mSMQDependentClientServices"
        " public_encryption_key_list=mSMQEncryptKey security=nTSecurityDescriptor"
        " qualified_computer_name=^dNSHostName public_signing_key_list=^mSMQSignCertificates"
        " operating_system_version=^operatingSystemVersion clustered=^servicePrincipalName:cluster",
    ),
    "queue": (
        "mSMQQueue",
        "label=mSMQLabelEx create_time=whenCreated:time modify_time=whenChanged:time type=mSMQQueueType"
        " path_name=distinguishedName qualified_path_name=distinguishedName full_path=distinguishedName"
        " directory_path=distinguishedName name_suffix=mSMQQueueNameExt journaling=mSMQJournal quota=mSMQQueueQuota"
        " journal_quota=mSMQQueueJournalQuota authentication=mSMQAuthenticate privacy_level=mSMQPrivacyLevel"
        " transactional=mSMQTransactional multicast_address=MSMQ-MulticastAddress security=nTSecurityDescriptor"
        " base_priority=mSMQBasePriority",
    ),
    "enterprise": (
        "mSMQEnterpriseSettings",
        "weakened_security=mSMQNameStyle csp_name=mSMQCSPName:provider default_time_to_live=mSMQLongLived"
        " non_ldap_capable_queue_manager_notification=mSMQCSPName:yes old_directory=mSMQVersion:old"
        " version=mSMQVersion security=nTSecurityDescriptor",
    ),
    "site": (
        "site",
        "name=cn intra_site_replication_interval=mSMQInterval1 inter_site_replication_interval=mSMQInterval2"
        " full_path=distinguishedName foreign_site=mSMQSiteForeign migrated_from_msmq10=mSMQNt4Stub:bit"
        " security=nTSecurityDescriptor",
    ),
    "routing_link": (
        "mSMQSiteLink",
        "description=description full_path=distinguishedName actual_cost=mSMQCost site1_identifier=mSMQSite1:site"
        " site2_identifier=mSMQSite2:site site_gate_identifier_list=mSMQSiteGates:queue_manager",
    ),
    "user": (
        "user",
        "security_identifier=objectSid certificate_digest_list=mSMQDigests certificates=mSMQSignCertificates",
    ),
    "settings": (
        "mSMQSettings",
        "queue_manager_identifier=mSMQQMID service=mSMQServices routing_server=mSMQRoutingService"
        " directory_server=mSMQDsService supporting_server=mSMQDependentClientService msmq10=mSMQNt4Flags:bit"
        " site_name=mSMQSiteNameEx full_path=distinguishedName",
    ),
    "mq_user": (
        "mSMQMigratedUser",
        "security_identifier=mSMQUserSid certificate=mSMQSignCertificatesMig certificate_digest_list=mSMQDigestsMig"
        " security=nTSecurityDescriptor",
    ),
    "computer": (
        "computer",
        "full_path=distinguishedName sam_account=sAMAccountName account_control=userAccountControl"
        " dns_host_name=dNSHostName security_identifier=objectSid certificate=mSMQSignCertificates"
        " certificate_digest_list=mSMQDigests",
    ),
    "distribution_list": ("group", "members=member:members"),
}
CLASS: Final[Mapping[str, str]] = {kind: name for kind, (name, _) in _TABLE.items()}
"""The LDAP class of each class that has one."""


def _fields(kind: str, text: str) -> dict[str, tuple[str, str]]:
    fields = {"identifier": ("objectGUID", "guid")}
    for each in text.split():
        attribute, _, place = each.partition("=")
        name, _, form = place.partition(":")
        fields[attribute] = (name, form or ("name" if name == NAME else CLASSES[kind][attribute]))
    return fields


FIELDS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    kind: _fields(kind, text) for kind, (_, text) in _TABLE.items()
}
"""The LDAP name of each attribute, with ^ if its computer has it, and its form: one of FORMS, `name`, REFERENCES."""
REFERENCES: Final = frozenset({"queue_manager", "site", "members"})
"""Forms of distinguished names of other objects: those of a class, or the members of a list."""
_OF_DIRECTORY: Final = frozenset({"identifier", "create_time", "modify_time"})


# Values.


def _text(value: str) -> list[bytes]:
    return [value.encode("utf-8")] if value else []


def _number(value: int) -> list[bytes]:
    return [str(value).encode("ascii")]


def _moment(value: int) -> list[bytes]:
    return [datetime.fromtimestamp(value, UTC).strftime("%Y%m%d%H%M%S.0Z").encode("ascii")]


def _seconds(values: list[bytes]) -> int:
    return int(datetime.strptime(values[0][:14].decode("ascii") + "+0000", "%Y%m%d%H%M%S%z").timestamp())


def _sid(value: str) -> list[bytes]:
    _, revision, authority, *subs = value.split("-")
    head = struct.pack(">BB", int(revision), len(subs)) + int(authority).to_bytes(6, "big")
    return [head + struct.pack(f"<{len(subs)}I", *map(int, subs))]


def _sid_text(values: list[bytes]) -> str:
    revision, count, authority = values[0][0], values[0][1], int.from_bytes(values[0][2:8], "big")
    return "-".join(map(str, ("S", revision, authority, *struct.unpack(f"<{count}I", values[0][8:]))))


def guid_bytes(value: str) -> bytes:
    """Return a GUID as the directory stores it."""
    return uuid.UUID(value).bytes_le


def guid_text(value: bytes) -> str:
    """Return a GUID that the directory stores. Raises ValueError."""
    return str(uuid.UUID(bytes_le=value))


def _data(value: str) -> list[bytes]:
    return [raw] if (raw := base64.b64decode(value)) else []


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _whole(values: list[bytes]) -> int:
    return int(values[0])


def _words(*words: str, step: int = 1) -> tuple[Callable[[str], list[bytes]], Callable[[list[bytes]], Json]]:
    return lambda value: _number(words.index(value) * step), lambda values: words[_whole(values) // step]


def _server(values: list[bytes]) -> str:
    bits = _whole(values)
    return next((SERVERS[number] for number in (1, 2, 3) if bits & 1 << number), SERVERS[0])


_YES: Final = {True: b"Y", False: b"N"}
_COUNT: Final = (_number, lambda values: _whole(values) & INFINITE)  # a directory may hold them with a sign
_SIGNED: Final = (_number, _whole)
_STRING: Final = (_text, lambda values: values[0].decode("utf-8"))
FORMS: Final[Mapping[str, tuple[Callable[[Json], list[bytes]], Callable[[list[bytes]], Json]]]] = {
    "text": _STRING,
    "text or null": (lambda value: _text(value or ""), _STRING[1]),
    "guid": (lambda value: [guid_bytes(value)], lambda values: guid_text(values[0])),
    "guids": (lambda value: list(map(guid_bytes, value)), lambda values: list(map(guid_text, values))),
    "sid": (_sid, _sid_text),
    "flag": (lambda value: [b"TRUE" if value else b"FALSE"], lambda values: values[0] == b"TRUE"),
    "number": _COUNT,
    "service": _COUNT,
    "cost": _COUNT,
    "priority": _SIGNED,
    "data": (_data, lambda values: _base64(values[0])),
    "digests": (lambda value: [base64.b64decode(each) for each in value], lambda values: list(map(_base64, values))),
    "level": _words(*PRIVACY_LEVELS),
    "system": _words(*SYSTEMS, step=0x100),
    "time": (_moment, _seconds),
    "bit": (lambda value: _number(int(value)), lambda values: _whole(values) != 0),
    "yes": (lambda value: [_YES[value]], lambda values: {b"Y": True, b"N": False}.get(values[0])),
    "provider": (_text, lambda values: None if values[0] in _YES.values() else _STRING[1](values)),
    "old": (lambda value: [b"3" if value else b"200"], lambda values: values == [b"3"]),
    "cluster": (
        lambda value: [b"MSClusterVirtualServer/cluster"] if value else [],
        lambda values: any(b"MSClusterVirtualServer" in each for each in values),
    ),
    "server": (lambda value: [], _server),
    "remote": (lambda value: [], lambda values: _whole(values) & 0x10 != 0),
}
"""The conversions of each form to values and from values, of which there is one at least; None: it is not there."""

_UNSET: Final[Mapping[str, Json]] = {"flag": False, "text": "", "guids": [], "data": "", "digests": [], "members": []}
_UNSET_OF: Final[Mapping[str, Json]] = {
    "multicast_address": None,
    "privacy_level": "Optional",
    "operating_system_type": "Other",
    "type": NULL_GUID,
    "queue_manager_quota": 0x00100000,
    "journal_quota": INFINITE,
    "quota": INFINITE,
    "base_priority": 0,
    "intra_site_replication_interval": 2,
    "inter_site_replication_interval": 10,
}
DEFAULTS: Final[Mapping[str, Attributes]] = {
    kind: {
        name: _UNSET_OF.get(name, _UNSET.get(type_))
        for name, type_ in CLASSES[kind].items()
        if name in FIELDS[kind]
        and kind != "enterprise"
        and name not in ("security", "name")
        and FIELDS[kind][name][1] != "name"
        and (name in _UNSET_OF or type_ in _UNSET)
    }
    for kind in FIELDS
}
"""What is read where nothing is set (3.1.6.11): nothing of an enterprise, so that its attribute is not found."""


def names(kind: str, attributes: Iterable[str], computer: bool = False) -> list[str]:
    """Return the LDAP names of attributes of an object, or of those that its computer has."""
    found: dict[str, None] = {}
    for each in attributes:
        name = FIELDS[kind].get(each, ("", ""))[0]
        if name and computer == name.startswith("^"):
            found[name.lstrip("^")] = None
            if each in ("path_name", "qualified_path_name"):
                found["mSMQQueueNameExt"] = None
            if each == "directory_server_type":
                found["mSMQDsServices"] = None
    return list(found)


def attributes_of(kind: str, values: Values, computer: bool = False) -> Attributes:
    """Return attributes of values of an object, or of its computer. Raises ValueError or struct.error."""
    found: Attributes = {}
    for attribute, (name, form) in FIELDS[kind].items():
        present = values.get(name.lstrip("^").lower())
        if present and form in FORMS and computer == name.startswith("^"):
            value = FORMS[form][1](present)
            if value is not None:
                found[attribute] = value
    if not found.get("directory_server"):
        found.pop("directory_server_type", None)
    return found


def values_of(kind: str, given: Attributes, computer: bool = False) -> dict[str, list[bytes]]:
    """Return values of attributes that are no references. Raises ValueError or struct.error."""
    values = {}
    for attribute, value in given.items():
        name, form = FIELDS[kind].get(attribute, (NAME, ""))
        if form in FORMS and attribute not in _OF_DIRECTORY and computer == name.startswith("^"):
            values[name.lstrip("^")] = FORMS[form][0](value)
    values.pop("mSMQServiceType", None)
    return values


def service(given: Attributes) -> list[bytes]:
    """Return mSMQServiceType of SERVICES (3.1.6.1.1.5)."""
    bits = int(given.get("routing_server", False)) | 0x10 * int(given.get("remote_access_server", False))
    number = SERVERS.index(given.get("directory_server_type", SERVERS[0]))
    return _number(bits | (1 << number if number and given.get("directory_server") else 0))


# Distinguished names.

_SPECIAL: Final = re.compile(r'[,+"\\<>;=/#\x00-\x1f]|^ | $')
_ELEMENT: Final = re.compile(r"(?:[^,\\]|\\.)+", re.DOTALL)
_ESCAPED: Final = re.compile(r"(?:\\[0-9A-Fa-f]{2})+|\\.", re.DOTALL)
_POLYNOMIAL: Final = 0x9B619023
_LONGEST, _HEAD = 63, 55


def distinguished(*elements: str, under: str) -> str:
    """Return the distinguished name of common names, the first one innermost, under another name."""
    escaped = (_SPECIAL.sub(lambda match: f"\\{ord(match[0]):02x}", each) for each in elements)
    return ",".join([*(f"CN={each}" for each in escaped), under])


def elements(name: str) -> list[str]:
    """Return the values of the elements of a distinguished name."""
    return [_ESCAPED.sub(_plain, each.partition("=")[2]) for each in _ELEMENT.findall(name)]


def above(name: str, by: int = 1) -> str:
    """Return the distinguished name without its first elements."""
    return ",".join(_ELEMENT.findall(name)[by:])


def _plain(match: re.Match[str]) -> str:
    digits = match[0].replace("\\", "")
    return bytes.fromhex(digits).decode("utf-8") if len(match[0]) > 2 else digits


def hashed(name: str) -> str:
    """Return the hash of a queue's name, 8 digits (2.2.5)."""
    value = 0
    for octet in name.lower().encode("utf-16-be", "surrogatepass"):
        index = value & 0xFF ^ octet
        for _ in range(8):
            index = index >> 1 ^ (_POLYNOMIAL if index & 1 else 0)
        value = value >> 8 ^ index
    return f"{value:08x}"


def split(name: str) -> tuple[str, str]:
    """Return the common name of a queue, and what of its name is beside it (3.1.6.1.2.5)."""
    if len(name) <= _LONGEST:
        return name, ""
    return f"{name[:_HEAD]}-{hashed(name)}", name[_HEAD:]


def path_names(entry: str, suffix: str, host: str | None) -> Attributes:
    """Return what the distinguished name of a queue tells: its paths (3.1.6.11.2). host: that of its computer."""
    name, _, computer, *_ = elements(entry)
    if len(name) > _LONGEST:
        name = name[:_HEAD] + suffix
    full = f"{host}\\{name}".lower() if host else ""
    return {
        "path_name": f"{computer}\\{name}".lower(),
        "qualified_path_name": full,
        "full_path": entry,
        "directory_path": f"LDAP://{entry}",
    }
