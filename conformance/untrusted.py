"""Bounded reading of files and JSON that strangers wrote."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

MAX_FILE: Final = 128 << 20
"""Bytes of a JSON file."""
MAX_VALUES: Final = 4_000_000
"""Objects, lists and members in it: values take more memory than their text."""
MAX_DEPTH: Final = 60
_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS: Final = bytes(one for one in range(256) if one not in b"[{]}")


class UnfitError(Exception):
    """Why a file cannot be used, as the end of a sentence: `is a link`. path: of the file, where known."""

    def __init__(self, reason: str, path: Path | None = None) -> None:
        super().__init__(reason)
        self.path = path


def regular(path: Path) -> bool:
    """Tell whether a plain file is present. Raises UnfitError if something else is."""
    return _present(path, stat.S_ISREG, "file")


def folder(path: Path) -> bool:
    """Tell whether a folder is present. Raises UnfitError if something else is, also for a link to a folder."""
    return _present(path, stat.S_ISDIR, "folder")


def _present(path: Path, wanted: Callable[[int], bool], what: str) -> bool:
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not wanted(mode):
        raise UnfitError("is a link" if stat.S_ISLNK(mode) else f"is not a {what}", path)
    return True


def content(path: Path, most: int = MAX_FILE) -> bytes:
    """Return the content of a file. Raises OSError, and UnfitError for no file or one of more than `most` bytes."""
    if not regular(path):  # reports a link as one; opening checks again
        raise FileNotFoundError(2, "No such file or directory", str(path))
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(number, "rb") as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise UnfitError("is not a file")
        if status.st_size > most:
            raise UnfitError(f"has {status.st_size:,} bytes, at most {most:,} are read")
        found = file.read(status.st_size + 1)  # reading sets aside what it is asked for
    if len(found) > most:
        raise UnfitError(f"has more than {most:,} bytes")
    return found


def depth(data: bytes) -> int:
    """Return how deeply JSON is nested. Raises UnfitError if it is too much for parsers that recurse."""
    steps = _TEXT.sub(b"", data).translate(_STEPS, _OTHERS)
    found = max(accumulate(one if one == 1 else -1 for one in steps), default=0)
    if found > MAX_DEPTH:
        raise UnfitError("is nested too deeply")
    return found


def parsed(data: bytes, most: int = MAX_VALUES) -> Any:
    """Parse JSON in UTF-8 without duplicate keys, NaN or more than `most` values. Raises UnfitError."""
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > most:
        raise UnfitError(f"has more than {most:,} values")
    depth(data)
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise UnfitError("is not UTF-8 text") from None
    except ValueError as problem:
        raise UnfitError(f"is not JSON: {problem}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnfitError("has a key twice")
    return found


def _no_number(text: str) -> Any:
    raise UnfitError(f"has the number {text}, which JSON does not allow")
