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
    Head,
    SessionAck,
)
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.session import Session, State
from conformance.embedded.packet_bytes import Malformed

_KINDS = (net.SESSION_ACK, net.ESTABLISH_CONNECTION, net.CONNECTION_PARAMETERS)


class _Reserved(Codec):
    def internal(self, of: Head) -> bytes:
        return super().internal(replace(of, reserved=0x1234))


class _UnusedBit(Codec):
    def internal(self, of: Head) -> bytes:
        return super().internal(replace(of, unused=0x0400))


class _RefusingAck(Codec):
    def internal(self, of: Head) -> bytes:
        return super().internal(replace(of, refused=of.refused or of.packet_type == net.SESSION_ACK))


class _AckUnannounced(Codec):
    def base(self, of: Head) -> bytes:
        return super().base(replace(of, base_flags=of.base_flags & ~lay.BASE_SESSION))


class _ParametersLong(Codec):
    def base(self, of: Head) -> bytes:
        return super().base(replace(of, size=of.size + 4 * (of.packet_type == net.CONNECTION_PARAMETERS)))

    def parameters(self, packet: ConnectionParameters) -> bytes:
        return super().parameters(packet) + bytes(4)


class _EstablishLong(Codec):
    def base(self, of: Head) -> bytes:
        return super().base(replace(of, size=of.size + 4 * (of.packet_type == net.ESTABLISH_CONNECTION)))

    def establish(self, packet: EstablishConnection) -> bytes:
        return super().establish(packet) + b"\x5a" * 4


class _EstablishUnflagged(Codec):
    def base(self, of: Head) -> bytes:
        clear = lay.BASE_INTERNAL if of.packet_type == net.ESTABLISH_CONNECTION else 0
        return super().base(replace(of, base_flags=of.base_flags & ~clear))


class _ParametersUnflagged(Codec):
    def base(self, of: Head) -> bytes:
        clear = lay.BASE_INTERNAL if of.packet_type == net.CONNECTION_PARAMETERS else 0
        return super().base(replace(of, base_flags=of.base_flags & ~clear))


class _ParametersReserved(Codec):
    def parameters(self, packet: ConnectionParameters) -> bytes:
        return super().parameters(replace(packet, reserved=1))


class _Finite(Codec):
    def base(self, of: Head) -> bytes:
        return super().base(replace(of, time_to_reach_queue=345_600))


class _RefusesOwn(Session):
    def valid_request(self, packet: EstablishConnection) -> bool:
        return packet.server != self.node.guid and super().valid_request(packet)


class _AcceptsAny(Session):
    def valid_request(self, packet: EstablishConnection) -> bool:
        return True


class _Answers(Session):
    """Changes the response to an EstablishConnection request."""

    changed: ClassVar[dict[str, object]] = {}

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        return replace(super().establish_answer(packet, refused=refused), **self.changed)  # type: ignore[arg-type]


class _PaddingZero(_Answers):
    changed: ClassVar[dict[str, object]] = {"padding": bytes(512)}


class _PaddingEnd(_Answers):
    changed: ClassVar[dict[str, object]] = {"padding": b"\x5a" * 511 + b"\0"}


class _EstablishReserved(_Answers):
    changed: ClassVar[dict[str, object]] = {"reserved": 0x0310}


class _ClientSwapped(_Answers):
    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        return replace(super().establish_answer(packet, refused=refused), client=self.node.guid)


class _ServerNull(_Answers):
    changed: ClassVar[dict[str, object]] = {"server": bytes(16)}


class _StampOwn(_Answers):
    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        made = super().establish_answer(packet, refused=refused)
        return replace(made, time_stamp=packet.time_stamp + 1 & 0xFFFFFFFF)


class _SystemXor(_Answers):
    turned = 0

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        made = super().establish_answer(packet, refused=refused)
        return replace(made, system=made.system ^ self.turned)


class _SystemLowByte(_SystemXor):
    turned = net.SYSTEM_RESERVED


class _SystemUnused(_SystemXor):
    turned = 0x4000


class _PingedTurned(_SystemXor):
    turned = net.NOT_PINGED


class _Parameters(Session):
    """Changes the response to a ConnectionParameters request."""

    changed: ClassVar[dict[str, object]] = {}

    def parameters_answer(self, packet: ConnectionParameters) -> ConnectionParameters:
        return replace(super().parameters_answer(packet), **self.changed)  # type: ignore[arg-type]


class _RecoverableOwn(_Parameters):
    changed: ClassVar[dict[str, object]] = {"recoverable_ack_timeout": net.LEAST_RECOVERABLE_ACK + 1}


class _AckOwn(_Parameters):
    changed: ClassVar[dict[str, object]] = {"ack_timeout": net.MOST_ACK - 1}


