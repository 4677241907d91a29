"""Faults of an initiator and of what it sends (MS-MQQB 3.1.1.5, 3.1.5.2.3, 3.1.5.3.2, 3.1.6, 3.1.7.1)."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.network.codec import (
    ConnectionParameters,
    EstablishConnection,
)
from conformance.embedded.network.faults.base import also, fault
from conformance.embedded.network.sender import Entry, Route
from conformance.embedded.network.session import Session
from conformance.embedded.network.settings import Durations

Json = Any
_OTHER = uuid.UUID("0badc0de-0000-4000-8000-000000000001").bytes_le


class _Requests(Session):
    """Changes EstablishConnection requests."""

    def establish_request(self, *, pinged: bool) -> EstablishConnection:
        return self.changed(super().establish_request(pinged=pinged))

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return made


@fault("request-refuses", "session", "MQQB-3.1.5.2.3.cs")
class RequestRefuses(_Requests):
    """An EstablishConnection request has the connection-refused bit set."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, head=replace(made.head, refused=True))


@fault("request-names-itself", "session", "MQQB-3.1.5.2.3.server-guid", "MQQB-2.2.3.1.server-guid")
class RequestNamesItself(_Requests):
    """ServerGuid of a request is the initiator's own identifier."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, server=made.client)


@fault("request-claims-ping", "session", "MQQB-2.2.3.1.se", "MQQB-3.1.5.2.3.se")
class RequestClaimsPing(_Requests):
    """The SE bit of a request tells the opposite of whether a ping was sent."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, system=made.system ^ 0x0100)


@fault("request-other-client", "session", "MQQB-3.1.5.2.3.client-guid")
class RequestOtherClient(_Requests):
    """ClientGuid of a request is not the queue manager whose messages are sent."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, client=_OTHER)

    def valid_response(self, packet: EstablishConnection) -> bool:
        return super().valid_response(replace(packet, client=self.node.guid))


@fault("request-time-runs", "session", "MQQB-3.1.5.2.3.time-stamp")
class RequestTimeRuns(_Requests):
    """TimeStamp of requests grows faster than the time."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, time_stamp=made.time_stamp * 1000 & 0xFFFFFFFF)

    def round_trip_timeout(self, packet: EstablishConnection) -> int:
        return 500


