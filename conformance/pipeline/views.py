"""The tables of a lake as views of a Spark session, and the questions an analyst asks them in SQL."""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.scan import settle
from conformance.pipeline.schemas import TABLES
from conformance.report.text import label, visible
from conformance.verdict import Json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NAMED = re.compile(r"\[(?P<kind>[A-Z_]+)(?:\.[A-Z_]+)?\]\s*(?P<text>.*)")


def open_views(spark: SparkSession, lake: Lake) -> None:
    """Make every table of the lake, as its log has it now, a temporary view of its name. Raises PipelineError."""
    settle(lake)
    parts = lake.snapshot().parts.values()
    for table in TABLES.values():
        files = [str(lake.root / part.place) for part in parts if part.table == table.name]
        if files:
            reader = spark.read.schema(table.ddl()).option("basePath", str(lake.root / table.name))
            frame = reader.parquet(*files)
        else:
            frame = spark.createDataFrame([], table.ddl())
        frame.select(*table.names).createOrReplaceTempView(table.name)


def ask(spark: SparkSession, text: str) -> DataFrame:
    """The answer to one query over the views; nothing is read yet. Raises PipelineError, one sentence.

    Only what asks is taken: a statement that would make, change or remove something is refused.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it prints what is raised besides
    text = text.strip().rstrip(";").strip()
    if not text:
        raise PipelineError("There is no query; ask for example: select requirement, count from verdicts")
    try:
        if not _asks(text):
            parser: Any = spark._jsparkSession.sessionState().sqlParser()
            parser.parsePlan(f"select * from (\n{text}\n)")
        return spark.sql(text)
    except (PySparkException, Py4JError) as problem:
        raise PipelineError(_told(problem)) from None


def rows(frame: DataFrame, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of an answer, a batch of them in memory at a time. Raises PipelineError where reading them fails."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        for row in (frame if limit is None else frame.limit(limit)).toLocalIterator():
            yield tuple(row)
    except (PySparkException, Py4JError) as problem:
        raise PipelineError(_told(problem)) from None


def plain(value: Any) -> Json:
    """A value of an answer as JSON has it: times as RFC 3339, rows as objects, bytes as hexadecimal digits."""
    if isinstance(value, datetime):
        return value.isoformat()
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
    """A value of an answer as a table shows it: on one line, nothing hidden."""
    found = plain(value)
    if found is None:
        return ""
    return visible(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def write_csv(names: Sequence[str], found: Iterator[tuple[Any, ...]], stream: TextIO) -> int:
    """The rows as CSV (RFC 4180, a line of names first); how many.

    What a spreadsheet would take for a formula begins with an apostrophe.
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
    """The answer as one Parquet file, with its own types; how many rows. Raises PipelineError and OSError."""
    from py4j.protocol import Py4JError
    from pyarrow import parquet
    from pyspark.errors import PySparkException

    frame.sparkSession.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    with TemporaryDirectory(prefix=".answer-", dir=path.absolute().parent) as folder:
        try:
            frame.coalesce(1).write.mode("append").option("compression", "zstd").parquet(folder)
        except (PySparkException, Py4JError) as problem:
            raise PipelineError(_told(problem)) from None
        (part,) = Path(folder).glob("part-*.parquet")
        count = int(parquet.read_metadata(part).num_rows)
        part.replace(path)
    return count


def _asks(text: str) -> bool:
    """Statements that ask about tables themselves, which no query can stand around."""
    first = re.sub(r"\A(?:\s|--[^\n]*\n|/\*.*?\*/)+", "", text, flags=re.DOTALL).split(None, 1)
    return bool(first) and first[0].lower() in {"describe", "desc", "show", "explain"}


def _told(problem: Any) -> str:
    """Spark's complaint as one sentence: its own first line, without the plan behind it."""
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
