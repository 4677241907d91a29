"""Faults of sessions: their initialization, and what they count (MS-MQQB 3.1.5.2 to 3.1.5.8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded import packet_layout as lay
from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import Codec, ConnectionParameters, EstablishConnection, SessionHeader
from conformance.embedded.network.faults import also, fault
from conformance.embedded.network.incoming import History, Receiver
from conformance.embedded.network.session import COUNT, FLAG_BITS, Session, State
from conformance.embedded.network.settings import Durations
from conformance.embedded.packet_layout import Malformed

_KINDS = (net.SESSION_ACK, net.ESTABLISH_CONNECTION, net.CONNECTION_PARAMETERS)


@fault("reserved-set", Codec.internal, "MQQB-2.2.1.reserved")
def reserved_set(plain, self, of):
    """InternalHeader.Reserved is sent as 0x1234."""
    return plain(replace(of, reserved=0x1234))


@fault("unused-bit-set", Codec.internal, "MQQB-2.2.1.unused-bits")
def unused_bit_set(plain, self, of):
    """A bit of InternalHeader.Flags without meaning is set."""
    return plain(replace(of, unused=0x0400))


@fault("refusing-acknowledgment", Codec.internal, "MQQB-2.2.1.refused-elsewhere")
def refusing_acknowledgment(plain, self, of):
    """A SessionAck has the connection-refused bit set."""
    return plain(replace(of, refused=of.refused or of.packet_type == net.SESSION_ACK))


@fault("acknowledgment-unannounced", Codec.base, "MQQB-2.2.6.session-header-flag")
def acknowledgment_unannounced(plain, self, of):
    """BaseHeader.Flags.SH of a SessionAck is clear."""
    return plain(replace(of, base_flags=of.base_flags & ~lay.BASE_SESSION))


@fault("parameters-too-long", Codec.base, "MQQB-2.2.2.size")
def parameters_too_long(plain, self, of):
    """A ConnectionParameters packet has four bytes too many."""
    return plain(replace(of, size=of.size + 4 * (of.packet_type == net.CONNECTION_PARAMETERS)))


@also("parameters-too-long", Codec.parameters)
def parameters_too_long_parameters(plain, self, packet):
    return plain(packet) + bytes(4)


@fault("establish-too-long", Codec.base, "MQQB-2.2.3.size")
def establish_too_long(plain, self, of):
    """An EstablishConnection packet has four bytes too many."""
    return plain(replace(of, size=of.size + 4 * (of.packet_type == net.ESTABLISH_CONNECTION)))


@also("establish-too-long", Codec.establish)
def establish_too_long_establish(plain, self, packet):
    return plain(packet) + b"\x5a" * 4


@fault("establish-not-internal", Codec.base, "MQQB-2.2.3.internal-flag", "MQMQ-2.2.19.1.internal-set")
def establish_not_internal(plain, self, of):
    """BaseHeader.Flags.IN of an EstablishConnection packet is clear."""
    clear = lay.BASE_INTERNAL if of.packet_type == net.ESTABLISH_CONNECTION else 0
    return plain(replace(of, base_flags=of.base_flags & ~clear))


@fault("parameters-not-internal", Codec.base, "MQQB-2.2.2.internal-flag", "MQMQ-2.2.19.1.internal-set")
def parameters_not_internal(plain, self, of):
    """BaseHeader.Flags.IN of a ConnectionParameters packet is clear."""
    clear = lay.BASE_INTERNAL if of.packet_type == net.CONNECTION_PARAMETERS else 0
    return plain(replace(of, base_flags=of.base_flags & ~clear))


@fault("parameters-reserved-set", Codec.parameters, "MQQB-2.2.2.1.reserved")
def parameters_reserved_set(plain, self, packet):
    """ConnectionParametersHeader.Reserved is sent as 1."""
    return plain(replace(packet, reserved=1))


@fault("internal-packets-expire", Codec.base, "MQMQ-2.2.19.1.time-to-reach-queue-internal")
def internal_packets_expire(plain, self, of):
    """Internal packets have the time to reach a queue of a message."""
    return plain(replace(of, time_to_reach_queue=345_600))


@fault("refuses-own-identifier", Session.valid_request, "MQQB-3.1.5.3.1.cs")
def refuses_own_identifier(plain, self, packet):
    """A request that names this queue manager is refused."""
    return packet.server != self.node.guid and plain(packet)


@fault(
    "accepts-any-identifier", Session.valid_request, "MQQB-3.1.5.3.1.cs", "MQQB-2.2.1.connection-state",
    "MQQB-3.1.5.3.1.server-guid",
)  # fmt: skip
def accepts_any_identifier(plain, self, packet):
    """A request for another queue manager is accepted."""
    return True


class _Answers(Session):
    """Changes the response to an EstablishConnection request."""

    changed: ClassVar[dict[str, object]] = {}

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        return replace(super().establish_answer(packet, refused=refused), **self.changed)  # type: ignore[arg-type]


@fault("padding-of-zeros", "session", "MQQB-2.2.3.1.padding")
class PaddingOfZeros(_Answers):
    """The padding of an EstablishConnection response is zero."""

    changed: ClassVar[dict[str, object]] = {"padding": bytes(512)}


@fault("padding-ends-early", "session", "MQQB-2.2.3.1.padding")
class PaddingEndsEarly(_Answers):
    """The last byte of the padding of an EstablishConnection response is zero."""

    changed: ClassVar[dict[str, object]] = {"padding": b"\x5a" * 511 + b"\0"}


@fault("establish-reserved-set", "session", "MQQB-2.2.3.1.reserved")
class EstablishReservedSet(_Answers):
    """EstablishConnectionHeader.Reserved of a response is not zero."""

    changed: ClassVar[dict[str, object]] = {"reserved": 0x0310}


@fault("client-not-repeated", "session", "MQQB-3.1.5.3.1.client-guid", "MQQB-2.2.3.1.client-guid")
class ClientNotRepeated(_Answers):
    """A response has the acceptor's identifier as ClientGuid."""

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        return replace(super().establish_answer(packet, refused=refused), client=self.node.guid)


