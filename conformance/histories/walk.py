"""Random walk: examples whose steps are calls that make sense in the model's state."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Protocol, TypeAlias

from conformance import walks
from conformance.harness.guarded_client import refusals
from conformance.harness.recorder import ConformanceFailure
from conformance.histories.findings import Findings, raised
from conformance.histories.history import History
from conformance.histories.operations.operation import Action, Offer
from conformance.histories.operations.state_queries import kind_of, names, where
from conformance.histories.operations.table import ACTIONS, METHODS, stored_call, takes
from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Expected

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")
Choice: TypeAlias = walks.Choice[State, Call]
Steering: TypeAlias = walks.Steering[State, Call]


def steering(model: Model, *, on: bool = True, limit: int = 20_000) -> Steering:
    """Return a new steering by what the model expects."""
    return walks.Steering(partial(foreseen, model), where, on, limit)


def foreseen(model: Model, state: State, call: Call) -> list[object] | None:
    """Return what the likely outcome of a call would show; None if the call makes no sense."""
    try:
        return shown_by(call, model.allowed(state, call).outcomes[0])
    except BadCall:
        return None


def shown_by(call: Call, expected: Expected) -> list[object]:
    """Return what an outcome shows: transitions, requirements, and the kind of state it leads to."""
    shown: list[object] = [*expected.transitions, expected.requirement, *expected.also]
    for completion in expected.completions:
        shown += (completion.requirement, *completion.also)
    shown.append((call.method, kind_of(expected.next)))
    return shown


@dataclass(frozen=True, slots=True)
class Plan:
    """Setting of a walk.

    queues: each name with True for a transactional queue. actions: the possible steps, from `ACTIONS`; an action named
    twice is taken twice as often. subqueues: of the first queue; they and the queue itself are opened for moves.
    opening: further calls that begin every history. share: the walk's part of the examples a run asks for.
    """

    queues: tuple[tuple[str, bool], ...]
    actions: tuple[str, ...]
    subqueues: tuple[str, ...] = ()
    opening: tuple[Call, ...] = ()
    share: float = 1.0


def chooser(action: Action, offer: Offer) -> Choice:
    """Return the choice of an action: its calls in a state, without those that the driver does not accept."""
    choose: Choice = partial(action.choose, offer=offer)
    if not offer.accepts:
        return choose
    return lambda state: [call for call in choose(state) if takes(offer, call)]


def offer_of(client: Port) -> Offer:
    """Return what this driver offers to the walks."""
    methods = frozenset(filter(client.offers, METHODS))
    return Offer(methods, client.hello.clock == "virtual" and client.offers("clock.advance"), client.hello.accepts)


def fitting(plan: Plan, offer: Offer) -> Plan:
    """Return the plan without queues whose creation the driver does not accept, unless none would be left."""
    queues = tuple(queue for queue in plan.queues if takes(offer, _creation(*queue)))
    return replace(plan, queues=queues) if queues else plan


def creations(plan: Plan) -> tuple[Call, ...]:
    """Return the calls that begin a history of this plan, without the opening of handles."""
    return (*plan.opening, *(_creation(*queue) for queue in plan.queues))


def _creation(queue: str, transactional: bool) -> Call:
    return Call("queues.create", queue=queue, transactional=transactional)


class Doing(Protocol):
    """A history, with or without a story."""

    @property
    def state(self) -> State: ...

    def do(self, call: Call, /) -> object: ...


def set_up(history: Doing, plan: Plan) -> None:
    """Create the queues of a plan and open each for send and for receive, and subqueues for receive and move."""
    for call in plan.opening:
        history.do(call)
    for queue, transactional in plan.queues:
        history.do(_creation(queue, transactional))
        for access in ("send", "receive"):
            name = names("h", history.state.handles)
            history.do(Call("queues.open", name=name, queue=queue, access=access))
    if not plan.subqueues:
        return
    first = plan.queues[0][0]
    for queue in (f"{first};{subqueue}" for subqueue in plan.subqueues):
        for access in ("receive", "move"):
            history.do(Call("queues.open", name=names("h", history.state.handles), queue=queue, access=access))
    history.do(Call("queues.open", name=names("h", history.state.handles), queue=first, access="move"))


class Walk:
    """A walk over a plan, with the actions that the driver offers.

    first_only: it ends with the first failure. over: it has enough failures, or no time left.
    """

    def __init__(
        self, client: Port, judge: Recorder, plan: Plan, *, steered: bool = True, first_only: bool = True
    ) -> None:
        self.findings = Findings()
        self.over = False
        self._client, self._judge, self._first_only = client, judge, first_only
        self._model = Model(judge.readings)
        self._plan = fitting(plan, offer_of(client))
        self._choices = possible_choices(client, plan)
        self.steering: Steering = steering(self._model, on=steered)
        self._refusals = refusals()

    def example(self, random: Random, steps: int) -> None:
        """Play one example."""
        history = History(self._client, self._judge, self._model)
        try:
            set_up(history, self._plan)
        except ConformanceFailure as failure:
            if not self._goes_on(history, failure):
                return
        try:
            self._steps(history, random, steps)
        finally:
            history.driving.leave()

    def _steps(self, history: History, random: Random, steps: int) -> None:
        for call in walks.steps(lambda: history.state, self._choices, random, steps, self.steering):
            if history.over:
                return
            if time.monotonic() > self._judge.until:
                self._judge.cut = self.over = True
                return
            try:
                history.do(call)
            except ConformanceFailure as failure:
                if not self._goes_on(history, failure):
                    return
            except self._refusals:
                del history.calls[-1]
            else:
                self.steering.took([*history.shown, (call.method, kind_of(history.state))])

    def _goes_on(self, history: History, failure: ConformanceFailure) -> bool:
        """Note a failure. It ends the example unless only the code was wrong; the walk goes on."""
        call = stored_call(failure.repro["calls"][-1])
        self.findings.add(failure, history, call)
        self.steering.avoided.add(where(history.state, call))
        self.over = self._first_only or self.findings.full
        return not self.over and history.go_on()


def possible_choices(client: Port, plan: Plan) -> tuple[Choice, ...]:
    """Return the choices for a plan's steps that the driver offers; a choice listed twice is taken twice as often."""
    offer = offer_of(client)
    made = {name: chooser(ACTIONS[name], offer) for name in plan.actions if ACTIONS[name].offered(offer)}
    return tuple(made[name] for name in plan.actions if name in made)


def offered(client: Port, plan: Plan) -> bool:
    """Tell whether the driver offers enough of this plan for a useful walk."""
    if not all(map(client.offers, NEEDS)) or (plan.subqueues and not client.offers("messages.move")):
        return False
    if plan.opening and not all(map(client.offers, ("queues.get", "queues.counts"))):
        return False  # plans about journals and quotas need these methods
    offer = offer_of(client)
    if not all(takes(offer, call) for call in creations(plan)):
        return False
    return len(possible_choices(client, plan)) * 2 >= len(plan.actions)


def walk(client: Port, judge: Recorder, options: RunOptions, plan: Plan, *, steered: bool = True) -> None:
    """Walk this plan's share of the examples that the run asks for.

    Raises ConformanceFailure, with the shortest story found, for one finding, and ConformanceFailures for several. A
    run that stops at the first failure looks for no second.
    """
    walk = Walk(client, judge, plan, steered=steered, first_only=options.first_only)
    for random in walks.examples(options.seed, options.max_examples * plan.share):
        if not walk.over:
            walk.example(random, options.stateful_steps)
    raised(walk.findings.told(client, judge, options))
