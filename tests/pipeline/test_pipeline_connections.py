"""Connections judged on several cores get the rows that one core gives them, wherever ranges and parts fall."""

from __future__ import annotations

import os
import struct
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import NAMESPACE_DNS, UUID, uuid5

import pyarrow as pa
import pytest
import session_corpus
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from lake_helpers import CAPTURES, put, records_of, replayed, rows, said, write_pcap
from nightly import amount
from parts_helpers import same
from session_corpus import write_sessions

from conformance.capture import Frame, read_capture
from conformance.capture.columns.reader import FastCapture
from conformance.capture.records import Record
from conformance.captures.in_place import InPlace
from conformance.judge.sessions.columns.parts import Marks, Nameless, PartSessions, refutations, why_not
from conformance.judge.sessions.overheard import Greeted, Left, Overhearing
from conformance.judge.sessions.transactions import Transactions
from conformance.pipeline import connections, connections_judge, connections_walk, tables_sink
from conformance.pipeline.connections_groups import Groups, times_of
from conformance.pipeline.connections_sent import Sent
from conformance.pipeline.connections_server import Server
from conformance.pipeline.shuffle import grouped
from conformance.pipeline.spark import SparkWorkers
from conformance.pipeline.workers import Here, Processes
from conformance.wire import dissect

PLACES = pa.schema([pa.field("key", pa.int64(), False), pa.field("at", pa.int64(), False)])
FOUND = pa.schema([pa.field("key", pa.int64(), False), pa.field("found", pa.string(), False)])
NAMELESS = "messages that name no queue manager belong to several groups"
IN_VAIN = "a message of a queue manager that several parts meet was asked for in vain"
COOKIE = "MQQB-3.1.7.6.cookie"
EXAMPLES = amount("pipeline.examples")
FIXTURES = [
    "consistent-session.pcapng", "resending-session.pcapng", "mqqb-4.1.pcapng", "reconnecting-session.pcapng",
    "lost-segment.pcapng", "middle-only.pcapng", "served-session.pcapng", "served-pings.pcapng",
    "served-sequence.pcapng", "retransmission.pcapng", "resynchronisation.pcapng", "mqqb-4.1-truncated.pcapng",
]  # fmt: skip
SERVER, MANAGER = b"\x0a\x09\x09\x09", bytes(range(0x51, 0x61))
THERE = [name for name in FIXTURES if (CAPTURES / name).is_file()]


@cache
def traffic(name: str) -> tuple[Record, ...]:
    return tuple(one for one in records_of(CAPTURES / name) if one.link == 1)


@cache
def managers(name: str) -> frozenset[bytes]:
    """The queue managers that the packets of a fixture name."""
    with TemporaryDirectory() as folder:
        lake, _ = put(Path(folder) / "lake", [CAPTURES / name], packets=True)
        found = {row["source_manager"] for row in rows(lake, "packets")}
        found |= {row[side] for row in rows(lake, "sessions") for side in ("initiator_manager", "acceptor_manager")}
    return frozenset(UUID(one).bytes_le for one in found if one)


def elsewhere(name: str, number: int) -> list[Record]:
    """The traffic of a fixture between other hosts and other queue managers."""
    out = []
    for one in traffic(name):
        data = one.data
        if data[12:14] == b"\x08\x00":
            data = data[:27] + bytes([data[27] ^ number]) + data[28:31] + bytes([data[31] ^ number]) + data[32:]
        for guid in managers(name):
            data = data.replace(guid, bytes([guid[0] ^ number]) + guid[1:])
        out.append(replace(one, data=data))
    return out


@cache
def ends(name: str) -> tuple[bytes, bytes]:
    """A host of a fixture that takes connections, and its queue manager; nothing if none is known."""
    with TemporaryDirectory() as folder:
        lake, _ = put(Path(folder) / "lake", [CAPTURES / name])
        for row in rows(lake, "sessions"):
            if row["acceptor_manager"] and ":" not in row["acceptor"]:
                return IPv4Address(row["acceptor"]).packed, UUID(row["acceptor_manager"]).bytes_le
    return b"", b""


@cache
def transactions(name: str) -> tuple[tuple[str, str, int, int], ...]:
    """Sender, queue manager, sequence and identifier of the transactions of a fixture."""
    found = {}
    for one in read_capture(CAPTURES / name):
        fields = dissect(one.data, transport=one.transport).fields if isinstance(one, Frame) else {}
        if fields.get("TransactionHeader.Flags.ID") is not None:
            what = (fields[f"TransactionHeader.{key}"] for key in ("TxSequenceID", "Flags.ID"))
            found[one.source.address, fields["UserHeader.SourceQueueManager"], *what] = None
    return tuple(found)


