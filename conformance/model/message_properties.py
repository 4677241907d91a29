"""The properties that a message of a history carries: defaults, requirements, values, and bounds for its bytes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha1
from typing import Any, Final
from zlib import crc32

from conformance.model.calls import Call, SeenMessage
from conformance.model.journals import (
    DEAD_LETTER,
    DEAD_LETTER_TRANSACTIONAL,
    OVERHEAD,
    SYSTEM_JOURNAL,
    Shape,
    is_kept,
    plain_name,
)
from conformance.model.state import Options, Position, Queue, State
from conformance.model.tables import ABORTS, PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Json, Outcome, Verdict, held

NO_CORRELATION: Final = "A" * 27 + "="  # 20 zero bytes in base64
FOUR_DAYS: Final = 345_600
UNLIMITED: Final = 0xFFFFFFFF
QUEUES: Final = ("response_queue", "administration_queue")
"""The members that name queues: a message without such a queue may lack the member."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A member of a message. default: the value of a member that is not sent, and its requirement; None: not judged.

    unchanged: the requirement that the member is received as it was sent; None: time or the manager may change it.
    """

    member: str
    default: tuple[Json, str] | None
    unchanged: str | None = None


def _attribute(member: str, default: Json, default_word: str, unchanged_word: str | None = None) -> Attribute:
    prefix = "MQDMPR-3.1.1.12."
    unchanged = requirement_id(prefix + unchanged_word) if unchanged_word else None
    return Attribute(member, (default, requirement_id(prefix + default_word)), unchanged)


ATTRIBUTES: Final = (
    _attribute("body", "", "default-body", "body-unchanged"),
    _attribute("body_type", 0, "default-body-type", "body-type-unchanged"),
    _attribute("label", "", "default-label", "label-unchanged"),
    _attribute("priority", 3, "default-priority", "priority-unchanged"),
    _attribute("delivery", "express", "default-delivery-guarantee", "delivery-guarantee-unchanged"),
    _attribute("class", 0, "default-class"),
    _attribute("application_tag", 0, "default-application-tag", "application-tag-unchanged"),
    _attribute(
        "correlation_identifier", NO_CORRELATION, "default-correlation-identifier", "correlation-identifier-unchanged"
    ),
    _attribute("extension", "", "default-extension", "extension-unchanged"),
    _attribute("positive_journaling", False, "default-positive-journaling"),
    _attribute("negative_journaling", False, "default-negative-journaling"),
    _attribute("acknowledgements", [], "default-acknowledgements"),
    _attribute("time_to_be_received", UNLIMITED, "default-time-to-be-received"),
    _attribute("time_to_reach_queue", FOUR_DAYS, "default-time-to-reach-queue"),
    _attribute("trace", False, "default-tracing-requested", "tracing-requested"),
    _attribute("response_queue", "", "response-queue", "response-queue"),
    _attribute("administration_queue", "", "administration-queue", "administration-queue"),
)

BITS: Final[Mapping[str, int]] = {
    "body_type": 1,
    "application_tag": 2,
    "correlation_identifier": 4,
    "extension": 8,
    "response_queue": 16,
    "class": 32,
    "trace": 2048,
}
"""The bit of each member of the protocol's message."""
NAMING: Final = ("application_tag", "correlation_identifier", "response_queue")
"""The members that tell, beside its label, whose a message without a body is.

An extension or a response queue tells it alone.
"""
NO_BODY: Final = 64
"""The message has no body; another property tells its name."""
QUEUES_SHOWN: Final = 128
"""The manager shows response queues: a message without one has none."""
JUDGED: Final = 256
"""Judges the members a message carries: those that it does not carry have their defaults."""
SEEN: Final = 512
"""A peek has shown the message whole: what is wrong from now on has happened since."""
UNSURE: Final = 1024
"""The first read came after a restart and something else, and nobody can tell which has changed the message."""
ALL: Final = sum(BITS.values())
_ANSWERS: Final = "DIRECT=OS:HOST\\private$\\answers-"
_END: Final = b"\0\xff"  # of an extension, whose beginning is the name
_BODY_TYPES: Final = (0x11, 0x13, 0x15, 0x1F, 0x41, 0x48, 0x1002, 0x1011, 0x101F)  # PROPVARIANT types, MS-MQMQ 2.2.12
_CLASS = 0x0100  # a bit that no predefined class has, of those an application may set (MS-MQMQ 2.2.18.1.6)
_CLASS_UNCHANGED = requirement_id("MQDMPR-3.1.1.12.class-values")
_SURVIVES = requirement_id("MQDMPR-3.1.1.12.recoverable-attributes-survive")
_UNIQUE = requirement_id("MQDMPR-3.1.1.12.identifier-unique")
_MOVED = requirement_id("MQDMPR-3.1.7.1.16.unchanged")
_COPY = requirement_id("MQDMPR-3.1.7.1.27.message-copy")
_RETURNS = requirement_id("MQDMPR-3.1.4.5.receives-return")
_BACK: Final = {  # the claim of what put a message in its place -> the requirement that it keeps its attributes
    **dict.fromkeys((_RETURNS, *ABORTS), requirement_id("MQDMPR-3.1.4.5.receives-return-unchanged")),
    "MQDMPR-3.1.4.5.move": "MQDMPR-3.1.4.5.move",
    "MQDMPR-3.1.7.1.12.restores": "MQDMPR-3.1.7.1.12.restores",
    "MQDMPR-3.1.7.1.16.moved": _MOVED,
    "MQDMPR-3.1.4.4.move": _MOVED,
    **dict.fromkeys(
        (
            "MQDMPR-3.1.1.12.recoverable-survives",
            "MQDMPR-3.1.4.4.durable",
            "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
            "MQMQ-2.2.19.2.transactional-recoverable",
            "MQDMPR-3.1.1.2.system-queues-kept",
        ),
        _SURVIVES,
    ),
}
_STORED: Final = {
    SYSTEM_JOURNAL: requirement_id("MQDMPR-3.1.1.12.positive-journaling"),
    DEAD_LETTER: requirement_id("MQDMPR-3.1.1.12.negative-journaling"),
    DEAD_LETTER_TRANSACTIONAL: requirement_id("MQDMPR-3.1.1.12.negative-journaling-transactional"),
}
_JOURNAL: Final = requirement_id("MQMQ-2.3.1.4.journal-copy")
_LOSSY: Final = "MQDMPR-3.1.1.12.express-may-survive"
_UNCHANGED: Final = {
    one.member: (one.unchanged or _CLASS_UNCHANGED, one.default) for one in ATTRIBUTES if one.member in BITS
}
_BODY: Final = next(one for one in ATTRIBUTES if one.member == "body")


