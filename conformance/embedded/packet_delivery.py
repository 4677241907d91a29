"""Deliver an arrived packet to the queue it names, or reject it, and note its sequence (MS-MQDMPR 3.1.7.1.31)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE, NULL_GUID, Message, MqError, Queue
from conformance.embedded.sending import DEFAULTS, HEADER_BYTES, data_size
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_USAGE,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
NACK_BAD_DST_Q = 0x8000
NACK_Q_EXCEED_QUOTA = 0x8003
NACK_HOP_COUNT_EXCEEDED = 0x8005
NACK_NOT_TRANSACTIONAL_Q = 0x8009
NACK_NOT_TRANSACTIONAL_MSG = 0x800A


class Arrival:
    """Delivers packets."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def deliver(self, packet: str) -> None:
        """Put the message of a packet, given in base64, into its queue.

        Raises MqError: MQ_ERROR_INVALID_PARAMETER for a malformed packet, MQ_ERROR_QUEUE_NOT_FOUND for a queue that
        does not exist, MQ_ERROR_TRANSACTION_USAGE if only one of queue and message is transactional,
        MQ_ERROR_INSUFFICIENT_RESOURCES if a quota or the hop count is used up. Acknowledges a rejected message if the
        message asks for that.
        """
        read = self.manager.packet_reader.decode(packet)
        message = self.message(read)
        if read["destination_queue_manager"] in (NULL_GUID, self.manager.guid):
            self._local(read, message)
        else:
            self._onward(packet, read, message)

    def message(self, read: dict[str, Json]) -> Message:
        """Return the message for a user_message that was read from a packet."""
        transaction = read.get("transaction")
        fields = {name: read.get(name, default) for name, default in DEFAULTS.items()}
        for name in ("administration_queue", "response_queue", "identifier", "sent_time"):
            if name in read:
                fields[name] = read[name]
        fields["first_in_transaction"] = bool(transaction and transaction["first"])
        fields["last_in_transaction"] = bool(transaction and transaction["last"])
        size = HEADER_BYTES + self.manager.sending.label_bytes(fields)
        size += data_size(fields["body"]) + data_size(fields["extension"])
        sent_ms, lives = read["sent_time"] * 1000, read["time_to_be_received"]
        return Message(fields, size, sent_ms, self.expires_ms(sent_ms, lives), transaction is not None)

    def expires_ms(self, sent_ms: int, lives: int) -> int | None:
        """Return the expiry time of a message that lives for `lives` seconds; None for an infinite lifetime."""
        return None if lives == INFINITE else sent_ms + lives * 1000

    def _local(self, read: dict[str, Json], message: Message) -> None:
        destination = read["destination"]
        queue = self.manager.queues.find_local(destination)
        if queue is None or queue.kind not in ("private", "public"):
            self._reject(message, destination, NACK_BAD_DST_Q, MQ_ERROR_QUEUE_NOT_FOUND)
            return
        try:
            self._insert(queue, destination, message)
        except MqError:
            self.manager.incoming.rejected(queue, read)
            raise
        self.manager.incoming.accepted(queue, read)

    def _insert(self, queue: Queue, destination: str, message: Message) -> None:
        self.check_transaction(queue, destination, message)
        if not self.manager.delivery.fits(queue, message):
            if not message.transactional:
                self.manager.delivery.dead_letter(message)
            self._reject(message, destination, NACK_Q_EXCEED_QUOTA, MQ_ERROR_INSUFFICIENT_RESOURCES)
        self.place(queue, message)

    def place(self, queue: Queue, message: Message) -> None:
        """Enqueue Message, and acknowledge the arrival if the message asks for that."""
        self.manager.delivery.place(queue, message)
        self.manager.delivery.acknowledge_arrival(message, queue)

    def check_transaction(self, queue: Queue, destination: str, message: Message) -> None:
        """Reject a message if only one of message and queue is transactional."""
        if message.transactional != queue.transactional:
            kind = NACK_NOT_TRANSACTIONAL_Q if message.transactional else NACK_NOT_TRANSACTIONAL_MSG
            self._reject(message, destination, kind, MQ_ERROR_TRANSACTION_USAGE)

    def _onward(self, packet: str, read: dict[str, Json], message: Message) -> None:
        """Put the packet of a message for another manager into an outgoing queue, with its hop count increased."""
        destination = read["destination"]
        if read["hop_count"] >= lay.MAX_HOPS:
            self._reject(message, destination, NACK_HOP_COUNT_EXCEEDED, MQ_ERROR_INSUFFICIENT_RESOURCES)
        descriptor = self.manager.queues.open(destination, "send", "deny_none")
        queue = descriptor.queue
        self.manager.queues.close(descriptor)
        if queue is None or queue.kind != "outgoing":
            self._reject(message, destination, NACK_BAD_DST_Q, MQ_ERROR_QUEUE_NOT_FOUND)
            return
        message.carried = {"packet": lay.one_hop_further(packet)}
        self.manager.delivery.place(queue, message)

    def _reject(self, message: Message, destination: str, message_class: int, status: int) -> None:
        """Refuse a message, and acknowledge that if the message asks for it. Always raises MqError."""
        if "negative_arrival" in message.fields["acknowledgements"]:
            self.manager.delivery.acknowledge_from(message, destination, message_class)
        raise MqError(status)


