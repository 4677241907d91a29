"""The gate: does this run have anything that the run before, or the baseline, does not excuse?

It stands in a CI job, so it is suspicious: a run that judges less than the one it is compared with is a regression too,
and so is an excuse that is over or no longer needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from conformance.report.baseline import Known, failing, unknown
from conformance.report.standing import Standing
from conformance.verdict import ExitCode, Json

KINDS = {
    "deviation": "deviations",
    "unjudged": "no longer judged",
    "incomplete": "incomplete runs",
    "error": "errors of the harness",
    "expired": "baseline entries that are over",
    "needless": "baseline entries that no longer fail",
    "unseen": "baseline entries that were not judged",
}
"""Why a gate stays shut, each in the words for several."""

Key = TypeVar("Key", str, tuple[str, str])
_SHOWN = 3  # names in the closing line


@dataclass(frozen=True, slots=True)
class Objection:
    """One reason to keep the gate shut.

    kind: of KINDS. what: a requirement, rule, suite, phase (`SUITE: PHASE`), test or baseline entry, by name.
    """

    kind: str
    what: str
    why: str

    def to_json(self) -> dict[str, Json]:
        """The members."""
        return {"kind": self.kind, "what": self.what, "why": self.why}


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says. known: deviations that are excused, each with the excuse. judged: requirements judged."""

    objections: tuple[Objection, ...]
    known: tuple[tuple[str, str], ...]
    judged: int
    level: str
    remarks: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """0, 1 for an objection, 5 when nothing was judged."""
        if self.objections:
            return ExitCode.DEVIATES
        return ExitCode.CONFORMS if self.judged else ExitCode.NOTHING_JUDGED

    @property
    def sentence(self) -> str:
        """The closing line."""
        if not self.objections and not self.judged:
            return "gate: shut: nothing was judged"
        if not self.objections:
            excused = f", {len(self.known)} known deviations" if self.known else ""
            return f"gate: open: {self.judged} requirements judged at level {self.level}{excused}, no regression"
        counts = []
        for kind, words in KINDS.items():
            number = sum(objection.kind == kind for objection in self.objections)
            if number:
                counts.append(f"{number} {words}")
        names = list(dict.fromkeys(objection.what for objection in self.objections))
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"gate: shut: {', '.join(counts)} ({', '.join(names[:_SHOWN])}{more})"

    def to_json(self) -> dict[str, Json]:
        """What `--json` prints."""
        return {
            "open": self.exit_code is ExitCode.CONFORMS,
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "level": self.level,
            "judged": self.judged,
            "objections": [objection.to_json() for objection in self.objections],
            "known": [{"requirement": requirement, "excuse": excuse} for requirement, excuse in self.known],
            "remarks": list(self.remarks),
        }


def decide(
    now: Standing, *, before: Standing | None = None, baseline: Sequence[Known] = (), today: date | None = None
) -> Decision:
    """Open the gate or not. before: the run compared with; what deviated there already is no regression.

    A requirement is compared as a whole: which of its subjects a walk meets is a matter of its seed.
    """
    day = today or date.today()
    objections: list[Objection] = []
    if now.undone is not None:
        objections.append(Objection("incomplete", now.name, now.undone))
    for requirement in sorted(now.errors):
        objections.append(Objection("error", requirement, "the harness failed while it was judged"))
    known: list[tuple[str, str]] = []
    fresh = unknown(baseline, now)
    for requirement in sorted(now.deviating):
        if requirement not in fresh:
            known.append((requirement, "the baseline"))
        elif before is not None and requirement in before.deviating:
            known.append((requirement, f"it deviated in {before.name} already"))
        else:
            objections.append(Objection("deviation", requirement, _deviation(now, requirement, fresh[requirement])))
    objections += _excuses(now, baseline, day)
    if before is not None:
        objections += _vacuous(now, before)
    return Decision(tuple(objections), tuple(known), len(now.judged), now.level, tuple(_remarks(now, before)))


def _deviation(now: Standing, requirement: str, subjects: Sequence[str]) -> str:
    outcome = now.outcomes[requirement].value
    first = subjects[0]
    return f"{outcome}: {first}" + (f" and {len(subjects) - 1} more" if len(subjects) > 1 else "")


def _excuses(now: Standing, baseline: Sequence[Known], day: date) -> Iterator[Objection]:
    for entry in baseline:
        if entry.requirement not in now.judged:
            yield Objection("unseen", entry.name, "the run says nothing about it")
        elif not failing(entry, now):
            yield Objection("needless", entry.name, "it no longer fails: remove the entry (mqconform baseline update)")
        elif entry.expires < day:
            yield Objection("expired", entry.name, f"over since {entry.expires.isoformat()}: {entry.reason}")


def _vacuous(now: Standing, before: Standing) -> Iterator[Objection]:
    said = f"judged something in {before.name}, and nothing now"
    suites, requirements = before.suites - now.suites, before.judged - now.judged
    for suite in sorted(suites):
        yield Objection("unjudged", suite, f"the suite {said}")
    if before.captures == now.captures:
        for test in sorted(before.tests - now.tests):
            yield Objection("unjudged", test, f"it {said}")
        # Of a suite or requirement that is told of already, nothing is told again.
        for suite, phase in sorted(_gone(before.phases, now.phases)):
            if suite not in suites:
                yield Objection("unjudged", f"{suite}: {phase}", f"this phase of the suite {said}")
        for rule in sorted(_gone(before.rules, now.rules) - requirements):
            yield Objection("unjudged", rule, f"the rule {said}")
    for requirement in sorted(requirements):
        why = f"judged in {before.name} ({before.outcomes[requirement].value}), and not now"
        outcome = now.outcomes.get(requirement)
        yield Objection("unjudged", requirement, f"{why} ({outcome.value})" if outcome is not None else why)


def _gone(before: frozenset[Key] | None, now: frozenset[Key] | None) -> frozenset[Key]:
    """What is counted in the one and not in the other; nothing where one of them does not count."""
    return before - now if before is not None and now is not None else frozenset()


def _remarks(now: Standing, before: Standing | None) -> Iterator[str]:
    if before is None:
        return
    if before.profile != now.profile:
        yield f"the profiles differ: {before.profile} before, {now.profile} now"
    uncounted = [each.name for each in (before, now) if each.rules is None]
    if uncounted:
        yield f"rules and phases are not compared: the record of {' and of '.join(uncounted)} does not count them"
    if before.undone is not None:
        yield f"the run compared with is not whole: {before.undone}"
