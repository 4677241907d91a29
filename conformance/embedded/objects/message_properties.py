"""The properties of MSMQMessage (MC-MQAC 3.17.3, 3.17.4.1): their initial values, and how each is put and told."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.embedded.entities import INFINITE, NULL_GUID
from conformance.embedded.objects.dispatch import GET, LONG, PUT, TEXT, Kind, Signature
from conformance.embedded.objects.variants import (
    Variant,
    as_bytes,
    braced,
    data,
    date,
    flag,
    long,
    short,
    text,
)
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_LABEL_TOO_LONG

PROVIDER: Final = "Microsoft Base Cryptographic Provider, v1.0"
SHA1, RC4, SID = 0x8004, 0x6801, 1
LONGEST_LABEL: Final = 249
SENDER_VERSION: Final = 0x10
_BRACED = re.compile(r"\{[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}\Z")
BYTES = Kind("VARIANT", as_bytes)

INITIAL: dict[str, Any] = {
    "lookup": 0, "identifier": None, "class": 0, "privacy": 0, "authenticated": 0, "delivery": 0, "trace": 0,
    "priority": 3, "journal": 0, "response_queue": None, "response_destination": None, "application_tag": 0,
    "source": NULL_GUID, "body": None, "administration_queue": None, "correlation": None, "acknowledgements": 0,
    "label": None, "reach": INFINITE, "receive": INFINITE, "hash": SHA1, "encryption": RC4, "sent": INFINITE,
    "arrived": INFINITE, "destination_queue": None, "destination": None, "certificate": None, "sender_type": SID,
    "sender": None, "extension": None, "connector": NULL_GUID, "status_queue": None, "symmetric_key": None,
    "signature": None, "provider_type": 1, "provider_name": PROVIDER, "transaction": None, "first": False,
    "last": False, "soap_envelope": None, "soap_compound": None, "requested": 0, "soap_body": None,
    "soap_header": None,
}  # fmt: skip
"""Values of an object that a client made (3.17.3). The body is bytes and their type, other bytes are bytes."""


class Values(dict[str, Any]):
    """The values of an object: those it was given, and the initial ones, which all objects share."""

    __slots__ = ("initial",)

    def __init__(self, initial: Mapping[str, Any]) -> None:
        """Begin with these values."""
        super().__init__()
        self.initial = initial

    def __missing__(self, field: str) -> Any:
        return self.initial[field]


CARRIED: Final = (
    "privacy", "authenticated", "hash", "encryption", "certificate", "sender_type", "sender", "connector",
    "status_queue", "symmetric_key", "signature", "provider_type", "provider_name", "transaction",
    "response_destination", "destination_queue", "destination",
)  # fmt: skip
"""What goes with a message beside the members of the protocol."""
MARKS: Final = frozenset({"class", "sender", "symmetric_key", "signature", "provider_name"})
"""What a client can put only with a connector type (3.17.4.1.48)."""


def _values(enumeration: str) -> frozenset[int]:
    return frozenset(ENUMERATIONS[enumeration].members.values())


@dataclass(frozen=True, slots=True)
class Property:
    """A property. field: its value in the object. tell: makes the answer of get; None without get.

    taken: the argument of put; None without put. valid: the values that can be put; refusal: the HRESULT for others.
    keep: makes the value to keep of what is put.
    """

    name: str
    field: str
    tell: Callable[[Any], Variant] | None = None
    taken: Kind | None = None
    valid: Callable[[Any], bool] = lambda value: True
    refusal: int = MQ_ERROR_ILLEGAL_PROPERTY_VALUE
    keep: Callable[[Any], Any] = lambda value: value


def one_of(values: Container[int]) -> Callable[[Any], bool]:
    """Return the check that a value is one of these."""
    return lambda value: value in values


def label_fits(value: str | None) -> bool:
    """Return true for a label of fewer than 250 characters of UTF-16."""
    return len((value or "").encode("utf-16-le", "surrogatepass")) // 2 <= LONGEST_LABEL


def is_braced(value: str | None) -> bool:
    """Return true for a GUID in braces."""
    return bool(_BRACED.match(value or ""))


def _or_empty(value: str | None) -> Variant:
    return text(value or "")


def _one(value: Any) -> Variant:
    return short(int(bool(value)))


def _unsigned(value: int) -> int:
    return value & INFINITE


def _lookup(value: int) -> Variant:
    return text(str(value))


PROPERTIES: tuple[Property, ...] = (
    Property("Class", "class", long),
    Property("MsgClass", "class", long, LONG),
    Property("PrivLevel", "privacy", long, LONG, one_of(_values("MQMSGPRIVLEVEL"))),
    Property("AuthLevel", "requested", long, LONG, one_of(_values("MQMSGAUTHLEVEL"))),
    Property("IsAuthenticated", "authenticated", _one),
    Property("IsAuthenticated2", "authenticated", lambda value: flag(bool(value))),
    Property("ReceivedAuthenticationLevel", "authenticated", short),
    Property("Delivery", "delivery", long, LONG, one_of(_values("MQMSGDELIVERY"))),
    Property("Trace", "trace", long, LONG, one_of(_values("MQMSGTRACE"))),
    Property("Priority", "priority", long, LONG, one_of(range(8))),
    Property("Journal", "journal", long, LONG, one_of(range(4))),
    Property("AppSpecific", "application_tag", long, LONG, keep=_unsigned),
    Property("SourceMachineGuid", "source", text),
    Property("Id", "identifier", data),
    Property("CorrelationId", "correlation", data, BYTES),
    Property("Ack", "acknowledgements", long, LONG, one_of(_values("MQMSGACKNOWLEDGEMENT"))),
    Property("Label", "label", _or_empty, TEXT, label_fits, MQ_ERROR_LABEL_TOO_LONG),
    Property("MaxTimeToReachQueue", "reach", long, LONG, keep=_unsigned),
    Property("MaxTimeToReceive", "receive", long, LONG, keep=_unsigned),
    Property("HashAlgorithm", "hash", long, LONG, keep=_unsigned),
    Property("EncryptAlgorithm", "encryption", long, LONG, keep=_unsigned),
    Property("SentTime", "sent", date),
    Property("ArrivedTime", "arrived", date),
    Property("SenderCertificate", "certificate", data, BYTES),
    Property("SenderId", "sender", data, BYTES),
    Property("SenderIdType", "sender_type", long, LONG),
    Property("SenderVersion", "", lambda value: long(SENDER_VERSION)),
    Property("Extension", "extension", data, BYTES),
    Property(
        "ConnectorTypeGuid", "connector", lambda value: text(braced(value)), TEXT, is_braced,
        keep=lambda value: value.strip("{}"),
    ),
    Property("DestinationSymmetricKey", "symmetric_key", data, BYTES),
    Property("Signature", "signature", data, BYTES),
    Property("AuthenticationProviderType", "provider_type", long, LONG),
    Property("AuthenticationProviderName", "provider_name", _or_empty, TEXT),
    Property("TransactionId", "transaction", data),
    Property("IsFirstInTransaction", "first", _one),
    Property("IsLastInTransaction", "last", _one),
    Property("IsFirstInTransaction2", "first", lambda value: flag(bool(value))),
    Property("IsLastInTransaction2", "last", lambda value: flag(bool(value))),
    Property("LookupId", "lookup", _lookup),
    Property("SoapEnvelope", "soap_envelope", text),
    Property("CompoundMessage", "soap_compound", data),
    Property("SoapHeader", "soap_header", None, TEXT),
    Property("SoapBody", "soap_body", None, TEXT),
)  # fmt: skip
QUEUES: Final = {
    "ResponseQueueInfo": "response_queue", "ResponseQueueInfo_v1": "response_queue",
    "ResponseQueueInfo_v2": "response_queue", "AdminQueueInfo": "administration_queue",
    "AdminQueueInfo_v1": "administration_queue", "AdminQueueInfo_v2": "administration_queue",
}  # fmt: skip
"""Queues that a client sets by an MSMQQueueInfo."""


def signatures(properties: tuple[Property, ...]) -> tuple[Signature, ...]:
    """Return the members of a table of properties."""
    found = []
    for row in properties:
        if row.tell is not None:
            found.append(Signature(row.name, GET, {}, "", row))
        if row.taken is not None:
            found.append(Signature(row.name, PUT, {row.name: row.taken}, "", row))
    return tuple(found)


SIGNATURES = signatures(PROPERTIES)
