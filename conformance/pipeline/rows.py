"""The rows of one task, collected into Arrow tables, which go where the task says: into files, or to Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from conformance.capture import CaptureError
from conformance.pipeline.schemas import BATCH, DATE, TABLES

Row = dict[str, Any]
EPOCH = "1970-01-01"
_BUFFERED = 4_096
_DAY_NS = 86_400_000_000_000
_YEAR = 366
_GROUP = 1 << 16
"""Rows of tables that are written together."""
_MOST_NS = 1 << 63


@lru_cache(maxsize=4096)
def moment(time_ns: int) -> datetime:
    """Return a time as the tables store it. Raises CaptureError for one beyond what they can store."""
    if not -_MOST_NS <= time_ns < _MOST_NS:
        raise CaptureError(f"It has a record of {time_ns // 1_000_000_000:,} s after 1970, which is no date.")
    return datetime.fromtimestamp(time_ns // 1_000_000_000, UTC).replace(microsecond=time_ns // 1_000 % 1_000_000)


def dated(time_ns: int | None) -> int | None:
    """Return a time that the tables can store; None for any other."""
    return time_ns if time_ns is not None and -_MOST_NS <= time_ns < _MOST_NS else None


def day(time_ns: int | None) -> str:
    """Return the day (UTC) of a time, as the folders are named; the first day for none, and for one without a date."""
    known = dated(time_ns)
    return EPOCH if known is None or known < 0 else moment(known).date().isoformat()


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


def open_batch(batch: str, stream: str) -> str:
    """Return the name of the batch with the rows about the provisional end of a stream."""
    return f"{batch}.{stream}"


class Out(Protocol):
    """Where rows go."""

    def write(self, table: str, day: str, batch: str, found: pa.Table) -> None:
        """Take rows of one day and batch, with the columns of the table's files."""

    def keep(self, name: str, data: bytes) -> str:
        """Write the state of a stream, and return its place."""

    def kept(self, place: str) -> bytes:
        """Read the state of a stream."""


@dataclass(slots=True)
class _Waiting:
    rows: list[Row] = field(default_factory=list)
    tables: list[pa.Table] = field(default_factory=list)
    count: int = 0
    """Rows in these tables."""


@dataclass(slots=True)
class Rows:
    """The rows that one task makes. batch: the name of its batch. out: takes them, some thousand at a time."""

    batch: str
    out: Out
    _waiting: dict[tuple[str, str, str], _Waiting] = field(default_factory=dict)

    def add(self, table: str, row: Row, *, stream: str | None = None) -> None:
        """Add a row, with its `date` as text. stream: the stream about whose provisional end the row is."""
        key, waiting = self._of(table, row[DATE], stream)
        waiting.rows.append({**row, BATCH: key[2]})
        if len(waiting.rows) >= _BUFFERED:
            self._flush(key)

    def reject(self, path: str, reason: str, size: int | None, capture: str | None = None) -> None:
        """Add a row of `rejected`."""
        now = datetime.now(UTC)
        row = {"path": plain(path), "reason": plain(reason), "bytes": size, "capture_id": capture, "rejected_at": now}
        self.add("rejected", {**row, DATE: now.date().isoformat()})

    def add_table(self, table: str, days: Days, times: str, found: pa.Table, *, stream: str | None = None) -> None:
        """Add the rows of an Arrow table, each under its day. times: the column with their times in nanoseconds."""
        for day, rows in days.apart(found[times].to_numpy()):
            key, waiting = self._of(table, day, stream)
            waiting.tables.append(found if rows is None else found.take(rows))
            waiting.count += waiting.tables[-1].num_rows
            if waiting.count >= _GROUP:
                self._flush(key)

    def close(self) -> None:
        """Hand out the remaining rows."""
        for key in list(self._waiting):
            self._flush(key)

    def _of(self, table: str, day: str, stream: str | None) -> tuple[tuple[str, str, str], _Waiting]:
        key = (table, day, self.batch if stream is None else open_batch(self.batch, stream))
        return key, self._waiting.setdefault(key, _Waiting())

    def _flush(self, key: tuple[str, str, str]) -> None:
        (table, day, batch), waiting = key, self._waiting.pop(key)
        schema = TABLES[table].arrow()
        found = [pa.Table.from_pylist(waiting.rows, schema=schema)] if waiting.rows else []
        named = pa.scalar(batch)
        for one in waiting.tables:
            unnamed = one.drop_columns(BATCH) if BATCH in one.column_names else one
            filled = unnamed.append_column(BATCH, pa.repeat(named, one.num_rows))
            found.append(filled.select(schema.names).cast(schema))
        self.out.write(table, day, batch, pa.concat_tables(found))


def texts(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return a map as Arrow takes it."""
    return sorted(values.items())
