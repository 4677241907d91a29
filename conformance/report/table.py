"""The roll-up used by every report: requirement to worst outcome, requirements by document section, and their tree."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import resources
from weakref import ref

from conformance.harness.guarded_client import NOT_OFFERED
from conformance.report.coverage import offered, unjudged
from conformance.report.standing import incomplete_because
from conformance.report.text import label
from conformance.runlog import Run, Said
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.runlog.run import as_recorded, left_out
from conformance.spec.catalogue import DOCUMENTS, Requirement, catalogue, demanded_ids, profile_of
from conformance.spec.versions import LEVELS
from conformance.verdict import ExitCode, Json, Outcome, exit_code, of_requirement, worst


def section_title(document: str, number: str) -> str:
    """Return the heading of this section (`MS-MQDMPR`, `3.2.7.3`), or an empty string if it has none."""
    return _titles().get(document, {}).get(number, "")


@cache
def _titles() -> dict[str, dict[str, str]]:
    text = resources.files("conformance.report").joinpath("titles.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP})
"""Outcomes that neither pass nor deviate. A harness error does neither too, but is a problem."""
REFUTED = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
"""Outcomes that mean the implementation deviates."""
PROBLEMS = REFUTED | {Outcome.ERROR}
"""Outcomes that somebody has to look at."""
UNSEALED = "The run record has no checksums: it was made before there were any, and damage may go unseen."
"""The note on a run whose record has no checksums."""


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """One requirement. outcome: roll-up of its verdicts, None if the run has none. seen: verdicts, repeats included;
    met: those that judge, so that the condition of the demand came about; unmet: those that skip it.

    demand: its entry in the catalogue, None for an id that the catalogue does not have (a record of another version).
    reason: the reason of a verdict with that outcome, None if none has one; without a verdict, why
    there is none. demanded: it counts in the denominator (`conformance.spec.catalogue`); all do but
    ids of other versions and requirements that do not bind the profile.
    """

    id: str
    document: str
    section: str
    demand: Requirement | None
    outcome: Outcome | None
    seen: int
    suites: tuple[str, ...]
    reason: str | None
    demanded: bool
    met: int = 0
    unmet: int = 0

    @property
    def judged(self) -> bool:
        """At least one verdict is neither skip nor inconclusive nor error."""
        return self.met > 0

    @property
    def refused(self) -> bool:
        """The driver lacks a method or a value for it, though not the whole facet."""
        return self.outcome is Outcome.SKIP and str(self.reason).startswith(NOT_OFFERED)


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a document, or several folded into their parent."""

    document: str
    number: str
    title: str
    rows: tuple[RequirementRow, ...]

    @property
    def outcome(self) -> Outcome | None:
        """The roll-up of its requirements, None if none has a verdict."""
        return worst(row.outcome for row in self.rows if row.outcome is not None)

    @property
    def counts(self) -> Counter[Outcome]:
        """Requirements by outcome."""
        return Counter(row.outcome for row in self.rows if row.outcome is not None)

    @property
    def judged(self) -> int:
        """Requirements of the denominator that this run judged."""
        return counted(self.rows)

    @property
    def demanded(self) -> int:
        """Requirements of the denominator."""
        return sum(row.demanded for row in self.rows)

    @property
    def passed(self) -> int:
        """Requirements of the denominator whose worst outcome is pass."""
        return sum(row.demanded and row.outcome is Outcome.PASS for row in self.rows)


@dataclass(frozen=True, slots=True)
class Table:
    """The whole roll-up.

    rows: every requirement that has a verdict or is in the denominator. demanded: the denominator, the same for every
    run of the profile. judged: how many of it this run judged (coverage reached). beside: how many others this run
    judged, which are not in the denominator. covers: those of it that what the driver offers covers
    (`coverage.offered`), and those judged without; None without a driver.
    partly_refused: the driver lacks methods or values of a facet that it offers.
    """

    profile: str
    sections: tuple[Section, ...]
    rows: tuple[RequirementRow, ...]
    judged: int
    demanded: int
    beside: int
    covers: frozenset[str] | None = None
    partly_refused: bool = False

    @property
    def offered(self) -> int | None:
        """How many requirements `covers` has."""
        return None if self.covers is None else len(self.covers)

    @property
    def of(self) -> int:
        """The number that `judged` is first compared with: what the offered facets cover, or all."""
        return self.demanded if self.offered is None else self.offered

    @property
    def counts(self) -> dict[Outcome, int]:
        """Requirements by outcome, worst first, only outcomes that occurred."""
        seen = Counter(row.outcome for row in self.rows)
        return {outcome: seen[outcome] for outcome in Outcome if seen[outcome]}


