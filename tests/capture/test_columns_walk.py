"""The compiled walk through a capture, and the pages it reads."""

from __future__ import annotations

import mmap
import os
import struct
from itertools import zip_longest
from pathlib import Path

import build_captures
import build_tcp
import numpy as np
import pytest
from both_readers import same, walked
from generated_corpus import Captures, write_corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import fewer
from record_edits import AT_PAYLOAD, AT_TCP, as_ipv6, edit, edits, records_of

from conformance.capture.columns import places as p
from conformance.capture.columns import reader
from conformance.capture.columns.reader import FastCapture
from conformance.capture.files import STEP, Pages
from conformance.files import resource

MADE = ("consistent_session", "resending_session", "out_of_order", "with_loss", "middle_only", "resynchronisation")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / "whole.pcap", 150, connections=4, kinds=60)
    write_corpus(folder / "spread.pcap", 150, connections=4, kinds=60, spread=True, disorder=0.1)
    made = [getattr(build_captures, name)().pcap() for name in MADE]
    return Captures([*made, (folder / "whole.pcap").read_bytes(), (folder / "spread.pcap").read_bytes()])


@settings(max_examples=fewer(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 7), changes=edits(12), kept=st.none() | st.integers(0, 1 << 20))
def test_edited_captures(
    captures: Captures, tmp_path: Path, which: int, changes: list[tuple[str, int, int]], kept: int | None
) -> None:
    head, records = records_of(captures[which])
    for change in changes:
        edit(records, *change)
    data = head + b"".join(records)
    path = tmp_path / "edited.pcap"
    path.write_bytes(data if kept is None else data[: max(24, kept % len(data))])
    same(path)


@pytest.mark.parametrize("name", ["vlan.pcap", "raw-ip.pcap", "linux-cooked.pcap", "cut-record.pcap"])
def test_fixtures(name: str) -> None:
    same(resource("fixtures/captures") / name)


def test_the_walk_does_it_itself(captures: Captures, tmp_path: Path) -> None:
    """Hardly anything is left to the other code, however packets are spread, repeated and out of order."""
    path = tmp_path / "spread.pcap"
    path.write_bytes(captures[-1])
    told = same(path).told
    assert told.joined > 50 and told.repeated > 2 and told.reordered > 0
    assert told.slow <= 4 < told.records / 5


def head_of(size: int, flags: int) -> bytes:
    return struct.pack("<BBHIII", 0x10, 0, flags, 0x524F494C, size, 0) + bytes(size - 16)


@pytest.mark.parametrize("cut", [1 << 10, 97, 41, 16, 7])
def test_two_lengths(tmp_path: Path, cut: int) -> None:
    """A SessionHeader within what a packet says is its size, or behind it, with the next packet in the same segment."""
    inside, behind, plain = head_of(56, 0x10), head_of(40, 0x10) + bytes(16), head_of(64, 0)
    ack = head_of(20, 0x18)
    stream = inside + plain + behind + plain + inside + inside + behind + behind + ack + bytes(16) + plain + ack + plain
    capture = build_tcp.Capture(1_700_000_000_000_000_000)
    connection = build_tcp.Connection.open(capture, ("192.0.2.1", 50_001), ("192.0.2.2", 1801))
    for _ in range(3):
        connection.send(0, stream, cut)
    # The other side answers what could be a packet already: it is one.
    for _ in range(2):
        connection.segment(0, head_of(40, 0x10), build_tcp.ACK)
        connection.segment(1, plain, build_tcp.ACK)
        connection.segment(0, plain, build_tcp.ACK)
    connection.close(0)
    path = tmp_path / "lengths.pcap"
    path.write_bytes(capture.pcap())
    same(path)


