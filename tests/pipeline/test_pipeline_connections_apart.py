"""Verdicts that need to know of more than one part of a stream: they are the same, or one core judges the stream."""

from __future__ import annotations

from pathlib import Path
from uuid import NAMESPACE_DNS, UUID, uuid5

import pytest
from lake_helpers import put, put_sessions_one_by_one, records_of, rows, write_pcap
from parts_helpers import same
from session_corpus import NS, START, build_tcp, captures, packets, session_records, write_sessions

from conformance.capture import Endpoint, Frame
from conformance.capture.records import Record
from conformance.judge.sessions.columns import parts
from conformance.judge.sessions.columns.judge import ColumnSessions
from conformance.judge.sessions.columns.parts import Marks, PartSessions, why_not
from conformance.judge.sessions.overheard import Recalled
from conformance.pipeline import connections, connections_walk, rows_writer
from conformance.pipeline import ingest as ingesting
from conformance.pipeline.tables_sink import columns_with
from conformance.pipeline.workers import Here
from conformance.spec.catalogue import assignment

WITHDRAWN = "one of several suspicions is withdrawn"
ACCEPTED = assignment("windows")
BEHIND = "packets behind a hole come at its end"
SERVER = "10.4.0.0"
PUSH = build_tcp.ACK | build_tcp.PSH

Frames = list[tuple[int, bytes]]


def manager(host: str) -> UUID:
    return uuid5(NAMESPACE_DNS, host)


def capture_of(path: Path, found: Frames) -> Path:
    """A file of times and frames, in the order of time."""
    return write_pcap(path, [Record(at, ns, 1, data, len(data)) for at, (ns, data) in enumerate(sorted(found), 1)])


def both(tmp_path: Path, files: list[Path], *later: Path, parts: int = 3):
    """The lakes of one core and of parts, and why one core judges it after all. later: ingested afterwards."""
    found, why = [], []
    for place, options in (("whole", {}), ("parts", {"split": 40_000, "parts": parts})):
        lake, done = put(tmp_path / place, files, packets=True, **options)
        why += done.in_order.values()
        if later:
            lake, _ = put(tmp_path / place, later, packets=True)
        found.append(lake)
    return *found, why


def opened(at_ns: int, client: int, server: str = SERVER) -> tuple[build_tcp.Capture, build_tcp.Connection]:
    """One more connection of a client, and its capture."""
    capture = build_tcp.Capture(at_ns)
    return capture, build_tcp.Connection.open(capture, (f"10.3.0.{client}", 50_009), (server, 1801))


def test_whether_a_connection_was_made_with_a_ping_is_known_in_a_later_file(tmp_path):
    """All parts overhear a ping, and one of them judges the connection; the next one needs no ping."""
    found = sorted(session_records(300, 4, 0.0, server=True))
    cut = next(at for at, (ns, _) in enumerate(found) if ns > START * NS + NS)
    later = found[cut:]
    for client in range(4):
        capture, there = opened(START * NS + 3 * NS // 2 + client * 7_001_000, client)
        its, server = manager(f"10.3.0.{client}"), manager(SERVER)
        there.send(0, packets.establish(its, packets.NULL_GUID, 86_401_500, session=1, server_class=1))
        capture.wait(2)
        there.send(1, packets.establish(its, server, 86_401_500, session=1, server_class=1, fill=0x5A))
        later += capture.records
    files = [capture_of(tmp_path / f"set_0000{at}.pcap", some) for at, some in enumerate((found[:cut], later))]
    whole, lake, why = both(tmp_path, files[:1], *files[1:])
    assert not why
    same(lake, whole)
    assert not [row for row in rows(lake, "verdicts") if row["requirement"] == "MQQB-2.2.3.1.se" and row["packet"]]


def suspected(monkeypatch, *, lost: bool, due: bool) -> Frames:
    """Two groups in which an acknowledgment is above all that was sent.

    lost: a loss explains that of the second group, before the first one has stood for long enough. due: when it has, a
    packet of a third group comes first.
    """
    write, made = packets.order_ack, []

    def above(source, number, sent, queue, sequence, acknowledged):
        made.append(source)
        bad = made.count(source) == 2 and source in map(manager, ("10.4.0.0", "10.4.0.1"))
        return write(source, number, sent, queue, sequence, acknowledged + 50 * bad)

    with monkeypatch.context() as patch:
        patch.setattr(packets, "order_ack", above)
        found = sorted(session_records(600, 4, 0.0))
    its = manager("10.4.0.1").bytes_le
    at_ns = [ns for ns, data in found if data.find(its) >= 16 and data[data.find(its) - 12 :][:4] == b"LIOR"][1]
    for client, later_ns in [(1, 300_000_000)] * lost + [(2, 996_000_000), (3, 996_500_000)] * due:
        capture, there = opened(at_ns + later_ns, client, f"10.4.0.{client}")
        begun = len(capture.records)
        there.segment(0, packets.session_ack(0, 0, 0, 0, 0), PUSH)
        found += capture.records[begun:]  # Of a connection whose beginning is not in the capture.
    return found


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize(("lost", "due"), [(False, False), (True, False), (True, True)])
def test_a_suspicion_that_is_withdrawn_waits_for_those_of_other_parts(tmp_path, monkeypatch, lost, due, parts):
    """When it is told, and of which file, depends on those before it."""
    file = capture_of(tmp_path / "set.pcap", suspected(monkeypatch, lost=lost, due=due))
    whole, lake, why = both(tmp_path, [file], parts=parts)
    assert why == [WITHDRAWN] * lost
    same(lake, whole)
    found = [row["outcome"] for row in rows(lake, "verdicts") if row["requirement"] == "MQQB-3.1.1.6.2.in-order"]
    assert sorted(one for one in found if one != "pass") == ["fail", "inconclusive" if lost else "fail"]


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([{"suspicions": 1, "withdrawn": 1}, {}], None),
        ([{"suspicions": 2}, {"suspicions": 1}], None),
        ([{"suspicions": 1, "withdrawn": 1}, {"suspicions": 1}], WITHDRAWN),
        ([{"suspicions": 2, "withdrawn": 1}, {}], WITHDRAWN),
    ],
)
def test_one_suspicion_may_be_withdrawn(parts, why):
    assert why_not([Marks(sizes=one) for one in parts], ordered=True) == why


