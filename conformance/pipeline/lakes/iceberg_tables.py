"""The Iceberg tables of a lake, through pyiceberg: making, listing and changing them. Format v2, divided by `date`.

Data files have the field ids of the table, and the day as a column too, so that every reader of Iceberg takes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes.iceberg_entries import Adding, data_file, listed_file
from conformance.pipeline.lakes.iceberg_old import OURS, end, past, unnamed, unneeded
from conformance.pipeline.lakes.iceberg_opened import (
    CLEARED,
    NUMBER,
    Opened,
    columns,
    ids_of,
    in_iceberg,
    load,
    refreshed,
    schema,
    then,
    with_ids,
)
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.tables import BATCHES, Listed, New, footer_of, meanwhile, need, stats_of, told
from conformance.pipeline.lakes.target import BATCH
from conformance.pipeline.log import Part
from conformance.pipeline.schemas import DATE

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile

VERSIONS_KEPT: Final = 20
"""Versions of the metadata of a table beside the newest."""
KEEP_DAYS: Final = 8
"""Days of snapshots that are kept: one more than `vacuum` keeps files."""
MOST_SNAPSHOTS: Final = 1_000
"""Snapshots of a table that are kept, however young: each commit writes all of them again."""
_ENDED = 100
"""Snapshots beyond that which end at once."""
_TRIES = 20  # Commits of a batch while others swap files.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Removing:
    """A file to remove."""

    place: str


def require() -> None:
    """Raise PipelineError if pyiceberg is not installed."""
    need("Iceberg", ("pyiceberg", "pyarrow"), "iceberg")


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
        found = in_iceberg(schema(name))
        spec = UNPARTITIONED_PARTITION_SPEC
        if name != BATCHES:
            spec = PartitionSpec(PartitionField(found.find_field(DATE).field_id, 1000, IdentityTransform(), DATE))
        settings = {
            "format-version": "2",
            "commit.retry.num-retries": "0",
            "commit.manifest-merge.enabled": "true",
            "write.metadata.delete-after-commit.enabled": "true",
            f"write.metadata.metrics.column.{BATCH}": "full",  # whoever rewrites files: by these they count
            "write.metadata.previous-versions-max": str(VERSIONS_KEPT),
        }
        made = new_table_metadata(found, spec, UNSORTED_SORT_ORDER, store.name(name), settings)
        with suppress(FileExistsError):
            write_version(store, name, 1, made)


def listed(store: Store, name: str, table: Opened) -> list[Listed]:
    """Return the files of a table. Raises PipelineError for a path that leads elsewhere, and for deletion files."""
    from pyiceberg.manifest import ManifestContent

    with told(store, name):
        io = table.io()
        snapshot = table.snapshot()
        manifests = snapshot.manifests(io) if snapshot is not None else []
        if any(one.content != ManifestContent.DATA for one in manifests):
            raise PipelineError(
                f"The table {name} of the lake {store.place} has files that delete rows of other files, which this"
                " mqconform does not read: rewrite its data files with the tool that deleted the rows."
            )

        if len({one.manifest_path for one in manifests}) < len(manifests):  # before any of them is read
            raise UnfitError("names a manifest twice")

        def entries(one: Any) -> list[DataFile]:
            known = table.manifests.get(one.manifest_path)
            if known is not None:
                return known
            return [entry.data_file for entry in one.fetch_manifest_entry(io, discard_deleted=True)]

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = list(pool.map(entries, manifests))
        table.manifests = {one.manifest_path: files for one, files in zip(manifests, found, strict=True)}
        fields = ids_of(table.table.schema())
        out = []
        table.files = {}
        for file in (file for files in found for file in files):
            one = listed_file(store, name, io, file, fields)
            if one.place in table.files:
                raise UnfitError(f"names the file {one.name} twice")
            table.files[one.place] = file
            out.append(one)
    return out


def adding(store: Store, part: Part, batch: str | None) -> Adding:
    """Return the action that adds a file that was written, with bounds from its footer. batch: of all its rows.

    Raises PipelineError if it has another number of rows than was told.
    """
    path, footer, size = footer_of(store, part)
    return Adding(path, part.date, size, stats_of(footer, batch))


def removing(files: Iterable[Listed], table: str) -> list[Removing]:
    """Return the actions that remove files from a table."""
    return [Removing(one.place) for one in files]


def change(
    store: Store, name: str, table: Opened, actions: Sequence[Adding | Removing], transaction: int | None = None
) -> None:
    """Commit actions to a table, all or none; they add files or remove some. transaction: the number of the batch.

    It fails if another batch has changed the table since it was opened; without actions, it makes others fail that were
    opened before. Raises PipelineError.
    """
    writers = table.writers()
    for _ in range(_TRIES):
        if _committed(store, name, table, actions, transaction):
            return
        newer = refreshed(store, name, table)
        if newer.writers() != writers:
            break
        if any(isinstance(one, Removing) for one in actions):
            listed(store, name, newer)
        table.table, table.number = newer.table, newer.number
        table.files, table.manifests = newer.files, newer.manifests
    raise meanwhile(store)


def swap(store: Store, name: str, table: Opened, gone: Sequence[Listed], new: Sequence[New]) -> None:
    """Put new files in the place of others, without a change of rows; `table` has its new version afterwards.

    Raises FileExistsError if another command has changed the table since it was opened, and PipelineError.
    """
    if any(one.place not in table.files for one in gone):
        listed(store, name, table)
    added = [Adding(one.path, one.date, one.size, one.stats) for one in new]
    if not _committed(store, name, table, [*removing(gone, name), *added], None):
        raise FileExistsError(f"{name} has a version {table.number + 1}")


def _committed(
    store: Store, name: str, table: Opened, actions: Sequence[Adding | Removing], transaction: int | None
) -> bool:
    """Try to make the next version of a table, and tell whether it was made. Raises PipelineError."""
    from pyiceberg.exceptions import CommitFailedException

    from conformance.pipeline.lakes.iceberg_files import Changing, number_of

    added = [one for one in actions if isinstance(one, Adding)]
    gone = [one for one in actions if isinstance(one, Removing)]
    if any(one.place not in table.files for one in gone):
        return False
    about = {} if transaction is None else {NUMBER: str(transaction)}
    batches = (
        {str(one.stats["minValues"][BATCH]) for one in added if BATCH in one.stats["minValues"]} if about else set()
    )
    named = {"mqconform.batch": batches.pop()} if len(batches) == 1 else {}
    with told(store, name):
        try:
            with Changing(table.table) as changing:
                changed: Any = changing.update_snapshot(snapshot_properties=about | named)
                if gone:
                    changed = changed.overwrite(commit_uuid=_own_name())
                elif added:
                    changed = changed.merge_append()
                    changed.commit_uuid = _own_name()
                if actions:
                    with changed:
                        for each in added:
                            changed.append_data_file(data_file(table, name, each))
                        for one in gone:
                            changed.delete_data_file(table.files[one.place])
                if about or not actions:
                    changing.set_properties(about | ({} if actions else {CLEARED: str(uuid4())}))
        except CommitFailedException:
            return False
        table.number = number_of(table.table.metadata_location)
    return True


def widen(store: Store, name: str, table: Opened) -> Opened:
    """Add the columns that a table made by an earlier version lacks. Raises PipelineError."""
    with told(store, name):
        there = {one.name for one in table.table.schema().fields}
        lacking = [one for one in in_iceberg(schema(name)).fields if one.name not in there]
        if lacking:
            with table.table.update_schema() as update:
                for one in lacking:
                    update.add_column(one.name, one.field_type)
            table = refreshed(store, name, table)
    return table


def sweep(store: Store, name: str, table: Opened) -> Opened:
    """Remove what commits that died have left in the metadata of a table, and mend its version hint.

    A command of ours that is only asleep can then no longer finish such a commit. Manifests of other makes stay.
    Snapshots of long ago end, and the first of too many.
    """
    from conformance.pipeline.lakes.iceberg_files import HINT, VERSION, hinted

    with told(store, name):
        names = store.names(f"{name}/metadata")
        if unnamed(table, names):
            change(store, name, table, [])
            for one in unnamed(table, names):
                store.remove(f"{name}/metadata/{one}")
        if len(past(table, KEEP_DAYS, MOST_SNAPSHOTS)) >= _ENDED:
            table = end(store, name, table, KEEP_DAYS, MOST_SNAPSHOTS)
        logged = {one.metadata_file.rpartition("/")[2] for one in table.table.metadata.metadata_log}
        for one in names:
            found = VERSION.fullmatch(one)
            if found is not None and int(found[1]) < table.number and one not in logged:
                store.remove(f"{name}/metadata/{one}")
        if hinted(store, name) != table.number:
            store.write(f"{name}/{HINT}", b"%d" % table.number)
    return table


def _own_name() -> UUID:
    return UUID(f"{OURS}{uuid4().hex[8:]}")


__all__ = [
    "Adding",
    "Opened",
    "Removing",
    "adding",
    "change",
    "columns",
    "end",
    "listed",
    "load",
    "make",
    "refreshed",
    "removing",
    "require",
    "schema",
    "swap",
    "sweep",
    "then",
    "unnamed",
    "unneeded",
    "widen",
    "with_ids",
]
