"""Encoder and decoder are inverse; the decoder survives any bytes."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer
from printed_frames import SESSION_ACK, USER_MESSAGE
from wire_strategies import user_messages

from conformance.wire import dissect, encode, rebuild


@given(user_messages(), st.sampled_from(["after", "inside"]))
@settings(max_examples=fewer(150), deadline=None)
def test_what_is_encoded_is_decoded(values: dict[str, Any], placement: str) -> None:
    data = encode("UserMessage", values, placement=placement)
    packet = dissect(data)
    assert packet.trouble == ()
    assert {key: packet.fields[key] for key in values} == values
    assert packet.fields["Packet.Unexplained"] == 0
    session = "SessionHeader.AckSequenceNumber" in values
    assert len(data) - packet.fields["BaseHeader.PacketSize"] == (16 if session and placement == "after" else 0)
    assert len(data) % 4 == 0
    assert rebuild(packet) == data


@given(user_messages())
@settings(max_examples=fewer(60), deadline=None)
def test_sections_lie_side_by_side(values: dict[str, Any]) -> None:
    packet = dissect(encode("UserMessage", values))
    at = 0
    for offset, length in sorted(span for key, span in packet.spans.items() if "." not in key):
        assert (offset, offset % 4) == (at, 0)
        at += length
    assert at == len(packet.data)


def test_a_body_may_have_its_allocated_length() -> None:
    """Where MessageSize tells the size before encryption, only AllocationBodySize explains the packet."""
    values: dict[str, Any] = {
        "UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q",
        "MessagePropertiesHeader.PrivacyLevel": 5,
        "MessagePropertiesHeader.MessageBody": bytes(range(32)),
        "MessagePropertiesHeader.MessageSize": 21,
    }
    packet = dissect(encode("UserMessage", values))
    assert (packet.trouble, packet.fields["Packet.Unexplained"]) == ((), 0)
    assert packet.fields["MessagePropertiesHeader.MessageBody"] == bytes(range(32))
    plain = dissect(encode("UserMessage", values | {"MessagePropertiesHeader.PrivacyLevel": 0}))
    assert plain.fields["MessagePropertiesHeader.MessageBody"] == bytes(range(21))
    assert plain.fields["Packet.Unexplained"] == 8


@given(st.binary(max_size=400))
@settings(max_examples=fewer(300), deadline=None)
def test_any_bytes_decode_to_something(data: bytes) -> None:
    packet = dissect(data)
    assert packet.kind != "Malformed" or packet.trouble


@given(st.binary(max_size=200), st.integers(0, 0x1F), st.integers(16, 0x00400000))
@settings(max_examples=fewer(300), deadline=None)
def test_any_bytes_behind_a_base_header_decode_to_something(rest: bytes, flags: int, size: int) -> None:
    data = bytes([0x10, 0, flags, 0]) + b"LIOR" + size.to_bytes(4, "little") + b"\xff" * 4 + rest
    packet = dissect(data)
    assert packet.trouble or packet.fields["BaseHeader.PacketSize"] <= len(data)


@given(st.data(), st.sampled_from([USER_MESSAGE[:300], USER_MESSAGE, SESSION_ACK]))
@settings(max_examples=fewer(300), deadline=None)
def test_mutated_frames_decode_to_something(data: st.DataObject, frame: bytes) -> None:
    mutated = bytearray(frame)
    for _ in range(data.draw(st.integers(1, 4))):
        mutated[data.draw(st.integers(0, min(len(frame) - 1, 221)))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(mutated)))
    for candidate in (bytes(mutated), bytes(mutated[:cut])):
        packet = dissect(candidate)
        assert all(at >= 0 and at + length <= len(candidate) for at, length in packet.spans.values())
        assert sum(len(value) for value in packet.fields.values() if isinstance(value, bytes)) <= len(candidate) + 572


@given(st.binary(max_size=200))
@settings(max_examples=fewer(100), deadline=None)
def test_any_datagram_decodes_to_something(data: bytes) -> None:
    packet = dissect(data, transport="udp")
    assert packet.kind in {"Ping", "Malformed"}
    assert (packet.kind == "Ping") == (len(data) >= 24 and data[2:4] == b"HU")
