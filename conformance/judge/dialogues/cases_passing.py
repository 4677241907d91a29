"""Dialogues about messages for another queue manager, which the implementation passes on, and about lists of queues.

The other queue manager is this end itself, which has the session that the implementation knows. Features: hops; a
message of a transaction; time that is over while the message waits. Of a list: the place of the queue that is reached.
"""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.groups import ADMIN, reaches, told
from conformance.judge.dialogues.packets import PA, PLAIN, Message, Values
from conformance.judge.dialogues.steps import Case, Close, Never, Passed, Quiet, Stays, Tell, Wait

_HOPS: Final = "MQQB-3.1.5.8.2.hop-count"
_ON: Final = "MQQB-3.1.1.5.passed-on"
_RC: Final = "UserHeader.Flags.RC"
_MOST: Final = 0x1D  # MS-MQMQ 2.2.19.2


def _onwards(
    name: str, hops: int = 0, *, number: int | None = None, reach_s: int = 0xFFFFFFFF, previous: int | None = None
) -> Message:
    """Return a recoverable message for a private queue of this end. number: of a transactional one."""
    there: Values = {
        _RC: hops,
        "UserHeader.Flags.DQ": 3,
        "UserHeader.DestinationQueue.PrivateQueueIdentifier": 7,
    }
    return Message(
        name, None, recoverable=True, number=number, previous=previous, reach_s=reach_s, manager="client", more=there
    )


def _hops(before: int) -> Case:
    return Case(
        f"passed-on-after-{before}-hops",
        (*told(_onwards("onwards", before)), Passed("onwards", _HOPS, values={_RC: (before + 1, _HOPS)})),
    )


_ORDER_ACK: Final = "OrderAck"
LISTED: Final[tuple[Case, ...]] = tuple(
    Case(
        f"a-list-with-the-queue-in-place-{place}-of-{of}",
        (
            *told(Message("listed", asks=PA, listed=tuple(PLAIN if at == place else None for at in range(1, of + 1)))),
            reaches("listed"),
        ),
        ADMIN,
        queues=(PLAIN,),
    )
    for place, of in ((1, 1), (1, 2), (2, 2), (3, 3))
)
PASSING: Final[tuple[Case, ...]] = (
    *map(_hops, (0, 2, 12, _MOST - 1)),  # Behind two hops it may have come back to where it began.
    Case(
        "passed-on-in-a-sequence",
        (
            *told(_onwards("first", number=1), _onwards("third", number=3, previous=1)),
            Passed("first", _ON),
            Passed("third", _ON),
            Never(_ORDER_ACK, "first", (_ON,)),
        ),
        (_ON, _HOPS),
        packets="odd",
    ),
    Case(
        "too-late-to-be-passed-on",
        (
            *told(Message("opens", asks=PA)),
            reaches("opens"),
            Wait(100),
            Quiet(),
            Tell((_onwards("late", reach_s=2), _onwards("in time", reach_s=60))),
            Passed("late", "MQQB-3.1.7.1.2.expired"),
            Passed("in time", "MQQB-3.1.7.1.2.expired"),
            Close(how="reset"),
            Stays("MQQB-3.1.5.8.state-closes", 5_000, "in-1"),
            Quiet(on=False),
            Passed("in time", "MQQB-3.1.7.1.2.expired", times=2, within_ms=4_000),
            Wait(500),
        ),
        ("MQQB-3.1.7.1.2.expired",),
        queues=(PLAIN,),
    ),
)
