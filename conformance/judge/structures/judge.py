"""Judges the bytes of one structure by rules on its members, and compares what an implementation wrote."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.grammar import queue_format
from conformance.grammar.names import bulk
from conformance.grammar.values import QueueName
from conformance.judge.packets.judge import field_json
from conformance.judge.rules import DECIDED, Const, Expr, Field, both, compiled, describe, either, eq, keys_in, one_of
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
from conformance.spec.catalogue import assignment, reading_id, requirement_id
from conformance.spec.followed_readings import either as either_reading
from conformance.verdict import Evidence, Outcome, Verdict
from conformance.wire.structures import STRUCTURES, Decoded, Part, complete, decode, encode, patch

_GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
RSA_KEY = (  # a BLOBHEADER, an RSAPUBKEY and a modulus of 64 bits
    "BgIAAACkAABSU0ExQAAAAAEAAQABAgMEBQYHiQ=="
)
CERTIFICATE = (
    "MIIBWTCCAQCgAwIBAgIBAzAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAFlMB4XDTI2MTEyMjAzMzgwOFoXDTM2MTExOTAzMzgwOFowDDEKMAgGA1UE"
    "AwwBZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABK62GeVDEfDv0vr/LApv+oXYp4XafsYRx6XRU1OKhiP4/lMRHE3GCmnq6owsIp+kdWYQe3mp"
    "yvbSi9vhu8TstxSjUzBRMB0GA1UdDgQWBBSggAwCreRFAgcUej2Kt4bm8BXYNDAfBgNVHSMEGDAWgBSggAwCreRFAgcUej2Kt4bm8BXYNDAPBgNV"
    "HRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCICnrukys7do/aG7dJgZ5biwrTVHJN8UsKTzCwAwxqT0cAiBWVsMS2Q8kEWCzV3hli+jU7FK8"
    "n3xKkscOIbuqalgrHQ=="
)
"""A self-signed X.509 certificate made for tests."""

PLAIN: Mapping[str, Any] = {
    "SECURITY_INFORMATION": 5,
    "MQDSPUBLICKEY": {"ul_provider_type": 1, "s_provider_name": "Base", "a_buf": RSA_KEY},
    "MQDSPUBLICKEYS": {"a_public_keys": [{"ul_provider_type": 24, "s_provider_name": "AES", "a_buf": RSA_KEY}] * 2},
    "TA_ADDRESS": {"address_type": 1, "address": "wKgBAg=="},
    "SEQUENCE_INFO": {"seq_id": "7696581394436", "seq_no": 4, "prev_no": 3},
    "QUEUE_FORMAT": {"m_qft": 3, "m_suffix_and_flags": 0, "m_p_direct_id": "OS:host\\q"},
    "OBJECTID": {"lineage": _GUID, "uniquifier": 5},
    "DL_ID": {"m_dl_guid": _GUID, "m_pwz_domain": "example.org"},
    "MULTICAST_ID": {"m_address": 0x010000E0, "m_port": 1801},
    "PROPVARIANT": {"vt": 19, "value": 7},
    "VARIANT_BOOL": True,
    "BLOB": {"p_blob_data": "AAEC"},
    "ULARGE_INTEGER": {"quad_part": "18446744073709551614"},
    "XACTUOW": {"rgb": _GUID},
    "TxSequenceID": {"ordinal": 1, "time_stamp": 0x5F000000},
    "MessageIdentifier": {"queue_manager_guid": _GUID, "ordinal": 7},
    "MQUSERSIGNCERT": {"identifier": _GUID, "certificate": CERTIFICATE},
    "MQUSERSIGNCERTS": {"certificates": [{"identifier": _GUID, "certificate": CERTIFICATE}]},
    "CAUB": {"p_elems": "AAEC"},
    "CAUI": {"p_elems": [1, 0xFFFE]},
    "CAL": {"p_elems": [1, -2]},
    "CAUL": {"p_elems": [1, 0xFFFFFFFE]},
    "CAUH": {"p_elems": ["1", "18446744073709551614"]},
    "CACLSID": {"p_elems": [_GUID]},
    "CALPWSTR": {"p_elems": ["one", "two"]},
    "CAPROPVARIANT": {"p_elems": [{"vt": 3, "value": -2}, {"vt": 31, "value": "x"}]},
}
"""A value of each structure for which every rule below holds."""


@dataclass(frozen=True, slots=True)
class StructureMutation:
    """A structure for which the rule holds, and one change that breaks the rule.

    value: the structure, where PLAIN does not fit. patch: numbers overwritten in the bytes, by path. given: numbers
    that replace computed ones; the rest is written anew. instead: the value that is written instead. also_breaks: other
    requirements that the change breaks.
    """

    value: Any = None
    patch: Mapping[str, int] = field(default_factory=dict)
    given: Mapping[str, int] = field(default_factory=dict)
    instead: Any = None
    also_breaks: tuple[str, ...] = ()

    def valid(self, name: str) -> bytes:
        """Encode the bytes for which the rule holds."""
        return encode(name, PLAIN[name] if self.value is None else self.value)

    def broken(self, name: str) -> bytes:
        """Encode the bytes that break the rule."""
        if self.patch:
            return patch(decode(name, self.valid(name)), self.patch)
        value = PLAIN[name] if self.value is None else self.value
        return encode(name, value if self.instead is None else self.instead, self.given)


@dataclass(frozen=True, slots=True)
class StructureRule:
    """One check of one structure. id: the requirement's, with `/word` where several rules serve one."""

    id: str
    structure: str
    applies: Expr
    holds: Expr
    breaks: StructureMutation

    @property
    def requirement(self) -> str:
        """The id of the requirement that this rule judges."""
        return self.id.partition("/")[0]