def served(name: str, number: int, *, sends: bool = False) -> list[Record]:
    """The traffic of a fixture between another host and a server that is always the same one.

    The messages and transactions of the server have other numbers than in another one. sends: it is the one that sends
    in transactions, if any does.
    """
    host, guid = ends(name)
    made = [(one, other) for one, other, *_ in transactions(name) if ":" not in one] if sends else ()
    if made:
        host, guid = IPv4Address(made[0][0]).packed, UUID(made[0][1]).bytes_le
    out = []
    for one in traffic(name):
        data = bytearray(one.data)
        for at in (26, 30):
            if data[12:14] == b"\x08\x00":
                if data[at : at + 4] == host:
                    data[at : at + 4] = SERVER
                else:
                    data[at + 1] ^= number
        for other in managers(name):
            new = MANAGER if other == guid else bytes([other[0] ^ number]) + other[1:]
            data = data.replace(other, new)
        _renumbered(data, MANAGER, 1000 * number)
        for *_, sequence, transaction in transactions(name):
            at = data.find(struct.pack("<Q", sequence))
            while at >= 4:
                flags = struct.unpack_from("<I", data, at - 4)[0]
                if flags >> 4 == transaction:
                    data[at - 4 : at] = struct.pack("<I", flags + (number << 8))
                at = data.find(struct.pack("<Q", sequence), at + 8)
        out.append(replace(one, data=bytes(data)))
    return out


def _renumbered(data: bytearray, manager: bytes, more: int) -> None:
    """Raise the numbers of a queue manager's messages."""
    at = data.find(manager)
    while at >= 16:
        if data[at - 12 : at - 8] == b"LIOR":
            data[at + 40 : at + 44] = struct.pack("<I", struct.unpack_from("<I", data, at + 40)[0] + more)
        at = data.find(manager, at + 16)


def _in_turn(records: list[Record], manager: bytes) -> list[Record]:
    """Number the messages of a queue manager in the order in which they come first."""
    numbers: dict[bytes, bytes] = {}
    out = []
    for one in records:
        data = bytearray(one.data)
        at = data.find(manager)
        while at >= 0:
            message = at >= 16 and data[at - 12 : at - 8] == b"LIOR"
            place = at + 40 if message else at + 16  # Of what acknowledges one.
            number = bytes(data[place : place + 4])
            if message and len(number) == 4:
                numbers.setdefault(number, struct.pack("<I", len(numbers) + 1))
            data[place : place + 4] = numbers.get(number, number)
            at = data.find(manager, at + 16)
        out.append(replace(one, data=bytes(data)))
    return out


def _pinged_again(records: list[Record], later: Callable[[int], int], cookie: int) -> list[Record]:
    """Send all pings once more, with another cookie. later: how much, in ns, by the number of the two hosts."""
    pings = [one for one in records if len(one.data) == 66 and one.data[12:14] == b"\x08\x00" and one.data[23] == 17]
    hosts = list(dict.fromkeys(frozenset((one.data[26:30], one.data[30:34])) for one in pings))
    again = [
        replace(
            one, data=one.data[:46] + struct.pack("<I", cookie) + one.data[50:],
            time_ns=one.time_ns + later(hosts.index(frozenset((one.data[26:30], one.data[30:34])))),
        )
        for one in pings
    ]  # fmt: skip
    return sorted([*records, *again], key=lambda one: one.time_ns)


