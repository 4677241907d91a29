"""Faults that show only afterwards: after a restart, an abort, a purge, a wait, or a round trip of a packet."""

from __future__ import annotations

import re

from conformance.embedded.cursors import Cursors
from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Cursor, CursorState, Descriptor, Position, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import NameParser
from conformance.embedded.packet_write import PacketWriter
from conformance.embedded.queues import Queues
from conformance.embedded.transactions import Transactions


class _ForgetfulDelivery(Delivery):
    def keep(self, position: Position) -> None:
        if position.message.transactional:
            super().keep(position)


class RecoverableLostOnRestart(Fault):
    """A recoverable message sent outside a transaction is kept in memory only."""

    name = "recoverable-lost-on-restart"
    suite = "transactions"
    breaks = ("MQDMPR-3.1.1.12.recoverable-survives", "MQDMPR-3.1.1.12.recoverable-order")
    replaces = ("delivery", _ForgetfulDelivery)


class _SparingPurge(Queues):
    def purge_position(self, position: Position) -> None:
        if position.state is not State.LOCKED:
            super().purge_position(position)


class PurgeForgetsLocked(Fault):
    """A purge passes over a message that a transaction has received: an abort brings it back."""

    name = "purge-forgets-locked"
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.7.1.7.locked-purge-pending",
        "MQDMPR-3.1.4.5.purged-receive",
        "MQDMPR-3.1.4.5.purged-deleted",
        "MQDMPR-3.1.4.5.unpurged-return",
    )
    replaces = ("queues", _SparingPurge)


class _ImmortalTransactions(Transactions):
    def abort(self, transaction: Transaction) -> None:
        super().abort(transaction)
        transaction.steps.clear()
        self.manager.open_transactions[transaction.handle] = transaction


class TransactionOutlivesAbort(Fault):
    """An aborted transaction can be used again, as if it had just begun."""

    name = "transaction-outlives-abort"
    suite = "transactions"
    breaks = (
        "MQDMPR-3.1.4.5.transaction-ends",
        "MQDMPR-3.1.4.3.unknown",
        "MQDMPR-3.1.4.3.unknown-code",
        "MQDMPR-3.1.4.5.unknown",
        "MQDMPR-3.1.4.4.unknown",
    )
    replaces = ("transactions", _ImmortalTransactions)


class _RewindingCursors(Cursors):
    def wait_expired(self, cursor: Cursor) -> None:
        waited = cursor.state in (CursorState.WAIT_RECEIVE, CursorState.WAIT_PEEK)
        key = cursor.key
        super().wait_expired(cursor)
        if waited:
            cursor.key = key


class TimedOutCursorKeepsPlace(Fault):
    """A cursor whose wait timed out stays where it stood, and its next read finds what has come since."""

    name = "timed-out-cursor-keeps-place"
    suite = "cursors"
    breaks = ("MQDMPR-3.2.7.6.receive-at-end",)
    replaces = ("cursors", _RewindingCursors)


class _StingyDelivery(Delivery):
    def make_available(self, position: Position) -> None:
        waiters = position.queue.waiters
        hidden = [waiter for waiter in waiters[1:] if not waiters[0].destructive]
        for waiter in hidden:
            waiters.remove(waiter)
        super().make_available(position)
        waiters.extend(hidden)


class WakesOnlyFirstPeeker(Fault):
    """A message that becomes available ends the first wait only, also when that is a peek which leaves the message."""

    name = "wakes-only-first-peeker"
    suite = "cursors"
    breaks = (
        "MQDMPR-3.1.7.2.2.peekers-before-receiver",
        "MQDMPR-3.1.7.2.2.every-handle",
        "MQDMPR-3.1.7.2.2.reader-satisfied",
        "MQDMPR-3.1.7.1.10.wakes",
        "MQDMPR-3.1.7.1.14.wakes",
        "MQDMPR-3.1.7.1.15.wakes",
    )
    replaces = ("delivery", _StingyDelivery)


class _LooseAddresses(NameParser):
    def _address(self, protocol: str, address: str) -> bool:
        loose = protocol == "TCP" and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", address, re.ASCII)
        return bool(loose) or super()._address(protocol, address)


class AcceptsOctetOver255(Fault):
    """`DIRECT=TCP:` takes any four numbers of up to three digits for an address."""

    name = "accepts-octet-over-255"
    suite = "names"
    breaks = ("MQMQ-2.1.2.tcp-address-reject", "MQMP-3.1.4.17.malformed-format-name")
    replaces = ("names", _LooseAddresses)


class _CountingPadding(PacketWriter):
    def label_length(self, label: bytes) -> int:
        return (len(label) + 3) // 4 * 2


class LabelLengthRoundedUp(Fault):
    """LabelLength of a label with an even number of characters counts a WCHAR that is not there."""

    name = "label-length-rounded-up"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.19.3.label-length",
        "MQMQ-2.2.19.3.label-format",
        "MQDMPR-3.1.7.1.32.message-properties-header-label-length",
    )
    replaces = ("writer", _CountingPadding)


class _HandlesOutlived(Queues):
    def close(self, descriptor: Descriptor) -> None:
        if descriptor.queue is not None and descriptor.queue.waiters:
            mine = [waiter for waiter in descriptor.queue.waiters if waiter.descriptor is descriptor]
            for waiter in mine:
                descriptor.queue.waiters.remove(waiter)
            super().close(descriptor)
            descriptor.queue.waiters.extend(mine)
        else:
            super().close(descriptor)


class WaitOutlivesItsHandle(Fault):
    """Closing a handle leaves the reads that wait on it waiting: one of them still takes the next message."""

    name = "wait-outlives-its-handle"
    suite = "cursors"
    breaks = ("MQDMPR-3.1.7.1.6.pending-read-cancelled", "MQDMPR-3.1.7.1.6.tagged-reads-cancelled")
    replaces = ("queues", _HandlesOutlived)


AFTERWARDS_FAULTS: tuple[type[Fault], ...] = (
    RecoverableLostOnRestart,
    PurgeForgetsLocked,
    TransactionOutlivesAbort,
    TimedOutCursorKeepsPlace,
    WakesOnlyFirstPeeker,
    AcceptsOctetOver255,
    LabelLengthRoundedUp,
    WaitOutlivesItsHandle,
)
