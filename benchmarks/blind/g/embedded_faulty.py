"""`python embedded_faulty.py [FAULT]`: the embedded manager on stdio, with one fault of this file in its objects, or as control."""

from __future__ import annotations

import sys

from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import INFINITE, MqError
from conformance.embedded.manager import Parts
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.dispatch import GET, PUTREF
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.message_properties import INITIAL
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import PATH, QueueInfoObject
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.transaction_argument import SINGLE_MESSAGE, Unit
from conformance.embedded.objects.transactions import TransactionImpl, TransactionObject
from conformance.embedded.objects.variants import NOTHING, Variant, as_flag, data, flag, long, text
from conformance.embedded.rpc import serve_stdio

ILLEGAL_PROPERTY_VALUE = 0xC00E0018
QUEUE_NOT_FOUND = 0xC00E0003
SHARING_VIOLATION = 0xC00E0009
MESSAGE_NOT_FOUND = 0xC00E0088
PROPERTY_NOT_AVAILABLE = 0xC00E0002
JOURNAL_QUOTA, AUTHENTICATE = "PROPID_Q_JOURNAL_QUOTA", "PROPID_Q_AUTHENTICATE"
KNOWN_PROVIDERS = (
    "Microsoft Base Cryptographic Provider, v1.0",
    "Microsoft Enhanced Cryptographic Provider, v1.0",
)
FAULTS = {}


def fault(name, **parts):
    FAULTS[name] = parts


# MSMQQueueInfo (3.10)


class AuthenticateStays(QueueInfoObject):
    def refresh(self):
        before = self.ref[AUTHENTICATE]
        super().refresh()
        if before:
            self.ref[AUTHENTICATE] = before


fault("authenticate-survives-refresh", queue_info=AuthenticateStays)


class TransactionalWithoutQueue(QueueInfoObject):
    def read(self, row):
        if row.name != "IsTransactional2":
            return super().read(row)
        try:
            return super().read(row)
        except MqError:
            return flag(False)


fault("is-transactional2-hides-failed-refresh", queue_info=TransactionalWithoutQueue)


class CreatedOnce(QueueInfoObject):
    def create(self, transactional, world_readable):
        if not self.is_queue_created:
            super().create(transactional, world_readable)


fault("second-create-of-same-object-succeeds", queue_info=CreatedOnce)


class UpdateOfKnown(QueueInfoObject):
    def update(self):
        try:
            super().update()
        except MqError as failure:
            if failure.status != QUEUE_NOT_FOUND or not self.is_application_queue:
                raise


fault("update-of-deleted-queue-succeeds", queue_info=UpdateOfKnown)


class CreatedIsRefreshed(QueueInfoObject):
    def read(self, row):
        if row.name == "ModifyTime" and self.is_queue_created:
            return row.tell(row.value(self))
        return super().read(row)


fault("modify-time-not-refreshed-after-create", queue_info=CreatedIsRefreshed)


class UpdatesBytes(QueueInfoObject):
    def update(self):
        kept = self.ref[JOURNAL_QUOTA]
        if JOURNAL_QUOTA in self.put and kept != INFINITE:
            self.ref[JOURNAL_QUOTA] = min(kept * 1000, INFINITE)
        try:
            super().update()
        finally:
            self.ref[JOURNAL_QUOTA] = kept


fault("update-writes-journal-quota-times-1000", queue_info=UpdatesBytes)


class JournalQuotaOfFormerQueue(QueueInfoObject):
    def read(self, row):
        if row.name != "JournalQuota":
            return super().read(row)
        self.refresh_once()
        return long(self.ref[JOURNAL_QUOTA])


fault("journal-quota-of-system-queue-is-former", queue_info=JournalQuotaOfFormerQueue)


class PrivLevelChecked(QueueInfoObject):
    def write(self, row, value):
        if row.name == "PrivLevel" and value not in (0, 1, 2):
            raise MqError(ILLEGAL_PROPERTY_VALUE)
        super().write(row, value)


fault("put-priv-level-checks-value", queue_info=PrivLevelChecked)


class LabelCheckedOnceRefreshed(QueueInfoObject):
    def write(self, row, value):
        if row.name == "Label" and self.is_refreshed and len(value or "") > 124:
            raise MqError(ILLEGAL_PROPERTY_VALUE)
        super().write(row, value)


fault("put-label-checks-length-once-refreshed", queue_info=LabelCheckedOnceRefreshed)


