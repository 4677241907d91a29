"""Dialogues about transactional sequences: messages that come again, the next sequence, several side by side."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Final

from conformance.judge.dialogues.groups import (
    ADMIN,
    DUPLICATE,
    FINAL,
    LATE,
    ORDERED,
    REACHED,
    RECEIVED,
    SEQUENCED,
    opening_with,
    order,
    ordered,
    reaches,
)
from conformance.judge.dialogues.packets import NA, OTHER, PA, PLAIN, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import (
    WORDS,
    Case,
    Close,
    Comes,
    Never,
    Order,
    Replies,
    Resent,
    Step,
    Tell,
    Wait,
    handshake,
)

_ACCEPTED: Final = "MQQB-3.1.5.8.6.accepted"
_HISTORY: Final = "message-id-history-cleanup"
_KINDS: Final = ("express", "recoverable", "transactional")


def _message(kind: str, name: str, again: str | None = None) -> Message:
    """Return a message of a kind that asks for word of its arrival. again: it is this one, a second time."""
    if kind == "transactional":
        return Message(name, TRANSACTIONAL, number=1, asks=PA, again=again)
    return Message(name, recoverable=kind == "recoverable", asks=PA, again=again)


def _queue(kind: str) -> str:
    return TRANSACTIONAL if kind == "transactional" else PLAIN


def _once(kind: str) -> Never:
    broken = _ACCEPTED if kind == "transactional" else DUPLICATE
    return Never("UserMessage", "first", (broken,), REACHED, most=1, for_ms=1_000)


def _again(kind: str, *, elsewhere: bool) -> Case:
    between: tuple[Step, ...] = (Close(how="reset"), *handshake("b")) if elsewhere else ()
    return Case(
        f"{kind}-again-{'elsewhere' if elsewhere else 'here'}",
        (
            *opening_with(_message(kind, "first")),
            reaches("first"),
            *between,
            Tell((_message(kind, "again", "first"),), link="b" if elsewhere else "a"),
            _once(kind),
        ),
        ADMIN,
        queues=(_queue(kind),),
    )


def _after_a_look(kind: str) -> Case:
    """Two messages come again, each sooner than the timer's duration; the timer expires before one of them at least."""
    return Case(
        f"{kind}-again-after-a-look-at-identifiers",
        (
            *opening_with(_message(kind, "first")),
            reaches("first"),
            Wait(0, _HISTORY, 50),
            Tell((_message(kind, "second"),)),
            Wait(0, _HISTORY, 25),
            Tell((_message(kind, "again", "first"),)),
            _once(kind),
            Wait(0, _HISTORY, 25),
            Tell((_message(kind, "second again", "second"),)),
            Never("UserMessage", "second", (DUPLICATE,), REACHED, most=1, for_ms=600),
        ),
        ADMIN,
        {_HISTORY: 30_000},
        queues=(_queue(kind),),
    )


def _late(kind: str) -> Case:
    expired = "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver"
    in_time = replace(_message(kind, "in time"), reach_s=60)
    late = replace(_message(kind, "late"), asks=PA | NA, reach_s=5, age_s=60)
    return Case(
        f"{kind}-too-late",
        (
            *opening_with(in_time, late),
            reaches("in time"),
            Never("UserMessage", "late", (expired,), REACHED, for_ms=500),
            Comes("UserMessage", "late", ("MQMQ-2.2.18.1.6.nack-reach-queue-timeout",), LATE),
        ),
        ADMIN,
        queues=(_queue(kind),),
        packets="odd",
    )


