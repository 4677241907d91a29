"""Faults of transfers out of an outgoing queue: their order, number and destination (MS-MQDMPR 3.1.1.3)."""

from __future__ import annotations

import base64
from dataclasses import replace

from conformance.embedded.entities import Position, Queue
from conformance.embedded.faults.base import also, fault
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.queues import Queues


@fault(
    "transfer-ignores-priority", Outgoing.ready, "MQDMPR-3.1.7.3.9.highest-priority",
    "MQDMPR-3.1.7.1.28.entry-priority", "MQDMPR-3.1.1.2.priority-before-arrival",
)  # fmt: skip
def transfer_ignores_priority(plain, self, queue):
    """Messages are transferred in the order in which they came, whatever their priority."""
    return sorted(plain(queue), key=lambda position: position.row)


@fault("transfer-last-first", Outgoing.ready, "MQDMPR-3.1.1.2.arrival-order")
def transfer_last_first(plain, self, queue):
    """Of messages of one priority, the last to come is the first to be transferred."""
    return sorted(plain(queue), key=lambda each: (-each.message.fields["priority"], -each.row))


@fault("transferred-stays", Outgoing.transferred, "MQDMPR-3.1.7.1.29.atomically-removed", "MQDMPR-3.1.7.1.9.once")
def transferred_stays(plain, self, position):
    """A recoverable message that was transferred stays in its outgoing queue, and is transferred again."""
    if not position.message.recoverable:
        plain(position)


@fault(
    "transferred-is-back", Outgoing.transferred, "MQDMPR-3.1.1.11.recoverable-persistent",
    "MQDMPR-3.1.7.1.29.atomically-removed", "MQDMPR-3.1.7.1.9.once",
)  # fmt: skip
def transferred_is_back(plain, self, position):
    """After a start, recoverable messages that were transferred are in their outgoing queue again."""
    drop = self.manager.store.drop_message
    self.manager.store.drop_message = lambda row: None
    plain(position)
    self.manager.store.drop_message = drop


@fault(
    "uncommitted-transferred", Outgoing.ready, "MQDMPR-3.1.7.1.9.uncommitted-locked", "MQDMPR-3.1.4.4.all-together",
    "MQDMPR-3.1.4.5.sends-vanish",
)  # fmt: skip
def uncommitted_transferred(plain, self, queue):
    """What a transaction has sent to another computer is transferred before the transaction has ended."""
    return [*plain(queue), *(position for position in queue.positions if position.uncommitted)]


@also("uncommitted-transferred", Outgoing.transferred)
def uncommitted_transferred_transferred(plain, self, position):
    if not position.uncommitted:
        plain(position)
        return
    plain(position)
    for transaction in self.manager.open_transactions.values():
        transaction.steps = [step for step in transaction.steps if step.position is not position]


@fault(
    "transfer-names-first-queue", Outgoing.packet, "MQDMPR-3.1.7.1.5.outgoing-destination",
    "MQDMPR-3.1.1.3.destination-format-name", "MQDMPR-3.1.7.1.32.user-header-destination-queue",
)  # fmt: skip
def transfer_names_first_queue(plain, self, queue, message, sequence):
    """The packets of every outgoing queue name the destination of the first."""
    first = next(each for each in self.manager.queues.all() if each.kind == "outgoing")
    kept, queue.path = queue.path, first.path
    try:
        return plain(queue, message, sequence)
    finally:
        queue.path = kept


@fault(
    "recovery-forgets-outgoing", Queues.restore, "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.1.3.destination-format-name", "MQDMPR-3.1.1.persistent-survives",
    "MQMQ-2.2.19.2.recoverable-recovered",
)  # fmt: skip
def recovery_forgets_outgoing(plain, self, row):
    """After a start, there are no outgoing queues, and what waited in them is gone."""
    if row.kind != "outgoing":
        plain(row)


@fault(
    "start-holds-every-queue", Queues.restore, "MQDMPR-3.1.1.3.state-on-hold", "MQDMPR-3.1.1.volatile",
    first_seen_as=("MQDMPR-3.1.1.12.recoverable-survives",),
    because="what stays in an outgoing queue behind a start looks as if the start had lost it",
)  # fmt: skip
def start_holds_every_queue(plain, self, row):
    """After a start, outgoing queues are on hold, though nobody paused them."""
    plain(row)
    if row.kind == "outgoing":
        self._by_id[row.id].paused = True


@fault(
    "recovery-misnames-destination", Queues.restore, "MQDMPR-3.1.1.3.destination-format-name",
    "MQDMPR-3.1.1.12.recoverable-attributes-survive", "MQDMPR-3.1.1.persistent-survives",
)  # fmt: skip
def recovery_misnames_destination(plain, self, row):
    """After a start, the packets of an outgoing queue name another queue."""
    plain(row)
    if row.kind == "outgoing":
        self._by_id[row.id].path = row.path[:-1] + ("r" if row.path[-1] == "q" else "q")


@fault(
    "transfer-cut-short", Outgoing.packet, "MQDMPR-3.1.7.1.32.packet-size", "MQMQ-2.2.19.1.packet-size",
    "MQDMPR-3.1.7.1.30.conforms", "MQMQ-2.2.19.1.packet-size-headers", "MQDMPR-3.1.7.1.32.serialised",
)  # fmt: skip
def transfer_cut_short(plain, self, queue, message, sequence):
    """The last bytes of every packet are not transferred."""
    return base64.b64encode(base64.b64decode(plain(queue, message, sequence))[:-4]).decode("ascii")


@fault(
    "transfer-loses-label", Outgoing.packet, "MQDMPR-3.1.7.1.32.message-properties-header-label",
    "MQDMPR-3.1.7.1.32.properties-fields", "MQDMPR-3.1.1.12.label-unchanged",
)  # fmt: skip
def transfer_loses_label(plain, self, queue, message, sequence):
    """Packets have no label."""
    return plain(queue, replace(message, fields={**message.fields, "label": ""}), sequence)


@fault(
    "never-transfers", Outgoing.ready, "MQDMPR-3.1.7.3.9.binary-protocol", "MQDMPR-3.1.7.1.28.dispatch-raised",
    "MQDMPR-3.1.7.3.9.highest-priority", first_seen_as=("MQDMPR-3.1.4.14.paused-queue",),
    because="an outgoing queue that sends nothing looks paused, though another one was",
)  # fmt: skip
def never_transfers(plain, self, queue):
    """Nothing ever leaves an outgoing queue, on hold or not."""
    return []


@fault(
    "transfer-mixes-queues", "outgoing", "MQDMPR-3.1.1.3.destination-format-name", "MQDMPR-3.1.7.1.9.only-destination",
    "MQDMPR-3.1.7.1.5.outgoing-destination",
)  # fmt: skip
class TransferMixesQueues(Outgoing):
    """What waits in one outgoing queue is transferred with another."""

    def ready(self, queue: Queue) -> list[Position]:
        others = [each for each in self.manager.queues.all() if each.kind == "outgoing" and each is not queue]
        return [
            *super().ready(queue),
            *(position for other in others for position in super(TransferMixesQueues, self).ready(other)),
        ]