@st.composite
def several(draw: st.DrawFn, *, of_one_server: bool = False, sends: bool = False) -> list[Record]:
    """The traffic of several groups, in the order of time or with some of it lost, doubled, swapped or cut short."""
    names = draw(st.lists(st.sampled_from(THERE), min_size=2, max_size=4))
    begin = traffic(names[0])[0].time_ns
    found: list[Record] = []
    for number, name in enumerate(names):
        records = served(name, number, sends=sends) if of_one_server else elsewhere(name, number)
        shift = begin - records[0].time_ns + draw(st.integers(0, 3_000_000_000))
        found += [replace(one, time_ns=one.time_ns + shift) for one in records]
    found.sort(key=lambda one: one.time_ns)
    if of_one_server and draw(st.booleans()):
        found = _in_turn(found, MANAGER)
    if later := draw(st.lists(st.integers(1, 5_000_000_000), max_size=4)):
        found = _pinged_again(found, lambda pair: later[pair % len(later)], draw(st.integers(0, 4)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(found) - 1))
        kind = draw(st.sampled_from(["lose", "lose", "double", "swap", "short", "back"]))
        if kind == "lose" and len(found) > 1:
            del found[at]
        elif kind == "double":
            found.insert(at, found[at])
        elif kind == "swap" and at:
            first, second = found[at - 1], found[at]
            found[at - 1], found[at] = (
                replace(second, time_ns=first.time_ns), replace(first, time_ns=second.time_ns),
            )  # fmt: skip
        elif kind == "back" and at:
            found[at - 1], found[at] = found[at], found[at - 1]
        elif kind == "short":
            found[at] = replace(found[at], data=found[at].data[: draw(st.integers(1, len(found[at].data)))])
    return found


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=st.data(),
    records=several() | several(of_one_server=True) | several(of_one_server=True, sends=True),
    packets=st.booleans(),
)
def test_generated_captures_wherever_ranges_and_parts_fall(data, records, packets):
    with TemporaryDirectory() as name:
        folder = Path(name)
        cuts = sorted(data.draw(st.lists(st.integers(1, len(records)), max_size=3, unique=True), label="cuts"))
        pieces = [records[a:b] for a, b in zip([0, *cuts], [*cuts, len(records)], strict=True) if records[a:b]]
        files = [write_pcap(folder / f"set_{at:05}.pcap", piece) for at, piece in enumerate(pieces)]
        size = sum(one.stat().st_size for one in files)
        split = data.draw(st.integers(max(256, size // 12), max(257, size)), label="split")
        parts = data.draw(st.integers(2, 5), label="parts")
        more = write_pcap(folder / "set_00009.pcap", [replace(records[-1], time_ns=records[-1].time_ns + 10**9)])
        later = data.draw(st.booleans(), label="goes on later")
        found = []
        for place, options in (("whole", {}), ("parts", {"split": split, "parts": parts})):
            lake, done = put(folder / place, files, packets=packets, **options)
            if later:
                lake, _ = put(folder / place, [more], packets=packets)
            found.append(lake)
        event(next(iter(done.in_order.values()), "in parts"))
        same(found[1], found[0])


def test_groups_are_judged_in_parts_as_replay_judges_them(tmp_path):
    """Nothing is judged twice, and all parts have something."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 1600, pairs=6, deviating=0.4)
    whole, _ = put(tmp_path / "whole", [capture], packets=True)
    lake, done = put(tmp_path / "parts", [capture], split=100_000, parts=3, packets=True)
    assert not done.in_order and done.ranges > 5
    same(lake, whole)
    assert said(lake) == replayed(capture)


@pytest.mark.parametrize("deviating", [0.0, 0.5])
def test_the_connections_of_one_server_are_judged_in_parts_as_replay_judges_them(tmp_path, deviating):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 1600, pairs=6, deviating=deviating, server=True)
    whole, _ = put(tmp_path / "whole", [capture], packets=True)
    lake, done = put(tmp_path / "parts", [capture], split=100_000, parts=3, packets=True)
    assert not done.in_order and done.ranges > 5
    same(lake, whole)
    assert said(lake) == replayed(capture)


def judged_apart(tmp_path: Path, *, queues: int, deviating: float = 0.5, split: int = 100_000):
    """A server that sends in transactions to queues of its clients: the lakes of one core and of parts."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 1600, pairs=6, deviating=deviating, queues=queues)
    whole, _ = put(tmp_path / "whole", [capture], packets=True)
    return capture, whole, *put(tmp_path / "parts", [capture], split=split, parts=3, packets=True)


@pytest.mark.parametrize("queues", [1, 2])
@pytest.mark.parametrize("deviating", [0.0, 0.5])
def test_a_server_that_sends_in_transactions_is_judged_in_parts(tmp_path, queues, deviating):
    """With several queues of one client, a packet refutes that sequences are those of queues: for all clients."""
    capture, whole, lake, done = judged_apart(tmp_path, queues=queues, deviating=deviating)
    assert not done.in_order and done.ranges > 5
    same(lake, whole)
    assert said(lake) == replayed(capture)


@pytest.mark.parametrize("ahead", [1, 4, 100])
def test_the_first_ranges_show_what_all_parts_must_know(tmp_path, monkeypatch, ahead):
    """Looking ahead changes how often parts are judged, and nothing else."""
    monkeypatch.setattr(connections, "_AHEAD", ahead)
    turns = []
    judge = connections.by_buckets
    monkeypatch.setattr(connections, "by_buckets", lambda plans, *rest: turns.append(len(plans)) or judge(plans, *rest))
    _, whole, lake, done = judged_apart(tmp_path, queues=2, split=40_000)
    assert not done.in_order
    assert turns == ([0, 1, 1] if ahead == 100 else [1, 1])
    same(lake, whole)


def _nothing(*_: object, **__: object) -> list:
    return []


@pytest.mark.parametrize(
    ("place", "name", "instead"),
    [
        (PartSessions, "hear", _nothing),
        (Transactions, "refute", _nothing),
        (connections, "refutations", lambda _: {}),
    ],
)
def test_without_what_parts_overhear_they_say_something_else(tmp_path, monkeypatch, place, name, instead):
    """The comparison with one core would tell."""
    monkeypatch.setattr(place, name, instead)
    _, whole, lake, done = judged_apart(tmp_path, queues=2)
    with pytest.raises(AssertionError):
        assert not done.in_order
        same(lake, whole)


@pytest.fixture
def overheard(monkeypatch) -> Counter:
    """Counts what parts overhear, by its class."""
    found: Counter = Counter()
    batch = Server.batch

    def counted(self, *about):
        told = batch(self, *about)
        found.update(type(one.event).__name__ for one in told)
        return told

    monkeypatch.setattr(Server, "batch", counted)
    return found


@pytest.mark.parametrize("queues", [0, 1])
def test_of_usual_openings_parts_overhear_what_they_change(tmp_path, overheard, queues):
    """No packet of them: only pings, and few messages that are younger than all before."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 800, pairs=12, server=not queues, queues=queues)
    whole, _ = put(tmp_path / "whole", [capture], packets=True)
    lake, done = put(tmp_path / "parts", [capture], split=60_000, parts=3, packets=True)
    assert not done.in_order
    same(lake, whole)
    assert overheard["Greeted"] >= 12 and overheard["Left"] and not overheard["Opened"] and not overheard["Closed"]
    assert overheard["Frame"] <= 4 * 12 + 8


def one_by_one(records: list[Record]) -> list[Record]:
    """Let each client begin when the one before has ended."""
    begins = [0] * 16
    for one in records:
        which = max(one.data[29], one.data[33])
        begins[which] = max(begins[which], one.time_ns - records[0].time_ns + 10**9)
    shifts = [sum(begins[:at]) for at in range(16)]
    found = [replace(one, time_ns=one.time_ns + shifts[max(one.data[29], one.data[33])]) for one in records]
    return sorted(found, key=lambda one: one.time_ns)


@pytest.mark.parametrize("unheard", [None, Greeted, Left])
def test_what_openings_change_tells_in_the_verdicts_on_other_clients(tmp_path, monkeypatch, unheard):
    """Without it, pings of the server are compared with a name that its host has not, or not compared."""
    hear = Overhearing.hear
    monkeypatch.setattr(
        Overhearing, "hear", lambda self, one: None if unheard and isinstance(one, unheard) else hear(self, one)
    )
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, server=True)
    if unheard is not Greeted:
        write_pcap(capture, one_by_one(records_of(capture)))
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=3)
    assert not done.in_order
    if unheard is None:
        same(lake, whole)
        return
    with pytest.raises(AssertionError):
        same(lake, whole)


def reopened(records: list[Record], change) -> list[Record]:
    """Change the first EstablishConnection packet of a server in every third frame that has one."""
    out, count = [], 0
    for one in records:
        data = bytearray(one.data)
        at = data.find(b"LIOR") - 4
        if at >= 0 and len(data) - at == 572:
            count += 1
            if count % 3 == 0:
                change(data, at)
        out.append(replace(one, data=bytes(data)))
    assert count > 6
    return out


def _other_name(data: bytearray, at: int) -> None:
    data[at + 36 : at + 52] = bytes(range(16))


def _refused(data: bytearray, at: int) -> None:
    data[at + 18] |= 0x10


def _other_kind(data: bytearray, at: int) -> None:
    data[at + 18] = data[at + 18] & 0xF0 | 1


def _other_client(data: bytearray, at: int) -> None:
    data[at + 20 : at + 36] = bytes(range(16))


@pytest.mark.parametrize("change", [_other_name, _refused, _other_kind, _other_client])
@pytest.mark.parametrize("queues", [0, 1])
def test_unusual_openings_are_overheard_as_they_are(tmp_path, overheard, change, queues):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=6, server=not queues, queues=queues)
    write_pcap(capture, reopened(records_of(capture), change))
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=60_000, parts=3)
    event = next(iter(done.in_order.values()), "in parts")
    assert event in ("in parts", "what was overheard does not tell enough", "a connection has no usual opening"), event
    same(lake, whole)


def test_a_message_of_an_earlier_file_is_recalled(tmp_path):
    """Its bytes are still there: files end just before the first message of a sequence."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, queues=1)
    records = records_of(capture)
    firsts = [
        at for at, one in enumerate(records)
        if (found := one.data.find(struct.pack("<QI", session_corpus.captures.SEQUENCE + 1, 1))) > 0
        and one.data[found + 12 : found + 16] == bytes(4)
    ]  # fmt: skip
    files = [
        write_pcap(tmp_path / f"part-{number:05}.pcap", piece)
        for number, piece in enumerate((records[: firsts[0]], records[firsts[0] :]))
    ]
    whole, _ = put(tmp_path / "whole", files)
    lake, done = put(tmp_path / "parts", files, split=100_000, parts=3)
    assert not done.in_order
    same(lake, whole)


def test_messages_before_sequences_are_asked_for_in_vain_where_parts_are_not_told_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(Sent, "_recalls", _nothing)
    _, whole, lake, done = judged_apart(tmp_path, queues=1)
    assert list(done.in_order.values()) == [IN_VAIN]
    same(lake, whole)


def test_without_that_check_they_say_something_else(tmp_path, monkeypatch):
    """The first message of a client has no mark of a transaction: whether the message before is known decides."""
    monkeypatch.setattr(Sent, "_recalls", _nothing)
    monkeypatch.setattr(connections, "elsewhere", lambda *_: False)
    write, marked = session_corpus.packets.Transaction, []

    def unmarked(sequence, number, previous, first, *rest):
        marked.append(sequence)
        return write(sequence, number, previous, first and number > 1, *rest)

    monkeypatch.setattr(session_corpus.packets, "Transaction", unmarked)
    _, whole, lake, done = judged_apart(tmp_path, queues=1)
    with pytest.raises(AssertionError):
        assert not done.in_order
        same(lake, whole)


def test_a_transaction_in_several_parts_is_judged_in_order(tmp_path):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, queues=1)
    first = [one.data for one in records_of(capture)]
    records = []
    for one in records_of(capture):
        data = bytearray(one.data)
        for number in range(4):
            at = data.find(struct.pack("<Q", session_corpus.captures.SEQUENCE + number)) - 4
            if at >= 0 and b"LIOR" in data:
                flags = struct.unpack_from("<I", data, at)[0]
                if flags >> 24 == 0:
                    data[at : at + 4] = struct.pack("<I", flags & 15 | (1 + (flags >> 4) % 6) << 4)
        records.append(replace(one, data=bytes(data)))
    assert [one.data for one in records] != first
    write_pcap(capture, records)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=3)
    assert list(done.in_order.values()) == ["a transaction is in several parts"]
    same(lake, whole)


@pytest.mark.parametrize("numbered", [True, False])
def test_a_queue_manager_with_sequences_in_several_parts_is_judged_in_order(tmp_path, numbered):
    """The clients of a server are one queue manager at several hosts, with numbers of their own or with the same."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, server=True)
    first, *others = (uuid5(NAMESPACE_DNS, f"10.3.0.{at}").bytes_le for at in range(4))
    records = []
    for one in records_of(capture):
        data = bytearray(one.data)
        for number, guid in enumerate(others, 1):
            if guid in data:
                data = data.replace(guid, first)
                _renumbered(data, first, 10_000 * number if numbered else 0)
        records.append(replace(one, data=bytes(data)))
    write_pcap(capture, records)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=3)
    why = "a transaction is in several parts"
    assert list(done.in_order.values()) == [why if numbered else "messages of one queue manager are in several parts"]
    same(lake, whole)


@pytest.mark.parametrize("server", [True, False])
def test_messages_that_name_no_queue_manager_are_judged_in_order(tmp_path, server):
    """All of them have one source and numbers in common, whoever sends them."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, deviating=0.3, server=server)
    records = []
    for one in records_of(capture):
        data = one.data
        for at in range(4):
            data = data.replace(uuid5(NAMESPACE_DNS, f"10.3.0.{at}").bytes_le, bytes(16))
        records.append(replace(one, data=data))
    write_pcap(capture, records)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=3)
    assert list(done.in_order.values()) == [NAMELESS]
    same(lake, whole)


