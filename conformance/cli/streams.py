"""Repairs of a command's standard streams: closed ones, readers that go away, and terminals without a valid width."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_WIDTHS = range(20, 10_001)
"""Valid values of COLUMNS and LINES. Programs that do not know the size set 0."""


class CannotWrite(BaseException):
    """Results cannot be written to stdout; the message says why. A BaseException passes every `except Exception`."""


class _Patient(io.TextIOWrapper):
    """A standard stream that survives the end of its reader: `mqconform ... | head` still gives the exit code."""

    results = False

    def write(self, text: str, /) -> int:
        return self._try(lambda: super(_Patient, self).write(text)) or len(text)

    def flush(self) -> None:
        self._try(super().flush)

    def _try(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except OSError as error:
            # Discard what is still buffered, so that nothing fails again when the process exits.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if self.results and not isinstance(error, BrokenPipeError):
                raise CannotWrite(error.strerror) from None
            return None


def mend() -> None:
    """Repair the streams of a command, before it opens any file.

    Closed streams are opened, so that no file of ours gets their number: stdin is empty, stderr is discarded, and
    writing a result to stdout fails. stdout and stderr tolerate a reader that goes away and characters that their
    encoding lacks. Progress that cannot be written is dropped.
    """
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)  # gets the lowest free number, which is this one
            os.set_inheritable(opened, True)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None or (isinstance(stream, io.TextIOWrapper) and not isinstance(stream, _Patient)):
            raw = io.BufferedWriter(io.FileIO(number if stream is None else stream.fileno(), "w", closefd=False))
            kind, lines = ("utf-8", True) if stream is None else (stream.encoding, stream.line_buffering)
            patient = _Patient(raw, encoding=kind, errors="backslashreplace", line_buffering=lines)
            patient.results = name == "stdout"
            setattr(sys, name, patient)
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "")
        if told and not (told.isascii() and told.isdigit() and len(told) < 6 and int(told) in _WIDTHS):
            del os.environ[name]
