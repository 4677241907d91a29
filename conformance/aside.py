"""Atomic file writes: content goes to a draft with a random name, which is renamed when it is complete.

`make_folder` and `held` serve the folders that the files are written to.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from conformance.interrupts import work_begins


def make_folder(path: Path | str, *, above: bool = True) -> None:
    """Make a folder and all missing folders above it, however many; `above` allows these. Raises OSError.

    `Path.mkdir` and `os.makedirs` recurse at each level and raise RecursionError below a thousand levels.
    """
    missing = [os.fspath(path)]
    made = ""
    while missing:
        try:
            os.mkdir(missing[-1])  # noqa: PTH102 - a Path is slow to make at each of many levels
        except FileNotFoundError:
            parent = os.path.dirname(missing[-1].rstrip(os.sep))  # noqa: PTH120
            if not parent or parent in (missing[-1], made) or not above:  # the latter happens in procfs
                raise
            missing.append(parent)
            continue
        except OSError:  # As with `exist_ok`: any error is fine if the folder exists.
            if not os.path.isdir(missing[-1]):  # noqa: PTH112
                raise
        made = missing.pop()


@contextmanager
def held(folder: Path) -> Iterator[Callable[[], bool]]:
    """Keep a folder open; the yielded function returns True while the folder is still at its path. Raises OSError.

    As the folder stays open, a new folder at the same path cannot be mistaken for it.
    """
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def there() -> bool:
        try:
            return os.path.samestat(os.fstat(number), folder.stat())
        except OSError:
            return False

    try:
        yield there
    finally:
        os.close(number)


@contextmanager
def aside(path: Path | str) -> Iterator[Path]:
    """Yield a draft to write, which replaces `path` at the end. Raises OSError.

    Any error or interrupt leaves `path` unchanged and removes the draft. An existing file keeps its mode. If `path` is
    a link, its target is replaced. If it is not a regular file (`/dev/stdout`, a pipe), it is written directly.
    """
    work_begins()
    place = Path(os.path.realpath(path))
    try:
        mode = place.stat().st_mode & 0o7777 if place.is_file() else None
    except OSError:
        mode = None
    if mode is None and os.path.lexists(place):
        if place.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        yield Path(path)
        return
    draft = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield draft
        if mode is not None:
            draft.chmod(mode)
        draft.replace(place)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def write_text(path: Path | str, text: str, *, encoding: str = "utf-8", errors: str = "strict") -> None:
    """Write a text file atomically. Raises OSError."""
    with aside(path) as draft:
        draft.write_text(text, encoding=encoding, errors=errors)


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write a file atomically. Raises OSError."""
    with aside(path) as draft:
        draft.write_bytes(content)
