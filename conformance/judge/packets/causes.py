"""Finds the one deviation that explains a packet which cannot be decoded, or only oddly.

Every hypothesis is a packet without one deviation. The one that can be decoded whole, with every header filled and
every rule kept, is the cause; what else the packet seems to break is a consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.judge.expr import compiled
from conformance.judge.packets.hypotheses import hypotheses
from conformance.judge.packets.odd import ODD, QUEUES
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect

Failing = Callable[[Packet, str, str], frozenset[str]]
"""Returns the requirements of a level that a packet breaks under a set of readings."""
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
_ENVELOPE, _REMOTE = "SRMPEnvelopeHeader", "MQRR-"
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


@dataclass(slots=True)
class Search:
    """How much the search for causes may still cost in a capture, so that odd packets cannot hold up its judge.

    left: tries. unsearched: odd packets that came when none was left, and are told with the plain verdicts.
    """

    left: int = TRIES
    unsearched: int = 0

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
    before = failing(packet, _ANY, _MUST)
    if packet.has(_ENVELOPE) or any(name.startswith(_REMOTE) for name in before):
        return None
    least = (1 << 16, 0, 0)
    for one in hypotheses(packet):
        if one.last and not least[0]:
            continue
        if search is not None:
            search.left -= 1 + len(one.data) // PART
        right = dissect(one.data, transport="buffer")
        # Four zeros behind the last header are hardly a DebugHeader without a queue.
        if right.trouble or _odd(right.fields) or (one.requirement == _DEBUG and not right.fields[_QUEUE_TYPE]):
            continue
        after, strict = (_without(failing(right, readings, _MUST), one.free) for readings in (_ANY, _STRICT))
        # Where much is broken, some of it may be a deviation of its own.
        if after and not (len(before) > _MUCH and after < before):
            continue
        doubts = _doubtful(right)
        if (so_far := (len(after) + doubts, len(strict), 0)) < least:
            so_far = (*so_far[:2], len(failing(right, _ANY, _SHOULD)))
        if so_far < least:
            found, least = Cause(one.requirement, right), so_far
            if not strict and not doubts and not so_far[2]:
                break
    return found


def _doubtful(packet: Packet) -> bool:
    """Tell whether a private queue or a message of a sequence has a number that none is likely to have.

    Both are counted from 1 on.
    """
    keys = (*(f"UserHeader.{queue}.PrivateQueueIdentifier" for queue in QUEUES), "TransactionHeader.TxSequenceNumber")
    numbers = (packet.fields.get(key, 0) for key in keys)
    return any(isinstance(number, int) and number >= _UNLIKELY for number in numbers)


def _without(names: frozenset[str], free: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith(free)) if free else names


def blamed(verdicts: Sequence[Verdict], right: Iterable[Verdict], cause: str, *, weak: bool) -> list[Verdict]:
    """Return the verdicts on a packet with its cause first; what the right packet does not break is a consequence.

    right: the verdicts on the packet without the deviation. weak: the cause is below the requested level.
    """
    also = {(one.rule, one.outcome) for one in right}
    broken = [one for one in verdicts if one.requirement == cause and one.outcome in _BROKEN]
    if not broken:
        outcome = Outcome.WARN if weak else Outcome.FAIL
        model = next((one for one in verdicts if one.requirement == cause), None)
        if model is not None:
            broken = [replace(model, outcome=outcome, expected=_EXPECTED, actual=_ACTUAL, reason=None)]
        else:
            some = verdicts[0]
            broken = [
                Verdict(
                    cause,
                    outcome,
                    some.subject,
                    _EXPECTED,
                    _ACTUAL,
                    evidence=some.evidence,
                    rule=cause,
                    frame=some.frame,
                )
            ]
    others = (one for one in verdicts if one.requirement != cause)
    return [*broken, *(_consequence(one, cause) if (one.rule, one.outcome) not in also else one for one in others)]


def shortened(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on a packet that nothing explains: of what it lacks, the first is told."""
    broken = {one.requirement for one in verdicts if one.outcome in _BROKEN}
    missing = [name for name in _PRESENT if name in broken]
    return [_consequence(one, missing[0]) if one.requirement in missing[1:] else one for one in verdicts]


def _consequence(verdict: Verdict, cause: str) -> Verdict:
    if verdict.outcome not in _UNSURE:
        return verdict
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, readings=(), reason=f"a consequence of {cause}")