HEADLINES = {
    ExitCode.CONFORMS: "No deviation found",
    ExitCode.DEVIATES: "Does not conform",
    ExitCode.HARNESS_ERROR: "The harness failed",
    ExitCode.NOTHING_JUDGED: "Nothing was judged",
}
"""The headline of a run, by the exit code of its verdicts."""


def _judged(run: Run) -> ExitCode:
    return exit_code((said.outcome for said in run.said), strict=run.header.reading_set == "strict")


def conclusion(run: Run) -> ExitCode:
    """Return the run's exit code, judged by what the record holds; captures that are incomplete prove less."""
    return run.incomplete.exit_code(_judged(run))


def headline(run: Run) -> str:
    """Return the conclusion in words, followed by the tests that were left out.

    If captures are incomplete and nothing deviates, it begins with `Incomplete: `. If the run ended early and nothing
    deviates, it says `No deviation found in what was judged`.
    """
    said, left = HEADLINES[_judged(run)], left_out(run)
    if conclusion(run) is ExitCode.BAD_INPUT:
        said = f"Incomplete: {said[0].lower()}{said[1:]} in what could be read"
    elif run.complete and incomplete_because(run) is not None and said == HEADLINES[ExitCode.CONFORMS]:
        said = f"{said} in what was judged"
    stand = as_recorded(run)
    if stand:
        said += f"; {stand:,} {'requirement stands' if stand == 1 else 'requirements stand'} as recorded"
    return said if left is None else f"{said}; {label(left.sentence.rstrip('.'), 1_000)}"


def whole(run: Run) -> bool:
    """Tell whether the record is complete and no test was left out."""
    return run.complete and left_out(run) is None


_latest: tuple[ref[Run], Table] | None = None


def roll_up(run: Run) -> Table:
    """Return the roll-up of this run against the installed catalogue.

    The roll-up of the latest run is cached, because a run is often written in several formats one after the other.
    """
    global _latest
    if _latest is not None and _latest[0]() is run:
        return _latest[1]
    table = _rolled_up(run)
    _latest = (ref(run), table)
    return table


def _rolled_up(run: Run) -> Table:
    profile = profile_of(run.header.profile)
    by_requirement: dict[str, list[Said]] = {}
    for said in run.said:
        by_requirement.setdefault(said.requirement, []).append(said)
    known = catalogue().requirements
    wanted = demanded_ids(profile)
    why = partial(unjudged, ran=frozenset(said.suite for said in run.said), captures=bool(run.header.captures))
    rows = sorted(
        (
            _row(name, known.get(name), by_requirement.get(name, []), name in wanted, why)
            for name in {*wanted, *by_requirement}
        ),
        key=place,
    )
    covers = offered(run)
    refused = frozenset(row.id for row in rows if row.demanded and row.refused and covers and row.id in covers)
    answerable = (covers or frozenset()) - refused
    grouped: dict[tuple[str, str], list[RequirementRow]] = {}
    for row in rows:
        grouped.setdefault((row.document, row.section), []).append(row)
    return Table(
        profile=profile,
        sections=tuple(
            Section(document, number, section_title(document, number), tuple(members))
            for (document, number), members in grouped.items()
        ),
        rows=tuple(rows),
        judged=counted(rows),
        demanded=len(wanted),
        beside=sum(row.judged and not row.demanded for row in rows),
        covers=None
        if covers is None
        else frozenset(row.id for row in rows if row.demanded and (row.judged or row.id in answerable)),
        partly_refused=bool(refused),
    )


def counted(rows: Iterable[RequirementRow]) -> int:
    """Count the requirements of the denominator that are judged."""
    return sum(row.judged and row.demanded for row in rows)


def judged_counts(table: Table) -> str:
    """Return how many requirements are judged, first of those that the offered facets cover: for a line of a report."""
    if table.offered is None:
        return f"{table.judged:,} of {table.demanded:,} requirements of {table.profile} judged"
    covers = f"{table.judged:,} of {table.offered:,} requirements judged for the facets offered"
    return f"{covers} ({table.demanded:,} of {table.profile} in all)"


