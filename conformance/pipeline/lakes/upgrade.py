"""`pipeline upgrade`: turn a lake in a folder into one on Delta or Iceberg, in place or as a new lake.

In place, the rows are written anew, each with its batch, beside the old files; replacing the head of the lake is the
one atomic step. A lake that is killed before is the old one, and the next upgrade begins again; one that is killed
after it is the new one, and the next writer removes the old files. Versions and batches stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from conformance.pipeline import footers
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import MAX_FILE, UnfitError, parsed
from conformance.pipeline.lakes import delta, iceberg
from conformance.pipeline.lakes.delta import TableLake
from conformance.pipeline.lakes.entries import entry_text
from conformance.pipeline.lakes.folder import LOG, FolderLake, flocked
from conformance.pipeline.lakes.new_tables import NUMBER, OWN, head
from conformance.pipeline.lakes.port import HEAD, Format, Lake, damaged, head_of, store_at
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.tables import BATCHES, told
from conformance.pipeline.lakes.target import BATCH, Target
from conformance.pipeline.log import Entry, Part, checked
from conformance.pipeline.schemas import TABLES

_MARK: Final = "upgraded-"
_TEXT: Final = 32 << 20
"""Characters of entries that are written as one file of `batches`."""
_AT_ONCE: Final = 1_000
"""Files that one commit adds."""
_NEW: Final[Mapping[Format, tuple[type[TableLake], bytes]]] = {
    "delta": (delta.DeltaLake, head("delta", NUMBER)),
    "iceberg": (iceberg.IcebergLake, head("iceberg", iceberg.NUMBER)),
}
NAMES: Final[Mapping[Format, str]] = {"delta": "Delta", "iceberg": "Iceberg"}
"""The formats that a lake can be turned into, as a sentence names them."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """The result of an upgrade. format: of the lake now. new: False if the lake had such tables already."""

    place: str
    format: Format
    version: int
    files: int
    rows: int
    new: bool = True


def require(lake: Lake, format: Format | None) -> None:
    """Raise PipelineError if a package is missing that writes the new tables, as `upgrade` takes its arguments."""
    if not isinstance(lake, TableLake):
        _NEW[format or "delta"][0].tables.require()


def upgrade(lake: Lake, out: str | None = None, format: Format | None = None) -> Upgraded:
    """Turn a lake in a folder into one on Delta, or on Iceberg. Raises PipelineError.

    out: the new lake's name; None: in place. format: None means delta, and for a lake on tables its own.
    """
    if isinstance(lake, TableLake):
        if out is not None or format not in (None, lake.format):
            raise PipelineError(
                f"The lake {lake.place} is on {NAMES[lake.format]} already, and mqconform pipeline upgrade turns lakes"
                " in folders only: copy it with the tools of its store."
            )
        with lake.writing(f"upgrade-{sha256(_NEW[lake.format][1]).hexdigest()[:16]}"):
            pass  # a writer removes what an upgrade has left
        return _told(lake, new=False)
    assert isinstance(lake, FolderLake)
    kind, head = _NEW[format or "delta"]
    require(lake, format)
    target = lake.store if out is None else store_at(out)
    try:
        if out is not None and (head_of(target) is not None or any(one not in OWN for one in target.names(""))):
            raise PipelineError(f"{out} is there already; name a new place for the lake.")
        with flocked(lake.root) if out is None else nullcontext():
            if out is None:
                lake.settle()
            _clear(target, in_place=out is None)
            try:
                _written(lake, kind(target))
            except BaseException:
                with suppress(PipelineError, OSError, UnfitError):
                    _clear(target, in_place=out is None)
                raise
            target.write(HEAD, head)
        found = Lake.open(target.place)
        assert isinstance(found, TableLake)
        done = _told(found)
        if out is None:
            upgrade(found)
    except UnfitError as problem:
        raise damaged(target.place, problem) from None
    except OSError as problem:
        raise PipelineError(f"The lake {target.place} cannot be written: {problem.strerror or problem}.") from None
    return done


def _told(lake: Lake, *, new: bool = True) -> Upgraded:
    now = lake.snapshot()
    rows = sum(part.rows for part in now.parts.values())
    return Upgraded(lake.place, lake.format, now.version, len(now.parts), rows, new)


def _clear(store: Store, *, in_place: bool) -> None:
    """Remove what an upgrade that was killed has written."""
    store.clear(BATCHES)
    for name in TABLES:
        if not in_place:
            store.clear(name)
            continue
        for metadata in ("_delta_log", "metadata"):
            store.clear(f"{name}/{metadata}")
        for place in store.below(name):
            if place.rpartition("/")[2].startswith(_MARK):
                store.remove(place)
    if not in_place:
        store.clear("_state")


def _written(lake: FolderLake, new: TableLake) -> None:
    """Write everything but the head of the new lake."""
    store, tables = new.store, new.tables
    found = footers.located(lake)
    now = lake.snapshot()
    entries = list(_entries(lake, now.version))
    batches = {part.place: entry.batch for _, entry in entries for part in entry.add}
    for name in (*TABLES, BATCHES):
        tables.make(store, name)
    names = {place: _new(part, batches[place]) for place, part in now.parts.items()}
    target = new.target("")
    for name in TABLES:
        mine = [place for place, part in now.parts.items() if part.table == name]
        handle = tables.load(store, name)
        for at in range(0, len(mine), _AT_ONCE):
            some = mine[at : at + _AT_ONCE]
            for place in some:
                _copy(lake, found[place], names[place], replace(target, batch=batches[place]))
            with ThreadPoolExecutor(8) as pool:
                actions = list(pool.map(lambda place: tables.adding(store, names[place], batches[place]), some))
            tables.change(store, name, handle, actions, now.version)
    if not (isinstance(store, LocalStore) and store.root == lake.root):
        for kept in now.kept.values():
            store.write(kept.place, lake.store.read(kept.place, 2 * MAX_FILE))
    _batches(new, entries, now.version)


def _new(part: Part, batch: str) -> Part:
    """Return the file that gets the rows of another: in the same table and day, with a name of its own."""
    return replace(part, name=f"{_MARK}{batch[:100]}-{sha256(part.place.encode()).hexdigest()[:16]}.parquet")


def _copy(lake: FolderLake, source: Any, part: Part, target: Target) -> None:
    from pyarrow import Table
    from pyarrow import dataset as ds

    wanted = TABLES[part.table].arrow()
    with told(target.store, part.table), target.writer(part.table, part.date, part.name) as writer:
        for some in ds.dataset([str(source)], schema=wanted, format="parquet").to_batches():
            if some.num_rows:
                writer.write_table(target.filled(part.table, Table.from_batches([some]).cast(wanted)))


def _entries(lake: FolderLake, version: int) -> Iterator[tuple[dict[str, Any], Entry]]:
    """Yield the entries of the log, each as it is stored and checked."""
    for number in range(1, version + 1):
        value = parsed(lake.store.read(f"{LOG}/{number:020}.json", MAX_FILE))
        yield value, checked(value, number)


def _batches(new: TableLake, entries: Sequence[tuple[dict[str, Any], Entry]], version: int) -> None:
    """Write a row of `batches` for each entry of the old log."""
    import pyarrow as pa
    from pyarrow import parquet

    store, tables = new.store, new.tables
    handle, actions = tables.load(store, BATCHES), []
    rows: list[dict[str, Any]] = []
    size = 0
    for number, (value, entry) in enumerate(entries, 1):
        renamed = replace(entry, add=[_new(part, entry.batch) for part in entry.add])
        text = entry_text(renamed, number, {}, at=value["at"], by=value["by"])
        rows.append(
            {BATCH: entry.batch, "number": number, "at": _moment(value["at"]), "by": value["by"], "kind": entry.kind,
             "entry": text}
        )  # fmt: skip
        size += len(text)
        if size >= _TEXT or number == len(entries):
            part = Part(BATCHES, "", f"{BATCHES}-{_MARK}{number:06}.parquet", len(rows))
            with told(store, BATCHES), store.sink(f"{BATCHES}/{part.name}") as sink:
                parquet.write_table(pa.Table.from_pylist(rows, schema=tables.schema(BATCHES)), sink, compression="zstd")
            actions.append(tables.adding(store, part, None if len(rows) > 1 else entry.batch))
            rows, size = [], 0
    tables.change(store, BATCHES, handle, actions, version)


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)


__all__ = ["NAMES", "Upgraded", "require", "upgrade"]
