"""Dialogues about what the implementation sends in transactions: numbers, resending, the next sequence.

Somebody there answers each message of a queue to its response queue, which is ours. Features: {none, some, all} of the
answers have an OrderAck; {the same session, another one}; {before, after} the sequence is acknowledged as a whole.
"""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.groups import order, told
from conformance.judge.dialogues.packets import TRANSACTIONAL, Message
from conformance.judge.dialogues.steps import Case, Close, Order, Replies, Resent, Step, Tell, Wait

_KEPT: Final = "MQQB-3.1.1.6.2.retained"
_RESENT: Final = "MQQB-3.1.6.5.resent"
_SENT: Final = "MQQB-2.1.1.initiator-port"
_ALL: Final = "MQQB-3.1.1.5.all-acknowledged"
_TIMER: Final = "transactional-ack-wait"
_OUT: Final = "in-1"
_NUMBERED: Final = (
    *(f"MQQB-3.1.1.5.{word}" for word in ("first-number", "older-sequence")),
    *(f"MQQB-3.1.7.1.3.{word}" for word in ("next-number", "previous-number")),
    *(f"MQMQ-2.2.20.5.{word}" for word in ("first-in-transaction", "transaction-identifier-unique")),
)
_AGAIN: Final = (
    *(f"MQQB-3.1.7.1.3.{word}" for word in ("resent-number", "resent-previous")),
    *(f"MQQB-3.1.6.5.{word}" for word in ("resend-order", "resend-interval")),
)


def _asked(first: int, count: int) -> tuple[Message, ...]:
    """Return transactional messages that name a response queue, in one sequence."""
    return tuple(Message(f"asked {at}", TRANSACTIONAL, number=at, answer=True) for at in range(first, first + count))


def _case(
    name: str, *steps: Step, judged: tuple[str, ...] = (), waits: bool = True, count: int = 3, last: str = _OUT
) -> Case:
    """Three answers, what is done of them, and an OrderAck for all at the end. last: the session they came on last."""
    return Case(
        name,
        (*told(*_asked(1, 3)), Replies(_SENT, 3), order("asked 3"), *steps, Order(count, last), Wait(200)),
        (*_NUMBERED, *judged),
        {_TIMER: 10_000} if waits else {},
        queues=(TRANSACTIONAL,),
        replies=(TRANSACTIONAL,),
    )


SENT: Final[tuple[Case, ...]] = (
    _case("answers-in-a-sequence", waits=False),
    _case("answers-without-an-order-acknowledgment", Resent((1, 2, 3), (_RESENT, _KEPT)), judged=_AGAIN),
    _case(
        "answers-of-which-one-is-acknowledged",
        Order(1, _OUT),
        Resent((2, 3), (_RESENT, _KEPT), never=_KEPT),
        judged=_AGAIN,
    ),
    *(
        _case(
            f"answers-behind-{name}",
            *done,
            Tell(_asked(4, 2)),
            Replies(_SENT, 5),
            order("asked 5"),
            judged=(_ALL,),
            waits=False,
            count=5,
        )
        for name, done in (
            ("an-open-sequence", ()),
            ("a-sequence-acknowledged-in-part", (Order(1, _OUT), Wait(200))),
        )
    ),
    _case(
        "answers-on-another-session",
        Close(_OUT, how="reset"),
        Resent((1, 2, 3), (_KEPT,)),
        last="in-2",
    ),
    _case(
        "answers-behind-an-acknowledged-sequence",
        Order(3, _OUT),
        Wait(200),
        Tell(_asked(4, 2)),
        Replies(_SENT, 5),
        order("asked 5"),
        judged=("MQQB-3.1.1.5.next-sequence", _ALL),
        waits=False,
        count=5,
    ),
)
