"""Tests that a run did not begin or did not finish. Every report of the run mentions them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.runlog.run import Run
from conformance.verdict import Json

KIND = "left-out"
"""The kind of the evidence event that lists them, once per run."""
MAX_NAMED = 1_000  # tests listed by name in a record; all are counted


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The tests that a run left out. reason: its stop reason. of: number of selected tests. tests: number not begun, by
    suite. cut: number ended early, by suite. named: some of both, by name."""

    reason: str
    of: int
    tests: Mapping[str, int]
    cut: Mapping[str, int]
    named: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """`16 of 1,070 tests were left out and 1 was cut short (budget): suites quotas, restart.`"""
        whole, cut = sum(self.tests.values()), sum(self.cut.values())
        were = [f"{number:,} {'was' if number == 1 else 'were'} {what}" for number, what in _told(whole, cut)]
        first, *others = were
        number, _, rest = first.partition(" ")
        suites = sorted(self.tests.keys() | self.cut.keys())
        word = "suite" if len(suites) == 1 else "suites"
        parts = [f"{number} of {self.of:,} tests {rest}", *others]
        return f"{' and '.join(parts)} ({self.reason}): {word} {', '.join(suites)}."

    def to_json(self) -> dict[str, Json]:
        """Return the members for the record and for every JSON report."""
        return {
            "reason": self.reason,
            "of": self.of,
            "tests": dict(self.tests),
            "cut": dict(self.cut),
            "named": list(self.named),
            "sentence": self.sentence,
        }


def _told(whole: int, cut: int) -> list[tuple[int, str]]:
    return [each for each in ((whole, "left out"), (cut, "cut short")) if each[0]]


def left_out(run: Run) -> LeftOut | None:
    """Return what a run left out; None for nothing, and for a record that does not say."""
    return next((from_json(item.data) for item in run.evidence_of(KIND)), None)


def from_json(data: Mapping[str, Json]) -> LeftOut | None:
    """The inverse of `LeftOut.to_json`; None for data without counts: a record is a file, and may hold anything."""
    tests, cut = (_counts(data.get(name)) for name in ("tests", "cut"))
    of, named = data.get("of"), data.get("named")
    if not tests and not cut:
        return None
    names = tuple(name for name in named if isinstance(name, str)) if isinstance(named, list) else ()
    return LeftOut(str(data.get("reason", "unknown")), of if isinstance(of, int) else 0, tests, cut, names)


def _counts(raw: Json) -> dict[str, int]:
    found: Iterable[tuple[str, Json]] = raw.items() if isinstance(raw, Mapping) else ()
    return {str(name): count for name, count in found if isinstance(count, int) and count > 0}