@fault("server-null", "session", "MQQB-3.1.5.3.1.server-guid", "MQQB-2.2.3.1.server-guid-response")
class ServerNull(_Answers):
    """A response has a null ServerGuid."""

    changed: ClassVar[dict[str, object]] = {"server": bytes(16)}


@fault("time-stamp-changed", "session", "MQQB-3.1.5.3.1.time-stamp")
class TimeStampChanged(_Answers):
    """A response has another TimeStamp than its request."""

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        made = super().establish_answer(packet, refused=refused)
        return replace(made, time_stamp=packet.time_stamp + 1 & 0xFFFFFFFF)


class _SystemXor(_Answers):
    turned = 0

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        made = super().establish_answer(packet, refused=refused)
        return replace(made, system=made.system ^ self.turned)


@fault("system-low-byte", "session", "MQQB-2.2.3.1.re")
class SystemLowByte(_SystemXor):
    """The low byte of OperatingSystem of a response is not 0x10."""

    turned = net.SYSTEM_RESERVED


@fault("system-unused-bit", "session", "MQQB-2.2.3.1.unused-bits")
class SystemUnusedBit(_SystemXor):
    """A bit of OperatingSystem without meaning is set."""

    turned = 0x4000


@fault("session-flag-turned", "session", "MQQB-3.1.5.3.1.se", "MQQB-2.2.3.1.se-response")
class SessionFlagTurned(_SystemXor):
    """The SE bit of a response is not that of its request."""

    turned = net.NOT_PINGED


class _Parameters(Session):
    """Changes the response to a ConnectionParameters request."""

    changed: ClassVar[dict[str, object]] = {}

    def parameters_answer(self, packet: ConnectionParameters) -> ConnectionParameters:
        return replace(super().parameters_answer(packet), **self.changed)  # type: ignore[arg-type]


@fault("recoverable-timeout-own", "session", "MQQB-3.1.5.4.1.recoverable-ack-timeout")
class RecoverableTimeoutOwn(_Parameters):
    """A ConnectionParameters response has a RecoverableAckTimeout of its own."""

    changed: ClassVar[dict[str, object]] = {"recoverable_ack_timeout": net.LEAST_RECOVERABLE_ACK + 1}


