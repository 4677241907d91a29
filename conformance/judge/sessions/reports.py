"""In which words the results of the steps are reported, and of which requirement each rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import message_steps as messages
from conformance.judge.sessions import order_steps as orders
from conformance.judge.sessions import registers as at
from conformance.judge.sessions.context import COARSE, LOST, NO_TIMES, SET_BACK, Assumed, Notes, Path, Seen
from conformance.judge.sessions.registers import NONE
from conformance.spec.catalogue import requirement_id
from conformance.spec.followed_readings import either
from conformance.verdict import Json

ACKNOWLEDGED_IN_TIME: Final[str] = requirement_id("MQQB-3.1.5.8.2.acknowledged-in-time")
SENT_TIME: Final[str] = requirement_id("MQMQ-2.2.19.2.sent-time")
_EXPIRED = requirement_id("MQQB-3.1.7.1.2.expired")
ORDER_SENT: Final[str] = requirement_id("MQQB-3.1.6.9.sent")
READING_SEQUENCE: Final = "R-MQQB-order-ack-sequence"
READING_SCOPE: Final = "R-MQQB-transactional-sequence-scope"
_READING_WINDOW, _READING_INCLUDED = "R-MQQB-window", "R-MQQB-session-header-included"
_READING_REJECTED = "R-MQQB-rejected-number"
_BITS: Final = {
    _READING_WINDOW: {"own": steps.OWN, "received": steps.RECEIVED_WINDOW},
    _READING_INCLUDED: {"in-time": steps.TIMELY, "any": steps.UNTIMELY},
    READING_SEQUENCE: {"acknowledged": orders.ACKNOWLEDGED, "own-outgoing": orders.OWN_OUTGOING},
    _READING_REJECTED: {"kept": orders.KEPT, "replaced": orders.REPLACED},
    READING_SCOPE: {"session": 1 << messages.SESSION, "queue": 1 << messages.QUEUE},
}
READINGS: Final = (
    (at.READS_WINDOW, _READING_WINDOW),
    (at.READS_INCLUDED, _READING_INCLUDED),
    (at.READS_SEQUENCE, READING_SEQUENCE),
    (at.READS_REJECTED, _READING_REJECTED),
    (at.READS_SCOPE, READING_SCOPE),
)
"""The shared registers with the accepted alternatives of a reading."""
UNSEEN: Final = "the acknowledged messages may not be in the capture"
_REASONS: Final = (
    LOST,
    "the count goes on from one that was wrong before",
    "messages may have been stored in another order than they were sent in",
    NO_TIMES,
    SET_BACK,
    COARSE,
    UNSEEN,
    "packets from this host are not in the capture",
    "messages of this sequence may have been sent before, or were not captured",
    "the queue manager may have been started or restored in between",
    "not all acknowledgments are in the capture",
    "the clocks of the sender and of the capture may differ",
)

Words = Callable[[Seen, int, int], tuple[Json, Json]]


class Rule(NamedTuple):
    """One rule. words: the expected and the actual value. reading: the one that it depends on."""

    requirement: str
    words: Words
    reading: str | None = None


def _numbers(_: Seen, expected: int, actual: int) -> tuple[Json, Json]:
    return expected, actual


def _named(name: str) -> Words:
    return lambda _, expected, actual: ({name: expected}, actual)


def _milliseconds(name: str) -> Words:
    return lambda _, expected, actual: ({name: expected}, {"ms": actual})


def _sequences(_: Seen, expected: int, actual: int) -> tuple[Json, Json]:
    return at.unsigned(expected), at.unsigned(actual)


_HEADER = ("SessionHeader.RecoverableMsgAckSeqNumber", "SessionHeader.RecoverableMsgAckFlags")


def _header(seen: Seen) -> Json:
    lowest, flags = map(seen.number, _HEADER)
    return {"number": lowest, "flags": flags}


def possible_age(seconds: int) -> tuple[Json, Json]:
    """Return in words the ages that a message can have, in seconds, and its own."""
    return {"age, s": [-messages.AHEAD, messages.BEHIND]}, {"age, s": seconds}


def _older(_: Seen, expected: int, actual: int) -> tuple[Json, Json]:
    return {"at least": at.unsigned(expected)}, at.unsigned(actual)


def _resent(seen: Seen, sequence: int, number: int) -> tuple[Json, Json]:
    found = map(seen.number, ("TransactionHeader.TxSequenceID", "TransactionHeader.TxSequenceNumber"))
    return {"sequence": at.unsigned(sequence), "number": number}, dict(zip(("sequence", "number"), found, strict=True))


def _acknowledged(_: Seen, sequence: int, both: int) -> tuple[Json, Json]:
    named = at.unsigned(sequence)
    highest, done = (both >> 32) + (1 << 31), both & 0xFFFFFFFF
    return {"sequence": named, "acknowledged": highest}, {"sequence": named, "acknowledged": done}


def _included(_: Seen, before: int, __: int) -> tuple[Json, Json]:
    if before == NONE:
        return "three quarters of the time for it are gone", "fewer"
    return {"above": before}, before


RULES: Final = {
    steps.USER_SENT: Rule(requirement_id("MQQB-3.1.7.1.3.user-messages-sent"), _numbers),
    steps.RECOVERABLE_SENT: Rule(requirement_id("MQQB-3.1.7.1.3.recoverable-messages-sent"), _numbers),
    steps.WERE_SENT: Rule(requirement_id("MQQB-3.1.1.6.1.acknowledged-were-sent"), _named("at most")),
    steps.NEVER_DECREASES: Rule(requirement_id("MQQB-3.1.1.6.1.never-decreases"), _named("at least")),
    steps.NUMBER_AND_FLAGS: Rule(
        requirement_id("MQQB-3.1.6.4.recoverable-none"), lambda seen, _, __: ("both zero or neither", _header(seen))
    ),
    steps.LOWEST: Rule(
        requirement_id("MQQB-3.1.6.4.recoverable-lowest"), lambda _, __, flags: ({"bit 0": 1}, {"flags": flags})
    ),
    steps.LOWEST_NUMBER: Rule(requirement_id("MQQB-3.1.6.4.recoverable-lowest"), _numbers),
    steps.ONCE: Rule(
        requirement_id("MQQB-3.1.6.4.recoverable-once"),
        lambda seen, again, _: ({"not again": [again] if again >= 0 else []}, _header(seen)),
    ),
    steps.RECOVERABLE_WERE_SENT: Rule(requirement_id("MQQB-3.1.1.6.1.recoverable-were-sent"), _named("at most")),
    steps.RECEIVED: Rule(requirement_id("MQMQ-2.2.20.4.ack-sequence-number"), _named("at least")),
    steps.PAUSE: Rule(
        requirement_id("MQQB-3.1.7.13.paused"), lambda _, __, ms: ("nothing before the queue is resumed", {"ms": ms})
    ),
    steps.ANNOUNCED: Rule(requirement_id("MQQB-3.1.6.4.window-size"), _named("at most")),
    steps.SOMETHING: Rule(requirement_id("MQQB-3.1.6.4.something-to-acknowledge"), _named("above")),
    steps.INCLUDED: Rule(requirement_id("MQQB-3.1.7.11.header-included"), _included, _READING_INCLUDED),
    steps.LEFT_OUT: Rule(
        requirement_id("MQQB-3.1.7.11.header-included"), lambda _, most, ms: ({"without at most, ms": most}, {"ms": ms})
    ),
    steps.AT_ONCE: Rule(requirement_id("MQQB-3.1.5.8.7.recoverable-at-once"), _named("at most")),
    steps.IN_TIME: Rule(
        ACKNOWLEDGED_IN_TIME, lambda _, most, late: ({"late by at most, ms": most}, {"late by, ms": late})
    ),
    steps.DUE: Rule(requirement_id("MQQB-3.1.6.4.expired"), _milliseconds("at least, ms")),
    steps.IN_WINDOW: Rule(requirement_id("MQQB-3.1.7.1.window"), _named("at most"), _READING_WINDOW),
    orders.FORM: Rule(requirement_id("MQQB-3.1.7.17.destination-form"), _numbers),
    orders.SEQUENCE: Rule(requirement_id("MQQB-2.2.4.1.sequence"), _sequences, READING_SEQUENCE),
    orders.IN_ORDER: Rule(requirement_id("MQQB-3.1.1.6.2.in-order"), _named("at most")),
    orders.ACCEPTED: Rule(requirement_id("MQQB-3.1.5.8.6.accepted"), _named("at most"), _READING_REJECTED),
    orders.ACCEPTED_LESS: Rule(
        requirement_id("MQQB-3.1.5.8.6.accepted"),
        lambda _, accepted, number: ({"number": accepted}, {"number": number}),
    ),
    orders.DELAY: Rule(requirement_id("MQQB-3.1.3.2.order-ack-delay"), _milliseconds("at least, ms")),
    orders.LATE: Rule(ORDER_SENT, _milliseconds("at most, ms")),
    orders.SCHEDULED: Rule(requirement_id("MQQB-3.1.1.6.2.scheduled"), _milliseconds("at most, ms")),
    orders.BEFORE_NEXT: Rule(
        requirement_id("MQQB-3.1.1.6.2.scheduled"),
        lambda _, __, gap: ("an OrderAck before the next message", {"ms": gap}),
    ),
    orders.NEVER_DECREASES: Rule(requirement_id("MQQB-3.1.1.6.2.never-decreases"), _named("at least")),
    orders.RESTARTED: Rule(
        requirement_id("MQQB-3.1.1.6.2.scheduled"), _milliseconds("after the last message at least, ms")
    ),
    messages.OLDER: Rule(requirement_id("MQQB-3.1.1.5.older-sequence"), _older, READING_SCOPE),
    messages.FIRST: Rule(requirement_id("MQQB-3.1.1.5.first-number"), _numbers, READING_SCOPE),
    messages.NEXT: Rule(requirement_id("MQQB-3.1.7.1.3.next-number"), _numbers, READING_SCOPE),
    messages.PREVIOUS: Rule(requirement_id("MQQB-3.1.7.1.3.previous-number"), _numbers, READING_SCOPE),
    messages.RESENT: Rule(requirement_id("MQQB-3.1.7.1.3.resent-number"), _resent),
    messages.ALL_ACKNOWLEDGED: Rule(requirement_id("MQQB-3.1.1.5.all-acknowledged"), _acknowledged, READING_SCOPE),
    messages.SENT_TIME: Rule(SENT_TIME, lambda _, __, seconds: possible_age(seconds)),
    messages.EXPIRED: Rule(_EXPIRED, lambda _, allowed, seconds: ({"at most, s": allowed}, {"at least, s": seconds})),
    messages.LASTS: Rule(_EXPIRED, lambda _, allowed, seconds: ({"at most, s": allowed}, {"s": seconds})),
    messages.ORDINAL: Rule(requirement_id("MQQB-3.1.7.1.1.ordinal"), _named("above")),
    messages.NEXT_SEQUENCE: Rule(requirement_id("MQQB-3.1.1.5.next-sequence"), _sequences, READING_SCOPE),
}
"""The rules, by their numbers in the steps."""


def bits_of(reading: str, accepted: tuple[str, ...]) -> int:
    """Return the bits of alternatives of a reading."""
    return sum(_BITS[reading][name] for name in accepted)


@lru_cache
def _assumed(reading: str, accepted: tuple[str, ...], bits: int) -> Assumed:
    fitting = tuple(name for name in accepted if bits & _BITS[reading][name])
    return ((reading, either(fitting or accepted[:1])),)


def results(out: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield each result: the rule, the outcome, the expected and the actual number."""
    for place in range(1, out[0], 4):
        rule, outcome, expected, actual = out[place : place + 4]
        yield rule, outcome, expected, actual


def report(
    notes: Notes,
    seen: Seen,
    rule: int,
    outcome: int,
    expected: int,
    actual: int,
    paths: tuple[Path, ...] = (),
    *,
    late: bool = False,
) -> None:
    """Report a result that is no NOTE. paths: those that a suspicion depends on. late: the packet had its turn."""
    requirement, words, reading = RULES[rule]
    kind = outcome & 7
    if kind == steps.OPEN:
        notes.undecided(requirement, seen, _REASONS[expected], anywhere=bool(actual))
        return
    readings = () if reading is None else _assumed(reading, notes.accepted(reading), outcome >> 3)
    if kind == steps.HOLDS and not late and notes.passed(requirement, readings):
        return
    wanted, found = words(seen, expected, actual)
    if kind == steps.SUSPECT:
        notes.suspect(requirement, seen, wanted, found, paths, readings)
    else:
        say: Callable[..., object] = notes.judge_late if late else notes.judge
        say(requirement, kind == steps.HOLDS, seen, wanted, found, readings)
