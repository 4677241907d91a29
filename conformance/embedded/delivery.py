"""Place, release, delete, expire and copy the messages of a queue (MS-MQDMPR 3.1.7.1.9, 3.1.7.2)."""

from __future__ import annotations

import base64
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.embedded.entities import INFINITE, Message, MqError, Position, Queue, Reason, State, Waiter
from conformance.embedded.store import MessageRow
from conformance.spec.constants.hresults import MQ_ERROR_INSUFFICIENT_RESOURCES

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

ACK_REACH_QUEUE = 0x0002
NACK_REACH_QUEUE_TIMEOUT = 0x8002
_EXPIRING_KINDS = frozenset({"private", "public", "subqueue", "outgoing"})  # 3.1.2.4: journals do not lose messages


class Delivery:
    """Places messages in queues and notifies waiting readers."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def place(self, queue: Queue, message: Message, *, uncommitted: bool = False, limited: bool = True) -> Position:
        """Enqueue Message (3.1.7.1.9): insert the message, available at once unless it is uncommitted.

        Raises MqError if the message would exceed the quota of the queue or of the manager, and `limited` is true.
        """
        if limited and not self.fits(queue, message):
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        sequence = self.manager.next_sequence()
        positions = queue.positions
        position = Position(
            positions.order(message, sequence),
            positions.lookup_identifier(message, sequence),
            sequence,
            message,
            queue,
            self.manager.clock.now_ms() // 1000,
        )
        positions.insert(position)
        self.account(queue, message.size)
        self.start_timer(position)
        if uncommitted:
            position.uncommitted = True
        else:
            self.keep(position)
            self.make_available(position)
        return position

    def fits(self, queue: Queue, message: Message) -> bool:
        """Return true if a message fits the quotas of queue and manager. Quotas are in kilobytes; all ones is none."""
        manager = self.manager
        used, limit = (
            (manager.journal_bytes, manager.journal_quota_kb)
            if queue.is_journal
            else (manager.message_bytes, manager.message_quota_kb)
        )
        return _within(used + message.size, limit) and _within(queue.bytes + message.size, queue.quota_kb)

    def account(self, queue: Queue, size: int) -> None:
        """Add `size`, which may be negative, to the bytes of a queue and of the manager."""
        queue.bytes += size
        if queue.kind == "outgoing":
            self.manager.queues.fills(queue)
        if queue.is_journal:
            self.manager.journal_bytes += size
        else:
            self.manager.message_bytes += size

    def keep(self, position: Position) -> None:
        """Store a position if its message is recoverable."""
        message = position.message
        if message.recoverable:
            self.manager.store.put_message(
                MessageRow(
                    position.row,
                    position.queue.id,
                    position.lookup,
                    position.key,
                    position.arrival,
                    message.size,
                    message.sent_ms,
                    message.expires_ms,
                    message.transactional,
                    message.fields,
                    message.carried,
                    position.state is State.PURGE_PENDING,
                )
            )

    def start_timer(self, position: Position) -> None:
        """Start the Time To Be Received timer (3.1.2.4), which counts from the time of the send."""
        due = position.message.expires_ms
        if due is not None and position.queue.kind in _EXPIRING_KINDS:
            position.timer = self.manager.clock.at(due, lambda: self.expire(position))

    def make_available(self, position: Position) -> None:
        """Message Position Available (3.1.7.2.2): serve the waiting readers, up to the first that removes it."""
        if position.expired:
            self.delete(position, Reason.EXPIRED)
            return
        position.state = State.AVAILABLE
        for waiter in list(position.queue.waiters):
            if waiter not in position.queue.waiters:
                continue  # the answer to an earlier waiter ended this one
            self.satisfy(waiter, position)
            if waiter.destructive:
                break
        if position.state is State.AVAILABLE and self._is_over(position):
            self.expire(position)

    def satisfy(self, waiter: Waiter, position: Position) -> None:
        """Waiting Message Read Satisfied (3.1.7.3.6)."""
        self.manager.reading.satisfied(waiter, position)

    def delete(self, position: Position, reason: Reason) -> None:
        """Message Position Deleted (3.1.7.2.1), with the copies and acknowledgements its reason requires."""
        if position.state is State.DELETED:
            return
        queue = position.queue
        if reason is Reason.RECEIVED:
            self.journal(position)
        self.remove(position)
        if reason is Reason.EXPIRED:
            self.dead_letter(position.message)
        self.acknowledge_removal(position.message, queue, reason)

    def journal(self, position: Position) -> None:
        """Copy a received message to the journal of its queue, if that has one and journaling is on."""
        if position.queue.journaling and position.queue.kind in ("private", "public", "subqueue"):
            self.copy(self.journal_of(position.queue), position.message)

    def journal_of(self, queue: Queue) -> Queue | None:
        """Return the journal of a queue; a subqueue, which is part of its queue, has that of the queue."""
        return (queue.parent or queue).journal

    def remove(self, position: Position) -> None:
        """Remove a position from its queue and the store, without copies or acknowledgements."""
        position.state = State.DELETED
        position.queue.positions.remove(position)
        self.account(position.queue, -position.message.size)
        if position.timer is not None:
            position.timer.cancel()
        if position.message.recoverable and not position.uncommitted:
            self.manager.store.drop_message(position.row)

    def expire(self, position: Position) -> None:
        """Time To Be Received Timer Expired (3.1.7.2.7); a locked message expires only if its lock is released."""
        if position.state is State.AVAILABLE:
            self.delete(position, Reason.EXPIRED)
        elif position.state is State.LOCKED:
            position.expired = True

    def copy(self, queue: Queue | None, message: Message) -> None:
        """Copy a message to a journal or dead-letter queue; if that queue is full, discard the copy."""
        if queue is not None and self.fits(queue, message):
            self.place(queue, replace(message, expires_ms=None))

    def dead_letter(self, message: Message) -> None:
        """Copy an undelivered message to the dead-letter queue (transactional or not, as it is) if it asks for that."""
        if message.fields["negative_journaling"]:
            self.copy(self.manager.queues.system("deadxact" if message.transactional else "deadletter"), message)

    def arrived(self, message: Message, queue: Queue) -> None:
        """Journal and acknowledge a message that has finally arrived in a local queue."""
        if queue.kind == "outgoing":
            return
        if message.fields["positive_journaling"]:
            self.copy(self.manager.queues.system("journal"), message)
        self.acknowledge_arrival(message, queue)

    def acknowledge_arrival(self, message: Message, queue: Queue) -> None:
        """Acknowledge an arrival to the administration queue if the message asks for that."""
        if "positive_arrival" in message.fields["acknowledgements"]:
            self.acknowledge(message, queue, ACK_REACH_QUEUE)

    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        """Acknowledge a removal to the administration queue if the message asks for that."""
        wanted = message.fields["acknowledgements"]
        if not wanted or queue.is_journal:
            return
        if queue.kind == "outgoing":
            if reason is Reason.EXPIRED and "negative_arrival" in wanted:
                self.acknowledge(message, queue, NACK_REACH_QUEUE_TIMEOUT)
        elif ("positive_receive" if reason is Reason.RECEIVED else "negative_receive") in wanted:
            self.acknowledge(message, queue, reason.value)

    def acknowledge(self, message: Message, origin: Queue, message_class: int) -> None:
        """Send Administration Acknowledgment for a message that is or was in a queue."""
        self.acknowledge_from(message, self.manager.queues.direct_name(origin), message_class)

    def acknowledge_from(self, message: Message, origin: str, message_class: int) -> None:
        """Send Administration Acknowledgment (MS-MQQB 3.1.7.15), to a local administration queue."""
        name = message.fields.get("administration_queue")
        queue = self.manager.queues.find_local(name) if name else None
        if queue is None or queue.kind not in ("private", "public") or queue.transactional:
            return
        identifier = message.fields["identifier"]
        correlation = uuid.UUID(identifier["source"]).bytes_le + identifier["ordinal"].to_bytes(4, "little")
        positive = message_class in (ACK_REACH_QUEUE, Reason.RECEIVED.value)
        fields = {
            "class": message_class,
            "correlation_identifier": base64.b64encode(correlation).decode("ascii"),
            "body": "" if positive else message.fields["body"],
            "delivery": message.fields["delivery"],
            "time_to_reach_queue": INFINITE,
            "response_queue": origin,
        }
        acknowledgement = self.manager.sending.make(fields, transactional=False)
        if self.fits(queue, acknowledgement):
            self.place(queue, acknowledgement)

    def _is_over(self, position: Position) -> bool:
        due = position.message.expires_ms
        return due is not None and position.queue.kind in _EXPIRING_KINDS and due <= self.manager.clock.now_ms()


def _within(size: int, limit_kb: int) -> bool:
    return limit_kb == 0xFFFFFFFF or size <= limit_kb * 1024
