"""Convert run records to rows of `runs` and `results`.

A record is identified by its own id. One without a footer may still be written to: its rows are provisional and are
replaced when the record is ingested again and has more.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from conformance.pipeline.engine import Engine
from conformance.pipeline.lake import Entry, Lake, Open, added, new_batch
from conformance.pipeline.rows import EPOCH, Rows, open_batch, plain
from conformance.pipeline.schemas import DATE, RESULTS, RUNS
from conformance.pipeline.store import Files, Part
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.records import read_run
from conformance.report.table import conclusion
from conformance.runlog import Run, RunRecordError
from conformance.suggest import near_file
from conformance.verdict import ExitCode, Json, worst_code

MAX_VALUE: Final = 32_000
"""Characters of a JSON value or text of one row; of a longer JSON value only the length is stored."""
AT_ONCE: Final = 64
"""Records that one task reads."""
_MOST_LINE: Final = 1 << 20
"""Bytes of the first line of a record."""
_MOST: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Record:
    """The result of reading one record: its files, or the reason why there are none.

    identity: adding the same identity again adds nothing. run_id: the record's own, None if it could not be read.
    size: bytes of the record. verdicts: how many it holds, repeats included. code: the exit code of the run.
    """

    path: str
    identity: str
    run_id: str | None = None
    complete: bool = True
    new: bool = False
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
    code: ExitCode = ExitCode.CONFORMS

    def to_json(self) -> dict[str, Json]:
        """Return the result as `--json` prints it."""
        return {
            "runs": self.runs,
            "verdicts": self.verdicts,
            "known": self.known,
            "rejected": [{"path": path, "reason": reason} for path, reason in self.rejected],
        }


@dataclass(frozen=True, slots=True)
class RecordTask:
    """Records for one worker to read, those of a run together. place: of the lake. known: identities in it."""

    groups: Sequence[Sequence[str]]
    place: str
    batch: str
    known: frozenset[str]


def ingest_runs(paths: Sequence[Path], lake: Lake, engine: Engine | None = None) -> Ingested:
    """Add these run records to the lake, all or nothing. engine: reads them; None: this process.

    paths: run folders, single parts, or folders that hold run folders. Raises PipelineError if nothing is found or the
    lake cannot be written. A record that cannot be read becomes a row in `rejected`.
    """
    records = [str(path) for path in found(paths)]
    return added(lake, lambda: _ingested(records, lake, engine))


def _ingested(records: Sequence[str], lake: Lake, engine: Engine | None) -> Ingested:
    """Add records. Raises OvertakenError if another command has added a batch meanwhile."""
    batch = new_batch()
    before = lake.batches()
    unfinished = {one.entry["run"]: one for one in before.open.values() if "run" in one.entry}
    runs = {row["run_id"] for row in lake.column("runs", ["run_id"], before.live)} - unfinished.keys()
    runs |= {str(one.entry.get("identity")) for one in unfinished.values()}
    paths = ("path", map(plain, records))
    refused = lake.column("rejected", ["path", "reason", "capture_id"], before.live, paths)
    known = frozenset(runs | {_refusal(row["path"], row["reason"]) for row in refused if row["capture_id"] is None})
    groups = _by_run(records)
    each = max(1, min(AT_ONCE, -(-len(groups) // (engine.cores if engine is not None else 1))))
    tasks = [RecordTask(groups[at : at + each], lake.place, batch, known) for at in range(0, len(groups), each)]
    done = [read_records(task) for task in tasks] if engine is None else engine.run(read_records, tasks, lambda _: None)
    read = [one for records_read, _ in done for one in records_read]
    new = [one for one in read if one.new]
    bad = [one for one in read if one.reason is not None]
    files = Files(lake.place)
    rows = Rows(batch, files)
    for one in bad:
        if one.identity not in known:
            rows.reject(one.path, _plain(one.reason), one.size)
    rows.close()
    parts = [part for _, some in done for part in some] + files.close()
    if parts:
        opened = [_open(batch, one) for one in new if not one.complete]
        ends = [unfinished[one.run_id].batch for one in new if one.run_id in unfinished]
        lake.commit(Entry("runs", batch, parts, ends, opened), before)
    code = worst_code([ExitCode.CONFORMS, *(ExitCode.BAD_INPUT for _ in bad), *(one.code for one in new)])
    rejected = tuple((one.path, str(one.reason)) for one in bad)
    return Ingested(len(new), sum(one.verdicts for one in new), len(read) - len(new) - len(bad), rejected, code)


def found(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the run records at and below these paths, in each folder by name.

    A path that is no folder is assumed to be a record; reading it finds out. Raises PipelineError for a path that does
    not exist, and for a folder without a record.
    """
    for path in paths:
        try:
            if not path.exists():
                raise PipelineError(f"There is no run record at {path}{near_file(path)}")
            below = list(_below(path))
        except OSError as problem:
            raise PipelineError(f"{problem.filename or path} cannot be accessed: {problem.strerror}.") from None
        if not below:
            raise PipelineError(f"The folder {path} holds no run record (no run-*.ndjson).")
        yield from below


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path.absolute()
        return
    for folder, inner, names in os.walk(path, onerror=_unreadable):
        inner.sort()
        if any(name.startswith("run-") and name.endswith(".ndjson") for name in names):
            inner.clear()
            yield Path(folder).absolute()


