"""Capture files, wherever they are: their size, their version, and their bytes at any offset.

A file keeps its version from when it was opened: whoever reads it gets the bytes of that version, or an error that says
that it changed. Local files are mapped into memory. Those of a store are read through fsspec, which is loaded when the
first of them is opened. A file that still grows is waited on at its end."""

from __future__ import annotations

import ctypes
import errno
import glob
import io
import mmap
import os
import select
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from io import FileIO
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import IO, Any, Final, Protocol, TypeVar, cast

from conformance.capture.addresses import STORES, is_stored, scheme_of
from conformance.capture.events import CaptureError

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


STEP = 8 << 20
"""Half of the bytes that are mapped at once."""
_POPULATE_READ = 22  # MADV_POPULATE_READ of Linux 5.14
_PAGE = mmap.PAGESIZE


class Pages:
    """The pages of one file. address: of its first byte."""

    def __init__(self, mapped: mmap.mmap, address: int) -> None:
        self._map, self._address = mapped, address
        self._done = 0

    def reach(self, position: int, stop: int) -> None:
        """Map the next pages from `position` on, as far as `stop`, if they are in memory.

        Other pages are left to page faults: while one waits for the disk, the system reads ahead.
        """
        if position + STEP // 2 < self._done or stop <= position:
            return
        begin = max(position & -_PAGE, self._done if self._done <= position + STEP else 0)
        end = min(begin + 2 * STEP, stop)
        if begin >= end:
            return
        self._done = end
        if _in_memory(self._address + ((end - 1) & -_PAGE)):
            with suppress(OSError):  # Older systems lack it; errors of the file appear when it is read.
                self._map.madvise(_POPULATE_READ, begin, end - begin)


@cache
def _mincore() -> Any:
    with suppress(OSError, AttributeError):
        found = ctypes.CDLL(None).mincore
        found.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        return found
    return None


def _in_memory(address: int) -> bool:
    """Return True when the page at this address need not be read from the disk."""
    mincore, resident = _mincore(), ctypes.c_ubyte()
    return mincore is not None and mincore(address, _PAGE, ctypes.addressof(resident)) == 0 and bool(resident.value & 1)


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


T = TypeVar("T")

_AT_ONCE = 16  # Small pieces of one file that are asked for at once.
_READS, _BYTES_A_READ = 64, 1 << 13  # A block of `count` bytes is given up after 64 + count / 8192 reads.
# What tells one content from another by itself, in the words of the stores; and what only hints at a change.
_TAGS = ("VersionId", "version_id", "generation", "ETag", "etag", "e_tag")
_TIMES = ("LastModified", "last_modified", "mtime", "updated", "modificationTime", "created")
# Asking again does not help here.
_FINAL = (PermissionError, IsADirectoryError, NotADirectoryError, ImportError, NotImplementedError)
_NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError", "ProfileNotFound")
NEEDS_CREDENTIALS: Final = "needs credentials, and the environment has none"


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a store is asked in a row, with which pauses in seconds: the first, and each the double of the last."""

    times: int = 6
    first_s: float = 0.5
    wait: Callable[[float], object] = time.sleep

    def pause(self, failed: int) -> None:
        """Wait after so many failures."""
        self.wait(self.first_s * 2 ** (failed - 1))


patience = Patience()
"""The patience of files that are opened from now on: 15 seconds of pauses, beside those of the store's own client."""


def check_installed(name: str) -> None:
    """Raise CaptureError if what reads an address is not installed."""
    scheme = scheme_of(name) or ""
    store = STORES.get(scheme)
    wanted = ["fsspec", *([store.package] if store is not None else ())]
    missing = [package for package in wanted if find_spec(package) is None]
    if missing:
        install = store.install if store is not None else "'mqconform[lake]'"
        raise CaptureError(f"{scheme}:// needs {' and '.join(missing)}: pip install {install}.")


