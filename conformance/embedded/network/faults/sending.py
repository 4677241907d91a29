"""Faults of an initiator and of what it sends (MS-MQQB 3.1.1.5, 3.1.5.2.3, 3.1.5.3.2, 3.1.6, 3.1.7.1)."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.network.codec import (
    ConnectionParameters,
    EstablishConnection,
    OrderAckBody,
    SessionHeader,
)
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.sender import Entry, Route
from conformance.embedded.network.session import Session
from conformance.embedded.network.timers import Durations

Json = Any
_OTHER = uuid.UUID("0badc0de-0000-4000-8000-000000000001").bytes_le


class _Requests(Session):
    """Changes EstablishConnection requests."""

    def establish_request(self, *, pinged: bool) -> EstablishConnection:
        return self.changed(super().establish_request(pinged=pinged))

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return made


class _Refusing(_Requests):
    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, head=replace(made.head, refused=True))


class _NamesItself(_Requests):
    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, server=made.client)


class _Pinged(_Requests):
    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, system=made.system ^ 0x0100)


class _OtherClient(_Requests):
    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, client=_OTHER)

    def valid_response(self, packet: EstablishConnection) -> bool:
        return super().valid_response(replace(packet, client=self.node.guid))


class _FarStamp(_Requests):
    """The time goes on a thousand times as fast."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, time_stamp=made.time_stamp * 1000 & 0xFFFFFFFF)

    def round_trip_timeout(self, packet: EstablishConnection) -> int:
        return 500


class _LowByte(_Requests):
    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, system=made.system & 0xFF00)


class _RequestReserved(_Requests):
    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, reserved=0x0310)


class _Believing(Session):
    def valid_response(self, packet: EstablishConnection) -> bool:
        return True


class _ParametersAsked(Session):
    """Changes ConnectionParameters requests."""

    def parameters_request(self) -> ConnectionParameters:
        return self.changed(super().parameters_request())

    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return made


class _FastRecoverable(_ParametersAsked):
    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, recoverable_ack_timeout=100)


class _SlowRecoverable(_ParametersAsked):
    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, recoverable_ack_timeout=60_000)


class _FastAck(_ParametersAsked):
    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, ack_timeout=1000)


class _ParametersRefused(_ParametersAsked):
    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, head=replace(made.head, refused=True))


class _Impatient(Session):
    """Sends messages before the parameters are agreed on."""

    def establish_response(self, packet: EstablishConnection) -> None:
        super().establish_response(packet)
        if self.route is not None and self.state.name == "WAITING_CPR":
            self.opened()

    def parameter_states(self) -> Any:
        return (*super().parameter_states(), self.state)

    def answer_parameters(self, packet: ConnectionParameters) -> None:
        self.received_window = packet.window


class _Endless(Session):
    def may_send(self) -> bool:
        return self.open


class _Tolerant(Session):
    def ack_wait_over(self) -> None:
        return


class _NumbersAnew(Route):
    def transaction(self, entry: Entry) -> dict[str, Json]:
        entry.tx_number = 0
        return super().transaction(entry)


class _Transactions(Route):
    """Changes TransactionHeaders."""

    members: ClassVar[dict[str, int]] = {}

    def transaction(self, entry: Entry) -> dict[str, Json]:
        return super().transaction(entry) | self.members


class _PreviousZero(_Transactions):
    members: ClassVar[dict[str, int]] = {"previous_sequence_number": 0}


class _FromTen(Route):
    def transaction(self, entry: Entry) -> dict[str, Json]:
        if self.sequence.number == 1 and not entry.tx_number:
            self.sequence.number = 10
        return super().transaction(entry)


class _Skips(Route):
    def transaction(self, entry: Entry) -> dict[str, Json]:
        fresh = not entry.tx_number
        made = super().transaction(entry)
        self.sequence.number += fresh
        return made


class _NeverResends(Route):
    def order_wait_over(self) -> None:
        return


class _ResendsSoon(Durations):
    def resend(self, index: int) -> float:
        return super().resend(index) / 10


class _ResendsBackwards(Route):
    def order_wait_over(self) -> None:
        self.table = dict(reversed(self.table.items()))
        super().order_wait_over()


class _Forgets(Route):
    """Forgets what was sent when the session is cut."""

    def lost(self, session: Session) -> None:
        for entry in [each for each in self.table.values() if each.transmitted]:
            self.remove(entry)
        super().lost(session)


class _SessionAckEnough(Route):
    """Takes a session acknowledgment for the acknowledgment of a transactional message."""

    def acknowledged(self, given: SessionHeader) -> None:
        super().acknowledged(given)
        for entry in [each for each in self.table.values() if each.tx_number and each.session_acked]:
            self.remove(entry)


class _NewSequenceEarly(Route):
    """Begins a new sequence at each OrderAck, whatever is not acknowledged."""

    def order_ack(self, body: OrderAckBody) -> None:
        super().order_ack(body)
        if any(entry.tx_number for entry in self.table.values()):
            self.sequence = type(self.sequence)(self.sequence.identifier + 1)


class _SequenceBack(Route):
    def next_sequence(self) -> None:
        before = self.sequence.identifier
        super().next_sequence()
        if self.sequence.identifier != before:
            self.sequence.identifier = before - (1 << 32)


class _SendsExpired(Route):
    def expired(self, entry: Entry) -> bool:
        return False


