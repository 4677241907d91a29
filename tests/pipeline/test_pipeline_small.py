"""A small lake without Java: DuckDB answers what Spark answers, refuses what Spark refuses, and is bounded."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from lake_helpers import CAPTURES, contents, put
from made_lake import capture, day, fill, session, verdict
from sql_attacks import ATTACKS
from sql_small import ANSWERED, SAME, TELLS_NOTHING, queries_of_docs
from sql_small import ATTACKS as MORE_ATTACKS
from typer.testing import CliRunner

from conformance.cli.pipeline_analysis import app
from conformance.pipeline import query_engine, small, small_queries, spark, views
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.gather import gather
from conformance.pipeline.lake import Lake
from conformance.report.corpus_page import summary
from conformance.runlog import Header, RunWriter
from conformance.spec.renaming import aliases
from conformance.verdict import ExitCode, Outcome, Verdict

ROOT = Path(__file__).parents[2]
LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
CURSOR = "MQDMPR-3.2.7.3.illegal-cursor-action"


def made(place: Path) -> Lake:
    lake = Lake.open(place, create=True)
    fill(lake, [capture(day(0), skipped={"other port": 4}), session(day(0), "192.0.2.1")])
    passed = [verdict(LAYOUT, "pass", None, day(number), count=count) for number, count in ((0, 41), (1, 1), (40, 3))]
    fill(lake, [verdict(LAYOUT, "fail", "192.0.2.1", day(0), queue="=cmd()", readings={"R-1": "a"}), *passed])
    packet = {"capture_id": "c", "stream_id": "c", "number": 1, "deviating": [LAYOUT, CURSOR], "worst": "fail"}
    fill(lake, [("packets", day(0), packet)])
    for number, (version, outcome) in enumerate((("2.0", "pass"), ("2.1", "fail"))):
        run = {"run_id": f"r{number}", "implementation": "acme-mq", "implementation_version": version, "complete": True}
        result = {"run_id": f"r{number}", "implementation": "acme-mq", "requirement": CURSOR, "count": 2}
        fill(lake, [("runs", day(number), run), ("results", day(number), {**result, "outcome": outcome})])
    manager = "6f1b2c0e-9d4f-4b1c-8e7a-2f60a7d4c001"
    followed = {"R-MQDMPR-seek-from-head": "head"}
    fill(lake, [verdict(CURSOR, "pass", manager, day(41), count=7, readings=followed)])
    return lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return made(tmp_path_factory.mktemp("small") / "lake")


@pytest.fixture(scope="module")
def asked(lake):
    with small.opened(lake) as found:
        yield found


def answer(asked, query: str) -> tuple[list[str], list]:
    found = asked.ask(query)
    return list(found.names), [views.plain(row) for row in found.rows()]


def test_every_query_of_the_page_and_of_the_list_has_one_answer(spark, lake):
    """The same names, values and order from Spark and from DuckDB, from a folder, from Delta and from Iceberg."""
    queries = [*SAME, *queries_of_docs()]
    assert len(queries) > len(SAME) + 4
    views.open_views(spark, lake)
    expected = [(list(one.columns), [views.plain(row) for row in views.rows(one)]) for one in
                (views.ask(spark, query) for query in queries)]  # fmt: skip
    empty = [query for query, (_, rows) in zip(queries, expected, strict=True) if not rows]
    assert empty == ["select * from rejected"]
    for where in (lake,):
        with small.opened(where) as asked:
            for query, (names, rows) in zip(queries, expected, strict=True):
                assert answer(asked, query) == (names, rows), query


def test_every_table_is_there_with_its_columns(asked):
    from conformance.pipeline.schemas import TABLES

    if True:
        for table in TABLES.values():
            for one in (asked,):
                assert tuple(one.ask(f"select * from {table.name}").names) == table.names
    assert answer(asked, "select first_time from verdicts where outcome = 'fail'")[1] == [["2026-03-01T12:00:00Z"]]


def test_times_are_utc_whatever_the_zone_of_the_process(lake):
    query = "select first_time, [first_time] as all_of_them from verdicts where outcome = 'fail'"
    command = [sys.executable, "-m", "conformance", "pipeline", "sql", str(lake.root), query, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TZ": "America/New_York"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=True)
    assert json.loads(done.stdout)["rows"] == [["2026-03-01T12:00:00Z", ["2026-03-01T12:00:00Z"]]]


def test_a_former_id_is_todays(tmp_path):
    old, new = next(iter(aliases().items()))
    lake = Lake.open(tmp_path / "lake", create=True)
    fill(
        lake,
        [verdict(old, "fail", "a", day(0)), verdict(new, "fail", "a", day(0)), verdict(LAYOUT, "pass", "a", day(0))],
    )
    with small.opened(lake) as asked:
        query = "select requirement, sum(count) as n from verdicts group by 1 order by 2 desc"
        assert answer(asked, query)[1] == [[new, 2], [LAYOUT, 1]]
        assert answer(asked, f"select count(*) as n from verdicts where requirement = '{new}'")[1] == [[2]]


def test_nothing_but_a_query_over_the_tables_is_answered(asked, lake, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden words\n")
    before = contents(lake.root)
    assert {answer(asked, query)[1][0][0] for query in TELLS_NOTHING} == {"duckdb"}
    for attack in (one for one in (*ATTACKS, *MORE_ATTACKS) if one not in TELLS_NOTHING):
        query = attack.format(file=secret, folder=tmp_path / "out")
        with pytest.raises(PipelineError) as problem:
            list(asked.ask(query).rows())
        assert problem.value.code == ExitCode.BAD_INPUT and "\n" not in problem.value.sentence, query
        assert len(problem.value.sentence) < 600 and "hidden" not in problem.value.sentence, query
    assert not (tmp_path / "out").exists() and contents(lake.root) == before
    assert answer(asked, "select count(*) as n from verdicts")[1] == [[5]]


def test_duckdb_itself_is_shut(asked, tmp_path, monkeypatch):
    """Should the check miss a function, it still opens no file and changes no setting."""
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n1\n")
    monkeypatch.setattr(small, "check", lambda *_: None)
    for query in (f"select * from read_csv('{secret}')", f"from '{secret}'", "from ATTACKS", "load httpfs",
                  f"copy (select 1) to '{tmp_path / 'out'}'", f"attach '{tmp_path / 'x.db'}' as x",
                  "set enable_external_access = true", "set memory_limit = '1TB'", "reset threads"):  # fmt: skip
        with pytest.raises(PipelineError):
            list(asked.ask(query).rows())
    assert not (tmp_path / "out").exists() and not (tmp_path / "x.db").exists()


def test_queries_of_every_kind_are_answered(asked):
    for query in ANSWERED:
        assert asked.ask(query.format()).names, query


def test_all_functions_that_are_let_through_are_only_functions():
    """None of them is a function that returns a table from a file, or a setting."""
    query = "select function_name, list(distinct function_type) from duckdb_functions() group by 1"
    kinds = dict(duckdb.sql(query).fetchall())
    for name in small_queries._FUNCTIONS:
        assert set(kinds.get(name, ())) <= {"scalar", "aggregate", "macro", "window", "table", "table_macro", "pragma"}
    assert not any(
        name.startswith(("read_", "duckdb_", "pragma_", "pg_", "current_s")) for name in small_queries._FUNCTIONS
    )


def test_a_query_has_bounds(lake, monkeypatch):
    with small.opened(lake, timeout_s=0.2) as asked, pytest.raises(PipelineError, match=r"took more than 0\.2 s"):
        list(asked.ask("select count(*) from range(100000000000)").rows())
    with small.opened(lake) as asked:
        for text, words in (
            ("select 1" + " + 1" * 400_000, "at most 1,048,576 are read"),
            (" ; ", "query is empty"),
            ("select 1; select 2", "has 2 statements"),
            (f"select {'[' * 5_000}1{']' * 5_000}", "cannot be answered|parts"),
        ):
            with pytest.raises(PipelineError, match=words):
                asked.ask(text)
        monkeypatch.setattr(small_queries, "MAX_NODES", 50)
        with pytest.raises(PipelineError, match="more than 50 parts"):
            asked.ask(f"select 1 in ({', '.join('1' * 300)})")


def test_the_engine_is_chosen_by_what_is_there_and_by_the_size(lake, monkeypatch):
    java = {"there": True}
    monkeypatch.setattr(spark, "runs", lambda: java["there"])
    assert query_engine.chosen("auto", lake) == "duckdb"
    assert query_engine.chosen("auto", lake, "local[2]") == "spark" and query_engine.chosen("spark", lake) == "spark"
    monkeypatch.setattr(small, "SMALL", small.size(lake))
    assert query_engine.chosen("auto", lake) == "duckdb"
    monkeypatch.setattr(small, "SMALL", small.size(lake) - 1)
    assert query_engine.chosen("auto", lake) == "spark" and query_engine.chosen("duckdb", lake) == "duckdb"
    java["there"] = False
    assert query_engine.chosen("auto", lake) == "duckdb"
    assert small.size(lake) == sum(path.stat().st_size for path in lake.located().values())


def test_the_report_counts_what_a_query_counts(asked, lake):
    told = summary(gather(lake))
    query = "select outcome, sum(n) as n from (select outcome, sum(count) as n from verdicts group by 1 union all " \
            "select outcome, sum(count) from results group by 1) group by 1"  # fmt: skip
    assert dict(map(tuple, answer(asked, query)[1])) == told["verdicts"]
    query = "select implementation, implementation_version, count(*) as n from runs group by 1, 2 order by 2"
    found = [[one["implementation"], one["version"], one["runs"]] for one in told["versions"]]
    assert answer(asked, query)[1] == found


def test_the_command_prints_and_writes(lake, tmp_path):
    def command(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, ["sql", str(lake.root), *arguments])
        return done.exit_code, done.stdout, done.stderr

    query = "select outcome, sum(count) as n, any_value(queue) as queue from verdicts group by 1 order by 1"
    code, out, _ = command(query, "--json")
    assert (code, json.loads(out)) == (
        0, {"columns": ["outcome", "n", "queue"], "rows": [["fail", 1, "=cmd()"], ["pass", 52, None]], "more": False}
    )  # fmt: skip
    code, out, err = command(query, "--rows", "1", "--engine", "duckdb")
    assert code == 0 and "only the first 1 rows" in err
    assert [line.rstrip() for line in out.splitlines()] == [
        "outcome  n  queue",
        "-------  -  ------",
        "fail     1  =cmd()",
    ]
    assert command(query, "--out", str(tmp_path / "all.csv"))[0] == 0
    names, first, _ = csv.reader((tmp_path / "all.csv").open(newline=""))
    assert names == ["outcome", "n", "queue"] and first == ["fail", "1", "'=cmd()"]
    wide = "select readings, first_time, date, sum(count) as n from verdicts where outcome = 'fail' group by all"
    code, out, err = command(wide, "--out", str(tmp_path / "all.parquet"), "--json")
    assert (code, json.loads(out)["rows"]) == (0, 1), err
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(tmp_path / "all.parquet")
    assert table.schema.types == [pa.map_(pa.string(), pa.string()), pa.timestamp("us", "UTC"), pa.date32(), pa.int64()]
    code, out, err = command("select sum(n) as n from (select 9223372036854775807 as n union all select 1)",
                             "--out", str(tmp_path / "big.parquet"))  # fmt: skip
    assert code == 2 and err.count("\n") == 1 and not (tmp_path / "big.parquet").exists()
    for bad in (
        ["x"],
        ["select 1", "--engine", "sqlite"],
        ["select 1", "--engine", "duckdb", "--master", "local[2]"],
        ["select 1", "--timeout", "0"],
        ["select 1", "--out", str(tmp_path / "no" / "all.parquet")],
    ):
        code, out, err = command(*bad)
        assert (code, out) == (2, "") and err, bad


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


def without(names: tuple[str, ...], *arguments: str, java: bool = False) -> subprocess.CompletedProcess[str]:
    """The command where these packages are not installed, and where there is no Java."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if not java:
        environment = {name: value for name, value in environment.items() if name != "JAVA_HOME"} | {"PATH": "/nowhere"}
    command = [sys.executable, "-c", WITHOUT.format(names=names), "pipeline", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def records(folder: Path, count: int) -> None:
    """Records of runs, each of one verdict."""
    for number in range(count):
        with RunWriter(folder / str(number)) as writer:
            writer.header(Header(run_id=f"r{number}", connector="embedded", profile="msmq-4.0",
                                 started=f"2026-03-{1 + number % 28:02}T10:00:00Z"))  # fmt: skip
            writer.hello({"name": "acme-mq", "version": f"1.{number % 28}"})
            writer.verdict(
                Verdict(CURSOR, Outcome.PASS if number % 28 < 20 else Outcome.FAIL, "x"), suite="s", test="t"
            )
            writer.footer("completed")


def test_what_is_missing_is_one_sentence(lake):
    for names, arguments in (
        (("duckdb", *SPARK), ["select 1"]),
        (("duckdb",), ["select 1"]),  # pyspark is there, but no Java
        (("duckdb", *SPARK), ["select 1", "--engine", "duckdb"]),
        (("pyarrow", *SPARK), ["select 1"]),
    ):
        done = without(names, "sql", str(lake.root), *arguments)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
        assert "pip install 'mqconform[lake]'" in done.stderr
    done = without(SPARK, "sql", str(lake.root), "select 1", "--engine", "spark")
    assert done.returncode == 2 and "pip install 'mqconform[spark]'" in done.stderr and done.stderr.count("\n") == 1


def test_others_read_a_lake_on_delta(tmp_path):
    """delta-rs alone, and DuckDB over it: the counts are those of `pipeline sql` and of the folder."""
    from deltalake import DeltaTable

    files = [CAPTURES / f"{name}.pcapng" for name in ("resending-session", "bad-signature", "lost-segment")]
    lake = Lake.open(tmp_path / "delta", create=True)
    put(lake.root, files)
    put(lake.root, [CAPTURES / "vlan.pcap"])
    put(tmp_path / "folder", [*files, CAPTURES / "vlan.pcap"])
    query = "select requirement, outcome, sum(count)::bigint as n from verdicts group by 1, 2 order by 1, 2"
    with small.opened(Lake.open(lake.root)) as asked, small.opened(Lake.open(tmp_path / "folder")) as other:
        expected = answer(asked, query)[1]
        assert answer(other, query)[1] == expected and len(expected) > 20
    page = (ROOT / "docs" / "pipeline.md").read_text("utf-8")
    (lines,) = (one for one in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "to_pyarrow_dataset" in one)
    names: dict = {}
    exec(lines.replace("/data/lake", str(lake.root)), names)
    connection = names["lake"]
    theirs = query.replace("from verdicts", "from verdicts semi join live using (batch)")
    assert [list(row) for row in connection.sql(theirs).fetchall()] == expected
    counted = DeltaTable(str(lake.root / "verdicts")).to_pyarrow_dataset().to_table(columns=["count"])
    assert sum(counted["count"].to_pylist()) == sum(n for *_, n in expected)


def test_a_query_does_not_wait_for_java(lake):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "conformance", "pipeline", "sql", str(lake.root), "select 1 as a"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["a", "-", "1"] and "pyspark" not in done.stderr
