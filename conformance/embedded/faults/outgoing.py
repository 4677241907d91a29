"""Faults of outgoing queues: what is held, and the transfer of messages (MS-MQDMPR 3.1.7.1.28, .29, 3.1.7.3.9)."""

from __future__ import annotations

import base64
from dataclasses import replace

from conformance.embedded.delivery import Delivery, Sending
from conformance.embedded.entities import MqError, Position, Queue, State
from conformance.embedded.faults.base import also, fault
from conformance.embedded.queues import Queues
from conformance.embedded.transfers import Outgoing
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_RESOURCES


@fault(
    "pause-ignored", Outgoing.hold, "MQDMPR-3.1.4.14.pauses", "MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.1.3.state-on-hold"
)
def pause_ignored(plain, self, queue):
    """A paused outgoing queue transfers its messages all the same."""


@fault(
    "second-pause-resumes", Outgoing.hold, "MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.4.14.pauses",
    "MQDMPR-3.1.1.3.state-on-hold",
)  # fmt: skip
def second_pause_resumes(plain, self, queue):
    """Pausing an outgoing queue that is on hold ends the hold."""
    queue.paused = not queue.paused


@fault(
    "pause-drops-messages", Outgoing.hold, "MQDMPR-3.1.7.2.3.on-hold", "MQDMPR-3.1.7.1.9.once",
    "MQDMPR-3.1.4.15.resumes",
)  # fmt: skip
def pause_drops_messages(plain, self, queue):
    """A message that waits in an outgoing queue is lost when the queue is paused."""
    plain(queue)
    for position in queue.positions:
        if position.state is State.AVAILABLE:
            self.manager.delivery.remove(position)


@fault("pause-holds-every-queue", Outgoing.hold, "MQDMPR-3.1.4.14.paused-queue")
def pause_holds_every_queue(plain, self, queue):
    """Pausing one outgoing queue pauses them all."""
    for each in self.manager.queues.all():
        if each.kind == "outgoing":
            plain(each)


@fault("resume-frees-every-queue", Outgoing.let_go, "MQDMPR-3.1.4.15.resumed-queue")
def resume_frees_every_queue(plain, self, queue):
    """Resuming one outgoing queue resumes them all."""
    for each in self.manager.queues.all():
        if each.kind == "outgoing":
            plain(each)


@fault("pause-holds-local-queues", Outgoing.let_go, "MQDMPR-3.1.4.14.paused-queue", "MQDMPR-3.1.7.1.9.available")
def pause_holds_local_queues(plain, self, queue):
    """While an outgoing queue is on hold, what is sent to queues of this computer cannot be read."""
    plain(queue)
    kept = {id(step.position) for each in self.manager.open_transactions.values() for step in each.steps}
    kept |= {id(read.position) for read in self.manager.open_reads.values()}
    for local in self.manager.queues.all():
        for position in local.positions:
            if position.state is State.LOCKED and id(position) not in kept:
                self.manager.delivery.make_available(position)


@also("pause-holds-local-queues", Delivery.make_available)
def pause_holds_local_queues_make_available(plain, self, position):
    queues = self.manager.queues.all()
    if position.queue.kind in ("private", "public") and any(queue.paused for queue in queues):
        position.state = State.LOCKED
    else:
        plain(position)


@fault(
    "pause-refuses-sends", Sending.send, "MQDMPR-3.1.1.17.send-access", "MQDMPR-3.1.1.3.state-on-hold",
    "MQDMPR-3.1.7.2.3.on-hold",
)  # fmt: skip
def pause_refuses_sends(plain, self, descriptor, given, transaction):
    """A send to an outgoing queue that is on hold fails."""
    if descriptor.queue is not None and descriptor.queue.paused:
        raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
    return plain(descriptor, given, transaction)


@fault("sends-on-hold-lost", Sending.enqueue, "MQDMPR-3.1.7.1.9.once", "MQDMPR-3.1.1.17.send-access")
def sends_on_hold_lost(plain, self, queue, message, transaction):
    """A message sent to an outgoing queue on hold is lost, and its sender is not told."""
    lookup = plain(queue, message, transaction)
    position = queue.positions.find(lookup)
    if queue.paused and transaction is None and position is not None:
        self.manager.delivery.remove(position)
    return lookup