@fault("request-low-byte", "session", "MQQB-2.2.3.1.re")
class RequestLowByte(_Requests):
    """The low byte of OperatingSystem of a request is zero."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, system=made.system & 0xFF00)


@fault("request-reserved-set", "session", "MQQB-2.2.3.1.reserved")
class RequestReservedSet(_Requests):
    """EstablishConnectionHeader.Reserved of a request is not zero."""

    def changed(self, made: EstablishConnection) -> EstablishConnection:
        return replace(made, reserved=0x0310)


@fault("refusals-ignored", Session.valid_response, "MQQB-3.1.5.3.2.invalid-closes")
def refusals_ignored(plain, self, packet):
    """An initiator goes on behind a response that refuses or names somebody else."""
    return True


class _ParametersAsked(Session):
    """Changes ConnectionParameters requests."""

    def parameters_request(self) -> ConnectionParameters:
        return self.changed(super().parameters_request())

    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return made


@fault("round-trip-short", "session", "MQQB-2.2.2.1.recoverable-ack-timeout", "MQQB-3.1.5.3.2.round-trip")
class RoundTripShort(_ParametersAsked):
    """RecoverableAckTimeout of a request is 100 ms."""

    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, recoverable_ack_timeout=100)


@fault("round-trip-long", "session", "MQQB-3.1.5.3.2.round-trip")
class RoundTripLong(_ParametersAsked):
    """RecoverableAckTimeout of a request is a minute."""

    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, recoverable_ack_timeout=60_000)


@fault("ack-timeout-short", "session", "MQQB-2.2.2.1.ack-timeout")
class AckTimeoutShort(_ParametersAsked):
    """AckTimeout of a request is a second."""

    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, ack_timeout=1000)


@fault("request-parameters-refused", "session", "MQQB-3.1.5.3.2.cs")
class RequestParametersRefused(_ParametersAsked):
    """A ConnectionParameters request has the connection-refused bit set."""

    def changed(self, made: ConnectionParameters) -> ConnectionParameters:
        return replace(made, head=replace(made.head, refused=True))


@fault("sends-before-open", Session.establish_response, "MQQB-2.1.1.initialization")
def sends_before_open(plain, self, packet):
    """Messages are sent before the parameters are agreed on."""
    plain(packet)
    if self.route is not None and self.state.name == "WAITING_CPR":
        self.opened()


@also("sends-before-open", Session.parameter_states)
def sends_before_open_parameter_states(plain, self):
    return (*plain(), self.state)


@also("sends-before-open", Session.answer_parameters)
def sends_before_open_answer_parameters(plain, self, packet):
    self.received_window = packet.window


@fault("window-ignored", Session.may_send, "MQQB-3.1.7.1.window")
def window_ignored(plain, self):
    """More messages are under way than the window has room for."""
    return self.open


@fault("waits-for-ever", Session.ack_wait_over, "MQQB-3.1.6.3.closes")
def waits_for_ever(plain, self):
    """A session on which nothing is acknowledged is never closed."""


@fault("resends-with-new-number", Route.transaction, "MQQB-3.1.7.1.3.resent-number", "MQQB-3.1.7.1.3.resent-previous")
def resends_with_new_number(plain, self, entry):
    """A transactional message that is sent again has a new number."""
    entry.tx_number = 0
    return plain(entry)


class _Transactions(Route):
    """Changes TransactionHeaders."""

    members: ClassVar[dict[str, int]] = {}

    def transaction(self, entry: Entry) -> dict[str, Json]:
        return super().transaction(entry) | self.members


@fault("previous-number-zero", "route", "MQQB-3.1.7.1.3.previous-number")
class PreviousNumberZero(_Transactions):
    """The previous number of a transactional message is always zero."""

    members: ClassVar[dict[str, int]] = {"previous_sequence_number": 0}


@fault("sequence-from-ten", Route.transaction, "MQQB-3.1.1.5.first-number")
def sequence_from_ten(plain, self, entry):
    """The first message of a sequence has number 10."""
    if self.sequence.number == 1 and not entry.tx_number:
        self.sequence.number = 10
    return plain(entry)


@fault("sequence-skips", Route.transaction, "MQQB-3.1.7.1.3.next-number")
def sequence_skips(plain, self, entry):
    """Every second number of a sequence is left out."""
    fresh = not entry.tx_number
    made = plain(entry)
    self.sequence.number += fresh
    return made


@fault("never-resends", Route.order_wait_over, "MQQB-3.1.6.5.resent")
def never_resends(plain, self):
    """Transactional messages are not sent again when no OrderAck comes."""


@fault("resends-too-soon", Durations.resend, "MQQB-3.1.6.5.resend-interval")
def resends_too_soon(plain, self, index):
    """Transactional messages are sent again in a tenth of the time."""
    return plain(index) / 10


@fault("resends-backwards", Route.order_wait_over, "MQQB-3.1.6.5.resend-order")
def resends_backwards(plain, self):
    """Transactional messages are sent again the last one first."""
    self.table = dict(reversed(self.table.items()))
    plain()


@fault("forgets-at-cut", Route.lost, "MQQB-3.1.1.6.2.retained")
def forgets_at_cut(plain, self, session):
    """What was sent is forgotten when the session is cut."""
    for entry in [each for each in self.table.values() if each.transmitted]:
        self.remove(entry)
    plain(session)


@fault("session-ack-enough", Route.acknowledged, "MQQB-3.1.1.6.2.retained", "MQQB-3.1.6.5.resent")
def session_ack_enough(plain, self, given):
    """A transactional message is discarded on its session acknowledgment."""
    plain(given)
    for entry in [each for each in self.table.values() if each.tx_number and each.session_acked]:
        self.remove(entry)


@fault("sequence-early", Route.order_ack, "MQQB-3.1.1.5.all-acknowledged")
def sequence_early(plain, self, body):
    """A new sequence is begun while messages of the last one are not acknowledged."""
    plain(body)
    if any(entry.tx_number for entry in self.table.values()):
        self.sequence = type(self.sequence)(self.sequence.identifier + 1)


@fault("sequence-goes-back", Route.next_sequence, "MQQB-3.1.1.5.older-sequence", "MQQB-3.1.1.5.next-sequence")
def sequence_goes_back(plain, self):
    """A new sequence is older than the last one."""
    before = self.sequence.identifier
    plain()
    if self.sequence.identifier != before:
        self.sequence.identifier = before - (1 << 32)


@fault("sends-expired", Route.expired, "MQQB-3.1.7.1.2.expired", "MQMQ-2.2.19.1.time-to-reach-queue-expired-sender")
def sends_expired(plain, self, entry):
    """A message is sent although its time to reach the queue is over."""
    return False


@fault("identifiers-repeat", Route.add, "MQQB-3.1.7.1.1.identifier", "MQQB-3.1.7.1.1.ordinal")
def identifiers_repeat(plain, self, entry):
    """All messages have the same identifier."""
    entry.message["identifier"] = {**entry.message["identifier"], "ordinal": 1}
    plain(entry)
