"""Objects of the directory: the attributes of each class and their types, filters, and what a queue is there.

The classes are those of MS-MQDMPR 3.1.1 and of MS-MQMQ 2.1.5 and 2.3.8 to 2.3.10.
"""

from __future__ import annotations

import binascii
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from conformance.embedded.entities import INFINITE

Json = Any
Attributes = dict[str, Json]
Filter = list[dict[str, Json]]
_GUID: Final = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_SID: Final = re.compile(r"S-1(-(0|[1-9][0-9]{0,14})){2,16}\Z")
PRIVACY_LEVELS: Final = ("None", "Optional", "Body")
SYSTEMS: Final = ("Other", "Foreign", "Win95", "WinClient", "WinServer", "WinEnt")
SERVERS: Final = ("Standalone", "BackupSiteController", "PrimarySiteController", "PrimaryEnterpriseController")
PROTOCOLS: Final = ("ip", "ipx", "foreign")
SERVICES: Final = (0, 1, 2, 4, 8)


def _number(least: int, most: int) -> Callable[[Json], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _data(value: Json) -> bool:
    try:
        return isinstance(value, str) and binascii.a2b_base64(value, strict_mode=True) is not None
    except ValueError:
        return False


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _matching(pattern: re.Pattern[str]) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, str) and pattern.match(value) is not None


def _several(fits: Callable[[Json], bool]) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _one_of(*values: Json) -> Callable[[Json], bool]:
    return lambda value: type(value) is type(values[0]) and value in values


TYPES: Final[Mapping[str, Callable[[Json], bool]]] = MappingProxyType(
    {
        "text": _text,
        "text or null": lambda value: value is None or isinstance(value, str),
        "texts": _several(_text),
        "guid": _matching(_GUID),
        "guids": _several(_matching(_GUID)),
        "sid": _matching(_SID),
        "flag": _one_of(False, True),
        "number": _number(0, INFINITE),
        "priority": _number(-32768, 32767),
        "cost": _number(1, 999_999),
        "service": _one_of(*SERVICES),
        "data": _data,
        "digests": _several(_data),
        "level": _one_of(*PRIVACY_LEVELS),
        "system": _one_of(*SYSTEMS),
        "server": _one_of(*SERVERS),
        "protocol": _one_of(*PROTOCOLS),
    }
)
_BY_TYPE: Final[Mapping[str, Mapping[str, str]]] = {
    "queue_manager": {
        "guid": "identifier partition_id",
        "text": "computer_name qualified_computer_name queue_manager_version operating_system_version full_path",
        "system": "operating_system_type",
        "number": "create_time modify_time queue_manager_quota journal_quota hash_key",
        "flag": "foreign_system directory_server remote_access_server routing_server supporting_server clustered",
        "guids": "site_identifier_list connected_network_identifier_list out_routing_server_identifier_list"
        " in_routing_server_identifier_list",
        "server": "directory_server_type",
        "data": "public_encryption_key_list public_signing_key_list security sequence_number",
    },
    "queue": {
        "guid": "identifier type partition_id",
        "text": "label path_name qualified_path_name full_path directory_path name_suffix",
        "number": "create_time modify_time quota journal_quota label_hash_key hash_key",
        "flag": "journaling authentication transactional",
        "level": "privacy_level",
        "text or null": "multicast_address",
        "priority": "base_priority",
        "data": "security sequence_number",
    },
    "enterprise": {
        "guid": "identifier partition_id",
        "text": "name csp_name pec_name",
        "flag": "weakened_security non_ldap_capable_queue_manager_notification old_directory",
        "number": "default_time_to_live version",
        "data": "security sequence_number",
    },
    "site": {
        "guid": "identifier partition_id",
        "text": "name primary_site_controller full_path",
        "number": "intra_site_replication_interval inter_site_replication_interval",
        "flag": "foreign_site migrated_from_msmq10",
        "guids": "site_gates",
        "data": "public_signing_key_list security sequence_number",
    },
    "routing_link": {
        "guid": "identifier site1_identifier site2_identifier partition_id",
        "text": "description full_path",
        "cost": "actual_cost",
        "guids": "site_gate_identifier_list",
        "data": "sequence_number",
    },
    "connected_network": {
        "guid": "identifier partition_id",
        "text": "name",
        "data": "security sequence_number",
        "protocol": "protocol",
    },
    "user": {
        "guid": "identifier partition_id",
        "sid": "security_identifier",
        "digests": "certificate_digest_list",
        "data": "certificates sequence_number",
    },
    "distribution_list": {"guid": "identifier", "texts": "members"},
    "settings": {
        "guid": "identifier queue_manager_identifier partition_id",
        "service": "service old_service",
        "text": "full_path site_name",
        "flag": "msmq10 routing_server directory_server supporting_server",
    },
    "mq_user": {
        "guid": "identifier",
        "sid": "security_identifier",
        "data": "certificate security",
        "digests": "certificate_digest_list",
    },
    "computer": {
        "guid": "identifier",
        "text": "full_path sam_account dns_host_name",
        "number": "account_control",
        "sid": "security_identifier",
        "data": "certificate",
        "digests": "certificate_digest_list",
    },
}
CLASSES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        kind: {name: type_ for type_, names in by_type.items() for name in names.split()}
        for kind, by_type in _BY_TYPE.items()
    }
)
"""The attributes of each class, and the type of each, one of TYPES."""