def test_records_without_msmq_are_counted_once_wherever_ranges_fall(tmp_path):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4)
    records = records_of(capture)
    records[40:40] = [replace(records[40], data=records[40].data[:20])] * 3
    write_pcap(capture, records)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=20_000, parts=3)
    assert not done.in_order and done.ranges > 5
    assert [row["skipped"] for row in rows(lake, "captures")] == [row["skipped"] for row in rows(whole, "captures")]


@pytest.mark.parametrize("queues", [0, 1, 2])
def test_a_server_goes_on_in_a_later_file(tmp_path, queues):
    """The state that parts leave behind is that of one core."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 1600, pairs=4, deviating=0.5, server=True, queues=queues)
    records = records_of(capture)
    files = [
        write_pcap(tmp_path / f"part-{at:05}.pcap", records[at * 700 : (at + 1) * 700])
        for at in range(len(records) // 700 + 1)
    ]
    found = []
    for place, options in (("whole", {}), ("parts", {"split": 60_000, "parts": 3})):
        lake, done = put(tmp_path / place, files[:2], packets=True, **options)
        assert not done.in_order
        lake, _ = put(tmp_path / place, files[2:], packets=True)
        found.append(lake)
    same(found[1], found[0])


@pytest.mark.parametrize("server", [True, False])
def test_what_is_undecided_of_pings_is_told_for_the_earliest(tmp_path, server):
    """It is told once a capture: all clients ping from the middle of their cookies on."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4, server=server)
    records = records_of(capture)
    again = [replace(one, time_ns=one.time_ns + 10**11) for one in records if one.data[23] == 17]
    write_pcap(capture, sorted([*records, *again], key=lambda one: one.time_ns))
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=3)
    assert not done.in_order
    same(lake, whole)
    found = [row for row in rows(lake, "verdicts") if row["requirement"].startswith("MQQB-3.1.7.6.cookie")]
    assert sum(row["count"] for row in found if row["outcome"] == "inconclusive") == 1


