"""The commands of `pipeline` with a lake in S3: watch, runs, upgrade, and queries of Spark, which has no S3 here."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deltalake")

from delta_helpers import everything, halves, in_a_folder
from judged_corpus import write_run
from lake_helpers import CAPTURES, contents, put, replayed, rows, said
from typer.testing import CliRunner

from conformance.capture.stores import Patience
from conformance.cli.pipeline import app
from conformance.pipeline import engines, small, watch
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import lease, store
from conformance.pipeline.lakes.store import ObjectStore
from conformance.pipeline.spark import first_line

VLAN = CAPTURES / "vlan.pcap"


@dataclass(frozen=True)
class Told:
    """What a command said: lines of stdout, and of stderr but for the one that tells what it begins with."""

    code: int
    out: str
    err: list[str]


def command(*words: object) -> Told:
    done = CliRunner().invoke(app, list(map(str, words)))
    said = [line for line in done.stderr.splitlines() if not line.startswith("mqconform: pipeline ")]
    return Told(done.exit_code, done.stdout, said)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beat often: the tests have many writers, each of which waits for its last beat."""
    monkeypatch.setattr(lease, "BEAT_S", 0.2)


@pytest.fixture
def place(request: pytest.FixtureRequest, s3: str) -> str:
    return f"{s3}/commands/{request.node.name}"


@pytest.fixture
def workers(spark: Any, s3: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Spark, whose workers have the credentials that their machines would have."""
    aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    monkeypatch.setattr(spark.sparkContext, "environment", {**spark.sparkContext.environment, **aws})
    return spark


@pytest.fixture
def watched(place: str, tmp_path: Path) -> Iterator[Path]:
    """A folder that is watched for a lake in S3, and nothing of it in the cache folder afterwards."""
    folder = tmp_path / "spool"
    folder.mkdir()
    yield folder
    shutil.rmtree(watch._progress(Lake.open(place), folder), ignore_errors=True)


def test_a_watch_takes_each_capture_once_and_streams_go_on(
    workers: Any, place: str, watched: Path, tmp_path: Path
) -> None:
    """Also where its progress was lost, which lies in the cache folder of this machine."""
    files = halves(tmp_path)
    told = []
    for one in files:
        shutil.copy(one, watched)
        done = command("watch", watched, "--out", place, "--once", "--settle", 0, "--every", 0.2, "--json")
        assert (done.code, done.err) == (0, [])
        told.append(json.loads(done.out))
        shutil.rmtree(watch._progress(Lake.open(place), watched))
    assert [(one["captures"], one["known"]) for one in told] == [(1, 0), (1, 1)]
    lake = Lake.open(place)
    assert {row["position"] for row in rows(lake, "captures")} == {1, 2}
    assert said(lake)[1] == replayed(CAPTURES / "consistent-session.pcapng")[1]


def test_a_store_without_credentials_is_one_sentence_that_nobody_waits_for(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking again does not find any."""
    monkeypatch.setattr(store, "patience", Patience(wait=lambda seconds: pytest.fail("waits")))
    monkeypatch.setattr("s3fs.S3FileSystem.cachable", False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    write_run(tmp_path / "run", 0)
    for words in (("report", f"{s3}/any"), ("runs", tmp_path / "run", "--out", f"{s3}/any")):
        done = command(*words)
        assert (done.code, done.out, len(done.err)) == (2, "", 1)
        assert done.err[0].endswith("the store needs credentials, and the environment has none.")
    sink = ObjectStore(f"{s3}/any").sink("table/part.parquet")
    with pytest.raises(PermissionError, match="needs credentials"), sink as file:
        file.write(b"x")


def test_what_a_worker_could_not_do_is_said_without_the_name_of_the_error() -> None:
    told = "Job aborted\nTraceback\n  conformance.pipeline.errors.PipelineError: The rows cannot be written.\n  at Java"
    assert first_line(RuntimeError(told)) == "The rows cannot be written."


def _timeless(row: dict) -> str:
    return repr(sorted((name, value) for name, value in row.items() if name not in ("batch", "ingested_at")))


def test_a_folder_is_upgraded_into_s3_and_goes_on_there(place: str, tmp_path: Path) -> None:
    first, second = halves(tmp_path)
    old = in_a_folder(tmp_path / "old", [first], [VLAN])
    before = contents(tmp_path / "old")
    assert command("upgrade", tmp_path / "old", "--out", place).out.endswith("on Delta now\n")
    assert everything(Lake.open(place)) == everything(old) and contents(tmp_path / "old") == before
    put(place, [second])
    assert everything(Lake.open(place)) == everything(in_a_folder(tmp_path / "old", [second]))
    assert command("upgrade", place).out == f"{place} is on Delta already\n"
    for words, says in (
        ((tmp_path / "old", "--out", place), "is there already; name a new place"),
        ((place, "--out", f"{place}/new"), "turns lakes in folders only: copy it with the tools of its store"),
        ((tmp_path / "old", "--out", "s3://no-such-bucket/lake"), "cannot be written: The specified bucket does not"),
        ((f"{place}/none", "--out", f"{place}/new"), "is not a lake"),
    ):
        done = command("upgrade", *words)
        assert (done.code, done.out, len(done.err)) == (2, "", 1) and says in done.err[0]


def test_an_upgrade_into_s3_that_ends_on_the_way_leaves_no_lake_and_the_next_one_makes_it(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conformance.pipeline.errors import PipelineError
    from conformance.pipeline.lakes import upgrade

    old = in_a_folder(tmp_path / "old", [VLAN])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(upgrade, "_batches", killed)
        patch.setattr(upgrade, "_clear", lambda *_, **__: None)  # a process that is killed clears nothing
        upgrade.upgrade(old, place)
    with pytest.raises(PipelineError, match="is not a lake"):
        Lake.open(place)
    upgrade.upgrade(old, place)
    lake = Lake.open(place)
    assert everything(lake) == everything(old)
    files = {one for one in lake.store.below("captures") if one.endswith(".parquet")}
    assert files == {one for one in lake.located() if one.startswith("captures/")}


def test_spark_without_s3_names_the_engine_that_answers(spark: Any, place: str) -> None:
    lake, _ = put(Lake.open(place, create=True).place, [VLAN])
    query = "select count(*) as n from captures"
    refused = command("sql", place, query, "--engine", "spark")
    assert (refused.code, refused.out, len(refused.err)) == (2, "", 1)
    assert "hadoop-aws" in refused.err[0] and "--engine duckdb" in refused.err[0]
    for more in ((), ("--engine", "duckdb")):
        assert json.loads(command("sql", place, query, "--json", *more).out)["rows"] == [[1]]
    with pytest.MonkeyPatch.context() as patch:  # A large lake, which Spark would answer for.
        patch.setattr(small, "SMALL", 1)
        other = CliRunner().invoke(app, ["sql", place, query])
        assert other.exit_code == 0 and other.stdout.split()[-1] == "1"
        assert "Spark has no classes for the store of the lake; DuckDB answers" in other.stderr
        patch.setattr(engines, "find_spec", lambda _: None)
        told = command("sql", place, query)
    assert told.code == 2 and "--engine duckdb" in told.err[0]
    assert lake.snapshot().version == 1
