"""Which versions of an Iceberg table may end, and which of its files nothing needs any more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING, Final

from conformance.pipeline.keeping_files import TRIES, busy
from conformance.pipeline.lakes.iceberg_opened import Opened, refreshed
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.tables import DATA_FILE, told

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot

OURS: Final = "6d71636f"
"""The first digits of the names of all manifests that are written here."""
_MANIFEST = re.compile(rf"(?:snap-\d+-\d+-)?({OURS}-[0-9a-f-]{{27}})(?:-m\d+)?\.avro", re.ASCII)


def unnamed(table: Opened, names: Iterable[str]) -> list[str]:
    """Return the manifests, by our commits, that no snapshot of the table has."""
    snapshots = table.table.metadata.snapshots
    done = {found[1] for one in snapshots if (found := _MANIFEST.fullmatch(_last(one.manifest_list))) is not None}
    left = [one for one in names if (found := _MANIFEST.fullmatch(one)) is not None and found[1] not in done]
    if left:  # The snapshot that wrote a manifest may have expired while others go on with it.
        used = {_last(manifest.manifest_path) for one in snapshots for manifest in one.manifests(table.io())}
        left = [one for one in left if one not in used]
    return left


def past(table: Opened, keep_days: float, most: int | None = None) -> list[Snapshot]:
    """Return the snapshots that nobody needs who reads the table as it was in the last days.

    most: the number of the last snapshots beside which all are past.
    """
    limit = (time() - keep_days * 86_400) * 1000
    snapshots = sorted(table.table.metadata.snapshots, key=lambda one: one.timestamp_ms)
    named = {one.snapshot_id for one in table.table.metadata.refs.values()}
    before = sum(one.timestamp_ms < limit for one in snapshots) - 1  # The last one was there at the limit.
    count = before if most is None else max(before, len(snapshots) - most)
    return [one for one in snapshots[: max(0, count)] if one.snapshot_id not in named]


def end(store: Store, name: str, table: Opened, keep_days: float, most: int | None = None) -> Opened:
    """End the versions of a table that are `past`; the files stay. Raises PipelineError."""
    from pyiceberg.exceptions import CommitFailedException

    from conformance.pipeline.lakes.iceberg_files import number_of

    for _ in range(TRIES):
        table = refreshed(store, name, table)
        ids = [one.snapshot_id for one in past(table, keep_days, most)]
        if not ids:
            return table
        with told(store, name), suppress(CommitFailedException):
            table.table.maintenance.expire_snapshots().by_ids(ids).commit()
            table.number = number_of(table.table.metadata_location)
            return table
    raise busy(store, name)


def unneeded(store: Store, name: str, table: Opened, keep_days: float) -> list[str]:
    """Return the paths below a table of files that no version of the last days names. Raises PipelineError."""
    with told(store, name):
        gone = {one.snapshot_id for one in past(table, keep_days)}
        io = table.io()
        needed: set[str] = set()
        seen: set[str] = set()
        for snapshot in table.table.metadata.snapshots:
            if snapshot.snapshot_id in gone:
                continue
            needed.add(io.within(snapshot.manifest_list))
            for manifest in snapshot.manifests(io):
                if manifest.manifest_path in seen:
                    continue
                seen.add(manifest.manifest_path)
                needed.add(io.within(manifest.manifest_path))
                entries = manifest.fetch_manifest_entry(io, discard_deleted=True)
                needed.update(io.within(entry.data_file.file_path) for entry in entries)
        below = [place.partition("/")[2] for place in store.below(name)]
        return [one for one in below if one not in needed and _own(one)]


def _own(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return DATA_FILE.fullmatch(path) is not None or (folder == "metadata" and _MANIFEST.fullmatch(name) is not None)


def _last(location: str) -> str:
    return location.rpartition("/")[2]
