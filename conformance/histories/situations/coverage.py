"""The situations that a run met, and those it was to meet and did not, as a run record keeps them.

A test adds to the record what no test of its worker had met before, so the record grows with what is new alone.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from conformance.verdict import Json

KIND: Final = "situations"
"""The kind of the evidence events that hold them."""
OF_OBJECTS: Final = "situations of objects"
"""The kind of those that hold the situations of the members of objects."""
MAX_NUMBERS: Final = 1 << 21
"""Situations that a record may name; a record is a file, and may hold anything."""

NOT_OFFERED: Final = "not offered"
FAILED: Final = "not played after a failure"
OTHERWISE: Final = "not played after an answer by another reading"
CUT: Final = "cut by the time"
REASONS: Final[Mapping[str, str]] = {
    NOT_OFFERED: "the driver lacks a method, a feature or a clock that it needs",
    FAILED: "an earlier answer of its history was wrong, or the driver went away",
    OTHERWISE: "an answer followed another accepted reading, and the rest of its history made no sense any more",
    CUT: "the run had no time left, or found as many deviations as it was to find",
}
"""Why a planned situation was not met, for readers of reports."""


@dataclass(slots=True)
class Met:
    """Situations some histories met. fell: planned, not met, by reason of REASONS. played, calls: how many of them."""

    met: set[int] = field(default_factory=set)
    fell: dict[str, set[int]] = field(default_factory=dict)
    played: int = 0
    calls: int = 0

    def falls(self, reason: str, numbers: Iterable[int]) -> None:
        """Note that planned situations were not met."""
        self.fell.setdefault(reason, set()).update(numbers)

    def add(self, other: Met) -> None:
        """Add what other histories met."""
        self.met |= other.met
        for reason, numbers in other.fell.items():
            self.falls(reason, numbers)
        self.played += other.played
        self.calls += other.calls

    def since(self, before: Met) -> Met:
        """Return what is new, where another part of the record has told of `before`."""
        fell = {reason: numbers - before.fell.get(reason, set()) for reason, numbers in self.fell.items()}
        return Met(self.met - before.met, fell, self.played, self.calls)

    def to_json(self) -> dict[str, Json]:
        """Return the members for the record."""
        return {
            "met": packed(self.met),
            "fell": {reason: packed(numbers) for reason, numbers in sorted(self.fell.items()) if numbers},
            "played": self.played,
            "calls": self.calls,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Met:
        """The inverse of `to_json`. Raises ValueError for a value that it does not write."""
        fell, played, calls = value.get("fell"), value.get("played"), value.get("calls")
        if not isinstance(fell, Mapping) or type(played) is not int or type(calls) is not int or min(played, calls) < 0:
            raise ValueError("no situations of a run")
        told = {reason: unpacked(numbers) for reason, numbers in fell.items() if reason in REASONS}
        return cls(unpacked(value.get("met")), told, played, calls)


def packed(numbers: Iterable[int]) -> str:
    """Return numbers as a short text: the steps from each to the next, in bytes of seven bits, compressed."""
    raw, before = bytearray(), 0
    for number in sorted(numbers):
        step, before = number - before, number
        while step > 0x7F:
            raw.append(step & 0x7F | 0x80)
            step >>= 7
        raw.append(step)
    return base64.b64encode(zlib.compress(bytes(raw), 9)).decode("ascii")


def unpacked(text: Json) -> set[int]:
    """Return the numbers of a text of `packed`. Raises ValueError for any other text, and for too many numbers."""
    if not isinstance(text, str):
        raise ValueError("no text of numbers")
    try:
        stream = zlib.decompressobj()
        raw = stream.decompress(base64.b64decode(text, validate=True), MAX_NUMBERS * 2)
    except (zlib.error, binascii.Error) as error:
        raise ValueError(f"no text of numbers: {error}") from None
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("too many numbers, or a text that is cut")
    numbers: set[int] = set()
    at = step = shift = 0
    for byte in raw:
        step |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            at += step
            numbers.add(at)
            step = shift = 0
        if at > MAX_NUMBERS or shift > 28:
            raise ValueError("a number that no situation has")
    return numbers
