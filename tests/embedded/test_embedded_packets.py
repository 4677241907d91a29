"""The packet codec: against Microsoft's bytes, against itself, and against damage."""

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

SOURCE = "11ea26c6-b6e6-4997-9595-9150557358d1"
OTHER = "909ea0fc-9078-4445-8f11-394c43cd8907"
THIRD = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
WRITER = PacketWriter(NameParser("msmq-4.0"), SOURCE)
READER = PacketReader()

# MS-MQQB 4.1.7, FRAME 7, with the part of the body its dump leaves out.
FRAME_7 = (
    bytes.fromhex(
        "100003004c494f52b008000000460500d1587355509195954997b6e611ea26c600000000000000000000000000000000"
        "ffffffff4c494f52ee080000001c28001a004f0053003a0061003000340062006d00300032005c007100000001001c00"
        "000000000000000000000000010500000000000515000000ad4a9ebd36d9fa3d63a656dae80300000f0f000000000000"
        "000000000000000000000000000000000800000000000000d0070000d007000000000000048000000168000000000000"
        "6d007100730065006e0064006500720020006c006100620065006c000000"
    )
    + b"a\0" * 1000
    + bytes(2)
)


def encode(**message: Any) -> bytes:
    return base64.b64decode(WRITER.encode({"destination": "DIRECT=OS:h\\q", **message}))


def decode(packet: bytes) -> dict[str, Any]:
    return READER.decode(base64.b64encode(packet).decode())


def test_microsofts_packet_is_read() -> None:
    message = decode(FRAME_7)
    assert message["destination"] == "DIRECT=OS:a04bm02\\q"
    assert message["label"] == "mqsender label"
    assert message["body"] == base64.b64encode(b"a\0" * 1000).decode()
    assert message["body_type"] == 8
    assert (message["priority"], message["delivery"], message["time_to_reach_queue"]) == (3, "express", 345_600)
    assert len(message["acknowledgements"]) == 4
    assert message["sender_identifier_type"] == "sid"
    assert len(base64.b64decode(message["sender_identifier"])) == 28


def test_microsofts_packet_is_written_but_for_two_flags() -> None:
    again = bytearray(encode(**decode(FRAME_7)))
    flags = 16 + 48 + 28
    # Microsoft left AI and DE clear; this writer says that there is data and that the provider is the default one.
    assert struct.unpack_from("<H", again, flags)[0] == 0x0001 | 1 << 6 | 1 << 7
    struct.pack_into("<H", again, flags, 0x0001)
    assert bytes(again) == FRAME_7


def test_layout_of_a_small_message() -> None:
    packet = encode(destination="DIRECT=OS:h\\qq", label="hi", body="aGVsbG8=", priority=5)
    assert packet[:8] == b"\x10\x00\x05\x00LIOR"
    assert struct.unpack_from("<I", packet, 8)[0] == len(packet) == 16 + 48 + 20 + 56 + 6 + 5 + 1
    direct = "OS:h\\qq\0".encode("utf-16-le")
    assert packet[64:84] == struct.pack("<H", len(direct)) + direct + bytes(2)
    properties = packet[-68:]
    assert properties[1] == 3  # two characters and the null
    assert properties[56:62] == "hi\0".encode("utf-16-le")
    assert properties[62:67] == b"hello"


