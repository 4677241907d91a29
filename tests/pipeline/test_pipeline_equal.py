"""What the pipeline says of captures is what `replay` says, wherever ranges begin and files are cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import numpy as np
import pytest
import rotated_files
from generated_corpus import write_corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lake_helpers import (
    CAPTURES,
    put,
    put_one_by_one,
    put_sessions_one_by_one,
    records_of,
    replayed,
    rows,
    said,
    same,
    write_pcap,
)
from nightly import amount
from record_edits import records_of as records_in
from session_corpus import write_sessions

from conformance.capture.inputs import LeftOut
from conformance.capture.records import Record
from conformance.captures.selection import NotJudged
from conformance.cli.pipeline import _tell
from conformance.judge.sessions.keys import MANAGER
from conformance.pipeline.ingest import files_of
from conformance.pipeline.lake import Lake
from conformance.pipeline.packet_columns import PacketColumns
from conformance.pipeline.tables_sink import columns_with
from conformance.verdict import Outcome

FILES = sorted(path for path in CAPTURES.iterdir() if path.suffix != ".toml")
ETHERNET = [path for path in FILES if all(one.link == 1 for one in records_of(path))]
EXAMPLES = amount("pipeline.examples")
DAY_NS = 86_400_000_000_000


@pytest.mark.parametrize("readings", ["strict", "permissive"])
def test_readings_and_level_are_those_of_replay(tmp_path, readings):
    capture = CAPTURES / "mqqb-4.1.pcapng"
    lake, _ = put(tmp_path / "lake", [capture], readings=readings, level="should")
    assert said(lake) == replayed(capture, readings=readings, level="should")


@cache
def traffic(name: str) -> tuple[Record, ...]:
    return tuple(records_of(CAPTURES / name))


@st.composite
def captures(draw: st.DrawFn) -> list[Record]:
    """Records of several fixtures mixed, some of them lost, doubled, swapped or cut short; perhaps over midnight."""
    names = draw(st.lists(st.sampled_from([path.name for path in ETHERNET]), min_size=1, max_size=3, unique=True))
    queues = [list(traffic(name)) for name in names]
    mixed: list[Record] = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        count = draw(st.integers(1, len(queue)))
        mixed += queue[:count]
        del queue[:count]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(mixed) - 1))
        kind = draw(st.sampled_from(["lose", "double", "swap", "short"]))
        if kind == "lose" and len(mixed) > 1:
            del mixed[at]
        elif kind == "double":
            mixed.insert(at, mixed[at])
        elif kind == "swap" and at:
            mixed[at - 1], mixed[at] = mixed[at], mixed[at - 1]
        elif kind == "short":
            mixed[at] = replace(mixed[at], data=mixed[at].data[: draw(st.integers(1, len(mixed[at].data)))])
    if draw(st.booleans()):  # Midnight is where one of them is.
        later = -mixed[draw(st.integers(0, len(mixed) - 1))].time_ns % DAY_NS
        mixed = [replace(one, time_ns=one.time_ns + later) for one in mixed]
    return mixed


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), records=captures())
def test_generated_captures_wherever_ranges_begin(data, records):
    with TemporaryDirectory() as folder:
        capture = write_pcap(Path(folder) / "one.pcap", records)
        lake, done = put(Path(folder) / "lake", [capture])
        assert said(lake) == replayed(capture)
        assert done.packets == rows(lake, "captures")[0]["packets"]


@pytest.mark.parametrize("name", ["consistent-session.pcapng", "resending-session.pcapng"])
@pytest.mark.parametrize("change", ["back", "none", "seconds", "undatable first"])
def test_intervals_of_a_clock_that_does_not_tell_them(tmp_path, name, change):
    edits = {
        "back": lambda at, one: one.time_ns - 3_600_000_000_000 * (at >= 20),
        "none": lambda at, one: 0,
        "seconds": lambda at, one: one.time_ns // 1_000_000_000 * 1_000_000_000,
        "undatable first": lambda at, one: one.time_ns if at else 0,
    }
    records = [replace(one, time_ns=edits[change](at, one)) for at, one in enumerate(traffic(name))]
    capture = write_pcap(tmp_path / "one.pcap", records)
    lake, done = put(tmp_path / "lake", [capture])
    assert said(lake) == replayed(capture)
    assert done.outcomes[Outcome.INCONCLUSIVE]
    assert Outcome.FAIL not in done.outcomes


@pytest.mark.parametrize("name", rotated_files.SETS)
def test_a_rotated_set_is_one_stream_in_the_order_of_recording(tmp_path, name):
    rotated_files.write(tmp_path / "day", rotated_files.SETS[name], packed=(5,))
    (tmp_path / "day" / "notes.txt").write_text("seen")
    left_out = LeftOut()
    _, done = put(tmp_path / "lake", files_of([str(tmp_path / "day")], left_out))
    _, whole = put(tmp_path / "whole", [CAPTURES / "consistent-session.pcapng"])
    assert (done.captures, done.streams, done.packets) == (12, 1, 26)
    assert done.outcomes == whole.outcomes
    assert left_out.names == [str(tmp_path / "day" / "notes.txt")]


def test_an_ingest_tells_what_it_leaves_out(tmp_path, capsys):
    _, done = put(tmp_path / "lake", [CAPTURES / "consistent-session.pcapng"], sessions=False)
    left_out = NotJudged(LeftOut(1, ["notes.txt"]), None, "--no-sessions")
    _tell(done, None, json=False, left_out=left_out, engine="local")
    told = capsys.readouterr().out
    assert "notes.txt" in told and "--no-sessions leaves out" in told and "MQQB-2.2.7.signature" in told
    _tell(done, None, json=True, left_out=left_out, engine="local")
    found = json.loads(capsys.readouterr().out)["left_out"]
    assert found["files"] == {"count": 1, "names": ["notes.txt"]}
    assert "MQQB-3.1.3.2.order-ack-delay" in found["rules"]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), records=captures())
def test_packets_alone_are_judged_alike_by_compiled_code_wherever_ranges_begin(data, records):
    with TemporaryDirectory() as folder:
        capture = write_pcap(Path(folder) / "one.pcap", records)
        packets = data.draw(st.booleans(), label="all packets")
        slow, _ = put_one_by_one(Path(folder) / "slow", [capture], packets=packets)
        fast, _ = put(Path(folder) / "fast", [capture], sessions=False, packets=packets)
        assert said(fast) == said(slow)
        expected, found = replayed(capture), said(slow)
        assert all(one <= other for one, other in zip(found, expected, strict=True))
        same = ("records", "packets", "lost_bytes", "skipped", "cut", "first_time", "last_time")
        (one,), (other,) = rows(slow, "captures"), rows(fast, "captures")
        assert {name: one[name] for name in same} == {name: other[name] for name in same}
        senders: list[Counter] = []
        for lake in (slow, fast):
            senders.append(Counter())
            for row in rows(lake, "verdicts"):
                if row["sender"]:
                    senders[-1][row["sender"], row["requirement"], row["outcome"]] += row["count"]
        assert senders[0] == senders[1]
        alone: list[set] = []
        for lake in (slow, fast):  # What has rows of its own, at its time, under its day.
            names = ("requirement", "outcome", "packet", "first_ns", "last_ns", "date")
            found = [row for row in rows(lake, "verdicts") if row["packet"] is not None]
            alone.append({tuple(row[name] for name in names) for row in found})
        assert alone[1] <= alone[0] and (alone[0] == alone[1] or len(alone[0]) > 10)
        one, other = ({row["number"]: row for row in rows(lake, "packets")} for lake in (slow, fast))
        assert one.keys() == other.keys()
        assert one == other or not packets


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), records=captures())
def test_what_has_no_row_of_its_own_is_counted_by_sender(data, records):
    """Few of a kind are looked at by themselves; the counts are those of the one-by-one path all the same."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        keep, each = data.draw(st.integers(0, 2), label="keep"), data.draw(st.integers(1, 2), label="of each kind")
        patch.setattr("conformance.pipeline.streams.KEPT", keep)
        patch.setattr("conformance.pipeline.tables_sink.EACH", each)
        # Several of each, in connections of their own: more of a kind than are kept.
        more = [replace(one, data=_moved(one.data, at)) for at in range(3) for one in records]
        capture = write_pcap(Path(folder) / "one.pcap", more)
        compare_counts(Path(folder), capture)


