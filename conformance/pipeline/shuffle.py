"""Bring the rows of one key together: Arrow batches in, Arrow batches out, here, in processes, or by Spark.

A first function turns each task into rows; all rows of a key go to a second one, in their order, as an iterator of
batches, so that they need not fit in memory.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from conformance.pipeline.workers import Workers

T = TypeVar("T")
First = Callable[[T], Iterable[pa.RecordBatch]]
Then = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]
_MOST_BATCH = 4
"""Rows of a batch that Spark hands over: a row may have megabytes."""


@dataclass(frozen=True, slots=True)
class _FilesOf:
    """The files with the rows of one key, in the order of the tasks."""

    paths: Sequence[str]


def grouped(
    workers: Workers, tasks: Sequence[T], first: First[T], key: str, order: str, then: Then, schema: pa.Schema,
    result: pa.Schema,
) -> list[pa.RecordBatch]:  # fmt: skip
    """Return the batches that `then` makes of the rows of each key, which have the schema `result`.

    first: yields the rows of a task, with this schema. key, order: columns, int64; `then` gets the rows of one key in
    their order. Rows of a task have to come in order, and tasks too.
    """
    by_spark = getattr(workers, "spark", None)
    if by_spark is not None:
        return _by_spark(by_spark, tasks, first, key, order, then, schema, result)
    with tempfile.TemporaryDirectory(prefix="mqconform-") as folder:
        written = workers.map(partial(_write, first, key, schema, folder), list(enumerate(tasks)))
        keys = sorted({one for found in written for one in found})
        files = [_FilesOf([found[one] for found in written if one in found]) for one in keys]
        made = workers.map(partial(_read, then), files)
    return [pa.ipc.read_record_batch(pa.py_buffer(one), result) for found in made for one in found]


def _write(first: First[T], key: str, schema: pa.Schema, folder: str, task: tuple[int, T]) -> dict[int, str]:
    """Write the rows of a task, a file a key; return the files."""
    number, asked = task
    place = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=folder))
    writers: dict[int, Any] = {}
    paths: dict[int, str] = {}
    for batch in first(asked):
        for one, rows in _by_key(batch, key):
            if one not in writers:
                paths[one] = str(place / f"{one}.arrow")
                writers[one] = pa.ipc.new_stream(paths[one], schema)
            writers[one].write_batch(rows)
    for writer in writers.values():
        writer.close()
    return paths


def _read(then: Then, files: _FilesOf) -> list[bytes]:
    found = [batch.serialize().to_pybytes() for batch in then(_batches(files.paths))]
    for path in files.paths:
        shutil.rmtree(path, ignore_errors=True)
    return found


def _batches(paths: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with pa.OSFile(path) as file, pa.ipc.open_stream(file) as reader:
            yield from reader


def _by_key(batch: pa.RecordBatch, key: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield runs of rows with one key."""
    at = 0
    for one, run in groupby(batch.column(key).to_pylist()):
        count = sum(1 for _ in run)
        yield one, batch.slice(at, count)
        at += count


def _by_spark(
    spark: Any, tasks: Sequence[T], first: First[T], key: str, order: str, then: Then, schema: pa.Schema,
    result: pa.Schema,
) -> list[pa.RecordBatch]:  # fmt: skip
    """Do it with DataFrames alone.

    A partition has the rows of some keys, sorted: unlike in `applyInArrow`, the rows of a key come in their order.
    """
    import cloudpickle  # type: ignore[import-untyped]
    from pyspark.sql.pandas.types import from_arrow_schema

    if not tasks:
        return []
    asked = [(number, cloudpickle.dumps(task)) for number, task in enumerate(tasks)]
    there = pa.Table.from_pydict({"number": [one[0] for one in asked], "task": [one[1] for one in asked]})
    name, before = "spark.sql.execution.arrow.maxRecordsPerBatch", None
    before = spark.conf.get(name)
    spark.conf.set(name, str(_MOST_BATCH))
    try:
        rows = (
            spark.createDataFrame(there.to_pandas())
            .repartitionByRange(len(asked), "number")
            .mapInArrow(partial(_rows_of, first), from_arrow_schema(schema))
        )
        counted = len(asked)
        made = (
            rows.repartition(max(1, min(counted, 4 * _cores(spark))), key)
            .sortWithinPartitions(key, order)
            .mapInArrow(partial(_keys_of, then, key), from_arrow_schema(result))
            .toArrow()
        )
    finally:
        spark.conf.set(name, before)
    return list(made.cast(result).to_batches())


def _cores(spark: Any) -> int:
    return int(spark.conf.get("spark.sql.shuffle.partitions"))


def _rows_of(first: First[Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import cloudpickle

    for batch in batches:
        for task in batch.column("task").to_pylist():
            yield from first(cloudpickle.loads(task))


def _keys_of(then: Then, key: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    runs = ((one, rows) for batch in batches for one, rows in _by_key(batch, key))
    for _, found in groupby(runs, key=lambda one: one[0]):
        yield from then(rows for _, rows in found)
