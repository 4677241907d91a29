"""The examples of docs/lake.md, run one after the other on a lake, which then answers and grows as before."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from delta_helpers import SESSION, halves
from deltalake import DeltaTable
from lake_helpers import CAPTURES, put, rows
from typer.testing import CliRunner

from conformance.cli.pipeline import analysis_app
from conformance.pipeline import spark as sparks
from conformance.pipeline import untrusted_files as safe
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import BATCHES, TABLES
from conformance.pipeline.store import MAX_STATE
from conformance.pipeline.tables import opened
from conformance.pipeline.work import LONGEST_S, SLOWEST

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lake.md").read_text("utf-8")
FILES = [CAPTURES / f"{name}.pcapng" for name in ("resending-session", "bad-signature", "lost-segment")]
ASKED = "select requirement, outcome, sum(count)::bigint as n from verdicts group by 1, 2 order by 1, 2"


def examples() -> dict[str, str]:
    """The Python of each section."""
    parts = re.split(r"^## (.+)\n", PAGE, flags=re.MULTILINE)
    return {
        name: "\n".join(found)
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
        if (found := re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    }


def answers(lake: Lake) -> tuple:
    """What a query and the tables say."""
    again = Lake.open(lake.place)
    with opened(again) as connection:
        found = connection.sql(ASKED).fetchall()
    return found, [sorted(map(repr, rows(again, name))) for name in TABLES]


@pytest.fixture
def lake(tmp_path) -> Lake:
    """A lake of several batches, with an open one that has ended, and one that has not."""
    made = tmp_path / "lake"
    for file in FILES:
        put(made, [file])
    (tmp_path / "other").mkdir()
    first, second = halves(tmp_path)
    put(made, [first])
    put(made, [second])
    other = shutil.copy(halves(tmp_path / "other")[0], tmp_path / "other" / "going_1.pcap")
    data = bytearray(other.read_bytes())
    data[40] ^= 1  # another capture than the first of the set
    other.write_bytes(data)
    return put(made, [other])[0]


def test_each_example_runs_and_the_lake_is_what_it_was(lake, tmp_path, capsys):
    forgotten = str(FILES[1])
    parts = {
        name: text.replace("/data/lake", str(lake.root)).replace("/captures/secret.pcap", forgotten)
        for name, text in examples().items()
    }
    assert [*parts][-1] == "Forgetting a capture" and len(parts) == 7
    names: dict = {}
    before = answers(lake)
    (lost,) = {row["capture_id"] for row in rows(lake, "captures") if row["path"] == forgotten}
    assert any(row["ends"] for row in lake.column(BATCHES.name, ["ends"], lake.batches().live))
    for name, text in parts.items():
        exec(text, names)
        if name != "Forgetting a capture":
            assert answers(lake) == before, name
        if "opened" in names:  # Others read it alike, also where Arrow is given a condition.
            found = names["opened"]().sql(ASKED).fetchall()
            assert found == answers(lake)[0], name
            some = names["opened"]().sql(ASKED.replace("group", "where outcome in ('pass', 'fail') group")).fetchall()
            assert some == [row for row in found if row[1] in ("pass", "fail")] != [], name
    assert len(DeltaTable(str(lake.root / "verdicts")).file_uris()) == 1
    paths = {row["path"] for row in rows(Lake.open(lake.place), "captures")}
    assert forgotten not in paths and str(FILES[0]) in paths
    data = [one for one in lake.root.rglob("*.parquet") if one.parent.name != "_delta_log"]
    assert data and not [one for one in data if lost.encode() in one.read_bytes()]
    _, done = put(lake.root, [*FILES, *halves(tmp_path)])
    assert (done.captures, done.known) == (1, 4)  # the forgotten one comes again
    assert answers(lake)[0] == before[0]
    _, done = put(lake.root, [*FILES, SESSION])
    assert (done.captures, done.known) == (1, 3)
    assert "capture" in capsys.readouterr().out


def test_the_report_of_a_compacted_lake_is_the_same(lake):
    exec(examples()["What is in a lake?"].replace("/data/lake", str(lake.root)), names := {})
    before = CliRunner().invoke(analysis_app, ["report", lake.place, "--json"]).stdout
    exec(examples()["Compaction"], names)
    assert CliRunner().invoke(analysis_app, ["report", lake.place, "--json"]).stdout == before and '"fail": 1' in before


def test_both_engines_answer_alike_over_a_compacted_lake(lake, spark):
    exec(examples()["What is in a lake?"].replace("/data/lake", str(lake.root)), names := {})
    exec(examples()["Compaction"], names)
    query = ASKED.replace("::bigint", "")
    found = sparks.asked(spark, lake, query, 600).to_pylist()
    assert [tuple(row.values()) for row in found] == answers(lake)[0] and len(found) > 20


def test_what_was_not_run_is_said_to_be(lake):
    """Each block is Python that was run, SQL of Spark that was not, or the picture of the folder."""
    blocks = re.findall(r"(.*)\n\n```(\w*)\n", PAGE)
    assert [kind for _, kind in blocks if kind not in ("python", "sql", "")] == []
    for line, kind in blocks:
        assert (line == "For Spark (not run here: needs delta-spark):") == (kind == "sql"), line
    assert sum(kind == "sql" for _, kind in blocks) == 6


def test_the_page_names_the_bounds_and_the_pages_are_short():
    """Each bound as the code has it."""
    found = " ".join(PAGE.partition("## Which lakes are refused?")[2].split())
    bounds = (
        f"{safe.MAX_ENTRIES:,} entries of {safe.MAX_LOG >> 20} MiB", f"{safe.MAX_ACTIONS:,} actions",
        f"{safe.MAX_FOOTER >> 20} MiB, with {safe.MAX_LISTED:,} columns", f"{safe.ROWS[0]:,} rows, and {safe.ROWS[1]}",
        f"{safe.MAX_DECODED >> 20} MiB of rows", f"at most {safe.MEMORY >> 20} MiB", f"most {MAX_STATE >> 20} MiB",
    )  # fmt: skip
    assert [one for one in bounds if one not in found] == []
    pages = [(ROOT / "docs" / f"{name}.md").read_text() for name in ("pipeline", "lake", "corpus-report", "scale")]
    assert sum(len(one.split()) for one in pages) <= 4_500
    assert LONGEST_S == 15 * 60 and SLOWEST == 64 << 10 and "15 minutes, and a second more for\neach 64 KiB" in pages[0]
