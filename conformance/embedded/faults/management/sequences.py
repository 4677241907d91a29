"""Faults of the numbers of order acknowledgments (MS-MQDMPR 3.1.1.4)."""

from __future__ import annotations

from conformance.embedded.entities import Position, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.management import Management, packed
from conformance.embedded.transfer_state import Sent, SequenceInfo, Transfer
from conformance.embedded.transfers import Transfers


class _Ahead(Management):
    def last_ack(self, queue: Queue) -> str | None:
        transfer = self.of(queue)
        last = None if transfer is None else transfer.last_ack
        return packed(last and SequenceInfo(last.ordinal, last.timestamp, last.number + 1, last.number))


class LastAckAhead(Fault):
    """The last place acknowledged is told as the one behind it."""

    name = "last-ack-ahead"
    breaks = (
        "MQDMPR-3.1.1.4.eod-last-ack",
        "MQMQ-2.3.12.13.propid-mgmt-queue-eod-last-ack",
    )
    replaces = ("management", _Ahead)


class _FirstTime(Transfers):
    def ordered(self, queue: Queue, transfer: Transfer, number: int) -> None:
        before = transfer.last_ack_time
        super().ordered(queue, transfer, number)
        transfer.last_ack_time = before or transfer.last_ack_time


class LastAckTimeOfFirst(Fault):
    """The time of the last order acknowledgment is that of the first."""

    name = "last-ack-time-of-first"
    breaks = (
        "MQDMPR-3.1.1.4.eod-last-ack-time",
        "MQMQ-2.3.12.14.propid-mgmt-queue-eod-last-ack-time",
    )
    replaces = ("transfers", _FirstTime)


class _OnceOnly(Transfers):
    def count_order(self, transfer: Transfer, number: int) -> None:
        super().count_order(transfer, number)
        transfer.last_ack_count = min(1, transfer.last_ack_count)


class RepeatedAcksNotCounted(Fault):
    """An order acknowledgment that comes again is not counted."""

    name = "repeated-acks-not-counted"
    breaks = (
        "MQDMPR-3.1.1.4.eod-last-ack-count",
        "MQMQ-2.3.12.15.propid-mgmt-queue-eod-last-ack-count",
    )
    replaces = ("transfers", _OnceOnly)


class _FirstIsLast(Management):
    def first_non_ack(self, queue: Queue) -> str | None:
        return self.last_non_ack(queue)


class FirstNonAckIsLast(Fault):
    """The oldest message without order acknowledgment is told as the newest."""

    name = "first-non-ack-is-last"
    breaks = (
        "MQDMPR-3.1.1.4.eod-first-non-ack",
        "MQMQ-2.3.12.16.propid-mgmt-queue-eod-first-non-ack",
    )
    replaces = ("management", _FirstIsLast)


class _LastIsFirst(Management):
    def last_non_ack(self, queue: Queue) -> str | None:
        return self.first_non_ack(queue)


class LastNonAckIsFirst(Fault):
    """The newest message without order acknowledgment is told as the oldest."""

    name = "last-non-ack-is-first"
    breaks = (
        "MQDMPR-3.1.1.4.eod-last-non-ack",
        "MQMQ-2.3.12.17.propid-mgmt-queue-eod-last-non-ack",
    )
    replaces = ("management", _LastIsFirst)


class _Behind(Management):
    def next_seq(self, queue: Queue) -> str | None:
        transfer = self.of(queue)
        if transfer is None:
            return None
        ahead = self.manager.transfers.next_place(transfer)
        last = max(1, ahead.number - 1)
        return packed(SequenceInfo(ahead.ordinal, ahead.timestamp, last, last - 1))


class NextSeqBehind(Fault):
    """The place of the next message is told as that of the last one sent."""

    name = "next-seq-behind"
    breaks = (
        "MQDMPR-3.1.1.4.eod-next-seq",
        "MQMQ-2.3.12.18.propid-mgmt-queue-eod-next-seq",
    )
    replaces = ("management", _Behind)


class _Endless(Transfers):
    def new_sequence(self, transfer: Transfer) -> None:
        return


class SequenceNeverEnds(Fault):
    """A sequence goes on after all of it was acknowledged."""

    name = "sequence-never-ends"
    breaks = (
        "MQDMPR-3.1.1.4.eod-next-seq",
        "MQQB-3.1.1.5.next-sequence",
    )
    replaces = ("transfers", _Endless)


class _Unread(Management):
    def no_read_count(self, queue: Queue) -> int | None:
        return self.no_ack_count(queue)


class NoReadCountOfUnacknowledged(Fault):
    """The messages that await their final acknowledgment are told as many as await their order acknowledgment."""

    name = "no-read-count-of-unacknowledged"
    breaks = (
        "MQDMPR-3.1.1.4.eod-no-read-count",
        "MQMQ-2.3.12.19.propid-mgmt-queue-eod-no-read-count",
    )
    replaces = ("management", _Unread)


class _NeverRead(Transfers):
    def final(self, transfer: Transfer, identifier: dict[str, str | int], message_class: int) -> None:
        before = dict(transfer.unread)
        super().final(transfer, identifier, message_class)
        transfer.unread.update(before)


class NoReadCountNeverFalls(Fault):
    """A final acknowledgment does not lower the number of messages that await one."""

    name = "no-read-count-never-falls"
    breaks = (
        "MQDMPR-3.1.1.4.eod-no-read-count",
        "MQDMPR-3.1.1.12.positive-journaling",
    )
    replaces = ("transfers", _NeverRead)


