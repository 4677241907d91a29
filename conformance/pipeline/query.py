"""Answers one query over a lake: DuckDB in a process of its own, shut in and killed at its time, or Spark."""

from __future__ import annotations

import csv
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib.util import find_spec
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final, Literal, Protocol, TextIO

from conformance.files import aside
from conformance.pipeline import spark, tables
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import BATCH, TABLES
from conformance.pipeline.tables import machine_memory, opened, require_duckdb
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.text import label, visible
from conformance.spec.catalogue import aliases
from conformance.verdict import Json

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

Engine = Literal["auto", "duckdb", "spark"]
ENGINES: Final[tuple[Engine, ...]] = ("auto", "duckdb", "spark")
SMALL: Final = 4 << 30
"""Bytes of Parquet up to which DuckDB answers unless Spark is asked for."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SUM: Final = 38
"""Digits of the integers in which DuckDB sums."""
Make = Callable[[Any], Any]


class Answer(Protocol):
    """The answer to a query."""

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns. Raises PipelineError."""

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows, once. Raises PipelineError."""


def size(lake: Lake) -> int:
    """Return the bytes of the files of a lake, as its logs have them. Raises PipelineError."""
    import pyarrow as pa

    found = [pa.table(lake.table(name).get_add_actions())["size_bytes"].to_pylist() for name in TABLES]
    return sum(map(sum, found))


def chosen(engine: Engine, lake: Lake, master: str | None = None) -> Literal["duckdb", "spark"]:
    """Return the engine for queries over this lake. master: Spark's, if one is asked for. Raises PipelineError."""
    if engine == "spark" or (engine == "auto" and master is not None):
        return "spark"
    # Of a store, Spark may lack the classes; whoever has them names a master.
    little = find_spec("duckdb") is not None and (lake.store.arrow is not None or size(lake) <= SMALL)
    if engine == "auto" and not little and spark.runs():
        return "spark"
    tables.require_duckdb()
    return "duckdb"


@contextmanager
def asked(
    lake: Lake, text: str, engine: Literal["duckdb", "spark"], master: str | None, timeout_s: float, limit: int | None
) -> Iterator[Answer]:
    """Yield the answer to a query over the lake as it is now, at least `limit` rows of it. Raises PipelineError."""
    if engine == "duckdb":
        with asked_duckdb(lake.place, text, timeout_s) as answer:
            yield answer
        return
    with spark.session(master, queries=True) as found:
        yield asked_spark(found, lake, text, timeout_s, limit)


def numbers(schema: pyarrow.Schema) -> list[bool]:
    """Return which columns hold numbers."""
    import pyarrow.types as kinds

    return [kinds.is_integer(one) or kinds.is_floating(one) or kinds.is_decimal(one) for one in schema.types]


def rows(answer: Answer, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield the rows as values of Python, at most `limit`, with one batch in memory at a time. Raises PipelineError."""
    makes = [_maker(kind) for kind in answer.schema.types]

    def each() -> Iterator[tuple[Any, ...]]:
        for batch in answer.batches():
            columns = [
                column.to_pylist() if make is None else [make(value) for value in column.to_pylist()]
                for make, column in zip(makes, batch.columns, strict=True)
            ]
            yield from zip(*columns, strict=True)

    return islice(each(), limit)


def _maker(kind: Any) -> Make | None:
    """Return what makes of a value that Arrow gives one that `plain` knows; None for a type that stays as it is."""
    import pyarrow.types as kinds

    if kinds.is_map(kind):
        key, item = _maker(kind.key_type) or _same, _maker(kind.item_type) or _same
        return lambda value: None if value is None else {key(one): item(other) for one, other in value}
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        each = _maker(kind.value_type)
        return each and (lambda value: None if value is None else [each(one) for one in value])
    if kinds.is_struct(kind):
        members = {one.name: _maker(one.type) or _same for one in kind}
        return lambda value: None if value is None else {name: members[name](one) for name, one in value.items()}
    if _is_sum(kind):
        return lambda value: None if value is None else int(value)
    return None


def _same(value: Any) -> Any:
    return value


def _is_sum(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_decimal(kind)) and kind.scale == 0 and kind.precision == _SUM


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
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def cell(value: Any) -> str:
    """Format a value of an answer for a table: on one line, nothing hidden."""
    found = plain(value)
    if found is None:
        return ""
    return visible(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))


def write_csv(answer: Answer, stream: TextIO) -> int:
    """Write the rows as CSV (RFC 4180, a line of names first) and return their number.

    Text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(answer.schema.names)
    count = 0
    for row in rows(answer):
        count += 1
        texts = [cell(value) for value in row]
        kept = [f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text
                for value, text in zip(row, texts, strict=True)]  # fmt: skip
        writer.writerow(kept)
    return count


def write_parquet(answer: Answer, path: Path) -> int:
    """Write the rows as one Parquet file and return their number. Raises PipelineError and OSError."""
    import pyarrow as pa
    from pyarrow import parquet

    # Sums of integers get Spark's type.
    kinds = [pa.int64() if _is_sum(kind) else kind for kind in answer.schema.types]
    count, schema = 0, pa.schema(list(zip(answer.schema.names, kinds, strict=True)))
    with aside(path) as draft, parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
        for batch in answer.batches():
            count += batch.num_rows
            try:
                columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
            except pa.ArrowInvalid as problem:
                raise PipelineError(f"The answer has a number too large for Parquet: {problem}.") from None
            writer.write_batch(pa.record_batch(columns, schema=schema))
    return count


TIMEOUT_S: Final = 600.0
_SHARE: Final = 2
"""The process has this part of the machine's memory, so that nothing else of the machine has to make room.

It is measured in addresses (RLIMIT_AS), which are more than what is used. DuckDB itself keeps to half of it.
"""
_LEAST: Final = 2 << 30
_PIECE: Final = 64 << 20
"""Bytes of the answer in one piece."""
_ROWS: Final = 2_048
_REFUSED: Final = 2
"""How the process ends after it has written a sentence."""
_ENVIRONMENT: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "4", "OPENBLAS_NUM_THREADS": "1"}
"""Without these, libraries set aside gigabytes of addresses that they do not use."""


