"""`judge_structure`: the bytes of one structure in, verdicts out; and what an implementation wrote or read, compared.

A structure that an implementation wrote is compared with ours number by number in the order of the bytes. The first
that differs is blamed: on its place, where others around it are wrong as well, otherwise on its value.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conformance.grammar import queue_format
from conformance.grammar.names import parse_name
from conformance.grammar.values import QueueName
from conformance.judge import structure_ids as ids
from conformance.judge.expr import DECIDED, compiled, describe, keys_in
from conformance.judge.packets import shown
from conformance.judge.structure_rules import RULES
from conformance.spec.assignment import either
from conformance.spec.catalogue import assignment, reading_id
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire.structures import Decoded, Part, complete, decode, encode

Readings = Mapping[str, tuple[str, ...]]
LIST_ALIGNMENT = reading_id("R-MQMQ-key-list-alignment")
LISTS = ("MQDSPUBLICKEYS", "MQUSERSIGNCERTS")
_READY = tuple((rule, compiled(rule.applies), compiled(rule.holds), tuple(keys_in(rule.holds))) for rule in RULES)
_LENGTHS = ("referent", "max_count", "offset", "actual_count", "tag")
_FREE = {("PROPVARIANT", "w_reserved1"), ("PROPVARIANT", "w_reserved2"), ("PROPVARIANT", "w_reserved3")}
_RESERVED = ("QUEUE_FORMAT", "m_reserved")
_NUMBER = re.compile("-?[0-9]{1,20}")
_WRAP = 1 << 64
_TEXT_MEMBERS = {3: "m_pDirectID", 8: "m_pDirectSubqueueID"}
_TABLE_ALONE = tuple(
    each for each in queue_format.CONSTRAINTS if each.requirement not in (queue_format.UNION, queue_format.RESERVED)
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number, GUID, text or run of bytes of a structure.

    structure, member: whose it is; member is `tag` for a union's. role: `referent`, `max_count`, `offset`,
    `actual_count`, or empty for the content. fixed: its bytes do not hang on the value.
    """

    path: str
    structure: str
    part: str
    member: str
    role: str
    at: int


def judge_structure(
    name: str,
    data: bytes,
    *,
    readings: Readings | str = "windows",
    subject: str | None = None,
    evidence: Evidence | None = None,
) -> list[Verdict]:
    """Verdicts on the bytes of one structure, for each rule that applies to it or to one inside it.

    Raises KeyError for an unknown name, never for the bytes.
    """
    accepted = assignment(readings) if isinstance(readings, str) else readings
    found, _ = _decoded(name, data, accepted)
    return list(_by_rules(found, accepted, subject or name, evidence))


def compare_encoded(
    name: str, value: Any, data: bytes, *, readings: Readings, evidence: Evidence | None = None
) -> Iterator[Verdict]:
    """What an implementation wrote of `value`: verdicts up to the first that fails, the rules behind them."""
    subject = f"structures.encode {name}"
    actual, aligned = _decoded(name, data, readings)
    expected = decode(name, encode(name, value, aligned=aligned), aligned=aligned)
    leaves = _leaves(expected)
    wrong = [leaf for leaf in leaves if not _same(leaf, expected, actual)]
    passed: dict[str, None] = {}
    for leaf in leaves:
        if wrong and leaf == wrong[0]:
            break
        passed.update(dict.fromkeys(_answers(leaf, expected, everything=True)))
    left = not wrong and not actual.whole
    if not wrong and not left:
        passed.update(dict.fromkeys(_whole(expected)))
    blamed = _blame(wrong, leaves, expected, actual) if wrong else _last(name, leaves) if left else None
    followed = ((LIST_ALIGNMENT, "aligned"),) if aligned else ()
    for requirement in passed:
        if requirement != blamed:
            outcome = Outcome.READING if aligned and readings[LIST_ALIGNMENT][0] != "aligned" else Outcome.PASS
            yield Verdict(requirement, outcome, subject, readings=followed, evidence=evidence)
    if blamed is not None:
        where = wrong[0].path if wrong else "behind it"
        yield Verdict(
            blamed,
            Outcome.FAIL,
            subject,
            {where or name: _bytes_at(expected, where) if wrong else ""},
            {where or name: _bytes_at(actual, where) if wrong else shown(data[len(data) - actual.extra :])},
            evidence=evidence,
        )
        return
    yield from _by_rules(actual, readings, subject, evidence)


