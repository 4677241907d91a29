"""Faults of incoming sequences, of order and of final acknowledgments (MS-MQQB 2.2.4, 2.2.5, 3.1.5.8.6, 3.1.7.17)."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.entities import Message
from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.codec import Codec, FinalAckBody, OrderAckBody
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.local import NetworkDelivery
from conformance.embedded.network.sequences import Incoming, Sequences
from conformance.embedded.network.session import Session

Json = Any


class _TakesGaps(Sequences):
    def accepts(self, state: Incoming, identifier: int, number: int, previous: int) -> bool:
        return super().accepts(state, identifier, number, min(previous, state.number))


class _TakesRepeats(Sequences):
    def accepts(self, state: Incoming, identifier: int, number: int, previous: int) -> bool:
        return identifier == state.identifier or super().accepts(state, identifier, number, previous)


class _TakesOlder(Sequences):
    def accepts(self, state: Incoming, identifier: int, number: int, previous: int) -> bool:
        return previous == 0 if identifier < state.identifier else super().accepts(state, identifier, number, previous)


class _NewFromAnywhere(Sequences):
    def accepts(self, state: Incoming, identifier: int, number: int, previous: int) -> bool:
        return identifier > state.identifier or super().accepts(state, identifier, number, previous)


class _PreviousExact(Sequences):
    """Accepts a message only if its previous number is the last one's: a bridge over a gap is refused."""

    def accepts(self, state: Incoming, identifier: int, number: int, previous: int) -> bool:
        exact = previous == state.number if identifier == state.identifier else True
        return exact and super().accepts(state, identifier, number, previous)


class _NoOrderAck(Acknowledging):
    def order(self, session: Session, sequence: str) -> None:
        return


class _AtOnce(Session):
    def schedule_order_ack(self, sequence: str) -> None:
        self.node.acknowledging.order(self, sequence)


class _OrderBody(Acknowledging):
    """Changes the body of an OrderAck."""

    def order_body(self, identifier: int, number: int) -> OrderAckBody:
        return self.changed(super().order_body(identifier, number))

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return body


class _OrderAhead(_OrderBody):
    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, number=body.number + 1, previous=body.number)


class _OrderPrevious(_OrderBody):
    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, previous=body.number)


class _OrderZero(_OrderBody):
    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, number=0, previous=0)


class _OrderFirst(_OrderBody):
    """Acknowledges all but the last two messages."""

    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, number=max(1, body.number - 2), previous=max(0, body.number - 3))


class _OrderSequence(_OrderBody):
    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, sequence=body.sequence + (1 << 32) & 0xFFFFFFFFFFFFFFFF)


class _OrderHalves(_OrderBody):
    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, sequence=(body.sequence & 0xFFFFFFFF) << 32 | body.sequence >> 32)


class _OrderReserved(_OrderBody):
    def changed(self, body: OrderAckBody) -> OrderAckBody:
        return replace(body, reserved=b"\xcd" * 20)


class _OrderShort(Codec):
    def order_body(self, body: OrderAckBody) -> bytes:
        return super().order_body(body)[:-20]


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


class _OrderLabel(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"label": "QM Order Ack"}


class _OrderClass(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"class": net.ACK_REACH_QUEUE}


class _OrderBodyType(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"body_type": 0x1011}


class _OrderPriority(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"priority": 3}


class _OrderAsks(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"acknowledgements": ["positive_arrival"]}


class _OrderJournal(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"positive_journaling": True}


class _OrderExpires(_OrderMade):
    members: ClassVar[dict[str, Json]] = {"time_to_reach_queue": 345_600}


class _OrderElsewhere(Acknowledging):
    def order_queue(self, remote: bytes, address: str, *, direct: bool) -> str:
        made = super().order_queue(remote, address, direct=direct)
        return made.replace(net.ORDER_QUEUE, "admin_queue$").replace("\\00000004", "\\00000001")


class _OrderPrivate(Acknowledging):
    def order_queue(self, remote: bytes, address: str, *, direct: bool) -> str:
        return super().order_queue(remote, address, direct=False)


class _FinalLabel(_FinalMade):
    members: ClassVar[dict[str, Json]] = {"label": "QM Final Ack"}


class _FinalExpress(_FinalMade):
    members: ClassVar[dict[str, Json]] = {"delivery": "express"}


class _FinalBodyType(_FinalMade):
    members: ClassVar[dict[str, Json]] = {"body_type": 0x1011}


class _FinalAsks(_FinalMade):
    members: ClassVar[dict[str, Json]] = {"acknowledgements": ["negative_receive"]}


class _FinalClass(_FinalMade):
    members: ClassVar[dict[str, Json]] = {"class": 0x8002}


class _FinalPriority(_FinalMade):
    members: ClassVar[dict[str, Json]] = {"priority": 3}


class _FinalBody(Acknowledging):
    """Changes the body of a FinalAck."""

    def final_body(self, read: dict[str, Json]) -> FinalAckBody:
        return self.changed(super().final_body(read))

    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return body


