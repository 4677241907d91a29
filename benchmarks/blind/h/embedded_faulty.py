"""`python embedded_faulty.py [FAULT]`: the embedded manager on stdio, with one fault of this file, or as control."""

from __future__ import annotations

import copy
import sys

from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import NULL_GUID, MqError
from conformance.embedded.manager import Parts
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.codes import E_FAIL, E_INVALIDARG, S_FALSE, XACT_E_NOTSUPPORTED
from conformance.embedded.objects.collection import CollectionObject
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.dispatch import GET, PUTREF
from conformance.embedded.objects.events import EventObject, Notification
from conformance.embedded.objects.management import (
    ManagementObject,
    OutgoingManagementObject,
    QueueManagementObject,
)
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.message_send import MessageSending
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import QueueInfoObject
from conformance.embedded.objects.queue_names import QueueNames
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.transaction_argument import NO_TRANSACTION, Unit
from conformance.embedded.objects.transactions import (
    DispenserObject,
    ExternalTransaction,
    TransactionObject,
)
from conformance.embedded.objects.type_library import TypeLibrary
from conformance.embedded.objects.variants import NOTHING, Variant, braced, flag, long, short, text
from conformance.embedded.rpc import serve_stdio

try:
    from conformance.embedded.objects.query import QueryObject, QueueInfosObject
except ImportError:  # an embedded manager without queries: the three faults of them are not there
    QueryObject = QueueInfosObject = None

QUEUE_NOT_FOUND = 0xC00E0003
ACCESS_DENIED = 0xC00E0025
MISSING_CONNECTOR_TYPE = 0xC00E0055
TRANSACTION_SEQUENCE = 0xC00E0051
UNINITIALIZED_OBJECT = 0xC00E0094
IO_TIMEOUT, MESSAGE_NOT_FOUND = 0xC00E001B, 0xC00E0088
SEND_ACCESS = 2
CURRENT = 1
OUTGOING = "IMSMQOutgoingQueueManagement"
FAULTS = {}


def fault(name, **parts):
    FAULTS[name] = parts


# MSMQQueueInfo (3.10)


class FormatNameKept(QueueInfoObject):
    def put_path_name(self, path):
        known = self.format_name if self.is_refreshed or self.is_queue_created else None
        super().put_path_name(path)
        self.format_name = known


fault("path-name-put-keeps-format-name", queue_info=FormatNameKept)


class PrivLevelFails(QueueInfoObject):
    def read(self, row):
        if row.name != "PrivLevel":
            return super().read(row)
        try:
            return super().read(row)
        except MqError:
            raise MqError(E_FAIL) from None


fault("priv-level-of-unknown-queue-is-e-fail", queue_info=PrivLevelFails)


class DeletesByPublicName(QueueInfoObject):
    def delete(self):
        queue = self.existing_queue()
        if queue.kind == "public" and (self.format_name or "").upper().startswith("DIRECT="):
            raise MqError(QUEUE_NOT_FOUND)
        super().delete()


fault("delete-of-public-queue-by-direct-name-refused", queue_info=DeletesByPublicName)


class OpensLazily(QueueInfoObject):
    def open(self, access, share):
        try:
            return super().open(access, share)
        except MqError:
            if access != SEND_ACCESS or share != 0 or self.format_name is None:
                raise
        opened = self.manager.parts.queue_object(self.manager, None, self, access, share)
        opened.is_initialized, opened.is_closed = True, False
        return Variant("DISPATCH", opened)


fault("open-for-sending-does-not-ask-for-the-queue", queue_info=OpensLazily)


class TransactionalRemembered(QueueInfoObject):
    remembered = False

    def read(self, row):
        if row.name != "IsTransactional":
            return super().read(row)
        if self.remembered and not self.is_refreshed:
            return short(1)
        told = super().read(row)
        self.remembered = told.value == 1
        return told


fault("is-transactional-of-former-queue", queue_info=TransactionalRemembered)


class DeletesEmptyOnly(QueueInfoObject):
    def delete(self):
        if len(self.existing_queue().positions):
            raise MqError(ACCESS_DENIED)
        super().delete()


