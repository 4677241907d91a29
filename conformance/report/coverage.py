"""How far the demands of the documents are covered: claimed, reached and discriminated, a line a section.

*claimed*: a check names the requirement. *reached*: a run judged it. *discriminated*: a fault or a mutation that breaks
it was caught. The last counts: a check that has never failed for a reason may not be able to.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.runlog import Run
from conformance.spec.catalogue import Requirement
from conformance.verdict import Json, Outcome

SELFTEST_FORMAT = 2
UNSEEN = frozenset({"none", "white-box"})
"""Ways of checking that no test can use."""

_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.SKIP, Outcome.ERROR})
_MAX_FILE = 64 << 20


class SelftestError(ValueError):
    """A file that is no record of a selftest. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Undiscriminated:
    """A checkable requirement whose check nothing has made fail, and why."""

    requirement: str
    why: str


@dataclass(frozen=True, slots=True)
class Covered:
    """One section, or all of a document (section ""). checkable: entries a test could check.

    claimed, reached, discriminated: how many of the checkable ones.
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
    """A line for each section of these requirements, after a line for its document as a whole."""
    texts: dict[str, dict[str, list[Requirement]]] = {}
    for entry in requirements:
        texts.setdefault(entry.document, {}).setdefault(entry.section, []).append(entry)
    sections = {
        document: {tuple(map(int, section.split("."))): entries for section, entries in found.items()}
        for document, found in texts.items()
    }
    sets = [frozenset(found) for found in (claimed, reached, discriminated)]

    def line(document: str, section: str, entries: Sequence[Requirement]) -> Covered:
        checkable = [entry.id for entry in entries if entry.checked not in UNSEEN]
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
    """What no fault and no mutation was caught by, of what a test could check, in order of the requirements."""
    return [
        Undiscriminated(
            entry.id,
            "a check names it; no fault or mutation was caught by it"
            if entry.id in claimed
            else f"no check names it ({entry.checked}){f': {entry.reason}' if entry.reason else ''}",
        )
        for entry in requirements
        if entry.checked not in UNSEEN and entry.id not in discriminated
    ]


def reached_by(run: Run) -> frozenset[str]:
    """The requirements a run judged: skipped and inconclusive ones are not."""
    return frozenset(
        recorded.verdict.requirement for recorded in run.verdicts if recorded.verdict.outcome not in _UNJUDGED
    )


def selftest_json(trials: Sequence[Json], version: str) -> dict[str, Json]:
    """What `mqconform selftest --out` writes; `trials` are the trials as objects."""
    return {"format": SELFTEST_FORMAT, "selftest": list(trials), "mqconform": version}


def discriminated_by(path: Path) -> frozenset[str]:
    """The requirements by which a recorded selftest caught faults. Raises SelftestError."""
    try:
        if path.stat().st_size > _MAX_FILE:
            raise SelftestError(f"{path} is larger than any record of a selftest.")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SelftestError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise SelftestError(f"{path} is no record of a selftest: it is not JSON.") from None
    try:
        if content["format"] != SELFTEST_FORMAT:
            raise SelftestError(f"{path} has format {content['format']!r}; this version reads {SELFTEST_FORMAT}.")
        return frozenset(
            str(requirement) for trial in content["selftest"] if trial["ok"] is True for requirement in trial["caught"]
        )
    except SelftestError:
        raise
    except (KeyError, TypeError):
        raise SelftestError(f"{path} is no record of a selftest; make one with mqconform selftest --out.") from None
