"""Coverage of the documents' requirements, by section: claimed, reached and discriminated; and its lines in reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from conformance.files import UnfitError, json_value, text_of
from conformance.harness.known_tests import playable
from conformance.runlog import Run
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.spec.catalogue import DOCUMENTS, NEEDS, Requirement, catalogue, current, demanded
from conformance.verdict import Json

SELFTEST_FORMAT = 2
LEFT = {
    "run": "a run that reaches it: a check names it",
    "check": "a check: none has been written yet",
    **NEEDS,
}
"""Things missing before a requirement can be judged, by name: a run, a check, or one of NEEDS in the environment."""

_MAX_FILE = 64 << 20


class SelftestError(ValueError):
    """A file that is not a record of a selftest. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Undiscriminated:
    """A checkable requirement whose check has not caught a fault or mutation, and why."""

    requirement: str
    why: str


@dataclass(frozen=True, slots=True)
class Covered:
    """Coverage of one section, or of a whole document (section ""). checkable: entries that a test could check.

    claimed, reached, discriminated: how many of the checkable entries.
    """

    document: str
    section: str
    entries: int
    checkable: int
    claimed: int
    reached: int
    discriminated: int


def coverage(
    requirements: Iterable[Requirement],
    *,
    claimed: Collection[str],
    reached: Collection[str],
    discriminated: Collection[str],
) -> list[Covered]:
    """Return a line for each document, followed by a line for each of its sections."""
    texts: dict[str, dict[str, list[Requirement]]] = {}
    for entry in requirements:
        texts.setdefault(entry.document, {}).setdefault(entry.section, []).append(entry)
    sections = {
        document: {tuple(map(int, section.split("."))): entries for section, entries in found.items()}
        for document, found in texts.items()
    }
    sets = [frozenset(found) for found in (claimed, reached, discriminated)]

    def line(document: str, section: str, entries: Sequence[Requirement]) -> Covered:
        checkable = [entry.id for entry in entries if entry.checkable]
        counts = (len(found.intersection(checkable)) for found in sets)
        return Covered(document, section, len(entries), len(checkable), *counts)

    lines = []
    for document, found in sections.items():
        lines.append(line(document, "", [entry for entries in found.values() for entry in entries]))
        lines += [line(document, found[key][0].section, found[key]) for key in sorted(found)]
    return lines


def undiscriminated(
    requirements: Iterable[Requirement], *, claimed: Collection[str], discriminated: Collection[str]
) -> list[Undiscriminated]:
    """Return the checkable requirements by which no fault and no mutation was caught, in order of the requirements."""
    return [
        Undiscriminated(
            entry.id,
            "a check names it; no fault or mutation was caught by it"
            if entry.id in claimed
            else f"no check names it ({_how(entry)}){f': {entry.reason}' if entry.reason else ''}",
        )
        for entry in requirements
        if entry.checkable and entry.id not in discriminated
    ]


def _how(entry: Requirement) -> str:
    return f"{entry.checked}, needs {entry.needs}" if entry.needs else entry.checked


def missing_counts(
    requirements: Iterable[Requirement], *, claimed: Collection[str], reached: Collection[str]
) -> dict[str, int]:
    """Count the checkable requirements that were not reached, by what is missing: all keys of LEFT, zeros too."""
    found = Counter(
        "run" if entry.id in claimed else entry.needs or "check"
        for entry in requirements
        if entry.checkable and entry.id not in reached
    )
    return {name: found[name] for name in LEFT}


def needed(found: Mapping[str, int]) -> str:
    """Format the counts of `left` on one line, without zeros: `1,644 a run, 2,654 a check, 694 directory`."""
    return ", ".join(f"{number:,} {'a ' * (name not in NEEDS)}{name}" for name, number in found.items() if number)


def reached_by(run: Run) -> frozenset[str]:
    """Return the requirements that a run judged, without those only skipped, inconclusive or in error."""
    return frozenset(said.requirement for said in run.said if said.outcome not in NO_JUDGEMENT)


def selftest_json(trials: Sequence[Json], version: str) -> dict[str, Json]:
    """Return the object that `mqconform selftest --out` writes; `trials` are the trials as objects."""
    return {"format": SELFTEST_FORMAT, "selftest": list(trials), "mqconform": version}


