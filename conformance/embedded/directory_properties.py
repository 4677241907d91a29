"""Properties of directory objects by their numbers (MS-MQMQ 2.3.1 to 2.3.10): one table of attributes."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.directory_keys import BASE, ENHANCED
from conformance.embedded.directory_objects import CLASSES, PRIVACY_LEVELS, PROTOCOLS, SYSTEMS, TYPES, equals
from conformance.embedded.entities import MqError
from conformance.embedded.integration import succeeded
from conformance.embedded.management import variant_type
from conformance.embedded.queues import SETTABLE, checked
from conformance.embedded.security import sid_bytes, sid_text
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import (
    MQ_ERROR_DS_ERROR,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_ILLEGAL_PROPID,
    MQ_ERROR_PROPERTY_NOTALLOWED,
)
from conformance.spec.constants.properties import PROPERTIES

if TYPE_CHECKING:
    from conformance.embedded.directory_objects import Attributes
    from conformance.embedded.manager import Manager

Json = Any
_NULL: Final = ENUMERATIONS["VARENUM"].members["VT_NULL"]
_U16: Final = 0xFFFF

# A property is the attribute after its name. (WORD) is one of READINGS, and its argument. `-`: no value, and what
# is set is ignored. `+` behind an attribute: it is given when the object is created, and not set later.
_TABLE: Final[Mapping[str, tuple[str, str]]] = {
    "queue": (
        "PROPID_Q_",
        "INSTANCE=identifier+ TYPE=type PATHNAME=path_name+ JOURNAL=journaling QUOTA=quota BASEPRIORITY=base_priority"
        " JOURNAL_QUOTA=journal_quota LABEL=label CREATE_TIME=create_time+ MODIFY_TIME=modify_time+"
        " AUTHENTICATE=authentication PRIV_LEVEL=privacy_level TRANSACTION=transactional+ SCOPE=(constant)1"
        " QMID=(manager)path_name PARTITIONID=partition_id SEQNUM=sequence_number HASHKEY=hash_key"
        " LABEL_HASHKEY=label_hash_key FULL_PATH=full_path+ NAME_SUFFIX=name_suffix"
        " PATHNAME_DNS=qualified_path_name+ MULTICAST_ADDRESS=multicast_address ADS_PATH=directory_path+"
        " SECURITY=security OBJ_SECURITY=security SECURITY_INFORMATION=-",
    ),
    "queue_manager": (
        "PROPID_QM_",
        "SITE_ID=(first)site_identifier_list MACHINE_ID=identifier+ PATHNAME=computer_name ENCRYPTION_PK=(key)base"
        " ADDRESS=- CNS=connected_network_identifier_list OUTFRS=out_routing_server_identifier_list"
        " INFRS=in_routing_server_identifier_list SERVICE=(service) QUOTA=queue_manager_quota"
        " PARTITIONID=partition_id HASHKEY=hash_key SEQNUM=sequence_number JOURNAL_QUOTA=journal_quota"
        " MACHINE_TYPE=queue_manager_version CREATE_TIME=create_time+ MODIFY_TIME=modify_time+"
        " FOREIGN=foreign_system OS=operating_system_type FULL_PATH=full_path+ SITE_IDS=site_identifier_list"
        " OUTFRS_DN=(names)out_routing_server_identifier_list INFRS_DN=(names)in_routing_server_identifier_list"
        " SERVICE_ROUTING=routing_server SERVICE_DSSERVER=directory_server SERVICE_DEPCLIENTS=supporting_server"
        " ENCRYPTION_PK_BASE=(key)base ENCRYPTION_PK_ENHANCED=(key)enhanced PATHNAME_DNS=qualified_computer_name"
        " OBJ_SECURITY=security SECURITY_INFORMATION=- ENCRYPT_PKS=public_encryption_key_list"
        " SIGN_PKS=public_signing_key_list OWNER_SID=- GROUP_IN_CLUSTER=clustered SECURITY=security"
        " SIGN_PK=public_signing_key_list+ ENCRYPT_PK=public_encryption_key_list+ UPGRADE_DACL=-",
    ),
    "site": (
        "PROPID_S_",
        "PATHNAME=name SITEID=identifier+ GATES=site_gates PSC=primary_site_controller"
        " INTERVAL1=intra_site_replication_interval INTERVAL2=inter_site_replication_interval"
        " PARTITIONID=partition_id SEQNUM=sequence_number FULL_NAME=full_path+ NT4_STUB=migrated_from_msmq10"
        " FOREIGN=foreign_site DONOTHING=- SECURITY=security PSC_SIGNPK=public_signing_key_list"
        " SECURITY_INFORMATION=-",
    ),
    "connected_network": (
        "PROPID_CN_",
        "PROTOCOLID=protocol NAME=name GUID=identifier+ PARTITIONID=partition_id SEQNUM=sequence_number"
        " SECURITY=security",
    ),
    "enterprise": (
        "PROPID_E_",
        "NAME=name NAMESTYLE=weakened_security CSP_NAME=csp_name PECNAME=pec_name S_INTERVAL1=- S_INTERVAL2=-"
        " PARTITIONID=partition_id SEQNUM=sequence_number ID=identifier+ CRL=- CSP_TYPE=- ENCRYPT_ALG=- SIGN_ALG=-"
        " HASH_ALG=- LONG_LIVE=default_time_to_live VERSION=version SECURITY=security CIPHER_MODE=-",
    ),
    "user": (
        "PROPID_U_",
        "SID=security_identifier PARTITIONID=partition_id SEQNUM=sequence_number SIGN_CERT=certificates"
        " DIGEST=certificate_digest_list ID=identifier+",
    ),
    "routing_link": (
        "PROPID_L_",
        "NEIGHBOR1=site1_identifier NEIGHBOR2=site2_identifier COST=actual_cost PARTITIONID=partition_id"
        " SEQNUM=sequence_number ID=identifier+ GATES_DN=(names)site_gate_identifier_list"
        " NEIGHBOR1_DN=(name)site1_identifier NEIGHBOR2_DN=(name)site2_identifier DESCRIPTION=description"
        " FULL_PATH=full_path+ ACTUAL_COST=actual_cost GATES=site_gate_identifier_list",
    ),
    "settings": (
        "PROPID_SET_",
        "NAME=(constant)MSMQ_Settings SERVICE=service QM_ID=queue_manager_identifier FULL_PATH=full_path+ NT4=msmq10"
        " PARTITIONID=partition_id SITENAME=site_name SERVICE_ROUTING=routing_server"
        " SERVICE_DSSERVER=directory_server SERVICE_DEPCLIENTS=supporting_server OLDSERVICE=old_service",
    ),
    "mq_user": (
        "PROPID_MQU_",
        "SID=security_identifier SIGN_CERT=certificate DIGEST=certificate_digest_list ID=identifier+ SECURITY=security",
    ),
    "computer": (
        "PROPID_COM_",
        "FULL_PATH=full_path+ SAM_ACCOUNT=sam_account ACCOUNT_CONTROL=account_control DNS_HOSTNAME=dns_host_name"
        " SID=security_identifier SIGN_CERT=certificate DIGEST=certificate_digest_list ID=identifier+",
    ),
    "distribution_list": ("", ""),
}


def _rows(prefix: str, rows: str) -> Mapping[int, tuple[str, str]]:
    pairs = (row.split("=") for row in rows.split())
    return {PROPERTIES[prefix + name].value: (prefix + name, source) for name, source in pairs}


TABLE: Final[Mapping[str, Mapping[int, tuple[str, str]]]] = MappingProxyType(
    {kind: _rows(*rows) for kind, rows in _TABLE.items()}
)
"""For each class, the properties by number: the name of each, and where its value is."""

_PROVIDERS: Final = {"base": BASE, "enhanced": ENHANCED}
_SERVICES: Final = (
    ("remote_access_server", 0x10),
    ("routing_server", 0x01),
)
_CONTROLLERS: Final = {"BackupSiteController": 2, "PrimarySiteController": 4, "PrimaryEnterpriseController": 8}
CODES: Final[Mapping[str, Mapping[Json, int]]] = MappingProxyType(
    {
        "flag": {False: 0, True: 1},
        "level": {name: code for code, name in enumerate(PRIVACY_LEVELS)},
        "system": {name: code << 8 for code, name in enumerate(SYSTEMS)},
        "protocol": dict(zip(PROTOCOLS, (1, 3, 5), strict=True)),
    }
)
"""Numbers of the values of a type of attributes."""


class DirectoryProperties:
    """Gets and sets properties of objects in the manager's directory."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def get(self, kind: str, identifier: str, numbers: list[int]) -> list[Json]:
        """Return the variants of properties. Raises MqError for a property of another class, or no such object."""
        rows = [self.row(kind, number) for number in numbers]
        result, found = self.manager.integration.read(kind, equals("identifier", identifier))
        succeeded(result)
        return [self.variant(name, self.value(kind, name, source, found)) for name, source in rows]

    def row(self, kind: str, number: int) -> tuple[str, str]:
        """Return the name of a property and where its value is. Raises MqError."""
        if number not in TABLE[kind]:
            raise MqError(MQ_ERROR_ILLEGAL_PROPID)
        return TABLE[kind][number]

    def variant(self, name: str, value: Json) -> Json:
        """Return a value with the variant type of its property; VT_NULL for None."""
        return {"vt": _NULL} if value is None else {"vt": variant_type(name), "value": value}

    def value(self, kind: str, name: str, source: str, found: Attributes) -> Json:
        """Return the value of a property of an object, None if it has none."""
        if source == "-":
            return None
        if source.startswith("("):
            reading, _, argument = source[1:].partition(")")
            return READINGS[reading](self, found, argument)
        attribute = source.rstrip("+")
        value = found.get(attribute)
        return None if value is None else self.shown(name, CLASSES[kind][attribute], value)

    def shown(self, name: str, type_: str, value: Json) -> Json:
        """Return a value of an attribute as its property has it."""
        if type_ in CODES:
            return CODES[type_][value]
        if type_ == "sid":
            return base64.b64encode(sid_bytes(value)).decode("ascii")
        if type_ == "digests":
            return [_guid_of(each) for each in value]
        if variant_type(name) == variant_type("PROPID_S_INTERVAL1"):
            return min(value, _U16)
        return value

    # Values that are no attributes.

    def constant(self, found: Attributes, argument: str) -> Json:
        """Return a value that never differs."""
        return int(argument) if argument.isdigit() else argument.replace("_", " ")

    def first(self, found: Attributes, argument: str) -> Json:
        """Return the first of a list, None if it is empty."""
        return next(iter(found.get(argument, ())), None)

    def key(self, found: Attributes, argument: str) -> Json:
        """Return the public encryption key of a provider, None where no list has it."""
        try:
            decoded = self.manager.structures.decode("MQDSPUBLICKEYS", found.get("public_encryption_key_list", ""))
        except MqError:
            return None
        keys = decoded["a_public_keys"]
        return next((each["a_buf"] for each in keys if each["s_provider_name"] == _PROVIDERS[argument]), None)

    def service(self, found: Attributes, argument: str) -> Json:
        """Return the service of a computer: what controls a site before a routing server (2.3.2.9)."""
        if found.get("directory_server") and found.get("directory_server_type") in _CONTROLLERS:
            return _CONTROLLERS[found["directory_server_type"]]
        return sum(code for name, code in _SERVICES if found.get(name))

    def manager_of(self, found: Attributes, argument: str) -> Json:
        """Return the identifier of the manager that hosts a queue."""
        computer = found.get(argument, "").partition("\\")[0]
        if computer.lower() == self.manager.computer.lower():
            return self.manager.guid
        return self.manager.integration.read("queue_manager", equals("computer_name", computer))[1].get("identifier")

    def name(self, found: Attributes, argument: str) -> Json:
        """Return the distinguished name of a site."""
        return self._named("site", found.get(argument))

    def names(self, found: Attributes, argument: str) -> Json:
        """Return the distinguished names of managers, those that the directory finds."""
        named = [self._named("queue_manager", each) for each in found.get(argument, ())]
        return [each for each in named if each is not None]

    def _named(self, kind: str, identifier: Json) -> Json:
        return self.manager.integration.read(kind, equals("identifier", identifier))[1].get("full_path")

    # Setting.

    def set(self, kind: str, identifier: str, given: list[Json]) -> None:
        """Set properties. Raises MqError for one that cannot be set, or for a value that is not of its type."""
        attributes: Attributes = {}
        for each in given:
            name, source = self.row(kind, each["property"])
            if source != "-":
                attributes |= self.attribute(kind, name, source, each["value"])
        if attributes:
            succeeded(self.manager.integration.write(kind, identifier, attributes))

    def attribute(self, kind: str, name: str, source: str, variant: Json) -> Attributes:
        """Return the attribute that a variant gives. Raises MqError."""
        if source.startswith("(") or source.endswith("+"):
            raise MqError(MQ_ERROR_PROPERTY_NOTALLOWED)
        type_ = CLASSES[kind][source]
        if type_ == "text or null" and variant["vt"] == _NULL:
            return {source: None}
        value = self.taken(name, type_, variant.get("value"))
        if variant["vt"] != variant_type(name) or not TYPES[type_](value):
            raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
        if kind == "queue" and name in SETTABLE:
            checked({name: variant["value"]}, creating=False)
        return {source: value}

    def taken(self, name: str, type_: str, value: Json) -> Json:
        """Return a value of a property as its attribute has it; one of no type if it has no such value."""
        if type_ in CODES:
            known = {code: each for each, code in CODES[type_].items()}
            if name == "PROPID_E_NAMESTYLE":
                known[2] = False  # the default of the implementation
            return known.get(value) if type(value) is int else None
        if type_ == "sid":
            return _sid_of(value)
        if type_ == "digests":
            return [_digest_of(each) for each in value] if TYPES["guids"](value) else None
        return value


READINGS: Final[Mapping[str, Callable[[DirectoryProperties, Attributes, str], Json]]] = MappingProxyType(
    {
        "constant": lambda self, found, argument: self.constant(found, argument),
        "first": lambda self, found, argument: self.first(found, argument),
        "key": lambda self, found, argument: self.key(found, argument),
        "service": lambda self, found, argument: self.service(found, argument),
        "manager": lambda self, found, argument: self.manager_of(found, argument),
        "name": lambda self, found, argument: self.name(found, argument),
        "names": lambda self, found, argument: self.names(found, argument),
    }
)


def _sid_of(value: Json) -> Json:
    """Return the identifier of its bytes in base64, None for bytes of none."""
    if not TYPES["data"](value):
        return None
    data = base64.b64decode(value)
    try:
        found = sid_text(data, 0)
    except MqError:
        return None
    return found if sid_bytes(found) == data else None


def _guid_of(digest: str) -> str:
    try:
        return str(uuid.UUID(bytes_le=base64.b64decode(digest)))
    except ValueError:
        raise MqError(MQ_ERROR_DS_ERROR) from None


def _digest_of(guid: str) -> str:
    return base64.b64encode(uuid.UUID(guid).bytes_le).decode("ascii")
