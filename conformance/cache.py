"""Files in the user's cache folder, used only if nobody else can have written them.

A file is read only if it and our folders around it belong to the current user and nobody else may write to them. Owner
and mode are those of the opened file, not of its name, and no link is followed into or below our folder. The folder
that contains the cache folder may be reached through links, and others may write to it if they cannot remove what is
not theirs (the sticky bit, as in /tmp). A file that fails a check is not used, and one message on stderr says so. A
missing file, or one that cannot be written, is ignored silently.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

MAX_FILE: Final = 256 << 20
"""Bytes of the largest file that is read."""
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_TOLD: Final = "_MQCONFORM_CACHE_UNUSED"
"""Environment variable with the cache folder that was reported already, so that child processes do not repeat it."""
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_CHECKED: Final = os.name == "posix"
"""On other systems a user's folders are private by default and have no mode to check."""


class _ForeignError(Exception):
    """Somebody else may have written a file; the message is the end of a sentence."""


def folder() -> Path:
    """Return the cache folder. Raises OSError if there is no home folder."""
    if sys.platform == "linux" and "ANDROID_ROOT" not in os.environ:
        # The same as platformdirs, which takes as long to import as the catalogue takes to load.
        for name, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
            if (base := Path(os.environ.get(name, ""))).is_absolute():
                return base / below / "mqconform"
    from platformdirs import user_cache_path

    try:
        return user_cache_path("mqconform", appauthor=False)
    except RuntimeError as error:
        raise OSError(str(error)) from None


def read(root: Path, name: str) -> bytes | None:
    """Read a file of the cache at `root`; None if it is missing or not surely ours. name: its path below `root`."""
    try:
        if not _CHECKED:
            return (root / name).read_bytes()
        with _opened(root, name) as (place, own):
            number = os.open(own, _FLAGS | os.O_NONBLOCK, dir_fd=place)
            with os.fdopen(number, "rb") as file:
                status = os.fstat(number)
                if not stat.S_ISREG(status.st_mode):
                    return None
                _check(status, root / name)
                return file.read(MAX_FILE) if status.st_size < MAX_FILE else None
    except _ForeignError as problem:
        _tell(root, problem)
    except OSError:
        pass
    return None


def write(root: Path, name: str, content: bytes) -> bool:
    """Write a file atomically. Returns True if it is written. Missing folders are made, private to the user."""
    try:
        if not _CHECKED:
            return _plainly(root / name, content)
        with _opened(root, name, make=True) as (place, own):
            draft = f".{own}.{os.urandom(8).hex()}"
            try:
                number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=place)
                with os.fdopen(number, "wb") as file:
                    file.write(content)
                os.replace(draft, own, src_dir_fd=place, dst_dir_fd=place)
            except OSError:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=place)
                return False
            return True
    except _ForeignError as problem:
        _tell(root, problem)
    except OSError:
        pass
    return False


@contextmanager
def _opened(root: Path, name: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """Open and check the folder of a file; yields its descriptor and the file's name in it. make: missing folders."""
    *inner, own = name.split("/")
    base = root.parent
    if make:
        base.mkdir(0o700, parents=True, exist_ok=True)
    mode = base.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise _ForeignError(f"everybody may write to {base}, where it lies")
    path, at = root, _enter(root, None, make)
    try:
        for one in inner:
            path /= one
            before, at = at, _enter(path, at, make)
            os.close(before)
        yield at, own
    finally:
        os.close(at)


def _enter(path: Path, above: int | None, make: bool) -> int:
    """Open one of our folders and check it. make: it is made if missing, and made private to the user."""
    name = path if above is None else path.name
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=above)
    try:
        number = os.open(name, _FLAGS | os.O_DIRECTORY, dir_fd=above)
    except OSError:
        if path.is_symlink():
            raise _ForeignError(f"{path} is a link") from None
        raise
    try:
        status = os.fstat(number)
        _check(status, path)
        if make and stat.S_IMODE(status.st_mode) != 0o700:
            os.fchmod(number, 0o700)
    except BaseException:
        os.close(number)
        raise
    return number


def _check(status: os.stat_result, path: Path) -> None:
    if status.st_uid != os.geteuid():
        raise _ForeignError(f"{path} belongs to another user (number {status.st_uid})")
    if status.st_mode & _OTHERS:
        raise _ForeignError(f"others may write to {path} (mode {stat.S_IMODE(status.st_mode):04o})")


def _tell(root: Path, problem: Exception) -> None:
    if os.environ.get(_TOLD) == str(root):
        return
    os.environ[_TOLD] = str(root)
    with suppress(OSError, ValueError, AttributeError):
        print(
            f"mqconform: the cache in {root} is not used: {problem}; remove it, or close it to others (chmod 700).",
            file=sys.stderr,
            flush=True,
        )


def _plainly(path: Path, content: bytes) -> bool:
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    number, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        Path(draft).replace(path)
    except OSError:
        with suppress(OSError):
            Path(draft).unlink()
        raise
    return True
