"""TCP streams have the numbers that Wireshark gives them; where tshark is installed it is asked."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest
import tshark
from small_files import packet as ping

from conformance.capture import Frame, read_capture, reader
from conformance.capture.network import Segment, decode, quoted
from conformance.capture.reader import StreamNumbers
from conformance.capture.records import RecordWalk, read_records
from conformance.files import resource

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
FLAGS = (SYN, SYN, SYN | ACK, ACK, ACK, ACK | PSH, FIN | ACK, RST, RST | ACK, 0, SYN | RST, SYN | FIN, SYN | ACK | RST)
CAPTURES = sorted(path for path in resource("fixtures/captures").iterdir() if path.suffix != ".toml")
End = tuple[int, int]


def ip(protocol: int, payload: bytes, source: int = 1, destination: int = 2) -> bytes:
    """An Ethernet record between two hosts of one network."""
    ends = bytes([10, 0, 0, source, 10, 0, 0, destination])
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0)
    return bytes(12) + b"\x08\x00" + head + ends + payload


def segment(source: End, destination: End, sequence: int, flags: int, heard: int = 0, data: bytes = b"") -> bytes:
    """An Ethernet record with a TCP segment. An end is the last byte of an address, and a port."""
    head = (source[1], destination[1], sequence, heard, 5 << 4, flags, 65535, 0, 0)
    return ip(6, struct.pack(">HHIIBBHHH", *head) + data, source[0], destination[0])


def error(about: bytes, kind: int = 3, kept: int = 20) -> bytes:
    """An ICMP error about the segment of a record, with so many bytes of its TCP header."""
    return ip(1, struct.pack(">BBHI", kind, 3, 0, 0) + about[14 : 34 + kept], 9, 1)


def written(path: Path, records: list[bytes]) -> Path:
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
    for at, data in enumerate(records):
        out += struct.pack("<IIII", 1000 + at // 1000, at % 1000 * 1000, len(data), len(data)) + data
    path.write_bytes(out)
    return path


def ours(path: Path) -> list[int | None]:
    """The number of each record's stream; None for a record without."""
    numbers, out = StreamNumbers(), []
    for record in read_records(path, RecordWalk()):
        found, about = decode(record), quoted(record)
        if about is not None:
            out.append(numbers.of(about, quoted=True))
        else:
            out.append(numbers.of(found) if isinstance(found, Segment) else None)
    return out


def theirs(path: Path) -> list[int | None]:
    command = [tshark.program(), "-n", "-r", str(path), "-T", "fields", "-e", "frame.number", "-e", "tcp.stream"]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout.splitlines()
    return [int(text) if (text := line.partition("\t")[2]) else None for line in lines]


def drawn(chance: random.Random, count: int) -> list[bytes]:
    """Segments of few conversations, of any flags, with few sequence numbers; some quoted by ICMP errors."""
    ports = [1801, 1801, 80, 5000, 5001]
    ends = [((chance.randint(1, 3), chance.choice(ports)), (chance.randint(1, 3), chance.choice(ports))) for _ in "abc"]
    out = []
    for _ in range(count):
        one, other = chance.choice(ends)[:: chance.choice((1, -1))]
        sequence, acknowledged = chance.choice((100, 100, 101, 200, 300)), chance.choice((0, 101, 201, 301, 100))
        made = segment(one, other, sequence, chance.choice(FLAGS), acknowledged, b"x" * chance.choice((0, 0, 1, 5)))
        quotes = chance.random() < 0.1
        out.append(error(made, chance.choice((0, 3, 4, 11, 12)), chance.choice((8, 16, 20))) if quotes else made)
    return out


@pytest.mark.parametrize("seed", range(12))
def test_drawn_captures_have_the_numbers_of_wireshark(seed: int, tmp_path: Path) -> None:
    path = written(tmp_path / "drawn.pcap", drawn(random.Random(seed), 150))
    found = theirs(path)
    assert len({one for one in found if one is not None}) > 1
    assert ours(path) == found


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.name)
def test_records_and_streams_of_the_fixtures_are_those_of_wireshark(capture: Path) -> None:
    found = theirs(capture)
    frames = [event for event in read_capture(capture) if isinstance(event, Frame)]
    assert frames
    for frame in frames:
        assert frame.stream == found[frame.record - 1], frame.number
        assert (frame.stream is None) == (frame.transport == "udp")


A, B, C = (1, 5000), (2, 1801), (3, 80)


def test_a_syn_of_another_number_begins_a_stream_and_a_repeated_one_does_not(tmp_path: Path) -> None:
    again = [segment(A, B, 7, SYN), segment(A, B, 7, SYN), segment(A, B, 8, SYN), segment(B, A, 1, SYN | ACK, 9)]
    assert ours(written(tmp_path / "a.pcap", [*again, segment(C, B, 1, ACK)])) == [0, 0, 1, 1, 2]


def test_a_quoted_segment_begins_a_stream_but_not_its_numbers(tmp_path: Path) -> None:
    records = [error(segment(A, B, 1, SYN)), segment(A, B, 2, SYN), error(segment(A, C, 1, SYN), kept=8), ping()]
    assert ours(written(tmp_path / "a.pcap", records)) == [0, 0, None, None]


def test_numbers_are_not_told_where_they_are_not_sure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reader, "MAX_STREAMS", 2)
    records = [segment((1, 5000 + at), B, 1, SYN) for at in (0, 1, 2, 1, 2, 0)]
    assert ours(written(tmp_path / "a.pcap", records)) == [0, 1, None, 1, None, None]
    broken = bytearray(segment(A, B, 1, SYN))
    broken[14 + 20 + 12] = 3 << 4
    message = segment(B, C, 1, SYN), segment(C, B, 1, SYN | ACK, 2), segment(B, C, 2, ACK, 2, b"\x10" * 16)
    frames = [e for e in read_capture(written(tmp_path / "b.pcap", [bytes(broken), *message])) if isinstance(e, Frame)]
    assert [frame.stream for frame in frames] == [None]
