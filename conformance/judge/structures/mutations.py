"""Mutations of written structures: bytes moved or changed, each with the requirement that must be blamed.

The rules of `rules` need only the bytes; these mutations break what shows only against the intended value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.judge.structures.blame import ARRAYS
from conformance.judge.structures.judge import PLAIN, compare_encoded
from conformance.spec.catalogue import assignment, requirement_id
from conformance.verdict import Outcome
from conformance.wire.structures import Decoded, decode, encode, patch

Change = Callable[[Decoded], bytes]


@dataclass(frozen=True, slots=True)
class WrittenWrong:
    """The encoding of `value` with one mistake. requirement: the one that must be blamed."""

    requirement: str
    structure: str
    value: Any
    change: Change

    def data(self) -> bytes:
        """Return the wrong bytes."""
        return self.change(decode(self.structure, encode(self.structure, self.value)))


def caught(mutation: WrittenWrong) -> bool:
    """Return True when the right bytes pass and the wrong bytes fail first at the expected requirement."""
    name, value, readings = mutation.structure, mutation.value, assignment("windows")
    right = list(compare_encoded(name, value, encode(name, value), readings=readings))
    wrong = compare_encoded(name, value, mutation.data(), readings=readings)
    failed = [verdict.requirement for verdict in wrong if verdict.outcome is Outcome.FAIL]
    return all(verdict.outcome is Outcome.PASS for verdict in right) and failed[:1] == [mutation.requirement]


def swapped(first: str, second: str) -> Change:
    """Swap two neighbours."""

    def change(decoded: Decoded) -> bytes:
        (at, length), (then, size) = decoded.spans[first], decoded.spans[second]
        data = decoded.data
        return data[:at] + data[then : then + size] + data[at : at + length] + data[then + size :]

    return change


def reversed_bytes(path: str) -> Change:
    """Write a member with its highest byte first."""

    def change(decoded: Decoded) -> bytes:
        at, length = decoded.spans[path]
        data = decoded.data
        return data[:at] + data[at : at + length][::-1] + data[at + length :]

    return change


def less(path: str, by: int = 1) -> Change:
    """Write a number smaller by `by`."""

    def change(decoded: Decoded) -> bytes:
        at, length = decoded.spans[path]
        number = int.from_bytes(decoded.data[at : at + length], "little") - by
        return patch(decoded, {path: number})

    return change


def narrow(path: str, to: int = 2) -> Change:
    """Write a member in fewer bytes."""

    def change(decoded: Decoded) -> bytes:
        at, length = decoded.spans[path]
        return decoded.data[: at + to] + decoded.data[at + length :]

    return change


def put(**numbers: int) -> Change:
    """Overwrite numbers; in a keyword, `__` replaces the dot of a path."""
    return lambda decoded: patch(decoded, {path.replace("__", "."): number for path, number in numbers.items()})


def _extra(decoded: Decoded) -> bytes:
    return decoded.data + b"\0\0\0\0"


def _wrong(section: str, word: str, structure: str, change: Change, value: Any = None) -> WrittenWrong:
    name = requirement_id(f"MQMQ-{section}.{word}")
    return WrittenWrong(name, structure, PLAIN[structure] if value is None else value, change)


def _keys() -> Iterator[WrittenWrong]:
    key, keys, s = "MQDSPUBLICKEY", "MQDSPUBLICKEYS", "2.2.1"
    yield _wrong(s, "ul-key-len-place", key, swapped("ul_key_len", "ul_provider_len"))
    yield _wrong(s, "ul-key-len", key, less("ul_key_len"))
    yield _wrong(s, "ul-provider-len-place", key, swapped("ul_provider_len", "ul_provider_type"))
    yield _wrong(s, "ul-provider-len", key, less("ul_provider_len", 2))
    yield _wrong(s, "ul-provider-type", key, reversed_bytes("ul_provider_type"))
    yield _wrong(s, "s-provider-name", key, put(s_provider_name=0))
    yield _wrong(s, "a-buf-place", key, _cut_before("a_buf"))
    yield _wrong("2.2.2", "ul-len-place", keys, swapped("ul_len", "c_numof_keys"))
    yield _wrong("2.2.2", "ul-len", keys, less("ul_len", 8))
    yield _wrong("2.2.2", "c-numof-keys", keys, less("c_numof_keys"))
    yield _wrong("2.2.2", "a-public-keys", keys, _extra)


def _cut_before(path: str) -> Change:
    def change(decoded: Decoded) -> bytes:
        at, _ = decoded.spans[path]
        return decoded.data[:at] + b"\0\0" + decoded.data[at:]

    return change


def _numbers() -> Iterator[WrittenWrong]:
    yield _wrong("2.2.3", "declaration", "SECURITY_INFORMATION", _extra)
    address = "TA_ADDRESS"
    yield _wrong("2.2.4", "declaration", address, _extra)
    yield _wrong("2.2.4", "address-length-place", address, swapped("address_length", "address_type"))
    yield _wrong("2.2.4", "address-length", address, less("address_length"))
    yield _wrong("2.2.4", "address-type", address, put(address_type=2))
    kinds: tuple[tuple[int, str, str, str], ...] = (
        (1, "2.2.4.1", "ip-address", "AQIDBA=="),
        (3, "2.2.4.2", "netnum", "AQIDBAUGBwgJCg=="),
        (5, "2.2.4", "foreign-address-type", "AQIDBAUGBwgJCgsMDQ4PEA=="),
    )
    for kind, section, word, held in kinds:
        value = {"address_type": kind, "address": held}
        yield _wrong(section, word, address, reversed_bytes("address"), value)
    ipx = {"address_type": 3, "address": kinds[1][3]}
    yield _wrong("2.2.4.2", "nodenum", address, lambda one: one.data[:-1] + b"\0", ipx)
    sequence = "SEQUENCE_INFO"
    yield _wrong("2.2.5", "declaration", sequence, swapped("seq_no", "prev_no"))
    yield _wrong("2.2.5.1", "seq-id", sequence, reversed_bytes("seq_id"))
    yield _wrong("2.2.5.1", "seq-no", sequence, less("seq_no"))
    yield _wrong("2.2.5.1", "prev-no", sequence, less("prev_no"))
    yield _wrong("2.2.8", "declaration", "OBJECTID", swapped("lineage", "uniquifier"))
    yield _wrong("2.2.8", "lineage", "OBJECTID", reversed_bytes("lineage"))
    yield _wrong("2.2.8", "uniquifier", "OBJECTID", less("uniquifier"))
    yield _wrong("2.2.10", "declaration", "MULTICAST_ID", swapped("m_address", "m_port"))
    yield _wrong("2.2.10", "m-address", "MULTICAST_ID", reversed_bytes("m_address"))
    yield _wrong("2.2.10", "m-port", "MULTICAST_ID", reversed_bytes("m_port"))
    yield _wrong("2.2.14", "declaration", "VARIANT_BOOL", _extra)
    yield _wrong("2.2.14", "variant-true", "VARIANT_BOOL", put(value=1))
    yield _wrong("2.2.14", "variant-false", "VARIANT_BOOL", put(value=0xFFFF), value=False)
    yield _wrong("2.2.17", "declaration", "ULARGE_INTEGER", _extra)
    yield _wrong("2.2.17", "quad-part", "ULARGE_INTEGER", reversed_bytes("quad_part"))
    yield _wrong("2.2.18.1.8", "xactuow", "XACTUOW", _extra)
    yield _wrong("2.2.18.1.8", "rgb", "XACTUOW", reversed_bytes("rgb"))


def _certificates() -> Iterator[WrittenWrong]:
    one, s = "MQUSERSIGNCERT", "2.2.22"
    yield _wrong(s, "digest", one, put(digest=0))
    yield _wrong(s, "identifier", one, reversed_bytes("identifier"))
    yield _wrong(s, "certificate-length", one, less("certificate_length"))
    yield _wrong(s, "certificate", one, reversed_bytes("certificate"))
    several = "MQUSERSIGNCERTS"
    yield _wrong("2.2.21", "certificate-count", several, less("certificate_count"))
    yield _wrong("2.2.21", "certificates", several, _extra)


_INNER = ("private", "dl", "multicast")


def _zero(path: str) -> Change:
    """Write zeros from a member to the end."""

    def change(decoded: Decoded) -> bytes:
        at = min(span[0] for name, span in decoded.spans.items() if name.startswith(f"{path}."))
        return decoded.data[:at] + bytes(len(decoded.data) - at)

    return change


def _queue_formats() -> Iterator[WrittenWrong]:
    name = "QUEUE_FORMAT"
    guid, held = PLAIN["OBJECTID"]["lineage"], dict(PLAIN["OBJECTID"])
    arms: dict[int, tuple[str, str, Any, str]] = {
        1: ("public", "m_g_public_id", guid, "m-g-public-id"),
        2: ("private", "m_o_private_id", held, "m-o-private-id"),
        3: ("direct", "m_p_direct_id", "OS:host\\q", "m-p-direct-id"),
        4: ("machine", "m_g_machine_id", guid, "m-g-machine-id"),
        5: ("connector", "m_g_connector_id", guid, "m-g-connector-id"),
        6: ("dl", "m_dl_id", dict(PLAIN["DL_ID"]), "m-dl-id"),
        7: ("multicast", "m_multicast_id", dict(PLAIN["MULTICAST_ID"]), "m-multicast-id"),
        8: ("subqueue", "m_p_direct_subqueue_id", "OS:host\\q;s", "m-p-direct-subqueue-id"),
    }
    yield _wrong("2.2.6", "queue-format-type-unknown", name, put(m_qft=9), {"m_qft": 0, "m_suffix_and_flags": 0})
    for qft, (kind, member, content, word) in arms.items():
        both = {4: 0x81, 8: 0x05}.get(qft, 0)
        value = {"m_qft": qft, "m_suffix_and_flags": both, member: content}
        yield _wrong("2.2.6", f"queue-format-type-{kind}", name, put(m_qft=9, tag=9), value)
        yield _wrong("2.2.7", word, name, reversed_bytes(member) if kind not in _INNER else _zero(member), value)
    suffixes = ((0, 3, 0x00, "none"), (1, 4, 0x81, "journal"), (2, 4, 0x82, "deadletter"), (3, 4, 0x83, "deadxact"))
    for number, qft, both, word in (*suffixes, (4, 5, 0x04, "xactonly"), (5, 8, 0x05, "subqueue")):
        _, member, content, _ = arms[qft]
        value = {"m_qft": qft, "m_suffix_and_flags": both, member: content}
        other = put(m_suffix_and_flags=(both & 0xF0) | (number + 1) % 6)
        yield _wrong("2.2.11", f"queue-suffix-type-{word}", name, other, value)
    machine = {"m_qft": 4, "m_suffix_and_flags": 0x81, "m_g_machine_id": guid}
    yield _wrong("2.2.7", "queue-format-flag-system", name, put(m_suffix_and_flags=0x01), machine)
    yield _wrong("2.2.7", "queue-format-flag-not-system", name, put(m_suffix_and_flags=0x80))
    yield _wrong("2.2.7", "m-suffix-and-flags", name, put(m_suffix_and_flags=0x18), machine)
    yield _wrong("2.2.7", "m-qft-place", name, swapped("m_qft", "m_suffix_and_flags"), machine)
    yield _wrong("2.2.7", "union", name, put(tag=1))
    yield _wrong("2.2.7", "declaration", name, _extra)
    yield _wrong("2.2.9", "declaration", "DL_ID", _extra)
    yield _wrong("2.2.9", "m-dl-guid", "DL_ID", reversed_bytes("m_dl_guid"))
    yield _wrong("2.2.9", "m-pwz-domain", "DL_ID", reversed_bytes("m_pwz_domain"))
    yield _wrong("2.2.9", "m-pwz-domain-text", "DL_ID", less("m_pwz_domain.actual_count"))


_SCALARS: dict[int, tuple[str, Any]] = {
    2: ("i2", -2),
    3: ("i4", -2),
    11: ("bool", True),
    16: ("i1", -2),
    17: ("ui1", 254),
    18: ("ui2", 0xFFFE),
    19: ("ui4", 0xFFFFFFFE),
    20: ("i8", "-2"),
    21: ("ui8", "18446744073709551614"),
    31: ("lpwstr", "text"),
    72: ("clsid", PLAIN["OBJECTID"]["lineage"]),
}
_VECTORS = {
    "CAUB": 17,
    "CAUI": 18,
    "CAL": 3,
    "CAUL": 19,
    "CAUH": 21,
    "CACLSID": 72,
    "CALPWSTR": 31,
    "CAPROPVARIANT": 12,
}
_MEMBERS = ("caub", "caui", "cal", "caul", "cauh", "cauuid", "calpwstr", "capropvar")


def _variants() -> Iterator[WrittenWrong]:
    name, s = "PROPVARIANT", "2.2.12"
    for vt, word in ((0, "empty"), (1, "null")):
        yield _wrong(s, f"vt-{word}", name, put(vt=4, tag=4), {"vt": vt})
    for vt, (word, held) in _SCALARS.items():
        value = {"vt": vt, "value": held}
        yield _wrong(s, f"vt-{word}", name, put(vt=4, tag=4), value)
        change = narrow("value", 0) if vt in (16, 17) else put(value=0x55)
        yield _wrong(s, f"vt-{word}-value", name, change, value)
    yield _wrong(s, "vt-blob", name, put(vt=4, tag=4), {"vt": 65, "value": "AAEC"})
    for (array, vt), member in zip(_VECTORS.items(), _MEMBERS, strict=True):
        held = PLAIN[array]["p_elems"]
        value = {"vt": 0x1000 | vt, "value": held}
        yield _wrong("2.2.13.1", member, name, put(vt=4, tag=4), value)
    several = {"vt": 0x1013, "value": [1, 2]}
    yield _wrong(s, "vt-vector-combined", name, put(vt=0x13, tag=0x13), several)
    yield _wrong(s, "vt-vector", name, put(vt=0x2013, tag=0x2013), several)
    yield _wrong(s, "vt-vector-value", name, _zero("value"), several)
    variants = {"vt": 0x100C, "value": [{"vt": 3, "value": 1}]}
    yield _wrong(s, "vt-variant", name, put(vt=0x1009, tag=0x1009), variants)
    yield _wrong(s, "vt-variant-value", name, _zero("value"), variants)
    yield _wrong(s, "vt-blob-value", name, _zero("value"), {"vt": 65, "value": "AQID"})
    yield _wrong("2.2.13.1", "vt-place", name, lambda one: b"\0\0" + one.data)
    yield _wrong("2.2.13.1", "var-union-place", name, lambda one: one.data[:7] + one.data[8:])
    yield _wrong("2.2.13.1", "declaration", name, _extra)


def _arrays() -> Iterator[WrittenWrong]:
    yield _wrong("2.2.15", "declaration", "BLOB", _extra)
    yield _wrong("2.2.15", "cb-size", "BLOB", put(cb_size=2))
    yield _wrong("2.2.15", "p-blob-data", "BLOB", reversed_bytes("p_blob_data"))
    for number, name in enumerate(ARRAYS, start=1):
        section = f"2.2.16.{number}"
        yield _wrong(section, "declaration", name, _extra)
        yield _wrong(section, "c-elems", name, less("c_elems"))
        yield _wrong(section, "c-elems-place", name, swapped("c_elems", "p_elems.referent"))
        if name in ("CAPROPVARIANT", "CALPWSTR"):
            yield _wrong(section, "p-elems", name, put(p_elems__max_count=1))
        else:
            yield _wrong(section, "p-elems", name, reversed_bytes("p_elems" if name == "CAUB" else "p_elems[0]"))


# Values of QUEUE_FORMAT that break one demand of the table of 2.2.7 or of its texts; any sender may produce them.
_QUEUE: tuple[tuple[str, int, int, str, Any], ...] = (
    ("suffix-none-flags", 3, 0x80, "m_p_direct_id", "OS:host\\q"),
    ("suffix-none-type", 4, 0x00, "m_g_machine_id", PLAIN["OBJECTID"]["lineage"]),
    ("suffix-journal-flags", 1, 0x01, "m_g_public_id", PLAIN["OBJECTID"]["lineage"]),
    ("suffix-journal-type", 5, 0x81, "m_g_connector_id", PLAIN["OBJECTID"]["lineage"]),
    ("suffix-deadletter-flags", 4, 0x02, "m_g_machine_id", PLAIN["OBJECTID"]["lineage"]),
    ("suffix-deadletter-type", 1, 0x82, "m_g_public_id", PLAIN["OBJECTID"]["lineage"]),
    ("suffix-deadxact-flags", 4, 0x03, "m_g_machine_id", PLAIN["OBJECTID"]["lineage"]),
    ("suffix-deadxact-type", 2, 0x83, "m_o_private_id", PLAIN["OBJECTID"]),
    ("suffix-xactonly-type", 3, 0x04, "m_p_direct_id", "OS:host\\q"),
    ("suffix-subqueue-flags", 8, 0x85, "m_p_direct_subqueue_id", "OS:host\\q;s"),
    ("suffix-subqueue-type", 3, 0x05, "m_p_direct_id", "OS:host\\q"),
    ("m-suffix-and-flags", 3, 0x06, "m_p_direct_id", "OS:host\\q"),
    ("m-p-direct-id", 3, 0x00, "m_p_direct_id", "OS:host"),
    ("m-p-direct-subqueue-id-grammar", 8, 0x05, "m_p_direct_subqueue_id", "host\\q;s"),
    ("m-p-direct-subqueue-id-subqueue", 8, 0x05, "m_p_direct_subqueue_id", "OS:host\\q"),
    ("suffix-none", 3, 0x00, "m_p_direct_id", "OS:host\\SYSTEM$;DEADXACT"),
    ("suffix-journal", 3, 0x81, "m_p_direct_id", "OS:host\\SYSTEM$;DEADXACT"),
    ("suffix-deadletter", 3, 0x82, "m_p_direct_id", "OS:host\\SYSTEM$;DEADXACT"),
    ("suffix-deadxact", 3, 0x83, "m_p_direct_id", "OS:host\\SYSTEM$;JOURNAL"),
)
QUEUE_FORMATS: tuple[tuple[str, bytes], ...] = (
    *(
        (
            requirement_id(f"MQMQ-2.2.7.{word}"),
            encode("QUEUE_FORMAT", {"m_qft": qft, "m_suffix_and_flags": both, member: held}),
        )
        for word, qft, both, member, held in _QUEUE
    ),
    (
        requirement_id("MQMQ-2.2.7.m-qft"),
        patch(decode("QUEUE_FORMAT", encode("QUEUE_FORMAT", {"m_qft": 0, "m_suffix_and_flags": 0})), {"m_qft": 9}),
    ),
    (
        requirement_id("MQMQ-2.2.7.m-reserved-sender"),
        encode("QUEUE_FORMAT", {**PLAIN["QUEUE_FORMAT"], "m_reserved": 1}),
    ),
)
"""Pairs of a requirement and a QUEUE_FORMAT that breaks it and no other."""

MUTATIONS: tuple[WrittenWrong, ...] = (
    *_keys(),
    *_numbers(),
    *_certificates(),
    *_queue_formats(),
    *_variants(),
    *_arrays(),
)
