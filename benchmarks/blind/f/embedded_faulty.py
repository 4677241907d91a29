"""`python embedded_faulty.py [FAULT]`: the embedded manager on stdio, with one fault of this file, or as control."""

from __future__ import annotations

import sys

from conformance.embedded import packet_layout
from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import MqError, State
from conformance.embedded.incoming import IncomingTransfers
from conformance.embedded.management import Management, packed
from conformance.embedded.manager import Parts
from conformance.embedded.ndr import refuse
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.packet_write import PacketWriter
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.rpc import serve_stdio
from conformance.embedded.sending import MAX_LABEL, Sending
from conformance.embedded.structures import Structures
from conformance.embedded.transfer_state import DISCONNECTED, SequenceInfo
from conformance.embedded.transfers import Transfers, unacknowledged

FAULTS = {}


def fault(name, **parts):
    FAULTS[name] = parts


# properties of the machine


class NoInstallation(Management):
    def installation(self):
        return None


fault("version-told-as-null", management=NoInstallation)


class EmptyServer(Management):
    def directory_server(self):
        return ""


fault("no-directory-told-as-empty-text", management=EmptyServer)


# properties of queues


class CreatedHere(Queues):
    def create(self, path_name, given):
        answer = super().create(path_name, given)
        self.__dict__.setdefault("_created", set()).add(self.find_local(answer).id)
        return answer


class TransactionalOfThisRun(Management):
    def transactional(self, queue):
        told = super().transactional(queue)
        restored = queue.kind in ("private", "public") and queue.id not in self.manager.queues.__dict__.get(
            "_created", ()
        )
        return "NO" if restored else told


fault("restored-queue-told-as-not-transactional", queues=CreatedHere, management=TransactionalOfThisRun)


class SmallPrivate(Management):
    def queue_type(self, queue):
        told = super().queue_type(queue)
        if queue.kind == "outgoing" and queue.path[:7].upper() == "DIRECT=" and told == "PRIVATE":
            return told if "private$" in queue.path else "PUBLIC"
        return told


fault("outgoing-private-in-capitals-told-as-public", management=SmallPrivate)


class MachineByName(Management):
    def get(self, target, numbers):
        self._name = str(target.get("format_name", "")).upper()
        return super().get(target, numbers)

    def queue_type(self, queue):
        if queue.kind == "system" and not self._name.startswith("MACHINE="):
            return "PRIVATE"
        return super().queue_type(queue)


fault("system-queue-by-direct-name-told-as-private", management=MachineByName)


# the state of an outgoing queue


class NotedRestore(Queues):
    def restore(self, row):
        self.__dict__.setdefault("_restored", set()).add(row.id)
        super().restore(row)


class RestoredDisconnected(Transfers):
    def of(self, queue):
        new = queue.transfer is None
        transfer = super().of(queue)
        if new and queue.id in self.manager.queues.__dict__.get("_restored", ()):
            transfer.state = DISCONNECTED
        return transfer


fault("restored-outgoing-queue-disconnected", queues=NotedRestore, transfers=RestoredDisconnected)


class IdleClosing(Transfers):
    def step(self, queue, step, addresses, error):
        super().step(queue, step, addresses, error)
        if step == "closing" and not self.of(queue).flight:
            self.of(queue).state = DISCONNECTED


fault("idle-closing-told-as-disconnected", transfers=IdleClosing)


class RoutingLeavesState(Transfers):
    def step(self, queue, step, addresses, error):
        before = self.of(queue).state
        super().step(queue, step, addresses, error)
        if step == "routing_data_not_available":
            self.of(queue).state = before


fault("missing-routing-data-needs-no-validation", transfers=RoutingLeavesState)


# next hops and the connection history


class Bracketed(Transfers):
    def seek(self, transfer):
        super().seek(transfer)
        self.bracket(transfer)

    def establish(self, transfer):
        super().establish(transfer)
        self.bracket(transfer)

    @staticmethod
    def bracket(transfer):
        transfer.hops = [f"IPv6=[{hop[5:]}]" if hop.startswith("IPv6=") else hop for hop in transfer.hops]


