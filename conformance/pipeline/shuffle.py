"""Bring the rows of one key together: Arrow batches in, Arrow batches out, here, in processes, or by Spark.

A first function turns each task into rows; all rows of a key go to a second one, in their order, as an iterator of
batches, so that they need not fit in memory.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.workers import Workers

T = TypeVar("T")
First = Callable[[T], Iterable[pa.RecordBatch]]
Then = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]
_MOST_BATCH = 4
"""Rows of a batch that Spark hands over: a row may have megabytes."""
_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_SLOT = "slot"
_NAME = "judge what belongs together"


def grouped(
    workers: Workers, tasks: Sequence[T], first: First[T], key: str, keys: Sequence[int], order: str, then: Then,
    schema: pa.Schema, result: pa.Schema,
) -> list[pa.RecordBatch]:  # fmt: skip
    """Return the batches that `then` makes of the rows of each key, which have the schema `result`.

    first: yields the rows of a task, with this schema. key, order: columns, int64; `then` gets the rows of one key in
    their order. keys: all that may come. Rows of a task have to come in order, and tasks too.
    """
    by_spark = getattr(workers, "spark", None)
    if by_spark is not None:
        if (stage := getattr(workers, "stage", None)) is not None:
            stage(_NAME, 0)  # It is one job, which tells nothing before its end.
        return _by_spark(by_spark, tasks, first, key, keys, order, then, schema, result)
    with tempfile.TemporaryDirectory(prefix="mqconform-") as folder, _room(folder):
        written = workers.map(Writing(first, key, schema, folder), list(enumerate(tasks)))
        found_keys = sorted({one for found in written for one in found})
        files = [[found[one] for found in written if one in found] for one in found_keys]
        made = workers.map(Reading(then), files)
    return [pa.ipc.read_record_batch(pa.py_buffer(one), result) for found in made for one in found]


@contextmanager
def _room(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        place = Path(folder).parent
        raise PipelineError(f"No space is left in {place} for temporary files: free some, or set TMPDIR.") from None


@dataclass(frozen=True, slots=True)
class Writing(Generic[T]):
    """Bring what belongs together to one place. A call writes the rows of a task, a file a key, and returns the files.

    first, key, schema: as for `grouped`. folder: where the files go.
    """

    first: First[T]
    key: str
    schema: pa.Schema
    folder: str

    def __call__(self, task: tuple[int, T]) -> dict[int, str]:
        number, asked = task
        place = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=self.folder))
        writers: dict[int, Any] = {}
        paths: dict[int, str] = {}
        for batch in self.first(asked):
            for one, rows in _by_key(batch, self.key):
                if one not in writers:
                    paths[one] = str(place / f"{one}.arrow")
                    writers[one] = pa.ipc.new_stream(paths[one], self.schema)
                writers[one].write_batch(rows)
        for writer in writers.values():
            writer.close()
        return paths


@dataclass(frozen=True, slots=True)
class Reading:
    """Judge what belongs together. A call returns what comes of the rows of one key."""

    then: Then

    def __call__(self, paths: Sequence[str]) -> list[bytes]:
        return [batch.serialize().to_pybytes() for batch in self.then(_batches(paths))]


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
    spark: Any, tasks: Sequence[T], first: First[T], key: str, keys: Sequence[int], order: str, then: Then,
    schema: pa.Schema, result: pa.Schema,
) -> list[pa.RecordBatch]:  # fmt: skip
    """Do it with DataFrames alone: `mapInArrow`, a shuffle by the key, and `mapInArrow` over sorted partitions.

    Unlike with `applyInArrow`, the rows of a key come in their order, and need not fit in memory.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    from conformance.pipeline.spark_workers import fetched

    if not tasks:
        return []
    slots = _slots(spark, keys)
    sent = pa.schema([*schema, pa.field(_SLOT, pa.int64(), False)])
    before = spark.conf.get(_PER_BATCH, None)
    spark.conf.set(_PER_BATCH, str(_MOST_BATCH))
    try:
        rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(
            partial(_rows_of, list(tasks), first, key, slots), from_arrow_schema(sent)
        )
        sorted_ = rows.repartition(len(keys), _SLOT).sortWithinPartitions(key, order)
        frame = sorted_.mapInArrow(partial(_keys_of, then, key, schema.names), from_arrow_schema(result))
        made = fetched(spark, frame, _NAME)
    finally:
        spark.conf.unset(_PER_BATCH) if before is None else spark.conf.set(_PER_BATCH, before)
    return made.cast(result).to_batches() if made.num_rows else []


def _slots(spark: Any, keys: Sequence[int]) -> dict[int, int]:
    """Return by key a number that a shuffle by its hash sends to a partition of the key's own."""
    count = len(keys)
    table = spark.range(0, 32 * count + 256).selectExpr("id", f"pmod(hash(id), {count}) AS part").toArrow()
    by_part = {part: number for number, part in zip(*(table.column(at).to_pylist() for at in range(2)), strict=True)}
    return {one: by_part.get(at, at) for at, one in enumerate(keys)}


def _rows_of(
    tasks: Sequence[Any], first: First[Any], key: str, slots: dict[int, int], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for rows in first(tasks[number]):
                found = pa.array([slots[one] for one in rows.column(key).to_pylist()], pa.int64())
                yield pa.RecordBatch.from_arrays([*rows.columns, found], names=[*rows.schema.names, _SLOT])


def _keys_of(then: Then, key: str, names: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    runs = ((one, rows.select(list(names))) for batch in batches for one, rows in _by_key(batch, key))
    for _, found in groupby(runs, key=lambda one: one[0]):
        yield from then(rows for _, rows in found)