class OpenSharingNull(QueueInfoObject):
    def open(self, access, share):
        try:
            return super().open(access, share)
        except MqError as failure:
            if failure.status != SHARING_VIOLATION:
                raise
            return NOTHING


fault("open-of-exclusive-queue-answers-null", queue_info=OpenSharingNull)


class EmptyMulticastIgnored(QueueInfoObject):
    def write(self, row, value):
        if row.name == "MulticastAddress" and not value:
            return
        super().write(row, value)


fault("empty-multicast-address-ignored", queue_info=EmptyMulticastIgnored)


class CreatesHere(QueueInfoObject):
    def create(self, transactional, world_readable):
        path = self.ref[PATH]
        if path is not None:
            parts = self.manager.names.path(path).parts
            if parts["scope"] == "private" and not self.manager.queues.is_local(str(parts["computer"])):
                self.ref[PATH] = f"{self.manager.computer}\\private$\\{parts['queue']}"
        super().create(transactional, world_readable)


fault("create-of-remote-private-queue-is-local", queue_info=CreatesHere)


# MSMQQueue (3.11)


def only(*names):
    """Return what makes reads that have a fault in the methods of these names only."""

    def make(faulty):
        return lambda queue, read, *rest: (faulty if read.name in names else Perform)(queue, read, *rest)

    return make


class Remembers(Perform):
    """A read that keeps the unit of work it uses, and whether it waited."""

    used = None
    waited = False

    def unit(self):
        self.used = super().unit()
        return self.used

    def perform(self):
        answer = None
        try:
            answer = super().perform()
        finally:
            self.waited = True
        return answer

    @property
    def in_object(self):
        """True in the transaction of an MSMQTransaction."""
        return self.used is not None and self.used.transaction is not None and not self.used.own


class OneObjectEach(Perform):
    def message(self, result, position):
        known = self.queue.__dict__.setdefault("_known", {})
        lookup = position.lookup
        if self.read.name == "ReceiveByLookupIdAllowPeek" and lookup in known:
            return known[lookup]
        made = super().message(result, position)
        if self.read.name == "PeekByLookupId":
            known[lookup] = made
        return made


fault("allow-peek-hands-out-peeked-object", queue_reads=OneObjectEach)


class TextIsNoTransaction(Perform):
    def unit(self):
        if self.asked.named("Transaction").vt == "BSTR":
            return Unit(self.manager, None)
        return super().unit()


fault("receive-previous-takes-text-as-transaction", queue_reads=only("ReceivePreviousByLookupId")(TextIsNoTransaction))


class BodyInTransaction(Remembers):
    def message(self, result, position):
        if self.in_object:
            self.asked.body = True
        return super().message(result, position)


fault("receive-current-v1-body-in-transaction", queue_reads=only("ReceiveCurrent_v1")(BodyInTransaction))


class NotEnlisted(Perform):
    def unit(self):
        unit = super().unit()
        if unit.transaction is not None and not unit.own and self.queue.opened.queue.transactional:
            return Unit(self.manager, None)
        return unit


fault("receive-first-by-lookup-id-not-enlisted", queue_reads=only("ReceiveFirstByLookupId")(NotEnlisted))


class TimeoutNotFound(Perform):
    def timed_out(self, status):
        if self.asked.timeout_ms == 0:
            return super().timed_out(status)
        return {"status": MESSAGE_NOT_FOUND}


fault("receive-v1-timeout-as-message-not-found", queue_reads=only("Receive_v1")(TimeoutNotFound))


class SwapsWants(Perform):
    def understand(self):
        super().understand()
        asked = self.asked
        if not (asked.named("WantBody").left_out or asked.named("WantDestinationQueue").left_out):
            asked.body, asked.destination = asked.destination, asked.body


fault("receive-previous-swaps-want-arguments", queue_reads=only("ReceivePreviousByLookupId")(SwapsWants))


class NothingAfterWait(Remembers):
    def message(self, result, position):
        if self.waited and self.asked.timeout_ms == INFINITE:
            return NOTHING
        return super().message(result, position)


fault("peek-null-after-infinite-wait", queue_reads=only("Peek")(NothingAfterWait))


class GivenIsWanted(Perform):
    def wanted(self, name, default):
        if name == "WantConnectorType" and not self.asked.named(name).left_out:
            as_flag(self.asked.named(name))
            return True
        return super().wanted(name, default)


fault("peek-first-connector-type-when-given", queue_reads=only("PeekFirstByLookupId")(GivenIsWanted))


