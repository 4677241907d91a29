"""Finds the one deviation that explains a packet which cannot be decoded, or only oddly.

Every hypothesis is a packet without one deviation. The one that can be decoded whole, with every header filled and
every rule kept, is the cause; what else the packet seems to break is a consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Protocol

from conformance.judge.expr import compiled
from conformance.judge.packets.hypotheses import Hypothesis, hypotheses
from conformance.judge.packets.judged import Judged, Later, Pattern, Told
from conformance.judge.packets.odd import ODD, QUEUES
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect


class Failing(Protocol):
    """Tells what a packet breaks."""

    def __call__(self, packet: Packet, readings: str, level: str) -> frozenset[str]:
        """Return the requirements of a level that a packet breaks under a set of readings."""

    def remote(self, packet: Packet, readings: str, level: str) -> frozenset[str]:
        """Return those of MS-MQRR alone."""


# What announces bytes that are not there, in the order of the packet: of a packet that ends too soon the first is told.
_PRESENT: tuple[str, ...] = tuple(
    requirement_id(f"MQMQ-2.2.{name}")
    for name in (
        "20.required-headers",
        *(f"19.2.destination-{word}" for word in ("private", "public", "direct")),
        *(
            f"19.2.admin-{word}"
            for word in ("private-source", "private-destination", "public", "private-other", "direct")
        ),
        *(f"19.2.response-{word}" for word in ("private-source", "private-destination", "private-admin", "public")),
        *(f"19.2.response-{word}" for word in ("private-other", "direct")),
        "18.1.5.2.count",
        "19.2.connector-type-present",
        "19.2.transaction-header-present",
        "20.5.connector-present",
        "19.2.security-header-present",
        "20.6.security-data-fits",
        "19.2.message-properties-present",
        "19.3.label-length",
        "19.3.extension-size",
        "19.3.message-size",
        "19.1.debug-header-present",
        "20.8.queue-identifier-present",
        "19.2.soap-header-present",
        "20.7.header-terminated",
        "20.7.body-terminated",
        "20.2.header-size",
        "20.3.size",
        "19.2.multi-queue-header-present",
        "19.1.session-header-present",
    )
)
_BROKEN = frozenset({Outcome.FAIL, Outcome.WARN})
_UNSURE = frozenset({*_BROKEN, Outcome.READING})
_EXPECTED = {"holds": "the packet can be decoded, and keeps every other rule"}
_ACTUAL = {"explains": "without this deviation the packet can be decoded"}
_MUCH = 2
_UNLIKELY = 1 << 24
_ENVELOPE = "SRMPEnvelopeHeader"
_ANY, _STRICT = "permissive", "strict"
_MUST, _SHOULD = "must", "should"
_DEBUG, _QUEUE_TYPE = requirement_id("MQMQ-2.2.19.1.debug-header-absent"), "DebugHeader.Flags.QT"
_odd = compiled(ODD)


@dataclass(frozen=True, slots=True)
class Cause:
    """requirement: the one that is broken. packet: as it would be if it were not."""

    requirement: str
    packet: Packet


TRIES = 8_000
"""The hypotheses that may be tried in a capture; each `PART` bytes of a packet count as a further one."""
PART = 4_096
Broken = Callable[[str, str], frozenset[str]]
"""Returns the requirements of a level that a packet breaks: of a set of readings, and a level."""
Sifted = Broken | bool
"""True: a packet surely cannot be decoded whole. False: it has to be decoded. Else it is decoded whole and not odd, and
this tells what it breaks."""
Sieve = Callable[[Sequence[bytes]], Sequence[Sifted]]
"""Tells what is known of at most `AT_ONCE` packets that are complete."""
AT_ONCE = 64
_FIRST = 4  # Hypotheses that are sieved together at first; often one of them explains the packet.


@dataclass(slots=True)
class Search:
    """How much the search for causes may still cost in a capture, so that odd packets cannot hold up its judge.

    left: tries. unsearched: odd packets that came when none was left, and are told with the plain verdicts. sieve: what
    judges hypotheses without decoding them, as far as it can; None to decode each.
    """

    left: int = TRIES
    unsearched: int = 0
    sieve: Sieve | None = field(default=None, repr=False, compare=False)

    def begins(self) -> bool:
        """Tell whether the next odd packet may be searched; count it if not."""
        if self.left <= 0:
            self.unsearched += 1
        return self.left > 0


def cause_of(packet: Packet, fields: Mapping[str, Any], failing: Failing, search: Search | None = None) -> Cause | None:
    """Return what explains a packet; None for one that is not odd, and where nothing explains it.

    Headers of MS-MQRR 2.2.5 have rules on their order and presence themselves: a packet with one is left to these.

    fields: with the facts on the packet, which has to be complete. search: None for one without a bound.
    """
    if not (packet.trouble or _odd(fields)) or "UserHeader.Flags" not in packet.fields:
        return None
    if "ExtensionHeader.Flags" in packet.fields:
        return None
    if search is not None and not search.begins():
        return None
    found: Cause | None = None
    if packet.has(_ENVELOPE) or failing.remote(packet, _ANY, _MUST):
        return None
    before: frozenset[str] | None = None
    least = (1 << 16, 0, 0)
    for one, sifted in _sieved(hypotheses(packet), None if search is None else search.sieve):
        if one.last and not least[0]:
            continue
        if search is not None:
            search.left -= 1 + len(one.data) // PART
        if sifted is True:
            continue
        broken: Broken | None = None if sifted is False else sifted
        if broken is not None:
            after, strict = _after(broken, one)
            if (len(after), len(strict), 0) >= least:
                continue
            if after:
                before = failing(packet, _ANY, _MUST) if before is None else before
                if not _of_many(after, before):
                    continue
        right = dissect(one.data, transport="buffer")
        # Four zeros behind the last header are hardly a DebugHeader without a queue.
        if right.trouble or _odd(right.fields) or (one.requirement == _DEBUG and not right.fields[_QUEUE_TYPE]):
            continue
        broken = broken or partial(failing, right)
        after, strict = _after(broken, one)
        if after:
            before = failing(packet, _ANY, _MUST) if before is None else before
            if not _of_many(after, before):
                continue
        doubts = _doubtful(right)
        if (so_far := (len(after) + doubts, len(strict), 0)) < least:
            so_far = (*so_far[:2], len(broken(_ANY, _SHOULD)))
        if so_far < least:
            found, least = Cause(one.requirement, right), so_far
            if not strict and not doubts and not so_far[2]:
                break
    return found


def _of_many(after: frozenset[str], before: frozenset[str]) -> bool:
    """Tell whether much was broken before, and less after: some of it may be a deviation of its own."""
    return len(before) > _MUCH and after < before


def _after(broken: Broken, one: Hypothesis) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a packet that must be right breaks under any reading, and under the strict ones."""
    after, strict = (_without(broken(readings, _MUST), one.free) for readings in (_ANY, _STRICT))
    return after, strict