class _ParametersRefused(_Parameters):
    def parameters_answer(self, packet: ConnectionParameters) -> ConnectionParameters:
        made = super().parameters_answer(packet)
        return replace(made, head=replace(made.head, refused=True))


class _NarrowWindow(_Parameters):
    changed: ClassVar[dict[str, object]] = {"window": 16}


class _EstablishAgain(Session):
    def establish_states(self) -> tuple[State, ...]:
        return tuple(State)

    def answer_establish(self, packet: EstablishConnection) -> None:
        state = self.state
        super().answer_establish(packet)
        if state is State.OPEN:
            self.state = state


class _ParametersAnyTime(Session):
    def parameter_states(self) -> tuple[State, ...]:
        return tuple(State)


class _EarlyIgnored(Session):
    """Ignores user messages before the session is open."""

    def announced(self, flags: int) -> None:
        return

    def packet(self, packet: bytes) -> None:
        if self.open or packet[2] & lay.BASE_INTERNAL:
            super().packet(packet)


class _EarlyDelivered(Session):
    def announced(self, flags: int) -> None:
        return


class _EarlyAckIgnored(Session):
    def session_ack(self, packet: SessionAck) -> None:
        if self.open:
            super().session_ack(packet)


class _UnknownKind(Session):
    def packet(self, packet: bytes) -> None:
        if not packet[2] & lay.BASE_INTERNAL or packet[18] & net.PACKET_TYPE in _KINDS:
            super().packet(packet)


class _IgnoresIncorrect(Session):
    """Goes on behind an incorrect packet; what is held of it is thrown away."""

    def incorrect(self) -> None:
        self.frames = type(self.frames)(self.announced)


class _MalformedIgnored(Receiver):
    def user_message(self, session: Session, packet: bytes) -> None:
        try:
            super().user_message(session, packet)
        except Malformed:
            return


class _OpenOnEstablish(Session):
    """Takes a session for initialized before the parameters have come."""

    def answer_establish(self, packet: EstablishConnection) -> None:
        super().answer_establish(packet)
        if self.state is State.WAITING_CP:
            self.state = State.OPEN

    def parameter_states(self) -> tuple[State, ...]:
        return (*super().parameter_states(), State.OPEN)


