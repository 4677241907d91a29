"""Constraints of what else a queue's family holds, of acknowledgments, and of what happens over days."""

from __future__ import annotations

from typing import Final

from conformance.histories.features.constraint import Constraint, no

_SEEKS = ("messages.receive", "messages.peek", "messages.peek_next")
_SEND, _ADVANCE = "messages.send", "clock.advance"
_ASKED = "positive_arrival positive_receive negative_arrival negative_receive positives negatives both_signs"
_ENDINGS = ("transactions.prepare", "transactions.commit", "transactions.abort")

CONSTRAINTS: Final[tuple[Constraint, ...]] = (
    no(_SEEKS, "copies have no family", kind="journal dead_letter", related="*"),
    no(_SEND, "such a queue is sent plain messages", kind="outgoing outgoing_on_hold", acks=_ASKED),
    no(_SEND, "both say so", wishes="acknowledged", acks="none"),
    no(_SEND, "both say so", wishes="none dead_letter", acks=_ASKED),
    no(_ADVANCE, "a wait of days is over", by="days", deadline="before just_before"),
    no(_ENDINGS, "only a moved message has two queues", moves="none", waiting="bystander"),
    no(
        ("queues.delete", "queues.purge"),
        "there is no message to ask about",
        content="nothing",
        copies="acknowledged_twice",
    ),
)
