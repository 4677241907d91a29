"""Finds the requirement that an implementation broke when it wrote a structure wrongly, member by member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.grammar import queue_format
from conformance.judge.packets.judge import field_json
from conformance.spec.catalogue import requirement_id
from conformance.wire.structures import Decoded, Part

Ids = tuple[str, ...]


def _ids(section: str, *words: str) -> Ids:
    return tuple(requirement_id(f"MQMQ-{section}.{word}") for word in words)


DECLARATIONS: Mapping[str, Ids] = {
    "SECURITY_INFORMATION": _ids("2.2.3", "declaration"),
    "TA_ADDRESS": _ids("2.2.4", "declaration"),
    "SEQUENCE_INFO": _ids("2.2.5", "declaration"),
    "QUEUE_FORMAT": _ids("2.2.7", "declaration"),
    "OBJECTID": _ids("2.2.8", "declaration"),
    "DL_ID": _ids("2.2.9", "declaration"),
    "MULTICAST_ID": _ids("2.2.10", "declaration"),
    "PROPVARIANT": _ids("2.2.13.1", "declaration"),
    "VARIANT_BOOL": _ids("2.2.14", "declaration"),
    "BLOB": _ids("2.2.15", "declaration"),
    "CAUB": _ids("2.2.16.1", "declaration"),
    "CAUI": _ids("2.2.16.2", "declaration"),
    "CAL": _ids("2.2.16.3", "declaration"),
    "CAUL": _ids("2.2.16.4", "declaration"),
    "CAUH": _ids("2.2.16.5", "declaration"),
    "CACLSID": _ids("2.2.16.6", "declaration"),
    "CALPWSTR": _ids("2.2.16.7", "declaration"),
    "CAPROPVARIANT": _ids("2.2.16.8", "declaration"),
    "ULARGE_INTEGER": _ids("2.2.17", "declaration"),
    "XACTUOW": (*_ids("2.2.18.1.8", "xactuow"), requirement_id("MQMQ-5.xactuow")),
}
"""The requirements on the form of a structure as a whole: its members in order, and nothing behind."""

ARRAYS = ("CAUB", "CAUI", "CAL", "CAUL", "CAUH", "CACLSID", "CALPWSTR", "CAPROPVARIANT")

PLACES: Mapping[tuple[str, str], Ids] = {
    ("MQDSPUBLICKEY", "ul_key_len"): _ids("2.2.1", "ul-key-len-place"),
    ("MQDSPUBLICKEY", "ul_provider_len"): _ids("2.2.1", "ul-provider-len-place"),
    ("MQDSPUBLICKEY", "ul_provider_type"): _ids("2.2.1", "ul-provider-type-place"),
    ("MQDSPUBLICKEY", "a_buf"): _ids("2.2.1", "a-buf-place"),
    ("MQDSPUBLICKEYS", "ul_len"): _ids("2.2.2", "ul-len-place"),
    ("MQDSPUBLICKEYS", "c_numof_keys"): _ids("2.2.2", "c-numof-keys-place"),
    ("TA_ADDRESS", "address_length"): _ids("2.2.4", "address-length-place"),
    ("TA_ADDRESS", "address_type"): _ids("2.2.4", "address-type-place"),
    ("TA_ADDRESS", "address"): _ids("2.2.4", "address-place"),
    ("QUEUE_FORMAT", "m_qft"): _ids("2.2.7", "m-qft-place"),
    ("QUEUE_FORMAT", "m_reserved"): _ids("2.2.7", "m-reserved-place"),
    ("PROPVARIANT", "vt"): _ids("2.2.13.1", "vt-place"),
    ("PROPVARIANT", "w_reserved1"): _ids("2.2.13.1", "w-reserved1-place"),
    ("PROPVARIANT", "w_reserved2"): _ids("2.2.13.1", "w-reserved2-place"),
    ("PROPVARIANT", "w_reserved3"): _ids("2.2.13.1", "w-reserved3-place"),
    ("PROPVARIANT", "tag"): _ids("2.2.13.1", "var-union-place"),
    **{(name, "c_elems"): _ids(f"2.2.16.{number}", "c-elems-place") for number, name in enumerate(ARRAYS, start=1)},
}

VALUES: Mapping[tuple[str, str], Ids] = {
    ("MQDSPUBLICKEY", "ul_key_len"): _ids("2.2.1", "ul-key-len"),
    ("MQDSPUBLICKEY", "ul_provider_len"): _ids("2.2.1", "ul-provider-len"),
    ("MQDSPUBLICKEY", "ul_provider_type"): _ids("2.2.1", "ul-provider-type"),
    ("MQDSPUBLICKEY", "s_provider_name"): _ids("2.2.1", "s-provider-name"),
    ("MQDSPUBLICKEY", "a_buf"): _ids("2.2.1", "a-buf-place"),
    ("MQDSPUBLICKEYS", "ul_len"): _ids("2.2.2", "ul-len"),
    ("MQDSPUBLICKEYS", "c_numof_keys"): _ids("2.2.2", "c-numof-keys"),
    ("MQDSPUBLICKEYS", "a_public_keys"): _ids("2.2.2", "a-public-keys"),
    ("TA_ADDRESS", "address_length"): _ids("2.2.4", "address-length"),
    ("TA_ADDRESS", "address_type"): _ids("2.2.4", "address-type"),
    ("TA_ADDRESS", "address"): _ids("2.2.4", "address"),
    ("SEQUENCE_INFO", "seq_id"): (*_ids("2.2.5.1", "seq-id"), *_ids("2.2.5", "seq-id")),
    ("SEQUENCE_INFO", "seq_no"): (*_ids("2.2.5.1", "seq-no"), *_ids("2.2.5", "seq-no")),
    ("SEQUENCE_INFO", "prev_no"): (*_ids("2.2.5.1", "prev-no"), *_ids("2.2.5", "prev-no")),
    ("QUEUE_FORMAT", "m_suffix_and_flags"): _ids("2.2.7", "m-suffix-and-flags"),
    ("QUEUE_FORMAT", "tag"): _ids("2.2.7", "union"),
    ("OBJECTID", "lineage"): _ids("2.2.8", "lineage"),
    ("OBJECTID", "uniquifier"): _ids("2.2.8", "uniquifier"),
    ("DL_ID", "m_dl_guid"): _ids("2.2.9", "m-dl-guid"),
    ("DL_ID", "m_pwz_domain"): _ids("2.2.9", "m-pwz-domain", "m-pwz-domain-text"),
    ("MULTICAST_ID", "m_address"): _ids("2.2.10", "m-address"),
    ("MULTICAST_ID", "m_port"): _ids("2.2.10", "m-port"),
    ("PROPVARIANT", "vt"): (*_ids("2.2.13.1", "vt"), *_ids("2.2.12.1", "declaration")),
    ("PROPVARIANT", "tag"): _ids("2.2.13.1", "var-union"),
    ("PROPVARIANT", "value"): _ids("2.2.13.1", "var-union"),
    ("BLOB", "cb_size"): _ids("2.2.15", "cb-size"),
    ("BLOB", "p_blob_data"): _ids("2.2.15", "p-blob-data"),
    ("ULARGE_INTEGER", "quad_part"): _ids("2.2.17", "quad-part"),
    ("XACTUOW", "rgb"): _ids("2.2.18.1.8", "rgb"),
    ("MessageIdentifier", "queue_manager_guid"): _ids("2.2.18.1.3", "queue-manager-guid"),
    ("MessageIdentifier", "ordinal"): _ids("2.2.18.1.3", "ordinal"),
    ("TxSequenceID", "ordinal"): _ids("2.2.18.1.2", "ordinal"),
    ("TxSequenceID", "time_stamp"): _ids("2.2.18.1.2", "time-stamp"),
    ("MQUSERSIGNCERT", "digest"): _ids("2.2.22", "digest"),
    ("MQUSERSIGNCERT", "identifier"): _ids("2.2.22", "identifier"),
    ("MQUSERSIGNCERT", "certificate_length"): _ids("2.2.22", "certificate-length"),
    ("MQUSERSIGNCERT", "certificate"): _ids("2.2.22", "certificate"),
    ("MQUSERSIGNCERTS", "certificate_count"): _ids("2.2.21", "certificate-count"),
    ("MQUSERSIGNCERTS", "certificates"): _ids("2.2.21", "certificates"),
    **{
        (name, word.replace("-", "_")): _ids(f"2.2.16.{number}", word)
        for number, name in enumerate(ARRAYS, start=1)
        for word in ("c-elems", "p-elems")
    },
}

# Requirements that a right selector answers beside the place of its structure, by its value.
QFT: Mapping[int, Ids] = {
    number: (*_ids("2.2.6", f"queue-format-type-{kind}"), *_ids("2.2.7", *members))
    for number, (kind, members) in enumerate(
        (
            ("unknown", ()),
            ("public", ("m-g-public-id",)),
            ("private", ("m-o-private-id", "m-o-private-id-members")),
            ("direct", ("m-p-direct-id",)),
            ("machine", ("m-g-machine-id",)),
            ("connector", ("m-g-connector-id",)),
            ("dl", ("m-dl-id",)),
            ("multicast", ("m-multicast-id",)),
            (
                "subqueue",
                ("m-p-direct-subqueue-id", "m-p-direct-subqueue-id-grammar", "m-p-direct-subqueue-id-subqueue"),
            ),
        )
    )
}
SUFFIX: Mapping[int, Ids] = {
    number: (*_ids("2.2.11", f"queue-suffix-type-{kind}"), *_ids("2.2.7", f"suffix-{kind}"))
    for number, kind in enumerate(("none", "journal", "deadletter", "deadxact", "xactonly", "subqueue"))
}
FLAGS: Mapping[int, Ids] = {
    0x00: _ids("2.2.7", "queue-format-flag-not-system"),
    0x80: _ids("2.2.7", "queue-format-flag-system"),
}

_KINDS = {
    0: "empty",
    1: "null",
    2: "i2",
    3: "i4",
    11: "bool",
    16: "i1",
    17: "ui1",
    18: "ui2",
    19: "ui4",
    20: "i8",
    21: "ui8",
    31: "lpwstr",
    65: "blob",
    72: "clsid",
}
_VECTORS = {17: "caub", 18: "caui", 3: "cal", 19: "caul", 21: "cauh", 72: "cauuid", 31: "calpwstr", 12: "capropvar"}
_VECTOR = _ids("2.2.12", "vt-vector", "vt-vector-combined", "vt-vector-value")
VT_TYPE: Mapping[int, Ids] = {
    **{vt: _ids("2.2.12", f"vt-{word}") for vt, word in _KINDS.items()},
    **{
        0x1000 | vt: (
            *_ids("2.2.13.1", word),
            *_VECTOR[:2],
            *(_ids("2.2.12", "vt-variant", "vt-variant-vector") if vt == 12 else ()),
        )
        for vt, word in _VECTORS.items()
    },
}
"""The requirements that the number in vt answers."""
VT_VALUE: Mapping[int, Ids] = {
    **{vt: _ids("2.2.12", f"vt-{word}-value") for vt, word in _KINDS.items()},
    **{0x1000 | vt: (_VECTOR[2], *(_ids("2.2.12", "vt-variant-value") if vt == 12 else ())) for vt in _VECTORS},
}
"""The requirements that the value selected by vt answers."""
TRUTH: Mapping[bool, Ids] = {
    True: _ids("2.2.14", "variant-true"),
    False: _ids("2.2.14", "variant-false"),
}
TRUTH_MEANING: Mapping[bool, Ids] = {
    True: _ids("2.2.14", "variant-true-meaning"),
    False: _ids("2.2.14", "variant-false-meaning"),
}
ADDRESS_LENGTH: Mapping[int, Ids] = {
    1: _ids("2.2.4", "address-length-by-type", "address-length-ip"),
    2: _ids("2.2.4", "address-length-by-type", "address-length-ip"),
    3: _ids("2.2.4", "address-length-by-type", "address-length-ipx"),
    5: _ids("2.2.4", "address-length-by-type", "address-length-foreign"),
}
ADDRESS: Mapping[int, Ids] = {
    1: (*_ids("2.2.4", "ip-address-type"), *_ids("2.2.4.1", "ip-address")),
    2: (*_ids("2.2.4", "ip-ras-address-type"), *_ids("2.2.4.1", "ip-address")),
    3: (*_ids("2.2.4", "ipx-address-type"), *_ids("2.2.4.2", "netnum", "nodenum")),
    5: _ids("2.2.4", "foreign-address-type"),
}
ENUMERATIONS: Mapping[str, Ids] = {
    "QUEUE_FORMAT": (*_ids("2.2.6", "declaration"), *_ids("2.2.11", "declaration")),
    "PROPVARIANT": _ids("2.2.12", "declaration"),
}

LISTS = ("MQDSPUBLICKEYS", "MQUSERSIGNCERTS")
FREE = {("PROPVARIANT", "w_reserved1"), ("PROPVARIANT", "w_reserved2"), ("PROPVARIANT", "w_reserved3")}
_LENGTHS = ("referent", "max_count", "offset", "actual_count")
_COUNTED = ("p_elems", "p_blob_data")  # a member beside the pointer holds the number of elements
_RESERVED = ("QUEUE_FORMAT", "m_reserved")
_VECTOR_COMBINED = requirement_id("MQMQ-2.2.12.vt-vector-combined")
_VECTOR_NUMBER = requirement_id("MQMQ-2.2.12.vt-vector")
_VARIANT_NUMBER = requirement_id("MQMQ-2.2.12.vt-variant")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number, GUID, text or run of bytes of a structure.

    path: where it is in the structure. structure, member: its owner; member is `tag` for a union's selector. role:
    `referent`, `max_count`, `offset`, `actual_count`, or empty for the content. at: its offset in the bytes.
    """

    path: str
    structure: str
    part: str
    member: str
    role: str
    at: int


