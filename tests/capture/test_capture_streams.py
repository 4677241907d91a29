"""TCP streams of a capture: fragments, holes, and streams that are followed as they come."""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path

import build_captures
import build_packets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer
from record_edits import records_of

from conformance.capture import Closed, Cut, Ended, Frame, Opened, Passed, Renewed, read_capture
from conformance.capture.connections import HOLD_NS, Connections
from conformance.capture.files import Stop
from conformance.capture.framing import MAX_WAITING, Framer, Stream
from conformance.capture.network import (
    ACK,
    FIN,
    MAX_DATAGRAMS,
    MAX_LENGTH,
    RST,
    SYN,
    WAIT_NS,
    Fragment,
    Fragments,
    Segment,
)
from conformance.capture.records import RecordWalk, read_records

CLIENT, SERVER = ("10.0.0.1", 49759), ("10.0.0.2", 1801)
FEW = settings(max_examples=fewer(60), deadline=None, derandomize=True, database=None)


def packet(size: int, fill: int = 0x61, flags: int = 0x000B) -> bytes:
    return struct.pack("<BBHII", 0x10, 0, flags, 0x524F494C, size) + bytes([fill]) * (size - 12)


def segment(side: int, sequence: int, payload: bytes = b"", flags: int = ACK, acknowledged: int = 0) -> Segment:
    ends = (CLIENT, SERVER) if side == 0 else (SERVER, CLIENT)
    return Segment(*ends, sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF, flags, payload, 0)


def run(segments, step_ns: int = 1_000_000, end: bool = True):
    connections = Connections(count(1))
    events = []
    for record, one in enumerate(segments, 1):
        events += connections.tick(record * step_ns)
        events += connections.segment(record, record * step_ns, one)
    if end:
        events += connections.end()
    return events


def frames(events):
    return [event for event in events if isinstance(event, Frame)]


PACKETS = st.lists(st.tuples(st.integers(16, 400), st.integers(0, 15)), min_size=1, max_size=8)


@FEW
@given(PACKETS, st.data())
def test_cuts_order_repeats_and_overlaps_make_no_difference(shapes, data):
    packets = [packet(size, fill) for size, fill in shapes]
    stream = b"".join(packets)
    start = data.draw(st.sampled_from([0, 1000, 0xFFFFFFFF, 0xFFFFFFF0]))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(stream) - 1), max_size=12)) | {0, len(stream)})
    pieces = [(low, stream[low:high]) for low, high in pairwise(cuts)]
    for _ in range(data.draw(st.integers(0, 4))):
        low = data.draw(st.integers(0, len(stream) - 1))
        pieces.append((low, stream[low : low + data.draw(st.integers(1, 300))]))
    pieces = data.draw(st.permutations(pieces))
    segments = [segment(0, start, flags=SYN), segment(1, 5000, flags=SYN | ACK, acknowledged=start + 1)]
    segments += [segment(0, start + 1 + low, piece, acknowledged=5001) for low, piece in pieces]
    segments.append(segment(0, start + 1 + len(stream), flags=FIN | ACK, acknowledged=5001))
    found = frames(run(segments))
    assert [one.data for one in found] == packets
    assert [one.gap_before for one in found] == [0] * len(packets)
    assert not any(one.trouble for one in found)


