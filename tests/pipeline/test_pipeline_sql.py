"""Questions in SQL: DuckDB and Spark answer alike, each is bounded, and what a query breaks is not this process."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pyarrow as pa
import pytest
from lake_helpers import contents
from made_bombs import repeated
from made_lake import capture, day, fill, session, verdict
from typer.testing import CliRunner

from conformance.cli.pipeline import analysis_app
from conformance.pipeline import query as answers
from conformance.pipeline import spark as sparks
from conformance.pipeline import tables
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.untrusted_files import PipelineError
from conformance.verdict import ExitCode

ROOT = Path(__file__).parents[2]
LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
CURSOR = "MQDMPR-3.2.7.3.illegal-cursor-action"
COMMAND = [sys.executable, "-m", "conformance", "pipeline", "sql"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
LITTLE = 2 << 30
"""Bytes of memory: enough for a query, and soon filled."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    made = Lake.open(tmp_path_factory.mktemp("sql") / "lake", create=True)
    fill(made, [capture(day(0), skipped={"other port": 4}), session(day(0), "192.0.2.1")])
    passed = [verdict(LAYOUT, "pass", None, day(number), count=count) for number, count in ((0, 41), (1, 1), (40, 3))]
    fill(made, [verdict(LAYOUT, "fail", "192.0.2.1", day(0), queue="=cmd()", readings={"R-1": "a"}), *passed])
    packet = {"capture_id": "c", "stream_id": "c", "number": 1, "deviating": [LAYOUT, CURSOR], "worst": "fail"}
    fill(made, [("packets", day(0), packet)])
    for number, (version, outcome) in enumerate((("2.0", "pass"), ("2.1", "fail"))):
        run = {"run_id": f"r{number}", "implementation": "acme-mq", "implementation_version": version, "complete": True}
        result = {"run_id": f"r{number}", "implementation": "acme-mq", "requirement": CURSOR, "count": 2}
        fill(made, [("runs", day(number), run), ("results", day(number), {**result, "outcome": outcome})])
    manager = "6f1b2c0e-9d4f-4b1c-8e7a-2f60a7d4c001"
    fill(made, [verdict(CURSOR, "pass", manager, day(41), count=7, readings={"R-MQDMPR-seek-from-head": "head"})])
    return made


def answer(lake: Lake, query: str, **bounds) -> tuple[list[str], list]:
    with answers.asked_duckdb(lake, query, **bounds) as found:
        return found.schema.names, [answers.plain(row) for row in answers.rows(found)]


