"""The contents of a lake, as values for its report, bounded whatever the size of the lake.

A *subject* is what is judged: the sender of packets in captures (`wire`), the implementation in run records (`run`). A
verdict against a subject *refutes* (fail, crash, timeout, flaky) or is *noted* (warn, reading, inconclusive, error). A
day without either is clean if the requirement was judged on the subject that day or, where passes were counted for all
senders together, if it was judged and the subject was present.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal

from conformance.runlog import Incomplete
from conformance.runlog.events import REFUTING
from conformance.verdict import Outcome

Kind = Literal["wire", "run"]
KINDS: Final[tuple[Kind, ...]] = ("wire", "run")
Pair = tuple[Kind, str, str]
"""Kind, subject, requirement."""
How = tuple[str, str, str]
"""Profile, level and set of readings: only runs of the same are compared."""

UNKNOWN_DAY: Final = date(1970, 1, 1)
"""The day of rows without a time."""
BAD: Final = frozenset(outcome.value for outcome in Outcome if outcome in REFUTING)
NOTED: Final = frozenset({"error", "inconclusive", "reading", "warn"})
JUDGED: Final = BAD | {"reading", "warn", "pass"}
"""Outcomes that mean the requirement was judged at all."""
MOST_BUCKETS: Final = 60
"""Days drawn side by side; a longer time is drawn in groups of days."""


def refuting(counts: Mapping[str, int]) -> int:
    """Return the verdicts that refute."""
    return sum(number for outcome, number in counts.items() if outcome in BAD)


def noted(counts: Mapping[str, int]) -> int:
    """Return the verdicts that are noted."""
    return sum(number for outcome, number in counts.items() if outcome in NOTED)


@dataclass(frozen=True, slots=True)
class Span:
    """The days drawn. first, last: None in a lake without a known day. width: days drawn as one."""

    first: date | None = None
    last: date | None = None
    width: int = 1

    @classmethod
    def of(cls, days: Sequence[date]) -> Span:
        """Make the span from the first to the last of these days, in at most MOST_BUCKETS."""
        if not days:
            return cls()
        return cls(min(days), max(days), -(-((max(days) - min(days)).days + 1) // MOST_BUCKETS))

    @property
    def buckets(self) -> int:
        """The number of buckets drawn."""
        if self.first is None or self.last is None:
            return 0
        return (self.last - self.first).days // self.width + 1

    def bucket(self, day: date) -> int:
        """Return the bucket of a day."""
        return (day - self.first).days // self.width if self.first is not None else 0

    def day(self, at: int) -> date:
        """Return the first day of a bucket."""
        return (self.first or UNKNOWN_DAY) + timedelta(days=at * self.width)

    def name(self, at: int) -> str:
        """Return a bucket in words: its day, or its first and last day."""
        begin = self.day(at)
        end = begin + min(timedelta(days=self.width - 1), (self.last or begin) - begin)
        return begin.isoformat() if end <= begin else f"{begin.isoformat()} to {end.isoformat()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The number of verdicts by outcome. first, last: days with an outcome other than pass."""

    counts: Mapping[str, int] = field(default_factory=dict)
    first: date | None = None
    last: date | None = None

    @property
    def bad(self) -> int:
        """Verdicts that refute."""
        return refuting(self.counts)

    @property
    def noted(self) -> int:
        """Verdicts that are noted."""
        return noted(self.counts)

    @property
    def passed(self) -> int:
        """Verdicts that are a pass."""
        return self.counts.get("pass", 0)

    @property
    def worst(self) -> str:
        """The roll-up."""
        return min(self.counts, key=lambda one: Outcome(one).rank, default="none")