def judged_words(table: Table) -> str:
    """Return the requirements that are judged, of those demanded, by outcome; and by outcome those that were only
    looked at, where the facets offered cover them. The first ones add up to `table.judged`."""
    rows = [row for row in table.rows if row.demanded and row.outcome is not None]
    rows = [row for row in rows if table.covers is None or row.id in table.covers]
    judged, looked_at = (Counter(row.outcome for row in rows if row.judged is wanted) for wanted in (True, False))
    parts = [", ".join(f"{some[one]:,} {one.value}" for one in Outcome if some[one]) for some in (judged, looked_at)]
    return f"{parts[0] or 'none'}; beside them {parts[1]}" if parts[1] else parts[0] or "none"


def folded(sections: Sequence[Section], at_most: int) -> list[Section]:
    """Fold the sections into about `at_most`; the smallest families of subsections are folded first."""
    rows: dict[tuple[str, str], list[RequirementRow]] = {(one.document, one.number): list(one.rows) for one in sections}
    while len(rows) > at_most:
        families: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for document, number in rows:
            # Chapters stay apart: a table of whole chapters would tell nothing.
            if number.count(".") >= 2:
                families.setdefault((document, number.rpartition(".")[0]), []).append((document, number))
        if not families:
            break
        parent = min(families, key=lambda name: (sum(len(rows[child]) for child in families[name]), name))
        folded_rows = [*rows.pop(parent, []), *(row for child in families[parent] for row in rows.pop(child))]
        rows[parent] = folded_rows
    return [
        Section(document, number, section_title(document, number), tuple(rows[document, number]))
        for document, number in sorted(rows, key=lambda name: section_place(*name))
    ]


def worst_of(said: Sequence[Said]) -> tuple[Outcome | None, str | None]:
    """Return the roll-up of these verdicts, and a reason given with that outcome, None if none is given."""
    outcome = of_requirement(one.outcome for one in said)
    return outcome, next((one.reason for one in said if one.outcome is outcome and one.reason), None)


def _row(
    name: str, demand: Requirement | None, verdicts: Sequence[Said], demanded: bool, why: Callable[[Requirement], str]
) -> RequirementRow:
    document, section = (demand.document, demand.section) if demand else _from_id(name)
    if not verdicts:
        reason = why(demand) if demand else None
        return RequirementRow(name, document, section, demand, None, 0, (), reason, demanded)
    outcome, reason = worst_of(verdicts)
    return RequirementRow(
        id=name,
        document=document,
        section=section,
        demand=demand,
        outcome=outcome,
        seen=sum(said.seen for said in verdicts),
        suites=tuple(sorted({said.suite for said in verdicts})),
        reason=reason,
        demanded=demanded,
        met=sum(said.seen for said in verdicts if said.outcome not in NO_JUDGEMENT),
        unmet=sum(said.seen for said in verdicts if said.outcome is Outcome.SKIP),
    )


_ID = re.compile(r"(?P<document>[A-Z]{2,8})-(?P<section>\d+(?:\.\d+)*)\..+", re.DOTALL)


def _from_id(name: str) -> tuple[str, str]:
    """Return the document and section that an id names; an id of unknown form belongs to no document."""
    match = _ID.fullmatch(name)
    prefixes: Mapping[str, str] = DOCUMENTS
    if match is None or match["document"] not in prefixes:
        return "unknown", ""
    return prefixes[match["document"]], match["section"]


def place(row: RequirementRow) -> tuple[int, tuple[int, ...], str]:
    """Return the sort key of a requirement: document, section, id."""
    return *section_place(row.document, row.section), row.id


def section_place(document: str, number: str) -> tuple[int, tuple[int, ...]]:
    """Return the sort key of a section: the document's place in the catalogue, and the numbers."""
    return _document_rank(document), _numbers(number)


_RANKS = {document: rank for rank, document in reversed(list(enumerate(DOCUMENTS.values())))}


def _document_rank(document: str) -> int:
    return _RANKS.get(document, len(DOCUMENTS))


@lru_cache(maxsize=4096)
def _numbers(section: str) -> tuple[int, ...]:
    # An id of a foreign record may hold a number of any length: ten digits are more than any section has.
    return tuple(int(part[:10]) for part in section.split(".") if part)


