"""`python embedded_faulty.py [FAULT]`: the embedded manager on stdio, with one fault of this file, or as control."""

from __future__ import annotations

import sys
import uuid
from dataclasses import replace

from conformance.embedded import transfers as transfers_module
from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import CursorState, MqError, Reason, State
from conformance.embedded.incoming import IncomingTransfers
from conformance.embedded.management import Management
from conformance.embedded.manager import Parts
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.rpc import serve_stdio
from conformance.embedded.transfer_state import CONNECTED, DISCONNECTED
from conformance.embedded.transfers import Transfers

FAULTS = {}


def fault(name, **parts):
    FAULTS[name] = parts


# properties of the machine


class ActiveNeedsHandle(Queues):
    def active(self):
        return [queue for queue in super().active() if queue.descriptors]


fault("active-needs-a-handle", queues=ActiveNeedsHandle)


class PrivateOfThisRun(Queues):
    def create(self, path_name, given):
        answer = super().create(path_name, given)
        self.__dict__.setdefault("_registered", set()).add(self.find_local(answer).id)
        return answer

    def private(self):
        return [queue for queue in super().private() if queue.id in self.__dict__.get("_registered", ())]


fault("private-list-of-this-run", queues=PrivateOfThisRun)


class BytesWithoutSystem(Management):
    def bytes_in_all_queues(self):
        queues = self.manager.queues
        system = sum(queues.system(name).bytes for name in ("journal", "deadletter", "deadxact"))
        return str(int(super().bytes_in_all_queues()) - system)


fault("bytes-without-system-queues", management=BytesWithoutSystem)


# properties of local queues


class PurgedNotCounted(Management):
    def message_count(self, queue):
        return sum(position.state is not State.PURGE_PENDING for position in queue.positions)


fault("purge-pending-not-counted", management=PurgedNotCounted)


class JournalCountWhileJournaling(Management):
    def journal_message_count(self, queue):
        return super().journal_message_count(queue) if queue.journaling else 0


fault("journal-count-while-journaling", management=JournalCountWhileJournaling)


class FilledSubqueues(Management):
    def subqueue_count(self, queue):
        return sum(bool(len(subqueue.positions)) for subqueue in queue.subqueues.values())


fault("empty-subqueues-not-counted", management=FilledSubqueues)


class LocalInactive(Management):
    def state(self, queue):
        if queue.kind != "outgoing" and not queue.descriptors:
            return "INACTIVE"
        return super().state(queue)


fault("unopened-local-queue-inactive", management=LocalInactive)


class RejectsStay(IncomingTransfers):
    def accepted(self, queue, read):
        known = self._found(queue, read)
        before = known.rejects if known is not None else 0
        super().accepted(queue, read)
        if known is not None and not known.rejects:
            known.rejects = before


fault("reject-count-stays", incoming=RejectsStay)


# properties of outgoing queues


class MulticastPublic(Management):
    def queue_type(self, queue):
        told = super().queue_type(queue)
        return "PUBLIC" if told == "MULTICAST" else told


fault("multicast-told-as-public", management=MulticastPublic)


class ErrorSticks(Transfers):
    def record(self, transfer, step, error):
        if not error and transfer.history:
            error = transfer.history[-1].error
        super().record(transfer, step, error)


fault("history-error-sticks", transfers=ErrorSticks)


class SharedAddresses(Transfers):
    def record(self, transfer, step, error):
        super().record(transfer, step, error)
        newest = transfer.history[-1].addresses
        transfer.history[:] = [replace(each, addresses=newest) for each in transfer.history]


fault("history-shares-addresses", transfers=SharedAddresses)


class CountsEveryAck(Transfers):
    def count_order(self, transfer, number):
        before, last = transfer.last_ack_count, transfer.last_ack
        super().count_order(transfer, number)
        if transfer.last_ack is not last:
            transfer.last_ack_count = before + 1


fault("last-ack-count-of-all", transfers=CountsEveryAck)


class TimeOfTheFirst(Transfers):
    def ordered(self, queue, transfer, number):
        before, last = transfer.last_ack_time, transfer.last_ack
        super().ordered(queue, transfer, number)
        if last is not None and transfer.last_ack is last:
            transfer.last_ack_time = before


fault("repeated-ack-leaves-time", transfers=TimeOfTheFirst)