_VT = ENUMERATIONS["VARENUM"].members
MOST_SEQUENCES = 10_000  # told of one queue, the newest


@dataclass(slots=True)
class Incoming:
    """One sequence. time: of the last message, seconds since 1970. rejects: of that message before it was taken."""

    format_name: str
    sender: str
    identifier: int
    number: int
    time: int
    rejects: int = 0


class IncomingTransfers:
    """Notes the sequences by queue, and tells them to an administrator."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self._of: dict[str, dict[tuple[str, int], Incoming]] = {}
        self._rejected: dict[tuple[str, str, int], int] = {}

    def accepted(self, queue: Queue, read: dict[str, Json]) -> None:
        """Note a transactional message, read from a packet, that the queue has taken."""
        found = self._found(queue, read)
        if found is not None:
            found.number = read["transaction"]["sequence_number"]
            found.rejects = self._rejected.pop((queue.id, found.sender, found.identifier), 0)

    def rejected(self, queue: Queue, read: dict[str, Json]) -> None:
        """Note a transactional message that the queue has not taken."""
        if not queue.transactional or not read.get("transaction"):
            return
        key = (queue.id, *_key(read))
        self._rejected[key] = self._rejected.get(key, 0) + 1
        if _key(read) in self._of.get(queue.id, {}):
            self._of[queue.id][_key(read)].time = self._now()

    def forget(self) -> None:
        """Forget every sequence."""
        self._of.clear()
        self._rejected.clear()

    def told(self, queue: Queue) -> list[Json]:
        """Return the six vectors of MS-MQMQ 2.3.12.24."""
        known = list(self._of.get(queue.id, {}).values())[-MOST_SEQUENCES:]
        return [
            _vector("VT_LPWSTR", [each.format_name for each in known]),
            _vector("VT_CLSID", [each.sender for each in known]),
            _vector("VT_UI8", [str(each.identifier) for each in known]),
            _vector("VT_UI4", [each.number for each in known]),
            _vector("VT_I4", [each.time for each in known]),
            _vector("VT_UI4", [each.rejects for each in known]),
        ]

    def _found(self, queue: Queue, read: dict[str, Json]) -> Incoming | None:
        if not queue.transactional or not read.get("transaction"):
            return None
        key = _key(read)
        known = self._of.setdefault(queue.id, {})
        if key not in known:
            known[key] = Incoming(read["destination"], *key, 0, 0)
        known[key].time = self._now()
        return known[key]

    def _now(self) -> int:
        return self.manager.clock.now_ms() // 1000


def _key(read: dict[str, Json]) -> tuple[str, int]:
    identifier = read["transaction"]["sequence_identifier"]
    return read["identifier"]["source"], identifier["timestamp"] << 32 | identifier["ordinal"]


def _vector(variant: str, values: list[Json]) -> Json:
    return {"vt": _VT[variant] | _VT["VT_VECTOR"], "value": values}