fault("delete-of-queue-with-messages-refused", queue_info=DeletesEmptyOnly)


class PriorityFromZero(QueueInfoObject):
    def write(self, row, value):
        super().write(row, max(value, 0) if row.name == "BasePriority" and value >= -32768 else value)


fault("negative-base-priority-is-kept-as-0", queue_info=PriorityFromZero)


class DnsNameCached(QueueInfoObject):
    dns = None

    def path_name_dns(self):
        try:
            self.dns = super().path_name_dns()
        except MqError:
            if self.dns is None or not self.is_refreshed:
                raise
        return self.dns


fault("path-name-dns-of-deleted-queue", queue_info=DnsNameCached)


# MSMQQueue (3.11)


class AllowPeekOutsideExternal(Perform):
    def unit(self):
        unit = super().unit()
        given = self.asked.named("Transaction").value
        if self.read.shown_to_peeks and isinstance(getattr(given, "attached", None), ExternalTransaction):
            return Unit(self.manager, None)
        return unit


fault("allow-peek-outside-coordinated-transaction", queue_reads=AllowPeekOutsideExternal)


class PeekPassesShown(Perform):
    def start(self, unit):
        queue = self.queue.opened.queue
        if self.read.name != "Peek" or queue is None:
            super().start(unit)
            return
        shown, queue.shown = queue.shown, []
        try:
            super().start(unit)
        finally:
            queue.shown = shown


fault("peek-passes-message-received-with-allow-peek", queue_reads=PeekPassesShown)


class FirstLeftOpen(Perform):
    def unit(self):
        given = self.asked.named("Transaction")
        asked_for_none = (given.vt, given.value) == ("I4", NO_TRANSACTION)
        if self.read.name == "ReceiveFirstByLookupId" and asked_for_none and self.queue.opened.queue.transactional:
            return Unit(self.manager, self.manager.transactions.begin())
        return super().unit()


fault("receive-first-without-transaction-left-open", queue_reads=FirstLeftOpen)


class HandleOfFirstOpen(QueueObject):
    def get_handle(self):
        self.check_listed()
        first = vars(self.manager.objects).setdefault("first_handles", {})
        return long(first.setdefault(self.opened.queue.id, self.number))


fault("handle-of-second-open-is-the-first", queue_object=HandleOfFirstOpen)


class NothingAfterWaiting(Perform):
    waited = own = False

    def through(self, unit):
        made, self.own = super().through(unit), unit.own
        pending = made.pending

        def told():
            self.waited = True
            pending()

        made.pending = told
        return made

    def message(self, result, position):
        if self.read.name == "Receive" and self.waited and self.own:
            return NOTHING
        return super().message(result, position)


fault("receive-null-after-wait-in-single-message", queue_reads=NothingAfterWaiting)


class SilentAtOnce(Notification):
    def ended(self, result):
        if result["status"] == 0 or self.timeout_ms != 0 or self.option != 0:
            super().ended(result)


fault("notification-without-wait-says-nothing", notification=SilentAtOnce)


class PeekNextLookupWithoutDestination(Perform):
    def understand(self):
        super().understand()
        if self.read.name == "PeekNextByLookupId":
            self.asked.destination = False


fault("peek-next-by-lookup-id-without-destination", queue_reads=PeekNextLookupWithoutDestination)


class BlankAfterClose(QueueObject):
    def end(self):
        super().end()
        self.is_initialized = False


fault("closed-queue-is-blank", queue_object=BlankAfterClose)


class ReceiveCurrentPolls(Perform):
    def timeout(self):
        if self.read.name == "ReceiveCurrent" and self.asked.named("ReceiveTimeout").left_out:
            return 0
        return super().timeout()


fault("receive-current-polls-by-default", queue_reads=ReceiveCurrentPolls)


class ReceivePreviousWithDestination(Perform):
    def understand(self):
        super().understand()
        if self.read.name == "ReceivePreviousByLookupId":
            self.asked.destination = True


fault("receive-previous-always-with-destination", queue_reads=ReceivePreviousWithDestination)


class MarksPending(Notification):
    def start(self, session):
        self.event.has_pending = True
        super().start(session)

    def ended(self, result):
        self.event.has_pending = False
        super().ended(result)


