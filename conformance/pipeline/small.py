"""A small lake without Java: its tables as Arrow datasets, and DuckDB's answers to queries over them.

DuckDB runs in this process and is shut in: it opens no file, loads no extension, and its settings are locked before a
query is read. Its memory, its temporary files and its time are bounded.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date
from importlib.util import find_spec
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from threading import Event, Timer
from typing import TYPE_CHECKING, Any, Final

from conformance.aside import aside
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.scan import require_arrow
from conformance.pipeline.schemas import DATE, TABLES, Table
from conformance.pipeline.small_queries import check, unanswered
from conformance.spec.renaming import aliases

if TYPE_CHECKING:
    import pyarrow

SMALL: Final = 4 << 30
"""Bytes of Parquet up to which DuckDB answers unless Spark is asked for."""
TIMEOUT_S: Final = 600.0
_AT_ONCE = 10_000
"""Rows in memory at once."""
_MEMORY_SHARE, _DISK_SHARE = 0.5, 0.5
"""Share of this machine's memory, and of the free room for temporary files, that a query may use."""
_WIDEST_INT = 38
"""Digits of the integers in which DuckDB sums."""


def require_duckdb() -> None:
    """Raise PipelineError if DuckDB is not installed."""
    require_arrow()
    if find_spec("duckdb") is None:
        raise PipelineError("A query without Spark needs duckdb: install the extra with pip install 'mqconform[lake]'.")


def datasets(lake: Lake) -> dict[str, Any]:
    """Return every table of the lake, as its log has it now, as a `pyarrow.dataset.Dataset` with all its columns.

    Requirements have the ids under which they were stored. Raises PipelineError if a file is missing.
    """
    require_arrow()
    places = lake.located()
    return {table.name: _dataset(lake, table, places) for table in TABLES.values()}


def size(lake: Lake) -> int:
    """Return the bytes of the lake's tables. Raises PipelineError if a file is missing."""
    require_arrow()
    found = _files(lake).get_file_info([str(path) for path in lake.located().values()])
    return sum(one.size or 0 for one in found)


def _files(lake: Lake) -> Any:
    from pyarrow import fs

    return lake.store.arrow or fs.LocalFileSystem()


def _dataset(lake: Lake, table: Table, places: Mapping[str, PurePath]) -> Any:
    import pyarrow as pa
    from pyarrow import dataset as ds

    schema = table.arrow().append(pa.field(DATE, pa.date32(), nullable=False))
    kind, files = ds.ParquetFileFormat(), _files(lake)
    fragments = []
    for place, path in places.items():
        if place.startswith(f"{table.name}/"):
            day = date.fromisoformat(PurePath(place).parent.name.partition("=")[2])
            told = ds.field(DATE) == pa.scalar(day, pa.date32())
            fragments.append(kind.make_fragment(str(path), files, partition_expression=told))
    return ds.FileSystemDataset(fragments, schema, kind, files)


@contextmanager
def opened(lake: Lake, timeout_s: float = TIMEOUT_S) -> Iterator[Asked]:
    """Yield what answers queries over the lake as it is now. Raises PipelineError. Nothing is written into the lake."""
    require_duckdb()
    import duckdb

    tables = datasets(lake)
    with TemporaryDirectory(prefix="mqconform-sql-") as spill:
        connection = duckdb.connect(":memory:", config=_settings(Path(spill)))
        try:
            _views(connection, tables)
            connection.execute("set timezone = 'UTC'")
            connection.execute("set lock_configuration = true")
            yield Asked(connection, timeout_s)
        finally:
            connection.close()


def _settings(spill: Path) -> dict[str, str]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    room = shutil.disk_usage(spill).free
    return {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_unsigned_extensions": "false",
        "python_enable_replacements": "false",  # variables of this process as tables
        "memory_limit": f"{int(total * _MEMORY_SHARE) >> 20}MiB",
        "temp_directory": str(spill),
        "max_temp_directory_size": f"{max(1, int(room * _DISK_SHARE) >> 20)}MiB",
        "threads": str(max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)),
        "default_null_order": "nulls_first_on_asc_last_on_desc",  # as in Spark
    }


def _views(connection: Any, tables: dict[str, Any]) -> None:
    """Make each table a view of its name, each row with today's id of its requirement."""
    import pyarrow as pa

    old, new = list(aliases()), list(aliases().values())
    connection.register("_former", pa.table({"old": pa.array(old, pa.string()), "new": pa.array(new, pa.string())}))
    for name, dataset in tables.items():
        connection.register(f"_stored_{name}", dataset)
        columns = ", ".join(f't."{column}"' for column in TABLES[name].names)
        if old and "requirement" in TABLES[name].names:
            columns = columns.replace('t."requirement"', 'coalesce(f.new, t."requirement") as "requirement"')
            source = f"_stored_{name} t left join _former f on f.old = t.requirement"
        else:
            source = f"_stored_{name} t"
        connection.execute(f'create view "{name}" as select {columns} from {source}')


