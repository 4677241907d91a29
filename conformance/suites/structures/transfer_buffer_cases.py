"""Checks of an implementation's CACTransferBufferV1; a refusal has a control before and a liveness probe after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import NotRepeatable
from conformance.judge.structures.transfer_buffer import (
    ARM_REQUIREMENTS,
    ASPECTS,
    MEMBER_ASPECTS,
    bits_first,
    compare_values,
    judge_read,
    judge_transfer_buffer,
    unreadable,
)
from conformance.judge.structures.transfer_buffer_rules import RULES, SECTION, WHOLE, BufferRule, patched, plain
from conformance.spec.catalogue import requirement_id
from conformance.suites.structures.checks import Step, answer_json, base64_of, bytes_of
from conformance.verdict import Evidence, Outcome, Verdict, in_phase
from conformance.wire.transfer_buffer import (
    ARMS,
    BUFFERS,
    MEMBERS,
    RECEIVE,
    STRUCTURE,
    TAG,
    TRANSFER_TYPE,
    Arm,
    Member,
    key,
    read_transfer_buffer,
    value_of,
)

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

READ = tuple(dict.fromkeys([*ARM_REQUIREMENTS.values(), *(word for one in ASPECTS for word in one.requirements)]))
WRITTEN = tuple(dict.fromkeys([*READ, *(rule.requirement for rule in RULES)]))


def written(value: Mapping[str, Any]) -> bytes:
    """The bytes of a value, by scapy, which the first value loads."""
    from conformance.wire.transfer_buffer_layers import write_transfer_buffer

    return write_transfer_buffer(value)


def blamed(value: Mapping[str, Any]) -> str:
    """Return the requirement that a refusal of a value breaks: on its one member, where it has but one."""
    kind = ARMS[value[TRANSFER_TYPE.json]].json
    given: list[tuple[str, ...]] = [(name,) for name in value if name not in (TRANSFER_TYPE.json, kind)]
    given += [(kind, name) for name in value.get(kind) or ()]
    found = [aspect.requirements[0] for aspect in MEMBER_ASPECTS if [aspect.path] == given]
    return found[0] if found else WHOLE


def encode_case(client: Port, value: Mapping[str, Any], options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have the implementation write a value; compare the bytes member by member, then judge them by the rules."""
    evidence = Evidence("structure", "structure", {"structure": STRUCTURE, "value": dict(value)})
    subject = f"structures.encode {STRUCTURE}"
    result = _call(client, step, f"Encode a {_buffer_text(value)}.", "structures.encode", value=dict(value))
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        yield Verdict(blamed(value), Outcome.FAIL, subject, {"data": "bytes"}, answer_json(result), evidence=evidence)
        return
    structure = read_transfer_buffer(data)
    held = {"structure": STRUCTURE, "value": dict(value), "data": base64_of(data)}
    evidence = Evidence("structure", "structure", held)
    judged = judge_read(
        structure,
        profile=options.profile,
        readings=options.readings,
        level="may",
        subject=subject,
        evidence=evidence,
    )
    if structure.whole:
        got = value_of(structure)
        compared = compare_values(value, got, profile=options.profile, subject=subject, evidence=evidence)
        demand = blamed(value)
        for verdict in bits_first([*compared, *judged], value, got):
            whole = verdict.requirement == WHOLE and verdict.outcome is Outcome.FAIL
            yield replace(verdict, requirement=demand) if whole else verdict
    else:
        yield from unreadable(structure, subject=subject, evidence=evidence)
        if (demand := blamed(value)) != WHOLE:
            actual = {"trouble": structure.trouble[0].says}
            yield Verdict(demand, Outcome.FAIL, subject, {"data": "the structure"}, actual, evidence=evidence)
        yield from judged


