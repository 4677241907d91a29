"""Finds the requirement that an implementation broke when it wrote a structure wrongly.

The first number that differs is blamed: on its place, where its neighbours are wrong as well or where it appears
elsewhere; otherwise on its value, by the bits that differ where these identify a finer requirement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.grammar import queue_format
from conformance.judge.packets.judge import shown
from conformance.judge.structures import ids as ids
from conformance.spec.catalogue import requirement_id
from conformance.wire.structures import Decoded, Part

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
    return shown(held) if held is not None else None


def blame(wrong: Sequence[Leaf], leaves: Sequence[Leaf], expected: Decoded, actual: Decoded) -> str:
    """Return the broken requirement. wrong: the leaves that differ, in order; leaves: all leaves."""
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
            return ids.ADDRESS[1][-1]
        if len(ours) == 10:
            return ids.ADDRESS[3][1 if ours[:4] != theirs[:4] else 2]
    return None


def _inner(first: Leaf, wrong: Sequence[Leaf], leaves: Sequence[Leaf], expected: Decoded) -> str | None:
    """Return the requirement of a union's arm when the whole arm is wrong, as if for another selector; else None."""
    mine = [leaf for leaf in leaves if leaf.part == first.part]
    around = expected.parts[0]
    if first.part and set(mine) <= set(wrong):
        if around.structure == "QUEUE_FORMAT":
            return ids.QFT[around.fields["QUEUE_FORMAT.m_qft"]][1]
        if around.structure == "PROPVARIANT":
            return ids.VT_VALUE[around.fields["PROPVARIANT.vt"]][-1]
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
        return ids.SUFFIX[ours[0] & 0x0F][0]
    if high and not low:
        return ids.FLAGS[ours[0] & 0xF0][0]
    return queue_format.SUFFIX_AND_FLAGS


def answers(leaf: Leaf, decoded: Decoded, *, everything: bool) -> tuple[str, ...]:
    """Return the requirements that the content of a leaf answers, the most telling first.

    everything: return every requirement that a correct leaf shows to hold.
    """
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


def whole(decoded: Decoded) -> tuple[str, ...]:
    """Return the requirements that a structure shows to hold when every leaf is right."""
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


def last(name: str, leaves: Sequence[Leaf]) -> str:
    """Return the requirement broken by bytes left behind a structure, or by members that do not belong to it."""
    known = ids.DECLARATIONS.get(name)
    if known:
        return known[0]
    ends = {LISTS[0]: "a_public_keys", LISTS[1]: "certificates"}
    return ids.VALUES[name, ends.get(name, leaves[-1].member)][0]


def left_over(name: str, decoded: Decoded) -> str:
    """Return the requirement broken by bytes behind a structure.

    It is that of the value of a PROPVARIANT that ends the structure and must not have one, where there is such a one.
    """
    leaves = leaves_of(decoded)
    end = leaves[-1]
    if end.structure == "PROPVARIANT" and end.member == "tag":
        return last(end.structure, leaves)
    return last(name, leaves)