def test_no_node_is_lost(captures: Captures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What kept the places of bytes that waited is free again when they have gone."""
    left: list[int] = []
    monkeypatch.setattr(reader, "give_back", lambda arrays: left.append(int(arrays.cursor[p.FREE_COUNT])))
    path = tmp_path / "spread.pcap"
    path.write_bytes(captures[-1])
    assert same(path).told.joined > 50
    assert left == [p.NODES]


@pytest.mark.parametrize("stray", [16, 17, 40])
@pytest.mark.parametrize("first", [1, 8, 15])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1), (1, 2, 0)])
def test_bytes_that_begin_no_packet(tmp_path: Path, stray: int, first: int, order: tuple[int, ...]) -> None:
    """Some with a packet before them, some in a segment of their own, then a packet; in whatever order they come."""
    packet, other = (build_captures.message(7001 + at, "orders", "order", "two").bytes() for at in range(2))
    capture = build_tcp.Capture(1_700_000_000_000_000_000)
    connection = build_tcp.Connection.open(capture, ("192.0.2.1", 50_001), ("192.0.2.2", 1801))
    pieces = [packet + b"x" * first, b"y" * (stray - first), other]
    begin = connection.next[0]
    starts = [begin, begin + len(pieces[0]), begin + len(pieces[0]) + len(pieces[1])]
    for at in order:
        connection.segment(0, pieces[at], build_tcp.ACK, starts[at])
        capture.wait(1)
    connection.next[0] = starts[2] + len(other)
    connection.close(0)
    path = tmp_path / "stray.pcap"
    path.write_bytes(capture.pcap())
    same(path)
    assert [frame[9] for frame in walked(path)[0]] == [packet, pieces[0][-first:] + pieces[1], other]


def test_byte_order_and_nanoseconds(captures: Captures, tmp_path: Path) -> None:
    head, records = records_of(captures[0])
    swapped = b"\xa1\xb2\x3c\x4d" + b"".join(head[at : at + 4][::-1] for at in range(4, 24, 4))
    path = tmp_path / "swapped.pcap"
    path.write_bytes(
        swapped + b"".join(b"".join(one[at : at + 4][::-1] for at in range(0, 16, 4)) + one[16:] for one in records)
    )
    same(path)


def test_sequence_numbers_wrap(captures: Captures, tmp_path: Path) -> None:
    head, records = records_of(captures[-1])
    for at, one in enumerate(records):
        if len(one) >= AT_PAYLOAD:
            moved = bytearray(one)
            for place in (AT_TCP + 4, AT_TCP + 8):
                number = int.from_bytes(one[place : place + 4], "big") | 0xFFFF_0000
                moved[place : place + 4] = (number & 0xFFFF_FFFF).to_bytes(4, "big")
            records[at] = bytes(moved)
    path = tmp_path / "wrapping.pcap"
    path.write_bytes(head + b"".join(records))
    same(path)


@pytest.mark.parametrize("which", [0, 1, 7])
def test_over_ipv6(captures: Captures, tmp_path: Path, which: int) -> None:
    head, records = records_of(captures[which])
    path = tmp_path / "six.pcap"
    path.write_bytes(head + b"".join(as_ipv6(records)))
    told = same(path).told
    assert told.slow < told.records / 2


@pytest.mark.parametrize("kind", ["fragment", "tag", "options", "padding", "empty"])
@pytest.mark.parametrize("number", [0, 1, 2, 3, 5, 40, 1 << 19])
def test_layers_below(captures: Captures, tmp_path: Path, kind: str, number: int) -> None:
    """Every record comes in pieces, in tags, with options, with padding behind it or without bytes."""
    head, records = records_of(captures[6])
    for at in range(len(records) - 1, -1, -1 if number else -7):
        edit(records, kind, at, number)
    path = tmp_path / "below.pcap"
    path.write_bytes(head + b"".join(records))
    assert same(path).told.records > 0 or kind == "empty"


@pytest.mark.parametrize("kind", ["split", "split-over", "crumbs", "waiting", "after-fin"])
@pytest.mark.parametrize("number", [3, 19, 41, 79, 210, (1 << 19) + 3, (1 << 19) + 40, (1 << 19) + 210])
def test_segments_cut_anew(captures: Captures, tmp_path: Path, kind: str, number: int) -> None:
    """Every packet comes in parts: one behind the other, in the other order, some bytes twice, or behind a FIN."""
    for which in (1, 6):
        head, records = records_of(captures[which])
        for at in range(len(records) - 1, -1, -1):
            edit(records, kind, at, number)
        path = tmp_path / f"{which}.pcap"
        path.write_bytes(head + b"".join(records))
        same(path)


@pytest.mark.parametrize("which", [3, 4, 5])
def test_a_hole_is_given_up_while_others_go_on(captures: Captures, tmp_path: Path, which: int) -> None:
    """Some time after a segment was lost what waits behind it is given out, whatever the next record is about."""
    head, records = records_of(captures[which])
    _, others = records_of(captures[6])
    mixed = [one for pair in zip_longest(records, others) for one in pair if one is not None]
    at_ms = [(at * 30, one) for at, one in enumerate(mixed)]
    path = tmp_path / "mixed.pcap"
    path.write_bytes(
        head + b"".join(struct.pack("<II", 1_700_000_000 + ms // 1000, ms % 1000 * 1000) + one[8:] for ms, one in at_ms)
    )
    same(path)


def test_both_ends_on_one_host(captures: Captures, tmp_path: Path) -> None:
    """On a loopback only the ports tell one side from the other."""
    head, records = records_of(captures[7])
    path = tmp_path / "loopback.pcap"
    path.write_bytes(head + b"".join(one[: AT_TCP - 8] + b"\x7f\0\0\1" * 2 + one[AT_TCP:] for one in records))
    told = same(path).told
    assert told.joined > 50 and told.slow < told.records / 5


@pytest.mark.parametrize("size", [None, 3, 6, 13, 40])
def test_a_session_header_that_is_not_there(captures: Captures, tmp_path: Path, size: int | None) -> None:
    """Flags promise a SessionHeader, but the next packet begins in its place: what comes behind tells the length."""
    head, records = records_of(captures[6])
    for at in range(len(records) - 1, -1, -1):
        one = records[at]
        if len(one) > AT_PAYLOAD + 20 and not one[AT_PAYLOAD + 2] & 0x08:
            records[at] = one[: AT_PAYLOAD + 2] + bytes((one[AT_PAYLOAD + 2] | 0x10,)) + one[AT_PAYLOAD + 3 :]
        if size is not None:
            edit(records, "crumbs", at, size)
    path = tmp_path / "promised.pcap"
    path.write_bytes(head + b"".join(records))
    same(path)


def test_more_connections_than_are_followed(
    captures: Captures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one silent longest is given up, whoever follows it."""
    write_corpus(tmp_path / "many.pcap", 300, connections=40, kinds=40)
    monkeypatch.setattr("conformance.capture.connections.MAX_CONNECTIONS", 7)
    same(tmp_path / "many.pcap")


@pytest.mark.parametrize("head", [b"", b"\x0a\x0d\x0d\x0a" + bytes(40), b"\xd4\xc3\xb2\xa1" + bytes(10), b"\x1f\x8b"])
def test_other_files_are_left_alone(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "other").write_bytes(head)
    with pytest.raises(ValueError, match="no classic"):
        FastCapture(tmp_path / "other")


SIZE = 3 * STEP + 12345


class Noting(mmap.mmap):
    """Notes what is asked to be mapped."""

    asked: list[tuple[int, int]]

    def madvise(self, option: int, start: int = 0, length: int = 0) -> None:  # type: ignore[override]
        self.asked.append((start, start + length))
        super().madvise(option, start, length)


def mapped(path: Path) -> tuple[Noting, Pages]:
    path.write_bytes(bytes(SIZE))
    with path.open("rb") as file:
        found = Noting(file.fileno(), 0, access=mmap.ACCESS_READ)
    found.asked = []
    return found, Pages(found, np.frombuffer(found, np.uint8).ctypes.data)


def test_each_page_is_asked_for_once(tmp_path: Path) -> None:
    file, pages = mapped(tmp_path / "file")
    for position in range(24, SIZE, 1_000_003):
        pages.reach(position, SIZE)
        assert file.asked[-1][1] == SIZE or file.asked[-1][1] >= position + STEP // 2, position
    ends = [end for _, end in file.asked]
    assert [start for start, _ in file.asked] == [0, *ends[:-1]]
    assert ends[-1] == SIZE


def test_a_range_of_a_file_is_all_that_is_asked_for(tmp_path: Path) -> None:
    file, pages = mapped(tmp_path / "file")
    start, stop = 2 * STEP + 77, 2 * STEP + 5 * mmap.PAGESIZE
    pages.reach(start, stop)
    pages.reach(stop, stop)
    assert file.asked == [(2 * STEP, stop)]


def test_what_is_on_the_disk_alone_is_left_to_be_read_when_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.truncate(tmp_path / "file", SIZE)  # A hole that nobody has read.
    with (tmp_path / "file").open("rb") as sparse:
        file = Noting(sparse.fileno(), 0, access=mmap.ACCESS_READ)
    file.asked = []
    Pages(file, np.frombuffer(file, np.uint8).ctypes.data).reach(STEP, SIZE)
    assert file.asked == []