@FEW
@given(PACKETS, st.data())
def test_a_missing_segment_loses_the_packets_it_touches_and_no_other(shapes, data):
    packets = [packet(size, fill) for size, fill in shapes]
    stream = b"".join(packets)
    low = data.draw(st.integers(0, len(stream) - 1))
    high = data.draw(st.integers(low + 1, len(stream)))
    before, after = stream[:low], stream[high:]
    segments = [segment(0, 0, flags=SYN), segment(1, 0, flags=SYN | ACK, acknowledged=1)]
    segments += [segment(0, 1 + at, part, acknowledged=1) for at, part in ((0, before), (high, after)) if part]
    segments.append(segment(1, 1, packet(36), acknowledged=1 + len(stream)))
    found = [one for one in frames(run(segments, step_ns=HOLD_NS)) if one.side == "initiator"]
    offsets, at = {}, 0
    for one in packets:
        offsets[at] = one
        at += len(one)
    whole = {start: one for start, one in offsets.items() if start + len(one) <= low or start >= high}
    assert {one.offset: one.data for one in found if one.trouble is None} == whole
    assert all(one.trouble.kind == "not-captured" for one in found if one.trouble)
    following = next((one for one in found if one.offset >= high and one.trouble is None), None)
    partial = any(one.trouble for one in found)
    if following is not None:
        assert following.gap_before > 0 or partial


def test_a_reply_captured_before_what_it_replies_to_waits_for_it():
    asked, answered = packet(32, 1), packet(36, 2)
    events = run(
        [
            segment(0, 0, flags=SYN),
            segment(1, 0, flags=SYN | ACK, acknowledged=1),
            segment(1, 1, answered, acknowledged=33),
            segment(0, 1, asked, acknowledged=1),
        ]
    )
    assert [one.data for one in frames(events)] == [asked, answered]
    assert frames(events)[1].heard == 32


def test_a_reply_does_not_wait_longer_than_a_capture_is_out_of_order():
    asked, answered = packet(32, 1), packet(36, 2)
    connections = Connections(count(1))
    list(connections.segment(1, 0, segment(0, 0, flags=SYN)))
    list(connections.segment(2, 0, segment(1, 0, flags=SYN | ACK, acknowledged=1)))
    assert not frames(connections.segment(3, 0, segment(1, 1, answered, acknowledged=33)))
    assert not frames(connections.tick(HOLD_NS - 1))
    assert [one.data for one in frames(connections.tick(HOLD_NS))] == [answered]
    late = frames(connections.segment(4, HOLD_NS, segment(0, 1, asked, acknowledged=1)))
    assert not late, "these bytes were given up"


def test_a_connection_met_in_the_middle_is_framed_from_its_next_header():
    whole = packet(64, 1)
    events = run([segment(0, 77, whole[20:] + packet(32, 2)), segment(0, 77 + 76, packet(48, 3))])
    opened = next(event for event in events if isinstance(event, Opened))
    assert not opened.complete and (opened.initiator.port, opened.acceptor.port) == (49759, 1801)
    assert [(one.data, one.gap_before) for one in frames(events)] == [(packet(32, 2), 44), (packet(48, 3), 0)]


def test_the_acceptor_is_known_without_a_handshake():
    opened = run([segment(1, 77, packet(32))])[0]
    assert (opened.initiator.port, opened.acceptor.port) == (49759, 1801)


def test_a_port_used_again_is_another_connection():
    first = [segment(0, 0, flags=SYN), segment(1, 0, flags=SYN | ACK, acknowledged=1), segment(0, 1, packet(32))]
    again = [segment(0, 9000, flags=SYN), segment(1, 8000, flags=SYN | ACK, acknowledged=9001)]
    events = run([*first, first[0], *again, segment(0, 9001, packet(48), acknowledged=8001)])
    assert [one.connection for one in frames(events)] == [1, 2]
    assert [event.how for event in events if isinstance(event, Closed)] == ["reused", "end"]


def test_a_reset_within_a_packet_is_no_fault_of_its_sender():
    start = [segment(0, 0, flags=SYN), segment(1, 0, flags=SYN | ACK, acknowledged=1)]
    events = run([*start, segment(0, 1, packet(64)[:40], acknowledged=1), segment(1, 1, flags=RST)])
    assert frames(events)[0].trouble.kind == "aborted"
    assert [(event.how, event.by) for event in events if isinstance(event, Closed)] == [("rst", "acceptor")]


