"""The Delta tables of a lake, through delta-rs: making, reading and changing their logs.

A log may come from anybody. Its files are listed only if their paths are plain and stay in the table's folder, and a
table with a feature that changes how its files are read is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.lakes.port import damaged
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.tables import (
    BATCHES,
    DATA_FILE,
    Listed,
    footer_of,
    may_lack,
    meanwhile,
    need,
    schema,
    stats_of,
    told,
)
from conformance.pipeline.lakes.target import BATCH
from conformance.pipeline.log import Part
from conformance.pipeline.schemas import DATE
from conformance.report.text import label

if TYPE_CHECKING:
    import pyarrow
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

MAX_LOG: Final = 4 << 30
"""Bytes of the log of one table on this machine."""
_LOGS: Final = {"delta.checkpointInterval": "100", "delta.logRetentionDuration": "interval 8 days"}
"""How often Delta sums up a log, and how long it keeps the entries before: a day longer than `vacuum` keeps files."""
MOST_KEEP: Final = 7
"""Days for which a sum of a log knows the files that were replaced, as Delta has it if a table does not say."""
LOG: Final = "_delta_log"
_EVERY: Final = 100
"""Entries of a log after which Delta writes a checkpoint, if the table does not say."""
_TRIES: Final = 50
"""Entries of others that come before one of ours."""
MAX_LAST: Final = 1 << 20
"""Bytes of what tells where the last sum of a log is."""
MAX_ENTRY: Final = 256 << 20
"""Bytes of an entry of a log that is read here."""
_READER, _WRITER = 1, 2  # Higher ones mean deletion vectors, column mapping and other features.


def require() -> None:
    """Raise PipelineError if delta-rs is not installed."""
    need("Delta", ("deltalake", "pyarrow"), "lake")


def columns(name: str, table: DeltaTable) -> pyarrow.Schema:
    """Return the columns of the files of a table, also those that this version does not know."""
    import pyarrow as pa

    return pa.schema([one for one in pa.schema(table.schema().to_arrow()) if one.name != DATE])


def make(store: Store, name: str) -> None:
    """Make an empty table, if there is none. Raises PipelineError."""
    from deltalake import DeltaTable

    with told(store, name):
        DeltaTable.create(
            store.name(name),
            schema(name),
            mode="ignore",
            partition_by=None if name == BATCHES else [DATE],
            configuration=_LOGS,
            storage_options=options(store),
        )


def load(store: Store, name: str) -> DeltaTable:
    """Open a table at its newest version, and check that it is one of ours. Raises PipelineError."""
    from deltalake import DeltaTable

    _check_log(store, name)
    with told(store, name):
        table = DeltaTable(store.name(name), storage_options=options(store))
        _check(store, name, table)
    return table


def refreshed(store: Store, name: str, table: DeltaTable) -> DeltaTable:
    """Return the table at its newest version. Raises PipelineError."""
    with told(store, name):
        number = table.version() + 1
        while isinstance(store, LocalStore) and store.check(_entry(name, number)):
            number += 1
        table.update_incremental()
        _check(store, name, table)
    return table


def listed(store: Store, name: str, table: DeltaTable) -> list[Listed]:
    """Return the files of a table at its loaded version. Raises PipelineError for a path that leads elsewhere."""
    import pyarrow as pa

    with told(store, name):
        found = pa.table(table.get_add_actions(flatten=True))
    wanted = ("path", "size_bytes", "num_records", f"partition.{DATE}", f"min.{BATCH}", f"max.{BATCH}", "max.number")
    columns = [
        found.column(one).to_pylist() if one in found.column_names else [None] * found.num_rows for one in wanted
    ]
    out = []
    for path, size, rows, day, first, last, most in zip(*columns, strict=True):
        match = DATA_FILE.fullmatch(path)
        if match is None or (match[1] is None) != (name == BATCHES):
            raise damaged(store.name(name), f"names the file {label(str(path), 100)!a}, which is none of its own")
        if match[1] is not None and (not isinstance(day, date) or day.isoformat() != match[1]):
            raise damaged(store.name(name), f"has another date for the file {match[0]}")
        if type(rows) is not int or rows < 0:
            raise damaged(store.name(name), f"does not tell the rows of the file {match[0]}")
        batch = first if isinstance(first, str) and first == last else None
        low, high = (one if isinstance(one, str) else None for one in (first, last))
        greatest = most if name == BATCHES and type(most) is int else None
        out.append(Listed(f"{name}/{match[0]}", match[1] or "", match[2], rows, size or 0, batch, low, high, greatest))
    return out


def adding(store: Store, part: Part, batch: str | None) -> AddAction:
    """Return the action that adds a file that was written, with statistics from its footer. batch: of all its rows.

    Raises PipelineError if it has another number of rows than was told.
    """
    from deltalake.transaction import AddAction

    path, footer, size = footer_of(store, part)
    days: dict[str, str | None] = {} if part.table == BATCHES else {DATE: part.date}
    return AddAction(path, size, days, time_ns() // 1_000_000, True, json.dumps(stats_of(footer, batch)))


def removing(files: Iterable[Listed], table: str) -> list[RemoveAction]:
    """Return the actions that remove files from a table."""
    from deltalake.transaction import RemoveAction

    now = time_ns() // 1_000_000
    return [
        RemoveAction(one.place.partition("/")[2], True, now, one.size, None if table == BATCHES else {DATE: one.date})
        for one in files
    ]


def change(
    store: Store,
    name: str,
    table: DeltaTable,
    actions: Sequence[AddAction | RemoveAction],
    transaction: int | None = None,
) -> None:
    """Commit actions to a table, all or none. transaction: the number of the batch that the commit is about.

    A commit about a batch fails if another one has changed the table's batch since `table` was loaded. Raises
    PipelineError.
    """
    from deltalake import CommitProperties, Transaction
    from deltalake.exceptions import CommitFailedError
    from deltalake.transaction import AddAction

    added = [one for one in actions if isinstance(one, AddAction)]
    if transaction is not None and len(added) == len(actions):
        _append(store, name, table, added, transaction)
        return
    if _summed_up(store, name) > table.version():
        raise meanwhile(store)
    about = [Transaction(f"mqconform-{name}", transaction)] if transaction is not None else None
    wanted = schema(name)
    with told(store, name):
        try:
            table.create_write_transaction(
                list(actions),
                mode="append",
                schema=wanted,
                partition_by=None if name == BATCHES else [DATE],
                commit_properties=CommitProperties(app_transactions=about),
            )
        except CommitFailedError:
            raise meanwhile(store) from None


def _append(store: Store, name: str, table: DeltaTable, added: Sequence[AddAction], transaction: int) -> None:
    """Commit the files of a batch.

    delta-rs reads the names of the whole log several times for a commit, so the entry is written here, as `swap` does.
    Raises PipelineError if an entry that came first is about a batch, or changes the table itself.
    """
    about = f"mqconform-{name}"
    data = _lines(_info("WRITE", blind=True), {"txn": {"appId": about, "version": transaction}}, *map(_added, added))
    first = table.version() + 1
    for number in range(first, first + _TRIES):
        place = _entry(name, number)
        with told(store, name):
            try:
                store.create(place, data)
                break
            except FileExistsError:
                if _in_the_way(store.read(place, MAX_ENTRY), about):
                    raise meanwhile(store) from None
    else:
        raise meanwhile(store)
    if not _is_read(store, name, number, [one.path for one in added]):
        raise meanwhile(store)
    with suppress(PipelineError):  # The commit is done; the next checkpoint says the same.
        _sum_up(store, name, table, number)


def _is_read(store: Store, name: str, number: int, paths: Sequence[str]) -> bool:
    """Tell whether readers see an entry that was just created, by the paths that it adds. Raises PipelineError.

    Of a log that is summed up, the entries before the sum end after some days. A writer that was asleep so long finds
    the place of its entry free, and nobody reads what it puts there: it is removed again.
    """
    if _summed_up(store, name) < number:
        return True
    found = {one.place.partition("/")[2] for one in listed(store, name, load(store, name))}
    if found.issuperset(paths):
        return True
    with told(store, name):
        store.remove(_entry(name, number))
    return False


def _entry(name: str, number: int) -> str:
    """Return the place of an entry of a table's log."""
    return f"{name}/{LOG}/{number:020}.json"