def behind_a_hole(server: bool, last) -> Frames:
    """Sessions, and one more connection of which a message is missing, and what follows it, when the capture ends."""
    found = sorted(session_records(400, 4, 0.0, server=server))
    host = SERVER if server else "10.4.0.1"
    capture, there = opened(found[-1][0] + 100_000_000, 1, host)
    captures.establish(capture, there, manager("10.3.0.1"), manager(host), 86_409_000)
    there.segment(0, packets.session_ack(0, 0, 0, 0, 0), PUSH)
    capture.records.pop()
    capture.wait(1)
    there.segment(0, last(capture.now // NS), PUSH)
    return found + capture.records


def acknowledging(sent: int) -> bytes:
    """An acknowledgment by one client of a message that another one has sent."""
    of = packets.Message(
        manager("10.3.0.0"), 3, sent, "OS:beta0\\private$\\orders2", "order 3", b"", acks=1,
        admin_queue="OS:alpha0\\private$\\replies",
    )  # fmt: skip
    return packets.admin_ack(manager("10.3.0.1"), 5002, sent, of)


@pytest.mark.parametrize("server", [False, True])
def test_packets_behind_a_hole_at_the_end_may_need_other_parts(tmp_path, server):
    """They come only when the stream ends: nobody has looked for what they share with others."""
    file = capture_of(tmp_path / "set.pcap", behind_a_hole(server, acknowledging))
    whole, lake, why = both(tmp_path, [file])
    assert why == [BEHIND]
    same(lake, whole)
    found = [row for row in rows(lake, "verdicts") if row["requirement"] == "MQQB-3.1.7.15.requested"]
    assert [(row["outcome"], row["at_end"]) for row in found] == [("fail", True)]


@pytest.mark.parametrize("server", [False, True])
def test_those_that_concern_only_their_connection_are_judged_in_parts(tmp_path, server):
    file = capture_of(tmp_path / "set.pcap", behind_a_hole(server, lambda _: packets.session_ack(0, 0, 0, 0, 0)))
    whole, lake, why = both(tmp_path, [file])
    assert not why
    same(lake, whole)


@pytest.mark.parametrize("room", [71, 72, 73, 80])
def test_all_verdicts_of_packets_that_are_held_back_need_room(tmp_path, monkeypatch, room):
    """There are 73 with rows of their own: a packet with one that is told once a capture has others, too."""
    write_sessions(tmp_path / "all.pcap", 800, pairs=4, deviating=0.3)
    records = records_of(tmp_path / "all.pcap")
    file = write_pcap(tmp_path / "set.pcap", records[len(records) // 2 :])
    for module in (connections, rows_writer):
        monkeypatch.setattr(module, "MAX_KEPT", room)
    whole, lake, why = both(tmp_path, [file])
    same(lake, whole)
    assert sum(row["packet"] is not None for row in rows(whole, "verdicts")) == min(room, 73)
    assert why == ["more deviates than has rows of its own"] * (room < 73) or room == 73
    assert room < 80 or not why


def test_a_stream_of_more_connections_than_are_planned_for_is_judged_in_order(tmp_path, monkeypatch):
    """A connection may be as short as one packet."""
    monkeypatch.setattr(connections_walk, "MOST_MET", 8)
    file = capture_of(tmp_path / "set.pcap", sorted(session_records(300, 4, 0.0)))
    whole, lake, why = both(tmp_path, [file])
    assert why == ["it has more connections than parts are planned for"]
    same(lake, whole)


@pytest.mark.parametrize("most", [0, 1])
def test_parts_follow_only_so_many_queue_managers_that_several_of_them_meet(tmp_path, monkeypatch, most):
    monkeypatch.setattr(connections_walk, "MOST_CROSSING", most)
    file = capture_of(tmp_path / "set.pcap", sorted(session_records(300, 4, 0.0, server=True)))
    whole, lake, why = both(tmp_path, [file])
    assert why == ["more queue managers are met in several parts than these can follow"] * (most < 1)
    same(lake, whole)


def part(crossing: frozenset[str] = frozenset()) -> PartSessions:
    return PartSessions(ColumnSessions(ACCEPTED, columns_with(sessions=True)), ACCEPTED, crossing)


def test_what_others_have_sent_is_not_told_with_what_they_remember():
    """The acknowledgment of a message that another part has sent is not judged by what is recalled of the message."""
    source = manager(SERVER)
    data = packets.Message(source, 7, START, "OS:beta\\private$\\orders", "order 7", b"two").bytes()
    ends = Endpoint("10.4.0.0", 50_001), Endpoint("10.3.0.0", 1801)
    frame = Frame(5, 5, START * NS, *ends, "tcp", data, 1, "initiator", 0, 0)
    judged = part(frozenset({str(source)}))
    judged.hear(Recalled(frame))
    assert judged.columns.messages.get((str(source), 7)) is not None
    assert not judged.marks(9).unsure
    assert judged.sent.get((str(source), 7)) is None
    assert judged.marks(9).unsure == ("what was overheard does not tell enough",)


def test_queue_managers_that_are_asked_for_in_vain_are_counted_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(parts, "_MOST_ASKED", 2)
    judged = part()
    for number in range(2, 6):
        assert judged.columns.messages.get((str(UUID(int=number)), 1)) is None
        assert len(judged.missed) <= 3
        assert bool(judged.marks(9).unsure) == (number > 3)


def test_packets_belong_to_the_queue_manager_that_a_message_decides_for(tmp_path):
    """A ping and a response name the acceptor differently. Compiled code goes by what its first message shows."""
    capture = build_tcp.Capture(START * NS)
    ends = ("10.3.0.0", 4100), (SERVER, 3527)
    client, server = manager("10.3.0.0"), manager(SERVER)
    capture.udp(*ends, packets.ping(True, 1, client))
    capture.wait(1)
    capture.udp(*ends[::-1], packets.ping(False, 1, UUID(int=77)))
    capture.wait(1)
    there = build_tcp.Connection.open(capture, ("10.3.0.0", 50_001), (SERVER, 1801))
    for side, fill in ((0, 0), (1, 0x5A)):
        there.send(side, packets.establish(client, server, 86_400_000, session=0, server_class=1, fill=fill))
        capture.wait(1)
    for side in (0, 1):
        there.send(side, packets.parameters(500, 20_000))
        capture.wait(1)
    for number in range(1, 41):
        for side, source in enumerate((client, server)):
            what = packets.Message(source, number, START, "OS:beta\\private$\\orders", "order", b"two")
            there.segment(side, what.bytes(), PUSH)
            capture.wait(1)
        for side in (0, 1):
            there.segment(side, packets.session_ack(number, 0, 0, number, 0), PUSH)
            capture.wait(1)
    there.close(0)
    file = capture_of(tmp_path / "set.pcap", capture.records)
    fast, _ = put(tmp_path / "fast", [file], packets=True)
    slow, _ = put_sessions_one_by_one(tmp_path / "slow", [file], packets=True)
    same(fast, slow)
    assert {row["sender"] for row in rows(fast, "packets") if row["side"] == "acceptor"} == {SERVER, str(server)}


@pytest.mark.parametrize(
    ("cores", "parts", "parted"), [(1, None, False), (2, None, False), (2, 2, True), (3, None, True)]
)
def test_a_stream_is_parted_where_that_pays_or_is_asked_for(tmp_path, monkeypatch, cores, parts, parted):
    """Two cores lose more by the walk and the shuffle than they gain (docs/scale.md)."""
    monkeypatch.setattr(ingesting, "SPLIT", 30_000)
    write_sessions(tmp_path / "sessions.pcap", 600, pairs=4)
    whole, _ = put(tmp_path / "whole", [tmp_path / "sessions.pcap"])
    lake, done = put(tmp_path / "lake", [tmp_path / "sessions.pcap"], workers=Here(cores), parts=parts)
    assert (done.ranges > 1) == parted and not done.in_order
    same(lake, whole)