def test_a_rotated_set_is_judged_by_processes(tmp_path):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 1200, pairs=4, deviating=0.3)
    records = records_of(capture)
    files = [
        write_pcap(tmp_path / f"part-{at:05}.pcap", records[at * 500 : (at + 1) * 500])
        for at in range(len(records) // 500 + 1)
    ]
    whole, _ = put(tmp_path / "whole", files)
    lake, done = put(tmp_path / "parts", files, Processes(2), split=100_000)
    assert not done.in_order and done.ranges > len(files)
    same(lake, whole)
    assert len({row["stream_id"] for row in rows(lake, "captures")}) == 1


@pytest.mark.parametrize("pairs", [1, 2])
def test_what_belongs_together_is_judged_in_order(tmp_path, pairs):
    """One group, or two of which one is small: one core judges them, and says so."""
    capture = tmp_path / "one.pcap"
    write_sessions(capture, 400, pairs=1)
    records = records_of(capture)
    if pairs == 2:
        records = sorted([*records, *elsewhere("consistent-session.pcapng", 1)], key=lambda one: one.time_ns)
    capture = write_pcap(capture, records)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=2)
    assert list(done.in_order.values()) == ["most of it belongs together"]
    same(lake, whole)


def test_a_file_that_is_written_to_while_its_parts_are_judged_is_rejected(tmp_path, monkeypatch):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=4)
    opened, judged = [], InPlace.batch

    class Opening(FastCapture):
        """Counts how many parts have begun."""

        def __init__(self, *about):
            super().__init__(*about)
            opened.append(self)

    def batch(self, found):
        judged(self, found)
        if len(opened) == 2:  # The last part, behind which nobody opens the file any more.
            os.utime(capture)

    monkeypatch.setattr(connections_judge, "FastCapture", Opening)
    monkeypatch.setattr(InPlace, "batch", batch)
    lake, done = put(tmp_path / "lake", [capture], split=30_000, parts=2)
    assert not rows(lake, "verdicts") and not rows(lake, "captures")
    assert ["changed" in one.error for one in done.rejected] == [True]


