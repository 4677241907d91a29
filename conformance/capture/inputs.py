"""Expands the capture arguments of the command line: files, folders, patterns, all of them also in stores, or stdin."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from conformance.capture import packed
from conformance.capture.addresses import is_stored, meant
from conformance.capture.errors import CaptureError

STDIN = "-"
SUFFIXES = (".pcap", ".pcapng", ".cap", ".ntar", ".dmp")
"""Endings of capture files in a folder, optionally followed by a number of tcpdump's or that of a compression."""
MAX_FILES = 1_000_000


def expand(names: Iterable[str]) -> list[str]:
    """Return the named captures in the order named; those of a folder or pattern sorted, each once.

    A folder denotes the captures anywhere below it, unreadable ones included; `-` standard input; a name with `*`, `?`
    or `[` the files it matches, unless a file of that very name exists. A name may be an address in a store, whose
    prefixes are folders. Raises CaptureError for a folder or pattern without any capture, and for an address that
    cannot be used.
    """
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(_captures_of(name)))
        if len(found) > MAX_FILES:
            raise CaptureError(f"More than {MAX_FILES:,} captures are named; replay them in parts.")
    return list(found)


def _captures_of(name: str) -> list[str]:
    if name == STDIN:
        return [name]
    name = meant(name)
    if is_stored(name):
        return _stored(name)
    path = Path(name)
    if path.is_dir():
        inside = sorted(str(one) for one in path.rglob("*") if is_capture(one.name) and not one.is_dir())
        if not inside:
            raise CaptureError(f"The folder {name} holds no capture (a file ending in {', '.join(SUFFIXES)}).")
        return inside
    if not path.exists() and glob.has_magic(name):
        names = glob.iglob(name, recursive=True)  # noqa: PTH207 - pathlib takes no absolute pattern
        fitting = sorted(one for one in names if not Path(one).is_dir())
        if not fitting:
            raise CaptureError(f"No file fits the pattern {name}.")
        return fitting
    return [name]


def _stored(name: str) -> list[str]:
    from conformance.capture.stores import listed

    found, several = listed(name, is_capture)
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
    """Return True for the file name of a capture; tcpdump -C and -W append a number (`a.pcap12`)."""
    name = name.lower()
    for ending in packed.SUFFIXES:
        name = name.removesuffix(ending)
    return name.rstrip("0123456789").endswith(SUFFIXES)
