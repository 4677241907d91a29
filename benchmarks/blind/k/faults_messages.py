"""Faults of what becomes of a message that comes or is passed on, and of the answers it asks for."""

from __future__ import annotations

import base64
import struct
import uuid
from dataclasses import replace

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import NULL_GUID
from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.sender import Route

HOPS = lay.BASE.size + lay.USER.size - 4  # the byte of UserHeader.Flags.RC in a packet
SOURCE = lay.BASE.size  # UserHeader.SourceQueueManager

# What is passed on.


class PassesWhole(Receiver):
    def pass_on(self, arrived):
        if "session" not in arrived.read or arrived.read["hop_count"] >= lay.MAX_HOPS:
            super().pass_on(arrived)
            return
        packet = bytearray(arrived.packet)
        packet[HOPS] += 1
        onward = base64.b64encode(packet).decode("ascii")
        self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=onward)


fault(
    __name__,
    "session-header-passed-on",
    "A message that came with a SessionHeader is passed on with it.",
    (
        "MQQB-3.1.7.11.header-included",
        "MQQB-3.1.7.1.3.user-messages-sent",
        "MQQB-3.1.7.1.3.recoverable-messages-sent",
        "MQQB-3.1.1.6.1.acknowledged-were-sent",
        "MQMQ-2.2.20.4.ack-sequence-number",
    ),
    ("receiver", PassesWhole),
)


class ClosesGaps(Receiver):
    def pass_on(self, arrived):
        given = arrived.read.get("transaction")
        if given is not None:
            sequence, number = given["sequence_identifier"], given["sequence_number"]
            start = struct.pack("<III", sequence["ordinal"], sequence["timestamp"], number)
            was = start + struct.pack("<I", given["previous_sequence_number"])
            packet = arrived.packet.replace(was, start + struct.pack("<I", number - 1), 1)
            arrived = replace(arrived, packet=packet)
        super().pass_on(arrived)


fault(
    __name__,
    "gap-closed-on-the-way",
    "A transactional message that is passed on is given the number before its own as the previous one.",
    ("MQQB-3.1.1.5.passed-on",),
    ("receiver", ClosesGaps),
)


class SecondRouter(Receiver):
    def pass_on(self, arrived):
        if arrived.read["hop_count"]:
            packet = arrived.packet
            packet = packet[:SOURCE] + self.node.guid + packet[SOURCE + len(self.node.guid) :]
            arrived = replace(arrived, packet=packet)
        super().pass_on(arrived)


fault(
    __name__,
    "second-router-is-the-source",
    "A message that has a hop behind it already is passed on with the router's identifier as SourceQueueManager.",
    ("MQMQ-2.2.19.2.source-queue-manager", "MQMQ-2.2.18.1.3.queue-manager-guid"),
    ("receiver", SecondRouter),
)


class DuplicatesOfOwn(Receiver):
    def duplicate(self, arrived):
        return arrived.own and super().duplicate(arrived)


fault(
    __name__,
    "duplicates-passed-on",
    "A message for another queue manager that came before is counted and passed on again.",
    ("MQQB-3.1.5.8.1.duplicate",),
    ("receiver", DuplicatesOfOwn),
)


class ExpiresUnsent(Route):
    def expired(self, entry):
        return not entry.transmitted and super().expired(entry)


fault(
    __name__,
    "once-sent-never-expires",
    "A message that was sent on one session is sent on the next one though its time to reach its queue is over.",
    ("MQQB-3.1.7.1.2.expired",),
    ("route", ExpiresUnsent),
)

# What arrives.


class ForgetsRejected(Receiver):
    def reject(self, arrived, reason):
        super().reject(arrived, reason)
        history = self.node.history
        key = history.identifier(arrived.read)
        if key in history._stamps:
            history._drop(key)


fault(
    __name__,
    "rejected-may-come-again",
    "The identifier of a message that is rejected is not kept: the same message again is rejected again, and counted.",
    ("MQQB-3.1.5.8.1.duplicate",),
    ("receiver", ForgetsRejected),
)


class HopsAtHome(Receiver):
    def refusal(self, arrived):
        named = arrived.own and arrived.read["destination_queue_manager"] != NULL_GUID
        if named and arrived.read["hop_count"] >= lay.MAX_HOPS:
            return net.NACK_HOP_COUNT_EXCEEDED
        return super().refusal(arrived)


