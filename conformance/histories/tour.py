"""Tour: histories in which each kind of step follows each other one, with a look at everything after every step.

A walk chooses at random, and what shows only where two conditions meet may stay unseen. A tour takes, of all steps that
make sense in the model's state, the one that has followed the step before it least often, and of its calls the one that
met this kind of state least often. The same answers give the same tour again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.harness.recorder import ConformanceFailure
from conformance.histories.findings import Findings, raised
from conformance.histories.history import History
from conformance.histories.operations.operation import Action
from conformance.histories.operations.table import stored_call
from conformance.histories.steering import Choice, kind_of, where
from conformance.histories.walk import chooser, offer_of
from conformance.model import BadCall, Call, Model, State

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_START: Final = "the opening"
_MOST_DEAR: Final = 2
_MOST_FINDINGS: Final = 3  # histories that deviate; more would show little that these do not


@dataclass(frozen=True, slots=True)
class Tour:
    """Setting of a tour.

    opening: calls that begin every history. actions: the kinds of steps; one named twice is taken twice as often.
    looks: makes the calls that follow each step of one history. late: steps after which little is left to see, which
    wait for the second half of a history. dear: steps that take long, which are taken a few times alone. steps: of the
    whole tour. length: of a history, without its looks. kind: of a state, in which a step may show something else.
    """

    opening: tuple[Call, ...]
    actions: tuple[Action, ...]
    looks: Callable[[], Callable[[State], Sequence[Call]]]
    steps: int
    late: frozenset[str] = frozenset()
    dear: frozenset[str] = frozenset()
    length: int = 20
    kind: Callable[[State], object] = kind_of


@dataclass(slots=True)
class _Taken:
    """Counts of what a tour has done. failed: steps, each with the place it was taken at, that have shown a failure."""

    pairs: Counter[tuple[str, str]]
    places: Counter[object]
    failed: set[tuple[str, str]]
    weights: Mapping[str, int]
    kind: Callable[[State], object]

    def place(self, name: str, state: State, call: Call) -> object:
        """Return what a step meets."""
        return name, where(state, call), self.kind(state)

    def next(self, choices: Mapping[str, Choice], before: str, state: State) -> Iterator[tuple[str, Call]]:
        """Yield the steps that this state lets one take, the rarest first, each with the call that is rarest here."""

        def rarity(name: str) -> float:
            return (self.pairs[before, name] * len(choices) + self.pairs[name, ""]) / self.weights[name]

        for name in sorted(choices, key=rarity):
            calls = [call for call in choices[name](state) if (name, where(state, call)) not in self.failed]
            calls.sort(key=lambda call: (self.places[self.place(name, state, call)], self.places[_shape(name, call)]))
            yield from ((name, call) for call in calls[:3])

    def few(self, name: str) -> bool:
        """Tell whether a step that takes long may be taken once more."""
        return self.pairs[name, ""] < _MOST_DEAR

    def took(self, before: str, name: str, place: object, shape: object) -> None:
        """Note a step."""
        self.pairs[before, name] += 1
        self.pairs[name, ""] += 1
        self.places[place] += 1
        self.places[shape] += 1


def tour(client: Port, judge: Recorder, options: RunOptions, plan: Tour) -> None:
    """Make a tour. Raises ConformanceFailure, with the shortest story found, or ConformanceFailures for several."""
    offer = offer_of(client)
    choices = {one.name: chooser(one, offer) for one in plan.actions if one.offered(offer)}
    early = {name: choice for name, choice in choices.items() if name not in plan.late}
    weights = Counter(one.name for one in plan.actions)
    taken, findings, model = _Taken(Counter(), Counter(), set(), weights, plan.kind), Findings(), Model(judge.readings)
    left, deviating = plan.steps, 0
    while left > 0 and not judge.cut and deviating < (1 if options.first_only else _MOST_FINDINGS):
        history = History(client, judge, model)
        before, looks = _START, plan.looks()
        try:
            history.run(*plan.opening)
            for at in range(min(left, plan.length)):
                now = choices if 2 * at >= plan.length else early
                now = {name: one for name, one in now.items() if name not in plan.dear or taken.few(name)}
                step = None if history.over else _chosen(history, now, taken, before)
                if step is None:
                    break
                if time.monotonic() > judge.until:
                    judge.cut = True
                    break
                left, before = left - 1, step[0]
                history.attempt(step[1])
                history.run(*looks(history.state))
        except ConformanceFailure as failure:
            deviating += 1
            call = stored_call(failure.repro["calls"][-1])
            findings.add(failure, history, call)
            taken.failed.add((before, where(history.state, call)))
        history.driving.leave()
        if before == _START:
            break  # nothing can be done here
    raised(findings.told(client, judge, options))


def _chosen(history: History, choices: Mapping[str, Choice], taken: _Taken, before: str) -> tuple[str, Call] | None:
    """Return the next step and its call; None where there is none."""
    state = history.state
    for name, call in taken.next(choices, before, state):
        try:
            history.model.allowed(state, call)
        except BadCall:
            continue
        taken.took(before, name, taken.place(name, state, call), _shape(name, call))
        return name, call
    return None


def _shape(name: str, call: Call) -> object:
    """Return the values of a call, without the names in it."""
    return (
        name,
        call.access,
        call.share,
        call.step,
        call.acknowledge,
        call.action,
        call.priority,
        call.delivery,
        call.kill,
    )
