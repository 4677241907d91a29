"""Dialogues in which the conditions of a message's fate meet: kind, word that is asked for, end, repetition, size.

Features: {express, recoverable, transactional}; acknowledgment bits, all sixteen; an administration queue or none; the
end {taken, received, no queue, of the wrong kind, too many hops, too late, not received}; a second time; a body's size;
what asks for a FinalAck; MessageID {new, of another source, of a message of another kind}.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from conformance.judge.dialogues.groups import (
    ADMIN,
    ATTRIBUTE,
    BAD_QUEUE,
    CLASS,
    DUPLICATE,
    FINAL,
    LATE,
    NOT_RECEIVED,
    NOT_TRANSACTIONAL_MSG,
    NOT_TRANSACTIONAL_Q,
    REACHED,
    RECEIVED,
    TOO_MANY_HOPS,
    order,
    reaches,
    told,
)
from conformance.judge.dialogues.packets import (
    ABSENT,
    JOURNAL,
    NA,
    NR,
    OTHER,
    PA,
    PLAIN,
    PR,
    TRANSACTIONAL,
    Message,
    Values,
)
from conformance.judge.dialogues.steps import Case, Comes, Never, Passed, Step, Tell, handshake
from conformance.spec.catalogue import reading_id

_KINDS: Final = ("express", "recoverable", "transactional")
_ALL: Final = PA | PR | NA | NR
_ONWARDS: Final[Values] = {"UserHeader.Flags.RC": 0x1D}  # the most that there may be, MS-MQMQ 2.2.19.2
_REQUESTED: Final = "MQQB-3.1.7.15.requested"
_WANTED: Final = "MQQB-3.1.7.2.2.wanted"


@dataclass(frozen=True, slots=True)
class _Fate:
    """A way in which a message ends before it is in its queue. finals: a FinalAck finds its way without a directory."""

    name: str
    base: Message
    kinds: tuple[str, ...]
    message_class: int
    requirements: tuple[str, ...]
    insecure: bool = False
    finals: bool = True
    packets: str = "correct"


_FATES: Final = (
    _Fate(
        "no-such-queue", Message("", ABSENT), _KINDS, BAD_QUEUE,
        ("MQQB-3.1.5.8.2.no-such-queue", f"{CLASS}nack-bad-dst-q"), insecure=True,
    ),
    _Fate(
        "not-a-transactional-queue", Message("", PLAIN), _KINDS[2:], NOT_TRANSACTIONAL_Q,
        ("MQQB-3.1.5.8.2.not-transactional-queue",),
    ),
    _Fate(
        "not-a-transactional-message", Message("", TRANSACTIONAL), _KINDS[:2], NOT_TRANSACTIONAL_MSG,
        ("MQQB-3.1.5.8.2.not-transactional-message",),
    ),
    _Fate(
        "too-many-hops", Message("", None, manager="stranger", more=_ONWARDS), _KINDS[:2], TOO_MANY_HOPS,
        ("MQQB-3.1.5.8.2.hop-count-exceeded", f"{ATTRIBUTE}class-nack-hop-count-exceeded"), finals=False,
    ),
    _Fate(
        "too-late", Message("", PLAIN, reach_s=5, age_s=60), _KINDS[:2], LATE,
        (f"{CLASS}nack-reach-queue-timeout",), packets="odd",
    ),
)  # fmt: skip


def _of(kind: str, base: Message, name: str, number: int = 1) -> Message:
    """Return a message like `base` of a kind. number: its place in a sequence, if it is transactional."""
    return replace(
        base, name=f"{name} {kind}", recoverable=kind != "express", number=number if kind == "transactional" else None
    )


def _meets(fate: _Fate, kind: str) -> Case:
    """Messages that differ in what they ask for meet a fate; the first comes again, if it is not transactional.

    The rule on what was asked for judges the word that comes of the others.
    """
    asks = _of(kind, replace(fate.base, asks=_ALL), "all")
    silent = _of(kind, replace(fate.base, asks=_ALL - NA), "silent", 2)
    nowhere = _of(kind, replace(fate.base, asks=_ALL, admin=False), "nowhere", 3)
    steps: list[Step] = [*handshake(), Tell((asks, silent, nowhere))]
    if kind == "transactional" and fate.finals:
        steps += [Comes("FinalAck", one.name, fate.requirements, fate.message_class) for one in (asks, silent, nowhere)]
    steps.append(Comes("UserMessage", asks.name, fate.requirements, fate.message_class, insecure=fate.insecure))
    if kind != "transactional":
        steps.append(Tell((Message("again", recoverable=asks.recoverable, again=asks.name),)))
        steps.append(Never("UserMessage", asks.name, (DUPLICATE,), fate.message_class, for_ms=150, most=1))
    else:
        steps.append(Never("UserMessage", silent.name, (_REQUESTED,), for_ms=150))
    finals = FINAL if kind == "transactional" else ()
    queues = tuple(one for one in (fate.base.queue,) if one not in (None, ABSENT))
    return Case(f"{fate.name}-of-{kind}-messages", tuple(steps), (*ADMIN, *finals), queues=queues, packets=fate.packets)


def _each_word(kind: str) -> Case:
    """Messages with all sixteen combinations of acknowledgment bits are taken, and received."""
    queue = TRANSACTIONAL if kind == "transactional" else PLAIN
    messages = tuple(_of(kind, Message("", queue, asks=asks), f"{asks:04b}", asks + 1) for asks in range(16))
    arrived = (one for one in messages if one.asks & PA)
    received = (one for one in messages if one.asks & PR)
    unasked = [one for one in messages if not one.asks & (PA | PR)]
    return Case(
        f"each-word-of-{kind}-messages",
        (
            *told(*messages),
            *(reaches(one.name) for one in arrived),
            *(
                Comes("UserMessage", one.name, (f"{CLASS}ack-receive", "MQMQ-2.2.19.3.flags-pr"), RECEIVED,
                      within_ms=12_000)
                for one in received
            ),
            *(Never("UserMessage", one.name, (_REQUESTED,), for_ms=50) for one in unasked[-1:]),
        ),
        ADMIN,
        queues=(queue,),
        consumed=(queue,),
    )  # fmt: skip


_FINAL_BITS: Final = ("UserHeader.Flags.JN", "UserHeader.Flags.JP", "TransactionHeader.Flags.FA")


def _finals() -> Iterator[Message]:
    """Yield transactional messages that ask for a FinalAck in each way, with word of the receipt and without."""
    for at, (*bits, asks) in enumerate(product((0, 1), (0, 1), (0, 1), (0, _ALL)), 1):
        more = {key: bit for key, bit in zip(_FINAL_BITS, bits, strict=True) if bit}
        yield Message(f"final {at}", TRANSACTIONAL, number=at, asks=asks, more=more)


_ENDS: Final = tuple(_finals())
_RECEIVE: Final = (f"{CLASS}ack-receive", "MQMQ-2.2.19.3.flags-pr")
_LEFT: Final = tuple(
    _of(kind, Message("", JOURNAL, asks=asks, admin=admin, receive_s=1), f"{name} left")
    for kind in _KINDS[:2]
    for name, asks, admin in (("alone", NR, True), ("all", _ALL, True), ("silent", _ALL - NR, True), ("no", NR, False))
)
_BODIES: Final = (0, 1, 2, 3, 4, 5, 7, 8, 1_023, 1_024)
_BEHIND: Final[Values] = {"UserHeader.Flags.RC": 1}  # of a message that this end passes on
_IDENTIFIER: Final = reading_id("R-MQQB-duplicate-identifier")
FATES: Final[tuple[Case, ...]] = (
    *(_meets(fate, kind) for fate in _FATES for kind in fate.kinds),
    *map(_each_word, _KINDS),
    Case(
        "each-way-to-a-final-acknowledgment",
        (
            *told(*_ENDS),
            order(_ENDS[-1].name),
            *(Comes("FinalAck", one.name, (_WANTED,), RECEIVED, within_ms=12_000) for one in _ENDS if one.more),
            *(Comes("UserMessage", one.name, _RECEIVE, RECEIVED, within_ms=12_000) for one in _ENDS if one.asks),
            Never("FinalAck", _ENDS[0].name, (_WANTED,), for_ms=50),
        ),
        (*ADMIN, *FINAL),
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
    Case(
        "not-received-by-kind-and-word",
        (
            *told(*_LEFT),
            *(
                Comes("UserMessage", one.name, (f"{CLASS}nack-receive-timeout", "MQMQ-2.2.19.3.flags-nr"),
                      NOT_RECEIVED, within_ms=8_000)
                for one in _LEFT
                if one.asks & NR and one.admin
            ),
            Never("UserMessage", "silent left recoverable", (_REQUESTED,), NOT_RECEIVED, for_ms=50),
        ),
        (*ADMIN, "MQQB-3.1.7.15.body"),
        queues=(JOURNAL,),
    ),
    Case(
        "a-rejected-body-of-each-size",
        (
            *told(*(Message(f"{size} bytes", TRANSACTIONAL, asks=NA, answer=bool(size % 2),
                            recoverable=size % 4 > 1, body=b"\x5a" * size) for size in _BODIES)),
            *(Comes("UserMessage", f"{size} bytes", ("MQQB-3.1.7.15.body",), NOT_TRANSACTIONAL_MSG)
              for size in _BODIES),
        ),
        (*ADMIN, "MQQB-3.1.7.15.body"),
        queues=(TRANSACTIONAL,),
    ),
    *(
        Case(
            f"an-identifier-of-another-source-{kind}",
            (
                *told(_of(kind, Message("", asks=PA), "first")),
                reaches(f"first {kind}"),
                Tell((
                    replace(
                        _of(kind, Message("", asks=PA, more=_BEHIND), "other"), source=OTHER, shares=f"first {kind}"
                    ),
                )),
                Comes("UserMessage", f"other {kind}", (DUPLICATE,), REACHED, read=(_IDENTIFIER, "ordinal")),
            ),
            ADMIN,
            queues=(PLAIN,),
        )
        for kind in _KINDS[:2]
    ),
    *(
        Case(
            f"an-identifier-of-the-{before}-message-with-a-transaction",
            (
                *told(_of(before, Message("", asks=PA), "first")),
                reaches(f"first {before}"),
                Tell((Message("ordered", TRANSACTIONAL, number=1, shares=f"first {before}"),)),
                order("ordered", DUPLICATE),
            ),
            queues=(PLAIN, TRANSACTIONAL),
            packets="odd",
        )
        for before in _KINDS[:2]
    ),
    Case(
        "an-identifier-of-a-transactional-message-without-one",
        (
            *told(Message("first", TRANSACTIONAL, number=1, asks=PA)),
            reaches("first"),
            Tell((Message("plain", asks=PA, shares="first"),)),
            Never("UserMessage", "first", (DUPLICATE,), REACHED, most=1, for_ms=300),
        ),
        queues=(PLAIN, TRANSACTIONAL),
        packets="odd",
    ),
)  # fmt: skip
_HOPS: Final = "MQQB-3.1.5.8.2.hop-count"
_ON: Final = "MQQB-3.1.1.5.passed-on"
_RC: Final = "UserHeader.Flags.RC"
_TX: Final = "TransactionHeader."


def _onwards(kind: str, name: str, number: int = 1, **other: int) -> Message:
    other = {"asks": NA, **other}
    there: Values = {
        _RC: other.pop("hops", 0),
        "UserHeader.Flags.DQ": 3,
        "UserHeader.DestinationQueue.PrivateQueueIdentifier": 7,
    }
    return _of(kind, Message("", None, manager="client", more=there, **other), name, number)  # type: ignore[arg-type]


def _passes(kind: str) -> Case:
    """A message that asks for all words is passed on, once, and nothing is told of it; another has its last hop."""
    first = _onwards(kind, "first", asks=_ALL)
    kept = {f"{_TX}TxSequenceNumber": (5, _ON), f"{_TX}PreviousTxSequenceNumber": (3, _ON)}
    transactional = kind == "transactional"
    last = _onwards(kind, "last", 5, previous=3, hops=0x1C) if transactional else _onwards(kind, "last", hops=0x1C)
    again = () if transactional else (Message("again", recoverable=first.recoverable, again=first.name),)
    return Case(
        f"{kind}-passed-on-once",
        (
            *told(first, *again, last),
            Passed(first.name, _HOPS, values={_RC: (1, _HOPS)}),
            Passed(last.name, _ON, values={_RC: (0x1D, _HOPS), **(kept if transactional else {})}),
            Passed(first.name, DUPLICATE, most=1),
            Never("UserMessage", first.name, ("MQQB-3.1.5.8.10.addressee",), for_ms=150),
        ),
        packets="odd",
    )


ONWARDS: Final[tuple[Case, ...]] = (
    *map(_passes, _KINDS),
    *(
        Case(
            f"{kind}-too-late-on-its-way",
            (
                *told(_onwards(kind, "in time"), _onwards(kind, "late", 2, asks=_ALL, reach_s=5, age_s=60)),
                Passed(f"in time {kind}", "MQQB-3.1.7.1.2.expired"),
                Comes("UserMessage", f"late {kind}", (f"{CLASS}nack-reach-queue-timeout",), LATE),
                Passed(f"late {kind}", "MQQB-3.1.7.1.2.expired", 0, within_ms=150),
            ),
            ADMIN,
            packets="odd",
        )
        for kind in _KINDS
    ),
)
