"""What is kept between processes in the user's cache folder, under the hash of everything it was made from.

It is only ever an aid: what is missing, damaged, or cannot be written is worked out again.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from conformance.spec.compiled import cache_folder

T = TypeVar("T")

MAX_KEPT = 48
"""Files kept: some for each version of the tables and rules."""
_OLD = 86_400  # seconds after which a file beyond those may go
_FORMAT = 1
_SUFFIX = ".kept"
_SUM = hashlib.sha256().digest_size


def place_of(name: str, made_from: Iterable[str]) -> Path:
    """The file of what is made from these texts. Raises OSError where there is no home folder."""
    key = hashlib.sha256("\0".join([str(_FORMAT), sys.version, *made_from]).encode()).hexdigest()[:24]
    return cache_folder() / "columns" / f"{name}-{key}{_SUFFIX}"


def remembered(name: str, made_from: Iterable[str], make: Callable[[], T]) -> T:
    """A value that another process has made, or what `make` gives now. It is pickled: `made_from` must hold whatever
    code its classes are of."""
    try:
        path: Path | None = place_of(name, made_from)
    except OSError:
        path = None
    content = read(path)
    if content is not None:
        found: T = pickle.loads(content)
        return found
    made = make()
    write(path, pickle.dumps(made, pickle.HIGHEST_PROTOCOL))
    return made


def stamps(folder: Path) -> Iterator[str]:
    """Of each source file in a folder and those below: name, size and when it was last changed."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from stamps(Path(entry.path))
        elif entry.name.endswith(".py"):
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def read(path: Path | None) -> bytes | None:
    """What a file holds, unless it is not there or not as it was written."""
    if path is None:
        return None
    try:
        found = path.read_bytes()
    except OSError:
        return None
    content = found[_SUM:]
    return content if content and hashlib.sha256(content).digest() == found[:_SUM] else None


def write(path: Path | None, content: bytes) -> None:
    """Keep something, as a whole or not at all: where it cannot be, each process works it out for itself."""
    if path is None:
        return
    import tempfile  # not where the content is there already

    part = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number, part = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(number, "wb") as file:
            file.write(hashlib.sha256(content).digest() + content)
        Path(part).replace(path)
    except OSError:
        if part:
            with suppress(OSError):
                Path(part).unlink()
        return
    _forget(path.parent)


def _forget(folder: Path) -> None:
    """Delete what other versions left behind. Another process may do the same at this moment."""
    with suppress(OSError):
        written = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in written[MAX_KEPT:]:
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink(missing_ok=True)