def discriminated_by(path: Path) -> frozenset[str]:
    """Return the requirements by which a recorded selftest caught faults. Raises SelftestError."""
    try:
        content = json_value(text_of(path, _MAX_FILE))
    except OSError as error:
        raise SelftestError(f"{path} cannot be read ({error.strerror}).") from None
    except UnfitError as error:
        raise SelftestError(f"{path} is not a record of a selftest: it {error}.") from None
    try:
        if content["format"] != SELFTEST_FORMAT:
            raise SelftestError(f"{path} has format {content['format']!r}; this version reads {SELFTEST_FORMAT}.")
        return frozenset(
            current(str(requirement))
            for trial in content["selftest"]
            if trial["ok"] is True
            for requirement in trial["caught"]
        )
    except SelftestError:
        raise
    except (KeyError, TypeError):
        raise SelftestError(f"{path} is not a record of a selftest; make one with mqconform selftest --out.") from None


FILE = "covered.json"
NOT_RUN = "not run: suite "
"""Begins the reason why a run of other suites did not judge a requirement."""


@dataclass(frozen=True, slots=True)
class Known:
    """Ids of the requirements that checks claim, and that mutations and recorded faults discriminate, without a run.

    suites: those with a test that claims a requirement, for each that is claimed; none where only a rule or the model
    judges it. uses: what else is known of what names it (`conformance.suites.requirement_uses`).
    """

    suites: Mapping[str, tuple[str, ...]]
    discriminated: frozenset[str]
    uses: Mapping[str, Mapping[str, Any]]

    @property
    def claimed(self) -> frozenset[str]:
        """Ids of the requirements that a check claims."""
        return frozenset(self.suites)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Coverage numbers of one run. documents: one line each, in the catalogue's order. total: their sum.

    claimed, discriminated: requirement ids. by_selftest: a selftest is counted beside what is known. left: how many
    requirements are not judged, by what is missing (`coverage.LEFT`).
    """

    documents: tuple[Covered, ...]
    total: Covered
    claimed: frozenset[str]
    discriminated: frozenset[str]
    by_selftest: bool
    left: Mapping[str, int]


@cache
def covered() -> Known:
    """Read `covered.json`."""
    content = json.loads(resources.files("conformance.report").joinpath(FILE).read_text(encoding="utf-8"))
    suites = {name: tuple(sorted(of.get("claims", ()))) for name, of in content.items() if of.get("claimed")}
    caught = frozenset(name for name, of in content.items() if of.get("mutated") or of.get("seen"))
    return Known(suites, caught, content)


def offered(run: Run) -> frozenset[str] | None:
    """Return the requirements with a test that needs only facets that the driver offers; None without a driver."""
    facets = (run.hello or {}).get("facets")
    if not isinstance(facets, Mapping):
        return None
    return _offered(frozenset(name for name, methods in facets.items() if methods))


@lru_cache(maxsize=64)
def _offered(facets: frozenset[str]) -> frozenset[str]:
    uses = covered().uses.items()
    return frozenset(name for name, of in uses if playable(of.get("claims", {}), facets))


def unjudged(entry: Requirement, ran: Collection[str], *, captures: bool) -> str:
    """Return why a run has no verdict on a requirement, in one line. ran: its suites. captures: it judged some."""
    suites = covered().suites.get(entry.id)
    if suites is None:
        return f"no check is written: it needs {LEFT[entry.needs]}" if entry.needs else "no check has been written yet"
    if captures:
        return "no packet of these captures brought its condition about"
    if suites and not set(suites).intersection(ran):
        return f"{NOT_RUN}{', '.join(suites)}"
    return "no call or packet of this run brought its condition about"


def numbers(run: Run, profile: str, caught: Collection[str] | None = None) -> Numbers:
    """Count claimed, reached and discriminated among the requirements that bind the profile and a test can check.

    caught: the requirements that a recorded selftest discriminated (`discriminated_by`), None without one.
    """
    claimed, caught_by = covered().claimed, discriminated(caught)
    reached = reached_by(run)
    lines = coverage(
        [entry for entry in catalogue() if entry.binds(profile)],
        claimed=claimed,
        reached=reached,
        discriminated=caught_by,
    )
    documents = {line.document: line for line in lines if not line.section}
    in_order = tuple(documents[name] for name in DOCUMENTS.values() if name in documents)
    unjudged = missing_counts(demanded(profile), claimed=claimed, reached=reached)
    return Numbers(in_order, summed(in_order), claimed, caught_by, caught is not None, unjudged)


def discriminated(caught: Collection[str] | None = None) -> frozenset[str]:
    """Return the requirements that mutations and recorded faults discriminate, and those of a selftest given beside."""
    return covered().discriminated | frozenset(caught or ())


def summed(documents: Iterable[Covered]) -> Covered:
    """Return the sum of the lines of documents."""
    lines = tuple(documents)
    return Covered(
        "All documents",
        "",
        sum(line.entries for line in lines),
        sum(line.checkable for line in lines),
        sum(line.claimed for line in lines),
        sum(line.reached for line in lines),
        sum(line.discriminated for line in lines),
    )
