"""Faults of sequences and of what is sent, of the handshake of an initiator, of pings and reports. Importing this module registers them."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.entities import INFINITE
from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.local import NetworkDelivery
from conformance.embedded.network.pings import Pings
from conformance.embedded.network.sender import Route
from conformance.embedded.network.sequences import Incoming, Sequences
from conformance.embedded.network.session import Session, State

# Sequences, order and final acknowledgments.


class NoOrderForRejected(Receiver):
    def in_order(self, arrived):
        accepted = self.node.sequences.take(arrived.session, arrived.read)
        if accepted:
            arrived.session.schedule_order_ack(self.node.sequences.key(arrived.session, arrived.read))
        return accepted


fault(
    __name__,
    "no-order-ack-for-a-repetition",
    "A transactional message that comes again schedules no OrderAck, so that a lost one is never made good.",
    ("MQQB-3.1.5.8.6.scheduled", "MQQB-3.1.6.9.sent"),
    ("receiver", NoOrderForRejected),
)


class FromOneOnly(Sequences):
    def accepts(self, state, identifier, number, previous):
        if identifier > state.identifier and number != 1:
            return False
        return super().accepts(state, identifier, number, previous)


fault(
    __name__,
    "new-sequence-from-one-only",
    "A new sequence is accepted only from number 1 on, also where its first message names no previous one.",
    ("MQQB-3.1.5.8.6.accepted",),
    ("sequences", FromOneOnly),
)


class SequenceOfSession(Sequences):
    def take(self, session, read):
        if not session.__dict__.get("began"):
            session.began = True
            self.put(self.key(session, read), Incoming())
        return super().take(session, read)


fault(
    __name__,
    "sequence-of-one-session",
    "The incoming sequence is forgotten with the session: its next message is not accepted on another one.",
    ("MQQB-3.1.5.8.6.accepted",),
    ("sequences", SequenceOfSession),
)


class LastFormDecides(Receiver):
    def count(self, arrived):
        super().count(arrived)
        arrived.session.direct = self.is_direct(arrived.read)


fault(
    __name__,
    "last-name-decides-order-queue",
    "The name of the order queue follows the last message of a session; a direct one before it is forgotten.",
    ("MQQB-3.1.7.17.destination-form",),
    ("receiver", LastFormDecides),
)


class PositiveJournalOnly(NetworkDelivery):
    def wants_final(self, message):
        transaction = (message.carried or {})["came"]["read"].get("transaction")
        if transaction is None:
            return False
        return bool(message.fields["positive_journaling"] or transaction["final_ack_required"])


fault(
    __name__,
    "negative-journal-without-final",
    "A transactional message that asks for negative journaling alone has no FinalAck when it is received.",
    ("MQQB-3.1.7.2.2.wanted",),
    ("delivery", PositiveJournalOnly),
)


class OneLess(Acknowledging):
    def final_body(self, read):
        made = super().final_body(read)
        return replace(made, previous=made.number - 1)


fault(
    __name__,
    "final-ack-bridges-nothing",
    "TxPreviousSequenceNumber of a FinalAck is one less than the number, also for a message that bridged a gap.",
    ("MQQB-2.2.5.1.previous",),
    ("acknowledging", OneLess),
)


# What is sent, and sent again.


class OnlyNotSessionAcked(Route):
    def order_wait_over(self):
        if self.session is None or not any(entry.tx_number for entry in self.table.values()):
            return
        for entry in self.table.values():
            if entry.tx_number and not entry.order_acked and not entry.session_acked:
                if entry.awaiting:
                    self.session.unacked_sent -= 1
                entry.awaiting = False
        self.order_wait.start(self.node.durations.resend(self.sequence.resend))
        self.pump()


fault(
    __name__,
    "session-ack-ends-resending",
    "A transactional message with a session acknowledgment and without an OrderAck is not sent again.",
    ("MQQB-3.1.6.5.resent", "MQQB-3.1.1.6.2.retained"),
    ("route", OnlyNotSessionAcked),
)


class AllOrdered(Route):
    def order_ack(self, body):
        if body.sequence == self.sequence.identifier and self.sequence.number > 1:
            body = replace(body, number=self.sequence.number - 1)
        super().order_ack(body)


fault(
    __name__,
    "order-ack-for-all",
    "An OrderAck is taken for all messages of its sequence, also those above the number it names.",
    ("MQQB-3.1.6.5.resent", "MQQB-3.1.1.6.2.retained"),
    ("route", AllOrdered),
)


class NewTime(Route):
    def next_sequence(self):
        before = self.sequence.identifier
        super().next_sequence()
        if self.sequence.identifier != before:
            stamp = (self.sequence.identifier >> 32) + 1
            self.sequence.identifier = stamp << 32 | self.sequence.identifier & INFINITE
            self.node.keep_route(self)


fault(
    __name__,
    "next-sequence-of-a-new-time",
    "The sequence behind one that is acknowledged has another time stamp beside the next ordinal.",
    ("MQQB-3.1.1.5.next-sequence",),
    ("route", NewTime),
)


class OneMore(Session):
    def may_send(self):
        return self.open and self.unacked_sent <= self.send_window()


fault(
    __name__,
    "window-plus-one",
    "One message more than WindowSize is under way without an acknowledgment.",
    ("MQQB-3.1.7.1.window",),
    ("session", OneMore),
)


class PassedOnNeverExpires(Route):
    def expired(self, entry):
        return entry.packet is None and super().expired(entry)


fault(
    __name__,
    "passing-message-never-expires",
    "A message of another queue manager is not checked for its TimeToReachQueue again before it is passed on.",
    ("MQQB-3.1.7.1.2.expired",),
    ("route", PassedOnNeverExpires),
)


# The handshake of an initiator.


class FourTrips(Session):
    def round_trip_timeout(self, packet):
        trip = (self.node.uptime_ms() - packet.time_stamp) & 0xFFFFFFFF
        return max(net.LEAST_RECOVERABLE_ACK, min(2 * trip, net.MOST_ACK))


fault(
    __name__,
    "two-round-trips",
    "RecoverableAckTimeout of a slow acceptor is twice the round trip, not eight times.",
    ("MQQB-3.1.5.3.2.round-trip",),
    ("session", FourTrips),
)


class RemembersServer(Session):
    def establish_response(self, packet):
        super().establish_response(packet)
        if self.route is not None and self.state is State.WAITING_CPR:
            self.route.met = packet.server

    def establish_request(self, *, pinged):
        made = super().establish_request(pinged=pinged)
        return replace(made, server=getattr(self.route, "met", made.server))


fault(
    __name__,
    "direct-server-remembered",
    "When a session for a direct name is established again, the request names the acceptor that answered before.",
    ("MQQB-3.1.5.2.3.server-guid",),
    ("session", RemembersServer),
)


# Pings.


class ShortCookie(Pings):
    def response(self, ping):
        return replace(super().response(ping), cookie=ping.cookie & 0xFFFF)


fault(
    __name__,
    "ping-cookie-of-16-bits",
    "A Ping response repeats only the low 16 bits of the Cookie.",
    ("MQQB-2.2.7.response-cookie",),
    ("pings", ShortCookie),
)


class SameCookie(Pings):
    def request(self, address, done):
        self.cookie = 0
        super().request(address, done)


fault(
    __name__,
    "ping-cookie-begins-anew",
    "Each Ping request has the same Cookie.",
    ("MQQB-3.1.7.6.cookie",),
    ("pings", SameCookie),
)


# Reports.


class DecimalHops(Acknowledging):
    def report_label(self, read):
        label = super().report_label(read)
        return f"{label[:14]}{read.get('hop_count', 0):02}{label[16:]}"


fault(
    __name__,
    "report-hops-in-decimal",
    "The hops in the label of a report are decimal, which shows from ten hops on.",
    ("MQQB-3.1.7.1.7.label", "MQQB-3.1.5.8.9.fields"),
    ("acknowledging", DecimalHops),
)


class ReportAsMessage(Acknowledging):
    def report_message(self, read, next_hop):
        return {**super().report_message(read, next_hop), "delivery": read["delivery"]}


fault(
    __name__,
    "report-as-recoverable-as-message",
    "The report of a recoverable message is recoverable.",
    ("MQQB-3.1.7.1.7.delivery", "MQQB-3.1.5.8.9.fields"),
    ("acknowledging", ReportAsMessage),
)
