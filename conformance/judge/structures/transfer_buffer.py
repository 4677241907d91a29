"""Maps the members of CACTransferBufferV1 to the requirements of MS-MQMP 2.2.3.2 on writing and reading them.

A member is compared as a whole and, where the document names values or bits of it, under their requirements too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from conformance.judge.rules import DECIDED, Compare, Const, Field, Fields, Masked, Run, compiled, describe, keys_in
from conformance.judge.structures.transfer_buffer_rules import (
    PLAIN,
    PLAIN_ARMS,
    READABLE,
    RULES,
    SECTION,
    WHOLE,
    BufferRule,
    plain,
)
from conformance.spec.catalogue import Requirement, assignment, reading_id, requirement
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.spec.followed_readings import either
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire.packet import Packet
from conformance.wire.transfer_buffer import (
    ARMS,
    BY_CASE,
    TAG,
    TRANSFER_TYPE,
    Kind,
    Placed,
    all_members,
    key,
    read_transfer_buffer,
    value_of,
)

# The catalogue's words for members that differ from the JSON name with dashes; empty: the declaration's requirement.
_WORDS = {
    "RequestTimeout": "",
    "pPriority": "",
    "pApplicationTag": "",
    "ppMsgExtension": "",
    "ulBodyBufferSizeInBytes": "body-buffer-size",
    "ulAllocBodyBufferInBytes": "alloc-body-buffer",
    "ulTitleBufferSizeInWCHARs": "title-buffer-size",
    "pulTitleBufferSizeInWCHARs": "title-size",
    "ulAbsoluteTimeToQueue": "absolute-time-to-queue",
    "pulRelativeTimeToQueue": "relative-time-to-queue",
    "ulRelativeTimeToLive": "relative-time-to-live",
    "pulRelativeTimeToLive": "relative-time-to-live-left",
    "pulSenderIDType": "sender-id-type",
    "ppSenderID": "pp-sender-id",
    "pulSenderIDLenProp": "sender-id-length-actual",
    "pulPrivLevel": "priv-level",
    "ulAuthLevel": "auth-level",
    "pulHashAlg": "hash-alg",
    "pulEncryptAlg": "encrypt-alg",
    "ulSenderCertLen": "sender-cert-length",
    "pulSenderCertLenProp": "sender-cert-length-actual",
    "ulProvNameLen": "prov-name-length",
    "pulAuthProvNameLenProp": "auth-prov-name-length-actual",
    "pulProvType": "prov-type",
    "ulSymmKeysSize": "symm-keys-size",
    "pulSymmKeysSizeProp": "symm-keys-size-actual",
    "uSenderIDLen": "sender-id-length",
    "ulSignatureSize": "signature-size",
    "pulSignatureSizeProp": "signature-size-actual",
    "ulMsgExtensionBufferInBytes": "msg-extension-buffer-size",
    "pMsgExtensionSize": "msg-extension-size",
    "pulBodyType": "body-type",
    "pulVersion": "version",
}


def member_requirement(placed: Placed) -> str:
    """Return the requirement on a member; the declaration's where no other covers its bytes."""
    name = placed.member.name
    if placed.arm is not None and placed.arm.name == "CreateCursor":
        return SECTION + "create-cursor"
    if name.endswith("FormatNameLen"):
        return f"{SECTION}{name[2:-13].lower()}-format-name-length"
    if name.endswith("FormatNameLenProp"):
        return f"{SECTION}{name[3:-17].lower()}-format-name-length-actual"
    word = _WORDS.get(name, placed.member.json.replace("_", "-"))
    return SECTION + word if word else WHOLE


@dataclass(frozen=True, slots=True)
class Aspect:
    """The part of a member that is compared, and its requirements.

    mask: the bits that count; None for all. when: the aspect is judged only where the given value has one of these
    numbers. path: of the member in a value of the adapter protocol.
    """

    requirements: tuple[str, ...]
    placed: Placed
    mask: int | None = None
    when: tuple[int, ...] = ()
    path: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        arm = self.placed.arm
        path = (arm.json, self.placed.member.json) if arm else (self.placed.member.json,)
        object.__setattr__(self, "path", path)

    def asked(self, value: Mapping[str, Any]) -> Any:
        """Return the member of a value in the form used for comparison; None for null or left out."""
        found: Any = value
        for word in self.path:
            found = found.get(word) if isinstance(found, Mapping) else None
        if found is None and not self.placed.member.pointer:
            found = 0
        found = _plain(found, self.placed.member.kind)
        return found & self.mask if self.mask is not None and isinstance(found, int) else found

    def judges(self, value: Mapping[str, Any]) -> bool:
        """Return True when a value has what this aspect compares."""
        arm = self.placed.arm
        if arm is not None and not isinstance(value.get(arm.json), Mapping):
            return False
        asked = self.asked(value)
        return (not self.when or asked in self.when) and (self.mask is None or asked is not None)


_GUIDS = ("m_g_public_id", "m_g_machine_id", "m_g_connector_id", "m_dl_guid", "lineage", "rgb")


def _plain(found: Any, kind: Kind) -> Any:
    """Lower the case of GUIDs and drop the reserved member."""
    if kind is Kind.PP_GUID and isinstance(found, str):
        return found.lower()
    if isinstance(found, Mapping):
        return {
            name: one.lower() if name in _GUIDS and isinstance(one, str) else _plain(one, kind)
            for name, one in found.items()
            if name != "m_reserved"
        }
    return found


_PLACED = {(placed.arm.name + "." if placed.arm else "") + placed.member.name: placed for placed in all_members()}


