"""Faults of sends to several queues, and of delivery to a wrong destination (MS-MQDMPR 3.1.7.1.9, .27)."""

from __future__ import annotations

from conformance.embedded.entities import Descriptor, Message, Queue, Transaction
from conformance.embedded.faults.base import fault
from conformance.embedded.sending import Json, Sending


@fault(
    "later-copies-lose-label", "sending", "MQDMPR-3.1.7.1.27.message-copy", "MQDMPR-3.1.1.12.label-unchanged",
    "MQDMPR-3.1.1.12.application-tag-unchanged",
)  # fmt: skip
class LaterCopiesLoseLabel(Sending):
    """Of a message sent to several queues only the first has its label and tag."""

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
