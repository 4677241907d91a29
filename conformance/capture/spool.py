"""A copy of a stored capture, in a temporary file without a name, that holds the blocks that were needed so far.

Compiled code reads it like any mapped file. The system may write it to the disk when memory is short, and nothing of it
stays behind.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from threading import Lock
from typing import IO

from conformance.capture.files import READ_AHEAD, CaptureFile, UnavailableError

AT_ONCE = 4
"""Blocks of one file that are asked for at once."""


class Spool:
    """The bytes of a stored file, as far as they were needed. It closes the file."""

    def __init__(self, file: CaptureFile) -> None:
        self._file, self._lock = file, Lock()
        self._have: set[int] = set()
        self._copy: IO[bytes] | None = None
        try:
            self._copy = tempfile.TemporaryFile(prefix="mqconform-", buffering=0)  # noqa: SIM115 - see __del__
            self._copy.truncate(file.size)
            self.map = mmap.mmap(self._copy.fileno(), file.size, access=mmap.ACCESS_READ)
        except OSError as problem:
            raise self._not_kept(problem) from None

    def __del__(self) -> None:
        self._file.close()
        if self._copy is not None:
            self._copy.close()

    def need(self, start: int, stop: int) -> None:
        """Fetch the blocks of [start, stop) that are not there yet; they are of one version of the file."""
        blocks = range(start // READ_AHEAD, -(-min(stop, self._file.size) // READ_AHEAD))
        wanted = [number for number in blocks if number not in self._have]
        if not wanted:
            return
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            list(pool.map(self._fetch, wanted))
        finally:
            pool.shutdown(cancel_futures=True)
        self._file.check()
        self._have.update(wanted)

    def intact(self) -> None:
        """Do nothing: the copy is of one version."""

    def whole(self) -> FileIO:
        """Return a reader of the whole file."""
        self.need(0, self._file.size)
        assert self._copy is not None
        found = FileIO(os.dup(self._copy.fileno()), "rb")
        found.seek(0)
        return found

    def _fetch(self, number: int) -> None:
        data = self._file.read_at(number * READ_AHEAD, READ_AHEAD)
        assert self._copy is not None
        try:
            with self._lock:
                self._copy.seek(number * READ_AHEAD)
                left = memoryview(data)
                while left:
                    left = left[self._copy.write(left) :]
        except OSError as problem:
            raise self._not_kept(problem) from None

    def _not_kept(self, problem: OSError) -> UnavailableError:
        where = tempfile.gettempdir()
        return UnavailableError(f"no copy of what is judged can be kept in {where} ({problem.strerror})")