def _unreadable(problem: OSError) -> None:
    raise problem


def read_records(task: RecordTask, _: object = None) -> tuple[list[Record], list[Part]]:
    """Read some records and write their rows."""
    files = Files(task.place)
    rows = Rows(task.batch, files)
    read = [one for group in task.groups for one in _read_group(group, rows, task)]
    rows.close()
    return read, files.close()


def _by_run(paths: Sequence[str]) -> list[list[str]]:
    """Return the records of each run together: a complete one and a cut copy count once."""
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(_run_of(Path(path)) or path, []).append(path)
    return list(groups.values())


def _run_of(path: Path) -> str | None:
    """Return the id in the first line of a record, None without one."""
    try:
        first = min(path.glob("run-*.ndjson")) if path.is_dir() else path
        with first.open("rb") as file:
            found = json.loads(file.readline(_MOST_LINE))
    except (OSError, ValueError, RecursionError):
        return None
    return found.get("run_id") if isinstance(found, dict) and isinstance(found.get("run_id"), str) else None


def _read_group(paths: Sequence[str], rows: Rows, task: RecordTask) -> list[Record]:
    """Read the records of one run, and write the rows of a complete one rather than a cut one, if it is not known."""
    read = [_read(path, task) for path in paths]
    runs = [(one, run) for one, run in read if run is not None]
    best = max(runs, key=lambda one: (one[0].complete, one[0].verdicts), default=None)
    if best is None:
        return [one for one, _ in read]
    record, run = best
    stream, at = None if run.complete else _short(record.identity), _started(run)
    day = EPOCH if at is None else at.date().isoformat()
    for table, some in ((RUNS, [_run_row(run, record.path)]), (RESULTS, _result_rows(run))):
        for row in some:
            rows.add(table.name, {**{name: _plain(value) for name, value in row.items()}, DATE: day}, stream=stream)
    return [replace(one, new=one is record) for one, _ in read]


def _read(path: str, task: RecordTask) -> tuple[Record, Run | None]:
    """Read one record; there is no run of one that is known, or cannot be read."""
    place = Path(path)
    size = _size(place)
    try:
        run = read_run(place)
    except RunRecordError as problem:
        return Record(path, _refusal(_plain(path), _plain(str(problem))), size=size, reason=str(problem)), None
    run_id = _plain(run.header.run_id)
    identity = run_id if run.complete else f"{run_id}@{_digest(run)}"
    known = run_id in task.known or identity in task.known
    verdicts = sum(min(said.seen, _MOST) for said in run.said)
    record = Record(path, identity, run_id, run.complete, False, verdicts, size, code=conclusion(run))
    return record, None if known else run


def _refusal(path: str, reason: str) -> str:
    return f"{path}\0{reason}"


def _open(batch: str, one: Record) -> Open:
    entry = {"run": one.run_id, "identity": one.identity}
    return Open(open_batch(batch, _short(one.identity)), f"run {one.run_id}", entry)


def _short(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()[:16]


def _run_row(run: Run, path: str) -> dict[str, Any]:
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
            "expected": _json(verdict.expected),
            "actual": _json(verdict.actual),
            "reason": verdict.reason,
        }


def _implementation(run: Run) -> str | None:
    name = (run.hello or {}).get("name")
    return _maybe(name) or run.header.connector


def _started(run: Run) -> datetime | None:
    try:
        at = datetime.fromisoformat(run.header.started)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


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
        return plain(value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}… ({len(value):,} characters in all)")
    if isinstance(value, list):
        return [tuple(map(_plain, one)) if isinstance(one, tuple) else _plain(one) for one in value]
    return value
