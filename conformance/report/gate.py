"""The gate of a CI job, and how reports show its result: deviations that nothing excuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from conformance.report.findings import Group, groups
from conformance.report.places import PacketPlace
from conformance.report.situations import by_operation
from conformance.report.standing import Floor, Known, RunSummary, deviates, failing, floor_below, unknown
from conformance.report.table import HEADLINES, PROBLEMS, Table, conclusion, headline, whole
from conformance.report.text import label
from conformance.runlog import Run, Said
from conformance.runlog.counts import counted
from conformance.runlog.run import left_out
from conformance.spec.catalogue import demanded_ids, profile_of
from conformance.verdict import ExitCode, Json, Outcome, worst

KINDS = {
    "deviation": "deviations",
    "floor": "floors not reached",
    "unjudged": "no longer judged",
    "unmet": "operations with situations no longer met",
    "incomplete": "incomplete runs",
    "error": "errors of the harness",
    "expired": "baseline entries that are over",
    "needless": "baseline entries that no longer fail",
    "unseen": "baseline entries that were not judged",
}
"""The kinds of objections, each with its words in the plural."""
_ONE = {
    "deviation": "deviation",
    "floor": "floor not reached",
    "unmet": "operation with situations no longer met",
    "incomplete": "incomplete run",
    "error": "error of the harness",
    "expired": "baseline entry that is over",
    "needless": "baseline entry that no longer fails",
    "unseen": "baseline entry that was not judged",
}

Key = TypeVar("Key", str, tuple[str, str])
_SHOWN = 3  # names in the closing line


@dataclass(frozen=True, slots=True)
class Objection:
    """One reason to keep the gate shut.

    kind: of KINDS. what: the name of a requirement, rule, suite, phase (`SUITE: PHASE`), test or baseline entry. place:
    of the first packet that deviates, in a run that judged captures.
    """

    kind: str
    what: str
    why: str
    place: PacketPlace | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the objection as JSON."""
        place = None if self.place is None else self.place.to_json()
        return {"kind": self.kind, "what": self.what, "why": self.why, "place": place}


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of the gate.

    known: excused deviations, each with its excuse. judged: how many of the demanded requirements were judged. beside:
    how many others were judged, which the catalogue does not have, or not for the profile.
    """

    objections: tuple[Objection, ...]
    known: tuple[tuple[str, str], ...]
    judged: int
    demanded: int
    beside: int
    level: str
    remarks: tuple[str, ...] = ()
    lacking: str = ""
    """The bytes that captures announce but do not contain, if that is not allowed."""
    left_out: str = ""
    """The tests that the run left out, in a sentence, if that is not allowed."""

    @property
    def anything(self) -> bool:
        """The run judged something."""
        return bool(self.judged or self.beside)

    @property
    def exit_code(self) -> ExitCode:
        """0, 1 for an objection, 2 for an incomplete run or captures, 5 if nothing was judged or tests were left out.

        An incomplete run proves no regression but a deviation: the rest may be missing because the run did not reach
        it.
        """
        kinds = {objection.kind for objection in self.objections}
        if kinds and ("deviation" in kinds or "incomplete" not in kinds):
            return ExitCode.DEVIATES
        if kinds:
            return ExitCode.BAD_INPUT
        if self.lacking:
            return ExitCode.BAD_INPUT
        return ExitCode.CONFORMS if self.anything and not self.left_out else ExitCode.NOTHING_JUDGED

    @property
    def sentence(self) -> str:
        """The closing line."""
        if not self.objections and self.lacking:
            return f"gate: shut: the captures are incomplete: {self.lacking}"
        if not self.objections and not self.anything:
            return "gate: shut: nothing was judged"
        if not self.objections and self.left_out:
            return f"gate: shut: {self.left_out}"
        if not self.objections:
            excused = f", {deviations(len(self.known), KNOWN)}" if self.known else ""
            judged = f"{self.judged:,} of {self.demanded:,} requirements judged"
            return f"gate: open: {judged} at level {self.level}{excused}, no regression"
        counts = []
        for kind, words in KINDS.items():
            number = sum(objection.kind == kind for objection in self.objections)
            if number:
                counts.append(f"{number} {_ONE.get(kind, words) if number == 1 else words}")
        names = list(dict.fromkeys(objection.what for objection in self.objections))
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"gate: shut: {', '.join(counts)} ({', '.join(names[:_SHOWN])}{more})"

    def to_json(self) -> dict[str, Json]:
        """Return the object that `--json` prints."""
        return {
            "open": self.exit_code is ExitCode.CONFORMS,
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "level": self.level,
            "judged": self.judged,
            "demanded": self.demanded,
            "incomplete": self.lacking or None,
            "objections": [objection.to_json() for objection in self.objections],
            "known": [{"requirement": requirement, "excuse": excuse} for requirement, excuse in self.known],
            "remarks": list(self.remarks),
        }


def decide(
    now: RunSummary,
    *,
    before: RunSummary | None = None,
    baseline: Sequence[Known] = (),
    floor: Floor | None = None,
    today: date | None = None,
    allow_incomplete: bool = False,
) -> Decision:
    """Decide whether the gate opens.

    before: the run to compare with; what deviated there is no regression. floor: how many requirements must be judged,
    by default that of `before`. allow_incomplete: accept, with a
    remark, captures that lack what they announce and a run that left tests out.

    A requirement is compared as a whole, because the subjects that a walk meets depend on its seed.
    """
    day = today or date.today()
    objections: list[Objection] = []
    if now.undone is not None:
        objections.append(Objection("incomplete", now.name, now.undone))
    if floor is None and before is not None:
        floor = floor_below(len(before.judged), before.name)
    if floor is not None and len(now.judged) < floor.least:
        objections.append(Objection("floor", now.name, floor.sentence(len(now.judged))))
    for requirement in sorted(now.errors):
        objections.append(Objection("error", requirement, "the harness failed while it was judged"))
    known: list[tuple[str, str]] = []
    fresh = unknown(baseline, now)
    for requirement in sorted(now.deviating):
        if requirement not in fresh:
            known.append((requirement, _excuse(baseline, requirement)))
        elif before is not None and requirement in before.deviating:
            known.append((requirement, f"it deviated in {before.name} already"))
        else:
            objections.append(_deviation(now, requirement, fresh[requirement]))
    objections += _excuses(now, baseline, day)
    if before is not None:
        objections += _vacuous(now, before)
        objections += _unmet(now, before)
    remarks = list(_remarks(now, before))
    if now.lacking and allow_incomplete:
        remarks.append(f"the captures are incomplete: {now.lacking}")
    wanted = demanded_ids(profile_of(now.profile))
    judged = len(now.judged & wanted)
    return Decision(
        tuple(objections),
        tuple(known),
        judged=judged,
        demanded=len(wanted),
        beside=len(now.judged) - judged,
        level=now.level,
        remarks=tuple(remarks),
        lacking="" if allow_incomplete else now.lacking,
        left_out="" if allow_incomplete else (now.left_out or ""),
    )


def _excuse(baseline: Sequence[Known], requirement: str) -> str:
    """Return why the baseline excuses a requirement, with the links of its entries."""
    told = dict.fromkeys(f"{one.reason} ({one.link})" for one in baseline if one.requirement == requirement)
    return f"the baseline: {'; '.join(told)}"


def _deviation(now: RunSummary, requirement: str, subjects: Sequence[str]) -> Objection:
    outcome = now.outcomes[requirement].value
    place = now.place(requirement, subjects[0])
    first = subjects[0] if place is None else f"{place.line}, of {label(place.capture)}"
    others = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    return Objection("deviation", requirement, f"{outcome}: {first}{others}", place)


def _excuses(now: RunSummary, baseline: Sequence[Known], day: date) -> Iterator[Objection]:
    for entry in baseline:
        if entry.requirement not in now.judged:
            yield Objection("unseen", entry.name, "the run did not judge it")
        elif not failing(entry, now):
            yield Objection("needless", entry.name, "it no longer fails: remove the entry (mqconform baseline update)")
        elif entry.expires < day:
            yield Objection("expired", entry.name, f"over since {entry.expires.isoformat()}: {entry.reason}")


def _vacuous(now: RunSummary, before: RunSummary) -> Iterator[Objection]:
    fell_silent = f"judged something in {before.name}, but nothing now"
    suites, requirements = before.suites - now.suites, before.judged - now.judged
    for suite in sorted(suites):
        yield Objection("unjudged", suite, f"the suite {fell_silent}")
    if before.captures == now.captures:
        for test in sorted(before.tests - now.tests):
            yield Objection("unjudged", test, f"it {fell_silent}")
        # Omit the phases of a suite, and the rules of a requirement, that has an objection already.
        for suite, phase in sorted(_lost_counts(before.phases, now.phases)):
            if suite not in suites:
                yield Objection("unjudged", f"{suite}: {phase}", f"this phase of the suite {fell_silent}")
        for rule in sorted(_lost_counts(before.rules, now.rules) - requirements):
            yield Objection("unjudged", rule, f"the rule {fell_silent}")
    for requirement in sorted(requirements):
        why = f"judged in {before.name} ({before.outcomes[requirement].value}), but not now"
        outcome = now.outcomes.get(requirement)
        yield Objection("unjudged", requirement, f"{why} ({outcome.value})" if outcome is not None else why)


def _unmet(now: RunSummary, before: RunSummary) -> Iterator[Objection]:
    """Yield an objection for each operation with situations that were met before and are not now.

    Those that a failure kept from being played are left out: the failure itself is an objection, or excused.
    """
    if before.situations is None or now.situations is None or before.situations_digest != now.situations_digest:
        return
    lost = sorted(before.situations - now.situations - now.situations_excused)
    for operation, names in by_operation(lost, now.situations_digest).items():
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        why = f"met in {before.name}, but not now: {names[0]}{more}"
        yield Objection("unmet", operation, why)


def _lost_counts(before: frozenset[Key] | None, now: frozenset[Key] | None) -> frozenset[Key]:
    """Return what is counted before and not now; nothing if one of the records does not count."""
    return before - now if before is not None and now is not None else frozenset()


def _remarks(now: RunSummary, before: RunSummary | None) -> Iterator[str]:
    if now.left_out is not None:
        yield now.left_out.rstrip(".")
    if before is None:
        return
    if before.profile != now.profile:
        yield f"the profiles differ: {before.profile} before, {now.profile} now"
    both = before.situations is not None and now.situations is not None
    if both and before.situations_digest != now.situations_digest:
        yield "situations are not compared: other feature tables number them in one of the runs"
    uncounted = [each.name for each in (before, now) if each.rules is None]
    if uncounted:
        yield f"rules and phases are not compared: the record of {' and of '.join(uncounted)} does not count them"
    if before.undone is not None:
        yield f"the previous run is not whole: {before.undone}"


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


def objection_counts(objections: Sequence[Objection]) -> Iterator[str]:
    """Return the number of objections of each kind that occurs: `baseline entries that no longer fail: 2`."""
    numbers = Counter(one.kind for one in objections)
    return (f"{words}: {numbers[kind]:,}" for kind, words in KINDS.items() if numbers[kind])


def deviations(number: int, kind: str) -> str:
    """Format a count: `1 known deviation`, `2 known deviations`."""
    return counted(number, f"{kind} deviation")


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
    shut = ", ".join(objection_counts([one for one in decision.objections if one.kind != "deviation"]))
    return f"{words}; the gate is shut ({shut})" if shut else words
