"""Structures: bytes worked out by hand, every value there and back, what is refused, and damage."""

from __future__ import annotations

import base64
import hashlib
import struct
import uuid
from typing import Any

import pytest
from cases import all_of
from embedded_structures import CERTIFICATE, FORMATS, GUID, NO_VALUES, OBJECT, TRANSFER, VALUES
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.adapter.protocol import validator
from conformance.embedded.entities import MqError
from conformance.embedded.names import NameParser
from conformance.embedded.structures import STRUCTURES, Structures
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER

CODEC = Structures(NameParser("msmq-4.0"))
RAW_GUID = uuid.UUID(GUID).bytes_le


def encode(structure: str, value: Any) -> bytes:
    return base64.b64decode(CODEC.encode(structure, value))


def decode(structure: str, data: bytes) -> Any:
    return CODEC.decode(structure, base64.b64encode(data).decode())


def refused(structure: str, data: bytes) -> None:
    with pytest.raises(MqError) as failure:
        decode(structure, data)
    assert failure.value.status == MQ_ERROR_INVALID_PARAMETER


def text(value: str) -> bytes:
    """A [string] as NDR has it."""
    wide = (value + "\0").encode("utf-16-le")
    return struct.pack("<III", len(wide) // 2, 0, len(wide) // 2) + wide


@all_of(("structure", "value"), VALUES, ids=lambda item: item if isinstance(item, str) else "")
def test_what_is_written_is_read_again(structure: str, value: Any) -> None:
    read = decode(structure, encode(structure, value))
    validator("structures.decode", "result")({"status": 0, "value": read})
    assert encode(structure, read) == encode(structure, value)
    for name, member in value.items() if isinstance(value, dict) else ():
        if isinstance(member, str) and member.endswith("\0"):
            assert read[name].startswith(member)
        elif isinstance(member, (str, int)) or member is None:
            assert read[name] == member
    if not isinstance(value, dict):
        assert read == value


def test_every_structure_is_tried() -> None:
    assert {structure for structure, _ in VALUES} == STRUCTURES


@all_of(("structure", "value"), NO_VALUES, ids=lambda item: str(item)[:60])
def test_what_no_structure_can_say(structure: str, value: Any) -> None:
    with pytest.raises(MqError) as failure:
        encode(structure, value)
    assert failure.value.status == MQ_ERROR_INVALID_PARAMETER


PAIR = struct.Struct("<II")
POINTER = struct.pack("<I", 0x00020000)


@pytest.mark.parametrize(
    ("structure", "value", "expected"),
    [
        ("OBJECTID", OBJECT, RAW_GUID + bytes([4, 3, 2, 1])),
        ("TxSequenceID", {"ordinal": 6, "time_stamp": 0x432B1643}, bytes.fromhex("0600000043162b43")),
        ("VARIANT_BOOL", True, b"\xff\xff"),
        (
            "MQUSERSIGNCERTS",
            {"certificates": [CERTIFICATE]},
            b"\1\0\0\0" + hashlib.md5(b"0\x82\1").digest() + RAW_GUID + b"\3\0\0\0" + b"0\x82\1",
        ),
        ("TA_ADDRESS", {"address_type": 1, "address": "AQIDBA=="}, bytes([4, 0, 1, 0, 1, 2, 3, 4])),
        ("BLOB", {"p_blob_data": "AQID"}, b"\3\0\0\0" + POINTER + b"\3\0\0\0" + b"\1\2\3"),
        ("QUEUE_FORMAT", FORMATS[0], bytes(5)),
        ("QUEUE_FORMAT", FORMATS[1], bytes([1, 0x81, 0, 0, 1, 0, 0, 0]) + RAW_GUID),
        ("QUEUE_FORMAT", FORMATS[3], bytes([3, 0, 0, 0, 3, 0, 0, 0]) + POINTER + text(FORMATS[3]["m_p_direct_id"])),
        ("PROPVARIANT", {"vt": 17, "value": 7}, bytes([17, 0, 0, 0, 0, 0, 0, 0, 17, 0, 7])),
        ("PROPVARIANT", {"vt": 21, "value": "7"}, bytes([21] + [0] * 7 + [21] + [0] * 7 + [7] + [0] * 7)),
        (
            "CALPWSTR",
            {"p_elems": ["a", "b"]},
            PAIR.pack(2, 0x20000) + struct.pack("<III", 2, 0x20004, 0x20008) + text("a") + text("b"),
        ),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_bytes(structure: str, value: Any, expected: bytes) -> None:
    assert encode(structure, value) == expected


def test_pointers_of_texts_are_read_in_any_order_of_numbers_and_with_any_padding() -> None:
    data = PAIR.pack(2, 9) + struct.pack("<III", 2, 7, 5) + text("a") + text("bc")
    assert decode("CALPWSTR", data)["p_elems"] == ["a", "bc"]
    padded = bytes([17, 0, 9, 9, 9, 9, 9, 9, 17, 0, 7])
    assert decode("PROPVARIANT", padded) == {"vt": 17, "value": 7}
    assert decode("QUEUE_FORMAT", bytes([1, 0, 9, 9, 1, 9, 9, 9]) + RAW_GUID)["m_g_public_id"] == GUID


@pytest.mark.parametrize(
    ("structure", "data"),
    [
        ("QUEUE_FORMAT", bytes([1, 0, 0, 0, 2, 0, 0, 0]) + RAW_GUID),
        ("BLOB", PAIR.pack(3, 1) + struct.pack("<I", 4) + b"abcd"),
        ("BLOB", PAIR.pack(3, 0)),
        ("BLOB", PAIR.pack(0xFFFFFFFF, 1) + struct.pack("<I", 0xFFFFFFFF) + b"abcd"),
        ("CAUH", PAIR.pack(0x10000000, 1) + struct.pack("<I", 0x10000000) + bytes(64)),
        ("CAPROPVARIANT", PAIR.pack(0x7FFFFFFF, 1) + struct.pack("<I", 0x7FFFFFFF) + bytes(64)),
        ("DL_ID", RAW_GUID + POINTER + struct.pack("<III", 2, 1, 1) + b"\0\0"),
        ("DL_ID", RAW_GUID + POINTER + struct.pack("<III", 1, 0, 1) + b"a\0"),
        ("DL_ID", RAW_GUID + POINTER + struct.pack("<III", 2, 0, 2) + bytes(4)),
        ("DL_ID", RAW_GUID + POINTER + struct.pack("<III", 1, 0, 2) + b"a\0\0\0"),
        ("VARIANT_BOOL", b"\1\0"),
        ("OBJECTID", bytes(21)),
        ("MQDSPUBLICKEYS", PAIR.pack(9, 0)),
        ("MQDSPUBLICKEYS", PAIR.pack(8, 0xFFFFFFFF)),
        ("MQUSERSIGNCERTS", struct.pack("<I", 0x80000000)),
    ],
)
def test_what_a_reader_refuses(structure: str, data: bytes) -> None:
    refused(structure, data)


@pytest.mark.parametrize("structure", sorted(STRUCTURES))
def test_every_structure_cut_short_is_refused(structure: str) -> None:
    for name, value in VALUES:
        data = encode(name, value)
        for size in range(len(data)) if name == structure else ():
            refused(name, data[:size])
        refused(name, data + b"\0")


@settings(max_examples=fewer(150), deadline=None, derandomize=True, database=None)
@given(st.sampled_from(VALUES), st.data())
def test_damage_is_refused_or_read_but_never_breaks_the_reader(item: tuple[str, Any], chosen: st.DataObject) -> None:
    structure, value = item
    data = bytearray(encode(structure, value))
    for _ in range(chosen.draw(st.integers(1, 4))):
        data[chosen.draw(st.integers(0, len(data) - 1))] = chosen.draw(st.sampled_from((0, 1, 0x7F, 0x80, 0xFF)))
    try:
        read = decode(structure, bytes(data))
    except MqError as failure:
        assert failure.status == MQ_ERROR_INVALID_PARAMETER
    else:
        validator("structures.decode", "result")({"status": 0, "value": read})


def test_variants_inside_one_another_have_a_limit() -> None:
    value: dict[str, Any] = {"vt": 0}
    for _ in range(10):
        value = {"vt": 0x100C, "value": [value]}
    assert decode("PROPVARIANT", encode("PROPVARIANT", value)) == value
    for _ in range(40):
        value = {"vt": 0x100C, "value": [value]}
    with pytest.raises(MqError):
        encode("PROPVARIANT", value)
    level = bytes([12, 0x10, 0, 0, 0, 0, 0, 0, 12, 0x10, 0, 0]) + PAIR.pack(1, 1) + PAIR.pack(1, 0)
    refused("PROPVARIANT", level[:-4] * 2000)


def test_sizes_of_a_transfer_buffer() -> None:
    read = decode("CACTransferBufferV1", encode("CACTransferBufferV1", TRANSFER))
    assert (read["ul_body_buffer_size_in_bytes"], read["ul_alloc_body_buffer_in_bytes"]) == (4, 10)
    assert read["pp_body"] == TRANSFER["pp_body"]
    assert read["ul_title_buffer_size_in_wchars"] == 6
    assert read["u_sender_id_len"] == 12
    receive = {"pp_dest_format_name": "ab\0", "ul_dest_format_name_len": 5}
    filled = {"u_transfer_type": 1, "receive": receive}
    assert decode("CACTransferBufferV1", encode("CACTransferBufferV1", filled))["receive"] == {
        **decode("CACTransferBufferV1", encode("CACTransferBufferV1", {"u_transfer_type": 1}))["receive"],
        "pp_dest_format_name": "ab\0\0\0",
        "ul_dest_format_name_len": 5,
    }


def test_class_bits_that_are_reserved_are_read_as_they_are() -> None:
    data = bytearray(encode("CACTransferBufferV1", {"u_transfer_type": 2, "p_class": 0x4000}))
    assert data[-2:] == b"\x00\x40"
    data[-1] = 0x5F
    assert decode("CACTransferBufferV1", bytes(data))["p_class"] == 0x5F00