def test_a_stream_of_more_hosts_than_are_remembered_is_judged_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(connections_walk, "MOST_NODES", 8)
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 300, pairs=4)
    _, done = put(tmp_path / "parts", [capture], split=30_000, parts=2)
    assert list(done.in_order.values()) == ["it has more hosts and queue managers than are remembered"]
    assert done.captures == 1 and not done.rejected


def test_a_defect_in_the_walk_leaves_the_stream_to_one_core(tmp_path, monkeypatch):
    def broken(*_: object) -> None:
        raise IndexError("a place that is not there")

    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 300, pairs=4)
    whole, _ = put(tmp_path / "whole", [capture])
    monkeypatch.setattr(Groups, "batch", broken)
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=2)
    assert list(done.in_order.values()) == ["the walk over it met a defect of mqconform (IndexError)"]
    same(lake, whole)


@pytest.mark.parametrize("most", [2, 5, 100])
def test_more_senders_than_are_remembered_are_judged_in_order(tmp_path, monkeypatch, most):
    """Also if a part has forgotten so many that what all parts remember is few again."""
    for module in (connections, tables_sink):
        monkeypatch.setattr(module, "MAX_SENDERS", most)
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 600, pairs=6, deviating=0.5)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], split=30_000, parts=2)
    few = ["there are more senders than are remembered"] if most < 100 else []
    assert list(done.in_order.values()) == few
    same(lake, whole)


