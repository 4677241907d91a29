"""Faults of quotas and of the byte counts compared with them (MS-MQDMPR 3.1.7.1.9, 3.1.1.1, 3.1.1.2)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    INFINITE,
    Descriptor,
    Message,
    MqError,
    Position,
    Queue,
    Reason,
    Result,
    State,
    Transaction,
    UndoStep,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_RESOURCES


class _Counting(Delivery):
    """Quotas as they are, with the numbers that go into them open to change."""

    def fits(self, queue: Queue, message: Message) -> bool:
        manager = self.manager
        used, limit = (
            (manager.journal_bytes, manager.journal_quota_kb)
            if queue.is_journal
            else (manager.message_bytes, manager.message_quota_kb)
        )
        return self.within(used + message.size, limit) and self.within(queue.bytes + message.size, queue.quota_kb)

    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= limit_kb * 1024


class _Unlimited(_Counting):
    def fits(self, queue: Queue, message: Message) -> bool:
        manager = self.manager
        return queue.is_journal or self.within(manager.message_bytes + message.size, manager.message_quota_kb)


class QueueQuotaIgnored(Fault):
    """A queue takes messages beyond its quota."""

    name = "queue-quota-ignored"
    breaks = ("MQDMPR-3.1.7.1.9.queue-quota",)
    replaces = ("delivery", _Unlimited)


class _Boundless(_Counting):
    def fits(self, queue: Queue, message: Message) -> bool:
        return self.within(queue.bytes + message.size, queue.quota_kb)


class ManagerQuotaIgnored(Fault):
    """All queues together take messages beyond the quota of the manager."""

    name = "manager-quota-ignored"
    breaks = ("MQDMPR-3.1.7.1.9.manager-quota",)
    replaces = ("delivery", _Boundless)


class _Late(_Counting):
    def fits(self, queue: Queue, message: Message) -> bool:
        empty = Message(message.fields, 0, message.sent_ms, message.expires_ms, message.transactional)
        return super().fits(queue, empty)


class QuotaSeenOneMessageLate(Fault):
    """A queue takes one message beyond its quota: only what is there already is compared."""

    name = "quota-seen-one-message-late"
    breaks = ("MQDMPR-3.1.7.1.9.queue-quota",)
    replaces = ("delivery", _Late)


class _Kind(_Counting):
    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= (limit_kb + 1) * 1024


class QuotaOneKilobyteMore(Fault):
    """Every quota is a kilobyte larger than it was set."""

    name = "quota-one-kilobyte-more"
    breaks = (
        "MQDMPR-3.1.7.1.9.queue-quota",
        "MQDMPR-3.1.1.2.journal-quota",
        "MQDMPR-3.1.7.1.9.manager-quota",
        "MQDMPR-3.1.7.1.3.attribute-quota",
    )
    replaces = ("delivery", _Kind)


class _Strict(_Counting):
    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= (limit_kb - 1) * 1024


class QuotaOneKilobyteLess(Fault):
    """Every quota is a kilobyte smaller than it was set."""

    name = "quota-one-kilobyte-less"
    breaks = (
        "MQDMPR-3.1.7.1.9.success",
        "MQDMPR-3.1.7.1.3.attribute-quota",
        "MQMP-3.1.4.10.every-property",
    )
    replaces = ("delivery", _Strict)


class _Thousand(_Counting):
    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= limit_kb


class QuotaCountsBytes(Fault):
    """The quota of a queue counts bytes, not kilobytes."""

    name = "quota-counts-bytes"
    breaks = ("MQDMPR-3.1.7.1.9.success",)
    replaces = ("delivery", _Thousand)


class _Mixed(_Counting):
    def fits(self, queue: Queue, message: Message) -> bool:
        if not super().fits(queue, message):
            return False
        journal = queue.journal.bytes if queue.journal is not None else 0
        return self.within(queue.bytes + journal + message.size, queue.quota_kb)


class JournalCountsForQueue(Fault):
    """The messages in the journal of a queue count for the quota of the queue."""

    name = "journal-counts-for-queue"
    breaks = (
        "MQDMPR-3.1.7.1.9.success",
        "MQDMPR-3.1.7.2.1.total-bytes",
        "MQDMPR-3.1.1.2.total-bytes",
    )
    replaces = ("delivery", _Mixed)


class _SilentlyFull(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        try:
            return super().enqueue(queue, message, transaction)
        except MqError as full:
            if full.status != MQ_ERROR_INSUFFICIENT_RESOURCES:
                raise
            return self.manager.next_sequence()


class FullQueueAcceptsAndDrops(Fault):
    """A send to a full queue succeeds, and the message is nowhere."""

    name = "full-queue-accepts-and-drops"
    breaks = ("MQDMPR-3.1.7.1.9.queue-quota",)
    replaces = ("sending", _SilentlyFull)


class _Failing(Delivery):
    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        if limited and not self.fits(queue, message) and not queue.is_journal:
            super().place(queue, message, uncommitted=False, limited=False)
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return super().place(queue, message, uncommitted=uncommitted, limited=limited)


class RefusedSendStays(Fault):
    """A send that is refused for a quota leaves its message in the queue all the same."""

    name = "refused-send-stays"
    breaks = (
        "MQDMPR-3.1.7.1.9.queue-quota",
        "MQDMPR-3.1.7.1.9.queue-quota-ends",
        "MQDMPR-3.1.7.1.9.manager-quota",
        "MQDMPR-3.1.7.1.9.manager-quota-ends",
    )
    replaces = ("delivery", _Failing)


class _Hoarding(Delivery):
    def remove(self, position: Position) -> None:
        super().remove(position)
        self.account(position.queue, position.message.size)


class BytesNeverFreed(Fault):
    """The bytes of a message that has left its queue still count."""

    name = "bytes-never-freed"
    breaks = (
        "MQDMPR-3.1.7.2.1.total-bytes",
        "MQDMPR-3.1.1.2.total-bytes",
    )
    replaces = ("delivery", _Hoarding)


class _LeakyAbort(Transactions):
    def give_back(self, position: Position) -> None:
        self.manager.delivery.account(position.queue, position.message.size)
        super().give_back(position)


class AbortCountsBytesTwice(Fault):
    """A message that returns by an abort counts twice from then on."""

    name = "abort-counts-bytes-twice"
    breaks = ("MQDMPR-3.1.1.2.total-bytes",)
    replaces = ("transactions", _LeakyAbort)


class _LeakySend(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        super().abort_step(step)
        if step.operation.value == "enqueue":
            self.manager.delivery.account(step.position.queue, step.position.message.size)


class AbortedSendKeepsRoom(Fault):
    """The bytes of a message whose send was aborted still count."""

    name = "aborted-send-keeps-room"
    breaks = (
        "MQDMPR-3.1.1.2.total-bytes",
        "MQDMPR-3.1.4.5.sends-vanish",
    )
    replaces = ("transactions", _LeakySend)


class _Stretching(_Counting):
    def fits(self, queue: Queue, message: Message) -> bool:
        return super().fits(queue, message) if not queue.is_journal else True


class JournalQuotaIgnored(Fault):
    """Journals grow beyond their quota."""

    name = "journal-quota-ignored"
    breaks = ("MQDMPR-3.1.1.2.journal-quota",)
    replaces = ("delivery", _Stretching)


class _Needy(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        journal = position.queue.journal
        full = journal is not None and not self.manager.delivery.fits(journal, position.message)
        if full and position.queue.journaling:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return super().take(position, transaction)


class FullJournalStopsReceives(Fault):
    """A message whose copy does not fit the journal cannot be received."""

    name = "full-journal-stops-receives"
    breaks = (
        "MQDMPR-3.1.7.1.10.first-available",
        "MQDMPR-3.1.7.1.10.mq-ok",
        "MQDMPR-3.1.1.2.journal-quota",
    )
    first_seen_as = ("MQDMPR-3.1.7.1.9.available",)
    because = "a message that cannot be received looks as if it were not there"
    replaces = ("reading", _Needy)


class _Purging(Delivery):
    def delete(self, position: Position, reason: Reason) -> None:
        freed = position.state is not State.DELETED and reason is Reason.PURGED
        super().delete(position, reason)
        if freed:
            self.account(position.queue, position.message.size)


class PurgeFreesNoBytes(Fault):
    """The bytes of purged messages still count."""

    name = "purge-frees-no-bytes"
    breaks = (
        "MQDMPR-3.1.7.2.1.total-bytes",
        "MQDMPR-3.1.1.2.total-bytes",
    )
    replaces = ("delivery", _Purging)


class _AllOrNothing(Sending):
    def send(self, descriptor: Descriptor, given: dict[str, object], transaction: Transaction | None) -> Result:
        try:
            return super().send(descriptor, given, transaction)
        except MqError as full:
            if not descriptor.elements or full.status != MQ_ERROR_INSUFFICIENT_RESOURCES:
                raise
            return {}


class MultipleSendHidesFailure(Fault):
    """A send to several queues succeeds although one of them is full."""

    name = "multiple-send-hides-failure"
    breaks = ("MQDMPR-3.1.7.1.27.failing-element",)
    replaces = ("sending", _AllOrNothing)


class _BoundlessDeadLetters(Delivery):
    def dead_letter(self, message: Message) -> None:
        if message.fields["negative_journaling"]:
            queue = self.manager.queues.system("deadxact" if message.transactional else "deadletter")
            self.place(queue, replace(message, expires_ms=None), limited=False)


class DeadLettersIgnoreQuota(Fault):
    """The dead-letter queues take copies beyond the quota of journals."""

    name = "dead-letters-ignore-quota"
    breaks = ("MQDMPR-3.1.1.12.negative-journaling-over-quota",)
    replaces = ("delivery", _BoundlessDeadLetters)
