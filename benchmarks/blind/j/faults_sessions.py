"""Faults of the sessions of an acceptor: their handshake and their acknowledgments. Importing this module registers them."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded import packet_layout as lay
from conformance.embedded.network import layout as net
from conformance.embedded.network.codec import SessionAck, head
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.framing import Frames
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.session import COUNT, Session, State
from conformance.embedded.packet_bytes import require

# The handshake of an acceptor.


class RecoverableNoLonger(Session):
    def parameters_answer(self, packet):
        made = super().parameters_answer(packet)
        return replace(made, recoverable_ack_timeout=min(packet.recoverable_ack_timeout, packet.ack_timeout))


fault(
    __name__,
    "recoverable-timeout-below-ack-timeout",
    "A ConnectionParameters response names AckTimeout as RecoverableAckTimeout where the request has a longer one.",
    ("MQQB-3.1.5.4.1.recoverable-ack-timeout",),
    ("session", RecoverableNoLonger),
)


class SameParameters(Session):
    agreed = None

    def parameter_states(self):
        return (*super().parameter_states(), State.OPEN)

    def answer_parameters(self, packet):
        if self.state is State.OPEN:
            require(packet == self.agreed)
            return
        self.agreed = packet
        super().answer_parameters(packet)


fault(
    __name__,
    "same-parameters-again-ignored",
    "A second ConnectionParameters packet that says the same as the first is taken for a repetition and ignored.",
    ("MQQB-3.1.5.4.state-closes",),
    ("session", SameParameters),
)


class _SignedOnce(Frames):
    session = None

    def signed(self, start):
        if not self.session.open:
            super().signed(start)


class TrustedBehindHandshake(Session):
    def __init__(self, *given):
        super().__init__(*given)
        self.frames = _SignedOnce(self.announced)
        self.frames.session = self

    def packet(self, packet):
        if self.open:
            packet = packet[:4] + lay.SIGNATURE.to_bytes(4, "little") + packet[8:]
        super().packet(packet)


fault(
    __name__,
    "signature-checked-in-handshake-only",
    "The signature of a packet is verified while a session is initialized, and no longer when it is open.",
    ("MQQB-3.1.5.1.2.signature-closes",),
    ("session", TrustedBehindHandshake),
)


# Session acknowledgments.


class HighestMarked(Session):
    def header(self):
        made = super().header()
        return replace(made, recoverable=self.recoverable_received) if self.bits else made


fault(
    __name__,
    "lowest-is-the-last",
    "RecoverableMsgAckSeqNumber is the number of the last recoverable message, also where several are acknowledged.",
    ("MQQB-3.1.6.4.recoverable-lowest", "MQMQ-2.2.20.4.recoverable-ack-lowest"),
    ("session", HighestMarked),
)


class PiggybackLeavesMarks(Session):
    def header_carried(self):
        bits, last = self.bits, self.last_acked
        super().header_carried()
        self.bits, self.last_acked = bits, last


fault(
    __name__,
    "carried-marks-stay",
    "A SessionHeader in a message does not clear the marks of recoverable messages: the next one has them again.",
    ("MQQB-3.1.6.4.recoverable-once",),
    ("session", PiggybackLeavesMarks),
)


class LargerWindow(Session):
    def header(self):
        return replace(super().header(), window=max(self.window, self.received_window))


fault(
    __name__,
    "window-grows-with-the-other",
    "WindowSize of a SessionHeader is that of the other side where that is larger than its own.",
    ("MQQB-3.1.6.4.window-size",),
    ("session", LargerWindow),
)


class PutOff(Session):
    def count_received(self):
        running = self.ack_send.running
        super().count_received()
        if running and not self.bits:
            self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))


fault(
    __name__,
    "ack-timer-restarted-by-each",
    "Each express message starts the timer of the session acknowledgment anew, so that a stream of them puts it off.",
    ("MQQB-3.1.5.8.2.acknowledged-in-time",),
    ("session", PutOff),
)


class LongTimerStays(Session):
    def count_recoverable(self):
        due = self.ack_send
        running, left = due.running, (1 - due.elapsed) * due._duration
        super().count_recoverable()
        if running and self.unacked_received > 1:
            self.ack_send.start(left)


fault(
    __name__,
    "recoverable-waits-for-express",
    "The first recoverable message behind an express one does not shorten the time to the acknowledgment.",
    ("MQQB-3.1.5.8.2.acknowledged-in-time",),
    ("session", LongTimerStays),
)


class AckWithNothing(Session):
    def ack_send_over(self):
        if self.owes_ack():
            super().ack_send_over()
        else:
            self.node.commit()
            self.write(SessionAck(head(net.SESSION_ACK), self.header()))


fault(
    __name__,
    "ack-of-nothing",
    "When its timer expires again behind an acknowledgment, a SessionAck is sent although nothing has come since.",
    ("MQQB-3.1.6.4.something-to-acknowledge",),
    ("session", AckWithNothing),
)


class NotItself(Session):
    carrying = False

    def piggyback(self):
        self.carrying = super().piggyback()
        return self.carrying

    def header(self):
        made = super().header()
        return replace(made, sent=made.sent - 1 & COUNT) if self.carrying else made

    def header_carried(self):
        self.carrying = False
        super().header_carried()


fault(
    __name__,
    "carrier-not-counted",
    "UserMsgSequenceNumber of a SessionHeader that a message carries leaves that message out.",
    ("MQQB-3.1.7.1.3.user-messages-sent", "MQMQ-2.2.20.4.user-msg-sequence-number"),
    ("session", NotItself),
)


class CarriedNotCompared(Receiver):
    def session_header(self, arrived):
        session = arrived.session
        session.compares = False
        super().session_header(arrived)
        session.compares = True


class ComparesAcks(Session):
    compares = True

    def counts_agree(self, given):
        return not self.compares or super().counts_agree(given)


fault(
    __name__,
    "carried-counts-not-compared",
    "The counts of a SessionHeader are compared in a SessionAck, and not in a user message.",
    ("MQQB-3.1.5.5.5.counts-closes", "MQMQ-2.2.20.4.user-msg-sequence-number-mismatch"),
    ("receiver", CarriedNotCompared),
    ("session", ComparesAcks),
)


class ClosesIdle(Session):
    def ack_wait_over(self):
        if not self.received_ack:
            self.close()
            return
        self.received_ack = False
        self.ack_wait.start(self.node.durations.ack_wait(self.ack_timeout_ms))


fault(
    __name__,
    "ack-wait-closes-what-is-acknowledged",
    "The timer that waits for acknowledgments closes a quiet session although all its messages are acknowledged.",
    ("MQQB-3.1.6.3.closes",),
    ("session", ClosesIdle),
)
