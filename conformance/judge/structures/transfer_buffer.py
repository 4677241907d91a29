"""Judges a CACTransferBufferV1 (MS-MQMP 2.2.3.2): by the rules inside it, and against the value it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.judge.expr import DECIDED, Compare, Const, Field, Fields, Masked, Run, compiled, describe, keys_in
from conformance.judge.structures.transfer_buffer_members import ARM_REQUIREMENTS, ASPECTS, Aspect, member_requirement
from conformance.judge.structures.transfer_buffer_rules import READABLE, RULES, WHOLE, BufferRule
from conformance.spec.assignment import either
from conformance.spec.catalogue import Requirement, assignment, reading_id, requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire.packet import Packet
from conformance.wire.transfer_buffer import BY_CASE, TAG, TRANSFER_TYPE, all_members, key
from conformance.wire.transfer_buffer_read import read_transfer_buffer

MAX_SHOWN = 64  # bytes or characters of a member that a verdict quotes
Readings = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Ready:
    """A rule compiled to callables. Its ids were checked against the catalogue."""

    rule: BufferRule
    requirement: Requirement
    applies: Run
    holds: Mapping[str, Run]
    keys: tuple[str, ...]


def _ready(rule: BufferRule) -> _Ready:
    if rule.reading is not None:
        reading_id(rule.reading)
    trees = rule.alternatives()
    keys = dict.fromkeys(key for tree in trees.values() for key in keys_in(tree))
    runs = {name: compiled(tree) for name, tree in trees.items()}
    return _Ready(rule, requirement(rule.requirement), compiled(rule.applies), runs, tuple(keys))


_READY = tuple(_ready(rule) for rule in RULES)
_MEMBERS = {word: requirement(word) for aspect in ASPECTS for word in aspect.requirements}


def judge_transfer_buffer(
    data: bytes,
    *,
    profile: str,
    readings: Readings | str = "windows",
    level: str = "must",
    subject: str = "CACTransferBufferV1",
    evidence: Evidence | None = None,
) -> list[Verdict]:
    """Judge one structure: a verdict per rule that applies to it.

    data: the structure in NDR 2.0, little-endian, behind a reference pointer, and nothing else. readings, level: as
    `judge_packet` takes them. Never raises for the bytes.
    """
    return judge_read(
        read_transfer_buffer(data), profile=profile, readings=readings, level=level, subject=subject, evidence=evidence
    )


def judge_read(
    structure: Packet,
    *,
    profile: str,
    readings: Readings | str = "windows",
    level: str = "must",
    subject: str = "CACTransferBufferV1",
    evidence: Evidence | None = None,
) -> list[Verdict]:
    """Judge a structure that was read already, as `judge_transfer_buffer` does."""
    accepted = _accepted(readings) if isinstance(readings, str) else readings
    fields: dict[str, Any] = {**structure.fields, READABLE: structure.whole, DECIDED: structure.whole}
    rank, verdicts = LEVELS.index(level), []
    for ready in _READY:
        if ready.requirement.binds(profile) and ready.applies(fields):
            weak = LEVELS.index(ready.requirement.level) > rank
            verdicts.append(_verdict(ready, fields, accepted, weak, subject, evidence, structure))
    return verdicts


def _verdict(
    ready: _Ready,
    fields: Fields,
    accepted: Readings,
    weak: bool,
    subject: str,
    evidence: Evidence | None,
    structure: Packet,
) -> Verdict:
    rule = ready.rule
    results = {name: run(fields) for name, run in ready.holds.items()}
    if None in results.values():
        says = structure.trouble[0].says if structure.trouble else "a member it needs is not there"
        return Verdict(rule.requirement, Outcome.INCONCLUSIVE, subject, reason=says, evidence=evidence)
    outcome, followed = Outcome.PASS, ()
    if rule.reading is None:
        broken = not results[""]
    else:
        names = [name for name in accepted[rule.reading] if results[name]]
        broken = not names
        if names and not all(results.values()):
            followed = ((rule.reading, either(names)),)  # type: ignore[assignment]
            outcome = Outcome.PASS if names[0] == accepted[rule.reading][0] else Outcome.READING
    if broken:
        outcome = Outcome.WARN if weak else Outcome.FAIL
    if outcome is Outcome.PASS:
        return Verdict(rule.requirement, outcome, subject, readings=followed, evidence=evidence, rule=rule.id)
    expected = {name or "holds": describe(tree) for name, tree in rule.alternatives().items()}
    actual = {key: shown(fields[key]) for key in ready.keys if key in fields}
    if rule.requirement == WHOLE and structure.trouble:
        actual["trouble"] = structure.trouble[0].says
    return Verdict(rule.requirement, outcome, subject, expected, actual, followed, evidence=evidence, rule=rule.id)


def unreadable(structure: Packet, *, subject: str, evidence: Evidence | None = None) -> Iterator[Verdict]:
    """Yield a verdict on the member whose own bytes contradict each other and make the structure unreadable."""
    trouble, fields = structure.trouble[0], structure.fields
    if fields.get(key(TAG)) != fields.get(key(TRANSFER_TYPE.name)):  # the wrong arm was read: no member is at its place
        return
    for placed in all_members():
        name = key(placed.member.name, placed.arm)
        if trouble.code != "truncated" and (trouble.field == name or trouble.field.startswith(f"{name}.")):
            actual = {"trouble": trouble.says}
            yield Verdict(member_requirement(placed), Outcome.FAIL, subject, None, actual, evidence=evidence)


def compare_values(
    asked: Mapping[str, Any], got: Any, *, profile: str, subject: str, evidence: Evidence | None = None
) -> list[Verdict]:
    """Compare a value of the adapter protocol with what it became, member by member.

    asked: what was to be written, or what the bytes hold. got: what was written, or what the implementation read. A
    member left out is null or 0; one that holds the size of a buffer is compared only where `asked` gives it.
    """
    if not isinstance(got, Mapping):
        return [Verdict(WHOLE, Outcome.FAIL, subject, {"value": "an object"}, {"value": shown(got)}, evidence=evidence)]
    verdicts = []
    arm = BY_CASE.get(asked.get(TRANSFER_TYPE.json, -1))
    if arm is not None:
        there = isinstance(got.get(arm.json), Mapping)
        outcome = Outcome.PASS if there else Outcome.FAIL
        wanted, seen = ({"union": arm.json}, {"union": sorted(set(ARM_REQUIREMENTS) & set(got))})
        verdicts.append(Verdict(ARM_REQUIREMENTS[arm.json], outcome, subject, wanted, seen, evidence=evidence))
    for aspect in ASPECTS:
        if aspect.judges(asked) and _given(aspect, asked):
            verdicts += _compared(aspect, asked, got, profile, subject, evidence)
    return verdicts


def bits_first(verdicts: Sequence[Verdict], asked: Mapping[str, Any], got: Mapping[str, Any]) -> list[Verdict]:
    """Sort the verdicts on a written value: where only bits that must be 0 are wrong, the rule on these comes first."""
    for rule in RULES:
        match rule.holds:
            case Compare("eq", Masked(Field(name), mask), Const(0)):
                member = next(placed.member.json for placed in all_members() if key(placed.member.name) == name)
                wanted, seen = asked.get(member), got.get(member)
                if not isinstance(wanted, int) or not isinstance(seen, int):
                    continue
                if wanted != seen and not (wanted ^ seen) & ~mask:
                    return sorted(verdicts, key=lambda one: one.requirement != rule.requirement)
    return list(verdicts)


def _given(aspect: Aspect, asked: Mapping[str, Any]) -> bool:
    """Return True when `asked` determines the member: a number left out may be computed, a pointer left out is null."""
    inside: Any = asked.get(aspect.path[0]) if len(aspect.path) > 1 else asked
    return aspect.placed.member.pointer or aspect.path[-1] in inside


def _compared(
    aspect: Aspect,
    asked: Mapping[str, Any],
    got: Mapping[str, Any],
    profile: str,
    subject: str,
    evidence: Evidence | None,
) -> list[Verdict]:
    wanted, seen = aspect.asked(asked), aspect.asked(got)
    outcome = Outcome.PASS if _same(wanted, seen) else Outcome.FAIL
    name = ".".join(aspect.path)
    expected, actual = {name: shown(wanted)}, {name: shown(seen)}
    return [
        Verdict(word, outcome, subject, expected, actual, evidence=evidence)
        for word in aspect.requirements
        if _MEMBERS[word].binds(profile)
    ]


def _same(wanted: Any, seen: Any) -> bool:
    # True == 1 in Python; a driver that answers true for a number has not given the number.
    return bool(wanted == seen) and isinstance(wanted, bool) == isinstance(seen, bool)


def shown(value: Any) -> Any:
    """Shorten a member for a verdict: long texts and bytes are cut."""
    if isinstance(value, bytes):
        value = value.hex()
    if isinstance(value, str) and len(value) > 2 * MAX_SHOWN:
        return value[: 2 * MAX_SHOWN] + "..."
    return value


@cache
def _accepted(reading_set: str) -> Readings:
    return assignment(reading_set)
