"""What is asked for, and what is said, before a table of a lake is read."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import PurePath
from typing import Final

from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import DATE, TABLES
from conformance.pipeline.untrusted_files import PipelineError, UnfitError, footer


def require_arrow() -> None:
    """Raise PipelineError if the package that reads and writes the tables is not installed."""
    if find_spec("pyarrow") is None:
        raise PipelineError("A lake needs pyarrow: install the extra with pip install 'mqconform[lake]'.")


def unreadable(root: str, table: str, problem: Exception) -> PipelineError:
    """Return the error for a file of a table that Arrow cannot read."""
    if isinstance(problem, FileNotFoundError):
        return PipelineError("The lake was changed while it was read; run the command again.")
    first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
    return PipelineError(f"The table {table} of the lake {root} cannot be read: {first.rstrip('.')}.")


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