class OneNotification(QueueObject):
    def notification_checks(self, asked):
        return (*super().notification_checks(asked), lambda: self.check_pending(asked))

    def check_pending(self, asked):
        if getattr(asked.event, "has_pending", False):
            raise MqError(E_INVALIDARG)


fault("second-notification-while-one-waits-refused", queue_object=OneNotification, notification=MarksPending)


class BlankIsEmpty(Perform):
    def perform(self):
        if self.read.name == "Receive" and not self.queue.is_initialized and self.timeout() == 0:
            return NOTHING
        return super().perform()


fault("receive-from-blank-queue-finds-nothing", queue_reads=BlankIsEmpty)


class PeekNextSkips(Perform):
    def start(self, unit):
        if self.read.name == "PeekNext":
            cursor = self.queue.cursor()
            gone = cursor.position is not None and all(
                each is not cursor.position for each in self.queue.opened.queue.positions
            )
            following = self.manager.cursors.seek_for_peek(cursor)
            if gone and following is not None:
                self.manager.cursors.stand_at(cursor, following)
        super().start(unit)


fault("peek-next-skips-one-after-removal", queue_reads=PeekNextSkips)


class CurrentNotFound(Notification):
    def code(self, status):
        return MESSAGE_NOT_FOUND if status == IO_TIMEOUT and self.option == CURRENT else super().code(status)


fault("notification-at-cursor-times-out-as-not-found", notification=CurrentNotFound)


class ConnectorWithDestination(Perform):
    def understand(self):
        super().understand()
        if self.read.name == "PeekFirstByLookupId" and self.asked.destination:
            self.asked.connector = True


fault("peek-first-connector-type-with-destination", queue_reads=ConnectorWithDestination)


class CursorBeforeClosed(Perform):
    def checks(self):
        found = super().checks()
        if self.read.name != "PeekNext_v1":
            return found
        return (self.queue.check_initialized, self.queue.check_cursor_read, self.queue.check_open, self.check_access)


fault("peek-next-v1-checks-cursor-before-closed", queue_reads=CursorBeforeClosed)


# MSMQMessage (3.17)


class ReadMessage(MessageObject):
    was_read = False

    def receive(self, fields, carried, queue, asked):
        super().receive(fields, carried, queue, asked)
        self.was_read = True


class FirstAdminQueueStays(MessageObject):
    def row(self, signature, values):
        put_again = self.values["administration_queue"] is not None and values and values[0] is not None
        if (signature.kind, signature.name) == (PUTREF, "AdminQueueInfo") and put_again:
            return None
        return super().row(signature, values)


fault("admin-queue-info-put-again-stays", message_object=FirstAdminQueueStays)


class ResponseNotRefreshed(MessageObject):
    def row(self, signature, values):
        if (signature.kind, signature.name) == (GET, "ResponseQueueInfo_v1"):
            return Variant("DISPATCH", self.manager.parts.queue_info(self.manager, self.values["response_queue"]))
        return super().row(signature, values)


fault("response-queue-info-v1-not-refreshed", message_object=ResponseNotRefreshed)


class ConnectorWithoutBraces(ReadMessage):
    def read(self, row):
        told = super().read(row)
        if self.was_read and row.name == "ConnectorTypeGuid":
            return text(told.value.strip("{}"))
        return told


fault("received-connector-type-without-braces", message_object=ConnectorWithoutBraces)


class BothIsJournal(ReadMessage):
    def read(self, row):
        if self.was_read and row.name == "Journal" and self.values["journal"] == 3:
            return long(2)
        return super().read(row)


fault("received-journal-without-dead-letter", message_object=BothIsJournal)


class FormerDestination(MessageSending):
    def complete(self):
        former = self.message.values["destination_queue"]
        super().complete()
        if isinstance(self.destination, DestinationObject) and former is not None:
            self.message.values["destination_queue"] = former


fault("second-send-to-destination-keeps-former-queue", message_sending=FormerDestination)


class SenderVersionZero(ReadMessage):
    def read(self, row):
        return long(0) if self.was_read and row.name == "SenderVersion" else super().read(row)


fault("sender-version-of-received-is-0", message_object=SenderVersionZero)


