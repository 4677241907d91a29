"""MSMQMessage (MC-MQAC 3.17): a message to be sent, or one that was read, and its properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.entities import INFINITE, NULL_GUID, MqError
from conformance.embedded.objects import message_values
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.dispatch import (
    ANY,
    GET,
    LONG,
    METHOD,
    OBJECT,
    OPTIONAL,
    PUT,
    PUTREF,
    TEXT,
    ComObject,
    Kind,
    Signature,
    member,
)
from conformance.embedded.objects.message_values import Received, of_fields
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.variants import (
    E_INVALIDARG,
    EMPTY,
    NOTHING,
    Variant,
    as_bytes,
    braced,
    data,
    date,
    flag,
    from_base64,
    long,
    short,
    text,
)
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_LABEL_TOO_LONG

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue import Asked, QueueObject

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
"""Values that go with a message beside the members of the protocol."""
MARKS: Final = frozenset({"class", "sender", "symmetric_key", "signature", "provider_name"})
"""Properties that a client can put only with a connector type (3.17.4.1.48)."""


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

Json = Any
CALLER = bytes.fromhex("010500000000000515000000a065cf7e784b9b5fe77c8770f4010000")  # the SID of whoever calls
"""An account of a computer, S-1-5-21-...-500: who calls the embedded manager is not told to it."""
_QUEUE_ROWS = tuple(
    Signature(name, kind, {} if kind == GET else {name: OBJECT}, "", (name, field))
    for name, field in QUEUES.items()
    for kind in (GET, PUTREF)
)


class MessageObject(ComObject):
    """A message. values: its properties by the names of `message_properties`. marked: what the client put of MARKS.

    cached_sender: what AttachCurrentSecurityContext keeps. destination_wanted: whether it has a destination to show.
    """

    CLASS = "MSMQMessage"
    INTERFACES = ("IMSMQMessage4", "IMSMQMessage3", "IMSMQMessage2", "IMSMQMessage")

    def __init__(self, manager: Manager) -> None:
        """Make an object as a client does (3.17.3)."""
        super().__init__(manager)
        self.values = Values(self.initial())
        self.marked: set[str] = set()
        self.cached_sender: bytes | None = None
        self.cached_certificate: bytes | None = None
        self.destination_wanted = True

    def initial(self) -> Mapping[str, Any]:
        """Return the initial values."""
        return INITIAL

    @classmethod
    def rows(cls) -> tuple[Signature, ...]:
        """Return the properties."""
        return SIGNATURES + _QUEUE_ROWS

    def row(self, signature: Signature, values: list[Any]) -> Variant | None:
        """Read or write a property."""
        if isinstance(signature.row, Property):
            if signature.kind == GET:
                return self.read(signature.row)
            self.write(signature.row, values[0])
        elif signature.kind == GET:
            return self.queue_named(signature.row[1])
        else:
            self.values[signature.row[1]] = self.name_of(values[0])
        return None

    def read(self, row: Property) -> Variant:
        """Return a property."""
        if row.tell is None:
            return EMPTY
        return row.tell(self.values[row.field] if row.field else None)

    def write(self, row: Property, value: Any) -> None:
        """Check and keep a property."""
        if not row.valid(value):
            raise MqError(row.refusal)
        self.values[row.field] = row.keep(value)
        if row.field in MARKS:
            self.marked.add(row.field)

    # Queues.

    def queue_named(self, field: str) -> Variant:
        """Return an object for a queue, refreshed where that is possible (3.17.4.1.15)."""
        return Variant("DISPATCH", self.queue_info(self.values[field]))

    def queue_info(self, format_name: str | None) -> QueueInfoObject:
        """Return an object for a format name; it is there even if the queue is not."""
        found = self.manager.parts.queue_info(self.manager, format_name)
        try:
            found.refresh()
        except MqError:
            found.is_refreshed = False
        return found

    def name_of(self, given: Any) -> str | None:
        """Return the format name of an MSMQQueueInfo."""
        if given is None:
            return None
        if not isinstance(given, QueueInfoObject):
            raise MqError(E_INVALIDARG)
        return given.known_format_name()

    @member(GET, "DestinationQueueInfo")
    def get_destination_queue(self) -> Variant:
        """Return an object for the destination, NULL if it was not wanted (3.17.4.1.42)."""
        return self.queue_named("destination_queue") if self.destination_wanted else NOTHING

    @member(GET, "TransactionStatusQueueInfo")
    def get_status_queue(self) -> Variant:
        """Return an object for the queue of transaction status (3.17.4.1.55)."""
        return self.queue_named("status_queue")

    @member(GET, "ResponseDestination")
    def get_response_destination(self) -> Variant:
        """Return an object for the queues of answers (3.17.4.1.80)."""
        return self.destination_named("response_destination")

    @member(PUTREF, "ResponseDestination", pdestResponse=OBJECT)
    def put_response_destination(self, given: Any) -> None:
        """Take the format name of an MSMQDestination (3.17.4.1.81)."""
        if given is not None and not isinstance(given, DestinationObject):
            raise MqError(E_INVALIDARG)
        self.values["response_destination"] = None if given is None else given.format_name

    @member(GET, "Destination")
    def get_destination(self) -> Variant:
        """Return an object for the queues that it was sent to (3.17.4.1.82)."""
        return self.destination_named("destination")

    def destination_named(self, field: str) -> Variant:
        """Return a new MSMQDestination of a format name."""
        return Variant("DISPATCH", self.manager.parts.destination(self.manager, self.values[field]))

    # The body.

    @member(GET, "Body")
    def get_body(self) -> Variant:
        """Return the body (3.17.4.1.21)."""
        body = self.values["body"]
        return EMPTY if body is None else message_values.read(*body)

    @member(PUT, "Body", varBody=ANY)
    def put_body(self, given: Variant) -> None:
        """Keep a body of one of the types that bodies have (3.17.4.1.22)."""
        self.values["body"] = message_values.written(given, self.body_types())

    def body_types(self) -> dict[str, int]:
        """Return the types that a body can have."""
        return message_values.TYPES

    @member(GET, "BodyLength")
    def get_body_length(self) -> Variant:
        """Return the number of bytes of the body (3.17.4.1.20)."""
        body = self.values["body"]
        return long(0 if body is None else len(body[0]))

    # Methods.

    @member(METHOD, "AttachCurrentSecurityContext")
    def attach(self) -> None:
        """Keep who calls (3.17.4.1.49)."""
        self.cached_sender = CALLER
        self.cached_certificate = self.values["certificate"]

    @member(METHOD, "AttachCurrentSecurityContext2")
    def attach2(self) -> None:
        """Keep who calls (3.17.4.1.87)."""
        self.attach()

    @member(METHOD, "Send", DestinationQueue=OBJECT, Transaction=OPTIONAL)
    def send(self, destination: Any, transaction: Variant) -> None:
        """Send the message (3.17.4.1.48)."""
        self.manager.parts.message_sending(self, destination, transaction).perform()

    def receive(self, fields: dict[str, Json], carried: dict[str, Json], queue: QueueObject, asked: Asked) -> None:
        """Take the values of a message that was read, with what is wanted of it (3.17.3)."""
        self.values |= of_fields(fields)
        for name in CARRIED:
            if name in carried:
                value = carried[name]
                self.values[name] = from_base64(value["bytes"]) if isinstance(value, dict) else value
        self.values["source"] = fields.get("identifier", {}).get("source", self.values["source"])
        self.values["destination_queue"] = self.values["destination_queue"] or Received.destination(queue)
        self.wanted(asked)

    def wanted(self, asked: Asked) -> None:
        """Leave out what was not wanted."""
        self.destination_wanted = asked.destination
        if not asked.body:
            self.values["body"] = None
        if not asked.connector:
            self.values["connector"] = INITIAL["connector"]
