"""Faults of copies in journals and dead-letter queues: of which messages, when, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.alternatives.leftovers import OneDeadLetterQueue
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import (
    Message,
    Operation,
    Position,
    Queue,
    Reason,
    Result,
    State,
    Transaction,
    UndoStep,
)
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.cursors.handles import Heirlooms
from conformance.embedded.receiving import Receiving
from conformance.embedded.sending import Sending
from conformance.embedded.transactions import Transactions


class _Unjournaled(Delivery):
    def delete(self, position: Position, reason: Reason) -> None:
        journal, position.queue.journal = position.queue.journal, None
        super().delete(position, reason)
        position.queue.journal = journal


class TargetJournalMissing(Fault):
    """Nothing received from a queue that journals is in its journal."""

    name = "target-journal-missing"
    breaks = ("MQMQ-2.3.1.4.journal-copy",)
    replaces = ("delivery", _Unjournaled)


class _UnjournaledCommit(Transactions):
    def commit_step(self, step: UndoStep) -> None:
        journal, step.position.queue.journal = step.position.queue.journal, None
        super().commit_step(step)
        step.position.queue.journal = journal


class TargetJournalMissingInTransactions(Fault):
    """What is received in a transaction is in no journal."""

    name = "target-journal-missing-in-transactions"
    breaks = ("MQMQ-2.3.1.4.journal-copy",)
    replaces = ("transactions", _UnjournaledCommit)


class _PeekJournal(Receiving):
    def peeked(self, position: Position) -> Result:
        if position.queue.journaling:
            self.manager.delivery.copy(position.queue.journal, position.message)
        return super().peeked(position)


class PeekJournals(Fault):
    """A peek, too, copies its message to the journal."""

    name = "peek-journals"
    breaks = (
        "MQMQ-2.3.1.4.journal-peek",
        "MQMQ-2.3.1.4.journal-copy",
    )
    replaces = ("reading", _PeekJournal)


class _MoreCopies(Delivery):
    """Copies messages that leave their queue to its journal, as many as a subclass says beside what is due."""

    def delete(self, position: Position, reason: Reason) -> None:
        copies = position.state is not State.DELETED and self.also_copied(position, reason)
        super().delete(position, reason)
        if copies:
            self.copy(position.queue.journal, position.message)

    def also_copied(self, position: Position, reason: Reason) -> bool:
        raise AssertionError("every subclass says which")


class _AlwaysJournal(_MoreCopies):
    def also_copied(self, position: Position, reason: Reason) -> bool:
        queue = position.queue
        return reason is Reason.RECEIVED and not queue.journaling and queue.kind in ("private", "public")


class JournalsUnasked(Fault):
    """What is received from a queue that does not journal is in its journal all the same."""

    name = "journals-unasked"
    breaks = ("MQMQ-2.3.1.4.journal-none",)
    replaces = ("delivery", _AlwaysJournal)


class _TwiceJournal(_MoreCopies):
    def also_copied(self, position: Position, reason: Reason) -> bool:
        return reason is Reason.RECEIVED and position.queue.journaling


class JournalsTwice(Fault):
    """A received message is in the journal of its queue twice."""

    name = "journals-twice"
    # Whoever empties the journal finds a copy again that was taken out already.
    breaks = ("MQMQ-2.3.1.4.journal-copy",)
    replaces = ("delivery", _TwiceJournal)


class _AbortJournal(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        if step.operation is Operation.DEQUEUE and step.position.queue.journaling:
            self.manager.delivery.copy(step.position.queue.journal, step.position.message)
        super().abort_step(step)


class AbortedReceiveJournals(Fault):
    """A message whose receive was aborted is in the journal of its queue."""

    name = "aborted-receive-journals"
    breaks = (
        "MQMQ-2.3.1.4.journal-copy",
        "MQDMPR-3.1.4.5.receives-return",
    )
    replaces = ("transactions", _AbortJournal)


class _RemovalJournal(_MoreCopies):
    def also_copied(self, position: Position, reason: Reason) -> bool:
        return reason in (Reason.PURGED, Reason.EXPIRED) and position.queue.journaling


class JournalsWhatWasNotReceived(Fault):
    """Purged and expired messages are in the journal of their queue, as if they had been received."""

    name = "journals-what-was-not-received"
    breaks = ("MQMQ-2.3.1.4.journal-copy",)
    replaces = ("delivery", _RemovalJournal)


class _EmptyCopies(Delivery):
    def copy(self, queue: Queue | None, message: Message) -> None:
        super().copy(queue, replace(message, fields={**message.fields, "body": ""}))


class JournalCopiesHaveNoBody(Fault):
    """The copies in journals and dead-letter queues have lost the body of their message."""

    name = "journal-copies-have-no-body"
    breaks = (
        "MQMQ-2.3.1.4.journal-copy",
        "MQDMPR-3.1.1.12.body-unchanged",
        "MQDMPR-3.1.7.2.7.dead-letter",
        "MQDMPR-3.1.1.12.negative-journaling",
        "MQDMPR-3.1.1.12.positive-journaling",
    )
    replaces = ("delivery", _EmptyCopies)


class _Sourceless(Delivery):
    def arrived(self, message: Message, queue: Queue) -> None:
        super().arrived(replace(message, fields={**message.fields, "positive_journaling": False}), queue)


class SourceJournalMissing(Fault):
    """A message that asks for positive journaling is in no journal of its sender."""

    name = "source-journal-missing"
    breaks = (
        "MQDMPR-3.1.1.12.positive-journaling",
        "MQMP-2.2.3.2.auditing-journal",
        "MQAC-2.2.2.12.mqmsg-journal-message-queue-manager-system-journal-queue",
    )
    replaces = ("delivery", _Sourceless)


class _AlwaysSource(Delivery):
    def arrived(self, message: Message, queue: Queue) -> None:
        super().arrived(message, queue)
        if queue.kind != "outgoing" and not message.fields["positive_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)


class SourceJournalUnasked(Fault):
    """Every message sent is in the journal of its sender."""

    name = "source-journal-unasked"
    breaks = (
        "MQDMPR-3.1.1.12.positive-journaling-off",
        "MQDMPR-3.1.1.12.default-positive-journaling",
        "MQMP-2.2.3.2.auditing-none",
    )
    replaces = ("delivery", _AlwaysSource)


class _EarlySource(Transactions):
    def abort_step(self, step: UndoStep) -> None:
        super().abort_step(step)
        if step.operation is Operation.ENQUEUE and step.position.message.fields["positive_journaling"]:
            self.manager.delivery.copy(self.manager.queues.system("journal"), step.position.message)


class AbortedSendInSourceJournal(Fault):
    """A message whose send was aborted is in the journal of its sender."""

    name = "aborted-send-in-source-journal"
    breaks = (
        "MQDMPR-3.1.4.5.sends-vanish",
        "MQDMPR-3.1.1.12.positive-journaling",
    )
    first_seen_as = ("MQDMPR-3.1.1.12.positive-journaling-off",)
    because = "a copy that is in the journal and must not be is one nobody asked for, as far as the journal tells"
    replaces = ("transactions", _EarlySource)


class _NoDeadLetters(Delivery):
    def dead_letter(self, message: Message) -> None:
        return


class DeadLetterMissing(Fault):
    """A message that asks for negative journaling and expires is in no dead-letter queue."""

    name = "dead-letter-missing"
    breaks = (
        "MQDMPR-3.1.7.2.7.dead-letter",
        "MQDMPR-3.1.1.12.negative-journaling",
        "MQMP-2.2.3.2.auditing-deadletter",
        "MQAC-2.2.2.12.mqmsg-deadletter-message-queuing-system",
        "MQDMPR-3.1.1.12.negative-journaling-transactional",
    )
    replaces = ("delivery", _NoDeadLetters)


class _AllDeadLetters(Delivery):
    def dead_letter(self, message: Message) -> None:
        self.copy(self.manager.queues.system("deadxact" if message.transactional else "deadletter"), message)


class DeadLetterUnasked(Fault):
    """Every message that expires is in a dead-letter queue."""

    name = "dead-letter-unasked"
    breaks = (
        "MQDMPR-3.1.1.12.negative-journaling-off",
        "MQDMPR-3.1.1.12.default-negative-journaling",
        "MQMP-2.2.3.2.auditing-none",
    )
    replaces = ("delivery", _AllDeadLetters)


class TransactionalDeadLetterMisplaced(Fault):
    """Transactional messages, too, end in the dead-letter queue of the others."""

    name = "transactional-dead-letter-misplaced"
    breaks = (
        "MQDMPR-3.1.1.12.negative-journaling-transactional",
        "MQAC-3.1.6.1.1.local-queue-manager-identifier",
    )
    replaces = ("delivery", OneDeadLetterQueue)


class _Misjudging(Delivery):
    def delete(self, position: Position, reason: Reason) -> None:
        received = position.state is not State.DELETED and reason is Reason.RECEIVED and not position.queue.is_journal
        super().delete(position, reason)
        if received:
            self.dead_letter(position.message)


class ReceivedMessageIsDeadLetter(Fault):
    """A message that asks for negative journaling is in a dead-letter queue although it was received."""

    name = "received-message-is-dead-letter"
    breaks = (
        "MQDMPR-3.1.1.12.negative-journaling",
        "MQMP-2.2.3.2.auditing-deadletter",
        "MQAC-2.2.2.12.mqmsg-deadletter-message-queuing-system",
    )
    replaces = ("delivery", _Misjudging)


class _MixedUp(Delivery):
    def dead_letter(self, message: Message) -> None:
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)


class DeadLetterInJournal(Fault):
    """Messages that expire are copied to the journal of the system instead of a dead-letter queue."""

    name = "dead-letter-in-journal"
    breaks = (
        "MQDMPR-3.1.7.2.7.dead-letter",
        "MQDMPR-3.1.1.12.negative-journaling",
        "MQDMPR-3.1.1.12.positive-journaling-off",
        "MQAC-3.1.6.1.1.deadletter-message-generating-move",
        "MQDMPR-3.1.1.12.negative-journaling-transactional",
    )
    replaces = ("delivery", _MixedUp)


class _BeforeReading(Delivery):
    def make_available(self, position: Position) -> None:
        super().make_available(position)
        if position.queue.kind == "journal" and position.message.fields["delivery"] == "express":
            self.remove(position)


class ExpressMessagesNotJournaled(Fault):
    """The journal of a queue takes recoverable messages only."""

    name = "express-messages-not-journaled"
    breaks = ("MQMQ-2.3.1.4.journal-copy",)
    replaces = ("delivery", _BeforeReading)


class _Straggling(Heirlooms):
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


class JournalOutlivesItsQueue(Fault):
    """A queue created under the path name of a deleted one has the journal of that one."""

    name = "journal-outlives-its-queue"
    breaks = ("MQDMPR-3.1.7.1.3.journal-queue",)
    replaces = ("queues", _Straggling)


class _Spilling(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        lookup = super().enqueue(queue, message, transaction)
        if transaction is None and queue.kind in ("private", "public"):
            others = [other for other in self.manager.queues.all() if other.kind == queue.kind and other is not queue]
            for other in others[:1]:
                if not other.transactional:
                    asks_nothing = {"negative_journaling": False, "positive_journaling": False, "acknowledgements": []}
                    copy = replace(message, fields={**message.fields, **asks_nothing}, expires_ms=None)
                    self.manager.delivery.place(other, copy, limited=False)
        return lookup


class SendSpillsIntoOther(Fault):
    """A message is put in its destination and in another queue of the manager."""

    name = "send-spills-into-other"
    breaks = ("MQDMPR-3.1.7.1.9.only-destination",)
    replaces = ("sending", _Spilling)