_ALWAYS: Expr = Const(True)


def _rule(word: str, structure: str, holds: Expr, breaks: StructureMutation, applies: Expr = _ALWAYS) -> StructureRule:
    requirement_id(f"MQMQ-{word}".partition("/")[0])
    return StructureRule(f"MQMQ-{word}", structure, applies, holds, breaks)


def _plain(name: str, **changed: Any) -> dict[str, Any]:
    return {**PLAIN[name], **changed}


_KEY, _ADDRESS = "MQDSPUBLICKEY.", "TA_ADDRESS."
_M = StructureMutation


def _buf(at: int, byte: int) -> str:
    """Return the key with one byte changed."""
    import base64

    data = bytearray(base64.b64decode(RSA_KEY))
    data[at] = byte
    return base64.b64encode(bytes(data)).decode("ascii")


_KEYS = (
    _rule(
        "2.2.1.ul-provider-type-values",
        "MQDSPUBLICKEY",
        one_of(_KEY + "ulProviderType", 0x01, 0x18),
        _M(instead=_plain("MQDSPUBLICKEY", ul_provider_type=2)),
    ),
    _rule(
        "2.2.1.s-provider-name",
        "MQDSPUBLICKEY",
        eq(_KEY + "TextsEnd", True),
        _M(patch={"s_provider_name": int.from_bytes("Baseball".encode("utf-16-le")[:10], "little")}),
    ),
    _rule(
        "2.2.1.a-buf-blobheader",
        "MQDSPUBLICKEY",
        both(eq(_KEY + "aBuf.bType", 6), eq(_KEY + "aBuf.bVersion", 2)),
        _M(instead=_plain("MQDSPUBLICKEY", a_buf=_buf(0, 7))),
    ),
    _rule(
        "2.2.1.a-buf-ai-key-alg",
        "MQDSPUBLICKEY",
        eq(_KEY + "aBuf.aiKeyAlg", 0xA400),
        _M(instead=_plain("MQDSPUBLICKEY", a_buf=_buf(5, 0x24))),
    ),
    _rule(
        "2.2.1.a-buf-rsapubkey",
        "MQDSPUBLICKEY",
        both(eq(_KEY + "aBuf.magic", 0x31415352), eq(_KEY + "aBuf.bitlen", Field(_KEY + "aBuf.ModulusBits"))),
        _M(instead=_plain("MQDSPUBLICKEY", a_buf=_buf(8, 0x53))),
    ),
    _rule(
        "2.2.2.ul-len",
        "MQDSPUBLICKEYS",
        eq("MQDSPUBLICKEYS.ulLen", Field("MQDSPUBLICKEYS.Size")),
        _M(patch={"ul_len": 8}),
    ),
)


