"""Make few large files of the many small ones of a day, with rows together that are asked for together.

The rows stay as they are, each with its batch. Rows of a batch that is not in `batches` belong to a writer that lives,
or was killed; a file with such a row is left alone. New files are unseen until the one entry in the log of their table,
and the old ones stay until `vacuum`, so that a reader, or a kill at any moment, misses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.keeping_files import File, LostError, files_of, replace, require_plain, stats_of
from conformance.pipeline.schemas import DATE, TABLES

if TYPE_CHECKING:
    import pyarrow
    from deltalake import DeltaTable

    from conformance.pipeline.lakes.store import Store

TARGET: Final = 128 << 20
"""Bytes of the files that are made, at most."""
MOST_ROWS: Final = 1 << 21
"""Rows of a file that is made, at most: they are sorted in memory."""
FULL: Final = 0.75
"""Share of the target from which a file is large enough."""
TRIES: Final = 5
"""Times that a day is begun again because another writer was first."""
FAN: Final = 50
"""Files of about one size in the table `batches` that become one."""
_GROUP: Final = 1 << 16
BATCH: Final = "batch"
ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "captures": ("first_time", "path"),
    "packets": ("time", "number"),
    "sessions": ("opened", "connection"),
    "verdicts": ("requirement", "sender", "first_time"),
    "rejected": ("rejected_at", "path"),
    "runs": ("started", "run_id"),
    "results": ("requirement", "implementation"),
    "batches": ("number",),
}
"""The order of the rows in the files that are made; rows that are equal in it stay in their order."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did to one table. days: rewritten ones. before, after: files of these days, and their bytes."""

    table: str
    days: int = 0
    rows: int = 0
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "table": self.table,
            "days": self.days,
            "rows": self.rows,
            "files_before": self.files_before,
            "files_after": self.files_after,
            "bytes_before": self.bytes_before,
            "bytes_after": self.bytes_after,
        }


def compact_table(
    store: Store,
    name: str,
    opened: Callable[[str], DeltaTable],
    known: Callable[[], Set[str]],
    *,
    day: str | None = None,
    target: int = TARGET,
) -> Compacted:
    """Make few files of at most `target` bytes of the small ones of a table, day by day.

    opened: opens a table in its present version. known: returns the batches of the lake. day: only this one.
    Raises PipelineError if other writers were first each time, or if a file cannot be read or written.
    """
    done = Compacted(name)
    for _ in range(TRIES):
        table = opened(name)
        require_plain(name, table)
        files = [one for one in files_of(table) if one.own and (day is None or one.day == day)]
        batches = known()
        try:
            for bin_ in bins(files, target):
                found = _merged(store, name, table, bin_, batches, target)
                if found is not None:
                    done = _sum(done, found)
        except LostError:
            continue
        return done
    raise PipelineError(f"Others write to the table {name} of the lake {store.place} all the time; run the command again.")


def bins(files: Iterable[File], target: int) -> Iterator[list[File]]:
    """Yield the files to merge: of one day, two or more, and together not larger than a new file may be."""
    by: dict[str | None, list[File]] = {}
    for one in files:
        if one.size < target * FULL and (one.rows or 0) < MOST_ROWS * FULL:
            by.setdefault(one.day, []).append(one)
    for group in by.values():
        some: list[File] = []
        for one in group:
            if some and (_size(some) + one.size > target or _rows(some) + (one.rows or 0) > MOST_ROWS):
                if len(some) > 1:
                    yield some
                some = []
            some.append(one)
        if len(some) > 1:
            yield some


def tiers(files: Iterable[File], fan: int = FAN) -> Iterator[list[File]]:
    """Yield the files of `batches` to merge: `fan` or more of about the same number of rows.

    A row is rewritten once for each tier, so that a table to which one row is added at a time has few files and is
    never rewritten as a whole.
    """
    by: dict[int, list[File]] = {}
    for one in files:
        by.setdefault(_tier(one.rows or 1, fan), []).append(one)
    yield from (group for _, group in sorted(by.items()) if len(group) >= fan)


def _tier(rows: int, fan: int) -> int:
    tier = 0
    while rows >= fan:
        rows //= fan
        tier += 1
    return tier


