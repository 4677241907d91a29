"""Judge a history with every alternative of every reading, and note the combinations that stay possible as boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from conformance.adapter.errors import NotAccepted
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.history import History
from conformance.histories.walk import ROLLS, Plan, possible_choices, set_up
from conformance.model import BadCall, Call, Judged, Model, Observation, Pending, States
from conformance.model.rules import Rules
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port

Box: TypeAlias = Mapping[str, frozenset[str]]
"""Reading to its possible alternatives; for a reading not in the box, every alternative is possible."""

MAX_BOXES = 128  # a history of the suites leaves a handful; their products stay far below


@dataclass(frozen=True, slots=True)
class Worlds:
    """Combinations of alternatives not yet ruled out. Without any box, none explains the observations."""

    boxes: tuple[Box, ...] = ({},)

    @classmethod
    def of(cls, boxes: Iterable[Box]) -> Worlds:
        """Return the union of these boxes, without boxes inside another one."""
        return cls(tuple(_capped(_largest(boxes))))

    @property
    def empty(self) -> bool:
        """True if no combination is possible any more."""
        return not self.boxes

    def meet(self, other: Worlds) -> Worlds:
        """Return the intersection of both."""
        return Worlds.of(met for one in self.boxes for two in other.boxes if (met := _meet(one, two)) is not None)

    def possible(self, reading: str, every: Sequence[str]) -> tuple[str, ...]:
        """Return the alternatives of a reading that are possible in some box, in the order of `every`."""
        if any(reading not in box for box in self.boxes):
            return tuple(every)
        left = frozenset().union(*(box[reading] for box in self.boxes))
        return tuple(name for name in every if name in left)

    def without(self, reading: str, alternative: str, every: Sequence[str]) -> Worlds:
        """Return these combinations with one alternative ruled out."""
        return self.meet(Worlds(({reading: frozenset(every) - {alternative}},)))

    def named(self) -> tuple[str, ...]:
        """Return the readings that any box constrains."""
        return tuple(sorted({reading for box in self.boxes for reading in box}))


def _meet(one: Box, two: Box) -> Box | None:
    met = dict(one)
    for reading, possible in two.items():
        left = possible & met.get(reading, possible)
        if not left:
            return None
        met[reading] = left
    return met


def _inside(one: Box, two: Box) -> bool:
    return all(reading in one and one[reading] <= possible for reading, possible in two.items())


def _largest(boxes: Iterable[Box]) -> list[Box]:
    kept: list[Box] = []
    for box in boxes:
        if any(_inside(box, other) for other in kept):
            continue
        kept = [other for other in kept if not _inside(other, box)]
        kept.append(box)
    return kept


def _capped(boxes: list[Box]) -> list[Box]:
    """Return at most MAX_BOXES boxes; those beyond are joined into one that contains them all."""
    if len(boxes) <= MAX_BOXES:
        return boxes
    kept, over = boxes[: MAX_BOXES - 1], boxes[MAX_BOXES - 1 :]
    joined = dict(over[0])
    for box in over[1:]:
        joined = {reading: joined[reading] | box[reading] for reading in joined if reading in box}
    return _largest([*kept, joined])


Step = tuple[Call, Observation]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence from one history.

    seen: its calls and observations, without a last one that no alternative explains. story: a line for each call.
    worlds: the combinations of readings that explain it. held: the requirements shown to hold. failure: the verdict of
    that last call. kind: `trace` or `walk`. asked: the readings that the model used to judge it; no other reading can
    make a difference.
    """

    seen: tuple[Step, ...]
    story: tuple[str, ...]
    worlds: Worlds
    held: frozenset[str]
    failure: Verdict | None = None
    kind: str = "walk"
    asked: frozenset[str] = frozenset()


class Asked(Rules):
    """Rules that note which readings the model uses."""

    def __init__(self, readings: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def known(self, reading: str) -> tuple[str, ...]:
        """See `Rules.known`."""
        self.asked.add(reading)
        return Rules.known(self, reading)


class Probe(History):
    """A history that keeps its observations."""

    def __init__(self, client: Port, options: RunOptions) -> None:
        self.held: set[str] = set()
        model = Model(options.readings)
        self.rules = model.rules = Asked(options.readings)
        super().__init__(client, Recorder(options, self._note), model)
        self.seen: list[Step] = []

    def _note(self, verdict: Verdict, count: int) -> None:
        if verdict.outcome is Outcome.PASS:
            self.held.add(verdict.requirement)

    def _judge(
        self, call: Call, observation: Observation, shows: str | None = None, pending: Pending | None = None
    ) -> None:
        self.seen.append((call, observation))
        super()._judge(call, observation, shows, pending)

    def evidence(self, kind: str, failure: Verdict | None = None) -> Evidence:
        """Return the evidence so far."""
        self.judge.flush()
        seen = tuple(self.seen if failure is None else self.seen[:-1])
        story = tuple(step.text for step in self.judge.story)
        boxes = () if self.states.capped else tuple(dict(state.assumed) for state in self.states.states)
        worlds = Worlds.of(boxes) if boxes else Worlds()
        asked = frozenset(self.rules.asked)
        return Evidence(seen, story, worlds, frozenset(self.held), failure, kind, asked)


def evidence(client: Port, options: RunOptions, calls: Iterable[Call]) -> Evidence:
    """Make these calls, without those that make no sense at their turn, and return the evidence."""
    probe = Probe(client, options)
    try:
        for call in calls:
            try:
                probe.do(call)
            except BadCall:
                continue
    except ConformanceFailure as failure:
        return probe.evidence("trace", failure.verdict)
    finally:
        probe.driving.leave()
    return probe.evidence("trace")


def walked(client: Port, options: RunOptions, plan: Plan, seed: int) -> Evidence:
    """Walk a plan, with every step a sensible call chosen by the seed, and return the evidence."""
    probe = Probe(client, options)
    possible = possible_choices(client, plan)
    chance = Random(seed)
    try:
        set_up(probe, plan)
        for _ in range(options.stateful_steps):
            choices = [calls for choice in possible if (calls := choice(probe.state))]
            if not choices or probe.over:
                break
            roll = chance.randrange(ROLLS)
            chosen = choices[roll % len(choices)]
            with suppress(NotAccepted):
                probe.do(chosen[roll // len(choices) % len(chosen)])
    except ConformanceFailure as failure:
        return probe.evidence("walk", failure.verdict)
    except BadCall:
        pass  # the chosen call makes no sense in another possible state, so the walk ends
    finally:
        probe.driving.leave()
    return probe.evidence("walk")


def contradicted(
    seen: Sequence[Step], readings: Mapping[str, tuple[str, ...]], reading: str, alternative: str
) -> int | None:
    """Return the number of the first call that an alternative does not explain; None if it explains them all.

    readings: the allowed alternatives of the other readings.
    """
    model = Model({**readings, reading: (alternative,)})
    states = States()
    for number, (call, observation) in enumerate(seen, start=1):
        try:
            judged: Judged = model.step(states, call, observation)
        except BadCall:
            return None
        if judged.failed:
            return number
        if judged.states.capped:
            return None
        states = judged.states
    return None