@pytest.mark.parametrize(
    ("admin", "response", "types"),
    [
        (None, None, (0, 0)),
        (f"PRIVATE={SOURCE}\\1", f"PRIVATE={SOURCE}\\2", (2, 2)),
        (f"PRIVATE={OTHER}\\1", f"PRIVATE={OTHER}\\1", (3, 1)),
        (f"PRIVATE={THIRD}\\1", f"PRIVATE={THIRD}\\2", (6, 4)),
        (f"PUBLIC={THIRD}", f"PRIVATE={THIRD}\\2", (5, 6)),
        ("DIRECT=TCP:1.2.3.4\\a", "DIRECT=OS:x\\private$\\long name", (7, 7)),
        (None, f"PUBLIC={THIRD}", (0, 5)),
    ],
)
def test_queue_types(admin: str | None, response: str | None, types: tuple[int, int]) -> None:
    message: dict[str, Any] = {"destination": f"PRIVATE={OTHER}\\2a", "identifier": {"source": SOURCE, "ordinal": 7}}
    message |= {"administration_queue": admin} if admin else {}
    message |= {"response_queue": response} if response else {}
    packet = encode(**message)
    flags = struct.unpack_from("<I", packet, 60)[0]
    assert (flags >> 10 & 7, flags >> 13 & 7, flags >> 16 & 7) == (3, *types)
    assert uuid.UUID(bytes_le=packet[32:48]) == uuid.UUID(OTHER)
    read = decode(packet)
    for name in ("administration_queue", "response_queue"):
        assert (read.get(name) or "").replace("\\0000000", "\\") == (message.get(name) or "")
    assert read["destination"] == f"PRIVATE={OTHER}\\0000002a"


u16, u32 = st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
data = st.binary(max_size=40).map(lambda raw: base64.b64encode(raw).decode())
some_data = st.binary(min_size=1, max_size=40).map(lambda raw: base64.b64encode(raw).decode())
guids = st.sampled_from([SOURCE, OTHER, THIRD])
sids = st.lists(u32, max_size=4).map(
    lambda parts: base64.b64encode(
        bytes([1, len(parts), 0, 0, 0, 0, 0, 5]) + struct.pack(f"<{len(parts)}I", *parts)
    ).decode()
)
queue_names = st.one_of(
    st.sampled_from(["DIRECT=OS:h\\q", "DIRECT=HTTP://h/msmq/q", "DIRECT=TCP:10.0.0.1\\PRIVATE$\\x y"]),
    guids.map(lambda guid: f"PUBLIC={guid}"),
    st.tuples(guids, u32).map(lambda pair: f"PRIVATE={pair[0]}\\{pair[1]:08x}"),
)
transactions = st.fixed_dictionaries(
    {
        "sequence_identifier": st.fixed_dictionaries({"ordinal": u32, "timestamp": u32}),
        "sequence_number": st.integers(100, 0xFFFFFFFF),
        "previous_sequence_number": st.integers(0, 99),
        "index": st.integers(0, 0xFFFFF),
        "first": st.booleans(),
        "last": st.booleans(),
        "final_ack_required": st.booleans(),
    },
    optional={"connector_queue_manager": guids},
)
sessions = st.fixed_dictionaries(
    {
        "ack_sequence_number": u16,
        "recoverable_ack_sequence_number": st.just(9),
        "recoverable_ack_flags": u32.map(lambda bits: bits | 1),
        "user_message_sequence_number": u16,
        "recoverable_message_sequence_number": u16,
        "window_size": st.integers(1, 0xFFFF),
    }
)
messages = st.fixed_dictionaries(
    {
        "destination": queue_names,
        "destination_queue_manager": guids,
        "identifier": st.fixed_dictionaries({"source": guids, "ordinal": u32}),
        "body": data,
        "body_type": u32,
        "label": st.text(st.characters(exclude_characters="\0", exclude_categories=()), max_size=20),
        "priority": st.integers(0, 7),
        "delivery": st.sampled_from(["express", "recoverable"]),
        "class": u16.map(lambda value: value & 0xE1FF),
        "application_tag": u32,
        "correlation_identifier": st.binary(min_size=20, max_size=20).map(lambda raw: base64.b64encode(raw).decode()),
        "positive_journaling": st.booleans(),
        "negative_journaling": st.booleans(),
        "acknowledgements": st.lists(
            st.sampled_from(["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"]),
            unique=True,
        ),
        "time_to_reach_queue": u32,
        "time_to_be_received": u32,
        "extension": data,
        "sent_time": u32,
        "hop_count": st.integers(0, 29),
    },
    optional={
        "administration_queue": queue_names,
        "response_queue": queue_names,
        "connector_type": guids,
        "trace": st.just(True),
        "trace_queue": guids,
        "sender_identifier": sids,
        "sender_certificate": some_data,
        "signature": some_data,
        "symmetric_key": some_data,
        "provider_name": st.text("abc é", min_size=1, max_size=8),
        "transaction": transactions,
        "session": sessions,
    },
)


