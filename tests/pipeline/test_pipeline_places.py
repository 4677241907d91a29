"""One corpus in a folder, on Delta, on Iceberg, and on Delta in S3: the same rows and reports; those of `replay`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("deltalake")

from judged_corpus import FIXTURES, Judged, damage, judged, write
from lake_helpers import replayed
from made_captures import MIDNIGHT
from shared import shared
from sql_small import SAME, queries_of_docs
from typer.testing import CliRunner

from conformance.cli.pipeline import app
from conformance.pipeline import small, views
from conformance.pipeline.corpus import Corpus
from conformance.pipeline.gather import gather
from conformance.pipeline.lacking import incomplete_of
from conformance.pipeline.page import render_corpus, summary
from conformance.pipeline.schemas import TABLES
from conformance.verdict import ExitCode

PLACES = ("delta", "s3")
OTHERS = pytest.mark.parametrize("place", PLACES[1:])
EACH = pytest.mark.parametrize("place", PLACES)
NEVER = {"batch", "ingested_at"}
"""What tells when a row was made."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the captures and runs."""
    return shared(tmp_path_factory, "corpus", write)


class _Lakes(dict[str, Judged]):
    """The corpus in each place, judged when it is asked for: a worker may have some of the tests alone."""

    def __init__(self, captures: Path, places: dict[str, str]) -> None:
        super().__init__()
        self.captures, self.places = captures, places

    def __missing__(self, place: str) -> Judged:
        self[place] = judged(self.captures, self.places[place])
        return self[place]


@pytest.fixture(scope="module")
def lakes(
    captures: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Judged]:
    """The corpus in each place."""
    top = tmp_path_factory.mktemp("lakes")
    places = {place: f"{top}/{place}" for place in PLACES}
    if "s3" in places:
        places["s3"] = f"{request.getfixturevalue('s3')}/{top.name}"
    return _Lakes(captures, places)


def canonical(lake: Judged, table: str) -> Counter[str]:
    return Counter(repr(sorted((name, row[name]) for name in row.keys() - NEVER)) for row in lake.rows[table])


@OTHERS
def test_every_table_has_the_rows_of_the_folder(lakes: dict[str, Judged], place: str) -> None:
    for table in TABLES:
        found, wanted = canonical(lakes[place], table), canonical(lakes["delta"], table)
        assert found == wanted, table
        assert wanted, table


@OTHERS
def test_every_ingest_came_to_the_same(lakes: dict[str, Judged], place: str) -> None:
    found, wanted = lakes[place], lakes["delta"]
    assert found.done == wanted.done
    assert (wanted.done[-1].captures, len(wanted.done[-1].rejected)) == (0, 0) and wanted.done[-1].known > len(FIXTURES)
    assert found.lake.snapshot().version == wanted.lake.snapshot().version == len(wanted.done) - 1


@EACH
def test_every_capture_has_the_verdicts_of_replay(lakes: dict[str, Judged], captures: Path, place: str) -> None:
    lake = lakes[place]
    alone = ("alone.pcap", "asking.pcap", "set_")  # packets alone; judged in part; parts of one stream
    whole = [path for path in lake.said if not Path(path).name.startswith(alone)]
    assert len(whole) > 100 and {str(path) for path in FIXTURES} <= set(whole)
    assert [path for path in whole if lake.said[path] != _replayed(path)] == []
    others, passes = lake.said[str(captures / "alone.pcap")]
    expected = _replayed(str(captures / "alone.pcap"))
    assert others and passes and others <= expected[0] and passes <= expected[1]


_KNOWN: dict[str, tuple[Counter, Counter]] = {}


def _replayed(path: str) -> tuple[Counter, Counter]:
    if path not in _KNOWN:
        _KNOWN[path] = replayed(path)
    return _KNOWN[path]


@EACH
def test_a_stream_that_goes_on_says_what_the_whole_says(lakes: dict[str, Judged], captures: Path, place: str) -> None:
    lake = lakes[place]
    parts = sorted(map(str, captures.glob("set_*.pcap")))
    found = lake.captures()
    assert [found[path]["position"] for path in parts] == list(range(1, len(parts) + 1)) and len(parts) > 2
    assert len({found[path]["stream_id"] for path in parts}) == 1
    passes: Counter = Counter()
    for path in parts:
        passes.update(lake.said[path][1])
    assert passes == _replayed(str(captures / "sessions.pcap"))[1]
    alike = [row for path, row in found.items() if path in map(str, FIXTURES)]
    assert {row["position"] for row in alike} == {1} and len({row["stream_id"] for row in alike}) == len(FIXTURES)


