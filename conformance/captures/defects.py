"""Defects of the harness that end the judging of a capture: the error, its place in the capture, and how to report it.

A failure on one capture does not affect the others: it becomes a defect of the harness, and they are judged.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any, ParamSpec, Protocol, TypeVar

from conformance import __version__
from conformance.capture import CaptureError, Frame
from conformance.capture.files import UnavailableError
from conformance.capture.records import MAGICS, Record
from conformance.judge.sessions.context import Seen
from conformance.verdict import Json

DEFECT = "defect"
"""The kind of evidence for a defect of the harness, in the form of `Defect.to_json`."""

MAX_TRACE = 20
"""Lines of a trace that are kept: the innermost ones."""

MAX_TEXT = 500
"""Characters kept of an exception's text."""

_PACKAGE = Path(__file__).parents[1]
_FILE_HEADER = 24

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a capture. packet, record: counted from 1, None if unknown."""

    packet: int | None = None
    record: int | None = None


@dataclass(frozen=True, slots=True)
class Defect:
    """A defect of the harness that ended the judging of a capture.

    path: the capture. error: class of the exception. says: its text. trace: the calls, the innermost last. packet,
    record: the place in the capture, from 1. offset: of that record in the file, in bytes; None if unknown, as in a
    compressed file.
    """

    path: str
    error: str
    says: str = ""
    trace: tuple[str, ...] = ()
    packet: int | None = None
    record: int | None = None
    offset: int | None = None

    @classmethod
    def of(cls, error: Exception, path: str, *, records_before: int = 0) -> Defect:
        """Make a defect of an exception. records_before: records of the stream in the files before this one."""
        place = place_of(error)
        record = None if place.record is None else place.record - records_before
        trace = deque((_line(frame, number) for frame, number in walk_tb(error.__traceback__)), maxlen=MAX_TRACE)
        says = "" if isinstance(error, RecursionError) else str(error)[:MAX_TEXT]
        offset = None if record is None else offset_of(path, record)
        return cls(path, type(error).__name__, says, tuple(trace), place.packet, record, offset)

    @property
    def where(self) -> str:
        """The place in the capture in words."""
        places = ((self.packet, "packet"), (self.record, "record"), (self.offset, "byte"))
        return ", ".join(f"{word} {number}" for number, word in places if number is not None) or "an unknown place"

    @property
    def cut(self) -> str:
        """The last place that was judged, in a few words."""
        return f"judged up to {self.where} only, because of a defect of mqconform ({self.error})"

    @property
    def sentence(self) -> str:
        """A sentence that names the capture, how far it was judged, and what to do."""
        source = f" at {self.trace[-1]}" if self.trace else ""
        return (
            f"{self.path} was {self.cut}{source}; what was judged before counts. Please report it, with the capture if"
            " you can."
        )

    def to_json(self) -> dict[str, Json]:
        """Return everything that a report of the defect needs."""
        return {
            "path": self.path,
            "packet": self.packet,
            "record": self.record,
            "offset": self.offset,
            "error": self.error,
            "says": self.says,
            "trace": list(self.trace),
            "version": __version__,
        }


class Troubled(Protocol):
    """A receiver of the reason why a capture could not be read or judged to its end."""

    def unreadable(self, sentence: str) -> None:
        """Note that the capture cannot be read, or not to its end."""

    def broken(self, defect: Defect) -> None:
        """Note that the capture hit a defect of the harness."""


@dataclass(slots=True)
class Trouble:
    """The first reason why a capture could not be read or judged to its end.

    again: the file changed, or its store failed: it can be judged whole at another time, and what was judged of it now
    does not count.
    """

    unread: str | None = None
    defect: Defect | None = None
    again: bool = False

    def unreadable(self, sentence: str) -> None:
        """Note that the capture cannot be read, or not to its end."""
        self.unread = self.unread or sentence

    def broken(self, defect: Defect) -> None:
        """Note that the capture hit a defect of the harness."""
        self.defect = self.defect or defect

    @property
    def cut(self) -> str | None:
        """The reason in a few words, None without any."""
        return self.defect.cut if self.defect is not None else self.unread

    @property
    def record(self) -> int:
        """The record at which the judging stopped, 0 if unknown."""
        return self.defect.record or 0 if self.defect is not None else 0


class Outside:
    """Watches callbacks of the caller: their exceptions are no defects of the judging, and end it."""

    def __init__(self) -> None:
        self._raised: Exception | None = None

    def calls(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, watched."""

        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                self._raised = error
                raise

        return called

    def raised(self, error: Exception) -> bool:
        """Tell whether one of the watched calls raised this exception."""
        return error is self._raised


@contextmanager
def contained(
    path: str,
    told: Troubled,
    *,
    outside: Outside | None = None,
    through: tuple[type[Exception], ...] = (),
    records_before: int = 0,
) -> Iterator[None]:
    """Report any exception from within to `told` instead of raising it; Ctrl-C and the end of the process pass.

    outside: watched calls whose exceptions pass. through: further exceptions that pass. records_before: records of the
    stream in the files before this one.
    """
    try:
        yield
    except CaptureError as error:
        told.unreadable(str(error))
    except Exception as error:
        if isinstance(error, through) or (outside is not None and outside.raised(error)):
            raise
        if isinstance(error, OSError):
            told.unreadable(f"{path} cannot be read any further: {error.strerror or error}.")
            if isinstance(told, Trouble):
                told.again = told.again or isinstance(error, UnavailableError)
        else:
            told.broken(Defect.of(error, path, records_before=records_before))


def place_of(error: Exception) -> Place:
    """Return the place of an exception in a capture: that of the outermost call with a packet or record as argument."""
    for frame, _ in walk_tb(error.__traceback__):
        code = frame.f_code
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            place = _place(name, frame.f_locals.get(name))
            if place is not None:
                return place
    return Place()


def offset_of(path: str, number: int) -> int | None:
    """Return the offset of a record in a classic pcap file; None for another file, and after damage."""
    try:
        with Path(path).open("rb") as file:
            found = MAGICS.get(file.read(4))
            if found is None:
                return None
            order, _, header = found
            at = _FILE_HEADER
            for _ in range(number - 1):
                file.seek(at)
                at += header + int(struct.unpack(f"{order}8xI{header - 12}x", file.read(header))[0])
            file.seek(at)
            return at if file.read(1) else None
    except (OSError, ValueError, struct.error):
        return None


def _place(name: str, value: Any) -> Place | None:
    """Return the place that an argument gives."""
    if isinstance(value, Record):
        return Place(None, value.number)
    if isinstance(value, Seen):
        value = value.frame
    if isinstance(value, Frame):
        return Place(value.number, value.record)
    return Place(None, value) if name == "record" and isinstance(value, int) else None


def _line(frame: FrameType, number: int) -> str:
    """Format a call without the folders of this machine."""
    file = Path(frame.f_code.co_filename)
    name = file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name
    return f"{name}:{number} in {frame.f_code.co_name}"
