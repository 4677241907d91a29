"""The lines of a part, each sealed with a checksum over all lines so far, so that any change is found.

The *seal* of a line is the CRC-32 of every line of the part up to and including this one, without seals and line ends.
It is eight hexadecimal digits in the last member of the line's object. A flipped bit is always found; a removed,
doubled or moved line almost always. A seal is not a signature: anybody who edits a record can seal it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from conformance.runlog.events import MAX_LINE, RunRecordError

SEALED_BY = "crc32"
"""The value of the header's member `sealed`."""
_MEMBER = b',"seal":"'
_TAIL = len(_MEMBER) + 8 + len(b'"}\n')


class Chain(NamedTuple):
    """The checksum of a part's lines so far. value: their CRC-32. lines: their number."""

    value: int = 0
    lines: int = 0

    def after(self, body: bytes) -> Chain:
        """Return the chain with one more line. body: its object as JSON, without its seal."""
        return Chain(crc32(body, self.value), self.lines + 1)

    @property
    def seal(self) -> str:
        """The seal of the last line."""
        return f"{self.value:08x}"

    def sealed(self, body: bytes) -> bytes:
        """Return the last line as written to the file. body: its object as JSON, without its seal."""
        return b"".join((body[:-1], _MEMBER, self.seal.encode("ascii"), b'"}\n'))

    def checked(self, line: bytes) -> Chain:
        """Return the chain with a line read from the file. Raises ValueError when its seal is wrong."""
        begin = len(line) - _TAIL
        if begin < 1:
            raise ValueError("a line without a seal")
        value = crc32(b"}", crc32(memoryview(line)[:begin], self.value))
        found = Chain(value, self.lines + 1)
        if line[begin:] != b"".join((_MEMBER, found.seal.encode("ascii"), b'"}\n')):
            raise ValueError("the checksum does not fit")
        return found


def is_sealed(line: bytes) -> bool:
    """True if a line has a seal, right or wrong."""
    return line[-_TAIL:].startswith(_MEMBER)


def parsed(line: bytes) -> dict[str, Any]:
    """Parse the object of a line. Raises ValueError or RecursionError if it is not one, or has a name twice."""
    value = _DECODER.decode(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("a line that is not an object")
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name that is given twice")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once)


class Line(NamedTuple):
    """One line of a file. number: from 1. begin: its offset in bytes. ended: False if its line end is missing."""

    number: int
    begin: int
    text: bytes
    ended: bool


def lines(file: Path) -> Iterator[Line]:
    """Yield the lines of a file. Raises RunRecordError when it cannot be read, or a line is too long."""
    try:
        with file.open("rb") as stream:
            number = begin = 0
            while text := stream.readline(MAX_LINE + 1):
                number += 1
                if len(text) > MAX_LINE:
                    raise RunRecordError(f"{file} is not a run record: line {number} is longer than any it can hold.")
                yield Line(number, begin, text, text.endswith(b"\n"))
                begin += len(text)
    except OSError as error:
        raise RunRecordError(f"The run record {file} cannot be read ({error.strerror}).") from None
