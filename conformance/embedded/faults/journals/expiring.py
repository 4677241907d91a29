"""Faults of expiry times, and of the acknowledgements sent to the administration queue."""

from __future__ import annotations

from conformance.embedded.delivery import ACK_REACH_QUEUE, Delivery
from conformance.embedded.entities import Reason, State
from conformance.embedded.faults.base import also, fault
from conformance.embedded.sending import Sending


@fault(
    "time-to-be-received-ignored", Delivery.start_timer, "MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.zero",
    "MQMP-2.2.3.2.time-to-live-expires", first_seen_as=("MQDMPR-3.1.1.12.negative-journaling-transactional",),
    because="the dead-letter queue is looked into first: what does not expire is not there",
)  # fmt: skip
def time_to_be_received_ignored(plain, self, position):
    """A message stays in its queue for ever, whatever its time to be received."""


@also("time-to-be-received-ignored", Delivery._is_over)
def time_to_be_received_ignored_is_over(plain, self, position):
    return False


@fault("message-expires-early", Sending.make, "MQDMPR-3.1.2.4.not-early")
def message_expires_early(plain, self, given, *, transactional):
    """A message expires when half its time to be received has passed."""
    message = plain(given, transactional=transactional)
    if message.expires_ms is not None:
        message.expires_ms -= (message.expires_ms - message.sent_ms) // 2
    return message


@fault(
    "message-expires-late", Delivery.start_timer, "MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.zero",
    "MQMP-2.2.3.2.time-to-live-expires",
)  # fmt: skip
def message_expires_late(plain, self, position):
    """A message lives one second longer than its time to be received."""
    if position.message.expires_ms is not None:
        position.message.expires_ms += 1000
    plain(position)


@fault("zero-time-never-expires", Sending.make, "MQDMPR-3.1.2.4.zero")
def zero_time_never_expires(plain, self, given, *, transactional):
    """A message whose time to be received is 0 does not expire."""
    message = plain(given, transactional=transactional)
    if message.fields["time_to_be_received"] == 0:
        message.expires_ms = None
    return message


@fault(
    "time-starts-at-availability", Delivery.make_available, "MQDMPR-3.1.2.4.expires",
    "MQMP-2.2.3.2.time-to-live-expires",
)  # fmt: skip
def time_starts_at_availability(plain, self, position):
    """The time to be received starts anew whenever a message becomes available."""
    message = position.message
    if position.state is State.LOCKED and message.expires_ms is not None and not position.uncommitted:
        left = message.fields["time_to_be_received"] * 1000
        message.expires_ms = self.manager.clock.now_ms() + left
        if position.timer is not None:
            position.timer.cancel()
        self.start_timer(position)
    plain(position)


@fault("journal-copies-expire", Delivery.copy, "MQDMPR-3.1.2.4.system-queues-kept")
def journal_copies_expire(plain, self, queue, message):
    """The copies in journals and dead-letter queues expire as their messages did."""
    plain(queue, message)
    positions = list(queue.positions) if queue is not None else []
    lives = message.fields["time_to_be_received"]
    if positions and lives != 0xFFFFFFFF:
        last = max(positions, key=lambda each: each.row)
        due = self.manager.clock.now_ms() + lives * 1000
        last.timer = self.manager.clock.at(due, lambda: self.delete(last, Reason.EXPIRED))


@fault(
    "time-to-reach-queue-ignored", Sending.enqueue, "MQDMPR-3.1.1.12.time-to-reach-queue",
    "MQMP-2.2.3.2.time-to-queue-expires", "MQQB-3.1.7.1.2.expired", first_seen_as=("MQDMPR-3.1.1.12.ack-neg-arrival",),
    because="that a message is not given up shows first where its end is to be reported",
)  # fmt: skip
def time_to_reach_queue_ignored(plain, self, queue, message, transaction):
    """A message waits in its outgoing queue for ever, whatever its time to reach the queue."""
    reach = message.fields["time_to_reach_queue"]
    message.fields["time_to_reach_queue"] = 0xFFFFFFFF
    lookup = plain(queue, message, transaction)
    message.fields["time_to_reach_queue"] = reach
    return lookup


@fault("time-to-reach-queue-ends-received", Sending.enqueue, "MQDMPR-3.1.2.4.not-early", "MQDMPR-3.1.2.4.infinite")
def time_to_reach_queue_ends_received(plain, self, queue, message, transaction):
    """A message that has reached its queue expires there when its time to reach the queue is over."""
    reach = message.fields["time_to_reach_queue"]
    if queue.kind != "outgoing" and reach != 0xFFFFFFFF:
        due = message.sent_ms + reach * 1000
        message.expires_ms = due if message.expires_ms is None else min(due, message.expires_ms)
    return plain(queue, message, transaction)


@fault(
    "arrival-not-acknowledged", Delivery.acknowledge_arrival, "MQDMPR-3.1.1.12.ack-pos-arrival",
    "MQDMPR-3.1.1.12.ack-full-reach-queue", "MQDMPR-3.1.1.12.class-ack-reach-queue",
    "MQMP-2.2.3.2.acknowledgment-pos-arrival", "MQMP-2.2.3.2.acknowledgment-full-reach-queue",
)  # fmt: skip
def arrival_not_acknowledged(plain, self, message, queue):
    """No acknowledgement tells that a message was put in its queue."""


@fault(
    "receive-not-acknowledged", Delivery.acknowledge_removal, "MQDMPR-3.1.1.12.ack-pos-receive",
    "MQDMPR-3.1.1.12.ack-full-receive", "MQDMPR-3.1.1.12.class-ack-receive", "MQDMPR-3.1.7.1.10.deleted-reason",
    "MQMP-2.2.3.2.acknowledgment-pos-receive",
)  # fmt: skip
def receive_not_acknowledged(plain, self, message, queue, reason):
    """No acknowledgement tells that a message was received."""
    if reason is not Reason.RECEIVED:
        plain(message, queue, reason)


@fault(
    "every-removal-is-received", Delivery.acknowledge, "MQDMPR-3.1.7.1.7.nack-queue-purged",
    "MQDMPR-3.1.7.1.4.nack-queue-deleted", "MQDMPR-3.1.7.2.7.nack-receive-timeout",
    first_seen_as=("MQDMPR-3.1.1.12.class-nack-queue-purged",),
    because="the report has another class than the one due, and its class is read before its cause",
)  # fmt: skip
def every_removal_is_received(plain, self, message, origin, message_class):
    """A message that was purged, deleted or expired is reported as received."""
    plain(message, origin, message_class if message_class == ACK_REACH_QUEUE else 0x4000)


@fault(
    "acknowledges-unasked", Delivery.acknowledge_arrival, "MQDMPR-3.1.1.12.ack-none",
    "MQMP-2.2.3.2.acknowledgment-none", "MQQB-3.1.7.15.requested",
)  # fmt: skip
def acknowledges_unasked(plain, self, message, queue):
    """The arrival of a message that asks for no acknowledgement is acknowledged to its administration queue."""
    if message.fields["acknowledgements"]:
        plain(message, queue)
    else:
        self.acknowledge(message, queue, ACK_REACH_QUEUE)


@fault("acknowledgement-uncorrelated", Delivery.acknowledge_from, "MQQB-3.1.7.15.correlation")
def acknowledgement_uncorrelated(plain, self, message, origin, message_class):
    """The correlation identifier of an acknowledgement does not name the message it is about."""
    before = message.fields["identifier"]
    message.fields["identifier"] = {"source": before["source"], "ordinal": 0}
    plain(message, origin, message_class)
    message.fields["identifier"] = before
