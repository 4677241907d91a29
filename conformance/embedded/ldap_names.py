"""Names and values of the directory's objects in LDAP (MS-MQDSSM 2.2.1, 2.2.5, 3.1.6.1, 3.1.6.10 and 3.1.6.11)."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from conformance.embedded.directory_objects import CLASSES, PRIVACY_LEVELS, SERVERS, SYSTEMS, Attributes
from conformance.embedded.entities import INFINITE, NULL_GUID

Json = Any
Values = Mapping[str, list[bytes]]
NAME: Final = "distinguishedName"
_TABLE: Final = """
queue_manager mSMQConfiguration queue_manager_version=mSMQComputerTypeEx operating_system_type=mSMQOSType
 queue_manager_quota=mSMQQuota journal_quota=mSMQJournalQuota foreign_system=mSMQForeign site_identifier_list=mSMQSites
 out_routing_server_identifier_list=mSMQOutRoutingServers:queue_manager
 in_routing_server_identifier_list=mSMQInRoutingServers:queue_manager routing_server=mSMQRoutingServices
 directory_server=mSMQDsServices directory_server_type=mSMQServiceType:server
 remote_access_server=mSMQServiceType:remote supporting_server=mSMQDependentClientServices
 public_encryption_key_list=mSMQEncryptKey qualified_computer_name=dNSHostName
 public_signing_key_list=mSMQSignCertificates operating_system_version=operatingSystemVersion
 clustered=servicePrincipalName:cluster
queue mSMQQueue label=mSMQLabelEx type=mSMQQueueType name_suffix=mSMQQueueNameExt journaling=mSMQJournal
 quota=mSMQQueueQuota journal_quota=mSMQQueueJournalQuota authentication=mSMQAuthenticate privacy_level=mSMQPrivacyLevel
 transactional=mSMQTransactional multicast_address=MSMQ-MulticastAddress base_priority=mSMQBasePriority
enterprise mSMQEnterpriseSettings weakened_security=mSMQNameStyle csp_name=mSMQCSPName:provider
 non_ldap_capable_queue_manager_notification=mSMQCSPName:yes default_time_to_live=mSMQLongLived
 old_directory=mSMQVersion:old version=mSMQVersion
site site name=cn intra_site_replication_interval=mSMQInterval1 inter_site_replication_interval=mSMQInterval2
 foreign_site=mSMQSiteForeign migrated_from_msmq10=mSMQNt4Stub:bit
routing_link mSMQSiteLink description=description actual_cost=mSMQCost site1_identifier=mSMQSite1:site
 site2_identifier=mSMQSite2:site site_gate_identifier_list=mSMQSiteGates:queue_manager
user user security_identifier=objectSid certificate_digest_list=mSMQDigests certificates=mSMQSignCertificates
settings mSMQSettings queue_manager_identifier=mSMQQMID service=mSMQServices routing_server=mSMQRoutingService
 directory_server=mSMQDsService supporting_server=mSMQDependentClientService msmq10=mSMQNt4Flags:bit
 site_name=mSMQSiteNameEx
mq_user mSMQMigratedUser security_identifier=mSMQUserSid certificate=mSMQSignCertificatesMig
 certificate_digest_list=mSMQDigestsMig
computer computer sam_account=sAMAccountName account_control=userAccountControl dns_host_name=dNSHostName
 security_identifier=objectSid certificate=mSMQSignCertificates certificate_digest_list=mSMQDigests
