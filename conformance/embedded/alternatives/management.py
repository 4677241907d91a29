"""Alternatives of readings about management and outgoing queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import Queue, State
from conformance.embedded.management import Management
from conformance.embedded.transfers import LOCKED, Outgoing, Transfers

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any


@follows("R-MQMR-tidy=purge", Management.act_on_machine)
def mqmr_tidy_purge(plain, self, action):
    """Tidying purges every queue."""
    plain(action)
    if action == "TIDY":
        for queue in self.manager.queues.all():
            for position in queue.positions:
                self.manager.queues.purge_position(position)


@follows("R-MQMR-held-messages-counted=available", Management.message_count)
def mqmr_held_messages_counted_available(plain, self, queue):
    """Messages that a transaction holds are not counted."""
    return sum(position.state is State.AVAILABLE for position in queue.positions)


@follows("R-MQMR-queue-format-name=qualified-pathname", Management.format_name)
def mqmr_queue_format_name_qualified_pathname(plain, self, queue):
    """The format name of a local queue is its path name with the full name of the computer."""
    if queue.kind == "outgoing":
        return plain(queue)
    computer, _, rest = queue.path.partition("\\")
    return f"{computer}.local\\{rest}"


@follows("R-MQMR-journal-bytes-without-journaling=journal", Management.bytes_in_journal)
def mqmr_journal_bytes_without_journaling_journal(plain, self, queue):
    """A journal has the bytes that are in it, whether journaling is on or off."""
    return self.journal_bytes(queue)


@follows("R-MQMR-last-ack-of-nothing-pending=always", Management.last_ack)
def mqmr_last_ack_of_nothing_pending_always(plain, self, queue):
    """The last acknowledgment has a value while no other is awaited too."""
    return self.newest_ack(queue)


@follows("R-MQMQ-queue-state-locked=listed", Management.state)
def mqmq_queue_state_locked_listed(plain, self, queue):
    """A locked queue tells the state of its connection."""
    told = plain(queue)
    return self.manager.transfers.of(queue).state if told == LOCKED else told


@follows("resume-of-queue-not-on-hold=inactive", Outgoing.let_go)
def resume_of_queue_not_on_hold_inactive(plain, self, queue):
    """A queue that is resumed is inactive, whether or not it was on hold."""
    plain(queue)
    self.manager.transfers.resumed(queue)


@follows("R-MQQB-last-ack-count=all", Transfers.count_order)
def mqqb_last_ack_count_all(plain, self, transfer, number):
    """Every order acknowledgment is counted."""
    before = transfer.last_ack_count
    plain(transfer, number)
    transfer.last_ack_count = before + 1


@follows("R-MQQB-resend-count=interval-index", Management.resend_count)
def mqqb_resend_count_interval_index(plain, self, queue):
    """The number of transfers is the place of the resend interval in its table."""
    transfer = self.of(queue)
    return None if transfer is None else transfer.resend_index


@follows("R-MQQB-history-addresses=tried", Management.connection_history)
def mqqb_history_addresses_tried(plain, self, queue):
    """An entry of the history has the address that was tried, the first."""
    told = plain(queue)
    if told is not None:
        for each in told[3]["value"]:
            del each["value"][1:]
    return told


@follows("R-MQQB-messages-not-read=all", Transfers.delivered)
def mqqb_messages_not_read_all(plain, self, queue, transfer, position):
    """Every message with an order acknowledgment awaits its final one."""
    plain(queue, transfer, position)
    self.await_final(queue, transfer, position)


@follows("hold-after-restart=kept", "outgoing")
class _KeepsHold(Outgoing):
    """A queue on hold when the queue manager stops is on hold after the next start."""

    def __init__(self, manager: Manager) -> None:
        super().__init__(manager)
        self._known: set[str] = set()  # the queues whose hold in the earlier process is already looked up

    def hold(self, queue: Queue) -> None:
        super().hold(queue)
        self._keep(queue)

    def let_go(self, queue: Queue) -> None:
        super().let_go(queue)
        self._keep(queue)

    def on_hold(self, queue: Queue) -> bool:
        if queue.id not in self._known:
            self._known.add(queue.id)
            queue.paused = self.manager.store.counter(f"hold {queue.id}", 0) == 1
        return super().on_hold(queue)

    def _keep(self, queue: Queue) -> None:
        self._known.add(queue.id)
        self.manager.store.set_counter(f"hold {queue.id}", int(queue.paused))


@follows("dispatch-order=as-written", Outgoing.ready)
def dispatch_order_as_written(plain, self, queue):
    """Within a priority the last message to come goes first: the text leaves the order open."""
    return sorted(plain(queue), key=lambda each: (-each.message.fields["priority"], -each.row))
