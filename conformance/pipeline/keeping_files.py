"""The files of one Delta table of a lake, and the one commit that puts files in the place of others.

delta-rs cannot commit a rewrite by others without marking its rows as changed data, so the entry of the table's log is
written here: the files that are no longer part of the table, and those that are from now on. Creating the entry is the
one atomic step, as for every other writer of the table; who comes second looks at the table again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import is_plain
from conformance.pipeline.schemas import DATE

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from conformance.pipeline.lakes.store import Store

LOG: Final = "_delta_log"
TRIES: Final = 50
"""Times that a commit looks at the table again after another writer was first."""
_WRITER: Final = 2
"""Version of Delta's protocol for writers that this module follows: no feature of a later one is in use."""
_LONGEST: Final = 64
"""Characters of a text in the statistics of a file; of columns with longer ones there are none."""


class LostError(Exception):
    """Raised if another writer has meanwhile removed a file that was to be replaced."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of a table. path: below the table. day: its partition; None for a table without. stats: of its rows."""

    path: str
    day: str | None
    size: int
    rows: int | None
    stats: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.path.rpartition("/")[2]

    @property
    def own(self) -> bool:
        """True if it is where mqconform puts the files of a table; nothing else is rewritten or removed."""
        return is_plain(self.name) and self.path == (self.name if self.day is None else f"{DATE}={self.day}/{self.name}")


def files_of(table: DeltaTable) -> list[File]:
    """Return the files of a table in the version that was loaded, by path."""
    import pyarrow as pa

    found = pa.table(table.get_add_actions(flatten=False)).to_pylist()
    return sorted((_file(one) for one in found), key=lambda one: one.path)


def _file(row: Mapping[str, Any]) -> File:
    day = (row.get("partition") or row.get("partition_values") or {}).get(DATE)
    text = day.isoformat() if isinstance(day, date) else day
    return File(row["path"], text, row["size_bytes"], row["num_records"], {"min": row.get("min"), "max": row.get("max")})


def replace(
    store: Store,
    name: str,
    table: DeltaTable,
    gone: Sequence[File],
    new: Sequence[tuple[File, Mapping[str, Any]]],
    *,
    changed: bool,
    operation: str,
) -> int:
    """Put files in the place of others in the log of the table `name`, and return its new version.

    new: files with their statistics, as Delta has them. changed: False if the rows are the same as before.
    Raises LostError if one of the files is no longer part of the table, and PipelineError if others write all the time.
    """
    require_plain(name, table)
    now = time.time_ns() // 1_000_000
    text = "\n".join(json.dumps(one, ensure_ascii=True) for one in _actions(gone, new, changed, operation, now)) + "\n"
    missing = {one.path for one in gone}
    for _ in range(TRIES):
        table.update_incremental()
        if not missing <= {one.path for one in files_of(table)}:
            raise LostError
        require_plain(name, table)
        version = table.version() + 1
        try:
            store.create(f"{name}/{LOG}/{version:020}.json", text.encode())
        except FileExistsError:
            continue
        table.update_incremental()
        every = int(table.metadata().configuration.get("delta.checkpointInterval") or 100)
        if version % every == 0:
            table.create_checkpoint()
        return version
    raise PipelineError(
        f"Others write to the table {name} of the lake {store.place} all the time; run the command again."
    )


def _actions(
    gone: Sequence[File],
    new: Sequence[tuple[File, Mapping[str, Any]]],
    changed: bool,
    operation: str,
    now: int,
) -> list[dict[str, Any]]:
    info = {
        "timestamp": now,
        "operation": operation,
        "operationParameters": {},
        "isBlindAppend": False,
        "engineInfo": f"mqconform:{__version__}",
    }
    return [
        {"commitInfo": info},
        *(
            {
                "remove": {
                    "path": one.path,
                    "deletionTimestamp": now,
                    "dataChange": changed,
                    "extendedFileMetadata": True,
                    "partitionValues": _partition(one),
                    "size": one.size,
                }
            }
            for one in gone
        ),
        *(
            {
                "add": {
                    "path": one.path,
                    "partitionValues": _partition(one),
                    "size": one.size,
                    "modificationTime": now,
                    "dataChange": changed,
                    "stats": json.dumps(stats, ensure_ascii=True),
                }
            }
            for one, stats in new
        ),
    ]


def _partition(file: File) -> dict[str, str]:
    return {} if file.day is None else {DATE: file.day}


def require_plain(name: str, table: DeltaTable) -> None:
    """Raise PipelineError if the table asks more of its writers than this module does."""
    asked = table.protocol()
    if asked.min_writer_version > _WRITER or asked.writer_features or asked.reader_features:
        raise PipelineError(
            f"The table {name} was changed to a version of Delta's protocol ({asked.min_writer_version}) that mqconform "
            "does not write; keep it with the program that changed it."
        )


def stats_of(rows: Any) -> dict[str, Any]:
    """Return Delta's statistics of the rows of an Arrow table: their number, and least, greatest and absent values."""
    import pyarrow as pa
    from pyarrow import compute as pc

    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    for name in rows.column_names:
        column = rows[name]
        kind = column.type
        if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_timestamp(kind)):
            continue
        ends = pc.min_max(column).as_py()
        if ends["min"] is None or any(isinstance(one, str) and len(one) > _LONGEST for one in ends.values()):
            continue
        least[name], greatest[name] = _stat(ends["min"]), _stat(ends["max"])
    absent = {name: rows[name].null_count for name in rows.column_names if not pa.types.is_nested(rows[name].type)}
    return {"numRecords": rows.num_rows, "minValues": least, "maxValues": greatest, "nullCount": absent}


def _stat(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value