distribution_list group"""
_ROWS: Final = [row.replace("\n", "").split() for row in re.split(r"\n(?! )", _TABLE.strip())]
_NAMED: Final = ("full_path", "computer_name", "path_name", "qualified_path_name", "directory_path")
_COMMON: Final = {
    "identifier": ("objectGUID", "guid"),
    "create_time": ("whenCreated", "time"),
    "modify_time": ("whenChanged", "time"),
    "security": ("nTSecurityDescriptor", "security"),
    **dict.fromkeys(_NAMED, (NAME, "name")),
}
CLASS: Final[Mapping[str, str]] = {kind: name for kind, name, *_ in _ROWS}
"""The LDAP class of each class that has one."""
HOSTED: Final = frozenset({"dNSHostName", "mSMQSignCertificates", "operatingSystemVersion", "servicePrincipalName"})
"""LDAP names of the attributes of a queue manager that are those of its computer."""
SERVICES: Final = ("routing_server", "remote_access_server", "directory_server", "directory_server_type")
"""Attributes that mSMQServiceType has together."""


def _fields(kind: str, fields: list[str]) -> dict[str, tuple[str, str]]:
    found = {attribute: _COMMON[attribute] for attribute in _COMMON if attribute in CLASSES[kind]}
    for attribute, _, field in (each.partition("=") for each in fields):
        name, _, form = field.partition(":")
        found[attribute] = name, form or CLASSES[kind][attribute]
    return found


FIELDS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {kind: _fields(kind, fields) for kind, _, *fields in _ROWS}
"""The LDAP name of each attribute and its form: one of FORMS, the class of an object that is named, or `name`."""


def _sid(value: str) -> bytes:
    _, revision, authority, *subs = value.split("-")
    head = bytes([int(revision), len(subs)]) + int(authority).to_bytes(6, "big")
    return head + struct.pack(f"<{len(subs)}I", *map(int, subs))


def _sid_text(value: bytes) -> str:
    numbers = value[0], int.from_bytes(value[2:8], "big"), *struct.unpack(f"<{value[1]}I", value[8:])
    return "-".join(map(str, ("S", *numbers)))


_number: Final = b"%d".__mod__
_CLUSTER: Final = b"MSClusterVirtualServer/"
FORMS: Final[Mapping[str, tuple[Callable[[Json], bytes] | None, Callable[[bytes], Json]]]] = {
    **dict.fromkeys(("text", "text or null"), (str.encode, bytes.decode)),
    **dict.fromkeys(("number", "service", "cost"), (_number, lambda value: int(value) & INFINITE)),
    **dict.fromkeys(("guid", "guids"), (lambda value: UUID(value).bytes_le, lambda value: str(UUID(bytes_le=value)))),
    **dict.fromkeys(
        ("data", "security", "digests"), (base64.b64decode, lambda value: base64.b64encode(value).decode())
    ),
    "priority": (_number, int),
    "time": (None, lambda value: int(datetime.strptime(f"{value[:14].decode()}Z", "%Y%m%d%H%M%S%z").timestamp())),
    "sid": (_sid, _sid_text),
    "flag": (lambda value: b"TRUE" if value else b"FALSE", lambda value: value == b"TRUE"),
    "bit": (_number, lambda value: int(value) != 0),
    "level": (lambda value: _number(PRIVACY_LEVELS.index(value)), lambda value: PRIVACY_LEVELS[int(value)]),
    "system": (lambda value: _number(SYSTEMS.index(value) << 8), lambda value: SYSTEMS[int(value) >> 8]),
    "yes": (lambda value: b"Y" if value else b"N", {b"Y": True, b"N": False}.get),
    "provider": (str.encode, lambda value: None if value in (b"Y", b"N") else value.decode("utf-8")),
    "old": (lambda value: _number(3 if value else 200), lambda value: value == b"3"),
    "cluster": (lambda value: _CLUSTER if value else b"", lambda value: _CLUSTER in value),
    "server": (None, lambda value: next((SERVERS[bit] for bit in (1, 2, 3) if int(value) & 1 << bit), SERVERS[0])),
    "remote": (None, lambda value: int(value) & 0x10 != 0),
}
"""The conversions of each form to a value, None for what is not written so, and from one; None: it is not there."""
_ALL: Final[Mapping[str, Callable[[list[Json]], Json]]] = {"guids": list, "digests": list, "cluster": any}
WRITTEN: Final = frozenset(form for form, (written, _) in FORMS.items() if written is not None)
_UNSET: Final[Mapping[str, Json]] = (
    {"flag": False, "text": "", "text or null": None, "guids": [], "data": "", "digests": []}
    | {"privacy_level": "Optional", "operating_system_type": "Other", "type": NULL_GUID, "base_priority": 0}
    | {"queue_manager_quota": 0x00100000, "journal_quota": INFINITE, "quota": INFINITE}
    | {"intra_site_replication_interval": 2, "inter_site_replication_interval": 10}
)
DEFAULTS: Final[Mapping[str, Attributes]] = {
    kind: {
        attribute: _UNSET[each]
        for attribute, (name, form) in FIELDS[kind].items()
        for each in (CLASSES[kind][attribute], attribute)
        if each in _UNSET and form not in ("name", "security") and name != "cn" and kind != "enterprise"
    }
    for kind in FIELDS
}
"""The values of attributes that are not set (3.1.6.11). An enterprise has none, so that its attribute is not found."""


def names(kind: str, attributes: Collection[str]) -> list[str]:
    """Return the LDAP names that attributes need."""
    found = [FIELDS[kind][each][0] for each in attributes if each in FIELDS[kind]]
    found += ["mSMQDsServices" for each in attributes if each == "directory_server_type"]
    found += ["mSMQQueueNameExt" for each in attributes if each in ("path_name", "qualified_path_name")]
    return list(dict.fromkeys(found))


def attributes_of(kind: str, values: Values) -> Attributes:
    """Return the attributes of values, without references. Raises ValueError, LookupError or struct.error."""
    found: Attributes = {}
    for attribute, (name, form) in FIELDS[kind].items():
        if form in FORMS and (present := values.get(name.lower())):
            several = list(map(FORMS[form][1], present))
            found[attribute] = _ALL[form](several) if form in _ALL else several[0]
    if not found.get("directory_server"):
        found.pop("directory_server_type", None)
    return {attribute: value for attribute, value in found.items() if value is not None}


def values_of(form: str, given: Json) -> list[bytes]:
    """Return the values of an attribute, none for one that is empty. Raises ValueError or struct.error."""
    written = FORMS[form][0] or bytes
    told = given if isinstance(given, list) else [given]
    return [value for each in told if each is not None and (value := written(each))]


def service(given: Attributes) -> list[bytes]:
    """Return mSMQServiceType of SERVICES (3.1.6.1.1.5)."""
    bits = int(given.get("routing_server", False)) | int(given.get("remote_access_server", False)) << 4
    number = SERVERS.index(given.get("directory_server_type", SERVERS[0])) if given.get("directory_server") else 0
    return [_number(bits | (1 << number if number else 0))]


# Distinguished names.

_POLYNOMIAL, _LONGEST, _HEAD = 0x9B619023, 63, 55


def distinguished(*elements: str, under: str) -> str:
    """Return the distinguished name of common names, the first one innermost, under another name."""
    escaped = (re.sub(r'[,+"\\<>;=/#\x00-\x1f]|^ | $', lambda at: f"\\{ord(at[0]):02x}", each) for each in elements)
    return ",".join([*(f"CN={each}" for each in escaped), under])


def elements(name: str) -> list[str]:
    """Return the values of the elements of a distinguished name."""
    found = (each.partition("=")[2] for each in re.split(r"(?<!\\),", name))
    plain = re.compile(r"((?:\\[0-9A-Fa-f]{2})+)|\\(.)")
    return [plain.sub(lambda at: at[2] or bytes.fromhex(at[1].replace("\\", "")).decode(), each) for each in found]


def above(name: str, by: int = 1) -> str:
    """Return the distinguished name without its first elements."""
    return re.split(r"(?<!\\),", name, maxsplit=by)[-1]


def hashed(name: str) -> str:
    """Return the hash of a queue's name, 8 digits (2.2.5)."""
    value = 0
    for octet in name.lower().encode("utf-16-be", "surrogatepass"):
        value ^= octet
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return f"{value:08x}"


def split(path_name: str) -> tuple[tuple[str, ...], str]:
    """Return the common names of a queue below Computers, and what of its name is beside them (3.1.6.1.2.5)."""
    computer, _, name = path_name.partition("\\")
    if len(name) <= _LONGEST:
        return (name, "msmq", computer), ""
    return (f"{name[:_HEAD]}-{hashed(name)}", "msmq", computer), name[_HEAD:]


def path_names(entry: str, suffix: str, host: str) -> Attributes:
    """Return what the distinguished name of a queue tells: its paths (3.1.6.11.2). host: empty for none."""
    name, _, computer, *_ = elements(entry)
    name = name[:_HEAD] + suffix if len(name) > _LONGEST else name
    full = f"{host}\\{name}".lower() if host else ""
    path = f"{computer}\\{name}".lower()
    return {"path_name": path, "qualified_path_name": full, "directory_path": f"LDAP://{entry}"}
