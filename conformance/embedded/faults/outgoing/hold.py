"""Faults of the hold of an outgoing queue, and of its end (MS-MQDMPR 3.1.4.14, 3.1.4.15, 3.1.7.2.3, 3.1.7.2.4)."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Descriptor, Message, MqError, Position, Queue, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.sending import Json, Sending
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_RESOURCES


class _Deaf(Outgoing):
    def hold(self, queue: Queue) -> None:
        return


class PauseIgnored(Fault):
    """A paused outgoing queue transfers its messages all the same."""

    name = "pause-ignored"
    breaks = (
        "MQDMPR-3.1.4.14.pauses",
        "MQDMPR-3.1.7.2.3.on-hold",
        "MQDMPR-3.1.1.3.state-on-hold",
    )
    replaces = ("outgoing", _Deaf)


class _Toggling(Outgoing):
    def hold(self, queue: Queue) -> None:
        queue.paused = not queue.paused


class SecondPauseResumes(Fault):
    """Pausing an outgoing queue that is on hold ends the hold."""

    name = "second-pause-resumes"
    breaks = (
        "MQDMPR-3.1.7.2.3.on-hold",
        "MQDMPR-3.1.4.14.pauses",
        "MQDMPR-3.1.1.3.state-on-hold",
    )
    replaces = ("outgoing", _Toggling)


class _Emptying(Outgoing):
    def hold(self, queue: Queue) -> None:
        super().hold(queue)
        for position in queue.positions:
            if position.state is State.AVAILABLE:
                self.manager.delivery.remove(position)


class PauseDropsMessages(Fault):
    """What waits in an outgoing queue when it is paused is lost."""

    name = "pause-drops-messages"
    breaks = (
        "MQDMPR-3.1.7.2.3.on-hold",
        "MQDMPR-3.1.7.1.9.once",
        "MQDMPR-3.1.4.15.resumes",
    )
    replaces = ("outgoing", _Emptying)


class _Stopping(Outgoing):
    def hold(self, queue: Queue) -> None:
        for each in self.manager.queues.all():
            if each.kind == "outgoing":
                super().hold(each)


class PauseHoldsEveryQueue(Fault):
    """Pausing one outgoing queue pauses them all."""

    name = "pause-holds-every-queue"
    breaks = ("MQDMPR-3.1.4.14.paused-queue",)
    replaces = ("outgoing", _Stopping)


class _Freeing(Outgoing):
    def let_go(self, queue: Queue) -> None:
        for each in self.manager.queues.all():
            if each.kind == "outgoing":
                super().let_go(each)


class ResumeFreesEveryQueue(Fault):
    """Resuming one outgoing queue resumes them all."""

    name = "resume-frees-every-queue"
    breaks = ("MQDMPR-3.1.4.15.resumed-queue",)
    replaces = ("outgoing", _Freeing)


class _LocalToo(Delivery):
    def make_available(self, position: Position) -> None:
        queues = self.manager.queues.all()
        if position.queue.kind in ("private", "public") and any(queue.paused for queue in queues):
            position.state = State.LOCKED
        else:
            super().make_available(position)


class _FreesLocal(Outgoing):
    def let_go(self, queue: Queue) -> None:
        super().let_go(queue)
        kept = {id(step.position) for each in self.manager.open_transactions.values() for step in each.steps}
        kept |= {id(read.position) for read in self.manager.open_reads.values()}
        for local in self.manager.queues.all():
            for position in local.positions:
                if position.state is State.LOCKED and id(position) not in kept:
                    self.manager.delivery.make_available(position)


class PauseHoldsLocalQueues(Fault):
    """While an outgoing queue is on hold, what is sent to queues of this computer cannot be read."""

    name = "pause-holds-local-queues"
    breaks = (
        "MQDMPR-3.1.4.14.paused-queue",
        "MQDMPR-3.1.7.1.9.available",
    )
    replaces = ("outgoing", _FreesLocal)
    also = (("delivery", _LocalToo),)


class _Refusing(Sending):
    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        if descriptor.queue is not None and descriptor.queue.paused:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return super().send(descriptor, given, transaction)


class PauseRefusesSends(Fault):
    """A send to an outgoing queue that is on hold fails."""

    name = "pause-refuses-sends"
    breaks = (
        "MQDMPR-3.1.1.17.send-access",
        "MQDMPR-3.1.1.3.state-on-hold",
        "MQDMPR-3.1.7.2.3.on-hold",
    )
    replaces = ("sending", _Refusing)


class _Swallowing(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        lookup = super().enqueue(queue, message, transaction)
        position = queue.positions.find(lookup)
        if queue.paused and transaction is None and position is not None:
            self.manager.delivery.remove(position)
        return lookup


class SendsOnHoldLost(Fault):
    """What is sent to an outgoing queue while it is on hold is lost, and its sender is not told."""

    name = "sends-on-hold-lost"
    breaks = (
        "MQDMPR-3.1.7.1.9.once",
        "MQDMPR-3.1.1.17.send-access",
    )
    replaces = ("sending", _Swallowing)


class _Stuck(Outgoing):
    def let_go(self, queue: Queue) -> None:
        return


class ResumeIgnored(Fault):
    """An outgoing queue that was paused once transfers nothing any more."""

    name = "resume-ignored"
    breaks = (
        "MQDMPR-3.1.4.15.resumes",
        "MQDMPR-3.1.7.2.4.inactive",
    )
    replaces = ("outgoing", _Stuck)


class _Forgetting(Outgoing):
    """Offers nothing again of what came while it was on hold, though it is still there."""

    def ready(self, queue: Queue) -> list[Position]:
        held: set[int] = getattr(self, "_held", set())
        return [position for position in super().ready(queue) if position.row not in held]

    def let_go(self, queue: Queue) -> None:
        if queue.paused:
            held: set[int] = getattr(self, "_held", set())
            self._held = held | {position.row for position in super().ready(queue)}
        super().let_go(queue)


class ResumeForgetsWhatWaits(Fault):
    """What waited in an outgoing queue while it was on hold stays there when it is resumed; what comes later goes."""

    name = "resume-forgets-what-waits"
    breaks = (
        "MQDMPR-3.1.4.15.resumes",
        "MQDMPR-3.1.7.2.4.inactive",
    )
    replaces = ("outgoing", _Forgetting)


class _Repeating(Outgoing):
    def let_go(self, queue: Queue) -> None:
        if queue.paused:
            for position in super().ready(queue)[:1]:
                self.manager.delivery.place(queue, position.message, limited=False)
        super().let_go(queue)


class ResumeSendsTwice(Fault):
    """The first message that waited while an outgoing queue was on hold is transferred twice."""

    name = "resume-sends-twice"
    breaks = (
        "MQDMPR-3.1.7.1.29.atomically-removed",
        "MQDMPR-3.1.7.1.34.removed",
        "MQDMPR-3.1.7.1.9.once",
    )
    replaces = ("outgoing", _Repeating)


class _HoldingBack(Outgoing):
    def let_go(self, queue: Queue) -> None:
        queue.paused = not queue.paused


class ResumeUnpausedHolds(Fault):
    """Resuming an outgoing queue that is not on hold puts it on hold."""

    name = "resume-unpaused-holds"
    breaks = (
        "MQDMPR-3.1.7.2.4.inactive",
        "MQDMPR-3.1.4.15.resumes",
        "MQDMPR-3.1.1.3.state-on-hold",
    )
    replaces = ("outgoing", _HoldingBack)


class _Shuffling(Outgoing):
    """Transfers what came while it was on hold in front of what was there before."""

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


class HoldLosesOrder(Fault):
    """What came to an outgoing queue while it was on hold is transferred before what was there already."""

    name = "hold-loses-order"
    breaks = ("MQDMPR-3.1.1.2.arrival-order",)
    replaces = ("outgoing", _Shuffling)


class _Urgent(Outgoing):
    def take(self, format_name: str) -> list[str]:
        queue = self.manager.queues.outgoing(format_name)
        if not queue.paused:
            return super().take(format_name)
        return self.transfer(queue, [each for each in self.ready(queue) if each.message.fields["priority"] > 3])


class UrgentPassesHold(Fault):
    """Messages of more than the usual priority are transferred although their queue is on hold."""

    name = "urgent-passes-hold"
    breaks = (
        "MQDMPR-3.1.1.3.state-on-hold",
        "MQDMPR-3.1.7.2.3.on-hold",
        "MQDMPR-3.1.4.14.pauses",
    )
    replaces = ("outgoing", _Urgent)
