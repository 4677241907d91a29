"""Faults of times and acknowledgements: what expires when, and what the administration queue is told."""

from __future__ import annotations

from conformance.embedded.delivery import ACK_REACH_QUEUE, Delivery
from conformance.embedded.entities import Message, Position, Queue, Reason, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import LOST, SURPLUS, dmpr
from conformance.embedded.sending import Sending

_EXPIRES = (
    *dmpr(
        "3.1.2.4.expires",
        "3.1.1.12.time-to-be-received",
        "3.1.7.1.9.expiry-started",
        "3.1.7.2.7.not-transactional",
        "3.1.7.2.7.transactional",
        "3.1.7.2.7.deleted",
        "3.1.7.2.7.nack-receive-timeout",
        "3.1.7.2.7.dead-letter",
        "3.1.1.12.class-nack-receive-timeout",
        "3.1.1.12.negative-journaling",
        "3.1.1.12.negative-journaling-transactional",
    ),
    "MQMP-2.2.3.2.time-to-live-expires",
)
_ACKS = dmpr(
    "3.1.1.12.acknowledgements-requested",
    "3.1.1.12.ack-pos-arrival",
    "3.1.1.12.ack-pos-receive",
    "3.1.1.12.ack-neg-receive",
    "3.1.1.12.ack-neg-arrival",
    "3.1.1.12.ack-full-receive",
    "3.1.1.12.ack-full-reach-queue",
    "3.1.1.12.ack-nack-receive",
    "3.1.1.12.class-ack-reach-queue",
    "3.1.1.12.class-ack-receive",
    "3.1.7.1.10.deleted-reason",
    "3.1.7.1.10.operation-reason",
    "3.1.7.1.13.deleted-reason",
    "3.1.7.1.13.operation-reason",
    "3.1.4.4.receive-reason",
)


class _Immortal(Delivery):
    def start_timer(self, position: Position) -> None:
        return

    def _is_over(self, position: Position) -> bool:
        return False


class TimeToBeReceivedIgnored(Fault):
    """A message stays in its queue for ever, whatever its time to be received."""

    name = "time-to-be-received-ignored"
    suite = "journals"
    breaks = (*_EXPIRES, *dmpr("3.1.2.4.zero", "3.1.1.12.time-to-reach-queue"), *SURPLUS)
    replaces = ("delivery", _Immortal)


