"""Faults of handles that are given: two of a kind have the same (MS-MQDMPR 3.1.1.16, 3.2.1.2)."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors
from conformance.embedded.faults.base import fault
from conformance.embedded.queues import Queues


@fault("opens-share-a-handle", Queues.open, "MQDMPR-3.1.1.16.handle-unique")
def opens_share_a_handle(plain, self, format_name, access, share):
    """A queue that is opened again in the same way gives the handle that is open already."""
    opened = plain(format_name, access, share)
    present = opened.queue.descriptors if opened.queue is not None else []
    for earlier in present:
        if earlier is not opened and (earlier.access, earlier.share) == (access, share):
            present.remove(opened)
            self.manager.descriptors.pop(opened.handle, None)
            return earlier
    return opened


@fault("cursors-share-a-handle", Cursors.open, "MQDMPR-3.2.1.2.handle-unique")
def cursors_share_a_handle(plain, self, descriptor):
    """A handle has one cursor: opening another gives the first again."""
    return descriptor.cursors[0] if descriptor.cursors else plain(descriptor)
