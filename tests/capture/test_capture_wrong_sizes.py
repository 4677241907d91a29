"""A packet whose PacketSize is wrong by a few bytes ends where the next packet begins, however its stream is cut."""

from __future__ import annotations

import random
import struct
import uuid
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import build_captures
import build_packets
import build_tcp
import numpy as np
import pytest
from both_readers import same, walked
from cases import all_of
from generated_corpus import write_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.capture import Frame, read_capture
from conformance.capture.framing import Framer
from conformance.wire import extents
from conformance.wire.columns.lowering import lowered, source_of
from conformance.wire.extents import ASTRAY, doubtful, extent

FEW = settings(max_examples=fewer(60), deadline=None, derandomize=True, database=None)
MANAGER = uuid.UUID("7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10")


def kinds() -> dict[str, bytes]:
    """A packet of each kind."""
    null, plain = build_packets.NULL_GUID, build_captures.message(7001, "orders", "order", "two of the blue ones")
    part = build_packets.Transaction(1 << 32, 2, 1, True, True, 5)
    sent = replace(plain, transaction=part, admin_queue="OS:a\\private$\\acks")
    return {
        "establish": build_packets.establish(MANAGER, null, 9, session=1, server_class=1),
        "parameters": build_packets.parameters(500, 20000),
        "session-ack": build_packets.session_ack(3, 0, 0, 1, 0),
        "order-ack": build_packets.order_ack(MANAGER, 4, 5, "OS:a\\private$\\order_queue$", 1 << 32, 2),
        "final-ack": build_packets.final_ack(MANAGER, 4, 5, "OS:a\\private$\\order_queue$", sent, 0x4000),
        "admin-ack": build_packets.admin_ack(MANAGER, 4, 5, sent),
        "message": plain.bytes(),
        "public": replace(plain, public=MANAGER).bytes(),
        "transactional": sent.bytes(),
        "session": build_packets.with_session(plain, 1, 0, 0, 2, 0).bytes(),
        "empty": replace(plain, label="", body=b"").bytes(),
    }


KINDS = kinds()
NEXT = KINDS["message"]
CUTS = 4


def resized(packet: bytes, change: int) -> bytes | None:
    """The packet with another PacketSize; None for one that is impossible or of another meaning."""
    size = int.from_bytes(packet[8:12], "little") + change
    return None if size < 16 else packet[:8] + struct.pack("<I", size) + packet[12:]


def framed(parts: list[bytes]) -> list[tuple[bytes, bool]]:
    framer = Framer(True)
    pieces = [piece for part in parts for piece in framer.feed(part)] + framer.finish("ended")
    assert framer.buffered == 0 and not framer.waits
    return [(piece.data, piece.trouble is None) for piece in pieces]


def cut(stream: bytes, *places: int) -> list[bytes]:
    return [stream[low:high] for low, high in pairwise((0, *sorted(places), len(stream)))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("following", ["message", "session-ack", "session"])
def test_every_wrong_size_near_the_right_one(kind: str, following: str) -> None:
    behind = KINDS[following]
    for change in range(-40, 41):
        packet = resized(KINDS[kind], change)
        if packet is None:
            continue
        stream = NEXT + packet + behind + NEXT
        wanted = [(one, True) for one in (NEXT, packet, behind, NEXT)]
        assert framed([stream]) == wanted, change
        assert framed([stream[at : at + 1] for at in range(len(stream))]) == wanted, change
        chance = random.Random(change)
        for _ in range(CUTS):
            assert framed(cut(stream, *chance.sample(range(len(stream)), 3))) == wanted, change


@all_of("kind", KINDS)
@all_of("change", [-40, -5, -4, -1, 1, 4, 7, 8, 40])
def test_every_place_of_a_cut(kind: str, change: int) -> None:
    packet = resized(KINDS[kind], change)
    if packet is None:
        return
    stream = packet + KINDS["session-ack"]
    for place in range(len(stream)):
        assert framed(cut(stream, place)) == [(packet, True), (KINDS["session-ack"], True)], place


@all_of("kind", KINDS)
@all_of("change", range(-40, 41))
def test_an_answer_or_the_end_decides(kind: str, change: int) -> None:
    """The last packet is not kept back: neither when the other side answers, nor at the end of the stream."""
    packet = resized(KINDS[kind], change)
    if packet is None:
        return
    answered = Framer(True)
    assert [piece.data for piece in answered.feed(packet) + answered.settle()] == [packet]
    assert framed([packet]) == [(packet, True)]


def test_right_sizes_never_wait() -> None:
    for kind, packet in KINDS.items():
        framer = Framer(True)
        if kind != "session":  # Whether PacketSize counts its SessionHeader is what the bytes behind it tell.
            assert [piece.data for piece in framer.feed(packet)] == [packet]
        assert extent(packet, len(packet)) == len(packet)
        assert not doubtful(packet, len(packet))
        for have in range(16, len(packet)):
            told = extent(packet, have)
            assert told == len(packet) or -len(packet) <= told < -have


@all_of("kind", KINDS)
def test_machine_code_finds_the_same_lengths(kind: str) -> None:
    """Of a packet that has come so far, with a bit of its headers changed; nothing behind it is read."""
    compiled = [lowered(name, source_of(extents), name, 2).function() for name in ("extent", "doubtful")]
    chance = random.Random(kind)
    for have in [*range(16, len(KINDS[kind]) + 1)] * 3:
        packet = bytearray(KINDS[kind] + NEXT)
        packet[chance.randrange(have)] ^= 1 << chance.randrange(8)
        octets = np.frombuffer(bytes(packet[:have]), np.uint8)
        found = [function(octets.ctypes.data, have) for function in compiled]
        assert found == [extent(packet[:have], have), doubtful(packet[:have], have)], (have, packet.hex())


def test_an_announced_end_that_a_packet_follows_is_right() -> None:
    """More or fewer bytes than the headers count are no wrong size if the next packet begins behind them."""
    for change in (-4, 4, 12):
        packet = resized(NEXT[:change] if change < 0 else NEXT + bytes(change), change)
        assert packet is not None
        assert framed(cut(packet + NEXT, 30, len(packet))) == [(packet, True), (NEXT, True)]


@FEW
@given(st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(-70, 70)), min_size=1, max_size=5), st.data())
def test_cuts_make_no_difference(chosen: list[tuple[str, int]], data: st.DataObject) -> None:
    packets = [resized(KINDS[kind], change) or KINDS[kind] for kind, change in chosen]
    junk = data.draw(st.sampled_from([b"", b"\x10", b"LIOR", b"\x10\0\0\0LIO", bytes(20)]))
    stream = junk.join(packets) + junk
    whole = framed([stream])
    assert framed([stream[at : at + 1] for at in range(len(stream))]) == whole
    assert framed(cut(stream, *data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))) == whole
    assert sum(len(one) for one, _ in whole) <= len(stream)


