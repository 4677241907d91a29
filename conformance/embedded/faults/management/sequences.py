"""Faults of the numbers of order acknowledgments (MS-MQDMPR 3.1.1.4)."""

from __future__ import annotations

from conformance.embedded.faults.base import fault
from conformance.embedded.management import Management, packed
from conformance.embedded.transfer_state import SequenceInfo
from conformance.embedded.transfers import Transfers


@fault(
    "last-ack-ahead", Management.last_ack, "MQDMPR-3.1.1.4.eod-last-ack",
    "MQMQ-2.3.12.13.propid-mgmt-queue-eod-last-ack",
)  # fmt: skip
def last_ack_ahead(plain, self, queue):
    """The last place acknowledged is told as the one behind it."""
    transfer = self.of(queue)
    last = None if transfer is None else transfer.last_ack
    return packed(last and SequenceInfo(last.ordinal, last.timestamp, last.number + 1, last.number))


@fault(
    "last-ack-time-of-first", Transfers.ordered, "MQDMPR-3.1.1.4.eod-last-ack-time",
    "MQMQ-2.3.12.14.propid-mgmt-queue-eod-last-ack-time",
)  # fmt: skip
def last_ack_time_of_first(plain, self, queue, transfer, number):
    """The time of the last order acknowledgment is that of the first."""
    before = transfer.last_ack_time
    plain(queue, transfer, number)
    transfer.last_ack_time = before or transfer.last_ack_time


@fault(
    "repeated-acks-not-counted", Transfers.count_order, "MQDMPR-3.1.1.4.eod-last-ack-count",
    "MQMQ-2.3.12.15.propid-mgmt-queue-eod-last-ack-count",
)  # fmt: skip
def repeated_acks_not_counted(plain, self, transfer, number):
    """An order acknowledgment that comes again is not counted."""
    plain(transfer, number)
    transfer.last_ack_count = min(1, transfer.last_ack_count)


@fault(
    "first-non-ack-is-last", Management.first_non_ack, "MQDMPR-3.1.1.4.eod-first-non-ack",
    "MQMQ-2.3.12.16.propid-mgmt-queue-eod-first-non-ack",
)  # fmt: skip
def first_non_ack_is_last(plain, self, queue):
    """The oldest message without order acknowledgment is told as the newest."""
    return self.last_non_ack(queue)


@fault(
    "last-non-ack-is-first", Management.last_non_ack, "MQDMPR-3.1.1.4.eod-last-non-ack",
    "MQMQ-2.3.12.17.propid-mgmt-queue-eod-last-non-ack",
)  # fmt: skip
def last_non_ack_is_first(plain, self, queue):
    """The newest message without order acknowledgment is told as the oldest."""
    return self.first_non_ack(queue)


@fault(
    "next-seq-behind", Management.next_seq, "MQDMPR-3.1.1.4.eod-next-seq",
    "MQMQ-2.3.12.18.propid-mgmt-queue-eod-next-seq",
)  # fmt: skip
def next_seq_behind(plain, self, queue):
    """The place of the next message is told as that of the last one sent."""
    transfer = self.of(queue)
    if transfer is None:
        return None
    ahead = self.manager.transfers.next_place(transfer)
    last = max(1, ahead.number - 1)
    return packed(SequenceInfo(ahead.ordinal, ahead.timestamp, last, last - 1))


@fault("sequence-never-ends", Transfers.new_sequence, "MQDMPR-3.1.1.4.eod-next-seq", "MQQB-3.1.1.5.next-sequence")
def sequence_never_ends(plain, self, transfer):
    """A sequence goes on after all of it was acknowledged."""


@fault(
    "no-read-count-of-unacknowledged", Management.no_read_count, "MQDMPR-3.1.1.4.eod-no-read-count",
    "MQMQ-2.3.12.19.propid-mgmt-queue-eod-no-read-count",
)  # fmt: skip
def no_read_count_of_unacknowledged(plain, self, queue):
    """The messages that await their final acknowledgment are told as many as await their order acknowledgment."""
    return self.no_ack_count(queue)


@fault(
    "no-read-count-never-falls", Transfers.final, "MQDMPR-3.1.1.4.eod-no-read-count",
    "MQDMPR-3.1.1.12.positive-journaling",
)  # fmt: skip
def no_read_count_never_falls(plain, self, transfer, identifier, message_class):
    """A final acknowledgment does not lower the number of messages that await one."""
    before = dict(transfer.unread)
    plain(transfer, identifier, message_class)
    transfer.unread.update(before)