class DeliveryRises(MessageObject):
    def write(self, row, value):
        if row.name == "Delivery" and value == 0 and self.values["delivery"] == 1:
            return
        super().write(row, value)


fault("delivery-stays-recoverable", message_object=DeliveryRises)


class ResponseIsAdmin(MessageObject):
    def row(self, signature, values):
        administered = self.values["administration_queue"] is not None
        if (signature.kind, signature.name) == (GET, "ResponseQueueInfo_v2") and administered:
            return self.queue_named("administration_queue")
        return super().row(signature, values)


fault("response-queue-info-v2-is-admin-queue", message_object=ResponseIsAdmin)


class OnlyFirst(MessageObject):
    def read(self, row):
        if row.name == "IsLastInTransaction" and self.values["first"]:
            return short(0)
        return super().read(row)


fault("only-message-of-transaction-is-not-last", message_object=OnlyFirst)


class SignatureNeedsConnector(MessageObject):
    def write(self, row, value):
        if row.name == "Signature" and self.values["connector"] == NULL_GUID:
            raise MqError(MISSING_CONNECTOR_TYPE)
        super().write(row, value)


fault("signature-put-before-connector-type-refused", message_object=SignatureNeedsConnector)


class KeyWithBody(MessageObject):
    def wanted(self, asked):
        super().wanted(asked)
        if not asked.body:
            self.values["symmetric_key"] = None


fault("symmetric-key-left-out-with-body", message_object=KeyWithBody)


class LabelTrimmed(ReadMessage):
    def read(self, row):
        told = super().read(row)
        return text(told.value.rstrip(" ")) if self.was_read and row.name == "Label" else told


fault("received-label-without-trailing-spaces", message_object=LabelTrimmed)


# Transactions (3.6, 3.8, 3.9)


class CommitWithoutTransaction(TransactionObject):
    def commit(self, retaining, flags, resource_flags):
        if self.attached is None:
            raise MqError(TRANSACTION_SEQUENCE)
        super().commit(retaining, flags, resource_flags)


fault("commit-of-empty-object-is-out-of-sequence", transaction_object=CommitWithoutTransaction)


class AttachesCopy(TransactionObject):
    copied = False

    def init_new(self, given):
        super().init_new(given)
        self.attached, self.copied = copy.copy(self.attached), True

    def commit(self, retaining, flags, resource_flags):
        attached = self.attached
        ended = self.copied and attached.transaction.handle not in self.manager.open_transactions
        if ended and not attached.completed:
            attached.completed = True
            return
        super().commit(retaining, flags, resource_flags)


fault("init-new-does-not-share-completion", transaction_object=AttachesCopy)


class AttachedRetains(TransactionObject):
    by_init_new = False

    def init_new(self, given):
        super().init_new(given)
        self.by_init_new = True

    def commit(self, retaining, flags, resource_flags):
        if self.by_init_new and self.retaining(retaining):
            self.attached.check_pending()
            self.attached.finish(self.manager.transactions.commit)
            return
        super().commit(retaining, flags, resource_flags)


fault("attached-internal-transaction-takes-retaining", transaction_object=AttachedRetains)


class BeginsEnded(DispenserObject):
    last = None

    def begin(self):
        if self.last is not None and self.last.completed:
            return Variant("DISPATCH", self.manager.parts.transaction_object(self.manager, self.last))
        begun = super().begin()
        self.last = begun.value.attached
        return begun


fault("begin-after-end-gives-the-ended-transaction", transaction_dispenser=BeginsEnded)


# MSMQDestination (3.12)


class HandlesOfSenders(DestinationObject):
    def put_handle(self, given):
        super().put_handle(given)
        if self.descriptor is not None and self.descriptor.access != "send":
            self.descriptor = None


fault("put-handle-finds-senders-alone", destination=HandlesOfSenders)


class OpenSaysOk(DestinationObject):
    def open(self):
        try:
            super().open()
        except MqError as failure:
            if failure.status == S_FALSE:
                raise


fault("open-of-missing-queue-says-ok", destination=OpenSaysOk)