def test_what_is_counted_of_many_senders(tmp_path, monkeypatch):
    monkeypatch.setattr("conformance.pipeline.streams.KEPT", 5)
    monkeypatch.setattr("conformance.pipeline.tables_sink.EACH", 2)
    capture = tmp_path / "many.pcap"
    write_corpus(capture, 800, connections=2, kinds=150)
    lake, _ = put(tmp_path / "first", [capture], sessions=False)
    data = bytearray(capture.read_bytes())
    senders = {row["sender"] for row in rows(lake, "verdicts") if row["outcome"] != "pass" and "-" in row["sender"]}
    for sender in sorted(senders):  # The same packets from other queue managers.
        _alter(data, UUID(sender).bytes_le, 15, 2)
    capture.write_bytes(data)
    found = compare_counts(tmp_path, capture)
    counted = {row["sender"] for row in found if row["outcome"] != "pass" and row["packet"] is None}
    assert len(senders) < len(counted), "some are counted"


def _alter(data: bytearray, word: bytes, place: int, run: int) -> None:
    """Change a bit of the word where it stands in the data: so many times, then leave as many as they are."""
    at, number = data.find(word), 0
    while at >= 0:
        data[at + place] ^= number // run & 1
        at, number = data.find(word, at + 1), number + 1


def compare_counts(folder: Path, capture: Path) -> list[dict]:
    """Both paths count the same, by sender; returns the verdicts of the compiled one."""

    def counted(lake):
        found: Counter = Counter()
        for row in rows(lake, "verdicts"):
            readings = tuple(sorted(row["readings"]))
            found[row["requirement"], row["outcome"], readings, row["sender"]] += row["count"]
        return found

    slow, _ = put_one_by_one(folder / "slow", [capture])
    fast, done = put(folder / "fast", [capture], sessions=False)
    assert counted(fast) == counted(slow)
    verdicts = rows(fast, "verdicts")
    assert all(one["count"] > 0 for one in verdicts)
    outcomes, alone = Counter(), Counter()
    for row in verdicts:
        outcomes[row["outcome"]] += row["count"]
        if row["outcome"] != "pass" and not row["at_end"]:
            alone[row["requirement"], row["outcome"], str(row["readings"])] += row["packet"] is not None
    assert {one.value: count for one, count in done.outcomes.items()} == outcomes
    assert all(alone.values()), "of each kind one is there with what tells it"
    if len(rows(slow, "verdicts")):
        first = [
            {
                (row["requirement"], str(row["readings"]), row["sender"]): row["subject"]
                for row in rows(lake, "verdicts")
                if row["outcome"] == "pass" and not row["at_end"]
            }
            for lake in (slow, fast)
        ]
        assert first[0] == first[1]
    return verdicts