def compare_decoded(
    name: str, value: Any, answer: Any, *, readings: Readings, evidence: Evidence | None = None
) -> Iterator[Verdict]:
    """What an implementation read of the bytes of `value`: verdicts up to the first that fails.

    Members that encoding computes can be left out of the answer.
    """
    subject = f"structures.decode {name}"
    expected = decode(name, encode(name, value))
    wanted, got = _flat(complete(name, value)), _flat(answer)
    given = set(_flat(value))
    for leaf in _leaves(expected):
        if leaf.role or leaf.member == "tag" or (leaf.structure, leaf.member) in _FREE:
            continue
        path = _told(leaf)
        if path not in wanted or (path not in got and path not in given):
            continue
        names = _answers(leaf, expected, everything=False) or _answers(leaf, expected, everything=True)
        if path not in got or not _equal(wanted[path], got[path], leaf, _raw(expected, leaf.path) or b""):
            verdict = Outcome.FAIL
            yield Verdict(
                names[0],
                verdict,
                subject,
                {path or name: wanted[path]},
                {path or name: got.get(path)},
                evidence=evidence,
            )
            return
        for each in names:
            yield Verdict(each, Outcome.PASS, subject, evidence=evidence)
        if leaf.structure == "VARIANT_BOOL" or (leaf.structure == "PROPVARIANT" and wanted[path] in (True, False)):
            for each in ids.TRUTH_MEANING[bool(wanted[path])] if isinstance(wanted[path], bool) else ():
                yield Verdict(each, Outcome.PASS, subject, evidence=evidence)
    extra = sorted(path for path in set(got) - set(wanted) if got[path] not in (None, []))
    if extra:
        blamed = _last(name, _leaves(expected))
        yield Verdict(blamed, Outcome.FAIL, subject, {}, {extra[0]: got[extra[0]]}, evidence=evidence)


def member_requirement(name: str, path: str, value: Any) -> str:
    """The requirement that the content at a path of this value answers first."""
    expected = decode(name, encode(name, value))
    leaf = next(each for each in _leaves(expected) if each.path == path)
    return _answers(leaf, expected, everything=False)[0]


def whole_requirement(name: str, value: Any) -> str:
    """The requirement that the form of a structure as a whole answers."""
    return _last(name, _leaves(decode(name, encode(name, value))))


def _decoded(name: str, data: bytes, readings: Readings) -> tuple[Decoded, bool]:
    """The structure read, and whether its list is aligned: packed unless only the other way it comes out even."""
    packed = decode(name, data)
    if packed.whole or name not in LISTS or "aligned" not in readings[LIST_ALIGNMENT]:
        return packed, False
    aligned = decode(name, data, aligned=True)
    return (aligned, True) if aligned.whole else (packed, False)


def _leaves(decoded: Decoded) -> list[Leaf]:
    parts = {part.path: part for part in decoded.parts}
    found = []
    for path, (at, _) in decoded.spans.items():
        if path.endswith(".gap") or path in parts or _holds_others(path, decoded):
            continue
        owner = _owner(path, parts)
        inside = path[len(owner.path) :].lstrip(".")
        role = inside.rpartition(".")[2]
        role = role if role in _LENGTHS[:-1] else ""
        member = inside.removesuffix(f".{role}") if role else inside
        found.append(Leaf(path, owner.structure, owner.path, member.partition("[")[0], role, at))
    return sorted(found, key=lambda leaf: leaf.at)


def _holds_others(path: str, decoded: Decoded) -> bool:
    return any(f"{path}[0]{behind}" in decoded.spans for behind in ("", ".referent")) or any(
        part.path.startswith(f"{path}[") for part in decoded.parts
    )


def _owner(path: str, parts: Mapping[str, Part]) -> Part:
    while path not in parts:
        cut = max(path.rfind("."), path.rfind("["))
        path = path[:cut] if cut > 0 else ""
    return parts[path]


