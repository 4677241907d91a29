"""Capture files, wherever they are: their size, their version, and their bytes at any offset.

A file keeps its version from when it was opened: whoever reads it gets the bytes of that version, or an error that says
that it changed. Local files are mapped into memory; those of a store are in `stores`.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import stat
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import IO, Protocol

from conformance.capture.inputs import is_stored

READ_AHEAD = 8 << 20
"""Most bytes of a block that is read from a store."""
_FIRST_BLOCK = 1 << 18


class UnavailableError(OSError):
    """Raised when a file cannot give the bytes it was opened for. strerror: the reason, a clause.

    Whatever was judged of the file does not count: it can be judged whole at another time.
    """

    def __init__(self, reason: str, number: int = errno.EIO) -> None:
        super().__init__(number, reason)


class ChangedError(UnavailableError):
    """Raised when a file is no longer the one that was opened."""


CHANGED = "it changed while it was read"
CHANGED_BEFORE = "it changed since it was first looked at"
GONE = "it vanished while it was read"
GONE_BEFORE = "it vanished since it was first looked at"


class Held(Protocol):
    """The bytes of a file in memory. map: the whole file; only bytes that `need` was called for are there."""

    @property
    def map(self) -> mmap.mmap:
        """The bytes."""

    def need(self, start: int, stop: int) -> None:
        """Make sure that [start, stop) is there. Raises UnavailableError."""

    def intact(self) -> None:
        """Check that the bytes read so far are those of the version that was opened. Raises ChangedError."""


class CaptureFile(Protocol):
    """A file that is open for reading. size: bytes. version: differs for each content that the name has had.

    lasting: the version tells contents apart by itself, as the tag of an object does; a time does not.
    """

    @property
    def path(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def version(self) -> str: ...

    @property
    def lasting(self) -> bool: ...

    def read_at(self, offset: int, count: int) -> bytes:
        """Return `count` bytes, fewer only at the end of the file. Raises OSError."""

    def read_each(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes at several places (offset, count), as `read_at` does."""

    def check(self) -> None:
        """Check that the file is still the one that was opened. Raises ChangedError, and OSError."""

    def held(self) -> Held:
        """Return its bytes in memory, which then closes it; it must not be empty. Raises OSError."""

    def close(self) -> None:
        """Close it."""


def open_file(path: str | Path, version: str | None = None) -> CaptureFile:
    """Open a path, or an address in a store. version: of the file that is meant, which was there before.

    Raises OSError, and ValueError for a name that no file can have; with a version, every OSError is an
    UnavailableError, and another version a ChangedError.
    """
    name = str(path)
    if version is None:
        return _opened(name)
    try:
        file = _opened(name)
    except UnavailableError:
        raise
    except FileNotFoundError:
        raise ChangedError(GONE_BEFORE) from None
    except OSError as problem:
        raise UnavailableError(problem.strerror or str(problem), problem.errno or errno.EIO) from None
    if file.version != version:
        file.close()
        raise ChangedError(CHANGED_BEFORE)
    return file


def _opened(name: str) -> CaptureFile:
    if is_stored(name):
        from conformance.capture.stores import StoredFile

        return StoredFile(name)
    return LocalFile(name)


