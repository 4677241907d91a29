"""Receive user messages (MS-MQQB 3.1.5.8) with their security, order and final acknowledgments (3.1.5.6, 3.1.5.7)."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE, NULL_GUID, Queue
from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import SessionHeader
from conformance.embedded.network.session import Session
from conformance.embedded.packet_layout import Bytes
from conformance.embedded.packet_reading import PacketReader

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node

Json = Any


class ArrivedReader(PacketReader):
    """Reads a user message that a session brought; what only its rejection can answer is no error of its layout."""

    def known_algorithms(self, privacy: int, hashed: int | None, cipher: int | None) -> bool:
        return True

    def message(self, packet: bytes) -> dict[str, Json]:
        """Return the user_message, with `encrypted` and `hash_known` beside its members. Raises Malformed."""
        read = super().message(packet)
        if "sender_identifier_type" in read:
            read["encrypted"] = bool(read["security_flags"] & lay.SECURITY_ENCRYPTED)
        return read

    def _security(self, source: Bytes, message: dict[str, Json]) -> tuple[bool, bool]:
        message["security_flags"] = int.from_bytes(source.peek(2), "little")
        return super()._security(source, message)


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message that came. own: this queue manager is its destination. queue: the one it names, if it is here."""

    session: Session
    packet: bytes
    read: dict[str, Json]
    own: bool
    queue: Queue | None

    @property
    def transactional(self) -> bool:
        return "transaction" in self.read

    @property
    def recoverable(self) -> bool:
        return bool(self.read["delivery"] == "recoverable")

    def asks(self, word: str) -> bool:
        """Return true if the message asks for this kind of administration acknowledgment."""
        return word in self.read["acknowledgements"]


