"""Captures in object stores and HDFS, through fsspec: listed, and read in blocks at any offset.

A store may throttle, be silent for a while, or return fewer bytes than it was asked for: it is asked again, with
growing pauses. What then fails is an `UnavailableError`, never bytes that are not the file's.
"""

from __future__ import annotations

import errno
import glob
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar, cast

from conformance.capture.events import CaptureError
from conformance.capture.files import CHANGED, GONE, READ_AHEAD, ChangedError, Held, Spool, UnavailableError
from conformance.capture.inputs import STORES, scheme_of

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
