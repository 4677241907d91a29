"""The one commit that puts files of a table in the place of others, without a change of its rows.

Who comes second looks at the table again, and gives up if one of its files has gone. The statistics of a file are those
of Delta; tables of another format take from them what they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lakes.tables import Listed, New, Tables
from conformance.pipeline.lakes.target import BATCH

if TYPE_CHECKING:
    import pyarrow

    from conformance.pipeline.lakes.store import Store

TRIES: Final = 50
"""Times that a commit is tried while others commit."""
_LONGEST: Final = 64
"""Characters of a text in the statistics of a file; of columns with longer ones there are none."""


class LostError(Exception):
    """Raised if another command has meanwhile removed a file that was to be replaced."""


def replace(tables: Tables, store: Store, name: str, table: Any, gone: Sequence[Listed], new: Sequence[New]) -> None:
    """Put new files in the place of others of the table `name`.

    Raises LostError if one of the others is no longer part of it, and PipelineError if it cannot be written.
    """
    places = {one.place for one in gone}
    seen: int | None = None
    for _ in range(TRIES):
        table = tables.refreshed(store, name, table)
        if table.version() != seen and not places <= {one.place for one in tables.listed(store, name, table)}:
            raise LostError
        seen = table.version()
        try:
            tables.swap(store, name, table, gone, new)
        except FileExistsError:
            continue
        return
    raise busy(store, name)


def busy(store: Store, name: str) -> PipelineError:
    """Return the error for a table that others change all the time."""
    return PipelineError(
        f"Other commands change the table {name} of the lake {store.place} all the time; run the command again."
    )


def stats_of(rows: pyarrow.Table) -> dict[str, Any]:
    """Return Delta's statistics of rows: their number, and least and greatest values and nulls of plain columns."""
    import pyarrow as pa
    from pyarrow import compute as pc

    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    for name in rows.column_names:
        kind = rows[name].type
        if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_timestamp(kind)):
            continue
        ends = pc.min_max(rows[name]).as_py()
        long = name != BATCH and any(isinstance(one, str) and len(one) > _LONGEST for one in ends.values())
        if ends["min"] is not None and not long:
            least[name], greatest[name] = _stat(ends["min"]), _stat(ends["max"])
    absent = {name: rows[name].null_count for name in rows.column_names if not pa.types.is_nested(rows[name].type)}
    return {"numRecords": rows.num_rows, "minValues": least, "maxValues": greatest, "nullCount": absent}


def _stat(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value