class Receiver:
    """Processes the messages of all sessions."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.reader = ArrivedReader()

    def user_message(self, session: Session, packet: bytes) -> None:
        """Process a packet whose BaseHeader has IN clear. Raises Malformed for one that closes the session."""
        arrived = self.arrived(session, packet)
        if self.duplicate(arrived) or not (arrived.own or self.node.has_room(len(packet), passed_on=True)):
            return
        self.count(arrived)
        if self.is_order_queue(arrived.read):
            self.acknowledgment(arrived)
        else:
            self.deliver(arrived)
        self.session_header(arrived)
        session.processed()

    def arrived(self, session: Session, packet: bytes) -> Arrived:
        """Read a packet. Raises Malformed."""
        read = self.reader.message(packet)
        own = read["destination_queue_manager"] in (NULL_GUID, self.node.manager.guid)
        return Arrived(session, packet, read, own, self.node.local_queue(read["destination"]) if own else None)

    def duplicate(self, arrived: Arrived) -> bool:
        """Return true for a message that came before, which is discarded (3.1.5.8.1)."""
        return not arrived.transactional and self.node.history.knows(arrived.read)

    def count(self, arrived: Arrived) -> None:
        """Count a message and note its identifier (3.1.5.8.2)."""
        arrived.session.count_received()
        if self.is_direct(arrived.read):
            arrived.session.direct = True
        self.node.history.add(arrived.read)

    def is_direct(self, read: dict[str, Json]) -> bool:
        """Return true if UserHeader.Flags.DQ is 7."""
        return str(read["destination"]).startswith("DIRECT=")

    def recoverable(self, arrived: Arrived) -> None:
        """Save a recoverable message (3.1.5.8.7): it is written before anything acknowledges it."""
        if arrived.recoverable:
            arrived.session.count_recoverable()

    def session_header(self, arrived: Arrived) -> None:
        """Process the SessionHeader of a message (3.1.5.8.4): behind its delivery, as MS-MQMQ 2.2.20.4 has it."""
        given = arrived.read.get("session")
        if given is not None and arrived.session.open:
            header = SessionHeader(
                given["ack_sequence_number"],
                given["recoverable_ack_sequence_number"],
                given["recoverable_ack_flags"],
                given["user_message_sequence_number"],
                given["recoverable_message_sequence_number"],
                given["window_size"],
            )
            arrived.session.acknowledge(header)
            arrived.session.validate(header)

    # Messages.

    def deliver(self, arrived: Arrived) -> None:
        """Put a message into its queue, or reject it."""
        if not arrived.own:
            self.recoverable(arrived)
            self.pass_on(arrived)
            return
        reason = self.refusal(arrived)
        if reason is not None:
            self.rejected_recoverable(arrived)
            self.reject(arrived, reason)
        elif self.expired(arrived.read):
            self.rejected_recoverable(arrived)
            self.expire(arrived)
        else:
            accepted = not arrived.transactional or self.in_order(arrived)
            self.recoverable(arrived)
            if accepted:
                self.insert(arrived)

    def rejected_recoverable(self, arrived: Arrived) -> None:
        """Count a recoverable message that is rejected: the session has received it."""
        self.recoverable(arrived)

    def refusal(self, arrived: Arrived) -> int | None:
        """Return the class of the negative acknowledgment for a message (3.1.5.8.2, 3.1.5.8.3); None if it is taken."""
        queue = arrived.queue
        if queue is None:
            return net.NACK_BAD_DST_Q
        if arrived.transactional and not queue.transactional:
            return net.NACK_NOT_TRANSACTIONAL_Q
        if queue.transactional and not arrived.transactional:
            return net.NACK_NOT_TRANSACTIONAL_MSG
        return self.node.security.refusal(arrived.read, queue)

    def reject(self, arrived: Arrived, reason: int) -> None:
        """Reject a message, with the acknowledgments that it asks for."""
        if arrived.asks("negative_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, reason)
        if arrived.transactional:
            self.node.acknowledging.final(arrived.session, arrived.read, reason)

    def expired(self, read: dict[str, Json]) -> bool:
        """Return true if the time to reach the queue is over (3.1.7.1.2)."""
        lives = read["time_to_reach_queue"]
        return bool(lives != INFINITE and self.node.now() - read["sent_time"] > lives)

    def expire(self, arrived: Arrived) -> None:
        """Ignore a message that came too late, with the acknowledgment that it asks for."""
        if arrived.asks("negative_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, net.NACK_REACH_QUEUE_TIMEOUT)

    def in_order(self, arrived: Arrived) -> bool:
        """Process a transactional message (3.1.5.8.6); return true if it is accepted."""
        accepted = self.node.sequences.take(arrived.session, arrived.read)
        arrived.session.schedule_order_ack(self.node.sequences.key(arrived.session, arrived.read))
        return accepted

    def insert(self, arrived: Arrived) -> None:
        """Insert a message into a local queue (3.1.5.8.8), and send what follows from that."""
        queue = arrived.queue
        assert queue is not None
        message = self.node.manager.arrival.message(arrived.read)
        message.carried = self.node.carried(arrived)
        delivery = self.node.manager.delivery
        if self.node.is_full(message.size):
            arrived.session.close()
            return
        if not delivery.fits(queue, message):
            self.over_quota(arrived)
            return
        delivery.place(queue, message)
        self.trace(arrived)
        self.node.reply(arrived)
        if arrived.asks("positive_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, net.ACK_REACH_QUEUE)

    def over_quota(self, arrived: Arrived) -> None:
        """Reject a message for which its queue has no room."""
        manager = self.node.manager
        if not arrived.transactional:
            manager.delivery.dead_letter(manager.arrival.message(arrived.read))
        self.reject(arrived, net.NACK_Q_EXCEED_QUOTA)

    def trace(self, arrived: Arrived) -> None:
        """Send a report of a traced message (3.1.5.8.9)."""
        if arrived.read["trace"] and "trace_queue" in arrived.read:
            self.node.acknowledging.report(arrived.session, arrived.read)

    def pass_on(self, arrived: Arrived) -> None:
        """Send a message for another queue manager to it, with its hop count increased (3.1.5.8.2, 3.1.5.8.5)."""
        if arrived.read["hop_count"] >= lay.MAX_HOPS:
            self.reject(arrived, net.NACK_HOP_COUNT_EXCEEDED)
            return
        onward = lay.one_hop_further(base64.b64encode(arrived.packet).decode("ascii"))
        self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=onward)

    # Transactional acknowledgments.

    def is_order_queue(self, read: dict[str, Json]) -> bool:
        """Return true for a message to the order queue of this queue manager (3.1.5.1.1)."""
        name = str(read["destination"])
        if name.startswith("DIRECT="):
            return name.partition("\\")[2].lower() == f"private$\\{net.ORDER_QUEUE}"
        return name.lower() == f"private={self.node.manager.guid}\\{net.ORDER_QUEUE_NUMBER:08x}"

    def acknowledgment(self, arrived: Arrived) -> None:
        """Receive an OrderAck or a FinalAck. Anything else in the order queue is without effect."""
        self.recoverable(arrived)
        read, codec = arrived.read, self.node.codec
        body = base64.b64decode(read["body"])
        if read["label"] != net.LABEL or len(body) != net.ACKNOWLEDGMENT_BODY:
            return
        for route in self.node.routes_of(arrived.session):
            if read["class"] == net.ORDER_ACK:
                route.order_ack(codec.read_order_body(body))
            elif read["class"] >= net.ACK_RECEIVE:
                route.final_ack(codec.read_final_body(body), read["class"])


PRIVACY_BODY = 2  # PROPID_Q_PRIV_LEVEL of a queue that takes encrypted bodies alone (MS-MQMQ 2.3.1.10)


class Security:
    """Tells why a message is rejected.

    denied: the queues, by `private$\\name` in lower case, that nobody may send to.
    """

    def __init__(self, denied: frozenset[str]) -> None:
        self.denied = denied

    def refusal(self, read: dict[str, Json], queue: Queue) -> int | None:
        """Return the class of the negative acknowledgment for a message; None if it is welcome."""
        checks = (
            (net.NACK_BAD_SIGNATURE, self.known_privacy(read) and self.authentic(read)),
            (net.NACK_BAD_ENCRYPTION, self.readable(read)),
            (net.NACK_ACCESS_DENIED, self.allowed(read, queue)),
            (net.NACK_BAD_SIGNATURE, self.authenticated_enough(read, queue)),
            (net.NACK_BAD_ENCRYPTION, self.private_enough(read, queue)),
        )
        return next((reason for reason, holds in checks if not holds), None)

    def known_privacy(self, read: dict[str, Json]) -> bool:
        """Return true for a privacy level of the table of MS-MQMQ 2.2.19.3, or one that only decryption looks at."""
        return read["privacy_level"] in lay.PRIVACY_LEVELS or self.encrypted(read)

    def authentic(self, read: dict[str, Json]) -> bool:
        """Return true for a message whose signature is that of its sender, or that has none."""
        return "signature" not in read and "multiple_destination_signature" not in read

    def readable(self, read: dict[str, Json]) -> bool:
        """Return true for a message whose body can be decrypted, or is not encrypted."""
        return not self.encrypted(read)

    def encrypted(self, read: dict[str, Json]) -> bool:
        """Return true if SecurityHeader.Flags.EB is set."""
        return bool(read.get("encrypted"))

    def allowed(self, read: dict[str, Json], queue: Queue) -> bool:
        """Return true if the sender may send to the queue; asked of messages with a SecurityHeader alone."""
        local = queue.path.partition("\\")[2].lower()
        return "sender_identifier_type" not in read or local not in self.denied

    def authenticated_enough(self, read: dict[str, Json], queue: Queue) -> bool:
        """Return true unless the queue takes authenticated messages alone (MS-MQDMPR 3.1.1.2)."""
        return not queue.properties.get("PROPID_Q_AUTHENTICATE")

    def private_enough(self, read: dict[str, Json], queue: Queue) -> bool:
        """Return true unless the queue takes encrypted bodies alone (MS-MQDMPR 3.1.1.2)."""
        return queue.properties.get("PROPID_Q_PRIV_LEVEL") != PRIVACY_BODY
