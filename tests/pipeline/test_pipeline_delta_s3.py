"""A lake in S3, as a server on loopback speaks it: the rows of a folder, one writer at a time, a store that fails."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

pytest.importorskip("deltalake")

import lake_helpers
from delta_helpers import SESSION, everything, halves, in_a_folder
from lake_helpers import CAPTURES, put, rows
from nightly import sample

from conformance.capture.stores import Patience
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Format, Lake
from conformance.pipeline.lakes import lease, store
from conformance.pipeline.lakes.store import ObjectStore
from conformance.pipeline.schemas import TABLES

FORMATS = ["delta", "iceberg"]
VLAN = CAPTURES / "vlan.pcap"


@pytest.fixture(autouse=True, params=sample("pipeline.kept-formats", FORMATS, ["delta"]))
def format(request: pytest.FixtureRequest, s3: str, monkeypatch: pytest.MonkeyPatch) -> Format:
    """The format of new lakes. Wait less for writers that are dead."""
    if request.param == "iceberg":
        pytest.importorskip("pyiceberg")
    monkeypatch.setattr(lake_helpers, "FORMAT", request.param)
    monkeypatch.setattr(lease, "BEAT_S", 0.2)
    return request.param


@pytest.fixture
def place(request: pytest.FixtureRequest, s3: str) -> str:
    return f"{s3}/of/{abs(hash(request.node.nodeid))}"


@pytest.mark.parametrize("format", FORMATS, indirect=True)
def test_nothing_is_left_but_the_states_that_are_kept(tmp_path: Path, place: str) -> None:
    """Of a stream that goes on; what is there is known. That the rows are those of a folder `places` shows."""
    files = halves(tmp_path)
    for captures in files:
        put(place, [captures])
    assert put(place, files)[1].known == 2
    opened = Lake.open(place)
    assert len(opened.store.names("_state")) == len(opened.snapshot().kept) == 1 and not opened.store.names("_staging")


def test_another_writer_is_told_to_wait(place: str, format: Format) -> None:
    first, second = (Lake.open(place, create=True, format=format) for _ in range(2))
    with (
        first.writing("mine"),
        pytest.raises(PipelineError, match="Another command is writing"),
        second.writing("yours"),
    ):
        pass
    with second.writing("yours"):
        pass
    assert not first.store.names("_staging")


def test_a_lease_is_created_once_even_if_the_store_lists_it_late(
    place: str, format: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake.open(place, create=True, format=format)
    with lake.writing("mine"):
        names = ObjectStore.names
        monkeypatch.setattr(ObjectStore, "names", lambda self, at: [] if at == "_lease" else names(self, at))
        with pytest.raises(PipelineError, match="Another command is writing"), lake.writing("yours"):
            pass


def test_the_lease_of_a_dead_writer_ends_and_its_files_are_removed(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It died with its rows in some tables, and files that no log names."""
    lake, _ = put(place, [VLAN])
    _dies_before_the_batch(lake)
    with monkeypatch.context() as patch:
        patch.setattr(lease, "STALE_S", 0.5)
        with lease.leased(lake.store):
            pass
    assert lake.store.names("_staging")
    before = in_a_folder(tmp_path / "folder", [VLAN])
    assert everything(Lake.open(place)) == everything(before)
    lake, _ = put(place, [SESSION])
    assert everything(lake) == everything(in_a_folder(tmp_path / "folder", [SESSION]))
    files = {one for name in TABLES for one in lake.store.below(name) if one.endswith(".parquet")}
    assert files == set(lake.located()) and not lake.store.names("_staging")


def _dies_before_the_batch(lake: Lake) -> None:
    """Ingest as a process does that is killed right before the row in `batches`: it ends with nothing."""
    from conformance.pipeline.ingest import Options, ingest
    from conformance.pipeline.work import Here

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lake, "_write_batch", _killed)
        patch.setattr(type(lake), "_clean", _once(type(lake)._clean))
        patch.setattr(lease, "_beat", lambda *given: None)
        write = ObjectStore.write
        patch.setattr(ObjectStore, "write", lambda self, at, data: at.endswith(".done") or write(self, at, data))
        with pytest.raises(KeyboardInterrupt):
            ingest(lake, [str(SESSION)], Options(), Here())


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def _once(clean):
    """The first call alone: a process that is killed does not clear up."""
    calls = []

    def cleaned(self, *given, **more):
        calls.append(given)
        if len(calls) == 1:
            clean(self, *given, **more)

    return cleaned


def test_a_writer_that_was_asleep_notices_before_it_commits(
    place: str, format: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "STALE_S", 0.5)
    monkeypatch.setattr(lease, "_beat", lambda *given: None)
    lake = Lake.open(place, create=True, format=format)
    with lease.leased(lake.store) as held:
        with lease.leased(lake.store) as other:
            other()
        with pytest.raises(PipelineError, match="silent for so long"):
            held()


def test_a_store_that_fails_now_and_then_is_asked_again(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second request of whatever kind fails: it is throttled."""
    monkeypatch.setattr(store, "patience", Patience(wait=lambda seconds: None))
    again, lock, count = ObjectStore._again, threading.Lock(), [0]

    def throttled(self, asked):
        def sometimes():
            with lock:
                count[0] += 1
                if count[0] % 2:
                    raise OSError(5, "Please reduce your request rate")
            return asked()

        return again(self, sometimes)

    monkeypatch.setattr(ObjectStore, "_again", throttled)
    lake, done = put(place, [SESSION])
    assert done.captures == 1 and len(rows(lake, "captures")) == 1 and count[0] > 20


def test_a_store_that_always_fails_is_one_sentence(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(place, [VLAN])
    monkeypatch.setattr(store, "patience", Patience(2, wait=lambda seconds: None))
    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "sink", _refused)
        with pytest.raises(PipelineError, match=r"^The rows cannot be written to s3://.*: Slow down\.$"):
            put(place, [SESSION])
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
        patch.setattr("s3fs.S3FileSystem.cachable", False)
        with pytest.raises(PipelineError, match=r"^The lake s3://\S+ cannot be used: the store fails \(.*\)\.$"):
            Lake.open(place)
    assert len(rows(put(place, [SESSION])[0], "captures")) == 2


def _refused(*_: object) -> None:
    raise OSError(16, "Slow down")


def test_a_lake_of_the_other_format_is_not_made_in_a_store(place: str) -> None:
    with pytest.raises(PipelineError, match="one with --format delta or iceberg may be in a store"):
        Lake.open(place, create=True, format="folder")
    with pytest.raises(PipelineError, match="is not a lake"):
        Lake.open(place)


def test_a_state_that_the_store_has_in_the_place_of_another_is_damage(place: str, tmp_path: Path) -> None:
    first, second = halves(tmp_path)
    put(place, [first])
    lake = Lake.open(place)
    (name,) = lake.store.names("_state")
    mark = lake.store.read(f"_state/{name}", 1 << 20).partition(b"\n")[0]
    lake.store.write(f"_state/{name}", mark + b"\nnothing of it")
    with pytest.raises(PipelineError, match="kept state of a stream is damaged"):
        put(place, [second])