def decode_case(
    client: Port,
    value: Mapping[str, Any],
    options: RunOptions,
    step: Step,
    *,
    data: bytes | None = None,
    requirement: str | None = None,
) -> Iterator[Verdict]:
    """Have the implementation read a value of the harness.

    data: its bytes, if they differ from the encoded value on purpose. requirement: the demand that a refusal or a
    difference then breaks, or a refusal only for the encoded value; None: the demands on each member, all judged.
    """
    packed = written(value) if data is None else data
    held = {"structure": STRUCTURE, "value": dict(value), "data": base64_of(packed)}
    evidence = Evidence("structure", "structure", held)
    subject = f"structures.decode {STRUCTURE}"
    text = f"Decode a {_buffer_text(value)}, {len(packed)} bytes."
    result = _call(client, step, text, "structures.decode", data=base64_of(packed))
    if not result.ok:
        expected = {"value": "as encoded"}
        demand = requirement or blamed(value)
        yield Verdict(demand, Outcome.FAIL, subject, expected, answer_json(result), evidence=evidence)
        return
    got = result.values.get("value")
    verdicts = compare_values(value, got, profile=options.profile, subject=subject, evidence=evidence)
    if requirement is None:
        yield from verdicts
        return
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if wrong and data is None:
        yield wrong[0]
    elif wrong:
        yield Verdict(requirement, Outcome.FAIL, subject, wrong[0].expected, wrong[0].actual, evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)


def refuse_case(
    client: Port, data: bytes, requirement: str, options: RunOptions, step: Step, *, what: str = "malformed"
) -> Iterator[Verdict]:
    """Have bytes read that must be refused."""
    yield from in_phase("control", decode_case(client, plain(), options, step, requirement=WHOLE))
    evidence = Evidence("structure", "malformed", {"structure": STRUCTURE, "data": base64_of(data)})
    text = f"Decode {len(data)} bytes that are no {STRUCTURE}: {what}."
    result = _call(client, step, text, "structures.decode", data=base64_of(data))
    outcome = Outcome.FAIL if result.ok else Outcome.PASS
    subject = f"structures.decode {STRUCTURE}"
    yield Verdict(requirement, outcome, subject, {"refused": True}, answer_json(result), evidence=evidence)
    yield from in_phase("liveness", decode_case(client, plain(), options, step, requirement=WHOLE))


def forbidden_case(
    client: Port, value: Mapping[str, Any], requirement: str, options: RunOptions, step: Step
) -> Iterator[Verdict]:
    """Have a value with a forbidden member written: it must be refused, or the bytes must not hold the member."""
    yield from in_phase("control", decode_case(client, plain(), options, step, requirement=WHOLE))
    held = {"structure": STRUCTURE, "value": dict(value)}
    evidence = Evidence("structure", "structure", held)
    subject = f"structures.encode {STRUCTURE}"
    text = f"Encode a {_buffer_text(value)}, with what {requirement} forbids."
    result = _call(client, step, text, "structures.encode", value=dict(value))
    data = bytes_of(result.values.get("data")) if result.ok else None
    if data is None:
        outcome = Outcome.FAIL if result.ok else Outcome.PASS
        yield Verdict(
            requirement, outcome, subject, {"data": "bytes, or a refusal"}, answer_json(result), evidence=evidence
        )
    else:
        evidence = Evidence("structure", "structure", {**held, "data": base64_of(data)})
        found = _failing(data, options, evidence)
        fallback = Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
        yield next((verdict for verdict in found if verdict.requirement == requirement), fallback)
    yield from in_phase("liveness", decode_case(client, plain(), options, step, requirement=WHOLE))


def odd_case(client: Port, data: bytes, requirement: str, options: RunOptions, step: Step) -> Iterator[Verdict]:
    """Have bytes with a forbidden member read: they must be refused or read unchanged."""
    yield from in_phase("control", decode_case(client, plain(), options, step, requirement=WHOLE))
    value = _unreserved(value_of(read_transfer_buffer(data)))
    evidence = Evidence("structure", "structure", {"structure": STRUCTURE, "value": value, "data": base64_of(data)})
    subject = f"structures.decode {STRUCTURE}"
    text = f"Decode a {_buffer_text(value)}, with what {requirement} forbids."
    result = _call(client, step, text, "structures.decode", data=base64_of(data))
    got = _unreserved(result.values.get("value"))
    verdicts = compare_values(value, got, profile=options.profile, subject=subject) if result.ok else []
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    if wrong:
        yield Verdict(requirement, Outcome.FAIL, subject, wrong[0].expected, wrong[0].actual, evidence=evidence)
    else:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)
    yield from in_phase("liveness", decode_case(client, plain(), options, step, requirement=WHOLE))


