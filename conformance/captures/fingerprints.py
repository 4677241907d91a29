"""Fingerprints of the judged files: size and SHA-256 of each, computed while they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from threading import Event, Thread
from typing import Any

_PIECE = 1 << 20


def size_of(path: str | Path) -> int | None:
    """Return the size of a file in bytes; None if it does not exist or is not a regular file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found.st_size if S_ISREG(found.st_mode) else None


def fingerprint(path: str | Path, stop: Event | None = None) -> dict[str, Any] | None:
    """Return size in bytes and SHA-256 of a file; None if it cannot be read, or when told to stop.

    A pipe has neither: bytes that are read here would be missing from the judging.
    """
    total, digest, piece = 0, sha256(), bytearray(_PIECE)
    try:
        if not S_ISREG(Path(path).stat().st_mode):
            return None
        with Path(path).open("rb", buffering=0) as file:
            while count := file.readinto(piece):
                if stop is not None and stop.is_set():
                    return None
                total += count
                digest.update(memoryview(piece)[:count])
    except OSError:
        return None
    return {"bytes": total, "sha256": digest.hexdigest()}


class Fingerprints:
    """The fingerprints of several files, from a thread of its own: hashing releases the interpreter's lock."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._found: dict[str, dict[str, Any] | None] = {}
        self._stop = Event()
        self._thread = Thread(target=self._find, args=(tuple(paths),), name="fingerprints", daemon=True)
        self._thread.start()

    def _find(self, paths: Sequence[str]) -> None:
        for path in paths:
            if self._stop.is_set():
                return
            self._found[path] = fingerprint(path, self._stop)

    def found(self) -> dict[str, dict[str, Any] | None]:
        """Wait for all fingerprints and return them by path."""
        self._thread.join()
        return self._found

    def give_up(self) -> None:
        """Tell the thread to stop, and wait for its end."""
        self._stop.set()
        self._thread.join()
