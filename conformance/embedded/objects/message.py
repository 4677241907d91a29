"""MSMQMessage (MC-MQAC 3.17): a message to be sent, or one that was read. Send is in `message_send`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import MqError
from conformance.embedded.objects import bodies
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.dispatch import (
    ANY,
    GET,
    METHOD,
    OBJECT,
    OPTIONAL,
    PUT,
    PUTREF,
    ComObject,
    Signature,
    member,
)
from conformance.embedded.objects.message_properties import (
    CARRIED,
    INITIAL,
    MARKS,
    QUEUES,
    SIGNATURES,
    Property,
    Values,
)
from conformance.embedded.objects.message_values import Received, of_fields
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.variants import EMPTY, NOTHING, Variant, from_base64, long

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager
    from conformance.embedded.objects.queue import QueueObject
    from conformance.embedded.objects.queue_reads import Asked

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
        return EMPTY if body is None else bodies.read(*body)

    @member(PUT, "Body", varBody=ANY)
    def put_body(self, given: Variant) -> None:
        """Keep a body of one of the types that bodies have (3.17.4.1.22)."""
        self.values["body"] = bodies.written(given, self.body_types())

    def body_types(self) -> dict[str, int]:
        """Return the types that a body can have."""
        return bodies.TYPES

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