def test_a_close_within_a_packet_is_its_senders_doing():
    start = [segment(0, 0, flags=SYN), segment(1, 0, flags=SYN | ACK, acknowledged=1)]
    events = run([*start, segment(0, 1, packet(64)[:40], flags=FIN | ACK, acknowledged=1)])
    found = frames(events)[0]
    assert (found.trouble.kind, found.trouble.of_capture) == ("ended", False)


def test_what_waits_behind_a_hole_is_bounded():
    stream = Stream(expected=0)
    size = 60_000
    for at in range(1, 200):
        stream.add(at * size, bytes(size))
        while stream.overfull:
            stream.skip()
    assert stream.waiting_bytes <= MAX_WAITING + size


def test_a_hostile_number_of_connections_is_bounded():
    connections = Connections(count(1))
    closed = 0
    for port in range(20_000):
        client = (f"10.1.{port >> 8}.{port & 255}", 1000)
        one = Segment(client, SERVER, 1, 0, SYN, b"", 0)
        closed += sum(isinstance(event, Closed) for event in connections.segment(port, port, one))
    assert closed == 20_000 - 8192


# --- Framing ----------------------------------------------------------------------------------------------------
def feed(data: bytes, step: int = 7, found: bool = True, ending: str = "ended"):
    framer = Framer(found)
    pieces = []
    for at in range(0, len(data), step):
        pieces += framer.feed(data[at : at + step])
    return pieces + framer.finish(ending)


def message(size: int, session: bool, inside: bool) -> bytes:
    """A UserMessage with a body of `size` bytes and, if asked, a SessionHeader inside PacketSize or behind it."""
    made = build_packets.Message(build_packets.NULL_GUID, 1, 0, "OS:a\\q", "", bytes(size))
    raw = made.bytes()
    if not session:
        return raw
    header = build_packets.session_header(1, 0, 0, 1, 0)
    length = len(raw) + (len(header) if inside else 0)
    flags = struct.unpack_from("<H", raw, 2)[0] | 0x10
    return raw[:2] + struct.pack("<H", flags) + raw[4:8] + struct.pack("<I", length) + raw[12:] + header


def test_a_session_header_is_found_on_either_side_of_packet_size():
    plain = message(8, False, False)
    for inside in (False, True):
        one = message(8, True, inside)
        for following in (b"", plain, one + plain):
            expected = [one] + ([plain] if following == plain else [one, plain] if following else [])
            assert [piece.data for piece in feed(one + following)] == expected, (inside, len(following))


def test_a_session_ack_whose_packet_size_leaves_the_session_header_out():
    short = packet(20, 0, 0x001B) + bytes(16)
    assert [piece.data for piece in feed(short + packet(32) + short)] == [short, packet(32), short]


def test_an_impossible_packet_size_is_one_frame_of_trouble():
    for size in (0, 15, 0x00400001, 0xFFFFFFFF):
        bad = packet(32)[:8] + struct.pack("<I", size) + bytes(20)
        pieces = feed(packet(48) + bad + packet(64))
        assert [(len(piece.data), piece.trouble and piece.trouble.kind) for piece in pieces] == [
            (48, None),
            (32, "packet-size"),
            (64, None),
        ]


@FEW
@given(
    st.binary(max_size=300), st.integers(1, 50), st.booleans(), st.sampled_from(["ended", "aborted", "not-captured"])
)
def test_any_bytes_are_framed_and_every_byte_is_accounted_for(data, step, found, ending):
    framer = Framer(found)
    pieces = []
    for at in range(0, len(data), step):
        pieces += framer.feed(data[at : at + step])
    pieces += framer.finish(ending)
    assert framer.buffered == 0
    assert sum(len(piece.data) + piece.gap_before for piece in pieces) + framer.gap == len(data)


