"""Faults of what is transferred out of an outgoing queue: in which order, how often, where to (MS-MQDMPR 3.1.1.3)."""

from __future__ import annotations

import base64
from dataclasses import replace

from conformance.embedded.entities import Message, Position, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import SURPLUS, dmpr
from conformance.embedded.faults.outgoing import AGAIN, GOES_ON, HOLDS, MISSED, NOT_THERE, NOT_THIS_ONE, ORDER
from conformance.embedded.outgoing import Outgoing, Sequence
from conformance.embedded.queues import Queues
from conformance.embedded.store import QueueRow


class _ByArrival(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return sorted(super().ready(queue), key=lambda position: position.row)


class TransferIgnoresPriority(Fault):
    """Messages are transferred in the order in which they came, whatever their priority."""

    name = "transfer-ignores-priority"
    suite = "outgoing"
    breaks = (*ORDER, "MQMQ-2.2.19.1.higher-priority-nearer-front")
    replaces = ("outgoing", _ByArrival)


class _LastFirst(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return sorted(super().ready(queue), key=lambda each: (-each.message.fields["priority"], -each.row))


class TransferLastFirst(Fault):
    """Of messages of one priority, the last to come is the first to be transferred."""

    name = "transfer-last-first"
    suite = "outgoing"
    breaks = ORDER
    replaces = ("outgoing", _LastFirst)


class _Keeping(Outgoing):
    def transferred(self, position: Position) -> None:
        if not position.message.recoverable:
            super().transferred(position)


class TransferredStays(Fault):
    """A recoverable message that was transferred stays in its outgoing queue, and is transferred again."""

    name = "transferred-stays"
    suite = "outgoing"
    breaks = AGAIN
    replaces = ("outgoing", _Keeping)


class _Unkept(Outgoing):
    def transferred(self, position: Position) -> None:
        drop, self.manager.store.drop_message = self.manager.store.drop_message, lambda row: None  # type: ignore[method-assign]
        super().transferred(position)
        self.manager.store.drop_message = drop  # type: ignore[method-assign]


class TransferredIsBack(Fault):
    """After a start, recoverable messages that were transferred are in their outgoing queue again."""

    name = "transferred-is-back"
    suite = "outgoing"
    breaks = (*dmpr("3.1.1.11.recoverable-persistent", "3.1.1.12.received-not-redelivered"), *AGAIN)
    replaces = ("outgoing", _Unkept)


class _Early(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return [*super().ready(queue), *(position for position in queue.positions if position.uncommitted)]

    def transferred(self, position: Position) -> None:
        if not position.uncommitted:
            super().transferred(position)
            return
        super().transferred(position)
        for transaction in self.manager.open_transactions.values():
            transaction.steps = [step for step in transaction.steps if step.position is not position]


class UncommittedTransferred(Fault):
    """What a transaction has sent to another computer is transferred before the transaction has ended."""

    name = "uncommitted-transferred"
    suite = "outgoing"
    breaks = (
        *dmpr("3.1.7.1.9.uncommitted-locked", "3.1.1.11.uncommitted-send-invisible", "3.1.4.4.sends-appear"),
        *dmpr("3.1.4.5.sends-vanish", "3.1.4.4.all-together"),
        *SURPLUS,
    )
    replaces = ("outgoing", _Early)


class _Misaddressed(Outgoing):
    """Every packet names the outgoing queue that was opened first as its destination."""

    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        first = next(each for each in self.manager.queues.all() if each.kind == "outgoing")
        kept, queue.path = queue.path, first.path
        try:
            return super().packet(queue, message, sequence)
        finally:
            queue.path = kept


class TransferNamesFirstQueue(Fault):
    """The packets of every outgoing queue name the destination of the first."""

    name = "transfer-names-first-queue"
    suite = "outgoing"
    breaks = dmpr(
        "3.1.1.3.destination-format-name",
        "3.1.7.1.5.outgoing-destination",
        "3.1.7.1.32.user-header-destination-queue",
        "3.1.7.1.32.user-header-fields",
    )
    replaces = ("outgoing", _Misaddressed)


class _Disowning(Queues):
    def restore(self, row: QueueRow) -> None:
        if row.kind != "outgoing":
            super().restore(row)


class RecoveryForgetsOutgoing(Fault):
    """After a start, there are no outgoing queues, and what waited in them is gone."""

    name = "recovery-forgets-outgoing"
    suite = "outgoing"
    breaks = (
        "MQMQ-2.2.19.2.recoverable-recovered",
        *dmpr("3.1.1.3.destination-format-name", "3.1.1.12.recoverable-survives", "3.1.1.11.recoverable-persistent"),
        *dmpr("3.1.4.4.durable"),
        # Where it was on hold, having nothing to transfer at first looks as if it still were.
        *dmpr("3.1.1.3.state-on-hold", "3.1.1.volatile"),
        *MISSED,
    )
    replaces = ("queues", _Disowning)


class _HeldAtStart(Queues):
    def restore(self, row: QueueRow) -> None:
        super().restore(row)
        if row.kind == "outgoing":
            self._by_id[row.id].paused = True


class StartHoldsEveryQueue(Fault):
    """After a start, outgoing queues are on hold, though nobody paused them."""

    name = "start-holds-every-queue"
    suite = "outgoing"
    breaks = (
        *dmpr("3.1.1.volatile", "3.1.1.3.state", "3.1.1.3.state-on-hold", "3.1.4.14.paused-queue"),
        *dmpr("3.1.1.12.recoverable-survives"),
        *MISSED,
    )
    replaces = ("queues", _HeldAtStart)


class _Renaming(Queues):
    def restore(self, row: QueueRow) -> None:
        super().restore(row)
        if row.kind == "outgoing":
            self._by_id[row.id].path = row.path[:-1] + ("r" if row.path[-1] == "q" else "q")


class RecoveryMisnamesDestination(Fault):
    """After a start, the packets of an outgoing queue name another queue."""

    name = "recovery-misnames-destination"
    suite = "outgoing"
    breaks = dmpr(
        "3.1.1.3.destination-format-name",
        "3.1.7.1.5.outgoing-destination",
        "3.1.7.1.32.user-header-destination-queue",
        "3.1.7.1.32.user-header-fields",
    )
    replaces = ("queues", _Renaming)


class _Cutting(Outgoing):
    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        return base64.b64encode(base64.b64decode(super().packet(queue, message, sequence))[:-4]).decode("ascii")


class TransferCutShort(Fault):
    """The last bytes of every packet are not transferred."""

    name = "transfer-cut-short"
    suite = "outgoing"
    breaks = (
        *dmpr("3.1.7.3.9.binary-protocol", "3.1.7.1.32.packet-size", "3.1.7.1.30.conforms", "3.1.7.1.32.serialised"),
        *dmpr("3.1.7.1.32.body", "3.1.7.1.32.message-properties-header-label"),
        "MQMQ-2.2.19.1.packet-size",
    )
    replaces = ("outgoing", _Cutting)


class _Unlabelled(Outgoing):
    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        return super().packet(queue, replace(message, fields={**message.fields, "label": ""}), sequence)


class TransferLosesLabel(Fault):
    """Packets have no label."""

    name = "transfer-loses-label"
    suite = "outgoing"
    breaks = dmpr(
        "3.1.7.1.32.message-properties-header-label",
        "3.1.7.1.32.properties-fields",
        "3.1.7.1.32.serialised",
        "3.1.1.12.label-unchanged",
    )
    replaces = ("outgoing", _Unlabelled)


class _Silent(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return []


class NeverTransfers(Fault):
    """Nothing ever leaves an outgoing queue, on hold or not."""

    name = "never-transfers"
    suite = "outgoing"
    breaks = (
        *dmpr("3.1.7.3.9.binary-protocol", "3.1.7.3.9.highest-priority"),
        *GOES_ON,
        *NOT_THIS_ONE,
        *NOT_THERE,
        *MISSED,
    )
    replaces = ("outgoing", _Silent)


class _Mixing(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        others = [each for each in self.manager.queues.all() if each.kind == "outgoing" and each is not queue]
        return [
            *super().ready(queue),
            *(position for other in others for position in super(_Mixing, self).ready(other)),
        ]


class TransferMixesQueues(Fault):
    """What waits in one outgoing queue is transferred with another."""

    name = "transfer-mixes-queues"
    suite = "outgoing"
    breaks = (
        *dmpr("3.1.7.1.5.outgoing-destination", "3.1.1.3.destination-format-name", "3.1.7.1.9.only-destination"),
        *dmpr("3.1.4.14.paused-queue"),
        *HOLDS,
        *AGAIN,
    )
    replaces = ("outgoing", _Mixing)


TRANSFERRED_FAULTS: tuple[type[Fault], ...] = (
    TransferIgnoresPriority,
    TransferLastFirst,
    TransferredStays,
    TransferredIsBack,
    UncommittedTransferred,
    TransferNamesFirstQueue,
    RecoveryForgetsOutgoing,
    StartHoldsEveryQueue,
    RecoveryMisnamesDestination,
    TransferCutShort,
    TransferLosesLabel,
    NeverTransfers,
    TransferMixesQueues,
)
