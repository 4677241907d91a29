"""A lake on Delta: a Delta table for each table, and `batches`, whose rows make the rows of the others count.

Workers write Parquet files into the folders of the tables, where no log names them yet. The commit adds them to one
table after the other, each time with the number of the batch as Delta's application transaction, and to `batches` last:
a row counts only if its batch is there. Rows about the provisional end of a stream are in files of their own, which an
entry names; they count until a later entry has ended the stream, and are removed after that entry.

A reader takes `batches` at one version, and the tables at versions that are as new or newer; it starts again if
`batches` has changed meanwhile. So it sees every batch whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Protocol

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import MAX_FILE, UnfitError, is_plain, parsed
from conformance.pipeline.lakes import delta_tables
from conformance.pipeline.lakes.delta_tables import BATCHES, Listed, told
from conformance.pipeline.lakes.folder import flocked, own_folders
from conformance.pipeline.lakes.lease import LEASE, leased
from conformance.pipeline.lakes.port import HEAD, LOCK, STAGING, WATCH, Lake, damaged
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.target import BATCH, Target
from conformance.pipeline.log import STATE, Entry, Part, Snapshot, checked
from conformance.pipeline.schemas import TABLES

if TYPE_CHECKING:
    import pyarrow

NUMBER: Final = 2
"""The format in the head of such a lake."""
_AT_ONCE = 8  # Logs that are read, and files that are looked at, at once.
_TRIES = 50  # Readings of the logs while others commit.
_WRITER = "writer.json"
_OWN = (HEAD, BATCHES, STATE, STAGING, LOCK, WATCH, LEASE, *TABLES)


class Tables(Protocol):
    """How tables of one format are made, read and changed: a module such as `delta_tables`, which says more.

    A table is opened at its newest version, and stays there until it is changed or refreshed.
    """

    def require(self) -> None:
        """Raise PipelineError if a package is missing."""

    def schema(self, name: str) -> pyarrow.Schema:
        """Return the schema of a table."""

    def make(self, store: Store, name: str) -> None:
        """Make an empty table, if there is none."""

    def load(self, store: Store, name: str) -> Any:
        """Open a table."""

    def refreshed(self, store: Store, name: str, table: Any) -> Any:
        """Return the table at its newest version."""

    def widen(self, store: Store, name: str, table: Any) -> Any:
        """Add the columns that a table of an earlier version lacks."""

    def listed(self, store: Store, name: str, table: Any) -> list[Listed]:
        """Return the files of a table."""

    def adding(self, store: Store, part: Part, batch: str) -> Any:
        """Return the action that adds a file."""

    def removing(self, files: Iterable[Listed], table: str) -> Sequence[Any]:
        """Return the actions that remove files."""

    def change(
        self, store: Store, name: str, table: Any, actions: Sequence[Any], transaction: int | None = None
    ) -> None:
        """Commit actions, all or none."""


def create(store: Store) -> None:
    """Make an empty lake. Raises PipelineError, OSError and UnfitError."""
    create_on(store, delta_tables, NUMBER, "delta")


def create_on(store: Store, tables: Tables, number: int, named: str) -> None:
    """Make an empty lake of the format with this number and name. Raises PipelineError, OSError and UnfitError."""
    tables.require()
    if any(name not in _OWN for name in store.names("")):
        raise PipelineError(f"{store.place} is a folder with other files in it; name a new one for the lake.")
    for name in (*TABLES, BATCHES):
        tables.make(store, name)
    with suppress(FileExistsError):
        store.create(HEAD, json.dumps({"format": number, "tables": named, "version": __version__}).encode())


class TableLake(Lake):
    """A lake on tables of a format that others know too, in a folder or in a store."""

    tables: Tables

    def __init__(self, store: Store) -> None:
        self.tables.require()
        self.store = store
        self._handles: dict[str, Any] = {}
        self._read: set[str] = set()
        self._log = Snapshot()
        """The lake by its entries; `parts` has those about the provisional ends of streams."""
        self._known: set[str] = set()
        self._provisional: set[str] = set()
        self._now = Snapshot()
        self._listed: dict[str, list[Listed]] = {}
        self._fixed = False
        self._held: Callable[[], None] = _nothing

    def check(self) -> None:
        """Check that no folder of the lake is a link. Raises PipelineError."""
        if not isinstance(self.store, LocalStore):
            return
        try:
            own_folders(self.store.root, (BATCHES,))
        except UnfitError as problem:
            raise damaged(self.place, problem) from None
        except OSError as problem:
            raise PipelineError(f"The lake {self.place} cannot be used: {problem.strerror}.") from None

    def snapshot(self) -> Snapshot:
        """Return the present state of the lake; while it is written, the state at the beginning, or of the commit."""
        if self._fixed:
            return self._now
        for _ in range(_TRIES):
            batches = self._handle(BATCHES)
            version = batches.version()
            self._entries(batches)
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                tables = list(pool.map(self._handle, TABLES))
            if self._handle(BATCHES).version() == version:
                break
        else:
            raise PipelineError(f"The lake {self.place} changes faster than it can be read; try again.")
        self._listed = {
            name: self.tables.listed(self.store, name, table) for name, table in zip(TABLES, tables, strict=True)
        }
        self._now = self._seen()
        return self._now

    def versions(self) -> dict[str, int]:
        """Return the version of each Delta table in the last snapshot."""
        return {name: int(self._handles[name].version()) for name in (*TABLES, BATCHES)}

    def located(self) -> dict[str, PurePath]:
        """Return the present files of the lake by their places in it. Raises PipelineError if one is missing."""
        parts = self.snapshot().parts
        if not isinstance(self.store, LocalStore):
            return {place: self.store.path(place) for place in parts}
        within: dict[str, bool] = {}
        missing = []
        for place in parts:
            below = place.rpartition("/")[0]
            try:
                if below not in within:
                    within[below] = self.store.within(below)
                if not (within[below] and self.store.check(place)):
                    missing.append(place)
            except UnfitError as problem:
                raise damaged(self.store.name(place), problem) from None
            except OSError as problem:
                raise PipelineError(f"The lake {self.place} cannot be read: {problem.strerror}.") from None
        if missing:
            raise PipelineError(
                f"{len(missing):,} of the {len(parts):,} files that the log of the lake {self.place} names are "
                f"missing (the first is {missing[0]})."
            )
        return {place: self.store.path(place) for place in parts}

    @contextmanager
    def writing(self, batch: str) -> Iterator[Target]:
        """Hold the lake for writing, remove what others left, and yield where this batch's files are written.

        Raises PipelineError if another command is writing, or if a path would lead out of the lake.
        """
        if not is_plain(batch):
            raise ValueError(f"the name of a batch is plain, not {batch!r}")
        try:
            with self._lease() as held:
                self._held = held
                self._clean()
                self.store.write(f"{STAGING}/{batch}/{_WRITER}", json.dumps({"by": __version__}).encode())
                self.snapshot()
                self._fixed = True
                try:
                    yield self._target(batch)
                finally:
                    self._fixed = False
                    # The next writer removes what cannot be removed now.
                    with suppress(PipelineError, OSError, UnfitError):
                        self._clean(batch)
        except UnfitError as problem:
            raise damaged(self.place, problem) from None
        except OSError as problem:
            reason = problem.strerror or problem
            raise PipelineError(f"The lake {self.place} cannot be written: {reason}.") from None

    def commit(self, entry: Entry) -> int:
        """Make the written files part of the lake and return its new version. Only within `writing`.

        Raises PipelineError if the entry is larger than a reader accepts, or if another command has written meanwhile.
        """
        version = self._now.version + 1
        by: dict[str, list[Part]] = {}
        for part in entry.add:
            by.setdefault(part.table, []).append(part)
        _text(entry, version, {})
        self._held()
        for name, parts in by.items():
            self._add(name, parts, entry.batch, version)
        versions = {name: int(self._handles[name].version()) for name in TABLES}
        text = _text(entry, version, versions)
        part = Part(BATCHES, "", f"{BATCHES}-{entry.batch}.parquet", 1)
        self._write_batch(part, entry, version, text)
        self._held()
        try:
            self._add(BATCHES, [part], entry.batch, version)
        except PipelineError:
            # An answer may be lost on its way: what counts is whether the batch is there.
            self._fixed = False
            with suppress(PipelineError):
                self.snapshot()
            self._fixed = True
            if entry.batch not in self._known:
                raise
        self._fixed = False
        self.snapshot()
        self._fixed = True
        return version

    def _target(self, batch: str) -> Target:
        return Target(self.place, batch, staged=False)

    def _add(self, name: str, parts: Sequence[Part], batch: str, version: int) -> None:
        table = self.tables.widen(self.store, name, self._handles[name])
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            actions = list(pool.map(lambda one: self.tables.adding(self.store, one, batch), parts))
        self.tables.change(self.store, name, table, actions, version)

    def _write_batch(self, part: Part, entry: Entry, version: int, text: str) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        row = {BATCH: entry.batch, "number": version, "at": datetime.fromisoformat(parsed(text.encode())["at"]),
               "by": __version__, "kind": entry.kind, "entry": text}  # fmt: skip
        with told(self.store, BATCHES), self.store.sink(f"{BATCHES}/{part.name}") as sink:
            parquet.write_table(
                pa.Table.from_pylist([row], schema=self.tables.schema(BATCHES)), sink, compression="zstd"
            )

    @contextmanager
    def _lease(self) -> Iterator[Callable[[], None]]:
        if isinstance(self.store, LocalStore):
            with flocked(self.store.root):
                yield _nothing
        else:
            with leased(self.store) as held:
                yield held

    def _clean(self, own: str = "") -> None:
        """Remove what does not count: rows of batches that were never finished, and of streams that have continued.

        own: the batch of this command, which will not be committed any more.
        """
        now = self.snapshot()
        left = self.store.names(STAGING)
        dead = [name for name in left if name not in self._known]
        lost = {name: [one for one in files if not self._counts(one)] for name, files in self._listed.items()}
        lost = {name: files for name, files in lost.items() if files}
        theirs = {one.batch for some in lost.values() for one in some if one.batch is not None} - self._known
        if theirs.union(dead) - {own}:
            # A writer of such a batch that is only asleep can no longer finish it.
            self.tables.change(self.store, BATCHES, self._handles[BATCHES], [], now.version)
            self._handle(BATCHES)
        for name, files in lost.items():
            self.tables.change(self.store, name, self._handles[name], self.tables.removing(files, name))
            for one in files:
                if one.batch is not None and one.batch not in self._known:
                    self.store.remove(one.place)
        if dead:
            named = {one.place for files in self._listed.values() for one in files} | self._read
            for name in (*TABLES, BATCHES):
                for place in self.store.below(name):
                    file = place.rpartition("/")[2]
                    if place not in named and "/_delta_log/" not in place and any(one in file for one in dead):
                        self.store.remove(place)
        if left:
            kept = {one.place for one in now.kept.values()}
            for name in self.store.names(STATE):
                if f"{STATE}/{name}" not in kept:
                    self.store.remove(f"{STATE}/{name}")
        for name in left:
            self.store.clear(f"{STAGING}/{name}")
        if lost:
            self.snapshot()

    def _counts(self, one: Listed) -> bool:
        """Tell whether the rows of a file count; those of several batches do, which only a compaction writes."""
        if one.batch is not None and one.batch not in self._known:
            return False
        return one.place not in self._provisional or one.place in self._log.parts

    def _seen(self) -> Snapshot:
        """Return the snapshot of what the tables have for the batches that are there."""
        ends = self._log.parts
        parts = {
            one.place: Part(name, one.date, one.name, one.rows, ends[one.place].stream if one.place in ends else None)
            for name, files in self._listed.items()
            for one in files
            if self._counts(one)
        }
        log = self._log
        return replace(
            log, parts=parts, captures=set(log.captures), runs=set(log.runs), rejected=set(log.rejected),
            kept=dict(log.kept),
        )  # fmt: skip

    def _handle(self, name: str) -> Any:
        """Return a table at its newest version."""
        known = self._handles.get(name)
        if known is None:
            found = self.tables.load(self.store, name)
        else:
            found = self.tables.refreshed(self.store, name, known)
        self._handles[name] = found
        return found

    def _entries(self, batches: Any) -> None:
        """Read the entries of the batches that are new in `batches`. Raises PipelineError."""
        new = [one for one in self.tables.listed(self.store, BATCHES, batches) if one.place not in self._read]
        if not new:
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            rows = [row for found in pool.map(self._batch_rows, new) for row in found]
        for number, batch, text in sorted(rows):
            if number <= self._log.version:
                continue  # written again by a compaction
            try:
                if number != self._log.version + 1:
                    raise UnfitError(f"lacks the batch {self._log.version + 1:,}")
                entry = _entry(text, number, batch)
            except UnfitError as problem:
                raise damaged(self.store.name(BATCHES), problem) from None
            self._provisional.update(part.place for part in entry.add)
            self._known.add(batch)
            self._log = self._log.after(entry)
        self._read.update(one.place for one in new)

    def _batch_rows(self, one: Listed) -> list[tuple[int, str, str]]:
        from pyarrow import parquet

        with told(self.store, BATCHES):
            if isinstance(self.store, LocalStore):
                self.store.check(one.place)
            with parquet.ParquetFile(str(self.store.path(one.place)), filesystem=self.store.arrow) as file:
                footer = file.metadata
                size = sum(footer.row_group(at).total_byte_size for at in range(footer.num_row_groups))
                if size > 4 * MAX_FILE:
                    raise UnfitError(f"has a file of {size:,} bytes, at most {4 * MAX_FILE:,} are read")
                found = file.read(["number", BATCH, "entry"]).to_pylist()
        return [(row["number"], row[BATCH], row["entry"]) for row in found]


class DeltaLake(TableLake):
    """A lake on Delta, in a folder or in a store."""

    format = "delta"
    tables = delta_tables


def _text(entry: Entry, version: int, tables: Mapping[str, int]) -> str:
    """Return an entry as `batches` stores it: without its files but for those about provisional ends.

    tables: the versions of the Delta tables. Raises PipelineError if a reader would not accept it.
    """
    value = entry.to_json(version)
    value["provisional"] = [part.to_json() for part in entry.add if part.stream is not None]
    del value["add"]
    text = json.dumps({**value, "tables": dict(tables)}, ensure_ascii=False)
    try:
        if len(data := text.encode()) > MAX_FILE:
            raise UnfitError(f"has {len(data):,} bytes, at most {MAX_FILE:,} are read")
        _entry(text, version, entry.batch)
    except UnfitError as problem:
        raise PipelineError(
            f"This is too much for one entry of the log of the lake, which {problem}; ingest less at once."
        ) from None
    return text


def _entry(text: str, number: int, batch: str) -> Entry:
    """Return a checked entry; `add` has its files about provisional ends. Raises UnfitError."""
    value: Any = parsed(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    if not isinstance(value, dict) or not isinstance(value.get("provisional"), list):
        raise UnfitError(f"has an entry {number:,} that names no provisional files")
    value = dict(value)
    value.pop("tables", None)
    value["add"] = value.pop("provisional")
    entry = checked(value, number)
    if entry.batch != batch:
        raise UnfitError(f"has an entry {number:,} of another batch")
    return entry


def _nothing() -> None:
    return None


__all__ = ["DeltaLake", "TableLake", "Tables", "create", "create_on"]
