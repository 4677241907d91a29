"""`python embedded_faulty.py [FAULT]`: the embedded manager on stdio, with one fault of this file; none: the control."""
from __future__ import annotations

import sys
from dataclasses import replace

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import END_KEY, CursorState, MqError, Operation, Reason, State
from conformance.embedded.manager import Parts
from conformance.embedded.names import NameParser
from conformance.embedded.packet_read import PacketReader
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import STATUS_NOT_FOUND, Receiving
from conformance.embedded.rpc import serve_stdio
from conformance.embedded.sending import Sending
from conformance.embedded.store import Store
from conformance.embedded.transactions import Transactions

FAULTS = {}


def fault(name, **parts):
    FAULTS[name] = parts


def rekey(position, key):
    """Give a position another place in its queue."""
    positions = position.queue.positions
    while any(other.key == key and other is not position for other in positions):
        key += 1
    positions.remove(position)
    position.key = key
    positions.insert(position)


# acknowledgements

class DeleteSkips(Queues):
    def delete(self, format_name):
        self._every = 0
        super().delete(format_name)

    def delete_position(self, position):
        # the loop removes from the list it walks: each second message goes without the event
        self._every = self._every + 1 if position.queue.kind in ("private", "public") else 0
        if self._every and self._every % 2 == 0:
            self.manager.delivery.remove(position)
        else:
            super().delete_position(position)


fault("delete-walks-shrinking-list", queues=DeleteSkips)


class ExpiryNackBare(Delivery):
    def acknowledge_from(self, message, origin, message_class):
        if message_class == Reason.EXPIRED.value:
            message = replace(message, fields={**message.fields, "body": ""})
        super().acknowledge_from(message, origin, message_class)


fault("expiry-nack-bare", delivery=ExpiryNackBare)


class EarlyArrivalSending(Sending):
    def enqueue(self, queue, message, transaction):
        lookup = super().enqueue(queue, message, transaction)
        if transaction is not None and queue.kind != "outgoing":
            Delivery.acknowledge_arrival(self.manager.delivery, message, queue)
        return lookup


