"""Bytes that must be refused, bytes that can be, and bytes whose odd values must change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.structure_rules import PLAIN
from conformance.judge.structures import member_requirement, whole_requirement
from conformance.spec.catalogue import requirement_id
from conformance.wire.structures import Decoded, decode, encode, patch

_PROPVARIANT = {"vt": 0x1013, "value": [7, 8]}


@dataclass(frozen=True, slots=True)
class Malformed:
    """name: words for the test id. requirement: what taking the bytes breaks.

    instead: the value they can be read as, where refusing them is not demanded.
    """

    name: str
    structure: str
    requirement: str
    data: bytes
    instead: Any = None


@dataclass(frozen=True, slots=True)
class Ignored:
    """Bytes that read as `value` all the same."""

    name: str
    structure: str
    requirement: str
    value: Any
    data: bytes


def _read(name: str, value: Any = None) -> Decoded:
    return decode(name, encode(name, PLAIN[name] if value is None else value))


def _cut() -> Iterator[Malformed]:
    """Each structure without its last byte, and without any."""
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
    """Counts of more than there is: by one, with the sign bit, and the highest; and in NDR of less."""
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
    """Texts whose counts reach behind the bytes, or contradict each other."""
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
    """Selectors that no table has."""
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


def _odd() -> Iterator[Malformed]:
    """Values outside a table that a reader can pass on as they are, and must not take for others."""
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
    # What fills a gap in NDR, and which number a pointer is, means nothing (C706 14.2.2 and 14.3.10).
    form = requirement_id("MQMQ-2.2.7.declaration")
    yield Ignored(f"{name}-gaps", name, form, value, encode(name, value, junk=0xA5))
    yield Ignored(f"{name}-pointer", name, form, value, patch(_read(name), {"m_p_direct_id.referent": 0x72}))


IGNORED: tuple[Ignored, ...] = tuple(_ignored())