class _ShortLived(Sending):
    def make(self, given: dict[str, object], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        if message.expires_ms is not None:
            message.expires_ms -= (message.expires_ms - message.sent_ms) // 2
        return message


class MessageExpiresEarly(Fault):
    """A message expires when half its time to be received has passed."""

    name = "message-expires-early"
    suite = "journals"
    breaks = (*dmpr("3.1.2.4.not-early", "3.1.1.12.negative-journaling-off"), *_EXPIRES, *LOST)
    replaces = ("sending", _ShortLived)


class _Lingering(Delivery):
    def start_timer(self, position: Position) -> None:
        if position.message.expires_ms is not None:
            position.message.expires_ms += 1000
        super().start_timer(position)


class MessageExpiresLate(Fault):
    """A message lives one second longer than its time to be received."""

    name = "message-expires-late"
    suite = "journals"
    breaks = (*_EXPIRES, *dmpr("3.1.2.4.zero"), *SURPLUS)
    replaces = ("delivery", _Lingering)


class _ZeroIsNever(Sending):
    def make(self, given: dict[str, object], *, transactional: bool) -> Message:
        message = super().make(given, transactional=transactional)
        if message.fields["time_to_be_received"] == 0:
            message.expires_ms = None
        return message


class ZeroTimeNeverExpires(Fault):
    """A message whose time to be received is 0 does not expire."""

    name = "zero-time-never-expires"
    suite = "journals"
    breaks = (*dmpr("3.1.2.4.zero"), *_EXPIRES, *SURPLUS)
    replaces = ("sending", _ZeroIsNever)


class _Rejuvenating(Delivery):
    def make_available(self, position: Position) -> None:
        message = position.message
        if position.state is State.LOCKED and message.expires_ms is not None and not position.uncommitted:
            left = message.fields["time_to_be_received"] * 1000
            message.expires_ms = self.manager.clock.now_ms() + left
            if position.timer is not None:
                position.timer.cancel()
            self.start_timer(position)
        super().make_available(position)


class TimeStartsAtAvailability(Fault):
    """The time to be received starts anew whenever a message becomes available."""

    name = "time-starts-at-availability"
    suite = "journals"
    breaks = (*_EXPIRES, *dmpr("3.1.4.5.receives-return-unchanged"), *SURPLUS)
    replaces = ("delivery", _Rejuvenating)


class _SystemExpiry(Delivery):
    def copy(self, queue: Queue | None, message: Message) -> None:
        super().copy(queue, message)
        positions = list(queue.positions) if queue is not None else []
        lives = message.fields["time_to_be_received"]
        if positions and lives != 0xFFFFFFFF:
            last = max(positions, key=lambda each: each.row)
            due = self.manager.clock.now_ms() + lives * 1000
            last.timer = self.manager.clock.at(due, lambda: self.delete(last, Reason.EXPIRED))


class JournalCopiesExpire(Fault):
    """The copies in journals and dead-letter queues expire as their messages did."""

    name = "journal-copies-expire"
    suite = "journals"
    breaks = (
        *dmpr("3.1.2.4.system-queues-kept", "3.1.1.12.negative-journaling", "3.1.1.12.positive-journaling"),
        *dmpr("3.1.1.1.system-deadletter-queue", "3.1.1.1.system-journal-queue", "3.1.7.2.7.dead-letter"),
        *dmpr("3.1.1.12.negative-journaling-transactional", "3.1.1.2.journaling"),
        "MQMQ-2.3.1.4.journal-copy",
        *LOST,
    )
    replaces = ("delivery", _SystemExpiry)


class _Anytime(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        reach = message.fields["time_to_reach_queue"]
        message.fields["time_to_reach_queue"] = 0xFFFFFFFF
        lookup = super().enqueue(queue, message, transaction)
        message.fields["time_to_reach_queue"] = reach
        return lookup


class TimeToReachQueueIgnored(Fault):
    """A message waits in its outgoing queue for ever, whatever its time to reach the queue."""

    name = "time-to-reach-queue-ignored"
    suite = "journals"
    breaks = (
        *dmpr("3.1.1.12.time-to-reach-queue", "3.1.1.12.class-nack-reach-queue-timeout", "3.1.1.12.ack-neg-arrival"),
        *dmpr("3.1.1.12.negative-journaling", "3.1.1.12.ack-nack-reach-queue"),
        *("MQMP-2.2.3.2.time-to-queue-expires",),
        *SURPLUS,
    )
    replaces = ("sending", _Anytime)


class _EverywhereReach(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        reach = message.fields["time_to_reach_queue"]
        if queue.kind != "outgoing" and reach != 0xFFFFFFFF:
            due = message.sent_ms + reach * 1000
            message.expires_ms = due if message.expires_ms is None else min(due, message.expires_ms)
        return super().enqueue(queue, message, transaction)


class TimeToReachQueueEndsReceived(Fault):
    """A message that has reached its queue expires there when its time to reach the queue is over."""

    name = "time-to-reach-queue-ends-received"
    suite = "journals"
    breaks = (
        *dmpr("3.1.2.4.not-early", "3.1.2.4.infinite", "3.1.1.12.time-to-reach-queue"),
        *dmpr("3.1.1.12.negative-journaling-off"),
        *LOST,
    )
    replaces = ("sending", _EverywhereReach)


class _NoArrivalAck(Delivery):
    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        return


class ArrivalNotAcknowledged(Fault):
    """No acknowledgement tells that a message was put in its queue."""

    name = "arrival-not-acknowledged"
    suite = "journals"
    breaks = _ACKS
    replaces = ("delivery", _NoArrivalAck)


class _NoRemovalAck(Delivery):
    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        if reason is not Reason.RECEIVED:
            super().acknowledge_removal(message, queue, reason)


class ReceiveNotAcknowledged(Fault):
    """No acknowledgement tells that a message was received."""

    name = "receive-not-acknowledged"
    suite = "journals"
    breaks = _ACKS
    replaces = ("delivery", _NoRemovalAck)


class _AllReceived(Delivery):
    def acknowledge(self, message: Message, origin: Queue, message_class: int) -> None:
        super().acknowledge(message, origin, message_class if message_class == ACK_REACH_QUEUE else 0x4000)


class EveryRemovalIsReceived(Fault):
    """A message that was purged, deleted or expired is reported as received."""

    name = "every-removal-is-received"
    suite = "journals"
    breaks = (
        *dmpr(
            "3.1.7.1.7.nack-queue-purged",
            "3.1.7.1.4.nack-queue-deleted",
            "3.1.7.2.7.nack-receive-timeout",
            "3.1.4.5.purged-receive-nack",
            "3.1.7.1.12.deleted-reason",
            "3.1.1.12.class-nack-queue-purged",
            "3.1.1.12.class-nack-queue-deleted",
            "3.1.1.12.class-nack-receive-timeout",
            "3.1.1.12.class-nack-reach-queue-timeout",
        ),
        *_ACKS,
    )
    replaces = ("delivery", _AllReceived)


class _Talkative(Delivery):
    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        self.acknowledge(message, queue, ACK_REACH_QUEUE)


class AcknowledgesUnasked(Fault):
    """An arrival is acknowledged to the administration queue although nobody asked for it."""

    name = "acknowledges-unasked"
    suite = "journals"
    breaks = (
        *dmpr("3.1.1.12.ack-none", "3.1.1.12.default-acknowledgements"),
        "MQQB-3.1.7.15.requested",
        *_ACKS,
    )
    replaces = ("delivery", _Talkative)


class _Uncorrelated(Delivery):
    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        before = message.fields["identifier"]
        message.fields["identifier"] = {"source": before["source"], "ordinal": 0}
        super().acknowledge_from(message, origin, message_class)
        message.fields["identifier"] = before


class AcknowledgementUncorrelated(Fault):
    """The correlation identifier of an acknowledgement does not name the message it is about."""

    name = "acknowledgement-uncorrelated"
    suite = "journals"
    breaks = (
        *_ACKS,
        "MQQB-3.1.7.15.correlation",
        *dmpr("3.1.7.1.7.nack-queue-purged", "3.1.7.2.7.nack-receive-timeout"),
    )
    replaces = ("delivery", _Uncorrelated)


EXPIRING_FAULTS: tuple[type[Fault], ...] = (
    TimeToBeReceivedIgnored,
    MessageExpiresEarly,
    MessageExpiresLate,
    ZeroTimeNeverExpires,
    TimeStartsAtAvailability,
    JournalCopiesExpire,
    TimeToReachQueueIgnored,
    TimeToReachQueueEndsReceived,
    ArrivalNotAcknowledged,
    ReceiveNotAcknowledged,
    EveryRemovalIsReceived,
    AcknowledgesUnasked,
    AcknowledgementUncorrelated,
)
