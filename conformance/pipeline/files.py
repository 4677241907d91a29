"""The Parquet files of a batch: a worker writes them where they stay, unseen until the driver commits them."""

from __future__ import annotations

import json
import socket
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.schemas import BATCH, BATCHES, TABLES, Table
from conformance.pipeline.store import Store, store_of

if TYPE_CHECKING:
    import pyarrow

HEAD: Final = "_mqconform.json"
STATE: Final = "_state"
MAX_STATE: Final = 256 << 20
"""Bytes of the state of a stream."""
_OPEN: Final = 64
"""Files open at once; the least recently used one is closed, and another begun if it is needed again."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a table, as Delta's log names it. path: below the table. day: None in `batches`. stats: JSON."""

    table: str
    path: str
    day: str | None
    size: int
    rows: int
    stats: str


@dataclass(slots=True)
class _File:
    path: str
    day: str
    sink: Any
    writer: Any
    closing: ExitStack
    footers: list[Any]


@dataclass(slots=True)
class Files:
    """Writes rows into the tables of the lake at `place`. parts: the files that are finished."""

    place: str
    parts: list[Part] = field(default_factory=list)
    _store: Store = field(init=False)
    _files: OrderedDict[tuple[str, str, str], _File] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._store = store_of(self.place)
        with self.writing():
            if not self._store.check(HEAD):
                raise PipelineError(
                    f"A worker on {socket.gethostname()} does not see the lake {self.place}: it must have the same path"
                    " on all machines, or lie in a store."
                )

    def write(self, table: str, day: str, batch: str, found: pyarrow.Table) -> None:
        """Write rows. Raises PipelineError."""
        with self.writing():
            key = (table, day, batch)
            file = self._files.get(key)
            if file is None:
                if len(self._files) >= _OPEN:
                    self._finish(next(iter(self._files)))
                file = self._files[key] = self._begun(table, day)
            self._files.move_to_end(key)
            file.writer.write_table(found)

    def keep(self, name: str, data: bytes) -> str:
        """Write the state of a stream, and return its place."""
        place = f"{STATE}/{uuid4().hex}-{name}"
        with self.writing():
            self._store.write(place, data)
        return place

    def kept(self, place: str) -> bytes:
        """Read the state of a stream. Raises PipelineError."""
        with self.writing():
            return self._store.read(place, MAX_STATE)

    def close(self) -> list[Part]:
        """Finish the files and return them. Raises PipelineError."""
        with self.writing():
            while self._files:
                self._finish(next(iter(self._files)))
        return self.parts

    def drop(self) -> None:
        """Remove what was written, which nobody will see."""
        for file in self._files.values():
            with suppress(Exception):  # What is left is in no table, and `vacuum` removes it.
                file.closing.close()
        for place in [f"{table}/{one.path}" for (table, _, _), one in self._files.items()]:
            with suppress(Exception):
                self._store.remove(place)
        for part in self.parts:
            with suppress(Exception):
                self._store.remove(f"{part.table}/{part.path}")
        self.parts, self._files = [], OrderedDict()

    def _begun(self, table: str, day: str) -> _File:
        from pyarrow import parquet

        named, path = TABLES.get(table, BATCHES), f"part-{uuid4().hex}.parquet"
        path = path if named is BATCHES else f"date={day}/{path}"
        closing, footers = ExitStack(), list[Any]()
        sink = closing.enter_context(self._store.sink(f"{table}/{path}"))
        try:
            writer = closing.enter_context(_writer(parquet, sink, named, footers))
        except BaseException:
            closing.close()
            raise
        return _File(path, day, sink, writer, closing, footers)

    def _finish(self, key: tuple[str, str, str]) -> None:
        table, day, batch = key
        file = self._files[key]
        file.writer.close()
        size = file.sink.tell()
        del self._files[key]
        file.closing.close()
        (footer,) = file.footers
        self.parts.append(Part(table, file.path, day or None, size, footer.num_rows, stats_of(footer, batch)))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Raise PipelineError for a failure to write, which is not the fault of a capture."""
        try:
            yield
        except (OSError, UnfitError) as problem:
            text = getattr(problem, "strerror", None) or str(problem)
            raise PipelineError(f"The lake {self.place} cannot be written: {text}.") from None


def _writer(parquet: Any, sink: Any, table: Table, footers: list[Any]) -> Any:
    return parquet.ParquetWriter(
        sink, table.arrow(), compression="zstd", metadata_collector=footers, **table.encodings()
    )


def stats_of(footer: Any, batch: str) -> str:
    """Return Delta's statistics of a file: its rows, its batch, and the first and last of its times."""
    low, high = {BATCH: batch}, {BATCH: batch}
    for name, first, last in _times(footer):
        low[name], high[name] = first, last
    return json.dumps(
        {"numRecords": footer.num_rows, "minValues": low, "maxValues": high, "nullCount": {BATCH: 0}}, ensure_ascii=True
    )


def _times(footer: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the columns of times with their first and last value, where every group of rows tells them."""
    for at in range(footer.num_columns):
        if footer.schema.column(at).logical_type.type != "TIMESTAMP":
            continue
        columns = [footer.row_group(group).column(at) for group in range(footer.num_row_groups)]
        found = [one.statistics for one in columns if one.is_stats_set and one.statistics.has_min_max]
        if found and len(found) == len(columns):
            first, last = min(one.min for one in found), max(one.max for one in found)
            yield columns[0].path_in_schema, _utc(first), _utc(last)


def _utc(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


__all__ = ["HEAD", "STATE", "Files", "Part"]