def test_the_shuffle_of_spark_gives_the_rows_of_one_core(spark, tmp_path):
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 800, pairs=4, deviating=0.5)
    whole, _ = put(tmp_path / "whole", [capture])
    lake, done = put(tmp_path / "parts", [capture], SparkWorkers(spark), split=60_000, parts=2)
    assert not done.in_order and done.ranges > 3
    same(lake, whole)


def batches(_target, found):
    """Each key, and what came of it in its order."""
    keys, values = [], []
    for batch in found:
        keys += batch.column("key").to_pylist()
        values += batch.column("at").to_pylist()
    assert len(set(keys)) == 1
    yield pa.RecordBatch.from_pydict({"key": keys[:1], "found": [str(values)]}, schema=FOUND)


def numbers(_target, task):
    """Rows of all keys, in the order of their places."""
    begin, count = task
    for at in range(begin, begin + count, 3):
        places = list(range(at, min(at + 3, begin + count)))
        yield pa.RecordBatch.from_pydict({"key": [7 * (one % 4) for one in places], "at": places}, schema=PLACES)


@pytest.mark.parametrize("way", ["here", "processes", "spark"])
def test_a_shuffle_brings_the_rows_of_a_key_together_in_their_order(request, way):
    workers = {"here": Here, "processes": lambda: Processes(2)}.get(
        way, lambda: SparkWorkers(request.getfixturevalue("spark"))
    )()
    if way == "spark":  # Its workers do not import tests.
        from pyspark.cloudpickle import register_pickle_by_value

        register_pickle_by_value(sys.modules[__name__])
    tasks = [(0, 10), (10, 1), (11, 9)]
    made = grouped(
        workers, tasks, partial(numbers, None), "key", [0, 7, 14, 21], "at", partial(batches, None), PLACES, FOUND
    )
    found = {key: text for batch in made for key, text in zip(*map(list, batch.to_pydict().values()), strict=True)}
    assert found == {7 * key: str([one for one in range(20) if one % 4 == key]) for key in range(4)}


def marks(*names, unsure=(), nameless=Nameless.NEVER, **sizes):
    return Marks(frozenset(names), sizes, unsure, nameless)


@pytest.mark.parametrize(
    ("parts", "ordered", "why"),
    [
        ([marks("a"), marks("b")], True, None),
        ([marks("a", "b"), marks("b")], True, "a queue manager belongs to several groups"),
        ([marks("a", nameless=Nameless.ASKED), marks("b", nameless=Nameless.ASKED)], True, None),
        ([marks("a", nameless=Nameless.MADE), marks("b")], True, None),
        ([marks("a", nameless=Nameless.MADE), marks("b", nameless=Nameless.ASKED)], True, NAMELESS),
        ([marks("a", smallest=8_000), marks("b", smallest=191)], True, None),
        ([marks("a", smallest=8_000), marks("b", smallest=192)], True, "a table of the rules is full (smallest)"),
        ([marks("a", suspicions=1), marks("b")], True, None),
        ([marks("a", suspicions=1), marks("b")], False, "times go back while something is suspected"),
        ([marks("a"), marks("b", unsure=("it was not sure",))], True, "it was not sure"),
    ],
)  # fmt: skip
def test_parts_count_only_where_the_whole_cannot_differ(parts, ordered, why):
    assert why_not(parts, ordered=ordered) == why


MISSED = "a mark of a transaction is missed whose queue manager sends to several parts"
S = frozenset("s")


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({}, {}, None),
        ({"queues": {"s": 200}}, {"queues": {"s": 55}}, None),
        ({"queues": {"s": 200}}, {"queues": {"s": 56}}, "a table of the rules is full (current)"),
        ({"waiting": S}, {}, None),
        ({"waiting": S, "marking": S}, {"marking": S}, None),
        ({"waiting": S}, {"marking": S}, MISSED),
        ({"waiting": S, "marking": S}, {"spread": S}, MISSED),
        ({"waiting": S, "marking": S, "spread": S}, {}, None),
    ],
)
def test_parts_must_agree_about_a_queue_manager_that_several_meet(one, other, why):
    found = [replace(marks("s", name), **its) for name, its in (("c", one), ("d", other))]
    assert why_not(found, ordered=True, crossing=S) == why
    assert why_not(found, ordered=True) == "a queue manager belongs to several groups"