REPEATED: Final[tuple[Case, ...]] = (
    *(_again(kind, elsewhere=elsewhere) for kind, elsewhere in product(_KINDS, (False, True))),
    *map(_after_a_look, _KINDS[:2]),
    *map(_late, _KINDS[:2]),
)
_FORM: Final = "MQQB-3.1.7.17.destination-form"
GOING_ON: Final[tuple[Case, ...]] = (
    Case(
        "a-repetition-is-acknowledged-again",
        (
            *opening_with(*ordered(1)),
            order("tx 1.1"),
            Tell((Message("again", TRANSACTIONAL, number=1, again="tx 1.1"),)),
            Comes("OrderAck", "tx 1.1", SEQUENCED, times=2),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    *(
        Case(
            f"a-{'first' if sequence == 1 else 'next'}-sequence-that-begins-above-1",
            (
                *(opening_with(*ordered(1)) if sequence > 1 else handshake()),
                *((order("tx 1.1"),) if sequence > 1 else ()),
                Tell(ordered((3, 0), 4, sequence=sequence)),
                order(f"tx {sequence}.4", _ACCEPTED),
            ),
            ORDERED,
            queues=(TRANSACTIONAL,),
            packets="odd",
        )
        for sequence in (1, 2)
    ),
    Case(
        "a-sequence-that-goes-on-elsewhere",
        (
            *opening_with(*ordered(1, 2)),
            order("tx 1.2"),
            Close(),
            *handshake("b"),
            Tell(ordered(3), link="b"),
            order("tx 1.3", _ACCEPTED),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "names-of-two-kinds",
        (
            *handshake(),
            Tell((*ordered(1), Message("by identifier", None, manager="own"))),
            Comes("OrderAck", "tx 1.1", SEQUENCED, values={"UserHeader.Flags.DQ": (7, _FORM)}, exact=True),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
)


def _final(name: str, values: Values, *, previous: int | None = None) -> Case:
    """A message that asks for word of its receipt in one way alone gets it. previous: it bridges a gap."""
    number = 1 if previous is None else previous + 2
    first = ordered(1) if previous else ()
    message = Message("taken", TRANSACTIONAL, number=number, previous=previous, more=values)
    return Case(
        f"a-final-acknowledgment-{name}",
        (
            *opening_with(*first, message),
            order("taken"),
            Comes("FinalAck", "taken", ("MQQB-3.1.7.2.2.wanted",), RECEIVED, within_ms=12_000),
        ),
        (*FINAL, *ORDERED, "MQQB-3.1.7.2.2.wanted"),
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
        packets="correct" if previous is None else "odd",
    )


_JN, _JP, _FA = "UserHeader.Flags.JN", "UserHeader.Flags.JP", "TransactionHeader.Flags.FA"
FINALS: Final[tuple[Case, ...]] = (
    _final("for-negative-journaling", {_JN: 1}),
    _final("for-positive-journaling", {_JP: 1}),
    _final("for-both-journals", {_JN: 1, _JP: 1}),
    _final("for-all-three", {_JN: 1, _JP: 1, _FA: 1}),
    _final("over-a-gap", {_FA: 1}, previous=1),
    _final("over-a-gap-for-negative-journaling", {_JN: 1}, previous=1),
    Case(
        "no-final-acknowledgment-for-administration",
        (
            *opening_with(Message("taken", TRANSACTIONAL, number=1, asks=PA | NA)),
            order("taken"),
            Never("FinalAck", "taken", ("MQQB-3.1.7.2.2.wanted",), RECEIVED, for_ms=3_000),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
)

_KEPT: Final = "MQQB-3.1.1.6.2.retained"
_RESENT: Final = "MQQB-3.1.6.5.resent"
_SENT: Final = "MQQB-2.1.1.initiator-port"
_ALL: Final = "MQQB-3.1.1.5.all-acknowledged"
_TIMER: Final = "transactional-ack-wait"
_NUMBERED: Final = (
    *(f"MQQB-3.1.1.5.{word}" for word in ("first-number", "older-sequence")),
    *(f"MQQB-3.1.7.1.3.{word}" for word in ("next-number", "previous-number")),
    *(f"MQMQ-2.2.20.5.{word}" for word in ("first-in-transaction", "transaction-identifier-unique")),
)
_AGAIN: Final = (
    *(f"MQQB-3.1.7.1.3.{word}" for word in ("resent-number", "resent-previous")),
    *(f"MQQB-3.1.6.5.{word}" for word in ("resend-order", "resend-interval")),
)


def _asked(first: int, count: int, sequence: int = 1) -> tuple[Message, ...]:
    """Return transactional messages that name a response queue, in one sequence from its begin on."""
    return tuple(
        Message(f"asked {first + at}", TRANSACTIONAL, number=1 + at, sequence=sequence, answer=True)
        for at in range(count)
    )


def _case(
    name: str,
    *steps: Step,
    judged: tuple[str, ...] = (),
    waits: bool = True,
    count: int = 3,
    packets: str = "correct",
) -> Case:
    """Three answers, what is done of them, and an OrderAck for all at the end. last: the session they came on last.

    An OrderAck for a part of what has come is odd: the receiver of all names the last one.
    """
    return Case(
        name,
        (*opening_with(*_asked(1, 3)), Replies(_SENT, 3), order("asked 3"), *steps, Order(count, WORDS), Wait(200)),
        (*_NUMBERED, *judged),
        {_TIMER: 10_000} if waits else {},
        queues=(TRANSACTIONAL,),
        replies=(TRANSACTIONAL,),
        packets=packets,
    )


SENT: Final[tuple[Case, ...]] = (
    _case("answers-in-a-sequence", waits=False),
    _case("answers-without-an-order-acknowledgment", Resent((1, 2, 3), (_RESENT, _KEPT)), judged=_AGAIN),
    _case(
        "answers-of-which-one-is-acknowledged",
        Order(1, WORDS),
        Resent((2, 3), (_RESENT, _KEPT), never=_KEPT),
        judged=_AGAIN,
        packets="odd",
    ),
    *(
        _case(
            f"answers-behind-{name}",
            *done,
            Tell(_asked(4, 2, 2)),
            Replies(_SENT, 5),
            order("asked 5"),
            judged=(_ALL,),
            waits=False,
            count=5,
            packets="odd" if done else "correct",
        )
        for name, done in (
            ("an-open-sequence", ()),
            ("a-sequence-acknowledged-in-part", (Order(1, WORDS), Wait(200))),
        )
    ),
    _case(
        "answers-on-another-session",
        Close(WORDS, how="reset"),
        Resent((1, 2, 3), (_KEPT,)),
    ),
    _case(
        "answers-behind-an-acknowledged-sequence",
        Order(3, WORDS),
        Wait(200),
        Tell(_asked(4, 2, 2)),
        Replies(_SENT, 5),
        order("asked 5"),
        judged=("MQQB-3.1.1.5.next-sequence", _ALL),
        waits=False,
        count=5,
    ),
)

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


def _side_by_side_case(name: str, *steps: Step, packets: str = "odd") -> Case:
    return Case(name, (*handshake(), *steps), ADMIN, queues=(TRANSACTIONAL,), packets=packets)


SIDE_BY_SIDE: Final[tuple[Case, ...]] = (
    _side_by_side_case(
        "a-later-sequence-with-a-lower-ordinal",
        *_taken(_tx(5, 1), _tx(5, 2)),
        *_taken(_tx(2, 1, later_s=1)),
        order("client 1.2.1", _ACCEPTED),
        *_taken(_tx(2, 2, later_s=1)),
    ),
    _side_by_side_case(
        "an-earlier-sequence-with-a-higher-ordinal",
        *_taken(_tx(2, 1, later_s=1)),
        *_refused(_tx(5, 1)),
        *_taken(_tx(2, 2, later_s=1)),
    ),
    _side_by_side_case(
        "an-old-sequence-behind-a-new-one",
        *_taken(_tx(1, 1)),
        *_taken(_tx(2, 1)),
        *_refused(_tx(1, 2)),
        *_taken(_tx(2, 2)),
        *_refused(_tx(1, 3, 0)),
        order("client 0.2.2", _ACCEPTED),
    ),
    _side_by_side_case(
        "a-new-sequence-with-lower-numbers",
        *_taken(_tx(1, 1), _tx(1, 2), _tx(1, 3)),
        *_taken(_tx(2, 1)),
        *_taken(_tx(2, 3, 1)),
        order("client 0.2.3", _ACCEPTED),
    ),
    _side_by_side_case(
        "a-new-sequence-while-the-old-one-waits",
        *_taken(_tx(1, 1)),
        *_refused(_tx(1, 3)),
        *_taken(_tx(2, 1)),
        *_refused(_tx(1, 2)),
        order("client 0.2.1", _ACCEPTED),
    ),
    _side_by_side_case(
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
            *opening_with(_tx(5, 1), _tx(5, 2)),
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
            *(Order(3, WORDS, apart) for apart in (-1, 1)),
            Resent((1, 2, 3), (_KEPT,)),
            Order(3, WORDS),
            Wait(200),
        ),
        timers=_ANSWERS.timers,
        queues=_ANSWERS.queues,
        replies=_ANSWERS.replies,
        packets="odd",
    ),
)
