"""Compare the files of a lake with its log: the table of each file, and its number of rows.

Only the end of each file is read, which holds both.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake, Part
from conformance.pipeline.scan import require_arrow, unreadable
from conformance.pipeline.schemas import DATE, TABLES

_NEEDED: Final = {
    table.name: [column.name for column in table.columns if not column.null and column.name != DATE]
    for table in TABLES.values()
}
"""Columns that every file of a table has; nullable columns may have been added by later versions."""


def located(lake: Lake) -> dict[str, PurePath]:
    """Return the files of the lake as `Lake.located` gives them, each checked against the log.

    Raises PipelineError if one is missing, cannot be read, belongs to another table or has another number of rows.
    """
    require_arrow()
    found = lake.located()
    parts = lake.snapshot().parts
    for place, path in found.items():
        wrong = _wrong(lake, parts[place], path)
        if wrong is not None:
            raise PipelineError(f"{lake.store.name(place)} {wrong}: it is damaged, and the lake cannot be used.")
    return found


def _wrong(lake: Lake, part: Part, path: PurePath) -> str | None:
    """Return how a file differs from the log, None if it does not."""
    import pyarrow as pa
    from pyarrow import parquet

    try:  # A file that waited to be moved may have been moved since.
        footer = parquet.read_metadata(str(lake.present(part.place, path)), filesystem=lake.store.arrow)
        names = set(footer.schema.to_arrow_schema().names)
    except (OSError, pa.ArrowException) as problem:
        raise unreadable(lake.place, part.table, problem) from None
    lacking = [name for name in _NEEDED[part.table] if name not in names]
    if lacking:
        return f"is not a file of the table {part.table}: it lacks the column {lacking[0]}"
    if footer.num_rows != part.rows:
        return f"has {footer.num_rows:,} rows, but {part.rows:,} according to the log of the lake"
    return None
