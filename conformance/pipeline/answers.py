"""Answers to queries: the engine that gives them, and how their rows become text, JSON, CSV and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from importlib.util import find_spec
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TextIO

from conformance.aside import aside
from conformance.pipeline import query_duckdb, query_spark, spark, tables
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.report.text import visible
from conformance.verdict import Json

if TYPE_CHECKING:
    import pyarrow

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
        with query_duckdb.asked(lake.place, text, timeout_s) as answer:
            yield answer
        return
    with spark.session(master, queries=True) as found:
        yield query_spark.asked(found, lake, text, timeout_s, limit)


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
