"""The network's codec against Microsoft's packets, and its cutting of a stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from embedded_network_peer import base, establish, parameters

from conformance.embedded.network.codec import Codec, ConnectionParameters, EstablishConnection, Frames, SessionAck
from conformance.embedded.packet_layout import Malformed

VECTORS = Path(__file__).parents[3] / "fixtures" / "vectors"


def vector(name: str) -> bytes:
    return bytes.fromhex(json.loads((VECTORS / f"mqqb_{name}.json").read_text(encoding="utf-8"))["hex"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("frame3_establish_request", EstablishConnection),
        ("frame4_establish_response", EstablishConnection),
        ("frame5_connparams_request", ConnectionParameters),
        ("frame6_connparams_response", ConnectionParameters),
        ("frame8_sessionack", SessionAck),
    ],
)
def test_an_internal_packet_of_microsoft_is_written_as_it_was(name: str, kind: type) -> None:
    codec, data = Codec(), vector(name)
    packet = codec.read(data)
    assert isinstance(packet, kind)
    assert codec.write(packet) == data


@pytest.mark.parametrize("name", ["frame1_ping_request", "frame2_ping_response"])
def test_a_ping_of_microsoft_is_written_as_it_was(name: str) -> None:
    codec, data = Codec(), vector(name)
    assert codec.ping(codec.read_ping(data)) == data


def test_fields_of_microsofts_packets() -> None:
    codec = Codec()
    asked = codec.read(vector("frame5_connparams_request"))
    assert isinstance(asked, ConnectionParameters)
    assert (asked.recoverable_ack_timeout, asked.ack_timeout, asked.window) == (1496, 120_000, 64)
    ack = codec.read(vector("frame8_sessionack"))
    assert isinstance(ack, SessionAck)
    assert (ack.session.received, ack.session.recoverable_bits, ack.session.window) == (1, 0, 64)


@pytest.mark.parametrize("body", ["order", "final"])
def test_bodies_of_transactional_acknowledgments(body: str) -> None:
    codec, data = Codec(), bytes(range(36))
    if body == "order":
        order = codec.read_order_body(data)
        assert order.sequence == 0x0706050403020100
        assert codec.order_body(order) == data
    else:
        final = codec.read_final_body(data)
        assert (final.number, final.previous, final.message) == (0x0B0A0908, 0x0F0E0D0C, 0x23222120)
        assert codec.final_body(final) == data


@pytest.mark.parametrize("size", [1, 3, 16, 571])
def test_a_stream_is_cut_into_packets_however_it_comes(size: int) -> None:
    stream = establish() + parameters() + vector("frame8_sessionack")
    frames, found = Frames(lambda flags: None), []
    for at in range(0, len(stream), size):
        frames.feed(stream[at : at + size])
        while (packet := frames.next()) is not None:
            found.append(packet)
    assert [len(packet) for packet in found] == [572, 32, 36]
    assert b"".join(found) == stream


@pytest.mark.parametrize(
    "start",
    [
        b"\x11\0\x0b\0LIOR",
        b"\x10\0\x0b\0LIOS",
        base(12, 0x0003),
        base(0x00400004, 0x0003),
        base(0xFFFFFFFC, 0x0003),
        base(18, 0x0003),
        base(576),
        base(0x00400000),
    ],
)
def test_what_cannot_become_a_packet_is_refused_by_its_start(start: bytes) -> None:
    frames = Frames(lambda flags: None)
    frames.feed(start)
    with pytest.raises(Malformed):
        frames.next()
