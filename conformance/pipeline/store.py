"""Where the files of a lake are stored, and how the Parquet files of a batch get there.

A store is a folder of this machine, or what fsspec reaches. A file is named by its place below the lake, with `/`. In a
folder nothing is read, written or removed through a link. A worker writes files where they stay, unseen until the
driver commits them.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final, TypeVar
from uuid import uuid4

import pyarrow as pa
from pyarrow import parquet
from pyarrow.fs import FSSpecHandler, PyFileSystem

from conformance.capture.addresses import is_stored
from conformance.capture.files import NEEDS_CREDENTIALS, no_credentials, patience
from conformance.capture.files import place as opened
from conformance.files import make_folder
from conformance.pipeline.schemas import BATCH, BATCHES, TABLES
from conformance.pipeline.untrusted_files import PipelineError
from conformance.untrusted import UnfitError, content, folder, regular

BLOCK: Final = 8 << 20
"""Bytes of an object that are sent at once, and so of memory for each that is open."""
_LASTING = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
T = TypeVar("T")


class LocalStore:
    """A folder of this machine. arrow: what Arrow reads its paths with; None: itself."""

    arrow = None

    def __init__(self, root: Path) -> None:
        self.root, self.place = root, str(root)

    def name(self, place: str) -> str:
        """Return the path of a file."""
        return str(self.root / place)

    def path(self, place: str) -> Path:
        """Return the path of a file."""
        return self.root / place

    def check(self, place: str) -> bool:
        """Tell whether a file is in this place. Raises UnfitError if something else is, or a link leads there."""
        return self.within(place.rpartition("/")[0]) and regular(self.root / place)

    def within(self, below: str) -> bool:
        """Tell whether a folder is in this place. Raises UnfitError if a link leads there."""
        names = below.split("/") if below else []
        return all(folder(self.root.joinpath(*names[:count])) for count in range(1, len(names) + 1))

    def read(self, place: str, most: int) -> bytes:
        """Return a file. Raises OSError, and UnfitError for a link or more than `most` bytes."""
        self.within(place.rpartition("/")[0])
        return content(self.root / place, most)

    def write(self, place: str, data: bytes) -> None:
        """Write a new file. Raises OSError and UnfitError."""
        try:
            with self.sink(place) as file:
                file.write(data)
        except OSError:
            self.remove(place)
            raise

    def create(self, place: str, data: bytes) -> None:
        """Write a file whole or not at all. Raises FileExistsError if there is one."""
        self.write(draft := f".{place}.{uuid4().hex}", data)
        try:
            os.link(self.root / draft, self.root / place)
        finally:
            self.remove(draft)

    def _room(self, place: str) -> Path:
        self.within(place.rpartition("/")[0])
        path = self.root / place
        make_folder(path.parent)
        return path

    def remove(self, place: str) -> None:
        """Remove a file, if it is there. Raises OSError and UnfitError."""
        if self.check(place):
            (self.root / place).unlink(missing_ok=True)

    def names(self, place: str) -> list[str]:
        """Return the names in a folder, sorted; none without the folder."""
        if not self.within(place):
            return []
        try:
            return sorted(one.name for one in (self.root / place).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sizes(self, place: str, most: int) -> dict[str, int]:
        """Return the sizes of the files in a folder. Raises UnfitError for another thing there, or too many."""
        found: dict[str, int] = {}
        for one in (self.root / place).iterdir() if self.within(place) else ():
            with suppress(FileNotFoundError):  # Delta may remove an old entry meanwhile.
                if regular(one):
                    found[one.name] = one.stat().st_size
            if len(found) > most:
                raise UnfitError(f"has more than {most:,} files in a folder")
        return found

    @contextmanager
    def sink(self, place: str) -> Iterator[Any]:
        """Open a new file, which is on the disk in the end. Raises OSError and UnfitError."""
        with self._room(place).open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())


class ObjectStore:
    """A prefix of a store."""

    def __init__(self, address: str) -> None:
        self.place = address
        self._system, path = opened(address)
        self.root = PurePosixPath(path)

    @cached_property
    def arrow(self) -> Any:
        """The file system for Arrow. Its own takes an object for missing whenever the store does not answer."""
        system, again = self._system, self._again

        class Patient(FSSpecHandler):  # type: ignore[misc]
            """Asks a store that fails again when a file is opened."""

            def open_input_file(self, path: str) -> Any:
                return pa.PythonFile(again(lambda: system.open(path, mode="rb")), mode="r")

            open_input_stream = open_input_file

        return PyFileSystem(Patient(system))

    def name(self, place: str) -> str:
        """Return the address of a file."""
        return f"{self.place}/{place}"

    def path(self, place: str) -> PurePath:
        """Return the path of a file within the store."""
        return self.root / place

    def check(self, place: str) -> bool:
        """Tell whether a file is in this place."""
        return bool(self._again(lambda: self._system.exists(str(self.path(place)))))

    def read(self, place: str, most: int) -> bytes:
        """Return a file. Raises OSError, and UnfitError for more than `most` bytes."""
        path = str(self.path(place))
        found: bytes = self._again(lambda: self._system.cat_file(path, start=0, end=most + 1))
        if len(found) > most:
            raise UnfitError(f"has more than {most:,} bytes")
        return found

    def write(self, place: str, data: bytes) -> None:
        """Write a file, over an existing one. Raises OSError."""
        self._again(lambda: self._system.pipe_file(str(self.path(place)), data))

    def create(self, place: str, data: bytes) -> None:
        """Write a file whole or not at all. Raises FileExistsError if there is one."""
        try:
            self._again(lambda: self._system.pipe_file(str(self.path(place)), data, mode="create"))
        except FileExistsError:  # It may be ours: a request may be answered late, and be made again.
            if self.read(place, len(data)) != data:
                raise

    def remove(self, place: str) -> None:
        """Remove a file, if it is there."""
        with suppress(FileNotFoundError):
            self._again(lambda: self._system.rm_file(str(self.path(place))))

    def names(self, place: str) -> list[str]:
        """Return the names right below a prefix, sorted."""
        path = str(self.path(place)) if place else str(self.root)
        try:
            found = self._again(lambda: self._system.ls(path, detail=False))
        except FileNotFoundError:
            return []
        return sorted({str(one).rstrip("/").rpartition("/")[2] for one in found} - {""})

    def sizes(self, place: str, most: int) -> dict[str, int]:
        """Return the sizes of the objects below a prefix. Raises OSError and UnfitError."""
        path = str(self.path(place))
        try:
            found = self._again(lambda: self._system.ls(path, detail=True))
        except FileNotFoundError:
            return {}
        if len(found) > most:
            raise UnfitError(f"has more than {most:,} files in a folder")
        sizes = {str(one["name"]).rstrip("/").rpartition("/")[2]: int(one.get("size") or 0) for one in found}
        return {name: size for name, size in sizes.items() if name}

    @contextmanager
    def sink(self, place: str) -> Iterator[Any]:
        """Open a new object, which is there in the end. Raises OSError."""
        file = self._system.open(str(self.path(place)), "wb", block_size=BLOCK)
        try:
            yield file
        except BaseException:
            with suppress(Exception):
                file.discard()
            raise
        try:
            file.close()
        except Exception as problem:
            raise _failed(problem) from None

    def _again(self, asked: Callable[[], T]) -> T:
        """Ask, and ask again if the store fails, as often as `patience` allows. Raises OSError."""
        failed = 0
        while True:
            try:
                return asked()
            except _LASTING:
                raise
            except Exception as problem:  # whatever a package raises for what a store answers
                failed += 1
                if failed >= patience.times or no_credentials(problem):
                    raise _failed(problem) from None
                patience.pause(failed)


def _failed(problem: Exception) -> OSError:
    """Return an error of a store's client as one of the system."""
    if no_credentials(problem):
        return PermissionError(errno.EACCES, f"the store {NEEDS_CREDENTIALS}")
    if isinstance(problem, _LASTING):
        return problem
    reason = str(problem).strip().splitlines() or [type(problem).__name__]
    return OSError(errno.EIO, f"the store fails ({reason[0][:200]})")


