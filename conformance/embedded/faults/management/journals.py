"""Faults of source journals and dead letters (MS-MQDMPR 3.1.1.12), and of sequences from elsewhere (3.1.1.5)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.faults.base import fault
from conformance.embedded.incoming import IncomingTransfers
from conformance.embedded.transfers import RECEIVED, Transfers

Json = Any


@fault("journaled-when-delivered", Transfers.delivered, "MQDMPR-3.1.1.12.positive-journaling")
def journaled_when_delivered(plain, self, queue, transfer, position):
    """The source journal has a transactional message when it was delivered, and again when it was read."""
    if position.message.fields["positive_journaling"]:
        self.manager.delivery.copy(self.manager.queues.system("journal"), position.message)
    plain(queue, transfer, position)


@fault(
    "loss-told-as-receipt", Transfers.final, "MQDMPR-3.1.1.12.negative-journaling",
    "MQDMPR-3.1.1.12.positive-journaling",
)  # fmt: skip
def loss_told_as_receipt(plain, self, transfer, identifier, message_class):
    """A final acknowledgment of any class counts as a receipt: nothing that is lost becomes a dead letter."""
    plain(transfer, identifier, RECEIVED)


@fault("received-becomes-dead-letter", Transfers.final, "MQDMPR-3.1.1.12.negative-journaling")
def received_becomes_dead_letter(plain, self, transfer, identifier, message_class):
    """A transactional message that was received becomes a dead letter too."""
    position = transfer.unread.get((identifier["source"].lower(), identifier["ordinal"]))
    plain(transfer, identifier, message_class)
    if position is not None and message_class == RECEIVED:
        self.manager.delivery.dead_letter(position.message)


@fault(
    "dead-letters-mixed", Transfers.final, "MQDMPR-3.1.1.12.negative-journaling-transactional",
    first_seen_as=("MQDMPR-3.1.1.12.negative-journaling",),
    because="The queue where the letter must be lacks it, before anybody looks into the other one.",
)  # fmt: skip
def dead_letters_mixed(plain, self, transfer, identifier, message_class):
    """A transactional message that was not received goes to the dead-letter queue for those that are not."""
    position = transfer.unread.get((identifier["source"].lower(), identifier["ordinal"]))
    if position is not None:
        position.message.transactional = False
    plain(transfer, identifier, message_class)


@fault(
    "session-ack-of-one-more", Transfers.stored, "MQQB-3.1.1.6.1.discarded",
    "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
)  # fmt: skip
def session_ack_of_one_more(plain, self, queue, transfer, count):
    """A session acknowledgment is taken for one message more than it counts."""
    plain(queue, transfer, count + (count > 0))


@fault(
    "source-is-this-manager", IncomingTransfers.told, "MQDMPR-3.1.1.5.sender-identifier",
    "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info",
)  # fmt: skip
def source_is_this_manager(plain, self, queue):
    """The sender of every sequence is told as this queue manager."""
    told = plain(queue)
    told[1]["value"] = [self.manager.guid for _ in told[1]["value"]]
    return told


@fault(
    "source-sequence-turned", IncomingTransfers.told, "MQDMPR-3.1.1.5.sequence-identifier",
    "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info",
)  # fmt: skip
def source_sequence_turned(plain, self, queue):
    """The two halves of a sequence identifier are told in the wrong order."""
    told = plain(queue)
    numbers = [int(each) for each in told[2]["value"]]
    told[2]["value"] = [str((each & 0xFFFFFFFF) << 32 | each >> 32) for each in numbers]
    return told


@fault("source-names-of-ours", IncomingTransfers.told, "MQDMPR-3.1.1.5.format-name")
def source_names_of_ours(plain, self, queue):
    """The format name of a sequence is this manager's name of the queue, not the one that the sender used."""
    told = plain(queue)
    told[0]["value"] = [self.manager.queues.direct_name(queue) for _ in told[0]["value"]]
    return told


@fault("source-number-of-first", IncomingTransfers.accepted, "MQDMPR-3.1.1.5.sequence-number")
def source_number_of_first(plain, self, queue, read):
    """The number told of a sequence is that of its first message."""
    known = {key: each.number for key, each in self._of.get(queue.id, {}).items()}
    plain(queue, read)
    for key, number in known.items():
        self._of[queue.id][key].number = number


@fault("source-time-of-first", IncomingTransfers.accepted, "MQDMPR-3.1.1.5.last-access-time")
def source_time_of_first(plain, self, queue, read):
    """The time told of a sequence is that of its first message."""
    known = {key: each.time for key, each in self._of.get(queue.id, {}).items()}
    plain(queue, read)
    for key, time in known.items():
        self._of[queue.id][key].time = time


@fault(
    "source-rejects-forgotten", IncomingTransfers.rejected, "MQDMPR-3.1.1.5.reject-count",
    "MQDMPR-3.1.1.5.last-access-time",
)  # fmt: skip
def source_rejects_forgotten(plain, self, queue, read):
    """That a message was rejected before it was taken is not told."""
