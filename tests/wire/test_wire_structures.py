"""Structures beside packets: scapy's NDR machinery as a second opinion, known bytes, and every count bounded."""

import subprocess
import sys
import uuid
from typing import Any

import pytest
from cases import all_of
from scapy_ndr import NAMES, layer, parameter

from conformance.judge.structures.judge import PLAIN
from conformance.suites.structures.checks import QUEUE_FORMATS, VARIANTS, Kind
from conformance.wire.structures import STRUCTURES, StructureError, complete, decode, encode, patch
from conformance.wire.structures.reading import MAX_DEPTH

GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
BEYOND_SCAPY = ("vector-lpwstr", "vector-variant", "CALPWSTR", "CAPROPVARIANT")
KINDS = [kind for kind in (*QUEUE_FORMATS, *VARIANTS) if not kind.name.endswith(BEYOND_SCAPY)]


@all_of("kind", KINDS, ids=lambda kind: kind.name)
def test_scapy_reads_and_writes_the_same(kind: Kind) -> None:
    data = encode(kind.structure, kind.example)
    packet = parameter(kind.structure)(data, ndr64=False)
    assert not packet.payload
    packet.clear_cache()
    packet.value.clear_cache()
    assert bytes(packet) == data


def test_scapy_tells_the_members() -> None:
    data = encode(
        "QUEUE_FORMAT", {"m_qft": 6, "m_suffix_and_flags": 0, "m_dl_id": {"m_dl_guid": GUID, "m_pwz_domain": "d.e"}}
    )
    value = parameter("QUEUE_FORMAT")(data, ndr64=False).value
    assert value.m_qft == 6 and value.Union.tag == 6
    assert value.Union.value.m_DlGuid.Data1 == uuid.UUID(GUID).fields[0]
    assert "d.e" in value.show(dump=True)
    held = parameter("PROPVARIANT")(encode("PROPVARIANT", {"vt": 3, "value": -2}), ndr64=False).value
    assert held._varUnion.value == -2


def test_what_scapy_has_no_packet_of() -> None:
    assert {"QUEUE_FORMAT", "PROPVARIANT", "DL_ID", "BLOB"} <= set(NAMES)
    for name in ("CALPWSTR", "NOTHING"):
        with pytest.raises(KeyError):
            layer(name)


# By hand from the diagrams of the sections and from C706 chapter 14.
KNOWN: tuple[tuple[str, Any, str], ...] = (
    ("TA_ADDRESS", {"address_type": 1, "address": "wKgBAg=="}, "0400 0100 c0a80102"),
    ("SEQUENCE_INFO", {"seq_id": "-2", "seq_no": 4, "prev_no": 3}, "feffffffffffffff 04000000 03000000"),
    ("OBJECTID", {"lineage": GUID, "uniquifier": 5}, "523c1f7a6e0b6f4d9a576f5b2f3f9a10 05000000"),
    ("VARIANT_BOOL", True, "ffff"),
    (
        "MQDSPUBLICKEYS",
        {"a_public_keys": [{"ul_provider_type": 1, "s_provider_name": "p", "a_buf": "AAEC"}]},
        "1b000000 01000000 03000000 04000000 01000000 7000 0000 000102",
    ),
    ("QUEUE_FORMAT", {"m_qft": 0, "m_suffix_and_flags": 0}, "00 00 0000 00"),
    (
        "QUEUE_FORMAT",
        {"m_qft": 1, "m_suffix_and_flags": 0x81, "m_g_public_id": GUID},
        "01 81 0000 01 000000 523c1f7a6e0b6f4d9a576f5b2f3f9a10",
    ),
    (
        "QUEUE_FORMAT",
        {"m_qft": 3, "m_suffix_and_flags": 0, "m_p_direct_id": "OS:h"},
        "03 00 0000 03 000000 00000200 05000000 00000000 05000000 4f00 5300 3a00 6800 0000",
    ),
    ("PROPVARIANT", {"vt": 20, "value": "-2"}, "1400 00 00 00000000 1400 000000000000 feffffffffffffff"),
    ("PROPVARIANT", {"vt": 16, "value": -2}, "1000 00 00 00000000 1000 fe"),
    (
        "PROPVARIANT",
        {"vt": 0x1015, "value": ["1"]},
        "1510 00 00 00000000 1510 0000 01000000 00000200 01000000 00000000 0100000000000000".replace(
            "00000200 01000000 00000000", "00000200 01000000"
        ),
    ),
    (
        "CAPROPVARIANT",
        {"p_elems": [{"vt": 0}, {"vt": 31, "value": "a"}]},
        "02000000 00000200 02000000 00000000 0000 0000 00000000 0000 000000000000 1f00 0000 00000000 1f00 0000 04000200"
        " 02000000 00000000 02000000 6100 0000",
    ),
)


@pytest.mark.parametrize(("name", "value", "text"), KNOWN)
def test_known_bytes(name: str, value: Any, text: str) -> None:
    data = bytes.fromhex(text)
    assert encode(name, value).hex() == data.hex()
    assert decode(name, data).value == complete(name, value)


def _numbers() -> list[tuple[str, str]]:
    wanted = ("count", "c_elems", "cb_size", "len", "length", "numof_keys")
    return [
        (name, path)
        for name, value in PLAIN.items()
        for path in decode(name, encode(name, value)).spans
        if path.rpartition(".")[2].endswith(wanted)
    ]


@all_of(("name", "path"), _numbers())
def test_any_number_in_a_count_is_bounded(name: str, path: str) -> None:
    """0, 1, the remaining bytes and one more, around the sign bit, and the highest: read or told, in bounded memory."""
    found = decode(name, encode(name, PLAIN[name]))
    at, width = found.spans[path]
    top, left = (1 << 8 * width) - 1, len(found.data) - at - width
    for number in (0, 1, left, left + 1, top >> 1, (top >> 1) + 1, top - 1, top):
        again = decode(name, patch(found, {path: number}))
        assert again.whole or again.trouble or again.extra
        assert sum(len(part.fields) for part in again.parts) < 50 * len(found.data)


def test_nesting_is_bounded() -> None:
    value: dict[str, Any] = {"vt": 0}
    for _ in range(MAX_DEPTH - 2):
        value = {"vt": 0x100C, "value": [value]}
    assert decode("PROPVARIANT", encode("PROPVARIANT", value)).whole
    for _ in range(200):
        value = {"vt": 0x100C, "value": [value]}
    assert [each.code for each in decode("PROPVARIANT", encode("PROPVARIANT", value)).trouble] == ["depth"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TA_ADDRESS", {"address_type": 1}),
        ("TA_ADDRESS", {"address_type": 65536, "address": ""}),
        ("QUEUE_FORMAT", {"m_qft": 9, "m_suffix_and_flags": 0}),
        ("OBJECTID", {"lineage": "no", "uniquifier": 0}),
        ("SEQUENCE_INFO", 7),
    ],
)
def test_a_value_that_does_not_fit_is_told(name: str, value: Any) -> None:
    with pytest.raises(StructureError, match=name):
        encode(name, value)


def test_every_table_has_a_value_and_its_section() -> None:
    for name, table in STRUCTURES.items():
        assert table.source.startswith("MS-MQMQ 2.2."), name
        assert decode(name, encode(name, PLAIN[name])).whole


def test_reading_a_structure_does_not_import_scapys_ndr() -> None:
    code = "import sys, conformance.wire.structures; sys.exit('scapy.layers.dcerpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