def _moved(data: bytes, number: int) -> bytes:
    """An Ethernet frame whose IPv4 addresses are others, with checksums that nobody looks at."""
    if data[12:14] != b"\x08\x00" or len(data) < 34:
        return data
    return data[:27] + bytes([data[27] ^ number]) + data[28:31] + bytes([data[31] ^ number]) + data[32:]


def test_a_manager_of_zeros_is_not_taken_for_none():
    """The number that stands for a value is never that for its absence: texts are remembered by it."""
    columns = columns_with(sessions=False)
    values, manager = np.zeros((columns.width, 2), np.int64), columns[MANAGER]
    values[manager.flags, 0] = 1 << manager.bit
    numbers = PacketColumns(columns)._mixed(values, MANAGER).tolist()
    assert numbers[0] != 0 == numbers[1]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), records=captures(), sessions=st.booleans())
def test_a_rotated_set_is_one_capture_however_it_is_cut_and_ingested(data, records, sessions):
    """The files of a set say what the one file would, ingested at once or one after the other."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        begin = records[0].time_ns
        inorder = [replace(one, time_ns=begin + at * 1_000_000) for at, one in enumerate(records)]
        cuts = sorted(data.draw(st.lists(st.integers(1, len(inorder)), max_size=3, unique=True), label="cuts"))
        pieces = [inorder[a:b] for a, b in zip([0, *cuts], [*cuts, len(inorder)], strict=True) if inorder[a:b]]
        files = [write_pcap(folder / f"set_{at:05}.pcap", piece) for at, piece in enumerate(pieces)]
        batches = [[one] for one in files] if data.draw(st.booleans(), label="one by one") else [files]
        whole = write_pcap(folder / "whole.pcap", inorder)
        for batch in batches:
            lake, _ = put(folder / "lake", batch, sessions=sessions)
        others, passes = said(lake)
        one, _ = put_one_by_one(folder / "one", [whole])
        expected, counted = replayed(whole) if sessions else said(one)

        def unpathed(found):
            return {tuple(str(part).replace(str(files[0]), str(whole)) for part in key): n for key, n in found.items()}

        assert unpathed(others) == unpathed(expected)
        assert passes == counted
        positions = sorted(row["position"] for row in rows(lake, "captures"))
        assert positions == list(range(1, len(files) + 1))
        assert len({row["connection"] for row in rows(lake, "sessions")}) == len(rows(lake, "sessions"))


def test_the_row_of_a_packet_is_its_own_after_the_next_batch(tmp_path):
    """What compiled code has filled is filled anew before rows are written: here behind damage, in the same range."""
    capture = tmp_path / "one.pcap"
    write_corpus(capture, 200, connections=5, kinds=40)
    head, records = records_in(capture.read_bytes())
    capture.write_bytes(head + b"".join(records[:90]) + b"\xff" * 99 + b"".join(records[90:]))
    slow, _ = put_one_by_one(tmp_path / "slow", [capture], packets=True)
    fast, _ = put(tmp_path / "fast", [capture], sessions=False, packets=True)
    one, other = ({row["number"]: row for row in rows(lake, "packets")} for lake in (slow, fast))
    assert len(one) == 200 and one == other


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), records=captures())
def test_sessions_by_compiled_code_are_those_of_the_one_by_one_path(data, records):
    """Every row of every table; also of a stream that is cut into files and goes on in a later ingest."""
    with TemporaryDirectory() as folder:
        cut = data.draw(st.integers(0, len(records)), label="cut")
        parts = [part for part in (records[:cut], records[cut:]) if part]
        files = [write_pcap(Path(folder) / f"part-{at:05}.pcap", part) for at, part in enumerate(parts)]
        apart, packets = data.draw(st.booleans(), label="two ingests"), data.draw(st.booleans(), label="all packets")
        for way, name in ((put_sessions_one_by_one, "slow"), (put, "fast")):
            for some in [[one] for one in files] if apart else [files]:
                way(Path(folder) / name, some, packets=packets)
        slow, fast = (Lake.open(Path(folder) / name) for name in ("slow", "fast"))
        same(fast, slow, "captures", "packets", "sessions", "verdicts", "rejected")


def test_sessions_without_a_fault_by_compiled_code(tmp_path):
    """Several connections, in files of one stream: what is said of an earlier packet is said of that one."""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 400, pairs=3)
    records = records_of(capture)
    files = [
        write_pcap(tmp_path / f"part-{at:05}.pcap", records[at * 150 : (at + 1) * 150])
        for at in range(len(records) // 150 + 1)
    ]
    slow, _ = put_sessions_one_by_one(tmp_path / "slow", files, packets=True)
    fast, _ = put(tmp_path / "fast", files, packets=True)
    same(fast, slow)
    assert {row["outcome"] for row in rows(fast, "verdicts")} == {"pass"}
    assert len(rows(fast, "sessions")) == 6 and len(files) > 2


def test_sessions_that_deviate_by_compiled_code(tmp_path, monkeypatch):
    """Far more deviates than is told one by one."""
    monkeypatch.setattr("conformance.pipeline.tables_sink.MAX_KEPT", 40)
    capture = tmp_path / "many.pcap"
    write_corpus(capture, 300, connections=4, kinds=60)
    slow, _ = put_sessions_one_by_one(tmp_path / "slow", [capture])
    fast, _ = put(tmp_path / "fast", [capture])
    same(fast, slow)
    assert sum(row["outcome"] != "pass" and row["packet"] is None for row in rows(fast, "verdicts")) > 10


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("sessions", [True, False])
def test_files_of_the_same_time_are_not_taken_for_one_behind_the_other(tmp_path, sessions, together):
    """Two recorders that heard the same: nothing of the second is a repetition of the first."""
    records = traffic("consistent-session.pcapng")
    files = [
        write_pcap(
            tmp_path / f"at_{number}.pcap", [replace(one, time_ns=one.time_ns + number * 1_000) for one in records]
        )
        for number in (1, 2)
    ]
    later = write_pcap(tmp_path / "at_3.pcap", [replace(one, time_ns=one.time_ns + 10**12) for one in records])
    for batch in [[*files, later]] if together else [files[:1], files[1:], [later]]:
        lake, _ = put(tmp_path / "lake", batch, sessions=sessions)
    found = {Path(row["path"]).name: (row["stream_id"], row["packets"]) for row in rows(lake, "captures")}
    assert found["at_2.pcap"][0] != found["at_1.pcap"][0] == found["at_3.pcap"][0]
    assert found["at_1.pcap"][1] == found["at_2.pcap"][1] > 0


def test_what_workers_need_is_compiled_before_they_start(tmp_path):
    program = """
import sys
from pathlib import Path
from conformance.wire.columns.machine_code import Wanted

def noting(name):
    def noted(self, *, old=getattr(Wanted, name)):
        used.add(self.name)
        return old(self)
    setattr(Wanted, name, noted)

used = set()
for name in ("function", "is_kept"):
    noting(name)
from conformance.pipeline.ingest import how, ingest
from conformance.judge.sessions.keys import MANAGER
from conformance.pipeline.lake import Lake
from conformance.pipeline.packet_columns import PacketColumns
from conformance.pipeline.tables_sink import columns_with
from conformance.pipeline.work import warm
from lake_helpers import Here
warm(how())
ready = set(used)
assert ingest(Lake.open(Path(sys.argv[2]), create=True), [sys.argv[1]], how(), Here()).packets
assert {"run", "walk"} <= used, used
print(sorted(used - ready))
"""
    capture = tmp_path / "sessions.pcap"
    write_sessions(capture, 200, pairs=1)
    command = [sys.executable, "-c", program, str(capture), str(tmp_path / "lake")]
    here = Path(__file__).parent
    path = os.pathsep.join(map(str, (here.parents[1], here, here.parent)))
    told = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"
