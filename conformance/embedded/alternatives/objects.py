"""Alternatives of readings about the objects of MC-MQAC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.directory import DirectoryObject
from conformance.embedded.entities import INFINITE, NULL_GUID, CursorState, MqError, Transaction
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.events import FIRST, NEXT, EventObject, Notification
from conformance.embedded.objects.management import ManagementObject
from conformance.embedded.objects.message import MessageObject, MessageSending
from conformance.embedded.objects.query import QueryObject
from conformance.embedded.objects.queue import Asked, Perform, QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject, QueueNames
from conformance.embedded.objects.transactions import (
    MTS,
    NO_TRANSACTION,
    SINGLE_MESSAGE,
    XA,
    ExternalTransaction,
    TransactionArguments,
    TransactionImpl,
    TransactionObject,
    Unit,
)
from conformance.embedded.objects.type_library import TypeLibrary
from conformance.embedded.objects.variants import (
    E_INVALIDARG,
    GET,
    METHOD,
    PUT,
    PUTREF,
    ComObject,
    Signature,
    Variant,
    long,
    text,
)
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_NO_DS,
    MQ_ERROR_PROPERTY,
    MQ_ERROR_QUEUE_NOT_ACTIVE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_SHARING_VIOLATION,
    MQ_ERROR_TRANSACTION_SEQUENCE,
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


@follows("R-MQAC-transaction-info-reserved=coordinator", ExternalTransaction.members)
def mqac_transaction_info_reserved_coordinator(plain, self):
    """Reserved members of XACTTRANSINFO are what the coordinator gave."""
    return self.manager.coordinator.information(self.transaction)


@follows("R-MQAC-transaction-without-context=fails", TransactionArguments.numbered)
def mqac_transaction_without_context_fails(plain, self, number):
    """The transaction of a caller that has none is refused."""
    if number in (MTS, XA) and self.manager.coordinator.context is None:
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


@follows("R-MQAC-notification-access=peek-only", QueueObject.check_notification_access)
def mqac_notification_access_peek_only(plain, self):
    """A queue that notifies is open for peeking."""
    self.check_access(("peek", "peek_admin"))


@follows("R-MQAC-notification-cursor=peek-next-loop", Notification.look)
def mqac_notification_cursor_peek_next_loop(plain, self, caller):
    """MQMSG_CURRENT goes one message further, and MQMSG_NEXT two."""
    if self.option == FIRST:
        plain(caller)
        return
    cursors, cursor, opened = self.queue.manager.cursors, self.queue.cursor(), self.queue.opened
    if self.option == NEXT and cursor.state is CursorState.READ:
        cursors.get_next_for_peek(cursor)
    self.queue.manager.reading.peek_next(caller, opened, cursor, self.timeout_ms)


@follows("R-MQAC-destination-failed-name=unchanged", DestinationObject.begin)
def mqac_destination_failed_name_unchanged(plain, self, **names):
    """A name that cannot be looked up leaves the object as it was."""


@follows("R-MQAC-send-unopened-destination=refused", MessageSending.open_for_this)
def mqac_send_unopened_destination_refused(plain, self):
    """Send to a destination that was not opened fails."""
    raise MqError(MQ_ERROR_INVALID_HANDLE)


@follows("R-MQAC-event-connection-point=beside", "event")
class _Beside(EventObject):
    """The connection point is another object, which the container of connection points gives."""

    ALSO = tuple(each for each in EventObject.ALSO if each != "IConnectionPoint")


COUNTS = frozenset({"SeqNo", "PrevNo", "RejectCount"})
ACTIVE_QUEUES = "ActiveQueues"
MANAGED = ("management_object", "queue_management", "outgoing_management")
"""The parts of the three classes that have the members of IMSMQManagement."""


@follows("R-MQAC-init-again=refused", *MANAGED)
class _Once(ManagementObject):
    """Init of an object that is initialized fails."""

    def init(self, machine: Variant, path: Variant, format_name: Variant) -> None:
        if self.is_initialized:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        super().init(machine, path, format_name)


@follows("R-MQAC-management-number-types=as-stored", *MANAGED)
class _AsStored(ManagementObject):
    """Counts and numbers have the type of the management property: they are unsigned numbers of 32 bits."""

    def row(self, signature: Signature, values: list[object]) -> Variant | None:
        found = super().row(signature, values)
        return _unsigned(found) if found is not None and found.vt == "UI8" else found

    def collected(self, values: Mapping[str, Variant]) -> ComObject:
        return super().collected({name: _unsigned(each) if name in COUNTS else each for name, each in values.items()})


def _unsigned(given: Variant) -> Variant:
    return Variant("UI4", given.value & INFINITE) if given.vt in ("I4", "UI8") else given


@follows("R-MQAC-init-inactive-queue=refused", *MANAGED)
class _Active(ManagementObject):
    """Init for a queue that is not active fails."""

    def bind(self) -> None:
        super().bind()
        if self.manager.management.designated(self.target()) not in self.manager.queues.active():
            raise MqError(MQ_ERROR_QUEUE_NOT_ACTIVE)


@follows("R-MQAC-directory-of-this-computer=asked", "application")
class _Asked(ApplicationObject):
    """Without a directory server, nobody tells the name and the identifier of this computer."""

    def identifier_of(self, name: str | None) -> Variant:
        return self.told_by_directory(super().identifier_of(name), self.manager.guid)

    def name_of(self, guid: str | None) -> Variant:
        return self.told_by_directory(super().name_of(guid), self.manager.computer)

    def told_by_directory(self, found: Variant, own: str) -> Variant:
        """Return what was found. Raises MqError for what is of this computer."""
        asked = self.manager.integration.integrated or self.manager.directory.server is not None
        if found.value == own and not asked:
            raise MqError(MQ_ERROR_NO_DS)
        return found


@follows("R-MQAC-active-queues-kind=property", "application.find")
def mqac_active_queues_kind_property(plain, self, name, kind):
    """ActiveQueues is a property."""
    exchanged = {GET: METHOD, METHOD: GET} if name.lower() == ACTIVE_QUEUES.lower() else {}
    return plain(name, exchanged.get(kind, kind))


@follows("R-MQAC-active-queues-kind=property", TypeLibrary.members)
def mqac_active_queues_kind_property_members(plain, self, name):
    """The type library has ActiveQueues as a property."""
    return tuple(replace(each, kind=GET) if each.name == ACTIVE_QUEUES else each for each in plain(name))


E_INVALIDARG_AS_PRINTED = 0x80000003
FOUR_DAYS = 345_600


@follows("R-MQAC-com-result-values=as-printed", MessageObject.put_body)
def mqac_com_result_values_as_printed(plain, self, given):
    """put Body and Send answer the E_INVALIDARG of 16 bits."""
    try:
        plain(given)
    except MqError as failure:
        raise MqError(_as_printed(failure.status)) from None


@follows("R-MQAC-com-result-values=as-printed", MessageObject.send)
def mqac_com_result_values_as_printed_send(plain, self, destination, transaction):
    try:
        plain(destination, transaction)
    except MqError as failure:
        raise MqError(_as_printed(failure.status)) from None


def _as_printed(status: int) -> int:
    return E_INVALIDARG_AS_PRINTED if status == E_INVALIDARG else status


@follows("R-MQAC-variant-true=one", "message_object.invoke")
def mqac_variant_true_one(plain, self, name, kind, given, caller):
    """IsFirstInTransaction2 and IsLastInTransaction2 are 1 where they are true."""
    found = plain(name, kind, given, caller)
    told = name.lower() in ("isfirstintransaction2", "islastintransaction2") and found is not None
    return Variant("BOOL", 1) if told and found is not None and found.value is True else found


@follows("R-MQAC-new-message-defaults=as-stored", MessageObject.initial)
def mqac_new_message_defaults_as_stored(plain, self):
    """A new message shows the defaults of the queue manager."""
    return {**plain(), "reach": FOUR_DAYS, "label": "", "correlation": bytes(20)}


@follows("R-MQAC-provider-name=comma", MessageObject.initial)
def mqac_provider_name_comma(plain, self):
    """The version in the provider's name has a comma."""
    found = plain()
    return {**found, "provider_name": found["provider_name"].replace("1.0", "1,0")}


