"""Write rows to Parquet: each worker writes its own files in the staging folder, and returns only their names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
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
_DAY_NS = 86_400_000_000_000
_YEAR = 366
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


class Days:
    """The days (UTC) of the rows of one capture. own: the day of its first record, as the folders are named.

    A row lies under the day of its packet; under `own` if that has no time, or one that is more than a year away: a
    recorder whose clock jumps would make a folder of each packet.
    """

    __slots__ = ("_first", "own")

    def __init__(self, own: str) -> None:
        self.own = own
        self._first = (date.fromisoformat(own) - date(1970, 1, 1)).days

    def of(self, time_ns: int | None) -> str:
        """Return the day of a packet."""
        if time_ns is None or time_ns <= 0 or abs(time_ns // _DAY_NS - self._first) > _YEAR:
            return self.own
        return _day_of(time_ns // _DAY_NS)

    def apart(self, times_ns: Any) -> Iterator[tuple[str, Any]]:
        """Yield each day of some packets with their indexes; None for all of them. times_ns: int64."""
        import numpy as np

        days = times_ns // _DAY_NS
        if not len(days):
            return
        days[(times_ns <= 0) | (abs(days - self._first) > _YEAR)] = self._first
        if (days == days[0]).all():
            yield self._name(int(days[0])), None
            return
        for one in np.unique(days).tolist():
            yield self._name(one), np.flatnonzero(days == one)

    def _name(self, number: int) -> str:
        return self.own if number == self._first else _day_of(number)


@lru_cache(maxsize=1024)
def _day_of(number: int) -> str:
    """Return a day. number: days since 1970."""
    return (date(1970, 1, 1) + timedelta(days=number)).isoformat()


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

    def add_table(self, table: str, days: Days, times: str, found: pyarrow.Table, *, stream: str | None = None) -> None:
        """Add the rows of an Arrow table, each under its day. times: the column with their times in nanoseconds."""
        with self._writing():
            for day, rows in days.apart(found[times].to_numpy()):
                some = found if rows is None else found.take(rows)
                file = self._file(table, day, stream)
                file.tables.append(some)
                file.waits += some.num_rows
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