@lru_cache(1 << 12)
def values(carries: int, name: str) -> Mapping[str, Any]:
    """Return what a message of this name carries, as members of the protocol's message; `body` only where it is empty.

    Bytes are in base64.
    """
    number = crc32(name.encode())
    every: dict[str, Any] = {
        "body_type": _BODY_TYPES[number % len(_BODY_TYPES)],
        "application_tag": number,
        "correlation_identifier": _b64(_correlation(name)),
        "extension": _b64(name.encode() + _END),
        "response_queue": f"{_ANSWERS}{name}",
        "class": _CLASS | (number & 0x7F),
        "trace": True,
    }
    found = {member: value for member, value in every.items() if carries & BITS[member]}
    return {**found, "body": ""} if carries & NO_BODY else found


def _correlation(name: str) -> bytes:
    return sha1(name.encode(), usedforsecurity=False).digest()


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def name_without_body(shown: Mapping[str, Any]) -> str:
    """Return the name of a message without a body, by what else it carries; empty for one of another sender.

    shown: the message as the protocol has it.
    """
    label = shown.get("label")
    if isinstance(label, str) and label:
        own = values(ALL, label)
        if any(shown.get(member) == own[member] for member in NAMING):
            return label
    try:
        extension = binascii.a2b_base64(shown.get("extension", ""))
    except (binascii.Error, TypeError, ValueError):
        return ""
    if extension.endswith(_END):
        return extension.removesuffix(_END).decode("ascii", "replace")
    answers = shown.get("response_queue")
    return answers.removeprefix(_ANSWERS) if isinstance(answers, str) and answers.startswith(_ANSWERS) else ""


