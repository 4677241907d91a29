"""A lake on Iceberg: the same as one on Delta, with Iceberg tables (format v2) in the same folders, and no catalog.

See `delta` for how a batch comes whole or not at all, `iceberg_files` for how a table gets its next version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.lakes import iceberg_tables
from conformance.pipeline.lakes.delta import TableLake
from conformance.pipeline.lakes.new_tables import create_on, head
from conformance.pipeline.lakes.port import STAGING
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.tables import BATCHES
from conformance.pipeline.lakes.target import Target, schema_of
from conformance.pipeline.schemas import DATE, TABLES

if TYPE_CHECKING:
    import pyarrow

NUMBER: Final = 3
"""The format in the head of such a lake."""


def create(store: Store) -> None:
    """Make an empty lake. Raises PipelineError, OSError and UnfitError."""
    create_on(store, iceberg_tables, head("iceberg", NUMBER))


class IcebergLake(TableLake):
    """A lake on Iceberg, in a folder or in a store."""

    format = "iceberg"
    tables = iceberg_tables

    def target(self, batch: str) -> Target:
        """Return the place for the files of a batch. Only within `writing`, or before the lake has a head."""
        for name in TABLES:
            self._handles[name] = iceberg_tables.widen(self.store, name, self._handle(name))
        ids = {name: self._handles[name].ids() for name in TABLES}
        return IcebergTarget(self.place, batch, staged=False, ids=ids)

    def _clean(self, own: str = "") -> None:
        if self.store.names(STAGING):  # A command has died, or this one ends.
            for name in (*TABLES, BATCHES):
                self._handles[name] = iceberg_tables.sweep(self.store, name, self._handle(name))
        super()._clean(own)


@dataclass(frozen=True, slots=True)
class IcebergTarget(Target):
    """The place for the files of one batch. ids: of each table, the field ids by the names of columns."""

    ids: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def schema(self, table: str) -> pyarrow.Schema:
        """Return the schema of the files of a table: with field ids, and with the day, as Iceberg wants it."""
        import pyarrow as pa

        dated = schema_of(table).append(pa.field(DATE, pa.date32(), False))
        return iceberg_tables.with_ids(dated, self.ids[table])

    @contextmanager
    def writer(self, table: str, day: str, name: str) -> Iterator[Any]:
        """Open a new Parquet file of a table; `write_table` takes its rows, without the day. Raises OSError."""
        with Target.writer(self, table, day, name) as writer:
            yield _Dated(writer, date.fromisoformat(day))


class _Dated:
    """Writes rows of one day."""

    def __init__(self, writer: Any, day: date) -> None:
        self.writer, self.day = writer, day

    def write_table(self, found: pyarrow.Table) -> None:
        """Write rows."""
        import pyarrow as pa

        if DATE not in found.column_names:
            days = pa.repeat(pa.scalar(self.day, pa.date32()), found.num_rows)
            found = found.append_column(pa.field(DATE, pa.date32(), False), days)
        self.writer.write_table(found)
