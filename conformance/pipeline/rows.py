"""Rows into Parquet: a worker writes what it found itself, in the staging folder, and hands back only what it wrote."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.pipeline.lake import Part
from conformance.pipeline.schemas import DATE, TABLES

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

Row = dict[str, Any]
EPOCH = "1970-01-01"
_BUFFERED = 4_096
_GROUP = 1 << 16
"""Rows of tables that are written at once."""
_OPEN = 64  # Files written at once; the one silent longest is closed, and another begun when it is needed again.


@lru_cache(maxsize=4096)
def moment(time_ns: int) -> datetime:
    """A time as the tables have it."""
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).replace(microsecond=time_ns // 1_000 % 1_000_000)


def day(time_ns: int | None) -> str:
    """The day (UTC) of a time, as the folders are named."""
    return (
        EPOCH
        if time_ns is None
        else date.fromtimestamp(0).isoformat()
        if time_ns < 0
        else moment(time_ns).date().isoformat()
    )


def plain(text: str) -> str:
    """A text as UTF-8 can hold it: a file name may have bytes that are none."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(slots=True)
class _File:
    writer: pyarrow.parquet.ParquetWriter
    path: Path
    rows: int = 0
    waiting: list[Row] = field(default_factory=list)
    tables: list[pyarrow.Table] = field(default_factory=list)
    waits: int = 0
    """Rows in these tables."""


@dataclass(slots=True)
class Rows:
    """The rows one task writes. folder: where to. name: what its files' names begin with, unique in the batch."""

    folder: Path
    name: str
    parts: list[Part] = field(default_factory=list)
    _files: OrderedDict[tuple[str, str, str | None], _File] = field(default_factory=OrderedDict)
    _count: int = 0

    def add(self, table: str, row: Row, *, stream: str | None = None) -> None:
        """A row, with its `date` as text. stream: it is about the end so far of this stream."""
        file = self._file(table, row[DATE], stream)
        file.waiting.append(row)
        if len(file.waiting) >= _BUFFERED:
            self._flush(table, file)

    def add_table(self, table: str, day: str, found: pyarrow.Table, *, stream: str | None = None) -> None:
        """Rows that are an Arrow table already, all of one day."""
        file = self._file(table, day, stream)
        file.tables.append(found)
        file.waits += found.num_rows
        if file.waits >= _GROUP:
            self._flush(table, file)

    def close(self) -> list[Part]:
        """Write what is left; the files there are."""
        while self._files:
            self._finish(next(iter(self._files)))
        return self.parts

    def _file(self, table: str, day: str, stream: str | None) -> _File:
        key = (table, day, stream)
        file = self._files.get(key)
        if file is None:
            if len(self._files) >= _OPEN:
                self._finish(next(iter(self._files)))
            import pyarrow.parquet as pq

            self._count += 1
            path = self.folder / f"{self.name}-{self._count:05}-{table}.parquet"
            schema, how = TABLES[table].arrow(), TABLES[table].encodings()
            writer = pq.ParquetWriter(path, schema, compression="zstd", **how)
            file = self._files[key] = _File(writer, path)
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
            file.writer.write_table(pa.concat_tables(one.cast(schema) for one in file.tables))
            file.rows += file.waits
            file.tables, file.waits = [], 0

    def _finish(self, key: tuple[str, str, str | None]) -> None:
        table, day, stream = key
        file = self._files.pop(key)
        self._flush(table, file)
        file.writer.close()
        with file.path.open("rb") as written:
            os.fsync(written.fileno())
        self.parts.append(Part(table, day, file.path.name, file.rows, stream))


def texts(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """A map as Arrow takes it."""
    return sorted(values.items())
