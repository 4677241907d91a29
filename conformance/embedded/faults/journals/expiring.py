"""Faults of expiry times, and of the acknowledgements sent to the administration queue."""

from __future__ import annotations

from conformance.embedded.delivery import ACK_REACH_QUEUE, Delivery
from conformance.embedded.entities import Message, Position, Queue, Reason, State, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.sending import Sending


class _Immortal(Delivery):
    def start_timer(self, position: Position) -> None:
        return

    def _is_over(self, position: Position) -> bool:
        return False


class TimeToBeReceivedIgnored(Fault):
    """A message stays in its queue for ever, whatever its time to be received."""

    name = "time-to-be-received-ignored"
    breaks = (
        "MQDMPR-3.1.2.4.expires",
        "MQDMPR-3.1.2.4.zero",
        "MQMP-2.2.3.2.time-to-live-expires",
    )
    first_seen_as = ("MQDMPR-3.1.1.12.negative-journaling-transactional",)
    because = "the dead-letter queue is looked into first: what does not expire is not there"
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
    breaks = ("MQDMPR-3.1.2.4.not-early",)
    replaces = ("sending", _ShortLived)


class _Lingering(Delivery):
    def start_timer(self, position: Position) -> None:
        if position.message.expires_ms is not None:
            position.message.expires_ms += 1000
        super().start_timer(position)


class MessageExpiresLate(Fault):
    """A message lives one second longer than its time to be received."""

    name = "message-expires-late"
    breaks = (
        "MQDMPR-3.1.2.4.expires",
        "MQDMPR-3.1.2.4.zero",
        "MQMP-2.2.3.2.time-to-live-expires",
    )
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
    breaks = ("MQDMPR-3.1.2.4.zero",)
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
    breaks = (
        "MQDMPR-3.1.2.4.expires",
        "MQMP-2.2.3.2.time-to-live-expires",
    )
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
    breaks = ("MQDMPR-3.1.2.4.system-queues-kept",)
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
    breaks = (
        "MQDMPR-3.1.1.12.time-to-reach-queue",
        "MQMP-2.2.3.2.time-to-queue-expires",
        "MQQB-3.1.7.1.2.expired",
    )
    first_seen_as = ("MQDMPR-3.1.1.12.ack-neg-arrival",)
    because = "that a message is not given up shows first where its end is to be reported"
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
    breaks = (
        "MQDMPR-3.1.2.4.not-early",
        "MQDMPR-3.1.2.4.infinite",
    )
    replaces = ("sending", _EverywhereReach)


class _NoArrivalAck(Delivery):
    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        return


class ArrivalNotAcknowledged(Fault):
    """No acknowledgement tells that a message was put in its queue."""

    name = "arrival-not-acknowledged"
    breaks = (
        "MQDMPR-3.1.1.12.ack-pos-arrival",
        "MQDMPR-3.1.1.12.ack-full-reach-queue",
        "MQDMPR-3.1.1.12.class-ack-reach-queue",
        "MQMP-2.2.3.2.acknowledgment-pos-arrival",
        "MQMP-2.2.3.2.acknowledgment-full-reach-queue",
    )
    replaces = ("delivery", _NoArrivalAck)


class _NoRemovalAck(Delivery):
    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        if reason is not Reason.RECEIVED:
            super().acknowledge_removal(message, queue, reason)


class ReceiveNotAcknowledged(Fault):
    """No acknowledgement tells that a message was received."""

    name = "receive-not-acknowledged"
    breaks = (
        "MQDMPR-3.1.1.12.ack-pos-receive",
        "MQDMPR-3.1.1.12.ack-full-receive",
        "MQDMPR-3.1.1.12.class-ack-receive",
        "MQDMPR-3.1.7.1.10.deleted-reason",
        "MQMP-2.2.3.2.acknowledgment-pos-receive",
    )
    replaces = ("delivery", _NoRemovalAck)


class _AllReceived(Delivery):
    def acknowledge(self, message: Message, origin: Queue, message_class: int) -> None:
        super().acknowledge(message, origin, message_class if message_class == ACK_REACH_QUEUE else 0x4000)


class EveryRemovalIsReceived(Fault):
    """A message that was purged, deleted or expired is reported as received."""

    name = "every-removal-is-received"
    breaks = (
        "MQDMPR-3.1.7.1.7.nack-queue-purged",
        "MQDMPR-3.1.7.1.4.nack-queue-deleted",
        "MQDMPR-3.1.7.2.7.nack-receive-timeout",
    )
    first_seen_as = ("MQDMPR-3.1.1.12.class-nack-queue-purged",)
    because = "the report has another class than the one due, and its class is read before its cause"
    replaces = ("delivery", _AllReceived)


class _Talkative(Delivery):
    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        if message.fields["acknowledgements"]:
            super().acknowledge_arrival(message, queue)
        else:
            self.acknowledge(message, queue, ACK_REACH_QUEUE)


class AcknowledgesUnasked(Fault):
    """The arrival of a message that asks for no acknowledgement is acknowledged to its administration queue."""

    name = "acknowledges-unasked"
    breaks = (
        "MQDMPR-3.1.1.12.ack-none",
        "MQMP-2.2.3.2.acknowledgment-none",
        "MQQB-3.1.7.15.requested",
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
    breaks = ("MQQB-3.1.7.15.correlation",)
    replaces = ("delivery", _Uncorrelated)
