"""Where the files of a lake are stored: a folder of this machine, or a store that fsspec reaches.

A file is named by its place below the lake, with `/`. In a folder nothing is read, written or removed through a link.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

from conformance.aside import make_folder
from conformance.capture.addresses import is_stored
from conformance.capture.stores import NEEDS_CREDENTIALS, no_credentials, patience
from conformance.capture.stores import place as opened
from conformance.pipeline.inside import UnfitError, content, folder, regular

BLOCK: Final = 8 << 20
"""Bytes of an object that are sent at once, and so of memory for each that is open."""
_LASTING = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
T = TypeVar("T")


class Store(Protocol):
    """The files of one lake. place: its name. root: its path. arrow: what Arrow reads its paths with; None: itself."""

    @property
    def place(self) -> str:
        """The folder or the address."""

    @property
    def root(self) -> PurePath:
        """The path of the lake, without a scheme."""

    @property
    def arrow(self) -> Any:
        """The file system for Arrow."""

    def name(self, place: str) -> str:
        """Return the full name of a file: a path or an address."""

    def path(self, place: str) -> PurePath:
        """Return the path of a file, for Arrow."""

    def check(self, place: str) -> bool:
        """Tell whether a file is in this place. Raises UnfitError if a link leads there."""

    def read(self, place: str, most: int) -> bytes:
        """Return a file. Raises OSError, and UnfitError for more than `most` bytes."""

    def write(self, place: str, data: bytes) -> None:
        """Write a file, over an existing one. Raises OSError."""

    def create(self, place: str, data: bytes) -> None:
        """Write a file whole or not at all. Raises FileExistsError if there is one."""

    def remove(self, place: str) -> None:
        """Remove a file, if it is there."""

    def names(self, place: str) -> list[str]:
        """Return the names in a folder, sorted; none without the folder."""

    def sink(self, place: str) -> Any:
        """Open a new file for writing; a context, left after all was written. Raises OSError and UnfitError."""


class LocalStore:
    """A folder of this machine."""

    arrow = None

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.root)

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
        """Write a file whole, over an existing one. Raises OSError and UnfitError."""
        draft = self._draft(place, data)
        draft.replace(self.root / place)

    def create(self, place: str, data: bytes) -> None:
        """Write a file whole or not at all. Raises FileExistsError if there is one."""
        draft = self._draft(place, data)
        try:
            os.link(draft, self.root / place)
        finally:
            draft.unlink(missing_ok=True)

    def _draft(self, place: str, data: bytes) -> Path:
        path = self._room(place)
        draft = path.with_name(f".{path.name}.{uuid4().hex}")
        try:
            with draft.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise
        return draft

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
        from pyarrow import PythonFile
        from pyarrow.fs import FSSpecHandler, PyFileSystem

        system, again = self._system, self._again

        class Patient(FSSpecHandler):  # type: ignore[misc]
            """Asks a store that fails again when a file is opened."""

            def open_input_file(self, path: str) -> Any:
                return PythonFile(again(lambda: system.open(path, mode="rb")), mode="r")

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


def store_of(place: str) -> Store:
    """Return the store of a lake whose name was checked."""
    return ObjectStore(place) if is_stored(place) else LocalStore(Path(place))
