"""Coverage of situations in reports: those that a run met, of those that can be reached, and what fell out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.histories.situations.coverage import KIND, OF_OBJECTS, REASONS, Met
from conformance.report.text import label
from conformance.runlog import Run
from conformance.runlog.counts import counted
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.histories.situations.book import Book
    from conformance.histories.situations.object_book import ObjectBook
    from conformance.histories.situations.situation import Space

NOT_PLAYED: Final = "not played"
NOT_PLANNED: Final = "not planned"
WHY: Final[Mapping[str, str]] = {
    **REASONS,
    NOT_PLAYED: "the histories that meet them are not in this run: see --situations, and tests left out",
    NOT_PLANNED: "no planned history meets them, and nothing proves that none can",
}
"""Why a situation was not met, in the order in which the reasons count."""
MAX_VALUABLE: Final = 10
MAX_EVENTS: Final = 100_000
"""Evidence events that are read: a run writes a few dozen."""


class Share(NamedTuple):
    """How many situations were met, of those that can be reached."""

    met: int = 0
    of: int = 0

    @property
    def percent(self) -> int:
        """The share in percent; 100 only when all were met."""
        return 100 * self.met // self.of if self.of else 100


NONE: Final = Share()


@dataclass(frozen=True, slots=True)
class Line:
    """An operation or a section. pairs, triples: a section counts both alike."""

    name: str
    pairs: Share
    triples: Share

    @property
    def all(self) -> Share:
        """Both together."""
        return Share(self.pairs.met + self.triples.met, self.pairs.of + self.triples.of)


@dataclass(frozen=True, slots=True)
class Grid:
    """The features of one operation against each other. shares: for each feature, those with the ones before it."""

    operation: str
    features: tuple[str, ...]
    shares: tuple[tuple[Share, ...], ...]


@dataclass(frozen=True, slots=True)
class Covered:
    """The situations of a run.

    met: their numbers. digest: of the feature tables that number them. known: these tables are those of this version;
    otherwise only the numbers are known. all: met of those reachable. fell: those not met, by reason of WHY.
    unreachable: not counted in any share. failed: those not played after a failure. valuable: the pairs not met
    whose meeting would bring most, each with its reason of WHY.
    """

    met: frozenset[int]
    digest: str
    histories: int
    calls: int
    known: bool = False
    all: Share = NONE
    unreachable: int = 0
    fell: Mapping[str, int] = field(default_factory=dict)
    operations: tuple[Line, ...] = ()
    sections: tuple[Line, ...] = ()
    failed: frozenset[int] = frozenset()
    valuable: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """`10,211 of 12,000 situations met (85 %); 1,200 not played, 589 not offered.`"""
        if not self.known:
            return f"{counted(len(self.met), 'situation')} met, as another version numbers them"
        words = ", ".join(f"{number:,} {reason}" for reason, number in self.fell.items())
        told = f"{self.all.met:,} of {self.all.of:,} situations met ({self.all.percent} %)"
        return f"{told}; {words}" if words else told

    def to_json(self) -> dict[str, Json]:
        """Return the members for JSON reports."""
        return {
            "met": self.all.met if self.known else len(self.met),
            "reachable": self.all.of if self.known else None,
            "unreachable": self.unreachable if self.known else None,
            "digest": self.digest,
            "histories": self.histories,
            "calls": self.calls,
            "fell": dict(self.fell),
            "operations": [_line(line) for line in self.operations],
            "sections": [{"section": one.name, "met": one.all.met, "of": one.all.of} for one in self.sections],
            "valuable": [{"situation": name, "why": why} for name, why in self.valuable],
            "sentence": self.sentence,
        }


def _line(line: Line) -> dict[str, Json]:
    return {
        "operation": line.name,
        "pairs": {"met": line.pairs.met, "of": line.pairs.of},
        "triples": {"met": line.triples.met, "of": line.triples.of},
    }


def situations(run: Run) -> Covered | None:
    """Return the situations of a run; None for a run that played no planned history.

    Evidence that cannot be read is left out: a record is a file, and may hold anything.
    """
    return _covered(run, KIND, _of_calls)


def situations_of_objects(run: Run) -> Covered | None:
    """Return the situations of the members of objects in a run; None for a run that played no planned history of them.

    An operation is a member here, such as `MSMQQueue.Receive`.
    """
    return _covered(run, OF_OBJECTS, _of_objects)


def _covered(run: Run, kind: str, book: Callable[[], Planning]) -> Covered | None:
    met, digests = Met(), set()
    for number, item in enumerate(run.evidence_of(kind)):
        if number >= MAX_EVENTS:
            break
        try:
            met.add(Met.from_json(item.data))
        except ValueError:
            continue
        digests.add(str(item.data.get("digest", ""))[:64])
    if not digests:
        return None
    plain = Covered(frozenset(met.met), min(digests), met.played, met.calls)
    return plain if len(digests) > 1 else _counted(plain, met, book)


@dataclass(frozen=True, slots=True)
class Planning:
    """A book with the space of its situations."""

    space: Space
    book: Book | ObjectBook

    @property
    def planned(self) -> frozenset[int]:
        """The situations that the histories of the book meet, which are gone through at each call."""
        return frozenset(number for one in self.book.histories for numbers in one.met for number in numbers)


def _of_calls() -> Planning:
    from conformance.histories.situations.book import load
    from conformance.histories.situations.situation import space

    return Planning(space(), load())


def _of_objects() -> Planning:
    from conformance.histories.situations.object_book import load, space

    return Planning(space(), load())


def _planning_of(method: str) -> Planning:
    """Return the book's part for an operation, or for a member of objects."""
    from conformance.histories.situations.object_book import space

    return _of_objects() if method in space().features else _of_calls()


