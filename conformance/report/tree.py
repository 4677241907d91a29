"""The requirements of a run as a tree of sections, and as the rows a page draws them from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.report.table import Row, Section
from conformance.report.text import label
from conformance.report.titles import section_title
from conformance.spec.catalogue import DOCUMENTS, catalogue
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome, worst

MAX_DEPTH = 8
"""Parts of a section number that make a level of the tree: no document has more; an id of a foreign record may."""
MAX_ROWS = 2_000
"""Requirements listed under one section; no section of the documents has as many."""
SITE = "https://learn.microsoft.com/en-us/openspecs/windows_protocols/"
"""Where the documents are published; their sections have no address that could be made from a number."""


@dataclass(frozen=True, slots=True)
class Node:
    """One section. rows: its own requirements, worst first, at most MAX_ROWS; more: how many are left out.

    children: the sections in it. counts, judged, total: of everything in it.
    """

    number: str
    title: str
    rows: tuple[Row, ...]
    more: int
    children: tuple[Node, ...]
    counts: Mapping[Outcome, int]
    judged: int
    total: int

    @property
    def outcome(self) -> Outcome | None:
        """The roll-up of everything in it, None when nothing of it has a verdict."""
        return worst(self.counts)

    def walk(self) -> Iterator[Node]:
        """This node and all in it, in the order of the document."""
        yield self
        for child in self.children:
            yield from child.walk()


def trees(sections: Iterable[Section]) -> dict[str, tuple[Node, ...]]:
    """Document to its chapters. A section that has nothing but one other in it is left out for that one."""
    found: dict[str, dict[tuple[str, ...], list[Row]]] = {}
    for section in sections:
        parts = tuple(label(part, 20) for part in section.number.split("."))[:MAX_DEPTH]
        found.setdefault(section.document, {}).setdefault(parts, []).extend(section.rows)
    return {document: _children(document, (), members) for document, members in found.items()}


def _children(
    document: str, above: tuple[str, ...], members: Mapping[tuple[str, ...], Sequence[Row]]
) -> tuple[Node, ...]:
    depth = len(above)
    inner: dict[tuple[str, ...], dict[tuple[str, ...], Sequence[Row]]] = {}
    for parts, rows in members.items():
        if len(parts) > depth:
            inner.setdefault(parts[: depth + 1], {})[parts] = rows
    return tuple(_node(document, name, each) for name, each in inner.items())


def _node(document: str, parts: tuple[str, ...], members: Mapping[tuple[str, ...], Sequence[Row]]) -> Node:
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
        sum(row.judged for row in own) + sum(child.judged for child in children),
        len(own) + sum(child.total for child in children),
    )


def address(document: str) -> str | None:
    """Where a document can be read, None for one that is not known."""
    return f"{SITE}{document.lower()}" if document in DOCUMENTS.values() else None


def readings_of(chosen: Mapping[str, Sequence[str]], followed: Mapping[str, str]) -> list[Json]:
    """The register of readings for a page: id, title, how sure, [alternative, meaning] pairs, accepted, followed."""
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
    """Requirement id to the readings that touch it, as places in the register."""
    found: dict[str, list[int]] = {}
    for at, entry in enumerate(catalogue().readings.values()):
        for name in entry.requirements:
            found.setdefault(name, []).append(at)
    return found


def outcome_rank(outcome: Outcome | None) -> int:
    """The outcome's place in the order, -1 for none."""
    return -1 if outcome is None else outcome.rank


def level_rank(row: Row) -> int:
    """The level's place in LEVELS, -1 for a requirement that the catalogue does not have."""
    return LEVELS.index(row.demand.level) if row.demand else -1
