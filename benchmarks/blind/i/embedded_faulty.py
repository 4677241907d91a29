"""`python embedded_faulty.py [FAULT]`: the embedded manager on stdio, with one fault of this file, or as control."""

from __future__ import annotations

import sys
from dataclasses import replace

from conformance.embedded.cursors import CursorOutcome, Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.directory import Directory
from conformance.embedded.driver import EmbeddedDriver, Managers
from conformance.embedded.entities import CursorState, MqError, Operation, Reason, State
from conformance.embedded.incoming import IncomingTransfers
from conformance.embedded.management import Management, vector
from conformance.embedded.manager import Parts
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.rpc import serve_stdio
from conformance.embedded.sending import MAX_LABEL, Sending
from conformance.embedded.transactions import Transactions
from conformance.embedded.transfer_state import CONNECTED, DISCONNECTED, STATUS, UNRESOLVED, WAITING
from conformance.embedded.transfers import Transfers
from conformance.spec.constants.hresults import (
    MQ_ERROR_ACCESS_DENIED,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_LABEL_TOO_LONG,
    MQ_ERROR_QUEUE_EXISTS,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

FAULTS = {}


def fault(name, **parts):
    FAULTS[name] = parts


# management of the machine


class OpenToRemove(Queues):
    """A queue that is open for peeking only is not counted among the open ones."""

    def active(self):
        handles = [*self.manager.descriptors.values()]
        handles += [element for each in handles for element in each.elements]
        used = {each.queue.id for each in handles if each.queue is not None and each.access not in ("peek",)}
        return [queue for queue in super().active() if queue.id in used or queue.kind == "outgoing"]


fault("peeked-queue-not-active", queues=OpenToRemove)


class TypeFromTheNetwork(Management):
    """The version is asked of a service that does not answer while the machine is offline."""

    def installation(self):
        return super().installation() if self.manager.connected else None


fault("version-unknown-offline", management=TypeFromTheNetwork)


class ServersRemembered(Directory):
    """The servers are kept in a list, in the order in which they were found."""

    def fill(self, objects, computers, server):
        super().fill(objects, computers, server)
        known = [each for each in self.__dict__.get("servers", []) if each != server]
        self.servers = [] if server is None else [server, *known]


class ListOfServers(Management):
    """The whole list of directory servers is told as one text."""

    def directory_server(self):
        servers = self.manager.directory.servers
        return ",".join(rf"\\{each}" for each in servers) or None


fault("directory-servers-with-commas", directory=ServersRemembered, management=ListOfServers)


class ShortServer(Management):
    """Only the first label of a full name is told."""

    def directory_server(self):
        server = super().directory_server()
        return None if server is None else server.partition(".")[0]


fault("server-name-cut-at-point", management=ShortServer)


# management of queues


class PathOfTheOwner(Management):
    """A subqueue is told under the path of the queue it belongs to."""

    def path_name(self, queue):
        return super().path_name(queue.parent if queue.kind == "subqueue" else queue)


fault("subqueue-path-of-its-queue", management=PathOfTheOwner)


class CountWithSubqueues(Management):
    """The messages of the subqueues are counted with those of the queue."""

    def message_count(self, queue):
        return super().message_count(queue) + sum(len(each.positions) for each in queue.subqueues.values())


fault("count-includes-subqueues", management=CountWithSubqueues)


class XactOfOpenQueues(Management):
    """Whether a queue is transactional is known only while somebody has it open."""

    def transactional(self, queue):
        return super().transactional(queue) if queue.descriptors or queue.kind == "outgoing" else "UNKNOWN"


fault("xact-unknown-while-closed", management=XactOfOpenQueues)


# states of outgoing queues


class WaitingOnlyOnce(Transfers):
    """The state goes to Waiting from Inactive, and is forgotten when a lost connection is sought again."""

    def seek(self, transfer):
        before = transfer.state
        super().seek(transfer)
        if before == DISCONNECTED:
            transfer.state = DISCONNECTED


fault("sought-again-not-waiting", transfers=WaitingOnlyOnce)


class EndsAtOnce(Transfers):
    """The end of a session is not told before it is over."""

    def step(self, queue, step, addresses, error):
        if step != "closing":
            super().step(queue, step, addresses, error)


fault("disconnecting-not-told", transfers=EndsAtOnce)


class BackToTheOldState(Transfers):
    """Resume gives back the state that the queue had when it was paused."""

    def resumed(self, queue):
        if queue.transfer is not None and queue.transfer.state != CONNECTED:
            super().resumed(queue)


fault("resumed-while-connected-not-inactive", transfers=BackToTheOldState)


class ValidatesNamesOnly(Transfers):
    """Only a name that DNS does not know is to be validated."""

    def step(self, queue, step, addresses, error):
        before = self.of(queue).state
        super().step(queue, step, addresses, error)
        if step == "routing_data_not_available" and step in UNRESOLVED:
            self.of(queue).state = before


fault("no-validation-without-routing-data", transfers=ValidatesNamesOnly)


# next hops and connection history


class OneFamily(Management):
    """Of the possible addresses only those of the family of the first are told."""

    def next_hops(self, queue):
        hops = super().next_hops(queue)
        if not hops or self.state(queue) != WAITING:
            return hops
        family = hops[0].partition("=")[0]
        return [hop for hop in hops if hop.partition("=")[0] == family]


fault("possible-hops-of-one-family", management=OneFamily)


class Bracketed(Management):
    """IPv6 addresses are written as in a URL."""

    def next_hops(self, queue):
        hops = super().next_hops(queue)
        if hops is None:
            return None
        return [f"IPv6=[{hop.partition('=')[2]}]" if hop.startswith("IPv6=") else hop for hop in hops]


fault("ipv6-hop-in-brackets", management=Bracketed)


class BackslashedAddresses(Management):
    """The addresses of a failed attempt are written like computer names."""

    def connection_history(self, queue):
        told = super().connection_history(queue)
        if told is None:
            return None
        lists = [
            [rf"\\{address}" for address in each.addresses] if each.status >> 31 else list(each.addresses)
            for each in self.of(queue).history
        ]
        return [*told[:3], vector("VT_VARIANT", [vector("VT_LPWSTR", each) for each in lists])]


fault("failed-address-with-backslashes", management=BackslashedAddresses)


class TimeOfTheAttempt(Transfers):
    """The entry that the connection stands has the time at which the attempt began."""

    def record(self, transfer, step, error):
        began = [each.time for each in transfer.history if each.status == STATUS["in_process"]]
        super().record(transfer, step, error)
        if step == "established" and began:
            last = transfer.history[-1]
            transfer.history[-1] = type(last)(last.status, began[-1], last.error, last.addresses)


fault("established-at-begin-of-attempt", transfers=TimeOfTheAttempt)


# transfer of transactional messages


class OneUnreadPerAck(Transfers):
    """Of the messages that one order acknowledgment covers only one is counted as not read."""

    def ordered(self, queue, transfer, number):
        before = set(transfer.unread)
        super().ordered(queue, transfer, number)
        groups = self.__dict__.setdefault("_groups", {})
        for each in set(transfer.unread) - before:
            groups[each] = (queue.id, transfer.last_ack_time, number, len(before))


class CountOfAcks(Management):
    def no_read_count(self, queue):
        transfer = self.of(queue)
        if transfer is None:
            return None
        groups = self.manager.transfers.__dict__.get("_groups", {})
        return len({groups.get(each, each) for each in transfer.unread})


fault("unread-counted-by-acknowledgment", transfers=OneUnreadPerAck, management=CountOfAcks)


class RemainingInterval(Management):
    """The seconds until the next resend are told as the interval."""

    def resend_interval(self, queue):
        transfer = self.of(queue)
        if transfer is None or not transfer.resend_time:
            return super().resend_interval(queue)
        return max(0, transfer.resend_time - self.manager.clock.now_ms() // 1000)


fault("resend-interval-counts-down", management=RemainingInterval)


class TimeOfFirstResend(Transfers):
    """A message that is sent again does not set the time of the next attempt."""

    def sent(self, queue, transfer, position, sent):
        again, before = sent.times > 0, transfer.resend_time
        super().sent(queue, transfer, position, sent)
        if again and before:
            transfer.resend_time = before


fault("resend-time-not-renewed", transfers=TimeOfFirstResend)


class ResponseAsSource(IncomingTransfers):
    """A message with a response queue is noted under the name of that queue."""

    def _found(self, queue, read):
        return super()._found(queue, {**read, "destination": read.get("response_queue", read["destination"])})


fault("source-info-names-response-queue", incoming=ResponseAsSource)


class AccessOnlyByAccepted(IncomingTransfers):
    """A message that is refused leaves the access time of its sequence as it is."""

    def rejected(self, queue, read):
        times = {key: each.time for key, each in self._of.get(queue.id, {}).items()}
        super().rejected(queue, read)
        for key, time in times.items():
            self._of[queue.id][key].time = time


fault("rejection-is-no-access", incoming=AccessOnlyByAccepted)


# dead letters


class DeadLettersUnlimited(Delivery):
    """The quota is not looked at for dead letters."""

    def copy(self, queue, message):
        system = self.manager.queues.system
        if queue in (system("deadletter"), system("deadxact")) and not self.fits(queue, message):
            self.place(queue, replace(message, expires_ms=None), limited=False)
        else:
            super().copy(queue, message)


fault("dead-letter-beyond-quota", delivery=DeadLettersUnlimited)


class RefusedToPlainDeadLetters(Transfers):
    """A transactional message that its destination did not deliver goes to the dead letters without transaction."""

    def final(self, transfer, identifier, message_class):
        key = (identifier["source"].lower(), identifier["ordinal"])
        position = transfer.unread.get(key)
        if position is not None and message_class != Reason.RECEIVED.value:
            transfer.unread.pop(key)
            self.manager.store.drop_message(position.row)
            position.message.carried = None
            if position.message.fields["negative_journaling"]:
                self.manager.delivery.copy(self.manager.queues.system("deadletter"), position.message)
            return
        super().final(transfer, identifier, message_class)


fault("refused-transactional-in-plain-dead-letters", transfers=RefusedToPlainDeadLetters)


# properties of queues


class LabelLimitAtCreation(Queues):
    """The length of a label is looked at when the queue is created only."""

    def properties_to_keep(self, given, *, creating):
        label = given.get("PROPID_Q_LABEL")
        if creating or not isinstance(label, str) or "\0" in label or not 124 < len(label) <= 1000:
            return super().properties_to_keep(given, creating=creating)
        rest = {name: value for name, value in given.items() if name != "PROPID_Q_LABEL"}
        return {**super().properties_to_keep(rest, creating=False), "PROPID_Q_LABEL": label}


fault("long-label-set-later", queues=LabelLimitAtCreation)


class AuthenticationStays(Queues):
    """A zero is taken for a property that was not given, once authentication is on."""

    def set(self, format_name, given):
        on = self._owner(format_name).properties.get("PROPID_Q_AUTHENTICATE")
        super().set(format_name, given)
        if on and given.get("PROPID_Q_AUTHENTICATE") == 0:
            queue = self._owner(format_name)
            queue.properties["PROPID_Q_AUTHENTICATE"] = 1
            self._store(queue)


fault("authentication-not-switched-off", queues=AuthenticationStays)


class JournalsWhatItShows(Receiving):
    """Peeks by lookup identifier share the end of the receives, with its copy to the journal."""

    def by_lookup_id(self, caller, at, lookup, action, *, destructive, transaction=None):
        super().by_lookup_id(caller, at, lookup, action, destructive=destructive, transaction=transaction)
        if not destructive and at.queue.journaling and at.queue.kind in ("private", "public", "subqueue"):
            delivery = self.manager.delivery
            delivery.copy(delivery.journal_of(at.queue), self.seek(at.queue, lookup, action, destructive).message)


fault("peek-by-lookup-identifier-journaled", reading=JournalsWhatItShows)


class TransactionalInTheClear(Queues):
    """A transactional queue without a given privacy level takes messages in the clear only."""

    def properties_to_keep(self, given, *, creating):
        kept = super().properties_to_keep(given, creating=creating)
        if creating and kept.get("PROPID_Q_TRANSACTION") and "PROPID_Q_PRIV_LEVEL" not in kept:
            kept["PROPID_Q_PRIV_LEVEL"] = 0
        return kept


fault("transactional-default-privacy-none", queues=TransactionalInTheClear)


class IgnoresTheWholeCall(Queues):
    """A call that sets the base priority of a private queue is ignored as a whole."""

    def set(self, format_name, given):
        if self._owner(format_name).kind == "private" and "PROPID_Q_BASEPRIORITY" in given and len(given) > 1:
            self.properties_to_keep(given, creating=False)
            return
        super().set(format_name, given)


fault("base-priority-ignores-its-call", queues=IgnoresTheWholeCall)


class CreatedAgain(Queues):
    """The time of creation is written before it is found out that the queue exists."""

    def create(self, path_name, given):
        try:
            return super().create(path_name, given)
        except MqError as refused:
            if refused.status == MQ_ERROR_QUEUE_EXISTS:
                found = self._by_path[self.manager.names.path(path_name).text.partition("\\")[2].lower()]
                found.properties["PROPID_Q_CREATE_TIME"] = self.manager.clock.now_ms() // 1000
                self._store(found)
            raise


fault("refused-creation-renews-create-time", queues=CreatedAgain)


class LabelCode(Queues):
    """A queue label that is too long is refused with the code of message labels."""

    def properties_to_keep(self, given, *, creating):
        try:
            return super().properties_to_keep(given, creating=creating)
        except MqError as refused:
            label = given.get("PROPID_Q_LABEL")
            if refused.status == MQ_ERROR_ILLEGAL_PROPERTY_VALUE and isinstance(label, str) and len(label) > 124:
                raise MqError(MQ_ERROR_LABEL_TOO_LONG) from None
            raise


fault("queue-label-code-of-messages", queues=LabelCode)


class LeavesOutUnknown(Queues):
    """A property that is not known is left out of the answer if others are."""

    def get(self, format_name, names):
        given = [name for name in names if isinstance(name, str) and self._is_known(format_name, name)]
        return super().get(format_name, given or names)

    def _is_known(self, format_name, name):
        try:
            super().get(format_name, [name])
        except MqError:
            return False
        return True


fault("unknown-property-left-out", queues=LeavesOutUnknown)


class QuotaOfTheOpening(Queues):
    """A queue is held to the quota that it had when it was opened; a new one counts from the next opening."""

    def open(self, format_name, access, share):
        found = self.find_local(format_name)
        if found is not None and not found.descriptors and not found.subqueues:
            self.__dict__.setdefault("quotas", {})[found.id] = found.quota_kb
        return super().open(format_name, access, share)


class QuotaWhileOpen(Delivery):
    def fits(self, queue, message):
        quotas = self.manager.queues.__dict__.get("quotas", {})
        if queue.kind not in ("private", "public") or not queue.descriptors or queue.id not in quotas:
            return super().fits(queue, message)
        present = queue.properties["PROPID_Q_QUOTA"]
        queue.properties["PROPID_Q_QUOTA"] = quotas[queue.id]
        try:
            return super().fits(queue, message)
        finally:
            queue.properties["PROPID_Q_QUOTA"] = present


fault("new-quota-only-after-reopening", queues=QuotaOfTheOpening, delivery=QuotaWhileOpen)


# handles


class ElementsUnsupported(Queues):
    """Whatever one element is refused for, the name of several is said to be unsupported."""

    def _open_multiple(self, format_name, access, share):
        elements = self.manager.names.multiple(format_name).parts["elements"]
        try:
            return super()._open_multiple(format_name, access, share)
        except MqError:
            several = len({str(element).lower() for element in elements}) > 1
            if several and access == "send" and share == "deny_none":
                raise MqError(MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION) from None
            raise


fault("multiple-open-hides-status-of-element", queues=ElementsUnsupported)


class AdministratorsDoNotPurge(Queues):
    """A handle for receiving as administrator cannot purge."""

    def purge(self, descriptor):
        if descriptor.access == "receive_admin":
            raise MqError(MQ_ERROR_ACCESS_DENIED)
        super().purge(descriptor)


fault("admin-handle-does-not-purge", queues=AdministratorsDoNotPurge)


# transactions and what they leave


class PreparedSendsStay(Transactions):
    """What was sent in a transaction that has been prepared is delivered, even if it is aborted."""

    def abort(self, transaction):
        if not transaction.prepared:
            super().abort(transaction)
            return
        self._end(transaction)
        for step in transaction.steps:
            if step.position.state is not State.DELETED:
                (self.commit_step if step.operation is Operation.ENQUEUE else self.abort_step)(step)


fault("abort-after-prepare-keeps-sends", transactions=PreparedSendsStay)


class MovesInMemory(Transactions):
    """A move is carried out in memory at the commit; the store has the message nowhere."""

    def commit_step(self, step):
        target = step.target
        before = {position.row for position in target.positions} if target is not None else set()
        super().commit_step(step)
        if step.operation is Operation.MOVE and target is not None:
            for position in target.positions:
                if position.row not in before:
                    self.manager.store.drop_message(position.row)


fault("committed-move-not-durable", transactions=MovesInMemory)


# acknowledgments


class SubqueuePurgedSilently(Queues):
    """The purge of a subqueue is not reported."""

    def purge_position(self, position):
        if position.queue.kind == "subqueue" and position.state is State.AVAILABLE:
            self.manager.delivery.remove(position)
        else:
            super().purge_position(position)


fault("purged-subqueue-not-acknowledged", queues=SubqueuePurgedSilently)


class SilentOnHold(Delivery):
    """A message whose time is over in a queue on hold is removed without a word to the administration queue."""

    def acknowledge_removal(self, message, queue, reason):
        if queue.kind == "outgoing" and reason is Reason.EXPIRED and self.manager.outgoing.on_hold(queue):
            return
        super().acknowledge_removal(message, queue, reason)


fault("no-timeout-nack-on-hold", delivery=SilentOnHold)


# cursors


class StaysAfterTimeOut(Cursors):
    """A receive that timed out leaves its cursor where it was."""

    def wait_expired(self, cursor):
        key, position, state = cursor.key, cursor.position, cursor.state
        super().wait_expired(cursor)
        if state is CursorState.WAIT_RECEIVE:
            cursor.key, cursor.position = key, position


fault("timed-out-receive-leaves-cursor", cursors=StaysAfterTimeOut)


class SkipsTheExpired(Cursors):
    """A peek whose message has expired goes on to the next one."""

    def get_for_peek(self, cursor):
        position = cursor.position
        if cursor.state is CursorState.READ and position is not None and position.state is State.DELETED:
            due = position.message.expires_ms
            found = self.seek(cursor)
            if due is not None and due <= self.manager.clock.now_ms() and found is not None:
                self.stand_at(cursor, found)
                return CursorOutcome.SUCCEEDED, found
        return super().get_for_peek(cursor)


fault("peek-goes-on-from-expired", cursors=SkipsTheExpired)


# error codes


class LongLabelsInTransactions(Sending):
    """The length of a label is not looked at in a transaction."""

    def make(self, given, *, transactional):
        label = given.get("label")
        if not transactional or not isinstance(label, str) or "\0" in label or len(label) <= MAX_LABEL:
            return super().make(given, transactional=transactional)
        message = super().make({**given, "label": label[:MAX_LABEL]}, transactional=True)
        message.fields["label"] = label
        return message


fault("long-label-in-transaction", sending=LongLabelsInTransactions)


def main():
    managers = Managers()
    if len(sys.argv) > 1:
        if sys.argv[1] not in FAULTS:
            sys.exit(f"no such fault: {sys.argv[1]}")
        managers._parts = Parts(**FAULTS[sys.argv[1]])
    driver = EmbeddedDriver(None, registry=managers)
    serve_stdio(driver, sys.stdin.buffer, sys.stdout.buffer, real_clock=False)


if __name__ == "__main__":
    main()