@fault(
    "no-ack-count-of-unsent", Management.no_ack_count, "MQDMPR-3.1.1.4.eod-no-ack-count",
    "MQMQ-2.3.12.20.propid-mgmt-queue-eod-no-ack-count",
)  # fmt: skip
def no_ack_count_of_unsent(plain, self, queue):
    """Messages that were not sent yet count as sent without order acknowledgment."""
    return None if plain(queue) is None else self.message_count(queue)


@fault(
    "order-ack-of-one", Transfers.ordered, "MQDMPR-3.1.1.4.eod-no-ack-count", "MQDMPR-3.1.1.4.eod-first-non-ack",
    first_seen_as=("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",),
    because="What does not leave the queue in time is counted among its messages at once.",
)  # fmt: skip
def order_ack_of_one(plain, self, queue, transfer, number):
    """An order acknowledgment is taken for the message of its number alone, not for those before it."""
    lower = {each: kept for each, kept in transfer.numbered.items() if each < number}
    for each in lower:
        del transfer.numbered[each]
    plain(queue, transfer, number)
    transfer.numbered = dict(sorted({**transfer.numbered, **lower}.items()))


@fault(
    "order-ack-of-all", Transfers.ordered, "MQDMPR-3.1.1.4.eod-no-ack-count", "MQDMPR-3.1.1.4.eod-last-ack",
    "MQDMPR-3.1.1.4.eod-first-non-ack", "MQDMPR-3.1.1.4.eod-last-non-ack", "MQQB-3.1.1.6.2.retained",
    first_seen_as=("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",),
    because="What leaves the queue too early is missing in the number of its messages at once.",
)  # fmt: skip
def order_ack_of_all(plain, self, queue, transfer, number):
    """An order acknowledgment is taken for every message that was sent."""
    plain(queue, transfer, max(transfer.numbered, default=number))


@fault(
    "resend-time-in-an-hour", Transfers.sent, "MQDMPR-3.1.1.4.eod-resend-time", "MQDMPR-3.1.1.4.eod-resend-interval",
    "MQMQ-2.3.12.21.propid-mgmt-queue-eod-resend-time",
)  # fmt: skip
def resend_time_in_an_hour(plain, self, queue, transfer, position, sent):
    """Messages are sent again after an hour, and that time is told beside the interval of half a minute."""
    plain(queue, transfer, position, sent)
    if sent.place is not None:
        transfer.resend_time = self.manager.clock.now_ms() // 1000 + 3_600


@fault(
    "resend-interval-in-milliseconds", Management.resend_interval, "MQDMPR-3.1.1.4.eod-resend-interval",
    "MQMQ-2.3.12.22.propid-mgmt-queue-eod-resend-interval",
)  # fmt: skip
def resend_interval_in_milliseconds(plain, self, queue):
    """The resend interval is told in milliseconds."""
    told = plain(queue)
    return None if told is None else told * 1000


@fault(
    "resend-count-of-all", Transfers.sent, "MQDMPR-3.1.1.4.eod-resend-count",
    "MQMQ-2.3.12.23.propid-mgmt-queue-eod-resend-count",
)  # fmt: skip
def resend_count_of_all(plain, self, queue, transfer, position, sent):
    """The number of times that the last message was sent counts every message that was sent."""
    before = transfer.last_times
    plain(queue, transfer, position, sent)
    transfer.last_times = before + (sent.place is not None)


@fault(
    "never-sent-again", Transfers.resend, "MQMR-3.1.4.2.eod-resend", "MQDMPR-3.1.1.4.eod-resend-time",
    "MQDMPR-3.1.1.4.eod-resend-interval",
)  # fmt: skip
def never_sent_again(plain, self, queue):
    """Transactional messages without order acknowledgment are not sent again, neither in time nor on demand."""


@fault(
    "sent-again-with-new-numbers", Transfers.give_back, "MQMR-3.1.4.2.eod-resend", "MQQB-3.1.7.1.3.resent-number",
    "MQDMPR-3.1.1.4.eod-next-seq",
)  # fmt: skip
def sent_again_with_new_numbers(plain, self, transfer, position, sent):
    """A transactional message that is sent again gets a new number."""
    plain(transfer, position, sent)
    carried = position.message.carried or {}
    if sent.place is not None and "place" in carried:
        transfer.numbered.pop(sent.place.number, None)
        position.message.carried = {name: value for name, value in carried.items() if name != "place"}