class _SameIdentifier(Route):
    def add(self, entry: Entry) -> None:
        entry.message["identifier"] = {**entry.message["identifier"], "ordinal": 1}
        super().add(entry)


_TABLE = (
    ("request-refuses", "An EstablishConnection request has the connection-refused bit set.",
     ("MQQB-3.1.5.2.3.cs",), ("session", _Refusing)),
    ("request-names-itself", "ServerGuid of a request is the initiator's own identifier.",
     ("MQQB-3.1.5.2.3.server-guid", "MQQB-2.2.3.1.server-guid"), ("session", _NamesItself)),
    ("request-claims-ping", "The SE bit of a request tells the opposite of whether a ping was sent.",
     ("MQQB-2.2.3.1.se", "MQQB-3.1.5.2.3.se"), ("session", _Pinged)),
    ("request-other-client", "ClientGuid of a request is not the queue manager whose messages are sent.",
     ("MQQB-3.1.5.2.3.client-guid",), ("session", _OtherClient)),
    ("request-time-runs", "TimeStamp of requests grows faster than the time.", ("MQQB-3.1.5.2.3.time-stamp",),
     ("session", _FarStamp)),
    ("request-low-byte", "The low byte of OperatingSystem of a request is zero.", ("MQQB-2.2.3.1.re",),
     ("session", _LowByte)),
    ("request-reserved-set", "EstablishConnectionHeader.Reserved of a request is not zero.",
     ("MQQB-2.2.3.1.reserved",), ("session", _RequestReserved)),
    ("refusals-ignored", "An initiator goes on behind a response that refuses or names somebody else.",
     ("MQQB-3.1.5.3.2.invalid-closes",), ("session", _Believing)),
    ("round-trip-short", "RecoverableAckTimeout of a request is 100 ms.",
     ("MQQB-2.2.2.1.recoverable-ack-timeout", "MQQB-3.1.5.3.2.round-trip"), ("session", _FastRecoverable)),
    ("round-trip-long", "RecoverableAckTimeout of a request is a minute.", ("MQQB-3.1.5.3.2.round-trip",),
     ("session", _SlowRecoverable)),
    ("ack-timeout-short", "AckTimeout of a request is a second.", ("MQQB-2.2.2.1.ack-timeout",),
     ("session", _FastAck)),
    ("request-parameters-refused", "A ConnectionParameters request has the connection-refused bit set.",
     ("MQQB-3.1.5.3.2.cs",), ("session", _ParametersRefused)),
    ("sends-before-open", "Messages are sent before the parameters are agreed on.",
     ("MQQB-2.1.1.initialization",), ("session", _Impatient)),
    ("window-ignored", "More messages are under way than the window has room for.", ("MQQB-3.1.7.1.window",),
     ("session", _Endless)),
    ("waits-for-ever", "A session on which nothing is acknowledged is never closed.", ("MQQB-3.1.6.3.closes",),
     ("session", _Tolerant)),
    ("resends-with-new-number", "A transactional message that is sent again has a new number.",
     ("MQQB-3.1.7.1.3.resent-number", "MQQB-3.1.7.1.3.resent-previous"), ("route", _NumbersAnew)),
    ("previous-number-zero", "The previous number of a transactional message is always zero.",
     ("MQQB-3.1.7.1.3.previous-number",), ("route", _PreviousZero)),
    ("sequence-from-ten", "The first message of a sequence has number 10.",
     ("MQQB-3.1.1.5.first-number",), ("route", _FromTen)),
    ("sequence-skips", "Every second number of a sequence is left out.", ("MQQB-3.1.7.1.3.next-number",),
     ("route", _Skips)),
    ("never-resends", "Transactional messages are not sent again when no OrderAck comes.",
     ("MQQB-3.1.6.5.resent",), ("route", _NeverResends)),
    ("resends-too-soon", "Transactional messages are sent again in a tenth of the time.",
     ("MQQB-3.1.6.5.resend-interval",), ("durations", _ResendsSoon)),
    ("resends-backwards", "Transactional messages are sent again the last one first.",
     ("MQQB-3.1.6.5.resend-order",), ("route", _ResendsBackwards)),
    ("forgets-at-cut", "What was sent is forgotten when the session is cut.",
     ("MQQB-3.1.1.6.2.retained",), ("route", _Forgets)),
    ("session-ack-enough", "A transactional message is discarded on its session acknowledgment.",
     ("MQQB-3.1.1.6.2.retained", "MQQB-3.1.6.5.resent"), ("route", _SessionAckEnough)),
    ("sequence-early", "A new sequence is begun while messages of the last one are not acknowledged.",
     ("MQQB-3.1.1.5.all-acknowledged",), ("route", _NewSequenceEarly)),
    ("sequence-goes-back", "A new sequence is older than the last one.",
     ("MQQB-3.1.1.5.older-sequence", "MQQB-3.1.1.5.next-sequence"), ("route", _SequenceBack)),
    ("sends-expired", "A message is sent although its time to reach the queue is over.",
     ("MQQB-3.1.7.1.2.expired", "MQMQ-2.2.19.1.time-to-reach-queue-expired-sender"), ("route", _SendsExpired)),
    ("identifiers-repeat", "All messages have the same identifier.",
     ("MQQB-3.1.7.1.1.identifier", "MQQB-3.1.7.1.1.ordinal"), ("route", _SameIdentifier)),
)  # fmt: skip
for _name, _says, _breaks, _part in _TABLE:
    fault(__name__, _name, _says, _breaks, _part)
