"""Tests of lakes on tables, of whatever format: `tables` is the module that changes them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("deltalake")
from delta_helpers import SESSION, deaths, everything, full, halves, in_a_folder
from lake_helpers import CAPTURES, put, replayed, rows, said
from state_tests import *  # noqa: F403 - the same tests, on Delta

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.ingest import Options, ingest
from conformance.pipeline.lake import Entry, Lake
from conformance.pipeline.lakes import delta
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.work import Here


@pytest.fixture
def unlocked(monkeypatch):
    """Let two writers meet, as those of a store do whose leases failed."""

    @contextmanager
    def free(self):
        yield lambda: None

    monkeypatch.setattr(delta.TableLake, "_lease", free)


def test_an_ingest_that_dies_at_any_step_leaves_all_or_nothing(tmp_path, commits):
    """Of an ingest that ends the provisional rows of another; the next one clears up and adds what is missing."""
    first, *each = deaths(tmp_path, "ingest", halves(tmp_path))
    assert len(each) > 10 and first["before"] != first["done"]
    committed = next(at for at, step in enumerate(first["steps"]) if re.fullmatch(commits, step))
    for one in each:
        assert one["then"] == first["before" if one["at"] <= committed else "done"], one["step"]
        assert one["again"] == first["done"] and one["versions"] == 2, one["step"]
        assert one["states"] == one["kept"] and len(one["kept"]) == 1 and not one["staging"], one["step"]
        # What is left are the rows of `batches`, and files that the log has removed, for readers of older versions.
        removed = {name.rpartition("/")[2] for name in one["dropped"]}
        assert all(name.startswith("batches-") or name in removed for name in one["left"]), one["step"]


@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_a_lake_that_was_not_made_whole_is_made_by_the_next(tmp_path, count, tables):
    for name in [*TABLES, "batches"][:count]:
        tables.make(LocalStore(tmp_path / "lake"), name)
    with pytest.raises(PipelineError, match="is not a lake"):
        Lake.open(tmp_path / "lake")
    assert said(put(tmp_path / "lake", [SESSION])[0]) == replayed(SESSION)


def test_a_batch_comes_once_although_its_answer_was_lost(tmp_path, monkeypatch, tables):
    change = tables.change

    def deaf(store, name, *given):
        change(store, name, *given)
        if name == "batches" and given[1]:
            raise PipelineError("the answer was lost")

    monkeypatch.setattr(tables, "change", deaf)
    lake, done = put(tmp_path / "lake", [SESSION])
    assert done.captures == 1 and said(lake) == said(Lake.open(tmp_path / "lake")) == replayed(SESSION)


def test_of_two_writers_one_wins_and_the_other_leaves_nothing(tmp_path, unlocked):
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    mine = Lake.open(tmp_path / "lake")
    with pytest.raises(PipelineError, match=r"has written to the lake .* meanwhile, and nothing of this one is in it"):
        _meets(mine, lambda: put(tmp_path / "lake", [CAPTURES / "raw-ip.pcap"]))
    lake = Lake.open(tmp_path / "lake")
    assert sorted(Path(row["path"]).name for row in rows(lake, "captures")) == ["raw-ip.pcap", "vlan.pcap"]
    lake, _ = put(tmp_path / "lake", [SESSION])
    whole = in_a_folder(tmp_path / "folder", [CAPTURES / "vlan.pcap", CAPTURES / "raw-ip.pcap", SESSION])
    assert everything(lake) == everything(whole)
    assert not list((tmp_path / "lake" / "_staging").iterdir())


def test_a_writer_that_was_asleep_does_not_finish_what_was_cleared(tmp_path, unlocked):
    """The other one adds nothing, but takes the sleeper for dead and removes its rows."""
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    mine = Lake.open(tmp_path / "lake")
    with pytest.raises(PipelineError, match="meanwhile"):
        _meets(mine, lambda: put(tmp_path / "lake", [CAPTURES / "vlan.pcap"]))
    lake = Lake.open(tmp_path / "lake")
    assert [Path(row["path"]).name for row in rows(lake, "captures")] == ["vlan.pcap"]
    assert lake.snapshot().version == 1
    assert everything(put(tmp_path / "lake", [SESSION])[0]) == everything(
        in_a_folder(tmp_path / "folder", [CAPTURES / "vlan.pcap", SESSION])
    )


def test_a_writer_that_has_lost_its_lease_leaves_the_next_one_alone(tmp_path, monkeypatch):
    lake, _ = put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])

    def lost():
        raise PipelineError("another one has the lease")

    @contextmanager
    def lease(self):
        yield lost

    monkeypatch.setattr(delta.TableLake, "_lease", lease)
    with pytest.raises(PipelineError, match="another one has the lease"), lake.writing("mine") as target:
        with target.writer("captures", "2026-01-01", "part-other-0.parquet"):
            lake.store.write("_staging/other/writer.json", b"{}")
        lake.commit(Entry("ingest", "mine"))
    assert "other" in lake.staged() and lake.store.check("captures/date=2026-01-01/part-other-0.parquet")


def _meets(mine: Lake, other) -> None:
    """Ingest, and let another writer run right before the row in `batches`."""
    write = mine._write_batch

    def late(*given):
        other()
        write(*given)

    mine._write_batch = late
    ingest(mine, [str(SESSION)], Options(), Here())


def test_a_reader_sees_a_batch_whole_or_not_at_all(tmp_path, monkeypatch, tables):
    """It opens the lake anew, and goes on with an open one, around every commit of a writer."""
    in_two = halves(tmp_path)
    lake, _ = put(tmp_path / "lake", in_two[:1])
    before, follower, seen = everything(lake), Lake.open(tmp_path / "lake"), []
    change = tables.change

    def watched(store, name, *given):
        seen.append((f"before {name}", everything(Lake.open(tmp_path / "lake")), everything(follower)))
        change(store, name, *given)
        seen.append((f"after {name}", everything(Lake.open(tmp_path / "lake")), everything(follower)))

    with monkeypatch.context() as patch:
        patch.setattr(tables, "change", watched)
        after = everything(put(tmp_path / "lake", in_two[1:])[0])
    assert before != after and len(seen) >= 10
    committed = [name for name, *_ in seen].index("after batches")
    for at, (name, *found) in enumerate(seen):
        assert all(one == (after if at >= committed else before) for one in found), name


def test_a_reader_that_meets_a_commit_reads_again(tmp_path, monkeypatch):
    """Its table is older than the batch, and the rows that the batch ends are gone: it must not mix the two."""
    in_two = halves(tmp_path)
    put(tmp_path / "lake", in_two[:1])
    handle, met = delta.TableLake._handle, []

    def interrupted(self, name):
        found = handle(self, name)
        if name == "batches" and not met:
            met.append(name)
            put(tmp_path / "lake", in_two[1:])
        return found

    with monkeypatch.context() as patch:
        patch.setattr(delta.TableLake, "_handle", interrupted)
        found = everything(Lake.open(tmp_path / "lake"))
    assert found == everything(Lake.open(tmp_path / "lake"))


@pytest.mark.parametrize("step", ["sink", "write", "change"])
def test_a_full_disk_is_one_sentence_and_nothing_is_left(tmp_path, monkeypatch, step, committing):
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    with monkeypatch.context() as patch:
        if step == "change":
            patch.setattr(committing, full)
        else:
            patch.setattr(LocalStore, step, full)
        with pytest.raises(PipelineError, match="No space left on device"):
            put(tmp_path / "lake", [SESSION])
    lake = Lake.open(tmp_path / "lake")
    assert [Path(row["path"]).name for row in rows(lake, "captures")] == ["vlan.pcap"]
    lake, _ = put(tmp_path / "lake", [SESSION])
    assert said(lake, SESSION) == replayed(SESSION)


def test_an_older_table_gets_the_columns_that_it_lacks(tmp_path, monkeypatch):
    lake, _ = put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    more = (*TABLES["captures"].columns, _column("added"))
    from dataclasses import replace

    monkeypatch.setitem(TABLES, "captures", replace(TABLES["captures"], columns=more))
    again = Lake.open(tmp_path / "lake")
    assert len(rows(again, "captures")) == 1
    lake, _ = put(tmp_path / "lake", [SESSION])
    assert len(rows(lake, "captures")) == 2


def _column(name: str):
    from conformance.pipeline.schemas import Column

    return Column(name, "string", "A column of a later version", null=True)
