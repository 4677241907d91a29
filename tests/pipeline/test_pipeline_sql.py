"""Questions in SQL: answered over the lake as its log has it, in bounded memory, and only questions."""

from __future__ import annotations

import csv
import io
import json
from itertools import chain
from pathlib import Path

import pytest
import spark_parser
from lake_helpers import contents
from made_lake import capture, day, fill, session, verdict
from nightly import amount
from sql_attacks import ANSWERED, ATTACKS
from sql_mutants import mutants
from typer.testing import CliRunner

from conformance.cli.pipeline_analysis import app
from conformance.pipeline import queries, views
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.gather import gather
from conformance.pipeline.lake import Lake
from conformance.pipeline.query_functions import FUNCTIONS
from conformance.pipeline.query_session import apart
from conformance.pipeline.records import ingest_runs
from conformance.pipeline.schemas import TABLES
from conformance.runlog import Header, RunWriter
from conformance.verdict import ExitCode, Outcome, Verdict

LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
MUTANTS_SEED = 25


@pytest.fixture
def opened(spark, lake):
    """A session for queries with the views of the lake."""
    with apart(spark) as own:
        views.open_views(own, lake)
        yield own


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    lake = Lake.open(tmp_path_factory.mktemp("sql") / "lake", create=True)
    fill(lake, [capture(day(0), skipped={"other port": 4}), session(day(0), "192.0.2.1")])
    passed = [verdict(LAYOUT, "pass", None, day(number), count=count) for number, count in ((0, 41), (1, 1))]
    fill(lake, [verdict(LAYOUT, "fail", "192.0.2.1", day(0), queue="=cmd()", readings={"R-1": "a"}), *passed])
    # A file nobody's log names is no part of the lake.
    (lake.root / "verdicts" / "date=2026-03-01" / "stray.parquet").write_bytes(b"half a file")
    return lake


def test_every_table_is_a_view_with_its_columns(opened):
    for table in TABLES.values():
        frame = views.ask(opened, f"select * from {table.name}")
        assert tuple(frame.columns) == table.names
    found = views.rows(views.ask(opened, "select date, outcome, sum(count) from verdicts group by 1, 2 order by 1, 2;"))
    assert list(found) == [(day(0), "fail", 1), (day(0), "pass", 41), (day(1), "pass", 1)]
    (skipped,) = views.rows(views.ask(opened, "select skipped['other port'], first_time from captures"))
    assert skipped == (4, None)
    assert list(views.rows(views.ask(opened, "-- note\nselect count(*) from rejected -- end"))) == [(0,)]
    assert "requirement" in {row[0] for row in views.rows(views.ask(opened, "describe verdicts"))}


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


REFUSED = {
    "select nothing from verdicts": "unresolved column",
    "select * from elsewhere": "No table of a lake is called elsewhere; there are captures",
    "select nothing_of_spark(1)": "The function nothing_of_spark is not known",
    "drop view verdicts": "Only one query over the tables of the lake is answered .* this begins with drop",
    "select * frm": "cannot be answered",
    " ; ": "query is empty",
    "select 1" + " + 1" * 400_000: "at most 1,048,576 are read",
}


def test_the_report_counts_what_a_query_counts(opened, lake):
    corpus = gather(lake)
    found = views.rows(views.ask(opened, "select outcome, sum(count) from verdicts group by 1"))
    assert dict(found) == dict(corpus.verdicts)
    query = "select requirement, min(date), max(date) from verdicts where outcome <> 'pass' group by 1"
    told = {(one.requirement, one.first, one.last) for one in corpus.demands if one.first is not None}
    assert set(views.rows(views.ask(opened, query))) == told


def test_what_is_no_question_is_one_sentence(opened, capfd):
    for query, words in REFUSED.items():
        with pytest.raises(PipelineError, match=words) as problem:
            views.ask(opened, query)
        assert "\n" not in problem.value.sentence and len(problem.value.sentence) < 600, query
    assert list(views.rows(views.ask(opened, "select count(*) from verdicts"))) == [(3,)]
    assert "Exception" not in capfd.readouterr().err


def test_nothing_but_a_query_over_the_tables_is_answered(opened, lake, tmp_path, capfd):
    secret = tmp_path / "secret"
    secret.write_text("hidden words\n")
    before = contents(lake.root)
    for attack in ATTACKS:
        query = attack.format(file=secret, folder=tmp_path / "out")
        with pytest.raises(PipelineError) as problem:
            views.ask(opened, query)
        assert problem.value.code == ExitCode.BAD_INPUT and "\n" not in problem.value.sentence, query
        assert len(problem.value.sentence) < 600 and "hidden" not in problem.value.sentence, query
    assert not (tmp_path / "out").exists() and contents(lake.root) == before
    assert list(views.rows(views.ask(opened, "select count(*) from verdicts"))) == [(3,)]
    assert "Exception" not in capfd.readouterr().err


def test_a_query_of_many_parts_is_not_walked_forever(opened, monkeypatch):
    monkeypatch.setattr(queries, "MAX_NODES", 50)
    with pytest.raises(PipelineError, match="has more than 50 parts"):
        views.ask(opened, f"select 1 in ({', '.join('1' * 60)})")


def test_queries_of_every_kind_are_answered(opened):
    for query in ANSWERED:
        queries.check(query.format())
    for query in ("describe verdicts", "explain select count(*) from verdicts", "from verdicts |> limit 1"):
        assert views.ask(opened, query).columns


