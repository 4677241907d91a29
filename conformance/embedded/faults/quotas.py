"""Faults of quotas, and of opens and sends by a name of several queues (MS-MQDMPR 3.1.7.1.5, .9, .27, 3.1.7.2)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.delivery import Delivery, Json, Sending
from conformance.embedded.entities import INFINITE, Descriptor, Message, MqError, Queue, Reason, State, Transaction
from conformance.embedded.faults.base import fault, row
from conformance.embedded.faults.cursors.queues import Case, Renaming, refused_opens
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
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


@fault("queue-quota-ignored", "delivery", "MQDMPR-3.1.7.1.9.queue-quota")
class QueueQuotaIgnored(_Counting):
    """A queue takes messages beyond its quota."""

    def fits(self, queue: Queue, message: Message) -> bool:
        manager = self.manager
        return queue.is_journal or self.within(manager.message_bytes + message.size, manager.message_quota_kb)


@fault("manager-quota-ignored", "delivery", "MQDMPR-3.1.7.1.9.manager-quota")
class ManagerQuotaIgnored(_Counting):
    """All queues together take messages beyond the quota of the manager."""

    def fits(self, queue: Queue, message: Message) -> bool:
        return self.within(queue.bytes + message.size, queue.quota_kb)


@fault("quota-seen-one-message-late", "delivery", "MQDMPR-3.1.7.1.9.queue-quota")
class QuotaSeenOneMessageLate(_Counting):
    """A queue takes one message beyond its quota: only what is there already is compared."""

    def fits(self, queue: Queue, message: Message) -> bool:
        empty = Message(message.fields, 0, message.sent_ms, message.expires_ms, message.transactional)
        return super().fits(queue, empty)


@fault(
    "quota-one-kilobyte-more", "delivery", "MQDMPR-3.1.7.1.9.queue-quota", "MQDMPR-3.1.1.2.journal-quota",
    "MQDMPR-3.1.7.1.9.manager-quota", "MQDMPR-3.1.7.1.3.attribute-quota",
)  # fmt: skip
class QuotaOneKilobyteMore(_Counting):
    """Every quota is a kilobyte larger than it was set."""

    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= (limit_kb + 1) * 1024


@fault(
    "quota-one-kilobyte-less", "delivery", "MQDMPR-3.1.7.1.9.success", "MQDMPR-3.1.7.1.3.attribute-quota",
    "MQMP-3.1.4.10.every-property",
)  # fmt: skip
class QuotaOneKilobyteLess(_Counting):
    """Every quota is a kilobyte smaller than it was set."""

    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= (limit_kb - 1) * 1024


@fault("quota-counts-bytes", "delivery", "MQDMPR-3.1.7.1.9.success")
class QuotaCountsBytes(_Counting):
    """The quota of a queue counts bytes, not kilobytes."""

    def within(self, size: int, limit_kb: int) -> bool:
        return limit_kb == INFINITE or size <= limit_kb


@fault(
    "journal-counts-for-queue", "delivery", "MQDMPR-3.1.7.1.9.success", "MQDMPR-3.1.7.2.1.total-bytes",
    "MQDMPR-3.1.1.2.total-bytes",
)  # fmt: skip
class JournalCountsForQueue(_Counting):
    """The messages in the journal of a queue count for the quota of the queue."""

    def fits(self, queue: Queue, message: Message) -> bool:
        if not super().fits(queue, message):
            return False
        journal = queue.journal.bytes if queue.journal is not None else 0
        return self.within(queue.bytes + journal + message.size, queue.quota_kb)


@fault("full-queue-accepts-and-drops", Sending.enqueue, "MQDMPR-3.1.7.1.9.queue-quota")
def full_queue_accepts_and_drops(plain, self, queue, message, transaction):
    """A send to a full queue succeeds, and the message is nowhere."""
    try:
        return plain(queue, message, transaction)
    except MqError as full:
        if full.status != MQ_ERROR_INSUFFICIENT_RESOURCES:
            raise
        return self.manager.next_sequence()


@fault(
    "refused-send-stays", Delivery.place, "MQDMPR-3.1.7.1.9.queue-quota", "MQDMPR-3.1.7.1.9.queue-quota-ends",
    "MQDMPR-3.1.7.1.9.manager-quota", "MQDMPR-3.1.7.1.9.manager-quota-ends",
)  # fmt: skip
def refused_send_stays(plain, self, queue, message, *, uncommitted=False, limited=True):
    """A send that is refused for a quota leaves its message in the queue all the same."""
    if limited and not self.fits(queue, message) and not queue.is_journal:
        plain(queue, message, uncommitted=False, limited=False)
        raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
    return plain(queue, message, uncommitted=uncommitted, limited=limited)


@fault("bytes-never-freed", Delivery.remove, "MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.1.2.total-bytes")
def bytes_never_freed(plain, self, position):
    """The bytes of a message that has left its queue still count."""
    plain(position)
    self.account(position.queue, position.message.size)


@fault("abort-counts-bytes-twice", Transactions.give_back, "MQDMPR-3.1.1.2.total-bytes")
def abort_counts_bytes_twice(plain, self, position):
    """A message that returns by an abort counts twice from then on."""
    self.manager.delivery.account(position.queue, position.message.size)
    plain(position)


@fault("aborted-send-keeps-room", Transactions.abort_step, "MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.4.5.sends-vanish")
def aborted_send_keeps_room(plain, self, step):
    """The bytes of a message whose send was aborted still count."""
    plain(step)
    if step.operation.value == "enqueue":
        self.manager.delivery.account(step.position.queue, step.position.message.size)


@fault("journal-quota-ignored", "delivery", "MQDMPR-3.1.1.2.journal-quota")
class JournalQuotaIgnored(_Counting):
    """Journals grow beyond their quota."""

    def fits(self, queue: Queue, message: Message) -> bool:
        return super().fits(queue, message) if not queue.is_journal else True


@fault(
    "full-journal-stops-receives", Receiving.take, "MQDMPR-3.1.7.1.10.first-available", "MQDMPR-3.1.7.1.10.mq-ok",
    "MQDMPR-3.1.1.2.journal-quota", first_seen_as=("MQDMPR-3.1.7.1.9.available",),
    because="a message that cannot be received looks as if it were not there",
)  # fmt: skip
def full_journal_stops_receives(plain, self, position, transaction):
    """A message whose copy does not fit the journal cannot be received."""
    journal = position.queue.journal
    full = journal is not None and not self.manager.delivery.fits(journal, position.message)
    if full and position.queue.journaling:
        raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
    return plain(position, transaction)


@fault("purge-frees-no-bytes", Delivery.delete, "MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.1.2.total-bytes")
def purge_frees_no_bytes(plain, self, position, reason):
    """The bytes of purged messages still count."""
    freed = position.state is not State.DELETED and reason is Reason.PURGED
    plain(position, reason)
    if freed:
        self.account(position.queue, position.message.size)


@fault("multiple-send-hides-failure", Sending.send, "MQDMPR-3.1.7.1.27.failing-element")
def multiple_send_hides_failure(plain, self, descriptor, given, transaction):
    """A send to several queues succeeds although one of them is full."""
    try:
        return plain(descriptor, given, transaction)
    except MqError as full:
        if not descriptor.elements or full.status != MQ_ERROR_INSUFFICIENT_RESOURCES:
            raise
        return {}


@fault("dead-letters-ignore-quota", Delivery.dead_letter, "MQDMPR-3.1.1.12.negative-journaling-over-quota")
def dead_letters_ignore_quota(plain, self, message):
    """The dead-letter queues take copies beyond the quota of journals."""
    if message.fields["negative_journaling"]:
        queue = self.manager.queues.system("deadxact" if message.transactional else "deadletter")
        self.place(queue, replace(message, expires_ms=None), limited=False)


def _several_to_read(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access != "send"


def _several_exclusively(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access == "send" and share != "deny_none"


def _several_in_part(queues: Queues, format_name: str, access: str, share: str) -> bool:
    return "," in format_name and access == "send" and share == "deny_none"


# The name of it, how the queue is opened, what the text says, and when it is such an open.
_CASES: tuple[tuple[str, str, str, Case], ...] = (
    (
        "several-names-to-read",
        "for reading by a multiple-element format name",
        "multiple-element-access",
        _several_to_read,
    ),
    (
        "several-names-exclusively",
        "exclusively by a multiple-element format name",
        "multiple-element-share",
        _several_exclusively,
    ),
)


@fault(
    "several-names-open-in-part", Queues.open, "MQDMPR-3.1.7.1.5.multiple-element-failed-element",
    "MQDMPR-3.1.7.1.5.multiple-element-status",
)  # fmt: skip
def several_names_open_in_part(plain, self, format_name, access, share):
    """A multiple-element format name opens although one of its elements cannot be opened."""
    if not _several_in_part(self, format_name, access, share):
        return plain(format_name, access, share)
    opened = []
    for element in self.manager.names.multiple(format_name).parts["elements"]:
        try:
            opened.append(plain(str(element), access, share))
        except MqError:
            continue
    whole = Descriptor(self.manager.new_handle("h"), access, share, None, elements=opened)
    self.manager.descriptors[whole.handle] = whole
    return whole


refused_opens(__name__, _CASES)
row(
    __name__, "queues", "several-names-refused-otherwise",
    "That an element of a multiple-element format name cannot be opened is told by MQ_ERROR_INVALID_PARAMETER.",
    ("MQDMPR-3.1.7.1.5.multiple-element-status", "MQDMPR-3.1.7.1.5.multiple-element-failed-element", ),
    subclass_of=Renaming, case=staticmethod(_several_in_part),
)  # fmt: skip


@fault(
    "later-copies-lose-label", "sending", "MQDMPR-3.1.7.1.27.message-copy", "MQDMPR-3.1.1.12.label-unchanged",
    "MQDMPR-3.1.1.12.application-tag-unchanged",
)  # fmt: skip
class LaterCopiesLoseLabel(Sending):
    """Only the first copy of a message sent to several queues has its label and tag."""

    _first: Queue | None = None
    _several = False

    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        self._several, self._first = bool(descriptor.elements), None
        return super().send(descriptor, given, transaction)

    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        self._first = self._first or queue
        if self._several and queue is not self._first:
            message.fields["application_tag"] = 0
            message.fields["label"] = ""
        return super().enqueue(queue, message, transaction)
