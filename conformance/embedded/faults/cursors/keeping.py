"""Faults of stored messages: their order, their identifiers, and how often reads return them."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message
from conformance.embedded.faults.base import fault
from conformance.embedded.positions import SEQUENCE_BITS, PositionList


@fault(
    "ignores-priority", "positions", "MQDMPR-3.1.1.2.priority-before-arrival",
    "MQMQ-2.2.19.1.higher-priority-nearer-front", "MQMP-2.2.3.2.p-priority",
    first_seen_as=("MQDMPR-3.1.7.3.3.seek-last",),
    because="the last message of a queue is another in the order of arrival, and a seek for it comes before two reads",
)  # fmt: skip
class IgnoresPriority(PositionList):
    """Messages stand in the order of their arrival, whatever their priority."""

    @staticmethod
    def order(message: Message, sequence: int) -> int:
        return sequence


@fault(
    "lookup-id-not-increasing", "positions", "MQDMPR-3.1.7.1.9.lookup-identifier-increases",
    "MQDMPR-3.1.1.12.lookup-identifier-order", "MQDMPR-3.1.7.1.9.lookup-identifier-sequence",
)  # fmt: skip
class LookupIdNotIncreasing(PositionList):
    """Lookup identifiers fall from one message to the next."""

    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        rising = PositionList.lookup_identifier(message, sequence)
        return rising - sequence + ((1 << SEQUENCE_BITS) - 1 - sequence)


@fault("delivers-twice", Delivery.arrived, "MQDMPR-3.1.7.1.9.once")
def delivers_twice(plain, self, message, queue):
    """A message sent outside any transaction is in its queue twice."""
    plain(message, queue)
    if queue.kind != "outgoing" and not message.transactional:
        self.place(queue, replace(message), limited=False)