def leaves_of(decoded: Decoded) -> list[Leaf]:
    """Return every leaf of a structure that was read, in byte order."""
    parts = {part.path: part for part in decoded.parts}
    found = []
    for path, (at, _) in decoded.spans.items():
        if path.endswith(".gap") or path in parts or _holds_others(path, decoded):
            continue
        owner = _owner(path, parts)
        inside = path[len(owner.path) :].lstrip(".")
        role = inside.rpartition(".")[2]
        role = role if role in _LENGTHS else ""
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


def same(leaf: Leaf, expected: Decoded, actual: Decoded) -> bool:
    """Compare a leaf: a pointer by being null or not, everything except reserved members byte by byte."""
    if (leaf.structure, leaf.member) in FREE or (leaf.structure, leaf.member) == _RESERVED:
        return leaf.path in actual.spans
    ours, theirs = raw(expected, leaf.path), raw(actual, leaf.path)
    if leaf.role == "referent" and theirs is not None:
        # A pointer to no elements may be null or not; when it is not, its conformance is 0.
        none = raw(actual, leaf.path.replace(".referent", ".max_count"))
        return any(ours or b"") == any(theirs) or (not any(ours or b"") and none == bytes(4))
    return ours == theirs


def may_be_moved(leaf: Leaf, expected: Decoded, actual: Decoded) -> bool:
    """Return True for a pointer to no elements that is (legally) not null while its referent is wrong.

    The referent lies far behind the pointer, so that errors in between are to be reported first.
    """
    ours, theirs = raw(expected, leaf.path), raw(actual, leaf.path)
    pointer = leaf.role == "referent" and leaf.member in _COUNTED
    return pointer and theirs is not None and any(theirs) and not any(ours or b"")


