"""Compares the catalogue with the documents: items without an entry, changed items, entries whose source is gone.

Only entries and items of the given documents are compared, not entries made from sibling documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from conformance.spec.catalogue import DOCUMENTS, Requirement, catalogue
from tools.audit.document import KNOWN, AuditError, read_document
from tools.audit.extract import extract
from tools.audit.items import Item
from tools.audit.steps import DOCUMENT, disagreements, events


@dataclass(frozen=True, slots=True)
class Change:
    """An entry whose source is gone, with an item of its section and kind that has no entry: most likely it changed."""

    requirement: str
    source: str
    item: Item


@dataclass(frozen=True, slots=True)
class Gone:
    """A source that an entry names and no document has."""

    requirement: str
    source: str


@dataclass(frozen=True, slots=True)
class Total:
    """The figures of one document. claimed: number of items with an entry. kinds: number of items by kind."""

    document: str
    revision: str
    items: int
    claimed: int
    entries: int
    kinds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The result of an audit. missing: items without an entry. unbound: entries of the documents without a source.

    unclassed: entries without a kind, or not checked without a reason. unwritten: entries with an empty `says`. steps:
    messages about events whose listed steps differ from those of the document.
    """

    totals: tuple[Total, ...]
    missing: tuple[Item, ...]
    changed: tuple[Change, ...]
    gone: tuple[Gone, ...]
    unbound: tuple[str, ...]
    unclassed: tuple[str, ...]
    unwritten: tuple[str, ...]
    steps: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """True if every item has an entry, every source an item, and every event its steps."""
        return not (self.missing or self.changed or self.gone or self.steps)

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON, without any text of the documents."""
        return {
            "clean": self.clean,
            "totals": [
                {
                    "document": DOCUMENTS[total.document],
                    "revision": total.revision,
                    "items": total.items,
                    "claimed": total.claimed,
                    "entries": total.entries,
                    "kinds": dict(sorted(total.kinds.items())),
                }
                for total in self.totals
            ],
            "missing": [_item_json(item) for item in self.missing],
            "changed": [
                {"requirement": change.requirement, "source": change.source, "item": _item_json(change.item)}
                for change in self.changed
            ],
            "gone": [{"requirement": gone.requirement, "source": gone.source} for gone in self.gone],
            "unbound": list(self.unbound),
            "unclassed": list(self.unclassed),
            "unwritten": list(self.unwritten),
            "steps": list(self.steps),
        }


def _item_json(item: Item) -> dict[str, object]:
    return {"id": item.id, "kind": item.kind, "source": item.source, "line": item.line, "level": item.level}


def audit(paths: Iterable[Path], requirements: Iterable[Requirement] | None = None) -> AuditReport:
    """Compare the documents in `paths` with `requirements` (default: the catalogue).

    Raises AuditError, one sentence, for a file that is not one of the documents, is incomplete, has another revision
    than the catalogue was made from, or is given twice.
    """
    items: dict[str, tuple[Item, ...]] = {}
    revisions: dict[str, str] = {}
    for path in paths:
        document = read_document(path)
        if document.name in items:
            raise AuditError(f"{path} is {DOCUMENTS[document.name]}, which is given twice; give each document once")
        items[document.name] = extract(document)
        revisions[document.name] = document.revision
    if not items:
        raise AuditError("no document was given; name the files of the documents to compare the catalogue with")
    entries = [entry for entry in (catalogue() if requirements is None else requirements) if _audited(entry, items)]
    report = compare(items, entries, revisions)
    if requirements is None and DOCUMENT in items:
        # The listed steps belong to the shipped catalogue; other entries have none.
        return replace(report, steps=tuple(disagreements(events(), items[DOCUMENT])))
    return report


def _audited(entry: Requirement, items: Mapping[str, Sequence[Item]]) -> bool:
    """True if the entry belongs to a given document; of MS-MQMP only one section is audited."""
    return _prefix(entry) in items and (_prefix(entry) != "MQMP" or entry.section == KNOWN["MQMP"][1])


def _prefix(entry: Requirement) -> str:
    return entry.id.partition("-")[0]


def compare(
    items: Mapping[str, Sequence[Item]], entries: Sequence[Requirement], revisions: Mapping[str, str]
) -> AuditReport:
    """Compare `entries` with the `items` of each document."""
    known = {item.source for found in items.values() for item in found}
    claimed = {source for entry in entries for source in entry.source}
    lost = [Gone(entry.id, source) for entry in entries for source in entry.source if source not in known]
    unclaimed = [item for found in items.values() for item in found if item.source not in claimed]
    changed = _changes(lost, unclaimed, {entry.id: entry for entry in entries})
    explained = {(change.requirement, change.source) for change in changed}
    found_again = {change.item.source for change in changed}
    return AuditReport(
        totals=tuple(
            Total(
                document=name,
                revision=revisions.get(name, ""),
                items=len(found),
                claimed=sum(item.source in claimed for item in found),
                entries=sum(_prefix(entry) == name for entry in entries),
                kinds=Counter(item.kind for item in found),
            )
            for name, found in items.items()
        ),
        missing=tuple(item for item in unclaimed if item.source not in found_again),
        changed=tuple(changed),
        gone=tuple(gone for gone in lost if (gone.requirement, gone.source) not in explained),
        unbound=tuple(entry.id for entry in entries if not entry.source),
        unclassed=tuple(entry.id for entry in entries if entry.source and not entry.kind),
        unwritten=tuple(entry.id for entry in entries if not entry.says.strip()),
    )


def _changes(lost: Sequence[Gone], unclaimed: Sequence[Item], entries: Mapping[str, Requirement]) -> list[Change]:
    """Pair lost sources with items without an entry, within a section and a kind, the most similar words first.

    Entries that shared a lost source share the item that it became.
    """
    free: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in unclaimed:
        free[item.document, item.section].append(item)
    pairs: dict[str, Item] = {}
    changed: list[Change] = []
    for gone in lost:
        entry = entries[gone.requirement]
        if gone.source not in pairs:
            places = free[_prefix(entry), entry.section]
            candidates = [item for item in places if entry.kind in (None, item.kind)]
            if not candidates:
                continue
            word = entry.id.split(f"{entry.section}.", 1)[-1]
            best = max(candidates, key=lambda item: SequenceMatcher(None, word, item.word).ratio())
            pairs[gone.source] = best
            places.remove(best)
        changed.append(Change(gone.requirement, gone.source, pairs[gone.source]))
    return changed