def _length(word: str, size: int, kinds: tuple[int, ...], value: dict[str, Any], instead: str) -> StructureRule:
    """Make a rule on AddressLength for some address types; its mutation breaks the section's general rule as well."""
    return _rule(
        f"2.2.4.address-length-{word}",
        "TA_ADDRESS",
        eq(_ADDRESS + "AddressLength", size),
        _M(value=value, instead={**value, "address": instead}, also_breaks=("MQMQ-2.2.4.address-length-by-type",)),
        one_of(_ADDRESS + "AddressType", *kinds),
    )


_IPX = {"address_type": 3, "address": "AQIDBAUGBwgJCg=="}
_FOREIGN = {"address_type": 5, "address": "AQIDBAUGBwgJCgsMDQ4PEA=="}
_ADDRESSES = (
    _rule(
        "2.2.4.address-type",
        "TA_ADDRESS",
        one_of(_ADDRESS + "AddressType", 1, 2, 3, 5),
        _M(instead={"address_type": 4, "address": "wKgBAg=="}),
    ),
    _length("ip", 4, (1, 2), dict(PLAIN["TA_ADDRESS"]), "wKgBAgA="),
    _length("ipx", 10, (3,), _IPX, "AQIDBAUGBwgJCgs="),
    _length("foreign", 16, (5,), _FOREIGN, "AQIDBAUGBwgJCgsMDQ4P"),
    _rule(
        "2.2.4.address-length-by-type",
        "TA_ADDRESS",
        either(
            both(one_of(_ADDRESS + "AddressType", 1, 2), eq(_ADDRESS + "AddressLength", 4)),
            both(eq(_ADDRESS + "AddressType", 3), eq(_ADDRESS + "AddressLength", 10)),
            both(eq(_ADDRESS + "AddressType", 5), eq(_ADDRESS + "AddressLength", 16)),
        ),
        _M(instead={"address_type": 1, "address": "AQIDBAUGBwgJCg=="}, also_breaks=("MQMQ-2.2.4.address-length-ip",)),
        one_of(_ADDRESS + "AddressType", 1, 2, 3, 5),
    ),
)

_CERTIFICATES = (
    _rule(
        "2.2.22.digest",
        "MQUSERSIGNCERT",
        eq("MQUSERSIGNCERT.Digest.Matches", True),
        _M(patch={"digest": 1}),
    ),
    _rule(
        "2.2.22.certificate",
        "MQUSERSIGNCERT",
        eq("MQUSERSIGNCERT.Certificate.IsX509", True),
        _M(instead={"identifier": _GUID, "certificate": "AAEC"}),
    ),
)

