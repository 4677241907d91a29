"""Convert run records to rows of `runs` and `results`.

A record is identified by its own id. One without a footer may still be written to: its rows are provisional and are
replaced when the record is ingested again and has more.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from conformance.pipeline.elsewhere import named
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Entry, Lake, Part, Target
from conformance.pipeline.schemas import DATE, REJECTED, RESULTS, RUNS, Table
from conformance.pipeline.value_columns import struct_of
from conformance.pipeline.workers import Here, Workers
from conformance.report.records import read_run
from conformance.report.table import conclusion
from conformance.runlog import Run, RunRecordError
from conformance.verdict import ExitCode, Json, worst_code

MAX_VALUE: Final = 32_000
"""Characters of a JSON value or text of one row; of a longer JSON value only the length is stored."""
MAX_RECORDS: Final = 1_000_000
"""Run records found below the folders of one command."""
AT_ONCE: Final = 64
"""Records that one task reads."""
MAX_ROWS: Final = 1_000_000
"""Rows of a file into which small ones are merged."""
MAX_DEPTH: Final = 12
"""Depth of nested folders that are searched for run records."""
_MOST: Final = (1 << 63) - 1
_UNKNOWN_DAY: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Staged:
    """The result of reading one record: Parquet files below the staging folder, or the reason why there are none.

    identity: ingesting the same identity again adds nothing. run_id: the record's own, None if it could not be read.
    size: bytes of the record. verdicts: how many it holds, repeats included. code: the exit code of the run.
    """

    path: str
    identity: str
    run_id: str | None = None
    complete: bool = True
    parts: tuple[Part, ...] = ()
    verdicts: int = 0
    size: int | None = None
    reason: str | None = None
    code: ExitCode = ExitCode.CONFORMS


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of a command. runs: new in the lake. known: already there. rejected: path and reason.

    code: the worst exit code of a new run, or 2 if a record was rejected and none of them deviates.
    """

    runs: int
    verdicts: int
    known: int
    rejected: tuple[tuple[str, str], ...]
    version: int
    code: ExitCode = ExitCode.CONFORMS

    def to_json(self) -> dict[str, Json]:
        """Return the result as `--json` prints it."""
        return {
            "runs": self.runs,
            "verdicts": self.verdicts,
            "known": self.known,
            "rejected": [{"path": path, "reason": reason} for path, reason in self.rejected],
            "version": self.version,
        }


@dataclass(frozen=True, slots=True)
class RecordTask:
    """Records for one worker to read. target: where their rows go. known: identities that are in the lake."""

    paths: Sequence[str]
    target: Target
    batch: str
    known: frozenset[str]