@FEW
@given(
    st.lists(st.sampled_from([packet(16), packet(40), b"\x10xxxLIOR", b"LIOR", b"\x10", packet(32)[:20]]), max_size=12)
)
def test_fragments_of_packets_never_stop_the_framer(parts):
    data = b"".join(parts)
    for step in (1, 5, 1000):
        assert feed(data, step) == feed(data, 1)


def test_junk_without_end_is_kept_within_bounds():
    framer = Framer(True)
    pieces = []
    for _ in range(100):
        pieces += framer.feed(bytes(65_536))
        assert framer.buffered <= 2 * 65_536
    assert [piece.trouble.kind for piece in pieces] == ["no-header"]
    assert len(pieces[0].data) <= 4096


def pieces(data: bytes, size: int = 8, identifier: int = 1) -> list[Fragment]:
    return [
        Fragment("a", "b", 6, identifier, at, at + size >= len(data), data[at : at + size])
        for at in range(0, len(data), size)
    ]


@given(st.binary(min_size=9, max_size=80), st.data())
def test_any_order_and_any_repetition_give_the_datagram_once(data, draws):
    made = pieces(data)
    order = draws.draw(st.permutations(made + draws.draw(st.lists(st.sampled_from(made), max_size=3))))
    fragments = Fragments()
    whole = [found for one in order if (found := fragments.add(0, one)) is not None]
    assert whole[0] == data and set(whole) == {data}


def test_a_missing_piece_is_waited_for_and_given_up():
    first, second, third = pieces(bytes(24))
    fragments = Fragments()
    assert fragments.add(0, first) is None and fragments.add(0, third) is None
    assert fragments.add(WAIT_NS + 1, second) is None
    assert fragments.given_up == 2
    fragments.end()
    assert fragments.given_up == 3


def test_datagrams_do_not_mix():
    fragments = Fragments()
    (one, two), (three, four) = pieces(b"a" * 16, identifier=1), pieces(b"b" * 16, identifier=2)
    assert [fragments.add(0, each) for each in (one, three, two, four)] == [None, None, b"a" * 16, b"b" * 16]


def test_a_hostile_number_of_datagrams_is_bounded():
    fragments = Fragments()
    for identifier in range(MAX_DATAGRAMS * 2):
        fragments.add(0, Fragment("a", "b", 6, identifier, 0, False, bytes(8)))
    assert fragments.given_up == MAX_DATAGRAMS


def test_overlapping_pieces_never_hold_more_than_a_datagram_can():
    fragments = Fragments()
    for at in range(0, MAX_LENGTH, 8):
        fragments.add(0, Fragment("a", "b", 6, 1, at, False, bytes(min(4000, MAX_LENGTH - at))))
        held = sum(waiting.held for waiting in fragments._waiting.values())
        assert held <= MAX_LENGTH + 4000


def test_a_piece_beyond_the_largest_datagram_ends_it():
    fragments = Fragments()
    assert fragments.add(0, Fragment("a", "b", 6, 1, 65_528, True, bytes(8))) is None
    assert fragments.given_up == 1


HEAD, RECORDS = records_of(build_captures.consistent_session().pcap())
FIRST = 40
BEFORE, AFTER = HEAD + b"".join(RECORDS[:FIRST]), HEAD + b"".join(RECORDS[FIRST:])


def replaced(path: Path) -> None:
    """Another file takes the place, as tcpdump -G and logrotate do it."""
    path.rename(path.with_suffix(".1"))
    path.write_bytes(AFTER)


def renamed(path: Path) -> None:
    """A file that was written elsewhere takes the place."""
    other = path.with_suffix(".new")
    other.write_bytes(AFTER)
    other.replace(path)


def truncated(path: Path) -> None:
    """The file is begun anew, as logrotate does it with copytruncate."""
    path.write_bytes(AFTER)


