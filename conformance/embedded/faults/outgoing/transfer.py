"""Faults of transfers out of an outgoing queue: their order, number and destination (MS-MQDMPR 3.1.1.3)."""

from __future__ import annotations

import base64
from dataclasses import replace

from conformance.embedded.entities import Message, Position, Queue
from conformance.embedded.faults.base import Fault
from conformance.embedded.outgoing import Outgoing, Sequence
from conformance.embedded.queues import Queues
from conformance.embedded.store import QueueRow


class _ByArrival(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return sorted(super().ready(queue), key=lambda position: position.row)


class TransferIgnoresPriority(Fault):
    """Messages are transferred in the order in which they came, whatever their priority."""

    name = "transfer-ignores-priority"
    breaks = (
        "MQDMPR-3.1.7.3.9.highest-priority",
        "MQDMPR-3.1.7.1.28.entry-priority",
        "MQDMPR-3.1.1.2.priority-before-arrival",
    )
    replaces = ("outgoing", _ByArrival)


class _LastFirst(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return sorted(super().ready(queue), key=lambda each: (-each.message.fields["priority"], -each.row))


class TransferLastFirst(Fault):
    """Of messages of one priority, the last to come is the first to be transferred."""

    name = "transfer-last-first"
    breaks = ("MQDMPR-3.1.1.2.arrival-order",)
    replaces = ("outgoing", _LastFirst)


class _Keeping(Outgoing):
    def transferred(self, position: Position) -> None:
        if not position.message.recoverable:
            super().transferred(position)


class TransferredStays(Fault):
    """A recoverable message that was transferred stays in its outgoing queue, and is transferred again."""

    name = "transferred-stays"
    breaks = (
        "MQDMPR-3.1.7.1.29.atomically-removed",
        "MQDMPR-3.1.7.1.9.once",
    )
    replaces = ("outgoing", _Keeping)


class _Unkept(Outgoing):
    def transferred(self, position: Position) -> None:
        drop, self.manager.store.drop_message = self.manager.store.drop_message, lambda row: None  # type: ignore[method-assign]
        super().transferred(position)
        self.manager.store.drop_message = drop  # type: ignore[method-assign]


class TransferredIsBack(Fault):
    """After a start, recoverable messages that were transferred are in their outgoing queue again."""

    name = "transferred-is-back"
    breaks = (
        "MQDMPR-3.1.1.11.recoverable-persistent",
        "MQDMPR-3.1.7.1.29.atomically-removed",
        "MQDMPR-3.1.7.1.9.once",
    )
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
    breaks = (
        "MQDMPR-3.1.7.1.9.uncommitted-locked",
        "MQDMPR-3.1.4.4.all-together",
        "MQDMPR-3.1.4.5.sends-vanish",
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
    breaks = (
        "MQDMPR-3.1.7.1.5.outgoing-destination",
        "MQDMPR-3.1.1.3.destination-format-name",
        "MQDMPR-3.1.7.1.32.user-header-destination-queue",
    )
    replaces = ("outgoing", _Misaddressed)


class _Disowning(Queues):
    def restore(self, row: QueueRow) -> None:
        if row.kind != "outgoing":
            super().restore(row)


class RecoveryForgetsOutgoing(Fault):
    """After a start, there are no outgoing queues, and what waited in them is gone."""

    name = "recovery-forgets-outgoing"
    breaks = (
        "MQDMPR-3.1.1.12.recoverable-survives",
        "MQDMPR-3.1.1.3.destination-format-name",
        "MQDMPR-3.1.1.persistent-survives",
        "MQMQ-2.2.19.2.recoverable-recovered",
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
    breaks = (
        "MQDMPR-3.1.1.3.state-on-hold",
        "MQDMPR-3.1.1.volatile",
    )
    first_seen_as = ("MQDMPR-3.1.1.12.recoverable-survives",)
    because = "what stays in an outgoing queue behind a start looks as if the start had lost it"
    replaces = ("queues", _HeldAtStart)


class _Renaming(Queues):
    def restore(self, row: QueueRow) -> None:
        super().restore(row)
        if row.kind == "outgoing":
            self._by_id[row.id].path = row.path[:-1] + ("r" if row.path[-1] == "q" else "q")


class RecoveryMisnamesDestination(Fault):
    """After a start, the packets of an outgoing queue name another queue."""

    name = "recovery-misnames-destination"
    breaks = (
        "MQDMPR-3.1.1.3.destination-format-name",
        "MQDMPR-3.1.1.12.recoverable-attributes-survive",
        "MQDMPR-3.1.1.persistent-survives",
    )
    replaces = ("queues", _Renaming)


class _Cutting(Outgoing):
    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        return base64.b64encode(base64.b64decode(super().packet(queue, message, sequence))[:-4]).decode("ascii")


class TransferCutShort(Fault):
    """The last bytes of every packet are not transferred."""

    name = "transfer-cut-short"
    breaks = (
        "MQDMPR-3.1.7.1.32.packet-size",
        "MQMQ-2.2.19.1.packet-size",
        "MQDMPR-3.1.7.1.30.conforms",
        "MQMQ-2.2.19.1.packet-size-headers",
        "MQDMPR-3.1.7.1.32.serialised",
    )
    replaces = ("outgoing", _Cutting)


class _Unlabelled(Outgoing):
    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        return super().packet(queue, replace(message, fields={**message.fields, "label": ""}), sequence)


class TransferLosesLabel(Fault):
    """Packets have no label."""

    name = "transfer-loses-label"
    breaks = (
        "MQDMPR-3.1.7.1.32.message-properties-header-label",
        "MQDMPR-3.1.7.1.32.properties-fields",
        "MQDMPR-3.1.1.12.label-unchanged",
    )
    replaces = ("outgoing", _Unlabelled)


class _Silent(Outgoing):
    def ready(self, queue: Queue) -> list[Position]:
        return []


class NeverTransfers(Fault):
    """Nothing ever leaves an outgoing queue, on hold or not."""

    name = "never-transfers"
    breaks = (
        "MQDMPR-3.1.7.3.9.binary-protocol",
        "MQDMPR-3.1.7.1.28.dispatch-raised",
        "MQDMPR-3.1.7.3.9.highest-priority",
    )
    first_seen_as = ("MQDMPR-3.1.4.14.paused-queue",)
    because = "an outgoing queue that sends nothing looks paused, though another one was"
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
    breaks = (
        "MQDMPR-3.1.1.3.destination-format-name",
        "MQDMPR-3.1.7.1.9.only-destination",
        "MQDMPR-3.1.7.1.5.outgoing-destination",
    )
    replaces = ("outgoing", _Mixing)