def _sieved(found: Iterator[Hypothesis], sieve: Sieve | None) -> Iterator[tuple[Hypothesis, Sifted]]:
    """Yield hypotheses in their order, each with what is known of it; more and more of them are looked at at once."""
    if sieve is None:
        yield from ((one, False) for one in found)
        return
    count = _FIRST
    while some := list(islice(found, count)):
        yield from zip(some, sieve([one.data for one in some]), strict=True)
        count = min(2 * count, AT_ONCE)


def _doubtful(packet: Packet) -> bool:
    """Tell whether a private queue or a message of a sequence has a number that none is likely to have.

    Both are counted from 1 on.
    """
    keys = (*(f"UserHeader.{queue}.PrivateQueueIdentifier" for queue in QUEUES), "TransactionHeader.TxSequenceNumber")
    numbers = (packet.fields.get(key, 0) for key in keys)
    return any(isinstance(number, int) and number >= _UNLIKELY for number in numbers)


def _without(names: frozenset[str], free: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith(free)) if free else names


def blamed(verdicts: Judged, right: Pattern, cause: str, *, weak: bool) -> Judged:
    """Return the verdicts on a packet with its cause first; what the right packet does not break is a consequence.

    right: what the rules say of the packet without the deviation. weak: the cause is below the requested level.
    """
    return _changed(verdicts, _blame(verdicts.pattern, right, cause, weak), cause)


