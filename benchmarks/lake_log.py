"""A lake on Delta that gets a capture a minute: what a commit, opening, a query and the nightly compaction take.

    python -m benchmarks.lake_log --batches 10080 /tmp/lake
    python -m benchmarks.lake_log --batches 1500 --lengths 10080 525600 -- /tmp/lake

Each batch is committed by the code of `pipeline watch`, with a row in `captures`, two in `sessions` and twenty in
`verdicts`; after each day of 1,440 batches the lake is compacted. `--lengths` then makes the log longer without the
captures (a year has 525,600 minutes): their entries are made from a committed one and put into `batches` at once. The
lake is opened before the log is folded, and after a compaction, which folds it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow

from conformance.pipeline import keeping
from conformance.pipeline.keeping_compact import MOST_BATCHES, write_file
from conformance.pipeline.keeping_files import replace
from conformance.pipeline.lake import Entry, Lake, Part
from conformance.pipeline.lakes.delta import DeltaLake
from conformance.pipeline.lakes.tables import BATCHES
from conformance.pipeline.schemas import DATE, TABLES

A_DAY = 1_440
_SAMPLE = 240  # Batches after which figures are printed.
FIRST = date(2026, 1, 1)
QUERY = "select requirement, sum(count) from verdicts where outcome = 'fail' group by 1 order by 2 desc"
_EMPTY: dict[str, Any] = {
    "string": "", "bool": False, "int32": 0, "int64": 0, "strings": [], "counts": [], "texts": [],
}  # fmt: skip


def main() -> None:
    """Commit the batches and print the figures, one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", type=Path, help="a folder that is not there yet")
    parser.add_argument("--batches", type=int, default=7 * A_DAY)
    parser.add_argument("--lengths", type=int, nargs="*", default=(), help="then make the log as long as this")
    given = parser.parse_args()
    lake = Lake.open(given.lake, create=True, format="delta")
    assert isinstance(lake, DeltaLake)
    for start in range(0, given.batches, _SAMPLE):
        stop = min(start + _SAMPLE, given.batches)
        with _timed("commit") as took:
            for number in range(start, stop):
                _commit(lake, number)
        each = {name: seconds / (stop - start) for name, seconds in took.items()}
        _print(batches=stop, **each, **_asked(given.lake))
        if stop % A_DAY == 0:
            _compacted(given.lake, stop)
    for length in given.lengths:
        _lengthened(lake, length)
        _print(batches=length, folded=False, **_asked(given.lake))
        _compacted(given.lake, length)


def _compacted(place: Path, batches: int) -> None:
    with _timed("compact") as took:
        keeping.compact(_opened(place))
    _print(batches=batches, compacted=True, **took, **_asked(place))


def _commit(lake: DeltaLake, number: int) -> None:
    """Commit what one capture of a minute gives."""
    batch = f"20260101T{number:06}-{hashlib.sha256(b'%d' % number).hexdigest()[:8]}"
    capture = hashlib.sha256(batch.encode()).hexdigest()
    with lake.writing(batch) as target:
        parts = []
        for name, rows in (("captures", 1), ("sessions", 2), ("verdicts", 20)):
            day = (FIRST + timedelta(days=number // A_DAY)).isoformat()
            file = f"part-{batch}-{name}.parquet"
            with target.writer(name, day, file) as writer:
                writer.write_table(target.filled(name, _rows(name, rows, batch, capture, number)))
            parts.append(Part(name, day, file, rows))
        lake.commit(Entry("ingest", batch, parts, captures=[capture]))


def _rows(name: str, count: int, batch: str, capture: str, number: int) -> pyarrow.Table:
    at = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC) + timedelta(minutes=number)
    texts = {"batch": batch, "capture_id": capture, "stream_id": capture, "outcome": "fail"}
    columns = []
    for column in TABLES[name].columns:
        if column.name == DATE:
            continue
        if column.name == "requirement":
            values: list[Any] = [f"example-{one:03}" for one in range(count)]
        elif column.type == "time":
            values = [at + timedelta(seconds=one) for one in range(count)]
        elif column.name in texts:
            values = [texts[column.name]] * count
        else:
            values = [None if column.null else _EMPTY[column.type]] * count
        columns.append(values)
    return pyarrow.table(columns, schema=TABLES[name].arrow())


def _lengthened(lake: DeltaLake, length: int) -> None:
    """Put entries into `batches` until there are so many, each like the last one that was committed."""
    table, _ = lake.settled(BATCHES)
    last = pyarrow.table(table.to_pyarrow_table()).sort_by([("number", "descending")]).slice(0, 1).to_pylist()[0]
    entry = json.loads(last["entry"])
    new = []
    for start in range(last["number"] + 1, length + 1, MOST_BATCHES):
        rows = []
        for number in range(start, min(start + MOST_BATCHES, length + 1)):
            batch = f"20260101T{number:06}-{number:08x}"
            made = {
                **entry,
                "version": number,
                "batch": batch,
                "captures": [hashlib.sha256(batch.encode()).hexdigest()],
            }
            rows.append({**last, "number": number, "batch": batch, "entry": json.dumps(made)})
        new.append(
            write_file(
                lake.store, BATCHES, "", pyarrow.Table.from_pylist(rows, schema=lake.tables.columns(BATCHES, table))
            )
        )
    replace(lake.tables, lake.store, BATCHES, table, [], new)


def _asked(place: Path) -> dict[str, Any]:
    """Return the seconds that it takes to open the lake, and to answer a query; and the files of the lake."""
    with _timed("open") as opening:
        lake = _opened(place)
    with _timed("sql") as asking:
        files = [str(path) for path in lake.files("verdicts")]
        duckdb.connect().execute(QUERY.replace("from verdicts", f"from read_parquet({files})")).fetchall()
    return {**opening, **asking, "files": len(lake.located())}


def _opened(place: Path) -> DeltaLake:
    lake = Lake.open(place)
    assert isinstance(lake, DeltaLake)
    return lake


@contextmanager
def _timed(what: str) -> Iterator[dict[str, float]]:
    """Yield the seconds that something takes, by the clock and of processors, which other programs change less."""
    took: dict[str, float] = {}
    began, used = time.perf_counter(), time.process_time()
    yield took
    took |= {f"{what}_s": time.perf_counter() - began, f"{what}_cpu_s": time.process_time() - used}


def _print(**figures: Any) -> None:
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()}), flush=True)


if __name__ == "__main__":
    main()
