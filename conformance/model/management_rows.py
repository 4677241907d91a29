"""Table of the management properties: MS-MQMQ 2.3.11 and 2.3.12, with the type and the texts that each may have.

A value is as the adapter protocol writes a PROPVARIANT: a variant type with what it selects.
"""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.properties import PROPERTIES
from conformance.verdict import Json

MACHINE: Final = "PROPID_MGMT_MSMQ_"
QUEUE: Final = "PROPID_MGMT_QUEUE_"
Numbered: TypeAlias = tuple[int, int, int]
"""A SEQUENCE_INFO, MS-MQMQ 2.2.5.1: SeqID, SeqNo, PrevNo."""

_TYPES: Final[Mapping[str, int]] = ENUMERATIONS["VARENUM"].members
_VECTOR: Final = _TYPES["VT_VECTOR"]
_NOTHING: Final = frozenset({_TYPES["VT_EMPTY"], _TYPES["VT_NULL"]})
_SEQUENCE: Final = struct.Struct("<qII")
_GUID: Final = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_SOURCE_ITEMS: Final = ("VT_LPWSTR", "VT_CLSID", "VT_UI8", "VT_UI4", "VT_I4", "VT_UI4")
_HISTORY_ITEMS: Final = ("VT_UI4", "VT_I4", "VT_I4")


def no_value(given: Json) -> bool:
    """Tell whether a variant holds nothing: the property has no value, or the driver leaves it out."""
    return isinstance(given, dict) and given.get("vt") in _NOTHING


def left_out(given: Json) -> bool:
    """Tell whether the driver says nothing of a property: VT_EMPTY, unlike VT_NULL, is nothing a manager tells."""
    return given is None or (isinstance(given, dict) and given.get("vt") == _TYPES["VT_EMPTY"])


def value_of(given: Json) -> Json:
    """Return what a variant holds; None for nothing."""
    return given.get("value") if isinstance(given, dict) else None


def sequence_of(given: Json) -> Numbered | None:
    """Return the SEQUENCE_INFO in a blob; None for no value and for anything else."""
    value = value_of(given)
    if not isinstance(value, str):
        return None
    try:
        raw = binascii.a2b_base64(value)
    except binascii.Error:
        return None
    return _SEQUENCE.unpack(raw) if len(raw) == _SEQUENCE.size else None


def _number(least: int, most: int) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _decimal(least: int, most: int) -> Callable[[Json], bool]:
    """Return the test of a number of 64 bits, which is written as text."""

    def fits(value: Json) -> bool:
        plain = isinstance(value, str) and 0 < len(value) <= 20 and value.removeprefix("-").isascii()
        return plain and str(value).removeprefix("-").isdigit() and least <= int(str(value)) <= most

    return fits


_HOLDS: Final[Mapping[str, Callable[[Json], bool]]] = {
    "VT_I4": _number(-0x80000000, 0x7FFFFFFF),
    "VT_UI4": _number(0, 0xFFFFFFFF),
    "VT_I8": _decimal(-(1 << 63), (1 << 63) - 1),
    "VT_UI8": _decimal(0, (1 << 64) - 1),
    "VT_LPWSTR": lambda value: isinstance(value, str),
    "VT_CLSID": lambda value: isinstance(value, str) and _GUID.match(value) is not None,
}

_TYPED: Final = {
    **{name: (_TYPES[name], holds) for name, holds in _HOLDS.items()},
    **{f"{name} | VT_VECTOR": (_TYPES[name] | _VECTOR, holds) for name, holds in _HOLDS.items()},
}
"""The number of each type, and the test of a value or of each element."""


def is_of(given: Json, vt: str) -> bool:
    """Tell whether a variant has this type, and what it holds too."""
    number, holds = _TYPED[vt]
    if not isinstance(given, dict) or given.get("vt") != number:
        return False
    value = given.get("value")
    if not number & _VECTOR:
        return holds(value)
    return isinstance(value, list) and all(map(holds, value))


def _is_sequence(given: Json) -> bool:
    return isinstance(given, dict) and given.get("vt") == _TYPES["VT_BLOB"] and sequence_of(given) is not None


def columns(given: Json) -> list[Json]:
    """Return the vectors in a vector of variants; none for anything else."""
    value = value_of(given)
    return list(value) if isinstance(value, list) else []


