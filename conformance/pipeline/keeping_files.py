"""The one commit that puts files of a Delta table in the place of others, without a change of its rows.

delta-rs lets two writers remove the same file, each adding its rows again, so the entry of the table's log is written
here. Creating it is the one atomic step, as for every other writer of the table; who comes second looks at the table
again, and gives up if one of its files has gone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lakes.delta_tables import Listed, listed, refreshed, told
from conformance.pipeline.lakes.target import BATCH
from conformance.pipeline.schemas import DATE

if TYPE_CHECKING:
    import pyarrow
    from deltalake import DeltaTable

    from conformance.pipeline.lakes.store import Store

LOG: Final = "_delta_log"
TRIES: Final = 50
"""Times that a commit is tried while others commit."""
_EVERY: Final = 100
"""Entries of a log after which Delta writes a checkpoint, if the table does not say."""
_LONGEST: Final = 64
"""Characters of a text in the statistics of a file; of columns with longer ones there are none."""


class LostError(Exception):
    """Raised if another command has meanwhile removed a file that was to be replaced."""


@dataclass(frozen=True, slots=True)
class New:
    """A file that was written, and is to become part of a table. path: below the table. stats: as Delta has them."""

    path: str
    date: str
    size: int
    stats: Mapping[str, Any]


def replace(store: Store, name: str, table: DeltaTable, gone: Sequence[Listed], new: Sequence[New]) -> None:
    """Put new files in the place of others of the table `name`; `table` has its new version afterwards.

    Raises LostError if one of the others is no longer part of it, and PipelineError if it cannot be written.
    """
    data = "".join(json.dumps(one, ensure_ascii=True) + "\n" for one in _actions(gone, new)).encode()
    places = {one.place for one in gone}
    seen: int | None = None
    for _ in range(TRIES):
        refreshed(store, name, table)
        if table.version() != seen and not places <= {one.place for one in listed(store, name, table)}:
            raise LostError
        seen = table.version()
        with told(store, name):
            try:
                store.create(f"{name}/{LOG}/{seen + 1:020}.json", data)
            except FileExistsError:
                continue
        refreshed(store, name, table)
        with told(store, name):
            every = table.metadata().configuration.get("delta.checkpointInterval") or _EVERY
            if (seen + 2) % int(every) == 0:  # as delta-rs counts: from version 0
                table.create_checkpoint()
        return
    raise busy(store, name)


def busy(store: Store, name: str) -> PipelineError:
    """Return the error for a table that others change all the time."""
    return PipelineError(
        f"Other commands change the table {name} of the lake {store.place} all the time; run the command again."
    )


def _actions(gone: Sequence[Listed], new: Sequence[New]) -> list[dict[str, Any]]:
    now = time_ns() // 1_000_000
    info = {
        "timestamp": now,
        "operation": "OPTIMIZE",
        "operationParameters": {},
        "isBlindAppend": False,
        "engineInfo": f"mqconform:{__version__}",
    }
    removed = [
        {
            "path": one.place.partition("/")[2],
            "deletionTimestamp": now,
            "dataChange": False,
            "extendedFileMetadata": True,
            "partitionValues": _partition(one.date),
            "size": one.size,
        }
        for one in gone
    ]
    added = [
        {
            "path": one.path,
            "partitionValues": _partition(one.date),
            "size": one.size,
            "modificationTime": now,
            "dataChange": False,
            "stats": json.dumps(one.stats, ensure_ascii=True),
        }
        for one in new
    ]
    return [{"commitInfo": info}, *({"remove": one} for one in removed), *({"add": one} for one in added)]


def _partition(day: str) -> dict[str, str]:
    return {DATE: day} if day else {}


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
