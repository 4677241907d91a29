"""The requirement catalogue and the register of readings, loaded from `data/*.toml`.

Code holds ids only. `requirement_id("...")` is how code names one: an id the catalogue lacks fails at import.
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
    NONE_REASONS,
    CatalogueError,
    Finding,
    Reading,
    Requirement,
    did_you_mean,
)
from conformance.spec.versions import READING_SETS

__all__ = [
    "CHECKED",
    "DISPOSITIONS",
    "DOCUMENTS",
    "NONE_REASONS",
    "Catalogue",
    "CatalogueError",
    "Finding",
    "Reading",
    "Requirement",
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
    findings: Mapping[str, Finding]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements.values())


@cache
def catalogue() -> Catalogue:
    """The catalogue shipped with the package, loaded once. Raises CatalogueError when its data is wrong."""
    rows = load()
    return Catalogue(
        Entries(Requirement, rows["requirement"]),
        Entries(Reading, rows["reading"]),
        Entries(Finding, rows["finding"]),
    )


def requirement_id(name: str) -> str:
    """`name`, if the catalogue has it. Raises CatalogueError naming the nearest id otherwise."""
    known = catalogue().requirements
    if name not in known:
        raise CatalogueError(f"no requirement {name}{did_you_mean(name, known)}")
    return name


def requirement(name: str) -> Requirement:
    """The requirement of this id. Raises CatalogueError naming the nearest id when there is none."""
    return catalogue().requirements[requirement_id(name)]


def reading_id(name: str) -> str:
    """`name`, if the register of readings has it. Raises CatalogueError naming the nearest id otherwise."""
    known = catalogue().readings
    if name not in known:
        raise CatalogueError(f"no reading {name}{did_you_mean(name, known)}")
    return name


def assignment(reading_set: str, chosen: Mapping[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    """For each reading, the alternatives this reading set accepts, the default first.

    chosen: reading id to the one alternative accepted whatever the set says, or to several as `a|b`. Raises
    CatalogueError naming the nearest word for a set, reading or alternative that does not exist.
    """
    if reading_set not in READING_SETS:
        raise CatalogueError(f"no reading set {reading_set}{did_you_mean(reading_set, READING_SETS)}")
    accepted = {reading.id: reading.defaults[reading_set] for reading in catalogue().readings.values()}
    for name, alternative in (chosen or {}).items():
        accepted[reading_id(name)] = tuple(alternative_of(name, word) for word in alternative.split("|"))
    return accepted


def alternative_of(reading: str, alternative: str) -> str:
    """`alternative`, if this reading has it. Raises CatalogueError naming the nearest one otherwise."""
    known = catalogue().readings[reading_id(reading)].alternatives
    if alternative not in known:
        hint = did_you_mean(alternative, known) or f"; it has {', '.join(known)}"
        raise CatalogueError(f"no alternative {alternative} of {reading}{hint}")
    return alternative


def chosen_readings(words: Iterable[str]) -> dict[str, str]:
    """`ID=alternative` words (or `ID=a|b`, to accept either) as a mapping.

    Raises CatalogueError for one of another form, unknown, or contradicting.
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
