"""The catalogue as one JSON file, so that commands start quickly: each entry is decoded when it is used.

A wheel holds the file. In a checkout it is compiled from the TOML files on first use and kept in the user's cache
folder, with a checksum. That cache is optional: if it is missing, damaged, made from other files, not surely ours, or
cannot be written, the catalogue is compiled again.
"""

from __future__ import annotations

import sys
import tomllib
import zlib
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import Raw
from msgspec.json import Decoder, decode, encode

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
Rows = dict[str, dict[str, Raw]]
"""For each of `requirement`, `reading` and `finding`: id to the entry as JSON."""

FORMAT = 6
SUFFIX = ".rows"
MAX_KEPT = 8  # cache files kept, those of other checkouts and versions included
MAX_TOLD = 5  # problems of the data that one error lists
SHIPPED = Path(__file__).with_name("catalogue.json")
"""The file in a wheel; a checkout has none."""

KINDS: dict[str, Any] = {"requirement": Requirement, "reading": Reading, "finding": SpecFinding}
_MAKERS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    "requirement": requirement_of,
    "reading": reading_of,
    "finding": finding_of,
}


def data_folder() -> Path:
    """Return the folder of the catalogue's files."""
    return Path(__file__).with_name("data")


class Entries(Mapping[str, T], Generic[T]):
    """Entries by id, each decoded on first use."""

    __slots__ = ("_decoder", "_made", "_rows", "_whole")

    def __init__(self, kind: type[T], rows: dict[str, Raw]) -> None:
        self._decoder = Decoder(kind)
        self._rows = rows
        self._made: dict[str, T] = {}
        self._whole: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._decoder.decode(self._rows[name])
        return made

    def _all(self) -> dict[str, T]:
        """Return every entry in order."""
        self._whole = self._whole or {name: self[name] for name in self._rows}
        return self._whole

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


def load(data: Path | None = None, cache: Path | None = None) -> Rows:
    """Load the rows of a wheel, or those of `data` from `cache`, where they are kept if they are not there.

    Raises CatalogueError when the files are wrong.
    """
    if data is None and SHIPPED.exists():
        return decode(SHIPPED.read_bytes(), type=Rows)
    data = data or data_folder()
    files = sorted(data.glob("*.toml"))
    name = f"catalogue-{_key(data, files)}{SUFFIX}"
    try:
        cache = cache or cache_folder()
    except OSError:  # no home folder
        return decode(encode(build(files)), type=Rows)
    kept = read_cached(cache, name) or b""
    content = kept[4:]
    if kept[:4] != _checksum(content):
        content = encode(build(files))
        if write_cached(cache, name, _checksum(content) + content):
            _tidy(cache)
    return decode(content, type=Rows)


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content, FORMAT).to_bytes(4, "big")


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
    return sha256("\n".join(parts).encode()).hexdigest()[:32]


def build(files: list[Path]) -> dict[str, dict[str, Any]]:
    """Build the entries from files. Raises CatalogueError, one sentence with the first few problems."""
    made: dict[str, list[Any]] = {name: [] for name in KINDS}
    places: dict[str, list[str]] = {name: [] for name in KINDS}
    problems: list[str] = []
    for path in files:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
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
    tables = {kind: {entry.id: entry for entry in made[kind]} for kind in KINDS}
    problems += dangling(*tables.values())
    if problems:
        more = f" (and {len(problems) - MAX_TOLD} more)" if len(problems) > MAX_TOLD else ""
        raise CatalogueError("; ".join(problems[:MAX_TOLD]) + more)
    return tables


def _tidy(folder: Path) -> None:
    """Remove all cache files but the newest. Another process may do the same at this moment."""
    with suppress(OSError):
        found = sorted(folder.glob(f"catalogue-*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in found[MAX_KEPT:]:
            old.unlink(missing_ok=True)
