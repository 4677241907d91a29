"""Faults of reads in two phases: what a begun read holds, and what its end does (MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12)."""

from __future__ import annotations

from conformance.embedded.entities import Descriptor, MqError, OpenRead, Position, Queue, Reason, Result, State
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import BYTES, DISORDER, LOST, SURPLUS, WAKING, dmpr
from conformance.embedded.reading import Reading
from conformance.spec.constants.hresults import MQ_ERROR

_LOCKS = dmpr(
    "3.1.7.1.11.locks",
    "3.1.7.1.10.two-phase",
    "3.1.7.1.10.two-phase-locks",
    "3.1.7.1.10.two-phase-read",
    "3.1.1.11.unacknowledged-read-hidden",
)


class _EagerBegin(Reading):
    def begin(self, at: Descriptor, position: Position) -> Result:
        shown = super().begin(at, position)
        self.manager.delivery.delete(position, Reason.RECEIVED)
        return shown

    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        del self.manager.open_reads[read.handle]


class BegunReadDeletes(Fault):
    """A read in two phases takes its message out at the first phase; the second does nothing."""

    name = "begun-read-deletes"
    suite = "subqueues"
    breaks = (
        *_LOCKS,
        *dmpr("3.1.7.1.12.restores", "3.1.7.1.12.kept", "3.1.7.1.12.deleted-reason", "3.1.7.1.12.purged"),
        *dmpr("3.1.7.1.12.queue-not-available", "3.1.7.1.12.queue-not-available-code"),
        *LOST,
    )
    replaces = ("reading", _EagerBegin)


class _OpenBegin(Reading):
    def begin(self, at: Descriptor, position: Position) -> Result:
        shown = super().begin(at, position)
        position.state = State.AVAILABLE
        return shown


class BegunReadStaysVisible(Fault):
    """A message whose read has begun is still given to other readers."""

    name = "begun-read-stays-visible"
    suite = "subqueues"
    breaks = (
        *_LOCKS,
        *dmpr("3.1.7.1.12.mq-ok", "3.1.7.1.12.deletes", "3.1.7.1.12.restores", "3.1.7.1.12.not-begun"),
        *dmpr("3.1.7.1.12.deleted-reason", "3.1.7.1.12.purged", "3.1.7.1.12.kept", "3.1.7.1.10.skips-locked"),
        *dmpr("3.1.7.1.15.skips-locked", "3.1.7.1.12.no-resurrection"),
        *SURPLUS,
    )
    replaces = ("reading", _OpenBegin)


class _Returning(Reading):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=False)


class EndedReadReturns(Fault):
    """The message of a read in two phases comes back although its end acknowledged it."""

    name = "ended-read-returns"
    suite = "subqueues"
    breaks = (
        *dmpr("3.1.7.1.12.deletes", "3.1.7.1.12.deleted-reason", "3.1.7.1.12.no-resurrection"),
        *SURPLUS,
        *WAKING,
    )
    replaces = ("reading", _Returning)


class _Discarding(Reading):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        super().end(read, acknowledge=True)


class RejectedReadDeletes(Fault):
    """The message of a read in two phases is gone although its end rejected it."""

    name = "rejected-read-deletes"
    suite = "subqueues"
    breaks = (
        *dmpr("3.1.7.1.12.restores", "3.1.7.1.12.kept", "3.1.7.1.12.deleted-reason", "3.1.7.1.6.messages-kept"),
        *LOST,
    )
    replaces = ("reading", _Discarding)


class _Requeuing(Reading):
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
    suite = "subqueues"
    breaks = (
        *dmpr("3.1.7.1.12.restores", "3.1.7.1.12.kept", "3.1.1.12.arrival-time", "3.1.1.12.lookup-identifier-unique"),
        *DISORDER,
    )
    replaces = ("reading", _Requeuing)


class _Reviving(Reading):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        if read.position.state is State.PURGE_PENDING:
            read.position.state = State.LOCKED
        super().end(read, acknowledge=acknowledge)


