"""Reads captures that still grow: a file that is waited on at its end, and a pipe that may fall silent."""

from __future__ import annotations

import io
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

POLL_S = 0.2
GRACE_S = 1.0  # Time to flush for a writer that is stopped together with the reader.


class Stop:
    """The end of following: on request, or after a time budget. budget_s: seconds from now; None: no limit."""

    def __init__(self, budget_s: float | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = None if budget_s is None else clock() + budget_s
        self.renewed = False
        """The followed file is another one now, or began anew."""

    def tell(self, grace_s: float = 0.0) -> None:
        """Stop in `grace_s` seconds."""
        self._until = self._clock() + grace_s

    @property
    def over(self) -> bool:
        """True when following has to stop."""
        return self._until is not None and self._clock() >= self._until


class Following(io.RawIOBase):
    """A raw file that waits for more data at its end until `stop` is over.

    A file that becomes shorter (to be written anew) has ended, and so has one in whose place another stands.
    """

    def __init__(
        self, raw: IO[bytes], stop: Stop, *, path: Path | None = None, wait: Callable[[float], object] = time.sleep
    ) -> None:
        self._raw, self._path = raw, path
        self._stop = stop
        self._wait = wait

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        while True:
            count: int = self._raw.readinto(buffer)  # type: ignore[attr-defined]
            if count or self._stop.over:
                return count
            if self._stop.renewed:  # What came before that was noticed has been read now.
                return 0
            self._stop.renewed = self._shorter() or self._replaced()
            if self._stop.renewed:
                continue
            self._wait(POLL_S)

    def _replaced(self) -> bool:
        if self._path is None:
            return False
        with suppress(OSError):  # There may be none for a while.
            return not os.path.samestat(os.fstat(self._raw.fileno()), self._path.stat())
        return False

    def _shorter(self) -> bool:
        at = self._raw.tell()
        end = self._raw.seek(0, io.SEEK_END)
        self._raw.seek(at)
        return end < at


class Piped(io.RawIOBase):
    """A pipe or terminal, read as data comes; it ends when the writer closes it, or when `stop` is over."""

    def __init__(self, raw: IO[bytes], stop: Stop) -> None:
        self._raw = raw
        self._stop = stop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        while not self._ready():
            if self._stop.over:
                return 0
        count: int = self._raw.readinto(buffer)  # type: ignore[attr-defined]
        return count

    def _ready(self) -> bool:
        if os.name == "nt":  # Windows can only wait for sockets: a read simply blocks.
            return True
        return bool(select.select([self._raw], [], [], POLL_S)[0])
