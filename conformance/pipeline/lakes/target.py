"""Where the files of one batch are written, by workers of any machine, before a commit makes them part of a lake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.lakes.store import Store, store_of
from conformance.pipeline.log import STATE
from conformance.pipeline.schemas import TABLES

if TYPE_CHECKING:
    import pyarrow

BATCH: Final = "batch"
MAX_CARRY: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Target:
    """The place for the files of one batch; small, so that tasks carry it.

    root: the lake. batch: its name. staged: all files are put into the batch's folder, and moved by the commit; else
    each is written where it stays, unseen until the commit, and its rows name the batch.
    """

    root: str
    batch: str
    staged: bool

    @property
    def store(self) -> Store:
        """The store of the lake."""
        return _stored(self.root)

    @property
    def folder(self) -> str:
        """The place of the batch's own folder, which is removed in the end."""
        return f"_staging/{self.batch}"

    def place(self, table: str, day: str, name: str) -> str:
        """Return the place of a file before the commit."""
        return f"{self.folder}/{name}" if self.staged else f"{table}/date={day}/{name}"

    def sink(self, table: str, day: str, name: str) -> AbstractContextManager[Any]:
        """Open a new file of a table, as `Store.sink`."""
        return self.store.sink(self.place(table, day, name))  # type: ignore[no-any-return]

    def schema(self, table: str) -> pyarrow.Schema:
        """Return the schema of the files of a table."""
        return schema_of(table) if not self.staged else TABLES[table].arrow()

    def filled(self, table: str, found: pyarrow.Table) -> pyarrow.Table:
        """Return the rows with what the format adds to them: the batch."""
        if self.staged or BATCH in found.column_names:
            return found
        import pyarrow as pa

        named = pa.DictionaryArray.from_arrays(pa.array([0] * found.num_rows, pa.int8()), [self.batch])
        return found.append_column(pa.field(BATCH, pa.string(), False), named.cast(pa.string()))

    @contextmanager
    def writer(self, table: str, day: str, name: str) -> Iterator[Any]:
        """Open a new Parquet file of a table; `write_table` takes its rows. Raises OSError."""
        from pyarrow import parquet

        how = TABLES[table].encodings()
        if not self.staged and BATCH not in TABLES[table].names:
            how["use_dictionary"] = [*how["use_dictionary"], BATCH]
        with (
            self.sink(table, day, name) as sink,
            parquet.ParquetWriter(sink, self.schema(table), compression="zstd", **how) as writer,
        ):
            yield writer

    def source(self, table: str, day: str, name: str) -> pyarrow.Table:
        """Read a file of this batch whole."""
        from pyarrow import parquet

        path = self.store.path(self.place(table, day, name))
        return parquet.read_table(str(path), partitioning=None, filesystem=self.store.arrow)

    def remove(self, table: str, day: str, name: str) -> None:
        """Remove a file of this batch."""
        self.store.remove(self.place(table, day, name))

    def keep(self, name: str, data: bytes) -> str:
        """Write the state of a stream, and return the name that the log has for it."""
        if self.staged:
            self.store.write(f"{self.folder}/{name}", data)
            return name
        name = f"{self.batch}-{name}"
        self.store.write(f"{STATE}/{name}", data)
        return name

    def carry(self, name: str, data: bytes) -> str:
        """Write what a task hands to another task of the same batch, and return its place."""
        place = f"{self.folder}/{name}"
        self.store.write(place, data)
        return place

    def carried(self, place: str) -> bytes:
        """Read what another task has handed over."""
        return self.store.read(place, MAX_CARRY)


def schema_of(table: str) -> pyarrow.Schema:
    """Return the schema of the files of a table whose rows all name their batch."""
    found = TABLES[table].arrow()
    if BATCH in found.names:
        return found
    import pyarrow as pa

    return found.append(pa.field(BATCH, pa.string(), False))


@lru_cache(maxsize=8)
def _stored(root: str) -> Store:
    return store_of(root)
