"""The entries of the catalogue's files (requirements, readings, findings) and the checks of their data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import convert

from conformance.spec.versions import LEVELS, PROFILES, READING_SETS, applies
from conformance.suggest import nearest

T = TypeVar("T")

CHECKED = frozenset(
    {"packet", "structure", "grammar", "call", "session", "history", "environment", "white-box", "none"}
)
UNCHECKABLE = frozenset({"none", "white-box"})
"""Ways of checking that no run can use: such an entry is in no denominator, and no check may claim it."""
NONE_REASONS = frozenset({"definition", "permission", "boilerplate", "binding", "duplicate-of"})
NEEDS = {
    "peer": "another queue manager, or a program in its place, at the other end of a connection",
    "client-api": "the application programming interface as it is declared, or a call that only it has",
    "host": "the computer itself: its name, its operating system, its set-up, its resources running out",
    "nobody": "nothing that anybody can bring: no answer and no packet depends on it",
}
"""Things that checks of `environment` entries need and the adapter protocol lacks; an entry names the first missing."""
SURE = ("settled", "inferred", "open")
DISPOSITIONS = ("reading", "merged", "editorial", "rejected")
DOCUMENTS = {
    "MQMQ": "MS-MQMQ",
    "MQDMPR": "MS-MQDMPR",
    "MQAC": "MC-MQAC",
    "MQMP": "MS-MQMP",
    "MQMR": "MS-MQMR",
    "MQQB": "MS-MQQB",
    "MQQP": "MS-MQQP",
    "MQRR": "MS-MQRR",
}
NUMBERED = {"D": 155, "Q": 101}
"""Length of each list of suspected defects: `D` on MS-MQMQ and MS-MQDMPR, `Q` on MC-MQAC."""

_SOURCE = re.compile(r"[0-9a-f]{16}")
_READING = re.compile(r"R-[A-Z]+-[a-z0-9][a-z0-9-]*")
_FINDING = re.compile(r"[DQ]\d{2,3}|N-[A-Za-z0-9][A-Za-z0-9-]*")
_ALTERNATIVE = re.compile(r"[a-z0-9][a-z0-9-]*")


class CatalogueError(ValueError):
    """The catalogue's data is wrong, or an unknown id was used."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One checkable statement of a document. says: in our own words. section: its number, such as `2.2.19.1`.

    kind, source: the item of the document that the audit binds the entry to; see `python -m tools.audit`. generated:
    `says` was generated from identifiers and not yet rewritten by a person. needs: one of NEEDS if checked is
    `environment`, else None.
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
    needs: str | None = None

    @property
    def checkable(self) -> bool:
        """True if a run could judge the requirement, given everything it needs."""
        return self.checked not in UNCHECKABLE

    def binds(self, profile: str) -> bool:
        """True if the requirement holds for this MSMQ version. Raises ValueError for an unknown version."""
        if self.since is None and self.until is None and profile in PROFILES:
            return True
        return applies(profile, self.since, self.until)