_TEXT = {"vt": 31, "value": "text"}
_VARIANT_TYPES = (0, 1, 2, 3, 11, 16, 17, 18, 19, 20, 21, 31, 65, 72, *(0x1000 | vt for vt in (17, 18, 3, 19)))
_VARIANTS = (
    _rule(
        "2.2.13.1.vt",
        "PROPVARIANT",
        one_of("PROPVARIANT.vt", *_VARIANT_TYPES, *(0x1000 | vt for vt in (21, 72, 31, 12))),
        _M(patch={"vt": 4}),
        Const(True),
    ),
    _rule(
        "2.2.12.vt-variant-vector",
        "PROPVARIANT",
        eq("PROPVARIANT.vt", 0x100C),
        _M(
            value={"vt": 0x100C, "value": [{"vt": 0}]},
            patch={"vt": 12, "tag": 12},
            also_breaks=("MQMQ-2.2.13.1.vt",),
        ),
        one_of("PROPVARIANT.vt", 12, 0x100C),
    ),
    _rule(
        "2.2.13.1.var-union",
        "PROPVARIANT",
        eq("PROPVARIANT._varUnion.TagMatches", True),
        _M(patch={"tag": 3}),
        one_of("PROPVARIANT.vt", *_VARIANT_TYPES, *(0x1000 | vt for vt in (21, 72, 31, 12))),
    ),
    _rule(
        "2.2.12.vt-lpwstr-value",
        "PROPVARIANT",
        eq("PROPVARIANT.TextsEnd", True),
        _M(value=_TEXT, patch={"value": int.from_bytes("texts".encode("utf-16-le"), "little")}),
        eq("PROPVARIANT.vt", 31),
    ),
    _rule(
        "2.2.12.vt-bool-value",
        "PROPVARIANT",
        one_of("PROPVARIANT.boolVal", 0, 0xFFFF),
        _M(value={"vt": 11, "value": True}, patch={"value": 1}),
        eq("PROPVARIANT.vt", 11),
    ),
    _rule("2.2.14.variant-true", "VARIANT_BOOL", one_of("VARIANT_BOOL.Value", 0, 0xFFFF), _M(patch={"value": 1})),
)

_COUNTS = tuple(
    _rule(
        f"{STRUCTURES[name].source.split()[1]}.{'cb-size' if name == 'BLOB' else 'c-elems'}",
        name,
        eq(f"{name}.{'pBlobData' if name == 'BLOB' else 'pElems'}.CountMatches", True),
        _M(patch={"cb_size" if name == "BLOB" else "c_elems": 1000}),
        eq(f"{name}.{'pBlobData' if name == 'BLOB' else 'pElems'}.Null", False),
    )
    for name in ("BLOB", "CAUB", "CAUI", "CAL", "CAUL", "CAUH", "CACLSID", "CALPWSTR", "CAPROPVARIANT")
)

_TEXTS = (
    _rule(
        "2.2.9.m-pwz-domain-text",
        "DL_ID",
        eq("DL_ID.TextsEnd", True),
        _M(patch={"m_pwz_domain": int.from_bytes("example.orgs".encode("utf-16-le"), "little")}),
        eq("DL_ID.m_pwzDomain.Null", False),
    ),
    _rule(
        "2.2.16.7.p-elems",
        "CALPWSTR",
        eq("CALPWSTR.TextsEnd", True),
        _M(patch={"p_elems[1]": int.from_bytes("twos".encode("utf-16-le"), "little")}),
    ),
    _rule(
        "2.2.7.m-p-direct-id",
        "QUEUE_FORMAT",
        eq("QUEUE_FORMAT.TextsEnd", True),
        _M(patch={"m_p_direct_id": int.from_bytes("OS:host\\qq".encode("utf-16-le"), "little")}),
        eq("QUEUE_FORMAT.m_qft", 3),
    ),
    _rule(
        "2.2.7.union",
        "QUEUE_FORMAT",
        eq("QUEUE_FORMAT.Union.TagMatches", True),
        _M(patch={"tag": 8}),
        one_of("QUEUE_FORMAT.m_qft", *range(9)),
    ),
)

RULES: tuple[StructureRule, ...] = (*_KEYS, *_ADDRESSES, *_CERTIFICATES, *_VARIANTS, *_COUNTS, *_TEXTS)

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
    return ((row.reading, either_reading(("not-forbidden",))),) if "not-forbidden" in accepted[row.reading] else ()


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