fault("ipv6-hops-in-brackets", transfers=Bracketed)


class BindAsConnect(Transfers):
    def record(self, transfer, step, error):
        super().record(transfer, "socket_connect_failure" if step == "socket_bind_failure" else step, error)


fault("bind-failure-told-as-connect-failure", transfers=BindAsConnect)


class LimitAsRefused(Transfers):
    def record(self, transfer, step, error):
        super().record(transfer, "connection_refused" if step == "connection_limit_reached" else step, error)


fault("connection-limit-told-as-refused", transfers=LimitAsRefused)


class EmptyDnsFailure(Transfers):
    def step(self, queue, step, addresses, error):
        if step == "dns_failure" and not len(queue.positions):
            return
        super().step(queue, step, addresses, error)


fault("dns-failure-of-empty-queue-unrecorded", transfers=EmptyDnsFailure)


class LastAttempt(Transfers):
    def record(self, transfer, step, error):
        if step == "in_process":
            transfer.history.clear()
        super().record(transfer, step, error)


fault("history-of-the-last-attempt", transfers=LastAttempt)


# sequence numbers and acknowledgments


class LateAck(Transfers):
    def count_order(self, transfer, number):
        super().count_order(transfer, number)
        last = transfer.last_ack
        if last is not None and number not in transfer.numbered and 0 < number < last.number:
            transfer.last_ack = SequenceInfo(last.ordinal, last.timestamp, number, number - 1)
            transfer.last_ack_count = 1


fault("late-order-ack-sets-last-ack-back", transfers=LateAck)


class FirstInFlight(Management):
    def first_non_ack(self, queue):
        transfer = self.of(queue)
        if transfer is None:
            return None
        for number in unacknowledged(transfer):
            position, sent = transfer.numbered[number]
            if position.row in transfer.flight and sent.place is not None:
                return packed(sent.place)
        return None


fault("first-non-ack-of-the-session", management=FirstInFlight)


class CountsUnsent(Management):
    def no_ack_count(self, queue):
        if self.of(queue) is None:
            return None
        return sum(position.message.transactional and not position.uncommitted for position in queue.positions)


fault("no-ack-count-of-unsent", management=CountsUnsent)


class NeverReset(Transfers):
    def sent(self, queue, transfer, position, sent):
        before = transfer.last_times
        super().sent(queue, transfer, position, sent)
        transfer.last_times = max(before, transfer.last_times)


fault("resend-count-of-the-most-sent", transfers=NeverReset)


class NumberOfTheFirst(IncomingTransfers):
    def accepted(self, queue, read):
        known = self._found(queue, read)
        before = known.number if known is not None else 0
        super().accepted(queue, read)
        if known is not None and before and not read["transaction"]["first"]:
            known.number = before


fault("incoming-number-of-the-transactions-first", incoming=NumberOfTheFirst)


# actions


class PausesCounted(Outgoing):
    def hold(self, queue):
        held = self.__dict__.setdefault("_held", {})
        held[queue.id] = held.get(queue.id, 0) + 1
        super().hold(queue)

    def let_go(self, queue):
        held = self.__dict__.setdefault("_held", {})
        held[queue.id] = max(0, held.get(queue.id, 0) - 1)
        if not held[queue.id]:
            super().let_go(queue)


fault("pauses-counted", outgoing=PausesCounted)


class ConnectLetsGo(Management):
    def act_on_machine(self, action):
        super().act_on_machine(action)
        if action == "CONNECT":
            for queue in self.manager.queues.all():
                if queue.kind == "outgoing":
                    self.manager.outgoing.let_go(queue)


fault("connect-resumes-paused-queues", management=ConnectLetsGo)


