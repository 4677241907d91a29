"""Faults of acknowledgements, of expiry, and of copies in journals and dead-letter queues (MS-MQDMPR 3.1.7.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.alternatives.sends import OneDeadLetterQueue
from conformance.embedded.delivery import ACK_REACH_QUEUE, NACK_REACH_QUEUE_TIMEOUT, Delivery, Sending
from conformance.embedded.entities import (
    Descriptor,
    Message,
    MqError,
    Operation,
    Position,
    Queue,
    Reason,
    Result,
    State,
    Transaction,
)
from conformance.embedded.faults.base import also, fault, row
from conformance.embedded.faults.cursors.queues import Heirlooms
from conformance.embedded.faults.properties import LastMember
from conformance.embedded.receiving import Caller, Receiving
from conformance.embedded.transactions import Transactions
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_AVAILABLE

# Class, its word in MS-MQMQ and in MS-MQDMPR, and what it tells.
_CLASSES: tuple[tuple[int, str, str, str], ...] = (
    (ACK_REACH_QUEUE, "ack-reach-queue", "ack-reach-queue", "reached its queue"),
    (Reason.RECEIVED.value, "ack-receive", "ack-receive", "was received"),
    (
        NACK_REACH_QUEUE_TIMEOUT,
        "nack-reach-queue-timeout",
        "nack-reach-queue-timeout",
        "did not reach its queue in time",
    ),
    (Reason.QUEUE_DELETED.value, "nack-q-deleted", "nack-queue-deleted", "went with its queue"),
    (Reason.PURGED.value, "nack-q-purged", "nack-queue-purged", "was purged"),
    (Reason.EXPIRED.value, "nack-receive-timeout", "nack-receive-timeout", "was not received in time"),
)
_EVENTS = {  # the event that has to tell it, where the text of one does
    "nack-q-deleted": ("MQDMPR-3.1.7.1.4.nack-queue-deleted",),
    "nack-q-purged": ("MQDMPR-3.1.7.1.7.nack-queue-purged",),
    "nack-receive-timeout": ("MQDMPR-3.1.7.2.7.nack-receive-timeout",),
}
NO_CLASS = 0x0100  # with this bit a number is none of the classes MS-MQMQ lists


class _Misnumbered(Delivery):
    about: ClassVar[int]

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        told = message_class | NO_CLASS if message_class == self.about else message_class
        super().acknowledge_from(message, origin, told)


def _unreported(delivery: Delivery, position: Position) -> None:
    """Delete a position as received, and report nothing."""
    fields = position.message.fields
    position.message.fields = {**fields, "acknowledgements": []}
    delivery.delete(position, Reason.RECEIVED)
    position.message.fields = fields


class _LookingUp(Receiving):
    """Knows whether a message is taken by its lookup identifier."""

    looking = False

    def by_lookup_id(
        self,
        caller: Caller,
        at: Descriptor,
        lookup: int,
        action: str,
        *,
        destructive: bool,
        transaction: Transaction | None = None,
    ) -> None:
        self.looking = True
        try:
            super().by_lookup_id(caller, at, lookup, action, destructive=destructive, transaction=transaction)
        finally:
            self.looking = False


@fault(
    "lookup-receive-reported-purged", "reading", "MQDMPR-3.1.7.1.13.deleted-reason",
    "MQDMPR-3.1.7.1.13.operation-reason",
)  # fmt: skip
class LookupReceiveReportedPurged(_LookingUp):
    """A message received by its lookup identifier is reported as purged."""

    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if not self.looking or transaction is not None:
            return super().take(position, transaction)
        _unreported(self.manager.delivery, position)
        self.manager.delivery.acknowledge_removal(position.message, position.queue, Reason.PURGED)
        return self.show(position)


@fault(
    "committed-lookup-unreported", Transactions.commit_step, "MQDMPR-3.1.7.1.13.operation-reason",
    "MQDMPR-3.1.4.4.receive-reason", "MQDMPR-3.1.1.12.ack-pos-receive",
)  # fmt: skip
def committed_lookup_unreported(plain, self, step):
    """Nothing tells that a message was received by its lookup identifier in a transaction that committed."""
    marked = getattr(self.manager.reading, "marked", [])
    if step.operation is Operation.DEQUEUE and any(position is step.position for position in marked):
        _unreported(self.manager.delivery, step.position)
    else:
        plain(step)


@also("committed-lookup-unreported", "reading")
class _LookupMarks(_LookingUp):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if self.looking and transaction is not None:
            self.__dict__.setdefault("marked", []).append(position)
        return super().take(position, transaction)


@fault(
    "purged-receive-unreported", Transactions.commit_step, "MQDMPR-3.1.4.4.receive-reason",
    "MQDMPR-3.1.1.12.ack-pos-receive",
)  # fmt: skip
def purged_receive_unreported(plain, self, step):
    """Nothing tells that a receive committed whose queue was purged meanwhile."""
    if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
        _unreported(self.manager.delivery, step.position)
    else:
        plain(step)


for _about, _word, _long, _what in _CLASSES:
    row(
        __name__,
        "delivery",
        f"{_word}-misnumbered",
        f"That a message {_what} is told by an acknowledgement of class 0x{_about | NO_CLASS:04X}.",
        (
            f"MQMQ-2.2.18.1.6.{_word}",
            f"MQMP-2.2.3.2.class-{_word}",
            f"MQDMPR-3.1.1.12.class-{_long}",
            *_EVENTS.get(_word, ()),
            "MQDMPR-3.1.1.12.class-values",
        ),
        subclass_of=_Misnumbered,
        about=_about,
    )


@fault(
    "time-to-be-received-ignored", Delivery.start_timer, "MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.zero",
    "MQMP-2.2.3.2.time-to-live-expires", first_seen_as=("MQDMPR-3.1.1.12.negative-journaling-transactional",),
    because="the dead-letter queue is looked into first: what does not expire is not there",
)  # fmt: skip
def time_to_be_received_ignored(plain, self, position):
    """A message stays in its queue for ever, whatever its time to be received."""


@also("time-to-be-received-ignored", Delivery._is_over)
def time_to_be_received_ignored_is_over(plain, self, position):
    return False


@fault(
    "expired-behind-another-not-kept", Delivery.expire, "MQDMPR-3.1.7.2.7.dead-letter",
    "MQDMPR-3.1.1.12.negative-journaling", "MQDMPR-3.1.1.12.negative-journaling-transactional",
)  # fmt: skip
def expired_behind_another_not_kept(plain, self, position):
    """A message that expires while another one is before it in its queue leaves no dead letter."""
    if next(iter(position.queue.positions)) is not position:
        message = position.message
        position.message = replace(message, fields={**message.fields, "negative_journaling": False})
    plain(position)


@fault("message-expires-early", Sending.make, "MQDMPR-3.1.2.4.not-early")
def message_expires_early(plain, self, given, *, transactional):
    """A message expires when half its time to be received has passed."""
    message = plain(given, transactional=transactional)
    if message.expires_ms is not None:
        message.expires_ms -= (message.expires_ms - message.sent_ms) // 2
    return message


@fault(
    "message-expires-late", Delivery.start_timer, "MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.zero",
    "MQMP-2.2.3.2.time-to-live-expires",
)  # fmt: skip
def message_expires_late(plain, self, position):
    """A message lives one second longer than its time to be received."""
    if position.message.expires_ms is not None:
        position.message.expires_ms += 1000
    plain(position)


@fault("zero-time-never-expires", Sending.make, "MQDMPR-3.1.2.4.zero")
def zero_time_never_expires(plain, self, given, *, transactional):
    """A message whose time to be received is 0 does not expire."""
    message = plain(given, transactional=transactional)
    if message.fields["time_to_be_received"] == 0:
        message.expires_ms = None
    return message


@fault(
    "time-starts-at-availability", Delivery.make_available, "MQDMPR-3.1.2.4.expires",
    "MQMP-2.2.3.2.time-to-live-expires",
)  # fmt: skip
def time_starts_at_availability(plain, self, position):
    """The time to be received starts anew whenever a message becomes available."""
    message = position.message
    if position.state is State.LOCKED and message.expires_ms is not None and not position.uncommitted:
        left = message.fields["time_to_be_received"] * 1000
        message.expires_ms = self.manager.clock.now_ms() + left
        if position.timer is not None:
            position.timer.cancel()
        self.start_timer(position)
    plain(position)


@fault(
    "journal-copies-expire", Delivery.copy, "MQDMPR-3.1.2.4.system-queues-kept",
    first_seen_as=("MQMQ-2.3.1.4.journal-copy",),
    because="A copy that has expired is missing in its journal, whenever somebody looks.",
)  # fmt: skip
def journal_copies_expire(plain, self, queue, message):
    """The copies in journals and dead-letter queues expire as their messages did."""
    plain(queue, message)
    positions = list(queue.positions) if queue is not None else []
    lives = message.fields["time_to_be_received"]
    if positions and lives != 0xFFFFFFFF:
        last = max(positions, key=lambda each: each.row)
        due = self.manager.clock.now_ms() + lives * 1000
        last.timer = self.manager.clock.at(due, lambda: last in last.queue.positions and self.remove(last))


@fault(
    "time-to-reach-queue-ignored", Sending.enqueue, "MQDMPR-3.1.1.12.time-to-reach-queue",
    "MQMP-2.2.3.2.time-to-queue-expires", "MQQB-3.1.7.1.2.expired", first_seen_as=("MQDMPR-3.1.1.12.ack-neg-arrival",),
    because="that a message is not given up shows first where its end is to be reported",
)  # fmt: skip
def time_to_reach_queue_ignored(plain, self, queue, message, transaction):
    """A message waits in its outgoing queue for ever, whatever its time to reach the queue."""
    reach = message.fields["time_to_reach_queue"]
    message.fields["time_to_reach_queue"] = 0xFFFFFFFF
    lookup = plain(queue, message, transaction)
    message.fields["time_to_reach_queue"] = reach
    return lookup


@fault("time-to-reach-queue-ends-received", Sending.enqueue, "MQDMPR-3.1.2.4.not-early", "MQDMPR-3.1.2.4.infinite")
def time_to_reach_queue_ends_received(plain, self, queue, message, transaction):
    """A message that has reached its queue expires there when its time to reach the queue is over."""
    reach = message.fields["time_to_reach_queue"]
    if queue.kind != "outgoing" and reach != 0xFFFFFFFF:
        due = message.sent_ms + reach * 1000
        message.expires_ms = due if message.expires_ms is None else min(due, message.expires_ms)
    return plain(queue, message, transaction)


@fault(
    "arrival-not-acknowledged", Delivery.acknowledge_arrival, "MQDMPR-3.1.1.12.ack-pos-arrival",
    "MQDMPR-3.1.1.12.ack-full-reach-queue", "MQDMPR-3.1.1.12.class-ack-reach-queue",
    "MQMP-2.2.3.2.acknowledgment-pos-arrival", "MQMP-2.2.3.2.acknowledgment-full-reach-queue",
)  # fmt: skip
def arrival_not_acknowledged(plain, self, message, queue):
    """No acknowledgement tells that a message was put in its queue."""


@fault(
    "receive-not-acknowledged", Delivery.acknowledge_removal, "MQDMPR-3.1.1.12.ack-pos-receive",
    "MQDMPR-3.1.1.12.ack-full-receive", "MQDMPR-3.1.1.12.class-ack-receive", "MQDMPR-3.1.7.1.10.deleted-reason",
    "MQMP-2.2.3.2.acknowledgment-pos-receive",
)  # fmt: skip
def receive_not_acknowledged(plain, self, message, queue, reason):
    """No acknowledgement tells that a message was received."""
    if reason is not Reason.RECEIVED:
        plain(message, queue, reason)


@fault(
    "every-removal-is-received", Delivery.acknowledge, "MQDMPR-3.1.7.1.7.nack-queue-purged",
    "MQDMPR-3.1.7.1.4.nack-queue-deleted", "MQDMPR-3.1.7.2.7.nack-receive-timeout",
    first_seen_as=("MQDMPR-3.1.1.12.class-nack-queue-purged",),
    because="the report has another class than the one due, and its class is read before its cause",
)  # fmt: skip
def every_removal_is_received(plain, self, message, origin, message_class):
    """A message that was purged, deleted or expired is reported as received."""
    plain(message, origin, message_class if message_class == ACK_REACH_QUEUE else 0x4000)


@fault(
    "acknowledges-unasked", Delivery.acknowledge_arrival, "MQDMPR-3.1.1.12.ack-none",
    "MQMP-2.2.3.2.acknowledgment-none", "MQQB-3.1.7.15.requested",
)  # fmt: skip
def acknowledges_unasked(plain, self, message, queue):
    """The arrival of a message that asks for no acknowledgement is acknowledged to its administration queue."""
    if message.fields["acknowledgements"]:
        plain(message, queue)
    else:
        self.acknowledge(message, queue, ACK_REACH_QUEUE)


@fault("acknowledgement-uncorrelated", Delivery.acknowledge_from, "MQQB-3.1.7.15.correlation")
def acknowledgement_uncorrelated(plain, self, message, origin, message_class):
    """The correlation identifier of an acknowledgement does not name the message it is about."""
    before = message.fields["identifier"]
    message.fields["identifier"] = {"source": before["source"], "ordinal": 0}
    plain(message, origin, message_class)
    message.fields["identifier"] = before


@fault("target-journal-missing", Delivery.delete, "MQMQ-2.3.1.4.journal-copy")
def target_journal_missing(plain, self, position, reason):
    """Nothing received from a queue that journals is in its journal."""
    journal, position.queue.journal = position.queue.journal, None
    plain(position, reason)
    position.queue.journal = journal


@fault("target-journal-missing-in-transactions", Transactions.commit_step, "MQMQ-2.3.1.4.journal-copy")
def target_journal_missing_in_transactions(plain, self, step):
    """A message received in a transaction is in no journal."""
    journal, step.position.queue.journal = step.position.queue.journal, None
    plain(step)
    step.position.queue.journal = journal


@fault("peek-journals", Receiving.peeked, "MQMQ-2.3.1.4.journal-peek", "MQMQ-2.3.1.4.journal-copy")
def peek_journals(plain, self, position):
    """A peek, too, copies its message to the journal."""
    if position.queue.journaling:
        self.manager.delivery.copy(position.queue.journal, position.message)
    return plain(position)


class _MoreCopies(Delivery):
    """Copies messages that leave their queue to its journal, as many as a subclass says beside what is due."""

    def delete(self, position: Position, reason: Reason) -> None:
        copies = position.state is not State.DELETED and self.also_copied(position, reason)
        super().delete(position, reason)
        if copies:
            self.copy(position.queue.journal, position.message)

    def also_copied(self, position: Position, reason: Reason) -> bool:
        raise AssertionError("every subclass says which")


@fault("journals-unasked", "delivery", "MQMQ-2.3.1.4.journal-none")
class JournalsUnasked(_MoreCopies):
    """A message received from a queue that does not journal is in its journal all the same."""

    def also_copied(self, position: Position, reason: Reason) -> bool:
        queue = position.queue
        return reason is Reason.RECEIVED and not queue.journaling and queue.kind in ("private", "public")


# Whoever empties the journal finds a copy again that was taken out already.
@fault("journals-twice", "delivery", "MQMQ-2.3.1.4.journal-copy")
class JournalsTwice(_MoreCopies):
    """A received message is in the journal of its queue twice."""

    def also_copied(self, position: Position, reason: Reason) -> bool:
        return reason is Reason.RECEIVED and position.queue.journaling


@fault(
    "aborted-receive-journals", Transactions.abort_step, "MQMQ-2.3.1.4.journal-copy", "MQDMPR-3.1.4.5.receives-return"
)
def aborted_receive_journals(plain, self, step):
    """A message whose receive was aborted is in the journal of its queue."""
    if step.operation is Operation.DEQUEUE and step.position.queue.journaling:
        self.manager.delivery.copy(step.position.queue.journal, step.position.message)
    plain(step)


@fault("journals-what-was-not-received", "delivery", "MQMQ-2.3.1.4.journal-copy")
class JournalsWhatWasNotReceived(_MoreCopies):
    """Purged and expired messages are in the journal of their queue, as if they had been received."""

    def also_copied(self, position: Position, reason: Reason) -> bool:
        return reason in (Reason.PURGED, Reason.EXPIRED) and position.queue.journaling


@fault(
    "journal-copies-have-no-body", Delivery.copy, "MQMQ-2.3.1.4.journal-copy", "MQDMPR-3.1.1.12.body-unchanged",
    "MQDMPR-3.1.7.2.7.dead-letter", "MQDMPR-3.1.1.12.negative-journaling", "MQDMPR-3.1.1.12.positive-journaling",
)  # fmt: skip
def journal_copies_have_no_body(plain, self, queue, message):
    """The copies in journals and dead-letter queues have lost the body of their message."""
    plain(queue, replace(message, fields={**message.fields, "body": ""}))


@fault(
    "source-journal-missing", Delivery.arrived, "MQDMPR-3.1.1.12.positive-journaling", "MQMP-2.2.3.2.auditing-journal",
    "MQAC-2.2.2.12.mqmsg-journal-message-queue-manager-system-journal-queue",
)  # fmt: skip
def source_journal_missing(plain, self, message, queue):
    """A message that asks for positive journaling is in no journal of its sender."""
    plain(replace(message, fields={**message.fields, "positive_journaling": False}), queue)


@fault(
    "source-journal-unasked", Delivery.arrived, "MQDMPR-3.1.1.12.positive-journaling-off",
    "MQDMPR-3.1.1.12.default-positive-journaling", "MQMP-2.2.3.2.auditing-none",
)  # fmt: skip
def source_journal_unasked(plain, self, message, queue):
    """Every message sent is in the journal of its sender."""
    plain(message, queue)
    if queue.kind != "outgoing" and not message.fields["positive_journaling"]:
        self.copy(self.manager.queues.system("journal"), message)


@fault(
    "aborted-send-in-source-journal", Transactions.abort_step, "MQDMPR-3.1.4.5.sends-vanish",
    "MQDMPR-3.1.1.12.positive-journaling", first_seen_as=("MQDMPR-3.1.1.12.positive-journaling-off",),
    because="a copy that is in the journal and must not be is one nobody asked for, as far as the journal tells",
)  # fmt: skip
def aborted_send_in_source_journal(plain, self, step):
    """A message whose send was aborted is in the journal of its sender."""
    plain(step)
    if step.operation is Operation.ENQUEUE and step.position.message.fields["positive_journaling"]:
        self.manager.delivery.copy(self.manager.queues.system("journal"), step.position.message)


@fault(
    "dead-letter-missing", Delivery.dead_letter, "MQDMPR-3.1.7.2.7.dead-letter", "MQDMPR-3.1.1.12.negative-journaling",
    "MQMP-2.2.3.2.auditing-deadletter", "MQAC-2.2.2.12.mqmsg-deadletter-message-queuing-system",
    "MQDMPR-3.1.1.12.negative-journaling-transactional",
)  # fmt: skip
def dead_letter_missing(plain, self, message):
    """A message that asks for negative journaling and expires is in no dead-letter queue."""


@fault(
    "dead-letter-unasked", Delivery.dead_letter, "MQDMPR-3.1.1.12.negative-journaling-off",
    "MQDMPR-3.1.1.12.default-negative-journaling", "MQMP-2.2.3.2.auditing-none",
)  # fmt: skip
def dead_letter_unasked(plain, self, message):
    """Every message that expires is in a dead-letter queue."""
    self.copy(self.manager.queues.system("deadxact" if message.transactional else "deadletter"), message)


row(
    __name__, "delivery", "transactional-dead-letter-misplaced",
    "Transactional messages, too, end in the dead-letter queue of the others.",
    ("MQDMPR-3.1.1.12.negative-journaling-transactional", "MQAC-3.1.6.1.1.local-queue-manager-identifier"),
    subclass_of=OneDeadLetterQueue,
)  # fmt: skip


@fault(
    "received-message-is-dead-letter", Delivery.delete, "MQDMPR-3.1.1.12.negative-journaling",
    "MQMP-2.2.3.2.auditing-deadletter", "MQAC-2.2.2.12.mqmsg-deadletter-message-queuing-system",
)  # fmt: skip
def received_message_is_dead_letter(plain, self, position, reason):
    """A message that asks for negative journaling is in a dead-letter queue although it was received."""
    received = position.state is not State.DELETED and reason is Reason.RECEIVED and not position.queue.is_journal
    plain(position, reason)
    if received:
        self.dead_letter(position.message)


@fault(
    "dead-letter-in-journal", Delivery.dead_letter, "MQDMPR-3.1.7.2.7.dead-letter",
    "MQDMPR-3.1.1.12.negative-journaling", "MQDMPR-3.1.1.12.positive-journaling-off",
    "MQAC-3.1.6.1.1.deadletter-message-generating-move", "MQDMPR-3.1.1.12.negative-journaling-transactional",
)  # fmt: skip
def dead_letter_in_journal(plain, self, message):
    """Messages that expire are copied to the journal of the system instead of a dead-letter queue."""
    if message.fields["negative_journaling"]:
        self.copy(self.manager.queues.system("journal"), message)


@fault("express-messages-not-journaled", Delivery.make_available, "MQMQ-2.3.1.4.journal-copy")
def express_messages_not_journaled(plain, self, position):
    """The journal of a queue takes recoverable messages only."""
    plain(position)
    if position.queue.kind == "journal" and position.message.fields["delivery"] == "express":
        self.remove(position)


@fault("journal-outlives-its-queue", "queues", "MQDMPR-3.1.7.1.3.journal-queue")
class JournalOutlivesItsQueue(Heirlooms):
    """A queue created under the path name of a deleted one has the journal of that one."""

    def delete_position(self, position: Position) -> None:
        if position.queue.kind != "journal":
            super().delete_position(position)
        else:
            self.manager.delivery.delete(position, Reason.PURGED)
            self.leave(position)

    def create(self, path_name: str, given: dict[str, Any]) -> str:
        made = super().create(path_name, given)
        queue = self.find_local(made)
        self.inherit(queue.journal if queue is not None else None)
        return made


@fault("send-spills-into-other", Sending.enqueue, "MQDMPR-3.1.7.1.9.only-destination")
def send_spills_into_other(plain, self, queue, message, transaction):
    """A message is put in its destination and in another queue of the manager."""
    lookup = plain(queue, message, transaction)
    if transaction is None and queue.kind in ("private", "public"):
        others = [other for other in self.manager.queues.all() if other.kind == queue.kind and other is not queue]
        for other in others[:1]:
            if not other.transactional:
                asks_nothing = {"negative_journaling": False, "positive_journaling": False, "acknowledgements": []}
                copy = replace(message, fields={**message.fields, **asks_nothing}, expires_ms=None)
                self.manager.delivery.place(other, copy, limited=False)
    return lookup


_FULL_REACH = frozenset({"positive_arrival", "negative_arrival"})
_NACK_RECEIVE = frozenset({"negative_arrival", "negative_receive"})
_FULL_RECEIVE = _NACK_RECEIVE | {"positive_receive"}


def _asks(message: Message, kinds: frozenset[str]) -> bool:
    return frozenset(message.fields["acknowledgements"]) == kinds


@fault("full-reach-tells-failures-only", Delivery.acknowledge_arrival, "MQDMPR-3.1.1.12.ack-full-reach-queue")
def full_reach_tells_failures_only(plain, self, message, queue):
    """A message that asks to be told of its arrival either way is acknowledged only when it does not arrive."""
    if not _asks(message, _FULL_REACH):
        plain(message, queue)


class _PartlyTold(Delivery):
    kinds: ClassVar[frozenset[str]]
    silent: ClassVar[bool]  # on receives; otherwise on ends in the queue without a receive

    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        received = reason is Reason.RECEIVED
        if queue.kind == "outgoing" or received is not self.silent or not _asks(message, self.kinds):
            super().acknowledge_removal(message, queue, reason)


@fault("nack-receive-tells-arrivals-only", "delivery", "MQDMPR-3.1.1.12.ack-nack-receive")
class NackReceiveTellsArrivalsOnly(_PartlyTold):
    """A message that asks for all negative acknowledgments ends unreceived in its queue, and none is sent."""

    kinds, silent = _NACK_RECEIVE, False


@fault("full-receive-tells-failures-only", "delivery", "MQDMPR-3.1.1.12.ack-full-receive")
class FullReceiveTellsFailuresOnly(_PartlyTold):
    """A message that asks for full receive acknowledgments is received, and no acknowledgment is sent."""

    kinds, silent = _FULL_RECEIVE, True


@fault(
    "receive-reported-purged", Receiving.take, "MQDMPR-3.1.7.1.10.deleted-reason", "MQDMPR-3.1.7.1.13.deleted-reason",
    "MQDMPR-3.1.1.12.ack-pos-receive", "MQDMPR-3.1.1.12.class-ack-receive", "MQMQ-2.3.1.4.journal-copy",
    first_seen_as=("MQQB-3.1.7.15.requested",),
    because="the sender asked to be told of the receive alone, so that a report of a purge is one it did not ask for",
)  # fmt: skip
def receive_reported_purged(plain, self, position, transaction):
    """A message that is received outside any transaction counts as purged."""
    if transaction is not None:
        return plain(position, transaction)
    self.manager.delivery.delete(position, Reason.PURGED)
    return self.show(position)


@fault(
    "committed-receive-reported-purged", Transactions.commit_step, "MQDMPR-3.1.7.1.10.operation-reason",
    "MQDMPR-3.1.7.1.13.operation-reason", "MQDMPR-3.1.4.4.receive-reason", "MQDMPR-3.1.1.12.ack-pos-receive",
    "MQMQ-2.3.1.4.journal-copy",
)  # fmt: skip
def committed_receive_reported_purged(plain, self, step):
    """A message whose receive is committed counts as purged."""
    if step.operation is Operation.DEQUEUE:
        self.manager.delivery.delete(step.position, Reason.PURGED)
    else:
        plain(step)


@fault("aborted-purge-reported-received", Transactions.abort_step, "MQDMPR-3.1.4.5.purged-receive-nack")
def aborted_purge_reported_received(plain, self, step):
    """A message that was purged while a transaction had it is reported as received when the transaction aborts."""
    if step.operation is Operation.DEQUEUE and step.position.state is State.PURGE_PENDING:
        self.manager.delivery.delete(step.position, Reason.RECEIVED)
    else:
        plain(step)


@fault("ended-purge-reported-received", Receiving.end, "MQDMPR-3.1.7.1.12.deleted-reason")
def ended_purge_reported_received(plain, self, read, *, acknowledge):
    """A message that was purged while its receive was open is reported as received at the end of the receive."""
    if read.position.state is not State.PURGE_PENDING:
        plain(read, acknowledge=acknowledge)
        return
    del self.manager.open_reads[read.handle]
    if read.position.queue.deleted:
        raise MqError(MQ_ERROR_QUEUE_NOT_AVAILABLE)
    self.manager.delivery.delete(read.position, Reason.RECEIVED)


@fault("journaling-not-shown", Receiving.show, "MQDMPR-3.1.1.12.positive-journaling")
def journaling_not_shown(plain, self, position):
    """A message that asks for positive journaling is copied, and read as one that does not ask for it."""
    shown = plain(position)
    shown["message"]["positive_journaling"] = False
    return shown


@fault("arrivals-acknowledged-not-shown", Receiving.show, "MQDMPR-3.1.1.12.ack-pos-arrival")
def arrivals_acknowledged_not_shown(plain, self, position):
    """A message that asks for an acknowledgment of its arrival is read as one that does not."""
    shown = plain(position)
    asked = shown["message"]["acknowledgements"]
    shown["message"]["acknowledgements"] = [kind for kind in asked if kind != "positive_arrival"]
    return shown


@fault("time-to-be-received-of-the-last", "sending", "MQDMPR-3.1.1.12.default-time-to-be-received")
class TimeToBeReceivedOfTheLast(LastMember):
    """A message without a time to be received shows that of the message before."""

    member = "time_to_be_received"


@fault(
    "recovery-restarts-lifetimes", Delivery.start_timer, "MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.1.12.time-to-be-received"
)
def recovery_restarts_lifetimes(plain, self, position):
    """After a restart, the time to be received of a recoverable message begins again."""
    message, lasts = position.message, position.message.fields["time_to_be_received"]
    if message.expires_ms is not None and position.state is State.AVAILABLE:
        message.expires_ms = self.manager.clock.now_ms() + lasts * 1000
    plain(position)
