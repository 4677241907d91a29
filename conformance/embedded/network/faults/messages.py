"""Faults of sending and resending, and of transactional messages (MS-MQQB 3.1.5.6 to 3.1.5.8)."""

from __future__ import annotations

import base64
import uuid
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.network import codec as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.codec import (
    Codec,
    ConnectionParameters,
    EstablishConnection,
    FinalAckBody,
    OrderAckBody,
)
from conformance.embedded.network.faults import also, fault
from conformance.embedded.network.incoming import Receiver, Sequences
from conformance.embedded.network.node import NetworkDelivery
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
    """The sender forgets its messages when the session is cut."""
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


@fault("sequence-gaps-accepted", Sequences.accepts, "MQQB-3.1.5.8.6.accepted", "MQQB-3.1.1.6.2.in-order")
def sequence_gaps_accepted(plain, self, state, identifier, number, previous):
    """A transactional message is accepted although one before it is missing."""
    return plain(state, identifier, number, min(previous, state.number))


@fault("sequence-repeats-accepted", Sequences.accepts, "MQQB-3.1.5.8.6.accepted", "MQQB-3.1.1.6.2.never-decreases")
def sequence_repeats_accepted(plain, self, state, identifier, number, previous):
    """A transactional message is accepted although its number came before."""
    return identifier == state.identifier or plain(state, identifier, number, previous)


@fault("older-sequences-accepted", Sequences.accepts, "MQQB-3.1.5.8.6.accepted")
def older_sequences_accepted(plain, self, state, identifier, number, previous):
    """A transactional message of an older sequence is accepted."""
    return previous == 0 if identifier < state.identifier else plain(state, identifier, number, previous)


@fault("new-sequences-from-anywhere", Sequences.accepts, "MQQB-3.1.5.8.6.accepted", "MQQB-3.1.1.6.2.in-order")
def new_sequences_from_anywhere(plain, self, state, identifier, number, previous):
    """A new sequence is accepted although its first message is missing."""
    return identifier > state.identifier or plain(state, identifier, number, previous)


@fault("sequence-bridges-refused", Sequences.accepts, "MQQB-3.1.5.8.6.accepted")
def sequence_bridges_refused(plain, self, state, identifier, number, previous):
    """A message is refused whose previous number is below the last one accepted."""
    exact = previous == state.number if identifier == state.identifier else True
    return exact and plain(state, identifier, number, previous)


@fault("never-acknowledges-order", Acknowledging.order, "MQQB-3.1.6.9.sent", "MQQB-3.1.1.6.2.scheduled")
def never_acknowledges_order(plain, self, session, sequence):
    """No OrderAck is ever sent."""


@fault("order-acknowledged-at-once", Session.schedule_order_ack, "MQQB-3.1.3.2.order-ack-delay")
def order_acknowledged_at_once(plain, self, sequence):
    """An OrderAck does not wait for its timer."""
    self.node.acknowledging.order(self, sequence)


class _OrderBody(Acknowledging):
    """Changes the body of an OrderAck."""

    def order_body(self, identifier: int, number: int) -> OrderAckBody:
        return self.changed(super().order_body(identifier, number))

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return body


@fault("order-ack-ahead", "acknowledging", "MQQB-3.1.1.6.2.in-order", "MQQB-3.1.5.8.6.accepted")
class OrderAckAhead(_OrderBody):
    """An OrderAck acknowledges one message more than came."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, number=body.number + 1, previous=body.number)


@fault("order-ack-previous", "acknowledging", "MQQB-2.2.4.1.previous")
class OrderAckPrevious(_OrderBody):
    """TxPreviousSequenceNumber of an OrderAck is its number."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, previous=body.number)


@fault("order-ack-zero", "acknowledging", "MQQB-2.2.4.1.number", "MQQB-2.2.4.1.previous")
class OrderAckZero(_OrderBody):
    """An OrderAck acknowledges number 0."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, number=0, previous=0)


@fault("order-ack-behind", "acknowledging", "MQQB-3.1.6.9.sent", "MQQB-3.1.7.17.order-body")
class OrderAckBehind(_OrderBody):
    """An OrderAck acknowledges less than was accepted."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, number=max(1, body.number - 2), previous=max(0, body.number - 3))


@fault("order-ack-sequence", "acknowledging", "MQQB-2.2.4.1.sequence")
class OrderAckSequence(_OrderBody):
    """An OrderAck names a sequence that was not sent."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, sequence=body.sequence + (1 << 32) & 0xFFFFFFFFFFFFFFFF)


@fault("order-ack-halves-swapped", "acknowledging", "MQQB-2.2.4.1.sequence")
class OrderAckHalvesSwapped(_OrderBody):
    """Ordinal and TimeStamp of the sequence of an OrderAck are swapped."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, sequence=(body.sequence & 0xFFFFFFFF) << 32 | body.sequence >> 32)