@follows("R-MQAC-acknowledgment-combinations=any-bits", MessageObject.write)
def mqac_acknowledgment_combinations_any_bits(plain, self, row, value):
    """put Ack takes any combination of the four bits."""
    plain(replace(row, valid=lambda bits: 0 <= bits <= 15) if row.name == "Ack" else row, value)


@follows("R-MQAC-queue-getter-refresh=fails", MessageObject.queue_info)
def mqac_queue_getter_refresh_fails(plain, self, format_name):
    """The getter of a queue that cannot be refreshed fails."""
    found = self.manager.parts.queue_info(self.manager, format_name)
    found.refresh()
    return found


@follows("R-MQAC-send-timers=receive-lengthened", MessageSending.shorten)
def mqac_send_timers_receive_lengthened(plain, self):
    """The time to be received is raised to the time to reach the queue."""
    values = self.message.values
    values["receive"] = max(values["reach"], values["receive"])


@follows("R-MQAC-send-default-transaction=fails", MessageSending.unit)
def mqac_send_default_transaction_fails(plain, self):
    """Send without the argument Transaction fails."""
    if self.given.left_out:
        raise MqError(E_INVALIDARG)
    return plain()


@follows("R-MQAC-send-transaction-type=converted", MessageSending.unit)
def mqac_send_transaction_type_converted(plain, self):
    """A VT_I2 counts as the number that it holds, and VT_EMPTY as no transaction."""
    if self.given.vt in ("I2", "EMPTY"):
        self.given = long(int(self.given.value or NO_TRANSACTION))
    return plain()


