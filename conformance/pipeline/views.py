"""The tables of a lake as views of a Spark session, and the answers to SQL queries over them."""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import reduce
from itertools import chain
from math import isfinite
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

from conformance.aside import aside
from conformance.pipeline.errors import PipelineError, UnreachableError
from conformance.pipeline.lake import Lake
from conformance.pipeline.queries import answered
from conformance.pipeline.schemas import DATE, TABLES, Table
from conformance.report.text import label, visible
from conformance.spec.renaming import aliases
from conformance.verdict import Json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NO_CLASSES = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError", "UnsupportedFileSystem")
"""Spark's words where it has no classes for a store."""
_NAMED = re.compile(r"\[(?P<kind>[A-Z_]+)(?:\.[A-Z_]+)?\]\s*(?P<text>.*)")


def open_views(spark: SparkSession, lake: Lake) -> None:
    """Make every table of the lake, as its log has it now, a temporary view of its name. Raises PipelineError.

    Nothing is written into the lake.
    """
    places = lake.located()
    base = _reached(spark, lake)
    for table in TABLES.values():
        mine = {place: path for place, path in places.items() if place.startswith(f"{table.name}/")}
        settled = [f"{base}/{place}" for place, path in mine.items() if path == lake.root / place]
        waiting = {path: place for place, path in mine.items() if path != lake.root / place}
        frames = []
        if settled:
            found = spark.read.schema(table.ddl()).option("basePath", f"{base}/{table.name}").parquet(*settled)
            frames.append(found.select(*table.names))
        if waiting:
            frames.append(_waiting(spark, table, waiting))
        frame = reduce(lambda one, other: one.union(other), frames or [spark.createDataFrame([], table.ddl())])
        _today(frame.select(*table.names)).createOrReplaceTempView(table.name)


def _reached(spark: SparkSession, lake: Lake) -> str:
    """Return the name of the lake that Spark reads it by. Raises PipelineError if Spark has nothing to reach it."""
    if lake.store.arrow is None:
        return str(lake.root)
    name = re.sub(r"^s3n?://", "s3a://", lake.place)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        _ = spark.read.schema("line string").text(name).schema  # Spark looks at the place before it reads.
    except (PySparkException, Py4JError) as problem:
        if not any(words in str(problem) for words in _NO_CLASSES):
            raise PipelineError(_told(problem)) from None
        raise UnreachableError(
            f"Spark cannot reach {name}: it lacks the classes for that store, which come in packages of Spark's own"
            " (for S3: org.apache.hadoop:hadoop-aws); mqconform pipeline sql --engine duckdb answers without them."
        ) from None
    return name


def _today(frame: DataFrame) -> DataFrame:
    """Return the same rows, each with today's id of its requirement."""
    if "requirement" not in frame.columns or not aliases():
        return frame
    from pyspark.sql import functions as sql

    stored = sql.col("requirement")
    today = sql.create_map(*map(sql.lit, chain(*aliases().items())))
    return frame.withColumn("requirement", sql.coalesce(today[stored], stored))


def _waiting(spark: SparkSession, table: Table, waiting: Mapping[PurePath, str]) -> DataFrame:
    """Return the rows of files that no writer has moved yet, with their day, which their folder does not tell."""
    from pyspark.sql import functions as f

    days = [(path.name, Path(place).parent.name.partition("=")[2]) for path, place in waiting.items()]
    of_file = spark.createDataFrame(days, "_file string, _day string")
    ddl = ", ".join(one for one in table.ddl().split(", ") if not one.startswith(f"{DATE} "))
    frame = spark.read.schema(ddl).parquet(*map(str, waiting))
    dated = frame.withColumn("_file", f.col("_metadata.file_name")).join(f.broadcast(of_file), "_file")
    return dated.withColumn(DATE, f.col("_day").cast("date")).select(*table.names)


