"""Check that the files of a lake belong to their tables. Only the end of each file is read."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from conformance.pipeline.bounds import footer
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lake import Lake
from conformance.pipeline.scan import require_arrow, unreadable
from conformance.pipeline.schemas import DATE, TABLES

_NEEDED: Final = {
    table.name: [column.name for column in table.columns if not column.null and column.name != DATE]
    for table in TABLES.values()
}
"""Columns that every file of a table has; nullable columns may have been added by later versions."""


def located(lake: Lake) -> dict[str, PurePath]:
    """Return the files of the lake as `Lake.located` gives them, each with the columns of its table.

    Raises PipelineError if one is missing, cannot be read, or belongs to another table.
    """
    require_arrow()
    found = lake.located()
    for place, path in found.items():
        wrong = _wrong(lake, place.partition("/")[0], path)
        if wrong is not None:
            raise PipelineError(f"{lake.store.name(place)} {wrong}: it is damaged, and the lake cannot be used.")
    return found


def _wrong(lake: Lake, table: str, path: PurePath) -> str | None:
    """Return what is wrong with a file, None if nothing is."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        with (lake.store.arrow or fs.LocalFileSystem()).open_input_file(str(path)) as file:
            names = set(footer(file, file.size()).schema.to_arrow_schema().names)
    except UnfitError as problem:
        return str(problem)
    except (OSError, pa.ArrowException) as problem:
        raise unreadable(lake.place, table, problem) from None
    lacking = [name for name in _NEEDED[table] if name not in names]
    return f"is not a file of the table {table}: it lacks the column {lacking[0]}" if lacking else None
