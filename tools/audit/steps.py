"""The processing steps of the events of MS-MQDMPR with their nesting, which the document's text has lost.

Each event has a file, such as `data/steps/3.1.7.1.10.toml`: `event` (its name), `provenance`, and `[[step]]` in the
order of the document with `id` (the step's requirement; several steps can share one), `source` (the item that the audit
binds it to), `depth` (0 for the outermost, at most one more than the step before), and optionally its own `provenance`
and `reading` if the depth is disputed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tomllib import TOMLDecodeError, loads
from typing import TYPE_CHECKING, Any

from conformance.spec.catalogue import Catalogue, CatalogueError, catalogue, did_you_mean
from conformance.spec.compiled import data_folder

if TYPE_CHECKING:
    from tools.audit.items import Item

DOCUMENT = "MQDMPR"
PROVENANCES = ("by-meaning", "published-page", "policy")
KINDS = frozenset({"step"})


@dataclass(frozen=True, slots=True)
class ProcessingStep:
    """One step of an event. depth: 0 for the outermost. provenance: the origin of the depth. reading: if disputed."""

    id: str
    source: str
    depth: int
    provenance: str
    reading: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event of MS-MQDMPR and its steps in the order of the document."""

    section: str
    name: str
    provenance: str
    steps: tuple[ProcessingStep, ...]

    def parents(self) -> dict[str, str | None]:
        """Return source of a step to source of the enclosing step, mostly its condition; None for outermost steps."""
        around: list[str] = []
        found: dict[str, str | None] = {}
        for step in self.steps:
            del around[step.depth :]
            found[step.source] = around[-1] if around else None
            around.append(step.source)
        return found


@cache
def events() -> Mapping[str, Event]:
    """Return every shipped event by section. Raises CatalogueError when a file is wrong."""
    return read_events(data_folder() / "steps", catalogue())


def read_events(folder: Path, known: Catalogue) -> dict[str, Event]:
    """Read the events of the files in `folder`; their steps must be requirements of `known`. Raises CatalogueError."""
    found = {}
    for path in sorted(folder.glob("*.toml"), key=lambda path: _order(path.stem)):
        try:
            content = loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, TOMLDecodeError) as error:
            raise CatalogueError(f"steps/{path.name} cannot be read: {error}") from None
        found[path.stem] = _event(path.stem, content, known)
    seen: dict[str, str] = {}
    for section, event in found.items():
        for step in event.steps:
            if step.id in seen:
                raise CatalogueError(
                    f"steps/{section}.toml: {step.id} is listed a second time (first: {seen[step.id]})"
                )
            seen[step.id] = section
    return found


def _order(section: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in section.split("."))


def _event(section: str, content: Mapping[str, Any], known: Catalogue) -> Event:
    where = f"steps/{section}.toml"
    if not all(part.isdigit() for part in section.split(".")):
        raise CatalogueError(f"{where} is not named after a section")
    _members(content, {"event", "provenance", "step"}, {"event", "provenance"}, where)
    provenance = _provenance(content["provenance"], where)
    steps: list[ProcessingStep] = []
    for raw in content.get("step", []):
        _members(raw, {"id", "source", "depth", "provenance", "reading"}, {"id", "source", "depth"}, where)
        step = ProcessingStep(
            raw["id"],
            raw["source"],
            raw["depth"],
            _provenance(raw.get("provenance", provenance), where),
            raw.get("reading"),
        )
        for problem in _wrong(step, steps, section, known):
            raise CatalogueError(f"{where}: {step.id}: {problem}")
        steps.append(step)
    return Event(section, content["event"], provenance, tuple(steps))


def _members(raw: Mapping[str, Any], known: set[str], needed: set[str], where: str) -> None:
    for name in sorted(needed - raw.keys()):
        raise CatalogueError(f"{where}: {raw.get('id', 'the event')} lacks {name!r}")
    for name in sorted(raw.keys() - known):
        raise CatalogueError(f"{where}: {raw.get('id', 'the event')} has an unknown member {name!r}")


def _provenance(value: str, where: str) -> str:
    if value not in PROVENANCES:
        raise CatalogueError(f"{where}: provenance {value!r} is none of {', '.join(PROVENANCES)}")
    return value


def _wrong(step: ProcessingStep, before: Sequence[ProcessingStep], section: str, known: Catalogue) -> Iterator[str]:
    entry = known.requirements.get(step.id)
    if entry is None:
        yield f"no such requirement{did_you_mean(step.id, known.requirements)}"
        return
    if step.source not in entry.source:
        yield f"the requirement is not bound to {step.source}"
    if entry.section != section or not step.id.startswith(f"{DOCUMENT}-"):
        yield f"it is of another section than {DOCUMENT} {section}"
    deepest = before[-1].depth + 1 if before else 0
    if not isinstance(step.depth, int) or isinstance(step.depth, bool) or not 0 <= step.depth <= deepest:
        yield f"depth {step.depth} after {before[-1].depth if before else 'nothing'}: at most one deeper, at least 0"
    if any(other.source == step.source for other in before):
        yield "its source is listed twice"
    if step.reading is not None and step.reading not in known.readings:
        yield f"there is no reading {step.reading}{did_you_mean(step.reading, known.readings)}"


def disagreements(known: Mapping[str, Event], items: Iterable[Item]) -> Iterator[str]:
    """Yield a message for each event whose steps differ from those of the document, in the document's order.

    items: of MS-MQDMPR, from `tools.audit.extract`.
    """
    wanted: dict[str, list[Item]] = {}
    for item in items:
        if item.kind in KINDS:
            wanted.setdefault(item.section, []).append(item)
    for section in sorted({*known, *wanted}, key=_order):
        listed = [step.source for step in known[section].steps] if section in known else []
        printed = [item.source for item in wanted.get(section, [])]
        if section not in known:
            yield f"{DOCUMENT} {section}: the {len(printed)} steps of this event have no file"
        elif listed != printed:
            yield f"{DOCUMENT} {section}: {_difference(known[section], wanted.get(section, []))}"


def _difference(event: Event, items: Sequence[Item]) -> str:
    listed = {step.source: step.id for step in event.steps}
    printed = {item.source: item for item in items}
    lacking = [item for source, item in printed.items() if source not in listed]
    if lacking:
        return f"{len(lacking)} steps are not listed, the first in line {lacking[0].line} ({lacking[0].source})"
    extra = [name for source, name in listed.items() if source not in printed]
    if extra:
        return f"{len(extra)} steps are not in the document, the first {extra[0]}"
    moved = next(step for step, item in zip(event.steps, items, strict=True) if step.source != item.source)
    return f"the steps are in another order than in the document, from {moved.id} on"
