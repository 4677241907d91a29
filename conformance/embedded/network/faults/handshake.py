"""Faults of session initialization, and of what closes a session (MS-MQQB 2.2.1 to 2.2.3, 3.1.5.1 to 3.1.5.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from conformance.embedded import packet_layout as lay
from conformance.embedded.network import layout as net
from conformance.embedded.network.codec import (
    Codec,
    ConnectionParameters,
    EstablishConnection,
)
from conformance.embedded.network.faults.base import also, fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.session import Session, State
from conformance.embedded.packet_bytes import Malformed

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


@fault("window-narrower", "session", "MQQB-3.1.3.2.window-size", "MQQB-3.1.6.4.window-size")
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
