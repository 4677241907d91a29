"""Captures to ingest, what a lake says of them, and what `replay` says."""

from __future__ import annotations

import json
import stat
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.capture.records import Record, RecordWalk, read_records
from conformance.captures import Replay, replay
from conformance.pipeline.engine import Engine, Local
from conformance.pipeline.ingest import Ingested, files_of, how, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
FILES = sorted(str(path) for path in CAPTURES.iterdir() if path.suffix != ".toml")


class Here:
    """An engine that works in this process, so that a test can reach what it does."""

    cores = 1

    def run(self, function, tasks, each):
        """The results of one task after the other."""
        found = []
        for task in tasks:
            found.append(function(task, self.Child()))
            each(found[-1])
        return found

    class Child:
        """No child at all."""

        def run(self, function, task, limits):
            """Call it here."""
            return function(task, lambda note: None)


HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)


def records_of(path: Path) -> list[Record]:
    """The records of a capture, up to where it is cut."""
    return list(read_records(path, RecordWalk()))


def write_pcap(path: Path, records: Iterable[Record]) -> Path:
    """A pcap file (nanoseconds, Ethernet) of these records."""
    parts = [HEADER]
    for one in records:
        seconds, fraction = divmod(one.time_ns, 1_000_000_000)
        parts += [struct.pack("<IIII", seconds, fraction, len(one.data), one.length), one.data]
    path.write_bytes(b"".join(parts))
    return path


def put(
    place: Path | str, captures: Sequence[Path | str], engine: Engine | None = None, **options
) -> tuple[Lake, Ingested]:
    """Ingest captures into the lake at `place`."""
    lake = Lake.open(place, create=True)
    try:
        return lake, ingest(lake, files_of(map(str, captures)), how(**options), engine or Here())
    finally:
        if isinstance(engine, Local):
            engine.end()


def put_sessions_one_by_one(place: Path, captures: Sequence[Path | str], **options) -> tuple[Lake, Ingested]:
    """The same, without compiled code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.pipeline.streams.in_columns", lambda probe: False)
        return put(place, captures, **options)


def put_one_by_one(place: Path, captures: Sequence[Path | str], **options) -> tuple[Lake, Ingested]:
    """The same with packet rules alone."""
    return put_sessions_one_by_one(place, captures, sessions=False, **options)


def rows(lake: Lake, table: str) -> list[dict]:
    """All rows of a table, with its columns alone (a file may have more), and its day, as the folder is named."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, found, live = set(TABLES[table].names), [], lake.batches().live
    for place, path in lake.located().items():
        if place.startswith(f"{table}/"):
            # Of an object in one request; Arrow asks for each part of it.
            file = str(path) if lake.store.arrow is None else pa.BufferReader(lake.store.read(place, 1 << 30))
            day = Path(place).parent.name.removeprefix("date=")
            found += [
                {**{name: value for name, value in row.items() if name in names - {"batch"}}, "date": day}
                for row in pq.read_table(file, partitioning=None).to_pylist()
                if row["batch"] in live
            ]
    return found


def files_in(lake: Lake, table: str) -> list[Path]:
    """The files of a table, also those whose rows do not count."""
    return [path for place, path in lake.located().items() if place.startswith(f"{table}/")]


def said(lake: Lake, path: Path | str | None = None) -> tuple[Counter, Counter]:
    """What a lake says of a capture (or of all): verdicts other than pass, one by one, and passes counted."""
    each = said_of_each(rows(lake, "captures"), rows(lake, "verdicts"))
    others, passes = Counter(), Counter()
    for name, found in each.items():
        if path is None or name == str(path):
            others.update(found[0])
            passes.update(found[1])
    return others, passes


def said_of_each(captures: Iterable[dict], verdicts: Iterable[dict]) -> dict[str, tuple[Counter, Counter]]:
    """What the rows of two tables say of each capture, by its path, as `said`."""
    by_id = {row["capture_id"]: row["path"] for row in captures}
    found: dict[str, tuple[Counter, Counter]] = {path: (Counter(), Counter()) for path in by_id.values()}
    for row in verdicts:
        if row["capture_id"] not in by_id:
            continue
        others, passes = found[by_id[row["capture_id"]]]
        readings = tuple(sorted(row["readings"]))
        if row["outcome"] == "pass":
            passes[row["requirement"], readings] += row["count"]
        else:
            key = tuple(row[name] for name in ("requirement", "outcome", "subject", "reason", "expected", "actual"))
            others[(*key, row["evidence"], readings)] += row["count"]
    return found


def replayed(path: Path | str, *, readings: str = "windows", level: str = "must") -> tuple[Counter, Counter]:
    """The same of `replay`."""
    return of_replay(replay([path], profile="msmq-4.0", readings=assignment(readings), level=level))


def of_replay(found: Replay) -> tuple[Counter, Counter]:
    """The same of what was replayed."""
    others, passes = Counter(), Counter()
    for one in found.counted:
        verdict, pairs = one.verdict, tuple(sorted(one.verdict.readings))
        if verdict.outcome is Outcome.PASS:
            passes[verdict.requirement, pairs] += one.count
        else:
            shown = verdict.to_json()
            texts = tuple(_json(shown.get(name)) for name in ("expected", "actual", "evidence"))
            key = (verdict.requirement, verdict.outcome.value, verdict.subject, verdict.reason, *texts, pairs)
            others[key] += one.count
    return others, passes


def contents(root: Path) -> dict[str, tuple]:
    """Of everything below a folder, by name: kind and mode, time of its last change, and what it holds."""
    found = {}
    for path in (root, *root.rglob("*")):
        status = path.lstat()
        held = path.read_bytes() if stat.S_ISREG(status.st_mode) else str(path.readlink()) if path.is_symlink() else ""
        found[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, held)
    return found


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value, default=str, sort_keys=True)


VOLATILE = ("batch", "ingested_at", "rejected_at")
"""Columns that two ingests of the same captures need not agree on."""


def without(found: list[dict[str, Any]], *names: str) -> Counter[str]:
    """The rows without these columns."""
    return Counter(json.dumps({k: v for k, v in row.items() if k not in names}, default=str) for row in found)


def same(one: Lake, other: Lake, *tables: str) -> None:
    """Assert that two lakes have the same rows, in these tables, or in all of captures."""
    for table in tables or ("captures", "packets", "sessions", "verdicts"):
        assert without(rows(one, table), *VOLATILE) == without(rows(other, table), *VOLATILE), table
