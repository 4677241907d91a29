"""Keeping a lake on Delta or Iceberg in order: compaction, forgetting old days, removing what no version needs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.keeping_compact import TARGET, Compacted, bins, compact_table, tiers
from conformance.pipeline.keeping_vacuum import KEEP_DAYS, Vacuumed, vacuum_table
from conformance.pipeline.lakes.delta import TableLake
from conformance.pipeline.lakes.port import Lake
from conformance.pipeline.lakes.tables import BATCHES
from conformance.pipeline.log import Entry
from conformance.pipeline.schemas import REJECTED, TABLES

FORGOTTEN: Final = tuple(name for name in TABLES if name != REJECTED.name)
"""The tables from which `forget` removes rows."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The rows that `forget` removed, or would, by table. version: of the lake afterwards."""

    version: int
    before: str
    rows: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


def on_tables(lake: Lake, command: str) -> TableLake:
    """Return the lake if it is on Delta or Iceberg. Raises PipelineError for a folder. command: for the sentence."""
    if not isinstance(lake, TableLake):
        raise PipelineError(
            f"{command} needs a lake on Delta or Iceberg, and {lake.place} is a folder of Parquet files: run mqconform"
            f" pipeline upgrade {lake.place} first."
        )
    return lake


def compact(lake: TableLake, day: date | None = None, target: int = TARGET) -> list[Compacted]:
    """Make few files of the small ones of each table and day. day: only of this one. target: bytes of a file, at most.

    The rows stay the same. Raises PipelineError if other commands change the lake all the time, or if it is damaged.
    """
    group = bins(target)
    done = []
    for name in TABLES:

        def files(name: str = name) -> Any:
            table, found = lake.settled(name)
            return table, [one for one in found if day is None or one.date == day.isoformat()]

        done.append(compact_table(lake.tables, lake.store, name, files, group))
    done.append(compact_table(lake.tables, lake.store, BATCHES, lambda: lake.settled(BATCHES), tiers))
    lake.fold()
    return done


def to_forget(lake: TableLake, before: date) -> Forgotten:
    """Return what `forget` would remove. Raises PipelineError."""
    now = lake.snapshot()
    rows = dict.fromkeys(FORGOTTEN, 0)
    for part in now.parts.values():
        if part.table in rows and part.date < before.isoformat():
            rows[part.table] += part.rows
    return Forgotten(now.version, before.isoformat(), rows)


def forget(lake: TableLake, before: date) -> Forgotten:
    """Remove the rows of all days before this one, as one batch; nothing, and no batch, if there are none.

    The captures and runs stay known: they are not taken in again. Files go with `vacuum`. Raises PipelineError.
    """
    batch = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    with lake.writing(batch):
        found = to_forget(lake, before)
        if not any(found.rows.values()):
            return found
        version = lake.commit(Entry("forget", batch, before=found.before))
    return Forgotten(version, found.before, found.rows)


def vacuum(lake: TableLake, keep_days: float = KEEP_DAYS, *, dry_run: bool = False) -> list[Vacuumed]:
    """Remove the files that no version of the last days needs. dry_run: only tell which. Raises PipelineError.

    A file whose name has the batch of a living writer stays.
    """
    living = lake.staged()
    lake.snapshot()
    return [
        vacuum_table(
            lake.tables,
            lake.store,
            name,
            lake.settled(name)[0],
            keep_days=keep_days,
            dry_run=dry_run,
            leased=lambda file: any(one in file for one in living),
        )
        for name in (*TABLES, BATCHES)
    ]
