"""Alternatives of readings about transactions and queues as objects (MC-MQAC 3.8 to 3.11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import MqError, Queue, Transaction
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.queue_info_properties import Property
from conformance.embedded.objects.queue_names import QueueNames
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.transaction_argument import MTS, SINGLE_MESSAGE, XA, TransactionArguments, Unit
from conformance.embedded.objects.transactions import TransactionImpl
from conformance.embedded.objects.variants import Variant, long, text
from conformance.spec.constants.hresults import (
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_TRANSACTION_USAGE,
)

LONGEST_NAME = 124
NOT_FOUND_AS_PRINTED = 0xC00E0008
JOURNAL_QUOTA = "PROPID_Q_JOURNAL_QUOTA"


@follows("R-MQAC-path-name-conversion=direct", "queue_names")
class _Direct(QueueNames):
    """A path name becomes a direct format name."""

    def private_name(self, queue: Queue) -> str:
        return f"DIRECT=OS:{queue.path}"


@follows("R-MQAC-public-name-length=124", "queue_names")
class _LongNames(QueueNames):
    """A public queue has a name of up to 124 characters."""

    def too_long(self, queue: str) -> bool:
        return len(queue) > LONGEST_NAME


@follows("R-MQAC-commit-behaviour-none=default", "transaction_implementation")
class _CommitsAnyway(TransactionImpl):
    """XACTTC_NONE commits."""

    def check_commit(self, retaining: bool, flags: int, resource_flags: int) -> None:
        super().check_commit(retaining, flags or 2, resource_flags)


@follows("R-MQAC-failed-commit=ignored", "transaction_implementation")
class _NeverFails(TransactionImpl):
    """An end that the queue manager refuses succeeds."""

    def finish(self, end: Callable[[Transaction], None]) -> None:
        try:
            super().finish(end)
        except MqError:
            self.completed = True


@follows("R-MQAC-transaction-without-context=fails", "transaction_arguments")
class _NoContext(TransactionArguments):
    """The transaction of a caller that has none is refused."""

    def numbered(self, number: int) -> Unit:
        if number in (MTS, XA):
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        return super().numbered(number)


@follows("R-MQAC-single-message=none", "transaction_arguments")
class _Plain(TransactionArguments):
    """MQ_SINGLE_MESSAGE means no transaction."""

    def numbered(self, number: int) -> Unit:
        return Unit(self.manager, None) if number == SINGLE_MESSAGE else super().numbered(number)


@follows("R-MQAC-share-mode=any-access", "queue_info")
class _Alone(QueueInfoObject):
    """An exclusive opening excludes every other opening."""

    def open(self, access: int, share: int) -> Variant:
        queue = self.manager.queues.find_local(self.update_format_name())
        others = [each for each in self.manager.descriptors.values() if queue is not None and each.queue is queue]
        if any(share or each.share == "deny_receive" for each in others):
            raise MqError(MQ_ERROR_SHARING_VIOLATION)
        return super().open(access, share)


@follows("R-MQAC-getter-after-put=refreshes", "queue_info")
class _AsksFirst(QueueInfoObject):
    """A getter tells what the queue has, whatever was put."""

    def read(self, row: Property) -> Variant:
        if row.refreshes and not self.is_refreshed:
            self.refresh()
        return super().read(row)


@follows("R-MQAC-private-base-priority=ignored", "queue_info")
class _Ignores(QueueInfoObject):
    """put BasePriority of a queue that is not public succeeds and changes nothing."""

    def write(self, row: Property, value: Any) -> None:
        public = (self.format_name or "").upper().startswith("PUBLIC=")
        if row.name != "BasePriority" or public or not -32768 <= value <= 32767:
            super().write(row, value)


@follows("R-MQAC-journal-quota-unit=thousandfold", "queue_info")
class _Thousands(QueueInfoObject):
    """The property holds a thousand times the argument of put."""

    def write(self, row: Property, value: Any) -> None:
        super().write(row, value * 1000 if row.stored == JOURNAL_QUOTA else value)

    def read(self, row: Property) -> Variant:
        found = super().read(row)
        elsewhere = not self.is_application_queue and row.stored not in self.put
        return found if row.stored != JOURNAL_QUOTA or elsewhere else long(self.ref[JOURNAL_QUOTA] // 1000)


@follows("R-MQAC-world-readable=ownership-right", "queue_info")
class _Owned(QueueInfoObject):
    """A queue is readable for everyone who can own it: its creator is no user of a domain, so all have every right."""

    def readable_by_everyone(self) -> bool:
        return self.manager.queues.find_local(self.known_format_name() or "") is not None


@follows("R-MQAC-format-name-after-create=unset", "queue_info")
class _Unnamed(QueueInfoObject):
    """FormatName is NULL until a method needs it."""

    def created(self, queue: Queue, everyone: bool) -> None:
        super().created(queue, everyone)
        self.format_name = None

    def get_format_name(self) -> Variant:
        return text(self.format_name)


@follows("R-MQAC-format-name-of-path-name=null", "queue_info")
class _NotLookedUp(QueueInfoObject):
    """FormatName is NULL where only the path name is known, until a method works it out."""

    def get_format_name(self) -> Variant:
        return text(self.format_name)


@follows("R-MQAC-format-name-of-path-name=null", "message_object")
class _TakesFormatNames(MessageObject):
    """A message takes the format name that an MSMQQueueInfo has, and looks up none."""

    def name_of(self, given: Any) -> str | None:
        return given.format_name if isinstance(given, QueueInfoObject) else super().name_of(given)


@follows("R-MQAC-refresh-machine-queue=refused", "queue_info")
class _OfApplications(QueueInfoObject):
    """Refresh of a queue of the computer itself fails."""

    def copy_properties(self) -> None:
        queue = self.manager.queues.find_local(self.single_format_name())
        if queue is not None and not self.manager.objects.names.is_application_queue(queue):
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        super().copy_properties()


@follows("R-MQAC-closed-object=as-listed", "queue_object")
class _AsListed(QueueObject):
    """Access, ShareMode, QueueInfo, Handle, Handle2 and Close of a closed object do as their steps say."""

    def check_listed(self) -> None:
        self.check_initialized()


@follows("R-MQAC-message-not-found-value=as-printed", "queue_reads")
class _AsPrinted(Perform):
    """A lookup that finds nothing answers 0xC00E0008."""

    def nothing_found(self) -> int:
        return NOT_FOUND_AS_PRINTED


@follows("R-MQAC-lookup-status=as-event", "queue_reads")
class _AsEvent(Perform):
    """A lookup answers the status of the event."""

    def not_found(self, failure: MqError) -> Variant | None:
        if self.read.seek:
            raise failure
        return super().not_found(failure)


@follows("R-MQAC-lookup-identifier-type=number-only", "queue_reads")
class _Numbers(Perform):
    """A lookup identifier is a number."""

    def lookup(self, given: Variant) -> int:
        if given.vt == "BSTR":
            raise MqError(E_INVALIDARG)
        return super().lookup(given)
