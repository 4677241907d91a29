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
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, Final, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset, fs

from conformance import __version__
from conformance.capture import CaptureError
from conformance.capture.addresses import is_stored, location
from conformance.files import make_folder
from conformance.pipeline.schemas import BATCH, BATCHES, DATE, FORMAT, TABLES
from conformance.pipeline.store import HEAD, STATE, Files, LocalStore, ObjectStore, Part, Store
from conformance.pipeline.untrusted_files import PipelineError, check_log, footer, within_memory
from conformance.report.text import label
from conformance.untrusted import UnfitError, parsed

APP: Final = "mqconform"
"""The application of Delta's transactions."""
MAX_HEAD: Final = 1 << 16
TRIES: Final = 20
"""How often a batch is tried that other writers overtake."""
MOST_ADDS: Final = 10_000
"""Files that one commit of a table adds; those of a large ingest come in several, none of which counts by itself."""
LARGE_LOG: Final = 8 << 20
"""Bytes of a log from which a commit is followed by a checkpoint, beside the one that Delta writes every 100."""
_LAST: Final = (1 << 63) - 1
ROWS: Final = 16_384
"""Rows of a table that are in memory at once."""
_AT_ONCE: Final = 16  # files that are looked at together
T = TypeVar("T")
_SETTINGS: Final = {"delta.checkpointInterval": "100", "delta.dataSkippingNumIndexedCols": "0"}
"""Without the second, datasets of delta-rs leave out every row for a condition on a column without statistics."""
_KEPT = re.compile(rf"{STATE}/[A-Za-z0-9][A-Za-z0-9._-]{{0,199}}", re.ASCII)
_DEBUG = re.compile(r":? \w+ \{.*", re.ASCII)
"""Values of delta-rs in its messages, as a programmer has them printed."""
_FILE = re.compile(r"(?:date=((?!0000)\d{4}-\d{2}-\d{2})/)?([A-Za-z0-9][A-Za-z0-9._=-]{0,199}\.parquet)", re.ASCII)


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
    """One batch. ends: open batches that it ends. open: those that it has of its own."""

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
    _logs: dict[str, int] = field(default_factory=dict)
    """Bytes of each log behind its last checkpoint."""
    _sound: set[str] = field(default_factory=set)
    """Places of files whose footers were checked."""

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
                lake._logs[name] = check_log(store, name)

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
            if not 0 <= number < _LAST:
                raise UnfitError(f"has the number {number} as that of its last batch")
            rows = self._rows(BATCHES.name, [BATCH, "ends", "key", "entry"])
            ended = set(rows["ends"].combine_chunks().flatten().to_pylist())
            live = frozenset(rows[BATCH].to_pylist()) - ended
            opened = [
                Open(row[BATCH], row["key"], parsed((row["entry"] or "{}").encode()))
                for row in rows.filter(pc.is_valid(rows["key"])).select([BATCH, "key", "entry"]).to_pylist()
                if row[BATCH] in live
            ]
        found = {one.key: one for one in opened if isinstance(one.entry, dict)}
        for one in found.values():
            state, stream = one.entry.get("state"), one.entry.get("stream")
            plain = all(value is None or isinstance(value, (str, int)) for value in one.entry.values())
            goes_on = type(one.entry.get("last_ns")) is int and isinstance(stream, str) and _KEPT.fullmatch(str(state))
            if not plain or ("state" in one.entry and not goes_on):
                raise damaged(self.store.name(BATCHES.name), f"goes on from {label(str(state), 90)!a}, no state of it")
        return Batches(table, number, live, found)

    def _listed(self, name: str) -> list[str]:
        """Return the files of a table."""
        with self._told(name):
            found = pa.table((self._tables.get(name) or self.table(name)).get_add_actions(flatten=True))
        paths: list[str] = found["path"].to_pylist()
        day_of = f"partition.{DATE}"
        days = found[day_of].cast(pa.string()).to_pylist() if day_of in found.column_names else [None] * len(paths)
        for path, day in zip(paths, days, strict=True):
            match = _FILE.fullmatch(path)
            if match is None or match[1] != day:
                raise damaged(
                    self.store.name(name), f"names the file {label(str(path), 100)!a}, which is none of its own"
                )
        return paths

    def column(
        self, name: str, columns: Sequence[str], live: frozenset[str], only: tuple[str, Iterable[str]] | None = None,
        days: Container[str] | None = None,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Return some columns of the rows that count of a table. Raises PipelineError.

        only: a column, and the values that are wanted of it. days: those that are looked at; None: all.
        """
        if only is not None and not (values := sorted(set(only[1]))):
            return []
        self.table(name)
        where = None if only is None else (only[0], pa.array(values, pa.string()))
        return [row for row in self._rows(name, [*columns, BATCH], where, days).to_pylist() if row[BATCH] in live]

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
        self._check_files(found)
        return found

    def _check_files(self, found: Iterable[str]) -> None:
        """Check the files in these places, each once. Raises PipelineError."""
        new = [place for place in found if place not in self._sound]

        def there(place: str) -> bool:
            try:
                return not isinstance(self.store, LocalStore) or self.store.check(place)
            except UnfitError as problem:
                raise damaged(self.store.name(place), problem) from None
            except OSError as problem:
                name = self.store.name(place)
                raise PipelineError(f"The file {name} cannot be read: {problem.strerror or problem}.") from None

        if gone := [place for place in new if not there(place)]:
            raise PipelineError(
                f"{len(gone):,} of the {len(new):,} files that the log of the lake {self.place} names are missing"
                f" (the first is {gone[0]})."
            )
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for place, wrong in zip(new, pool.map(self._wrong, new), strict=True):
                if wrong is not None:
                    raise damaged(self.store.name(place), wrong)
        self._sound.update(new)

    def _wrong(self, place: str) -> str | None:
        """Return what is wrong with a file, None if nothing is."""
        table = place.partition("/")[0]
        try:
            with (self.store.arrow or fs.LocalFileSystem()).open_input_file(str(self.store.path(place))) as file:
                names = set(footer(file, file.size()).schema.to_arrow_schema().names)
        except UnfitError as problem:
            return str(problem)
        except FileNotFoundError:
            raise PipelineError("The lake was changed while it was read; run the command again.") from None
        except (OSError, pa.ArrowException) as problem:
            first = (str(problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(".")
            raise PipelineError(f"The table {table} of the lake {self.place} cannot be read: {first}.") from None
        columns = TABLES.get(table, BATCHES).columns
        needed = (column.name for column in columns if not column.null and column.name != DATE)
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

        about = CommitProperties(app_transactions=None if number is None else [Transaction(APP, number)])
        table = table or self.table(name)
        try:
            with self._told(name):
                for at in range(0, len(parts), MOST_ADDS):
                    adds = [
                        AddAction(
                            one.path, one.size, {} if one.day is None else {DATE: one.day},
                            time.time_ns() // 1_000_000, True, one.stats,
                        )
                        for one in parts[at : at + MOST_ADDS]
                    ]  # fmt: skip
                    table.create_write_transaction(
                        adds, mode="append", schema=schema_of(name), partition_by=[] if number is not None else [DATE],
                        commit_properties=about,
                    )  # fmt: skip
                    self._logs[name] = self._logs.get(name, 0) + 600 * len(adds)
                    if self._logs[name] > LARGE_LOG:
                        table.update_incremental()
                        table.create_checkpoint()
                        self._logs[name] = 0
        except PipelineError as problem:
            if number is not None and isinstance(problem.__context__, CommitFailedError):
                raise OvertakenError from None
            raise

    def _rows(
        self, name: str, columns: Sequence[str], only: tuple[str, Any] | None = None, days: Container[str] | None = None
    ) -> Any:
        """Return columns of the rows of a table at the version that `table` gave."""
        columns, kinds = list(columns), schema_of(name)
        schema = pa.schema([kinds.field(one) for one in columns])
        paths = self._listed(name)
        places = [f"{name}/{one}" for one in paths if days is None or one[len(DATE) + 1 :].partition("/")[0] in days]
        if not places:
            return schema.empty_table()

        def wanted(batch: pa.RecordBatch) -> pa.RecordBatch:  # Arrow itself cannot ask what delta-rs has rewritten.
            return batch if only is None else batch.filter(pc.is_in(batch[only[0]], only[1]))

        with self._told(name):
            self._check_files(places)
            paths = [str(self.store.path(place)) for place in places]
            found = dataset.dataset(paths, schema=kinds, format="parquet", filesystem=self.store.arrow)
            batches = found.to_batches(columns=columns, batch_size=ROWS, fragment_readahead=2)
            return pa.Table.from_batches(within_memory(batches, wanted), schema)

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
            text = "No space left on device" if "No space left" in str(problem) else _DEBUG.sub("", lines[0])
            text = label(text.rstrip("."), 300)
            raise PipelineError(f"The table {name} of the lake {self.place} cannot be used: {text}.")  # noqa: B904


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
    where = getattr(problem, "path", None) or name
    return PipelineError(f"{where} {problem}: it is damaged, and the lake cannot be used.")


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