def ingest_runs(paths: Sequence[Path], lake: Lake, *, workers: Workers | None = None) -> Ingested:
    """Add these run records to the lake, all or nothing.

    paths: run folders, single parts, or folders that hold run folders. Raises PipelineError if nothing is found or the
    lake cannot be written. A record that cannot be read becomes a row in `rejected`.
    """
    workers = workers or Here()
    records = named([str(path) for path in found(paths)], lake, workers)
    each = max(1, min(AT_ONCE, -(-len(records) // workers.cores)))
    batch = uuid4().hex
    with lake.writing(batch) as target:
        before = lake.known()
        known = frozenset(before.runs | before.rejected)
        tasks = [RecordTask(records[at : at + each], target, batch, known) for at in range(0, len(records), each)]
        staged = [one for some in workers.map(stage_records, tasks) for one in some]
        new = _first_of_each(one for one in staged if one.reason is None and one.parts)
        bad = [one for one in staged if one.reason is not None]
        rejected = [one for one in bad if one.identity not in known]
        parts = list(_gathered([part for one in new for part in one.parts], target, batch))
        parts += _rejections(rejected, target, batch)
        version = before.version
        if parts:
            version = lake.commit(
                Entry(
                    "runs",
                    batch,
                    add=parts,
                    runs=[one.identity for one in new],
                    rejected=sorted({one.identity for one in rejected}),
                    # The earlier rows of an unfinished record are removed when it has more.
                    ended=sorted({one.run_id for one in new if one.run_id is not None}),
                )
            )
    return Ingested(
        runs=len(new),
        verdicts=sum(one.verdicts for one in new),
        known=len(staged) - len(new) - len(bad),
        rejected=tuple((one.path, str(one.reason)) for one in bad),
        version=version,
        code=worst_code([ExitCode.CONFORMS, *(ExitCode.BAD_INPUT for _ in bad), *(one.code for one in new)]),
    )


def found(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the run records at and below these paths, in each folder by name.

    A path that is no folder is assumed to be a record; reading it finds out. Raises PipelineError for a path that does
    not exist, and for a folder without a record.
    """
    count = 0
    for path in paths:
        if not _there(path):
            raise PipelineError(f"There is no run record at {path}.")
        nothing = True
        for one in _below(path):
            nothing = False
            count += 1
            if count > MAX_RECORDS:
                raise PipelineError(f"There are more than {MAX_RECORDS:,} run records; name fewer folders at once.")
            yield one.absolute()
        if nothing:
            raise PipelineError(f"The folder {path} holds no run record (no run-*.ndjson).")


def stage_records(task: RecordTask) -> list[Staged]:
    """Read some records, one after the other."""
    return [stage_record(path, task.target, task.batch, task.known) for path in task.paths]


def stage_record(path: str, target: Target, batch: str, known: frozenset[str] | set[str] = frozenset()) -> Staged:
    """Read one record and write its rows to `target`; a `known` record gets no files."""
    place = Path(path)
    size = _size(place)
    try:
        run = read_run(place)
    except RunRecordError as problem:
        identity = hashlib.sha256(f"{path}\0{size}\0{problem}".encode("utf-8", "backslashreplace")).hexdigest()
        return Staged(path, f"run:{identity}", size=size, reason=str(problem))
    run_id = _plain(run.header.run_id)
    identity = run_id if run.complete else f"{run_id}@{_digest(run)}"
    if run_id in known or identity in known:
        return Staged(path, identity, run_id, run.complete, size=size)
    tables = ((RUNS, [_run_row(run, path, batch)]), (RESULTS, list(_result_rows(run))))
    day = _day(run)
    parts = []
    for table, rows in tables:
        if rows:
            digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
            part = Part(
                table.name,
                day.isoformat(),
                f"{table.name}-{batch}-{digest}-{uuid4().hex[:8]}.parquet",
                len(rows),
                None if run.complete else run_id,
            )
            _write(table, rows, target, part)
            parts.append(part)
    verdicts = sum(min(said.seen, _MOST) for said in run.said)
    return Staged(path, identity, run_id, run.complete, tuple(parts), verdicts, size, code=conclusion(run))


def _first_of_each(staged: Iterable[Staged]) -> list[Staged]:
    """Return each run once: a complete record rather than a cut one, then the one with more verdicts."""
    best: dict[str, Staged] = {}
    for one in staged:
        run = one.run_id or one.identity
        before = best.get(run)
        if before is None or (one.complete, one.verdicts) > (before.complete, before.verdicts):
            best[run] = one
    return list(best.values())


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as problem:
        raise PipelineError(f"{path} cannot be accessed: {problem.strerror}.") from None


def _below(path: Path, depth: int = 0) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    try:
        inside = sorted(os.scandir(path), key=lambda one: one.name)
    except OSError as problem:
        raise PipelineError(f"The folder {path} cannot be read: {problem.strerror}.") from None
    if any(one.name.startswith("run-") and one.name.endswith(".ndjson") for one in inside):
        yield path
        return
    for one in inside:
        if depth < MAX_DEPTH and one.is_dir(follow_symlinks=False):
            yield from _below(Path(one.path), depth + 1)


def _gathered(parts: Sequence[Part], target: Target, batch: str) -> Iterator[Part]:
    """Merge the parts of one table and day into one file, so that small runs do not make as many small files."""
    groups: dict[tuple[str, str, str | None], list[Part]] = {}
    for part in parts:
        groups.setdefault((part.table, part.date, part.stream), []).append(part)
    number = 0
    for (table, day, stream), members in groups.items():
        while members:
            rows, some = 0, list[Part]()
            while members and (not some or rows + members[-1].rows <= MAX_ROWS):
                some.append(members.pop())
                rows += some[-1].rows
            if len(some) == 1:
                yield some[0]
                continue
            number += 1
            whole = Part(table, day, f"{table}-{batch}-{number:06}.parquet", rows, stream)
            _join(some, whole, target)
            yield whole


def _join(parts: Sequence[Part], whole: Part, target: Target) -> None:
    with target.writer(whole.table, whole.date, whole.name) as writer:
        for part in parts:
            writer.write_table(target.source(part.table, part.date, part.name))
            target.remove(part.table, part.date, part.name)


def _run_row(run: Run, path: str, batch: str) -> dict[str, Any]:
    header, hello = run.header, run.hello or {}
    return {
        "run_id": header.run_id,
        "path": path,
        "kind": "replay" if header.captures else "run",
        "implementation": _implementation(run),
        "implementation_version": _maybe(hello.get("version")),
        "adapter": header.connector,
        "profile": header.profile or "",
        "level": header.level or "must",
        "reading_set": header.reading_set or "windows",
        "seed": header.seed if header.seed is None or abs(header.seed) <= _MOST else None,
        "started": _started(run),
        "complete": run.complete,
        "ended": run.footer.stop_reason if run.footer else None,
        "judged_by": header.versions.get("mqconform"),
        "batch": batch,
    }


def _result_rows(run: Run) -> Iterator[dict[str, Any]]:
    """Yield a row for each requirement, outcome, readings and test, with their number and the members of the first."""
    firsts: dict[tuple[Any, ...], int] = {}
    counts: Counter[int] = Counter()
    for number, said in run.numbered():
        test = run.verdicts.at(number).test
        first = firsts.setdefault((said.requirement, said.outcome, said.suite, test, said.readings), number)
        counts[first] += run.verdicts.count(number)
    implementation = _implementation(run)
    for (requirement, outcome, suite, test, readings), number in firsts.items():
        verdict = run.verdicts.at(number).verdict
        expected, actual = _json(verdict.expected), _json(verdict.actual)
        yield {
            "run_id": run.header.run_id,
            "implementation": implementation,
            "requirement": requirement,
            "outcome": outcome.value,
            "count": min(counts[number], _MOST),
            "suite": suite,
            "test": test,
            "readings": list(readings),
            "subject": verdict.subject,
            "expected": expected,
            "actual": actual,
            "reason": verdict.reason,
            "expected_value": struct_of(expected),
            "actual_value": struct_of(actual),
        }


def _rejections(rejected: Sequence[Staged], target: Target, batch: str) -> list[Part]:
    if not rejected:
        return []
    now = datetime.now(UTC)
    rows = [
        {
            "path": one.path,
            "reason": one.reason,
            "bytes": one.size,
            "capture_id": None,
            "rejected_at": now,
            "batch": batch,
        }
        for one in rejected
    ]
    name = f"{REJECTED.name}-{batch}.parquet"
    part = Part(REJECTED.name, now.date().isoformat(), name, len(rows))
    _write(REJECTED, rows, target, part)
    return [part]


def _write(table: Table, rows: Sequence[dict[str, Any]], target: Target, part: Part) -> None:
    import pyarrow as arrow

    schema = table.arrow()
    columns = [[_plain(row[name]) for row in rows] for name in table.names if name != DATE]
    with target.writer(table.name, part.date, part.name) as writer:
        writer.write_table(target.filled(table.name, arrow.table(columns, schema=schema)))


def _implementation(run: Run) -> str | None:
    name = (run.hello or {}).get("name")
    return _maybe(name) or run.header.connector


def _started(run: Run) -> datetime | None:
    try:
        at = datetime.fromisoformat(run.header.started)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _day(run: Run) -> date:
    at = _started(run)
    return at.date() if at is not None else _UNKNOWN_DAY


def _digest(run: Run) -> str:
    """Return the digest of what was recorded so far."""
    found = hashlib.sha256()
    for part in run.parts:
        with part.open("rb") as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()[:16]


def _size(path: Path) -> int | None:
    try:
        files = path.glob("run-*.ndjson") if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files)
    except OSError:
        return None


def _json(value: Json) -> str | None:
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return text if len(text) <= MAX_VALUE else json.dumps(f"a value of {len(text):,} characters")


def _maybe(value: object) -> str | None:
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    """Make text fit for UTF-8: an unpaired surrogate becomes its escape, and a long text is cut."""
    if isinstance(value, str):
        text = value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}… ({len(value):,} characters in all)"
        return text.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [tuple(map(_plain, one)) if isinstance(one, tuple) else _plain(one) for one in value]
    return value