def test_the_check_lets_nothing_through_that_sparks_parser_takes_for_more(opened):
    """Spark's parser reads what the check has read, near to attacks and queries, and finds no more in it."""
    from pyspark.errors import PySparkException

    queries_of_the_house = [text.format() for text in ANSWERED]
    found = 0
    for text in chain(queries_of_the_house, mutants(MUTANTS_SEED, amount("sql.mutants"))):
        try:
            queries.check(text)
        except PipelineError:
            continue
        try:
            spark_parser.walked(opened, text)
        except PySparkException:  # no SQL
            continue
        except spark_parser.Refused as wrong:
            pytest.fail(f"{text!r} has {wrong}")
        found += 1
    assert found > len(queries_of_the_house) + 5


def test_the_functions_of_queries_are_those_of_spark_that_compute(opened):
    """Each function that Spark has in the groups for it is known by its name."""
    there = {name for name in spark_parser.functions(opened) if name[0].isalpha()}
    assert there <= FUNCTIONS
    for name in ("reflect", "java_method", "from_xml", "from_avro", "from_protobuf", "input_file_name", "current_user"):
        assert name not in FUNCTIONS


def test_the_text_of_a_query_is_as_it_stands(opened, monkeypatch):
    """Neither environment nor settings become part of it."""
    monkeypatch.setenv("SECRET", "hidden words")
    texts = ("${env:HOME}", "${env:SECRET}", "${system:user.home}", "${spark.app.id}", "${spark:spark.app.id}")
    for text in texts:
        assert list(views.rows(views.ask(opened, f"select '{text}'"))) == [(text,)]


def test_a_text_is_no_name_whatever_the_session_says(opened):
    """A setting makes `"..."` a name, and `current_user` would then tell who asks."""
    opened.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    assert list(views.rows(views.ask(opened, 'select "current_user"'))) == [("current_user",)]


def test_the_command_prints_writes_and_says_what_it_left_out(opened, lake, tmp_path):
    def command(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, ["sql", str(lake.root), "--engine", "spark", *arguments])
        return done.exit_code, done.stdout, done.stderr

    query = "select outcome, count, queue from verdicts order by count"
    code, out, err = command(query, "--json", "--rows", "2")
    found = json.loads(out)
    assert (code, found["columns"], found["more"], len(found["rows"])) == (0, ["outcome", "count", "queue"], True, 2)
    code, out, err = command(query, "--rows", "2")
    assert code == 0 and out.splitlines()[0].split() == ["outcome", "count", "queue"] and "first 2 rows" in err
    code, out, err = command(query, "--out", str(tmp_path / "all.csv"))
    assert code == 0 and out.startswith("3 rows") and len((tmp_path / "all.csv").read_text().splitlines()) == 4
    for bad in ([query, "--out", str(tmp_path / "all.txt")], [query, "--out", str(tmp_path / "no" / "all.csv")], ["x"]):
        code, out, err = command(*bad)
        err = err.removeprefix("mqconform: pipeline sql: starting Spark\n")  # how far it came
        assert (code, out) == (2, "") and err.count("\n") == 1 and err.startswith("mqconform: ")


def test_an_answer_that_fails_on_the_way_is_one_sentence(opened):
    with pytest.raises(PipelineError, match="divide by zero"):
        list(views.rows(views.ask(opened, "select 1 / (count - count) from verdicts")))


def test_answers_are_written_with_their_types(opened, tmp_path):
    import pyarrow.parquet as pq

    query = "select queue, readings, first_time, date, struct(count) as s, array(1, 2) as a from verdicts"
    frame = views.ask(opened, f"{query} where outcome = 'fail'")
    assert views.write_parquet(frame, tmp_path / "out.parquet") == 1
    (row,) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert (row["readings"], row["date"], row["a"], row["s"]) == ([("R-1", "a")], day(0), [1, 2], {"count": 1})
    stream = io.StringIO()
    assert views.write_csv(frame.columns, views.rows(frame), stream) == 1
    names, values = csv.reader(io.StringIO(stream.getvalue()))
    cells = dict(zip(names, values, strict=True))
    assert cells["queue"] == "'=cmd()" and json.loads(cells["readings"]) == {"R-1": "a"}
    assert cells["date"] == "2026-03-01" and cells["a"] == "[1, 2]" and cells["first_time"].startswith("2026-03-01T12")


def test_runs_read_by_spark_are_those_read_here(spark, tmp_path):
    from conformance.pipeline.engine import Spark

    for number in range(5):
        with RunWriter(tmp_path / "runs" / str(number)) as writer:
            writer.header(Header(run_id=f"r{number}", connector="embedded", profile="msmq-4.0"))
            writer.verdict(Verdict(LAYOUT, Outcome.PASS, "x"), suite="s", test="t", count=number + 1)
            writer.footer("completed")
    lake = Lake.open(tmp_path / "lake", create=True)
    done = ingest_runs([Path(tmp_path / "runs")], lake, Spark(spark))
    assert (done.runs, done.verdicts) == (5, 15)
    views.open_views(spark, lake)
    query = "select count(distinct r.run_id), sum(count) from results join runs r using (run_id)"
    assert list(views.rows(views.ask(spark, query))) == [(5, 15)]
