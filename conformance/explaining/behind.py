"""Find what stands behind the known quirks: whole histories of the implementation, and what else differs in them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.explaining.dictionary import told_of
from conformance.explaining.going_on import Asked, follow, heard, reference, silent, whole
from conformance.explaining.playing import Player
from conformance.explaining.seen import Seen
from conformance.explaining.stories import Implementation, Told, taped
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.findings import confirmed, run, shortened
from conformance.histories.operations.table import well_formed
from conformance.histories.situations.book import Planned
from conformance.histories.situations.play import Known
from conformance.histories.situations.play import Player as Playing
from conformance.histories.situations.situation import space
from conformance.model import Call

MAX_SEARCHES: Final = 6  # searches through the whole dictionary: each takes some seconds
MAX_STORIES: Final = 6  # histories that one search plays, the shortest
MAX_NEARER: Final = 4  # histories of which shorter ones are asked for
MAX_ASKED: Final = 80  # shorter histories asked for in place of one
MAX_TRIED: Final = 4  # histories that a finding is looked for in
_BROKEN: Final = 2
MAX_RUNS: Final = 150  # histories run to shorten one story; most in this process


@dataclass(slots=True)
class Searched:
    """Counts the searches of the whole dictionary, and the requests for shorter stories, by all tests of a worker."""

    times: int = 0
    asked: int = 0


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
    seen: Seen
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
        offers = Playing(self.client, silent(self.options), self.options, space(), Known(ways=ways)).offers
        with ExitStack() as stack:
            conforming = stack.enter_context(reference((), self.implementation))
            alike = stack.enter_context(reference(faults, self.implementation))
            for planned in histories:
                if self._over:
                    break
                real = not self.implementation.virtual
                calls = tuple(filter(offers, whole(conforming, self.options, space(), planned, ways, real=real)))
                if not calls:
                    continue
                told = heard(self.client, follow(alike, [Asked(call) for call in calls]))
                if told is not None:
                    found.append(Whole(calls, told))
        return found

    def cause(self, left: Sequence[Whole], faults: tuple[str, ...]) -> str | None:
        """Return the fault that, beside the known ones, explains most of these histories; None if none explains any.

        One that contradicts as many passed stories explains none.
        """
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
                agreed = 0
                for left_over, told in zip(range(len(stories), 0, -1), stories, strict=True):
                    if best is not None and agreed + left_over < -best[0]:
                        break  # it cannot explain as many any more
                    agreed += player.play(told, self.seen.tolerated).agrees
            if agreed and (best is None or (-agreed, name) < best):
                against = self.seen.against((name,), self.implementation, agreed)
                best = min(best or (0, ""), (against - agreed, name))
        return None if best is None or not best[0] else best[1]

    def finding(self, fault: str, left: Sequence[Whole], faults: tuple[str, ...]) -> ConformanceFailure | None:
        """Return the deviation behind the quirks that a fault stands for, judged by the model.

        A history in which that fault alone shows, and no quirk does, is looked for with the embedded manager. If the
        implementation fails in it too, the model has judged the implementation itself. Otherwise the blame is what the
        model says of the embedded manager with that fault; nothing, if that is a requirement which the fault does not
        show as: it would be blamed for what only follows.
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
                fits = _fits(fault, shown)
                if fits and (inferred is None or fits > _fits(fault, inferred)):
                    inferred = self._inferred(shown, fault, faults)
                _, failed = run(self.client, silent(self.options), calls)
                if failed is not None and failed.verdict.requirement == shown.verdict.requirement:
                    failure, came = confirmed(self.client, self.judge, self.options, failed, calls)
                    if came and _fits(fault, failure) == _BROKEN:
                        return failure
        return inferred

    def nearer(self, left: Sequence[Whole], faults: tuple[str, ...]) -> ConformanceFailure | None:
        """Return what stands behind the quirks though no fault explains it, judged by the model.

        The implementation is asked for shorter histories, as long as it answers otherwise than the embedded manager
        with its quirks. One in which no quirk shows any more is an ordinary failure.
        """
        for each in sorted(left, key=lambda one: len(one.calls)):
            if self._over or self.searched.asked >= MAX_NEARER:
                break
            self.searched.asked += 1
            calls = self._shorter(each.calls, faults)
            _, failed = run(self.client, silent(self.options), calls)
            if failed is None:
                continue
            calls = shortened(self.client, self.options, failed, calls, runs=MAX_RUNS, seconds=10.0)
            failure, came = confirmed(self.client, self.judge, self.options, failed, calls)
            told = taped(failure.example, "") if came and failure.example is not None else None
            if told is not None and self._otherwise(told, faults):
                return failure
        return None

    def _shorter(self, calls: tuple[Call, ...], faults: tuple[str, ...]) -> tuple[Call, ...]:
        """Return the shortest history found in which something shows beside the quirks."""
        asked, size = 0, len(calls) // 2
        with reference(faults, self.implementation) as alike:
            while size and not self._over and asked < MAX_ASKED:
                for start in range(0, len(calls), size):
                    asked += 1
                    fewer = well_formed(calls[:start] + calls[start + size :])
                    made = follow(alike, [Asked(call) for call in fewer])
                    told = heard(self.client, made) if len(made) == len(fewer) else None
                    if told is not None and self._otherwise(told, faults):
                        calls = fewer
                        break
                    if self._over or asked >= MAX_ASKED:
                        break
                else:
                    size //= 2
        return calls

    def _otherwise(self, told: Told, faults: tuple[str, ...]) -> bool:
        """Tell whether the embedded manager with these faults answers otherwise."""
        with Player(faults, self.implementation) as player:
            return not player.play(told, self.seen.tolerated).agrees

    def _explained(self, fault: str, left: Sequence[Whole], faults: tuple[str, ...]) -> list[Whole]:
        with Player((*faults, fault), self.implementation) as player:
            return [
                each
                for each in sorted(left, key=lambda one: len(one.calls))
                if player.play(each.told, self.seen.tolerated).agrees
            ]

    @staticmethod
    def _inferred(shown: ConformanceFailure, fault: str, faults: tuple[str, ...]) -> ConformanceFailure:
        known = " and ".join(f"`{name}`" for name in faults)
        reason = f"behind {known}: the implementation answers whole histories as `{fault}` does with it"
        return ConformanceFailure(replace(shown.verdict, reason=reason), shown.story, shown.repro)


def _fits(name: str, failure: ConformanceFailure) -> int:
    """Return 2 for a failure of what a fault breaks or is rightly seen as, 1 for what it also shows as, else 0."""
    fault, blamed = FAULTS[name], failure.verdict.requirement
    return _BROKEN if blamed in (*fault.breaks, *fault.first_seen_as) else int(blamed in shows_as(fault))
