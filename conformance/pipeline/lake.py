"""A lake: a Delta table for each of `schemas.TABLES`, and `batches`, whose rows make the rows of the others count.

Workers write Parquet files into the folders of the tables (`files`). `commit` adds them to one table after the other,
and to `batches` last: a reader who joins on it sees a batch whole or not at all. Each commit of `batches` has Delta's
transaction of the application with the next number. So of two writers that have read the same `batches` one fails, and
looks at what the other has added before it tries again.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, Final, TypeVar
from uuid import uuid4

import pyarrow as pa
from pyarrow import dataset, fs

from conformance import __version__
from conformance.capture import CaptureError
from conformance.capture.inputs import is_stored, location
from conformance.files import make_folder
from conformance.pipeline.schemas import BATCH, BATCHES, DATE, FORMAT, TABLES
from conformance.pipeline.store import HEAD, STATE, Files, LocalStore, ObjectStore, Part, Store
from conformance.pipeline.untrusted_files import PipelineError, UnfitError, check_log, footer, parsed, rows_of
from conformance.report.text import label

APP: Final = "mqconform"
"""The application of Delta's transactions."""
MAX_HEAD: Final = 1 << 16
TRIES: Final = 20
"""How often a batch is tried that other writers overtake."""
T = TypeVar("T")
_SETTINGS: Final = {"delta.checkpointInterval": "100", "delta.dataSkippingNumIndexedCols": "0"}
"""Without the second, datasets of delta-rs leave out every row for a condition on a column without statistics."""
_KEPT = re.compile(rf"{STATE}/[A-Za-z0-9][A-Za-z0-9._-]{{0,199}}", re.ASCII)
_FILE = re.compile(r"(?:date=(\d{4}-\d{2}-\d{2})/)?([A-Za-z0-9][A-Za-z0-9._=-]{0,199}\.parquet)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Open:
    """An open batch: rows about an end that is not final. key: what it is about. entry: how to go on, as JSON."""

    batch: str
    key: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches at one version of their table. number: of its last transaction. live: those that count."""

    table: Any
    number: int
    live: frozenset[str]
    open: Mapping[str, Open]


@dataclass(slots=True)
class Entry:
    """What a batch adds. ends: open batches that it ends. open: those that it has of its own."""

    kind: str
    batch: str
    parts: Sequence[Part] = ()
    ends: Sequence[str] = ()
    open: Sequence[Open] = ()


class OvertakenError(Exception):
    """Another writer has added a batch since `batches` was read."""


def added(lake: Lake, add: Callable[[], T]) -> T:
    """Return what `add` returns, which is called again while other writers overtake it. Raises PipelineError."""
    for _ in range(TRIES):
        with suppress(OvertakenError):
            return add()
    raise PipelineError(f"Other commands write to the lake {lake.place} all the time; try again.")


def new_batch() -> str:
    """Return the name of a new batch."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"


@dataclass(slots=True)
class Lake:
    """A lake in a folder or in a store."""

    store: Store
    _tables: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def open(place: str | Path, *, create: bool = False) -> Lake:
        """Open the lake at `place`. create: make one if there is none.

        Raises PipelineError if there is no lake, or a damaged one or one of another layout, or if a package is missing.
        """
        store = store_at(place)
        lake = Lake(store)
        try:
            if _head(store) is None and create:
                lake._create()
            found = _head(store)
        except OSError as problem:
            reason = problem.strerror or problem
            raise PipelineError(f"The lake {place} cannot be {'made' if create else 'used'}: {reason}.") from None
        except UnfitError as problem:
            raise damaged(store.name(HEAD), problem) from None
        if found is None:
            raise PipelineError(f"{place} is not a lake; make one with mqconform pipeline ingest ... --out {place}.")
        number = found.get("format") if isinstance(found, dict) else None
        if type(number) is not int or number < 1:
            raise damaged(store.name(HEAD), "names no format")
        if number != FORMAT:
            raise PipelineError(
                f"The lake {place} has the layout {number} of mqconform {label(str(found.get('version')), 40)}, which"
                f" this one ({__version__}) does not read: ingest captures and runs again, into a new folder."
            )

        def look(name: str) -> None:
            with lake._told(name):
                check_log(store, name)

        with ThreadPoolExecutor(len(TABLES) + 1) as pool:  # before Delta opens them
            list(pool.map(look, (*TABLES, BATCHES.name)))
        if isinstance(store, LocalStore):
            with lake._told(STATE):
                store.within(STATE)
        return lake

    @property
    def place(self) -> str:
        """Its name: a path, or an address in a store."""
        return self.store.place

    @property
    def root(self) -> Any:
        """The folder, or the path within the store."""
        return self.store.root

    def table(self, name: str) -> Any:
        """Return a table at its newest version. Raises PipelineError."""
        from deltalake import DeltaTable

        with self._told(name):
            known = self._tables.get(name)
            if known is None:
                known = self._tables[name] = DeltaTable(self.store.name(name), storage_options=options(self.store))
            else:
                known.update_incremental()
            _check(name, known)
        return known

    def batches(self) -> Batches:
        """Return the batches as they are now. Raises PipelineError."""
        table = self.table(BATCHES.name)
        with self._told(BATCHES.name):
            number = table.transaction_version(APP) or 0
            rows = self._rows(BATCHES.name, [BATCH, "ends", "key", "entry"])
            ended = {one for row in rows for one in row["ends"]}
            live = frozenset(row[BATCH] for row in rows) - ended
            try:
                opened = [
                    Open(row[BATCH], row["key"], parsed((row["entry"] or "{}").encode()))
                    for row in rows
                    if row["key"] is not None and row[BATCH] in live
                ]
            except UnfitError as problem:
                raise damaged(self.store.name(BATCHES.name), problem) from None
        found = {one.key: one for one in opened if isinstance(one.entry, dict)}
        for one in found.values():
            state, stream = one.entry.get("state"), one.entry.get("stream")
            plain = all(value is None or isinstance(value, (str, int)) for value in one.entry.values())
            goes_on = type(one.entry.get("last_ns")) is int and isinstance(stream, str) and _KEPT.fullmatch(str(state))
            if not plain or (state is not None and not goes_on):
                raise damaged(self.store.name(BATCHES.name), f"goes on from {label(str(state), 90)!a}, no state of it")
        return Batches(table, number, live, found)

    def _listed(self, name: str) -> list[str]:
        """Return the files of a table."""
        with self._told(name):
            found = pa.table((self._tables.get(name) or self.table(name)).get_add_actions(flatten=True))
        paths: list[str] = found["path"].to_pylist()
        day_of = f"partition.{DATE}"
        days = found[day_of].to_pylist() if day_of in found.column_names else [None] * len(paths)
        for path, day in zip(paths, days, strict=True):
            match = _FILE.fullmatch(path)
            if match is None or match[1] != (None if day is None else str(day)):
                raise damaged(
                    self.store.name(name), f"names the file {label(str(path), 100)!a}, which is none of its own"
                )
        return paths

    def column(self, name: str, columns: Sequence[str], live: frozenset[str]) -> list[dict[str, Any]]:
        """Return some columns of the rows that count of a table. Raises PipelineError."""
        self.table(name)
        return [row for row in self._rows(name, [*columns, BATCH]) if row[BATCH] in live]

    def located(self) -> dict[str, PurePath]:
        """Return the paths of the files, by their places below the lake, each with the columns of its table.

        Whether a row counts is told by its batch: a file may have rows of several. If no batch counts, no file does.
        Raises PipelineError if a file is missing, cannot be read, or belongs to another table.
        """
        if not self.batches().live:
            return {}
        found: dict[str, PurePath] = {}
        for name in TABLES:
            self.table(name)
            for path in self._listed(name):
                found[f"{name}/{path}"] = self.store.path(f"{name}/{path}")
        try:
            gone = [place for place in found if isinstance(self.store, LocalStore) and not self.store.check(place)]
        except UnfitError as problem:
            raise damaged(self.place, problem) from None
        if gone:
            raise PipelineError(
                f"{len(gone):,} of the {len(found):,} files that the log of the lake {self.place} names are missing"
                f" (the first is {gone[0]})."
            )
        for place, file in found.items():
            if wrong := self._wrong(place.partition("/")[0], file):
                raise damaged(self.store.name(place), wrong)
        return found

    def _wrong(self, table: str, path: PurePath) -> str | None:
        """Return what is wrong with a file, None if nothing is."""
        try:
            with (self.store.arrow or fs.LocalFileSystem()).open_input_file(str(path)) as file:
                names = set(footer(file, file.size()).schema.to_arrow_schema().names)
        except UnfitError as problem:
            return str(problem)
        except FileNotFoundError:
            raise PipelineError("The lake was changed while it was read; run the command again.") from None
        except (OSError, pa.ArrowException) as problem:
            first = (str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(".")
            raise PipelineError(f"The table {table} of the lake {self.place} cannot be read: {first}.") from None
        needed = (column.name for column in TABLES[table].columns if not column.null and column.name != DATE)
        lacking = [name for name in needed if name not in names]  # A later version may add columns that may be null.
        return f"is not a file of the table {table}: it lacks the column {lacking[0]}" if lacking else None

    def commit(self, entry: Entry, before: Batches, parts: Sequence[Part] | None = None) -> int:
        """Add a batch and return its number. parts: its files that no try has added yet; None: all.

        before: the batches that it was made after. Raises OvertakenError if there are others by now, and PipelineError.
        """
        by: dict[str, list[Part]] = {}
        for part in entry.parts if parts is None else parts:
            by.setdefault(part.table, []).append(part)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: self._add(name, by[name]), by))
        files = Files(self.place)
        files.write(BATCHES.name, "", entry.batch, _rows_of(entry))
        number = before.number + 1
        try:
            self._add(BATCHES.name, files.close(), before.table, number)
        except (OvertakenError, PipelineError):
            # An answer may be lost on its way: what counts is whether the batch is there.
            if entry.batch not in self.batches().live:
                raise
        return number

    def _create(self) -> None:
        from deltalake import DeltaTable

        if any(name not in (*TABLES, BATCHES.name, STATE, HEAD) for name in self.store.names("")):
            raise PipelineError(f"{self.place} is a folder with other files in it; name a new one for the lake.")
        for name in (*TABLES, BATCHES.name):  # A vacuum would remove the files of somebody else.
            if (there := self.store.names(name)) and "_delta_log" not in there:
                raise PipelineError(f"{self.place}/{name} has files that are no table; name a new folder for the lake.")
        if isinstance(self.store, LocalStore):  # Its error has the system's reason, which that of Delta lacks.
            make_folder(self.store.root)
        for name in (*TABLES, BATCHES.name):
            with self._told(name):
                DeltaTable.create(
                    self.store.name(name), schema_of(name), mode="ignore", configuration=_SETTINGS,
                    partition_by=None if name == BATCHES.name else [DATE], storage_options=options(self.store),
                )  # fmt: skip
        with suppress(FileExistsError):
            self.store.create(HEAD, json.dumps({"format": FORMAT, "version": __version__}).encode())

    def _add(self, name: str, parts: Sequence[Part], table: Any = None, number: int | None = None) -> None:
        """Add files to a table. number: of the application's transaction."""
        from deltalake import CommitProperties, Transaction
        from deltalake.exceptions import CommitFailedError
        from deltalake.transaction import AddAction

        now = time.time_ns() // 1_000_000
        adds = [
            AddAction(one.path, one.size, {} if one.day is None else {DATE: one.day}, now, True, one.stats)
            for one in parts
        ]
        about = CommitProperties(app_transactions=None if number is None else [Transaction(APP, number)])
        table = table or self.table(name)
        try:
            with self._told(name):
                table.create_write_transaction(
                    adds, mode="append", schema=schema_of(name), partition_by=[] if number is not None else [DATE],
                    commit_properties=about,
                )  # fmt: skip
        except PipelineError as problem:
            if number is not None and isinstance(problem.__context__, CommitFailedError):
                raise OvertakenError from None
            raise

    def _rows(self, name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Return columns of all rows of a table at the version that `table` gave."""
        places = [f"{name}/{path}" for path in self._listed(name)]
        if not places:
            return []
        with self._told(name):
            if isinstance(self.store, LocalStore):
                for place in places:
                    self.store.check(place)
            paths = [str(self.store.path(place)) for place in places]
            found = dataset.dataset(paths, schema=schema_of(name), format="parquet", filesystem=self.store.arrow)
            return rows_of(found.to_batches(columns=list(columns)))

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Turn what a package, Arrow and the system raise into one sentence."""
        try:
            yield
        except PipelineError:
            raise
        except UnfitError as problem:
            raise damaged(self.store.name(name), problem) from None
        except BaseException as problem:
            # A panic of compiled code derives from BaseException.
            if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
                raise
            lines = str(problem).strip().splitlines() or [type(problem).__name__]
            text = "No space left on device" if "No space left" in str(problem) else lines[0].rstrip(".")
            raise PipelineError(f"The table {name} of the lake {self.place} cannot be used: {label(text, 300)}.")  # noqa: B904


def schema_of(name: str) -> Any:
    """Return the columns of a table as Delta has them, with its day."""
    if name == BATCHES.name:
        return BATCHES.arrow()
    return TABLES[name].arrow().append(pa.field(DATE, pa.date32(), False))


def options(store: Store) -> dict[str, str] | None:
    """Return the settings of delta-rs for a store, beside those that it takes from the environment."""
    if isinstance(store, LocalStore):
        return None
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    found = {"AWS_ENDPOINT_URL": endpoint} if endpoint else {}
    return {**found, "AWS_ALLOW_HTTP": "true"} if endpoint.startswith("http://") else found


def damaged(name: object, problem: object) -> PipelineError:
    """Return the error for a lake in which something is not as it must be."""
    return PipelineError(f"{name} {problem}: it is damaged, and the lake cannot be used.")


def store_at(place: str | Path) -> Store:
    """Return the store of a lake. Raises PipelineError for a name that cannot mean one."""
    try:
        name = location(str(place))
    except CaptureError as problem:
        raise PipelineError(str(problem)) from None
    if is_stored(name):
        return ObjectStore(name.rstrip("/"))
    root = Path(name).absolute()
    if root.is_file():
        raise PipelineError(f"{place} is a file: name a folder.")
    return LocalStore(root)


def _head(store: Store) -> Any:
    """Return the head of a lake, None if there is none. Raises OSError and UnfitError."""
    try:
        return parsed(store.read(HEAD, MAX_HEAD))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _rows_of(entry: Entry) -> Any:
    """Return the rows of `batches` of a batch and of its open ones, as Arrow has them."""
    said = {"at": datetime.now(UTC), "by": __version__}
    rows = [{BATCH: entry.batch, **said, "kind": entry.kind, "ends": list(entry.ends), "key": None, "entry": None}]
    rows += [
        {BATCH: one.batch, **said, "kind": "open", "ends": [], "key": one.key, "entry": json.dumps(dict(one.entry))}
        for one in entry.open
    ]
    return pa.Table.from_pylist(rows, schema=BATCHES.arrow())


def _check(name: str, table: Any) -> None:
    """Check that a table has nothing that this version does not know. Raises UnfitError."""
    protocol = table.protocol()
    if protocol.min_reader_version > 1 or protocol.min_writer_version > 2:
        raise UnfitError(
            f"uses features of Delta that this mqconform does not know (reader version {protocol.min_reader_version},"
            f" writer version {protocol.min_writer_version})"
        )
    from deltalake import Schema

    about, fields = table.metadata().configuration, table.schema().fields
    if any(one.startswith(("delta.constraints.", "delta.columnMapping.")) for one in about) or any(
        one.startswith("delta.") for column in fields for one in column.metadata
    ):
        raise UnfitError("has conditions on its columns, which this mqconform does not know")
    known = {one.name: one.type for one in Schema.from_arrow(schema_of(name)).fields}
    found = {one.name: one.type for one in fields}
    if wrong := [column for column, kind in known.items() if found.get(column) != kind]:
        raise UnfitError(f"lacks the column {wrong[0]}, or has it with another type")
    if list(table.metadata().partition_columns) != ([] if name == BATCHES.name else [DATE]):
        raise UnfitError("is not divided by day")
