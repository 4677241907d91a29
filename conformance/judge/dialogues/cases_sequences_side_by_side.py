"""Dialogues with more than one transactional sequence: which is newer, which goes on, whose they are.

Features: the other sequence has {the same, a later, an earlier} time and {a higher, a lower} ordinal; it begins while
the old one {is open, is asked for again, waits for a number}; its begin {is accepted, is not}; it is {of the same
queue manager, of another one}; an OrderAck for answers names {their sequence, another one}.
"""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.cases_sent import SENT
from conformance.judge.dialogues.groups import ADMIN, REACHED, order, reaches, told
from conformance.judge.dialogues.packets import OTHER, PA, TRANSACTIONAL, Message
from conformance.judge.dialogues.steps import Case, Comes, Never, Order, Resent, Step, Tell, Wait, handshake

_ACCEPTED: Final = "MQQB-3.1.5.8.6.accepted"
_KEPT: Final = "MQQB-3.1.1.6.2.retained"
_STRANGER: Final = {"EstablishConnectionHeader.ClientGuid": OTHER}


def _tx(
    sequence: int, number: int, previous: int | None = None, *, later_s: int = 0, source: str = "client"
) -> Message:
    """Return a transactional message that asks for word of its arrival; its name is its place."""
    name = f"{source} {later_s}.{sequence}.{number}"
    return Message(
        name,
        TRANSACTIONAL,
        number=number,
        previous=previous,
        sequence=sequence,
        later_s=later_s,
        source=source,
        asks=PA,
    )


def _taken(*messages: Message, link: str = "a") -> tuple[Step, ...]:
    """Send messages, all of which must be taken."""
    words = (Comes("UserMessage", one.name, (_ACCEPTED,), REACHED) for one in messages)
    return Tell(messages, link=link), *words


def _refused(message: Message, most: int = 0) -> tuple[Step, ...]:
    """Send a message that must not be taken. most: so often it was before."""
    return Tell((message,)), Never("UserMessage", message.name, (_ACCEPTED,), REACHED, for_ms=150, most=most)


def _case(name: str, *steps: Step, packets: str = "odd") -> Case:
    return Case(name, (*handshake(), *steps), ADMIN, queues=(TRANSACTIONAL,), packets=packets)


SIDE_BY_SIDE: Final[tuple[Case, ...]] = (
    _case(
        "a-later-sequence-with-a-lower-ordinal",
        *_taken(_tx(5, 1), _tx(5, 2)),
        *_taken(_tx(2, 1, later_s=1)),
        order("client 1.2.1", _ACCEPTED),
        *_taken(_tx(2, 2, later_s=1)),
    ),
    _case(
        "an-earlier-sequence-with-a-higher-ordinal",
        *_taken(_tx(2, 1, later_s=1)),
        *_refused(_tx(5, 1)),
        *_taken(_tx(2, 2, later_s=1)),
    ),
    _case(
        "an-old-sequence-behind-a-new-one",
        *_taken(_tx(1, 1)),
        *_taken(_tx(2, 1)),
        *_refused(_tx(1, 2)),
        *_taken(_tx(2, 2)),
        *_refused(_tx(1, 3, 0)),
        order("client 0.2.2", _ACCEPTED),
    ),
    _case(
        "a-new-sequence-with-lower-numbers",
        *_taken(_tx(1, 1), _tx(1, 2), _tx(1, 3)),
        *_taken(_tx(2, 1)),
        *_taken(_tx(2, 3, 1)),
        order("client 0.2.3", _ACCEPTED),
    ),
    _case(
        "a-new-sequence-while-the-old-one-waits",
        *_taken(_tx(1, 1)),
        *_refused(_tx(1, 3)),
        *_taken(_tx(2, 1)),
        *_refused(_tx(1, 2)),
        order("client 0.2.1", _ACCEPTED),
    ),
    _case(
        "numbers-again-behind-later-ones",
        *_taken(_tx(1, 1), _tx(1, 2), _tx(1, 3)),
        *_refused(_tx(1, 1), 1),
        *_refused(_tx(1, 2, 0), 1),
        *_taken(_tx(1, 4)),
        order("client 0.1.4", _ACCEPTED),
    ),
    Case(
        "sequences-of-two-queue-managers",
        (
            *told(_tx(5, 1), _tx(5, 2)),
            reaches("client 0.5.2"),
            *handshake("b", request=_STRANGER),
            *_taken(_tx(1, 1, source=OTHER), link="b"),
            *_taken(_tx(5, 3)),
            *_taken(_tx(1, 2, source=OTHER), link="b"),
        ),
        ADMIN,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
)
_ANSWERS: Final = next(case for case in SENT if case.name == "answers-without-an-order-acknowledgment")
_BEGIN: Final = _ANSWERS.steps[: next(at for at, one in enumerate(_ANSWERS.steps) if isinstance(one, Resent))]
ANOTHERS: Final[tuple[Case, ...]] = (
    Case(
        "answers-of-which-other-sequences-are-acknowledged",
        (
            *_BEGIN,
            *(Order(3, "in-1", apart) for apart in (-1, 1)),
            Resent((1, 2, 3), (_KEPT,)),
            Order(3, "in-1"),
            Wait(200),
        ),
        timers=_ANSWERS.timers,
        queues=_ANSWERS.queues,
        replies=_ANSWERS.replies,
        packets="odd",
    ),
)