@fault("resume-ignored", Outgoing.let_go, "MQDMPR-3.1.4.15.resumes", "MQDMPR-3.1.7.2.4.inactive")
def resume_ignored(plain, self, queue):
    """An outgoing queue that was paused once transfers nothing any more."""


@fault("resume-forgets-what-waits", "outgoing", "MQDMPR-3.1.4.15.resumes", "MQDMPR-3.1.7.2.4.inactive")
class ResumeForgetsWhatWaits(Outgoing):
    """A message that waited in an outgoing queue on hold stays there when it is resumed; a later one goes."""

    def ready(self, queue: Queue) -> list[Position]:
        held: set[int] = getattr(self, "_held", set())
        return [position for position in super().ready(queue) if position.row not in held]

    def let_go(self, queue: Queue) -> None:
        if queue.paused:
            held: set[int] = getattr(self, "_held", set())
            self._held = held | {position.row for position in super().ready(queue)}
        super().let_go(queue)


@fault(
    "resume-sends-twice", Outgoing.let_go, "MQDMPR-3.1.7.1.29.atomically-removed", "MQDMPR-3.1.7.1.34.removed",
    "MQDMPR-3.1.7.1.9.once",
)  # fmt: skip
def resume_sends_twice(plain, self, queue):
    """The first message that waited while an outgoing queue was on hold is transferred twice."""
    if queue.paused:
        for position in self.ready(queue)[:1]:
            self.manager.delivery.place(queue, position.message, limited=False)
    plain(queue)


@fault(
    "resume-unpaused-holds", Outgoing.let_go, "MQDMPR-3.1.7.2.4.inactive", "MQDMPR-3.1.4.15.resumes",
    "MQDMPR-3.1.1.3.state-on-hold",
)  # fmt: skip
def resume_unpaused_holds(plain, self, queue):
    """Resuming an outgoing queue that is not on hold puts it on hold."""
    queue.paused = not queue.paused


@fault("hold-loses-order", "outgoing", "MQDMPR-3.1.1.2.arrival-order")
class HoldLosesOrder(Outgoing):
    """A message that came to an outgoing queue on hold is transferred before those that were there already."""

    def ready(self, queue: Queue) -> list[Position]:
        before: dict[str, set[int]] = getattr(self, "_before", {})
        found = super().ready(queue)
        there = before.get(queue.id)
        if there is None:
            return found
        return sorted(found, key=lambda position: position.row in there)

    def hold(self, queue: Queue) -> None:
        if not queue.paused:
            there = {position.row for position in super().ready(queue)}
            self._before = {**getattr(self, "_before", {}), queue.id: there}
        super().hold(queue)


@fault(
    "urgent-passes-hold", Outgoing.take, "MQDMPR-3.1.1.3.state-on-hold", "MQDMPR-3.1.7.2.3.on-hold",
    "MQDMPR-3.1.4.14.pauses",
)  # fmt: skip
def urgent_passes_hold(plain, self, format_name):
    """Messages of more than the usual priority are transferred although their queue is on hold."""
    queue = self.manager.queues.outgoing(format_name)
    if not queue.paused:
        return plain(format_name)
    return self.transfer(queue, [each for each in self.ready(queue) if each.message.fields["priority"] > 3])


@fault(
    "transfer-ignores-priority", Outgoing.ready, "MQDMPR-3.1.7.3.9.highest-priority",
    "MQDMPR-3.1.7.1.28.entry-priority", "MQDMPR-3.1.1.2.priority-before-arrival",
)  # fmt: skip
def transfer_ignores_priority(plain, self, queue):
    """Messages are transferred in the order in which they came, whatever their priority."""
    return sorted(plain(queue), key=lambda position: position.row)


@fault("transfer-last-first", Outgoing.ready, "MQDMPR-3.1.1.2.arrival-order")
def transfer_last_first(plain, self, queue):
    """The last to come is the first to be transferred, of messages of one priority."""
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
    """A message that a transaction sent to another computer is transferred before the transaction has ended."""
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
    """A message of one outgoing queue is transferred with another."""

    def ready(self, queue: Queue) -> list[Position]:
        others = [each for each in self.manager.queues.all() if each.kind == "outgoing" and each is not queue]
        return [
            *super().ready(queue),
            *(position for other in others for position in super(TransferMixesQueues, self).ready(other)),
        ]
