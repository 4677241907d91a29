"""Read lines from a file descriptor, waiting at most for a given time."""

from __future__ import annotations

import os
import select

_CHUNK = 1 << 16


class ArrivingLines:
    """The lines of a descriptor. too_long: true after a line longer than `longest` bytes, which ends them."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor = descriptor
        self._longest = longest
        self._lines: list[bytes] = []  # the next one last
        self._rest = b""
        self._ended = False
        self.too_long = False

    def next(self, within_s: float | None = None) -> bytes:
        """Return the next line; empty at the end, or if a time (in seconds) is given and passes without a line."""
        while not self._lines:
            if self._ended:
                line, self._rest = self._rest, b""
                return line
            if within_s is not None and not select.select([self._descriptor], [], [], within_s)[0]:
                return b""
            self._read()
        return self._lines.pop()

    def _read(self) -> None:
        chunk = os.read(self._descriptor, _CHUNK)
        if not chunk:
            self._ended = True
            return
        if b"\n" not in chunk and len(self._rest) < self._longest:
            self._rest += chunk
            return
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        self._lines = [line + b"\n" for line in reversed(lines)]
        if any(len(line) > self._longest + 1 for line in self._lines) or len(self._rest) > self._longest:
            self._ended = self.too_long = True
            self._lines, self._rest = [], b""
