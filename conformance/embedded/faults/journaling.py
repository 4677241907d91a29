"""Faults of journals and dead-letter queues: what is copied there, when, and how often."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.alternatives.keeping import OneDeadLetterQueue
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Message, Operation, Position, Queue, Reason, Result, State, Step
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import BYTES, dmpr
from conformance.embedded.reading import Reading
from conformance.embedded.transactions import Transactions

_COPY = ("MQMQ-2.3.1.4.journal-copy", *dmpr("3.1.1.2.journaling", "3.1.1.2.journal-queue-reference"), *BYTES)
_NO_COPY = ("MQMQ-2.3.1.4.journal-none", "MQMQ-2.3.1.4.journal-copy", *dmpr("3.1.1.2.journaling"), *BYTES)
_SOURCE = dmpr("3.1.1.12.positive-journaling", "3.1.1.1.system-journal-queue")
_NO_SOURCE = dmpr("3.1.1.12.positive-journaling-off", "3.1.1.12.default-positive-journaling")
_DEAD = dmpr(
    "3.1.1.12.negative-journaling",
    "3.1.1.12.negative-journaling-transactional",
    "3.1.7.2.7.dead-letter",
    "3.1.1.1.system-deadletter-queue",
    "3.1.1.1.system-transactional-deadletter-queue",
)
_NOT_DEAD = dmpr("3.1.1.12.negative-journaling-off", "3.1.1.12.default-negative-journaling")


class _Unjournaled(Delivery):
    def delete(self, position: Position, reason: Reason) -> None:
        journal, position.queue.journal = position.queue.journal, None
        super().delete(position, reason)
        position.queue.journal = journal


class TargetJournalMissing(Fault):
    """Nothing received from a queue that journals is in its journal."""

    name = "target-journal-missing"
    suite = "journals"
    breaks = _COPY
    replaces = ("delivery", _Unjournaled)


class _UnjournaledCommit(Transactions):
    def commit_step(self, step: Step) -> None:
        journal, step.position.queue.journal = step.position.queue.journal, None
        super().commit_step(step)
        step.position.queue.journal = journal


class TargetJournalMissingInTransactions(Fault):
    """What is received in a transaction is in no journal."""

    name = "target-journal-missing-in-transactions"
    suite = "journals"
    breaks = _COPY
    replaces = ("transactions", _UnjournaledCommit)


class _PeekJournal(Reading):
    def peeked(self, position: Position) -> Result:
        if position.queue.journaling:
            self.manager.delivery.copy(position.queue.journal, position.message)
        return super().peeked(position)


class PeekJournals(Fault):
    """A peek, too, copies its message to the journal."""

    name = "peek-journals"
    suite = "journals"
    breaks = ("MQMQ-2.3.1.4.journal-peek", *_COPY)
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
    suite = "journals"
    breaks = _NO_COPY
    replaces = ("delivery", _AlwaysJournal)


class _TwiceJournal(_MoreCopies):
    def also_copied(self, position: Position, reason: Reason) -> bool:
        return reason is Reason.RECEIVED and position.queue.journaling


class JournalsTwice(Fault):
    """A received message is in the journal of its queue twice."""

    name = "journals-twice"
    suite = "journals"
    # Whoever empties the journal finds a copy again that was taken out already.
    breaks = (*_COPY, *dmpr("3.1.7.1.10.removes", "3.1.7.1.10.at-most-once", "3.1.7.1.10.no-wait"))
    replaces = ("delivery", _TwiceJournal)


class _AbortJournal(Transactions):
    def abort_step(self, step: Step) -> None:
        if step.operation is Operation.DEQUEUE and step.position.queue.journaling:
            self.manager.delivery.copy(step.position.queue.journal, step.position.message)
        super().abort_step(step)


class AbortedReceiveJournals(Fault):
    """A message whose receive was aborted is in the journal of its queue."""

    name = "aborted-receive-journals"
    suite = "journals"
    breaks = (*_COPY, *dmpr("3.1.4.5.receives-return"))
    replaces = ("transactions", _AbortJournal)


class _RemovalJournal(_MoreCopies):
    def also_copied(self, position: Position, reason: Reason) -> bool:
        return reason in (Reason.PURGED, Reason.EXPIRED) and position.queue.journaling


class JournalsWhatWasNotReceived(Fault):
    """Purged and expired messages are in the journal of their queue, as if they had been received."""

    name = "journals-what-was-not-received"
    suite = "journals"
    breaks = (*_COPY, "MQMQ-2.3.1.4.journal-none")
    replaces = ("delivery", _RemovalJournal)


class _EmptyCopies(Delivery):
    def copy(self, queue: Queue | None, message: Message) -> None:
        super().copy(queue, replace(message, fields={**message.fields, "body": ""}))


class JournalCopiesHaveNoBody(Fault):
    """The copies in journals and dead-letter queues have lost the body of their message."""

    name = "journal-copies-have-no-body"
    suite = "journals"
    breaks = (*_COPY, "MQMQ-2.3.1.4.journal-none", *_SOURCE, *_DEAD, *dmpr("3.1.1.12.body-unchanged"))
    replaces = ("delivery", _EmptyCopies)


class _Sourceless(Delivery):
    def arrived(self, message: Message, queue: Queue) -> None:
        super().arrived(replace(message, fields={**message.fields, "positive_journaling": False}), queue)


class SourceJournalMissing(Fault):
    """A message that asks for positive journaling is in no journal of its sender."""

    name = "source-journal-missing"
    suite = "journals"
    breaks = _SOURCE
    replaces = ("delivery", _Sourceless)


class _AlwaysSource(Delivery):
    def arrived(self, message: Message, queue: Queue) -> None:
        super().arrived(message, queue)
        if queue.kind != "outgoing" and not message.fields["positive_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)


class SourceJournalUnasked(Fault):
    """Every message sent is in the journal of its sender."""

    name = "source-journal-unasked"
    suite = "journals"
    breaks = _NO_SOURCE
    replaces = ("delivery", _AlwaysSource)


class _EarlySource(Transactions):
    def abort_step(self, step: Step) -> None:
        super().abort_step(step)
        if step.operation is Operation.ENQUEUE and step.position.message.fields["positive_journaling"]:
            self.manager.delivery.copy(self.manager.queues.system("journal"), step.position.message)


class AbortedSendInSourceJournal(Fault):
    """A message whose send was aborted is in the journal of its sender."""

    name = "aborted-send-in-source-journal"
    suite = "journals"
    breaks = (*_SOURCE, *dmpr("3.1.4.5.sends-vanish", "3.1.1.12.positive-journaling-off"))
    replaces = ("transactions", _EarlySource)


class _NoDeadLetters(Delivery):
    def dead_letter(self, message: Message) -> None:
        return


class DeadLetterMissing(Fault):
    """A message that asks for negative journaling and expires is in no dead-letter queue."""

    name = "dead-letter-missing"
    suite = "journals"
    breaks = _DEAD
    replaces = ("delivery", _NoDeadLetters)


class _AllDeadLetters(Delivery):
    def dead_letter(self, message: Message) -> None:
        self.copy(self.manager.queues.system("deadxact" if message.transactional else "deadletter"), message)


class DeadLetterUnasked(Fault):
    """Every message that expires is in a dead-letter queue."""

    name = "dead-letter-unasked"
    suite = "journals"
    breaks = _NOT_DEAD
    replaces = ("delivery", _AllDeadLetters)


class TransactionalDeadLetterMisplaced(Fault):
    """Transactional messages, too, end in the dead-letter queue of the others."""

    name = "transactional-dead-letter-misplaced"
    suite = "journals"
    breaks = dmpr("3.1.1.12.negative-journaling-transactional", "3.1.1.1.system-transactional-deadletter-queue")
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
    suite = "journals"
    breaks = (*_DEAD, *_NOT_DEAD)
    replaces = ("delivery", _Misjudging)


class _MixedUp(Delivery):
    def dead_letter(self, message: Message) -> None:
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)


class DeadLetterInJournal(Fault):
    """Messages that expire are copied to the journal of the system instead of a dead-letter queue."""

    name = "dead-letter-in-journal"
    suite = "journals"
    breaks = (*_DEAD, *_SOURCE, *_NO_SOURCE)
    replaces = ("delivery", _MixedUp)


class _BeforeReading(Delivery):
    def make_available(self, position: Position) -> None:
        super().make_available(position)
        if position.queue.kind == "journal" and position.message.fields["delivery"] == "express":
            self.remove(position)


class ExpressMessagesNotJournaled(Fault):
    """The journal of a queue takes recoverable messages only."""

    name = "express-messages-not-journaled"
    suite = "journals"
    breaks = _COPY
    replaces = ("delivery", _BeforeReading)


JOURNALING_FAULTS: tuple[type[Fault], ...] = (
    TargetJournalMissing,
    TargetJournalMissingInTransactions,
    PeekJournals,
    JournalsUnasked,
    JournalsTwice,
    AbortedReceiveJournals,
    JournalsWhatWasNotReceived,
    JournalCopiesHaveNoBody,
    SourceJournalMissing,
    SourceJournalUnasked,
    AbortedSendInSourceJournal,
    DeadLetterMissing,
    DeadLetterUnasked,
    TransactionalDeadLetterMisplaced,
    ReceivedMessageIsDeadLetter,
    DeadLetterInJournal,
    ExpressMessagesNotJournaled,
)
