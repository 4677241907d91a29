"""The captures that a command names: files, folders, patterns, all of them also in stores, or stdin."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from conformance.capture import packed
from conformance.capture.addresses import STDIN, is_stored, location
from conformance.capture.events import CaptureError
from conformance.capture.files import listed
from conformance.capture.records import RecordWalk, read_records

SUFFIXES = (".pcap", ".pcapng", ".cap", ".ntar", ".dmp")
"""Endings of capture files in a folder, optionally followed by a number of tcpdump's or that of a compression."""
MAX_FILES = 1_000_000
MAX_LOOKS = 10_000
"""Files of a folder that are opened to see what they are."""
MAX_NAMED, _TOLD = 100, 5
_LATE = 1 << 63
# `a.pcap3` (tcpdump -C), `a.pcap.3` (logrotate),
# `a_00003_20260131120000.pcap` (dumpcap), `a-2026-01-31_12:00:00.pcap` (tcpdump -G).
_SUFFIX = re.compile(
    rf"(?P<stem>.*?)(?P<suffix>{'|'.join(map(re.escape, SUFFIXES))})(?P<number>(?:\.?\d+)?)"
    rf"(?:{'|'.join(map(re.escape, packed.COMPRESSED_SUFFIXES))})?",
    re.IGNORECASE,
)
# A number right after a letter is part of the name (`eth0`, `host12_00003`), unless it is as long as a time.
_TURN = re.compile(
    r"(?:[-_.][0-9][0-9T:_.Z-]*|(?<![0-9])(?:[0-9]{8}|[0-9]{4}-[0-9]{2})[0-9T:_.Z-]*|(?<![0-9])[0-9]{4,})$"
)
_TIMED = re.compile(r"(?P<stem>.+)[-_.][0-9]{9,}(?:\.gz|\.zst)?", re.IGNORECASE)  # `dump.1700000000` (tcpdump -G).


@dataclass(slots=True)
class LeftOut:
    """The files that are not read though they are in a folder, or fit a pattern. names: the first of them."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """Add a file."""
        self.count += 1
        if len(self.names) < MAX_NAMED:
            self.names.append(name)

    @property
    def sentence(self) -> str | None:
        """A sentence about packets that were left out; None for none."""
        more = f" and {self.count - _TOLD:,} more" if self.count > _TOLD else ""
        named = ", ".join(self.names[:_TOLD])
        return f"Left out, since neither name nor content is that of a capture: {named}{more}." if self.count else None


def expand(names: Iterable[str], left_out: LeftOut | None = None) -> list[str]:
    """Return the named captures in the order named; those of a folder or pattern sorted, each once.

    A folder denotes the captures anywhere below it, by name or content, unreadable ones included; `-` standard input; a
    name with `*`, `?` or `[` the files it matches, unless a file of that very name exists. The files of a rotated set
    are in the order in which they were recorded. A name may be an address in a store, whose prefixes are folders.
    left_out: gets the other files. Raises CaptureError for a folder or pattern without any capture, and for an address
    that cannot be used.
    """
    found: dict[str, None] = {}
    left_out = LeftOut() if left_out is None else left_out
    for name in names:
        found.update(dict.fromkeys(_captures_of(name, left_out)))
        if len(found) > MAX_FILES:
            raise CaptureError(f"More than {MAX_FILES:,} captures are named; replay them in parts.")
    return list(found)


def _captures_of(name: str, left_out: LeftOut) -> list[str]:
    if name == STDIN:
        return [name]
    name = location(name)
    if is_stored(name):
        return _stored(name, left_out)
    path = Path(name)
    if path.is_dir():
        inside = _inside(str(path), left_out)
        if not inside:
            raise CaptureError(f"The folder {name} holds no capture (a file ending in {', '.join(SUFFIXES)}).")
        return _in_order(inside)
    if not path.exists() and glob.has_magic(name):
        fitting = []
        for one in glob.iglob(name, recursive=True):  # noqa: PTH207 - pathlib takes no absolute pattern
            if not Path(one).is_dir():
                fitting.append(one)
            elif "**" not in name:
                left_out.add(f"{one}/")
        if not fitting:
            raise CaptureError(f"No file fits the pattern {name}.")
        return _in_order(fitting)
    return [name]


def _inside(folder: str, left_out: LeftOut) -> list[str]:
    """Return the captures below a folder. So many files whose names tell nothing are opened, but no hidden ones."""
    found: list[str] = []
    looks = MAX_LOOKS
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = f"{place.rstrip('/')}/{name}"
            fits = is_capture(name)
            if not fits and looks and "/." not in path[len(folder) :]:
                looks -= 1
                fits = _first_ns(path) is not None
            if fits:
                found.append(path)
            else:
                left_out.add(path)
    return found


def _in_order(paths: list[str]) -> list[str]:
    """Return files by their names, those of a rotated set by the time of their first record."""
    sets: dict[str, list[str]] = {}
    for path in paths:
        sets.setdefault(stream_key(path)[0], []).append(path)
    for some in sets.values():
        if len(some) > 1:
            times = {path: _first_ns(path) for path in some}
            some.sort(key=lambda path: (_LATE if times[path] is None else times[path], natural(path)))
    return [path for some in sorted(sets.values(), key=min) for path in some]


def _first_ns(path: str) -> int | None:
    """Return the time of the first record, a late one where there is none; None for what is no capture."""
    with suppress(CaptureError, OSError, ValueError):
        if stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - pathlib refuses a NUL later
            return next((record.time_ns for record in read_records(path, RecordWalk())), _LATE)
    return None


def _stored(name: str, left_out: LeftOut) -> list[str]:
    def is_wanted(one: str) -> bool:
        if not is_capture(one):
            left_out.add(one)
        return is_capture(one)

    found, several = listed(name, is_wanted)
    if not found and several:
        raise CaptureError(f"{name} holds no capture (an object ending in {', '.join(SUFFIXES)}).")
    return found


def refused(files: Iterable[str], names: Collection[str]) -> dict[str, str]:
    """Map each path that is not a regular file, if a folder or pattern of `names` produced it, to an error sentence.

    Reading a pipe that nobody writes to would wait forever; a pipe named by itself is intended.
    """
    found = {}
    for path in files:
        with suppress(OSError):  # Whoever opens it reports the error.
            if path not in names and not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
                found[path] = f"{path} is not a regular file; name a pipe, a socket or a device by itself."
    return found


def is_capture(name: str) -> bool:
    """Return True for the file name of a capture; tcpdump -C and -W (`a.pcap12`) and logrotate append a number."""
    name = name.lower()
    for ending in packed.COMPRESSED_SUFFIXES:
        name = name.removesuffix(ending)
    return name.rstrip("0123456789").removesuffix(".").endswith(SUFFIXES)


def stream_key(path: str) -> tuple[str, bool]:
    """Return the common key of a rotated set's files, and whether this name has a number or time as in such a set."""
    folder, name = os.path.split(whole_name(path))
    found = _SUFFIX.fullmatch(name)
    if found is None:
        timed = _TIMED.fullmatch(name)
        return (path, False) if timed is None else (f"{folder}/{timed['stem']}", True)
    stem = _TURN.sub("", found["stem"])
    turned = bool(found["number"]) or stem != found["stem"]
    return f"{folder}/{stem or found['stem']}{found['suffix'].lower()}", turned


def whole_name(path: str) -> str:
    return path if is_stored(path) else os.path.abspath(path)  # noqa: PTH100


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Split a name into parts that sort by number: `a.pcap9` before `a.pcap10`."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"[0-9]+|[^0-9]+", name))
