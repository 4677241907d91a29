"""Judges the bytes of one structure (`judge_structure`), and compares what an implementation wrote or read with ours.

A structure that an implementation wrote is compared number by number in byte order. The first difference is blamed: on
its place where its neighbours are wrong as well, otherwise on its value.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.grammar import queue_format
from conformance.grammar.names import bulk
from conformance.grammar.values import QueueName
from conformance.judge.expr import DECIDED, compiled, describe, keys_in
from conformance.judge.packets.judge import field_json
from conformance.judge.structures import blame as ids
from conformance.judge.structures.blame import (
    FREE,
    LISTS,
    Leaf,
    answers,
    blame,
    bytes_at,
    last,
    leaves_of,
    left_over,
    may_be_moved,
    raw,
    same,
    whole,
)
from conformance.judge.structures.rules import RULES
from conformance.spec.catalogue import assignment, reading_id
from conformance.spec.followed_readings import either
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire.structures import Decoded, Part, complete, decode, encode

Readings = Mapping[str, tuple[str, ...]]
LIST_ALIGNMENT = reading_id("R-MQMQ-key-list-alignment")
_READY = tuple((rule, compiled(rule.applies), compiled(rule.holds), tuple(keys_in(rule.holds))) for rule in RULES)
_NUMBER = re.compile("-?[0-9]{1,20}")
_WRAP = 1 << 64
_TRUTHS = {each for held in ids.TRUTH.values() for each in held}
_TEXT_MEMBERS = {3: "m_pDirectID", 8: "m_pDirectSubqueueID"}
_TABLE_ALONE = tuple(
    each for each in queue_format.CONSTRAINTS if each.requirement not in (queue_format.UNION, queue_format.RESERVED)
)


def judge_structure(
    name: str,
    data: bytes,
    *,
    readings: Readings | str = "windows",
    subject: str | None = None,
    evidence: Evidence | None = None,
) -> list[Verdict]:
    """Judge the bytes of one structure: a verdict per rule that applies to it or to a structure inside it.

    Raises KeyError for an unknown name, never for the bytes.
    """
    accepted = assignment(readings) if isinstance(readings, str) else readings
    found, _ = _decoded(name, data, accepted)
    return list(_by_rules(found, accepted, subject or name, evidence))


def compare_encoded(
    name: str, value: Any, data: bytes, *, readings: Readings, evidence: Evidence | None = None
) -> Iterator[Verdict]:
    """Judge the bytes written for `value`: verdicts up to the first failure, then those of the rules."""
    subject = f"structures.encode {name}"
    actual, aligned = _decoded(name, data, readings)
    expected = decode(name, encode(name, value, aligned=aligned), aligned=aligned)
    leaves = leaves_of(expected)
    wrong = [leaf for leaf in leaves if not same(leaf, expected, actual)]
    wrong.sort(key=lambda leaf: may_be_moved(leaf, expected, actual))
    passed: dict[str, None] = {}
    for leaf in leaves:
        if wrong and leaf == wrong[0]:
            break
        if leaf in wrong:
            continue
        passed.update(dict.fromkeys(answers(leaf, expected, everything=True)))
    left = not wrong and not actual.whole
    if not wrong and not left:
        passed.update(dict.fromkeys(whole(expected)))
    blamed = blame(wrong, leaves, expected, actual) if wrong else left_over(name, expected) if left else None
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
            {where or name: bytes_at(expected, where) if wrong else ""},
            {where or name: bytes_at(actual, where) if wrong else field_json(data[len(data) - actual.extra :])},
            evidence=evidence,
        )
        return
    yield from _by_rules(actual, readings, subject, evidence)


def compare_decoded(
    name: str, value: Any, answer: Any, *, readings: Readings, evidence: Evidence | None = None
) -> Iterator[Verdict]:
    """Judge the value an implementation read from the bytes of `value`: verdicts up to the first failure.

    The answer may leave out members that encoding computes.
    """
    subject = f"structures.decode {name}"
    expected = decode(name, encode(name, value))
    wanted, got = _flat(complete(name, value)), _flat(answer)
    given = set(_flat(value))
    for leaf in leaves_of(expected):
        if leaf.role or leaf.member == "tag" or (leaf.structure, leaf.member) in FREE:
            continue
        path = _json_path(leaf)
        if path not in wanted or (path not in got and path not in given):
            continue
        names = answers(leaf, expected, everything=False)
        if isinstance(wanted[path], bool):
            # The writer is judged by the bytes of a truth value, the reader by what it reads them as.
            names = (*ids.TRUTH_MEANING[wanted[path]], *(each for each in names if each not in _TRUTHS))
        if path not in got or not _equal(wanted[path], got[path], leaf, raw(expected, leaf.path) or b""):
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
    extra = sorted(path for path in set(got) - set(wanted) if got[path] not in (None, []))
    if extra:
        blamed = last(name, leaves_of(expected))
        yield Verdict(blamed, Outcome.FAIL, subject, {}, {extra[0]: got[extra[0]]}, evidence=evidence)


def member_requirement(name: str, path: str, value: Any) -> str:
    """Return the requirement that the content at a path of this value answers first."""
    expected = decode(name, encode(name, value))
    leaf = next(each for each in leaves_of(expected) if each.path == path)
    return answers(leaf, expected, everything=False)[0]


def whole_requirement(name: str, value: Any) -> str:
    """Return the requirement that the form of a structure as a whole answers."""
    return last(name, leaves_of(decode(name, encode(name, value))))


def _decoded(name: str, data: bytes, readings: Readings) -> tuple[Decoded, bool]:
    """Read a structure; also return whether its list is aligned. A list is packed unless only the aligned form fits."""
    packed = decode(name, data)
    if packed.whole or name not in LISTS or "aligned" not in readings[LIST_ALIGNMENT]:
        return packed, False
    aligned = decode(name, data, aligned=True)
    return (aligned, True) if aligned.whole else (packed, False)


def _by_rules(decoded: Decoded, accepted: Readings, subject: str, evidence: Evidence | None) -> Iterator[Verdict]:
    for part in decoded.parts:
        fields = {**part.fields, DECIDED: not decoded.trouble}
        for rule, applies, holds, keys in _READY:
            if rule.structure != part.structure or not applies(fields):
                continue
            result = holds(fields)
            if result:
                yield Verdict(rule.requirement, Outcome.PASS, subject, evidence=evidence, rule=rule.id)
                continue
            actual = {key: field_json(fields[key]) for key in keys if key in fields}
            says = decoded.trouble[0].says if decoded.trouble else "a member it needs was not read"
            outcome = Outcome.INCONCLUSIVE if result is None else Outcome.FAIL
            reason = says if result is None else None
            expected = {"holds": describe(rule.holds)}
            yield Verdict(rule.requirement, outcome, subject, expected, actual, (), reason, evidence, rule.id)
        if part.structure == "QUEUE_FORMAT":
            yield from _queue_format(part, accepted, subject, evidence)


def _queue_format(part: Part, accepted: Readings, subject: str, evidence: Evidence | None) -> Iterator[Verdict]:
    """Judge the table of MS-MQMQ 2.2.7 by `grammar.queue_format`; the rule on the tag judges the union."""
    fields = part.fields
    if "QUEUE_FORMAT.m_reserved" not in fields:
        return
    qft, both = fields["QUEUE_FORMAT.m_qft"], fields["QUEUE_FORMAT.m_SuffixAndFlags"]
    value = queue_format.QueueFormat(qft, both, None, fields["QUEUE_FORMAT.m_reserved"])
    row = queue_format.TABLE.get(value.suffix)
    judged = {queue_format.TYPE_LISTED, queue_format.SUFFIX_AND_FLAGS, queue_format.RESERVED}
    judged |= {row.flags_requirement, row.type_requirement} if row is not None else set()
    broken = queue_format.broken(value, accepted)
    actual = {"m_qft": qft, "m_SuffixAndFlags": both, "m_reserved": value.m_reserved}
    for constraint in queue_format.CONSTRAINTS:
        if constraint.requirement not in judged:
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
    """Judge the text of a direct QUEUE_FORMAT by the grammar of direct names, and by the numbers beside it."""
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


def _format_name(text: str) -> QueueName:
    return bulk().format_name(text)


def _disputed(
    row: queue_format.FormRow | None, value: queue_format.QueueFormat, accepted: Readings
) -> tuple[tuple[str, str], ...]:
    if row is None or row.reading is None or value.m_qft not in row.disputed:
        return ()
    return ((row.reading, either(("not-forbidden",))),) if "not-forbidden" in accepted[row.reading] else ()


def _json_path(leaf: Leaf) -> str:
    """Return the path of a leaf in the JSON value, where a counted array in a PROPVARIANT appears as its elements."""
    path = leaf.path
    for only in ("value.p_elems", "value.p_blob_data"):
        path = path.replace(only, "value")
    return "" if leaf.structure in ("SECURITY_INFORMATION", "VARIANT_BOOL") and not leaf.part else path


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return every number, text and null of a JSON value by its path."""
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
    """Compare GUIDs in either letter case, 64-bit numbers by value, a sequence's modulo 2^64 (R-MQMQ-sequence-sign)."""
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
