"""Faults of the durable state: of the entities that a start restores or loses (MS-MQDMPR 3.1.1.11, 3.1.1.12, 3.1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Descriptor, Message, Operation, Position, Queue, Result, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.store import MessageRow, QueueRow, Store
from conformance.embedded.transactions import Transactions

_FAR = 1 << 40


class _Doubling(Store):
    def messages(self) -> Iterator[MessageRow]:
        last: MessageRow | None = None
        for row in super().messages():
            yield row
            last = row
        if last is not None:
            yield replace(last, row=last.row + _FAR, key=last.key + _FAR, lookup=last.lookup + _FAR)


class RecoveryDuplicatesLast(Fault):
    """After a start, the message that was stored last is in its queue twice."""

    name = "recovery-duplicates-last"
    breaks = (
        "MQDMPR-3.1.7.1.9.once",
        "MQDMPR-3.1.1.persistent-survives",
    )
    replaces = ("store", _Doubling)


class _Reversing(Store):
    def messages(self) -> Iterator[MessageRow]:
        rows = list(super().messages())
        places = {row.row: row for row in rows}
        for queue in {row.queue for row in rows}:
            mine = sorted((row for row in rows if row.queue == queue), key=lambda row: row.key)
            for row, other in zip(mine, reversed(mine), strict=True):
                places[row.row] = replace(row, key=other.key, lookup=other.lookup)
        yield from places.values()


class RecoveryReversesOrder(Fault):
    """After a start, the messages of a queue stand in the reverse order."""

    name = "recovery-reverses-order"
    breaks = ("MQDMPR-3.1.1.12.recoverable-order",)
    replaces = ("store", _Reversing)


class _Levelling(Store):
    def messages(self) -> Iterator[MessageRow]:
        for row in super().messages():
            yield replace(row, key=row.row)


class RecoveryLosesPriorities(Fault):
    """After a start, messages stand in the order of their arrival, whatever their priority."""

    name = "recovery-loses-priorities"
    breaks = (
        "MQDMPR-3.1.1.12.recoverable-order",
        "MQDMPR-3.1.1.2.priority-before-arrival",
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
    )
    replaces = ("store", _Levelling)


class _Blank(Store):
    def messages(self) -> Iterator[MessageRow]:
        for row in super().messages():
            yield replace(row, fields={**row.fields, "label": "", "application_tag": 0})


class RecoveryLosesLabels(Fault):
    """After a start, messages have neither label nor application tag."""

    name = "recovery-loses-labels"
    breaks = (
        "MQDMPR-3.1.1.12.recoverable-attributes-survive",
        "MQDMPR-3.1.1.12.label-unchanged",
    )
    replaces = ("store", _Blank)


class _Renumbering(Store):
    def messages(self) -> Iterator[MessageRow]:
        for row in super().messages():
            yield replace(row, lookup=row.lookup + _FAR)


class RecoveryChangesLookupIds(Fault):
    """After a start, messages have other lookup identifiers."""

    name = "recovery-changes-lookup-ids"
    breaks = ("MQDMPR-3.1.1.12.recoverable-attributes-survive",)
    replaces = ("store", _Renumbering)


class _Journalless(Store):
    def messages(self) -> Iterator[MessageRow]:
        return (row for row in super().messages() if not row.queue.endswith(";;journal"))


class RecoveryForgetsJournals(Fault):
    """After a start, the journals of queues are empty."""

    name = "recovery-forgets-journals"
    breaks = ("MQDMPR-3.1.1.2.system-queues-kept",)
    replaces = ("store", _Journalless)


class _Burying(Store):
    def messages(self) -> Iterator[MessageRow]:
        return (row for row in super().messages() if not row.queue.startswith("system;"))


class RecoveryForgetsDeadLetters(Fault):
    """After a start, the journal and the dead-letter queues of the system are empty."""

    name = "recovery-forgets-dead-letters"
    breaks = ("MQDMPR-3.1.1.2.system-queues-kept",)
    replaces = ("store", _Burying)


class _Unending(Store):
    def messages(self) -> Iterator[MessageRow]:
        return (replace(row, expires_ms=None) for row in super().messages())


class RecoveryStopsExpiry(Fault):
    """After a start, messages do not expire any more."""

    name = "recovery-stops-expiry"
    breaks = ("MQDMPR-3.1.2.4.expires",)
    replaces = ("store", _Unending)


class _Flat(Store):
    def queues(self) -> list[QueueRow]:
        return [row for row in super().queues() if row.kind != "subqueue"]


class RecoveryForgetsSubqueues(Fault):
    """After a start, there are no subqueues, and their messages are gone."""

    name = "recovery-forgets-subqueues"
    breaks = (
        "MQDMPR-3.1.1.12.recoverable-survives",
        "MQDMPR-3.1.1.persistent-survives",
        "MQDMPR-3.1.1.2.subqueue-collection",
    )
    replaces = ("store", _Flat)


class _StoringEarly(Delivery):
    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        position = super().place(queue, message, uncommitted=uncommitted, limited=limited)
        if uncommitted:
            self.keep(position)
        return position


class UncommittedSendSurvives(Fault):
    """After a start, the messages of a transaction that was never committed are in their queues."""

    name = "uncommitted-send-survives"
    breaks = (
        "MQDMPR-3.1.3.uncommitted-send-lost",
        "MQDMPR-3.1.3.unfinished-transaction-aborted",
        "MQDMPR-3.1.3.abort-transaction",
    )
    replaces = ("delivery", _StoringEarly)


class _CommittingPrepare(Transactions):
    def prepare(self, transaction: Transaction) -> None:
        super().prepare(transaction)
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE:
                self.manager.delivery.keep(step.position)


class PreparedSendSurvives(Fault):
    """After a start, the messages of a transaction that was prepared and not committed are in their queues."""

    name = "prepared-send-survives"
    breaks = (
        "MQDMPR-3.1.3.uncommitted-send-lost",
        "MQDMPR-3.1.3.abort-transaction",
        "MQDMPR-3.1.7.1.9.uncommitted-locked",
    )
    replaces = ("transactions", _CommittingPrepare)


class _Hasty(Receiving):
    def take(self, position: Position, transaction: Transaction | None) -> Result:
        if transaction is not None:
            self.manager.store.drop_message(position.row)
        return super().take(position, transaction)


class UncommittedReceiveLost(Fault):
    """After a start, a message that an open transaction had received is gone."""

    name = "uncommitted-receive-lost"
    breaks = (
        "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
        "MQDMPR-3.1.3.unfinished-transaction-aborted",
        "MQDMPR-3.1.3.abort-transaction",
    )
    replaces = ("reading", _Hasty)


class _Forgetting(Receiving):
    def begin(self, at: Descriptor, position: Position) -> Result:
        self.manager.store.drop_message(position.row)
        return super().begin(at, position)


class BegunReadLost(Fault):
    """After a start, a message whose read in two phases had begun is gone."""

    name = "begun-read-lost"
    breaks = (
        "MQDMPR-3.1.1.12.recoverable-survives",
        "MQDMPR-3.1.1.11.recoverable-persistent",
        "MQMQ-2.2.19.2.recoverable-recovered",
    )
    replaces = ("reading", _Forgetting)


class _HalfKept(Delivery):
    def keep(self, position: Position) -> None:
        message = position.message
        if not message.recoverable and position.queue.kind in ("private", "public"):
            stored = replace(message, fields={**message.fields, "body": "", "label": "", "delivery": "recoverable"})
            position.message = stored
            super().keep(position)
            position.message = message
        else:
            super().keep(position)


class ExpressSurvivesMaimed(Fault):
    """After a start, express messages are there, received ones too, and have lost label and body."""

    name = "express-survives-maimed"
    breaks = (
        "MQDMPR-3.1.1.12.express-may-survive",
        "MQDMPR-3.1.7.1.10.at-most-once",
        "MQDMPR-3.1.1.12.body-unchanged",
    )
    replaces = ("delivery", _HalfKept)


class _UnstoredMove(Transactions):
    def relocate(self, position: Position, target: Queue) -> None:
        source = position.queue
        before = MessageRow(
            position.row,
            source.id,
            position.lookup,
            position.key,
            position.arrival,
            position.message.size,
            position.message.sent_ms,
            position.message.expires_ms,
            position.message.transactional,
            position.message.fields,
        )
        super().relocate(position, target)
        if position.message.recoverable:
            self.manager.store.put_message(before)


class MovedMessageReturns(Fault):
    """After a start, a moved message is in the source, too."""

    name = "moved-message-returns"
    breaks = (
        "MQDMPR-3.1.7.1.16.moved",
        "MQDMPR-3.1.1.11.recoverable-persistent",
    )
    replaces = ("transactions", _UnstoredMove)