@fault("ack-timeout-own", "session", "MQQB-3.1.5.4.1.ack-timeout")
class AckTimeoutOwn(_Parameters):
    """A ConnectionParameters response has an AckTimeout of its own."""

    changed: ClassVar[dict[str, object]] = {"ack_timeout": net.MOST_ACK - 1}


@fault("parameters-refused", "session", "MQQB-3.1.5.4.1.cs")
class ParametersRefused(_Parameters):
    """A ConnectionParameters response has the connection-refused bit set."""

    def parameters_answer(self, packet: ConnectionParameters) -> ConnectionParameters:
        made = super().parameters_answer(packet)
        return replace(made, head=replace(made.head, refused=True))


@fault(
    "window-narrower", "session", "MQQB-3.1.5.4.1.window-size", "MQQB-3.1.3.2.window-size", "MQQB-3.1.6.4.window-size"
)
class WindowNarrower(_Parameters):
    """A ConnectionParameters response names a window of 16."""

    changed: ClassVar[dict[str, object]] = {"window": 16}


@fault("establish-answered-again", Session.establish_states, "MQQB-3.1.5.3.state-closes")
def establish_answered_again(plain, self):
    """An EstablishConnection packet is answered in every state."""
    return tuple(State)


@also("establish-answered-again", Session.answer_establish)
def establish_answered_again_answer_establish(plain, self, packet):
    state = self.state
    plain(packet)
    if state is State.OPEN:
        self.state = state


@fault("parameters-answered-any-time", Session.parameter_states, "MQQB-3.1.5.4.state-closes")
def parameters_answered_any_time(plain, self):
    """A ConnectionParameters packet is answered in every state."""
    return tuple(State)


@fault(
    "early-messages-ignored", Session.announced, "MQQB-3.1.5.8.state-closes", "MQQB-3.1.5.6.state-closes",
    "MQQB-3.1.5.7.state-closes",
)  # fmt: skip
def early_messages_ignored(plain, self, flags):
    """User messages before the session is open are ignored, and the session goes on."""


@also("early-messages-ignored", Session.packet)
def early_messages_ignored_packet(plain, self, packet):
    if self.open or packet[2] & lay.BASE_INTERNAL:
        plain(packet)


@fault(
    "early-messages-delivered", Session.announced, "MQQB-3.1.5.8.state-closes", "MQQB-3.1.5.6.state-closes",
    "MQQB-3.1.5.7.state-closes",
)  # fmt: skip
def early_messages_delivered(plain, self, flags):
    """User messages before the session is open are delivered."""


@fault("early-acknowledgment-ignored", Session.session_ack, "MQQB-3.1.5.5.state-closes")
def early_acknowledgment_ignored(plain, self, packet):
    """A SessionAck before the session is open is ignored."""
    if self.open:
        plain(packet)


@fault("unknown-packet-ignored", Session.packet, "MQQB-2.2.1.packet-type-closes")
def unknown_packet_ignored(plain, self, packet):
    """An internal packet of an unknown type is ignored."""
    if not packet[2] & lay.BASE_INTERNAL or packet[18] & net.PACKET_TYPE in _KINDS:
        plain(packet)


@fault(
    "incorrect-packets-ignored", Session.incorrect, "MQQB-3.1.5.1.2.signature-closes",
    "MQQB-3.1.5.1.3.malformed-closes", "MQQB-2.2.1.packet-type-closes", "MQQB-3.1.5.3.state-closes",
    "MQQB-3.1.5.4.state-closes",
)  # fmt: skip
def incorrect_packets_ignored(plain, self):
    """A packet with a wrong signature or layout is thrown away, and the session goes on."""
    self.frames = type(self.frames)(self.announced)


@fault("malformed-message-ignored", Receiver.user_message, "MQQB-3.1.5.1.3.malformed-closes")
def malformed_message_ignored(plain, self, session, packet):
    """A user message that breaks its layout is thrown away, and the session goes on."""
    try:
        plain(session, packet)
    except Malformed:
        return


@fault(
    "open-without-parameters", Session.answer_establish, "MQQB-3.1.5.8.state-closes", "MQQB-3.1.5.5.state-closes",
    "MQQB-3.1.5.4.state-closes",
)  # fmt: skip
def open_without_parameters(plain, self, packet):
    """A session is open before the parameters have come."""
    plain(packet)
    if self.state is State.WAITING_CP:
        self.state = State.OPEN


