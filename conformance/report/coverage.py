"""Coverage of the documents' requirements, by section: claimed, reached and discriminated.

*claimed*: a check names the requirement. *reached*: a run judged it. *discriminated*: a check caught a fault or a
mutation that breaks it. The last matters most: a check that has never failed for a reason may be unable to fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.bounded import UnfitError, json_value, text_of
from conformance.runlog import Run
from conformance.runlog.tally import NO_JUDGEMENT
from conformance.spec.catalogue import NEEDS, Requirement
from conformance.spec.renaming import current
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


def left(requirements: Iterable[Requirement], *, claimed: Collection[str], reached: Collection[str]) -> dict[str, int]:
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