def _unreserved(value: Any) -> Any:
    """Return the value without the ignored bits of pClass, which a reader may return or leave out."""
    number = value.get("p_class") if isinstance(value, Mapping) else None
    return {**value, "p_class": number & ~0x1F00} if isinstance(number, int) else value


def _failing(data: bytes, options: RunOptions, evidence: Evidence | None = None) -> list[Verdict]:
    subject = f"structures.encode {STRUCTURE}"
    found = judge_transfer_buffer(
        data, profile=options.profile, readings=options.readings, level="may", subject=subject, evidence=evidence
    )
    return [verdict for verdict in found if verdict.outcome is Outcome.FAIL]


def is_forbidden(rule: BufferRule, options: RunOptions) -> bool:
    """Return True if the rule's mutation is broken under the run's readings."""
    return rule.requirement in {verdict.requirement for verdict in _failing(rule.breaks.broken(), options)}


def forbidden() -> tuple[BufferRule, ...]:
    """Return the rules that a value alone can break: those whose mutation changes only the value."""
    return tuple(rule for rule in RULES if rule.breaks.of_value and rule.requirement not in _CONTENTS)


def _call(client: Port, step: Step, text: str, method: str, **params: Any) -> Result:
    result = client.call(method, structure=STRUCTURE, **params)
    step(text, {"method": method, "params": {"structure": STRUCTURE, **params}}, answer_json(result))
    return result


def _buffer_text(value: Mapping[str, Any]) -> str:
    arm = ARMS[value[TRANSFER_TYPE.json]]
    there = sum(one is not None for name, one in value.items() if name.startswith("p"))
    return f"{STRUCTURE} of {arm.name} with {there} pointers that lead somewhere"


# The content of a buffer of bytes, which a writer of the structure copies unchecked.
_CONTENTS = tuple(requirement_id(SECTION + word) for word in ("sender-cert-x509", "sender-cert-length"))


@dataclass(frozen=True)
class Malformed:
    """Bytes to refuse. name: for the test id. requirement: the demand that accepting them breaks. make: the bytes.

    They are made when a test wants them: a list of the tests needs no scapy.
    """

    name: str
    requirement: str
    make: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        """The bytes."""
        return self.make()


@dataclass(frozen=True)
class Ignored:
    """Bytes with an ignored oddity, which read as the plain value. make: the bytes, when a test wants them."""

    name: str
    make: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        """The bytes."""
        return self.make()


@cache
def malformed() -> tuple[Malformed, ...]:
    """Return cut bytes, missing arms, and counts that reach beyond the end or contradict each other."""
    return (*_cut(), *_union(), *_ranges(), *_counts())


@cache
def _plain_bytes(case: int = 0) -> bytes:
    """The bytes of the plain value of a transfer type."""
    return written(plain(case))


def _patched(case: int, changes: Mapping[str, int]) -> bytes:
    return patched(_plain_bytes(case), changes)


def _cut() -> Iterator[Malformed]:
    cuts: dict[str, Callable[[bytes], int]] = {
        "last-byte": lambda data: len(data) - 1,
        "half": lambda data: len(data) // 2,
        "flat": lambda data: 8,
        "all": lambda data: 0,
    }
    for arm in ARMS:
        for word, length in cuts.items():
            yield Malformed(f"{arm.name}-without-{word}", WHOLE, partial(_cut_at, arm.case, length))


def _cut_at(case: int, length: Callable[[bytes], int]) -> bytes:
    data = _plain_bytes(case)
    return data[: length(data)]


def _union() -> Iterator[Malformed]:
    listed = requirement_id(f"{SECTION}transfer-type-values")
    kind, tag = key(TRANSFER_TYPE.name), key(TAG)
    for arm in ARMS:
        changed = partial(partial, _patched, arm.case)
        for number in (3, 0x80000000, 0xFFFFFFFF):
            yield Malformed(f"transfer-type-{number:#x}-as-{arm.name}", listed, changed({kind: number, tag: number}))
        # The two discriminants differ, to catch a reader that uses only one of them.
        yield Malformed(f"transfer-type-3-before-{arm.name}", listed, changed({kind: 3}))
        yield Malformed(f"transfer-type-of-{arm.name}-before-3", listed, changed({tag: 3}))


