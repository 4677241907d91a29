"""Reads a byte range of a classic capture file, record by record, resynchronising where the file is damaged.

A record belongs to the range in which its header starts. Only pcap can be split: pcapng and compressed files are one
range.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from conformance.capture.addresses import is_stored
from conformance.capture.errors import CaptureError
from conformance.capture.files import Forward, open_file
from conformance.capture.pcap import FILE_HEADER, MAGICS, Layout, walked
from conformance.capture.records import Record, RecordWalk, Source
from conformance.capture.resync import search


def layout(path: str | Path) -> Layout | None:
    """Return the layout of a pcap file; None for any other file. Raises CaptureError when it cannot be read."""
    try:
        with opened(path) as file:
            head = file.read(FILE_HEADER)
    except (OSError, ValueError) as problem:
        raise CaptureError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from None
    return Layout.of(head) if len(head) == FILE_HEADER and head[:4] in MAGICS else None


def opened(path: str | Path) -> BinaryIO:
    """Open a path, or an address in a store. Raises OSError, and ValueError for a name that no file can have."""
    if is_stored(str(path)):
        return io.BufferedReader(Forward(open_file(path)), 1 << 18)
    return Path(path).open("rb", buffering=1 << 18)


def size_of(path: str | Path) -> int:
    """Return the size of a file in bytes. Raises OSError."""
    file = open_file(path)
    file.close()
    return file.size


def split(size: int, at_most: int) -> list[tuple[int, int]]:
    """Return the ranges of a file of `size` bytes, each of `at_most` bytes: [start, stop) without gaps."""
    starts = list(range(FILE_HEADER, size, at_most)) or [FILE_HEADER]
    return [(start, stop) for start, stop in zip(starts, [*starts[1:], max(size, FILE_HEADER)], strict=True)]


def read_range(path: str | Path, start: int, stop: int, walk: RecordWalk) -> Iterator[Record]:
    """Yield the records whose headers start in [start, stop); `walk` is complete when all have been read.

    start: FILE_HEADER for the beginning of the file; any other offset is moved to the next record. Records are numbered
    from 1 within the range. Raises CaptureError for a file that is not pcap or cannot be read.
    """
    how = layout(path)
    if how is None:
        raise CaptureError(f"{path} is not a pcap file.")
    try:
        with opened(path) as file:
            file.seek(start)
            source, passed, found = Source(file), 0, True
            if start != FILE_HEADER:
                passed, found = search(source, how.rule, stop - start)
            if found:
                yield from walked(source, how, walk, start + passed, stop)
    except OSError as problem:
        walk.cut = f"record {walk.records + 1} cannot be read ({problem.strerror})"
