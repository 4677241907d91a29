"""Dialogues about counts, timers and acknowledgments of a session, over one round and over several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count, product
from typing import Final

from conformance.judge.dialogues.cases_fates import SIGNED
from conformance.judge.dialogues.cases_sessions import CONNECTING
from conformance.judge.dialogues.groups import (
    ACKS,
    ADMIN,
    AGAIN_MS,
    AT_ONCE,
    DUPLICATE,
    EXPRESS_MS,
    IN_TIME,
    KEPT,
    KEPT_MS,
    ORDERED,
    REACHED,
    REPEATED,
    opening_with,
    order,
    ordered,
    reaches,
    recoverable_messages,
)
from conformance.judge.dialogues.machine import Says
from conformance.judge.dialogues.packets import ABSENT, PA, PLAIN, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import (
    LOCAL_MS,
    WORDS,
    Acknowledged,
    Agree,
    Case,
    Close,
    Closes,
    Comes,
    Counted,
    Never,
    Quiet,
    Reconnects,
    Say,
    Stays,
    Step,
    Stored,
    Tell,
    Wait,
    handshake,
)

_IDLE_MS: Final = EXPRESS_MS + 4_000
"""After so long an acknowledgment would come again, were there anything to acknowledge (MS-MQQB 3.1.6.4)."""
_SLOW: Final = handshake(parameters={"ConnectionParametersHeader.RecoverableAckTimeout": 6_000})
_SLOWLY: Final = (*_SLOW[:3], Wait(700), *_SLOW[3:])
"""A session of which the other end may believe that a round trip takes 750 ms."""
COUNTED: Final[tuple[Case, ...]] = (
    Case(
        "recoverable",
        (
            *opening_with(*recoverable_messages(1, 3)),
            Acknowledged(IN_TIME, KEPT_MS),
            Stored("MQMQ-2.2.20.4.recoverable-ack-flags"),
        ),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    ),
    Case(
        "express",
        (*opening_with(Message("one"), Message("two")), Acknowledged(IN_TIME, EXPRESS_MS), Wait(_IDLE_MS)),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "mixed",
        (
            *opening_with(Message("one"), *recoverable_messages(1, 2), Message("two"), *recoverable_messages(3, 1)),
            Acknowledged(IN_TIME, KEPT_MS),
            Tell(recoverable_messages(4, 2)),
            Acknowledged(IN_TIME, KEPT_MS),
            Stored("MQMQ-2.2.20.4.recoverable-ack-flags"),
            Stays("MQQB-3.1.5.8.state-closes"),
        ),
        (*ACKS, *KEPT, "MQQB-3.1.1.6.1.never-decreases"),
        queues=(PLAIN,),
    ),
    Case(
        "more-than-flags",
        (
            *_SLOWLY,
            Tell(recoverable_messages(1, 32)),
            Wait(100),
            Tell(recoverable_messages(33, 1)),
            Wait(1_000),
            Counted(AT_ONCE, 32),  # The last one may wait: a window of 32 was full before it came.
            Acknowledged(IN_TIME, 6_000),
        ),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "counts-that-agree",
        (
            *handshake(),
            Tell(recoverable_messages(1, 1), acknowledging=True),
            Acknowledged(IN_TIME, KEPT_MS),
            Say(Says.ORDER_ACK),
            Stays("MQQB-3.1.5.6.state-closes"),
        ),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "an-order-acknowledgment-with-reserved-bytes",
        (
            *handshake(),
            Say(Says.ORDER_ACK),
            Stays("MQQB-3.1.5.6.state-closes"),
            Say(Says.ORDER_ACK, values={"OrderAckBody.Reserved": b"\xff" * 20}),
            Stays("MQQB-2.2.4.1.reserved-ignored"),
        ),
        packets="odd",
    ),
    Case(
        "counts-that-differ",
        (
            *handshake("control"),
            *handshake(),
            Tell((Message("counted", recoverable=True, asks=PA),), miscounted=True),
            Closes("MQQB-3.1.5.5.5.counts-closes"),
            Comes("UserMessage", "counted", ("MQMQ-2.2.20.4.user-msg-sequence-number-mismatch",), REACHED),
            *handshake("alive"),
        ),
        queues=(PLAIN,),
        packets="odd",
    ),
    Case(
        "the-same-again",
        (
            *opening_with(Message("first", recoverable=True, asks=PA)),
            reaches("first"),
            Tell((Message("again", recoverable=True, asks=PA, again="first"), *recoverable_messages(1, 1))),
            Never("UserMessage", "first", (DUPLICATE,), REACHED, most=1),
            Acknowledged(DUPLICATE, KEPT_MS, count=2, read=REPEATED),
        ),
        (*ADMIN, *CONNECTING),
        queues=(PLAIN,),
    ),
    Case(
        "after-a-cut",
        (
            *opening_with(Message("first", recoverable=True, asks=PA)),
            reaches("first"),
            Close(how="reset"),
            *handshake("b"),
            Tell((Message("again", recoverable=True, asks=PA, again="first"), *recoverable_messages(1, 1)), link="b"),
            Never("UserMessage", "first", (DUPLICATE,), REACHED, most=1),
        ),
        queues=(PLAIN,),
    ),
)
SEQUENCES: Final[tuple[Case, ...]] = (
    Case(
        "in-order",
        (*opening_with(*ordered(1, 2, 3)), order("tx 1.3"), Acknowledged(IN_TIME, KEPT_MS)),
        (*ORDERED, *ACKS, *KEPT, *CONNECTING),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "one-missing",
        (
            *opening_with(*ordered(1, 2, 4)),
            order("tx 1.2"),
            Never("OrderAck", "tx 1.4", ("MQQB-3.1.1.6.2.in-order",)),
            Tell(ordered(3, 4)),
            order("tx 1.4", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "a-gap-that-is-bridged",
        (
            *opening_with(*ordered(1)),
            order("tx 1.1"),
            Tell(ordered((3, 1))),
            order("tx 1.3", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "a-bridge-wider-than-the-gap",
        (
            *opening_with(*ordered(1, 2)),
            order("tx 1.2"),
            Tell(ordered((3, 1))),
            order("tx 1.3", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "the-same-number-again",
        (
            *opening_with(Message("first", TRANSACTIONAL, number=1, asks=PA)),
            order("first"),
            Tell((Message("again", TRANSACTIONAL, number=1, asks=PA, again="first"),)),
            Never("UserMessage", "first", ("MQQB-3.1.5.8.6.accepted",), REACHED, most=1),
        ),
        (*ORDERED, *ADMIN, "MQQB-3.1.1.6.2.never-decreases"),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-newer-sequence",
        (
            *opening_with(*ordered(1)),
            order("tx 1.1"),
            Tell(ordered(1, 2, sequence=2)),
            order("tx 2.2", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-sequence-that-does-not-begin",
        (
            *opening_with(*ordered(1)),
            order("tx 1.1"),
            Tell(ordered((3, 2), sequence=2)),
            Never("OrderAck", "tx 2.3", ("MQQB-3.1.5.8.6.accepted",)),
            Tell(ordered(1, sequence=2)),
            order("tx 2.1"),
        ),
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "an-older-sequence",
        (
            *opening_with(*ordered(1, sequence=3)),
            order("tx 3.1"),
            Tell((Message("older", TRANSACTIONAL, number=1, sequence=2, asks=PA),)),
            Never("UserMessage", "older", ("MQQB-3.1.5.8.6.accepted",), REACHED),
        ),
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "again-after-a-cut",
        (
            *opening_with(*ordered(1, 2)),
            Close(how="reset"),
            *handshake("b"),
            Tell(ordered(1, 2, 3), link="b"),
            order("tx 1.3"),
        ),
        queues=(TRANSACTIONAL,),
    ),
)

_RETRANSMITTED: Final = "MQQB-3.1.6.1.retransmitted"
AGAIN: Final[tuple[Case, ...]] = (
    Case(
        "sent-again-after-a-cut",
        (
            *handshake(),
            Quiet(),
            Tell((Message("asked", recoverable=True, asks=PA),)),
            reaches("asked"),
            Close("*", how="reset"),
            Reconnects("MQQB-2.1.1.initiator-port"),
            Quiet(on=False),
            Wait(800),
            Tell((Message("kept", recoverable=True),), link=WORDS),
            Acknowledged(IN_TIME, KEPT_MS, link=WORDS),
        ),
        (*ADMIN, *KEPT, "MQQB-3.1.7.1.window"),
        {"session-retry-connect": LOCAL_MS},
        queues=(PLAIN,),
    ),
    Case(
        "a-part-is-acknowledged",
        (
            *handshake(),
            Quiet(),
            Tell((Message("one", recoverable=True, asks=PA), Message("two", recoverable=True, asks=PA))),
            reaches("one"),
            reaches("two"),
            Agree(WORDS, less=1),
            Close("*", how="reset"),
            Reconnects("MQQB-3.1.5.9.retried"),
            Quiet(on=False),
            Comes("UserMessage", "two", (_RETRANSMITTED,), times=2),
        ),
        (*ADMIN, "MQQB-3.1.7.1.window"),
        {"session-retry-connect": LOCAL_MS},
        queues=(PLAIN,),
    ),
    Case(
        "nothing-is-acknowledged",
        (
            *handshake(),
            Quiet(),
            Tell((Message("asked", recoverable=True, asks=PA),)),
            reaches("asked"),
            Closes("MQQB-3.1.6.3.closes", 1_000, WORDS, timer="session-ack-wait", periods=2),
            Quiet(on=False),
            Wait(1_500),
        ),
        ADMIN,
        {"session-ack-wait": 20_000},
        queues=(PLAIN,),
        shorter=("session-ack-wait", "session-cleanup"),
    ),
    Case(
        "no-more-than-the-window",
        (
            *handshake(),
            Quiet(),
            Tell((*(Message(f"asked {at}", asks=PA) for at in range(40)), *recoverable_messages(1, 1))),
            Acknowledged(IN_TIME, KEPT_MS),
            Tell(tuple(Message(f"asked {at}", asks=PA) for at in range(40, 70))),
            reaches("asked 0"),
            Wait(1_500),
            Quiet(on=False),
            Wait(1_500),
        ),
        (*ADMIN, "MQQB-3.1.7.1.window"),
        {"session-retry-connect": AGAIN_MS},
        queues=(PLAIN,),
    ),
)

_OPEN: Final = "MQQB-3.1.5.8.state-closes"
_SHORT_MS: Final = 1_000
"""The longest Session Ack Send Timer that a stream of messages outlasts."""


def _stream(link: str, count: int, every_ms: int, *, asks: int = 0, recoverable: bool = False) -> tuple[Step, ...]:
    """Return steps that send a message again and again, while `link` is read."""
    each = (
        (Tell((Message(f"stream {at}", asks=asks, recoverable=recoverable),)), Stays(_OPEN, every_ms, link))
        for at in range(count)
    )
    return tuple(chain.from_iterable(each))


def _carried(name: str, waiting: tuple[Message, ...], later: tuple[Message, ...]) -> Case:
    """Messages wait on the session on which word of others is sent, so that one of these carries the acknowledgment."""
    return Case(
        f"carried-{name}",
        (
            *opening_with(Message("opens", recoverable=True, asks=PA)),
            reaches("opens"),
            Tell(waiting, link=WORDS),
            *_stream(WORDS, 12, 50, asks=PA),
            reaches("stream 11"),
            Tell(later, link=WORDS),
            Acknowledged(IN_TIME, KEPT_MS, link=WORDS),
        ),
        (*ACKS, *KEPT, *ADMIN, "MQQB-3.1.7.11.header-included"),
        queues=(PLAIN,),
    )


def _windows(size: int) -> Case:
    return Case(
        f"window-of-{size}",
        (
            *handshake(parameters={"ConnectionParametersHeader.WindowSize": size}),
            Tell(recoverable_messages(1, 2)),
            Acknowledged(IN_TIME, KEPT_MS),
        ),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    )


CARRIED: Final[tuple[Case, ...]] = (
    _carried("first", recoverable_messages(1, 1), recoverable_messages(2, 1)),
    _carried("several", recoverable_messages(1, 3), recoverable_messages(4, 2)),
    _carried(
        "behind-express",
        (Message("express"), *recoverable_messages(1, 2)),
        (Message("more"), *recoverable_messages(3, 1)),
    ),
    *map(_windows, (65, 1_000, 0xFFFF)),
    Case(
        "recoverable-behind-express",
        (
            *opening_with(Message("one"), Message("two")),
            Wait(100),
            Tell(recoverable_messages(1, 2)),
            Acknowledged(IN_TIME, KEPT_MS),
        ),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    ),
    *(
        Case(
            f"a-stream-of-{'recoverable' if recoverable else 'express'}-messages",
            (*handshake(), *_stream("a", 16, 150, recoverable=recoverable), Counted(IN_TIME, 1)),
            ACKS,
            {} if recoverable else {"session-ack-send": _SHORT_MS},
            queues=(PLAIN,),
        )
        for recoverable in (False, True)
    ),
    Case(
        "quiet-when-all-is-acknowledged",
        (
            *opening_with(Message("asked", recoverable=True, asks=PA)),
            reaches("asked"),
            Wait(100),
            Stays("MQQB-3.1.6.3.closes", 800, WORDS, timer="session-ack-wait"),
        ),
        ADMIN,
        {"session-ack-wait": 20_000},
        queues=(PLAIN,),
        shorter=("session-ack-wait", "session-cleanup"),
    ),
)

_FLAGS: Final = "MQMQ-2.2.20.4.recoverable-ack-flags"
_COUNTS: Final = "MQQB-3.1.5.5.5.counts-closes"
_DECREASES: Final = "MQQB-3.1.1.6.1.never-decreases"
_BY_STEPS: Final = ("R-MQQB-acknowledgment-at-once", "by-steps")
_KINDS: Final = {"e": "express", "r": "recoverable", "t": "transactional"}
_ACKNOWLEDGED: Final = Acknowledged(IN_TIME, KEPT_MS)


def _message(kind: str, at: int) -> Message:
    """Return an accepted message of a kind, by its letter. at: its number among the transactional ones."""
    if kind == "t":
        return Message(f"transactional {at}", TRANSACTIONAL, number=at)
    return Message(f"{_KINDS[kind]} {at}", recoverable=kind == "r")


# --- Marks of recoverable messages
_BETWEEN: Final[Mapping[str, Callable[[int], str]]] = {
    "alone": lambda size: "r" * size,
    "with-express-between": lambda size: "rer" * (size // 2) + "r" * (size % 2),
    "behind-express": lambda size: "ee" + "r" * size,
}
_SIZES: Final = ((17, 1, 32, 2), (16, 34, 31))
"""How many recoverable messages the rounds of a session have: each size behind a larger one or a smaller one.
The 33rd of a round is acknowledged together with the 34th (MS-MQQB 3.1.5.8.7)."""


def _told(letters: str, numbers: count[int], transactional: count[int]) -> Tell:
    return Tell(tuple(_message(one, next(transactional if one == "t" else numbers)) for one in letters))


def _marked(between: str, sizes: tuple[int, ...]) -> Case:
    numbers, none = count(1), count(1)
    over = _BY_STEPS if max(sizes) > 32 else None
    rounds: Iterable[tuple[Step, ...]] = (
        (
            _told(_BETWEEN[between](size), numbers, none),
            _ACKNOWLEDGED,
            Stored(_FLAGS, within_ms=KEPT_MS + 1_000, unless=over),
        )
        for size in sizes
    )
    name = "-".join(map(str, sizes))
    return Case(
        f"rounds-of-{name}-recoverable-{between}",
        (*handshake(), *chain.from_iterable(rounds)),
        (*ACKS, *KEPT, _DECREASES),
        queues=(PLAIN,),
    )


# --- The timer of each round
_ROUNDS: Final = {
    "recoverable": ("er", "er", "r", "re", "er"),
    "transactional": ("et", "et", "t", "te", "et"),
    "mixed": ("er", "et", "ert", "etr"),
}


def _timed(name: str, rounds: tuple[str, ...]) -> Case:
    """The first recoverable message of each round, and none before it, decides when the round is acknowledged."""
    numbers, transactional = count(1), count(1)
    steps: Iterable[tuple[Step, ...]] = (
        (*(_told(letter, numbers, transactional) for letter in letters), _ACKNOWLEDGED, Stored(_FLAGS))
        for letters in rounds
    )
    return Case(
        f"the-time-of-each-round-{name}",
        (*handshake(), *chain.from_iterable(steps)),
        (*ACKS, *KEPT, _DECREASES),
        queues=(PLAIN, *((TRANSACTIONAL,) if name != "recoverable" else ())),
    )


# --- What is rejected is counted
_FAR: Final[Values] = {"UserHeader.Flags.RC": 0x1D}  # the most that there may be, MS-MQMQ 2.2.19.2
_WRONG_QUEUE: Final = {"e": TRANSACTIONAL, "r": TRANSACTIONAL, "t": PLAIN}
_RIGHT_QUEUE: Final = {"e": PLAIN, "r": PLAIN, "t": TRANSACTIONAL}


def _rejected(kind: str, fate: str, at: int) -> Message:
    """Return a message of a kind that is rejected for this reason, and asks for no word of it."""
    number, name = (1 if kind == "t" else None), f"{_KINDS[kind]} {fate} {at}"
    kept, right = kind == "r", _RIGHT_QUEUE[kind]
    if fate == "no-queue":
        return Message(name, ABSENT, kept, number=number, sequence=at)
    if fate == "wrong-queue":
        return Message(name, _WRONG_QUEUE[kind], kept, number=number, sequence=at)
    if fate == "too-late":
        return Message(name, right, kept, number=number, sequence=at, reach_s=5, age_s=60)
    if fate == "too-far":
        return Message(name, None, kept, number=number, sequence=at, manager="stranger", more=_FAR)
    return Message(name, right, kept, number=number, sequence=at, more=SIGNED)


_FATES: Final = {"no-queue": "correct", "wrong-queue": "correct", "too-far": "odd", "too-late": "odd", "signed": "odd"}
"""Why a message is rejected, and what must be allowed to be sent for it."""


def _counted(kind: str, fate: str) -> Case:
    """A rejected message is counted in its round, and in the next one for express ones and where no queue is there.

    Of recoverable ones a reading leaves open whether they count as recoverable, so that this end states no counts then.
    """
    rounds: list[Step] = []
    for at in (1, 2) if kind == "e" or fate == "no-queue" else (1,):
        kept = Message(f"accepted {at}", recoverable=True)
        rounds += [Tell((_rejected(kind, fate, at), kept)), _ACKNOWLEDGED]
        if kind == "e":
            agrees = Agree() if at == 1 else Tell((Message("agrees"),), acknowledging=True)
            rounds += [agrees, Stays(_COUNTS)]
    return Case(
        f"{_KINDS[kind]}-{fate}-is-counted",
        (*handshake(), *rounds),
        (*ACKS, *KEPT, _DECREASES),
        queues=(PLAIN, *((TRANSACTIONAL,) if TRANSACTIONAL in (_WRONG_QUEUE[kind], _RIGHT_QUEUE[kind]) else ())),
        packets="odd" if kind in "et" else _FATES[fate],
    )


ROUNDS: Final[tuple[Case, ...]] = (
    *(_marked(between, sizes) for between, sizes in product(_BETWEEN, _SIZES)),
    *(_timed(name, rounds) for name, rounds in _ROUNDS.items()),
    *(_counted(kind, fate) for kind, fate in product(_KINDS, _FATES)),
)
