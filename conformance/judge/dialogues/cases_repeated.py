"""Dialogues about messages that come again, and about sequences that go on, as products of what makes a difference.

Features: {express, recoverable, transactional}; the second time {on the session, on another one, when identifiers were
looked through}; a sequence {bridged, beginning above 1, going on elsewhere, with names of two kinds}; journaling.
"""

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
    order,
    ordered,
    reaches,
    told,
)
from conformance.judge.dialogues.packets import NA, PA, PLAIN, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import (
    Case,
    Close,
    Comes,
    Never,
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
            *told(_message(kind, "first")),
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
            *told(_message(kind, "first")),
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
            *told(in_time, late),
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
            *told(*ordered(1)),
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
                *(told(*ordered(1)) if sequence > 1 else handshake()),
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
            *told(*ordered(1, 2)),
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
            *told(*first, message),
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
            *told(Message("taken", TRANSACTIONAL, number=1, asks=PA | NA)),
            order("taken"),
            Never("FinalAck", "taken", ("MQQB-3.1.7.2.2.wanted",), RECEIVED, for_ms=3_000),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
)
