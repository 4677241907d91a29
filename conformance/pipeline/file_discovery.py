"""Find the captures of a folder that are finished, in the order of their age."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

from conformance.capture import packed
from conformance.capture.inputs import is_capture, natural, stream_key
from conformance.pipeline.errors import PipelineError

SETTLE_S = 60.0
"""Seconds for which the newest file of a set must not change before it counts as finished."""
FILES: Final = "path STRING, bytes BIGINT, grown BOOLEAN, name BINARY"
"""The columns of a stream of files. name: the path as the bytes that the file system has, which need not be UTF-8."""
HEAD: Final = 4096
"""Bytes of the beginning of a file that tell it from others."""


@dataclass(frozen=True, slots=True)
class File:
    """A capture in the folder. name: its path below the folder. changed_ns: its time of change, since 1970."""

    name: str
    size: int
    changed_ns: int

    @property
    def age(self) -> tuple[int, tuple[tuple[int, str], ...], str]:
        """A key by which older files sort first, and files of one time by the numbers in their names."""
        return self.changed_ns, natural(self.name), self.name

    @property
    def mark(self) -> bytes:
        """Eight bytes that tell this file, as it is now, from others of the folder."""
        text = f"{self.name}\0{self.size}\0{self.changed_ns}".encode("utf-8", "surrogateescape")
        return blake2b(text, digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class Look:
    """The captures of a folder at one time. open: those that may still be written to."""

    finished: list[File]
    open: list[File]


def require_streams() -> None:
    """Raise PipelineError if pyspark is older than 4.2, which does not tell a source of its own where it stands."""
    if find_spec("pyspark.sql.streaming.datasource") is None:
        from pyspark import __version__

        raise PipelineError(
            f"A stream of captures needs pyspark 4.2 or later, and {__version__} is installed; ingest needs none."
        )


def look(folder: Path, settle_s: float) -> Look:
    """Return the captures below a folder: all but the newest of each set are finished, and that one if it has settled.

    A link to a capture within the folder is left out, and so is what cannot be looked at. Raises PipelineError if the
    folder cannot be read.
    """
    now = time.time_ns()
    settled: list[File] = []
    recent: dict[str, list[File]] = {}
    try:
        for file, written_ns in _captures(str(folder)):
            if now - written_ns >= settle_s * 1e9:
                settled.append(file)
            else:
                recent.setdefault(stream_key(str(folder / file.name))[0], []).append(file)
    except OSError as problem:
        raise PipelineError(f"{folder} cannot be read: {problem.strerror}.") from None
    unfinished = [max(files, key=lambda one: one.age) for files in recent.values()]
    left = set(unfinished)
    return Look(settled + [one for files in recent.values() for one in files if one not in left], unfinished)


def by_age(files: Iterable[File]) -> Iterator[File]:
    """Yield files in the order of their age. Few of many have the same time, and need a longer look."""
    time_of = attrgetter("changed_ns")
    for _, alike in groupby(sorted(files, key=time_of), time_of):
        yield from sorted(alike, key=lambda one: one.age)


def _captures(folder: str) -> Iterator[tuple[File, int]]:
    """Yield the captures with the time at which each was last written to. Raises OSError for the folder itself."""
    inside = os.path.realpath(folder) + os.sep
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = list(os.scandir(f"{folder}/{below}"))
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            if not below:
                raise
            continue
        for entry in entries:
            with suppress(OSError):  # It was rotated away during the look, or is a link to nothing.
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{below}{entry.name}/")
                elif is_capture(entry.name):
                    about = entry.stat()
                    linked = entry.is_symlink() and os.path.realpath(entry.path).startswith(inside)
                    if stat.S_ISREG(about.st_mode) and not linked:
                        # A time of change in the future was set by hand.
                        written = min(about.st_mtime_ns, about.st_ctime_ns)
                        yield File(f"{below}{entry.name}", about.st_size, about.st_mtime_ns), written


def head_of(path: str, size: int) -> str:
    """Return the digest of the first 4,096 bytes of a file that had `size` bytes; a compressed one is unpacked first.

    It tells a file that was written on from another one in a reused name of a ring buffer. Raises OSError.
    """
    most = min(size, HEAD)
    with Path(path).open("rb") as file:
        data = file.read(2 * HEAD)
    if path.endswith(packed.SUFFIXES):
        data = packed.beginning(data, HEAD) or data
    return blake2b(data[:most], digest_size=16).hexdigest()
