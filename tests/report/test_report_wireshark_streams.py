"""Streams cut anywhere, damaged packets, other ports: tshark with the generated dissector reads what we read."""

from __future__ import annotations

import random
import struct
from collections import Counter
from pathlib import Path

import build_captures
import build_tcp
import pytest
import tshark

from conformance.judge.packets.judge import RULES, judge_packet
from conformance.report.wireshark import dissector
from conformance.spec.catalogue import assignment
from conformance.wire import dissect, encode, settle
from conformance.wire.framing import frame_length

PROFILE, READINGS = "msmq-4.0", "windows"
CLIENT, SERVER = ("192.0.2.10", 49759), ("192.0.2.20", 1801)
SESSION = {"SessionHeader.WindowSize": 64}


@pytest.fixture(scope="module")
def source() -> str:
    return dissector(profile=PROFILE, readings=assignment(READINGS)).source


@pytest.fixture(scope="module")
def lua(source: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lua") / "msmq.lua"
    path.write_text(source, encoding="utf-8")
    return path


def whole_packets() -> list[bytes]:
    """Packets of every kind, as they follow each other on a stream; each says its own length."""
    body = {"MessagePropertiesHeader.MessageBody": bytes(range(256)) * 12}
    found = [
        encode("EstablishConnection", {}),
        encode("ConnectionParameters", {}),
        encode("UserMessage", body),
        encode("UserMessage", {**body, **SESSION}),
        encode("UserMessage", {**body, **SESSION}, placement="inside"),
        encode("SessionAck", {}),
        encode("OrderAck", {}),
        encode("FinalAck", {}),
    ]
    for rule in RULES:
        data = rule.breaks.valid()
        length = settle(frame_length(data[:16]).lengths, data, 0, final=True)
        if length == len(data) and dissect(data).whole:
            found.append(data)
    return list(dict.fromkeys(found))


def one_stream(path: Path, chunks: list[bytes], server: tuple[str, int] = SERVER) -> Path:
    """A capture of one connection whose opener sends these segments."""
    capture = build_tcp.Capture(build_captures.START_4_1)
    connection = build_tcp.Connection.open(capture, CLIENT, server)
    for chunk in chunks:
        capture.wait(1)
        connection.send(0, chunk)
    connection.close(0)
    path.write_bytes(capture.pcapng())
    return path


def pieces(data: bytes, sizes: random.Random, most: int) -> list[bytes]:
    out, at = [], 0
    while at < len(data):
        size = sizes.randint(1, most)
        out.append(data[at : at + size])
        at += size
    return out


@pytest.mark.parametrize("most", [1, 3, 17, 40, 600, 1460])
def test_a_stream_cut_anywhere_has_the_same_packets(most: int, lua: Path, tmp_path: Path) -> None:
    sizes = random.Random(most)
    sent = whole_packets()
    sizes.shuffle(sent)
    if most < 100:  # a record for every few bytes: a few packets tell as much
        sent = [data for data in sent if len(data) < 300][: 3 + most // 2]
    chunks = pieces(b"".join(sent), sizes, most)
    found = tshark.dissect_capture(lua, one_stream(tmp_path / "stream.pcapng", chunks))
    assert [one.size for one in found] == [len(data) for data in sent]
    for data, one in zip(sent, found, strict=True):
        assert tshark.differences(dissect(data, transport="buffer"), one) == []


def test_a_stream_on_another_port_is_told_by_its_first_packet(lua: Path, tmp_path: Path) -> None:
    sent = [encode("EstablishConnection", {}), encode("UserMessage", {})]
    capture = one_stream(tmp_path / "stream.pcapng", sent, ("192.0.2.20", 41801))
    assert [one.kind for one in tshark.dissect_capture(lua, capture)] == ["EstablishConnection", "UserMessage"]


def test_another_protocol_on_another_port_is_left_alone(lua: Path, tmp_path: Path) -> None:
    capture = one_stream(tmp_path / "stream.pcapng", [b"GET / HTTP/1.1\r\n\r\n" * 4], ("192.0.2.20", 41801))
    assert tshark.dissect_capture(lua, capture) == []


def test_bytes_that_are_no_packet_are_blamed_on_nobody_when_the_capture_begins_late(lua: Path, tmp_path: Path) -> None:
    message = encode("UserMessage", {"MessagePropertiesHeader.MessageBody": b"x" * 400})
    capture = build_tcp.Capture(build_captures.START_4_1)
    connection = build_tcp.Connection(capture, (CLIENT, SERVER), [5000, 7000])
    connection.send(0, message[100:])
    capture.wait(1)
    connection.send(0, message)
    path = tmp_path / "late.pcapng"
    path.write_bytes(capture.pcapng())
    found = tshark.dissect_capture(lua, path)
    assert [one.size for one in found] == [len(message)]


def test_two_passes_say_the_same_as_one(lua: Path) -> None:
    capture = Path(build_captures.__file__).parent / "captures" / "packet-size-too-small.pcapng"
    assert tshark.dissect_capture(lua, capture, "-2") == tshark.dissect_capture(lua, capture)


def damaged(count: int, seed: int) -> list[bytes]:
    """Packets with bytes changed, sizes overwritten with the numbers that hurt, or the end cut off."""
    pick = random.Random(seed)
    hurtful = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFF, 0x8000, 0x7FFF]
    models = [data for data in whole_packets() if len(data) < 1000]
    out = []
    for _ in range(count):
        data = bytearray(pick.choice(models))
        for _ in range(pick.randint(0, 3)):
            at = pick.randrange(len(data))
            if pick.random() < 0.5:
                data[at] = pick.randrange(256)
            else:
                value = struct.pack("<I", pick.choice(hurtful))
                data[at : at + 4] = value[: len(data) - at]
        out.append(bytes(data[: pick.randint(1, len(data))] if pick.random() < 0.4 else data))
    return [data for data in dict.fromkeys(out) if dissect(data).kind != "Ping"]


def test_damaged_packets_are_read_and_judged_as_here(lua: Path, tmp_path: Path) -> None:
    sent = damaged(600, 5)
    found = tshark.dissect_capture(lua, tshark.one_packet_records(tmp_path / "p.pcap", sent), *tshark.AS_PACKET)
    left_out = dissector(profile=PROFILE, readings=assignment(READINGS)).left_out
    assert len(found) == len(sent)
    kinds = Counter(one.kind for one in found)
    assert kinds["UserMessage"] > 50 and kinds["Malformed"] > 20
    for data, one in zip(sent, found, strict=True):
        assert tshark.differences(dissect(data, transport="buffer"), one) == [], data.hex()
        ours = judge_packet(data, profile=PROFILE, readings=READINGS, transport="buffer", explain=False)
        ours += tshark.alone(data, READINGS)
        assert one.verdicts == tshark.judged_by_both(ours, left_out), data.hex()


# Each is one change in the generated Lua; the comparison must see it.
SABOTAGE = {
    "a field a byte narrower": ('uint("UserHeader.MessageID", 4)', 'uint("UserHeader.MessageID", 2)'),
    "a bit field one bit higher": ('{ "UserHeader.Flags.DQ", 10, 3 }', '{ "UserHeader.Flags.DQ", 11, 3 }'),
    "an operator swapped": ('compare("le", field("UserHeader.Flags.RC")', 'compare("ge", field("UserHeader.Flags.RC")'),
    "unknown taken for false": ("if unknown then return nil end", "if unknown then return false end"),
    "a mask left out": ("local bits = bits_of(value, one.mask)", "local bits = value"),
    "padding to eight": ('pad("MessagePropertiesHeader.Padding", 4)', 'pad("MessagePropertiesHeader.Padding", 8)'),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_the_comparison_sees_a_wrong_dissector(name: str, source: str, tmp_path: Path) -> None:
    before, after = SABOTAGE[name]
    assert source.count(before) == 1
    wrong = tmp_path / "wrong.lua"
    wrong.write_text(source.replace(before, after), encoding="utf-8")
    sent = damaged(600, 5)
    found = tshark.dissect_capture(wrong, tshark.one_packet_records(tmp_path / "p.pcap", sent), *tshark.AS_PACKET)
    left_out = dissector(profile=PROFILE, readings=assignment(READINGS)).left_out
    seen = 0
    for data, one in zip(sent, found, strict=True):
        ours = judge_packet(data, profile=PROFILE, readings=READINGS, transport="buffer")
        ours += tshark.alone(data, READINGS)
        same = one.verdicts == tshark.judged_by_both(ours, left_out)
        seen += bool(tshark.differences(dissect(data, transport="buffer"), one)) or not same
    assert seen
