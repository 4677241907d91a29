"""How many streams a lake waits for, and what it tells of those that it gives up."""

from __future__ import annotations

from pathlib import Path

import pytest
from lake_helpers import CAPTURES, put, records_of, rows, write_pcap

from conformance.cli.pipeline import _json, _tell
from conformance.pipeline import kept_streams
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.kept_streams import FORGET_NS, Dropped, dropped
from conformance.pipeline.lake import Lake
from conformance.pipeline.log import Entry, Kept, checked


def state(key: str, last_ns: int, size: int = 10) -> Kept:
    return Kept(key, f"stream {key}", f"{key}.state", last_ns, 1, size)


def told(before: list[Kept], keep: list[Kept]) -> list[tuple[str, str]]:
    return [(one.key, one.reason) for one in dropped({one.key: one for one in before}, keep)]


def test_streams_that_are_silent_are_given_up_by_the_time_of_the_captures() -> None:
    before = [state("a", 0), state("b", 5), state("c", 0)]
    assert told(before, []) == []
    assert told(before, [state("d", FORGET_NS)]) == []
    assert told(before, [state("d", FORGET_NS + 3), state("c", 1)]) == [("a", "silent")]


def test_of_too_many_streams_the_longest_silent_ones_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_streams, "MOST_STREAMS", 3)
    before = [state("a", 4), state("b", 5), state("c", 6)]
    assert told(before, [state("a", 7)]) == []
    assert told(before, [state("d", 7)]) == [("a", "number")]
    assert told(before, [state("d", 1)]) == [("d", "number")]
    assert told([], [state(name, at) for at, name in enumerate("abcdef")]) == [(one, "number") for one in "cba"]


def test_of_too_large_states_the_longest_silent_ones_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_streams, "MOST_BYTES", 100)
    before = [state("a", 4, 30), state("b", 5, 30), state("c", 6, 40)]
    assert told(before, [state("c", 7, 40)]) == []
    assert told(before, [state("c", 7, 41)]) == [("a", "bytes")]
    assert told(before, [state("c", 7, 71)]) == [("b", "bytes"), ("a", "bytes")]
    assert told([], [state("a", 1, 101)]) == [("a", "bytes")]


def test_a_lake_has_no_more_states_than_it_may_and_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stream that was given up begins anew; those that are waited for continue."""
    monkeypatch.setattr(kept_streams, "MOST_STREAMS", 2)
    records = records_of(CAPTURES / "consistent-session.pcapng")
    parts = [records[:10], records[10:25], records[25:]]
    files = [write_pcap(tmp_path / f"set{at}_1.pcap", part) for at, part in enumerate(parts)]
    lake, done = put(tmp_path / "lake", files, keep=True)
    assert [Path(one.key).name for one in done.dropped] == ["set0.pcap"]
    kept = lake.snapshot().kept
    assert sorted(Path(key).name for key in kept) == ["set1.pcap", "set2.pcap"]
    states = list((lake.root / "_state").iterdir())
    assert sorted(path.name for path in states) == sorted(one.file for one in kept.values())
    assert sorted(path.stat().st_size for path in states) == sorted(one.bytes for one in kept.values())
    _tell(done, None, json=False)
    assert "set0.pcap is no longer waited for (a lake waits for at most 10,000 streams)" in capsys.readouterr().out
    assert [one["reason"] for one in _json(done, None)["dropped"]] == ["number"]
    later = [write_pcap(tmp_path / f"set{at}_2.pcap", records[25:]) for at in (0, 1)]
    later[1].write_bytes(write_pcap(tmp_path / "x.pcap", records[26:]).read_bytes())
    put(tmp_path / "lake", later, keep=True)
    positions = {Path(row["path"]).name: row["position"] for row in rows(Lake.open(tmp_path / "lake"), "captures")}
    assert positions["set1_2.pcap"] == 2 and positions.get("set0_2.pcap", 1) == 1


def test_many_are_told_in_a_few_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    _, done = put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    gone = [Dropped(f"/{at}.pcap", str(at), "silent") for at in range(2_007)]
    _tell(replace(done, dropped=gone), None, json=False)
    lines = capsys.readouterr().out.splitlines()
    assert sum("is no longer waited for (silent for a week" in line for line in lines) == 5
    assert "2,002 more streams are no longer waited for" in lines


def test_an_entry_of_an_earlier_version_has_no_sizes_of_states() -> None:
    value = Entry("ingest", "b", keep=[state("a", 4)]).to_json(1)
    assert checked(value, 1).keep == [state("a", 4)]
    del value["keep"][0]["bytes"]
    assert checked(value, 1).keep == [state("a", 4, 0)]
    for damage in (-1, True, "1", None):
        value["keep"][0]["bytes"] = damage
        with pytest.raises(UnfitError, match="bytes"):
            checked(value, 1)