class SecondsLeft(Management):
    def resend_time(self, queue):
        due = super().resend_time(queue)
        return max(0, due - self.manager.clock.now_ms() // 1000) if due else due


fault("resend-time-as-seconds-left", management=SecondsLeft)


# actions


class OfflineGoesOn(Transfers):
    def transfer(self, queue, count):
        here, transfer = self.manager, self.of(queue)
        stands = transfer.session and transfer.state == CONNECTED
        online, here.connected = here.connected, here.connected or stands
        try:
            return super().transfer(queue, count)
        finally:
            here.connected = online


fault("offline-keeps-sessions-sending", transfers=OfflineGoesOn)


class MachineActionsLoud(Management):
    def act(self, target, action):
        if target["type"] == "machine" and action != action.upper():
            raise MqError(0xC00E0006)
        super().act(target, action)


fault("machine-actions-in-capitals", management=MachineActionsLoud)


class TidyConnects(Management):
    def act_on_machine(self, action):
        self.manager.connected = action != "DISCONNECT"


fault("tidy-brings-online", management=TidyConnects)


class ResendsAll(Transfers):
    def resend(self, queue):
        transfer = self.of(queue)
        for position, sent in list(transfer.flight.values()):
            self.give_back(transfer, position, sent)


fault("eod-resend-takes-all", transfers=ResendsAll)


# states and next hops


class EstablishedEndsHold(Transfers):
    def establish(self, transfer):
        super().establish(transfer)
        for queue in self.manager.queues.all():
            if queue.transfer is transfer:
                queue.paused = False


fault("established-ends-hold", transfers=EstablishedEndsHold)


class HopsOutlive(Management):
    def next_hops(self, queue):
        transfer = self.of(queue)
        if transfer is not None and self.state(queue) == DISCONNECTED and transfer.hops:
            return list(transfer.hops)
        return super().next_hops(queue)


fault("next-hops-outlive-connection", management=HopsOutlive)


class DottedIsFour(Management):
    def next_hops(self, queue):
        hops = super().next_hops(queue)
        return [f"IP={hop[5:]}" if hop.startswith("IPv6=") and "." in hop else hop for hop in hops] if hops else hops


fault("dotted-ipv6-told-as-ip", management=DottedIsFour)


# transfer and order acknowledgments, source journal, dead letters


class OnlyTheNamed(Transfers):
    def ordered(self, queue, transfer, number):
        older = {each: held for each, held in transfer.numbered.items() if each < number}
        for each in older:
            del transfer.numbered[each]
        count_unacknowledged = transfers_module.unacknowledged
        transfers_module.unacknowledged = lambda of: sorted({*count_unacknowledged(of), *older})
        try:
            super().ordered(queue, transfer, number)
        finally:
            transfers_module.unacknowledged = count_unacknowledged
        transfer.numbered.update(older)


fault("order-ack-of-the-named-alone", transfers=OnlyTheNamed)


class JournalAtTransfer(Transfers):
    def sent(self, queue, transfer, position, sent):
        super().sent(queue, transfer, position, sent)
        message, journaled = position.message, self.__dict__.setdefault("_journaled", set())
        if message.fields["positive_journaling"] and not message.transactional and position.row not in journaled:
            journaled.add(position.row)
            self.manager.delivery.copy(self.manager.queues.system("journal"), message)


class JournaledBefore(Outgoing):
    def transferred(self, position):
        if position.row in self.manager.transfers.__dict__.get("_journaled", ()):
            self.manager.delivery.remove(position)
        else:
            super().transferred(position)


fault("source-journal-at-transfer", transfers=JournalAtTransfer, outgoing=JournaledBefore)


class ExpiredOutgoing(Delivery):
    def delete(self, position, reason):
        self._leaving = position.queue.kind == "outgoing" and reason is Reason.EXPIRED
        super().delete(position, reason)
        self._leaving = False

    def dead_letter(self, message):
        if message.transactional and self.__dict__.get("_leaving") and message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("deadletter"), message)
        else:
            super().dead_letter(message)


fault("expired-outgoing-in-plain-dead-letters", delivery=ExpiredOutgoing)


# properties of queues


class LabelBytes(Queues):
    def properties_to_keep(self, given, *, creating):
        label = given.get("PROPID_Q_LABEL")
        if isinstance(label, str) and len(label.encode("utf-8", "surrogatepass")) > 124:
            raise MqError(0xC00E0018)
        return super().properties_to_keep(given, creating=creating)


fault("label-limit-in-bytes", queues=LabelBytes)


class QuotaUntimed(Queues):
    def set(self, format_name, given):
        before = self._owner(format_name).properties["PROPID_Q_MODIFY_TIME"]
        super().set(format_name, given)
        if set(given) <= {"PROPID_Q_QUOTA", "PROPID_Q_JOURNAL_QUOTA"}:
            queue = self._owner(format_name)
            queue.properties["PROPID_Q_MODIFY_TIME"] = before
            self._store(queue)


fault("quota-change-untimed", queues=QuotaUntimed)


