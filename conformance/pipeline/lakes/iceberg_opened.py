"""Iceberg tables of a lake as they are opened: at which version, with which columns, and whether they are ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes import tables
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.tables import BATCHES, may_lack, told
from conformance.pipeline.schemas import DATE

if TYPE_CHECKING:
    import pyarrow
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.table.snapshots import Snapshot

    from conformance.pipeline.lakes.iceberg_files import Files

FIELD_ID: Final = b"PARQUET:field_id"
NUMBER: Final = "mqconform.number"
"""The setting of a table with the number of its last batch, and of a snapshot with that of its own."""
CLEARED: Final = "mqconform.cleared"
"""The setting that is another one after what dead commands left was cleared away."""


@dataclass(slots=True)
class Opened:
    """A table at one of its versions. files: its data files by their places in the lake, once they were listed.

    at: the id of its snapshot if it is opened as it was then.
    """

    table: Table
    number: int
    files: dict[str, DataFile] = field(default_factory=dict)
    manifests: dict[str, list[DataFile]] = field(default_factory=dict)
    at: int | None = None

    def version(self) -> int:
        """Return the id of its snapshot, 0 without one."""
        return self.table.metadata.current_snapshot_id or 0 if self.at is None else self.at

    def snapshot(self) -> Snapshot | None:
        """Return its snapshot."""
        return self.table.metadata.snapshot_by_id(self.version()) if self.version() else None

    def ids(self) -> Mapping[str, int]:
        """Return the field ids of its columns, and of what is in them, by their names."""
        return ids_of(self.table.schema())

    def io(self) -> Files:
        """Return its files."""
        return self.table.io  # type: ignore[return-value]

    def writers(self) -> tuple[str | None, str | None]:
        """Return what changes whenever another batch or a clearing has changed it, and stays when files are swapped."""
        known = self.table.metadata.properties
        return known.get(NUMBER), known.get(CLEARED)


def load(store: Store, name: str) -> Opened:
    """Open a table at its newest version, and check that it is one of ours. Raises PipelineError."""
    from conformance.pipeline.lakes.iceberg_files import newest

    with told(store, name):
        return _opened(store, name, newest(store, name))


def refreshed(store: Store, name: str, table: Opened) -> Opened:
    """Return the table at its newest version. Raises PipelineError."""
    from conformance.pipeline.lakes.iceberg_files import newest

    with told(store, name):
        number = newest(store, name, table.number)
        if number == table.number:
            return table
        found = _opened(store, name, number)
    found.manifests = table.manifests
    if found.version() == table.version():
        found.files = table.files
    return found


def then(store: Store, name: str, version: int) -> Opened:
    """Open a table as it was with this snapshot, 0: none. Raises PipelineError, and KeyError if it has expired."""
    found = load(store, name)
    if version and found.table.metadata.snapshot_by_id(version) is None:
        raise KeyError(version)
    found.at = version
    return found


def schema(name: str) -> pyarrow.Schema:
    """Return the schema of a table, with its day, and with field ids as a new table has them."""
    return with_ids(tables.schema(name))


def columns(name: str, table: Opened) -> pyarrow.Schema:
    """Return the columns of the files of a table, with their field ids, also those that this version does not know."""
    import pyarrow as pa
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    known = {one.name: one for one in tables.schema(name)}
    found = schema_to_pyarrow(table.table.schema(), include_field_ids=False)
    return with_ids(pa.schema([known.get(one.name, one) for one in found]), table.ids())


def with_ids(arrow: pyarrow.Schema, ids: Mapping[str, int] | None = None) -> pyarrow.Schema:
    """Return a schema with a field id for each column and for what is in it. ids: by name; None: from 1."""
    import pyarrow as pa

    numbers = count(1)

    def of(name: str) -> dict[bytes, bytes]:
        return {FIELD_ID: str(next(numbers) if ids is None else ids[name]).encode()}

    known = {one.name: of(one.name) for one in arrow}

    def inner(kind: Any, name: str) -> Any:
        def sub(found: Any, last: str) -> Any:
            place = f"{name}.{last}"
            marks = of(place)
            return found.with_type(inner(found.type, place)).with_metadata(marks)

        if pa.types.is_map(kind):
            return pa.map_(sub(kind.key_field, "key"), sub(kind.item_field, "value"))
        if pa.types.is_list(kind):
            return pa.list_(sub(kind.value_field, "element"))
        if pa.types.is_struct(kind):
            return pa.struct([sub(kind.field(at), kind.field(at).name) for at in range(kind.num_fields)])
        return kind

    return pa.schema([one.with_type(inner(one.type, one.name)).with_metadata(known[one.name]) for one in arrow])


def in_iceberg(arrow: pyarrow.Schema) -> Schema:
    """Return a schema with field ids as Iceberg has it."""
    from pyiceberg.io.pyarrow import pyarrow_to_schema

    return pyarrow_to_schema(arrow)


def ids_of(found: Schema) -> dict[str, int]:
    """Return the field ids of a schema by name."""
    return {found.find_column_name(one) or "": one for one in found.field_ids}


def _opened(store: Store, name: str, number: int) -> Opened:
    from pyiceberg.table import Table

    from conformance.pipeline.lakes.iceberg_files import Files, Versions, read_version, version_file

    if not number:
        raise UnfitError("has no metadata")
    metadata = read_version(store, name, number)
    _check(store, name, metadata)
    location = metadata.location.rstrip("/")
    table = Table(
        ("lake", name),
        metadata,
        f"{location}/{version_file(number)}",
        Files(store, name, location),
        Versions(store, name),
    )
    return Opened(table, number)


def _check(store: Store, name: str, metadata: TableMetadata) -> None:
    """Check that a table has nothing that this version does not know. Raises PipelineError and UnfitError."""
    if metadata.format_version != 2:
        raise PipelineError(
            f"The table {name} of the lake {store.place} has version {metadata.format_version} of Iceberg's format,"
            " which this mqconform does not know; it knows 2."
        )
    found = metadata.schema()
    columns = {one.name: one for one in found.fields}
    for wanted in in_iceberg(schema(name)).fields:
        if wanted.name not in columns:
            if not may_lack(name, wanted.name):
                raise UnfitError(f"lacks the column {wanted.name}")
        elif _shape(columns[wanted.name].field_type) != _shape(wanted.field_type):
            raise UnfitError(f"has a column {wanted.name} of another type")
        elif name == BATCHES and columns[wanted.name].field_id != wanted.field_id:
            raise UnfitError(f"has another field id for {wanted.name}")
    current, main = metadata.current_snapshot_id, metadata.refs.get("main")
    if current is not None and (metadata.snapshot_by_id(current) is None or main is None):
        raise UnfitError("names a snapshot that is not there")
    if main is not None and main.snapshot_id != current:
        raise UnfitError("has a main branch that is not its present state")
    if len(metadata.partition_specs) != 1:
        raise UnfitError("is divided in more than one way")
    parts = [(found.find_column_name(one.source_id), str(one.transform)) for one in metadata.spec().fields]
    if parts != ([] if name == BATCHES else [(DATE, "identity")]):
        raise UnfitError("is not divided by date" if name != BATCHES else "is divided")


def _shape(kind: Any) -> str:
    return re.sub(r"\b\d+: ", "", str(kind))
