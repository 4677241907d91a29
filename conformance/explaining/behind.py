"""Find what stands behind the known quirks: whole histories of the implementation, and what else differs in them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from conformance.embedded.faults import FAULTS
from conformance.explaining.dictionary import told_of
from conformance.explaining.going_on import Asked, follow, heard, reference, silent, whole
from conformance.explaining.playing import Player, Tolerated
from conformance.explaining.stories import Implementation, Told
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.findings import confirmed
from conformance.histories.shrink import run, shortened
from conformance.histories.situations.book import Planned
from conformance.histories.situations.situation import space
from conformance.model import Call

MAX_SEARCHES: Final = 6  # searches through the whole dictionary: each takes some seconds
MAX_STORIES: Final = 6  # histories that one search plays, the shortest
MAX_TRIED: Final = 4  # histories that a finding is looked for in
MAX_RUNS: Final = 150  # histories run to shorten one story; most in this process


@dataclass(slots=True)
class Searched:
    """How often the whole dictionary was searched, by all tests of a worker."""

    times: int = 0


@dataclass(frozen=True, slots=True)
class Whole:
    """A history that was asked to its end, whatever was answered."""

    calls: tuple[Call, ...]
    told: Told


@dataclass(frozen=True, slots=True)
class Behind:
    """One look behind the quirks, for the histories of one test. until: `time.monotonic()` when it ends."""

    client: GuardedClient
    judge: Recorder
    options: RunOptions
    implementation: Implementation
    tolerated: Tolerated
    searched: Searched
    until: float

    @property
    def _over(self) -> bool:
        return time.monotonic() > self.until

    def asked(self, histories: Sequence[Planned], ways: tuple[int, ...], faults: Sequence[str]) -> list[Whole]:
        """Ask the implementation whole histories.

        ways: to fill messages. faults: its quirks, which tell when its waiting reads end.
        """
        found: list[Whole] = []
        with ExitStack() as stack:
            conforming = stack.enter_context(reference((), self.implementation))
            alike = stack.enter_context(reference(faults, self.implementation))
            for planned in histories:
                if self._over:
                    break
                real = not self.implementation.virtual
                calls = whole(conforming, self.options, space(), planned, ways, real=real)
                if not calls:
                    continue
                told = heard(self.client, follow(alike, [Asked(call) for call in calls]))
                if told is not None:
                    found.append(Whole(calls, told))
        return found

    def cause(self, left: Sequence[Whole], faults: tuple[str, ...]) -> str | None:
        """Return the fault that, beside the known ones, explains most of these histories; None if none explains any."""
        if self.searched.times >= MAX_SEARCHES:
            return None
        self.searched.times += 1
        stories = [each.told for each in sorted(left, key=lambda each: len(each.told.ops))[:MAX_STORIES]]
        best: tuple[int, str] | None = None
        for name in told_of({method for told in stories for method in told.methods}):
            if self._over:
                break
            if name in faults:
                continue
            with Player((*faults, name), self.implementation) as player:
                agreed = sum(player.play(told, self.tolerated).agrees for told in stories)
            if agreed:
                best = min(best or (0, ""), (-agreed, name))
        return None if best is None else best[1]

    def finding(self, fault: str, left: Sequence[Whole], faults: tuple[str, ...]) -> ConformanceFailure | None:
        """Return the deviation behind the quirks that a fault stands for, judged by the model.

        A history in which that fault alone shows, and no quirk does, is looked for with the embedded manager. If the
        implementation fails in it too, the model has judged the implementation itself. Otherwise the blame is what the
        model says of the embedded manager with that fault.
        """
        inferred: ConformanceFailure | None = None
        with reference((fault,), self.implementation) as faulty:
            for each in self._explained(fault, left, faults)[:MAX_TRIED]:
                _, seen = run(faulty, silent(self.options), each.calls)
                if seen is None:
                    continue
                calls = shortened(faulty, self.options, seen, each.calls, runs=MAX_RUNS, seconds=10.0)
                _, shown = run(faulty, silent(self.options), calls)
                if shown is None:
                    continue
                if inferred is None or self._blames(fault, shown) > self._blames(fault, inferred):
                    inferred = self._inferred(shown, fault, faults)
                _, failed = run(self.client, silent(self.options), calls)
                if failed is not None and failed.verdict.requirement == shown.verdict.requirement:
                    failure, came = confirmed(self.client, self.judge, self.options, failed, calls)
                    if came and self._blames(fault, failure):
                        return failure
        return inferred

    def _explained(self, fault: str, left: Sequence[Whole], faults: tuple[str, ...]) -> list[Whole]:
        with Player((*faults, fault), self.implementation) as player:
            return [
                each
                for each in sorted(left, key=lambda one: len(one.calls))
                if player.play(each.told, self.tolerated).agrees
            ]

    @staticmethod
    def _blames(fault: str, failure: ConformanceFailure) -> bool:
        broken = (*FAULTS[fault].breaks, *FAULTS[fault].first_seen_as)
        return failure.verdict.requirement in broken

    @staticmethod
    def _inferred(shown: ConformanceFailure, fault: str, faults: tuple[str, ...]) -> ConformanceFailure:
        known = " and ".join(f"`{name}`" for name in faults)
        reason = f"behind {known}: the implementation answers whole histories as `{fault}` does with it"
        return ConformanceFailure(replace(shown.verdict, reason=reason), shown.story, shown.repro)
