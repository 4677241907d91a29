"""Temporary folders and state folders of drivers: making them, and removing them whatever others put into them."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from conformance.interrupts import work_begins

LIMIT_S = 60.0
"""Seconds after which removal gives up on a folder that another process keeps filling."""
_MOUNTS = Path("/proc/self/mountinfo")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


GONE = "The working folder is gone: change to a folder that exists, and run the command again."


def working_folder_gone() -> bool:
    """True if the working folder of this process was removed."""
    try:
        return not os.path.isdir(os.getcwd())  # noqa: PTH109, PTH112
    except OSError:
        return True


class NoScratch(OSError):
    """No temporary folder can be made; the message is one sentence."""


def new_scratch(prefix: str) -> Path:
    """Make a temporary folder named `prefix` and random letters. The caller removes it. Raises NoScratch."""
    work_begins()
    try:
        return Path(tempfile.mkdtemp(prefix=prefix))
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoScratch(
            error.errno, f"No temporary folder can be made ({reason}): set TMPDIR to a folder that can be written."
        ) from None


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Make a temporary folder and remove it with its content at the end. Raises NoScratch."""
    folder = new_scratch(prefix)
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_tree(folder: Path) -> bool:
    """Remove a folder and its content, however deep. Returns False if something could not be removed.

    Inner folders are moved up into `folder` before they are emptied, so neither depth nor path length costs memory or
    descriptors. Symbolic links are not followed. What holds a mount stays: its files are somebody else's.
    """
    mounted = _mounted(folder)
    try:
        top = os.open(folder, _FOLDER)
    except OSError:
        return not os.path.lexists(folder)
    try:
        until = time.monotonic() + LIMIT_S
        while _sweep(top, until, mounted):
            pass
    finally:
        os.close(top)
    with suppress(OSError):
        folder.rmdir()
    return not os.path.lexists(folder)


def _mounted(folder: Path) -> frozenset[str]:
    """Return the names of a folder's entries on or in which something is mounted; None are known without /proc."""
    top = f"{os.path.realpath(folder)}/"
    with suppress(OSError), _MOUNTS.open(encoding="utf-8", errors="surrogateescape") as rows:
        places = [re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), row.split(" ")[4]) for row in rows]
        return frozenset(place[len(top) :].partition("/")[0] for place in places if place.startswith(top))
    return frozenset()


def _sweep(top: int, until: float, mounted: Collection[str] = ()) -> bool:
    """Remove or empty every entry of `top` once. Returns True if inner folders were moved up into `top`."""
    moved = False
    for name in _names(top):
        if name in mounted:
            continue
        if time.monotonic() > until:
            return False
        if _removed(name, top):
            continue
        with suppress(OSError):
            inner = os.open(name, _FOLDER, dir_fd=top)
            try:
                moved |= _lift(inner, top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)
    return moved


def _lift(inner: int, top: int) -> bool:
    """Remove the files of a folder and move its folders up into `top`. Returns True if there were any folders."""
    lifted = False
    os.fchmod(inner, stat.S_IRWXU)  # A folder that its owner may not write to cannot be emptied.
    for number, name in enumerate(_names(inner)):
        if not _removed(name, inner):
            with suppress(OSError):
                os.rename(name, f".{time.monotonic_ns():x}-{number}", src_dir_fd=inner, dst_dir_fd=top)
                lifted = True
    return lifted


def _names(folder: int) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry.name


def _removed(name: str, folder: int) -> bool:
    """Try to remove a file, a link or an empty folder. Returns True if it is removed."""
    for remove in (os.unlink, os.rmdir):
        with suppress(OSError):
            remove(name, dir_fd=folder)
            return True
    return False