@also("open-without-parameters", Session.parameter_states)
def open_without_parameters_parameter_states(plain, self):
    return (*plain(), State.OPEN)


Json = Any


@fault(
    "acknowledges-one-more", Session.header, "MQQB-3.1.1.6.1.acknowledged-were-sent",
    "MQMQ-2.2.20.4.ack-sequence-number",
)  # fmt: skip
def acknowledges_one_more(plain, self):
    """AckSequenceNumber counts a message that was not sent."""
    made = plain()
    return replace(made, received=made.received + 1 & COUNT)


@fault("acknowledges-since-last", Session.header, "MQQB-3.1.1.6.1.never-decreases", "MQMQ-2.2.20.4.ack-sequence-number")
def acknowledges_since_last(plain, self):
    """AckSequenceNumber counts from the last acknowledgment on."""
    return replace(plain(), received=self.unacked_received & COUNT)


@fault("counts-sent-wrong", Session.header, "MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.6.4.sent")
def counts_sent_wrong(plain, self):
    """UserMsgSequenceNumber is one more than was sent."""
    made = plain()
    return replace(made, sent=made.sent + 1 & COUNT)


@fault(
    "counts-recoverable-sent-wrong", Session.header, "MQQB-3.1.7.1.3.recoverable-messages-sent",
    "MQQB-3.1.6.4.recoverable-sent",
)  # fmt: skip
def counts_recoverable_sent_wrong(plain, self):
    """RecoverableMsgSeqNumber is one more than was sent."""
    made = plain()
    return replace(made, recoverable_sent=made.recoverable_sent + 1 & COUNT)


@fault(
    "recoverable-bits-missing", Session.header, "MQQB-3.1.6.4.recoverable-none", "MQMQ-2.2.20.4.recoverable-ack-flags"
)
def recoverable_bits_missing(plain, self):
    """RecoverableMsgAckFlags is zero although a message is acknowledged."""
    return replace(plain(), recoverable_bits=0)


@fault("recoverable-number-missing", Session.header, "MQQB-3.1.6.4.recoverable-none")
def recoverable_number_missing(plain, self):
    """RecoverableMsgAckSeqNumber is zero although bits are set."""
    return replace(plain(), recoverable=0)


@fault("recoverable-number-before", Session.header, "MQQB-3.1.6.4.recoverable-lowest")
def recoverable_number_before(plain, self):
    """RecoverableMsgAckSeqNumber names a message that was acknowledged before."""
    made = plain()
    if not made.recoverable_bits or made.recoverable < 2:
        return made
    return replace(made, recoverable=made.recoverable - 1, recoverable_bits=made.recoverable_bits << 1 & 0xFFFFFFFF)


@fault(
    "recoverable-first-skipped", Session.header, "MQQB-3.1.6.4.recoverable-lowest", "MQQB-3.1.6.4.recoverable-none",
    "MQMQ-2.2.20.4.recoverable-ack-flags",
)  # fmt: skip
def recoverable_first_skipped(plain, self):
    """Bit 0 of RecoverableMsgAckFlags is never set."""
    made = plain()
    return replace(made, recoverable_bits=made.recoverable_bits & ~1)


@fault("recoverable-acknowledged-again", "session", "MQQB-3.1.6.4.recoverable-once")
class RecoverableAcknowledgedAgain(Session):
    """Recoverable messages are acknowledged again each time."""

    before = (0, 0)

    def header(self) -> SessionHeader:
        made, (first, bits) = super().header(), self.before
        behind = made.recoverable - first
        if not made.recoverable_bits or not bits or not 0 < behind + made.recoverable_bits.bit_length() <= FLAG_BITS:
            return made
        return replace(made, recoverable=first, recoverable_bits=bits | made.recoverable_bits << behind)

    def acked(self) -> None:
        made = Session.header(self)
        self.before = (made.recoverable, made.recoverable_bits)
        super().acked()


@fault("recoverable-not-sent", Session.header, "MQQB-3.1.1.6.1.recoverable-were-sent")
def recoverable_not_sent(plain, self):
    """A recoverable message is acknowledged that was not sent."""
    made = plain()
    return replace(made, recoverable_bits=(made.recoverable_bits << 1 | 1) & 0xFFFFFFFF if made.recoverable else 0)