@fault("order-ack-reserved", "acknowledging", "MQQB-2.2.4.1.reserved")
class OrderAckReserved(_OrderBody):
    """The last 20 bytes of the body of an OrderAck are not zero."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, reserved=b"\xcd" * 20)


@fault("order-ack-short", Codec.order_body, "MQQB-2.2.4.message-size")
def order_ack_short(plain, self, body):
    """The body of an OrderAck ends behind its numbers."""
    return plain(body)[:-20]


class _Made(Acknowledging):
    """Changes order and final acknowledgments. order, final: which of them."""

    order_too, final_too = True, True
    members: ClassVar[dict[str, Json]] = {}

    def transactional(self, kind: int, body: bytes) -> dict[str, Json]:
        made = super().transactional(kind, body)
        wanted = self.order_too if kind == net.ORDER_ACK else self.final_too
        return made | self.members if wanted else made


class _OrderMade(_Made):
    final_too = False


class _FinalMade(_Made):
    order_too = False


@fault("order-ack-label", "acknowledging", "MQQB-2.2.4.label", "MQQB-3.1.7.17.label")
class OrderAckLabel(_OrderMade):
    """An OrderAck has another label."""

    members: ClassVar[dict[str, Json]] = {"label": "QM Order Ack"}


@fault("order-ack-class", "acknowledging", "MQQB-2.2.4.message-class")
class OrderAckClass(_OrderMade):
    """An OrderAck has the class of an arrival acknowledgment."""

    members: ClassVar[dict[str, Json]] = {"class": net.ACK_REACH_QUEUE}


@fault("order-ack-body-type", "acknowledging", "MQQB-2.2.4.body-type", "MQQB-3.1.7.17.body-type")
class OrderAckBodyType(_OrderMade):
    """An OrderAck names a type for its body."""

    members: ClassVar[dict[str, Json]] = {"body_type": 0x1011}


@fault("order-ack-priority", "acknowledging", "MQQB-2.2.4.base-flags", "MQQB-3.1.7.17.priority")
class OrderAckPriority(_OrderMade):
    """An OrderAck has priority 3."""

    members: ClassVar[dict[str, Json]] = {"priority": 3}


@fault("order-ack-asks", "acknowledging", "MQQB-2.2.4.properties-flags")
class OrderAckAsks(_OrderMade):
    """An OrderAck asks for an acknowledgment."""

    members: ClassVar[dict[str, Json]] = {"acknowledgements": ["positive_arrival"]}


@fault("order-ack-journaled", "acknowledging", "MQQB-2.2.4.user-flags", "MQQB-3.1.7.17.plain")
class OrderAckJournaled(_OrderMade):
    """An OrderAck asks for source journaling."""

    members: ClassVar[dict[str, Json]] = {"positive_journaling": True}


@fault("order-ack-expires", "acknowledging", "MQMQ-2.2.19.1.time-to-reach-queue-internal")
class OrderAckExpires(_OrderMade):
    """An OrderAck has a time to reach its queue."""

    members: ClassVar[dict[str, Json]] = {"time_to_reach_queue": 345_600}


@fault("order-ack-elsewhere", Acknowledging.order_queue, "MQQB-2.2.4.destination", "MQQB-2.2.5.destination")
def order_ack_elsewhere(plain, self, remote, address, *, direct):
    """Transactional acknowledgments go to another queue than the order queue."""
    made = plain(remote, address, direct=direct)
    return made.replace(net.ORDER_QUEUE, "admin_queue$").replace("\\00000004", "\\00000001")


@fault("order-ack-private-name", Acknowledging.order_queue, "MQQB-3.1.7.17.destination-form")
def order_ack_private_name(plain, self, remote, address, *, direct):
    """Transactional acknowledgments go to a private name although a direct one was used."""
    return plain(remote, address, direct=False)


@fault("final-ack-label", "acknowledging", "MQQB-2.2.5.label", "MQQB-3.1.7.17.label")
class FinalAckLabel(_FinalMade):
    """A FinalAck has another label."""

    members: ClassVar[dict[str, Json]] = {"label": "QM Final Ack"}


@fault("final-ack-express", "acknowledging", "MQQB-2.2.5.user-flags", "MQQB-3.1.7.17.delivery")
class FinalAckExpress(_FinalMade):
    """A FinalAck is express."""

    members: ClassVar[dict[str, Json]] = {"delivery": "express"}


@fault("final-ack-body-type", "acknowledging", "MQQB-2.2.5.body-type", "MQQB-3.1.7.17.body-type")
class FinalAckBodyType(_FinalMade):
    """A FinalAck names a type for its body."""

    members: ClassVar[dict[str, Json]] = {"body_type": 0x1011}


@fault("final-ack-asks", "acknowledging", "MQQB-2.2.5.properties-flags")
class FinalAckAsks(_FinalMade):
    """A FinalAck asks for an acknowledgment."""

    members: ClassVar[dict[str, Json]] = {"acknowledgements": ["negative_receive"]}


@fault("final-ack-class", "acknowledging", "MQQB-2.2.5.message-class")
class FinalAckClass(_FinalMade):
    """A FinalAck has a class that no FinalAck has."""

    members: ClassVar[dict[str, Json]] = {"class": 0x8002}


@fault("final-ack-priority", "acknowledging", "MQQB-2.2.5.base-flags", "MQQB-3.1.7.17.priority")
class FinalAckPriority(_FinalMade):
    """A FinalAck has priority 3."""

    members: ClassVar[dict[str, Json]] = {"priority": 3}


class _FinalBody(Acknowledging):
    """Changes the body of a FinalAck."""

    def final_body(self, read: dict[str, Json]) -> FinalAckBody:
        return self.changed(super().final_body(read))

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return body


@fault("final-ack-source", "acknowledging", "MQQB-2.2.5.1.source-guid")
class FinalAckSource(_FinalBody):
    """SourceGUID of a FinalAck is the queue manager that makes it."""

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, source=self.node.guid)


@fault("final-ack-message", "acknowledging", "MQQB-2.2.5.1.message-id")
class FinalAckMessage(_FinalBody):
    """MessageID of a FinalAck is that of no message."""

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, message=body.message + 1 & 0xFFFFFFFF)


@fault("final-ack-number", "acknowledging", "MQQB-2.2.5.1.sequence-number")
class FinalAckNumber(_FinalBody):
    """A FinalAck carries the number after that of its message."""

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, number=body.number + 1 & 0xFFFFFFFF)


@fault("final-ack-zero", "acknowledging", "MQQB-2.2.5.1.number", "MQQB-2.2.5.1.sequence-number")
class FinalAckZero(_FinalBody):
    """A FinalAck carries number 0."""

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, number=0)


@fault("final-ack-previous", "acknowledging", "MQQB-2.2.5.1.previous")
class FinalAckPrevious(_FinalBody):
    """A FinalAck carries the number of its message as the previous one."""

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, previous=body.number)


@fault("final-ack-sequence", "acknowledging", "MQQB-2.2.5.1.sequence")
class FinalAckSequence(_FinalBody):
    """A FinalAck carries another sequence than its message."""

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, sequence=body.sequence ^ 1)


@fault("final-ack-long", Codec.final_body, "MQQB-2.2.5.message-size")
def final_ack_long(plain, self, body):
    """The body of a FinalAck has four bytes too many."""
    return plain(body) + bytes(4)


@fault("final-ack-unwanted", NetworkDelivery.wants_final, "MQQB-3.1.7.2.2.wanted")
def final_ack_unwanted(plain, self, message):
    """A FinalAck is sent for each transactional message that is received."""
    return (message.carried or {})["came"]["read"].get("transaction") is not None


@fault(
    "transactional-classes-swapped", Receiver.refusal, "MQQB-3.1.5.8.2.not-transactional-queue",
    "MQQB-3.1.5.8.2.not-transactional-message",
)  # fmt: skip
def transactional_classes_swapped(plain, self, arrived):
    """Which of queue and message is not transactional is told the wrong way round."""
    reason = plain(arrived)
    turned = {
        net.NACK_NOT_TRANSACTIONAL_Q: net.NACK_NOT_TRANSACTIONAL_MSG,
        net.NACK_NOT_TRANSACTIONAL_MSG: net.NACK_NOT_TRANSACTIONAL_Q,
    }
    return turned.get(reason, reason) if reason is not None else None


def _trimmed(text: str) -> str:
    return base64.b64encode(base64.b64decode(text)[:-4]).decode("ascii")


@fault("order-ack-cut", Acknowledging.transactional, "MQQB-2.2.4.message-size")
def order_ack_cut(plain, self, kind, body):
    """The body of an OrderAck lacks its last four bytes."""
    made = plain(kind, body)
    return made | {"body": _trimmed(made["body"])} if kind == net.ORDER_ACK else made