def _ranges() -> Iterator[Malformed]:
    for word in ("response", "admin", "dest", "ordering"):
        requirement = requirement_id(f"{SECTION}{word}-format-name-length-range")
        yield Malformed(f"{word}-format-name-1025", requirement, partial(_long_name, word))


def _long_name(word: str) -> bytes:
    name = {f"pp_{word}_format_name": "x" * 1024 + "\0", f"ul_{word}_format_name_len": 1025}
    return written(plain(1, arm=name))


def _counts() -> Iterator[Malformed]:
    for arm, members in ((None, MEMBERS), (RECEIVE, RECEIVE.members)):
        for member in (one for one in members if one.kind in BUFFERS):
            for word in ("behind-the-end", "sign-bit", "highest"):
                yield Malformed(f"{member.name}-{word}", WHOLE, partial(_counted, arm, member, word))
    body, used = key("ppBody"), key("ulBodyBufferSizeInBytes")
    overfull = partial(_patched, 0, {f"{body}.ActualCount": 25, used: 25})
    yield Malformed("ppBody-overfull", requirement_id(f"{SECTION}body-buffer-size-maximum"), overfull)


def _counted(arm: Arm | None, member: Member, word: str) -> bytes:
    """The plain value with another count of a member's elements."""
    structure = read_transfer_buffer(_plain_bytes(arm.case if arm else 0))
    name = key(member.name, arm)
    top = (1 << 8 * structure.spans[key(member.size, arm)][1]) - 1 if member.size else 0xFFFFFFFF
    if word == "behind-the-end":
        number = (len(structure.data) - structure.spans[name][0]) // BUFFERS[member.kind] + 1
    else:
        number = (top >> 1) + 1 if word == "sign-bit" else top
    counts = {f"{name}.MaxCount": number}
    counts |= {key(one, arm): number for one in (member.size, member.length) if one}
    if member.varying:
        counts[f"{name}.ActualCount"] = number
    return patched(structure.data, counts)


@cache
def ignored() -> tuple[Ignored, ...]:
    """Return bytes with filled gaps, and with other numbers for pointers."""
    return (
        Ignored("gaps", _with_gaps),
        Ignored("small-referents", partial(_with_referents, 1, 1)),
        Ignored("large-referents", partial(_with_referents, 0xFFFFFFFF, -1)),
    )


def _with_gaps() -> bytes:
    data = _plain_bytes()
    held = {at for begin, size in read_transfer_buffer(data).spans.values() for at in range(begin, begin + size)}
    return bytes(byte if at in held else 0xA5 for at, byte in enumerate(data))


def _with_referents(first: int, step: int) -> bytes:
    data = _plain_bytes()
    spans = read_transfer_buffer(data).spans
    pointers = [name for name in spans if name.endswith((".Referent", ".Inner"))]
    lead = [name for name in pointers if int.from_bytes(data[spans[name][0] : spans[name][0] + 4], "little")]
    return patched(data, {name: first + step * index for index, name in enumerate(lead)})


def each(repro: Mapping[str, Any], client: Port, options: RunOptions) -> Iterator[Verdict]:
    """Yield the verdicts of a repro. Raises NotRepeatable for a repro of another suite or format."""
    case, value, requirement = repro.get("case"), repro.get("value"), repro.get("requirement")
    data = bytes_of(repro.get("data"))
    known = isinstance(value, Mapping) and _writable(value)
    if case == "encode" and known:
        return encode_case(client, dict(value or {}), options, _quiet)
    if case == "decode" and known and data is not None and isinstance(requirement, str | None):
        return decode_case(client, dict(value or {}), options, _quiet, data=data, requirement=requirement)
    if case == "forbidden" and known and isinstance(requirement, str):
        return forbidden_case(client, dict(value or {}), requirement, options, _quiet)
    if case == "odd" and data is not None and read_transfer_buffer(data).whole and isinstance(requirement, str):
        return odd_case(client, data, requirement, options, _quiet)
    if case == "refuse" and data is not None and isinstance(requirement, str):
        return refuse_case(client, data, requirement, options, _quiet)
    raise NotRepeatable("The repro file holds no example of the suite structures.")


def _writable(value: Mapping[str, Any]) -> bool:
    try:
        return bool(written(value))
    except ValueError:
        return False


def _quiet(*_: Any) -> None:
    return None