def size_of(carries: int) -> int:
    """Return a number that is the same for messages whose further properties take equally much room."""
    return carries & (BITS["extension"] | BITS["response_queue"] | BITS["trace"])


def doubtful(queue: str, claim: str, position: Position) -> bool:
    """Tell whether a restart comes after something else that may have changed the message, with no peek in between.

    queue, claim: as in `judge_carried`.
    """
    if position.carries & (SEEN | UNSURE) or _BACK.get(claim) != _SURVIVES:
        return bool(position.carries & UNSURE)
    return is_kept(queue) or position.moved or "@" in position.message


def seen_whole(state: State, queue: str, claim: str, position: Position) -> State:
    """Note that a peek has shown a message whole, or that nobody can tell, if that makes a difference to later reads.

    queue, claim: as in `judge_carried`.
    """
    noted, movable = position.carries & (SEEN | UNSURE), position.moved or "@" in position.message
    if noted or not position.available or not movable:
        return state
    now = UNSURE if doubtful(queue, claim, position) else SEEN
    return state.with_position(queue, replace(position, carries=position.carries | now))


def judge_identifier(
    state: State, queue: str, claim: str, position: Position, subject: str, seen: SeenMessage
) -> Iterator[Verdict]:
    """Judge the identifier of a message, or of a copy of it: its own, and of no other message.

    queue, claim: as in `judge_carried`.
    """
    name = identified(queue, position)
    if name is None or seen.identifier is None or doubtful(queue, claim, position):
        return
    known = state.identifiers.get(name)
    if known is not None:
        outcome = Outcome.PASS if known == seen.identifier else Outcome.FAIL
        yield Verdict(demand(queue, claim, position, _UNIQUE), outcome, subject, known, seen.identifier)
        return
    other = next((one for one, its in state.identifiers.items() if its == seen.identifier), None)
    if other is not None:
        wanted = f"another identifier than that of {other}"
        yield Verdict(_UNIQUE, Outcome.FAIL, subject, wanted, seen.identifier)


def identified(queue: str, position: Position) -> str | None:
    """Return the message whose identifier this one has; None for one of several copies, which may have their own."""
    if not position.carries:
        return None
    name = position.message.removesuffix(f"@{queue}") if is_kept(queue) else position.message
    return None if "@" in name else name


def judge_carried(queue: str, claim: str, position: Position, subject: str, seen: SeenMessage) -> Iterator[Verdict]:
    """Judge what a message carries, and that nothing else came to it.

    queue: where it was read. claim: that of its position before the read: it tells what the message has been through,
    and so which requirement a changed property breaks.
    """
    shown, carries = seen.shown, position.carries
    if shown is None or not carries or doubtful(queue, claim, position):
        return
    sent = values(carries, plain_name(position.message))
    wrong = False
    for member, (unchanged, default) in _UNCHANGED.items():
        given = sent.get(member)
        if member == "class" and queue in (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL):
            continue  # whether it becomes the reason why the message is there is open
        if member == "response_queue":
            if not carries & QUEUES_SHOWN:
                continue
            came = shown.get(member, "")
            wanted: Json = given or ""
        elif member not in shown:
            continue
        else:
            came = shown[member]
            assert default is not None
            wanted = default[0] if given is None else given
        if came != wanted:
            wrong = True
            plain = unchanged if given is not None or default is None else default[1]
            yield Verdict(demand(queue, claim, position, plain), Outcome.FAIL, f"{subject}: {member}", wanted, came)
    if not wrong:
        yield from _passed(carries, subject, demand(queue, claim, position, ""))