def shortened(verdicts: Judged) -> Judged:
    """Return the verdicts on a packet that nothing explains: of what it lacks, the first is told."""
    change, first = _shortening(verdicts.pattern)
    return _changed(verdicts, change, first)


class _How(Enum):
    """How a verdict comes from one of the verdicts before."""

    SAME = 1
    CONSEQUENCE = 2
    CAUSE = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A pattern made of another one. sources: for the place of each outcome other than pass, the place it had (None for
    one that was not told), and how it comes from that."""

    pattern: Pattern
    sources: Mapping[int, tuple[int | None, _How]]


def _changed(before: Judged, change: _Change, cause: str) -> Judged:
    def verdict(at: int) -> Verdict:
        (source, how), told = change.sources[at], change.pattern.told[at]
        if source is None:
            return Verdict(
                told.requirement, told.outcome, before.subject, _EXPECTED, _ACTUAL, evidence=before.evidence,
                rule=told.rule, frame=before.frame,
            )  # fmt: skip
        if how is _How.CAUSE:
            return replace(before.at(source), outcome=told.outcome, expected=_EXPECTED, actual=_ACTUAL, reason=None)
        one = before.others[source]
        if how is _How.SAME:
            return one
        return replace(one, outcome=Outcome.INCONCLUSIVE, readings=(), reason=f"a consequence of {cause}")

    return replace(before, pattern=change.pattern, others=Later(change.pattern.others, verdict))


@lru_cache(maxsize=1 << 12)
def _blame(before: Pattern, right: Pattern, cause: str, weak: bool) -> _Change:
    also = {(one.rule, one.outcome) for one in right.told}
    told = list(enumerate(before.told))
    made: list[tuple[Told, int | None, _How]] = [
        (one, at, _How.SAME) for at, one in told if one.requirement == cause and one.outcome in _BROKEN
    ]
    if not made:
        outcome = Outcome.WARN if weak else Outcome.FAIL
        model = next((place for place in told if place[1].requirement == cause), None)
        if model is not None:
            made = [(replace(model[1], outcome=outcome), model[0], _How.CAUSE)]
        else:
            made = [(Told(cause, cause, outcome, ()), None, _How.CAUSE)]
    made += [
        _consequence(one, at) if (one.rule, one.outcome) not in also else (one, at, _How.SAME)
        for at, one in told
        if one.requirement != cause
    ]
    return _change(made)


@lru_cache(maxsize=1 << 12)
def _shortening(before: Pattern) -> tuple[_Change, str]:
    broken = {one.requirement for one in before.told if one.outcome in _BROKEN}
    missing = [name for name in _PRESENT if name in broken]
    made = [
        _consequence(one, at) if one.requirement in missing[1:] else (one, at, _How.SAME)
        for at, one in enumerate(before.told)
    ]
    return _change(made), missing[0] if missing else ""


def _consequence(told: Told, at: int) -> tuple[Told, int | None, _How]:
    if told.outcome not in _UNSURE:
        return told, at, _How.SAME
    return replace(told, outcome=Outcome.INCONCLUSIVE, readings=()), at, _How.CONSEQUENCE


def _change(made: Sequence[tuple[Told, int | None, _How]]) -> _Change:
    pattern = Pattern.of([told for told, _, _ in made])
    return _Change(pattern, {at: made[at][1:] for at in pattern.others})