class EarlyArrivalDelivery(Delivery):
    def arrived(self, message, queue):
        if not message.transactional:
            super().arrived(message, queue)
        elif queue.kind != "outgoing" and message.fields["positive_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)


fault("arrival-ack-before-commit", sending=EarlyArrivalSending, delivery=EarlyArrivalDelivery)


# cursors

class PollParks(Cursors):
    def get_next_for_dequeue(self, cursor, *, no_wait):
        outcome, found = super().get_next_for_dequeue(cursor, no_wait=no_wait)
        if outcome is CursorOutcome.NOT_FOUND:
            cursor.key, cursor.position = END_KEY, None
        return outcome, found


fault("cursor-poll-parks-at-end", cursors=PollParks)


class BeginSlides(Receiving):
    def receive_begin(self, caller, at, cursor, timeout_ms):
        gone = cursor is not None and cursor.descriptor is at and cursor.state is CursorState.READ
        if gone and cursor.position is not None and cursor.position.state is State.DELETED:
            if self.manager.cursors.seek(cursor) is not None:
                cursor.state = CursorState.UNREAD
        super().receive_begin(caller, at, cursor, timeout_ms)


fault("begin-slides-past-removed", reading=BeginSlides)


class TransactionalCursorStaysRead(Receiving):
    def receive(self, caller, at, cursor, timeout_ms, transaction):
        before = cursor.state if cursor is not None else None
        super().receive(caller, at, cursor, timeout_ms, transaction)
        if transaction is not None and before is CursorState.READ:
            cursor.state = CursorState.READ


fault("transactional-receive-leaves-cursor-read", reading=TransactionalCursorStaysRead)


# deleting

class NameBound(Queues):
    def create(self, path_name, given):
        answer = super().create(path_name, given)
        new = self.find_local(answer)
        for descriptor in self.manager.descriptors.values():
            old = descriptor.queue
            same = old is not None and old.deleted and old.path.lower() == new.path.lower()
            if same and old.kind == new.kind and descriptor.access == "receive":
                descriptor.queue = new
                new.descriptors.append(descriptor)
        return answer


fault("handle-finds-recreated-queue", queues=NameBound)


# locks

class NackToTail(Receiving):
    def end(self, read, *, acknowledge):
        position = read.position
        if not acknowledge and position.state is State.LOCKED and not position.queue.deleted:
            mine = position.key >> 56
            last = max(other.key for other in position.queue.positions if other.key >> 56 == mine)
            if last != position.key:
                rekey(position, last + 1)
                self.manager.delivery.keep(position)
        super().end(read, acknowledge=acknowledge)


fault("given-back-behind-its-peers", reading=NackToTail)


class PurgedIsReceived(Receiving):
    def end(self, read, *, acknowledge):
        if acknowledge and read.position.state is State.PURGE_PENDING and not read.position.queue.deleted:
            read.position.state = State.LOCKED
        super().end(read, acknowledge=acknowledge)


fault("purged-then-acknowledged-as-received", reading=PurgedIsReceived)


class NextIsAdjacent(Receiving):
    def seek(self, queue, lookup, action, destructive):
        named = queue.positions.find(lookup) if action == "next" else None
        if named is not None:
            behind = [other for other in queue.positions if other.key > named.key]
            if behind and behind[0].state is not State.AVAILABLE:
                raise MqError(0xC00E0088)
        return super().seek(queue, lookup, action, destructive)


fault("lookup-next-stops-at-locked", reading=NextIsAdjacent)


# moves and subqueues

class PurgeFamily(Queues):
    def purge(self, descriptor):
        super().purge(descriptor)
        for subqueue in descriptor.queue.subqueues.values():
            for position in subqueue.positions:
                self.purge_position(position)


fault("purge-takes-subqueues", queues=PurgeFamily)


class MoveAppends(Transactions):
    def relocate(self, position, target):
        last = max((other.key for other in target.positions), default=-1)
        self.manager.delivery.remove(position)
        placed = self.manager.delivery.place(target, position.message, limited=False)
        if placed.state is State.AVAILABLE and placed.key < last:
            rekey(placed, last + 1)
            self.manager.delivery.keep(placed)


fault("moved-behind-lower-priorities", transactions=MoveAppends)


# properties of messages

class ClassNarrowed(Sending):
    def make(self, given, *, transactional):
        message = super().make(given, transactional=transactional)
        message.fields["class"] &= 0xC1FF
        return message


fault("class-loses-bit-13", sending=ClassNarrowed)


class PriorityZeroIsDefault(Sending):
    def make(self, given, *, transactional):
        if not transactional and given.get("priority") == 0 and type(given.get("priority")) is int:
            given = {**given, "priority": 3}
        return super().make(given, transactional=transactional)


fault("lowest-priority-taken-as-unset", sending=PriorityZeroIsDefault)


class OrdinalsAgain(Sending):
    def __init__(self, manager):
        super().__init__(manager)
        self._ordinal = 0

    def make(self, given, *, transactional):
        message = super().make(given, transactional=transactional)
        self._ordinal += 1
        message.fields["identifier"] = {**message.fields["identifier"], "ordinal": self._ordinal}
        return message


fault("message-ids-start-over", sending=OrdinalsAgain)


# names

class PortGap(NameParser):
    def port(self, digits):
        port = super().port(digits)
        return None if port is not None and port >= 65530 else port


fault("last-ports-refused", names=PortGap)


# outgoing queues and packets

class HoldWithHandle(Queues):
    def close(self, descriptor):
        queue = descriptor.queue
        super().close(descriptor)
        if queue is not None and queue.kind == "outgoing" and not queue.descriptors:
            queue.paused = False


fault("hold-ends-with-last-handle", queues=HoldWithHandle)


class NoExpiryOnHold(Delivery):
    def expire(self, position):
        if position.queue.kind == "outgoing" and position.queue.paused:
            return
        super().expire(position)


fault("no-reach-timeout-on-hold", delivery=NoExpiryOnHold)


class ReservedBitRefused(PacketReader):
    def message(self, packet):
        if len(packet) >= 64 and int.from_bytes(packet[60:64], "little") & 0x0C000000:
            raise MqError(0xC00E0006)
        return super().message(packet)


fault("reserved-user-bits-refused", reader=ReservedBitRefused)


# purge

class PurgeStops(Queues):
    def purge(self, descriptor):
        queue = self.manager.reading.readable_queue(descriptor, destructive=True)
        for position in queue.positions:
            self.purge_position(position)
            if position.state is State.PURGE_PENDING:
                break


fault("purge-stops-at-locked", queues=PurgeStops)


class PeekAdminPurges(Queues):
    def purge(self, descriptor):
        if descriptor.access == "peek_admin" and descriptor.queue is not None and not descriptor.queue.deleted:
            for position in descriptor.queue.positions:
                self.purge_position(position)
            return
        super().purge(descriptor)


fault("peek-admin-may-purge", queues=PeekAdminPurges)


# properties of queues

class LongLabelLater(Queues):
    def properties_to_keep(self, given, *, creating):
        label = given.get("PROPID_Q_LABEL")
        if not creating and isinstance(label, str) and "\0" not in label and len(label) > 124:
            kept = super().properties_to_keep({**given, "PROPID_Q_LABEL": label[:124]}, creating=creating)
            return {**kept, "PROPID_Q_LABEL": label}
        return super().properties_to_keep(given, creating=creating)


fault("long-label-set-later", queues=LongLabelLater)


class No239(Queues):
    def properties_to_keep(self, given, *, creating):
        address = given.get("PROPID_Q_MULTICAST_ADDRESS")
        if isinstance(address, str) and address.startswith("239."):
            raise MqError(0xC00E0018)
        return super().properties_to_keep(given, creating=creating)


fault("multicast-range-one-short", queues=No239)


# quotas

class QuotaBelow(Delivery):
    def fits(self, queue, message):
        if queue.kind in ("private", "public") and queue.quota_kb not in (0, 0xFFFFFFFF):
            if queue.bytes + message.size == queue.quota_kb * 1024:
                return False
        return super().fits(queue, message)


fault("quota-never-full", delivery=QuotaBelow)


# restart

class ArrivalOrderStore(Store):
    def messages(self):
        for row in super().messages():
            yield replace(row, key=(4 << 56) | row.row)


fault("restart-forgets-priority-order", store=ArrivalOrderStore)


# sharing

class SharingFlag(Queues):
    def close(self, descriptor):
        queue = descriptor.queue
        super().close(descriptor)
        if queue is not None:
            for other in queue.descriptors:
                if (other.access, other.share) == (descriptor.access, descriptor.share) == ("receive", "deny_none"):
                    self.__dict__.setdefault("_uncounted", set()).add(other.handle)

    def excluded(self, queue, access, share):
        uncounted = self.__dict__.get("_uncounted", set())
        hidden = [open_ for open_ in queue.descriptors if open_.handle in uncounted]
        kept, queue.descriptors = queue.descriptors, [o for o in queue.descriptors if o not in hidden]
        try:
            return super().excluded(queue, access, share)
        finally:
            queue.descriptors = kept


fault("sharing-is-a-flag", queues=SharingFlag)


# transactions

class AbortKeepsBytes(Transactions):
    def abort_step(self, step):
        super().abort_step(step)
        if step.operation is Operation.ENQUEUE and step.position.queue.kind == "private":
            step.position.queue.bytes += step.position.message.size


fault("aborted-send-keeps-its-room", transactions=AbortKeepsBytes)


class OnlyFirst(Transactions):
    def prepare(self, transaction):
        super().prepare(transaction)
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE and step.position.message.fields["first_in_transaction"]:
                step.position.message.fields["last_in_transaction"] = False


fault("lone-message-not-last", transactions=OnlyFirst)


# waiting reads

class MoveHomeSilent(Transactions):
    def move(self, source, lookup, destination, transaction):
        target = destination.queue
        quiet = transaction is None and target is not None and target.kind in ("private", "public")
        held = list(target.waiters) if quiet else []
        if quiet:
            target.waiters.clear()
        try:
            super().move(source, lookup, destination, transaction)
        finally:
            if quiet:
                target.waiters.extend(held)


fault("move-home-wakes-nobody", transactions=MoveHomeSilent)


class CancelTooLateWorks(Receiving):
    def satisfied(self, waiter, position):
        self.__dict__.setdefault("_served", set()).add(waiter.tag)
        super().satisfied(waiter, position)

    def cancel(self, tag):
        try:
            super().cancel(tag)
        except MqError as failure:
            if failure.status == STATUS_NOT_FOUND and tag in self.__dict__.get("_served", ()):
                return
            raise


fault("cancel-of-served-succeeds", reading=CancelTooLateWorks)


def main() -> None:
    names = sys.argv[1:]
    managers = Managers()
    if names:
        managers._parts = Parts(**FAULTS[names[0]])
    serve_stdio(EmbeddedDriver(registry=managers), sys.stdin.buffer, sys.stdout.buffer, real_clock=False)


if __name__ == "__main__":
    main()
