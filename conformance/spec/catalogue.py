"""The catalogue of requirements, readings and findings: ids, former ids, selectors, and what can be judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from conformance.spec.compiled import Entries, load
from conformance.spec.entries import (
    CHECKED,
    DISPOSITIONS,
    DOCUMENTS,
    NEEDS,
    NONE_REASONS,
    CatalogueError,
    Reading,
    Requirement,
    SpecFinding,
    did_you_mean,
    suspicions,
)
from conformance.spec.versions import DEFAULT_PROFILE, PROFILES, READING_SETS


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements, readings and findings by id."""

    requirements: Mapping[str, Requirement]
    readings: Mapping[str, Reading]
    findings: Mapping[str, SpecFinding]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements.values())


@cache
def catalogue() -> Catalogue:
    """Return the catalogue shipped with the package, loaded once. Raises CatalogueError when its data is wrong."""
    rows = load()
    return Catalogue(
        Entries(Requirement, rows["requirement"]),
        Entries(Reading, rows["reading"]),
        Entries(SpecFinding, rows["finding"]),
    )


def requirement_id(name: str) -> str:
    """Return `name` if the catalogue has it. Raises CatalogueError with the nearest id otherwise."""
    known = catalogue().requirements
    if name not in known:
        raise CatalogueError(f"no requirement {name}{did_you_mean(name, known)}")
    return name


def requirement(name: str) -> Requirement:
    """Return the requirement with this id. Raises CatalogueError with the nearest id if there is none."""
    return catalogue().requirements[requirement_id(name)]


def reading_id(name: str) -> str:
    """Return `name` if the register of readings has it. Raises CatalogueError with the nearest id otherwise."""
    known = catalogue().readings
    if name not in known:
        raise CatalogueError(f"no reading {name}{did_you_mean(name, known)}")
    return name


