"""What a conformance test hands its verdicts to: counts what holds, stops at what does not, and keeps the story."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.runlog.events import StoryStep
from conformance.runlog.tally import Tally
from conformance.spec.catalogue import requirement, requirement_id
from conformance.spec.versions import LEVELS
from conformance.suites.stopping import STOP
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.suites.taping import Example, Tape

FLUSH_SECONDS = 1.0  # counted passes reach the run record at least this often, so that a killed run loses little
MAX_QUICK = 4096  # verdicts whose objects are remembered: the model makes the same ones again and again
MAX_STORY_STEPS = 400  # a longer story is cut in the middle: nobody reads it, and a soak run must not grow


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run was asked for. `readings` maps a reading id to the alternatives accepted, the default first.

    chosen: the readings decided apart from the reading set, with the one alternative accepted. first_only: whether a
    test may end with the first failure it finds.
    """

    profile: str
    level: str
    readings: Mapping[str, tuple[str, ...]]
    reading_set: str
    seed: int
    max_examples: int
    stateful_steps: int
    budget_s: float | None = None
    chosen: Mapping[str, str] = field(default_factory=dict)
    first_only: bool = False


class ConformanceFailure(AssertionError):
    """The implementation breaks a requirement. Carries all a reader needs to see it and to run it again."""

    def __init__(
        self,
        verdict: Verdict,
        story: tuple[StoryStep, ...],
        repro: Mapping[str, Any],
        example: Example | None = None,
    ) -> None:
        """example: what was said in it, where that was taped."""
        self.verdict = verdict
        self.example = example
        self.story = story
        self.repro = repro
        super().__init__(f"{verdict.requirement}: expected {verdict.expected!r}, got {verdict.actual!r}")


class ConformanceFailures(ExceptionGroup[ConformanceFailure]):
    """Several distinct ones, found by one test."""

    def derive(self, excs: Sequence[ConformanceFailure]) -> ConformanceFailures:  # type: ignore[override]
        return ConformanceFailures(self.message, excs)


@cache
def failure_type(requirement_name: str) -> type[ConformanceFailure]:
    """A subclass for each requirement: hypothesis tells failures apart by type and must not slip between them."""
    return type("ConformanceFailure", (ConformanceFailure,), {"__doc__": f"{requirement_name} is broken."})