class _AllWaiting(Management):
    def no_ack_count(self, queue: Queue) -> int | None:
        return None if super().no_ack_count(queue) is None else self.message_count(queue)


class NoAckCountOfUnsent(Fault):
    """Messages that were not sent yet count as sent without order acknowledgment."""

    name = "no-ack-count-of-unsent"
    breaks = (
        "MQDMPR-3.1.1.4.eod-no-ack-count",
        "MQMQ-2.3.12.20.propid-mgmt-queue-eod-no-ack-count",
    )
    replaces = ("management", _AllWaiting)


class _OneAtATime(Transfers):
    def ordered(self, queue: Queue, transfer: Transfer, number: int) -> None:
        lower = {each: kept for each, kept in transfer.numbered.items() if each < number}
        for each in lower:
            del transfer.numbered[each]
        super().ordered(queue, transfer, number)
        transfer.numbered = dict(sorted({**transfer.numbered, **lower}.items()))


class OrderAckOfOne(Fault):
    """An order acknowledgment is taken for the message of its number alone, not for those before it."""

    name = "order-ack-of-one"
    breaks = (
        "MQDMPR-3.1.1.4.eod-no-ack-count",
        "MQDMPR-3.1.1.4.eod-first-non-ack",
    )
    first_seen_as = ("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",)
    because = "What does not leave the queue in time is counted among its messages at once."
    replaces = ("transfers", _OneAtATime)


class _AllAtOnce(Transfers):
    def ordered(self, queue: Queue, transfer: Transfer, number: int) -> None:
        super().ordered(queue, transfer, max(transfer.numbered, default=number))


class OrderAckOfAll(Fault):
    """An order acknowledgment is taken for every message that was sent."""

    name = "order-ack-of-all"
    breaks = (
        "MQDMPR-3.1.1.4.eod-no-ack-count",
        "MQDMPR-3.1.1.4.eod-last-ack",
        "MQDMPR-3.1.1.4.eod-first-non-ack",
        "MQDMPR-3.1.1.4.eod-last-non-ack",
        "MQQB-3.1.1.6.2.retained",
    )
    first_seen_as = ("MQMQ-2.3.12.7.propid-mgmt-queue-message-count",)
    because = "What leaves the queue too early is missing in the number of its messages at once."
    replaces = ("transfers", _AllAtOnce)


class _Now(Transfers):
    def sent(self, queue: Queue, transfer: Transfer, position: Position, sent: Sent) -> None:
        super().sent(queue, transfer, position, sent)
        if sent.place is not None:
            transfer.resend_time = self.manager.clock.now_ms() // 1000 + 3_600


class ResendTimeInAnHour(Fault):
    """Messages are sent again after an hour, and that time is told beside the interval of half a minute."""

    name = "resend-time-in-an-hour"
    breaks = (
        "MQDMPR-3.1.1.4.eod-resend-time",
        "MQDMPR-3.1.1.4.eod-resend-interval",
        "MQMQ-2.3.12.21.propid-mgmt-queue-eod-resend-time",
    )
    replaces = ("transfers", _Now)


class _Milliseconds(Management):
    def resend_interval(self, queue: Queue) -> int | None:
        told = super().resend_interval(queue)
        return None if told is None else told * 1000


class ResendIntervalInMilliseconds(Fault):
    """The resend interval is told in milliseconds."""

    name = "resend-interval-in-milliseconds"
    breaks = (
        "MQDMPR-3.1.1.4.eod-resend-interval",
        "MQMQ-2.3.12.22.propid-mgmt-queue-eod-resend-interval",
    )
    replaces = ("management", _Milliseconds)


class _Total(Transfers):
    def sent(self, queue: Queue, transfer: Transfer, position: Position, sent: Sent) -> None:
        before = transfer.last_times
        super().sent(queue, transfer, position, sent)
        transfer.last_times = before + (sent.place is not None)


class ResendCountOfAll(Fault):
    """The number of times that the last message was sent counts every message that was sent."""

    name = "resend-count-of-all"
    breaks = (
        "MQDMPR-3.1.1.4.eod-resend-count",
        "MQMQ-2.3.12.23.propid-mgmt-queue-eod-resend-count",
    )
    replaces = ("transfers", _Total)


class _Patient(Transfers):
    def resend(self, queue: Queue) -> None:
        return


class NeverSentAgain(Fault):
    """Transactional messages without order acknowledgment are not sent again, neither in time nor on demand."""

    name = "never-sent-again"
    breaks = (
        "MQMR-3.1.4.2.eod-resend",
        "MQDMPR-3.1.1.4.eod-resend-time",
        "MQDMPR-3.1.1.4.eod-resend-interval",
    )
    replaces = ("transfers", _Patient)


class _Renumbering(Transfers):
    def give_back(self, transfer: Transfer, position: Position, sent: Sent) -> None:
        super().give_back(transfer, position, sent)
        carried = position.message.carried or {}
        if sent.place is not None and "place" in carried:
            transfer.numbered.pop(sent.place.number, None)
            position.message.carried = {name: value for name, value in carried.items() if name != "place"}


class SentAgainWithNewNumbers(Fault):
    """A transactional message that is sent again gets a new number."""

    name = "sent-again-with-new-numbers"
    breaks = (
        "MQMR-3.1.4.2.eod-resend",
        "MQQB-3.1.7.1.3.resent-number",
        "MQDMPR-3.1.1.4.eod-next-seq",
    )
    replaces = ("transfers", _Renumbering)
