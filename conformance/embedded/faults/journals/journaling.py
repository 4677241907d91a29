"""Faults of copies in journals and dead-letter queues: of which messages, when, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.alternatives.leftovers import OneDeadLetterQueue
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    Operation,
    Position,
    Reason,
    State,
)
from conformance.embedded.faults.base import fault, row
from conformance.embedded.faults.cursors.handles import Heirlooms
from conformance.embedded.receiving import Receiving
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions


@fault("target-journal-missing", Delivery.delete, "MQMQ-2.3.1.4.journal-copy")
def target_journal_missing(plain, self, position, reason):
    """Nothing received from a queue that journals is in its journal."""
    journal, position.queue.journal = position.queue.journal, None
    plain(position, reason)
    position.queue.journal = journal


@fault("target-journal-missing-in-transactions", Transactions.commit_step, "MQMQ-2.3.1.4.journal-copy")
def target_journal_missing_in_transactions(plain, self, step):
    """What is received in a transaction is in no journal."""
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
    """What is received from a queue that does not journal is in its journal all the same."""

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