def raw(decoded: Decoded, path: str) -> bytes | None:
    """Return the bytes at a path; None where the path was not read."""
    span = decoded.spans.get(path)
    return decoded.data[span[0] : span[0] + span[1]] if span is not None else None


def bytes_at(decoded: Decoded, path: str) -> Any:
    """Return the bytes at a path as a verdict shows them; None where the path was not read."""
    held = raw(decoded, path)
    return field_json(held) if held is not None else None


def blame(wrong: Sequence[Leaf], leaves: Sequence[Leaf], expected: Decoded, actual: Decoded) -> str:
    """Return the broken requirement. wrong: the leaves that differ, in order; leaves: all leaves."""
    first = wrong[0]
    key = (first.structure, first.member)
    places = PLACES.get(key) or DECLARATIONS.get(first.structure, ())
    near = [
        leaf
        for leaf in wrong[1:]
        if leaf.part == first.part and not leaf.role and leaf.at < _variable(first, leaves, expected)
    ]
    if key == ("PROPVARIANT", "vt"):
        near = [leaf for leaf in near if leaf.member not in ("tag", "value")]
    if key == ("QUEUE_FORMAT", "m_qft"):
        near = [leaf for leaf in near if leaf.member == "m_suffix_and_flags"]
    inner = _inner(first, wrong, leaves, expected)
    if inner is not None:
        return inner
    if places and (near or _elsewhere(first, leaves, expected, actual)):
        return places[0]
    finer = _finer(first, expected, actual)
    if finer is not None:
        return finer
    if first.role and (first.structure, first.member) == ("DL_ID", "m_pwz_domain"):
        return "MQMQ-2.2.9.m-pwz-domain-text"
    return (*answers(first, expected, everything=False), *places)[0]


