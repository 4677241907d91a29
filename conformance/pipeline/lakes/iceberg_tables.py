"""The Iceberg tables of a lake, through pyiceberg: making, reading and changing them. Format v2, divided by `date`.

Data files have the field ids of the table, and the day as a column too, so that every reader of Iceberg takes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes import delta_tables
from conformance.pipeline.lakes.delta_tables import BATCHES, DATA_FILE, Listed, may_lack, times, told
from conformance.pipeline.lakes.port import damaged
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.target import BATCH
from conformance.pipeline.log import Part
from conformance.pipeline.schemas import DATE
from conformance.report.text import label

if TYPE_CHECKING:
    import pyarrow
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata

    from conformance.pipeline.lakes.iceberg_files import Files

VERSIONS_KEPT: Final = 100
"""Versions of the metadata of a table beside the newest."""
FIELD_ID: Final = b"PARQUET:field_id"
_OURS = "6d71636f"
"""The first digits of the names of all manifests that are written here."""
_MANIFEST = re.compile(rf"(?:snap-\d+-\d+-)?({_OURS}-[0-9a-f-]{{27}})(?:-m\d+)?\.avro", re.ASCII)
_AT_ONCE = 8


@dataclass(slots=True)
class Opened:
    """A table at one of its versions. files: its data files by their places in the lake."""

    table: Table
    number: int
    files: dict[str, DataFile] = field(default_factory=dict)
    manifests: dict[str, list[DataFile]] = field(default_factory=dict)

    def version(self) -> int:
        """Return the id of its snapshot, 0 without one."""
        return self.table.metadata.current_snapshot_id or 0

    def ids(self) -> Mapping[str, int]:
        """Return the field ids of its columns, and of what is in them, by their names."""
        return _ids(self.table.schema())


@dataclass(frozen=True, slots=True)
class Adding:
    """A file to add. low, high: bounds of columns."""

    part: Part
    size: int
    batch: str
    low: Mapping[str, str | datetime]
    high: Mapping[str, str | datetime]


@dataclass(frozen=True, slots=True)
class Removing:
    """A file to remove."""

    place: str


def require() -> None:
    """Raise PipelineError if pyiceberg is not installed."""
    missing = [name for name in ("pyiceberg", "pyarrow") if find_spec(name) is None]
    if missing:
        raise PipelineError(
            f"A lake on Iceberg needs {' and '.join(missing)}: install the extra with pip install"
            " 'mqconform[iceberg]', or make a folder of Parquet files with --format folder."
        )


def schema(name: str) -> pyarrow.Schema:
    """Return the schema of a table, with field ids as a new table has them."""
    return with_ids(delta_tables.schema(name))


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


def make(store: Store, name: str) -> None:
    """Make an empty table, if there is none. Raises PipelineError."""
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
    from pyiceberg.table.metadata import new_table_metadata
    from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
    from pyiceberg.transforms import IdentityTransform

    from conformance.pipeline.lakes.iceberg_files import newest, write_version

    with told(store, name):
        if newest(store, name):
            return
        columns = _iceberg(schema(name))
        spec = UNPARTITIONED_PARTITION_SPEC
        if name != BATCHES:
            spec = PartitionSpec(PartitionField(columns.find_field(DATE).field_id, 1000, IdentityTransform(), DATE))
        settings = {
            "format-version": "2",
            "commit.retry.num-retries": "0",
            "commit.manifest-merge.enabled": "true",
            "write.metadata.delete-after-commit.enabled": "true",
            "write.metadata.previous-versions-max": str(VERSIONS_KEPT),
        }
        made = new_table_metadata(columns, spec, UNSORTED_SORT_ORDER, store.name(name), settings)
        with suppress(FileExistsError):
            write_version(store, name, 1, made)


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
    return found


def listed(store: Store, name: str, table: Opened) -> list[Listed]:
    """Return the files of a table. Raises PipelineError for a path that leads elsewhere, and for deletion files."""
    from pyiceberg.manifest import ManifestContent

    with told(store, name):
        io = _files(table)
        snapshot = table.table.current_snapshot()
        manifests = snapshot.manifests(io) if snapshot is not None else []
        if any(one.content != ManifestContent.DATA for one in manifests):
            raise PipelineError(
                f"The table {name} of the lake {store.place} has files that delete rows of other files, which this"
                " mqconform does not read: rewrite its data files with the tool that deleted the rows."
            )

        def entries(one: Any) -> list[DataFile]:
            known = table.manifests.get(one.manifest_path)
            if known is not None:
                return known
            return [entry.data_file for entry in one.fetch_manifest_entry(io, discard_deleted=True)]

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(entries, manifests))
        table.manifests = {one.manifest_path: files for one, files in zip(manifests, found, strict=True)}
        own = table.table.schema().find_field(BATCH).field_id
        out = []
        table.files = {}
        for file in (file for files in found for file in files):
            one = _listed(store, name, io, file, own)
            table.files[one.place] = file
            out.append(one)
    return out


def adding(store: Store, part: Part, batch: str) -> Adding:
    """Return the action that adds a file that was written, with bounds from its footer.

    Raises PipelineError if it has another number of rows than was told.
    """
    from pyarrow import parquet

    place = part.place if part.table != BATCHES else f"{BATCHES}/{part.name}"
    with told(store, part.table):
        footer = parquet.read_metadata(str(store.path(place)), filesystem=store.arrow)
        size = store.size(place)
    if footer.num_rows != part.rows:
        raise PipelineError(f"{store.name(place)} has {footer.num_rows:,} rows instead of {part.rows:,}.")
    low: dict[str, str | datetime] = {BATCH: batch}
    high: dict[str, str | datetime] = {BATCH: batch}
    for column, first, last in times(footer):
        low[column], high[column] = datetime.fromisoformat(first), datetime.fromisoformat(last)
    return Adding(part, size, batch, low, high)


def removing(files: Iterable[Listed], table: str) -> list[Removing]:
    """Return the actions that remove files from a table."""
    return [Removing(one.place) for one in files]


def change(
    store: Store, name: str, table: Opened, actions: Sequence[Adding | Removing], transaction: int | None = None
) -> None:
    """Commit actions to a table, all or none; they add files or remove some. transaction: the number of the batch.

    It fails if the table was changed since it was opened; without actions, it makes others fail that were opened
    before. Raises PipelineError.
    """
    from pyiceberg.exceptions import CommitFailedException

    from conformance.pipeline.lakes.iceberg_files import number_of

    with told(store, name):
        added = [one for one in actions if isinstance(one, Adding)]
        about = {"mqconform.number": str(transaction), "mqconform.batch": added[0].batch} if added else {}
        try:
            with table.table.transaction() as changing:
                if added:
                    appending = changing.update_snapshot(snapshot_properties=about).merge_append()
                    appending.commit_uuid = _own_name()
                    with appending:
                        for each in added:
                            appending.append_data_file(_data_file(table, name, each))
                elif actions:
                    replacing = changing.update_snapshot().overwrite(commit_uuid=_own_name())
                    with replacing:
                        for gone in (one for one in actions if isinstance(one, Removing)):
                            replacing.delete_data_file(table.files[gone.place])
                else:
                    changing.set_properties({"mqconform.cleared": str(uuid4())})
        except CommitFailedException:
            raise PipelineError(
                f"Another command has written to the lake {store.place} meanwhile, and nothing of this one is in it:"
                " run it again."
            ) from None
        table.number = number_of(table.table.metadata_location)


def widen(store: Store, name: str, table: Opened) -> Opened:
    """Add the columns that a table made by an earlier version lacks. Raises PipelineError."""
    with told(store, name):
        there = {one.name for one in table.table.schema().fields}
        lacking = [one for one in _iceberg(schema(name)).fields if one.name not in there]
        if lacking:
            with table.table.update_schema() as update:
                for one in lacking:
                    update.add_column(one.name, one.field_type)
            table = refreshed(store, name, table)
    return table


def sweep(store: Store, name: str, table: Opened) -> Opened:
    """Remove what commits that died have left in the metadata of a table, and mend its version hint.

    A command of ours that is only asleep can then no longer finish such a commit. Manifests of other makes stay.
    """
    from conformance.pipeline.lakes.iceberg_files import HINT, VERSION, hinted

    with told(store, name):
        names = store.names(f"{name}/metadata")
        if unnamed(table, names):
            change(store, name, table, [])
            for one in unnamed(table, names):
                store.remove(f"{name}/metadata/{one}")
        logged = {one.metadata_file.rpartition("/")[2] for one in table.table.metadata.metadata_log}
        for one in names:
            found = VERSION.fullmatch(one)
            if found is not None and int(found[1]) < table.number and one not in logged:
                store.remove(f"{name}/metadata/{one}")
        if hinted(store, name) != table.number:
            store.write(f"{name}/{HINT}", b"%d" % table.number)
    return table


def unnamed(table: Opened, names: Iterable[str]) -> list[str]:
    """Return the manifests, by our commits, that no snapshot of the table has."""
    snapshots = table.table.metadata.snapshots
    done = {found[1] for one in snapshots if (found := _MANIFEST.fullmatch(_last(one.manifest_list))) is not None}
    left = [one for one in names if (found := _MANIFEST.fullmatch(one)) is not None and found[1] not in done]
    if left:  # The snapshot that wrote a manifest may have expired while others go on with it.
        io = _files(table)
        used = {_last(manifest.manifest_path) for one in snapshots for manifest in one.manifests(io)}
        left = [one for one in left if one not in used]
    return left


def _last(location: str) -> str:
    return location.rpartition("/")[2]


def _own_name() -> UUID:
    return UUID(f"{_OURS}{uuid4().hex[8:]}")


def _iceberg(arrow: pyarrow.Schema) -> Schema:
    from pyiceberg.io.pyarrow import pyarrow_to_schema

    return pyarrow_to_schema(arrow)


def _ids(columns: Schema) -> dict[str, int]:
    return {columns.find_column_name(one) or "": one for one in columns.field_ids}


def _files(table: Opened) -> Files:
    return table.table.io  # type: ignore[return-value]


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
    for wanted in _iceberg(schema(name)).fields:
        if wanted.name not in columns:
            if name == BATCHES or wanted.name in (DATE, BATCH) or not may_lack(name, wanted.name):
                raise UnfitError(f"lacks the column {wanted.name}")
        elif _shape(columns[wanted.name].field_type) != _shape(wanted.field_type):
            raise UnfitError(f"has a column {wanted.name} of another type")
        elif name == BATCHES and columns[wanted.name].field_id != wanted.field_id:
            raise UnfitError(f"has another field id for {wanted.name}")
    if len(metadata.partition_specs) != 1:
        raise UnfitError("is divided in more than one way")
    parts = [(found.find_column_name(one.source_id), str(one.transform)) for one in metadata.spec().fields]
    if parts != ([] if name == BATCHES else [(DATE, "identity")]):
        raise UnfitError("is not divided by date" if name != BATCHES else "is divided")


def _shape(kind: Any) -> str:
    return re.sub(r"\b\d+: ", "", str(kind))


def _listed(store: Store, name: str, io: Files, file: DataFile, own: int) -> Listed:
    try:
        below = io.within(file.file_path)
    except UnfitError as problem:
        raise damaged(store.name(name), problem) from None
    match = DATA_FILE.fullmatch(below)
    if match is None or (match[1] is None) != (name == BATCHES):
        raise UnfitError(f"names the file {label(file.file_path, 100)!a}, which is none of its own")
    if file.file_format.value != "PARQUET":
        raise UnfitError(f"has a file {match[0]} that is not Parquet")
    if match[1] is not None and _day(file.partition[0]) != match[1]:
        raise UnfitError(f"has another date for the file {match[0]}")
    if type(file.record_count) is not int or file.record_count < 0:
        raise UnfitError(f"does not tell the rows of the file {match[0]}")
    first, last = (file.lower_bounds or {}).get(own), (file.upper_bounds or {}).get(own)
    batch = first.decode("utf-8", "replace") if first is not None and first == last else None
    return Listed(f"{name}/{match[0]}", match[1] or "", match[2], file.record_count, file.file_size_in_bytes, batch)


def _day(value: Any) -> str | None:
    """Return a day, which Avro has as a number since 1970."""
    if isinstance(value, date):
        return value.isoformat()
    try:
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    except (TypeError, OverflowError):
        return None


def _data_file(table: Opened, name: str, one: Adding) -> DataFile:
    from pyiceberg.conversions import to_bytes
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record
    from pyiceberg.types import PrimitiveType

    columns = table.table.schema()
    fields = {each.name: each for each in columns.fields}
    kinds = {each.name: each.field_type for each in columns.fields if isinstance(each.field_type, PrimitiveType)}
    spec = table.table.spec()

    def bounds(values: Mapping[str, str | datetime]) -> dict[int, bytes]:
        return {
            fields[column].field_id: to_bytes(kinds[column], _stored(value))
            for column, value in values.items()
            if column in kinds
        }

    below = one.part.name if name == BATCHES else one.part.place.partition("/")[2]
    days = () if name == BATCHES else ((date.fromisoformat(one.part.date) - date(1970, 1, 1)).days,)
    found = DataFile.from_args(
        _table_format_version=2,
        content=DataFileContent.DATA,
        file_path=f"{_files(table).location}/{below}",
        file_format=FileFormat.PARQUET,
        partition=Record(*days),
        record_count=one.part.rows,
        file_size_in_bytes=one.size,
        null_value_counts={fields[BATCH].field_id: 0},
        lower_bounds=bounds(one.low),
        upper_bounds=bounds(one.high),
        sort_order_id=None,
    )
    found.spec_id = spec.spec_id
    return found


def _stored(value: str | datetime) -> str | int:
    """Return a value as bounds have it: times in microseconds since 1970."""
    if isinstance(value, str):
        return value
    return (value - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) // timedelta(microseconds=1)
