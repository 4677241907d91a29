"""The headers behind the MessagePropertiesHeader: bytes by hand, there and back, and what is refused."""

from __future__ import annotations

import base64
import struct
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.adapter.protocol import validator
from conformance.embedded.entities import MqError
from conformance.embedded.names import NameParser
from conformance.embedded.packet_reading import PacketReader
from conformance.embedded.packet_writing import PacketWriter
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER

GUID = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
RAW = uuid.UUID(GUID).bytes_le
WRITER = PacketWriter(NameParser("msmq-4.0"), GUID)
READER = PacketReader()
BARE = {"destination": "DIRECT=OS:h\\q"}


def encode(**message: Any) -> bytes:
    return base64.b64decode(WRITER.encode({**BARE, **message}))


def decode(packet: bytes) -> dict[str, Any]:
    return READER.decode(base64.b64encode(packet).decode())


def behind(**message: Any) -> bytes:
    """What these members add behind a bare packet."""
    packet, bare = encode(**message), encode()
    assert packet[16:60] == bare[16:60]
    assert struct.unpack_from("<I", packet, 8)[0] == len(packet)
    return packet[len(bare) :]


def wide(text: str) -> bytes:
    return (text + "\0").encode("utf-16-le")


def test_bytes_of_the_lists() -> None:
    names = ["DIRECT=OS:h\\q", f"PUBLIC={GUID}", f"PRIVATE={GUID}\\a", f"DL={GUID}@domain"]
    elements = b"\3\0" + wide("OS:h\\q")  # 16 bytes: ends at 28
    elements += b"\1\0" + RAW  # ends at 46, two bytes from a multiple of four
    elements += b"\2\0" + RAW + b"\x0a\0\0\0"  # ends at 68
    elements += b"\6\0\0\0" + RAW
    expected = struct.pack("<IHHI", 12 + len(elements), 0x64, 0, 4) + elements
    for identifier in (0xC8, 0x12C):
        expected += struct.pack("<IHHI", 12, identifier, 0, 0)
    expected += struct.pack("<HHI", 0x15E, 0, 3) + b"\0\1\2\0"
    assert behind(destinations=names, multiple_destination_signature="AAEC") == expected
    assert encode(destinations=names)[62] & 0x80  # MQ, bit 23


def test_padding_of_a_list_is_not_in_its_size() -> None:
    found = behind(destinations=["DIRECT=OS:h\\qq"])
    assert struct.unpack_from("<I", found)[0] == 12 + 2 + 16
    assert found[30:32] == bytes(2)
    assert struct.unpack_from("<IH", found, 32) == (12, 0xC8)


def test_bytes_of_soap() -> None:
    expected = struct.pack("<HHI", 0x320, 0, 3) + wide("ab") + bytes(2) + struct.pack("<HHI", 0x384, 0, 2) + wide("c")
    assert behind(soap_header="ab", soap_body="c") == expected
    assert encode(soap_body="c")[63] & 0x10  # HH, bit 28


def test_headers_come_in_their_order() -> None:
    found = behind(trace=True, soap_header="a", destinations=["DIRECT=OS:h\\q"])
    assert found[:4] == bytes(4)
    assert struct.unpack_from("<H", found, 4)[0] == 0x320
    assert found.index(struct.pack("<HHI", 0x64, 0, 1)) > found.index(struct.pack("<H", 0x384))


def variant(*parts: bytes) -> bytes:
    """A bare packet with a MultiQueueFormatHeader of these parts."""
    bare = bytearray(encode())
    bare[62] |= 0x80
    packet = bytes(bare) + b"".join(parts)
    return packet[:8] + struct.pack("<I", len(packet)) + packet[12:]


EMPTY = struct.pack("<IHHI", 12, 0xC8, 0, 0) + struct.pack("<IHHI", 12, 0x12C, 0, 0)
SIGNATURE = struct.pack("<HHI", 0x15E, 0, 0)


def test_both_readings_of_size_and_of_public_names_are_read() -> None:
    aligned = struct.pack("<IHHI", 12 + 20, 0x64, 0, 1) + b"\1\0\xaa\xaa" + RAW
    packed = struct.pack("<IHHI", 12 + 18, 0x64, 9, 1) + b"\1\0" + RAW + b"\xaa\xaa"
    for header in (aligned, packed):
        assert decode(variant(header, EMPTY, SIGNATURE))["destinations"] == [f"PUBLIC={GUID}"]
    counted = struct.pack("<IHHI", 12 + 20, 0x64, 9, 1) + b"\3\0" + wide("OS:h\\qq") + b"\xaa\xaa"
    assert decode(variant(counted, EMPTY, SIGNATURE))["destinations"] == ["DIRECT=OS:h\\qq"]


def test_soap_without_padding_is_read() -> None:
    bare = bytearray(encode())
    bare[63] |= 0x10
    soap = struct.pack("<HHI", 0x320, 7, 3) + wide("ab") + struct.pack("<HHI", 0x384, 7, 2) + wide("c") + b"\xaa\xaa"
    packet = bytes(bare) + soap
    message = decode(packet[:8] + struct.pack("<I", len(packet)) + packet[12:])
    assert (message["soap_header"], message["soap_body"]) == ("ab", "c")