class TidyForgets(Management):
    def act_on_machine(self, action):
        super().act_on_machine(action)
        if action != "TIDY":
            return
        queues = self.manager.queues
        for name, queue in list(queues._outgoing.items()):
            if not len(queue.positions) and not queue.descriptors:
                del queues._outgoing[name]
                queues._by_id.pop(queue.id, None)
                self.manager.store.drop_queue(queue.id)


fault("tidy-forgets-empty-outgoing-queues", management=TidyForgets)


class NothingToResend(Management):
    def act(self, target, action):
        name = target.get("format_name")
        if target["type"] == "queue" and action.upper() == "EOD_RESEND" and isinstance(name, str):
            if self.manager.queues.find_local(name) is not None:
                return
        super().act(target, action)


fault("eod-resend-of-local-queue-accepted", management=NothingToResend)


# properties of private queues


class PrivacyOrDefault(Queues):
    def properties_to_keep(self, given, *, creating):
        kept = super().properties_to_keep(given, creating=creating)
        if creating and not kept.get("PROPID_Q_PRIV_LEVEL"):
            kept.pop("PROPID_Q_PRIV_LEVEL", None)
        return kept


fault("privacy-none-created-as-optional", queues=PrivacyOrDefault)


class JournalEmptied(Queues):
    def set(self, format_name, given):
        super().set(format_name, given)
        queue = self._owner(format_name)
        if "PROPID_Q_JOURNAL" in given and not queue.journaling:
            for position in queue.journal.positions:
                self.manager.delivery.remove(position)


fault("journal-off-empties-journal", queues=JournalEmptied)


class AuthenticateStays(Queues):
    def set(self, format_name, given):
        super().set(
            format_name, {name: value for name, value in given.items() if value or name != "PROPID_Q_AUTHENTICATE"}
        )


fault("authenticate-not-unset", queues=AuthenticateStays)


class AnyJournal(Queues):
    def properties_to_keep(self, given, *, creating):
        value = given.get("PROPID_Q_JOURNAL")
        if not creating and type(value) is int and 1 < value <= 255:
            given = {**given, "PROPID_Q_JOURNAL": 1}
        return super().properties_to_keep(given, creating=creating)


fault("journal-set-to-any-byte", queues=AnyJournal)


# CACTransferBufferV1


class TraceOrNull(Structures):
    def _number_pointer_to(self, out, member, value):
        super()._number_pointer_to(out, member, None if member.name == "p_trace" and value == 0 else value)


fault("trace-off-written-as-null", structures=TraceOrNull)


class SharedFormat(Structures):
    def write_transfer_buffer(self, out, value):
        send = value.get("send") if isinstance(value, dict) else None
        if isinstance(send, dict) and send.get("p_admin_queue_format") is not None:
            if send.get("p_response_queue_format") == send["p_admin_queue_format"]:
                value = {**value, "send": {**send, "p_response_queue_format": None}}
        super().write_transfer_buffer(out, value)


fault("response-format-same-as-admin-left-out", structures=SharedFormat)


class WholeRoom(Structures):
    def _buffers(self, members, value):
        buffers, sizes = super()._buffers(members, value)
        if "pp_body" in buffers:
            room = sizes["ul_alloc_body_buffer_in_bytes"]
            buffers["pp_body"] = buffers["pp_body"].ljust(room, b"\0")
            sizes["ul_body_buffer_size_in_bytes"] = room
        return buffers, sizes


fault("body-of-its-whole-room", structures=WholeRoom)


class WideDelivery(Structures):
    def _number_pointer_to(self, out, member, value):
        if member.name == "p_delivery" and value in (0, 1):
            out.pointer(lambda: out.number(value, 2))
            return
        super()._number_pointer_to(out, member, value)

    def _number_pointer_from(self, source, member, value):
        if member.name != "p_delivery":
            super()._number_pointer_from(source, member, value)
            return

        def referent():
            value[member.name] = self.check_number(member, source.number(2))

        source.pointer(referent)


fault("delivery-in-two-bytes", structures=WideDelivery)