@dataclass(frozen=True, slots=True)
class Reading:
    """A defect of the documents and the interpretations that an implementer can defend.

    defaults: reading set (`windows`, `strict`, `permissive`) to accepted alternatives, the default first. sure:
    `settled`, `inferred` or `open`.
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
class SpecFinding:
    """The result of examining one suspected defect of the documents.

    id: `D01` to `D155` (the two MSMQ documents), `Q01` to `Q101` (MC-MQAC), `N-word` (found later). disposition:
    `reading` (see `reading`), `merged` (see `into`: a finding or a reading), `editorial`, `rejected`. why: evidence.
    """

    id: str
    title: str
    sections: tuple[str, ...]
    disposition: str
    why: str
    reading: str | None = None
    into: str | None = None


def did_you_mean(name: str, known: Any) -> str:
    """Return `; did you mean X?` for the nearest known name, or an empty string."""
    close = nearest(name, known)
    return f"; did you mean {close}?" if close else ""


def requirement_of(raw: Mapping[str, Any], where: str) -> Requirement:
    """Build the requirement that a table of the file `where` describes. Raises CatalogueError."""
    name = str(raw.get("id", "?"))
    prefix, section, word = split_id(name, where)
    requirement = _shaped(Requirement, raw, where, document=DOCUMENTS[prefix], section=section)
    for problem in _wrong(requirement, word):
        raise CatalogueError(f"{where}: {name}: {problem}")
    return requirement


def _wrong(entry: Requirement, word: str) -> Iterator[str]:
    if entry.level not in LEVELS:
        yield f"level {entry.level} is none of {', '.join(LEVELS)}"
    if entry.checked not in CHECKED:
        yield f"checked = {entry.checked} is not known"
    if entry.checked == "none" and (entry.reason or "").split(" ")[0] not in NONE_REASONS:
        yield "checked = none needs a reason of the closed list"
    if entry.checked == "environment" and entry.needs not in NEEDS:
        yield f"checked = environment needs one of needs = {', '.join(NEEDS)}{_instead(entry.needs)}"
    if entry.checked != "environment" and entry.needs is not None:
        yield f"needs = {entry.needs} is for checked = environment only"
    for bound in (entry.since, entry.until):
        if bound is not None and bound not in PROFILES:
            yield f"{bound} is not a profile"
    if entry.since and entry.until and PROFILES.index(entry.since) > PROFILES.index(entry.until):
        yield f"it would hold from {entry.since} until the earlier {entry.until}"
    if word.isdigit():
        yield "the last part of an id is a word, not a number"
    for source in entry.source:
        if not _SOURCE.fullmatch(source):
            yield f"invalid source {source!r}: give 16 hexadecimal digits"


def _instead(needs: str | None) -> str:
    return f", not {needs}{did_you_mean(needs, NEEDS)}" if needs is not None else ""


def split_id(name: str, where: str) -> tuple[str, str, str]:
    """Split `MQMQ-2.2.19.1.signature` into (`MQMQ`, `2.2.19.1`, `signature`). Raises CatalogueError."""
    prefix, _, rest = name.partition("-")
    parts = rest.split(".")
    cut = next((at for at, part in enumerate(parts) if not part.isdigit()), len(parts))
    if prefix not in DOCUMENTS or cut == 0 or cut == len(parts):
        raise CatalogueError(f"{where}: {name} is not of the form DOCUMENT-SECTION.word")
    return prefix, ".".join(parts[:cut]), ".".join(parts[cut:])


def reading_of(raw: Mapping[str, Any], where: str) -> Reading:
    """Build the reading that a table of the file `where` describes. Raises CatalogueError."""
    reading = _shaped(Reading, raw, where)
    lacking = [name for name in READING_SETS if name not in reading.defaults]
    if lacking:
        raise CatalogueError(f"{where}: {reading.id} lacks defaults for {', '.join(lacking)}")
    if not _READING.fullmatch(reading.id):
        raise CatalogueError(f"{where}: {reading.id} is not of the form R-DOCUMENT-word")
    if reading.sure not in SURE:
        raise CatalogueError(f"{where}: {reading.id}: sure = {reading.sure} is none of {', '.join(SURE)}")
    for name in reading.alternatives:
        if not _ALTERNATIVE.fullmatch(name):
            raise CatalogueError(f"{where}: {reading.id}: invalid alternative {name!r}: use small letters and -")
    for name, chosen in reading.defaults.items():
        unknown = [alternative for alternative in chosen if alternative not in reading.alternatives]
        if unknown or not chosen:
            raise CatalogueError(f"{where}: {reading.id}: defaults.{name} names no known alternative: {unknown}")
    return reading


def finding_of(raw: Mapping[str, Any], where: str) -> SpecFinding:
    """Build the finding that a table of the file `where` describes. Raises CatalogueError."""
    finding = _shaped(SpecFinding, raw, where)
    wrong = ""
    if not _FINDING.fullmatch(finding.id):
        wrong = "an id is D01, Q01 or N-word"
    elif finding.disposition not in DISPOSITIONS:
        wrong = f"disposition {finding.disposition} is none of {', '.join(DISPOSITIONS)}"
    elif (finding.disposition == "reading") != (finding.reading is not None):
        wrong = "disposition reading and the name of a reading go together"
    elif (finding.disposition == "merged") != (finding.into is not None):
        wrong = "disposition merged and what it is merged into go together"
    elif not finding.why.strip() or not finding.title.strip() or not finding.sections:
        wrong = "title, sections and why must not be empty"
    if wrong:
        raise CatalogueError(f"{where}: finding {finding.id}: {wrong}")
    return finding


def _shaped(kind: type[T], raw: Mapping[str, Any], where: str, **derived: str) -> T:
    """Build an entry from its table and what is derived from it. Raises CatalogueError for a wrong member."""
    fields = kind.__dataclass_fields__.keys() - derived.keys()  # type: ignore[attr-defined]
    try:
        for name in sorted(raw.keys() - fields):
            raise ValueError(f"unknown member {name!r}{did_you_mean(name, fields)}")
        return convert({**raw, **derived}, kind)
    except ValueError as error:
        raise CatalogueError(f"{where}: {kind.__name__.lower()} {raw.get('id', '?')}: {error}") from None


def suspicions() -> tuple[str, ...]:
    """Return the ids of the two lists: `D01`, ..., `D155`, `Q01`, ..., `Q101`."""
    return tuple(f"{letter}{number:02}" for letter, last in NUMBERED.items() for number in range(1, last + 1))


def twice(entries: Sequence[Requirement | Reading | SpecFinding], places: Sequence[str]) -> Iterator[str]:
    """Yield a message for each id that several entries have. places: the file of each entry."""
    counts = Counter(entry.id for entry in entries)
    for name, count in counts.items():
        if count > 1:
            files = dict.fromkeys(place for entry, place in zip(entries, places, strict=True) if entry.id == name)
            kind = {"R": "reading"}.get(name.split("-")[0], "requirement" if "." in name else "finding")
            yield f"{', '.join(files)}: {kind} {name} is defined twice"


def dangling(
    requirements: Mapping[str, Requirement], readings: Mapping[str, Reading], findings: Mapping[str, SpecFinding]
) -> Iterator[str]:
    """Yield a message for each id that an entry refers to and that does not exist."""
    for entry in requirements.values():
        word, _, target = (entry.reason or "").partition(" ")
        if word == "duplicate-of" and (target not in requirements or target == entry.id):
            hint = did_you_mean(target, requirements)
            yield f"{entry.id} is a duplicate of {target or 'nothing'}, which is not in the catalogue{hint}"
    for reading in readings.values():
        for touched in reading.requirements:
            if touched not in requirements:
                hint = did_you_mean(touched, requirements)
                yield f"reading {reading.id} touches {touched}, which is not in the catalogue{hint}"
    yield from _ambiguous(requirements)
    numbered = set(suspicions())
    for finding in findings.values():
        if finding.reading is not None and finding.reading not in readings:
            hint = did_you_mean(finding.reading, readings)
            yield f"finding {finding.id} names the reading {finding.reading}, which does not exist{hint}"
        if finding.into is not None and (
            finding.into == finding.id or finding.into not in {*readings, *findings, *numbered}
        ):
            yield f"finding {finding.id} is merged into {finding.into}, which is neither another finding nor a reading"


def _ambiguous(requirements: Mapping[str, Requirement]) -> Iterator[str]:
    """Yield a message for each alias that is also an id, or that two requirements have."""
    owners: dict[str, str] = {}
    for entry in requirements.values():
        for alias in entry.aliases:
            if alias in requirements:
                yield f"{entry.id} has the alias {alias}, which is a requirement itself"
            elif owners.setdefault(alias, entry.id) != entry.id:
                yield f"{entry.id} and {owners[alias]} have the same alias {alias}"