@settings(max_examples=fewer(60), deadline=None, derandomize=True, database=None)
@given(messages)
def test_what_is_written_is_read_again(message: dict[str, Any]) -> None:
    packet = encode(**message)
    expected = dict(message)
    if "transaction" in message:
        expected |= {"delivery": "recoverable", "priority": 0}
    if message["destination"].startswith("DIRECT"):
        expected["destination_queue_manager"] = str(uuid.UUID(int=0))
    elif message["destination"].startswith("PRIVATE"):
        expected["destination_queue_manager"] = message["destination"][8:44]
    if "trace" not in message:
        expected.pop("trace_queue", None)
    read = decode(packet)
    validator("packets.decode", "result")({"status": 0, "message": read})
    read["acknowledgements"].sort()
    expected["acknowledgements"] = sorted(expected["acknowledgements"])
    assert {name: read.get(name) for name in expected} == expected
    size = struct.unpack_from("<I", packet, 8)[0]
    assert size % 4 == 0
    assert len(packet) == size + (16 if "session" in message else 0)


@settings(max_examples=fewer(60), deadline=None, derandomize=True, database=None)
@given(messages, st.data())
def test_damage_is_refused_or_read_but_never_breaks_the_reader(message: dict[str, Any], chosen: st.DataObject) -> None:
    packet = bytearray(encode(**message))
    for _ in range(chosen.draw(st.integers(1, 4))):
        packet[chosen.draw(st.integers(0, len(packet) - 1))] = chosen.draw(st.integers(0, 255))
    for damaged in (bytes(packet), bytes(packet[: chosen.draw(st.integers(0, len(packet) - 1))])):
        try:
            decode(damaged)
        except MqError as refused:
            assert refused.status == MQ_ERROR_INVALID_PARAMETER


@pytest.mark.parametrize("size", [0, 4, 2220, 2228, 0x00400004, 0xFFFFFFFF])
def test_a_wrong_packet_size_is_refused(size: int) -> None:
    packet = FRAME_7[:8] + struct.pack("<I", size) + FRAME_7[12:]
    with pytest.raises(MqError):
        decode(packet)


@pytest.mark.parametrize(
    ("offset", "value"),
    [(0, 0x11), (4, 0), (2, 0x0B), (61, 0x18), (62, 0x08), (60, 0x1E), (60, 0x40), (64, 27), (137, 0xFB), (137, 1)],
    ids=[
        "version",
        "signature",
        "internal",
        "destination",
        "no properties",
        "hops",
        "delivery",
        "count",
        "label",
        "null",
    ],
)
def test_what_a_reader_refuses(offset: int, value: int) -> None:
    packet = bytearray(FRAME_7)
    packet[offset] = value
    with pytest.raises(MqError):
        decode(bytes(packet))


@pytest.mark.parametrize(("offset", "value"), [(1, 0xCD), (3, 0x80), (60, 0x80), (136, 0xFF), (2222, 7)])
def test_what_a_reader_ignores(offset: int, value: int) -> None:
    packet = bytearray(FRAME_7)
    packet[offset] = value
    assert decode(bytes(packet)) == decode(FRAME_7)


@pytest.mark.parametrize(
    "message",
    [
        {"destination": "nothing"},
        {"destination": f"MACHINE={SOURCE};JOURNAL"},
        {"destination": "DIRECT=OS:h\\q;JOURNAL"},
        {"label": "x" * 250},
        {"priority": 9},
        {"class": 0x0200},
        {"privacy_level": 2},
        {"privacy_level": 5, "encryption_algorithm": 0x6801},
        {"correlation_identifier": "AAAA"},
        {"sender_identifier": "AAAA"},
        {"transaction": {"sequence_number": 3, "previous_sequence_number": 3}},
        {"session": {"recoverable_ack_flags": 1}},
        {"body": 5},
    ],
    ids=str,
)
def test_what_no_packet_can_say(message: dict[str, Any]) -> None:
    with pytest.raises(MqError):
        encode(**message)