@pytest.mark.parametrize("change", [replaced, renamed, truncated])
@pytest.mark.parametrize("part", [b"", RECORDS[FIRST][:20]])
def test_it_is_read_on(change: Callable[[Path], None], part: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(BEFORE + part)
    stop, events, frames = Stop(30), [], 0
    for event in read_capture(path, follow=stop):
        events.append(event)
        frames += isinstance(event, Frame)
        if isinstance(event, Frame) and event.record == 39:
            change(path)
        if frames == 26:
            stop.tell()
    (renewed,) = (one for one in events if isinstance(one, Renewed))
    assert (renewed.record, renewed.cut is not None) == (FIRST + 1, bool(part))
    assert [one.record for one in events if isinstance(one, Frame)][-1] == 49
    assert frames == 26
    assert isinstance(events[-1], Ended)
    assert not [one for one in events if isinstance(one, Cut)]


def test_an_empty_file_in_its_place_is_waited_for_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(BEFORE)
    stop, events = Stop(30), []
    for event in read_capture(path, follow=stop):
        events.append(event)
        if isinstance(event, Frame) and event.record == 39:
            path.rename(tmp_path / "a.1")
            path.write_bytes(b"")
        if isinstance(event, Renewed):
            stop.tell()
    assert sum(isinstance(one, Renewed) for one in events) == 1
    assert isinstance(events[-1], Ended)


HOLE = 32 << 20


@pytest.fixture
def capture() -> bytes:
    import build_captures

    made: bytes = build_captures.consistent_session().pcap()
    return made


@pytest.mark.parametrize("swapped", [False, True])
def test_a_hole_is_passed_over(capture: bytes, tmp_path: Path, swapped: bool) -> None:
    """As of a file that was made larger before it was written, and never written."""
    head, records = records_of(capture)
    if swapped:
        head = struct.pack(">IHHiIII", *struct.unpack("<IHHiIII", head))
        records = [struct.pack(">IIII", *struct.unpack_from("<IIII", one)) + one[16:] for one in records]
    path = tmp_path / "hole.pcap"
    before, behind = b"".join(records[:9]), b"".join(records[9:])
    with path.open("wb") as file:
        file.write(head + before)
        file.seek(HOLE, 1)
        file.write(behind)
    walk = RecordWalk()
    found = list(read_records(path, walk))
    assert [one.data for one in found] == [one[16:] for one in records]
    assert walk.damaged == HOLE and walk.cut is None
    (passed,) = (event for event in read_capture(path) if isinstance(event, Passed))
    assert (passed.record, passed.length) == (10, HOLE)


def test_the_time_of_what_was_lost_does_not_matter(capture: bytes, tmp_path: Path) -> None:
    """Neither a record whose time is damage, nor a day without traffic, is the end of a capture."""
    head, records = records_of(capture)
    bad = struct.pack("<IIII", 7, 0, 3, 60) + b"abc"
    damaged = bytearray(records[9])
    struct.pack_into("<I", damaged, 8, 0xFFFF_FFFF)
    path = tmp_path / "times.pcap"
    path.write_bytes(head + b"".join(records[:9]) + bad + damaged + b"".join(records[10:]))
    walk = RecordWalk()
    found = list(read_records(path, walk))
    assert len(found) == len(records)  # One is the bad one.
    assert walk.damaged == len(damaged) and walk.cut is None


def test_a_length_of_the_very_most_is_found_again(capture: bytes, tmp_path: Path) -> None:
    """16 MiB, whose lower three bytes are 0."""
    head, records = records_of(capture)
    most = struct.pack("<IIII", struct.unpack_from("<I", records[0])[0], 0, 1 << 24, 1 << 24)
    path = tmp_path / "large.pcap"
    with path.open("wb") as file:
        file.write(head + b"\xff" * 700 + most)
        file.seek(1 << 24, 1)
        file.write(b"".join(records))
    walk = RecordWalk()
    found = list(read_records(path, walk))
    assert len(found) == len(records) + 1 and len(found[0].data) == 1 << 24
    assert walk.damaged == 700
