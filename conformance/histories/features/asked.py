"""Which acknowledgments a message asks for: it decides which reports come when it is lost, and which must not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from conformance.histories.features.feature import Feature
from conformance.model import Call, State
from conformance.model.journals import Wishes
from conformance.model.state import Position

ASKED: Final = (
    *("none", "positive_arrival", "positive_receive", "negative_arrival", "negative_receive"),
    *("positives", "negatives", "both_signs"),
)
"""No acknowledgment, one of a kind, two of one sign, or some of both signs."""


def kinds(acks: Collection[str]) -> str:
    """Return one of `ASKED` for kinds of acknowledgment."""
    if not acks:
        return "none"
    if len(acks) == 1:
        return next(iter(acks))
    signs = {one.partition("_")[0] for one in acks}
    return f"{signs.pop()}s" if len(signs) == 1 else "both_signs"


def wished(wishes: Wishes | None) -> str:
    """Return what a loss of the message leaves behind: nothing, one acknowledgment or two, a dead letter, or time."""
    if wishes is None:
        return "none"
    if wishes.admin is not None and wishes.acks:
        return "acknowledged_twice" if asked_twice(wishes.acks) else "acknowledged"
    return "dead_letter" if wishes.dead_letter else "expires" if wishes.live_ms is not None else "none"


def asked_twice(acks: Collection[str]) -> bool:
    """Tell whether two acknowledgments of one sign are asked for: the one that is due must come, and come once."""
    return any(f"{sign}_arrival" in acks and f"{sign}_receive" in acks for sign in ("positive", "negative"))


def asked(state: State, position: Position | None) -> str | None:
    """Return which acknowledgments a message asks for; None without a message or where they have no queue to go to."""
    if position is None:
        return None
    wishes = position.wishes
    if wishes is None or wishes.admin is None or not wishes.acks:
        return "none"
    queue = state.queues.get(wishes.admin)
    return kinds(wishes.acks) if queue is not None and queue.exists else None


def asked_feature(of: Callable[[State, Call], str | None], *steps: str) -> Feature:
    """Return the feature of the acknowledgments that the message asks for. steps: where a report is due, or none."""
    words = ("none", "pos-arrival", "pos-receive", "neg-arrival", "neg-receive")
    each = tuple(f"MQDMPR-3.1.1.12.ack-{word}" for word in words)
    return Feature("asked", ASKED, of, (*each, "MQQB-3.1.7.15.requested", *steps))
