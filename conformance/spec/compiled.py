"""The catalogue's files compiled into one, kept in the user's cache folder, so that a command starts at once.

The cache is a line of JSON, what it was made from with a checksum, and the entries by id, marshalled: each a line of
JSON, which is read when the entry is asked for. It is only ever an aid: when it is missing, damaged, of other files or
cannot be written, the catalogue is made from its files, which takes longer.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
import zlib
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from contextlib import suppress
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from conformance import __version__
from conformance.spec.entries import (
    CatalogueError,
    Finding,
    Reading,
    Requirement,
    dangling,
    finding_of,
    reading_of,
    requirement_of,
    twice,
)

T = TypeVar("T")
Rows = dict[str, dict[str, bytes]]
"""`requirement`, `reading` and `finding`: the members of each entry, as a line of JSON, by its id."""

FORMAT = 3
SUFFIX = ".rows"
_MAX_HEAD = 200
MAX_KEPT = 8  # caches of other checkouts and versions that are kept beside this one
MAX_TOLD = 5  # problems of the data that one error names

KINDS: dict[str, Any] = {"requirement": Requirement, "reading": Reading, "finding": Finding}
_MAKERS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    "requirement": requirement_of,
    "reading": reading_of,
    "finding": finding_of,
}
_FIELDS = {name: tuple(kind.__dataclass_fields__) for name, kind in KINDS.items()}


def data_folder() -> Path:
    """Where the catalogue's files are."""
    return Path(__file__).with_name("data")


def cache_folder() -> Path:
    """Where compiled catalogues are kept, and what else is. Raises OSError where there is no home folder."""
    if sys.platform == "linux" and "ANDROID_ROOT" not in os.environ:
        # As platformdirs has it, which takes as long to import as the catalogue takes to load.
        for name, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
            if (base := Path(os.environ.get(name, ""))).is_absolute():
                return base / below / "mqconform"
    from platformdirs import user_cache_path

    try:
        return user_cache_path("mqconform", appauthor=False)
    except RuntimeError as error:
        raise OSError(str(error)) from None


class Entries(Mapping[str, T], Generic[T]):
    """Entries by id, each made from its row when it is first asked for."""

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
        """Every entry, in order: made together, which is quicker than one by one."""
        if not self._whole:
            rows = json.loads(b"[" + b",".join(self._rows.values()) + b"]")
            made = self._made
            # Those that are there already stay the same objects.
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
    """Arrays as tuples, in tables too."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {name: tuple(each) if isinstance(each, list) else each for name, each in value.items()}
    return value


def load(data: Path | None = None, cache: Path | None = None) -> Rows:
    """The rows of the catalogue in `data`, from `cache` if it holds them, else from the files and into `cache`.

    Raises CatalogueError when the files are wrong.
    """
    data = data or data_folder()
    files = sorted(path for path in data.glob("*.toml"))
    key = _key(data, files)
    try:
        path = (cache or cache_folder()) / f"catalogue-{key[:16]}{SUFFIX}"
    except OSError:  # no home folder
        return build(files)
    found = _read(path, key)
    if found is None:
        found = build(files)
        _write(path, key, found)
    return found


def _key(data: Path, files: list[Path]) -> str:
    """Stands for what the catalogue is made from: the files, and the code that reads them."""
    here = Path(__file__)
    parts = [str(FORMAT), sys.version, __version__, str(data)]
    for path in (*files, here, here.with_name("entries.py"), here.with_name("plain_toml.py")):
        try:
            status = path.stat()
        except OSError:  # the code can be in an archive, or a file may have just been removed
            continue
        parts.append(f"{path.name}\0{status.st_size}\0{status.st_mtime_ns}")
    return sha256("\n".join(parts).encode()).hexdigest()


def build(files: list[Path]) -> Rows:
    """The rows of these files. Raises CatalogueError, one sentence, naming the first few problems."""
    from tomllib import TOMLDecodeError  # what reads TOML is not needed where the cache is

    from conformance.spec import plain_toml

    made: dict[str, list[Any]] = {name: [] for name in KINDS}
    places: dict[str, list[str]] = {name: [] for name in KINDS}
    problems: list[str] = []
    for path in files:
        try:
            content = plain_toml.loads(path.read_text(encoding="utf-8"))
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


def _read(path: Path, key: str) -> Rows | None:
    """The rows in a cache file, or None when it cannot be read or is not what it says."""
    try:
        with path.open("rb") as file:
            told = json.loads(file.readline(_MAX_HEAD))
            body = file.read()
        if told != {"key": key, "checksum": zlib.crc32(body)}:
            return None
        # The checksum was that of what `_write` makes, so it is of this shape.
        rows: Rows = marshal.loads(body)
    except (OSError, ValueError, EOFError, TypeError, RecursionError):
        return None
    return rows


def _write(path: Path, key: str, rows: Rows) -> None:
    """Write a cache file as a whole or not at all; where it cannot be written, the next process makes its own."""
    import tempfile

    body = marshal.dumps(rows)
    head = _json({"key": key, "checksum": zlib.crc32(body)})
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".catalogue-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(head + b"\n" + body)
        Path(temporary).replace(path)
    except OSError:
        if temporary:
            with suppress(OSError):
                Path(temporary).unlink()
        return
    _tidy(path.parent)


def _tidy(folder: Path) -> None:
    """Remove all caches but the newest ones. Another process may do the same at this moment."""
    with suppress(OSError):
        found = sorted(folder.glob(f"catalogue-*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in found[MAX_KEPT:]:
            old.unlink(missing_ok=True)