_ACKS: Final = {
    "positive_arrival": requirement_id("MQDMPR-3.1.1.12.ack-pos-arrival"),
    "positive_receive": requirement_id("MQDMPR-3.1.1.12.ack-pos-receive"),
    "negative_arrival": requirement_id("MQDMPR-3.1.1.12.ack-neg-arrival"),
    "negative_receive": requirement_id("MQDMPR-3.1.7.2.7.nack-receive-timeout"),
}
_ASKED: Final = {  # what a sender asks for -> the requirement that is broken where a read shows that he did not
    "positive_journaling": _STORED[SYSTEM_JOURNAL],
    "negative_journaling": _STORED[DEAD_LETTER],
    "administration_queue": requirement_id("MQDMPR-3.1.1.12.administration-queue"),
    "time_to_be_received": requirement_id("MQDMPR-3.1.2.4.expires"),
}
_DEFAULTS: Final = {one.member: one.default for one in ATTRIBUTES if one.default is not None}


def options_of(call: Call) -> Options:
    """Return what reads of the message that this call sends must show of the options of its sender."""
    return _options(call.journal, call.dead_letter, call.acks, call.admin, call.live_s)


@lru_cache(1 << 10)
def _options(journal: bool, dead_letter: bool, acks: str | None, admin: str | None, live_s: int | None) -> Options:
    wanted: dict[str, Any] = {
        "positive_journaling": journal,
        "negative_journaling": dead_letter,
        "acknowledgements": tuple(sorted(acks.split("+"))) if acks else (),
        "administration_queue": admin or "",
        "time_to_be_received": UNLIMITED if live_s is None else live_s,
    }
    return tuple(wanted.items())


def judge_options(queue: str, claim: str, position: Position, subject: str, seen: SeenMessage) -> Iterator[Verdict]:
    """Judge that a message shows the options of its sender. A time to be received may be told as what is left of it.

    queue, claim: as in `judge_carried`.
    """
    shown = seen.shown
    if shown is None or not position.options:
        return
    for member, wanted in position.options:
        came = shown.get(member)
        if came is None or came == wanted:
            continue
        if member == "acknowledgements":
            came = tuple(sorted(came))
        elif member == "administration_queue":
            came = seen.admin
        elif member == "time_to_be_received" and (is_kept(queue) or came < wanted < UNLIMITED):
            continue
        if came != wanted and not doubtful(queue, claim, position):
            plain = _option_broken(member, wanted, came)
            actual = list(came) if isinstance(came, tuple) else came
            expected = list(wanted) if isinstance(wanted, tuple) else wanted
            asked = demand(queue, claim, position, plain)
            yield Verdict(asked, Outcome.FAIL, f"{subject}: {member}", expected, actual)


def _option_broken(member: str, wanted: Any, came: Any) -> str:
    """Return the requirement that a changed option breaks: of its default, or of the option that was asked for."""
    default = _DEFAULTS[member]
    if wanted == (() if member == "acknowledgements" else default[0]):
        return default[1]
    if member == "acknowledgements":
        return _ACKS[min({*wanted} ^ {*came})]
    return _ASKED[member]


_SHOWN: Final = (  # members that every answer about a message shows alike, and the requirement that one breaks
    ("sent_time", requirement_id("MQDMPR-3.1.1.12.sent-time")),
    ("arrival_time", requirement_id("MQDMPR-3.1.1.12.arrival-time")),
    ("lookup_identifier", requirement_id("MQDMPR-3.1.1.12.lookup-identifier-unique")),
)


