"""One history on an implementation, judged with every alternative of every reading, and judged again without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from conformance.adapter.errors import NotAccepted
from conformance.model import BadCall, Call, Judged, Model, Observation, States
from conformance.model.rules import Rules
from conformance.suites.inference.worlds import Worlds
from conformance.suites.judging import ConformanceFailure, Judge, RunOptions
from conformance.suites.stateful.history import History
from conformance.suites.stateful.machine import ACTIONS, ROLLS, Plan, offer_of, set_up
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client

Step = tuple[Call, Observation]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one history told.

    seen: its calls with what came of them, without one that no alternative explains. story: a line for each call.
    worlds: the ways to read the documents that explain it. held: the requirements shown to hold. failure: the broken
    requirement it ended with, which no alternative explains. kind: `trace` or `walk`. asked: the readings the model
    asked for in judging it; no other one can make a difference.
    """

    seen: tuple[Step, ...]
    story: tuple[str, ...]
    worlds: Worlds
    held: frozenset[str]
    failure: Verdict | None = None
    kind: str = "walk"
    asked: frozenset[str] = frozenset()


class Asked(Rules):
    """Rules that note which readings they are asked for."""

    def __init__(self, readings: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def known(self, reading: str) -> tuple[str, ...]:
        """See `Rules.known`."""
        self.asked.add(reading)
        return Rules.known(self, reading)


class Probe(History):
    """A history that keeps what it saw."""

    def __init__(self, client: Client, options: RunOptions) -> None:
        self.held: set[str] = set()
        model = Model(options.readings)
        self.rules = model.rules = Asked(options.readings)
        super().__init__(client, Judge(options, self._note), model)
        self.seen: list[Step] = []

    def _note(self, verdict: Verdict, count: int) -> None:
        if verdict.outcome is Outcome.PASS:
            self.held.add(verdict.requirement)

    def _judge(self, call: Call, observation: Observation, shows: str | None = None) -> None:
        self.seen.append((call, observation))
        super()._judge(call, observation, shows)

    def evidence(self, kind: str, failure: Verdict | None = None) -> Evidence:
        """What it told so far."""
        self.judge.flush()
        seen = tuple(self.seen if failure is None else self.seen[:-1])
        story = tuple(step.text for step in self.judge.story)
        boxes = () if self.states.capped else tuple(dict(state.assumed) for state in self.states.states)
        worlds = Worlds.of(boxes) if boxes else Worlds()
        asked = frozenset(self.rules.asked)
        return Evidence(seen, story, worlds, frozenset(self.held), failure, kind, asked)


def told(client: Client, options: RunOptions, calls: Iterable[Call]) -> Evidence:
    """Make these calls, leaving out what makes no sense on the way."""
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


def walked(client: Client, options: RunOptions, plan: Plan, seed: int) -> Evidence:
    """A walk of a plan: every step a call that makes sense, chosen by the seed."""
    probe = Probe(client, options)
    offer = offer_of(client)
    actions = [ACTIONS[name] for name in plan.actions if ACTIONS[name].offered(offer)]
    chance = Random(seed)
    try:
        set_up(probe, plan)
        for _ in range(options.stateful_steps):
            choices = [calls for action in actions if (calls := action.calls(probe.state, offer))]
            if not choices or probe.over:
                break
            roll = chance.randrange(ROLLS)
            chosen = choices[roll % len(choices)]
            with suppress(NotAccepted):
                probe.do(chosen[roll // len(choices) % len(chosen)])
    except ConformanceFailure as failure:
        return probe.evidence("walk", failure.verdict)
    except BadCall:
        pass  # what the walk chose makes no sense in another state that is possible too: it ends here
    finally:
        probe.driving.leave()
    return probe.evidence("walk")


def contradicted(
    seen: Sequence[Step], readings: Mapping[str, tuple[str, ...]], reading: str, alternative: str
) -> int | None:
    """After how many calls an alternative no longer explains what was seen; None while it does.

    readings: the alternatives of the other readings to be allowed.
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
