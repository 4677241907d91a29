"""The coverage numbers of a report, one line a document; every report format takes them from here.

The requirements that checks claim, and those that mutations of packets and sessions discriminate, are the same for all
runs of a version and take seconds to compute: `python -m tools.covered` writes them to `covered.json`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from conformance.report.coverage import LEFT, Covered, coverage, left, reached_by
from conformance.runlog import Run
from conformance.spec.catalogue import DOCUMENTS, Requirement, catalogue
from conformance.spec.demanded import demanded

FILE = "covered.json"


@dataclass(frozen=True, slots=True)
class Known:
    """Ids of the requirements that checks claim and that mutations discriminate; independent of any run.

    suites: those with a test that claims a requirement, for each that is claimed; none where only a rule or the model
    judges it.
    """

    suites: Mapping[str, tuple[str, ...]]
    mutated: frozenset[str]

    @property
    def claimed(self) -> frozenset[str]:
        """Ids of the requirements that a check claims."""
        return frozenset(self.suites)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Coverage numbers of one run. documents: one line each, in the catalogue's order. total: their sum.

    claimed, discriminated: requirement ids. by_selftest: a selftest is counted beside the mutations. left: how many
    requirements are not judged, by what is missing (`coverage.LEFT`).
    """

    documents: tuple[Covered, ...]
    total: Covered
    claimed: frozenset[str]
    discriminated: frozenset[str]
    by_selftest: bool
    left: Mapping[str, int]


@cache
def known() -> Known:
    """Read `covered.json`."""
    content = json.loads(resources.files("conformance.report").joinpath(FILE).read_text(encoding="utf-8"))
    groups = content["claimed"].items()
    suites = {name: tuple(filter(None, of.split(","))) for of, names in groups for name in names}
    return Known(suites, frozenset(content["mutated"]))


def unjudged(entry: Requirement, ran: Collection[str], *, captures: bool) -> str:
    """Return why a run has no verdict on a requirement, in one line. ran: its suites. captures: it judged some."""
    suites = known().suites.get(entry.id)
    if suites is None:
        return f"no check is written: it needs {LEFT[entry.needs]}" if entry.needs else "no check has been written yet"
    if captures:
        return "no packet of these captures brought its condition about"
    if suites and not set(suites).intersection(ran):
        return f"not run: suite {', '.join(suites)}"
    return "no call or packet of this run brought its condition about"


def numbers(run: Run, profile: str, caught: Collection[str] | None = None) -> Numbers:
    """Count claimed, reached and discriminated among the requirements that bind the profile and a test can check.

    caught: the requirements that a recorded selftest discriminated (`discriminated_by`), None without one.
    """
    claimed, caught_by = known().claimed, discriminated(caught)
    reached = reached_by(run)
    lines = coverage(
        [entry for entry in catalogue() if entry.binds(profile)],
        claimed=claimed,
        reached=reached,
        discriminated=caught_by,
    )
    documents = {line.document: line for line in lines if not line.section}
    in_order = tuple(documents[name] for name in DOCUMENTS.values() if name in documents)
    unjudged = left(demanded(profile), claimed=claimed, reached=reached)
    return Numbers(in_order, summed(in_order), claimed, caught_by, caught is not None, unjudged)


def discriminated(caught: Collection[str] | None = None) -> frozenset[str]:
    """Return the requirements that mutations discriminate, and those that a recorded selftest did, if there is one."""
    return known().mutated | frozenset(caught or ())


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
