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
_TABLE: Final = """
queue_manager mSMQConfiguration computer_name=distinguishedName full_path=distinguishedName
 queue_manager_version=mSMQComputerTypeEx operating_system_type=mSMQOSType create_time=whenCreated:time
 modify_time=whenChanged:time queue_manager_quota=mSMQQuota journal_quota=mSMQJournalQuota foreign_system=mSMQForeign
 site_identifier_list=mSMQSites out_routing_server_identifier_list=mSMQOutRoutingServers:queue_manager
 in_routing_server_identifier_list=mSMQInRoutingServers:queue_manager routing_server=mSMQRoutingServices
 directory_server=mSMQDsServices directory_server_type=mSMQServiceType:server
 remote_access_server=mSMQServiceType:remote supporting_server=mSMQDependentClientServices
 public_encryption_key_list=mSMQEncryptKey security=nTSecurityDescriptor
host computer qualified_computer_name=dNSHostName public_signing_key_list=mSMQSignCertificates
 operating_system_version=operatingSystemVersion clustered=servicePrincipalName:cluster
queue mSMQQueue label=mSMQLabelEx create_time=whenCreated:time modify_time=whenChanged:time type=mSMQQueueType
 path_name=distinguishedName qualified_path_name=distinguishedName full_path=distinguishedName
 directory_path=distinguishedName name_suffix=mSMQQueueNameExt journaling=mSMQJournal quota=mSMQQueueQuota
 journal_quota=mSMQQueueJournalQuota authentication=mSMQAuthenticate privacy_level=mSMQPrivacyLevel
 transactional=mSMQTransactional multicast_address=MSMQ-MulticastAddress security=nTSecurityDescriptor
 base_priority=mSMQBasePriority
enterprise mSMQEnterpriseSettings weakened_security=mSMQNameStyle csp_name=mSMQCSPName:provider
 non_ldap_capable_queue_manager_notification=mSMQCSPName:yes default_time_to_live=mSMQLongLived
 old_directory=mSMQVersion:old version=mSMQVersion security=nTSecurityDescriptor
site site name=cn intra_site_replication_interval=mSMQInterval1 inter_site_replication_interval=mSMQInterval2
 full_path=distinguishedName foreign_site=mSMQSiteForeign migrated_from_msmq10=mSMQNt4Stub:bit
 security=nTSecurityDescriptor
routing_link mSMQSiteLink description=description full_path=distinguishedName actual_cost=mSMQCost
 site1_identifier=mSMQSite1:site site2_identifier=mSMQSite2:site site_gate_identifier_list=mSMQSiteGates:queue_manager
user user security_identifier=objectSid certificate_digest_list=mSMQDigests certificates=mSMQSignCertificates
settings mSMQSettings queue_manager_identifier=mSMQQMID service=mSMQServices routing_server=mSMQRoutingService
 directory_server=mSMQDsService supporting_server=mSMQDependentClientService msmq10=mSMQNt4Flags:bit
 site_name=mSMQSiteNameEx full_path=distinguishedName
mq_user mSMQMigratedUser security_identifier=mSMQUserSid certificate=mSMQSignCertificatesMig
 certificate_digest_list=mSMQDigestsMig security=nTSecurityDescriptor
computer computer full_path=distinguishedName sam_account=sAMAccountName account_control=userAccountControl
 dns_host_name=dNSHostName security_identifier=objectSid certificate=mSMQSignCertificates
 certificate_digest_list=mSMQDigests
distribution_list group members=member:members"""
_ROWS: Final = [row.replace("\n", "").split() for row in re.split(r"\n(?! )", _TABLE.strip())]
CLASS: Final[Mapping[str, str]] = {kind: name for kind, name, *_ in _ROWS}
"""The LDAP class of each class that has one; `host`: what the computer of a queue manager has of its attributes."""
SERVICES: Final = ("routing_server", "remote_access_server", "directory_server", "directory_server_type")
"""Attributes that mSMQServiceType has together."""
REFERENCES: Final = frozenset({"queue_manager", "site", "members"})
"""Forms of distinguished names of other objects: those of a class, or the members of a list."""


def _field(kind: str, field: str) -> tuple[str, tuple[str, str]]:
    attribute, name, form = re.fullmatch(r"(\w+)=([\w-]+):?(\w*)", field).groups()  # type: ignore[union-attr]
    return attribute, (name, form or ("name" if name == NAME else _TYPES[kind][attribute]))


