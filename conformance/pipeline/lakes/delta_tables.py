"""The Delta tables of a lake, through delta-rs: making, reading and changing their logs.

A log may come from anybody. Its files are listed only if their paths are plain and stay in the table's folder, and a
table with a feature that changes how its files are read is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.util import find_spec
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes.port import damaged
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.target import BATCH, schema_of
from conformance.pipeline.log import Part
from conformance.pipeline.schemas import DATE, TABLES
from conformance.report.text import label

if TYPE_CHECKING:
    import pyarrow
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

BATCHES: Final = "batches"
MAX_LOG: Final = 4 << 30
"""Bytes of the log of one table on this machine."""
FILE: Final = re.compile(r"(?:date=(\d{4}-\d{2}-\d{2})/)?([A-Za-z0-9][A-Za-z0-9._=-]{0,199}\.parquet)", re.ASCII)
"""The path of a file below its table."""
_LOGS: Final = {"delta.checkpointInterval": "100", "delta.logRetentionDuration": "interval 8 days"}
"""How often Delta sums up a log, and how long it keeps the entries before: a day longer than `vacuum` keeps files."""
_READER, _WRITER = 1, 2  # Higher ones mean deletion vectors, column mapping and other features.


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that a Delta log names. place: below the lake. batch: of all its rows; None if it has rows of several.

    first, last: the least and the greatest name of a batch that has rows in it. most: in `batches`, the greatest number
    if the log tells.
    """

    place: str
    date: str
    name: str
    rows: int
    size: int
    batch: str | None
    first: str | None = None
    last: str | None = None
    most: int | None = None


def require_delta() -> None:
    """Raise PipelineError if delta-rs is not installed."""
    missing = [name for name in ("deltalake", "pyarrow") if find_spec(name) is None]
    if missing:
        raise PipelineError(
            f"A lake on Delta needs {' and '.join(missing)}: install the extra with pip install 'mqconform[lake]', or"
            " make a folder of Parquet files with --format folder."
        )


def schema(name: str) -> pyarrow.Schema:
    """Return the schema of a Delta table of a lake."""
    import pyarrow as pa

    if name == BATCHES:
        return pa.schema(
            [
                pa.field(BATCH, pa.string(), False),
                pa.field("number", pa.int64(), False),
                pa.field("at", pa.timestamp("us", "UTC"), False),
                pa.field("by", pa.string(), False),
                pa.field("kind", pa.string(), False),
                pa.field("entry", pa.string(), False),
            ]
        )
    return schema_of(name).append(pa.field(DATE, pa.date32(), False))


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
    _check_log(store, name, again=True)
    with told(store, name):
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
        match = FILE.fullmatch(path)
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
    from pyarrow import parquet

    place = part.place if part.table != BATCHES else f"{BATCHES}/{part.name}"
    with told(store, part.table):
        footer = parquet.read_metadata(str(store.path(place)), filesystem=store.arrow)
        size = store.size(place)
    if footer.num_rows != part.rows:
        raise PipelineError(f"{store.name(place)} has {footer.num_rows:,} rows instead of {part.rows:,}.")
    low: dict[str, str] = {} if batch is None else {BATCH: batch}
    high = dict(low)
    for name, first, last in _times(footer):
        low[name], high[name] = first, last
    stats = {"numRecords": part.rows, "minValues": low, "maxValues": high, "nullCount": {BATCH: 0}}
    days: dict[str, str | None] = {} if part.table == BATCHES else {DATE: part.date}
    return AddAction(place.partition("/")[2], size, days, time_ns() // 1_000_000, True, json.dumps(stats))


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
            raise PipelineError(
                f"Another command has written to the lake {store.place} meanwhile, and nothing of this one is in it:"
                " run it again."
            ) from None


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


@contextmanager
def told(store: Store, name: str) -> Iterator[None]:
    """Turn what delta-rs, Arrow and the system raise into one sentence."""
    try:
        yield
    except PipelineError:
        raise
    except UnfitError as problem:
        raise damaged(store.name(name), problem) from None
    except BaseException as problem:
        # A panic of compiled code derives from BaseException.
        if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
            raise
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        raise PipelineError(
            f"The table {name} of the lake {store.place} cannot be used: {label(lines[0].rstrip('.'), 300)}."
        ) from None


def _check_log(store: Store, name: str, *, again: bool = False) -> None:
    """Check on this machine that the log is made of plain files and, unless it is read again, not too large."""
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
                total += 0 if again else one.stat(follow_symlinks=False).st_size
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
            if name == BATCHES or column in (DATE, BATCH) or not _may_lack(name, column):
                raise UnfitError(f"lacks the column {column}")
        elif found[column].type != kind:
            raise UnfitError(f"has a column {column} of another type")
    parts = list(table.metadata().partition_columns)
    if parts != ([] if name == BATCHES else [DATE]):
        raise UnfitError("is not divided by date" if name != BATCHES else "is divided")
    if table.metadata().configuration.get("delta.appendOnly", "").lower() == "true":
        raise UnfitError("is closed to removals (delta.appendOnly)")


def _may_lack(name: str, column: str) -> bool:
    return any(one.name == column and one.null for one in TABLES[name].columns)


def _fields(arrow: pyarrow.Schema) -> Iterable[Any]:
    from deltalake import Schema

    return Schema.from_arrow(arrow).fields


def _times(footer: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the columns of times with their first and last value, from the footer of a file."""
    spans: dict[str, list[Any]] = {}
    lacking: set[str] = set()
    for group in range(footer.num_row_groups):
        row_group = footer.row_group(group)
        for at in range(row_group.num_columns):
            column = row_group.column(at)
            if footer.schema.column(at).logical_type.type != "TIMESTAMP":
                continue
            found = column.statistics if column.is_stats_set else None
            if found is None or not found.has_min_max:
                if found is None or found.null_count != row_group.num_rows:
                    lacking.add(column.path_in_schema)
                continue
            spans.setdefault(column.path_in_schema, []).extend((found.min, found.max))
    for name, values in spans.items():
        if name not in lacking:
            yield name, _utc(min(values)), _utc(max(values))


def _utc(value: Any) -> str:
    at = value if isinstance(value, datetime) else datetime.fromtimestamp(0, UTC)
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
