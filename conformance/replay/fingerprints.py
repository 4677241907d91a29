"""Which files were judged: size and SHA-256 of each, found out while they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from threading import Event, Thread
from typing import Any

_PIECE = 1 << 20


def fingerprint(path: str | Path, stop: Event | None = None) -> dict[str, Any] | None:
    """Size in bytes and SHA-256 of a file; None for one that cannot be read, or when told to stop.

    A pipe has neither: what is read of it here would be missing where it is judged.
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
    """Those of several files, from a thread of its own: hashing needs no lock of the interpreter, as judging does."""

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
        """By path, when all are there."""
        self._thread.join()
        return self._found

    def give_up(self) -> None:
        """End the thread, before long."""
        self._stop.set()
        self._thread.join()