class _FinalSource(_FinalBody):
    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, source=self.node.guid)


class _FinalMessage(_FinalBody):
    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, message=body.message + 1 & 0xFFFFFFFF)


class _FinalNumber(_FinalBody):
    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, number=body.number + 1 & 0xFFFFFFFF)


class _FinalZero(_FinalBody):
    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, number=0)


class _FinalPrevious(_FinalBody):
    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, previous=body.number)


class _FinalSequence(_FinalBody):
    def changed(self, body: FinalAckBody) -> FinalAckBody:
        return replace(body, sequence=body.sequence ^ 1)


class _FinalLong(Codec):
    def final_body(self, body: FinalAckBody) -> bytes:
        return super().final_body(body) + bytes(4)


class _FinalAlways(NetworkDelivery):
    def wants_final(self, message: Message) -> bool:
        return (message.carried or {})["came"]["read"].get("transaction") is not None


class _TransactionalToPlain(Receiver):
    """Tells of the queue what is wrong with the message, and the other way round."""

    def refusal(self, arrived: Any) -> int | None:
        reason = super().refusal(arrived)
        turned = {
            net.NACK_NOT_TRANSACTIONAL_Q: net.NACK_NOT_TRANSACTIONAL_MSG,
            net.NACK_NOT_TRANSACTIONAL_MSG: net.NACK_NOT_TRANSACTIONAL_Q,
        }
        return turned.get(reason, reason) if reason is not None else None


def _trimmed(text: str) -> str:
    return base64.b64encode(base64.b64decode(text)[:-4]).decode("ascii")


class _OrderBodyCut(Acknowledging):
    def transactional(self, kind: int, body: bytes) -> dict[str, Json]:
        made = super().transactional(kind, body)
        return made | {"body": _trimmed(made["body"])} if kind == net.ORDER_ACK else made