class DirectoryPathWhileOpen(DestinationObject):
    def put_ads_path(self, directory):
        opened, self.descriptor = self.descriptor, None
        try:
            super().put_ads_path(directory)
        finally:
            self.descriptor = opened


fault("put-ads-path-while-open-keeps-the-handle", destination=DirectoryPathWhileOpen)


class DirectOfDirectory(QueueNames):
    def of_directory(self, path):
        name = super().of_directory(path)
        queue = self.manager.queues.find_local(name)
        return name if queue is None else f"DIRECT=OS:{queue.path}"


fault("ads-path-gives-direct-name", queue_names=DirectOfDirectory)


class ClosedByName(DestinationObject):
    def put_format_name(self, format_name):
        was_open = self.descriptor is not None
        super().put_format_name(format_name)
        if was_open:
            self.released()


fault("put-format-name-while-open-closes", destination=ClosedByName)


class DirectoryPathIfFound(DestinationObject):
    def begin(self, **names):
        names.pop("directory", None)
        super().begin(**names)


fault("ads-path-not-set-if-not-found", destination=DirectoryPathIfFound)


class InvalidHandleIgnored(DestinationObject):
    def put_handle(self, given):
        if given.value == -1 and self.descriptor is not None:
            return
        super().put_handle(given)


fault("put-invalid-handle-leaves-open", destination=InvalidHandleIgnored)


class OpenAfterFailure(DestinationObject):
    failed = False

    def open(self):
        super().open()
        self.failed = False

    def reopen(self):
        was_open = self.descriptor is not None
        super().reopen()
        self.failed = was_open and self.descriptor is None

    def is_open(self):
        return flag(self.descriptor is not None or self.failed)


fault("is-open-after-failed-reopening", destination=OpenAfterFailure)


# MSMQEvent (3.16)


class ErrorToLast(EventObject):
    def fire(self, name, arguments):
        if name != "ArrivedError" or len(self.connections) < 2:
            super().fire(name, arguments)
            return
        all_of_them = self.connections
        last = max(all_of_them)
        self.connections = {last: all_of_them[last]}
        try:
            super().fire(name, arguments)
        finally:
            self.connections = all_of_them


fault("arrived-error-to-last-sink-alone", event=ErrorToLast)


class ArrivedOnce(EventObject):
    last_told = None

    def fire_arrived(self, queue, cursor):
        told = (id(queue), cursor)
        if told != self.last_told:
            self.last_told = told
            super().fire_arrived(queue, cursor)


fault("arrived-again-for-same-queue-not-told", event=ArrivedOnce)


class CookieByCount(EventObject):
    def advise(self, sink, listener, handle):
        entry = self.connections.pop(super().advise(sink, listener, handle))
        cookie = len(self.connections) + 1
        self.connections[cookie] = entry
        return cookie


fault("cookie-is-number-of-sinks", event=CookieByCount)


class CodeAlone(EventObject):
    def fire_error(self, queue, status, cursor):
        super().fire_error(queue, status & 0xFFFF, cursor)


fault("arrived-error-with-code-of-hresult-alone", event=CodeAlone)


class QueueAsUnknown(EventObject):
    def fire_arrived(self, queue, cursor):
        self.fire("Arrived", [Variant("UNKNOWN", queue), long(cursor)])


fault("arrived-with-queue-as-unknown", event=QueueAsUnknown)


class AnySink(EventObject):
    def advise(self, sink, listener, handle):
        return super().advise("events" if sink == "other" else sink, listener, handle)


fault("advise-takes-any-sink", event=AnySink)


# Management (3.3 to 3.5)


def managing(name, mixin):
    """Put a fault into the three classes of management."""
    made = {
        part: type(mixin.__name__, (mixin, base), {})
        for part, base in (
            ("management_object", ManagementObject), ("queue_management", QueueManagementObject),
            ("outgoing_management", OutgoingManagementObject),
        )
    }  # fmt: skip
    fault(name, **made)


class TypeByName:
    def row(self, signature, values):
        told = super().row(signature, values)
        if signature.name == "QueueType" and told.value == 1 and (self.format_name or "").upper().startswith("DIRECT="):
            return long(0)
        return told


managing("queue-type-of-direct-name-is-public", TypeByName)