def _elsewhere(first: Leaf, leaves: Sequence[Leaf], expected: Decoded, actual: Decoded) -> bool:
    """Return True when the right bytes are present but in a neighbour's place, or with all bytes behind them moved."""
    ours = raw(expected, first.path)
    near = [leaf.path for leaf in leaves if leaf.part == first.part and leaf.path != first.path]
    if any(raw(actual, path) == ours != raw(expected, path) for path in near):
        return True
    moved = len(actual.data) != len(expected.data)
    return moved and actual.data.endswith(expected.data[first.at :])


def _variable(first: Leaf, leaves: Sequence[Leaf], expected: Decoded) -> int:
    """Return the offset at which this part's members of fixed size end."""
    part = next(part for part in expected.parts if part.path == first.part)
    sized = {"s_provider_name", "a_buf", "address", "certificate", "value"}
    ends = [leaf.at for leaf in leaves if leaf.part == first.part and (leaf.member in sized or leaf.role == "referent")]
    return min(ends, default=len(expected.data)) if part else 0


def _finer(first: Leaf, expected: Decoded, actual: Decoded) -> str | None:
    """Return the finer requirement that the differing bits identify; None when they identify none."""
    key = (first.structure, first.member)
    ours, theirs = raw(expected, first.path) or b"", raw(actual, first.path)
    if key == ("QUEUE_FORMAT", "m_suffix_and_flags"):
        return _half(ours, theirs)
    if key == ("PROPVARIANT", "vt") and theirs is not None:
        return _type(int.from_bytes(ours, "little"), int.from_bytes(theirs, "little"))
    if key == ("TA_ADDRESS", "address") and theirs is not None and len(ours) == len(theirs):
        if len(ours) == 4:
            return ADDRESS[1][-1]
        if len(ours) == 10:
            return ADDRESS[3][1 if ours[:4] != theirs[:4] else 2]
    return None