@follows("R-MQAC-send-again=every-set", MessageSending.complete)
def mqac_send_again_every_set(plain, self):
    """A property that Send sets counts as set: a message object cannot be sent again without a connector type."""
    unnamed = self.message.values["sender"] is None
    plain()
    if unnamed:
        self.message.marked.add("sender")
    if self.message.values["connector"] == NULL_GUID:
        self.message.marked.add("class")


@follows("R-MQAC-query-without-multicast=none", QueryObject.test_of_nothing)
def mqac_query_without_multicast_none(plain, self, constraint):
    """A query without a multicast address finds the queues that have none."""
    return _has_none if constraint.argument == "MulticastAddress" else None


def _has_none(found: DirectoryObject) -> bool:
    return not found.properties.get("PROPID_Q_MULTICAST_ADDRESS")


Json = Any


@follows("R-MQAC-read-timeout=error", "queue_reads")
class _Fails(Perform):
    """A read that finds no message in time fails."""

    def timed_out(self, status: int) -> dict[str, Json]:
        return {"status": self.nothing_came()}

    def not_found(self, failure: MqError) -> Variant | None:
        if not self.read.seek:
            raise MqError(self.nothing_came())
        return super().not_found(failure)

    def nothing_came(self) -> int:
        """Return the status of a read whose time is over."""
        return self.nothing_found() if self.asked.timeout_ms == 0 else MQ_ERROR_IO_TIMEOUT


@follows("R-MQAC-property-not-wanted=fails", "message_object")
class _Lacks(MessageObject):
    """The getter of a property that was not wanted fails, until the property is put or the message is sent."""

    lacking: frozenset[str] = frozenset()

    def wanted(self, asked: Asked) -> None:
        super().wanted(asked)
        asks = {"body": asked.body, "destinationqueueinfo": asked.destination, "connectortypeguid": asked.connector}
        self.lacking = frozenset(name for name, is_wanted in asks.items() if not is_wanted)

    def invoke(self, name: str, kind: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        if kind == GET and name.lower() in self.lacking:
            raise MqError(MQ_ERROR_PROPERTY)
        found = super().invoke(name, kind, given, caller)
        sets = {"send": "destinationqueueinfo"}.get(name.lower(), name.lower() if kind in (PUT, PUTREF) else "")
        self.lacking -= {sets}
        return found


@follows("R-MQAC-ended-transaction=new", TransactionArguments.enlisted)
def mqac_ended_transaction_new(plain, self, given):
    """A transaction that has ended is created anew under its identifier."""
    if not isinstance(given, TransactionObject) or given.attached is None or not given.attached.completed:
        return plain(given)
    handle = given.attached.transaction.handle
    return self.manager.open_transactions.setdefault(handle, Transaction(handle))


@follows("R-MQAC-ended-transaction=new", "transaction_implementation", "external_transaction")
class _EndsOnce(TransactionImpl):
    """The object of a transaction that has ended does not end the new one."""

    def finish(self, end: Callable[[Transaction], None]) -> None:
        if self.completed:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        super().finish(end)


@follows("R-MQAC-empty-transaction=none", TransactionArguments.unit)
def mqac_empty_transaction_none(plain, self, given):
    """An MSMQTransaction that has no transaction means none."""
    empty = isinstance(given.value, TransactionObject) and given.value.attached is None
    return Unit(self.manager, None) if given.vt == "DISPATCH" and empty else plain(given)
