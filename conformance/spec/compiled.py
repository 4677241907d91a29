"""A cache of the catalogue in one file in the user's cache folder, so that commands start quickly.

The cache file has a line of JSON with a key of its sources and a checksum, a line with the ids, and one line per entry,
which is parsed when the entry is used. The cache is optional: if it is missing, damaged, made from other files, not
surely ours, or cannot be written, the catalogue is built from its files, which takes longer.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from contextlib import suppress
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from conformance import __version__
from conformance.files import cache_folder, read_cached, write_cached
from conformance.spec.entries import (
    CatalogueError,
    Reading,
    Requirement,
    SpecFinding,
    dangling,
    finding_of,
    reading_of,
    requirement_of,
    twice,
)

T = TypeVar("T")
Rows = dict[str, dict[str, bytes]]
"""For each of `requirement`, `reading` and `finding`: id to the entry's members as a line of JSON."""

FORMAT = 5
SUFFIX = ".rows"
_MAX_HEAD = 200
MAX_KEPT = 8  # cache files kept, those of other checkouts and versions included
MAX_TOLD = 5  # problems of the data that one error lists

KINDS: dict[str, Any] = {"requirement": Requirement, "reading": Reading, "finding": SpecFinding}
_MAKERS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    "requirement": requirement_of,
    "reading": reading_of,
    "finding": finding_of,
}
_FIELDS = {name: tuple(kind.__dataclass_fields__) for name, kind in KINDS.items()}


def data_folder() -> Path:
    """Return the folder of the catalogue's files."""
    return Path(__file__).with_name("data")


class Entries(Mapping[str, T], Generic[T]):
    """Entries by id, each built from its row on first use."""

    __slots__ = ("_kind", "_made", "_nested", "_rows", "_whole")

    def __init__(self, kind: type[T], rows: dict[str, bytes]) -> None:
        self._kind = kind
        self._rows = rows
        self._made: dict[str, T] = {}
        self._whole = False
        fields = kind.__dataclass_fields__.values()  # type: ignore[attr-defined]
        self._nested = [at for at, field in enumerate(fields) if "[" in field.type]

    def __getitem__(self, name: str) -> T:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._make(json.loads(self._rows[name]))
        return made

    def _make(self, row: list[Any]) -> T:
        for at in self._nested:
            row[at] = _frozen(row[at])
        return self._kind(*row)

    def _all(self) -> dict[str, T]:
        """Return every entry in order; building all at once is faster than one by one."""
        if not self._whole:
            rows = json.loads(b"[" + b",".join(self._rows.values()) + b"]")
            made = self._made
            # Entries that were built before stay the same objects.
            self._made = {
                name: found if (found := made.get(name)) is not None else self._make(row)
                for name, row in zip(self._rows, rows, strict=True)
            }
            self._whole = True
        return self._made

    def values(self) -> ValuesView[T]:
        return self._all().values()

    def items(self) -> ItemsView[str, T]:
        return self._all().items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows


def _frozen(value: Any) -> Any:
    """Convert arrays to tuples, also those within tables."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {name: tuple(each) if isinstance(each, list) else each for name, each in value.items()}
    return value


def load(data: Path | None = None, cache: Path | None = None) -> Rows:
    """Load the rows of the catalogue in `data` from `cache`, or build them from the files and write them to the cache.

    Raises CatalogueError when the files are wrong.
    """
    data = data or data_folder()
    files = sorted(path for path in data.glob("*.toml"))
    key = _key(data, files)
    try:
        cache = cache or cache_folder()
    except OSError:  # no home folder
        return build(files)
    name = f"catalogue-{key[:16]}{SUFFIX}"
    kept = read_cached(cache, name)
    found = _rows(kept, key) if kept is not None else None
    if found is None:
        found = build(files)
        if write_cached(cache, name, _kept(key, found)):
            _tidy(cache)
    return found


def _key(data: Path, files: list[Path]) -> str:
    """Return the cache key: a digest over the catalogue's files and the code that reads them."""
    here = Path(__file__)
    parts = [str(FORMAT), sys.version, __version__, str(data)]
    for path in (*files, here, here.with_name("entries.py")):
        try:
            status = path.stat()
        except OSError:  # The code may be in an archive, or a file was just removed.
            continue
        parts.append(f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}")
    return sha256("\n".join(parts).encode()).hexdigest()


def build(files: list[Path]) -> Rows:
    """Build the rows from files. Raises CatalogueError, one sentence with the first few problems."""
    from tomllib import TOMLDecodeError  # not imported when the cache is used

    from conformance.spec import entries

    made: dict[str, list[Any]] = {name: [] for name in KINDS}
    places: dict[str, list[str]] = {name: [] for name in KINDS}
    problems: list[str] = []
    for path in files:
        try:
            content = entries.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, TOMLDecodeError) as error:
            raise CatalogueError(f"{path.name} cannot be read: {error}") from None
        for kind in content:
            if kind not in KINDS:
                problems.append(f"{path.name}: [[{kind}]] is none of {', '.join(KINDS)}")
        for kind, maker in _MAKERS.items():
            for raw in content.get(kind, []):
                try:
                    made[kind].append(maker(raw, path.name))
                    places[kind].append(path.name)
                except CatalogueError as error:
                    problems.append(str(error))
    for kind in KINDS:
        problems += twice(made[kind], places[kind])
    tables = [{entry.id: entry for entry in made[kind]} for kind in KINDS]
    problems += dangling(*tables)
    if problems:
        more = f" (and {len(problems) - MAX_TOLD} more)" if len(problems) > MAX_TOLD else ""
        raise CatalogueError("; ".join(problems[:MAX_TOLD]) + more)
    return {kind: {entry.id: _json(attrgetter(*_FIELDS[kind])(entry)) for entry in made[kind]} for kind in KINDS}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _rows(content: bytes, key: str) -> Rows | None:
    """Return the rows of a cache file; None if its key or checksum is wrong."""
    end = content.find(b"\n", 0, _MAX_HEAD) + 1
    try:
        if json.loads(content[:end]) != {"key": key, "checksum": zlib.crc32(memoryview(content)[end:])}:
            return None
    except (ValueError, RecursionError):
        return None
    # The checksum fits, so `_kept` made this content and it has this shape.
    names, *lines = content[end:].split(b"\n")
    rows: Rows = {}
    at = 0
    for kind, ids in json.loads(names).items():
        rows[kind] = dict(zip(ids, lines[at : at + len(ids)], strict=True))
        at += len(ids)
    return rows


def _kept(key: str, rows: Rows) -> bytes:
    """Return the content of the cache file: the inverse of `_rows`."""
    names = _json({kind: list(found) for kind, found in rows.items()})
    body = b"\n".join([names, *(line for found in rows.values() for line in found.values())])
    return _json({"key": key, "checksum": zlib.crc32(body)}) + b"\n" + body


def _tidy(folder: Path) -> None:
    """Remove all cache files but the newest. Another process may do the same at this moment."""
    with suppress(OSError):
        found = sorted(folder.glob(f"catalogue-*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in found[MAX_KEPT:]:
            old.unlink(missing_ok=True)
