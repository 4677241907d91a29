"""A lake on Delta: a Delta table for each table, and `batches`, whose rows make the rows of the others count.

`TableLake` does it for tables of any format, see `tables`. Workers write Parquet files into the folders of the tables,
where nothing names them yet. The commit adds them to one table after the other, each time with the number of the batch
(as Delta's application transaction), and to `batches` last: a row counts only if its batch is there. Rows about the
provisional end of a stream are in files of their own, which an entry names; they count until a later entry has ended
the stream, and are removed after that entry.

A reader takes `batches` at one version, and the tables at versions that are as new or newer; it starts again if
`batches` has changed meanwhile. So it sees every batch whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import PurePath
from typing import Any

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.lakes import delta_tables
from conformance.pipeline.lakes.batch_rows import batch_rows
from conformance.pipeline.lakes.entries import checked_entry, entry_text
from conformance.pipeline.lakes.folders import flocked, own_folders
from conformance.pipeline.lakes.lease import leased
from conformance.pipeline.lakes.port import STAGING, Lake, damaged, written
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.tables import BATCHES, DATA_FILE, Listed, Tables, told
from conformance.pipeline.lakes.target import BATCH, Target
from conformance.pipeline.log import STATE, Entry, Part, Snapshot
from conformance.pipeline.schemas import TABLES

_AT_ONCE = 8  # Logs that are read, and files that are looked at, at once.
_TRIES = 50  # Readings of the logs while others commit.
_WRITER = "writer.json"


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
        self._known: dict[str, int] = {}
        """The batches that count, each with its number."""
        self._provisional: set[str] = set()
        self._now = Snapshot()
        self._listed: dict[str, list[Listed]] = {}
        self._listed_at: dict[str, int] = {}
        """The versions of the tables in which they have these files."""
        self._fixed = False
        self._untidy = False
        """Whether the last commit has left files in the tables that no longer count."""
        self._handled = -1
        """The last batch after which the tables were looked at, each, by a commit."""
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

    def known(self) -> Snapshot:
        """Return what `batches` alone tells, see `Lake.known`."""
        if not self._fixed:
            self._entries(self._handle(BATCHES))
        return self._log

    def snapshot(self) -> Snapshot:
        """Return the present state of the lake; while it is written, the state at the beginning, or of the commit."""
        if self._fixed and self._now.version == self._log.version:
            return self._now
        for _ in range(_TRIES):
            self.known()
            version = self._handles[BATCHES].version()
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                tables = list(pool.map(self._handle, TABLES))
            if self._fixed or self._handle(BATCHES).version() == version:
                break
        else:
            raise PipelineError(f"The lake {self.place} changes faster than it can be read; try again.")
        for name, table in zip(TABLES, tables, strict=True):
            if self._listed_at.get(name) != table.version():
                self._listed[name] = self._files(name, table)
                self._listed_at[name] = table.version()
        self._now = self._seen()
        return self._now

    def staged(self) -> list[str]:
        """Return the batches that are being written, or were when their writer was killed."""
        return self.store.names(STAGING)

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
        with written(self.place, batch), self._lease() as held:
            self._held = held
            self._clean()
            self.store.write(f"{STAGING}/{batch}/{_WRITER}", json.dumps({"by": __version__}).encode())
            self._fixed = True
            try:
                yield self.target(batch)
            finally:
                self._fixed = False
                # The next writer removes what cannot be removed now, or is no longer this one's to remove.
                with suppress(PipelineError, OSError, UnfitError):
                    held()
                    self._clean(batch)

    def commit(self, entry: Entry) -> int:
        """Make the written files part of the lake and return its new version. Only within `writing`.

        Raises PipelineError if the entry is larger than a reader accepts, or if another command has written meanwhile.
        """
        version = self._log.version + 1
        by: dict[str, list[Part]] = {}
        for part in entry.add:
            by.setdefault(part.table, []).append(part)
        entry_text(entry, version, {})
        self._held()
        for name, parts in by.items():
            self._add(name, parts, entry.batch, version)
        # Another command may have added to a table that this one has opened, and adds nothing to.
        look = self._opened if self._handled == self._log.version else self._handle
        versions = {name: int(look(name).version()) for name in TABLES}
        text = entry_text(entry, version, versions)
        part = Part(BATCHES, "", f"{BATCHES}-{entry.batch}.parquet", 1)
        self._write_batch(part, entry, version, text)
        self._held()
        try:
            self._add(BATCHES, [part], entry.batch, version)
        except PipelineError:
            # An answer may be lost on its way: what counts is whether the batch is there.
            self._fixed = False
            with suppress(PipelineError):
                self.known()
            self._fixed = True
            if entry.batch not in self._known:
                raise
        self._entries(self._handles[BATCHES])
        self._handled = version
        ended = any(not one.startswith(f"{STATE}/") for one in self._log.dropped)
        self._untidy = ended
        return version

    def target(self, batch: str) -> Target:
        """Return the place for the files of a batch. Only within `writing`, or before the lake has a head."""
        return Target(self.place, batch, staged=False)

    def _add(self, name: str, parts: Sequence[Part], batch: str, version: int) -> None:
        table = self._handles[name] if name == BATCHES else self._handle(name)
        table = self.tables.widen(self.store, name, table)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            actions = list(pool.map(lambda one: self.tables.adding(self.store, one, batch), parts))
        self.tables.change(self.store, name, table, actions, version)
        self._handle(name)

    def _write_batch(self, part: Part, entry: Entry, version: int, text: str) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        row = {BATCH: entry.batch, "number": version, "at": datetime.fromisoformat(parsed(text.encode())["at"]),
               "by": __version__, "kind": entry.kind, "entry": text}  # fmt: skip
        found = pa.Table.from_pylist([row], schema=self.tables.schema(BATCHES))
        with told(self.store, BATCHES), self.store.sink(f"{BATCHES}/{part.name}") as sink:
            parquet.write_table(found, sink, compression="zstd")

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

        own: the batch of this command, which will not be committed any more. The tables are looked at only if a writer
        has not cleaned up, or this one has to: `_staging` has what it left until it has done so.
        """
        log = self._log if own in self._known else self.known()
        left = self.store.names(STAGING)
        if not left or (left == [own] and own in self._known and not self._untidy):
            for place in log.dropped if left else ():
                self.store.remove(place)
            for name in left:
                self.store.clear(f"{STAGING}/{name}")
            return
        now = self.snapshot()
        dead = [name for name in left if name not in self._known]
        lost = {name: [one for one in files if not self._counts(one)] for name, files in self._listed.items()}
        lost = {name: files for name, files in lost.items() if files}
        theirs = {one.batch for some in lost.values() for one in some if one.batch is not None} - self._known.keys()
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
                    if place not in named and _is_data(place) and any(one in file for one in dead):
                        self.store.remove(place)
        if left:
            kept = {one.place for one in now.kept.values()}
            for name in self.store.names(STATE):
                if f"{STATE}/{name}" not in kept:
                    self.store.remove(f"{STATE}/{name}")
        for name in left:
            self.store.clear(f"{STAGING}/{name}")
        self._untidy = False

    def _counts(self, one: Listed) -> bool:
        """Tell whether the rows of a file count; those of several batches do, which only a compaction writes."""
        if one.first is not None and one.first not in self._known:
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

    def _opened(self, name: str) -> Any:
        """Return a table at a version that this process has seen."""
        return self._handles.get(name) or self._handle(name)

    def _handle(self, name: str) -> Any:
        """Return a table at its newest version."""
        known, store = self._handles.get(name), self.store
        found = self.tables.load(store, name) if known is None else self.tables.refreshed(store, name, known)
        self._handles[name] = found
        return found

    def _files(self, name: str, table: Any) -> list[Listed]:
        return self.tables.listed(self.store, name, table)

    def _entries(self, batches: Any) -> None:
        """Read the entries of the batches that are new in `batches`. Raises PipelineError."""
        files = self._files(BATCHES, batches)
        new = [
            one for one in files if one.place not in self._read and (one.most is None or one.most > self._log.version)
        ]
        if not new:
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            rows = [row for found in pool.map(partial(batch_rows, self.store), new) for row in found]
        for number, batch, text in sorted(rows):
            if number <= self._log.version:
                continue  # written again by a compaction
            try:
                if number != self._log.version + 1:
                    raise UnfitError(f"lacks the batch {self._log.version + 1:,}")
                entry = checked_entry(text, number, batch)
            except UnfitError as problem:
                raise damaged(self.store.name(BATCHES), problem) from None
            self._provisional.update(part.place for part in entry.add)
            self._known[batch] = number
            self._log = self._log.after(entry)
        self._read.update(one.place for one in new)


class DeltaLake(TableLake):
    """A lake on Delta, in a folder or in a store."""

    format = "delta"
    tables = delta_tables


def _is_data(place: str) -> bool:
    return DATA_FILE.fullmatch(place.partition("/")[2]) is not None


def _nothing() -> None:
    return None


__all__ = ["DeltaLake", "TableLake"]