@dataclass(frozen=True, slots=True)
class Course:
    """One requirement of one subject through the days. days: day to (refuting, noted) verdicts; (0, 0) is clean."""

    kind: Kind
    subject: str
    requirement: str
    days: dict[date, tuple[int, int]]

    @property
    def bad(self) -> int:
        """The number of refuting verdicts on all days."""
        return sum(bad for bad, _ in self.days.values())

    @property
    def noted(self) -> int:
        """The number of noted verdicts on all days."""
        return sum(noted for _, noted in self.days.values())

    @property
    def bad_days(self) -> list[date]:
        """Days with a refuting verdict."""
        return sorted(day for day, (bad, _) in self.days.items() if bad)

    @property
    def clean_days(self) -> list[date]:
        """Days without a refuting or noted verdict."""
        return sorted(day for day, said in self.days.items() if said == (0, 0))

    @property
    def standing(self) -> bool:
        """The requirement is refuted on the last day."""
        return self.days[max(self.days)][0] > 0

    @property
    def since(self) -> date | None:
        """The first day of the present or latest trouble: the first refuted day after the last clean one before it."""
        bad = self.bad_days
        before = max((day for day in self.clean_days if bad and day < bad[-1]), default=date.min)
        return next((day for day in bad if day > before), None)

    @property
    def change(self) -> str | None:
        """`new`: was clean, is refuted now. `again`: also refuted before. `gone`: was refuted, is clean now.

        None if it never changed, or if the last day is neither refuted nor clean.
        """
        bad, clean, since = self.bad_days, self.clean_days, self.since
        if since is None or not clean:
            return None
        if self.standing:
            return None if clean[0] > since else "again" if bad[0] < since else "new"
        return "gone" if clean[-1] > bad[-1] else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Said):
    """All verdicts on one subject. refuted: how many requirements are; standing: how many of them on their last day.

    days: its refuting verdicts.
    """

    kind: Kind
    name: str
    refuted: int
    standing: int
    regressions: int
    days: Mapping[date, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand(Said):
    """All verdicts on one requirement. subjects: how many were refuted."""

    requirement: str
    subjects: int = 0
    standing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Said):
    """All verdicts on packets to one queue. requirements: the most frequent first."""

    queue: str
    requirements: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a deviation. place: the capture or run record. when: its day. text: subject of the verdict.

    readings: those assumed, each with the alternative.
    """

    kind: Kind
    outcome: str
    text: str
    who: str | None
    queue: str | None
    place: str
    when: date
    expected: str | None
    actual: str | None
    reason: str | None
    readings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """A file that was not read, or in part. cut: where it ends within a record."""

    day: date
    path: str
    says: str
    cut: str = ""


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

    verdicts: how many. senders: of packets. implementations: with the version.
    """

    reading: str
    alternative: str
    verdicts: int
    senders: int
    implementations: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The contents of a lake at one version of its log; all sequences are worst first.

    trend: by kind and day, verdicts by outcome. refuted: by kind and day, the number of refuted requirements. traffic:
    by day, the number of packets. courses: the pairs with a refuting or noted verdict. examples: requirement to its
    first and its last deviation. versions: by implementation, in their order. shifts: the latest first.
    """

    place: str
    version: int
    made: datetime = field(default_factory=lambda: datetime.now(UTC))
    span: Span = field(default_factory=Span)
    totals: Mapping[str, int] = field(default_factory=dict)
    trend: Mapping[tuple[Kind, date], Counter[str]] = field(default_factory=dict)
    refuted: Mapping[tuple[Kind, date], int] = field(default_factory=dict)
    traffic: Mapping[date, int] = field(default_factory=dict)
    subjects: Sequence[Subject] = ()
    demands: Sequence[Demand] = ()
    courses: Mapping[Pair, Course] = field(default_factory=dict)
    queues: Sequence[Queue] = ()
    queues_in_all: int = 0
    examples: Mapping[str, Sequence[Example]] = field(default_factory=dict)
    sessions: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    handed_over: Mapping[str, int] = field(default_factory=dict)
    incomplete: Incomplete = field(default_factory=Incomplete)
    damaged: Sequence[File] = ()
    damaged_in_all: int = 0
    rejected: Sequence[File] = ()
    rejected_in_all: int = 0
    how: Sequence[tuple[str, str, str, str]] = ()
    versions: Sequence[Version] = ()
    shifts: Sequence[Shift] = ()
    readings: Sequence[Followed] = ()

    @property
    def verdicts(self) -> Counter[str]:
        """Verdicts by outcome."""
        return sum(self.trend.values(), Counter())

    def changes(self) -> list[Course]:
        """Return the courses that are new or again, the latest first, then those that are gone."""
        found = [course for course in self.courses.values() if course.change is not None]
        rank = {"new": 0, "again": 0, "gone": 1}
        return sorted(
            found,
            key=lambda one: (rank[one.change or ""], -(one.since or date.min).toordinal(), -one.bad, one.requirement),
        )

    def shifted(self, version: Version, change: str) -> list[Shift]:
        """Return what changed so with a version."""
        mine = version.implementation, version.how, version.name, change
        return [one for one in self.shifts if (one.implementation, one.how, one.after, one.change) == mine]


_NUMBER: Final = re.compile(r"v?(\d{1,9}(?:\.\d{1,9})*)(.*)", re.ASCII | re.DOTALL)


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