class FirstIsLast:
    def info(self, word):
        return super().info("EOD_LAST_NON_ACK" if word == "EOD_FIRST_NON_ACK" else word)


managing("first-non-ack-is-last-non-ack", FirstIsLast)


class HopsOfInit:
    hops = None

    def init(self, machine, path, format_name):
        super().init(machine, path, format_name)
        self.hops = self.info("NEXTHOPS") if self.outgoing else None

    def row(self, signature, values):
        if signature.name == "NextHops" and self.is_initialized:
            return signature.row.tell(self.hops)
        return super().row(signature, values)


managing("next-hops-of-the-time-of-init", HopsOfInit)


class IntervalSigned:
    def sent(self):
        told = super().sent()
        values = told.value.values
        if values["EodResendInterval"].vt == "UI4":
            values["EodResendInterval"] = long(values["EodResendInterval"].value)
        return told


managing("resend-interval-is-signed", IntervalSigned)


class CountWithJournal:
    def row(self, signature, values):
        told = super().row(signature, values)
        if signature.name == "MessageCount":
            return long(told.value + int(self.info("JOURNAL_MESSAGE_COUNT") or 0))
        return told


managing("message-count-with-journal", CountWithJournal)


class OutgoingBeforeInit(ManagementObject):
    def interfaces(self):
        found = super().interfaces()
        return found if self.is_initialized or OUTGOING in found else (*found, OUTGOING)


fault("outgoing-face-before-init", management_object=OutgoingBeforeInit)


class ForeignAsFlag:
    def row(self, signature, values):
        told = super().row(signature, values)
        return long({0: 1, 1: 0}.get(told.value, told.value)) if signature.name == "ForeignStatus" else told


managing("foreign-status-as-flag", ForeignAsFlag)


class TransactionalAsFlag:
    def row(self, signature, values):
        told = super().row(signature, values)
        return long({0: 1, 1: 0}.get(told.value, told.value)) if signature.name == "TransactionalStatus" else told


managing("transactional-status-as-flag", TransactionalAsFlag)


# MSMQApplication (3.2)


class PrivateFormatNames(ApplicationObject):
    def texts(self, word):
        told = super().texts(word)
        if word != "PRIVATEQ":
            return told
        return Variant("ARRAY", [text(f"DIRECT=OS:{each.value}") for each in told.value], "BSTR")


fault("private-queues-by-format-name", application=PrivateFormatNames)


class UnknownHasNoName(ApplicationObject):
    def name_of(self, guid):
        try:
            return super().name_of(guid)
        except MqError:
            return text(None)


fault("name-of-unknown-computer-is-null", application=UnknownHasNoName)


class BytesOfThisComputer(ApplicationObject):
    def bytes_in_all_queues(self):
        computer, self.computer = self.computer, None
        try:
            return super().bytes_in_all_queues()
        finally:
            self.computer = computer


fault("bytes-in-all-queues-of-this-computer", application=BytesOfThisComputer)


class CertificateUnchecked(ApplicationObject):
    def check_certificate(self, flags, certificate):
        pass


fault("register-if-not-exist-takes-certificate", application=CertificateUnchecked)


class BracesForThis(ApplicationObject):
    def identifier_of(self, name):
        told = super().identifier_of(name)
        return text(braced(told.value)) if name is None else told


fault("machine-id-of-null-in-braces", application=BracesForThis)


class NamedStaysConnected(ApplicationObject):
    def disconnect(self):
        if self.computer is None:
            super().disconnect()
        else:
            self.bind()


fault("disconnect-of-named-computer-does-nothing", application=NamedStaysConnected)


# MSMQQuery, MSMQQueueInfos, MSMQCollection (3.13 to 3.15)