def _inner(first: Leaf, wrong: Sequence[Leaf], leaves: Sequence[Leaf], expected: Decoded) -> str | None:
    """Return the requirement of a union's arm when the whole arm is wrong, as if for another selector; else None."""
    mine = [leaf for leaf in leaves if leaf.part == first.part]
    around = expected.parts[0]
    if first.part and set(mine) <= set(wrong):
        if around.structure == "QUEUE_FORMAT":
            return QFT[around.fields["QUEUE_FORMAT.m_qft"]][1]
        if around.structure == "PROPVARIANT":
            return VT_VALUE[around.fields["PROPVARIANT.vt"]][-1]
    return None


def _type(ours: int, theirs: int) -> str | None:
    """Return the requirement for the wrong part of a vt with VT_VECTOR; None for other types."""
    if not ours & 0x1000:
        return None
    if theirs == ours & 0x0FFF:
        return _VECTOR_COMBINED
    if theirs & 0x0FFF == ours & 0x0FFF:
        return _VECTOR_NUMBER
    return _VARIANT_NUMBER if ours == 0x100C and theirs & 0x1000 else None


def _half(ours: bytes, theirs: bytes | None) -> str:
    if not ours or not theirs:
        return queue_format.SUFFIX_AND_FLAGS
    low, high = (ours[0] ^ theirs[0]) & 0x0F, (ours[0] ^ theirs[0]) & 0xF0
    if low and not high:
        return SUFFIX[ours[0] & 0x0F][0]
    if high and not low:
        return FLAGS[ours[0] & 0xF0][0]
    return queue_format.SUFFIX_AND_FLAGS


