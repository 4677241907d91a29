"""Streams with stray bytes, wrong sizes, lost and overlapping segments: all ways through the harness say the same.

The three ways are the reading one by one (`replay`), that by compiled code (`replay --columns`) and the pipeline, each
of its own two ways. A seed makes a stream; seeds are judged many in a file, and one that is judged differently is found
with `differing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest
from both_readers import same as alike
from broken_streams import broken_stream, written
from lake_helpers import put, put_one_by_one, put_sessions_one_by_one, replayed, rows, said, same
from nightly import amount

from conformance.captures import replay
from conformance.captures.columns import judge_range
from conformance.pipeline.lake import Lake
from conformance.spec.catalogue import assignment

READ = amount("pipeline.broken-streams-read")
"""Seeds that are read; a file each."""
JUDGED = amount("pipeline.broken-streams-judged")
"""Seeds that are judged by all ways."""
PACK = 100
"""Seeds of one file that is judged."""
PACKS = [range(first, min(first + PACK, JUDGED)) for first in range(0, JUDGED, PACK)]
KEPT = ("streams.KEPT", "tables_sink.EACH")
SAME = ("records", "packets", "lost_bytes", "skipped", "cut", "first_time", "last_time")


def packed(path: Path, seeds: Iterable[int]) -> Path:
    path.write_bytes(written(broken_stream(seed) for seed in seeds))
    return path


def differing(seeds: range, path: Path, alike: Callable[[Path], None]) -> list[int]:
    """The seeds for which a comparison fails."""
    bad = []
    for seed in seeds:
        try:
            alike(packed(path, [seed]))
        except Exception:
            bad.append(seed)
    return bad


def test_the_walk_reads_what_is_read_one_by_one(tmp_path: Path) -> None:
    assert differing(range(READ), tmp_path / "one.pcap", lambda path: alike(path) and None) == []


@pytest.mark.parametrize("seeds", PACKS, ids=lambda seeds: f"from {seeds.start}")
def test_columns_judge_what_is_judged_one_by_one(tmp_path: Path, seeds: range) -> None:
    path, readings = packed(tmp_path / "pack.pcap", seeds), assignment("windows")
    one = replay([path], profile="msmq-4.0", readings=readings)
    other = judge_range(path, profile="msmq-4.0", readings=readings).replay
    assert not one.defects and not one.errors and one.packets > 5 * len(seeds)
    assert other.captures == one.captures
    assert other.counted == one.counted
    assert other.tally == one.tally


@pytest.mark.parametrize("seeds", PACKS, ids=lambda seeds: f"from {seeds.start}")
def test_the_pipeline_judges_what_replay_judges(tmp_path: Path, seeds: range) -> None:
    path = packed(tmp_path / "pack.pcap", seeds)
    fast, done = put(tmp_path / "fast", [path], packets=True)
    assert not done.rejected
    assert said(fast) == replayed(path)
    slow, _ = put_sessions_one_by_one(tmp_path / "slow", [path], packets=True)
    same(fast, slow)


NULL_MANAGER = range(2251, 2252)
"""The acceptor opens the connection with a null GUID, and then sends a message that names its queue manager."""


@pytest.mark.parametrize("seeds", [*PACKS, NULL_MANAGER], ids=lambda seeds: f"from {seeds.start}")
def test_packets_alone_are_judged_alike(tmp_path: Path, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEPT:
        monkeypatch.setattr(f"conformance.pipeline.{name}", 1 << 20)
    path = packed(tmp_path / "pack.pcap", seeds)
    lakes: list[Lake] = []
    for name, way in (("slow", put_one_by_one), ("whole", partial(put, sessions=False))):
        lake, done = way(tmp_path / name, [path], packets=True)
        assert not done.rejected
        lakes.append(lake)
    packets = [{row["number"]: row for row in rows(lake, "packets")} for lake in lakes]
    captures = [{name: rows(lake, "captures")[0][name] for name in SAME} for lake in lakes]
    assert said(lakes[1]) == said(lakes[0])
    assert packets[1] == packets[0]
    assert captures[1] == captures[0]
