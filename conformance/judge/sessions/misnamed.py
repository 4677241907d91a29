"""Finds the message that an administration acknowledgment means when its CorrelationID names none (MS-MQQB 3.1.7.15).

A capture lacks messages, so that an unknown name proves nothing by itself. It does where the name cannot be that of any
other message: its two parts are exchanged, it is the acknowledging queue manager's own, or its number is one that the
sender has not reached, while one message agrees with the acknowledgment in everything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from conformance.judge.sessions.acknowledgments import Original, Values, fits
from conformance.judge.sessions.context import LOST, Notes, Path, Seen
from conformance.spec.catalogue import requirement_id
from conformance.wire.decode import guid_text

_CORRELATION = requirement_id("MQQB-3.1.7.15.correlation")
_HEADER = "MessagePropertiesHeader"
LOOKED_AT = 4_096  # Messages that are compared with an acknowledgment whose message is unknown.
Name = tuple[str, int]


class Message(Values, Protocol):
    """See `messages.Known`."""

    frame: int
    body: bytes


class Remembered(Protocol):
    """See `messages.Messages.known`."""

    def __len__(self) -> int: ...

    def get(self, key: Name, /) -> Message | None:
        """Return a message."""

    def items(self) -> Iterable[tuple[Name, Message]]:
        """Yield all messages, the oldest first."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The message whose name should stand in a CorrelationID. sure: no message that the capture lacks has the name."""

    frame: int
    sure: bool


def meant_by(seen: Seen, correlation: bytes, known: Remembered) -> Meant | None:
    """Return the message whose name should stand in this CorrelationID; None when it may be unseen."""
    number = int.from_bytes(correlation[:4], "little")
    exchanged = known.get((guid_text(correlation[4:]), number))
    if exchanged is not None:
        return Meant(exchanged.frame, sure=True)
    if len(known) > LOOKED_AT:
        return None
    source, number = guid_text(correlation[:16]), int.from_bytes(correlation[16:], "little")
    own = source == seen.text("UserHeader.SourceQueueManager")
    others = list(islice(known.items(), LOOKED_AT))
    reached = max((name[1] for name, _ in others if name[0] == source), default=None)
    found = [
        (name, one)
        for name, one in others
        if (name[1] == number if own else name[0] == source) and fits(seen, Original.of(one.frame, one, one.body))
    ]
    if len(found) != 1 or not (own or (reached is not None and number > reached)):
        return None
    return Meant(found[0][1].frame, sure=False)


def fitting(seen: Seen, known: Remembered) -> Message | None:
    """Return the only message that agrees with an acknowledgment in all but its name; None for none or several."""
    if len(known) > LOOKED_AT:
        return None
    found = [one for _, one in known.items() if fits(seen, Original.of(one.frame, one, one.body))]
    return found[0] if len(found) == 1 else None


def judge_misnamed(seen: Seen, notes: Notes, meant: Meant, there: Path) -> None:
    """Judge an acknowledgment with a name that is not the meant message's. there: the path that messages come on."""
    actual = (seen.raw(f"{_HEADER}.CorrelationID") or b"").hex()
    expected = f"the name of frame {meant.frame}"
    if meant.sure:
        notes.judge(_CORRELATION, False, seen, expected, actual)
    elif there.generation:
        notes.undecided(_CORRELATION, seen, LOST)
    else:
        notes.suspect(_CORRELATION, seen, expected, actual, (there,))
