"""Two runs, requirement by requirement: fixed, broken, new and gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.report.standing import UNJUDGED, Standing, level_of
from conformance.report.text import label
from conformance.verdict import Json, Outcome

FIXED, BROKEN, NEW, GONE, CHANGED = "fixed", "broken", "new", "gone", "changed"
KINDS = (BROKEN, GONE, FIXED, NEW, CHANGED)
"""In the order in which they are told: what asks for attention first."""

_SAYS = {
    BROKEN: "deviates now and did not before",
    GONE: "was judged before and is not now",
    FIXED: "deviated before and does not now",
    NEW: "is judged now and was not before",
    CHANGED: "has another outcome, of the same side",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One requirement that differs. before, now: its outcomes, None where a run has no verdict on it."""

    kind: str
    requirement: str
    before: Outcome | None
    now: Outcome | None

    def to_json(self) -> dict[str, Json]:
        """The members."""
        return {
            "kind": self.kind,
            "requirement": self.requirement,
            "level": level_of(self.requirement),
            "before": self.before.value if self.before else None,
            "now": self.now.value if self.now else None,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """before, now: the runs' names. changes: by kind, then by requirement. same: how many have the same outcome."""

    before: str
    now: str
    changes: tuple[Change, ...]
    same: int

    @property
    def counts(self) -> dict[str, int]:
        """Changes by kind, zeros too."""
        return {kind: sum(change.kind == kind for change in self.changes) for kind in KINDS}

    def to_json(self) -> dict[str, Json]:
        """What `--json` prints."""
        return {
            "before": self.before,
            "now": self.now,
            "counts": {**self.counts, "same": self.same},
            "changes": [change.to_json() for change in self.changes],
        }


def diff(before: Standing, now: Standing) -> Diff:
    """What changed from one run to the other. A new or vanished requirement that deviates is broken or fixed."""
    changes = []
    same = 0
    for requirement in sorted(before.outcomes.keys() | now.outcomes.keys()):
        was, came = before.outcomes.get(requirement), now.outcomes.get(requirement)
        kind = _kind(
            requirement in before.deviating, requirement in now.deviating, _judged(was), _judged(came), was is came
        )
        if kind is None:
            same += 1
        else:
            changes.append(Change(kind, requirement, was, came))
    changes.sort(key=lambda change: (KINDS.index(change.kind), change.requirement))
    return Diff(before.name, now.name, tuple(changes), same)


def _judged(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome not in UNJUDGED


def _kind(deviated: bool, deviates: bool, was: bool, came: bool, alike: bool) -> str | None:
    if deviates and not deviated:
        return BROKEN
    if was and not came:
        return GONE
    if deviated and not deviates:
        return FIXED
    if came and not was:
        return NEW
    return None if alike else CHANGED


def sentence(found: Diff) -> str:
    """The closing line: `2 broken, 1 fixed, 340 the same`."""
    counts = [f"{number} {kind}" for kind, number in found.counts.items() if number]
    return ", ".join([*counts, f"{found.same} the same"])


def markdown(found: Diff) -> str:
    """The difference as Markdown: a table for each kind, and the closing line."""
    lines = [f"# {cell(found.before)} to {cell(found.now)}", "", sentence(found) + "."]
    for kind in KINDS:
        changes = [change for change in found.changes if change.kind == kind]
        if changes:
            lines += ["", f"## {kind.capitalize()}", "", f"What {_SAYS[kind]}.", ""]
            lines += ["| requirement | level | before | now |", "|---|---|---|---|"]
            lines += [_row(change) for change in changes]
    return "\n".join(lines) + "\n"


def text_lines(found: Diff) -> Sequence[str]:
    """The difference for a terminal, a line a change."""
    return [
        f"{change.kind:<8}{label(change.requirement)}: {_word(change.before)} -> {_word(change.now)}"
        for change in found.changes
    ]


def _row(change: Change) -> str:
    cells = (change.requirement, level_of(change.requirement), _word(change.before), _word(change.now))
    return f"| {' | '.join(map(cell, cells))} |"


def cell(text: str) -> str:
    """Text of somebody else's in a table of Markdown: no markup, no new cell."""
    safe = label(text)
    for character in "\\`*_[]<>|#":
        safe = safe.replace(character, f"\\{character}" if character != "<" else "&lt;")
    return safe


def _word(outcome: Outcome | None) -> str:
    return outcome.value if outcome is not None else "-"
