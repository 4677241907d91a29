"""Faults of where a message goes: to several queues, and to others than its destination (MS-MQDMPR 3.1.7.1.9, .27)."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.entities import Descriptor, Message, Queue, Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.faults.consequences import SURPLUS, dmpr
from conformance.embedded.sending import Json, Sending


class _LosingLabels(Sending):
    _first: Queue | None = None
    _several = False

    def send(self, descriptor: Descriptor, given: dict[str, Json], transaction: Transaction | None) -> dict[str, Json]:
        self._several, self._first = bool(descriptor.elements), None
        return super().send(descriptor, given, transaction)

    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        self._first = self._first or queue
        if self._several and queue is not self._first:
            message.fields["application_tag"] = 0
            message.fields["label"] = ""
        return super().enqueue(queue, message, transaction)


class LaterCopiesLoseLabel(Fault):
    """Of a message sent to several queues only the first has its label and tag."""

    name = "later-copies-lose-label"
    suite = "quotas"
    breaks = dmpr("3.1.7.1.27.message-copy")
    replaces = ("sending", _LosingLabels)


class _Spilling(Sending):
    def enqueue(self, queue: Queue, message: Message, transaction: Transaction | None) -> int:
        lookup = super().enqueue(queue, message, transaction)
        if transaction is None and queue.kind in ("private", "public"):
            others = [other for other in self.manager.queues.all() if other.kind == queue.kind and other is not queue]
            for other in others[:1]:
                if not other.transactional:
                    asks_nothing = {"negative_journaling": False, "positive_journaling": False, "acknowledgements": []}
                    copy = replace(message, fields={**message.fields, **asks_nothing}, expires_ms=None)
                    self.manager.delivery.place(other, copy, limited=False)
        return lookup


class SendSpillsIntoOther(Fault):
    """A message is put in its destination and in another queue of the manager."""

    name = "send-spills-into-other"
    suite = "journals"
    breaks = (*dmpr("3.1.7.1.9.only-destination"), *SURPLUS)
    replaces = ("sending", _Spilling)


SEVERAL_FAULTS: tuple[type[Fault], ...] = (LaterCopiesLoseLabel, SendSpillsIntoOther)