def _is_table(given: Json, items: tuple[str, ...], more: int = 0) -> bool:
    """Tell whether a variant is a vector of variants with a vector of each of these types, all of one length."""
    if not isinstance(given, dict) or given.get("vt") != _TYPES["VT_VARIANT"] | _VECTOR:
        return False
    found = columns(given)
    typed = len(found) == len(items) + more and all(
        is_of(one, f"{vt} | VT_VECTOR") for one, vt in zip(found, items, strict=False)
    )
    return typed and len({len(columns(one)) for one in found}) == 1


def _is_source_info(given: Json) -> bool:
    return _is_table(given, _SOURCE_ITEMS)


def _is_history(given: Json) -> bool:
    if not _is_table(given, _HISTORY_ITEMS, more=1):
        return False
    addresses = columns(given)[-1]
    nested = isinstance(addresses, dict) and addresses.get("vt") == _TYPES["VT_VARIANT"] | _VECTOR
    return nested and all(is_of(each, "VT_LPWSTR | VT_VECTOR") for each in columns(addresses))


@dataclass(frozen=True, slots=True)
class ManagementRow:
    """One property.

    number: its identifier. of_type: tells whether a variant has its type. vt: that type in words. shown: the
    requirement on number and type. values: each text that it may have, with its requirement. among: the requirement
    that it has no other text.
    """

    name: str
    number: int
    vt: str
    of_type: Callable[[Json], bool]
    shown: str
    values: Mapping[str, str] = field(default_factory=dict)
    among: str | None = None


def _row(name: str, of_type: Callable[[Json], bool] | None = None, **values: str) -> ManagementRow:
    entry = PROPERTIES[name]
    vt, section = entry.variant_type, f"MQMQ-{entry.section}"
    return ManagementRow(
        name,
        entry.value,
        vt,
        of_type or (lambda given: is_of(given, vt)),
        requirement_id(f"{section}.{name.lower().replace('_', '-')}"),
        MappingProxyType(
            {text: requirement_id(f"{section}.{word.replace('_', '-')}") for word, text in values.items()}
        ),
        requirement_id(f"{section}.values") if values else None,
    )


_ROWS: Final = (
    _row(f"{MACHINE}ACTIVEQUEUES"),
    _row(f"{MACHINE}PRIVATEQ"),
    _row(f"{MACHINE}DSSERVER"),
    _row(f"{MACHINE}CONNECTED", msmq_connected="CONNECTED", msmq_disconnected="DISCONNECTED"),
    _row(f"{MACHINE}TYPE"),
    _row(f"{MACHINE}BYTES_IN_ALL_QUEUES"),
    _row(f"{QUEUE}PATHNAME"),
    _row(f"{QUEUE}FORMATNAME"),
    _row(
        f"{QUEUE}TYPE",
        mgmt_queue_type_public="PUBLIC",
        mgmt_queue_type_private="PRIVATE",
        mgmt_queue_type_machine="MACHINE",
        mgmt_queue_type_connector="CONNECTOR",
        mgmt_queue_type_multicast="MULTICAST",
    ),
    _row(f"{QUEUE}LOCATION", mgmt_queue_local_location="LOCAL", mgmt_queue_remote_location="REMOTE"),
    _row(
        f"{QUEUE}XACT",
        mgmt_queue_unknown_type="UNKNOWN",
        mgmt_queue_transactional_type="YES",
        mgmt_queue_not_transactional_type="NO",
    ),
    _row(
        f"{QUEUE}FOREIGN",
        mgmt_queue_unknown_type="UNKNOWN",
        mgmt_queue_foreign_type="YES",
        mgmt_queue_not_foreign_type="NO",
    ),
    _row(f"{QUEUE}MESSAGE_COUNT"),
    _row(f"{QUEUE}BYTES_IN_QUEUE"),
    _row(f"{QUEUE}JOURNAL_MESSAGE_COUNT"),
    _row(f"{QUEUE}BYTES_IN_JOURNAL"),
    _row(
        f"{QUEUE}STATE",
        mgmt_queue_state_local="LOCAL CONNECTION",
        mgmt_queue_state_nonactive="INACTIVE",
        mgmt_queue_state_waiting="WAITING",
        mgmt_queue_state_need_validate="NEED VALIDATION",
        mgmt_queue_state_onhold="ONHOLD",
        mgmt_queue_state_connected="CONNECTED",
        mgmt_queue_state_disconnecting="DISCONNECTING",
        mgmt_queue_state_disconnected="DISCONNECTED",
    ),
    _row(f"{QUEUE}NEXTHOPS"),
    _row(f"{QUEUE}EOD_LAST_ACK", _is_sequence),
    _row(f"{QUEUE}EOD_LAST_ACK_TIME"),
    _row(f"{QUEUE}EOD_LAST_ACK_COUNT"),
    _row(f"{QUEUE}EOD_FIRST_NON_ACK", _is_sequence),
    _row(f"{QUEUE}EOD_LAST_NON_ACK", _is_sequence),
    _row(f"{QUEUE}EOD_NEXT_SEQ", _is_sequence),
    _row(f"{QUEUE}EOD_NO_READ_COUNT"),
    _row(f"{QUEUE}EOD_NO_ACK_COUNT"),
    _row(f"{QUEUE}EOD_RESEND_TIME"),
    _row(f"{QUEUE}EOD_RESEND_INTERVAL"),
    _row(f"{QUEUE}EOD_RESEND_COUNT"),
    _row(f"{QUEUE}EOD_SOURCE_INFO", _is_source_info),
    _row(f"{QUEUE}CONNECTION_HISTORY", _is_history),
    _row(f"{QUEUE}SUBQUEUE_COUNT"),
    _row(f"{QUEUE}SUBQUEUE_NAMES"),
)
ROWS: Final[Mapping[str, ManagementRow]] = MappingProxyType({row.name: row for row in _ROWS})
"""The management properties by name, those of the machine first."""

