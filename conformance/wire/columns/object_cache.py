"""Stores objects between processes in the user's cache folder, under the hash of everything they depend on.

The cache is only an aid: a missing or damaged object, or one that cannot be written, is made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from conformance import cache
from conformance.cache import folder as cache_folder

T = TypeVar("T")

MAX_KEPT = 48
"""Files kept: some for each version of the tables and rules."""
_OLD = 86_400  # seconds after which a surplus file may be deleted
_FORMAT = 2
_FOLDER = "columns"
_SUFFIX = ".kept"
_SUM = hashlib.sha256().digest_size


def place_of(name: str, made_from: Iterable[str]) -> Path:
    """Return the file of an object that depends on these texts. Raises OSError where there is no home folder."""
    key = hashlib.sha256("\0".join([str(_FORMAT), sys.version, *made_from]).encode()).hexdigest()[:24]
    return cache_folder() / _FOLDER / f"{name}-{key}{_SUFFIX}"


def remembered(
    name: str, made_from: Iterable[str], make: Callable[[], T], to_json: Callable[[T], Any], of_json: Callable[[Any], T]
) -> T:
    """Return the value that another process has made, or that `make` returns now. It is stored as JSON; `made_from`
    must hold all code that it depends on."""
    try:
        path: Path | None = place_of(name, made_from)
    except OSError:
        path = None
    content = read(path)
    if content is not None:
        return of_json(json.loads(content))
    made = make()
    write(path, json.dumps(to_json(made), separators=(",", ":")).encode())
    return made


def stamps(folder: Path) -> Iterator[str]:
    """Yield name, size and time of the last change of each source file in a folder and its subfolders."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from stamps(Path(entry.path))
        elif entry.name.endswith(".py"):
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def read(path: Path | None) -> bytes | None:
    """Return a file's content, unless it is missing, damaged, or possibly written by another user."""
    if path is None:
        return None
    found = cache.read(path.parent.parent, f"{_FOLDER}/{path.name}")
    if found is None:
        return None
    content = found[_SUM:]
    return content if content and hashlib.sha256(content).digest() == found[:_SUM] else None


def write(path: Path | None, content: bytes) -> None:
    """Store content as a whole or not at all: if it cannot be stored, each process makes it for itself."""
    if path is None:
        return
    sealed = hashlib.sha256(content).digest() + content
    if cache.write(path.parent.parent, f"{_FOLDER}/{path.name}", sealed):
        _forget(path.parent)


def _forget(folder: Path) -> None:
    """Delete files of other versions. Another process may do the same at this moment."""
    with suppress(OSError):
        written = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in written[MAX_KEPT:]:
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink(missing_ok=True)
