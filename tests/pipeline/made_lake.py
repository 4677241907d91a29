"""A lake made row by row, so that a test knows what is in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow

from conformance.pipeline.lake import Entry, Lake, new_batch
from conformance.pipeline.schemas import DATE, TABLES
from conformance.pipeline.store import Files

FIRST = date(2026, 3, 1)
_EMPTY: Mapping[str, Any] = {
    "string": "", "bool": False, "int32": 0, "int64": 0, "strings": [], "counts": {}, "texts": {},
    "time": datetime(2026, 3, 1, tzinfo=UTC),
}  # fmt: skip


def day(number: int) -> date:
    """The n-th day, from 0."""
    return FIRST + timedelta(days=number)


def fill(lake: Lake, rows: Iterable[tuple[str, date, Mapping[str, Any]]]) -> None:
    """Add rows as (table, day, columns); a column that is not given is empty, or null where it may be."""
    groups: dict[tuple[str, date], list[Mapping[str, Any]]] = {}
    for table, when, columns in rows:
        groups.setdefault((table, when), []).append(columns)
    batch, files = new_batch(), Files(lake.place)
    for (table, when), members in groups.items():
        files.write(table, when.isoformat(), batch, table_of(table, batch, members))
    lake.commit(Entry("ingest", batch, files.close()), lake.batches())


def table_of(name: str, batch: str, rows: list[Mapping[str, Any]]) -> pyarrow.Table:
    """Rows of a batch, as its file has them."""
    table = TABLES[name]
    columns = []
    for column in table.columns:
        if column.name != DATE:
            empty = None if column.null else _EMPTY[column.type]
            empty = batch if column.name == "batch" else empty
            values = [row.get(column.name, empty) for row in rows]
            columns.append([list(v.items()) if isinstance(v, Mapping) else v for v in values])
    for row in rows:
        assert set(row) <= set(table.names), set(row) - set(table.names)
    return pyarrow.table(columns, schema=table.arrow())


def verdict(requirement: str, outcome: str, sender: str | None, when: date, **more: Any) -> tuple[str, date, Any]:
    """A row of verdicts: one packet, or what is counted."""
    at = datetime(when.year, when.month, when.day, 12, tzinfo=UTC)
    row = {"capture_id": f"c{when}", "stream_id": f"c{when}", "requirement": requirement, "outcome": outcome,
           "count": 1, "sender": sender, "subject": "frame 7", "first_time": at, "last_time": at}  # fmt: skip
    return "verdicts", when, {**row, **more}


def capture(when: date, **more: Any) -> tuple[str, date, Any]:
    """A row of captures."""
    row = {"capture_id": f"c{when}", "stream_id": f"c{when}", "path": f"/captures/{when}.pcap", "bytes": 1_000_000,
           "format": "pcap", "records": 1_200, "packets": 1_000, "profile": "msmq-4.0", "level": "must",
           "reading_set": "windows", "judged_by": "0"}  # fmt: skip
    return "captures", when, {**row, **more}


def session(when: date, initiator: str, **more: Any) -> tuple[str, date, Any]:
    """A row of sessions: somebody was there that day."""
    row = {"capture_id": f"c{when}", "stream_id": f"c{when}", "initiator": initiator, "acceptor": "192.0.2.99",
           "initiator_packets": 3, "closed_how": "fin"}  # fmt: skip
    return "sessions", when, {**row, **more}