if QueryObject is not None:

    class LastTwice(QueueInfosObject):
        repeated = False

        def next(self):
            results = self.held()
            if results and self.place >= len(results) and not self.repeated:
                self.repeated = True
                return self.told(results[-1])
            return super().next()

        def reset(self):
            super().reset()
            self.repeated = False

    fault("next-gives-last-queue-twice", queue_infos=LastTwice)

    class CreateTimeNeedsRelation(QueryObject):
        def test(self, constraint, given):
            older = "MulticastAddress" not in given
            if older and constraint.argument == "CreateTime" and given["RelCreateTime"].left_out:
                return None
            return super().test(constraint, given)

    fault("create-time-without-relation-ignored", query=CreateTimeNeedsRelation)

    class AnyConstraint(QueryObject):
        def found(self, given):
            tests = [test for each in self.asked(given) if (test := self.test(each, given)) is not None]
            if "MulticastAddress" not in given or len(tests) < 2:
                return super().found(given)
            queues = [each for each in self.manager.directory.queues() if any(test(each) for test in tests)]
            return Variant("DISPATCH", self.manager.parts.queue_infos(self.manager, queues))

        def asked(self, given):
            from conformance.embedded.objects.query import CONSTRAINTS

            return [each for each in CONSTRAINTS if each.argument in given]

    fault("constraints-of-lookup-are-alternatives", query=AnyConstraint)


class OwnCollectionUninitialized(CollectionObject):
    def __init__(self, manager, values=None):
        super().__init__(manager, values)
        self.filled = values is not None

    def count(self):
        if not self.filled:
            raise MqError(UNINITIALIZED_OBJECT)
        return super().count()


fault("count-of-own-collection-fails", collection=OwnCollectionUninitialized)


# MSMQCoordinatedTransactionDispenser (3.7)


class ExternalNotAsynchronous(ExternalTransaction):
    def check_abort(self, retaining, asynchronous):
        if asynchronous:
            raise MqError(XACT_E_NOTSUPPORTED)


fault("coordinated-abort-refuses-asynchronous", external_transaction=ExternalNotAsynchronous)


class OlderExternal(TransactionObject):
    def interfaces(self):
        found = super().interfaces()
        if isinstance(self.attached, ExternalTransaction):
            return tuple(each for each in found if each != "IMSMQTransaction3")
        return found


fault("coordinated-transaction-without-revision-3", transaction_object=OlderExternal)


# Identity (1.9, 2.2.2, 6)


class ApplicationBase(TypeLibrary):
    def interface(self, name):
        told = super().interface(name)
        return {**told, "base": "IDispatch"} if name == "IMSMQApplication3" else told


fault("application3-extends-idispatch", type_library=ApplicationBase)


class TransactionSlots(TypeLibrary):
    def interface(self, name):
        told = super().interface(name)
        if name == "IMSMQTransaction3":
            told["members"] = [{**each, "slot": 7 + at} for at, each in enumerate(told["members"])]
        return told


fault("transaction3-begins-at-slot-7", type_library=TransactionSlots)


class DispenserWithoutProperties(TypeLibrary):
    def members(self, name):
        found = super().members(name)
        if name == "IMSMQTransactionDispenser3":
            return tuple(each for each in found if each.name != "Properties")
        return found


fault("dispenser3-without-properties", type_library=DispenserWithoutProperties)


class NormalIsOne(TypeLibrary):
    def constants(self):
        told = super().constants()
        return {**told, "MQMSGCLASS": {**told["MQMSGCLASS"], "MQMSG_CLASS_NORMAL": 1}}


fault("class-normal-is-1", type_library=NormalIsOne)


class NoContainer(EventObject):
    ALSO = tuple(each for each in EventObject.ALSO if each != "IConnectionPointContainer")


fault("event-is-no-connection-point-container", event=NoContainer)


class TransactionAsMethod(TypeLibrary):
    def interface(self, name):
        told = super().interface(name)
        if name == "IMSMQTransaction":
            told["members"] = [
                {**each, "kind": "method"} if each["name"] == "Transaction" else each for each in told["members"]
            ]
        return told


fault("transaction-described-as-method", type_library=TransactionAsMethod)


def main():
    managers = Managers()
    if len(sys.argv) > 1:
        if sys.argv[1] not in FAULTS:
            sys.exit(f"there is no fault {sys.argv[1]}")
        managers._parts = Parts(**FAULTS[sys.argv[1]])
    serve_stdio(EmbeddedDriver(registry=managers), sys.stdin.buffer, sys.stdout.buffer, real_clock=False)


if __name__ == "__main__":
    main()
