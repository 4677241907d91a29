"""Which capture a file is, by its content, and which stream it is part of, by its name and times."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, Literal

from conformance.capture import CaptureError
from conformance.capture.ranges import FILE_HEADER, Walk, layout, read_range
from conformance.capture.records import CutError, read_records

Grouping = Literal["auto", "file"]
WHOLE = 8 << 20
"""Bytes up to which all of a file is hashed."""
_ENDS, _BLOCK, _BLOCKS = 1 << 20, 4096, 256
_BYTES_OF_ID = 16
# `a.pcap3` (tcpdump -C), `a_00003_20260131120000.pcap` (dumpcap), `a-2026-01-31_12:00:00.pcap` (tcpdump -G).
_SUFFIX = re.compile(r"(?P<stem>.*?)(?P<suffix>\.(?:pcapng|pcap|cap|ntar|dmp))(?P<number>\d*)(?:\.gz)?", re.IGNORECASE)
# A number right behind a letter is part of the name (`eth0`, `host12_00003`), unless it is as long as a time.
_TURN = re.compile(
    r"(?:[-_.][0-9][0-9T:_.Z-]*|(?<![0-9])(?:[0-9]{8}|[0-9]{4}-[0-9]{2})[0-9T:_.Z-]*|(?<![0-9])[0-9]{4,})$"
)


@dataclass(frozen=True, slots=True)
class Probe:
    """What is known of a file before it is judged. first_ns: time of its first record. error: why it cannot be read."""

    path: str
    size: int | None = None
    capture: str | None = None
    format: str = ""
    first_ns: int | None = None
    error: str | None = None

    @property
    def rejection(self) -> str:
        """The identity of a row in `rejected`: the content where that could be read, else path and reason."""
        return self.capture or sha256(f"{self.path}\0{self.error}".encode("utf-8", "surrogateescape")).hexdigest()


def probe(path: str) -> Probe:
    """Look at a file: its identity and its first record. Never raises: what is wrong is in `error`."""
    try:
        about = os.stat(path)  # noqa: PTH116 - a path may hold a NUL, which pathlib refuses later
        if not S_ISREG(about.st_mode):
            return Probe(path, error=f"{path} is no file that can be read twice; the pipeline reads files.")
        size = about.st_size
        with Path(path).open("rb") as file:
            capture, head = identity(file, size), _head(file)
    except OSError as problem:
        return Probe(path, error=f"{path} cannot be read: {problem.strerror}.")
    except ValueError:
        return Probe(path, error=f"{path!r} is no name of a file.")
    try:
        first = _first(path, size)
    except CaptureError as error:
        return Probe(path, size, capture, error=str(error))
    except OSError as problem:
        return Probe(path, size, capture, error=f"{path} cannot be read: {problem.strerror}.")
    return Probe(path, size, capture, _format(path, head), first)


def identity(file: BinaryIO, size: int) -> str:
    """The id of a capture: its size, and all bytes of a short file or blocks of a long one; the path plays no part."""
    digest = sha256(b"%d\n" % size)
    if size <= WHOLE:
        file.seek(0)
        digest.update(file.read(WHOLE))
    else:
        inner = size - 2 * _ENDS - _BLOCK
        blocks = [
            (0, _ENDS),
            *((_ENDS + inner * at // _BLOCKS, _BLOCK) for at in range(_BLOCKS)),
            (size - _ENDS, _ENDS),
        ]
        for offset, length in blocks:
            file.seek(offset)
            digest.update(file.read(length))
    return digest.hexdigest()[: 2 * _BYTES_OF_ID]


def stream_key(path: str) -> tuple[str, bool]:
    """What the files of a rotated set have in common, and whether this name is one of a set (has a number or time)."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100
    found = _SUFFIX.fullmatch(name)
    if found is None:
        return path, False
    stem = _TURN.sub("", found["stem"])
    turned = bool(found["number"]) or stem != found["stem"]
    return f"{folder}/{stem or found['stem']}{found['suffix'].lower()}", turned


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A name in parts that sort as people count: `a.pcap9` before `a.pcap10`."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"[0-9]+|[^0-9]+", name))


def streams(probes: Iterable[Probe], grouping: Grouping) -> list[tuple[str, Sequence[Probe]]]:
    """The captures that may be one stream, under their key, each in the order of their records."""
    groups: dict[str, list[Probe]] = {}
    for one in probes:
        key = stream_key(one.path)[0] if grouping == "auto" else f"{os.path.abspath(one.path)}\0{one.capture}"  # noqa: PTH100
        groups.setdefault(key, []).append(one)
    never = 1 << 63
    for group in groups.values():
        group.sort(key=lambda one: (never if one.first_ns is None else one.first_ns, natural(one.path)))
    return sorted(groups.items())


def _first(path: str, size: int) -> int | None:
    """The time of the first record, of the first that can be found where that one is damaged; None without any."""
    try:
        return next((record.time_ns for record in read_records(path)), None)
    except CutError:
        if layout(path) is None:
            return None
        return next((record.time_ns for record in read_range(path, FILE_HEADER, size, Walk())), None)


def _head(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(4)


def _format(path: str, head: bytes) -> str:
    if head[:2] != b"\x1f\x8b":
        return "pcapng" if head == b"\x0a\x0d\x0d\x0a" else "pcap"
    import zlib

    with Path(path).open("rb") as file:
        start = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(file.read(4096), 4)
    return "pcapng.gz" if start == b"\x0a\x0d\x0d\x0a" else "pcap.gz"
