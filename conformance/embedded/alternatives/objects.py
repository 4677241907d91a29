"""Alternatives of readings about transactions and queues as objects (MC-MQAC 3.8 to 3.11)."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import MqError
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.queue_names import QueueNames
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.transaction_argument import MTS, SINGLE_MESSAGE, XA, TransactionArguments, Unit
from conformance.embedded.objects.transactions import TransactionImpl
from conformance.embedded.objects.variants import long, text
from conformance.spec.constants.hresults import (
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_TRANSACTION_USAGE,
)

LONGEST_NAME = 124
NOT_FOUND_AS_PRINTED = 0xC00E0008
JOURNAL_QUOTA = "PROPID_Q_JOURNAL_QUOTA"


@follows("R-MQAC-path-name-conversion=direct", QueueNames.private_name)
def mqac_path_name_conversion_direct(plain, self, queue):
    """A path name becomes a direct format name."""
    return f"DIRECT=OS:{queue.path}"


@follows("R-MQAC-public-name-length=124", QueueNames.too_long)
def mqac_public_name_length_124(plain, self, queue):
    """A public queue has a name of up to 124 characters."""
    return len(queue) > LONGEST_NAME


@follows("R-MQAC-commit-behaviour-none=default", TransactionImpl.check_commit)
def mqac_commit_behaviour_none_default(plain, self, retaining, flags, resource_flags):
    """XACTTC_NONE commits."""
    plain(retaining, flags or 2, resource_flags)


@follows("R-MQAC-failed-commit=ignored", TransactionImpl.finish)
def mqac_failed_commit_ignored(plain, self, end):
    """An end that the queue manager refuses succeeds."""
    try:
        plain(end)
    except MqError:
        self.completed = True


@follows("R-MQAC-transaction-without-context=fails", TransactionArguments.numbered)
def mqac_transaction_without_context_fails(plain, self, number):
    """The transaction of a caller that has none is refused."""
    if number in (MTS, XA):
        raise MqError(MQ_ERROR_TRANSACTION_USAGE)
    return plain(number)


@follows("R-MQAC-single-message=none", TransactionArguments.numbered)
def mqac_single_message_none(plain, self, number):
    """MQ_SINGLE_MESSAGE means no transaction."""
    return Unit(self.manager, None) if number == SINGLE_MESSAGE else plain(number)


@follows("R-MQAC-share-mode=any-access", QueueInfoObject.open)
def mqac_share_mode_any_access(plain, self, access, share):
    """An exclusive opening excludes every other opening."""
    queue = self.manager.queues.find_local(self.update_format_name())
    others = [each for each in self.manager.descriptors.values() if queue is not None and each.queue is queue]
    if any(share or each.share == "deny_receive" for each in others):
        raise MqError(MQ_ERROR_SHARING_VIOLATION)
    return plain(access, share)


@follows("R-MQAC-getter-after-put=refreshes", QueueInfoObject.read)
def mqac_getter_after_put_refreshes(plain, self, row):
    """A getter tells what the queue has, whatever was put."""
    if row.refreshes and not self.is_refreshed:
        self.refresh()
    return plain(row)


@follows("R-MQAC-private-base-priority=ignored", QueueInfoObject.write)
def mqac_private_base_priority_ignored(plain, self, row, value):
    """put BasePriority of a queue that is not public succeeds and changes nothing."""
    public = (self.format_name or "").upper().startswith("PUBLIC=")
    if row.name != "BasePriority" or public or not -32768 <= value <= 32767:
        plain(row, value)


@follows("R-MQAC-journal-quota-unit=thousandfold", QueueInfoObject.write)
def mqac_journal_quota_unit_thousandfold(plain, self, row, value):
    """The property holds a thousand times the argument of put."""
    plain(row, value * 1000 if row.stored == JOURNAL_QUOTA else value)


@follows("R-MQAC-journal-quota-unit=thousandfold", QueueInfoObject.read)
def mqac_journal_quota_unit_thousandfold_read(plain, self, row):
    found = plain(row)
    elsewhere = not self.is_application_queue and row.stored not in self.put
    return found if row.stored != JOURNAL_QUOTA or elsewhere else long(self.ref[JOURNAL_QUOTA] // 1000)


@follows("R-MQAC-world-readable=ownership-right", QueueInfoObject.readable_by_everyone)
def mqac_world_readable_ownership_right(plain, self):
    """A queue is readable for everyone who can own it: its creator is no user of a domain, so all have every right."""
    return self.manager.queues.find_local(self.known_format_name() or "") is not None


@follows("R-MQAC-format-name-after-create=unset", QueueInfoObject.created)
def mqac_format_name_after_create_unset(plain, self, queue, everyone):
    """FormatName is NULL until a method needs it."""
    plain(queue, everyone)
    self.format_name = None


@follows("R-MQAC-format-name-after-create=unset", QueueInfoObject.get_format_name)
def mqac_format_name_after_create_unset_get_format_name(plain, self):
    return text(self.format_name)


@follows("R-MQAC-format-name-of-path-name=null", QueueInfoObject.get_format_name)
def mqac_format_name_of_path_name_null(plain, self):
    """FormatName is NULL where only the path name is known, until a method works it out."""
    return text(self.format_name)


@follows("R-MQAC-format-name-of-path-name=null", MessageObject.name_of)
def mqac_format_name_of_path_name_null_name_of(plain, self, given):
    """A message takes the format name that an MSMQQueueInfo has, and looks up none."""
    return given.format_name if isinstance(given, QueueInfoObject) else plain(given)


@follows("R-MQAC-refresh-machine-queue=refused", QueueInfoObject.copy_properties)
def mqac_refresh_machine_queue_refused(plain, self):
    """Refresh of a queue of the computer itself fails."""
    queue = self.manager.queues.find_local(self.single_format_name())
    if queue is not None and not self.manager.objects.names.is_application_queue(queue):
        raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
    plain()


@follows("R-MQAC-closed-object=as-listed", QueueObject.check_listed)
def mqac_closed_object_as_listed(plain, self):
    """Access, ShareMode, QueueInfo, Handle, Handle2 and Close of a closed object do as their steps say."""
    self.check_initialized()


@follows("R-MQAC-message-not-found-value=as-printed", Perform.nothing_found)
def mqac_message_not_found_value_as_printed(plain, self):
    """A lookup that finds nothing answers 0xC00E0008."""
    return NOT_FOUND_AS_PRINTED


@follows("R-MQAC-lookup-status=as-event", Perform.not_found)
def mqac_lookup_status_as_event(plain, self, failure):
    """A lookup answers the status of the event."""
    if self.read.seek:
        raise failure
    return plain(failure)


@follows("R-MQAC-lookup-identifier-type=number-only", Perform.lookup)
def mqac_lookup_identifier_type_number_only(plain, self, given):
    """A lookup identifier is a number."""
    if given.vt == "BSTR":
        raise MqError(E_INVALIDARG)
    return plain(given)
