"""A query in Spark, over the rows of a lake that count as temporary views of a session of its own.

Whoever has Spark is trusted with it: a text is only kept from being something else than one query. Settings and views
of the session that it is asked from stay as they are.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import BATCH, TABLES
from conformance.report.text import label
from conformance.spec.renaming import aliases

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

_NO_CLASSES = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError", "UnsupportedFileSystem")
"""Spark's words where it has no classes for a store."""
_NAMED = re.compile(r"\[(?P<kind>[A-Z_]+)(?:\.[A-Z_]+)?\]\s*(?P<text>.*)")
_GRACE_S: Final = 5.0
_LOOKS: Final = re.compile(r"\s*(describe|desc|explain)\s", re.IGNORECASE)
"""Statements beside queries that are answered. Spark takes one statement at a time, and none of these does anything."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query, which Spark's own bounds keep small enough for this process."""

    table: pyarrow.Table

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns."""
        return self.table.schema

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows."""
        yield from self.table.to_batches(10_000)


def asked(spark: SparkSession, lake: Lake, text: str, timeout_s: float, limit: int | None = None) -> Answer:
    """Answer a query over the lake as it is now, with at most `limit` rows. Raises PipelineError, one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it prints errors that are raised anyway
    text = text.strip(" \t\r\n;")
    # Within brackets, only a query can be parsed: `drop` is an error of the parser.
    query = text if _LOOKS.match(text) else f"select * from (\n{text}\n)"

    def answer(own: SparkSession) -> pyarrow.Table:
        frame = own.sql(query)
        return (frame if limit is None or query is text else frame.limit(limit)).toArrow()

    try:
        with apart(spark) as own:
            open_views(own, lake)
            return Answer(_bounded(own, timeout_s, answer))
    except (PySparkException, Py4JError) as problem:
        if any(words in str(problem) for words in _NO_CLASSES):
            raise PipelineError(
                f"Spark cannot reach {lake.place}: it lacks the classes for that store, which come in packages of"
                " Spark's own (for S3: org.apache.hadoop:hadoop-aws); --engine duckdb answers without them."
            ) from None
        raise PipelineError(_sentence(problem)) from None


def _bounded(spark: SparkSession, timeout_s: float, work: Callable[[SparkSession], Any]) -> Any:
    """Do work in a thread, and cancel the session's jobs when its time is over, or somebody interrupts."""
    found, failed = list[Any](), list[BaseException]()

    def run() -> None:
        try:
            found.append(work(spark))
        except BaseException as problem:
            failed.append(problem)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join(timeout_s)
    finally:
        late, until = thread.is_alive(), monotonic() + _GRACE_S
        while thread.is_alive() and monotonic() < until:  # Between two jobs, there is none to cancel.
            with suppress(Exception):
                spark.interruptAll()
            thread.join(0.2)
    if late:
        raise PipelineError(f"The query took more than {timeout_s:g} s; ask for less, or give it more with --timeout.")
    if failed:
        raise failed[0]
    return found[0]


@contextmanager
def apart(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield another session of the same Spark, in UTC. Raises PipelineError if none can begin."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException, PySparkNotImplementedError

    try:
        own = spark.newSession()
    except (PySparkNotImplementedError, AttributeError):
        raise PipelineError("Queries on Spark Connect need pyspark 4.3 or later, here and there.") from None
    remote = type(own).__module__.startswith("pyspark.sql.connect.")
    active = type(spark).getActiveSession()
    try:
        own.conf.set("spark.sql.session.timeZone", "UTC")
        yield own
    finally:
        with suppress(PySparkException, Py4JError, ConnectionError):
            if remote:  # To stop a classic one would end Spark.
                own.stop()
            elif active is not None and type(spark).getActiveSession() is not active:
                active.createDataFrame([], "x int")  # What makes a frame of values is the active session from then on.


def open_views(spark: SparkSession, lake: Lake) -> None:
    """Make the rows that count of every table a temporary view of its name, with today's ids. Raises PipelineError."""
    from pyspark.sql import functions as sql

    live = lake.batches().live  # first: rows of batches that come later do not count
    places = lake.located()
    base = str(lake.root) if lake.store.arrow is None else re.sub(r"^s3n?://", "s3a://", lake.place)
    counted = sql.broadcast(spark.createDataFrame([(one,) for one in sorted(live)], f"{BATCH} string"))
    today = sql.create_map(*map(sql.lit, chain(*aliases().items()))) if aliases() else None
    for table in TABLES.values():
        mine = [f"{base}/{place}" for place in places if place.startswith(f"{table.name}/")]
        read = spark.read.schema(table.ddl()).option("basePath", f"{base}/{table.name}")
        frame: DataFrame = read.parquet(*mine) if mine else spark.createDataFrame([], table.ddl())
        frame = frame.join(counted, BATCH, "left_semi")
        if today is not None and "requirement" in table.names:
            stored = sql.col("requirement")
            frame = frame.withColumn("requirement", sql.coalesce(today[stored], stored))
        frame.select(*table.names).createOrReplaceTempView(table.name)


def _sentence(problem: Any) -> str:
    """Return Spark's error as one sentence: its own first line, without the plan after it."""
    match = _NAMED.search(str(problem))
    lines = [line.strip() for line in (match["text"] if match else str(problem)).splitlines() if line.strip()]
    own = [line for line in lines if re.match(r"(Caused by: )?[\w.]+(Exception|Error): ", line)]
    kind = (match["kind"] if match else "").replace("_", " ").lower()
    if "FileNotFoundException" in str(problem) or "FILE_NOT_EXIST" in str(problem):
        return "The lake was changed while it was read; ask again."
    text = label((own or lines or ["no reason given"])[0].rstrip("."))
    return f"The query cannot be answered ({kind or 'Spark'}): {text}."
