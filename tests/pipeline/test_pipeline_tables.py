"""The tables of a lake in DuckDB: the rows that count, row by row, and a DuckDB that reaches nothing else."""

from __future__ import annotations

import duckdb
import pytest
from deltalake import DeltaTable
from made_lake import capture, day, fill, table_of, verdict
from pyarrow import dataset

from conformance.pipeline.lake import Entry, Lake, Open, new_batch
from conformance.pipeline.schemas import TABLES
from conformance.pipeline.store import Files
from conformance.pipeline.tables import opened
from conformance.spec.catalogue import aliases

LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"


@pytest.fixture
def lake(tmp_path) -> Lake:
    made = Lake.open(tmp_path / "lake", create=True)
    fill(made, [capture(day(0), skipped={"other port": 4}), verdict(LAYOUT, "fail", "a", day(0), readings={"R": "x"})])
    fill(made, [verdict(LAYOUT, "pass", None, day(number), count=count) for number, count in ((0, 41), (1, 1))])
    return made


def counted(lake: Lake) -> int:
    """The verdicts that count, as a connection that is opened now has them."""
    with opened(Lake.open(lake.place)) as connection:
        ((found,),) = connection.sql("select coalesce(sum(count), 0)::bigint from verdicts").fetchall()
        return int(found)


def test_every_table_is_a_view_with_its_columns(lake):
    with opened(lake) as connection:
        for table in TABLES.values():
            assert tuple(connection.sql(f"select * from {table.name}").columns) == table.names
        found = connection.sql("select date, readings, first_time::text from verdicts where outcome = 'fail'")
        assert found.fetchall() == [(day(0), {"R": "x"}, "2026-03-01 12:00:00+00")]


def test_a_row_counts_by_its_own_batch_also_in_a_file_of_several(lake):
    """A file of two batches, as compaction makes it: the rows of one that has ended do not count."""
    before, batch, files = lake.batches(), new_batch(), Files(lake.place)
    row = verdict(LAYOUT, "fail", "b", day(0), count=1_000)
    files.write("verdicts", day(0).isoformat(), batch, table_of("verdicts", batch, [row[2]]))
    opening = new_batch()
    lake.commit(Entry("ingest", opening, files.close(), open=[Open(batch, "key", {})]), before)
    assert counted(lake) == 1_043
    DeltaTable(str(lake.root / "verdicts")).optimize.compact()
    assert len(list(lake.table("verdicts").file_uris())) == 2 and counted(lake) == 1_043
    lake.commit(Entry("ingest", new_batch(), ends=[batch]), lake.batches())
    assert counted(lake) == 43


def test_rows_are_found_by_texts_in_files_that_others_wrote(lake):
    """delta-rs leaves other types of texts in a file of which it has deleted rows."""
    DeltaTable(str(lake.root / "verdicts")).delete("outcome = 'fail' and sender = 'a'")
    fill(lake, [verdict(LAYOUT, "fail", "b", day(0), actual='{"kind": "text"}')])
    with opened(Lake.open(lake.place)) as connection:
        for where, count in (
            ("outcome = 'pass'", 42), ("outcome in ('fail', 'warn')", 1), ("actual ->> '$.kind' = 'text'", 1),
            (f"requirement = '{LAYOUT}' and sender is null", 42), ("requirement > 'N'", 0), ("count > 1", 41),
        ):  # fmt: skip
            query = f"select coalesce(sum(count), 0)::bigint from verdicts where {where}"
            assert connection.sql(query).fetchall() == [(count,)], where


def test_others_find_rows_by_columns_without_statistics(lake):
    """What delta-rs gives to Arrow leaves out no row of a file whose log has statistics of a few columns."""
    found = DeltaTable(str(lake.root / "verdicts")).to_pyarrow_dataset()
    assert found.to_table(filter=dataset.field("outcome") == "pass").num_rows == 2


def test_a_former_id_is_todays(tmp_path):
    old, new = next(iter(aliases().items()))
    lake = Lake.open(tmp_path / "lake", create=True)
    fill(lake, [verdict(one, "fail", "a", day(0)) for one in (old, new, LAYOUT)])
    with opened(lake) as connection:
        query = "select requirement, sum(count) from verdicts group by 1 order by 2 desc"
        assert connection.sql(query).fetchall() == [(new, 2), (LAYOUT, 1)]


def test_duckdb_reaches_nothing_else(lake, tmp_path):
    secret, out = tmp_path / "secret.csv", tmp_path / "out"
    secret.write_text("hidden\n1\n")
    with opened(lake) as connection:
        for query in (
            f"from read_csv('{secret}')", f"from '{secret}'", "from lake", "from secret", "load httpfs",
            "install httpfs", f"copy (select 1) to '{out}'", f"attach '{out}' as x", f"export database '{out}'",
            "set enable_external_access = true", "set memory_limit = '1TB'", "reset threads", "set TimeZone = 'Japan'",
        ):  # fmt: skip
            with pytest.raises(duckdb.Error):
                connection.execute(query)
    assert not out.exists()