@dataclass(frozen=True, slots=True)
class Asked:
    """DuckDB with the tables of a lake. timeout_s: seconds for one query, its rows included."""

    connection: Any
    timeout_s: float
    over: Event = field(default_factory=Event)
    """Set when a query was interrupted because its time was over."""

    def ask(self, text: str) -> Answer:
        """Check a query and begin to answer it. Raises PipelineError, one sentence."""
        import duckdb

        try:
            check(self.connection, text)
            with self.bounded():
                found = self.connection.sql(text)
                make = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # its former name
                return Answer(self, make(_AT_ONCE))
        except (duckdb.Error, RuntimeError) as problem:
            raise self.told(problem) from None

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Interrupt what runs within when the time is over."""
        timer = Timer(self.timeout_s, self._stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _stop(self) -> None:
        self.over.set()
        self.connection.interrupt()

    def told(self, problem: Exception) -> PipelineError:
        """Return an error of DuckDB, or of Arrow below it, as one sentence. Raises KeyboardInterrupt if it was one."""
        if self.over.is_set():
            return PipelineError(
                f"The query took more than {self.timeout_s:g} s; ask for less, or give it more with --timeout."
            )
        text = str(problem)
        if "interrupted" in text.lower():
            raise KeyboardInterrupt
        if isinstance(problem, FileNotFoundError) or "No such file" in text or "Failed to open local file" in text:
            return PipelineError("The lake was changed while it was read; ask again.")
        kind, colon, rest = text.partition(" Error: ")
        if colon and kind.replace(" ", "").isalpha():
            return PipelineError(unanswered(rest, kind.lower()))
        return PipelineError(unanswered(text, "its own error"))


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: its columns, and its rows once."""

    asked: Asked
    reader: Any

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return tuple(self.reader.schema.names)

    @property
    def numbers(self) -> Sequence[bool]:
        """Which columns hold numbers."""
        import pyarrow.types as kinds

        return [
            kinds.is_integer(one) or kinds.is_floating(one) or kinds.is_decimal(one) for one in self.reader.schema.types
        ]

    def rows(self, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, at most `limit`, with one batch in memory at a time. Raises PipelineError."""
        count = 0
        for batch in self._batches():
            columns = [[make(value) for value in column.to_pylist()] for make, column in _made(batch)]
            for row in zip(*columns, strict=True):
                if limit is not None and count >= limit:
                    return
                count += 1
                yield row

    def write_parquet(self, path: Path) -> int:
        """Write the rows as one Parquet file and return their number. Raises PipelineError and OSError."""
        import pyarrow as pa
        from pyarrow import parquet

        count = 0
        kinds = [_kept(one) for one in self.reader.schema.types]
        schema = pa.schema(list(zip(self.names, kinds, strict=True)))
        with aside(path) as draft, parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
            for batch in self._batches():
                count += batch.num_rows
                try:
                    columns = [column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)]
                except pa.ArrowInvalid as problem:
                    raise PipelineError(unanswered(str(problem), "a number too large")) from None
                writer.write_batch(pa.record_batch(columns, schema=schema))
        return count

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        import duckdb
        import pyarrow as pa

        try:
            with self.asked.bounded():
                yield from self.reader
        except (duckdb.Error, pa.ArrowException, RuntimeError, OSError) as problem:
            raise self.asked.told(problem) from None


def _kept(kind: Any) -> Any:
    """Return the type in which a column is written: integers of 128 bits, in which DuckDB sums, as Spark's bigint."""
    import pyarrow as pa

    if pa.types.is_decimal(kind) and kind.scale == 0 and kind.precision == _WIDEST_INT:
        return pa.int64()
    return kind


def _made(batch: Any) -> Iterator[tuple[Callable[[Any], Any], Any]]:
    for column in batch.columns:
        yield _maker(column.type), column


def _maker(kind: Any) -> Callable[[Any], Any]:
    """Return what makes a value of this type one of Python's that `views.plain` knows."""

    make = _some(kind)
    if make is None:
        return lambda value: value
    inner = make
    return lambda value: None if value is None else inner(value)


def _some(kind: Any) -> Callable[[Any], Any] | None:
    """The same for a value that is not null; None where it stays as it is."""
    import pyarrow as pa

    types = pa.types
    if types.is_map(kind):
        key, item = _maker(kind.key_type), _maker(kind.item_type)
        return lambda value: {key(one): item(other) for one, other in value}
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        each = _maker(kind.value_type)
        return lambda value: [each(one) for one in value]
    if types.is_struct(kind):
        makers = {kind.field(at).name: _maker(kind.field(at).type) for at in range(kind.num_fields)}
        return lambda value: {name: makers[name](one) for name, one in value.items()}
    if _kept(kind) is not kind:
        return int
    if types.is_timestamp(kind) and kind.tz is not None:
        return lambda value: value.astimezone(UTC)
    return None