class SignedLife(Structures):
    def check_number(self, member, value):
        if member.name == "pul_relative_time_to_live" and value > 0x7FFFFFFF:
            raise refuse()
        return super().check_number(member, value)


fault("relative-time-to-live-signed", structures=SignedLife)


class OrderingUnended(Structures):
    def check_end(self, member, data):
        if member.name != "pp_ordering_format_name":
            super().check_end(member, data)


fault("ordering-name-without-end", structures=OrderingUnended)


# journaling, waiting reads, administration queues, durability


class JournalFirst(Sending):
    def enqueue(self, queue, message, transaction):
        if queue.kind != "outgoing" and transaction is None and message.fields["positive_journaling"]:
            if not self.manager.delivery.fits(self.manager.queues.system("journal"), message):
                raise MqError(0xC00E0027)
        return super().enqueue(queue, message, transaction)


fault("full-journal-refuses-send", sending=JournalFirst)


class LastComeFirst(Receiving):
    def _wait(self, read):
        waiters = read.at.queue.waiters
        before = list(waiters)
        super()._wait(read)
        if len(waiters) > len(before):
            waiters.insert(0, waiters.pop())


fault("waiting-reads-last-first", reading=LastComeFirst)


class AlwaysOnSource(PacketWriter):
    def _other_queue(self, name, source, manager, admin):
        kind, data = super()._other_queue(name, source, manager, admin)
        if kind == packet_layout.ON_OTHER:
            return packet_layout.ON_SOURCE, data[16:]
        return kind, data


fault("administration-queue-of-third-told-as-source", writer=AlwaysOnSource)


class EndUnstored(Receiving):
    def end(self, read, *, acknowledge):
        position = read.position
        if acknowledge and position.state is State.LOCKED and not position.queue.deleted:
            position.uncommitted = True  # so its row is taken for one that is not in the store
        super().end(read, acknowledge=acknowledge)


fault("two-phase-receive-comes-back", reading=EndUnstored)


# error codes


class NextTimesOut(Receiving):
    def seek(self, queue, lookup, action, destructive):
        try:
            return super().seek(queue, lookup, action, destructive)
        except MqError:
            if action == "next" and queue.positions.find(lookup) is not None:
                raise MqError(0xC00E001B) from None
            raise


fault("nothing-behind-told-as-timeout", reading=NextTimesOut)


class SizeAsValue(Sending):
    def make(self, given, *, transactional):
        try:
            return super().make(given, transactional=transactional)
        except MqError as failure:
            if failure.status == 0xC00E003B:
                raise MqError(0xC00E0018) from None
            raise


fault("correlation-size-told-as-value", sending=SizeAsValue)


class MulticastAsParameter(Queues):
    def properties_to_keep(self, given, *, creating):
        if "PROPID_Q_MULTICAST_ADDRESS" in given:
            name = "PROPID_Q_MULTICAST_ADDRESS"
            try:
                super().properties_to_keep({name: given[name]}, creating=creating)
            except MqError:
                raise MqError(0xC00E0006) from None
        return super().properties_to_keep(given, creating=creating)


fault("multicast-address-told-as-parameter", queues=MulticastAsParameter)


class LabelOfItsRoom(Sending):
    def label_bytes(self, fields):
        label = fields["label"]
        if isinstance(label, str) and "\0" not in label:
            if len(label.encode("utf-16-le", "surrogatepass")) // 2 == MAX_LABEL + 1:
                return 2 * (MAX_LABEL + 2)
        return super().label_bytes(fields)


fault("label-of-250-taken", sending=LabelOfItsRoom)


def main() -> None:
    names = sys.argv[1:]
    managers = Managers()
    if names:
        managers._parts = Parts(**FAULTS[names[0]])
    serve_stdio(EmbeddedDriver(registry=managers), sys.stdin.buffer, sys.stdout.buffer, real_clock=False)


if __name__ == "__main__":
    main()