def _size(files: Iterable[File]) -> int:
    return sum(one.size for one in files)


def _rows(files: Iterable[File]) -> int:
    return sum(one.rows or 0 for one in files)


def _merged(
    store: Store, name: str, table: DeltaTable, files: Sequence[File], batches: Set[str], target: int
) -> Compacted | None:
    """Put one file in the place of these, without those that have rows of unknown batches. Raises LostError."""
    import pyarrow as pa

    read = [(one, read_file(store, name, table, one)) for one in files]
    if name != "batches":
        read = [(one, rows) for one, rows in read if set(rows[BATCH].unique().to_pylist()) <= batches]
    if len(read) < 2:
        return None
    rows = sorted_rows(name, pa.concat_tables([rows for _, rows in read]))
    gone = [one for one, _ in read]
    new = write_file(store, name, gone[0].day, rows)
    replace(store, name, table, gone, [new], changed=False, operation="OPTIMIZE")
    return Compacted(name, 1, rows.num_rows, len(gone), 1, _size(gone), new[0].size)


def sorted_rows(name: str, rows: pyarrow.Table) -> pyarrow.Table:
    """Return the rows of a table in the order that its files have."""
    from pyarrow import compute as pc

    keys = [(column, "ascending") for column in ORDER.get(name, ()) if column in rows.column_names]
    return rows.take(pc.sort_indices(rows, sort_keys=keys)) if keys else rows


def read_file(store: Store, name: str, table: DeltaTable, file: File) -> pyarrow.Table:
    """Return the rows of a file, in the columns that the table has; columns that were added later are null.

    Raises PipelineError if it cannot be read, and LostError if it is gone.
    """
    import pyarrow as pa
    from pyarrow import dataset as ds

    place = f"{name}/{file.path}"
    try:
        found = ds.dataset(str(store.path(place)), schema=schema_of(table), format="parquet", filesystem=store.arrow)
        return found.to_table()
    except FileNotFoundError:
        raise LostError from None
    except (OSError, pa.ArrowException) as problem:
        first = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise PipelineError(f"The file {store.name(place)} cannot be read: {first.rstrip('.')}.") from None


def schema_of(table: DeltaTable) -> pyarrow.Schema:
    """Return the schema of the files of a table: its columns without `date`, which is the name of their folder."""
    import pyarrow as pa

    found = pa.schema(table.schema().to_arrow())
    partitioned = set(table.metadata().partition_columns)
    return pa.schema([one for one in found if one.name not in partitioned])


def write_file(store: Store, name: str, day: str | None, rows: pyarrow.Table) -> tuple[File, dict[str, Any]]:
    """Write a new file of a table, unseen until a commit names it; return it with its statistics."""
    from pyarrow import parquet

    file_name = f"part-kept-{uuid4().hex}-{name}.parquet"
    path = file_name if day is None else f"{DATE}={day}/{file_name}"
    how: dict[str, Any] = {}
    if name in TABLES:
        how = TABLES[name].encodings()
        known = {column.partition(".")[0] for column in how["use_dictionary"]} | set(how["column_encoding"]) | {DATE}
        how["use_dictionary"] += [
            one.name for one in rows.schema if one.name not in known and not _nested(one.type)
        ]
    try:
        with (
            store.sink(f"{name}/{path}") as sink,
            parquet.ParquetWriter(sink, rows.schema, compression="zstd", **how) as writer,
        ):
            writer.write_table(rows, row_group_size=_GROUP)
        size = store.size(f"{name}/{path}")
    except OSError as problem:
        reason = problem.strerror or problem
        raise PipelineError(f"The lake {store.place} cannot be written: {reason}.") from None
    return File(path, day, size, rows.num_rows), stats_of(rows)


def _nested(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))


def _sum(one: Compacted, other: Compacted) -> Compacted:
    return Compacted(
        one.table,
        one.days + other.days,
        one.rows + other.rows,
        one.files_before + other.files_before,
        one.files_after + other.files_after,
        one.bytes_before + other.bytes_before,
        one.bytes_after + other.bytes_after,
    )
