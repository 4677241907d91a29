"""Dialogues about counts, marks and times of acknowledgments over several rounds of one session, as products.

A round ends with an acknowledgment of all that was sent. Features: the kind of a message {express, recoverable,
transactional}; its fate {accepted, rejected for each reason}; the round {first, later}; how many recoverable ones a
round has {1, 2, 16, 17, 31, 32, 34}, with express ones {nowhere, between, before}; what carries the counts of this end
{a SessionAck, a message}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count, product
from typing import Final

from conformance.judge.dialogues.cases_words import SIGNED
from conformance.judge.dialogues.groups import ACKS, IN_TIME, KEPT, KEPT_MS
from conformance.judge.dialogues.packets import ABSENT, PLAIN, TRANSACTIONAL, Message, Values
from conformance.judge.dialogues.steps import Acknowledged, Agree, Case, Stays, Step, Stored, Tell, handshake

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