def _same(leaf: Leaf, expected: Decoded, actual: Decoded) -> bool:
    if (leaf.structure, leaf.member) in _FREE or (leaf.structure, leaf.member) == _RESERVED:
        return leaf.path in actual.spans
    ours, theirs = _raw(expected, leaf.path), _raw(actual, leaf.path)
    if leaf.role == "referent" and theirs is not None:
        # Of no elements the pointer can be null or not: then its conformance is 0.
        none = _raw(actual, leaf.path.replace(".referent", ".max_count"))
        return any(ours or b"") == any(theirs) or (not any(ours or b"") and none == bytes(4))
    return ours == theirs


def _raw(decoded: Decoded, path: str) -> bytes | None:
    span = decoded.spans.get(path)
    return decoded.data[span[0] : span[0] + span[1]] if span is not None else None


def _bytes_at(decoded: Decoded, path: str) -> Any:
    raw = _raw(decoded, path)
    return shown(raw) if raw is not None else None


def _blame(wrong: Sequence[Leaf], leaves: Sequence[Leaf], expected: Decoded, actual: Decoded) -> str:
    first = wrong[0]
    key = (first.structure, first.member)
    places = ids.PLACES.get(key) or ids.DECLARATIONS.get(first.structure, ())
    near = [
        leaf
        for leaf in wrong[1:]
        if leaf.part == first.part and not leaf.role and leaf.at < _variable(first, leaves, expected)
    ]
    if key == ("PROPVARIANT", "vt"):
        near = [leaf for leaf in near if leaf.member not in ("tag", "value")]
    if key == ("QUEUE_FORMAT", "m_qft"):
        near = [leaf for leaf in near if leaf.member == "m_suffix_and_flags"]
    if places and (near or _elsewhere(first, leaves, expected, actual)):
        return places[0]
    if key == ("QUEUE_FORMAT", "m_suffix_and_flags"):
        return _half(expected, actual, first.path)
    if first.role and (first.structure, first.member) == ("DL_ID", "m_pwz_domain"):
        return "MQMQ-2.2.9.m-pwz-domain-text"
    return (*_answers(first, expected, everything=False), *places)[0]


def _elsewhere(first: Leaf, leaves: Sequence[Leaf], expected: Decoded, actual: Decoded) -> bool:
    """Whether the right bytes are there, but where a neighbour has to be, or with all behind them moved."""
    ours = _raw(expected, first.path)
    near = [leaf.path for leaf in leaves if leaf.part == first.part and leaf.path != first.path]
    if any(_raw(actual, path) == ours != _raw(expected, path) for path in near):
        return True
    moved = len(actual.data) != len(expected.data)
    return moved and actual.data.endswith(expected.data[first.at :])


def _variable(first: Leaf, leaves: Sequence[Leaf], expected: Decoded) -> int:
    """Where the members of fixed size of this part end."""
    part = next(part for part in expected.parts if part.path == first.part)
    sized = {"s_provider_name", "a_buf", "address", "certificate", "value"}
    ends = [leaf.at for leaf in leaves if leaf.part == first.part and (leaf.member in sized or leaf.role == "referent")]
    return min(ends, default=len(expected.data)) if part else 0


def _half(expected: Decoded, actual: Decoded, path: str) -> str:
    ours, theirs = _raw(expected, path), _raw(actual, path)
    if not ours or not theirs:
        return "MQMQ-2.2.7.m-suffix-and-flags"
    low, high = (ours[0] ^ theirs[0]) & 0x0F, (ours[0] ^ theirs[0]) & 0xF0
    if low and not high:
        return ids.SUFFIX[ours[0] & 0x0F][0]
    if high and not low:
        return ids.FLAGS[ours[0] & 0xF0][0]
    return "MQMQ-2.2.7.m-suffix-and-flags"


