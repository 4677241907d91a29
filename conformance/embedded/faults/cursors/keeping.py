"""Faults of stored messages: their order, their identifiers, and how often reads return them."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.positions import SEQUENCE_BITS, PositionList


class _FlatList(PositionList):
    @staticmethod
    def order(message: Message, sequence: int) -> int:
        return sequence


class IgnoresPriority(Fault):
    """Messages stand in the order of their arrival, whatever their priority."""

    name = "ignores-priority"
    breaks = (
        "MQDMPR-3.1.1.2.priority-before-arrival",
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
        "MQMP-2.2.3.2.p-priority",
    )
    first_seen_as = ("MQDMPR-3.1.7.3.3.seek-last",)
    because = "the last message of a queue is another in the order of arrival, and a seek for it comes before two reads"
    replaces = ("positions", _FlatList)


class _FallingIdentifiers(PositionList):
    @staticmethod
    def lookup_identifier(message: Message, sequence: int) -> int:
        rising = PositionList.lookup_identifier(message, sequence)
        return rising - sequence + ((1 << SEQUENCE_BITS) - 1 - sequence)


class LookupIdNotIncreasing(Fault):
    """Lookup identifiers fall from one message to the next."""

    name = "lookup-id-not-increasing"
    breaks = (
        "MQDMPR-3.1.7.1.9.lookup-identifier-increases",
        "MQDMPR-3.1.1.12.lookup-identifier-order",
        "MQDMPR-3.1.7.1.9.lookup-identifier-sequence",
    )
    replaces = ("positions", _FallingIdentifiers)


class _DoublingDelivery(Delivery):
    def arrived(self, message: Message, queue: Queue) -> None:
        super().arrived(message, queue)
        if queue.kind != "outgoing" and not message.transactional:
            self.place(queue, replace(message), limited=False)


class DeliversTwice(Fault):
    """A message sent outside any transaction is in its queue twice."""

    name = "delivers-twice"
    breaks = ("MQDMPR-3.1.7.1.9.once",)
    replaces = ("delivery", _DoublingDelivery)
