"""Write rows to Parquet: each worker writes its own files in the staging folder, and returns only their names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lake import Part, Target
from conformance.pipeline.schemas import DATE, TABLES

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

Row = dict[str, Any]
EPOCH = "1970-01-01"
_BUFFERED = 4_096
_GROUP = 1 << 16
"""Rows of tables that are written together."""
_OPEN = 64  # Files open at once; the least recently used one is closed, and another begun if it is needed again.


@lru_cache(maxsize=4096)
def moment(time_ns: int) -> datetime:
    """Return a time as the tables store it."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).replace(microsecond=time_ns // 1_000 % 1_000_000)


def day(time_ns: int | None) -> str:
    """Return the day (UTC) of a time, as the folders are named."""
    return (
        EPOCH
        if time_ns is None
        else date.fromtimestamp(0).isoformat()
        if time_ns < 0
        else moment(time_ns).date().isoformat()
    )


def plain(text: str) -> str:
    """Return text that UTF-8 can hold: a file name may have invalid bytes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(slots=True)
class _File:
    writer: pyarrow.parquet.ParquetWriter
    closing: ExitStack
    name: str
    rows: int = 0
    waiting: list[Row] = field(default_factory=list)
    tables: list[pyarrow.Table] = field(default_factory=list)
    waits: int = 0
    """Rows in these tables."""


@dataclass(slots=True)
class Rows:
    """The rows that one task writes. target: where to. name: prefix of its file names, unique in the batch."""

    target: Target
    name: str
    parts: list[Part] = field(default_factory=list)
    _files: OrderedDict[tuple[str, str, str | None], _File] = field(default_factory=OrderedDict)
    _count: int = 0

    def keep(self, name: str, data: bytes) -> str:
        """Write the state of a stream, and return the name that the log has for it."""
        with self._writing():
            return self.target.keep(name, data)

    def add(self, table: str, row: Row, *, stream: str | None = None) -> None:
        """Add a row, with its `date` as text. stream: the stream about whose provisional end the row is."""
        with self._writing():
            file = self._file(table, row[DATE], stream)
            file.waiting.append(row)
            if len(file.waiting) >= _BUFFERED:
                self._flush(table, file)

    def add_table(self, table: str, day: str, found: pyarrow.Table, *, stream: str | None = None) -> None:
        """Add the rows of an Arrow table, all of one day."""
        with self._writing():
            file = self._file(table, day, stream)
            file.tables.append(found)
            file.waits += found.num_rows
            if file.waits >= _GROUP:
                self._flush(table, file)

    def close(self) -> list[Part]:
        """Write the remaining rows, and return the files."""
        with self._writing():
            while self._files:
                self._finish(next(iter(self._files)))
        return self.parts

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raise PipelineError for a failure to write, which is not the fault of the capture."""
        try:
            yield
        except (OSError, UnfitError) as problem:
            text = getattr(problem, "strerror", None) or str(problem)
            raise PipelineError(f"The rows cannot be written to {self.target.root}: {text}.") from None

    def _file(self, table: str, day: str, stream: str | None) -> _File:
        key = (table, day, stream)
        file = self._files.get(key)
        if file is None:
            if len(self._files) >= _OPEN:
                self._finish(next(iter(self._files)))
            self._count += 1
            name = f"{self.name}-{self._count:05}-{table}.parquet"
            closing = ExitStack()
            writer = closing.enter_context(self.target.writer(table, day, name))
            file = self._files[key] = _File(writer, closing, name)
        self._files.move_to_end(key)
        return file

    def _flush(self, table: str, file: _File) -> None:
        import pyarrow as pa

        schema = TABLES[table].arrow()
        if file.waiting:
            file.tables.append(pa.Table.from_pylist(file.waiting, schema=schema))
            file.waits += len(file.waiting)
            file.waiting = []
        if file.waits:
            found = pa.concat_tables(one.cast(schema) for one in file.tables)
            file.writer.write_table(self.target.filled(table, found))
            file.rows += file.waits
            file.tables, file.waits = [], 0

    def _finish(self, key: tuple[str, str, str | None]) -> None:
        table, day, stream = key
        file = self._files.pop(key)
        self._flush(table, file)
        file.closing.close()
        self.parts.append(Part(table, day, file.name, file.rows, stream))


def texts(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return a map as Arrow takes it."""
    return sorted(values.items())
