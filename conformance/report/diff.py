"""The difference between two runs, by requirement: fixed, broken, new, gone or changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.report.comparison_key import Standing, level_of
from conformance.report.text import label
from conformance.runlog.tally import NO_JUDGEMENT
from conformance.verdict import Json, Outcome

FIXED, BROKEN, NEW, GONE, CHANGED = "fixed", "broken", "new", "gone", "changed"
KINDS = (BROKEN, GONE, FIXED, NEW, CHANGED)
"""The kinds in the order of reports: the most urgent first."""

_SAYS = {
    BROKEN: "deviate now and did not before",
    GONE: "were judged before and are not now",
    FIXED: "deviated before and do not now",
    NEW: "are judged now and were not before",
    CHANGED: "have another outcome, but deviate or not as before",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One requirement that differs. before, now: its outcomes, None where a run has no verdict on it."""

    kind: str
    requirement: str
    before: Outcome | None
    now: Outcome | None

    def to_json(self) -> dict[str, Json]:
        """Return the change as JSON."""
        return {
            "kind": self.kind,
            "requirement": self.requirement,
            "level": level_of(self.requirement),
            "before": self.before.value if self.before else None,
            "now": self.now.value if self.now else None,
        }


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference of two runs. before, now: their names. changes: by kind, then id. same: how many are unchanged."""

    before: str
    now: str
    changes: tuple[Change, ...]
    same: int

    @property
    def counts(self) -> dict[str, int]:
        """The number of changes by kind, zeros too."""
        return {kind: sum(change.kind == kind for change in self.changes) for kind in KINDS}

    def to_json(self) -> dict[str, Json]:
        """Return the object that `--json` prints."""
        return {
            "before": self.before,
            "now": self.now,
            "counts": {**self.counts, "same": self.same},
            "changes": [change.to_json() for change in self.changes],
        }


def diff(before: Standing, now: Standing) -> Diff:
    """Compare two runs. A new requirement that deviates counts as broken, one that deviated and is gone as gone."""
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
    return outcome is not None and outcome not in NO_JUDGEMENT


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
    """Return the closing line: `2 broken, 1 fixed, 340 the same`."""
    counts = [f"{number} {kind}" for kind, number in found.counts.items() if number]
    return ", ".join([*counts, f"{found.same} the same"])


def markdown(found: Diff) -> str:
    """Return the difference as Markdown: a table for each kind, and the closing line."""
    lines = [f"# {cell(found.before)} to {cell(found.now)}", "", sentence(found) + "."]
    for kind in KINDS:
        changes = [change for change in found.changes if change.kind == kind]
        if changes:
            lines += ["", f"## {kind.capitalize()}", "", f"Requirements that {_SAYS[kind]}.", ""]
            lines += ["| requirement | level | before | now |", "|---|---|---|---|"]
            lines += [_row(change) for change in changes]
    return "\n".join(lines) + "\n"


def text_lines(found: Diff) -> Sequence[str]:
    """Return the difference for a terminal, one line a change."""
    return [
        f"{change.kind:<8}{label(change.requirement)}: {_word(change.before)} -> {_word(change.now)}"
        for change in found.changes
    ]


def _row(change: Change) -> str:
    cells = (change.requirement, level_of(change.requirement), _word(change.before), _word(change.now))
    return f"| {' | '.join(map(cell, cells))} |"


def cell(text: str) -> str:
    """Escape outside text for a cell of a Markdown table: no markup, no new cell."""
    safe = label(text)
    for character in "\\`*_[]<>|#":
        safe = safe.replace(character, f"\\{character}" if character != "<" else "&lt;")
    return safe


def _word(outcome: Outcome | None) -> str:
    return outcome.value if outcome is not None else "-"