def _counted(plain: Covered, met: Met, book: Callable[[], Planning]) -> Covered:
    from conformance.histories.situations.book import BookError

    try:
        known = book()
    except BookError:
        return plain
    every, planned = known.space, known.planned
    if plain.digest != every.digest or max(plain.met, default=0) >= every.count:
        return plain
    unreachable = frozenset(known.book.unreachable) - plain.met
    left = set(range(every.count)) - plain.met - unreachable
    missed: dict[int, str] = {}
    reasons = {**{reason: met.fell.get(reason, set()) for reason in REASONS}, NOT_PLAYED: planned, NOT_PLANNED: left}
    for reason, numbers in reasons.items():
        missed |= dict.fromkeys(left & numbers, reason)
        left = left - numbers
    counts = Counter(missed.values())
    found = _Shares(every, plain.met, unreachable)
    return Covered(
        plain.met,
        plain.digest,
        plain.histories,
        plain.calls,
        known=True,
        all=found.share(range(every.count)),
        unreachable=len(unreachable),
        fell={reason: counts[reason] for reason in reasons if counts[reason]},
        operations=tuple(found.operations()),
        sections=tuple(found.sections()),
        failed=frozenset(met.fell.get("not played after a failure", ())),
        valuable=tuple(_valuable(every, missed)),
    )