def judge_shown(
    state: State, queue: str, claim: str, position: Position, subject: str, seen: SeenMessage
) -> tuple[State, Sequence[Verdict]]:
    """Judge that each answer shows the same times and lookup identifier of a message; return the state that knows them.

    A copy has the sent time of its message, and the rest for itself; so has a message that moved. Reads are compared in
    their lookup identifiers elsewhere. queue, claim: as in `judge_carried`.
    """
    if seen.shown is None:
        return state, ()
    kept = is_kept(queue)
    name = position.message.removesuffix(f"@{queue}") if kept else position.message
    here = not kept and not position.moved
    came = (
        seen.shown.get("sent_time"),
        seen.shown.get("arrival_time") if here else None,
        seen.lookup_identifier if here and not state.restarts else None,
    )
    known = state.shown.get(name, _NOTHING)
    if known == came or (known[0] == came[0] and None not in known and not here):
        return state, ()
    if known is not _NOTHING and doubtful(queue, claim, position):
        return state, ()
    verdicts = []
    for (member, plain), before, now in zip(_SHOWN, known, came, strict=True):
        if before is not None and now is not None and before != now:
            broken = demand(queue, claim, position, plain)
            verdicts.append(Verdict(broken, Outcome.FAIL, f"{subject}: {member}", before, now))
    if verdicts:
        return state, verdicts
    every = tuple(now if before is None else before for before, now in zip(known, came, strict=True))
    return (state if every == known else replace(state, shown={**state.shown, name: every})), ()


_NOTHING: Final[tuple[int | None, ...]] = (None, None, None)


def demand(queue: str, claim: str, position: Position, plain: str) -> str:
    """Return the requirement that a changed property breaks: of what the message has been through, otherwise `plain`.

    See `judge_carried`.
    """
    if claim == _LOSSY or doubtful(queue, claim, position):
        return plain
    found = _BACK.get(claim)
    if found is not None:
        return found
    if is_kept(queue):
        return _STORED.get(queue, _JOURNAL)
    if position.moved:
        return _MOVED
    return _COPY if "@" in position.message else plain


@lru_cache(1 << 12)
def _passed(carries: int, subject: str, instead: str) -> tuple[Verdict, ...]:
    if instead:
        return (held(instead, subject),)
    return tuple(held(_UNCHANGED[member][0], subject) for member, bit in BITS.items() if carries & bit)


_AVAILABLE, _SENDING = PositionState.AVAILABLE, PositionState.SENDING
_UNAVAILABLE = tuple(
    state for state in PositionState if state not in (PositionState.ABSENT, _AVAILABLE, _SENDING, PositionState.DELETED)
)


def shape_of(position: Position) -> Shape:
    """Return the properties that decide the size of this message."""
    wishes = position.wishes
    length = len(plain_name(position.message))
    if wishes is None:
        return (_body(position, length), length, False, position.transactional, size_of(position.carries))
    body = max(_body(position, length), wishes.size)
    return (body, length, wishes.admin is not None, position.transactional, size_of(position.carries))


def _body(position: Position, length: int) -> int:
    return 0 if position.carries & NO_BODY else length


def bounds(state: State, position: Position) -> tuple[int, int]:
    """Return the least and the most bytes that this message takes."""
    return _bounds(dict(state.keeping.shapes) if state.keeping is not None else {}, shape_of(position))


def _bounds(known: dict[Shape, int], shape: Shape) -> tuple[int, int]:
    weight = known.get(shape)
    return (shape[0], shape[0] + OVERHEAD) if weight is None else (weight, weight)


def used(state: State, queues: Iterable[Queue], *, uncommitted: bool = True) -> tuple[int, int]:
    """Return the least and the most bytes these queues take. uncommitted: sends of open transactions count."""
    low = high = 0
    known = dict(state.keeping.shapes) if state.keeping is not None else {}
    for queue in queues:
        for position in queue.positions:
            held = position.state in _UNAVAILABLE
            sending = position.state is _SENDING
            if not (held or position.state is _AVAILABLE or (sending and uncommitted)):
                continue
            least, most = _bounds(known, shape_of(position))
            high += most
            if not held and not position.doubtful:
                low += least
    return low, high


def fits(
    state: State, queues: Iterable[Queue], position: Position, quota: int | None, *, uncommitted: bool = True
) -> bool | None:
    """Tell whether one more message stays within a quota; None when that cannot be known."""
    if quota is None:
        return True
    low, high = used(state, queues, uncommitted=uncommitted)
    least, most = bounds(state, position)
    if low + least > quota:
        return False
    return True if high + most <= quota else None