@dataclass(slots=True)
class DuckdbAnswer:
    """The answer to a query, as it comes."""

    _process: subprocess.Popen[bytes]
    _errors: IO[bytes]
    _timeout_s: float
    _memory: int
    _over: threading.Event = field(default_factory=threading.Event)
    _reader: Any = None

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns. Raises PipelineError if there is no answer."""
        if self._reader is None:
            from pyarrow import ipc

            with self._checked():
                self._reader = ipc.open_stream(self._process.stdout)
        return self._reader.schema

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows. Raises PipelineError."""
        _ = self.schema
        with self._checked():
            yield from self._reader
        self._check()

    def kill(self) -> None:
        """End the process as its time is over."""
        self._over.set()
        self._process.kill()

    @contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError):  # The stream is cut; Arrow's errors are among these.
            self._check()
            raise

    def _check(self) -> None:
        """Raise PipelineError unless the process has given the whole answer."""
        code = self._process.wait()
        if self._over.is_set():
            raise PipelineError(
                f"The query took more than {self._timeout_s:g} s; ask for less, or give it more with --timeout."
            )
        if code == _REFUSED:
            self._errors.seek(0)
            raise PipelineError(json.loads(self._errors.read().splitlines()[-1]))
        if code:
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            raise PipelineError(
                f"The query brought DuckDB down ({how}): it may use {self._memory >> 20:,} MiB of memory, and cannot be"
                " nested without end."
            )


@contextmanager
def asked_duckdb(
    place: str, text: str, timeout_s: float = TIMEOUT_S, memory: int | None = None
) -> Iterator[DuckdbAnswer]:
    """Yield the answer to a query over the lake in this place. memory: bytes of the process. Raises PipelineError."""
    require_duckdb()
    memory = memory or max(_LEAST, machine_memory() // _SHARE)
    with TemporaryFile() as errors, TemporaryDirectory(prefix="mqconform-sql-") as spill:
        command = [sys.executable, "-P", "-m", __name__]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env={**_ENVIRONMENT, **os.environ}
        )
        answer = DuckdbAnswer(process, errors, timeout_s, memory)
        timer = threading.Timer(timeout_s, answer.kill)
        timer.daemon = True
        timer.start()
        assert process.stdin is not None and process.stdout is not None
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps([place, text, memory, spill]).encode() + b"\n")
                process.stdin.flush()
            yield answer
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()