def answers(leaf: Leaf, decoded: Decoded, *, everything: bool) -> tuple[str, ...]:
    """Return the requirements that the content of a leaf answers, the most telling first.

    everything: return every requirement that a correct leaf shows to hold.
    """
    key = (leaf.structure, leaf.member)
    fields = next(part.fields for part in decoded.parts if part.path == leaf.part)
    values: tuple[str, ...] = VALUES.get(key, ())
    out: tuple[str, ...]
    match key:
        case ("QUEUE_FORMAT", "m_qft"):
            out = QFT[fields["QUEUE_FORMAT.m_qft"]][:1]
        case ("QUEUE_FORMAT", "m_suffix_and_flags"):
            both = fields["QUEUE_FORMAT.m_SuffixAndFlags"]
            out = (*values, *SUFFIX.get(both & 0x0F, ()), *FLAGS.get(both & 0xF0, ()))
        case ("QUEUE_FORMAT", member) if member.startswith("m_") and member != "m_reserved":
            out = QFT[fields["QUEUE_FORMAT.m_qft"]][1:]
        case ("PROPVARIANT", "vt"):
            out = (*VT_TYPE[fields["PROPVARIANT.vt"]], *values)
        case ("PROPVARIANT", "value"):
            vt = fields["PROPVARIANT.vt"]
            bools = TRUTH[bool(fields.get("PROPVARIANT.boolVal"))] if vt == 11 else ()
            out = (*VT_VALUE[vt], *bools, *values)
        case ("VARIANT_BOOL", "value"):
            out = TRUTH[bool(fields["VARIANT_BOOL.Value"])]
        case ("TA_ADDRESS", "address_length"):
            out = (*values, *ADDRESS_LENGTH.get(fields["TA_ADDRESS.AddressType"], ()))
        case ("TA_ADDRESS", "address"):
            out = (*ADDRESS.get(fields["TA_ADDRESS.AddressType"], ()), *values)
        case _:
            out = values
    if everything:
        out = (*out, *PLACES.get(key, ()))
    return out or DECLARATIONS.get(leaf.structure, ())


def whole(decoded: Decoded) -> tuple[str, ...]:
    """Return the requirements that a structure shows to hold when every leaf is right."""
    out: list[str] = []
    for part in decoded.parts:
        out += DECLARATIONS.get(part.structure, ())
        out += ENUMERATIONS.get(part.structure, ())
        if part.structure == "QUEUE_FORMAT":
            out += QFT[part.fields["QUEUE_FORMAT.m_qft"]]
        if part.structure == "PROPVARIANT":
            out += VT_VALUE[part.fields["PROPVARIANT.vt"]]
        if part.structure in LISTS:
            out += VALUES[part.structure, "a_public_keys" if part.structure == LISTS[0] else "certificates"]
    return tuple(out)


def last(name: str, leaves: Sequence[Leaf]) -> str:
    """Return the requirement broken by bytes left behind a structure, or by members that do not belong to it."""
    known = DECLARATIONS.get(name)
    if known:
        return known[0]
    ends = {LISTS[0]: "a_public_keys", LISTS[1]: "certificates"}
    return VALUES[name, ends.get(name, leaves[-1].member)][0]


def left_over(name: str, decoded: Decoded) -> str:
    """Return the requirement broken by bytes behind a structure.

    It is that of the value of a PROPVARIANT that ends the structure and must not have one, where there is such a one.
    """
    leaves = leaves_of(decoded)
    end = leaves[-1]
    if end.structure == "PROPVARIANT" and end.member == "tag":
        return last(end.structure, leaves)
    return last(name, leaves)
