"""The catalogue of requirements and the register of readings, loaded from `data/*.toml`.

Code refers to requirements by `requirement_id("...")`, so that an id that the catalogue lacks fails at import.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

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
)
from conformance.spec.versions import READING_SETS

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