def test_what_refutes_a_scope_first_counts_where_several_parts_have_sequences():
    first = Marks(apart=frozenset("st"), refuted={("s", "queue"): 9, ("t", "queue"): 4})
    second = Marks(apart=S, refuted={("s", "queue"): 7, ("s", "session"): 12})
    assert refutations([first, second]) == {("s", "queue"): 7, ("s", "session"): 12}


def test_what_all_parts_overhear_fills_no_table():
    found = [marks("a", latest=5_000, paths=4_000), marks("b", latest=5_000, paths=4_000)]
    assert why_not(found, ordered=True, crossing=frozenset("s")) is None
    assert why_not(found, ordered=True) == "a table of the rules is full (latest)"


@pytest.mark.parametrize("shared", ["nothing", "a host", "a queue manager"])
def test_what_shares_a_host_or_a_queue_manager_is_one_group(tmp_path, shared):
    """Two sessions between four hosts, then between three, then with messages of one queue manager in both."""
    first, second = (elsewhere("consistent-session.pcapng", number) for number in (0, 1))
    if shared == "a host":
        second = [replace(one, data=_host_of(first, one.data)) for one in second]
    elif shared == "a queue manager":
        for guid in managers("consistent-session.pcapng"):
            other = bytes([guid[0] ^ 1]) + guid[1:]
            second = [replace(one, data=one.data.replace(other, guid)) for one in second]
    groups = Groups()
    capture = write_pcap(tmp_path / "two.pcap", sorted([*first, *second], key=lambda one: one.time_ns))
    for batch in FastCapture(str(capture)).batches(finish=False):
        groups.batch(batch, times_of(batch, [])[1])
    assert groups.buckets(2).groups == (2 if shared == "nothing" else 1)


def _host_of(first: list[Record], data: bytes) -> bytes:
    """The frame with one of the two hosts, the one that ends in the larger byte, as it is in the first session."""
    ends = sorted({one.data[29] for one in first} | {one.data[33] for one in first})
    for at in (29, 33):
        if data[at - 2] != first[0].data[at - 2] and data[at] == ends[-1]:
            data = data[: at - 2] + first[0].data[at - 2 : at - 1] + data[at - 1 :]
    return data


@pytest.mark.parametrize("packets", [True, False])
def test_what_is_undecided_once_a_capture_is_told_for_its_earliest_packet(tmp_path, packets):
    """All groups begin in the middle of a sequence; of each requirement one verdict tells so."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 800, pairs=4, deviating=0.3)
    records = records_of(capture)
    write_pcap(capture, records[len(records) // 2 :])
    whole, _ = put(tmp_path / "whole", [capture], packets=packets)
    lake, done = put(tmp_path / "parts", [capture], split=40_000, parts=3, packets=packets)
    assert not done.in_order
    same(lake, whole)
    undecided = [row for row in rows(lake, "verdicts") if row["requirement"].startswith("MQQB-3.1.1.5.first-number")]
    assert sum(row["count"] for row in undecided if row["outcome"] == "inconclusive") == 1
    assert said(lake) == replayed(capture)


@pytest.mark.parametrize("server", [True, False])
@pytest.mark.parametrize("packets", [True, False])
def test_what_is_undecided_of_pings_is_told_once_in_a_rotated_set(tmp_path, monkeypatch, server, packets):
    """All parts have pings with a cookie that does not follow, first in several files; the earliest is told."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 1200, pairs=6, deviating=0.3, server=server)
    records = records_of(capture)
    length = records[-1].time_ns - records[0].time_ns
    records = _pinged_again(records, lambda pair: (pair + 1) * length // 7, 5)
    size = len(records) // 4 + 1
    files = [write_pcap(tmp_path / f"part-{at:05}.pcap", records[at * size : (at + 1) * size]) for at in range(4)]
    held, refused = [], connections.refused

    def watched(parting, buckets, met):
        held.extend((one.capture, bucket.bucket) for bucket in buckets for one in bucket.held if COOKIE in one.first)
        return refused(parting, buckets, met)

    monkeypatch.setattr(connections, "refused", watched)
    whole, _ = put(tmp_path / "whole", files, packets=packets)
    lake, done = put(tmp_path / "parts", files, split=60_000, parts=3, packets=packets)
    assert not done.in_order
    same(lake, whole)
    assert len({bucket for _, bucket in held}) == 3 and len({at for at, _ in held}) > 1
    told_once = [row for row in rows(lake, "verdicts") if row["requirement"] == COOKIE and row["reason"]]
    assert [row["count"] for row in told_once] == [1]