_TABLE = (
    ("reserved-set", "InternalHeader.Reserved is sent as 0x1234.", ("MQQB-2.2.1.reserved",), ("codec", _Reserved)),
    ("unused-bit-set", "A bit of InternalHeader.Flags without meaning is set.", ("MQQB-2.2.1.unused-bits",),
     ("codec", _UnusedBit)),
    ("refusing-acknowledgment", "A SessionAck has the connection-refused bit set.",
     ("MQQB-2.2.1.refused-elsewhere",), ("codec", _RefusingAck)),
    ("acknowledgment-unannounced", "BaseHeader.Flags.SH of a SessionAck is clear.",
     ("MQQB-2.2.6.session-header-flag",), ("codec", _AckUnannounced)),
    ("parameters-too-long", "A ConnectionParameters packet has four bytes too many.", ("MQQB-2.2.2.size",),
     ("codec", _ParametersLong)),
    ("establish-too-long", "An EstablishConnection packet has four bytes too many.", ("MQQB-2.2.3.size",),
     ("codec", _EstablishLong)),
    ("establish-not-internal", "BaseHeader.Flags.IN of an EstablishConnection packet is clear.",
     ("MQQB-2.2.3.internal-flag", "MQMQ-2.2.19.1.internal-set"), ("codec", _EstablishUnflagged)),
    ("parameters-not-internal", "BaseHeader.Flags.IN of a ConnectionParameters packet is clear.",
     ("MQQB-2.2.2.internal-flag", "MQMQ-2.2.19.1.internal-set"), ("codec", _ParametersUnflagged)),
    ("parameters-reserved-set", "ConnectionParametersHeader.Reserved is sent as 1.", ("MQQB-2.2.2.1.reserved",),
     ("codec", _ParametersReserved)),
    ("internal-packets-expire", "Internal packets have the time to reach a queue of a message.",
     ("MQMQ-2.2.19.1.time-to-reach-queue-internal",), ("codec", _Finite)),
    ("refuses-own-identifier", "A request that names this queue manager is refused.", ("MQQB-3.1.5.3.1.cs",),
     ("session", _RefusesOwn)),
    ("accepts-any-identifier", "A request for another queue manager is accepted.",
     ("MQQB-3.1.5.3.1.cs", "MQQB-2.2.1.connection-state", "MQQB-3.1.5.3.1.server-guid"), ("session", _AcceptsAny)),
    ("padding-of-zeros", "The padding of an EstablishConnection response is zero.", ("MQQB-2.2.3.1.padding",),
     ("session", _PaddingZero)),
    ("padding-ends-early", "The last byte of the padding of an EstablishConnection response is zero.",
     ("MQQB-2.2.3.1.padding",), ("session", _PaddingEnd)),
    ("establish-reserved-set", "EstablishConnectionHeader.Reserved of a response is not zero.",
     ("MQQB-2.2.3.1.reserved",), ("session", _EstablishReserved)),
    ("client-not-repeated", "A response has the acceptor's identifier as ClientGuid.",
     ("MQQB-3.1.5.3.1.client-guid", "MQQB-2.2.3.1.client-guid"), ("session", _ClientSwapped)),
    ("server-null", "A response has a null ServerGuid.",
     ("MQQB-3.1.5.3.1.server-guid", "MQQB-2.2.3.1.server-guid-response"), ("session", _ServerNull)),
    ("time-stamp-changed", "A response has another TimeStamp than its request.", ("MQQB-3.1.5.3.1.time-stamp",),
     ("session", _StampOwn)),
    ("system-low-byte", "The low byte of OperatingSystem of a response is not 0x10.", ("MQQB-2.2.3.1.re",),
     ("session", _SystemLowByte)),
    ("system-unused-bit", "A bit of OperatingSystem without meaning is set.", ("MQQB-2.2.3.1.unused-bits",),
     ("session", _SystemUnused)),
    ("session-flag-turned", "The SE bit of a response is not that of its request.",
     ("MQQB-3.1.5.3.1.se", "MQQB-2.2.3.1.se-response"), ("session", _PingedTurned)),
    ("recoverable-timeout-own", "A ConnectionParameters response has a RecoverableAckTimeout of its own.",
     ("MQQB-3.1.5.4.1.recoverable-ack-timeout",), ("session", _RecoverableOwn)),
    ("ack-timeout-own", "A ConnectionParameters response has an AckTimeout of its own.",
     ("MQQB-3.1.5.4.1.ack-timeout",), ("session", _AckOwn)),
    ("parameters-refused", "A ConnectionParameters response has the connection-refused bit set.",
     ("MQQB-3.1.5.4.1.cs",), ("session", _ParametersRefused)),
    ("window-narrower", "A ConnectionParameters response names a window of 16.",
     ("MQQB-3.1.3.2.window-size", "MQQB-3.1.6.4.window-size"), ("session", _NarrowWindow)),
    ("establish-answered-again", "An EstablishConnection packet is answered in every state.",
     ("MQQB-3.1.5.3.state-closes",), ("session", _EstablishAgain)),
    ("parameters-answered-any-time", "A ConnectionParameters packet is answered in every state.",
     ("MQQB-3.1.5.4.state-closes",), ("session", _ParametersAnyTime)),
    ("early-messages-ignored", "User messages before the session is open are ignored, and the session goes on.",
     ("MQQB-3.1.5.8.state-closes", "MQQB-3.1.5.6.state-closes", "MQQB-3.1.5.7.state-closes"),
     ("session", _EarlyIgnored)),
    ("early-messages-delivered", "User messages before the session is open are delivered.",
     ("MQQB-3.1.5.8.state-closes", "MQQB-3.1.5.6.state-closes", "MQQB-3.1.5.7.state-closes"),
     ("session", _EarlyDelivered)),
    ("early-acknowledgment-ignored", "A SessionAck before the session is open is ignored.",
     ("MQQB-3.1.5.5.state-closes",), ("session", _EarlyAckIgnored)),
    ("unknown-packet-ignored", "An internal packet of an unknown type is ignored.",
     ("MQQB-2.2.1.packet-type-closes",), ("session", _UnknownKind)),
    ("incorrect-packets-ignored", "A packet with a wrong signature or layout is thrown away, and the session goes on.",
     ("MQQB-3.1.5.1.2.signature-closes", "MQQB-3.1.5.1.3.malformed-closes", "MQQB-2.2.1.packet-type-closes",
      "MQQB-3.1.5.3.state-closes", "MQQB-3.1.5.4.state-closes"), ("session", _IgnoresIncorrect)),
    ("malformed-message-ignored", "A user message that breaks its layout is thrown away, and the session goes on.",
     ("MQQB-3.1.5.1.3.malformed-closes",), ("receiver", _MalformedIgnored)),
    ("open-without-parameters", "A session is open before the parameters have come.",
     ("MQQB-3.1.5.8.state-closes", "MQQB-3.1.5.5.state-closes", "MQQB-3.1.5.4.state-closes"),
     ("session", _OpenOnEstablish)),
)  # fmt: skip
for _name, _says, _breaks, _part in _TABLE:
    fault(__name__, _name, _says, _breaks, _part)