def _at(name: str, words: str, *, mask: int | None = None, when: tuple[int, ...] = ()) -> Aspect:
    return Aspect(tuple(SECTION + word for word in words.split()), _PLACED[name], mask, when)


def _named(name: str, words: Mapping[str, str]) -> tuple[Aspect, ...]:
    """Return an aspect for each value that a table names. words: the constant's name to the requirement's word."""
    numbers = ENUMERATIONS[name.rpartition(".")[2]].members
    return tuple(_at(name, word, when=(numbers[constant],)) for constant, word in words.items())


MEMBER_ASPECTS: tuple[Aspect, ...] = tuple(Aspect((member_requirement(placed),), placed) for placed in all_members())
ARM_REQUIREMENTS = {arm.json: f"{SECTION}{arm.json.replace('_', '-')}" for arm in ARMS}

VALUE_ASPECTS: tuple[Aspect, ...] = (
    *_named(
        "Receive.Action",
        {
            "MQ_ACTION_RECEIVE": "mq-action-receive",
            "MQ_ACTION_PEEK_CURRENT": "mq-action-peek-current",
            "MQ_ACTION_PEEK_NEXT": "mq-action-peek-next",
        },
    ),
    _at("pClass", "class-code-bits", mask=0x00FF),
    _at("pClass", "class-reserved", mask=0x1F00),
    _at("pClass", "class-http", mask=0x2000),
    _at("pClass", "class-http-clear", mask=0x2000, when=(0,)),
    _at("pClass", "class-http-set", mask=0x2000, when=(0x2000,)),
    _at("pClass", "class-receive", mask=0x4000),
    _at("pClass", "class-receive-clear", mask=0x4000, when=(0,)),
    _at("pClass", "class-receive-set", mask=0x4000, when=(0x4000,)),
    _at("pClass", "class-severity", mask=0x8000),
    _at("pClass", "class-severity-clear", mask=0x8000, when=(0,)),
    _at("pClass", "class-severity-set", mask=0x8000, when=(0x8000,)),
    _at("pAcknowledge", "acknowledgment-nack-reach-queue", when=(4,)),
    _at("pTrace", "trace-off trace-off-value", when=(0,)),
    _at("pTrace", "trace-on trace-on-value", when=(1,)),
    *_named(
        "pulSenderIDType",
        {
            "MQMSG_SENDERID_TYPE_NONE": "senderid-type-none",
            "MQMSG_SENDERID_TYPE_SID": "senderid-type-sid",
            "MQMSG_SENDERID_TYPE_QM": "senderid-type-qm",
        },
    ),
    *_named(
        "pulPrivLevel",
        {"MQMSG_PRIV_LEVEL_NONE": "priv-level-none", "MQMSG_PRIV_LEVEL_BODY_BASE": "priv-level-body-base"},
    ),
    _at("pulPrivLevel", "priv-level-body-enhanced", when=(2, 3)),
    *_named(
        "pAuthenticated",
        {
            "MQMSG_AUTHENTICATION_NOT_REQUESTED": "authentication-not-requested",
            "MQMSG_AUTHENTICATED_SIG10": "authenticated-sig10",
            "MQMSG_AUTHENTICATED_SIG20": "authenticated-sig20",
            "MQMSG_AUTHENTICATED_SIG30": "authenticated-sig30",
            "MQMSG_AUTHENTICATED_SIGXML": "authenticated-sigxml",
        },
    ),
    *_named(
        "pulHashAlg",
        {name: name.removeprefix("MQMSG_").lower().replace("_", "-") for name in ENUMERATIONS["pulHashAlg"].members},
    ),
    *_named("pulEncryptAlg", {"MQMSG_CALG_RC2": "calg-rc2", "MQMSG_CALG_RC4": "calg-rc4"}),
    _at("fDefaultProvider", "default-provider-clear", when=(0,)),
)
ASPECTS = (*MEMBER_ASPECTS, *VALUE_ASPECTS)

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
    actual = {key: member_json(fields[key]) for key in ready.keys if key in fields}
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
        return [
            Verdict(
                WHOLE, Outcome.FAIL, subject, {"value": "an object"}, {"value": member_json(got)}, evidence=evidence
            )
        ]
    verdicts = []
    arm = BY_CASE.get(asked.get(TRANSFER_TYPE.json, -1))
    if arm is not None:
        there = isinstance(got.get(arm.json), Mapping)
        outcome = Outcome.PASS if there else Outcome.FAIL
        wanted, seen = ({"union": arm.json}, {"union": sorted(set(ARM_REQUIREMENTS) & set(got))})
        verdicts.append(Verdict(ARM_REQUIREMENTS[arm.json], outcome, subject, wanted, seen, evidence=evidence))
    for aspect in ASPECTS:
        if aspect.judges(asked) and _determined(aspect, asked):
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


def _determined(aspect: Aspect, asked: Mapping[str, Any]) -> bool:
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
    expected, actual = {name: member_json(wanted)}, {name: member_json(seen)}
    return [
        Verdict(word, outcome, subject, expected, actual, evidence=evidence)
        for word in aspect.requirements
        if _MEMBERS[word].binds(profile)
    ]


def _same(wanted: Any, seen: Any) -> bool:
    # True == 1 in Python; a driver that answers true for a number has not given the number.
    return bool(wanted == seen) and isinstance(wanted, bool) == isinstance(seen, bool)


def member_json(value: Any) -> Any:
    """Shorten a member for a verdict: long texts and bytes are cut."""
    if isinstance(value, bytes):
        value = value.hex()
    if isinstance(value, str) and len(value) > 2 * MAX_SHOWN:
        return value[: 2 * MAX_SHOWN] + "..."
    return value


@cache
def _accepted(reading_set: str) -> Readings:
    return assignment(reading_set)


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