@EACH
def test_what_each_damage_lacks_is_said(lakes: dict[str, Judged], captures: Path, place: str) -> None:
    found = lakes[place].captures()
    there = [one for one in damage(captures) if str(one[0]) in found]  # one has the content of a fixture
    assert len(there) > 80
    for path, case, form in there:
        assert incomplete_of(found[str(path)]) == case.incomplete(form), path.name


@EACH
def test_what_cannot_be_read_or_judged_is_a_row(lakes: dict[str, Judged], captures: Path, place: str) -> None:
    reasons = {Path(row["path"]).name: row["reason"] for row in lakes[place].rows["rejected"]}
    assert set(reasons) == {"text.pcap", "empty.pcap", "nothing.pcap", "asking.pcap"}
    assert "is not a capture" in reasons["text.pcap"] and "No such file" in reasons["nothing.pcap"]
    assert "judged up to packet" in reasons["asking.pcap"]
    assert lakes[place].done[-2].code() is ExitCode.HARNESS_ERROR
    foreign = lakes[place].captures()[str(captures / "foreign.pcap")]
    assert foreign["packets"] == 0 and foreign["lost_bytes"] > 1000


@EACH
def test_days_and_values_are_those_of_the_packets(lakes: dict[str, Judged], captures: Path, place: str) -> None:
    night = lakes[place].captures()[str(captures / "night.pcap")]["capture_id"]
    mine = [row for row in lakes[place].rows["verdicts"] if row["capture_id"] == night]
    assert {(row["date"], row["first_ns"] >= MIDNIGHT) for row in mine} == {("2026-03-01", False), ("2026-03-02", True)}
    told = [row for row in lakes[place].rows["verdicts"] if row["actual"] is not None]
    assert any(row["first_ns"] % 1_000 for row in mine) and len(told) > 100
    for row in told:
        value, struct = json.loads(row["actual"]), row["actual_value"]
        assert struct["kind"] == ("object" if isinstance(value, dict) else struct["kind"])
        assert not isinstance(value, str) or struct["text"] == value
    assert {row["complete"] for row in lakes[place].rows["runs"]} == {True} and len(lakes[place].rows["runs"]) == 4


@pytest.fixture(scope="module")
def wanted(lakes: dict[str, Judged]) -> list[tuple[str, list[str], list]]:
    """The queries that are asked, with their answers over the folder."""
    loose = ("limit", "select * from rejected")  # by the order of the files, or by the clock
    queries = [one for one in (*SAME, *queries_of_docs()) if not any(word in one for word in loose)]
    with small.opened(lakes["delta"].lake) as asked:
        return [(query, *_answer(asked, query)) for query in queries]


def _answer(asked: small.Asked, query: str) -> tuple[list[str], list[str]]:
    found = asked.ask(query)
    rows = [json.dumps([views.plain(value) for value in row], sort_keys=True) for row in found.rows()]
    return list(found.names), sorted(rows)


@OTHERS
def test_every_query_has_one_answer(lakes: dict[str, Judged], wanted: list, place: str) -> None:
    assert len(wanted) > 15 and sum(bool(rows) for _, _, rows in wanted) > 12
    with small.opened(lakes[place].lake) as asked:
        # In S3 each query reads its tables anew.
        for query, names, rows in wanted[:: 4 if place == "s3" else 1]:
            assert _answer(asked, query) == (names, rows), query


@pytest.fixture(scope="module")
def corpus(lakes: dict[str, Judged]) -> Corpus:
    """The report of the folder."""
    return gather(lakes["delta"].lake)


@OTHERS
def test_the_report_and_the_trends_are_the_same(lakes: dict[str, Judged], corpus: Corpus, place: str) -> None:
    other = gather(lakes[place].lake)
    found, wanted = summary(other), summary(corpus)
    assert found.pop("lake") == lakes[place].lake.place != wanted.pop("lake")
    assert found == wanted and len(found["versions"]) == 4 and found["subjects"] and found["readings"]
    assert render_corpus(other).startswith("<!DOCTYPE html>")


@EACH
def test_the_commands_answer_from_each_place(lakes: dict[str, Judged], place: str, tmp_path: Path) -> None:
    def command(*words: str) -> str:
        done = CliRunner().invoke(app, [words[0], lakes[place].lake.place, *words[1:]])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    query = "select outcome, sum(count) as n from verdicts group by 1 order by 1"
    counted: Counter = Counter()
    for row in lakes["delta"].rows["verdicts"]:
        counted[row["outcome"]] += row["count"]
    assert json.loads(command("sql", query, "--json"))["rows"] == sorted(map(list, counted.items()))
    if place != "folder":
        batches = json.loads(command("history", "--json"))["batches"]
        assert len(batches) == len(lakes[place].done) - 1
        first = json.loads(command("sql", "select count(*) from captures", "--as-of", "1", "--json"))
        assert first["rows"] == [[len(FIXTURES)]]
