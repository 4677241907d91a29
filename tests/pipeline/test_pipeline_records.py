"""Run records in a lake: each once, whole ones for cut ones, what is none with its reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lake_helpers import files_in

from conformance.pipeline.engine import Local
from conformance.pipeline.lake import Lake
from conformance.pipeline.records import MAX_VALUE, ingest_runs
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.untrusted_files import PipelineError
from conformance.runlog import Header, RunWriter
from conformance.verdict import ExitCode, Outcome, Verdict

ID = "MQDMPR-3.2.7.3.illegal-cursor-action"
OTHER = "MQDMPR-3.1.4.4.success"


def record(folder: Path, run_id: str, *verdicts: Verdict, footer: bool = True, **header: object) -> Path:
    with RunWriter(folder) as writer:
        members = {"run_id": run_id, "connector": "embedded", "profile": "msmq-4.0", "started": "2026-03-01T23:30:00Z"}
        writer.header(Header(**{**members, **header}))  # type: ignore[arg-type]
        writer.hello({"name": "acme-mq", "version": "2.1"})
        for verdict in verdicts:
            writer.verdict(verdict, suite="cursors", test="t")
        if footer:
            writer.footer("completed")
    return folder


def rows(lake: Lake, table: str) -> list[dict]:
    found = [row for file in files_in(lake, table) for row in pq.read_table(file, partitioning=None).to_pylist()]
    live = lake.batches().live
    return [{name: row[name] for name in row if name != "batch"} for row in found if row["batch"] in live]


@pytest.fixture
def lake(tmp_path):
    return Lake.open(tmp_path / "lake", create=True)


def test_rows_say_what_the_record_says_and_only_once(lake, tmp_path):
    failed = Verdict(ID, Outcome.FAIL, "peek_next", {"status": 1}, {"status": 2}, readings=(("R-1", "a"),))
    passes = [Verdict(OTHER, Outcome.PASS, f"call {number}") for number in range(5)]
    made = record(tmp_path / "runs" / "mine", "r1", failed, failed, *passes)
    record(tmp_path / "runs" / "deep" / "theirs", "r2", *passes, started="2026-03-01T23:30:00-05:00", captures=("a",))
    done = ingest_runs([tmp_path / "runs"], lake)
    assert (done.runs, done.verdicts, done.known, done.rejected) == (2, 12, 0, ())
    mine = {(row["requirement"], row["outcome"]): row for row in rows(lake, "results") if row["run_id"] == "r1"}
    fail = mine[(ID, "fail")]
    assert (fail["count"], json.loads(fail["actual"]), fail["readings"]) == (2, {"status": 2}, [("R-1", "a")])
    assert (mine[(OTHER, "pass")]["count"], fail["implementation"], fail["suite"]) == (5, "acme-mq", "cursors")
    runs = {row["run_id"]: row for row in rows(lake, "runs")}
    assert runs["r1"]["complete"] and runs["r1"]["path"] == str(made) and runs["r1"]["kind"] == "run"
    assert (runs["r1"]["implementation_version"], runs["r2"]["kind"]) == ("2.1", "replay")
    # Half past eleven in New York is the next day in UTC.
    assert {path.parent.name for path in files_in(lake, "runs")} == {"date=2026-03-01", "date=2026-03-02"}
    again = ingest_runs([tmp_path / "runs" / "mine", made, tmp_path / "runs" / "deep"], lake)
    assert (again.runs, again.known) == (0, 3)
    assert len(rows(lake, "runs")) == 2


def test_many_records_of_a_day_are_one_file(lake, tmp_path):
    for number in range(7):
        record(tmp_path / "runs" / str(number), f"r{number}", Verdict(OTHER, Outcome.PASS, "x"))
    ingest_runs([tmp_path / "runs"], lake)
    assert len(rows(lake, "runs")) == 7 and len(files_in(lake, "runs")) == len(files_in(lake, "results")) == 1
    assert all(pq.read_schema(file) == TABLES["results"].arrow() for file in files_in(lake, "results"))


def test_the_end_of_a_record_takes_the_place_of_its_beginning(lake, tmp_path):
    folder = record(tmp_path / "run", "r1", Verdict(ID, Outcome.FAIL, "x"), footer=False)
    assert ingest_runs([folder], lake).runs == 1
    assert ingest_runs([folder], lake).known == 1
    assert [row["complete"] for row in rows(lake, "runs")] == [False]
    whole = record(tmp_path / "whole", "r1", Verdict(ID, Outcome.FAIL, "x"), Verdict(OTHER, Outcome.PASS, "y"))
    # Both at once: the whole one is taken, whichever stands first.
    assert ingest_runs([folder, whole], lake).runs == 1
    assert [row["complete"] for row in rows(lake, "runs")] == [True]
    assert sorted(row["requirement"] for row in rows(lake, "results")) == [OTHER, ID]
    assert ingest_runs([folder, whole], lake).known == 2


def test_what_is_no_record_is_told_and_the_rest_goes_in(lake, tmp_path):
    good = record(tmp_path / "good", "r1", Verdict(OTHER, Outcome.PASS, "x"))
    bad = tmp_path / "bad" / "run-main.ndjson"
    bad.parent.mkdir()
    bad.write_bytes(b"\x00\xff not a record\n")
    for expected in (1, 0):
        done = ingest_runs([good, bad.parent], lake)
        assert (done.runs, len(done.rejected)) == (expected, 1) and "not a header" in done.rejected[0][1]
    (row,) = rows(lake, "rejected")
    assert row["path"] == str(bad.parent) and row["bytes"] == bad.stat().st_size and row["capture_id"] is None


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([Outcome.PASS], ExitCode.CONFORMS),
        ([Outcome.PASS, Outcome.FAIL], ExitCode.DEVIATES),
        ([Outcome.ERROR, Outcome.PASS], ExitCode.HARNESS_ERROR),
        ([Outcome.SKIP], ExitCode.NOTHING_JUDGED),
    ],
)
def test_it_ends_as_what_was_added_does(outcomes, code, tmp_path):
    folders = []
    for number, outcome in enumerate(outcomes):
        verdict = Verdict(ID, outcome, "peek_next", reason="because")
        folders.append(str(record(tmp_path / "runs" / str(number), f"r{number}", verdict)))
    command = [sys.executable, "-m", "conformance", "pipeline", "runs", *folders, "--out", str(tmp_path / "lake")]
    codes = [subprocess.run(command, capture_output=True, timeout=300, check=False).returncode for _ in range(2)]
    assert codes == [code, ExitCode.CONFORMS], "what is in the lake already is nothing new"


def test_nothing_to_read_is_a_sentence(lake, tmp_path):
    (tmp_path / "empty").mkdir()
    nothing = {
        tmp_path / "empty": "holds no run",
        tmp_path / "nowhere": "no run record at",
        Path("x" * 300): "too long",
    }
    for path, words in nothing.items():
        with pytest.raises(PipelineError, match=words):
            ingest_runs([path], lake)
    assert not lake.batches().live


def test_text_that_no_table_can_hold_is_bounded_and_escaped(lake, tmp_path):
    huge, half = "x" * (MAX_VALUE + 1), "\ud800half"
    verdict = Verdict(ID, Outcome.FAIL, half, {"big": huge}, half, reason=huge)
    ingest_runs([record(tmp_path / "run", "r1", verdict, started="never", seed=1 << 80)], lake)
    (row,) = rows(lake, "results")
    assert "\\ud800" in row["subject"] and len(row["expected"]) < 100 and len(row["reason"]) < MAX_VALUE + 100
    assert json.loads(row["actual"]) == half
    (run,) = rows(lake, "runs")
    assert (run["started"], run["seed"]) == (None, None)
    assert [path.parent.name for name in ("runs", "results") for path in files_in(lake, name)] == [
        "date=1970-01-01"
    ] * 2


def test_processes_read_what_is_read_here(lake, tmp_path):
    for number in range(5):
        record(tmp_path / "runs" / str(number), f"r{number}", Verdict(OTHER, Outcome.PASS, "x"))
    (tmp_path / "runs" / "5").mkdir()
    (tmp_path / "runs" / "5" / "run-main.ndjson").write_bytes(b"no record")
    done = ingest_runs([tmp_path / "runs"], lake, Local(2))
    other = Lake.open(tmp_path / "other", create=True)
    assert (done.runs, len(done.rejected)) == (5, 1) and done == ingest_runs([tmp_path / "runs"], other)
    assert sorted(map(str, rows(lake, "results"))) == sorted(map(str, rows(other, "results")))