class CreatedAtLoad(Queues):
    def restore(self, row):
        if row.kind in ("private", "public"):
            row = replace(
                row, properties={**row.properties, "PROPID_Q_CREATE_TIME": self.manager.clock.now_ms() // 1000}
            )
        super().restore(row)


fault("create-time-of-the-load", queues=CreatedAtLoad)


class BasePriorityLater(Queues):
    def set(self, format_name, given):
        super().set(format_name, given)
        if "PROPID_Q_BASEPRIORITY" in given:
            queue = self._owner(format_name)
            queue.properties["PROPID_Q_BASEPRIORITY"] = given["PROPID_Q_BASEPRIORITY"]
            self._store(queue)


fault("private-base-priority-later", queues=BasePriorityLater)


class SignedJournalQuota(Queues):
    def properties_to_keep(self, given, *, creating):
        quota = given.get("PROPID_Q_JOURNAL_QUOTA")
        if type(quota) is int and 0x80000000 <= quota < 0xFFFFFFFF:
            raise MqError(0xC00E0018)
        return super().properties_to_keep(given, creating=creating)


fault("journal-quota-signed", queues=SignedJournalQuota)


class NullTypeUnset(Queues):
    def set(self, format_name, given):
        kind = str(given.get("PROPID_Q_TYPE")).strip("{}")
        if kind == "00000000-0000-0000-0000-000000000000":
            given = {name: value for name, value in given.items() if name != "PROPID_Q_TYPE"}
        super().set(format_name, given)


fault("null-type-is-no-change", queues=NullTypeUnset)


class JournalFromArrival(Delivery):
    def place(self, queue, message, *, uncommitted=False, limited=True):
        position = super().place(queue, message, uncommitted=uncommitted, limited=limited)
        if not queue.journaling:
            self.__dict__.setdefault("_unjournaled", set()).add(position.row)
        return position

    def delete(self, position, reason):
        queue = position.queue
        early = queue.journaling and position.row in self.__dict__.get("_unjournaled", ())
        if reason is Reason.RECEIVED and early and queue.kind in ("private", "public"):
            queue.properties["PROPID_Q_JOURNAL"] = 0
            try:
                super().delete(position, reason)
            finally:
                queue.properties["PROPID_Q_JOURNAL"] = 1
        else:
            super().delete(position, reason)


fault("journal-of-later-arrivals", delivery=JournalFromArrival)


class InstanceByName(Queues):
    def create(self, path_name, given):
        answer = super().create(path_name, given)
        queue = self.find_local(answer)
        del self._by_guid[queue.properties["PROPID_Q_INSTANCE"].lower()]
        queue.properties["PROPID_Q_INSTANCE"] = str(uuid.uuid5(uuid.UUID(self.manager.guid), queue.path.lower()))
        self._by_guid[queue.properties["PROPID_Q_INSTANCE"].lower()] = queue
        self._store(queue)
        return answer


fault("instance-by-name", queues=InstanceByName)


# handles


class ElementsStayOpen(Queues):
    def close(self, descriptor):
        if descriptor.elements:
            self.manager.descriptors.pop(descriptor.handle, None)
            return
        super().close(descriptor)


fault("multiple-close-keeps-elements", queues=ElementsStayOpen)


class PeeksOutlive(Queues):
    def close(self, descriptor):
        queue = descriptor.queue
        kept = []
        if queue is not None:
            kept = [each for each in queue.waiters if each.descriptor is descriptor and not each.destructive]
            queue.waiters[:] = [each for each in queue.waiters if each not in kept]
        super().close(descriptor)
        if kept:
            queue.waiters.extend(kept)


fault("close-cancels-receives-only", queues=PeeksOutlive)


# durability


class DeadLettersExpress(Delivery):
    def copy(self, queue, message):
        if queue is not None and queue.id == "system;deadletter":
            message = replace(message, fields={**message.fields, "delivery": "express"})
        super().copy(queue, message)


fault("dead-letters-not-kept", delivery=DeadLettersExpress)


class StoredWithParent(Delivery):
    def keep(self, position):
        queue = position.queue
        if queue.kind == "subqueue" and queue.parent is not None:
            position.queue = queue.parent
        try:
            super().keep(position)
        finally:
            position.queue = queue


fault("moved-message-stored-with-parent", delivery=StoredWithParent)


# kinds of acknowledgment


class SubqueueDeleted(Queues):
    def delete_position(self, position):
        inside = position.queue.kind == "subqueue"
        self.manager.delivery.delete(position, Reason.PURGED if inside else Reason.QUEUE_DELETED)


fault("deleted-with-subqueue-told-as-purged", queues=SubqueueDeleted)


class OneAcknowledgement(Delivery):
    def acknowledge_removal(self, message, queue, reason):
        if reason is Reason.RECEIVED and "positive_arrival" in message.fields["acknowledgements"]:
            return
        super().acknowledge_removal(message, queue, reason)


fault("arrival-ack-instead-of-receive", delivery=OneAcknowledgement)


# cursors


class UnreadRegardless(Cursors):
    def get_next_for_dequeue(self, cursor, *, no_wait):
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is CursorOutcome.ALREADY_RECEIVED:
            cursor.state = CursorState.UNREAD
        return outcome, found


fault("failed-dequeue-leaves-unread", cursors=UnreadRegardless)


# error codes


class EndOfDeleted(Receiving):
    def end(self, read, *, acknowledge):
        gone = read.position.queue.deleted
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError:
            if gone:
                raise MqError(0xC00E0007) from None
            raise


fault("end-of-deleted-as-invalid-handle", reading=EndOfDeleted)


def main() -> None:
    names = sys.argv[1:]
    managers = Managers()
    if names:
        managers._parts = Parts(**FAULTS[names[0]])
    serve_stdio(EmbeddedDriver(registry=managers), sys.stdin.buffer, sys.stdout.buffer, real_clock=False)


if __name__ == "__main__":
    main()
