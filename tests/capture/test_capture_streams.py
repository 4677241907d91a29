"""Reassembly and framing: whatever way the bytes arrive, the same packets come out; losses are said, never guessed."""

from __future__ import annotations

import struct
from itertools import count, pairwise

import build_packets
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.capture import Closed, Frame, Opened
from conformance.capture.connections import HOLD_NS, Connections
from conformance.capture.framing import MAX_WAITING, Framer, Stream
from conformance.capture.network import ACK, FIN, RST, SYN, Segment

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