class SingleTakesDefaults(Perform):
    def understand(self):
        super().understand()
        given = self.asked.named("Transaction")
        if given.vt == "I4" and given.value == SINGLE_MESSAGE:
            self.asked.body, self.asked.destination, self.asked.connector = True, False, False


fault(
    "receive-first-single-message-ignores-wants", queue_reads=only("ReceiveFirstByLookupId")(SingleTakesDefaults)
)


class NoBodyWhileShown(Remembers):
    def message(self, result, position):
        if self.in_object:
            self.asked.body = False
        return super().message(result, position)


fault("allow-peek-without-body-in-transaction", queue_reads=only("ReceiveByLookupIdAllowPeek")(NoBodyWhileShown))


class SingleByDefault(Perform):
    def unit(self):
        if self.asked.named("Transaction").left_out:
            return self.transactions.numbered(SINGLE_MESSAGE)
        return super().unit()


fault("receive-by-lookup-id-single-message-by-default", queue_reads=only("ReceiveByLookupId")(SingleByDefault))


class ConnectorLikeBody(Perform):
    def wanted(self, name, default):
        asked = self.asked
        if name == "WantConnectorType" and asked.named(name).left_out and not asked.named("WantBody").left_out:
            return as_flag(asked.named("WantBody"))
        return super().wanted(name, default)


fault("receive-last-connector-type-as-want-body", queue_reads=only("ReceiveLastByLookupId")(ConnectorLikeBody))


class TransactionBeforeAccess(Perform):
    def check_access(self):
        given = self.asked.named("Transaction")
        if not given.left_out and given.vt not in ("DISPATCH", "I4"):
            raise MqError(E_INVALIDARG)
        super().check_access()


fault("receive-checks-transaction-before-access", queue_reads=only("Receive")(TransactionBeforeAccess))


class ClosedBeforeBlank(Perform):
    def check_closed_first(self):
        self.queue.check_open()
        self.queue.check_initialized()

    def checks(self):
        return (self.check_closed_first, self.check_access)


fault("peek-current-v1-blank-as-closed", queue_reads=only("PeekCurrent_v1")(ClosedBeforeBlank))


class ShownWhileLocked(Perform):
    def show(self, position, unit):
        if position is not None and unit.transaction is not None:
            position.queue.shown.append(position)


fault("receive-current-v1-locked-message-peeked", queue_reads=only("ReceiveCurrent_v1")(ShownWhileLocked))


class ZeroIsFirst(Perform):
    def check_lookup(self):
        self.asked.lookup = self.lookup(self.asked.named("LookupId"))

    def look_up(self, caller, unit):
        if self.asked.lookup:
            super().look_up(caller, unit)
            return
        self.manager.reading.by_lookup_id(
            caller, self.queue.opened, 0, "first", destructive=True, transaction=unit.transaction
        )


fault("receive-by-lookup-id-zero-is-first", queue_reads=only("ReceiveByLookupId")(ZeroIsFirst))


class PeeksWhereJournaled(Perform):
    def look_up(self, caller, unit):
        if unit.transaction is None and self.queue.opened.queue.journaling:
            self.manager.reading.by_lookup_id(
                caller, self.queue.opened, self.asked.lookup, self.read.seek, destructive=False
            )
            return
        super().look_up(caller, unit)


fault("allow-peek-leaves-journaled-message", queue_reads=only("ReceiveByLookupIdAllowPeek")(PeeksWhereJournaled))


class PollWithoutBody(Perform):
    def understand(self):
        super().understand()
        if self.asked.timeout_ms == 0:
            self.asked.body = False


fault("receive-current-poll-without-body", queue_reads=only("ReceiveCurrent")(PollWithoutBody))


class WantStays(Perform):
    def understand(self):
        super().understand()
        if self.asked.destination:
            self.queue._destination_wanted = True
        self.asked.destination = getattr(self.queue, "_destination_wanted", False)


fault("peek-want-destination-queue-stays", queue_reads=only("Peek")(WantStays))


class PollByDefault(Perform):
    def timeout(self):
        return 0 if self.asked.named("ReceiveTimeout").left_out else super().timeout()


fault("peek-v1-polls-by-default", queue_reads=only("Peek_v1")(PollByDefault))


class SingleNotEnded(Perform):
    def unit(self):
        unit = super().unit()
        unit.own = False
        return unit


fault("receive-by-lookup-id-single-message-left-open", queue_reads=only("ReceiveByLookupId")(SingleNotEnded))