def assignment(reading_set: str, chosen: Mapping[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return the alternatives of each reading that a reading set accepts, the default first.

    chosen: reading id to the alternative, or several as `a|b`, accepted in place of those of the set. Raises
    CatalogueError with the nearest name for an unknown set, reading or alternative.
    """
    if reading_set not in READING_SETS:
        raise CatalogueError(f"no reading set {reading_set}{did_you_mean(reading_set, READING_SETS)}")
    accepted = {reading.id: reading.defaults[reading_set] for reading in catalogue().readings.values()}
    for name, alternative in (chosen or {}).items():
        accepted[reading_id(name)] = tuple(alternative_of(name, word) for word in alternative.split("|"))
    return accepted


def alternative_of(reading: str, alternative: str) -> str:
    """Return `alternative` if the reading has it. Raises CatalogueError with the nearest one otherwise."""
    known = catalogue().readings[reading_id(reading)].alternatives
    if alternative not in known:
        hint = did_you_mean(alternative, known) or f"; it has {', '.join(known)}"
        raise CatalogueError(f"no alternative {alternative} of {reading}{hint}")
    return alternative


def chosen_readings(words: Iterable[str]) -> dict[str, str]:
    """Parse `ID=alternative` words (or `ID=a|b`, to accept several) to a mapping.

    Raises CatalogueError for a word of another form, an unknown name, or a contradiction.
    """
    chosen: dict[str, str] = {}
    for word in words:
        name, mark, alternative = (part.strip() for part in word.partition("="))
        if not mark:
            raise CatalogueError(f"no choice of a reading in {word!r}; write ID=alternative")
        for each in alternative.split("|"):
            alternative_of(name, each)
        if chosen.setdefault(name, alternative) != alternative:
            raise CatalogueError(f"no run reads {name} both as {chosen[name]} and as {alternative}")
    return chosen


NAMING = frozenset({"requirement", "shows"})
"""Members of stored examples and repro files that contain a requirement's id."""


@cache
def aliases() -> Mapping[str, str]:
    """Return former id to current id."""
    return {old: entry.id for entry in catalogue() for old in entry.aliases}


def current(name: str) -> str:
    """Return the current id of a requirement; an unknown name is returned unchanged."""
    # Current ids are checked first, because collecting the aliases reads every entry of the catalogue.
    return name if name in catalogue().requirements else aliases().get(name, name)


def former(name: str) -> tuple[str, ...]:
    """Return every id of a requirement that older files may contain: its own and its former ones."""
    return (name, *(old for old, new in aliases().items() if new == name))


def current_rule(name: str) -> str:
    """Return the current id of a rule: the requirement's, followed by `/word` if it has several rules."""
    requirement, slash, word = name.partition("/")
    return f"{current(requirement)}{slash}{word}"


def in_current_words(value: Any) -> Any:
    """Return a stored JSON value with every requirement's id replaced by the current one."""
    if isinstance(value, list):
        return [in_current_words(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: current(each) if name in NAMING and isinstance(each, str) else in_current_words(each)
        for name, each in value.items()
    }


_WORD = re.compile(r"\.[a-z][a-z-]*$")


def selected(selector: str) -> list[Requirement]:
    """Return the requirements that a selector matches. Raises CatalogueError with the nearest one if none matches."""
    found = [entry for entry in catalogue() if in_section(entry, selector)]
    if not found:
        hint = did_you_mean(selector.rstrip("*."), _candidates(selector)) or "."
        raise CatalogueError(f"No requirement matches {selector!r}{hint}")
    return found


def _candidates(selector: str) -> list[str]:
    """Return possible corrections of a selector that matches nothing. Within an existing document, a chapter or pattern
    resembles another only by chance."""
    if _WORD.search(selector):
        return list(catalogue().requirements)
    sections = {(entry.id.split("-")[0], entry.section) for entry in catalogue()}
    document, _, section = selector.partition("-")
    if ("*" in selector or "." not in section) and any(document == known for known, _ in sections):
        return []
    return sorted(f"{known}-{number}" for known, number in sections)


def in_section(entry: Requirement, selector: str) -> bool:
    """True if an id, a `DOCUMENT-SECTION` or a pattern with `*` selects this requirement."""
    own = f"{entry.id.split('-')[0]}-{entry.section}"
    return (
        selector in (entry.id, *entry.aliases, own)
        or own.startswith(f"{selector}.")
        or selector == entry.id.split("-")[0]
        or ("*" in selector and (fnmatchcase(entry.id, selector) or fnmatchcase(own, selector)))
    )


@cache
def demanded(*profiles: str) -> tuple[Requirement, ...]:
    """Return the requirements that a run for these MSMQ versions (none: for any version) can judge, in order.

    Raises ValueError for an unknown version.
    """
    return tuple(
        entry
        for entry in catalogue()
        if entry.checkable and (not profiles or any(entry.binds(profile) for profile in profiles))
    )


@cache
def demanded_ids(*profiles: str) -> frozenset[str]:
    """Return the ids of `demanded`."""
    return frozenset(entry.id for entry in demanded(*profiles))


def profile_of(name: str | None) -> str:
    """Return the version that a record names, the default if it names no known one."""
    return name if name in PROFILES else DEFAULT_PROFILE


def findings() -> Mapping[str, SpecFinding]:
    """Return every finding by id. Raises CatalogueError when the data is wrong, for example has a finding twice."""
    return catalogue().findings


def unexpected(known: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the numbered ids of `known` (default: the register) that are in no list of suspicions, such as `D156`."""
    wanted = set(suspicions())
    names = findings() if known is None else known
    return tuple(name for name in names if name not in wanted and not name.startswith("N-"))


def finding(name: str) -> SpecFinding:
    """Return the finding with this id. Raises CatalogueError with the nearest id if there is none."""
    known = findings()
    if name not in known:
        raise CatalogueError(f"no finding {name}{did_you_mean(name, known)}")
    return known[name]


def reading_of_finding(found: SpecFinding, known: Mapping[str, SpecFinding] | None = None) -> Reading | None:
    """Return the reading of a finding, following merged findings; None for editorial and rejected ones.

    Raises CatalogueError when findings are merged in a circle.
    """
    known = findings() if known is None else known
    seen = [found.id]
    while found.disposition == "merged":
        into = found.into or ""
        if into not in known:
            return catalogue().readings.get(into)
        found = known[into]
        if found.id in seen:
            raise CatalogueError(f"the findings {', '.join([*seen, found.id])} are merged in a circle")
        seen.append(found.id)
    return catalogue().readings[found.reading] if found.reading is not None else None


__all__ = [
    "CHECKED",
    "DISPOSITIONS",
    "DOCUMENTS",
    "NEEDS",
    "NONE_REASONS",
    "Catalogue",
    "CatalogueError",
    "Reading",
    "Requirement",
    "SpecFinding",
    "alternative_of",
    "assignment",
    "catalogue",
    "chosen_readings",
    "did_you_mean",
    "reading_id",
    "requirement",
    "requirement_id",
]
