"""Atomic writes of files, and bounded reads of small files of strangers."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

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
def folder_watch(folder: Path) -> Iterator[Callable[[], bool]]:
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


MAX_DIGITS = 308
"""Digits of the longest number: one with more is no float."""
MAX_DOTS = 32
"""Dots of the longest TOML key: what tomllib needs for one grows with their square."""
_STRINGS = re.compile(
    r'"{3}(?:[^"\\]|\\.|"(?!""))*+"{0,5}|\'{3}(?:[^\']|\'(?!\'\'))*+\'{0,5}|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?|#[^\n]*',
    re.DOTALL,
)
_NUMBER = re.compile(rf"[0-9_]{{{MAX_DIGITS + 1},}}")
_KEY = re.compile(rf"(?:\.[^.\n=]*+){{{MAX_DOTS + 1},}}")


class UnfitError(ValueError):
    """A file is nothing that this program wrote; the text says why and follows the file's name."""


def text_of(path: Path, most: int) -> str:
    """Return the text of a file of at most `most` bytes. Raises OSError and UnfitError."""
    with open(path, "rb", opener=_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UnfitError("is not a file")
        data = file.read(most + 1)
    if len(data) > most:
        raise UnfitError(f"is larger than {most >> 20} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnfitError("is not UTF-8 text") from None


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)  # a FIFO without a writer opens at once


def json_value(text: str) -> Any:
    """Parse JSON. Raises UnfitError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise UnfitError("is nested too deeply") from None
    except ValueError:  # Also for an integer with more digits than Python converts.
        raise UnfitError("is not JSON") from None


def toml_table(text: str) -> dict[str, Any]:
    """Parse TOML. Raises UnfitError."""
    bare = _STRINGS.sub("", text)  # keys, numbers and brackets alone
    if _NUMBER.search(bare):
        raise UnfitError(f"has a number of more than {MAX_DIGITS} digits")
    if _KEY.search(bare):
        raise UnfitError(f"has a key of more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UnfitError("is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError among them
        raise UnfitError(f"is not valid TOML: {str(error)[:200]}") from None
