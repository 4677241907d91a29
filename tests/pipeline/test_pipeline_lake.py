"""A lake takes each capture once, all or nothing, whatever happens on the way."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from lake_helpers import CAPTURES, put, records_of, replayed, rows, said, write_pcap

from conformance.capture.inputs import stream_key
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.fast import walk_stream
from conformance.pipeline.identity import WHOLE, probe
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes.port import FORMAT
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.memory import freeze, thaw
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.work import Here, run_streams
from tools.pipeline_page import page

SESSION = CAPTURES / "consistent-session.pcapng"


def killed(act) -> int:
    """Run something in a process of its own that dies in it; how it ended."""
    child = os.fork()
    if not child:
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def dies(*_: object, **__: object) -> None:
    os._exit(9)


def test_ingesting_again_adds_nothing_not_even_under_another_name(tmp_path):
    lake, first = put(tmp_path / "lake", [SESSION])
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "lake").rglob("*.parquet")}
    copy = shutil.copy(SESSION, tmp_path / "copy.pcapng")
    _, again = put(tmp_path / "lake", [SESSION, copy])
    assert (first.captures, again.captures, again.known, again.version) == (1, 0, 2, first.version)
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "lake").rglob("*.parquet")}
    assert said(lake) == replayed(SESSION)


def test_killed_before_the_commit_nothing_is_there(tmp_path, monkeypatch):
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "create", dies)
        assert killed(lambda: put(tmp_path / "lake", [SESSION])) == 9
    lake = Lake.open(tmp_path / "lake")
    assert [Path(row["path"]).name for row in rows(lake, "captures")] == ["vlan.pcap"]
    assert list((tmp_path / "lake" / "_staging").rglob("*.parquet"))
    assert not [path for path in (tmp_path / "lake").glob("[a-z]*/*/*") if path not in set(lake.files("captures"))
                | set(lake.files("verdicts")) | set(lake.files("sessions")) | set(lake.files("packets"))]  # fmt: skip
    put(tmp_path / "lake", [SESSION])
    assert said(lake, SESSION) == replayed(SESSION)
    assert not (tmp_path / "lake" / "_staging").exists()


def test_an_ingest_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    """A disk that is full is not kept full."""
    create = LocalStore.create

    def full(self: LocalStore, place: str, data: bytes) -> None:
        if place.startswith("_log/"):
            raise OSError(28, "No space left on device")
        create(self, place, data)

    monkeypatch.setattr(LocalStore, "create", full)
    with pytest.raises(PipelineError, match="cannot be written: No space left on device"):
        put(tmp_path / "lake", [SESSION])
    assert not list((tmp_path / "lake").rglob("*.parquet"))


def test_a_stream_that_goes_on_takes_back_what_was_said_of_its_end(tmp_path):
    records = records_of(SESSION)
    first = write_pcap(tmp_path / "set_1.pcap", records[:17])
    second = write_pcap(tmp_path / "set_2.pcap", records[17:])
    whole = write_pcap(tmp_path / "whole.pcap", records)
    lake, _ = put(tmp_path / "lake", [first])
    assert {row["closed_how"] for row in rows(lake, "sessions")} & {"end"}
    state = list((tmp_path / "lake" / "_state").iterdir())
    put(tmp_path / "lake", [second])
    assert said(lake)[1] == replayed(whole)[1]
    assert len(rows(lake, "captures")) == 2 and {row["position"] for row in rows(lake, "captures")} == {1, 2}
    on_disk = set((tmp_path / "lake").glob("[a-z]*/*/*.parquet"))
    assert on_disk == {path for table in TABLES for path in lake.files(table)}
    assert len(state) == len(list((tmp_path / "lake" / "_state").iterdir())) == 1 and not state[0].exists()


def test_a_stream_that_has_not_gone_on_for_a_week_is_not_waited_for(tmp_path):
    records = records_of(SESSION)
    week = 8 * 86_400 * 10**9
    put(tmp_path / "lake", [write_pcap(tmp_path / "set_1.pcap", records[:17])])
    later = [replace(one, time_ns=one.time_ns + week) for one in records]
    lake, _ = put(tmp_path / "lake", [write_pcap(tmp_path / "other_1.pcap", later)])
    assert [Path(one.key).name for one in lake.snapshot().kept.values()] == ["other.pcap"]
    assert len(list((tmp_path / "lake" / "_state").iterdir())) == 1
    assert len(rows(lake, "captures")) == 2


def test_a_file_from_before_the_end_of_its_stream_is_one_by_itself(tmp_path):
    records = records_of(SESSION)
    late = write_pcap(tmp_path / "set_2.pcap", records[17:])
    early = write_pcap(tmp_path / "set_1.pcap", [replace(one, time_ns=one.time_ns - 10**10) for one in records[:17]])
    put(tmp_path / "lake", [late])
    lake, _ = put(tmp_path / "lake", [early])
    assert len({row["stream_id"] for row in rows(lake, "captures")}) == 2
    assert said(lake, early) == replayed(early)


@pytest.mark.parametrize("split", [None, 1 << 10])
def test_packets_alone_files_that_overlap_are_streams_by_themselves(tmp_path, split):
    """Those of one set that begin before the end of the one before, whether their stream is cut or not."""
    records = records_of(SESSION)
    first = write_pcap(tmp_path / "set_1.pcap", records)
    second = write_pcap(tmp_path / "set_2.pcap", records[17:])
    one, _ = put(tmp_path / "one", [first, second], sessions=False, split=split)
    both, _ = put(tmp_path / "both", [first], sessions=False, split=split, stream="file")
    both, _ = put(tmp_path / "both", [second], sessions=False, split=split, stream="file")
    assert len({row["stream_id"] for row in rows(one, "captures")}) == 2
    assert [said(one, path) for path in (first, second)] == [said(both, path) for path in (first, second)]


@dataclass(frozen=True)
class Removes(Here):
    """Workers at whose side a file is removed once it has been looked at."""

    path: Path = CAPTURES

    def attempt(self, function, tasks, each=None):
        """The file goes before captures are judged."""
        if function in (run_streams, walk_stream):
            self.path.unlink(missing_ok=True)
        return Here.attempt(self, function, tasks, each)


@pytest.mark.parametrize("split", [None, 1 << 10])
def test_packets_alone_a_file_that_is_gone_is_rejected_and_its_stream_goes_on(tmp_path, split):
    records = records_of(SESSION)
    parts = (records[:17], records[17:30], records[30:])
    files = [write_pcap(tmp_path / f"set_{at}.pcap", part) for at, part in enumerate(parts, 1)]
    lake, done = put(tmp_path / "lake", files, Removes(path=files[1]), sessions=False, split=split)
    assert [one.path for one in done.rejected] == [str(files[1])] and "no longer" in done.rejected[0].error
    assert done.captures == 2 and sorted(row["position"] for row in rows(lake, "captures")) == [1, 2]
    assert sum(row["records"] for row in rows(lake, "captures")) == len(parts[0]) + len(parts[2])
    alone, _ = put(tmp_path / "alone", files[:1], Removes(path=files[0]), sessions=False, split=split)
    assert not rows(alone, "captures") and len(rows(alone, "rejected")) == 1


def test_a_newer_lake_and_one_that_is_none_are_refused(tmp_path):
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    head = tmp_path / "lake" / "_mqconform.json"
    head.write_text(json.dumps({"format": FORMAT + 1, "version": "9.0"}))
    with pytest.raises(PipelineError, match=rf"layout {FORMAT + 1} of mqconform 9.0.*ingest the captures"):
        Lake.open(tmp_path / "lake")
    head.write_text("{")
    with pytest.raises(PipelineError, match="is damaged"):
        Lake.open(tmp_path / "lake")
    with pytest.raises(PipelineError, match="is not a lake; make one"):
        Lake.open(tmp_path / "nowhere")
    with pytest.raises(PipelineError, match="folder with other files"):
        Lake.open(CAPTURES, create=True)


def test_one_writes_at_a_time(tmp_path):
    lake, _ = put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    with lake.writing("mine"), pytest.raises(PipelineError, match="Another command is writing"):
        put(tmp_path / "lake", [SESSION])


@pytest.mark.parametrize("sessions", [True, False])
def test_state_of_another_version_is_left_alone(tmp_path, sessions):
    """The stream begins anew; nothing of it is lost, and nothing twice."""
    records = records_of(SESSION)
    put(tmp_path / "lake", [write_pcap(tmp_path / "set_1.pcap", records[:17])], sessions=sessions)
    (state,) = (tmp_path / "lake" / "_state").iterdir()
    state.write_bytes(b"mqconform 0.0.1\nwhatever")
    second = write_pcap(tmp_path / "set_2.pcap", records[17:])
    lake, _ = put(tmp_path / "lake", [second], sessions=sessions)
    assert len({row["stream_id"] for row in rows(lake, "captures")}) == len(rows(lake, "captures")) == 2
    if sessions:
        assert said(lake, second) == replayed(second)


def test_kept_state_can_run_nothing():
    """What tasks hand each other is of known classes alone."""
    with pytest.raises(PipelineError, match=r"posix.system is not part of a kept stream"):
        thaw(zlib.compress(pickle.dumps(os.system)))
    with pytest.raises(PipelineError, match="is damaged"):
        thaw(b"no state")
    with pytest.raises(PipelineError, match="freeze is not part of a kept stream"):
        thaw(zlib.compress(pickle.dumps(freeze)))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a.pcap", "a.pcap1", True),
        ("a.pcap9", "a.pcap10", True),
        ("a_00001_20260131120000.pcapng", "a_00002_20260131130000.pcapng", True),
        ("a-2026-01-31_12:00:00.pcap", "a-2026-02-01_12:00:00.pcap", True),
        ("a.pcap.gz", "a.pcap1", True),
        ("a_1.pcap", "b_1.pcap", False),
        ("x/a_1.pcap", "y/a_2.pcap", False),
        ("a_1.pcap", "a_2.pcapng", False),
        ("7.pcap", "8.pcap", False),
        ("host1_00003.pcap", "host2_00003.pcap", False),
        ("host12_00003_20260131120000.pcap", "host12_00004_20260131130000.pcap", True),
        ("eth0.pcap", "eth1.pcap", False),
        ("a20260131_120000.pcap", "a20260201_130000.pcap", True),
        ("a2026-01-31T12:00:00.pcap", "a2026-02-01T13:00:00.pcap", True),
        ("a1769860800.pcap", "a1769864400.pcap", True),
        ("a0007.pcap", "a0008.pcap", True),
    ],
)
def test_names_tell_rotated_sets(one, other, same):
    assert (stream_key(one)[0] == stream_key(other)[0]) is same


def test_identity_sees_every_byte_of_a_short_file_and_the_ends_of_a_long_one(tmp_path):
    short, long = tmp_path / "short.pcap", tmp_path / "long.pcap"
    short.write_bytes(bytes(1000))
    with long.open("wb") as file:
        file.truncate(WHOLE * 4)
    known = {probe(str(short)).capture, probe(str(long)).capture}
    for path, at in ((short, 500), (long, 5), (long, WHOLE * 4 - 1)):
        with path.open("r+b") as file:
            file.seek(at)
            file.write(b"\1")
        found = probe(str(path)).capture
        assert found not in known
        known.add(found)


def test_the_page_has_the_columns_as_they_are():
    text = (Path(__file__).parents[2] / "docs" / "pipeline.md").read_text(encoding="utf-8")
    assert page(text) == text