def place(name: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it. Raises CaptureError."""
    check_installed(name)
    import fsspec

    scheme = scheme_of(name) or ""
    store = STORES.get(scheme)
    try:
        kind = fsspec.get_filesystem_class(store.protocol if store is not None else scheme)
        settings = {**kind._get_kwargs_from_urls(name), **_settings(scheme, fsspec.config.conf)}
        return kind(use_listings_cache=False, **settings), kind._strip_protocol(name)
    except Exception as problem:  # whatever a package raises without its credentials, or its libraries
        raise CaptureError(f"{scheme}:// cannot be used: {_one_line(problem)}.") from None


def _settings(scheme: str, user: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a client: shorter waits than a day's work can bear, unless the user has chosen others."""
    if STORES.get(scheme) is not STORES["s3"] or "config_kwargs" in user.get("s3", {}):
        return {}
    return {"config_kwargs": {"connect_timeout": 10, "read_timeout": 30, "retries": {"max_attempts": 2}}}


def listed(name: str, is_wanted: Callable[[str], bool]) -> tuple[list[str], bool]:
    """Return the addresses of the files that an address means, sorted, and whether it is a folder or a pattern.

    A file, or nothing, means itself. is_wanted: of a name in a folder. Raises CaptureError.
    """
    system, path = place(name)
    store = STORES.get(scheme_of(name) or "")
    try:
        about = _about(system, path)
        if not name.endswith("/"):
            if about is not None and about.get("type") != "directory":
                return [name], False
            if about is None and not glob.has_magic(path):
                return [name], False
        if about is None and glob.has_magic(path):
            root = name[: min(name.find(sign) for sign in "*?[" if sign in name)].rpartition("/")[0]
            base = system._strip_protocol(root)
            return _addresses(root, base, _fitting(system, base, path[len(base) :].strip("/").split("/"))), True
        if store is not None and store.flat:
            found: Iterable[str] = _again(lambda: system.find(path, detail=False))
        else:
            found = (one for folder in _folders(system, path) for one in _files(system, folder))
        return _addresses(name, path, [one for one in found if is_wanted(one.rpartition("/")[2])]), True
    except OSError as problem:
        raise CaptureError(f"{name} cannot be listed: {problem.strerror or _one_line(problem)}.") from None


def _about(system: Any, path: str) -> Mapping[str, Any] | None:
    try:
        return _again(lambda: cast("Mapping[str, Any]", system.info(path)))
    except FileNotFoundError:
        return None


def _entries(system: Any, folder: str) -> Sequence[Mapping[str, Any]]:
    """Return what is in a folder. fsspec's own walk leaves out folders that it cannot list."""
    try:
        return _again(lambda: cast("list[Mapping[str, Any]]", system.ls(folder, detail=True)))
    except FileNotFoundError:
        return []


def _files(system: Any, folder: str) -> list[str]:
    return [str(one["name"]) for one in _entries(system, folder) if one.get("type") != "directory"]


def _folders(system: Any, folder: str) -> Iterator[str]:
    """Yield a folder and all below it."""
    yield folder
    for one in _entries(system, folder):
        if one.get("type") == "directory" and one["name"] != folder:
            yield from _folders(system, str(one["name"]))


def _fitting(system: Any, folder: str, pattern: Sequence[str]) -> Iterator[str]:
    """Yield the files below a folder that fit a pattern, of which each part is for one name; `**` for any folders."""
    first, *rest = pattern
    if first == "**" and rest:
        for one in _folders(system, folder):
            yield from _fitting(system, one, rest)
    elif glob.has_magic(first) or not rest:
        for about in _entries(system, folder):
            path, is_folder = str(about["name"]), about.get("type") == "directory"
            if is_folder == bool(rest) and fnmatchcase(path.rpartition("/")[2], first):
                yield from _fitting(system, path, rest) if rest else [path]
    else:
        yield from _fitting(system, f"{folder}/{first}", rest)


def _addresses(root: str, path: str, found: Iterable[str]) -> list[str]:
    """Return paths of a file system below `path` as addresses below `root`, each once."""
    below = path.rstrip("/")
    return sorted({f"{root.rstrip('/')}/{one[len(below) :].lstrip('/')}" for one in found if one.startswith(below)})


class StoredFile:
    """A file of a store. Raises OSError if it cannot be found or described."""

    def __init__(self, name: str) -> None:
        self.path = name
        try:
            self._system, self._place = place(name)
        except CaptureError as problem:
            raise UnavailableError(str(problem).rstrip(".")) from None
        self._patience = patience
        about = _again(lambda: self._system.info(self._place))
        if about.get("type") == "directory":
            raise UnavailableError("it is a folder")
        size = about.get("size")
        if not isinstance(size, int) or size < 0:
            raise UnavailableError("its store does not tell its size")
        self.size = size
        self.version, self.lasting = version_of(about)
        self._idle: SimpleQueue[Any] = SimpleQueue()

    def read_at(self, offset: int, count: int) -> bytes:
        """Return `count` bytes, fewer only at the end of the file. Raises UnavailableError."""
        count = max(0, min(count, self.size - offset))
        parts: list[bytes] = []
        have = reads = failed = 0
        while have < count:
            data, why = self._read(offset + have, count - have, again=failed % 3 < 2)
            reads += 1
            if len(data) > count - have:
                raise UnavailableError("its store returns other bytes than it was asked for")
            if data:
                parts.append(data)
                have, failed = have + len(data), 0
                if have < count and reads >= _READS + count // _BYTES_A_READ:
                    raise UnavailableError(f"its store returned {have:,} of {count:,} bytes in {reads} answers")
                continue
            failed += 1
            self._explain(why, ask=failed in (2, self._patience.times))  # No more requests than a busy store can bear.
            if failed >= self._patience.times:
                raise UnavailableError(_silent(failed, why))
            self._patience.pause(failed)
        return b"".join(parts)

    def read_each(self, places: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes at several places, several of them at once."""
        if len(places) == 1:
            return [self.read_at(*places[0])]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda one: self.read_at(*one), places))

    def check(self) -> None:
        """Check that the store still has the version that was opened."""
        try:
            now = version_of(_again(lambda: self._system.info(self._place)))
        except FileNotFoundError:
            raise ChangedError(GONE) from None
        if now != (self.version, self.lasting):
            raise ChangedError(CHANGED)

    def held(self) -> Held:
        """Return a copy in a temporary file that holds the blocks that were needed so far."""
        return Spool(self)

    def close(self) -> None:
        """Close all reads that are open."""
        with suppress(Empty):
            while True:
                _close(self._idle.get_nowait())

    def _read(self, offset: int, count: int, *, again: bool) -> tuple[bytes, Exception | None]:
        """Return what one read gives, and why it gives nothing. Reads are kept open, one for each that is under way.

        again: keep it open after an error too, since opening costs another request.
        """
        handle: Any = None
        try:
            try:
                handle = self._idle.get_nowait()
            except Empty:
                handle = self._system.open(self._place, "rb", block_size=READ_AHEAD, cache_type="none")
            handle.seek(offset)
            data = bytes(handle.read(count))
        except MemoryError:
            raise
        except Exception as problem:  # each package has its own
            if again and handle is not None:
                self._idle.put(handle)
            else:
                _close(handle)
            return b"", problem
        self._idle.put(handle)
        return data, None

    def _explain(self, why: Exception | None, *, ask: bool) -> None:
        """Raise the reason of a failed read if it is one that lasts. ask: ask the store for the version, too."""
        if isinstance(why, FileNotFoundError):
            raise ChangedError(GONE)
        _refuse(why)
        if not ask:
            return
        try:
            now = version_of(self._system.info(self._place))
        except FileNotFoundError:
            raise ChangedError(GONE) from None
        except MemoryError:
            raise
        except Exception:  # The store is asked again anyway.
            return
        if now != (self.version, self.lasting):
            raise ChangedError(CHANGED)


def version_of(about: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the version of a file by what its store tells of it, and whether that alone tells contents apart."""
    for names, lasting in ((_TAGS, True), (_TIMES, False)):
        said = [f"{name}={about[name]}" for name in names if about.get(name) not in (None, "", "null")]
        if said:
            return " ".join([f"size={about.get('size')}", *said]), lasting
    return f"size={about.get('size')}", False


def _again(ask: Callable[[], T]) -> T:
    """Ask a store until it answers. Raises FileNotFoundError, and UnavailableError if it does not answer."""
    failed, how = 0, patience
    while True:
        try:
            return ask()
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from None
        except MemoryError:
            raise
        except Exception as problem:  # each package has its own
            _refuse(problem)
            failed += 1
            if failed >= how.times:
                raise UnavailableError(_silent(failed, problem)) from None
        how.pause(failed)


def _refuse(why: Exception | None) -> None:
    """Raise UnavailableError for a reason that asking again does not change."""
    if no_credentials(why):
        raise UnavailableError(f"its store {NEEDS_CREDENTIALS}")
    if isinstance(why, PermissionError):
        raise UnavailableError(f"its store refuses access ({_one_line(why)})")
    if isinstance(why, _FINAL):
        raise UnavailableError(_one_line(why))


def no_credentials(why: Exception | None) -> bool:
    """Tell whether the client of a store failed since it found no credentials to ask with."""
    return type(why).__name__ in _NO_CREDENTIALS


def _silent(failed: int, why: Exception | None) -> str:
    return f"its store gave no answer to {failed} requests in a row ({_one_line(why)})"


def _one_line(problem: Exception | None) -> str:
    """Return an error in one line."""
    if problem is None:
        return "no bytes"
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return (lines or [type(problem).__name__])[0][:300].rstrip(".")


def _close(handle: Any) -> None:
    if handle is not None:
        with suppress(Exception):
            handle.close()


POLL_S = 0.2
GRACE_S = 1.0  # Time to flush for a writer that is stopped together with the reader.


class Stop:
    """The end of following: on request, or after a time budget. budget_s: seconds from now; None: no limit."""

    def __init__(self, budget_s: float | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = None if budget_s is None else clock() + budget_s
        self.renewed = False
        """The followed file is another one now, or began anew."""

    def tell(self, grace_s: float = 0.0) -> None:
        """Stop in `grace_s` seconds."""
        self._until = self._clock() + grace_s

    @property
    def over(self) -> bool:
        """True when following has to stop."""
        return self._until is not None and self._clock() >= self._until


class Following(io.RawIOBase):
    """A raw file that waits for more data at its end until `stop` is over.

    A file that becomes shorter (to be written anew) has ended, and so has one in whose place another stands.
    """

    def __init__(
        self, raw: IO[bytes], stop: Stop, *, path: Path | None = None, wait: Callable[[float], object] = time.sleep
    ) -> None:
        self._raw, self._path = raw, path
        self._stop = stop
        self._wait = wait

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        while True:
            count: int = self._raw.readinto(buffer)  # type: ignore[attr-defined]
            if count or self._stop.over:
                return count
            if self._stop.renewed:  # What came before that was noticed has been read now.
                return 0
            self._stop.renewed = self._shorter() or self._replaced()
            if self._stop.renewed:
                continue
            self._wait(POLL_S)

    def _replaced(self) -> bool:
        if self._path is None:
            return False
        with suppress(OSError):  # There may be none for a while.
            return not os.path.samestat(os.fstat(self._raw.fileno()), self._path.stat())
        return False

    def _shorter(self) -> bool:
        at = self._raw.tell()
        end = self._raw.seek(0, io.SEEK_END)
        self._raw.seek(at)
        return end < at


class Piped(io.RawIOBase):
    """A pipe or terminal, read as data comes; it ends when the writer closes it, or when `stop` is over."""

    def __init__(self, raw: IO[bytes], stop: Stop) -> None:
        self._raw = raw
        self._stop = stop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        while not self._ready():
            if self._stop.over:
                return 0
        count: int = self._raw.readinto(buffer)  # type: ignore[attr-defined]
        return count

    def _ready(self) -> bool:
        if os.name == "nt":  # Windows can only wait for sockets: a read simply blocks.
            return True
        return bool(select.select([self._raw], [], [], POLL_S)[0])