def _answers(leaf: Leaf, decoded: Decoded, *, everything: bool) -> tuple[str, ...]:
    """The requirements the content of a leaf answers, the most telling first; or all it can show to be kept."""
    key = (leaf.structure, leaf.member)
    fields = next(part.fields for part in decoded.parts if part.path == leaf.part)
    values: tuple[str, ...] = ids.VALUES.get(key, ())
    out: tuple[str, ...]
    match key:
        case ("QUEUE_FORMAT", "m_qft"):
            out = ids.QFT[fields["QUEUE_FORMAT.m_qft"]][:1]
        case ("QUEUE_FORMAT", "m_suffix_and_flags"):
            both = fields["QUEUE_FORMAT.m_SuffixAndFlags"]
            out = (*values, *ids.SUFFIX.get(both & 0x0F, ()), *ids.FLAGS.get(both & 0xF0, ()))
        case ("QUEUE_FORMAT", member) if member.startswith("m_") and member != "m_reserved":
            out = ids.QFT[fields["QUEUE_FORMAT.m_qft"]][1:]
        case ("PROPVARIANT", "vt"):
            out = (*ids.VT_TYPE[fields["PROPVARIANT.vt"]], *values)
        case ("PROPVARIANT", "value"):
            vt = fields["PROPVARIANT.vt"]
            bools = ids.TRUTH[bool(fields.get("PROPVARIANT.boolVal"))] if vt == 11 else ()
            out = (*ids.VT_VALUE[vt], *bools, *values)
        case ("VARIANT_BOOL", "value"):
            out = ids.TRUTH[bool(fields["VARIANT_BOOL.Value"])]
        case ("TA_ADDRESS", "address_length"):
            out = (*values, *ids.ADDRESS_LENGTH.get(fields["TA_ADDRESS.AddressType"], ()))
        case ("TA_ADDRESS", "address"):
            out = (*ids.ADDRESS.get(fields["TA_ADDRESS.AddressType"], ()), *values)
        case _:
            out = values
    if everything:
        out = (*out, *ids.PLACES.get(key, ()))
    return out or ids.DECLARATIONS.get(leaf.structure, ())


def _whole(decoded: Decoded) -> tuple[str, ...]:
    """What is shown to be kept when a structure is right in every leaf, by its kind as a whole."""
    out: list[str] = []
    for part in decoded.parts:
        out += ids.DECLARATIONS.get(part.structure, ())
        out += ids.ENUMERATIONS.get(part.structure, ())
        if part.structure == "QUEUE_FORMAT":
            out += ids.QFT[part.fields["QUEUE_FORMAT.m_qft"]]
        if part.structure == "PROPVARIANT":
            out += ids.VT_VALUE[part.fields["PROPVARIANT.vt"]]
        if part.structure in LISTS:
            out += ids.VALUES[part.structure, "a_public_keys" if part.structure == LISTS[0] else "certificates"]
    return tuple(out)


def _last(name: str, leaves: Sequence[Leaf]) -> str:
    """What bytes left behind a structure break, or members that are not its."""
    known = ids.DECLARATIONS.get(name)
    if known:
        return known[0]
    ends = {LISTS[0]: "a_public_keys", LISTS[1]: "certificates"}
    return ids.VALUES[name, ends.get(name, leaves[-1].member)][0]


def _by_rules(decoded: Decoded, accepted: Readings, subject: str, evidence: Evidence | None) -> Iterator[Verdict]:
    for part in decoded.parts:
        fields = {**part.fields, DECIDED: not decoded.trouble}
        for rule, applies, holds, keys in _READY:
            if rule.structure != part.structure or not applies(fields):
                continue
            result = holds(fields)
            if result:
                yield Verdict(rule.requirement, Outcome.PASS, subject, evidence=evidence)
                continue
            actual = {key: shown(fields[key]) for key in keys if key in fields}
            says = decoded.trouble[0].says if decoded.trouble else "a member it needs was not read"
            outcome = Outcome.INCONCLUSIVE if result is None else Outcome.FAIL
            reason = says if result is None else None
            expected = {"holds": describe(rule.holds)}
            yield Verdict(rule.requirement, outcome, subject, expected, actual, (), reason, evidence)
        if part.structure == "QUEUE_FORMAT":
            yield from _queue_format(part, accepted, subject, evidence)


