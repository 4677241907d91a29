"""Faults of handles that are given: two of a kind have the same (MS-MQDMPR 3.1.1.16, 3.2.1.2)."""

from __future__ import annotations

from conformance.embedded.cursors import Cursors
from conformance.embedded.entities import Cursor, Descriptor
from conformance.embedded.faults.base import Fault
from conformance.embedded.queues import Queues


class _OneHandleForAQueue(Queues):
    def open(self, format_name: str, access: str, share: str) -> Descriptor:
        opened = super().open(format_name, access, share)
        present = opened.queue.descriptors if opened.queue is not None else []
        for earlier in present:
            if earlier is not opened and (earlier.access, earlier.share) == (access, share):
                present.remove(opened)
                self.manager.descriptors.pop(opened.handle, None)
                return earlier
        return opened


class OpensShareAHandle(Fault):
    """A queue that is opened again in the same way gives the handle that is open already."""

    name = "opens-share-a-handle"
    breaks = ("MQDMPR-3.1.1.16.handle-unique",)
    replaces = ("queues", _OneHandleForAQueue)


class _OneCursorForAHandle(Cursors):
    def open(self, descriptor: Descriptor) -> Cursor:
        return descriptor.cursors[0] if descriptor.cursors else super().open(descriptor)


class CursorsShareAHandle(Fault):
    """A handle has one cursor: opening another gives the first again."""

    name = "cursors-share-a-handle"
    breaks = ("MQDMPR-3.2.1.2.handle-unique",)
    replaces = ("cursors", _OneCursorForAHandle)