class Judge:
    """The recorder of one test. Not thread-safe: a test judges on its own thread.

    sink: called with (verdict, how many times it was seen) as counts are flushed.
    disabled: requirement ids whose check is switched off (only `selftest` does, to show that a check matters).
    suite: the one the test belongs to. tally: counts its judgements, by rule and by phase.
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
    ) -> None:
        self.tape = tape
        self.suite = suite
        self.tally = Tally()
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
        self._quick: dict[int, list[Any]] = {}
        self._binds: dict[str, bool] = {}
        self._story: list[StoryStep | Callable[[], StoryStep]] = []
        self._dropped_steps = 0
        self._kind = self._phase = "calls"
        self._data: dict[str, Any] = {}
        self._muted = False
        self._failed_before: set[str] = set()
        self.first_failures: list[ConformanceFailure] = []
        self.judged: set[str] = set()
        self.transitions: dict[str, int] = {}
        self.undemanded = False

    def begin_example(self, kind: str = "calls", data: Mapping[str, Any] | None = None) -> None:
        """Start over: the story so far is forgotten. kind and data are what a repro file needs beside the calls.

        What is judged in the example is counted to the phase that is called as its `case`, or else its kind.
        """
        STOP.look()
        self._story.clear()
        self._dropped_steps = 0
        self._kind = kind
        self._data = dict(data or {})
        case = self._data.get("case")
        self._phase = case if isinstance(case, str) else kind
        self._muted = False
        self.examples += 1
        if self.tape is not None:
            self.tape.begin(kind, self._data)

    def repro_data(self, **data: Any) -> None:
        """Add to what the repro file of the current example holds."""
        self._data.update(data)

    def untold(self) -> None:
        """What follows in this example is not in what a repro file holds of it: it cannot be judged again."""
        if self.tape is not None:
            self.tape.untold()

    def step(self, text: str, call: Mapping[str, Any] | None = None, answer: Mapping[str, Any] | None = None) -> None:
        """Add a line to the story of the current example."""
        self.step_told(StoryStep(text, call, answer))

    def step_told(self, line: StoryStep | Callable[[], StoryStep]) -> None:
        """Add a line, or what makes it when somebody wants the story: of most examples nobody does."""
        if self._kind == "calls":
            self.steps_taken += 1
        if len(self._story) >= MAX_STORY_STEPS:
            del self._story[MAX_STORY_STEPS // 2]
            self._dropped_steps += 1
        self._story.append(line)

    @property
    def story(self) -> tuple[StoryStep, ...]:
        """The story so far, with a line where steps were left out. Where a test tells none, the calls it made."""
        if not self._story and self.tape is not None:
            return self.tape.story()
        told = tuple(line if isinstance(line, StoryStep) else line() for line in self._story)
        if not self._dropped_steps:
            return told
        middle = MAX_STORY_STEPS // 2
        gap = StoryStep(f"({self._dropped_steps} steps left out)")
        return (*told[:middle], gap, *told[middle:])

    def repro(self) -> dict[str, Any]:
        """What is needed to run the current example again."""
        return {"kind": self._kind, **self._data}

    @property
    def disabled(self) -> frozenset[str]:
        """The requirements whose check is switched off."""
        return self._disabled

    @property
    def muted(self) -> bool:
        """True once a switched-off check would have failed: the rest of the example says nothing."""
        return self._muted

    def unmute(self) -> None:
        """Go on judging: what the switched-off check would have said has no part in what follows."""
        self._muted = False

    def holds(
        self, requirement_name: str, holds: object, *, subject: str = "", expected: Any = None, actual: Any = None
    ) -> None:
        """Record whether a requirement holds, in a test of an implementer's own. One that does not ends the test.

        subject: what was judged, in a few words. expected, actual: JSON values. Raises CatalogueError, with the nearest
        id, for a requirement there is none of.
        """
        outcome = Outcome.PASS if holds else Outcome.FAIL
        self.record(Verdict(requirement_id(requirement_name), outcome, subject or "own test", expected, actual))

    def looked(self, phase: str) -> None:
        """Count a judgement of this phase that leaves no verdict, such as a control that was as it should be."""
        self.tally.phases[self.suite, phase] += 1

    def record(self, *verdicts: Verdict, phase: str | None = None) -> None:
        """Count verdicts. The first failing one raises ConformanceFailure.

        A demand of a weaker level than the run's is a warning, one that does not bind the profile is not judged.
        phase: the part of the suite's work they are made in, where it is not that of the example.
        """
        if not self._muted:
            self._record(verdicts, phase or self._phase)

    def _record(self, verdicts: Sequence[Verdict], phase: str) -> None:
        quick = self._quick
        again = 0
        for verdict in verdicts:
            counted = quick.get(id(verdict))
            if counted is not None:  # this very object was counted before: nothing about it has to be looked up again
                counted[1] += 1
                again += 1
                if self.tape is not None:
                    self.tape.said(verdict)
                continue
            binds = self._binds.get(verdict.requirement)
            if binds is None:
                binds = requirement(verdict.requirement).binds(self.profile)
                self._binds[verdict.requirement] = binds
            if not binds:
                continue
            if verdict.outcome is Outcome.FAIL:
                if verdict.requirement in self._disabled:
                    self._muted = True
                    return
                level = requirement(verdict.requirement).level
                if LEVELS.index(level) <= LEVELS.index(self._options.level):
                    self.tally.count(verdict, self.suite, phase)
                    self._fail(verdict)
                verdict = replace(verdict, outcome=Outcome.WARN)
            if verdict.requirement in self._disabled:
                continue
            self._count(verdict)
            self.tally.count(verdict, self.suite, phase)
            if self.tape is not None:
                self.tape.said(verdict)
            told = verdict.rule or verdict.phase
            if verdict.outcome is Outcome.PASS and not told and len(quick) < MAX_QUICK:
                quick[id(verdict)] = [verdict, 0]
        if again:
            self.tally.phases[self.suite, phase] += again
        if self._clock() - self._flushed > self.flush_s:
            self.flush()

    def took(self, rows: Sequence[str]) -> None:
        """Count the transitions of the model's tables that a step followed."""
        for row in rows:
            self.transitions[row] = self.transitions.get(row, 0) + 1

    def not_demanded(self, why: str) -> NoReturn:
        """End the test without a verdict: the run's profile demands nothing of what it judges."""
        import pytest

        self.undemanded = True
        pytest.skip(why)

    def _fail(self, verdict: Verdict) -> None:
        self.flush()
        self.judged.add(verdict.requirement)
        example = None
        if self.tape is not None:
            self.tape.said(verdict)
            example = self.tape.example
        failure = failure_type(verdict.requirement)(verdict, self.story, self.repro(), example)
        if verdict.requirement not in self._failed_before:
            self._failed_before.add(verdict.requirement)
            self.first_failures.append(failure)
            if self.on_first_failure is not None:
                self.on_first_failure(verdict)
        raise failure

    def _count(self, verdict: Verdict) -> None:
        key = (verdict.requirement, verdict.outcome, verdict.readings)
        _, count = self._counts.get(key, (verdict, 0))
        # Told as it was first seen in this test, whenever what was counted happens to be written.
        self._counts[key] = (self._firsts.setdefault(key, verdict), count + 1)
        if verdict.outcome is not Outcome.SKIP:
            self.judged.add(verdict.requirement)

    def flush(self) -> None:
        """Hand the counted verdicts to the run record."""
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
        """Requirements the test claims and said nothing about."""
        return self._claimed - self.judged
