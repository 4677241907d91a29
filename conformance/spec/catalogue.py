"""The requirement catalogue and the register of readings, loaded from `data/*.toml`.

Code holds ids only. `requirement_id("...")` is how code names one: an id the catalogue lacks fails at import.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

from conformance.spec.versions import LEVELS, PROFILES, READING_SETS, applies

CHECKED = frozenset(
    {"packet", "structure", "grammar", "call", "session", "history", "environment", "white-box", "none"}
)
NONE_REASONS = frozenset({"definition", "permission", "boilerplate", "binding", "duplicate-of"})
DOCUMENTS = {
    "MQMQ": "MS-MQMQ",
    "MQDMPR": "MS-MQDMPR",
    "MQAC": "MC-MQAC",
    "MQMP": "MS-MQMP",
    "MQQB": "MS-MQQB",
    "MQRR": "MS-MQRR",
}


class CatalogueError(ValueError):
    """The catalogue's data is wrong, or an id it does not have was used."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One checkable demand. `says` is in our own words; `section` is the document's number, such as `2.2.19.1`.

    kind, source: what the audit of the documents binds the entry to; see `conformance.spec.audit`. generated: `says`
    was made from identifiers and nobody has put it better yet.
    """

    id: str
    document: str
    section: str
    level: str
    role: str
    checked: str
    says: str
    reason: str | None = None
    since: str | None = None
    until: str | None = None
    product: str | None = None
    aliases: tuple[str, ...] = ()
    kind: str | None = None
    source: tuple[str, ...] = ()
    generated: bool = False

    def binds(self, profile: str) -> bool:
        """Whether the demand holds for this MSMQ version."""
        return applies(profile, self.since, self.until)


@dataclass(frozen=True, slots=True)
class Reading:
    """A defect of the documents and the interpretations an implementer can defend.

    defaults: reading set (`windows`, `strict`, `permissive`) to alternatives accepted, the default first.
    sure: `settled`, `inferred` or `open`.
    """

    id: str
    title: str
    requirements: tuple[str, ...]
    alternatives: Mapping[str, str]
    defaults: Mapping[str, tuple[str, ...]]
    evidence: str
    sure: str
    visible: bool


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All requirements and readings by id."""

    requirements: Mapping[str, Requirement]
    readings: Mapping[str, Reading]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements.values())


@cache
def catalogue() -> Catalogue:
    """The catalogue shipped with the package, loaded once."""
    requirements: dict[str, Requirement] = {}
    readings: dict[str, Reading] = {}
    for entry in sorted(resources.files("conformance.spec").joinpath("data").iterdir(), key=lambda path: path.name):
        if not entry.name.endswith(".toml"):
            continue
        content = tomllib.loads(entry.read_text(encoding="utf-8"))
        for raw in content.get("requirement", []):
            requirement = _requirement(raw, entry.name)
            if requirement.id in requirements:
                raise CatalogueError(f"{entry.name}: requirement {requirement.id} is defined twice")
            requirements[requirement.id] = requirement
        for raw in content.get("reading", []):
            reading = _reading(raw, entry.name)
            if reading.id in readings:
                raise CatalogueError(f"{entry.name}: reading {reading.id} is defined twice")
            readings[reading.id] = reading
    for reading in readings.values():
        for touched in reading.requirements:
            if touched not in requirements:
                raise CatalogueError(f"reading {reading.id} touches {touched}, which is not in the catalogue")
    return Catalogue(requirements, readings)


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


def assignment(reading_set: str) -> dict[str, tuple[str, ...]]:
    """For each reading, the alternatives this reading set accepts, the default first."""
    if reading_set not in READING_SETS:
        raise CatalogueError(f"no reading set {reading_set}{did_you_mean(reading_set, READING_SETS)}")
    return {reading.id: reading.defaults[reading_set] for reading in catalogue().readings.values()}


def did_you_mean(name: str, known: Any) -> str:
    """`; did you mean X?` for the nearest known name, or an empty string."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.4)
    return f"; did you mean {close[0]}?" if close else ""


def _requirement(raw: Mapping[str, Any], where: str) -> Requirement:
    try:
        name = raw["id"]
        prefix, section, word = _split(name, where)
        requirement = Requirement(
            id=name,
            document=DOCUMENTS[prefix],
            section=section,
            level=raw["level"],
            role=raw["role"],
            checked=raw["checked"],
            says=raw["says"],
            reason=raw.get("reason"),
            since=raw.get("since"),
            until=raw.get("until"),
            product=raw.get("product"),
            aliases=tuple(raw.get("aliases", ())),
            kind=raw.get("kind"),
            source=tuple(raw.get("source", ())),
            generated=raw.get("generated", False),
        )
    except KeyError as missing:
        raise CatalogueError(f"{where}: requirement {raw.get('id', '?')} lacks {missing}") from None
    if requirement.level not in LEVELS:
        raise CatalogueError(f"{where}: {name}: level {requirement.level} is none of {', '.join(LEVELS)}")
    if requirement.checked not in CHECKED:
        raise CatalogueError(f"{where}: {name}: checked = {requirement.checked} is not known")
    if requirement.checked == "none" and (requirement.reason or "").split(" ")[0] not in NONE_REASONS:
        raise CatalogueError(f"{where}: {name}: checked = none needs a reason of the closed list")
    for bound in (requirement.since, requirement.until):
        if bound is not None and bound not in PROFILES:
            raise CatalogueError(f"{where}: {name}: {bound} is no profile")
    if word.isdigit():
        raise CatalogueError(f"{where}: {name}: the last part of an id is a word, not a number")
    return requirement


def _split(name: str, where: str) -> tuple[str, str, str]:
    """`MQMQ-2.2.19.1.signature` to (`MQMQ`, `2.2.19.1`, `signature`)."""
    prefix, _, rest = name.partition("-")
    parts = rest.split(".")
    cut = next((at for at, part in enumerate(parts) if not part.isdigit()), len(parts))
    if prefix not in DOCUMENTS or cut == 0 or cut == len(parts):
        raise CatalogueError(f"{where}: {name} is not of the form DOCUMENT-SECTION.word")
    return prefix, ".".join(parts[:cut]), ".".join(parts[cut:])


def _reading(raw: Mapping[str, Any], where: str) -> Reading:
    try:
        reading = Reading(
            id=raw["id"],
            title=raw["title"],
            requirements=tuple(raw["requirements"]),
            alternatives=dict(raw["alternatives"]),
            defaults={name: tuple(raw["defaults"][name]) for name in READING_SETS},
            evidence=raw["evidence"],
            sure=raw["sure"],
            visible=raw["visible"],
        )
    except KeyError as missing:
        raise CatalogueError(f"{where}: reading {raw.get('id', '?')} lacks {missing}") from None
    for name, chosen in reading.defaults.items():
        unknown = [alternative for alternative in chosen if alternative not in reading.alternatives]
        if unknown or not chosen:
            raise CatalogueError(f"{where}: {reading.id}: defaults.{name} names no known alternative: {unknown}")
    return reading