class LocalFile:
    """A file of this machine. Raises OSError, and ValueError for a name with a NUL."""

    lasting = False

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - it is closed by `close`
        about = os.fstat(self._file.fileno())
        self.size = about.st_size
        self._changed_ns = about.st_mtime_ns
        self.version = f"{self.size}.{self._changed_ns}"

    def read_at(self, offset: int, count: int) -> bytes:
        """Return `count` bytes, fewer only at the end of the file."""
        self._file.seek(offset)
        out = bytearray()
        while len(out) < count and (data := self._file.read(count - len(out))):
            out += data
        return bytes(out)

    def read_each(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes at several places."""
        return [self.read_at(offset, count) for offset, count in places]

    def check(self) -> None:
        """Check that nothing but its end was written to. A file that grew still has the bytes it had."""
        about = os.fstat(self._file.fileno())
        if about.st_size < self.size or (about.st_size == self.size and about.st_mtime_ns != self._changed_ns):
            raise ChangedError(CHANGED)

    def held(self) -> Held:
        """Map it into memory."""
        try:
            found = mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ)
        except ValueError:  # It has become shorter.
            raise ChangedError(CHANGED) from None
        return LocalHeld(self, found)

    def close(self) -> None:
        """Close it."""
        self._file.close()


class LocalHeld:
    """A mapped file. A page behind the end of a file that became shorter would end the process: `need` looks first."""

    def __init__(self, file: LocalFile, mapped: mmap.mmap) -> None:
        self._file, self.map = file, mapped

    def __del__(self) -> None:
        self._file.close()

    def need(self, start: int, stop: int) -> None:
        """Check that the file has not become shorter."""
        if self.map.size() < self._file.size:
            raise ChangedError(CHANGED)

    def intact(self) -> None:
        """Check that the file was not written anew."""
        self._file.check()


class Forward(io.RawIOBase):
    """A file of a store, read forward in blocks that grow up to `READ_AHEAD`; at its end its version is checked."""

    def __init__(self, file: CaptureFile) -> None:
        super().__init__()
        self._file, self._at, self._step = file, 0, _FIRST_BLOCK
        self._block, self._begin = b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        inside = self._at - self._begin
        if not 0 <= inside < len(self._block):
            self._block, self._begin, inside = self._file.read_at(self._at, self._step), self._at, 0
            self._step = min(2 * self._step, READ_AHEAD)
            if not self._block:
                self._file.check()
                return 0
        data = self._block[inside : inside + len(view)]
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def is_there(name: str) -> bool:
    """Tell whether a name has a file, even if it is unreadable."""
    try:
        if is_stored(name):
            open_file(name).close()
        else:
            Path(name).lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # no path has a null
        return False
    except OSError:
        return True
    return True


def is_regular(path: str) -> bool:
    """Tell whether a file can be read more than once. Raises OSError, and ValueError for a NUL in a path."""
    return is_stored(path) or stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - pathlib refuses a NUL later


AT_ONCE = 4
"""Blocks of one file that are asked for at once."""


class Spool:
    """The bytes of a stored file, as far as they were needed. It closes the file."""

    def __init__(self, file: CaptureFile) -> None:
        self._file, self._lock = file, Lock()
        self._have: set[int] = set()
        self._copy: IO[bytes] | None = None
        try:
            self._copy = tempfile.TemporaryFile(prefix="mqconform-", buffering=0)  # noqa: SIM115 - see __del__
            self._copy.truncate(file.size)
            self.map = mmap.mmap(self._copy.fileno(), file.size, access=mmap.ACCESS_READ)
        except OSError as problem:
            raise self._not_kept(problem) from None

    def __del__(self) -> None:
        self._file.close()
        if self._copy is not None:
            self._copy.close()

    def need(self, start: int, stop: int) -> None:
        """Fetch the blocks of [start, stop) that are not there yet; they are of one version of the file."""
        blocks = range(start // READ_AHEAD, -(-min(stop, self._file.size) // READ_AHEAD))
        wanted = [number for number in blocks if number not in self._have]
        if not wanted:
            return
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            list(pool.map(self._fetch, wanted))
        finally:
            pool.shutdown(cancel_futures=True)
        self._file.check()
        self._have.update(wanted)

    def intact(self) -> None:
        """Do nothing: the copy is of one version."""

    def whole(self) -> FileIO:
        """Return a reader of the whole file."""
        self.need(0, self._file.size)
        assert self._copy is not None
        found = FileIO(os.dup(self._copy.fileno()), "rb")
        found.seek(0)
        return found

    def _fetch(self, number: int) -> None:
        data = self._file.read_at(number * READ_AHEAD, READ_AHEAD)
        assert self._copy is not None
        try:
            with self._lock:
                self._copy.seek(number * READ_AHEAD)
                left = memoryview(data)
                while left:
                    left = left[self._copy.write(left) :]
        except OSError as problem:
            raise self._not_kept(problem) from None

    def _not_kept(self, problem: OSError) -> UnavailableError:
        where = tempfile.gettempdir()
        return UnavailableError(f"no copy of what is judged can be kept in {where} ({problem.strerror})")