def main() -> None:
    """Answer the query that comes on stdin, on stdout, and end when stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks, which then ends this one.
    place, text, memory, spill = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_follow, daemon=True).start()
    _limit(memory)
    try:
        _answer(place, text, memory, Path(spill))
    except PipelineError as problem:
        sentence = problem.sentence
    except MemoryError:
        sentence = _TOO_MUCH.format(memory >> 20)
    else:
        os._exit(0)
    with suppress(OSError):
        os.write(2, b"\n" + json.dumps(sentence).encode() + b"\n")
    os._exit(_REFUSED)


_TOO_MUCH: Final = "The query needs more than the {:,} MiB of memory that it may use; ask for less."


def _follow() -> None:
    while os.read(0, 1 << 16):
        pass
    os._exit(1)


def _limit(memory: int) -> None:
    """Bound the memory of this process, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _answer(place: str, text: str, memory: int, spill: Path) -> None:
    import duckdb
    import pyarrow as pa

    try:
        with opened(Lake.open(place), memory // 2, spill=spill) as connection:
            statements = connection.extract_statements(text)
            kinds = [one.type for one in statements]
            if kinds not in ([duckdb.StatementType.SELECT], [duckdb.StatementType.EXPLAIN]):
                what = ", ".join(kind.name.lower() for kind in kinds) if len(kinds) < 2 else f"{len(kinds)} statements"
                raise PipelineError(
                    "Only one query over the tables of the lake is answered (select, describe or explain); this is"
                    f" {what or 'empty'}."
                )
            found = connection.sql(statements[0])
            make = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # its former name
            reader = make(_ROWS)
            with open(1, "wb", closefd=False) as out, pa.ipc.new_stream(out, reader.schema) as stream:
                for batch in reader:
                    for piece in _pieces(batch):
                        stream.write_batch(piece)
    except (duckdb.Error, pa.ArrowException, RuntimeError, OSError) as problem:
        raise PipelineError(_sentence(problem, memory)) from None


def _pieces(batch: pyarrow.RecordBatch) -> Iterator[pyarrow.RecordBatch]:
    if batch.nbytes <= _PIECE:
        yield batch
    elif batch.num_rows == 1:
        raise PipelineError(
            f"A row of the answer has {batch.nbytes:,} bytes; at most {_PIECE:,} are given out: ask for less of it."
        )
    else:
        half = batch.num_rows // 2
        yield from _pieces(batch.slice(0, half))
        yield from _pieces(batch.slice(half))


def _sentence(problem: Exception, memory: int) -> str:
    """Return an error of DuckDB, or of Arrow below it, as one sentence."""
    import duckdb
    import pyarrow as pa

    text = str(problem)
    if isinstance(problem, (duckdb.OutOfMemoryException, pa.ArrowMemoryError)) or "bad_alloc" in text:
        return _TOO_MUCH.format(memory >> 20)
    if isinstance(problem, FileNotFoundError) or "No such file" in text or "Failed to open local file" in text:
        return "The lake was changed while it was read; ask again."
    kind, colon, rest = text.partition(" Error: ")
    named = colon and kind.replace(" ", "").isalpha()
    lines = [line.strip() for line in (rest if named else text).splitlines() if line.strip()]
    first = label((lines or ["no reason given"])[0].rstrip("."), 400)
    return f"The query cannot be answered ({kind.lower() if named else type(problem).__name__}): {first}."


if __name__ == "__main__":
    main()

_NO_CLASSES = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError", "UnsupportedFileSystem")
"""Spark's words where it has no classes for a store."""
_NAMED = re.compile(r"\[(?P<kind>[A-Z_]+)(?:\.[A-Z_]+)?\]\s*(?P<text>.*)")
_GRACE_S: Final = 5.0
_LOOKS: Final = re.compile(r"\s*(describe|desc|explain)\s", re.IGNORECASE)
"""Statements beside queries that are answered. Spark takes one statement at a time, and none of these does anything."""


@dataclass(frozen=True, slots=True)
class SparkAnswer:
    """The answer to a query, which Spark's own bounds keep small enough for this process."""

    table: pyarrow.Table

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns."""
        return self.table.schema

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Yield the rows."""
        yield from self.table.to_batches(10_000)


def asked_spark(spark: SparkSession, lake: Lake, text: str, timeout_s: float, limit: int | None = None) -> SparkAnswer:
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
            return SparkAnswer(_bounded(own, timeout_s, answer))
    except (PySparkException, Py4JError) as problem:
        if any(words in str(problem) for words in _NO_CLASSES):
            raise PipelineError(
                f"Spark cannot reach {lake.place}: it lacks the classes for that store, which come in packages of"
                " Spark's own (for S3: org.apache.hadoop:hadoop-aws); --engine duckdb answers without them."
            ) from None
        raise PipelineError(_spark_sentence(problem)) from None


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


def _spark_sentence(problem: Any) -> str:
    """Return Spark's error as one sentence: its own first line, without the plan after it."""
    match = _NAMED.search(str(problem))
    lines = [line.strip() for line in (match["text"] if match else str(problem)).splitlines() if line.strip()]
    own = [line for line in lines if re.match(r"(Caused by: )?[\w.]+(Exception|Error): ", line)]
    kind = (match["kind"] if match else "").replace("_", " ").lower()
    if "FileNotFoundException" in str(problem) or "FILE_NOT_EXIST" in str(problem):
        return "The lake was changed while it was read; ask again."
    text = label((own or lines or ["no reason given"])[0].rstrip("."))
    return f"The query cannot be answered ({kind or 'Spark'}): {text}."