class PurgeSparesBegunRead(Fault):
    """A message whose read had begun when its queue was purged comes back when the read is rejected."""

    name = "purge-spares-begun-read"
    suite = "subqueues"
    breaks = (
        *dmpr("3.1.7.1.12.purged", "3.1.7.1.12.deleted-reason", "3.1.7.1.7.locked-purge-pending"),
        *dmpr("3.1.1.11.state-purge-pending"),
        *SURPLUS,
    )
    replaces = ("reading", _Reviving)


class _Mute(Reading):
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
    suite = "subqueues"
    breaks = (*dmpr("3.1.7.1.12.restores"), *WAKING)
    replaces = ("reading", _Mute)


class _Forgiving(Reading):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError:
            return


class EndOfLostReadSucceeds(Fault):
    """Ending a read succeeds although its queue was deleted meanwhile."""

    name = "end-of-lost-read-succeeds"
    suite = "subqueues"
    breaks = dmpr(
        "3.1.7.1.12.queue-not-available",
        "3.1.7.1.12.queue-not-available-code",
        "3.1.7.1.12.queue-not-available-ends",
        "3.1.7.1.12.not-begun",
        "3.1.7.1.12.not-begun-code",
    )
    replaces = ("reading", _Forgiving)


class _Vague(Reading):
    def end(self, read: OpenRead, *, acknowledge: bool) -> None:
        try:
            super().end(read, acknowledge=acknowledge)
        except MqError:
            raise MqError(MQ_ERROR) from None


class EndOfLostReadWrongStatus(Fault):
    """Ending a read whose queue was deleted meanwhile fails with the generic MQ_ERROR."""

    name = "end-of-lost-read-wrong-status"
    suite = "subqueues"
    breaks = dmpr("3.1.7.1.12.queue-not-available-code", "3.1.7.1.12.not-begun-code")
    replaces = ("reading", _Vague)


class _Rigid(Reading):
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
    suite = "subqueues"
    breaks = (
        *dmpr("3.1.2.4.expires", "3.1.7.2.7.not-transactional", "3.1.7.2.7.deleted", "3.1.7.2.7.locked"),
        *dmpr("3.1.1.12.time-to-be-received", "3.1.7.1.9.expiry-started"),
        *SURPLUS,
    )
    replaces = ("reading", _Rigid)


class _Unbilled(Reading):
    def begin(self, at: Descriptor, position: Position) -> Result:
        self.manager.delivery.account(position.queue, -position.message.size)
        return super().begin(at, position)


class BegunReadLeaksBytes(Fault):
    """A read in two phases takes the bytes of its message off twice: when it begins and when it ends."""

    name = "begun-read-leaks-bytes"
    suite = "subqueues"
    breaks = (*dmpr("3.1.7.1.3.total-bytes-zero"), *BYTES)
    replaces = ("reading", _Unbilled)


class _LastFirst(Reading):
    def first(self, queue: Queue, destructive: bool) -> Position | None:
        found = super().first(queue, destructive)
        if found is not None and self.manager.open_reads:
            return found.queue.positions.before(1 << 80)
        return found


class ReadsBesideBegunTakeLast(Fault):
    """While a read in two phases is open, other reads take the last message instead of the first."""

    name = "reads-beside-begun-take-last"
    suite = "subqueues"
    breaks = (
        "MQMQ-2.2.19.1.higher-priority-nearer-front",
        # Behind a rejected read, the next one should find what it gave back, and takes the last instead.
        *dmpr("3.1.1.11.unacknowledged-read-hidden", "3.1.7.1.12.restores"),
        *DISORDER,
    )
    replaces = ("reading", _LastFirst)


TWO_PHASE_FAULTS: tuple[type[Fault], ...] = (
    BegunReadDeletes,
    BegunReadStaysVisible,
    EndedReadReturns,
    RejectedReadDeletes,
    RejectedReadRequeues,
    PurgeSparesBegunRead,
    RejectedReadWakesNobody,
    EndOfLostReadSucceeds,
    EndOfLostReadWrongStatus,
    BegunReadStopsExpiry,
    BegunReadLeaksBytes,
    ReadsBesideBegunTakeLast,
)
