"""The result of a run in a report, including what the gate excuses by a baseline or an earlier run.

A deviation is *known* (excused) or *new*. `gate.decide` tells which, and which other objections shut the gate, such as
a baseline entry that is *needless* (nothing deviates any more), not judged, or over. Every report uses this wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.report.comparison_key import deviates
from conformance.report.findings import Group, groups
from conformance.report.gate import KINDS, Decision, Objection
from conformance.report.table import HEADLINES, PROBLEMS, Table, conclusion, headline, whole
from conformance.report.text import label
from conformance.runlog import Run, Said
from conformance.runlog.left_out import left_out
from conformance.verdict import ExitCode, Outcome, worst

KNOWN, NEW = "known", "new"

TONES: Mapping[ExitCode, str] = {
    ExitCode.CONFORMS: "good",
    ExitCode.DEVIATES: "bad",
    ExitCode.BAD_INPUT: "warn",
    ExitCode.HARNESS_ERROR: "bad",
    ExitCode.NOTHING_JUDGED: "warn",
}
_TOLD = frozenset({"deviation", "error"})
"""Objections that reports show at their requirement, not in a list of their own."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run. code: the exit code; headline: the same in words. tone: `good`, `bad` or `warn`."""

    code: ExitCode
    headline: str
    tone: str


@dataclass(frozen=True, slots=True)
class Excused:
    """A run with its gate. decision: None without a gate; then no deviation is known or new."""

    run: Run
    decision: Decision | None = None

    @property
    def strict(self) -> bool:
        """The run uses the strict readings: following another reading deviates."""
        return self.run.header.reading_set == "strict"

    @property
    def excuses(self) -> Mapping[str, str]:
        """Requirement to the reason why its deviation is known."""
        return dict(self.decision.known) if self.decision is not None else {}

    @property
    def fresh(self) -> frozenset[str]:
        """The requirements with a new deviation."""
        found = self.decision.objections if self.decision is not None else ()
        return frozenset(one.what for one in found if one.kind == "deviation")

    @property
    def others(self) -> tuple[Objection, ...]:
        """The objections of the gate that are neither new deviations nor harness errors."""
        found = self.decision.objections if self.decision is not None else ()
        return tuple(one for one in found if one.kind not in _TOLD)

    @property
    def result(self) -> Result:
        """The result of the run. An incomplete record cannot prove conformance."""
        code = conclusion(self.run) if self.decision is None else self.decision.exit_code
        words = headline(self.run) if self.decision is None else _words(self, code)
        tone = TONES[code]
        # A gate may accept a run that left tests out; without a gate such a run is not shown as green.
        proven = self.run.complete if self.decision is not None else whole(self.run)
        return Result(code, words, tone if proven or tone == "bad" else "warn")

    def states(self) -> Mapping[str, str]:
        """Return requirement to KNOWN or NEW, for those that deviate."""
        return {**dict.fromkeys(self.excuses, KNOWN), **dict.fromkeys(self.fresh, NEW)}

    def state(self, states: Mapping[str, str], requirement: str, outcome: Outcome) -> str | None:
        """Return KNOWN or NEW for a verdict that deviates, None for any other. states: those of `states()`."""
        return states.get(requirement) if deviates(outcome, self.strict) else None


def parted(excused: Excused, table: Table) -> tuple[list[Group], list[Group], list[Group]]:
    """Return (failures, known deviations, warnings and readings), each worst first and in the order of the documents.

    With a gate, the failures are those that shut it; a deviation that does not bind at its level is a warning.
    """
    failures, notable = groups(excused.run, table)
    if excused.decision is None:
        return failures, [], notable
    states = excused.states()
    found: dict[str | None, list[Group]] = {NEW: [], KNOWN: [], None: []}
    for group in (*failures, *notable):
        error = group.outcome is Outcome.ERROR
        found[NEW if error else excused.state(states, group.row.id, group.outcome)].append(group)
    return found[NEW], found[KNOWN], found[None]


def told_of(excused: Excused, state: str | None, said: Sequence[Said]) -> tuple[Outcome, str | None]:
    """Return the outcome to report for one requirement in one suite, and NEW if it is wrong, KNOWN if excused, else
    None.

    state: the requirement's. A harness error is wrong whatever is excused.
    """
    outcome = worst(one.outcome for one in said) or Outcome.SKIP
    if excused.decision is None:
        strict = excused.strict and outcome is Outcome.READING
        return outcome, NEW if strict or outcome in PROBLEMS else None
    wrong = worst(one.outcome for one in said if deviates(one.outcome, excused.strict))
    if state != NEW and any(one.outcome is Outcome.ERROR for one in said):
        return Outcome.ERROR, NEW
    if wrong is None or state is None:
        return outcome, NEW if outcome is Outcome.ERROR else None
    return wrong, state


def counted(objections: Sequence[Objection]) -> Iterator[str]:
    """Return the number of objections of each kind that occurs: `baseline entries that no longer fail: 2`."""
    numbers = Counter(one.kind for one in objections)
    return (f"{words}: {numbers[kind]:,}" for kind, words in KINDS.items() if numbers[kind])


def deviations(number: int, kind: str) -> str:
    """Format a count: `1 known deviation`, `2 known deviations`."""
    return f"{number:,} {kind} deviation{'' if number == 1 else 's'}"


def _words(excused: Excused, code: ExitCode) -> str:
    decision, known = excused.decision, len(excused.excuses)
    assert decision is not None
    if not decision.anything and code is ExitCode.NOTHING_JUDGED:
        return HEADLINES[code]
    if excused.fresh:
        words = f"Does not conform: {deviations(len(excused.fresh), NEW)}" + (f", {known:,} known" if known else "")
    else:
        found = f"Conforms but for {deviations(known, KNOWN)}" if known else HEADLINES[ExitCode.CONFORMS]
        words = f"Incomplete: {found[0].lower()}{found[1:]} in what could be read" if excused.run.incomplete else found
    left = left_out(excused.run)
    if left is not None:
        words += f"; {label(left.sentence.rstrip('.'), 1_000)}"
    shut = ", ".join(counted([one for one in decision.objections if one.kind != "deviation"]))
    return f"{words}; the gate is shut ({shut})" if shut else words
