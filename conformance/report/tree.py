"""The requirements of a run as a tree of sections, and the data from which a page draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.report.table import RequirementRow, Section, counted
from conformance.report.text import label
from conformance.report.titles import section_title
from conformance.spec.catalogue import DOCUMENTS, catalogue
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome, worst

MAX_DEPTH = 8
"""Levels of the tree, by parts of a section number: no document has more, but an id of a foreign record may."""
MAX_ROWS = 2_000
"""Requirements listed under one section; no section of the documents has as many."""
SITE = "https://learn.microsoft.com/en-us/openspecs/windows_protocols/"
"""The site of the documents; the address of a section cannot be derived from its number."""


@dataclass(frozen=True, slots=True)
class Node:
    """One section. rows: its own requirements, worst first, at most MAX_ROWS; more: how many are left out.

    children: its subsections. counts, judged, total: of everything in it.
    """

    number: str
    title: str
    rows: tuple[RequirementRow, ...]
    more: int
    children: tuple[Node, ...]
    counts: Mapping[Outcome, int]
    judged: int
    total: int

    @property
    def outcome(self) -> Outcome | None:
        """The roll-up of everything in it, None if nothing in it has a verdict."""
        return worst(self.counts)

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, in the order of the document."""
        yield self
        for child in self.children:
            yield from child.walk()


def trees(sections: Iterable[Section]) -> dict[str, tuple[Node, ...]]:
    """Return the chapters by document. A section that contains only one subsection is replaced by it."""
    found: dict[str, dict[tuple[str, ...], list[RequirementRow]]] = {}
    for section in sections:
        parts = tuple(label(part, 20) for part in section.number.split("."))[:MAX_DEPTH]
        found.setdefault(section.document, {}).setdefault(parts, []).extend(section.rows)
    return {document: _children(document, (), members) for document, members in found.items()}


def _children(
    document: str, above: tuple[str, ...], members: Mapping[tuple[str, ...], Sequence[RequirementRow]]
) -> tuple[Node, ...]:
    depth = len(above)
    inner: dict[tuple[str, ...], dict[tuple[str, ...], Sequence[RequirementRow]]] = {}
    for parts, rows in members.items():
        if len(parts) > depth:
            inner.setdefault(parts[: depth + 1], {})[parts] = rows
    return tuple(_node(document, name, each) for name, each in inner.items())


def _node(document: str, parts: tuple[str, ...], members: Mapping[tuple[str, ...], Sequence[RequirementRow]]) -> Node:
    children = _children(document, parts, members)
    own = sorted(members.get(parts, ()), key=lambda row: row.outcome.rank if row.outcome else len(Outcome))
    if not own and len(children) == 1:
        return children[0]
    counts = Counter(row.outcome for row in own if row.outcome)
    for child in children:
        counts.update(child.counts)
    number = ".".join(parts)
    return Node(
        number,
        section_title(document, number) or ("Not in this version's catalogue" if not number else ""),
        tuple(own[:MAX_ROWS]),
        max(0, len(own) - MAX_ROWS),
        children,
        counts,
        counted(own) + sum(child.judged for child in children),
        sum(row.demanded for row in own) + sum(child.total for child in children),
    )


def address(document: str) -> str | None:
    """Return the web address of a document, None for an unknown one."""
    return f"{SITE}{document.lower()}" if document in DOCUMENTS.values() else None


def readings_of(chosen: Mapping[str, Sequence[str]], followed: Mapping[str, str]) -> list[Json]:
    """Return the readings for a page: id, title, how sure, [alternative, meaning] pairs, accepted, followed."""
    return [
        [
            entry.id,
            entry.title,
            entry.sure,
            [[name, meaning] for name, meaning in entry.alternatives.items()],
            [label(name, 100) for name in chosen.get(entry.id, ())],
            label(followed[entry.id], 200) if entry.id in followed else None,
        ]
        for entry in catalogue().readings.values()
    ]


def touching() -> dict[str, list[int]]:
    """Return requirement id to the indexes of the readings that affect it."""
    found: dict[str, list[int]] = {}
    for at, entry in enumerate(catalogue().readings.values()):
        for name in entry.requirements:
            found.setdefault(name, []).append(at)
    return found


def outcome_rank(outcome: Outcome | None) -> int:
    """Return the outcome's rank, -1 for none."""
    return -1 if outcome is None else outcome.rank


def level_rank(row: RequirementRow) -> int:
    """Return the level's index in LEVELS, -1 for a requirement that the catalogue does not have."""
    return LEVELS.index(row.demand.level) if row.demand else -1
