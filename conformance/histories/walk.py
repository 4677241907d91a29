"""Random walk: a hypothesis state machine whose steps are calls that make sense in the model's state."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from hypothesis import Phase, seed
from hypothesis import settings as Settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.harness.guarded_client import refusals
from conformance.harness.hypothesis_settings import draw_from_the_seed_alone, from_options
from conformance.harness.recorder import ConformanceFailure
from conformance.histories.findings import Findings, raised
from conformance.histories.history import History
from conformance.histories.operations.operation import Action, Offer
from conformance.histories.operations.state_queries import names
from conformance.histories.operations.table import ACTIONS, METHODS, stored_call, takes
from conformance.histories.steering import Choice, Steering, kind_of, mixed, where
from conformance.model import Call, Model, State

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

ROLLS = 1 << 20  # values of the one draw per step: enough for a dozen actions with a few dozen calls each
NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")


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


class Enough(BaseException):
    """The walk is over: it has enough failures, or no time left. Not an Exception: hypothesis lets it through."""


class Walk(RuleBasedStateMachine):
    """One example. `make` makes the class for a plan.

    There is one rule instead of one per action: hypothesis would switch some off for a whole example, and a history
    without sends, or without commits, gets nowhere. The model's state decides which calls are worthwhile.
    """

    client: Port
    judge: Recorder
    model: Model
    plan: Plan
    choices: tuple[Choice, ...]
    steering: Steering
    findings: Findings
    refusals: tuple[type[BaseException], ...]
    first_only: bool
    until: float

    def __init__(self) -> None:
        super().__init__()
        self.spread = 0
        self.failed = False
        self.history = History(self.client, self.judge, self.model)
        try:
            set_up(self.history, self.plan)
        except ConformanceFailure as failure:
            self.note(failure)

    def teardown(self) -> None:
        """End everything that still waits."""
        self.history.driving.leave()

    @rule(roll=st.integers(0, ROLLS - 1))
    def step(self, roll: int) -> None:
        """Make one call. The roll chooses the action and one of its calls."""
        history = self.history
        if self.failed or history.over:
            return
        if time.monotonic() > self.until:
            self.judge.cut = True
            raise Enough
        self.spread = spread(roll, self.spread)
        call = self.steering.choose(self.model, history.state, self.choices, self.spread)
        if call is None:
            return
        try:
            history.do(call)
        except ConformanceFailure as failure:
            self.note(failure)
        except self.refusals:
            del history.calls[-1]
        else:
            self.steering.took([*history.shown, (call.method, kind_of(history.state))])

    def note(self, failure: ConformanceFailure) -> None:
        """Note a failure. It ends the example unless only the code was wrong; the walk goes on."""
        call = stored_call(failure.repro["calls"][-1])
        self.findings.add(failure, self.history, call)
        self.steering.avoided.add(where(self.history.state, call))
        if self.first_only or self.findings.full:
            raise Enough
        self.failed = not self.history.go_on()


def spread(roll: int, before: int) -> int:
    """Return the roll mixed with those before it.

    Hypothesis draws some numbers (0, the bounds, earlier draws) far more often than others. That finds errors in
    arithmetic, but here it would repeat one call for a whole history, and one history for many examples.
    """
    return mixed(mixed(roll) ^ before)


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


def make(
    client: Port,
    judge: Recorder,
    plan: Plan,
    *,
    steering: Steering | None = None,
    first_only: bool = True,
    until: float = float("inf"),
) -> type[Walk]:
    """Make the state machine for this plan, with the actions that the driver offers.

    first_only: end with the first failure. until: `time.monotonic()` at which to end.
    """
    members = {
        "client": client,
        "judge": judge,
        "model": Model(judge.readings),
        "plan": fitting(plan, offer_of(client)),
        "choices": possible_choices(client, plan),
        "steering": steering or Steering(),
        "findings": Findings(),
        "refusals": refusals(),
        "first_only": first_only,
        "until": until,
    }
    made: type[Walk] = type("Walk", (Walk,), members)
    return made


def generated(made: type[Walk], settings: Settings) -> None:
    """Let hypothesis run the state machine until its examples are done or it raises Enough."""
    try:
        run_state_machine_as_test(made, settings=settings)
    except Enough:
        pass
    except Flaky as error:
        # Hypothesis raises Flaky, in place of Enough, when an example ends where one with the same draws went on.
        if not isinstance(error.__context__, Enough):
            raise


def walk(client: Port, judge: Recorder, options: RunOptions, plan: Plan, *, steered: bool = True) -> None:
    """Walk this plan's share of the examples that the run asks for.

    Raises ConformanceFailure, with the shortest story found, for one finding, and ConformanceFailures for several. A
    run that stops at the first failure looks for no second.
    """
    draw_from_the_seed_alone()
    steering = Steering(on=steered)
    made = make(client, judge, plan, steering=steering, first_only=options.first_only, until=judge.until)
    settings = from_options(options, share=plan.share, phases=(Phase.explicit, Phase.generate))
    generated(seed(options.seed)(made), settings)
    raised(made.findings.told(client, judge, options))