Store = LocalStore | ObjectStore
"""The files of one lake."""


def store_of(place: str) -> Store:
    """Return the store of a lake whose name was checked."""
    return ObjectStore(place) if is_stored(place) else LocalStore(Path(place))


HEAD: Final = "_mqconform.json"
STATE: Final = "_state"
MAX_STATE: Final = 256 << 20
"""Bytes of the state of a stream."""
_OPEN: Final = 64
"""Files open at once; the least recently used one is closed, and another begun if it is needed again."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a table, as Delta's log names it. path: below the table. day: None in `batches`. stats: JSON."""

    table: str
    path: str
    day: str | None
    size: int
    stats: str


@dataclass(slots=True)
class _File:
    path: str
    day: str
    sink: Any
    writer: Any
    closing: ExitStack
    footers: list[Any]


@dataclass(slots=True)
class Files:
    """Writes rows into the tables of the lake at `place`. parts: the files that are finished."""

    place: str
    parts: list[Part] = field(default_factory=list)
    _store: Store = field(init=False)
    _files: OrderedDict[tuple[str, str, str], _File] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._store = store_of(self.place)
        with self.writing():
            if not self._store.check(HEAD):
                raise PipelineError(
                    f"A worker on {socket.gethostname()} does not see the lake {self.place}: it must have the same path"
                    " on all machines, or lie in a store."
                )

    def write(self, table: str, day: str, batch: str, found: pa.Table) -> None:
        """Write rows. Raises PipelineError."""
        with self.writing():
            key = (table, day, batch)
            file = self._files.get(key)
            if file is None:
                if len(self._files) >= _OPEN:
                    self._finish(next(iter(self._files)))
                file = self._files[key] = self._begun(table, day)
            self._files.move_to_end(key)
            file.writer.write_table(found)

    def keep(self, name: str, data: bytes) -> str:
        """Write the state of a stream, and return its place."""
        place = f"{STATE}/{uuid4().hex}-{name}"
        with self.writing():
            self._store.write(place, data)
        return place

    def kept(self, place: str) -> bytes:
        """Read the state of a stream; empty if it is gone. Raises PipelineError."""
        with self.writing(), suppress(FileNotFoundError):
            return self._store.read(place, MAX_STATE)
        return b""

    def close(self) -> list[Part]:
        """Finish the files and return them. Raises PipelineError."""
        with self.writing():
            while self._files:
                self._finish(next(iter(self._files)))
        return self.parts

    def drop(self) -> None:
        """Remove what was written, which nobody will see."""
        for file in self._files.values():
            with suppress(Exception):  # What is left is in no table, and `vacuum` removes it.
                file.closing.close()
        for place in [f"{table}/{one.path}" for (table, _, _), one in self._files.items()]:
            with suppress(Exception):
                self._store.remove(place)
        for part in self.parts:
            with suppress(Exception):
                self._store.remove(f"{part.table}/{part.path}")
        self.parts, self._files = [], OrderedDict()

    def _begun(self, table: str, day: str) -> _File:
        named, path = TABLES.get(table, BATCHES), f"part-{uuid4().hex}.parquet"
        path = path if named is BATCHES else f"date={day}/{path}"
        closing, footers = ExitStack(), list[Any]()
        sink = closing.enter_context(self._store.sink(f"{table}/{path}"))
        writer = parquet.ParquetWriter(
            sink, named.arrow(), compression="zstd", metadata_collector=footers, **named.encodings()
        )
        closing.enter_context(writer)
        return _File(path, day, sink, writer, closing, footers)

    def _finish(self, key: tuple[str, str, str]) -> None:
        table, day, batch = key
        file = self._files[key]
        file.writer.close()
        size = file.sink.tell()
        del self._files[key]
        file.closing.close()
        (footer,) = file.footers
        self.parts.append(Part(table, file.path, day or None, size, stats_of(footer, batch)))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Raise PipelineError for a failure to write, which is not the fault of a capture."""
        try:
            yield
        except (OSError, UnfitError) as problem:
            text = getattr(problem, "strerror", None) or str(problem)
            text = f"{path} {text}" if (path := getattr(problem, "path", None)) else text
            raise PipelineError(f"The lake {self.place} cannot be written: {text}.") from None


def stats_of(footer: Any, batch: str) -> str:
    """Return Delta's statistics of a file: its rows and its batch. Footers have those of the other columns."""
    same = {BATCH: batch}
    return json.dumps({"numRecords": footer.num_rows, "minValues": same, "maxValues": same, "nullCount": {BATCH: 0}})
