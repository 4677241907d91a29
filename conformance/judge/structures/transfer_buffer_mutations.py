"""A mutation for each aspect that `compare_values` compares: one bit of the member is changed in what was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.judge.structures.transfer_buffer import compare_values, judge_transfer_buffer
from conformance.judge.structures.transfer_buffer_members import ARM_REQUIREMENTS, ASPECTS, Aspect
from conformance.judge.structures.transfer_buffer_rules import PLAIN, PLAIN_ARMS, RULES, plain
from conformance.verdict import Outcome, Verdict
from conformance.wire.transfer_buffer import BY_CASE, TRANSFER_TYPE, Kind
from conformance.wire.transfer_buffer_read import read_transfer_buffer
from conformance.wire.transfer_buffer_value import value_of

_PROFILE = "msmq-4.0"


@dataclass(frozen=True, slots=True)
class Change:
    """A value, bytes that are meant to hold it but do not, and exactly the requirements they break."""

    name: str
    value: dict[str, Any]
    data: bytes
    breaks: frozenset[str]


def changes() -> Iterator[Change]:
    """Yield a mutation for each arm of the union, then for each aspect, the members first."""
    yield from _arms()
    for aspect in ASPECTS:
        if aspect.placed.member.name != TRANSFER_TYPE.name:
            yield _changed(aspect)


def _arms() -> Iterator[Change]:
    """Write another arm than the one asked for, both empty: uTransferType and the arm's own requirement break."""
    from conformance.wire.transfer_buffer_layers import write_transfer_buffer

    for kind, arm in BY_CASE.items():
        other = BY_CASE[(kind + 1) % len(BY_CASE)]
        data = write_transfer_buffer({TRANSFER_TYPE.json: other.case, other.json: {}})
        breaks = frozenset((ARM_REQUIREMENTS[arm.json], *ASPECTS[0].requirements))
        yield Change(arm.json, {TRANSFER_TYPE.json: kind, arm.json: {}}, data, breaks)


def _changed(aspect: Aspect) -> Change:
    from conformance.wire.transfer_buffer_layers import write_transfer_buffer

    value = _value(aspect)
    bit = aspect.mask & -aspect.mask if aspect.mask else 1
    data = bytearray(write_transfer_buffer(value))
    begin, size = read_transfer_buffer(bytes(data)).spans[aspect.placed.key]
    # The name that ends a queue format lies before its NUL; a number or a text begins with its lowest byte.
    at = begin + size - 4 if aspect.placed.member.kind is Kind.P_QUEUE else begin + (bit.bit_length() - 1) // 8
    data[at] ^= bit >> (8 * ((bit.bit_length() - 1) // 8))
    breaks = {
        word
        for other in ASPECTS
        if other.placed == aspect.placed and other.judges(value) and (other.mask is None or other.mask & bit)
        for word in other.requirements
    }
    name = ".".join((*aspect.path, *aspect.requirements))
    return Change(name, value, bytes(data), frozenset(breaks))


def _value(aspect: Aspect) -> dict[str, Any]:
    """Return the plain value with what the aspect compares."""
    arm, json = aspect.placed.arm, aspect.placed.member.json
    kind = arm.case if arm else 0
    if not aspect.when:
        return dict(plain(kind))
    number = (PLAIN_ARMS[kind] if arm else PLAIN)[json]
    number = aspect.when[0] if aspect.mask is None else (number & ~aspect.mask) | aspect.when[0]
    return dict(plain(kind, arm={json: number}) if arm else plain(kind, given={json: number}))


def caught() -> frozenset[str]:
    """Return the requirements whose rule or comparison held, and failed for its mutation."""
    out: set[str] = set()
    for rule in RULES:
        # One of the two reading sets makes every rule that a reading decides fail.
        for readings in ("windows", "strict"):
            before = _failed(judge_transfer_buffer(rule.breaks.sound(), profile=_PROFILE, readings=readings))
            after = _failed(judge_transfer_buffer(rule.breaks.broken(), profile=_PROFILE, readings=readings))
            out |= {rule.requirement} & (after - before)
    for change in changes():
        got = value_of(read_transfer_buffer(change.data))
        if _failed(compare_values(change.value, got, profile=_PROFILE, subject="")) == change.breaks:
            out |= change.breaks
    return frozenset(out)


def _failed(verdicts: list[Verdict]) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