SINCE: Final[Mapping[str, str]] = MappingProxyType(
    {
        f"{MACHINE}BYTES_IN_ALL_QUEUES": "msmq-3.0",
        f"{QUEUE}BYTES_IN_QUEUE": "msmq-3.0",
        f"{QUEUE}BYTES_IN_JOURNAL": "msmq-3.0",
        f"{QUEUE}EOD_SOURCE_INFO": "msmq-3.0",
        f"{QUEUE}CONNECTION_HISTORY": "msmq-4.0",
        f"{QUEUE}SUBQUEUE_COUNT": "msmq-4.0",
        f"{QUEUE}SUBQUEUE_NAMES": "msmq-4.0",
    }
)
"""The MSMQ version that introduced a property (MS-MQMQ 2.3.11 and 2.3.12, MS-MQMR product notes 8 to 11)."""

STATUSES: Final[Mapping[str, tuple[int, str, str]]] = MappingProxyType(
    {
        step: (number, requirement_id(f"MQMQ-2.3.12.25.{word}"), requirement_id(f"MQDMPR-3.1.1.3.history-{named}"))
        for step, number, word, named in (
            ("in_process", 0, "in-process", "in-process"),
            ("establish_packet_received", 1, "packet-received", "establish-packet-received"),
            ("established", 2, "ready", "established"),
            ("unknown_failure", 0x80000000, "unknown-failure", "unknown-failure"),
            ("ping_failure", 0x80000001, "ping-failure", "ping-failure"),
            ("socket_create_failure", 0x80000002, "create-socket-failure", "socket-create-failure"),
            ("socket_bind_failure", 0x80000003, "bind-socket-failure", "socket-bind-failure"),
            ("socket_connect_failure", 0x80000004, "connect-socket-failure", "socket-connect-failure"),
            ("tcp_not_enabled", 0x80000005, "tcp-not-enabled", "tcp-not-enabled"),
            ("socket_send_failure", 0x80000006, "send-failure", "socket-send-failure"),
            ("connection_not_ready", 0x80000007, "not-ready-failure", "connection-not-ready"),
            ("dns_failure", 0x80000008, "dns-failure", "dns-failure"),
            ("certificate_validation_failure", 0x80000009, "certificate-failure", "certificate-validation-failure"),
            ("connection_limit_reached", 0x8000000A, "connection-limit", "connection-limit-reached"),
            ("connection_refused", 0x8000000B, "refused-by-peer", "connection-refused"),
            ("routing_data_not_available", 0x8000000C, "no-directory", "routing-data-not-available"),
            ("low_resource", 0x8000000D, "low-memory", "low-resource"),
        )
    }
)
"""Step of a connection to its number in the history, the requirement on the number, and that on its meaning."""
