"""Make few large files of the many small ones of a day, with rows together that are asked for together.

The rows stay as they are, each with its batch. Files whose rows do not count, or only until their stream continues, are
left alone. New files are unseen until the one entry in the log of their table, and the old ones stay until `vacuum`: a
reader, or a kill at any moment, misses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import replace as replaced
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.keeping_files import LostError, busy, replace, stats_of
from conformance.pipeline.lakes.tables import BATCHES, Listed, New, Tables, told
from conformance.pipeline.lakes.target import BATCH
from conformance.pipeline.schemas import DATE, TABLES

if TYPE_CHECKING:
    import pyarrow

    from conformance.pipeline.lakes.store import Store

TARGET: Final = 128 << 20
"""Bytes of the files that are made, at most."""
MOST_ROWS: Final = 1 << 21
"""Rows of a file that is made, at most: they are sorted in memory."""
FULL: Final = 0.75
"""Share of these from which a file is large enough."""
TRIES: Final = 10
"""Times that a table is looked at again because another command was first."""
FAN: Final = 50
"""Files of about one size in the table `batches` that become one."""
SMALL: Final = 1 << 20
"""Bytes of a file from which a writer leaves it to `compact`."""
HEAP: Final = 8 << 20
"""Bytes that a writer makes one file of, at most."""
MOST_BATCHES: Final = 100_000
"""Rows of a file of `batches`, at most: a reader takes such a file whole."""
ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "captures": ("first_time", "path"),
    "packets": ("time", "number"),
    "sessions": ("opened", "connection"),
    "verdicts": ("requirement", "sender", "first_time"),
    "rejected": ("rejected_at", "path"),
    "runs": ("started", "run_id"),
    "results": ("requirement", "implementation"),
    BATCHES: ("number",),
}
"""The order of the rows in the files that are made; rows that are equal in it stay in their order."""
_GROUP: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Compacted:
    """The work of a compaction on one table: rows written anew, and the files and bytes that they had and have."""

    table: str
    rows: int = 0
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)

    def plus(self, other: Compacted) -> Compacted:
        """Return the work of both on the table."""
        return Compacted(
            self.table,
            self.rows + other.rows,
            self.files_before + other.files_before,
            self.files_after + other.files_after,
            self.bytes_before + other.bytes_before,
            self.bytes_after + other.bytes_after,
        )


def compact_table(
    tables: Tables,
    store: Store,
    name: str,
    files: Callable[[], tuple[Any, Sequence[Listed]]],
    chosen: Callable[[Sequence[Listed]], Iterable[Sequence[Listed]]],
) -> Compacted:
    """Make one file of each group of files that `chosen` finds in a table.

    files: returns the table at its newest version, with the files that may be rewritten. Raises PipelineError if a file
    cannot be read or written, or if other commands were first each time.
    """
    done = Compacted(name)
    for _ in range(TRIES):
        table, found = files()
        try:
            for group in chosen(found):
                done = done.plus(_merged(tables, store, name, table, group))
        except LostError:
            continue
        return done
    raise busy(store, name)


def bins(target: int = TARGET) -> Callable[[Sequence[Listed]], Iterator[list[Listed]]]:
    """Return what groups the small files of a table: of one day, two or more, not larger together than `target`."""

    def grouped(files: Sequence[Listed]) -> Iterator[list[Listed]]:
        by: dict[str, list[Listed]] = {}
        for one in sorted(files, key=lambda one: one.place):
            if one.size < target * FULL and one.rows < MOST_ROWS * FULL:
                by.setdefault(one.date, []).append(one)
        for group in by.values():
            yield from (some for some in _packed(group, target, MOST_ROWS) if len(some) > 1)

    return grouped


def _packed(files: Iterable[Listed], size: int, rows: int) -> Iterator[list[Listed]]:
    some: list[Listed] = []
    for one in files:
        full = _size(some) + one.size > size or _rows(some) + one.rows > rows
        if some and full:
            yield some
            some = []
        some.append(one)
    if some:
        yield some


def tiers(files: Sequence[Listed], fan: int = FAN) -> Iterator[list[Listed]]:
    """Yield the files of `batches` to merge: `fan` of about the same number of rows.

    A row is rewritten once for each tier, so that a table to which one row is added at a time has few files and is
    never rewritten as a whole.
    """
    by: dict[int, list[Listed]] = {}
    for one in files:
        if one.rows < MOST_BATCHES * FULL:
            by.setdefault(_tier(one.rows, fan), []).append(one)
    for _, group in sorted(by.items()):
        if len(group) >= fan:
            yield from (some for some in _packed(group, TARGET, MOST_BATCHES) if len(some) > 1)


def heaps(files: Sequence[Listed], fan: int = FAN) -> Iterator[list[Listed]]:
    """Yield the small files of a table to merge: `fan` or more of one day and of about the same number of rows.

    So a day to which a few rows are added at a time has few files before it is compacted.
    """
    by: dict[tuple[str, int], list[Listed]] = {}
    for one in sorted(files, key=lambda one: one.place):
        if one.size < SMALL:
            by.setdefault((one.date, _tier(one.rows, fan)), []).append(one)
    for _, group in sorted(by.items()):
        if len(group) >= fan:
            yield from (some for some in _packed(group, HEAP, MOST_ROWS) if len(some) > 1)


def _tier(rows: int, fan: int) -> int:
    tier = 0
    while rows >= fan:
        rows //= fan
        tier += 1
    return tier


def _size(files: Iterable[Listed]) -> int:
    return sum(one.size for one in files)


def _rows(files: Iterable[Listed]) -> int:
    return sum(one.rows for one in files)


def _merged(tables: Tables, store: Store, name: str, table: Any, files: Sequence[Listed]) -> Compacted:
    """Put one file in the place of these. Raises LostError and PipelineError."""
    import pyarrow as pa

    columns = tables.columns(name, table)
    rows = ordered(name, pa.concat_tables([read_file(store, name, columns, one) for one in files]))
    if rows.num_rows != _rows(files):
        raise PipelineError(
            f"The files of {store.name(files[0].place.rpartition('/')[0])} have {rows.num_rows:,} rows, but "
            f"{_rows(files):,} according to the log of the lake: it is damaged, and nothing was rewritten."
        )
    new = write_file(store, name, files[0].date, rows)
    replace(tables, store, name, table, files, [replaced(new, stats=_of_batches(new.stats, files))])
    return Compacted(name, rows.num_rows, len(files), 1, _size(files), new.size)


def _of_batches(stats: Mapping[str, Any], files: Sequence[Listed]) -> dict[str, Any]:
    """Return the statistics with the batches that the log names for the files: by these, a file counts or not."""
    least = min(one.first for one in files if one.first is not None)
    greatest = max(one.last for one in files if one.last is not None)
    low, high = {**stats["minValues"], BATCH: least}, {**stats["maxValues"], BATCH: greatest}
    return {**stats, "minValues": low, "maxValues": high}


def ordered(name: str, rows: pyarrow.Table) -> pyarrow.Table:
    """Return the rows of a table in the order that its files have."""
    from pyarrow import compute as pc

    keys = [(column, "ascending") for column in ORDER[name] if column in rows.column_names]
    return rows.take(pc.sort_indices(rows, sort_keys=keys))


def read_file(store: Store, name: str, columns: pyarrow.Schema, file: Listed) -> pyarrow.Table:
    """Return the rows of a file; columns that were added after it was written are null.

    Raises LostError if it is gone, and PipelineError if it cannot be read.
    """
    from pyarrow import dataset as ds

    with told(store, name):
        try:
            store.check(file.place)
            place = str(store.path(file.place))
            return ds.dataset(place, schema=columns, format="parquet", filesystem=store.arrow).to_table()
        except FileNotFoundError:
            pass
    raise LostError


def write_file(store: Store, name: str, day: str, rows: pyarrow.Table) -> New:
    """Write a new file of a table, unseen until a commit names it. Raises PipelineError."""
    from pyarrow import parquet

    file = f"kept-{uuid4().hex}-{name}.parquet"
    path = f"{DATE}={day}/{file}" if day else file
    with told(store, name):
        with (
            store.sink(f"{name}/{path}") as sink,
            parquet.ParquetWriter(sink, rows.schema, compression="zstd", **_encodings(name, rows.schema)) as writer,
        ):
            writer.write_table(rows, row_group_size=_GROUP)
        return New(path, day, store.size(f"{name}/{path}"), stats_of(rows))


def _encodings(name: str, columns: pyarrow.Schema) -> dict[str, Any]:
    import pyarrow as pa

    if name not in TABLES:
        return {}
    how = TABLES[name].encodings()
    known = {*TABLES[name].names}
    more = [one.name for one in columns if one.name not in known and not pa.types.is_nested(one.type)]
    return {**how, "use_dictionary": [*how["use_dictionary"], *more]}