_TYPES: Final = {**CLASSES, "host": CLASSES["queue_manager"]}
FIELDS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    kind: dict([("identifier", ("objectGUID", "guid")), *(_field(kind, each) for each in fields)])
    for kind, _, *fields in _ROWS
}
"""The LDAP name of each attribute and its form: one of FORMS, REFERENCES, or `name`."""

# Values.


def _text(value: str | None) -> list[bytes]:
    return [value.encode("utf-8")] if value else []


def _texts(values: list[bytes]) -> str:
    return values[0].decode("utf-8")


def _number(value: int) -> list[bytes]:
    return [b"%d" % value]


def _count(values: list[bytes]) -> int:
    return int(values[0]) & INFINITE  # a directory may hold it with a sign


def _time(value: int) -> list[bytes]:
    return _text(datetime.fromtimestamp(value, UTC).strftime("%Y%m%d%H%M%S.0Z"))


def _seconds(values: list[bytes]) -> int:
    return int(datetime.strptime(values[0][:14].decode("ascii") + "Z", "%Y%m%d%H%M%S%z").timestamp())


def _sid(value: str) -> list[bytes]:
    _, revision, authority, *subs = value.split("-")
    head = bytes([int(revision), len(subs)]) + int(authority).to_bytes(6, "big")
    return [head + struct.pack(f"<{len(subs)}I", *map(int, subs))]


def _sid_text(values: list[bytes]) -> str:
    head, subs = values[0][:8], values[0][8:]
    numbers = head[0], int.from_bytes(head[2:], "big"), *struct.unpack(f"<{head[1]}I", subs)
    return "-".join(map(str, ("S", *numbers)))


def guid(value: str) -> bytes:
    """Return a GUID as the directory stores it."""
    return uuid.UUID(value).bytes_le


def guid_text(value: bytes) -> str:
    """Return a GUID that the directory stores. Raises ValueError."""
    return str(uuid.UUID(bytes_le=value))


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _server(values: list[bytes]) -> str:
    return next((SERVERS[bit] for bit in (1, 2, 3) if int(values[0]) & 1 << bit), SERVERS[0])


def _provider(values: list[bytes]) -> str | None:
    return None if values[0] in (b"Y", b"N") else _texts(values)


_CLUSTER: Final = b"MSClusterVirtualServer/"
FORMS: Final[Mapping[str, tuple[Callable[[Json], list[bytes]], Callable[[list[bytes]], Json]]]] = {
    **dict.fromkeys(("text", "text or null"), (_text, _texts)),
    **dict.fromkeys(("number", "service", "cost"), (_number, _count)),
    "priority": (_number, lambda values: int(values[0])),
    "time": (_time, _seconds),
    "guid": (lambda value: [guid(value)], lambda values: guid_text(values[0])),
    "guids": (lambda value: list(map(guid, value)), lambda values: list(map(guid_text, values))),
    "sid": (_sid, _sid_text),
    "flag": (lambda value: [b"TRUE" if value else b"FALSE"], lambda values: values[0] == b"TRUE"),
    "bit": (_number, lambda values: int(values[0]) != 0),
    "data": (lambda value: [raw] if (raw := base64.b64decode(value)) else [], lambda values: _base64(values[0])),
    "digests": (lambda value: list(map(base64.b64decode, value)), lambda values: list(map(_base64, values))),
    "level": (lambda value: _number(PRIVACY_LEVELS.index(value)), lambda values: PRIVACY_LEVELS[int(values[0])]),
    "system": (lambda value: _number(SYSTEMS.index(value) << 8), lambda values: SYSTEMS[int(values[0]) >> 8]),
    "yes": (lambda value: [b"Y" if value else b"N"], lambda values: {b"Y": True, b"N": False}.get(values[0])),
    "provider": (_text, _provider),
    "old": (lambda value: _number(3 if value else 200), lambda values: values == [b"3"]),
    "cluster": (lambda value: [_CLUSTER] if value else [], lambda values: any(_CLUSTER in each for each in values)),
    "server": (lambda value: [], _server),
    "remote": (lambda value: [], lambda values: int(values[0]) & 0x10 != 0),
}
"""The conversions of each form to values, and from the values, one at least; None: the attribute is not there."""
_UNSET: Final = {"flag": False, "text": "", "text or null": None, "guids": [], "data": "", "digests": [], "texts": []}
_UNSET_OF: Final = {
    "privacy_level": "Optional",
    "operating_system_type": "Other",
    "type": NULL_GUID,
    "base_priority": 0,
    "queue_manager_quota": 0x00100000,
    "journal_quota": INFINITE,
    "quota": INFINITE,
    "intra_site_replication_interval": 2,
    "inter_site_replication_interval": 10,
}
DEFAULTS: Final[Mapping[str, Attributes]] = {
    kind: {
        attribute: _UNSET_OF[attribute] if attribute in _UNSET_OF else _UNSET[type_]
        for attribute, type_ in _TYPES[kind].items()
        if FIELDS[kind].get(attribute, (NAME,))[0] not in (NAME, "cn", "nTSecurityDescriptor")
        and kind != "enterprise"
        and (attribute in _UNSET_OF or type_ in _UNSET)
    }
    for kind in FIELDS
}
"""The values of attributes that are not set (3.1.6.11). An enterprise has none, so that its attribute is not found."""


