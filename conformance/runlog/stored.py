"""Sequences of values that stay in the files of a record: memory holds the places of lines, values are read on demand.

The first values, as many as fit a `Room`, are kept in memory, so that a record of usual size is read only once.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from conformance.runlog.events import RecordedVerdict, RunRecordError, Story
from conformance.runlog.writer import Line, parsed
from conformance.verdict import Evidence

T = TypeVar("T")
Decode = Callable[[Mapping[str, Any]], T]

MAX_ROOM = 2 << 20
"""Bytes of lines whose values are kept in memory, per record; a value takes about five times its line."""
MAX_OPEN = 64
"""Parts that stay open; further parts are opened for each access."""
_PART = 48  # bits of an offset; the number of the part is in the bits above


class Files:
    """The open parts of a record: values can be read even after a file is renamed or removed."""

    def __init__(self) -> None:
        self._names: list[Path] = []
        self._open: list[int] = []  # of the first parts

    def add(self, file: Path) -> int:
        """Open a part and return its number. Raises RunRecordError when it cannot be read."""
        self._names.append(file)
        if len(self._open) < MAX_OPEN:
            try:
                self._open.append(os.open(file, os.O_RDONLY))
            except OSError as error:
                raise RunRecordError(f"The run record {file} cannot be read ({error.strerror}).") from None
        return len(self._names) - 1

    def event(self, place: int, length: int) -> dict[str, Any]:
        """Read the event at a place. Raises RunRecordError when the file was changed."""
        part, begin = place >> _PART, place & (1 << _PART) - 1
        try:
            if part < len(self._open):
                return parsed(os.pread(self._open[part], length, begin))
            with self._names[part].open("rb", buffering=0) as file:
                return parsed(os.pread(file.fileno(), length, begin))
        except (OSError, ValueError, RecursionError):
            raise RunRecordError(f"The run record {self._names[part]} changed while it was read; try again.") from None

    def __del__(self) -> None:
        for fd in self._open:
            os.close(fd)


@dataclass(slots=True)
class Room:
    """The rest of `MAX_ROOM`, shared by all sequences of one record."""

    left: int = MAX_ROOM

    def take(self, size: int) -> bool:
        """Use room for a line of this size in bytes. Returns False if it does not fit."""
        if self.left < size:
            return False
        self.left -= size
        return True


class Stored(Sequence[T], Generic[T]):
    """Values of one kind in the order of the record."""

    def __init__(self, files: Files, room: Room, decode: Decode[T]) -> None:
        self._files = files
        self._room = room
        self._decode = decode
        self._places = array("Q")
        self._lengths = array("I")
        self._kept: list[T] = []  # the first values
        self._standing: array[int] | None = None  # numbers of the remaining values, if some were removed

    def add(self, part: int, line: Line, value: T) -> int:
        """Store the place of a value and return its number."""
        number = len(self._places)
        self._places.append(part << _PART | line.begin)
        self._lengths.append(len(line.text))
        if len(self._kept) == number and self._room.take(len(line.text)):
            self._kept.append(value)
        return number

    def without(self, gone: set[int]) -> None:
        """Remove values by number."""
        if gone:
            self._standing = array("Q", (number for number in range(len(self._places)) if number not in gone))

    def at(self, number: int) -> T:
        """Return the value with a number that `add` returned."""
        if number < len(self._kept):
            return self._kept[number]
        return self._decode(self._files.event(self._places[number], self._lengths[number]))

    def __len__(self) -> int:
        return len(self._places if self._standing is None else self._standing)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        number = range(len(self))[index]
        return self.at(number if self._standing is None else self._standing[number])

    def __iter__(self) -> Iterator[T]:
        return map(self.at, range(len(self._places)) if self._standing is None else self._standing)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


class Verdicts(Stored[RecordedVerdict]):
    """Verdicts with the total number of times each was seen; also found by id."""

    def __init__(self, files: Files, room: Room, decode: Decode[RecordedVerdict]) -> None:
        super().__init__(files, room, decode)
        self._counts = array("Q")
        self._many: dict[int, int] = {}  # counts that are too large for the array
        self._kinds = array("I")  # by number, the kinds set by `mark`
        # A writer's ids end in a growing number: those of a part are found by bisection in its `_ends`, which begin
        # with the number of its first verdict. Ids of other forms, or out of order, are in `_odd`.
        self._prefix = ""
        self._ends = array("Q")
        self._prefixes: dict[str, tuple[int, array[int]]] = {}
        self._odd: dict[str, int] = {}

    def begin(self, worker: str) -> None:
        """Begin the part of a worker: the verdicts that follow are its own."""
        self._prefix, self._ends = f"{worker}-v", array("Q")
        self._prefixes[self._prefix] = len(self._places), self._ends

    def append(self, part: int, line: Line, value: RecordedVerdict) -> int:
        """Store the place of a verdict and return its number."""
        number = self.add(part, line, value)
        self._counts.append(0)
        self._kinds.append(0)
        self.seen(number, value.count)
        last = self._ends[-1] if self._ends else 0
        end = _end(value.id, self._prefix)
        if end > last:
            self._ends.append(end)
        else:
            self._ends.append(last)
            self._odd[value.id] = number
        return number

    def seen(self, number: int, count: int) -> None:
        """Add to the number of times that a verdict was seen."""
        total = self.count(number) + count
        if total >> 63:
            self._many[number] = total
        else:
            self._counts[number] = total

    def count(self, number: int) -> int:
        """Return the number of times that a verdict was seen."""
        return self._many.get(number, self._counts[number])

    def mark(self, number: int, kind: int) -> None:
        """Set the kind of a verdict."""
        self._kinds[number] = kind

    def kinds(self) -> Iterator[tuple[int, int]]:
        """Yield (number, kind) of each verdict, without reading it."""
        numbers = range(len(self._places)) if self._standing is None else self._standing
        return ((number, self._kinds[number]) for number in numbers)

    def named(self, name: str) -> int | None:
        """Return the number of the verdict with this id, None for an unknown one."""
        if name in self._odd:
            return self._odd[name]
        prefix = "".join(name.rpartition("-v")[:2])
        begin, ends = self._prefixes.get(prefix, (0, array("Q")))
        end = _end(name, prefix)
        found = bisect_left(ends, end)
        return begin + found if end > 0 and found < len(ends) and ends[found] == end else None

    def at(self, number: int) -> RecordedVerdict:
        """Return the verdict with a number that `append` returned."""
        found = super().at(number)
        count = self.count(number)
        return found if found.count == count else replace(found, count=count)


class Stories(Stored[Story]):
    """Stories; also found by the number of their verdict."""

    def __init__(self, files: Files, room: Room, decode: Decode[Story]) -> None:
        super().__init__(files, room, decode)
        self._of = array("Q")  # number of a verdict to number of its story plus 1; 0: none
        self._steps = array("I")

    def append(self, part: int, line: Line, value: Story, verdict: int | None) -> int:
        """Store the place of a story and return its number. verdict: number of its verdict, None if unknown."""
        number = self.add(part, line, value)
        self._steps.append(len(value.steps))
        if verdict is not None:
            self._of.extend([0] * (verdict + 1 - len(self._of)))
            self._of[verdict] = number + 1
        return number

    def number(self, verdict: int) -> int | None:
        """Return the number of a verdict's story, None if it has none."""
        return self._of[verdict] - 1 if verdict < len(self._of) and self._of[verdict] else None

    def length(self, verdict: int) -> int | None:
        """Return the number of steps of a verdict's story, None if it has none."""
        number = self.number(verdict)
        return None if number is None else self._steps[number]


@dataclass(slots=True)
class StoredEvidence(Mapping[str, Evidence]):
    """Evidence by id."""

    _stored: Stored[Evidence]
    _numbers: dict[str, tuple[int, str]] = field(default_factory=dict)

    def append(self, part: int, line: Line, value: Evidence) -> None:
        """Store the place of evidence; later evidence with the same id replaces it."""
        self._numbers[value.ref] = (self._stored.add(part, line, value), value.kind)

    def of_kind(self, kind: str) -> Iterator[Evidence]:
        """Yield all evidence of one kind."""
        return (self._stored.at(number) for number, found in list(self._numbers.values()) if found == kind)

    def count(self, kind: str) -> int:
        """Return the number of pieces of evidence of one kind."""
        return sum(found == kind for _, found in self._numbers.values())

    def __getitem__(self, name: str) -> Evidence:
        return self._stored.at(self._numbers[name][0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _end(name: str, prefix: str) -> int:
    """Return the number at the end of a verdict's id; 0 if no writer gives out such an id."""
    end = name[len(prefix) :]
    return int(end) if name.startswith(prefix) and end.isascii() and end.isdigit() and f"{int(end[:18])}" == end else 0
