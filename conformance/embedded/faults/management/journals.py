"""Faults of source journals and dead letters (MS-MQDMPR 3.1.1.12), and of sequences from elsewhere (3.1.1.5)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import Position, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.incoming import IncomingTransfers
from conformance.embedded.transfer_state import Transfer
from conformance.embedded.transfers import RECEIVED, Transfers

Json = Any


class _Impatient(Transfers):
    def delivered(self, queue: Queue, transfer: Transfer, position: Position) -> None:
        if position.message.fields["positive_journaling"]:
            self.manager.delivery.copy(self.manager.queues.system("journal"), position.message)
        super().delivered(queue, transfer, position)


class JournaledWhenDelivered(Fault):
    """The source journal has a transactional message when it was delivered, and again when it was read."""

    name = "journaled-when-delivered"
    breaks = ("MQDMPR-3.1.1.12.positive-journaling",)
    replaces = ("transfers", _Impatient)


class _AlwaysReceived(Transfers):
    def final(self, transfer: Transfer, identifier: dict[str, Json], message_class: int) -> None:
        super().final(transfer, identifier, RECEIVED)


class LossToldAsReceipt(Fault):
    """A final acknowledgment of any class counts as a receipt: nothing that is lost becomes a dead letter."""

    name = "loss-told-as-receipt"
    breaks = (
        "MQDMPR-3.1.1.12.negative-journaling",
        "MQDMPR-3.1.1.12.positive-journaling",
    )
    replaces = ("transfers", _AlwaysReceived)


class _AlwaysLost(Transfers):
    def final(self, transfer: Transfer, identifier: dict[str, Json], message_class: int) -> None:
        position = transfer.unread.get((identifier["source"].lower(), identifier["ordinal"]))
        super().final(transfer, identifier, message_class)
        if position is not None and message_class == RECEIVED:
            self.manager.delivery.dead_letter(position.message)


class ReceivedBecomesDeadLetter(Fault):
    """A transactional message that was received becomes a dead letter too."""

    name = "received-becomes-dead-letter"
    breaks = ("MQDMPR-3.1.1.12.negative-journaling",)
    replaces = ("transfers", _AlwaysLost)


class _OtherLetters(Transfers):
    def final(self, transfer: Transfer, identifier: dict[str, Json], message_class: int) -> None:
        position = transfer.unread.get((identifier["source"].lower(), identifier["ordinal"]))
        if position is not None:
            position.message.transactional = False
        super().final(transfer, identifier, message_class)


class DeadLettersMixed(Fault):
    """A transactional message that was not received goes to the dead-letter queue for those that are not."""

    name = "dead-letters-mixed"
    breaks = ("MQDMPR-3.1.1.12.negative-journaling-transactional",)
    first_seen_as = ("MQDMPR-3.1.1.12.negative-journaling",)
    because = "The queue where the letter must be lacks it, before anybody looks into the other one."
    replaces = ("transfers", _OtherLetters)


class _Generous(Transfers):
    def stored(self, queue: Queue, transfer: Transfer, count: int) -> None:
        super().stored(queue, transfer, count + (count > 0))


class SessionAckOfOneMore(Fault):
    """A session acknowledgment is taken for one message more than it counts."""

    name = "session-ack-of-one-more"
    breaks = (
        "MQQB-3.1.1.6.1.discarded",
        "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    )
    replaces = ("transfers", _Generous)


class _Himself(IncomingTransfers):
    def told(self, queue: Queue) -> list[Json]:
        told = super().told(queue)
        told[1]["value"] = [self.manager.guid for _ in told[1]["value"]]
        return told


class SourceIsThisManager(Fault):
    """The sender of every sequence is told as this queue manager."""

    name = "source-is-this-manager"
    breaks = (
        "MQDMPR-3.1.1.5.sender-identifier",
        "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info",
    )
    replaces = ("incoming", _Himself)


class _Turned(IncomingTransfers):
    def told(self, queue: Queue) -> list[Json]:
        told = super().told(queue)
        numbers = [int(each) for each in told[2]["value"]]
        told[2]["value"] = [str((each & 0xFFFFFFFF) << 32 | each >> 32) for each in numbers]
        return told


class SourceSequenceTurned(Fault):
    """The two halves of a sequence identifier are told in the wrong order."""

    name = "source-sequence-turned"
    breaks = (
        "MQDMPR-3.1.1.5.sequence-identifier",
        "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info",
    )
    replaces = ("incoming", _Turned)


class _Own(IncomingTransfers):
    def told(self, queue: Queue) -> list[Json]:
        told = super().told(queue)
        told[0]["value"] = [self.manager.queues.direct_name(queue) for _ in told[0]["value"]]
        return told


class SourceNamesOfOurs(Fault):
    """The format name of a sequence is this manager's name of the queue, not the one that the sender used."""

    name = "source-names-of-ours"
    breaks = ("MQDMPR-3.1.1.5.format-name",)
    replaces = ("incoming", _Own)


class _First(IncomingTransfers):
    def accepted(self, queue: Queue, read: dict[str, Json]) -> None:
        known = {key: each.number for key, each in self._of.get(queue.id, {}).items()}
        super().accepted(queue, read)
        for key, number in known.items():
            self._of[queue.id][key].number = number


class SourceNumberOfFirst(Fault):
    """The number told of a sequence is that of its first message."""

    name = "source-number-of-first"
    breaks = ("MQDMPR-3.1.1.5.sequence-number",)
    replaces = ("incoming", _First)


class _Since(IncomingTransfers):
    def accepted(self, queue: Queue, read: dict[str, Json]) -> None:
        known = {key: each.time for key, each in self._of.get(queue.id, {}).items()}
        super().accepted(queue, read)
        for key, time in known.items():
            self._of[queue.id][key].time = time


class SourceTimeOfFirst(Fault):
    """The time told of a sequence is that of its first message."""

    name = "source-time-of-first"
    breaks = ("MQDMPR-3.1.1.5.last-access-time",)
    replaces = ("incoming", _Since)


class _Forgiving(IncomingTransfers):
    def rejected(self, queue: Queue, read: dict[str, Json]) -> None:
        return


class SourceRejectsForgotten(Fault):
    """That a message was rejected before it was taken is not told."""

    name = "source-rejects-forgotten"
    breaks = (
        "MQDMPR-3.1.1.5.reject-count",
        "MQDMPR-3.1.1.5.last-access-time",
    )
    replaces = ("incoming", _Forgiving)