_Q = ("MQQB-3.1.5.8.2.not-transactional-queue", "MQQB-3.1.5.8.2.not-transactional-message")
_TABLE = (
    ("sequence-gaps-accepted", "A transactional message is accepted although one before it is missing.",
     ("MQQB-3.1.5.8.6.accepted", "MQQB-3.1.1.6.2.in-order"), ("sequences", _TakesGaps)),
    ("sequence-repeats-accepted", "A transactional message is accepted although its number came before.",
     ("MQQB-3.1.5.8.6.accepted", "MQQB-3.1.1.6.2.never-decreases"), ("sequences", _TakesRepeats)),
    ("older-sequences-accepted", "A transactional message of an older sequence is accepted.",
     ("MQQB-3.1.5.8.6.accepted",), ("sequences", _TakesOlder)),
    ("new-sequences-from-anywhere", "A new sequence is accepted although its first message is missing.",
     ("MQQB-3.1.5.8.6.accepted", "MQQB-3.1.1.6.2.in-order"), ("sequences", _NewFromAnywhere)),
    ("sequence-bridges-refused", "A message is refused whose previous number is below the last one accepted.",
     ("MQQB-3.1.5.8.6.accepted",), ("sequences", _PreviousExact)),
    ("never-acknowledges-order", "No OrderAck is ever sent.", ("MQQB-3.1.6.9.sent", "MQQB-3.1.1.6.2.scheduled"),
     ("acknowledging", _NoOrderAck)),
    ("order-acknowledged-at-once", "An OrderAck does not wait for its timer.", ("MQQB-3.1.3.2.order-ack-delay",),
     ("session", _AtOnce)),
    ("order-ack-ahead", "An OrderAck acknowledges one message more than came.",
     ("MQQB-3.1.1.6.2.in-order", "MQQB-3.1.5.8.6.accepted"), ("acknowledging", _OrderAhead)),
    ("order-ack-previous", "TxPreviousSequenceNumber of an OrderAck is its number.", ("MQQB-2.2.4.1.previous",),
     ("acknowledging", _OrderPrevious)),
    ("order-ack-zero", "An OrderAck acknowledges number 0.", ("MQQB-2.2.4.1.number", "MQQB-2.2.4.1.previous"),
     ("acknowledging", _OrderZero)),
    ("order-ack-behind", "An OrderAck acknowledges less than was accepted.",
     ("MQQB-3.1.6.9.sent", "MQQB-3.1.7.17.order-body"), ("acknowledging", _OrderFirst)),
    ("order-ack-sequence", "An OrderAck names a sequence that was not sent.", ("MQQB-2.2.4.1.sequence",),
     ("acknowledging", _OrderSequence)),
    ("order-ack-halves-swapped", "Ordinal and TimeStamp of the sequence of an OrderAck are swapped.",
     ("MQQB-2.2.4.1.sequence",), ("acknowledging", _OrderHalves)),
    ("order-ack-reserved", "The last 20 bytes of the body of an OrderAck are not zero.", ("MQQB-2.2.4.1.reserved",),
     ("acknowledging", _OrderReserved)),
    ("order-ack-short", "The body of an OrderAck ends behind its numbers.",
     ("MQQB-2.2.4.message-size",), ("codec", _OrderShort)),
    ("order-ack-cut", "The body of an OrderAck lacks its last four bytes.", ("MQQB-2.2.4.message-size",),
     ("acknowledging", _OrderBodyCut)),
    ("order-ack-label", "An OrderAck has another label.", ("MQQB-2.2.4.label", "MQQB-3.1.7.17.label"),
     ("acknowledging", _OrderLabel)),
    ("order-ack-class", "An OrderAck has the class of an arrival acknowledgment.", ("MQQB-2.2.4.message-class",),
     ("acknowledging", _OrderClass)),
    ("order-ack-body-type", "An OrderAck names a type for its body.",
     ("MQQB-2.2.4.body-type", "MQQB-3.1.7.17.body-type"), ("acknowledging", _OrderBodyType)),
    ("order-ack-priority", "An OrderAck has priority 3.", ("MQQB-2.2.4.base-flags", "MQQB-3.1.7.17.priority"),
     ("acknowledging", _OrderPriority)),
    ("order-ack-asks", "An OrderAck asks for an acknowledgment.", ("MQQB-2.2.4.properties-flags",),
     ("acknowledging", _OrderAsks)),
    ("order-ack-journaled", "An OrderAck asks for source journaling.",
     ("MQQB-2.2.4.user-flags", "MQQB-3.1.7.17.plain"), ("acknowledging", _OrderJournal)),
    ("order-ack-expires", "An OrderAck has a time to reach its queue.",
     ("MQMQ-2.2.19.1.time-to-reach-queue-internal",), ("acknowledging", _OrderExpires)),
    ("order-ack-elsewhere", "Transactional acknowledgments go to another queue than the order queue.",
     ("MQQB-2.2.4.destination", "MQQB-2.2.5.destination"), ("acknowledging", _OrderElsewhere)),
    ("order-ack-private-name", "Transactional acknowledgments go to a private name although a direct one was used.",
     ("MQQB-3.1.7.17.destination-form",), ("acknowledging", _OrderPrivate)),
    ("final-ack-label", "A FinalAck has another label.", ("MQQB-2.2.5.label", "MQQB-3.1.7.17.label"),
     ("acknowledging", _FinalLabel)),
    ("final-ack-express", "A FinalAck is express.", ("MQQB-2.2.5.user-flags", "MQQB-3.1.7.17.delivery"),
     ("acknowledging", _FinalExpress)),
    ("final-ack-body-type", "A FinalAck names a type for its body.",
     ("MQQB-2.2.5.body-type", "MQQB-3.1.7.17.body-type"), ("acknowledging", _FinalBodyType)),
    ("final-ack-asks", "A FinalAck asks for an acknowledgment.", ("MQQB-2.2.5.properties-flags",),
     ("acknowledging", _FinalAsks)),
    ("final-ack-class", "A FinalAck has a class that no FinalAck has.", ("MQQB-2.2.5.message-class",),
     ("acknowledging", _FinalClass)),
    ("final-ack-priority", "A FinalAck has priority 3.", ("MQQB-2.2.5.base-flags", "MQQB-3.1.7.17.priority"),
     ("acknowledging", _FinalPriority)),
    ("final-ack-source", "SourceGUID of a FinalAck is the queue manager that makes it.",
     ("MQQB-2.2.5.1.source-guid",), ("acknowledging", _FinalSource)),
    ("final-ack-message", "MessageID of a FinalAck is that of no message.", ("MQQB-2.2.5.1.message-id",),
     ("acknowledging", _FinalMessage)),
    ("final-ack-number", "A FinalAck carries the number after that of its message.",
     ("MQQB-2.2.5.1.sequence-number",), ("acknowledging", _FinalNumber)),
    ("final-ack-zero", "A FinalAck carries number 0.", ("MQQB-2.2.5.1.number", "MQQB-2.2.5.1.sequence-number"),
     ("acknowledging", _FinalZero)),
    ("final-ack-previous", "A FinalAck carries the number of its message as the previous one.",
     ("MQQB-2.2.5.1.previous",), ("acknowledging", _FinalPrevious)),
    ("final-ack-sequence", "A FinalAck carries another sequence than its message.", ("MQQB-2.2.5.1.sequence",),
     ("acknowledging", _FinalSequence)),
    ("final-ack-long", "The body of a FinalAck has four bytes too many.", ("MQQB-2.2.5.message-size",),
     ("codec", _FinalLong)),
    ("final-ack-unwanted", "A FinalAck is sent for each transactional message that is received.",
     ("MQQB-3.1.7.2.2.wanted",), ("delivery", _FinalAlways)),
    ("transactional-classes-swapped", "Which of queue and message is not transactional is told the wrong way round.",
     _Q, ("receiver", _TransactionalToPlain)),
)  # fmt: skip
for _name, _says, _breaks, _part in _TABLE:
    fault(__name__, _name, _says, _breaks, _part)