fault(
    __name__,
    "last-hop-is-too-many",
    "A message that has reached its queue manager with the highest hop count is rejected for its hops.",
    ("MQMQ-2.2.18.1.6.nack-hop-count-exceeded", "MQQB-3.1.5.8.2.hop-count-exceeded"),
    ("receiver", HopsAtHome),
)


class NoQueueIsNotTransactional(Receiver):
    def refusal(self, arrived):
        if arrived.queue is None and arrived.transactional:
            return net.NACK_NOT_TRANSACTIONAL_Q
        return super().refusal(arrived)


fault(
    __name__,
    "no-queue-is-no-transactional-one",
    "A transactional message to a queue that does not exist is rejected as one to a queue that is not transactional.",
    ("MQQB-3.1.5.8.2.no-such-queue",),
    ("receiver", NoQueueIsNotTransactional),
)


class RecoverableWillDo(Receiver):
    def refusal(self, arrived):
        queue = arrived.queue
        if queue is not None and queue.transactional and not arrived.transactional and arrived.recoverable:
            return self.node.security.refusal(arrived.read, queue)
        return super().refusal(arrived)


fault(
    __name__,
    "recoverable-is-transactional-enough",
    "A transactional queue takes a message without a TransactionHeader if it is recoverable.",
    ("MQQB-3.1.5.8.2.not-transactional-message",),
    ("receiver", RecoverableWillDo),
)

# Administration acknowledgments.


class ReceiptCopies(Acknowledging):
    def administration_message(self, read, kind):
        made = super().administration_message(read, kind)
        if kind == net.ACK_RECEIVE and read.get("response_queue"):
            made["response_queue"] = read["response_queue"]
        return made


fault(
    __name__,
    "receipt-copies-response-queue",
    "The acknowledgment of a receipt names the response queue of the message, if that has one, as its own.",
    ("MQQB-3.1.7.15.response-queue",),
    ("acknowledging", ReceiptCopies),
)

FIRST_RECEIVE_NACK = 0xC000


class EmptyBehindArrival(Acknowledging):
    def returned_body(self, read, kind):
        return "" if kind >= FIRST_RECEIVE_NACK else super().returned_body(read, kind)


fault(
    __name__,
    "body-returned-before-arrival-only",
    "The negative acknowledgment of a message that was in its queue returns no body.",
    ("MQQB-3.1.7.15.body",),
    ("acknowledging", EmptyBehindArrival),
)


class CorrelatesWithPeer(Acknowledging):
    def administration(self, session, read, kind, remote=b""):
        peer = session.remote if session else remote
        if peer:
            source = {**read["identifier"], "source": str(uuid.UUID(bytes_le=peer))}
            self.correlated = self.correlation({**read, "identifier": source})
        else:
            self.correlated = self.correlation(read)
        super().administration(session, read, kind, remote)

    def administration_message(self, read, kind):
        return {**super().administration_message(read, kind), "correlation_identifier": self.correlated}


fault(
    __name__,
    "correlation-with-the-peer",
    "The correlation of an administration acknowledgment has the queue manager at the other end of the session.",
    ("MQQB-3.1.7.15.correlation",),
    ("acknowledging", CorrelatesWithPeer),
)

# Reports.


class RouterSigns(Acknowledging):
    def report_message(self, read, next_hop):
        made = super().report_message(read, next_hop)
        if next_hop is not None:
            source, own = read["identifier"]["source"].upper(), self.node.manager.guid.upper()
            made["label"] = made["label"].replace(f"received by {source}", f"received by {own}")
        return made


fault(
    __name__,
    "report-on-the-way-names-router",
    "The label of the report of a message that is passed on names the queue manager that passes it on.",
    ("MQQB-3.1.7.1.7.computer",),
    ("acknowledging", RouterSigns),
)


class AddressAlone(Acknowledging):
    def report_body(self, read, next_hop):
        return super().report_body(read, next_hop).replace("<TARGET QUEUE>DIRECT=", "<TARGET QUEUE>")


fault(
    __name__,
    "report-target-as-on-the-wire",
    "The body of a report names a direct destination without the word that begins a direct format name.",
    ("MQQB-3.1.7.1.7.target", "MQQB-3.1.7.1.7.body"),
    ("acknowledging", AddressAlone),
)
