"""MSMQMessage.Send (MC-MQAC 3.17.4.1.48): its checks in their order, what it completes, and the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import NULL_GUID, Descriptor, MqError
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.message import CARRIED
from conformance.embedded.objects.message_values import to_fields
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.transactions import TransactionArguments, Unit
from conformance.embedded.objects.variants import E_INVALIDARG, Variant, guid_bytes, to_base64
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_PROPERTIES, MQ_ERROR_MISSING_CONNECTOR_TYPE

if TYPE_CHECKING:
    from conformance.embedded.objects.message import MessageObject
    from conformance.embedded.objects.queue_info import QueueInfoObject

Json = Any
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
            values["certificate"] = message.cached_certificate
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
        from conformance.embedded.objects.message import CALLER

        return CALLER

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
        if self.manager.objects.names.lists(values["destination_queue"]):
            carried["destination_queue"] = None  # each of several queues is the destination of its own copy
        return carried