def _summed_up(store: Store, name: str) -> int:
    """Return the version of a table of which its log has a sum, -1 without one. Raises PipelineError."""
    with told(store, name):
        try:
            found = parsed(store.read(f"{name}/{LOG}/_last_checkpoint", MAX_LAST))
        except FileNotFoundError:
            return -1
        version = found.get("version") if isinstance(found, dict) else None
        if type(version) is not int:
            raise UnfitError("has a log whose sum has no version")
        return version


def _in_the_way(entry: bytes, about: str) -> bool:
    """Tell whether an entry of the log is one after which a batch is not to be committed unseen."""
    for line in entry.splitlines():
        found = parsed(line)
        if not isinstance(found, dict) or "metaData" in found or "protocol" in found:
            return True
        if isinstance(found.get("txn"), dict) and found["txn"].get("appId") == about:
            return True
    return False


def _sum_up(store: Store, name: str, table: DeltaTable, number: int) -> None:
    """Sum up the log if its version of this number is one for that, and end what is older than the log is kept."""
    with told(store, name):
        every = table.metadata().configuration.get("delta.checkpointInterval") or _EVERY
        if (number + 1) % int(every) == 0:  # as delta-rs counts: from version 0
            refreshed(store, name, table)
            table.create_checkpoint()
            table.cleanup_metadata()