@fault(
    "never-acknowledges", Session.send_ack, "MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.5.8.7.recoverable-at-once"
)
def never_acknowledges(plain, self):
    """No SessionAck is ever sent."""
    self.acked()


@fault("express-not-acknowledged", Session.owes_ack, "MQQB-3.1.5.8.2.acknowledged-in-time")
def express_not_acknowledged(plain, self):
    """Express messages are not acknowledged."""
    return bool(self.bits)


@also("express-not-acknowledged", Session.window_is_full)
def express_not_acknowledged_window_is_full(plain, self):
    return False


@fault("acknowledges-late", Durations.ack_send, "MQQB-3.1.5.8.2.acknowledged-in-time")
def acknowledges_late(plain, self, ack_timeout_ms):
    """Acknowledgments take four times as long as they may."""
    return 4 * plain(ack_timeout_ms)


@also("acknowledges-late", Durations.recoverable_ack_send)
def acknowledges_late_recoverable_ack_send(plain, self, timeout_ms):
    return 4 * plain(timeout_ms)


@fault("recoverable-as-express", Session.count_recoverable, "MQQB-3.1.5.8.2.acknowledged-in-time")
def recoverable_as_express(plain, self):
    """A recoverable message is acknowledged when an express one would be."""
    running = self.ack_send.running
    plain()
    if running:
        self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))


@fault("recoverable-put-off", Session.count_recoverable, "MQQB-3.1.5.8.7.recoverable-at-once")
def recoverable_put_off(plain, self):
    """An acknowledgment is put off although 32 recoverable messages wait for it."""
    if self.marked() < 32:
        plain()
    else:
        self.recoverable_received = self.recoverable_received + 1 & COUNT


@also("recoverable-put-off", Session.window_is_full)
def recoverable_put_off_window_is_full(plain, self):
    return False


@fault("acknowledges-nothing", Session.ack_send_over, "MQQB-3.1.6.4.something-to-acknowledge")
def acknowledges_nothing(plain, self):
    """A SessionAck is sent when nothing has come since the last one."""
    if not self.owes_ack():
        self.send_ack()
    plain()


@fault("acknowledges-twice", Session.send_ack, "MQQB-3.1.6.4.something-to-acknowledge")
def acknowledges_twice(plain, self):
    """Each SessionAck is sent twice."""
    plain()
    plain()


@fault("window-wider", Session.header, "MQQB-3.1.6.4.window-size")
def window_wider(plain, self):
    """WindowSize of a SessionHeader is larger than that of the parameters."""
    return replace(plain(), window=2 * self.window)


@fault("window-none", Session.header, "MQMQ-2.2.20.4.window-size-range")
def window_none(plain, self):
    """WindowSize of a SessionHeader is zero."""
    return replace(plain(), window=0)


@fault("wrong-counts-accepted", Session.counts_agree, "MQQB-3.1.5.5.5.counts-closes")
def wrong_counts_accepted(plain, self, given):
    """A SessionHeader that counts otherwise leaves the session open."""
    return True


@fault("wrong-recoverable-counts-accepted", Session.counts_agree, "MQQB-3.1.5.5.5.counts-closes")
def wrong_recoverable_counts_accepted(plain, self, given):
    """A SessionHeader that counts recoverable messages otherwise is accepted."""
    return given.sent == self.received


@fault("recoverable-uncounted", Session.header, "MQMQ-2.2.20.4.ack-sequence-number", "MQQB-3.1.6.4.acknowledged")
def recoverable_uncounted(plain, self):
    """AckSequenceNumber leaves out recoverable messages."""
    made = plain()
    return replace(made, received=made.received - self.recoverable_received & COUNT)


@fault("duplicates-delivered", History.knows, "MQQB-3.1.5.8.1.duplicate")
def duplicates_delivered(plain, self, read):
    """A message whose identifier came before is delivered again."""
    return False


@fault("duplicates-by-body", History.identifier, "MQQB-3.1.5.8.1.duplicate")
def duplicates_by_body(plain, self, read):
    """Messages of the same label and body are taken for duplicates."""
    return f"{read['label']}:{read['body']}"
