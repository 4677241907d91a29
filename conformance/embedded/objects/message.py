"""MSMQMessage (MC-MQAC 3.17): its properties, bodies as VARIANTs, and Send with its checks."""

from __future__ import annotations

import contextlib
import math
import re
import struct
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.entities import INFINITE, NULL_GUID, Descriptor, MqError
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.transactions import TransactionArguments, Unit
from conformance.embedded.objects.variants import (
    ANY,
    E_INVALIDARG,
    EMPTY,
    GET,
    LONG,
    METHOD,
    NOTHING,
    OBJECT,
    OPTIONAL,
    PUT,
    PUTREF,
    TEXT,
    ComObject,
    Kind,
    Signature,
    Variant,
    as_bytes,
    braced,
    data,
    date,
    flag,
    from_base64,
    guid_bytes,
    long,
    member,
    raw_flag,
    short,
    text,
    to_base64,
)
from conformance.embedded.security import sid_bytes, sid_text
from conformance.embedded.signing import KINDS, PRIVACY
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import (
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_INSUFFICIENT_PROPERTIES,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_MISSING_CONNECTOR_TYPE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue import Asked

Json = Any
_ACKNOWLEDGEMENTS = {"positive_arrival": 1, "positive_receive": 2, "negative_arrival": 4, "negative_receive": 8}
_NULL_CORRELATION = bytes(20)
_SAME = {
    "class": "class", "priority": "priority", "application_tag": "application_tag", "reach": "time_to_reach_queue",
    "receive": "time_to_be_received", "response_queue": "response_queue",
    "administration_queue": "administration_queue",
}  # fmt: skip
_RECEIVED = {
    "label": "label",
    "arrived": "arrival_time",
    "sent": "sent_time",
    "first": "first_in_transaction",
    "last": "last_in_transaction",
}


class Received:
    """The values that an object has from the queue it was read from."""

    @staticmethod
    def destination(queue: QueueObject) -> str | None:
        """Return the format name of the queue."""
        return None if queue.info is None else queue.info.known_format_name()


def of_fields(fields: dict[str, Json]) -> dict[str, Any]:
    """Return the values of an object for a message of the protocol."""
    values = {name: fields[given] for name, given in {**_SAME, **_RECEIVED}.items() if given in fields}
    if "," in (values.get("response_queue") or ""):
        values["response_destination"] = values.pop("response_queue")
    values["delivery"] = int(fields.get("delivery") == "recoverable")
    values["trace"] = int(fields.get("trace", False))
    values["journal"] = int(fields.get("negative_journaling", False)) + 2 * int(
        fields.get("positive_journaling", False)
    )
    values["acknowledgements"] = sum(_ACKNOWLEDGEMENTS[each] for each in fields.get("acknowledgements", ()))
    body = (from_base64(fields["body"]), int(fields.get("body_type", 0)))
    values["body"] = None if body == (b"", 0) else body
    values["extension"] = from_base64(fields["extension"]) if fields.get("extension") else None
    values["correlation"] = from_base64(fields.get("correlation_identifier", "")) or _NULL_CORRELATION
    values["lookup"] = int(fields.get("lookup_identifier", 0))
    values["authenticated"] = KINDS[fields.get("authentication", "none")]
    values["privacy"] = PRIVACY[fields.get("privacy", "none")]
    if "certificate" in fields:
        values["certificate"] = from_base64(fields["certificate"])
    if "sender" in fields:
        values["sender"] = sid_bytes(fields["sender"])
    else:
        values["sender_type"] = NOBODY
    identifier = fields.get("identifier")
    if identifier is not None:
        values["identifier"] = guid_bytes(identifier["source"], int(identifier["ordinal"]))
    return values


def to_fields(values: dict[str, Any]) -> dict[str, Json]:
    """Return the members of a message to send."""
    given = {name: values[field] for field, name in _SAME.items() if values[field] is not None}
    given["label"] = (values["label"] or "").partition("\0")[0]  # a text ends at its first null
    given["delivery"] = "recoverable" if values["delivery"] else "express"
    given["trace"] = bool(values["trace"])
    given["positive_journaling"] = bool(values["journal"] & 2)
    given["negative_journaling"] = bool(values["journal"] & 1)
    given["acknowledgements"] = [name for name, bit in _ACKNOWLEDGEMENTS.items() if values["acknowledgements"] & bit]
    if values["response_queue"] is None and "," in (values["response_destination"] or ""):
        given["response_queue"] = values["response_destination"]
    if values["body"] is not None:
        content, given["body_type"] = values["body"]
        given["body"] = to_base64(content)
    if values["extension"]:
        given["extension"] = to_base64(values["extension"])
    if values["correlation"] is not None:
        given["correlation_identifier"] = to_base64(values["correlation"])
    return given | to_sealed(values)


def to_sealed(values: dict[str, Any]) -> dict[str, Json]:
    """Return the members of a message to send that say how it is signed and encrypted."""
    given: dict[str, Json] = {}
    if values["sender_type"] == NOBODY:
        given["sender_type"] = "none"
    level = AUTHENTICATED.get(values["requested"], 0)
    if level:
        given["authentication"] = next(word for word, each in KINDS.items() if each == level)
    if level or values["hash"] != SHA1:
        given["hash_algorithm"] = values["hash"]
    word = next((word for word, each in PRIVACY.items() if each == values["privacy"]), "none")
    if word != "none":
        given["privacy"] = word
    if values["privacy"] or values["encryption"] != RC4:
        given["encryption_algorithm"] = values["encryption"]
    if values["certificate"] is not None and (level or values["certificate"]):
        given["certificate"] = to_base64(values["certificate"])
    return given


TYPES: Final = {
    "I2": 2, "I4": 3, "R4": 4, "R8": 5, "CY": 6, "DATE": 7, "BSTR": 8, "BOOL": 11, "I1": 16, "UI1": 17, "UI2": 18,
    "UI4": 19,
}  # fmt: skip
"""Types of a body with their numbers; an object needs a stream to be written to, and there is none here."""
ARRAY: Final = 0x2000
LPSTR, LPWSTR = 30, 31
_NAMES = {number: name for name, number in TYPES.items()}
_FORMATS = {
    "I1": "<b",
    "UI1": "<B",
    "I2": "<h",
    "UI2": "<H",
    "I4": "<i",
    "UI4": "<I",
    "R4": "<f",
    "R8": "<d",
    "DATE": "<d",
    "BOOL": "<h",
}
_CURRENCY = 10_000
_MOST_CURRENCY = Decimal(1 << 63) / _CURRENCY
_NUMBERS = frozenset({"I1", "UI1", "I2", "UI2", "I4", "UI4"})


def written(body: Variant, types: dict[str, int] = TYPES) -> tuple[bytes, int]:
    """Return the bytes and the body_type of a VARIANT. Raises MqError(E_INVALIDARG) for a type that no body has."""
    if body.vt == "ARRAY":
        if body.of not in types:
            raise MqError(E_INVALIDARG)
        if body.of == "UI1":
            return bytes(body.value), ARRAY | types["UI1"]
        if any(each.vt != body.of for each in body.value):
            raise MqError(E_INVALIDARG)
        items = [_bytes(each) for each in body.value]
        if body.of == "BSTR":
            items = [struct.pack("<I", len(each)) + each for each in items]
        return b"".join(items), ARRAY | types[body.of]
    if body.vt not in types:
        raise MqError(E_INVALIDARG)
    return _bytes(body), types[body.vt]


def read(content: bytes, body_type: int) -> Variant:
    """Return the VARIANT of a body; bytes where the type is none, or another than the content."""
    try:
        found = _array(content, body_type) if body_type & ARRAY else _single(content, body_type)
    except (struct.error, UnicodeDecodeError, ValueError):
        found = None
    return data(content) if found is None else found


def _single(content: bytes, body_type: int) -> Variant | None:
    if body_type == LPWSTR:
        return Variant("BSTR", content.decode("utf-16-le", "surrogatepass").removesuffix("\0"))
    if body_type == LPSTR:
        return Variant("BSTR", content.decode("latin-1").removesuffix("\0"))
    name = _NAMES.get(body_type)
    return None if name is None else Variant(name, _value(content, name))


def _array(content: bytes, body_type: int) -> Variant | None:
    name = _NAMES.get(body_type & ~ARRAY)
    if name is None or name == "UI1":
        return None
    items = []
    if name == "BSTR":
        while content:
            (size,) = struct.unpack_from("<I", content)
            items.append(_value(content[4 : 4 + size], name))
            content = content[4 + size :]
    else:
        size = 8 if name == "CY" else struct.calcsize(_FORMATS[name])
        if len(content) % size:
            return None
        items = [_value(content[at : at + size], name) for at in range(0, len(content), size)]
    return Variant("ARRAY", [Variant(name, item) for item in items], name)


def _bytes(body: Variant) -> bytes:
    if body.vt == "BSTR":
        return (body.value or "").encode("utf-16-le", "surrogatepass")
    if body.vt == "CY":
        return struct.pack("<q", _currency(body.value))
    if body.vt == "BOOL":
        return struct.pack("<h", raw_flag(body))
    try:
        number = body.value if body.vt in _NUMBERS else float(body.value)
        return struct.pack(_FORMATS[body.vt], number)
    except (struct.error, ValueError, OverflowError):
        raise MqError(E_INVALIDARG) from None


def _currency(value: str) -> int:
    try:
        amount = Decimal(value)
    except InvalidOperation:
        raise MqError(E_INVALIDARG) from None
    if not amount.is_finite() or not -_MOST_CURRENCY <= amount < _MOST_CURRENCY:
        raise MqError(E_INVALIDARG)
    return int(amount * _CURRENCY)


def _number_text(number: float) -> str:
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _value(content: bytes, name: str) -> Any:
    if name == "BSTR":
        return content.decode("utf-16-le", "surrogatepass")
    if name == "CY":
        return format(Decimal(struct.unpack("<q", content)[0]) / _CURRENCY, "f")
    (number,) = struct.unpack(_FORMATS[name], content)
    if name == "BOOL":
        return True if number == -1 else False if number == 0 else number
    return number if name in _NUMBERS else _number_text(number)


PROVIDER: Final = "Microsoft Base Cryptographic Provider, v1.0"
SHA1, RC4, NOBODY, SID = 0x8004, 0x6801, 0, 1
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
        return EMPTY if body is None else read(*body)

    @member(PUT, "Body", varBody=ANY)
    def put_body(self, given: Variant) -> None:
        """Keep a body of one of the types that bodies have (3.17.4.1.22)."""
        self.values["body"] = written(given, self.body_types())

    def body_types(self) -> dict[str, int]:
        """Return the types that a body can have."""
        return TYPES

    @member(GET, "BodyLength")
    def get_body_length(self) -> Variant:
        """Return the number of bytes of the body (3.17.4.1.20)."""
        body = self.values["body"]
        return long(0 if body is None else len(body[0]))

    # Methods.

    @member(METHOD, "AttachCurrentSecurityContext")
    def attach(self) -> None:
        """Keep who calls (3.17.4.1.49)."""
        security = self.manager.security
        self.cached_sender = sid_bytes(security.caller_sid)
        self.cached_certificate = self.values["certificate"] or self.internal_certificate(security.caller_sid)

    def internal_certificate(self, sid: str) -> bytes | None:
        """Return the internal certificate of a user."""
        found = self.manager.certificates.internal(sid)
        return None if found is None else from_base64(found)

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


NORMAL = 0
AUTHENTICATED = {0: 0, 1: 5, 2: 1, 4: 3, 8: 5}  # MQMSGAUTHLEVEL to MQMSGAUTHENTICATION


class MessageSending:
    """One send."""

    def __init__(self, message: MessageObject, destination: Any, transaction: Variant) -> None:
        """destination: the argument DestinationQueue, None if it is NULL."""
        self.message = message
        self.manager = message.manager
        self.destination = destination
        self.given = transaction
        self.lent: Descriptor | None = None
        self.transactions: TransactionArguments = self.manager.parts.transaction_arguments(self.manager)

    def perform(self) -> None:
        """Check, complete and enqueue. Raises MqError."""
        for check in self.checks():
            check()
        unit = self.unit()
        try:
            descriptor = self.target()
            self.complete()
            self.enqueue(descriptor, unit)
        except MqError:
            unit.failed()
            raise
        finally:
            self.give_back()
        unit.succeeded()

    def give_back(self) -> None:
        """Close the handle that was opened for this send."""
        if self.lent is not None:
            self.manager.queues.close(self.lent)

    def checks(self) -> tuple[Callable[[], None], ...]:
        """Return the checks, in the order in which they are made."""
        return (self.check_destination, self.check_connector, self.check_provider)

    def check_destination(self) -> None:
        """Refuse NULL, and an object that is no queue."""
        if not isinstance(self.destination, QueueObject | DestinationObject):
            raise MqError(E_INVALIDARG)

    def check_connector(self) -> None:
        """Refuse what a connector alone can put, without a connector type."""
        if self.message.marked and self.message.values["connector"] == NULL_GUID:
            raise MqError(MQ_ERROR_MISSING_CONNECTOR_TYPE)

    def check_provider(self) -> None:
        """Refuse a type of provider without a name, and a name without a type."""
        values = self.message.values
        if bool(values["provider_type"]) != bool(values["provider_name"]):
            raise MqError(MQ_ERROR_INSUFFICIENT_PROPERTIES)

    def unit(self) -> Unit:
        """Return the unit of work that the argument Transaction means."""
        return self.transactions.unit(self.given)

    def target(self) -> Descriptor:
        """Return the handle to send to. Raises MqError for a queue that is not open; a destination is opened."""
        if isinstance(self.destination, DestinationObject):
            return self.destination.descriptor or self.open_for_this()
        self.destination.check_usable()
        descriptor: Descriptor = self.destination.opened
        return descriptor

    def open_for_this(self) -> Descriptor:
        """Return a handle for this send alone."""
        self.lent = self.destination.opened()
        return self.lent

    def destination_name(self) -> str | None:
        """Return the format name of where it is sent."""
        if isinstance(self.destination, DestinationObject):
            return self.destination.format_name
        info: QueueInfoObject | None = self.destination.info
        return None if info is None else info.known_format_name()

    def complete(self) -> None:
        """Set what the object has by itself."""
        message, values = self.message, self.message.values
        if values["sender"] is None:
            values["sender"] = message.cached_sender or self.caller()
        if values["certificate"] is None:
            values["certificate"] = message.cached_certificate or self.own_certificate()
        values["source"] = self.manager.guid
        if values["connector"] == NULL_GUID:
            values["class"] = NORMAL
        name = self.destination_name()
        values["destination_queue"] = name
        message.destination_wanted = True
        values["destination"] = name if self.manager.objects.names.lists(name) else None
        values["sent"] = self.manager.clock.now_ms() // 1000
        self.shorten()
        values["authenticated"] = AUTHENTICATED.get(values["requested"], 0)

    def caller(self) -> bytes:
        """Return the SID of whoever calls."""
        return sid_bytes(self.manager.security.caller_sid)

    def own_certificate(self) -> bytes | None:
        """Return the internal certificate of the sender."""
        sender = self.manager.security.caller_sid
        with contextlib.suppress(MqError):
            sender = sid_text(self.message.values["sender"])
        return self.message.internal_certificate(sender)

    def shorten(self) -> None:
        """Cut the time to reach the queue to the time to be received."""
        values = self.message.values
        values["reach"] = min(values["reach"], values["receive"])

    def enqueue(self, descriptor: Descriptor, unit: Unit) -> None:
        """Enqueue Message To An Open Queue (MS-MQDMPR 3.1.7.1.27)."""
        sending, values = self.manager.sending, self.message.values
        values["transaction"] = None
        if unit.transaction is not None:
            number = int(unit.transaction.handle.lstrip("t"))
            values["transaction"] = guid_bytes(self.manager.guid, number)
        sending.accompanying = self.accompanying()
        try:
            answer = sending.send(descriptor, self.fields(), unit.transaction)
        finally:
            sending.accompanying = None
        identifier = answer.get("identifier")
        if identifier is not None:  # a message that the manager drops without a word has none
            values["identifier"] = guid_bytes(identifier["source"], int(identifier["ordinal"]))
        if self.manager.sealing.made is not None:
            values["signature"] = self.manager.sealing.made

    def fields(self) -> dict[str, Json]:
        """Return the members of the message that the queue manager gets."""
        return to_fields(self.message.values)

    def accompanying(self) -> dict[str, Json]:
        """Return what goes with the message beside these members."""
        values = self.message.values
        carried: dict[str, Json] = {
            name: {"bytes": to_base64(values[name])} if isinstance(values[name], bytes) else values[name]
            for name in CARRIED
        }
        if "signature" not in self.message.marked:
            carried["signature"] = None  # that of an earlier send
        if values["sender_type"] == NOBODY:
            carried["sender"] = None
        if self.manager.objects.names.lists(values["destination_queue"]):
            carried["destination_queue"] = None  # each of several queues is the destination of its own copy
        return carried
