"""The port of tables: how those of one format are made, read and changed, and what all formats have in common.

`delta_tables` and `iceberg_tables` are the two; a table itself is of a type that only its module knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes.port import damaged
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.target import BATCH, schema_of
from conformance.pipeline.log import Part
from conformance.pipeline.schemas import DATE, TABLES
from conformance.report.text import label

if TYPE_CHECKING:
    import pyarrow

BATCHES: Final = "batches"
DATA_FILE: Final = re.compile(r"(?:date=(\d{4}-\d{2}-\d{2})/)?([A-Za-z0-9][A-Za-z0-9._=-]{0,199}\.parquet)", re.ASCII)
"""The path of a file below its table."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that a table names. place: below the lake. batch: of all its rows; None if it has rows of several.

    first, last: the least and the greatest name of a batch that has rows in it. most: in `batches`, the greatest number
    if the table tells.
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


class Tables(Protocol):
    """The tables of one format.

    A table is opened at its newest version, and stays there until it is changed or refreshed.
    """

    def require(self) -> None:
        """Raise PipelineError if a package is missing."""

    def schema(self, name: str) -> pyarrow.Schema:
        """Return the schema of a table, with its day."""

    def columns(self, name: str, table: Any) -> pyarrow.Schema:
        """Return the schema of the files of a table, with columns that this version does not know."""

    def make(self, store: Store, name: str) -> None:
        """Make an empty table, if there is none. Raises PipelineError."""

    def load(self, store: Store, name: str) -> Any:
        """Open a table, and check that it is one of ours. Raises PipelineError."""

    def refreshed(self, store: Store, name: str, table: Any) -> Any:
        """Return the table at its newest version. Raises PipelineError."""

    def widen(self, store: Store, name: str, table: Any) -> Any:
        """Add the columns that a table of an earlier version lacks. Raises PipelineError."""

    def listed(self, store: Store, name: str, table: Any) -> list[Listed]:
        """Return the files of a table at its version. Raises PipelineError for a path that leads elsewhere."""

    def adding(self, store: Store, part: Part, batch: str | None) -> Any:
        """Return the action that adds a file that was written. batch: of all its rows. Raises PipelineError."""

    def removing(self, files: Iterable[Listed], table: str) -> Sequence[Any]:
        """Return the actions that remove files."""

    def change(
        self, store: Store, name: str, table: Any, actions: Sequence[Any], transaction: int | None = None
    ) -> None:
        """Commit actions, all or none. Raises PipelineError if another one has changed the table."""


def need(format: str, packages: Sequence[str], extra: str) -> None:
    """Raise PipelineError if a package is not installed that lakes of a format need. extra: has them."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise PipelineError(
            f"A lake on {format} needs {' and '.join(missing)}: install the extra with pip install"
            f" 'mqconform[{extra}]'."
        )


def schema(name: str) -> pyarrow.Schema:
    """Return the schema of a table of a lake, with its day."""
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


def may_lack(name: str, column: str) -> bool:
    """Tell whether a table of an earlier version may lack a column."""
    if name == BATCHES or column in (DATE, BATCH):
        return False
    return any(one.name == column and one.null for one in TABLES[name].columns)


def footer_of(store: Store, part: Part) -> tuple[str, Any, int]:
    """Return the path of a written file below its table, its footer and its bytes.

    Raises PipelineError if it has another number of rows than was told, or if another writer has removed it.
    """
    from pyarrow import parquet

    place = part.place if part.table != BATCHES else f"{BATCHES}/{part.name}"
    with told(store, part.table):
        try:
            footer = parquet.read_metadata(str(store.path(place)), filesystem=store.arrow)
            size = store.size(place)
        except FileNotFoundError:
            raise meanwhile(store) from None  # It has taken this one for dead.
    if footer.num_rows != part.rows:
        raise PipelineError(f"{store.name(place)} has {footer.num_rows:,} rows instead of {part.rows:,}.")
    return place.partition("/")[2], footer, size


def stats_of(footer: Any, batch: str | None) -> dict[str, Any]:
    """Return Delta's statistics of a file: its rows, its batch if it has one, and the first and last of its times."""
    low: dict[str, str] = {} if batch is None else {BATCH: batch}
    high = dict(low)
    for name, first, last in _times(footer):
        low[name], high[name] = first, last
    return {"numRecords": footer.num_rows, "minValues": low, "maxValues": high, "nullCount": {BATCH: 0}}


def meanwhile(store: Store) -> PipelineError:
    """Return the error of a writer that another one has overtaken."""
    return PipelineError(
        f"Another command has written to the lake {store.place} meanwhile, and nothing of this one is in it: run it"
        " again."
    )


@contextmanager
def told(store: Store, name: str) -> Iterator[None]:
    """Turn what a package, Arrow and the system raise into one sentence."""
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
