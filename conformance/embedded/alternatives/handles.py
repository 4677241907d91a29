"""Alternatives of readings about what closing a handle does."""

from __future__ import annotations

from conformance.embedded.alternatives.base import follows
from conformance.embedded.queues import Queues


@follows("begun-receive-at-close=locked", Queues.close)
def begun_receive_at_close_locked(plain, self, descriptor):
    """A message whose receive was begun stays locked when the handle is closed, and nobody can end that receive."""
    reads = self.manager.open_reads
    for read in [read for read in reads.values() if read.descriptor is descriptor]:
        del reads[read.handle]
    plain(descriptor)