def _valuable(every: Space, missed: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs that most situations not met consist of, the most first, with the reason why they were not."""
    worth: Counter[int] = Counter()
    for method in every.features:
        worth.update(number for number in every.pairs(method) if number in missed)
        if method in every.core:
            worth.update(part for number, parts in every.parts(method) if number in missed for part in parts)
    for number in sorted((one for one in worth if one in missed), key=lambda one: (-worth[one], one))[:MAX_VALUABLE]:
        yield str(every.situation(number)), missed[number]


@dataclass(slots=True)
class _Shares:
    every: Space
    met: frozenset[int]
    unreachable: frozenset[int]

    def share(self, numbers: Iterable[int]) -> Share:
        """Count among these numbers."""
        met = of = 0
        for number in numbers:
            if number in self.met:
                met += 1
            elif number in self.unreachable:
                continue
            of += 1
        return Share(met, of)

    def operations(self) -> Iterator[Line]:
        """Yield a line for each operation."""
        every = self.every
        for method in every.features:
            pairs, whole = every.pairs(method), every.of_method(method)
            if whole:
                yield Line(method, self.share(pairs), self.share(range(pairs.stop, whole.stop)))

    def sections(self) -> Iterator[Line]:
        """Yield a line for each section whose steps the features of some situation come from."""
        from conformance.spec.catalogue import catalogue

        every, known = self.every, catalogue().requirements
        found: dict[tuple[str, str], list[Share]] = {}
        for method in every.features:
            for numbers, features in every.groups(method):
                share = self.share(numbers)
                steps = {step for feature in features for step in feature.steps if step in known}
                for place in {(known[step].document, known[step].section) for step in steps}:
                    found.setdefault(place, []).append(share)
        for (document, section), shares in sorted(found.items(), key=_in_order):
            whole = Share(sum(share.met for share in shares), sum(share.of for share in shares))
            yield Line(f"{document} {section}", whole, NONE)


def _in_order(item: tuple[tuple[str, str], list[Share]]) -> tuple[str, list[tuple[int, str]]]:
    (document, section), _ = item
    return document, [(int(part) if part.isdecimal() else 0, part) for part in section.split(".")]


def grids(covered: Covered) -> Iterator[Grid]:
    """Yield the grid of each operation with at least two features."""
    from conformance.histories.situations.book import load
    from conformance.histories.situations.situation import space

    every = space()
    found = _Shares(every, covered.met, frozenset(load().unreachable) - covered.met)
    for method, table in every.features.items():
        names = tuple(feature.name for feature in table)
        cells: dict[tuple[str, str], Share] = {}
        for numbers, features in every.groups(method):
            if len(features) == 2:
                cells[features[1].name, features[0].name] = found.share(numbers)
        shares = tuple(tuple(cells[name, other] for other in names[:place]) for place, name in enumerate(names))
        if cells:
            yield Grid(method, names, shares)


def missing(covered: Covered, method: str) -> Iterator[str]:
    """Yield the names of the pairs of an operation, or of a member, that can be reached and were not met."""
    known = _planning_of(method)
    for number in known.space.pairs(method):
        if number not in covered.met and number not in known.book.unreachable:
            yield ", ".join(f"{name}={value}" for name, value in known.space.situation(number).values)


def by_operation(numbers: Iterable[int], digest: str) -> dict[str, list[str]]:
    """Return the names of situations by operation; those of tables that are not this version's as numbers."""
    from conformance.histories.situations.situation import space

    every = space()
    if digest != every.digest:
        named = [f"situation {number}" for number in numbers]
        return {"situations": named} if named else {}
    found: dict[str, list[str]] = {}
    for number in numbers:
        if number < every.count:
            one = every.situation(number)
            found.setdefault(one.method, []).append(", ".join(f"{name}={value}" for name, value in one.values))
    return found


MAX_MISSING = 20
"""Pairs listed below a grid; `mqconform situations cover` lists them all."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A line of the page. grid: place of its grid among the page's data, None for none."""

    name: str
    percent: int
    pairs: str
    triples: str
    grid: int | None


@dataclass(frozen=True, slots=True)
class Planned:
    """The section of the page. grids: operation, features, shares of each with those before it, pairs never met."""

    sentence: str
    known: bool
    unreachable: int
    fell: tuple[tuple[str, int, str], ...]
    operations: tuple[Operation, ...]
    sections: tuple[tuple[str, int, int], ...]
    grids: tuple[tuple[Json, ...], ...]


def planned_of(run: Run) -> Planned | None:
    """Return the section; None for a run without planned histories."""
    covered = situations(run)
    if covered is None:
        return None
    drawn = tuple(_grids(covered)) if covered.known else ()
    places = {str(grid[0]): place for place, grid in enumerate(drawn)}
    return Planned(
        label(covered.sentence),
        covered.known,
        covered.unreachable,
        tuple((reason, number, WHY[reason]) for reason, number in covered.fell.items()),
        tuple(_operation(line, places.get(line.name)) for line in covered.operations),
        tuple((line.name, line.all.met, line.all.of) for line in covered.sections),
        drawn,
    )


def _grids(covered: Covered) -> list[tuple[Json, ...]]:
    return [
        (
            grid.operation,
            list(grid.features),
            [[[share.met, share.of] for share in shares] for shares in grid.shares],
            list(islice(missing(covered, grid.operation), MAX_MISSING)),
        )
        for grid in grids(covered)
    ]


def _operation(line: Line, grid: int | None) -> Operation:
    return Operation(line.name, line.all.percent, _told(line.pairs, "pairs"), _told(line.triples, "triples"), grid)


def _told(share: Share, what: str) -> str:
    return f"{share.met:,} of {share.of:,} {what}" if share.of else ""
