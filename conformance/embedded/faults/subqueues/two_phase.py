"""Faults of two-phase reads: of the lock of a begun read, and of its end (MS-MQDMPR 3.1.7.1.11, 3.1.7.1.12)."""

from __future__ import annotations

from conformance.embedded.entities import MqError, Reason, State
from conformance.embedded.faults.base import also, fault
from conformance.embedded.receiving import Receiving
from conformance.spec.constants.hresults import MQ_ERROR


@fault("begun-read-deletes", Receiving.begin, "MQDMPR-3.1.7.1.12.restores")
def begun_read_deletes(plain, self, at, position):
    """A read in two phases takes its message out at the first phase; the second does nothing."""
    shown = plain(at, position)
    self.manager.delivery.delete(position, Reason.RECEIVED)
    return shown


@also("begun-read-deletes", Receiving.end)
def begun_read_deletes_end(plain, self, read, *, acknowledge):
    del self.manager.open_reads[read.handle]


@fault("begun-read-stays-visible", Receiving.begin, "MQDMPR-3.1.7.1.11.locks")
def begun_read_stays_visible(plain, self, at, position):
    """A message whose read has begun is still given to other readers."""
    shown = plain(at, position)
    position.state = State.AVAILABLE
    return shown


@fault("ended-read-returns", Receiving.end, "MQDMPR-3.1.7.1.12.deletes")
def ended_read_returns(plain, self, read, *, acknowledge):
    """The message of a read in two phases comes back although its end acknowledged it."""
    plain(read, acknowledge=False)


@fault("rejected-read-deletes", Receiving.end, "MQDMPR-3.1.7.1.12.restores")
def rejected_read_deletes(plain, self, read, *, acknowledge):
    """The message of a read in two phases is gone although its end rejected it."""
    plain(read, acknowledge=True)


@fault("rejected-read-requeues", Receiving.end, "MQDMPR-3.1.7.1.12.restores")
def rejected_read_requeues(plain, self, read, *, acknowledge):
    """The message of a rejected read comes back behind the others, as if it had just arrived."""
    position = read.position
    locked = position.state is State.LOCKED and not position.queue.deleted
    plain(read, acknowledge=acknowledge)
    if locked and not acknowledge and position.state is State.AVAILABLE:
        self.manager.delivery.remove(position)
        self.manager.delivery.place(position.queue, position.message, limited=False)


@fault("purge-spares-begun-read", Receiving.end, "MQDMPR-3.1.7.1.12.purged", "MQDMPR-3.1.7.1.7.purge-pending-state")
def purge_spares_begun_read(plain, self, read, *, acknowledge):
    """A message whose read had begun when its queue was purged comes back when the read is rejected."""
    if read.position.state is State.PURGE_PENDING:
        read.position.state = State.LOCKED
    plain(read, acknowledge=acknowledge)


@fault(
    "rejected-read-wakes-nobody", Receiving.end, "MQDMPR-3.1.7.1.10.wakes", "MQDMPR-3.1.7.1.15.wakes",
    "MQDMPR-3.1.7.1.12.restores",
)  # fmt: skip
def rejected_read_wakes_nobody(plain, self, read, *, acknowledge):
    """A read that waits is not told of a message that comes back from a rejected read."""
    queue = read.position.queue
    waiters = list(queue.waiters)
    queue.waiters.clear()
    try:
        plain(read, acknowledge=acknowledge)
    finally:
        queue.waiters.extend(waiters)


@fault(
    "end-of-lost-read-succeeds", Receiving.end, "MQDMPR-3.1.7.1.12.queue-not-available",
    "MQDMPR-3.1.7.1.12.queue-not-available-code",
)  # fmt: skip
def end_of_lost_read_succeeds(plain, self, read, *, acknowledge):
    """Ending a read succeeds although its queue was deleted meanwhile."""
    try:
        plain(read, acknowledge=acknowledge)
    except MqError:
        return


@fault("end-of-lost-read-wrong-status", Receiving.end, "MQDMPR-3.1.7.1.12.queue-not-available-code")
def end_of_lost_read_wrong_status(plain, self, read, *, acknowledge):
    """Ending a read whose queue was deleted meanwhile fails with the generic MQ_ERROR."""
    try:
        plain(read, acknowledge=acknowledge)
    except MqError:
        raise MqError(MQ_ERROR) from None


@fault("begun-read-stops-expiry", Receiving.begin, "MQDMPR-3.1.2.4.expires")
def begun_read_stops_expiry(plain, self, at, position):
    """A message whose read was begun and rejected lives for ever, whatever its time to be received."""
    shown = plain(at, position)
    if position.timer is not None:
        position.timer.cancel()
    return shown


@also("begun-read-stops-expiry", Receiving.end)
def begun_read_stops_expiry_end(plain, self, read, *, acknowledge):
    plain(read, acknowledge=acknowledge)
    if read.position.state is State.AVAILABLE and read.position.message.expires_ms is not None:
        read.position.message.expires_ms = None


@fault("begun-read-leaks-bytes", Receiving.begin, "MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes")
def begun_read_leaks_bytes(plain, self, at, position):
    """A read in two phases takes the bytes of its message off twice: when it begins and when it ends."""
    self.manager.delivery.account(position.queue, -position.message.size)
    return plain(at, position)


@fault(
    "reads-beside-begun-take-last", Receiving.first, "MQDMPR-3.1.7.1.10.first-available",
    first_seen_as=("MQMQ-2.2.19.1.higher-priority-nearer-front",),
    because="the last message of a queue may be of lower priority, and then its place looks wrong",
)  # fmt: skip
def reads_beside_begun_take_last(plain, self, queue, destructive):
    """While a read in two phases is open, other reads take the last message instead of the first."""
    found = plain(queue, destructive)
    if found is not None and self.manager.open_reads:
        return found.queue.positions.before(1 << 80)
    return found
