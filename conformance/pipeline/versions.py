"""The versions of implementations in run records, their order, and the readings that everybody follows: values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Literal

How = tuple[str, str, str]
"""Profile, level and set of readings: only runs of the same are compared."""
_NUMBER: Final = re.compile(r"v?(\d{1,9}(?:\.\d{1,9})*)(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an implementation. name: as its driver reports it, empty if it does not.

    verdicts: of all its runs, by outcome. requirements: number of them by worst outcome, each in the last run that
    judged it.
    """

    implementation: str
    how: How
    name: str
    runs: int
    first: date
    last: date
    verdicts: Mapping[str, int] = field(default_factory=dict)
    requirements: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shift:
    """A requirement that is clean in one version and refuted in the next one that judged it, or the other way round."""

    change: Literal["regressed", "mended"]
    implementation: str
    how: How
    requirement: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Followed:
    """One alternative of a reading, and who conforms under it.

    verdicts: how many. senders: of packets; more: there are further ones. implementations: with the version.
    """

    reading: str
    alternative: str
    verdicts: int
    senders: int
    more: bool
    implementations: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Trends:
    """The versions by implementation in their order, the changes with the latest first, and the readings."""

    versions: Sequence[Version] = ()
    shifts: Sequence[Shift] = ()
    readings: Sequence[Followed] = ()


def order(names: Mapping[str, date]) -> list[str]:
    """Return versions, oldest first. names: each with the day of its first run.

    If all of them begin with a number, the numbers decide (2.9 before 2.10, 3.0-rc1 before 3.0); otherwise the days.
    """
    found = {name: _NUMBER.fullmatch(name) for name in names}
    if all(found.values()):
        return sorted(names, key=lambda name: (_key(found[name]), names[name], name))
    return sorted(names, key=lambda name: (names[name], name))


def _key(found: Any) -> tuple[tuple[int, ...], int]:
    numbers = [int(one) for one in found[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()  # 2.0 is 2
    rest = found[2].lower()
    early = re.match(r"[-._]?(a|alpha|b|beta|rc|dev|pre)", rest) is not None
    return tuple(numbers), -1 if early else int(bool(rest))
