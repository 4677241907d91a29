"""Faults of the hold of an outgoing queue, and of its end (MS-MQDMPR 3.1.4.14, 3.1.4.15, 3.1.7.2.3, 3.1.7.2.4)."""

from __future__ import annotations

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Descriptor, Message, MqError, Position, Queue, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import LOST, SURPLUS, dmpr
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.sending import Json, Sending
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_RESOURCES

# What is not transferred while it should wait, and what is not when it could go.
HOLDS = dmpr(
    *("3.1.4.14.pauses", "3.1.7.2.3.on-hold", "3.1.1.3.state-on-hold", "3.1.1.3.state"),
    "3.1.7.1.34.removed",  # what is on hold is not among what can be sent
)
GOES_ON = dmpr("3.1.4.15.resumes", "3.1.7.2.4.inactive", "3.1.1.3.state")
NOT_THIS_ONE = dmpr("3.1.4.14.paused-queue", "3.1.4.15.resumed-queue")
ORDER = dmpr("3.1.7.3.9.highest-priority", "3.1.1.2.arrival-order", "3.1.1.2.priority-before-arrival")
# A message that was to be transferred and is not, or is a second time.
MISSED = (
    *dmpr("3.1.7.3.9.binary-protocol", "3.1.7.1.27.enqueued", "3.1.7.1.5.remote-send", "3.1.1.2.active-outgoing"),
    *LOST,
)
# Where the next look at the queue is behind a restart, what was lost before it seems to be lost by it.
NOT_THERE = dmpr("3.1.1.12.recoverable-survives")
AGAIN = (*dmpr("3.1.7.1.29.atomically-removed", "3.1.1.2.active-outgoing", "3.1.1.12.identifier-unique"), *SURPLUS)


class _Deaf(Outgoing):
    def hold(self, queue: Queue) -> None:
        return


class PauseIgnored(Fault):
    """A paused outgoing queue transfers its messages all the same."""

    name = "pause-ignored"
    suite = "outgoing"
    breaks = (*HOLDS, *SURPLUS)
    replaces = ("outgoing", _Deaf)


class _Toggling(Outgoing):
    def hold(self, queue: Queue) -> None:
        queue.paused = not queue.paused


class SecondPauseResumes(Fault):
    """Pausing an outgoing queue that is on hold ends the hold."""

    name = "second-pause-resumes"
    suite = "outgoing"
    breaks = (*HOLDS, *SURPLUS)
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
    suite = "outgoing"
    breaks = (*HOLDS, *GOES_ON, *MISSED, *NOT_THERE)
    replaces = ("outgoing", _Emptying)


class _Stopping(Outgoing):
    def hold(self, queue: Queue) -> None:
        for each in self.manager.queues.all():
            if each.kind == "outgoing":
                super().hold(each)


class PauseHoldsEveryQueue(Fault):
    """Pausing one outgoing queue pauses them all."""

    name = "pause-holds-every-queue"
    suite = "outgoing"
    breaks = (*NOT_THIS_ONE, *HOLDS, *GOES_ON, *MISSED)
    replaces = ("outgoing", _Stopping)


class _Freeing(Outgoing):
    def let_go(self, queue: Queue) -> None:
        for each in self.manager.queues.all():
            if each.kind == "outgoing":
                super().let_go(each)


class ResumeFreesEveryQueue(Fault):
    """Resuming one outgoing queue resumes them all."""

    name = "resume-frees-every-queue"
    suite = "outgoing"
    breaks = (*NOT_THIS_ONE, *HOLDS, *GOES_ON, *SURPLUS)
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
    suite = "outgoing"
    breaks = (*NOT_THIS_ONE, *HOLDS, *dmpr("3.1.7.1.9.made-available", "3.1.7.1.9.success"), *LOST)
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
    suite = "outgoing"
    breaks = (*HOLDS, *dmpr("3.1.7.1.9.success", "3.1.7.1.27.single-ends"), *MISSED)
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
    suite = "outgoing"
    breaks = (*HOLDS, *GOES_ON, *MISSED, *NOT_THERE)
    replaces = ("sending", _Swallowing)


class _Stuck(Outgoing):
    def let_go(self, queue: Queue) -> None:
        return


class ResumeIgnored(Fault):
    """An outgoing queue that was paused once transfers nothing any more."""

    name = "resume-ignored"
    suite = "outgoing"
    breaks = (*GOES_ON, *MISSED)
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
    suite = "outgoing"
    breaks = (*GOES_ON, *HOLDS, *MISSED, *ORDER)
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
    suite = "outgoing"
    breaks = (*HOLDS, *GOES_ON, *AGAIN)
    replaces = ("outgoing", _Repeating)


class _HoldingBack(Outgoing):
    def let_go(self, queue: Queue) -> None:
        queue.paused = not queue.paused


class ResumeUnpausedHolds(Fault):
    """Resuming an outgoing queue that is not on hold puts it on hold."""

    name = "resume-unpaused-holds"
    suite = "outgoing"
    breaks = (*GOES_ON, *HOLDS, *MISSED)
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
    suite = "outgoing"
    breaks = (*GOES_ON, *ORDER)
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
    suite = "outgoing"
    breaks = (*HOLDS, *SURPLUS)
    replaces = ("outgoing", _Urgent)


OUTGOING_FAULTS: tuple[type[Fault], ...] = (
    PauseIgnored,
    SecondPauseResumes,
    PauseDropsMessages,
    PauseHoldsEveryQueue,
    ResumeFreesEveryQueue,
    PauseHoldsLocalQueues,
    PauseRefusesSends,
    SendsOnHoldLost,
    ResumeIgnored,
    ResumeForgetsWhatWaits,
    ResumeSendsTwice,
    ResumeUnpausedHolds,
    HoldLosesOrder,
    UrgentPassesHold,
)
