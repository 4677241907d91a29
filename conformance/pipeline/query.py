"""Answers one query over a lake: DuckDB in a process of its own, shut in and killed at its time, or Spark."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, Final, Literal, TextIO, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.types as kinds
from pyarrow import parquet

from conformance.files import aside
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import QUERY_TIMEOUT_S
from conformance.pipeline.spark_needs import require_spark
from conformance.pipeline.store import store_of
from conformance.pipeline.tables import listed, machine_memory, over
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.text import label, visible
from conformance.verdict import Json

Engine = Literal["auto", "duckdb", "spark"]
ENGINES: Final[tuple[Engine, ...]] = ("auto", "duckdb", "spark")
_NO_MEMORY = "bad_alloc|Out of memory"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SUM: Final = 38
"""Digits of the integers in which DuckDB sums."""


def query_engine(engine: Engine, master: str | None = None) -> Literal["duckdb", "spark"]:
    """Return the engine for queries. master: Spark's, if one is asked for."""
    return "spark" if engine == "spark" or (engine == "auto" and master is not None) else "duckdb"


@contextmanager
def asked(
    lake: Lake, text: str, engine: Literal["duckdb", "spark"], master: str | None, timeout_s: float, limit: int | None
) -> Iterator[Answer]:
    """Yield the answer to a query over the lake as it is now, at least `limit` rows of it. Raises PipelineError."""
    if engine == "duckdb":
        with asked_duckdb(lake, text, timeout_s) as answer:
            yield answer
        return
    require_spark()
    from conformance.pipeline import spark

    with spark.session(master, queries=True) as found:
        yield spark.asked(found, lake, text, timeout_s, limit).to_reader(_ROWS)


def numbers(schema: pa.Schema) -> list[bool]:
    """Return which columns hold numbers."""
    return [kinds.is_integer(one) or kinds.is_floating(one) or kinds.is_decimal(one) for one in schema.types]


def rows(answer: Answer, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield the rows as values of Python, at most `limit`, with one batch in memory at a time. Raises PipelineError."""
    each = (zip(*map(_values, batch), strict=True) for batch in answer)
    return islice(chain.from_iterable(each), limit)


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist(maps_as_pydicts="strict"))
    except (ValueError, OverflowError):  # A text that is no UTF-8, or a time beyond any year.
        return [_value(one) for one in column]


def _value(one: pa.Scalar) -> Any:
    """Return a value, with the bytes of what is no text, and the number of what is no time."""
    try:
        return one.as_py(maps_as_pydicts="strict")
    except (ValueError, OverflowError):
        if isinstance(one, pa.MapScalar):
            return {_value(pair["key"]): _value(pair["value"]) for pair in one.values}
        if isinstance(one, pa.StructScalar):
            return {name: _value(member) for name, member in one.items()}
        if isinstance(one, pa.ListScalar):
            return [_value(member) for member in one.values]
        return one.as_buffer().to_pybytes() if isinstance(one, pa.StringScalar) else one.value


def _is_sum(kind: Any) -> bool:
    return bool(kinds.is_decimal(kind)) and kind.scale == 0 and kind.precision == _SUM


def plain(value: Any) -> Json:
    """Convert a value of an answer to JSON: times as RFC 3339, rows as objects, bytes as hexadecimal digits."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such number
    if isinstance(value, Decimal) and not value.as_tuple().exponent:
        return int(value)  # DuckDB sums integers so
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
    # Sums of integers get Spark's type.
    types = [pa.int64() if _is_sum(kind) else kind for kind in answer.schema.types]
    count, schema = 0, pa.schema(list(zip(answer.schema.names, types, strict=True)))
    with aside(path) as draft, parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
        for batch in answer:
            count += batch.num_rows
            try:
                columns = [column.cast(kind) for column, kind in zip(batch.columns, types, strict=True)]
            except pa.ArrowInvalid as problem:
                raise PipelineError(f"The answer has a number too large for Parquet: {problem}.") from None
            writer.write_batch(pa.record_batch(columns, schema=schema))
    return count


_SHARE: Final = 2
_LEAST: Final = 2 << 30
_MOST: Final = 4 << 30
"""The process has this part of the machine's memory, within these bounds: nothing else has to make room.

It is measured in addresses (RLIMIT_AS), which are more than what is used. DuckDB itself keeps to half of it.
"""
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
    def schema(self) -> pa.Schema:
        """The columns. Raises PipelineError if there is no answer."""
        if self._reader is None:
            with self._checked():
                self._reader = pa.ipc.open_stream(self._process.stdout)
        return self._reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, once. Raises PipelineError."""
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


Answer: TypeAlias = "DuckdbAnswer | pa.RecordBatchReader"
"""The answer to a query: its `schema`, and its rows in batches, once."""


@contextmanager
def asked_duckdb(
    lake: Lake, text: str, timeout_s: float = QUERY_TIMEOUT_S, memory: int | None = None
) -> Iterator[DuckdbAnswer]:
    """Yield the answer to a query over the lake. memory: bytes of the process. Raises PipelineError.

    Delta is read here: its threads set aside gigabytes of addresses.
    """
    files, live = listed(lake)
    memory = memory or max(_LEAST, min(_MOST, machine_memory() // _SHARE))
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
                process.stdin.write(json.dumps([lake.place, text, memory, spill, files, live]).encode() + b"\n")
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
    place, text, memory, *data = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_follow, daemon=True).start()
    _limit(memory)
    try:
        _answer(place, text, memory, *data)
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


def _answer(place: str, text: str, memory: int, spill: str, files: list[str], live: list[str]) -> None:
    try:
        with over(store_of(place), files, live, memory // 2, spill) as connection:
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


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
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
    text = str(problem)
    if isinstance(problem, (duckdb.OutOfMemoryException, pa.ArrowMemoryError)) or re.search(_NO_MEMORY, text):
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