class InfoCopied(QueueObject):
    _copy = None

    def get_queue_info(self):
        self.check_usable()
        if self._copy is None:
            self._copy = self.manager.parts.queue_info(self.manager, self.info.known_format_name())
        return Variant("DISPATCH", self._copy)


fault("queue-info-is-another-object", queue_object=InfoCopied)


class DestinationByPath(Perform):
    def message(self, result, position):
        made = super().message(result, position)
        if self.queue.info is not None and self.queue.info.ref[PATH] is None:
            made.value.destination_wanted = False
        return made


fault(
    "receive-next-no-destination-of-queue-by-format-name", queue_reads=only("ReceiveNextByLookupId")(DestinationByPath)
)


class CursorBeforeBlank(Perform):
    def checks(self):
        return (self.queue.check_cursor_read, *super().checks())


fault("peek-next-checks-cursor-before-blank", queue_reads=only("PeekNext")(CursorBeforeBlank))


# MSMQMessage (3.17)


class Noting(MessageObject):
    """A message that knows whether it was handed out by a queue."""

    handed_out = False

    def receive(self, fields, carried, queue, asked):
        self.handed_out = True
        super().receive(fields, carried, queue, asked)


class PriorityOrDefault(MessageObject):
    def receive(self, fields, carried, queue, asked):
        super().receive(fields, carried, queue, asked)
        self.values["priority"] = self.values["priority"] or INITIAL["priority"]


fault("received-priority-0-told-as-3", message_object=PriorityOrDefault)


class ProviderTypeNotRead(MessageObject):
    def receive(self, fields, carried, queue, asked):
        super().receive(fields, carried, queue, asked)
        self.values["provider_type"] = INITIAL["provider_type"]


fault("received-provider-type-always-1", message_object=ProviderTypeNotRead)


class NoneKeepsDeadLetter(MessageObject):
    def write(self, row, value):
        before = self.values["journal"]
        super().write(row, value)
        if row.name == "Journal" and value == 0:
            self.values["journal"] = before & 1


fault("journal-none-keeps-dead-letter", message_object=NoneKeepsDeadLetter)


class SentOnce(MessageSending):
    def complete(self):
        before = self.message.values["sent"]
        super().complete()
        if before != INFINITE:
            self.message.values["sent"] = before


fault("sent-time-of-first-send-stays", message_sending=SentOnce)


class SpacePadded(MessageObject):
    def read(self, row):
        if row.name != "SourceMachineGuid":
            return super().read(row)
        first, second, third, *rest = self.values["source"].split("-")
        return text("-".join([f"{int(first, 16):8x}", f"{int(second, 16):4x}", f"{int(third, 16):4x}", *rest]))


fault("source-machine-guid-padded-with-spaces", message_object=SpacePadded)


class ResponseNotRefreshed(MessageObject):
    def row(self, signature, values):
        if signature.kind == GET and signature.name == "ResponseQueueInfo_v2":
            return Variant("DISPATCH", self.manager.parts.queue_info(self.manager, self.values["response_queue"]))
        return super().row(signature, values)


fault("response-queue-info-v2-not-refreshed", message_object=ResponseNotRefreshed)


class AuthenticatedWhenRead(Noting):
    def read(self, row):
        if row.name == "IsAuthenticated" and not self.handed_out:
            raise MqError(PROPERTY_NOT_AVAILABLE)
        return super().read(row)


fault("is-authenticated-fails-before-receive", message_object=AuthenticatedWhenRead)


class Remaining(MessageObject):
    def receive(self, fields, carried, queue, asked):
        super().receive(fields, carried, queue, asked)
        if self.values["receive"] != INFINITE:
            passed = self.manager.clock.now_ms() // 1000 - self.values["sent"]
            self.values["receive"] = max(0, self.values["receive"] - passed)


fault("max-time-to-receive-tells-what-remains", message_object=Remaining)


class AnyTrace(MessageObject):
    def write(self, row, value):
        if row.name == "Trace":
            value = int(value != 0)
        super().write(row, value)


fault("put-trace-takes-any-number", message_object=AnyTrace)


class ArrivedNever(MessageObject):
    def initial(self):
        return {**super().initial(), "arrived": 0}


fault("new-message-arrived-1970", message_object=ArrivedNever)


class CompoundIsBody(Noting):
    def read(self, row):
        body = self.values["body"]
        if row.name == "CompoundMessage" and self.handed_out and body is not None:
            return data(body[0])
        return super().read(row)


fault("compound-message-of-received-is-body", message_object=CompoundIsBody)


