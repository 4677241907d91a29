"""Find the requirement that a message breaks which nobody expects where it is.

A copy in a journal or dead-letter queue that nobody asked for, a report of something that did not happen, or a message
that was sent to another queue.
"""

from __future__ import annotations

from typing import Final

from conformance.model.expected import Result, Succeeds
from conformance.model.journals import (
    CLASSES,
    NACK_TIMEOUT,
    NUMBERS,
    SYSTEM_JOURNAL,
    SYSTEM_QUEUES,
    ack_class,
    is_kept,
    plain_name,
)
from conformance.model.state import Position, Queue, State
from conformance.model.tables import PositionState

NOT_EARLY: Final = "MQDMPR-3.1.2.4.not-early"


def fate_of(state: State, message: str) -> tuple[Queue, Position] | None:
    """Return the queue and position of a message, in any queue: where it is now, otherwise where it was last."""
    found = [(queue, position) for queue in state.queues.values() if (position := queue.find(message)) is not None]
    there = [item for item in found if item[1].state is not PositionState.DELETED]
    return there[-1] if there else found[-1] if found else None


def stranger(state: State, name: str) -> str:
    """Return the requirement broken by a message that was never sent to this queue."""
    copied = _stray_copy(state, name)
    if copied is not None:
        return copied
    found = fate_of(state, name)
    if found is not None:
        position = found[1]
        if position.claim == "MQDMPR-3.1.4.5.purged-deleted":  # deleted, but found in another queue
            return "MQDMPR-3.1.4.5.move"
        moves = position.target is not None or position.moved or position.claim == "MQDMPR-3.1.4.5.move"
        return position.claim if moves else "MQDMPR-3.1.7.1.9.only-destination"
    return "MQDMPR-3.1.1.12.body-unchanged"


def _stray_copy(state: State, name: str) -> str | None:
    """Return the requirement broken by an unexpected copy or acknowledgment; None for any other message."""
    plain, _, place = name.partition("@")
    if plain.startswith("ack"):
        about = plain.partition("-")[2]
        if about == "?":
            return "MQQB-3.1.7.15.correlation"
        others = [
            position
            for position in (state.queues[place].positions if place in state.queues else ())
            if position.message.startswith("ack") and plain_name(position.message).partition("-")[2] == about
        ]
        if others and _early(state, plain):
            return NOT_EARLY
        meant = next((ack_class(other.message) for other in others if other.available), None)
        return _other_class(meant, ack_class(name)) if meant is not None else "MQQB-3.1.7.15.requested"
    if not is_kept(place) or not plain:
        return None
    found = fate_of(state, plain)
    asked = found[1].wishes if found is not None else None
    if place == SYSTEM_JOURNAL:
        journaled = asked is not None and asked.journal  # but not delivered, or not at its destination yet
        return "MQDMPR-3.1.1.12.positive-journaling" if journaled else "MQDMPR-3.1.1.12.positive-journaling-off"
    if place in SYSTEM_QUEUES and _is_to_expire(state, plain):
        return NOT_EARLY
    if place in SYSTEM_QUEUES:
        mourned = asked is not None and asked.dead_letter  # but not lost
        return "MQDMPR-3.1.1.12.negative-journaling" if mourned else "MQDMPR-3.1.1.12.negative-journaling-off"
    return "MQMQ-2.3.1.4.journal-none"


def _is_to_expire(state: State, message: str) -> bool:
    """Tell whether a message that has not expired yet will be kept in a dead-letter queue when it does."""
    found = fate_of(state, message)
    if found is None or found[1].state is PositionState.DELETED:
        return False
    wishes = found[1].wishes
    return wishes is not None and wishes.live_ms is not None and wishes.dead_letter


def wrong_class(state: State, result: Result, came: str) -> str | None:
    """Return the requirement broken by an acknowledgment of the wrong class for the right message, or None.

    The class for an expired time to be received is right if the message expired too early: then that is the defect.
    """
    wanted = result.message if isinstance(result, Succeeds) else None
    if wanted is None or not wanted.startswith("ack") or not came.startswith("ack"):
        return None
    if wanted.partition("-")[2] != came.partition("-")[2]:
        return None
    return NOT_EARLY if _early(state, plain_name(came)) else _other_class(ack_class(wanted), ack_class(came))


def _other_class(wanted: int, came: int) -> str:
    """Return the requirement broken by a report of another class: its meaning, or the number of the class."""
    return CLASSES[wanted] if came in CLASSES else NUMBERS[wanted]


def _early(state: State, ack: str) -> bool:
    """Tell whether this acknowledgment reports a timeout of a message that has a time to be received."""
    about = fate_of(state, ack.partition("-")[2])
    wishes = about[1].wishes if about is not None else None
    return ack_class(ack) == NACK_TIMEOUT and wishes is not None and wishes.live_ms is not None