ONE = struct.pack("<IHHI", 12 + 16, 0x64, 0, 1) + b"\3\0" + wide("OS:h\\q")


@pytest.mark.parametrize(
    "parts",
    [
        (struct.pack("<IHHI", 12, 0x64, 0, 0), EMPTY, SIGNATURE),
        (ONE, EMPTY),
        (ONE, EMPTY, struct.pack("<HHI", 0x15F, 0, 0)),
        (ONE, EMPTY, struct.pack("<HHI", 0x15E, 0, 0xFFFFFFFF)),
        (ONE, EMPTY, SIGNATURE, bytes(4)),
        (ONE, EMPTY[12:], EMPTY[:12], SIGNATURE),
        (struct.pack("<IHHI", 0xFFFFFFFF, 0x64, 0, 1) + ONE[12:], EMPTY, SIGNATURE),
        (struct.pack("<IHHI", 11, 0x64, 0, 1) + ONE[12:], EMPTY, SIGNATURE),
        (struct.pack("<IHHI", 28, 0x64, 0, 0xFFFFFFFF) + ONE[12:], EMPTY, SIGNATURE),
        (struct.pack("<IHHI", 28, 0x64, 0, 2) + ONE[12:], EMPTY, SIGNATURE),
        (struct.pack("<IHHI", 28, 0x64, 0, 1) + b"\4\0" + ONE[14:], EMPTY, SIGNATURE),
        (struct.pack("<IHHI", 28, 0x64, 0, 1) + b"\3\0" + "DIRECT=".encode("utf-16-le"), EMPTY, SIGNATURE),
    ],
)
def test_what_a_reader_refuses(parts: tuple[bytes, ...]) -> None:
    assert decode(variant(ONE, EMPTY, SIGNATURE))["destinations"] == ["DIRECT=OS:h\\q"]
    with pytest.raises(MqError) as failure:
        decode(variant(*parts))
    assert failure.value.status == MQ_ERROR_INVALID_PARAMETER


@pytest.mark.parametrize(
    "message",
    [
        {"destinations": []},
        {"destinations": ["nothing"]},
        {"destinations": [f"MACHINE={GUID};JOURNAL"]},
        {"destinations": ["MULTICAST=234.1.1.1:8001"]},
        {"destinations": "DIRECT=OS:h\\q"},
        {"administration_queues": ["DIRECT=OS:h\\q"]},
        {"multiple_destination_signature": "AAEC"},
        {"soap_body": "a\0b"},
        {"soap_header": 5},
    ],
    ids=str,
)
def test_what_no_packet_can_say(message: dict[str, Any]) -> None:
    with pytest.raises(MqError):
        encode(**message)


guids = st.uuids().map(str)
names = st.one_of(
    st.text("ab é\U0001f600", min_size=1, max_size=6).map(lambda queue: f"DIRECT=OS:h\\{queue}"),
    guids.map(lambda guid: f"PUBLIC={guid}"),
    guids.map(lambda guid: f"DL={guid}"),
    st.tuples(guids, st.integers(0, 0xFFFFFFFF)).map(lambda pair: f"PRIVATE={pair[0]}\\{pair[1]:08x}"),
)
lists = st.lists(names, min_size=1, max_size=5)
multiple = st.fixed_dictionaries(
    {"destinations": lists},
    optional={
        "administration_queues": lists,
        "response_queues": lists,
        "multiple_destination_signature": st.binary(min_size=1, max_size=9).map(
            lambda raw: base64.b64encode(raw).decode()
        ),
    },
)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=()), max_size=7)
soap = st.fixed_dictionaries({"soap_header": texts, "soap_body": texts})
messages = st.tuples(st.one_of(st.just({}), multiple), st.one_of(st.just({}), soap), st.booleans()).map(
    lambda parts: {**parts[0], **parts[1], **({"trace": True, "trace_queue": GUID} if parts[2] else {})}
)


@settings(max_examples=fewer(120), deadline=None, derandomize=True, database=None)
@given(messages, st.data())
def test_what_is_written_is_read_again_and_damage_is_refused_or_read(
    message: dict[str, Any], chosen: st.DataObject
) -> None:
    packet = encode(**message)
    read = decode(packet)
    validator("packets.decode", "result")({"status": 0, "message": read})
    assert {name: read.get(name) for name in message} == message
    optional = ("destinations", "administration_queues", "response_queues", "soap_header", "soap_body")
    assert [name for name in optional if name in read] == [name for name in optional if name in message]
    damaged = bytearray(packet)
    for _ in range(chosen.draw(st.integers(1, 3))):
        damaged[chosen.draw(st.integers(60, len(packet) - 1))] = chosen.draw(st.integers(0, 255))
    try:
        decode(bytes(damaged))
    except MqError as failure:
        assert failure.status == MQ_ERROR_INVALID_PARAMETER