# Attributes of a queue and the properties that hold them, with the values of those that are not the same in both.
QUEUE: Final[Mapping[str, tuple[str, tuple[Json, ...]]]] = MappingProxyType(
    {
        "identifier": ("PROPID_Q_INSTANCE", ()),
        "label": ("PROPID_Q_LABEL", ()),
        "create_time": ("PROPID_Q_CREATE_TIME", ()),
        "modify_time": ("PROPID_Q_MODIFY_TIME", ()),
        "type": ("PROPID_Q_TYPE", ()),
        "journaling": ("PROPID_Q_JOURNAL", (False, True)),
        "quota": ("PROPID_Q_QUOTA", ()),
        "journal_quota": ("PROPID_Q_JOURNAL_QUOTA", ()),
        "authentication": ("PROPID_Q_AUTHENTICATE", (False, True)),
        "privacy_level": ("PROPID_Q_PRIV_LEVEL", PRIVACY_LEVELS),
        "transactional": ("PROPID_Q_TRANSACTION", (False, True)),
        "multicast_address": ("PROPID_Q_MULTICAST_ADDRESS", ()),
        "security": ("descriptor", ()),
        "base_priority": ("PROPID_Q_BASEPRIORITY", ()),
        "full_path": ("full_path", ()),
        "directory_path": ("directory_path", ()),
    }
)


def attributes_of(properties: Mapping[str, Json]) -> Attributes:
    """Return the attributes that properties of a queue are."""
    return {
        name: values[properties[stored]] if values else properties[stored]
        for name, (stored, values) in QUEUE.items()
        if stored in properties
    }


def properties_of(attributes: Attributes) -> dict[str, Json]:
    """Return the properties that attributes of a queue are; an identifier is not changed."""
    return {
        stored: values.index(attributes[name]) if values else attributes[name]
        for name, (stored, values) in QUEUE.items()
        if name in attributes and name != "identifier"
    }


def fits(kind: str, attributes: Json) -> bool:
    """Return true for attributes of this class whose values have their types."""
    known = CLASSES[kind]
    return isinstance(attributes, dict) and all(
        name in known and TYPES[known[name]](value) for name, value in attributes.items()
    )


_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType(
    {
        "EQUALS": operator.eq,
        "NOT-EQUALS": operator.ne,
        "LESS-THAN": operator.lt,
        "GREATER-THAN": operator.gt,
        "LESS-THAN-OR-EQUAL": operator.le,
        "GREATER-THAN-OR-EQUAL": operator.ge,
    }
)
OPERATORS: Final = frozenset(_ORDERS)


def equals(attribute: str, value: Json) -> Filter:
    """Return the filter that an attribute has a value."""
    return [{"attribute": attribute, "operator": "EQUALS", "value": value}]


def satisfies(attributes: Attributes, wanted: Filter | None) -> bool:
    """Return true if every expression holds; none holds for an attribute that is absent. Texts have no case."""
    for each in wanted or ():
        value, other = _plain(attributes.get(each["attribute"])), _plain(each["value"])
        try:
            if value is None or not _ORDERS[each["operator"]](value, other):
                return False
        except TypeError:
            return False
    return True


def only(attributes: Attributes, names: Iterable[str] | None) -> Attributes:
    """Return the attributes of these names, all for None."""
    return dict(attributes) if names is None else {name: attributes[name] for name in names if name in attributes}


def _plain(value: Json) -> Json:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.lower() if isinstance(value, str) else value
