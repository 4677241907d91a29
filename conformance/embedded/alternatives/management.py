"""Alternatives of readings about management and the transfers that it shows (MS-MQMR 3.1.4, MS-MQQB 3.1.5.6)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import Position, Queue, State
from conformance.embedded.management import Management
from conformance.embedded.outgoing import Outgoing
from conformance.embedded.transfer_state import Transfer
from conformance.embedded.transfers import Transfers

Json = Any


@follows("R-MQMR-tidy=purge", "management")
class _Purging(Management):
    """Tidying purges every queue."""

    def act_on_machine(self, action: str) -> None:
        super().act_on_machine(action)
        if action == "TIDY":
            for queue in self.manager.queues.all():
                for position in queue.positions:
                    self.manager.queues.purge_position(position)


@follows("R-MQMR-held-messages-counted=available", "management")
class _AvailableOnly(Management):
    """Messages that a transaction holds are not counted."""

    def message_count(self, queue: Queue) -> int:
        return sum(position.state is State.AVAILABLE for position in queue.positions)


@follows("R-MQMR-queue-format-name=qualified-pathname", "management")
class _Qualified(Management):
    """The format name of a local queue is its path name with the full name of the computer."""

    def format_name(self, queue: Queue) -> str:
        if queue.kind == "outgoing":
            return super().format_name(queue)
        computer, _, rest = queue.path.partition("\\")
        return f"{computer}.local\\{rest}"


@follows("R-MQMR-journal-bytes-without-journaling=journal", "management")
class _Whatever(Management):
    """A journal has the bytes that are in it, whether journaling is on or off."""

    def bytes_in_journal(self, queue: Queue) -> int:
        return self.journal_bytes(queue)


@follows("R-MQMR-last-ack-of-nothing-pending=always", "management")
class _Always(Management):
    """The last acknowledgment has a value while no other is awaited too."""

    def last_ack(self, queue: Queue) -> str | None:
        return self.newest_ack(queue)


@follows("resume-of-queue-not-on-hold=inactive", "outgoing")
class _AlwaysInactive(Outgoing):
    """A queue that is resumed is inactive, whether or not it was on hold."""

    def let_go(self, queue: Queue) -> None:
        super().let_go(queue)
        self.manager.transfers.resumed(queue)


@follows("R-MQQB-last-ack-count=all", "transfers")
class _EveryAck(Transfers):
    """Every order acknowledgment is counted."""

    def count_order(self, transfer: Transfer, number: int) -> None:
        before = transfer.last_ack_count
        super().count_order(transfer, number)
        transfer.last_ack_count = before + 1


@follows("R-MQQB-resend-count=interval-index", "management")
class _Index(Management):
    """The number of transfers is the place of the resend interval in its table."""

    def resend_count(self, queue: Queue) -> int | None:
        transfer = self.of(queue)
        return None if transfer is None else transfer.resend_index


@follows("R-MQQB-history-addresses=tried", "management")
class _Tried(Management):
    """An entry of the history has the address that was tried, the first."""

    def connection_history(self, queue: Queue) -> list[Json] | None:
        told = super().connection_history(queue)
        if told is not None:
            for each in told[3]["value"]:
                del each["value"][1:]
        return told


@follows("R-MQQB-messages-not-read=all", "transfers")
class _EveryMessage(Transfers):
    """Every message with an order acknowledgment awaits its final one."""

    def delivered(self, queue: Queue, transfer: Transfer, position: Position) -> None:
        super().delivered(queue, transfer, position)
        self.await_final(queue, transfer, position)