def command(lake: Lake, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(analysis_app, ["sql", str(lake.root), *arguments])
    return done.exit_code, done.stdout, done.stderr


SAME = (
    "select requirement, outcome, count, sender, queue, readings, first_time, packet, date from verdicts "
    "order by outcome, date, count",
    "select date, outcome, sum(count) as n, count(*) as rows, min(first_time) as since from verdicts group by 1, 2 "
    "order by 1, 2",
    "select sender, count from verdicts order by sender, count desc",
    "select avg(count) as mean, sum(count) / 2 as half, max(date) as latest, count(distinct sender) as senders "
    "from verdicts",
    "select path, skipped, skipped['other port'] as other, first_time, incomplete from captures order by path",
    "select outcome, sum(count) over (partition by outcome order by date) as so_far, date from verdicts "
    "order by outcome, date, count, so_far",
    "select c.path, v.outcome, v.count from verdicts v join captures c using (capture_id) order by 1, 2, 3",
    "with a as (select outcome, count from verdicts) select outcome, sum(count) as n from a group by outcome "
    "having sum(count) > 1 order by n desc -- a comment ends it;",
    "select cast(count as double) as d, cast(date as varchar(10)) as s, true as b, null as n from verdicts "
    "order by d, s",
    "select * from rejected",
    "select deviating, worst from packets order by number",
    "select 9223372036854775807 as most, 1.50 as exact, date '2026-01-31' as day;",
)
"""In the words that both dialects have."""


def queries_of_docs() -> list[str]:
    """Every block of SQL in the page, one query a paragraph."""
    page = (ROOT / "docs" / "corpus-report.md").read_text("utf-8")
    return [one for block in re.findall(r"```sql\n(.*?)```", page, re.DOTALL) for one in block.strip().split("\n\n")]


def test_both_engines_answer_alike(spark, lake):
    queries, empty = [*SAME, *queries_of_docs()], []
    assert len(queries) >= len(SAME) + 5
    with sparks.apart(spark) as own, tables.opened(lake) as connection:
        sparks.open_views(own, lake)
        assert all(tuple(own.table(name).columns) == table.names for name, table in TABLES.items())
        for query in queries:
            here, there = connection.sql(query).to_arrow_table(), own.sql(query.strip(";")).toArrow()
            found = [[answers.plain(row) for row in answers.rows(one.to_reader())] for one in (here, there)]
            assert found[0] == found[1] and here.schema.names == there.schema.names, query
            empty += [] if found[0] else [query]
    assert empty == ["select * from rejected"]


WRONG = {
    "select * from _stored_verdicts": "catalog.*_stored_verdicts",
    "select nothing from verdicts": "binder.*nothing",
    "select * from elsewhere": "elsewhere",
    "select * frm": "binder|parser",
    " ; ": "this is empty",
    "select 1; select 2": "this is 2 statements",
    "drop view verdicts": "this is drop",
    "create table x as select 1": "this is create",
    "insert into _live values ('x')": "this is insert",
    "with a as (select 1) insert into _live select * from a": "this is insert",
    "copy verdicts to '{out}'": "this is copy",
    "attach '{out}' as x": "this is attach",
    "export database '{out}'": "this is export",
    "install httpfs": "this is load",
    "load httpfs": "this is load",
    "set memory_limit = '1TB'": "this is set",
    "reset memory_limit": "this is set",
    "pragma memory_limit='1TB'": "this is set",
    "pragma database_list": "this is pragma",
    "call pragma_version()": "this is call",
    "select * from read_text('{secret}')": "permission",
    "from '{secret}'": "catalog",
    "explain analyze copy (select 1) to '{out}'": "permission|parser",
    "select 1 / (count - 'x') from verdicts": "conversion",
    f"select {'[' * 100_000}1{']' * 100_000}": "depth",
    f"select {'(' * 100_000}1{')' * 100_000}": "depth",
}


@pytest.mark.parametrize("query", WRONG, ids=lambda one: one[:30])
def test_what_is_no_query_is_one_sentence(lake, tmp_path, query):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words\n")
    before = contents(lake.root)
    with pytest.raises(PipelineError, match=f"(?i){WRONG[query]}") as problem:
        answer(lake, query.replace("{secret}", str(secret)).replace("{out}", str(tmp_path / "out")))
    assert problem.value.code == ExitCode.BAD_INPUT and "\n" not in problem.value.sentence
    assert len(problem.value.sentence) < 600 and "hidden" not in problem.value.sentence
    assert not (tmp_path / "out").exists() and contents(lake.root) == before


def test_a_lake_in_a_store_is_read(s3):
    made = Lake.open(f"{s3}/sql", create=True)
    fill(made, [verdict(LAYOUT, "pass", None, day(number), count=count) for number, count in ((0, 41), (1, 1))])
    assert answer(made, "select date, count from verdicts order by 1") == (
        ["date", "count"], [["2026-03-01", 41], ["2026-03-02", 1]],
    )  # fmt: skip


BOMBS = (
    "select printf('%1000000000d', 1)",
    "select format('{:>2000000000}', 1)",
    "select bitstring('1', 2000000000)",
    "select repeat('x', 4000000000)",
    "select range(4000000000)",
    "select list(repeat('x', 1000)) from range(10000000)",
)


@pytest.mark.parametrize("query", BOMBS)
def test_a_query_that_makes_much_of_little_is_one_sentence(lake, query):
    with pytest.raises(PipelineError, match=r"more than the 2,048 MiB|brought DuckDB down|A row of the answer has"):
        answer(lake, query, memory=LITTLE)


def test_a_query_has_a_time(lake):
    endless = ("select count(*) from range(10000000) a, range(10000000) b", "select * from range(100000000000)")
    for query in endless:
        begun = time.monotonic()
        with pytest.raises(PipelineError, match=r"took more than 1 s; .*--timeout"):
            answer(lake, query, timeout_s=1)
        assert time.monotonic() - begun < 60
    code, out, err = command(lake, endless[0], "--engine", "duckdb", "--timeout", "1")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_what_python_cannot_have_is_its_number_or_its_bytes():
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    at = pa.array([2**63 - 1]).cast(pa.timestamp("us", "UTC"))
    deep = pa.StructArray.from_arrays([pa.ListArray.from_arrays([0, 1], bad), at], ["x", "y"])
    table = pa.table({"a": bad, "b": at, "c": deep, "d": pa.MapArray.from_arrays([0, 1], bad, at)})
    (row,) = answers.rows(table.to_reader())
    assert [answers.cell(one) for one in row[:2]] == ["ff", str(2**63 - 1)]
    assert answers.plain(row) == ["ff", 2**63 - 1, {"x": ["ff"], "y": 2**63 - 1}, {"ff": 2**63 - 1}]


def test_a_long_text_in_every_row_stays_within_the_memory(lake, tmp_path):
    shutil.copytree(lake.root, tmp_path / "lake")
    repeated(next((tmp_path / "lake" / "verdicts").rglob("part-*.parquet")), "subject", 1_000_000)
    code, out, err = command(Lake.open(tmp_path / "lake"), "select * from verdicts")
    assert (code, out) == (2, "") and "MiB of memory that it may use; ask for less." in err


def test_a_process_that_dies_is_one_sentence(lake):
    with answers.asked_duckdb(lake, "select count(*) from range(10000000) a, range(10000000) b") as found:
        Timer(1, lambda: found._process.send_signal(signal.SIGSEGV)).start()
        with pytest.raises(PipelineError, match=r"brought DuckDB down .SIGSEGV."):
            list(found)


def test_an_answer_comes_in_pieces_and_what_is_not_read_is_not_made(lake):
    """Of 10 TB, the first rows."""
    with answers.asked_duckdb(lake, "select repeat('x', 10000) as x from range(1000000000)") as found:
        assert [len(row[0]) for row in answers.rows(found, 5_000)] == [10_000] * 5_000
    assert found._process.returncode == -signal.SIGKILL


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _runs(pid: int) -> bool:
    """Whoever adopts an orphan may leave it a zombie, which runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_the_end_of_the_command_is_the_end_of_its_process(lake, end):
    query = "select count(*) from range(10000000) a, range(10000000) b"
    running = subprocess.Popen(
        [*COMMAND, str(lake.root), query, "--engine", "duckdb"],
        env=ENVIRONMENT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    until = time.monotonic() + 120
    while not (found := _children(running.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    (child,) = found
    running.send_signal(end)
    _, err = running.communicate(timeout=60)
    assert running.returncode == (130 if end is signal.SIGINT else -signal.SIGKILL) and "Traceback" not in err
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(child)


def test_times_are_utc_whatever_the_zone_of_the_process(lake):
    query = "select first_time, [first_time] as all_of_them from verdicts where outcome = 'fail'"
    done = subprocess.run(
        [*COMMAND, str(lake.root), query, "--json"], capture_output=True, text=True, timeout=120, check=True,
        env={**ENVIRONMENT, "TZ": "America/New_York"},
    )  # fmt: skip
    assert json.loads(done.stdout)["rows"] == [["2026-03-01T12:00:00Z", ["2026-03-01T12:00:00Z"]]]


def test_the_engine_is_spark_where_that_or_a_master_is_named():
    found = [answers.query_engine(*asked) for asked in (("auto",), ("auto", "local[2]"), ("spark",), ("duckdb",))]
    assert found == ["duckdb", "spark", "spark", "duckdb"]


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_the_command_prints_and_writes(lake, tmp_path, engine, request):
    if engine == "spark":
        request.getfixturevalue("spark")
    query = "select outcome, sum(count) as n, any_value(queue) as queue from verdicts group by 1 order by 1"
    code, out, _ = command(lake, query, "--json", "--engine", engine)
    assert (code, json.loads(out)["columns"]) == (0, ["outcome", "n", "queue"])
    assert json.loads(out)["rows"] == [["fail", 1, "=cmd()"], ["pass", 52, None]] and not json.loads(out)["more"]
    code, out, err = command(lake, query, "--rows", "1", "--engine", engine)
    assert code == 0 and "only the first 1 row shown" in err
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines == ["outcome  n  queue", "-------  -  ------", "fail     1  =cmd()"]
    assert command(lake, query, "--out", str(tmp_path / "all.csv"), "--engine", engine)[0] == 0
    names, first, _ = csv.reader((tmp_path / "all.csv").open(newline=""))
    assert names == ["outcome", "n", "queue"] and first == ["fail", "1", "'=cmd()"]
    wide = "select readings, first_time, date, sum(count) as n from verdicts where outcome = 'fail' group by 1, 2, 3"
    if engine == "spark":  # which groups by no map
        wide = "select readings, first_time, date, count as n from verdicts where outcome = 'fail'"
    code, out, err = command(lake, wide, "--out", str(tmp_path / "all.parquet"), "--json", "--engine", engine)
    assert (code, json.loads(out)["rows"]) == (0, 1), err
    from pyarrow import parquet

    (row,) = parquet.read_table(tmp_path / "all.parquet").to_pylist()
    assert (row["readings"], row["date"], row["n"]) == ([("R-1", "a")], day(0), 1)
    types = parquet.read_schema(tmp_path / "all.parquet").types
    assert types[1:] == [pa.timestamp("us", "UTC"), pa.date32(), pa.int64()]
    for wrong in ("x", "drop view verdicts", "select 1 as a, 2 as a from elsewhere"):
        code, out, err = command(lake, wrong, "--engine", engine)
        assert (code, out, err.replace("mqconform: pipeline sql: starting Spark\n", "").count("\n")) == (2, "", 1), err


def test_what_the_command_cannot_do_is_one_sentence(lake, tmp_path):
    big = "select sum(n) as n from (select 9223372036854775807 as n union all select 1)"
    for bad in (
        [big, "--out", str(tmp_path / "big.parquet")],
        ["select 1", "--engine", "sqlite"],
        ["select 1", "--engine", "duckdb", "--master", "local[2]"],
        ["select 1", "--timeout", "0"],
        ["select 1", "--out", str(tmp_path / "all.txt")],
        ["select 1", "--out", str(tmp_path / "no" / "all.parquet")],
    ):
        code, out, err = command(lake, *bad)
        assert (code, out) == (2, "") and err, bad
    assert not (tmp_path / "big.parquet").exists()


THEIRS = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": "true"}


def of_a_user(spark, lake) -> None:
    """Settings and a view of the name of a table, as a user has them, are as before after queries of all kinds."""
    before = {name: spark.conf.get(name, None) for name in THEIRS}
    for name, value in THEIRS.items():
        spark.conf.set(name, value)
    spark.sql("select 'theirs' as whose").createOrReplaceTempView("verdicts")
    try:
        found = sparks.asked(spark, lake, "select first_time from verdicts where outcome = 'fail'", 600)
        assert [answers.plain(row) for row in answers.rows(found.to_reader())] == [["2026-03-01T12:00:00Z"]]
        found = sparks.asked(spark, lake, "select cast(timestamp'2026-03-01 16:00:00Z' as date)", 600)
        assert list(answers.rows(found.to_reader())) == [(day(0),)]
        for query in ("describe verdicts", "explain select count(*) from verdicts"):
            assert sparks.asked(spark, lake, query, 600).schema.names
        for query in ("drop view verdicts", "create table x (a int)", "select 1; select 2", "select 1) union (select"):
            with pytest.raises(PipelineError, match="cannot be answered"):
                sparks.asked(spark, lake, query, 600)
        with pytest.raises(PipelineError, match=r"took more than 3 s"):
            sparks.asked(spark, lake, "select count(*) from range(10000000) a cross join range(10000000) b "
                                           "where a.id * b.id % 7 = 8", 3)  # fmt: skip
        assert {name: spark.conf.get(name) for name in THEIRS} == THEIRS
        assert spark.table("verdicts").columns == ["whose"] and type(spark).getActiveSession() is spark
        assert spark.range(3).count() == 3
    finally:
        spark.catalog.dropTempView("verdicts")
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def test_a_query_neither_sees_nor_changes_the_session_of_a_user(spark, lake):
    of_a_user(spark, lake)
    until = time.monotonic() + 60  # What was over its time is cancelled.
    while spark.sparkContext.statusTracker().getActiveJobsIds() and time.monotonic() < until:
        time.sleep(0.1)
    assert not spark.sparkContext.statusTracker().getActiveJobsIds()


def test_nor_at_a_server_of_spark_connect(connect, lake):
    """In a process of its own: where a session runs, that one is used."""
    program = (
        "from test_pipeline_sql import Lake, of_a_user\nfrom conformance.pipeline.spark import session\n"
        f"with session({connect!r}) as found:\n    of_a_user(found, Lake.open({lake.place!r}))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), str(ROOT / "tests"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


WITHOUT = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Without())
import importlib.util
found = importlib.util.find_spec
def spec(name, package=None):
    try:
        return found(name, package)
    except ModuleNotFoundError:
        return None
importlib.util.find_spec = spec
from conformance.cli import main
sys.argv = ["mqconform", *sys.argv[1:]]
sys.exit(main())
"""
SPARK = ("pyspark", "py4j", "pandas", "numpy", "numba", "llvmlite")


@pytest.mark.parametrize(
    "names, more, extra",
    [
        (("duckdb", *SPARK), [], "lake"),
        (("duckdb",), [], "lake"),  # pyspark is there, but no Java
        (("duckdb", *SPARK), ["--engine", "duckdb"], "lake"),
        (("pyarrow", *SPARK), [], "lake"),
        (SPARK, ["--engine", "spark"], "spark"),
    ],
)
def test_what_is_missing_is_one_sentence(lake, names, more, extra):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "JAVA_HOME"} | {"PATH": "/nowhere"}
    line = [sys.executable, "-c", WITHOUT.format(names=names), "pipeline", "sql", str(lake.root), "select 1", *more]
    done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    assert f"pip install 'mqconform[{extra}]'" in done.stderr


def test_a_query_does_not_wait_for_java(lake):
    line = [sys.executable, "-X", "importtime", *COMMAND[1:], str(lake.root), "select 1 as a"]
    done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=True)
    assert done.stdout.split() == ["a", "-", "1"] and "pyspark" not in done.stderr
