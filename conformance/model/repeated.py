"""Blame a message that is in a queue twice (MS-MQDMPR 3.1.7.1.9, 3.1.7.1.16; MS-MQMQ 2.3.1.4)."""

from __future__ import annotations

from conformance.model.journals import CLASSES, SYSTEM_JOURNAL, SYSTEM_QUEUES, ack_class, is_kept
from conformance.model.state import Queue


def repeated(queue: Queue, name: str) -> str:
    """Return the requirement broken by a message that is in a queue twice; for copies and reports, by their maker."""
    position, place = queue.find(name), queue.name
    if position is not None and position.moved:  # a move left the message behind, and it was moved back
        return "MQDMPR-3.1.7.1.16.moved"
    if name.startswith("ack"):
        return CLASSES[ack_class(name)]
    if place == SYSTEM_JOURNAL:
        return "MQDMPR-3.1.1.12.positive-journaling"
    if place in SYSTEM_QUEUES:
        return "MQDMPR-3.1.1.12.negative-journaling"
    return "MQMQ-2.3.1.4.journal-copy" if is_kept(place) else "MQDMPR-3.1.7.1.9.once"