class LabelOfQueues(MessageObject):
    def receive(self, fields, carried, queue, asked):
        super().receive(fields, carried, queue, asked)
        self.values["label"] = (self.values["label"] or "")[:124]


fault("received-label-cut-at-124", message_object=LabelOfQueues)


class PeekedAnonymous(Perform):
    def message(self, result, position):
        made = super().message(result, position)
        if not self.read.removes:
            made.value.values["sender"] = None
        return made


fault("peeked-message-without-sender-id", queue_reads=PeekedAnonymous)


class AdminIsResponse(MessageObject):
    def row(self, signature, values):
        if signature.kind == PUTREF and signature.name == "AdminQueueInfo_v2":
            self.values["response_queue"] = self.name_of(values[0])
            return None
        return super().row(signature, values)


fault("admin-queue-info-v2-put-as-response-queue", message_object=AdminIsResponse)


class NoVersionBefore(Noting):
    def read(self, row):
        if row.name == "SenderVersion" and not self.handed_out:
            return long(0)
        return super().read(row)


fault("sender-version-0-before-receive", message_object=NoVersionBefore)


class TraceNeedsReport(MessageSending):
    def fields(self):
        given = super().fields()
        given["trace"] = given["trace"] and "administration_queue" in given
        return given


fault("trace-lost-without-admin-queue", message_sending=TraceNeedsReport)


class KnownProviders(MessageObject):
    def write(self, row, value):
        if row.name == "AuthenticationProviderName" and value and value not in KNOWN_PROVIDERS:
            raise MqError(ILLEGAL_PROPERTY_VALUE)
        super().write(row, value)


fault("provider-name-with-comma-refused", message_object=KnownProviders)


class LabelOf250(MessageObject):
    def write(self, row, value):
        if row.name == "Label" and len(value or "") == 250:
            self.values["label"] = value
            return
        super().write(row, value)


fault("put-label-takes-250-characters", message_object=LabelOf250)


# Transactions (3.6 to 3.9)


class PendingFirst(TransactionImpl):
    def check_commit(self, retaining, flags, resource_flags):
        self.check_pending()
        super().check_commit(retaining, flags, resource_flags)


fault("commit-checks-completed-before-arguments", transaction_implementation=PendingFirst)


class ResourceFlagsLikeFlags(TransactionObject):
    def commit(self, retaining, flags, resource_flags):
        if resource_flags.left_out and not flags.left_out:
            resource_flags = flags
        super().commit(retaining, flags, resource_flags)


fault("commit-takes-grfrm-from-grftc", transaction_object=ResourceFlagsLikeFlags)


class UndoesLast(TransactionImpl):
    def abort(self, retaining, asynchronous):
        if not self.completed and not retaining and not asynchronous:
            self.transaction.steps[:] = self.transaction.steps[-1:]
        super().abort(retaining, asynchronous)


fault("abort-undoes-last-operation-only", transaction_implementation=UndoesLast)


class AttachedNotCommitted(TransactionObject):
    by_init = False

    def init_new(self, given):
        super().init_new(given)
        self.by_init = True

    def commit(self, retaining, flags, resource_flags):
        if not self.by_init:
            super().commit(retaining, flags, resource_flags)
            return
        attached = self.needed()
        attached.check_commit(
            self.retaining(retaining), self.commit_flags(flags), self.resource_flags(resource_flags)
        )
        attached.check_pending()
        attached.completed = True


fault("commit-of-attached-transaction-does-nothing", transaction_object=AttachedNotCommitted)


class NeverAsynchronous(TransactionObject):
    def asynchronous(self, given):
        super().asynchronous(given)
        return False


fault("abort-drops-fasync", transaction_object=NeverAsynchronous)


class AbortedCommits(TransactionImpl):
    aborted = False

    def abort(self, retaining, asynchronous):
        super().abort(retaining, asynchronous)
        self.aborted = True

    def commit(self, retaining, flags, resource_flags):
        self.check_commit(retaining, flags, resource_flags)
        if not self.aborted:
            super().commit(retaining, flags, resource_flags)


fault("commit-after-abort-succeeds", transaction_implementation=AbortedCommits)


def main() -> None:
    names = sys.argv[1:]
    managers = Managers()
    if names:
        managers._parts = Parts(**FAULTS[names[0]])
    serve_stdio(EmbeddedDriver(registry=managers), sys.stdin.buffer, sys.stdout.buffer, real_clock=False)


if __name__ == "__main__":
    main()