def widen(store: Store, name: str, table: DeltaTable) -> DeltaTable:
    """Add the columns that a table made by an earlier version lacks. Raises PipelineError."""
    import pyarrow as pa
    from deltalake import Schema

    wanted = schema(name)
    with told(store, name):
        there = {one.name for one in table.schema().fields}
        lacking = [one.with_nullable(True) for one in wanted if one.name not in there]
        if lacking:
            table.alter.add_columns(list(Schema.from_arrow(pa.schema(lacking)).fields))
            table.update_incremental()
    return table


def options(store: Store) -> dict[str, str] | None:
    """Return the settings of delta-rs for a store, beside those that it takes from the environment."""
    if isinstance(store, LocalStore):
        return None
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    found = {"AWS_ENDPOINT_URL": endpoint} if endpoint else {}
    return {**found, "AWS_ALLOW_HTTP": "true"} if endpoint.startswith("http://") else found


def _info(operation: str, *, blind: bool) -> dict[str, Any]:
    return {
        "commitInfo": {
            "timestamp": time_ns() // 1_000_000,
            "operation": operation,
            "operationParameters": {"mode": "Append"} if blind else {},
            "isBlindAppend": blind,
            "engineInfo": f"mqconform:{__version__}",
        }
    }


def _added(one: AddAction) -> dict[str, Any]:
    return {
        "add": {
            "path": one.path,
            "partitionValues": one.partition_values,
            "size": one.size,
            "modificationTime": one.modification_time,
            "dataChange": one.data_change,
            "stats": one.stats,
        }
    }


def _lines(*actions: dict[str, Any]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=True) + "\n" for one in actions).encode()


def _check_log(store: Store, name: str) -> None:
    """Check on this machine that the log is made of plain files, and not too large."""
    if not isinstance(store, LocalStore):
        return
    place = f"{name}/_delta_log"
    with told(store, name):
        if not store.within(place):
            raise UnfitError("has no log")
        total = 0
        with os.scandir(store.root / place) as found:
            for one in found:
                if not (one.is_file(follow_symlinks=False) or one.is_dir(follow_symlinks=False)):
                    raise UnfitError(f"has a link or a special file in its log, {one.name[:80]!a}")
                total += one.stat(follow_symlinks=False).st_size
        if total > MAX_LOG:
            raise UnfitError(f"has a log of {total:,} bytes, at most {MAX_LOG:,} are read")


def _check(store: Store, name: str, table: DeltaTable) -> None:
    """Check that a table has nothing that this version does not know. Raises PipelineError and UnfitError."""
    protocol = table.protocol()
    features = sorted({*(protocol.reader_features or ()), *(protocol.writer_features or ())})
    if protocol.min_reader_version > _READER or protocol.min_writer_version > _WRITER:
        which = f" ({', '.join(label(str(one), 40) for one in features[:8])})" if features else ""
        raise PipelineError(
            f"The table {name} of the lake {store.place} uses features of Delta that this mqconform does not know"
            f"{which}: reader version {protocol.min_reader_version}, writer version {protocol.min_writer_version}."
        )
    known = {one.name: one.type for one in _fields(schema(name))}
    found = {one.name: one for one in table.schema().fields}
    for column, kind in known.items():
        if column not in found:
            if not may_lack(name, column):
                raise UnfitError(f"lacks the column {column}")
        elif found[column].type != kind:
            raise UnfitError(f"has a column {column} of another type")
    parts = list(table.metadata().partition_columns)
    if parts != ([] if name == BATCHES else [DATE]):
        raise UnfitError("is not divided by date" if name != BATCHES else "is divided")
    if table.metadata().configuration.get("delta.appendOnly", "").lower() == "true":
        raise UnfitError("is closed to removals (delta.appendOnly)")


def _fields(arrow: pyarrow.Schema) -> Iterable[Any]:
    from deltalake import Schema

    return Schema.from_arrow(arrow).fields


__all__ = [
    "LOG",
    "MAX_LOG",
    "adding",
    "change",
    "columns",
    "listed",
    "load",
    "make",
    "options",
    "refreshed",
    "removing",
    "require",
    "schema",
    "widen",
]
