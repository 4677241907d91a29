"""Faults of sessions: their initialization, pings, and their acknowledgments. Importing this module registers them."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.network import layout as net
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.pings import Pings
from conformance.embedded.network.sender import Route, _up_to
from conformance.embedded.network.session import COUNT, FLAG_BITS, Session, State

# The initialization of sessions.


class PingedUnlessNamed(Session):
    def establish_answer(self, packet, *, refused):
        made = super().establish_answer(packet, refused=refused)
        return made if any(packet.server) else replace(made, system=made.system | net.NOT_PINGED)


fault(
    __name__,
    "no-ping-before-a-null-server",
    "The response to a request with a null ServerGuid has the SE bit set whether or not the request has.",
    ("MQQB-3.1.5.3.1.se",),
    ("session", PingedUnlessNamed),
)


class ParametersOfTheFirst(Session):
    def parameters_answer(self, packet):
        first = vars(self.node).setdefault("first_parameters", {}).setdefault(self.remote, packet)
        made = super().parameters_answer(packet)
        return replace(made, recoverable_ack_timeout=first.recoverable_ack_timeout, ack_timeout=first.ack_timeout)


fault(
    __name__,
    "parameters-of-the-first-session",
    "A ConnectionParameters response repeats the timeouts that this queue manager asked for on its first session.",
    ("MQQB-3.1.5.4.1.ack-timeout", "MQQB-3.1.5.4.1.recoverable-ack-timeout"),
    ("session", ParametersOfTheFirst),
)


class AsksAgain(Session):
    def answer_establish(self, packet):
        super().answer_establish(packet)
        if self.state is State.REFUSED:
            self.state = State.WAITING_EC


fault(
    __name__,
    "refused-may-ask-again",
    "Behind a refusal the acceptor waits for another EstablishConnection request on the same connection.",
    ("MQQB-3.1.5.3.state-closes", "MQQB-2.1.1.initialization"),
    ("session", AsksAgain),
)


class AnyClientForDirect(Session):
    def valid_response(self, packet):
        direct = self.route is not None and self.route.direct
        return super().valid_response(replace(packet, client=self.node.guid) if direct else packet)


fault(
    __name__,
    "direct-client-not-compared",
    "On a session for direct names the initiator takes a response that repeats another ClientGuid than its own.",
    ("MQQB-3.1.5.3.2.invalid-closes",),
    ("session", AnyClientForDirect),
)


class PingedByHabit(Session):
    def establish_request(self, *, pinged):
        return super().establish_request(pinged=pinged or self.node.settings.ping_first)


fault(
    __name__,
    "retry-says-pinged",
    "Where sessions begin with a ping, the request of a retry says that there was one, though a retry sends none.",
    ("MQQB-2.2.3.1.se",),
    ("session", PingedByHabit),
)

# Pings.


class ClientAlone(Pings):
    def response(self, ping):
        made = super().response(ping)
        return made if ping.flags == net.PING_CLIENT else replace(made, flags=made.flags & ~net.PING_CLIENT)


fault(
    __name__,
    "client-bit-alone-repeated",
    "A Ping response repeats the RC bit only if it is the only bit of the request.",
    ("MQQB-2.2.7.response-rc", "MQQB-2.2.7.flags-ignored"),
    ("pings", ClientAlone),
)


class RefusedAlone(Pings):
    def datagram(self, data, address):
        flags = int.from_bytes(data[:2], "little")
        if flags & net.PING_REFUSED and flags != net.PING_REFUSED:
            data = (flags & ~net.PING_REFUSED).to_bytes(2, "little") + data[2:]
        super().datagram(data, address)


fault(
    __name__,
    "refusal-is-the-whole-field",
    "A Ping response refuses only if RF is its only bit; with another one beside it, a connection is made.",
    ("MQQB-3.1.7.6.refused", "MQQB-2.2.7.flags-ignored"),
    ("pings", RefusedAlone),
)

# Session acknowledgments that are sent.


class SixteenMarks(Session):
    def header(self):
        made = super().header()
        return replace(made, recoverable_bits=made.recoverable_bits & 0xFFFF)


fault(
    __name__,
    "sixteen-marks",
    "An acknowledgment has marks for sixteen recoverable messages at most; those behind them are never marked.",
    ("MQMQ-2.2.20.4.recoverable-ack-flags",),
    ("session", SixteenMarks),
)


class MarksByMessage(Session):
    first_marked = 0

    def count_recoverable(self):
        before, acked = self.bits, self.last_acked
        super().count_recoverable()
        if not before or self.last_acked != acked:
            before, self.first_marked = 0, self.received
        behind = self.received - self.first_marked & COUNT
        self.bits = before | (1 << behind if behind < FLAG_BITS else 0)


fault(
    __name__,
    "marks-count-express-between",
    "The mark of a recoverable message counts all messages since the first one marked, express ones too.",
    (
        "MQMQ-2.2.20.4.recoverable-ack-flags",
        "MQQB-3.1.1.6.1.recoverable-were-sent",
        "MQQB-3.1.6.4.recoverable-once",
    ),
    ("session", MarksByMessage),
)


class LowestByMessages(Session):
    acked_messages = 0

    def header(self):
        made = super().header()
        return replace(made, recoverable=self.acked_messages + 1 & COUNT) if made.recoverable_bits else made

    def acked(self):
        super().acked()
        self.acked_messages = self.received


fault(
    __name__,
    "lowest-behind-all-messages",
    "RecoverableMsgAckSeqNumber follows the count of all messages of the last acknowledgment, not of recoverable ones.",
    (
        "MQQB-3.1.6.4.recoverable-lowest",
        "MQQB-3.1.1.6.1.recoverable-were-sent",
        "MQMQ-2.2.20.4.recoverable-ack-flags",
    ),
    ("session", LowestByMessages),
)


class CountsOnce(Route):
    def send(self, session, entry):
        session.again = bool(entry.number)
        super().send(session, entry)


class AgainUncounted(Session):
    again = False

    def count_sent(self, *, recoverable):
        before = self.sent, self.recoverable_sent
        numbers = super().count_sent(recoverable=recoverable)
        if self.again:
            self.sent, self.recoverable_sent = before
        return numbers


fault(
    __name__,
    "sent-again-not-counted",
    "A message that is sent a second time on a session is not counted again.",
    ("MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.7.1.3.recoverable-messages-sent"),
    ("route", CountsOnce),
    ("session", AgainUncounted),
)


class KnowsDelivery(Route):
    def send(self, session, entry):
        session.sends_recoverable = entry.recoverable
        super().send(session, entry)


class ExpressCarries(Session):
    sends_recoverable = False

    def piggyback(self):
        return super().piggyback() and not self.sends_recoverable


fault(
    __name__,
    "express-alone-carries",
    "A recoverable message carries no SessionHeader, however late the acknowledgment is.",
    ("MQQB-3.1.7.11.header-included",),
    ("route", KnowsDelivery),
    ("session", ExpressCarries),
)


class RejectedUncounted(Receiver):
    def reject(self, arrived, reason):
        super().reject(arrived, reason)
        if not arrived.recoverable:
            arrived.session.received = arrived.session.received - 1 & COUNT
            arrived.session.unacked_received -= 1


fault(
    __name__,
    "rejected-express-not-counted",
    "An express message that is rejected is counted neither as received nor as unacknowledged.",
    (
        "MQQB-3.1.5.8.2.acknowledged-in-time",
        "MQMQ-2.2.20.4.ack-sequence-number",
        "MQQB-3.1.5.5.5.counts-closes",
    ),
    ("receiver", RejectedUncounted),
)


class HurriesOnce(Session):
    has_acked = False

    def count_recoverable(self):
        first = not self.bits
        super().count_recoverable()
        if first and self.has_acked:
            self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))

    def acked(self):
        super().acked()
        self.has_acked = True


fault(
    __name__,
    "recoverable-hurries-once",
    "RecoverableAckTimeout holds for the first acknowledgment of a session; later ones wait half of AckTimeout.",
    ("MQQB-3.1.5.8.2.acknowledged-in-time",),
    ("session", HurriesOnce),
)

# Session acknowledgments that are received.


class StaysAlive(Session):
    was_acked = False

    def acknowledge(self, given):
        self.was_acked = True
        super().acknowledge(given)

    def ack_wait_over(self):
        super().ack_wait_over()
        self.received_ack = self.received_ack or self.was_acked


fault(
    __name__,
    "one-acknowledgment-is-enough",
    "Once a session has brought an acknowledgment, it is never closed for the want of another.",
    ("MQQB-3.1.6.3.closes",),
    ("session", StaysAlive),
)


class ComparesWithMarks(Session):
    def counts_agree(self, given):
        if not given.recoverable_bits:
            given = replace(given, recoverable_sent=self.recoverable_received)
        return super().counts_agree(given)


fault(
    __name__,
    "recoverable-count-compared-with-marks",
    "RecoverableMsgSeqNumber is compared only in a SessionHeader that acknowledges a recoverable message.",
    ("MQQB-3.1.5.5.5.counts-closes",),
    ("session", ComparesWithMarks),
)


class EmptiesWindow(Route):
    def acknowledged(self, given):
        if self.session is not None:
            waiting = [each for each in self.table.values() if each.awaiting and not each.session_acked]
            self.session.unacked_sent = sum(_up_to(each.number, given.received) for each in waiting)
        super().acknowledged(given)


fault(
    __name__,
    "any-acknowledgment-empties-window",
    "Each session acknowledgment makes the whole window free, however few messages it acknowledges.",
    ("MQQB-3.1.7.1.window",),
    ("route", EmptiesWindow),
)