def test_what_waits_is_bounded() -> None:
    """Bytes that belong to nothing wait behind a packet no longer than another size could explain."""
    packet = resized(KINDS["message"], -8)
    assert packet is not None
    framer = Framer(True)
    for at in range(0, 1 << 16, 64):
        framer.feed(packet if not at else bytes(64))
        assert framer.buffered <= len(packet) + 2 * ASTRAY + at
        if at > 4 * ASTRAY:
            assert not framer.waits


@settings(max_examples=fewer(100), deadline=None, derandomize=True, database=None)
@given(st.integers(0, 1 << 30))
def test_both_readers_agree(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """Wrong sizes in streams of both sides, cut anywhere, with answers in between, and ends of every kind."""
    chance = random.Random(seed)
    capture = build_tcp.Capture(1_700_000_000_000_000_000)
    connection = build_tcp.Connection.open(capture, ("192.0.2.1", 50_001), ("192.0.2.2", 1801))
    for _ in range(chance.randrange(1, 12)):
        side, parts = chance.randrange(2), []
        for _ in range(chance.randrange(1, 4)):
            kind = chance.choice(sorted(KINDS))
            change = chance.choice((0, chance.randint(-40, 40), chance.choice((-16, -8, -4, 4, 8, 16))))
            parts.append(resized(KINDS[kind], change) or KINDS[kind])
        stream = b"".join(parts)
        places = chance.sample(range(len(stream)), min(len(stream), chance.choice((0, 0, 1, 3))))
        for part in cut(stream, *places):
            connection.segment(side, part, build_tcp.ACK)
            capture.wait(chance.choice((0, 1, 20)))
            if chance.random() < 0.3:
                connection.segment(1 - side, chance.choice((b"", KINDS["session-ack"], NEXT)), build_tcp.ACK)
    how = chance.choice(("close", "reset", "nothing"))
    if how == "close":
        connection.close(chance.randrange(2))
    elif how == "reset":
        connection.segment(chance.randrange(2), b"", build_tcp.RST)
    path = tmp_path_factory.mktemp("wrong") / "sizes.pcap"
    path.write_bytes(capture.pcap())
    same(path)


def _exchange(kind: str, change: int) -> tuple[bytes, list[bytes]]:
    """A capture in which every packet comes alone, and one of them has a wrong size; and the packets."""
    capture = build_tcp.Capture(1_700_000_000_000_000_000)
    connection = build_tcp.Connection.open(capture, ("192.0.2.1", 50_001), ("192.0.2.2", 1801))
    sent = [resized(KINDS[kind], change) or b"", KINDS["session-ack"], NEXT, NEXT, KINDS["parameters"]]
    for side, packet in zip((0, 1, 0, 0, 1), sent, strict=True):
        connection.segment(side, packet, build_tcp.ACK)
        capture.wait(300)
    connection.close(0)
    return capture.pcap(), sent


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [-4, 4, 16])
def test_packets_keep_their_order_and_times(tmp_path: Path, kind: str, change: int) -> None:
    data, sent = _exchange(kind, change)
    path = tmp_path / "exchange.pcap"
    path.write_bytes(data)
    found = [event for event in read_capture(path) if isinstance(event, Frame)]
    assert [frame.data for frame in found] == sent
    assert [frame.record for frame in found] == [4, 5, 6, 7, 8]
    assert [frame[9] for frame in walked(path)[0]] == sent
    same(path)


def test_a_valid_capture_is_left_to_the_walk(tmp_path: Path) -> None:
    write_corpus(tmp_path / "whole.pcap", 600, connections=4, kinds=60)
    told = same(tmp_path / "whole.pcap").told
    assert told.slow <= told.records / 50