def ask(spark: SparkSession, text: str) -> DataFrame:
    """Answer one query over the views; nothing is read yet. Raises PipelineError, one sentence.

    Anything but a query over the tables of a lake is refused, see `queries`. spark: of `query_session.apart`.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it prints errors that are raised anyway
    if not text.strip(" \t\r\n;"):
        raise PipelineError("The query is empty; ask for example: select requirement, count from verdicts")
    try:
        return answered(spark, text)
    except (PySparkException, Py4JError) as problem:
        raise PipelineError(_told(problem)) from None


def rows(frame: DataFrame, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an answer, with one batch in memory at a time. Raises PipelineError if reading fails."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    makers = [_in_utc(one.dataType) for one in frame.schema.fields]
    try:
        for row in (frame if limit is None else frame.limit(limit)).toLocalIterator():
            yield tuple(value if make is None else make(value) for make, value in zip(makers, row, strict=True))
    except (PySparkException, Py4JError) as problem:
        raise PipelineError(_told(problem)) from None


def _in_utc(kind: Any) -> Callable[[Any], Any] | None:
    """Return what makes a time of this type one in UTC: Spark gives it in the zone of this process, without saying so.

    None for a type without times.
    """
    name = kind.typeName()
    if name == "timestamp":
        return lambda value: None if value is None else value.astimezone(UTC)
    if name == "array":
        each = _in_utc(kind.elementType)
        return each and (lambda value: None if value is None else [each(one) for one in value])
    if name == "map":
        key, item = (_in_utc(one) or _same for one in (kind.keyType, kind.valueType))
        if key is item is _same:
            return None
        return lambda value: None if value is None else {key(one): item(other) for one, other in value.items()}
    if name == "struct":
        members = {one.name: _in_utc(one.dataType) or _same for one in kind.fields}
        if all(make is _same for make in members.values()):
            return None
        return lambda value: None if value is None else {name: make(value[name]) for name, make in members.items()}
    return None


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query, computed when its rows are asked for."""

    frame: Any

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    @property
    def numbers(self) -> Sequence[bool]:
        """Which columns hold numbers."""
        kinds = [kind for _, kind in self.frame.dtypes]
        return [kind in ("int", "bigint", "double", "float") or kind.startswith("decimal") for kind in kinds]

    def rows(self, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, at most `limit`, with one batch in memory at a time. Raises PipelineError."""
        return rows(self.frame, limit)

    def write_parquet(self, path: Path) -> int:
        """Write the rows as one Parquet file and return their number. Raises PipelineError and OSError."""
        return write_parquet(self.frame, path)


def plain(value: Any) -> Json:
    """Convert a value of an answer to JSON: times as RFC 3339, rows as objects, bytes as hexadecimal digits."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such number
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(member) for key, member in value.items()}
    if hasattr(value, "asDict"):
        return {name: plain(member) for name, member in value.asDict().items()}
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def cell(value: Any) -> str:
    """Format a value of an answer for a table: on one line, nothing hidden."""
    found = plain(value)
    if found is None:
        return ""
    return visible(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def write_csv(names: Sequence[str], found: Iterator[tuple[Any, ...]], stream: TextIO) -> int:
    """Write the rows as CSV (RFC 4180, a line of names first) and return their number.

    Text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(names)
    count = 0
    for row in found:
        count += 1
        texts = [cell(value) for value in row]
        kept = [f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text
                for value, text in zip(row, texts, strict=True)]  # fmt: skip
        writer.writerow(kept)
    return count


def write_parquet(frame: DataFrame, path: Path) -> int:
    """Write the answer as one Parquet file and return its number of rows. Raises PipelineError and OSError.

    A server of Spark Connect may be on another machine, so that its answer comes here and is held in memory as a whole.
    """
    from py4j.protocol import Py4JError
    from pyarrow import parquet
    from pyspark.errors import PySparkException

    if type(frame).__module__.startswith("pyspark.sql.connect."):
        try:
            table = frame.toArrow()
        except PySparkException as problem:
            raise PipelineError(_told(problem)) from None
        with aside(path) as draft:
            parquet.write_table(table, draft, compression="zstd")
        return int(table.num_rows)
    with TemporaryDirectory(prefix=".answer-", dir=path.absolute().parent) as folder:
        try:
            frame.coalesce(1).write.mode("append").option("compression", "zstd").parquet(folder)
        except (PySparkException, Py4JError) as problem:
            raise PipelineError(_told(problem)) from None
        (part,) = Path(folder).glob("part-*.parquet")
        count = int(parquet.read_metadata(part).num_rows)
        part.replace(path)
    return count


def _told(problem: Any) -> str:
    """Return Spark's error as one sentence: its own first line, without the plan after it."""
    match = _NAMED.search(str(problem))
    text = _first_line(match["text"] if match else str(problem))
    kind = (match["kind"] if match else "").replace("_", " ").lower()
    if "FileNotFoundException" in str(problem) or "FILE_NOT_EXIST" in str(problem):
        return "The lake was changed while it was read; ask again."
    return f"The query cannot be answered ({kind or 'Spark'}): {label(text.rstrip('.'))}."


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if re.match(r"(Caused by: )?[\w.]+(Exception|Error): ", line)]
    return (own or lines or ["no reason given"])[0]
