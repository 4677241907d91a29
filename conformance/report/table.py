"""The roll-up every report starts from: requirement to worst outcome, requirements by document section, coverage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import ref

from conformance.report.titles import section_title
from conformance.runlog import RecordedVerdict, Run
from conformance.spec.catalogue import DOCUMENTS, Requirement, catalogue
from conformance.spec.versions import DEFAULT_PROFILE, PROFILES
from conformance.verdict import ExitCode, Outcome, exit_code, worst

UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP})
"""Outcomes that say nothing about the implementation."""
REFUTED = frozenset({Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY})
"""Outcomes that say the implementation deviates."""
PROBLEMS = REFUTED | {Outcome.ERROR}
"""Outcomes that somebody has to look at."""
OUT_OF_REACH = frozenset({"none", "white-box"})
"""Kinds of check that no run can make: they are not in the denominator."""


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement. outcome: roll-up of its verdicts, None when this run has none. seen: verdicts, repeats included.

    demand: its entry in the catalogue, None for an id the catalogue does not have (a record of another version).
    reason: the reason given with a verdict of that outcome, None when none was.
    """

    id: str
    document: str
    section: str
    demand: Requirement | None
    outcome: Outcome | None
    seen: int
    suites: tuple[str, ...]
    reason: str | None

    @property
    def judged(self) -> bool:
        """Whether this run says something about it."""
        return self.outcome is not None and self.outcome not in UNJUDGED


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a document, or several folded into the one above them."""

    document: str
    number: str
    title: str
    rows: tuple[Row, ...]

    @property
    def outcome(self) -> Outcome | None:
        """The roll-up of its requirements, None when none has a verdict."""
        return worst(row.outcome for row in self.rows if row.outcome is not None)

    @property
    def counts(self) -> Counter[Outcome]:
        """Requirements by outcome."""
        return Counter(row.outcome for row in self.rows if row.outcome is not None)

    @property
    def judged(self) -> int:
        """Requirements this run says something about."""
        return sum(row.judged for row in self.rows)


@dataclass(frozen=True, slots=True)
class Table:
    """The whole roll-up.

    rows: every requirement that has a verdict, or that binds the profile and that a run can check. judged: how many
    of them this run says something about (coverage reached). demanded: how many they are.
    """

    profile: str
    sections: tuple[Section, ...]
    rows: tuple[Row, ...]
    judged: int
    demanded: int

    @property
    def counts(self) -> dict[Outcome, int]:
        """Requirements by outcome, worst first, only outcomes that occurred."""
        seen = Counter(row.outcome for row in self.rows)
        return {outcome: seen[outcome] for outcome in Outcome if seen[outcome]}


def conclusion(run: Run) -> ExitCode:
    """What the verdicts of this run say. An incomplete record concludes from what it holds."""
    return exit_code((recorded.verdict.outcome for recorded in run.verdicts), strict=run.header.reading_set == "strict")


_latest: tuple[ref[Run], Table] | None = None


def roll_up(run: Run) -> Table:
    """The roll-up of this run against the catalogue that is installed.

    That of the latest run is remembered: a run is told in several forms, one after the other.
    """
    global _latest
    if _latest is not None and _latest[0]() is run:
        return _latest[1]
    table = _rolled_up(run)
    _latest = (ref(run), table)
    return table


def _rolled_up(run: Run) -> Table:
    profile = run.header.profile if run.header.profile in PROFILES else DEFAULT_PROFILE
    by_requirement: dict[str, list[RecordedVerdict]] = {}
    for recorded in run.verdicts:
        by_requirement.setdefault(recorded.verdict.requirement, []).append(recorded)
    known = catalogue().requirements
    demanded = [demand for demand in known.values() if demand.binds(profile) and demand.checked not in OUT_OF_REACH]
    names = {demand.id for demand in demanded} | set(by_requirement)
    rows = sorted((_row(name, known.get(name), by_requirement.get(name, [])) for name in names), key=place)
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row.document, row.section), []).append(row)
    return Table(
        profile=profile,
        sections=tuple(
            Section(document, number, section_title(document, number), tuple(members))
            for (document, number), members in grouped.items()
        ),
        rows=tuple(rows),
        judged=sum(row.judged for row in rows),
        demanded=len(rows),
    )


def folded(sections: Sequence[Section], at_most: int) -> list[Section]:
    """The same requirements in about `at_most` sections: the smallest families of subsections are folded first."""
    rows: dict[tuple[str, str], list[Row]] = {(one.document, one.number): list(one.rows) for one in sections}
    while len(rows) > at_most:
        families: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for document, number in rows:
            # Chapters stay apart: a table of whole chapters would say nothing.
            if number.count(".") >= 2:
                families.setdefault((document, number.rpartition(".")[0]), []).append((document, number))
        if not families:
            break
        parent = min(families, key=lambda name: (sum(len(rows[child]) for child in families[name]), name))
        folded_rows = [*rows.pop(parent, []), *(row for child in families[parent] for row in rows.pop(child))]
        rows[parent] = folded_rows
    return [
        Section(document, number, section_title(document, number), tuple(rows[document, number]))
        for document, number in sorted(rows, key=lambda name: (_document_rank(name[0]), _numbers(name[1])))
    ]


def suites_of(verdicts: Iterable[RecordedVerdict]) -> tuple[str, ...]:
    """The suites these verdicts come from, sorted."""
    return tuple(sorted({recorded.suite for recorded in verdicts}))


def _row(name: str, demand: Requirement | None, verdicts: Sequence[RecordedVerdict]) -> Row:
    document, section = (demand.document, demand.section) if demand else _from_id(name)
    if not verdicts:
        return Row(name, document, section, demand, None, 0, (), None)
    outcome = worst(recorded.verdict.outcome for recorded in verdicts)
    reasons = (recorded.verdict.reason for recorded in verdicts if recorded.verdict.outcome is outcome)
    return Row(
        id=name,
        document=document,
        section=section,
        demand=demand,
        outcome=outcome,
        seen=sum(recorded.count for recorded in verdicts),
        suites=suites_of(verdicts),
        reason=next(filter(None, reasons), None),
    )


_ID = re.compile(r"(?P<document>[A-Z]{2,8})-(?P<section>\d+(?:\.\d+)*)\..+", re.DOTALL)


def _from_id(name: str) -> tuple[str, str]:
    """Document and section as an id names them; an id of no known form belongs to no document."""
    match = _ID.fullmatch(name)
    prefixes: Mapping[str, str] = DOCUMENTS
    if match is None or match["document"] not in prefixes:
        return "unknown", ""
    return prefixes[match["document"]], match["section"]


def place(row: Row) -> tuple[int, tuple[int, ...], str]:
    """Where a requirement stands: the documents' order, the sections', then the ids'."""
    return _document_rank(row.document), _numbers(row.section), row.id


_RANKS = {document: rank for rank, document in reversed(list(enumerate(DOCUMENTS.values())))}


def _document_rank(document: str) -> int:
    return _RANKS.get(document, len(DOCUMENTS))


@lru_cache(maxsize=4096)
def _numbers(section: str) -> tuple[int, ...]:
    # An id of a foreign record may hold a number of any length: ten digits are more than any section has.
    return tuple(int(part[:10]) for part in section.split(".") if part)
