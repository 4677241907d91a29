"""Faults of hardened security (MS-MQDMPR 3.1.1.1, 3.1.3, 3.1.7.1.5)."""

from __future__ import annotations

from functools import partial

from conformance.embedded.faults.base import also, fault
from conformance.embedded.security import Security
from conformance.embedded.transfers import CONNECTED, Outgoing, Transfers

_HARDENED = "MQDMPR-3.1.1.1.hardened-security"
_AT_START, _TO_LOCK = "MQDMPR-3.1.3.lock", "MQDMPR-3.1.3.not-http-hardened"
_TO_UNLOCK, _UNLOCKED = "MQDMPR-3.1.3.locked-not-hardened", "MQDMPR-3.1.3.unlock"
_AT_OPEN, _STATE = "MQDMPR-3.1.7.1.5.hardened-locked", "MQDMPR-3.1.7.1.5.hardened-state"


@fault("hardening-is-never-in-force", Security.hardens, _HARDENED, _AT_START, _TO_LOCK, _AT_OPEN, _STATE)
def hardening_is_never_in_force(plain, self):
    """Security is not hardened, whatever was set before the start."""
    return False


@fault("hardening-ends-with-the-next-start", Security.hardens, _HARDENED)
def hardening_ends_with_the_next_start(plain, self):
    """Hardened security is in force for one start alone."""
    hardened = plain()
    if hardened:
        self.harden(False)
    return hardened


@fault("hardening-locks-http-too", Outgoing.to_lock, _TO_LOCK, _AT_OPEN, _HARDENED)
def hardening_locks_http_too(plain, self, queue):
    """Hardened security locks queues whose messages travel by HTTP."""
    return self.manager.security.hardened


@fault("hardening-spares-multicast", Outgoing.to_lock, _TO_LOCK, _AT_OPEN)
def hardening_spares_multicast(plain, self, queue):
    """Hardened security does not lock multicast queues."""
    return plain(queue) and self.manager.names.format_name(queue.path).kind != "multicast"


@fault("hardened-start-locks-nothing", Outgoing.started, _AT_START, _TO_LOCK)
def hardened_start_locks_nothing(plain, self, queue, *, was_hardened):
    """A start with hardened security leaves the queues that are there as they were."""
    plain(queue, was_hardened=was_hardened)
    queue.locked = False


@fault("hardened-open-locks-nothing", Outgoing.opened, _AT_OPEN, _STATE)
def hardened_open_locks_nothing(plain, self, queue):
    """Under hardened security, a queue that is opened for the first time is not locked."""


@fault("locked-queues-stay-locked", Outgoing.started, _TO_UNLOCK, _UNLOCKED)
def locked_queues_stay_locked(plain, self, queue, *, was_hardened):
    """A queue that was locked is locked after a start without hardened security too."""
    plain(queue, was_hardened=was_hardened)
    queue.locked = queue.locked or (was_hardened and not self.by_http(queue))


@fault("unlocked-queues-are-connected", Outgoing.started, _UNLOCKED)
def unlocked_queues_are_connected(plain, self, queue, *, was_hardened):
    """A queue that a start unlocks has the state CONNECTED."""
    plain(queue, was_hardened=was_hardened)
    if was_hardened and not queue.locked and not self.by_http(queue):
        self.manager.transfers.of(queue).state = CONNECTED


def _as_unlocked(queue, perform):
    locked, queue.locked = queue.locked, False
    try:
        return perform()
    finally:
        queue.locked = locked


@fault("locked-queues-transfer", Outgoing.take, _HARDENED, "MQDMPR-3.1.1.3.state-locked")
def locked_queues_transfer(plain, self, format_name):
    """The messages of a locked queue are transferred all the same."""
    return _as_unlocked(self.manager.queues.outgoing(format_name), partial(plain, format_name))


@also("locked-queues-transfer", Transfers.transfer)
def _transfers(plain, self, queue, count):
    return _as_unlocked(queue, partial(plain, queue, count))
