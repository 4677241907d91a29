"""Structures that must be refused, that may be refused, and whose odd values must have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.structures.judge import PLAIN, RULES, member_requirement, whole_requirement
from conformance.spec.catalogue import requirement_id
from conformance.wire.structures import Decoded, decode, encode, patch

_PROPVARIANT = {"vt": 0x1013, "value": [7, 8]}


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes to refuse. name: for the test id. requirement: the demand that accepting them breaks.

    instead: the value they may be read as, if refusing them is not demanded.
    """

    name: str
    structure: str
    requirement: str
    data: bytes
    instead: Any = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """Bytes with an ignored oddity, which read as `value`."""

    name: str
    structure: str
    requirement: str
    value: Any
    data: bytes


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A value that must not be written."""

    name: str
    structure: str
    requirement: str
    value: Any


def _read(name: str, value: Any = None) -> Decoded:
    return decode(name, encode(name, PLAIN[name] if value is None else value))


def _cut() -> Iterator[Malformed]:
    """Cut the last byte of each structure, and all bytes."""
    for name, value in PLAIN.items():
        data = encode(name, value)
        requirement = whole_requirement(name, value)
        yield Malformed(f"{name}-cut", name, requirement, data[:-1])
        yield Malformed(f"{name}-empty", name, requirement, b"")


_COUNTS: tuple[tuple[str, str], ...] = (
    ("MQDSPUBLICKEY", "ul_key_len"),
    ("MQDSPUBLICKEY", "ul_provider_len"),
    ("MQDSPUBLICKEYS", "c_numof_keys"),
    ("TA_ADDRESS", "address_length"),
    ("MQUSERSIGNCERT", "certificate_length"),
    ("MQUSERSIGNCERTS", "certificate_count"),
    ("BLOB", "cb_size"),
    *((name, "c_elems") for name in PLAIN if name.startswith("CA")),
)


def _counts() -> Iterator[Malformed]:
    """Yield counts too high by one, with the sign bit, and of the highest value; in NDR also too low."""
    for name, path in _COUNTS:
        found = _read(name)
        at, width = found.spans[path]
        right = int.from_bytes(found.data[at : at + width], "little")
        top = (1 << 8 * width) - 1
        requirement = member_requirement(name, path, PLAIN[name])
        for word, number in (("one-more", right + 1), ("sign-bit", (top >> 1) + 1), ("highest", top)):
            yield Malformed(f"{name}-{path}-{word}", name, requirement, patch(found, {path: number}))
        array = next((each for each in found.spans if each.endswith(".max_count")), None)
        if array is not None and path in ("cb_size", "c_elems"):
            for word, number in (("sign-bit", 0x80000000), ("highest", 0xFFFFFFFF)):
                data = patch(found, {array: number})
                yield Malformed(f"{name}-max-count-{word}", name, requirement, data)
            referent = array.replace(".max_count", ".referent")
            yield Malformed(f"{name}-null", name, requirement, patch(found, {referent: 0}))


_TEXTS: tuple[tuple[str, str, str], ...] = (
    ("DL_ID", "m_pwz_domain", "MQMQ-2.2.9.m-pwz-domain-text"),
    ("QUEUE_FORMAT", "m_p_direct_id", "MQMQ-2.2.7.m-p-direct-id"),
    ("CALPWSTR", "p_elems[0]", "MQMQ-2.2.16.7.p-elems"),
)


def _texts() -> Iterator[Malformed]:
    """Yield texts whose counts reach beyond the bytes or contradict each other."""
    for name, path, requirement in _TEXTS:
        found = _read(name)
        for count in ("max_count", "actual_count"):
            held = found.spans[f"{path}.actual_count"]
            right = int.from_bytes(found.data[held[0] : held[0] + 4], "little")
            for word, number in (("highest", 0xFFFFFFFF), ("sign-bit", 0x80000000)):
                both = {f"{path}.max_count": number, f"{path}.actual_count": number}
                if count == "actual_count":
                    yield Malformed(f"{name}-text-{word}", name, requirement, patch(found, both))
            if count == "max_count":
                data = patch(found, {f"{path}.max_count": right - 1})
                yield Malformed(f"{name}-text-overfull", name, requirement, data)


def _selectors() -> Iterator[Malformed]:
    """Yield selectors that no table has."""
    queue, variant = _read("QUEUE_FORMAT"), _read("PROPVARIANT")
    listed = requirement_id("MQMQ-2.2.7.m-qft")
    for number in (9, 255):
        data = patch(queue, {"m_qft": number, "tag": number})
        yield Malformed(f"QUEUE_FORMAT-type-{number}", "QUEUE_FORMAT", listed, data)
    known = requirement_id("MQMQ-2.2.13.1.vt")
    for number in (4, 8, 0x0FFF, 0x2003, 0xFFFF, 0x1004):
        data = patch(variant, {"vt": number, "tag": number})
        yield Malformed(f"PROPVARIANT-type-{number}", "PROPVARIANT", known, data)
    alone = requirement_id("MQMQ-2.2.12.vt-variant-vector")
    yield Malformed("PROPVARIANT-variant-alone", "PROPVARIANT", alone, patch(variant, {"vt": 12, "tag": 12}))
    # Half a type and nothing after it, which a reader may take for VT_EMPTY.
    empty = _read("PROPVARIANT", {"vt": 0})
    half = requirement_id("MQMQ-2.2.12.vt-vector-combined")
    for word, number, requirement in (("variant", 12, alone), ("vector", 0x1000, half)):
        data = patch(empty, {"vt": number, "tag": number})
        yield Malformed(f"PROPVARIANT-{word}-of-nothing", "PROPVARIANT", requirement, data)


def _odd() -> Iterator[Malformed]:
    """Yield values outside a table, which a reader may pass on unchanged but must not take for others."""
    yield _either("TA_ADDRESS", "type-4", "2.2.4.address-type", {"address_type": 4})
    short, long = {"address_type": 3}, {"address_type": 1, "address": "AQIDBAUGBwgJCg=="}
    yield _either("TA_ADDRESS", "length-ipx", "2.2.4.address-length-ipx", short)
    yield _either("TA_ADDRESS", "length-ip", "2.2.4.address-length-ip", long)
    yield _either("MQDSPUBLICKEY", "provider-2", "2.2.1.ul-provider-type-values", {"ul_provider_type": 2})
    held = _read("PROPVARIANT")
    union = requirement_id("MQMQ-2.2.13.1.var-union")
    yield Malformed("PROPVARIANT-tag", "PROPVARIANT", union, patch(held, {"tag": 3}), dict(PLAIN["PROPVARIANT"]))
    queue = _read("QUEUE_FORMAT")
    selected = requirement_id("MQMQ-2.2.7.union")
    yield Malformed("QUEUE_FORMAT-tag", "QUEUE_FORMAT", selected, patch(queue, {"tag": 8}), dict(PLAIN["QUEUE_FORMAT"]))
    flags = {"m_qft": 3, "m_suffix_and_flags": 0x80, "m_p_direct_id": "OS:host\\q"}
    none = requirement_id("MQMQ-2.2.7.suffix-none-flags")
    yield Malformed("QUEUE_FORMAT-flags", "QUEUE_FORMAT", none, encode("QUEUE_FORMAT", flags), flags)


def _either(name: str, word: str, requirement: str, changed: Mapping[str, Any]) -> Malformed:
    value = {**PLAIN[name], **changed}
    return Malformed(f"{name}-{word}", name, requirement_id(f"MQMQ-{requirement}"), encode(name, value), value)


MALFORMED: tuple[Malformed, ...] = (*_cut(), *_counts(), *_texts(), *_selectors())
ODD: tuple[Malformed, ...] = tuple(_odd())


def _ignored() -> Iterator[Ignored]:
    name, value = "PROPVARIANT", _PROPVARIANT
    found = _read(name, value)
    every: dict[str, int] = {}
    for number, width in ((1, 1), (2, 1), (3, 4)):
        requirement = requirement_id(f"MQMQ-2.2.13.1.w-reserved{number}-receiver")
        changed = {f"w_reserved{number}": (1 << 8 * width) - 1}
        every |= changed
        yield Ignored(f"{name}-reserved{number}", name, requirement, value, patch(found, changed))
    last = requirement_id("MQMQ-2.2.13.1.w-reserved3-receiver")
    yield Ignored(f"{name}-all-reserved", name, last, value, patch(found, every))
    name, value = "QUEUE_FORMAT", dict(PLAIN["QUEUE_FORMAT"])
    requirement = requirement_id("MQMQ-2.2.7.m-reserved-receiver")
    for number in (1, 0x8000, 0xFFFF):
        data = patch(_read(name), {"m_reserved": number})
        yield Ignored(f"{name}-reserved-{number:#x}", name, requirement, {**value, "m_reserved": number}, data)
    # The bytes in a gap of NDR and the number of a pointer have no meaning (C706 14.2.2 and 14.3.10).
    form = requirement_id("MQMQ-2.2.7.declaration")
    yield Ignored(f"{name}-gaps", name, form, value, encode(name, value, junk=0xA5))
    yield Ignored(f"{name}-pointer", name, form, value, patch(_read(name), {"m_p_direct_id.referent": 0x72}))


IGNORED: tuple[Ignored, ...] = tuple(_ignored())


_UNIONS: Mapping[int, Mapping[str, Any]] = {
    1: {"m_g_public_id": PLAIN["XACTUOW"]["rgb"]},
    4: {"m_g_machine_id": PLAIN["XACTUOW"]["rgb"]},
    5: {"m_g_connector_id": PLAIN["XACTUOW"]["rgb"]},
    8: {"m_p_direct_subqueue_id": "OS:host\\private$\\q;sub"},
}
# Each suffix type of 2.2.7 with wrong flags for a fitting type, then with its flags for a wrong type. The text gives no
# flags of XACTONLY.
_SUFFIXES: tuple[tuple[str, int, int], ...] = (
    ("none-flags", 1, 0x80),
    ("none-type", 4, 0x00),
    ("journal-flags", 1, 0x01),
    ("journal-type", 5, 0x81),
    ("deadletter-flags", 4, 0x02),
    ("deadletter-type", 1, 0x82),
    ("deadxact-flags", 4, 0x03),
    ("deadxact-type", 1, 0x83),
    ("xactonly-type", 1, 0x04),
    ("subqueue-flags", 8, 0x85),
    ("subqueue-type", 1, 0x05),
)


def _forbidden() -> Iterator[Forbidden]:
    for rule in RULES:
        if rule.structure == "TA_ADDRESS" and rule.breaks.instead is not None:
            name = f"TA_ADDRESS-{rule.requirement.rpartition('.')[2]}"
            yield Forbidden(name, rule.structure, rule.requirement, rule.breaks.instead)
    for word, qft, both in _SUFFIXES:
        value = {"m_qft": qft, "m_suffix_and_flags": both, **_UNIONS[qft]}
        yield Forbidden(f"QUEUE_FORMAT-{word}", "QUEUE_FORMAT", requirement_id(f"MQMQ-2.2.7.suffix-{word}"), value)


FORBIDDEN: tuple[Forbidden, ...] = tuple(_forbidden())
