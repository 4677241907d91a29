"""Recorder of one test's verdicts: it counts what holds, ends the test at a failure, and keeps the story."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.harness.guarded_client import ENOUGH, leaving_out
from conformance.harness.text_bounds import MAX_HEARD, SHORT, cut_step, cut_story, cut_verdict
from conformance.harness.worker_processes import STOP
from conformance.runlog.counts import Tally
from conformance.runlog.events import StoryStep, Told
from conformance.spec.catalogue import current, requirement, requirement_id
from conformance.spec.versions import LEVELS
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.ahead import Played
    from conformance.harness.known_deviations import KnownDeviations
    from conformance.harness.tape import Example, Tape

FLUSH_SECONDS = 1.0  # counted passes reach the run record at least this often, so that a killed run loses little
_FAIL, _PASS = Outcome.FAIL, Outcome.PASS  # a look into an enumeration takes longer than all else about a pass
MAX_QUICK = 4096  # verdict objects remembered for fast counting: the model yields the same objects again and again
MAX_STORY_STEPS = 400  # a longer story is cut in the middle, so that the memory of a soak run stays bounded


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run. readings: each reading id with its accepted alternatives, the default first.

    chosen: the readings decided apart from the reading set, each with its one accepted alternative. first_only: a test
    may end with the first failure it finds. situations: those of the planned histories to play, see `--situations`.
    """

    profile: str
    level: str
    readings: Mapping[str, tuple[str, ...]]
    reading_set: str
    seed: int = 0
    max_examples: int = 1
    stateful_steps: int = 1
    budget_s: float | None = None
    chosen: Mapping[str, str] = field(default_factory=dict)
    first_only: bool = False
    situations: str = "default"


class ConformanceFailure(AssertionError):
    """The implementation breaks a requirement. Carries the verdict, the story and the data to run it again."""

    def __init__(
        self,
        verdict: Verdict,
        story: tuple[StoryStep, ...],
        repro: Mapping[str, Any],
        example: Example | None = None,
    ) -> None:
        """example: the recording of the example, if there is one."""
        self.verdict = verdict
        self.replaces: str | None = None
        """The requirement that was blamed for this before its story was shortened, if it was another one."""
        self.unshrunk: ConformanceFailure | None = None
        """The failure as it was met, before its story was shortened."""
        self.repeat: bool | None = None
        """Run the story several times before it is told: True; None if it depends on a time; False if that is done."""
        self.example = example
        self.story = story
        self.repro = repro
        super().__init__(f"{verdict.requirement}: expected {verdict.expected!r}, got {verdict.actual!r}")


class HarnessDefect(Exception):
    """An example broke off, or did what it must not: what was judged in it stands. requirement: one it was to judge."""

    def __init__(self, requirement: str, what: str) -> None:
        self.requirement = requirement
        super().__init__(what)


class ConformanceFailures(ExceptionGroup[ConformanceFailure]):
    """Several distinct failures found by one test."""

    def derive(self, excs: Sequence[ConformanceFailure]) -> ConformanceFailures:  # type: ignore[override]
        return ConformanceFailures(self.message, excs)


@cache
def failure_type(requirement_name: str) -> type[ConformanceFailure]:
    """Return the subclass for a requirement: hypothesis tells failures apart by type, and must not mix two of them."""
    return type("ConformanceFailure", (ConformanceFailure,), {"__doc__": f"{requirement_name} is broken."})


