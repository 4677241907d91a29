"""The deviations of an implementation that are known, as quirks, so that judging goes on behind them.

A quirk is a confirmed deviation with a body: the faults with which the embedded manager answers its story as the
implementation did. Histories that deviate are compared with the embedded manager that has all quirks known so far. What
agrees is filed under its quirk; what differs further on is a finding of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.embedded.faults import FAULTS
from conformance.embedded.faults.recorded import shows_as
from conformance.explaining.behind import Behind, Searched
from conformance.explaining.causes import compared
from conformance.explaining.known_quirks import KnownQuirk
from conformance.explaining.playing import Player, Tolerated
from conformance.explaining.stories import Implementation, Told, taped
from conformance.harness.guarded_client import DriverGone, GuardedClient
from conformance.harness.past import MAX_WITNESSES
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.tape import Example
from conformance.histories.situations.book import Planned
from conformance.runlog.events import CONSEQUENCE
from conformance.verdict import Outcome

MAX_QUIRKS: Final = 12
MAX_STORY: Final = 40
_OPEN: Final = 4  # embedded managers that are kept for the next story


@dataclass(slots=True)
class Quirk:
    """A known deviation.

    faults: its body, empty if the dictionary has none. calls: of the shortest story that shows it, as a repro file has
    them; story: the same as text. filed: requirements that were not blamed for it, with the number of their failures.
    behind: histories that were judged to their end with it. blamed: a failure was told for it; until then nothing is
    filed under it.
    """

    requirement: str
    faults: tuple[str, ...]
    calls: tuple[Mapping[str, Any], ...] = ()
    told: Told | None = None
    story: tuple[str, ...] = ()
    filed: Counter[str] = field(default_factory=Counter)
    behind: int = 0
    blamed: bool = False

    @property
    def breaks(self) -> frozenset[str]:
        """The requirements that are blamed for it."""
        return frozenset((self.requirement, *(each for name in self.faults for each in FAULTS[name].breaks)))

    def to_json(self) -> dict[str, Any]:
        """Return the quirk as the run record stores it."""
        return {
            "requirement": self.requirement,
            "faults": list(self.faults),
            "story": list(self.story),
            "calls": list(self.calls),
            "filed": dict(self.filed),
            "behind": self.behind,
        }


class Quirks:
    """See `conformance.harness.past.Past`. ask: returns the implementation, once it is needed."""

    def __init__(self, ask: Callable[[], Implementation], loaded: Sequence[KnownQuirk] = ()) -> None:
        """loaded: quirks of a baseline. Each counts from the first failure on that it explains."""
        self._ask = ask
        self._loaded = list(loaded)
        self._known: list[Quirk] = []
        self._players: dict[tuple[str, ...], Player] = {}
        self._searched = Searched()
        self._tolerated: Tolerated = frozenset()
        self._witnesses: list[Told] = []
        self._failed: list[Told] = []

    @property
    def known(self) -> tuple[Quirk, ...]:
        """The quirks, in the order in which they were met."""
        return tuple(self._known)

    @property
    def bodies(self) -> tuple[str, ...]:
        """The faults of all quirks."""
        return tuple(dict.fromkeys(name for quirk in self._known for name in quirk.faults))

    def explains(self, failure: ConformanceFailure) -> bool:
        """See `Past`."""
        told = _story(failure)
        quirk = None if told is None else self._of(told)
        if quirk is None or not quirk.blamed:
            return False
        quirk.filed[failure.verdict.requirement] += 1
        return failure.verdict.requirement not in quirk.breaks or failure.verdict.requirement == quirk.requirement

    def learn(self, failures: Sequence[ConformanceFailure]) -> None:
        """See `Past`."""
        stories = [(failure, told) for failure in failures if (told := _story(failure)) is not None]
        if stories and len(self._failed) < MAX_WITNESSES:
            self._failed += [told for _, told in stories]
            self._tolerated, _ = compared(self._witnesses, self._ask(), self._failed)
        self._learn(stories)

    def witness(self, example: Example) -> None:
        """See `Past`."""
        told = taped(example, "") if len(self._witnesses) < MAX_WITNESSES else None
        if told is not None:
            self._witnesses.append(told)

    def filed(self, failures: Sequence[ConformanceFailure]) -> list[tuple[ConformanceFailure, str | None]]:
        """See `Past`."""
        self.learn(failures)
        found: list[tuple[ConformanceFailure, str | None]] = []
        others: list[tuple[ConformanceFailure, Quirk]] = []
        for failure in failures:
            told = _story(failure)
            quirk = None if told is None else self._of(told)
            if quirk is not None and failure.verdict.requirement not in quirk.breaks:
                others.append((failure, quirk))
                continue
            if quirk is not None:
                quirk.blamed = True
            found.append((failure, None))
        for failure, quirk in others:
            requirement = failure.verdict.requirement
            if not quirk.blamed:  # somebody has to be
                quirk.blamed, quirk.requirement = True, requirement
                found.append((failure, None))
                continue
            quirk.filed[requirement] += 1
            found.append((failure, f"{CONSEQUENCE} {quirk.requirement}: what {_named(quirk.faults)} does as well"))
        return sorted(found, key=lambda each: each[1] is not None)

    def onward(
        self,
        client: GuardedClient,
        judge: Recorder,
        options: RunOptions,
        histories: Sequence[Planned],
        ways: tuple[int, ...],
        seconds: float,
    ) -> list[ConformanceFailure]:
        """See `Past`."""
        if not client.offers("reset") or len(self._known) >= MAX_QUIRKS:
            return []
        until = time.monotonic() + seconds
        behind = Behind(client, judge, options, self._ask(), self._tolerated, self._searched, until)
        found: list[ConformanceFailure] = []
        try:
            whole = behind.asked(histories, ways, self.bodies)
            left = [each for each in whole if not self._agree(each.told)]
            while left and len(self._known) < MAX_QUIRKS and time.monotonic() < until:
                fault = behind.cause(left, self.bodies)
                if fault is None:
                    break
                failure = behind.finding(fault, left, self.bodies)
                requirement = failure.verdict.requirement if failure is not None else FAULTS[fault].breaks[0]
                calls = tuple(failure.repro.get("calls", ())) if failure is not None else ()
                quirk = Quirk(requirement, (fault,), calls, story=_lines(failure), blamed=failure is not None)
                self._add(quirk)
                found += [failure] if failure is not None else []
                left = [each for each in left if not self._agree(each.told)]
        except DriverGone:
            return found
        return found

    def notes(self) -> list[str]:
        """See `Past`."""
        return [
            f"The quirk of the baseline about {known.requirement} was not seen: no deviation is what "
            f"{_named(known.faults)} does."
            for known in self._loaded
        ]

    def evidence(self) -> list[Mapping[str, Any]]:
        """See `Past`."""
        return [quirk.to_json() for quirk in self._known]

    def close(self) -> None:
        """Remove the state folders of the embedded managers."""
        for player in self._players.values():
            player.__exit__(None, None, None)
        self._players.clear()

    def _agree(self, told: Told) -> bool:
        if not self._tells(told):
            return True  # it did not come again, so there is nothing to explain
        quirk = self._of(told)
        if quirk is not None:
            quirk.behind += 1
        return quirk is not None

    def _tells(self, told: Told) -> bool:
        """Tell whether the embedded manager answers otherwise without any fault: else the story tells nothing."""
        return not self._player(()).play(told, self._tolerated).agrees

    def _of(self, told: Told) -> Quirk | None:
        """Return the quirk that a story is filed under: one that explains it alone, else the first of all together."""
        if not (self.bodies or self._loaded) or not self._tells(told):
            return None
        with_body = [quirk for quirk in self._known if quirk.faults]
        reached: dict[int, Quirk] = {}
        for quirk in with_body:
            at = self._player(quirk.faults).play(told, self._tolerated).at
            if at is None:
                return quirk
            reached.setdefault(at, quirk)
        for known in self._loaded:
            if self._player(known.faults).play(told, self._tolerated).agrees:
                self._loaded.remove(known)
                quirk = Quirk(known.requirement, known.faults, known.calls, story=known.story)
                self._add(quirk)
                return quirk
        if len(with_body) > 1 and self._player(self.bodies).play(told, self._tolerated).agrees:
            return reached[max(reached)]
        return None

    def _player(self, faults: tuple[str, ...]) -> Player:
        player = self._players.pop(faults, None)
        if player is None:
            player = Player(faults, self._ask())
            player.__enter__()
        self._players[faults] = player  # the last one used is the last one to go
        while len(self._players) > _OPEN:
            first = next(iter(self._players))
            self._players.pop(first).__exit__(None, None, None)
        return player

    def _learn(self, stories: Sequence[tuple[ConformanceFailure, Told]]) -> None:
        """Make quirks of the failures that no known quirk explains."""
        left = [(failure, told) for failure, told in stories if self._tells(told) and self._of(told) is None]
        while left and len(self._known) < MAX_QUIRKS:
            fault = self._fault(left)
            if fault is None:
                break
            mine = [
                (failure, told) for failure, told in left if self._player((fault,)).play(told, self._tolerated).agrees
            ]
            left = [each for each in left if each not in mine]
            failure, told = min(mine, key=lambda each: (_fit(fault, each[0].verdict.requirement), len(each[1].ops)))
            self._add(Quirk(failure.verdict.requirement, (fault,), told.calls, told, _lines(failure)))
        for failure, told in left[: MAX_QUIRKS - len(self._known)]:
            if all(quirk.requirement != failure.verdict.requirement for quirk in self._known):
                self._add(Quirk(failure.verdict.requirement, (), told.calls, told, _lines(failure)))

    def _fault(self, stories: Sequence[tuple[ConformanceFailure, Told]]) -> str | None:
        """Return the fault that explains most of these stories, of those that show as what was blamed."""
        blamed = [failure.verdict.requirement for failure, _ in stories]
        candidates = [name for name in FAULTS if not FAULTS[name].races and not set(blamed).isdisjoint(_shown(name))]
        best: tuple[int, int, str] | None = None
        for name in candidates:
            with Player((name,), self._ask()) as player:
                agreed = [failure for failure, told in stories if player.play(told, self._tolerated).agrees]
            if agreed:
                fit = min(_fit(name, failure.verdict.requirement) for failure in agreed)
                best = min(best or (0, 9, ""), (-len(agreed), fit, name))
        return None if best is None else best[2]

    def _add(self, quirk: Quirk) -> None:
        self._known.append(quirk)


def _story(failure: ConformanceFailure) -> Told | None:
    if failure.verdict.outcome is not Outcome.FAIL or failure.example is None:
        return None
    return taped(failure.example, "", failure.verdict.requirement)


def _shown(name: str) -> tuple[str, ...]:
    fault = FAULTS[name]
    return (*fault.breaks, *fault.first_seen_as, *shows_as(fault))


def _fit(name: str, requirement: str) -> int:
    """Return how well a requirement fits a fault: 0 if it breaks it, 1 if it is rightly seen as that, 2 otherwise."""
    fault = FAULTS[name]
    return 0 if requirement in fault.breaks else 1 if requirement in fault.first_seen_as else 2


def _named(faults: Sequence[str]) -> str:
    return " with ".join(f"`{name}`" for name in faults)


def _lines(failure: ConformanceFailure | None) -> tuple[str, ...]:
    return tuple(step.text for step in failure.story[-MAX_STORY:]) if failure is not None else ()
