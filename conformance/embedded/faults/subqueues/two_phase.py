"""Faults of two-phase reads: of the lock of a begun read, and of its end (MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12)."""

from __future__ import annotations

from conformance.embedded.entities import Descriptor, MqError, OpenRead, Position, Queue, Reason, Result, State
from conformance.embedded.faults.base import Fault
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR


class _EagerBegin(Receiving):
    def begin(self, at: Descriptor, position: Position) -> Result:
        shown = super().begin(at, position)
        self.manager.delivery.delete(position, Reason.RECEIVED)
        return shown

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        del self.manager.open_reads[read.handle]


class BegunReadDeletes(Fault):
    """A read in two phases takes its message out at the first phase; the second does nothing."""

    name = "begun-read-deletes"
    breaks = ("MQDMPR-3.1.7.1.12.restores",)
    replaces = ("reading", _EagerBegin)


class _OpenBegin(Receiving):
    def begin(self, at: Descriptor, position: Position) -> Result:
        shown = super().begin(at, position)
        position.state = State.AVAILABLE
        return shown


class BegunReadStaysVisible(Fault):
    """A message whose read has begun is still given to other readers."""

    name = "begun-read-stays-visible"
    breaks = ("MQDMPR-3.1.7.1.11.locks",)
    replaces = ("reading", _OpenBegin)


class _Returning(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=False)


class EndedReadReturns(Fault):
    """The message of a read in two phases comes back although its end acknowledged it."""

    name = "ended-read-returns"
    breaks = ("MQDMPR-3.1.7.1.12.deletes",)
    replaces = ("reading", _Returning)


class _Discarding(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=True)


class RejectedReadDeletes(Fault):
    """The message of a read in two phases is gone although its end rejected it."""

    name = "rejected-read-deletes"
    breaks = ("MQDMPR-3.1.7.1.12.restores",)
    replaces = ("reading", _Discarding)


class _Requeuing(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        position = read.position
        locked = position.state is State.LOCKED and not position.queue.deleted
        super().end(read, acknowledge=acknowledge)
        if locked and not acknowledge and position.state is State.AVAILABLE:
            self.manager.delivery.remove(position)
            self.manager.delivery.place(position.queue, position.message, limited=False)


class RejectedReadRequeues(Fault):
    """The message of a rejected read comes back behind the others, as if it had just arrived."""

    name = "rejected-read-requeues"
    breaks = ("MQDMPR-3.1.7.1.12.restores",)
    replaces = ("reading", _Requeuing)


class _Reviving(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        if read.position.state is State.PURGE_PENDING:
            read.position.state = State.LOCKED
        super().end(read, acknowledge=acknowledge)


class PurgeSparesBegunRead(Fault):
    """A message whose read had begun when its queue was purged comes back when the read is rejected."""

    name = "purge-spares-begun-read"
    breaks = (
        "MQDMPR-3.1.7.1.12.purged",
        "MQDMPR-3.1.7.1.7.purge-pending-state",
    )
    replaces = ("reading", _Reviving)


class _Mute(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        queue = read.position.queue
        waiters = list(queue.waiters)
        queue.waiters.clear()
        try:
            super().end(read, acknowledge=acknowledge)
        finally:
            queue.waiters.extend(waiters)


class RejectedReadWakesNobody(Fault):
    """A read that waits is not told of a message that comes back from a rejected read."""

    name = "rejected-read-wakes-nobody"
    breaks = (
        "MQDMPR-3.1.7.1.10.wakes",
        "MQDMPR-3.1.7.1.15.wakes",
        "MQDMPR-3.1.7.1.12.restores",
    )
    replaces = ("reading", _Mute)


class _Forgiving(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError:
            return


class EndOfLostReadSucceeds(Fault):
    """Ending a read succeeds although its queue was deleted meanwhile."""

    name = "end-of-lost-read-succeeds"
    breaks = (
        "MQDMPR-3.1.7.1.12.queue-not-available",
        "MQDMPR-3.1.7.1.12.queue-not-available-code",
    )
    replaces = ("reading", _Forgiving)


class _Vague(Receiving):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError:
            raise MqError(MQ_ERROR) from None


class EndOfLostReadWrongStatus(Fault):
    """Ending a read whose queue was deleted meanwhile fails with the generic MQ_ERROR."""

    name = "end-of-lost-read-wrong-status"
    breaks = ("MQDMPR-3.1.7.1.12.queue-not-available-code",)
    replaces = ("reading", _Vague)


class _Rigid(Receiving):
    def begin(self, at: Descriptor, position: Position) -> Result:
        shown = super().begin(at, position)
        if position.timer is not None:
            position.timer.cancel()
        return shown

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=acknowledge)
        if read.position.state is State.AVAILABLE and read.position.message.expires_ms is not None:
            read.position.message.expires_ms = None


class BegunReadStopsExpiry(Fault):
    """A message whose read was begun and rejected lives for ever, whatever its time to be received."""

    name = "begun-read-stops-expiry"
    breaks = ("MQDMPR-3.1.2.4.expires",)
    replaces = ("reading", _Rigid)


class _Unbilled(Receiving):
    def begin(self, at: Descriptor, position: Position) -> Result:
        self.manager.delivery.account(position.queue, -position.message.size)
        return super().begin(at, position)


class BegunReadLeaksBytes(Fault):
    """A read in two phases takes the bytes of its message off twice: when it begins and when it ends."""

    name = "begun-read-leaks-bytes"
    breaks = (
        "MQDMPR-3.1.1.2.total-bytes",
        "MQDMPR-3.1.7.2.1.total-bytes",
    )
    replaces = ("reading", _Unbilled)


class _LastFirst(Receiving):
    def first(self, queue: Queue, destructive: bool) -> Position | None:
        found = super().first(queue, destructive)
        if found is not None and self.manager.open_reads:
            return found.queue.positions.before(1 << 80)
        return found


class ReadsBesideBegunTakeLast(Fault):
    """While a read in two phases is open, other reads take the last message instead of the first."""

    name = "reads-beside-begun-take-last"
    breaks = ("MQDMPR-3.1.7.1.10.first-available",)
    first_seen_as = ("MQMQ-2.2.19.1.higher-priority-nearer-front",)
    because = "the last message of a queue may be of lower priority, and then its place looks wrong"
    replaces = ("reading", _LastFirst)