class Recorder:
    """Recorder of one test. Not thread-safe: a test judges on its own thread.

    sink: called with (verdict, number of times it was seen) as counts are flushed.
    disabled: requirement ids whose check is switched off (only `selftest` does so, to show that a check matters).
    past: the deviations known so far, None if each stands for itself. suite: the test's suite. tally: counts the
    test's judgements, by rule and by phase.
    """

    def __init__(
        self,
        options: RunOptions,
        sink: Callable[[Verdict, int], object],
        *,
        claimed: frozenset[str] = frozenset(),
        disabled: frozenset[str] = frozenset(),
        on_first_failure: Callable[[Verdict], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        tape: Tape | None = None,
        suite: str = "",
        past: KnownDeviations | None = None,
    ) -> None:
        self.tape = tape
        self.past = past
        self.suite = suite
        self.until = float("inf")  # `time.monotonic()` after which no example should begin
        self.ahead: Callable[[], Played | None] = lambda: None  # the test's example, if it was played ahead
        self.cut = False  # examples were left out because of `until`
        self.lacking: dict[str, None] = {}  # what the test did without, because the driver does not offer it
        self.remarks: list[str] = []  # notes on the test for readers of the record
        self.tally = Tally()
        self.evidence: list[tuple[str, Mapping[str, Any]]] = []  # further data of the test for the record, by kind
        self.profile = options.profile
        self.readings = options.readings
        self.flush_s = FLUSH_SECONDS
        self.steps_taken = 0
        self.examples = 0
        self._options = options
        self._sink = sink
        self._claimed = claimed
        self._disabled = disabled
        self.on_first_failure = on_first_failure
        self._clock = clock
        self._counts: dict[tuple[str, Outcome, tuple[tuple[str, str], ...]], tuple[Verdict, int]] = {}
        self._firsts: dict[tuple[str, Outcome, tuple[tuple[str, str], ...]], Verdict] = {}
        self._flushed = clock()
        self._quick: dict[int, list[Any]] = {}  # id of a verdict that it keeps -> [verdict, further occurrences]
        self._binds: dict[str, bool] = {}
        self._story: list[StoryStep | Callable[[], StoryStep]] = []
        self._dropped_steps = 0
        self._kind = self._phase = "calls"
        self._covered = True  # by the repro file
        self._data: dict[str, Any] = {}
        self._heard = 0
        self._muted = False
        self._passes: list[Verdict] = []  # the passes of this example
        self._failed_before: set[str] = set()
        self.first_failures: list[ConformanceFailure] = []
        self.judged: set[str] = set()
        self.transitions: dict[str, int] = {}
        self.undemanded = False
        self.played: frozenset[str] = frozenset()
        """Methods that the driver performs itself: of their answers nothing is judged."""
        self.on_example: Callable[[str, Mapping[str, Any]], None] | None = None
        """Called with the kind and the data of each example that begins; the data may still change."""

    def told_before(self, requirements: Iterable[str]) -> None:
        """Note that earlier tests have told of failures of these: the first one here is nothing new."""
        self._failed_before.update(requirements)

    def begin_example(self, kind: str = "calls", data: Mapping[str, Any] | None = None) -> None:
        """Begin an example with an empty story. kind, data: stored in its repro file beside the calls.

        Judgements in the example count for the phase named by `data["case"]`, or else by its kind.
        """
        STOP.look()
        if STOP.enough:
            raise leaving_out(ENOUGH)
        self._story.clear()
        self._dropped_steps = self._heard = 0
        self._kind = kind
        self._data = dict(data or {})
        case = self._data.get("case")
        self._phase = case if isinstance(case, str) else kind
        self._muted = False
        self._covered = True
        self._passes.clear()
        self.examples += 1
        if self.on_example is not None:
            self.on_example(kind, self._data)
        if self.tape is not None:
            self.tape.begin(kind, self._data)

    def heard(self, size: int) -> None:
        """Count the bytes of an answer. Past MAX_HEARD in an example, its steps keep only the beginning of answers."""
        if self._heard <= MAX_HEARD < self._heard + size:
            self._story = [cut_step(line if isinstance(line, StoryStep) else line(), SHORT) for line in self._story]
        self._heard += size

    def repro_data(self, **data: Any) -> None:
        """Add data to the repro file of the current example."""
        self._data.update(data)

    def untold(self) -> None:
        """Note that the repro file does not cover the rest of this example, so the rest cannot be judged again."""
        self._covered = False
        if self.tape is not None:
            self.tape.untold()

    def step(
        self, line: str | Told, call: Mapping[str, Any] | None = None, answer: Mapping[str, Any] | None = None
    ) -> None:
        """Add a line to the story of the current example."""
        told = line if isinstance(line, Told) else Told(line)
        self.step_told(StoryStep(told.text, call, answer, told.parts))

    def step_told(self, line: StoryStep | Callable[[], StoryStep]) -> None:
        """Add a line, or a function that makes it on demand: nobody reads the stories of most examples."""
        if self._kind == "calls":
            self.steps_taken += 1
        if len(self._story) >= MAX_STORY_STEPS:
            del self._story[MAX_STORY_STEPS // 2]
            self._dropped_steps += 1
        if self._heard > MAX_HEARD:
            line = cut_step(line if isinstance(line, StoryStep) else line(), SHORT)
        self._story.append(line)

    @property
    def story(self) -> tuple[StoryStep, ...]:
        """The story so far, with a line in place of omitted steps. For a test without a story, the calls it made."""
        if not self._story and self.tape is not None:
            return cut_story(self.tape.story())
        told = tuple(line if isinstance(line, StoryStep) else line() for line in self._story)
        if self._dropped_steps:
            middle = MAX_STORY_STEPS // 2
            told = (*told[:middle], StoryStep(f"({self._dropped_steps} steps left out)"), *told[middle:])
        return cut_story(told)

    def repro(self) -> dict[str, Any]:
        """Return the data needed to run the current example again."""
        return {"kind": self._kind, **self._data}

    @property
    def options(self) -> RunOptions:
        """The options of the run, for histories that are judged beside the test."""
        return self._options

    @property
    def disabled(self) -> frozenset[str]:
        """The requirements whose check is switched off."""
        return self._disabled

    @property
    def muted(self) -> bool:
        """True once a switched-off check would have failed: the rest of the example is not judged."""
        return self._muted

    def unmute(self) -> None:
        """Judge again: the failure of the switched-off check does not affect the rest of the example."""
        self._muted = False

    def holds(
        self, requirement_name: str, holds: object, *, subject: str = "", expected: Any = None, actual: Any = None
    ) -> None:
        """Record whether a requirement holds, in an implementer's own test. A failure ends the test.

        subject: the judged thing, in a few words. expected, actual: JSON values. Raises CatalogueError, with the
        nearest id, for an unknown requirement.
        """
        outcome = Outcome.PASS if holds else Outcome.FAIL
        self.record(
            Verdict(requirement_id(current(requirement_name)), outcome, subject or "own test", expected, actual)
        )

    def lacks(self, *what: str) -> None:
        """Note what the test does without: its requirements that are not judged are skipped for this reason."""
        self.lacking |= dict.fromkeys(what)

    def looked(self, phase: str) -> None:
        """Count a judgement of this phase that leaves no verdict, such as a control that came out right."""
        self.tally.phases[self.suite, phase] += 1

    def record(self, *verdicts: Verdict, phase: str | None = None) -> None:
        """Count verdicts. The first FAIL raises ConformanceFailure.

        A failed requirement of a weaker level than the run's becomes a warning. A requirement that does not bind the
        profile is ignored. phase: the phase to count for, if not the example's.
        """
        if not self._muted:
            self._record(verdicts, phase or self._phase)

    def _record(self, verdicts: Sequence[Verdict], phase: str) -> None:
        quick, again, tape = self._quick, 0, self.tape
        judged: list[Verdict] = []
        for verdict in verdicts:
            counted = quick.get(id(verdict))
            if counted is not None:  # counted before: no further look-up is needed
                counted[1] += 1
                again += 1
                self._passes.append(verdict)
                if tape is not None:
                    tape.said(verdict)
                continue
            binds = self._binds.get(verdict.requirement)
            if binds is None:
                binds = requirement(verdict.requirement).binds(self.profile)
                self._binds[verdict.requirement] = binds
            if not binds:
                continue
            if verdict.subject in self.played:
                self.lacks(f"{verdict.subject}, which the driver performs itself")
                if verdict.outcome is _FAIL:  # What follows is not as the model has it.
                    self._muted, again = True, 0
                    break
                continue
            verdict = cut_verdict(verdict)
            if verdict.outcome is _FAIL:
                if verdict.requirement in self._disabled:
                    self._muted, again = True, 0
                    break
                level = requirement(verdict.requirement).level
                if LEVELS.index(level) <= LEVELS.index(self._options.level):
                    self.tally.count([*judged, verdict], self.suite, phase)
                    self._fail(verdict)
                verdict = replace(verdict, outcome=Outcome.WARN)
            if verdict.requirement in self._disabled:
                continue
            self._count(verdict)
            if verdict.outcome is _PASS:
                self._passes.append(verdict)
            judged.append(verdict)
            if tape is not None:
                tape.said(verdict)
            told = verdict.rule or verdict.phase
            if verdict.outcome is _PASS and not told and len(quick) < MAX_QUICK:
                quick[id(verdict)] = [verdict, 0]
        self.tally.count(judged, self.suite, phase)
        if again:
            self.tally.phases[self.suite, phase] += again
        if self._clock() - self._flushed > self.flush_s:
            self.flush()

    def took(self, rows: Sequence[str]) -> None:
        """Count the rows of the model's tables that a step followed."""
        for row in rows:
            self.transitions[row] = self.transitions.get(row, 0) + 1

    def not_demanded(self, why: str) -> NoReturn:
        """End the test without a verdict: the run's profile demands nothing that it judges."""
        import pytest

        self.undemanded = True
        pytest.skip(why)

    def _fail(self, verdict: Verdict) -> None:
        self._withdraw(verdict.requirement)
        self.flush()
        self.judged.add(verdict.requirement)
        example = None
        if self.tape is not None:
            self.tape.said(verdict)
            example = self.tape.example

        def make() -> ConformanceFailure:
            failure = failure_type(verdict.requirement)(verdict, self.story, self.repro(), example)
            # A repro that lacks what failed passes each time: that does not make the failure a flaky one.
            failure.repeat = None if self._covered else False
            return failure

        if verdict.requirement not in self._failed_before:
            self._failed_before.add(verdict.requirement)
            # Not the object that is raised: that one keeps alive all frames it passes, and the answers in them.
            self.first_failures.append(make())
            if self.on_first_failure is not None:
                self.on_first_failure(verdict)
        raise make()

    def _withdraw(self, broken: str) -> None:
        """Take back what this example has counted as held and now shows broken, as far as it was not flushed."""
        for one in self._passes:
            if one.requirement != broken:
                continue
            counted = self._quick.get(id(one))
            key = (one.requirement, one.outcome, one.readings)
            if counted is not None and counted[1]:
                counted[1] -= 1
            elif key in self._counts:
                first, count = self._counts[key]
                self._counts[key] = (first, count - 1)
                if count == 1:
                    del self._counts[key]
        self._passes.clear()

    def _count(self, verdict: Verdict) -> None:
        key = (verdict.requirement, verdict.outcome, verdict.readings)
        _, count = self._counts.get(key, (verdict, 0))
        # The first occurrence in this test is recorded, however often the counts are flushed.
        self._counts[key] = (self._firsts.setdefault(key, verdict), count + 1)
        if verdict.outcome is not Outcome.SKIP:
            self.judged.add(verdict.requirement)

    def flush(self) -> None:
        """Pass the counted verdicts to the sink."""
        for verdict, more in self._quick.values():
            if more:
                key = (verdict.requirement, verdict.outcome, verdict.readings)
                _, count = self._counts.get(key, (verdict, 0))
                self._counts[key] = (self._firsts.setdefault(key, verdict), count + more)
        self._quick.clear()
        for verdict, count in self._counts.values():
            self._sink(verdict, count)
        self._counts.clear()
        self._flushed = self._clock()

    def unjudged(self) -> frozenset[str]:
        """Return the requirements that the test claims and has not judged."""
        return self._claimed - self.judged