def names(kind: str, attributes: Iterable[str]) -> list[str]:
    """Return the LDAP names that attributes need."""
    needed = {"path_name": "mSMQQueueNameExt", "qualified_path_name": "mSMQQueueNameExt"}
    needed |= {"directory_server_type": "mSMQDsServices"}
    found = [(FIELDS[kind][each][0], needed.get(each, "")) for each in attributes if each in FIELDS[kind]]
    return [each for each in dict.fromkeys(name for pair in found for name in pair) if each]


def attributes_of(kind: str, values: Values) -> Attributes:
    """Return the attributes of values, without references. Raises ValueError, LookupError or struct.error."""
    found: Attributes = {}
    for attribute, (name, form) in FIELDS[kind].items():
        if form in FORMS and (present := values.get(name.lower())):
            found[attribute] = FORMS[form][1](present)
    if not found.get("directory_server"):
        found.pop("directory_server_type", None)
    return {attribute: value for attribute, value in found.items() if value is not None}


def values_of(kind: str, given: Attributes) -> dict[str, list[bytes]]:
    """Return the values of attributes, without references. Raises ValueError or struct.error."""
    fields = [(*FIELDS[kind][attribute], given[attribute]) for attribute in given if attribute in FIELDS[kind]]
    of_directory = ("objectGUID", "whenCreated", "whenChanged", "mSMQServiceType")
    return {name: FORMS[form][0](value) for name, form, value in fields if form in FORMS and name not in of_directory}


def service(given: Attributes) -> list[bytes]:
    """Return mSMQServiceType of SERVICES (3.1.6.1.1.5)."""
    bits = int(given.get("routing_server", False)) | int(given.get("remote_access_server", False)) << 4
    number = SERVERS.index(given.get("directory_server_type", SERVERS[0])) if given.get("directory_server") else 0
    return _number(bits | (1 << number if number else 0))


# Distinguished names.

_POLYNOMIAL: Final = 0x9B619023
_LONGEST, _HEAD = 63, 55


def distinguished(*elements: str, under: str) -> str:
    """Return the distinguished name of common names, the first one innermost, under another name."""
    escaped = (re.sub(r'[,+"\\<>;=/#\x00-\x1f]|^ | $', lambda at: f"\\{ord(at[0]):02x}", each) for each in elements)
    return ",".join([*(f"CN={each}" for each in escaped), under])


def elements(name: str) -> list[str]:
    """Return the values of the elements of a distinguished name."""
    found = (each.partition("=")[2] for each in re.split(r"(?<!\\),", name))
    return [re.sub(r"(?:\\[0-9A-Fa-f]{2})+|\\.", _plain, each) for each in found]


def _plain(at: re.Match[str]) -> str:
    return bytes.fromhex(at[0].replace("\\", "")).decode("utf-8") if len(at[0]) > 2 else at[0][1]


def above(name: str, by: int = 1) -> str:
    """Return the distinguished name without its first elements."""
    return re.split(r"(?<!\\),", name, maxsplit=by)[-1]


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
    return (name, "") if len(name) <= _LONGEST else (f"{name[:_HEAD]}-{hashed(name)}", name[_HEAD:])


def path_names(entry: str, suffix: str, host: str) -> Attributes:
    """Return what the distinguished name of a queue tells: its paths (3.1.6.11.2). host: empty for none."""
    name, _, computer, *_ = elements(entry)
    name = name[:_HEAD] + suffix if len(name) > _LONGEST else name
    full = f"{host}\\{name}".lower() if host else ""
    paths = {"path_name": f"{computer}\\{name}".lower(), "qualified_path_name": full}
    return {**paths, "directory_path": f"LDAP://{entry}"}