MAX_DEPTH = 8
"""Levels of the tree, by parts of a section number: no document has more, but an id of a foreign record may."""
MAX_ROWS = 2_000
"""Requirements listed under one section; no section of the documents has as many."""
SITE = "https://learn.microsoft.com/en-us/openspecs/windows_protocols/"
"""The site of the documents; the address of a section cannot be derived from its number."""


@dataclass(frozen=True, slots=True)
class Node:
    """One section. rows: its own requirements, worst first, at most MAX_ROWS; more: how many are left out.

    children: its subsections. counts, judged, total: of everything in it.
    """

    number: str
    title: str
    rows: tuple[RequirementRow, ...]
    more: int
    children: tuple[Node, ...]
    counts: Mapping[Outcome, int]
    judged: int
    total: int

    @property
    def outcome(self) -> Outcome | None:
        """The roll-up of everything in it, None if nothing in it has a verdict."""
        return worst(self.counts)

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, in the order of the document."""
        yield self
        for child in self.children:
            yield from child.walk()


def trees(sections: Iterable[Section]) -> dict[str, tuple[Node, ...]]:
    """Return the chapters by document. A section that contains only one subsection is replaced by it."""
    found: dict[str, dict[tuple[str, ...], list[RequirementRow]]] = {}
    for section in sections:
        parts = tuple(label(part, 20) for part in section.number.split("."))[:MAX_DEPTH]
        found.setdefault(section.document, {}).setdefault(parts, []).extend(section.rows)
    return {document: _children(document, (), members) for document, members in found.items()}


def _children(
    document: str, above: tuple[str, ...], members: Mapping[tuple[str, ...], Sequence[RequirementRow]]
) -> tuple[Node, ...]:
    depth = len(above)
    inner: dict[tuple[str, ...], dict[tuple[str, ...], Sequence[RequirementRow]]] = {}
    for parts, rows in members.items():
        if len(parts) > depth:
            inner.setdefault(parts[: depth + 1], {})[parts] = rows
    return tuple(_node(document, name, each) for name, each in inner.items())


def _node(document: str, parts: tuple[str, ...], members: Mapping[tuple[str, ...], Sequence[RequirementRow]]) -> Node:
    children = _children(document, parts, members)
    own = sorted(members.get(parts, ()), key=lambda row: row.outcome.rank if row.outcome else len(Outcome))
    if not own and len(children) == 1:
        return children[0]
    counts = Counter(row.outcome for row in own if row.outcome)
    for child in children:
        counts.update(child.counts)
    number = ".".join(parts)
    return Node(
        number,
        section_title(document, number) or ("Not in this version's catalogue" if not number else ""),
        tuple(own[:MAX_ROWS]),
        max(0, len(own) - MAX_ROWS),
        children,
        counts,
        counted(own) + sum(child.judged for child in children),
        sum(row.demanded for row in own) + sum(child.total for child in children),
    )


def address(document: str) -> str | None:
    """Return the web address of a document, None for an unknown one."""
    return f"{SITE}{document.lower()}" if document in DOCUMENTS.values() else None


def readings_of(chosen: Mapping[str, Sequence[str]], followed: Mapping[str, str]) -> list[Json]:
    """Return the readings for a page: id, title, how sure, [alternative, meaning] pairs, accepted, followed."""
    return [
        [
            entry.id,
            entry.title,
            entry.sure,
            [[name, meaning] for name, meaning in entry.alternatives.items()],
            [label(name, 100) for name in chosen.get(entry.id, ())],
            label(followed[entry.id], 200) if entry.id in followed else None,
        ]
        for entry in catalogue().readings.values()
    ]


def touching() -> dict[str, list[int]]:
    """Return requirement id to the indexes of the readings that affect it."""
    found: dict[str, list[int]] = {}
    for at, entry in enumerate(catalogue().readings.values()):
        for name in entry.requirements:
            found.setdefault(name, []).append(at)
    return found


def outcome_rank(outcome: Outcome | None) -> int:
    """Return the outcome's rank, -1 for none."""
    return -1 if outcome is None else outcome.rank


def level_rank(row: RequirementRow) -> int:
    """Return the level's index in LEVELS, -1 for a requirement that the catalogue does not have."""
    return LEVELS.index(row.demand.level) if row.demand else -1