def _queue_format(part: Part, accepted: Readings, subject: str, evidence: Evidence | None) -> Iterator[Verdict]:
    """The table of 2.2.7, which the room of names has; the union is left to the rule on its tag."""
    fields = part.fields
    if "QUEUE_FORMAT.m_reserved" not in fields:
        return
    qft, both = fields["QUEUE_FORMAT.m_qft"], fields["QUEUE_FORMAT.m_SuffixAndFlags"]
    value = queue_format.QueueFormat(qft, both, None, fields["QUEUE_FORMAT.m_reserved"])
    row = queue_format.TABLE.get(value.suffix)
    told = {queue_format.TYPE_LISTED, queue_format.SUFFIX_AND_FLAGS, queue_format.RESERVED}
    told |= {row.flags_requirement, row.type_requirement} if row is not None else set()
    broken = queue_format.broken(value, accepted)
    actual = {"m_qft": qft, "m_SuffixAndFlags": both, "m_reserved": value.m_reserved}
    for constraint in queue_format.CONSTRAINTS:
        if constraint.requirement not in told:
            continue
        followed = _disputed(row, value, accepted)
        if constraint.requirement in broken:
            yield Verdict(
                constraint.requirement,
                Outcome.FAIL,
                subject,
                {"holds": "the table of suffix types"},
                actual,
                evidence=evidence,
            )
        elif row is not None and constraint.requirement == row.type_requirement and followed:
            yield Verdict(constraint.requirement, Outcome.READING, subject, readings=followed, evidence=evidence)
        else:
            yield Verdict(constraint.requirement, Outcome.PASS, subject, evidence=evidence)
    yield from _direct_name(part, value, accepted, subject, evidence)


def _direct_name(
    part: Part, value: queue_format.QueueFormat, accepted: Readings, subject: str, evidence: Evidence | None
) -> Iterator[Verdict]:
    """The text of a direct QUEUE_FORMAT against the grammar of direct names, and against the numbers beside it."""
    text = part.fields.get(f"QUEUE_FORMAT.{_TEXT_MEMBERS.get(value.m_qft)}")
    if not isinstance(text, str) or queue_format.broken(value, accepted, _TABLE_ALONE):
        return
    held = queue_format.QueueFormat(value.m_qft, value.m_suffix_and_flags, text)
    try:
        queue_format.from_queue_format(held, _format_name, accepted)
    except queue_format.QueueFormatError as error:
        broken = error.requirements or (ids.QFT[value.m_qft][1],)
        yield Verdict(broken[0], Outcome.FAIL, subject, {"holds": "a direct name"}, {"text": text}, evidence=evidence)
        return
    for requirement in ids.QFT[value.m_qft][1:]:
        yield Verdict(requirement, Outcome.PASS, subject, evidence=evidence)


@lru_cache(maxsize=1000)
def _format_name(text: str) -> QueueName:
    return parse_name(text, "format_name")


def _disputed(
    row: queue_format.Row | None, value: queue_format.QueueFormat, accepted: Readings
) -> tuple[tuple[str, str], ...]:
    if row is None or row.reading is None or value.m_qft not in row.disputed:
        return ()
    return ((row.reading, either(("not-forbidden",))),) if "not-forbidden" in accepted[row.reading] else ()


def _told(leaf: Leaf) -> str:
    """The path of a leaf in the JSON value: a counted array in a PROPVARIANT is told as its elements."""
    path = leaf.path
    for only in ("value.p_elems", "value.p_blob_data"):
        path = path.replace(only, "value")
    return "" if leaf.structure in ("SECURITY_INFORMATION", "VARIANT_BOOL") and not leaf.part else path


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Every number, text and null of a JSON value by its path."""
    if isinstance(value, Mapping):
        out: dict[str, Any] = {}
        for name, each in value.items():
            out |= _flat(each, f"{path}.{name}" if path else str(name))
        return out
    if isinstance(value, list):
        out = {} if value else {path: []}
        for index, each in enumerate(value):
            out |= _flat(each, f"{path}[{index}]")
        return out
    return {path: value}


def _equal(wanted: Any, got: Any, leaf: Leaf, raw: bytes) -> bool:
    """GUIDs in either letter case, 64-bit numbers by value, a sequence's modulo 2^64 (R-MQMQ-sequence-sign)."""
    if type(wanted) is not type(got):
        return False
    if wanted == got or not isinstance(wanted, str):
        return bool(wanted == got)
    if len(raw) == 16 and wanted.lower() == str(uuid.UUID(bytes_le=raw)):
        return bool(wanted.lower() == got.lower())
    if len(raw) == 8 and _NUMBER.fullmatch(wanted) and int(wanted) % _WRAP == int.from_bytes(raw, "little"):
        if not _NUMBER.fullmatch(got):
            return False
        wraps = leaf.structure == "SEQUENCE_INFO"
        return int(wanted) == int(got) or (wraps and (int(wanted) - int(got)) % _WRAP == 0)
    return False
