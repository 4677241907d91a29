"""The random walk: a hypothesis state machine whose steps are calls that make sense in the model's state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from hypothesis import Phase, seed
from hypothesis import settings as Settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.model import Call, Model, State
from conformance.model.calls import METHODS
from conformance.suites.guard import refusals
from conformance.suites.judging import ConformanceFailure
from conformance.suites.settings import draw_from_the_seed_alone, from_options
from conformance.suites.stateful import meanings, meanings_keeping, meanings_moves, meanings_outgoing
from conformance.suites.stateful.findings import Findings, raised
from conformance.suites.stateful.history import History
from conformance.suites.stateful.meanings import Offer
from conformance.suites.stateful.steering import Choice, Steering, kind_of, mixed, where

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import Judge, RunOptions

ROLLS = 1 << 20  # one draw a step: enough to choose among any dozen actions with a few dozen calls each
NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a walk is about.

    queues: name to whether it is transactional. actions: what its steps may be, out of `ACTIONS`; an action named
    twice is taken twice as often. subqueues: of the first queue; each and the queue itself can be moved to at once.
    opening: further calls that every history begins with.
    """

    queues: tuple[tuple[str, bool], ...]
    actions: tuple[str, ...]
    subqueues: tuple[str, ...] = ()
    opening: tuple[Call, ...] = ()


def _methods(*methods: str) -> Callable[[Offer], bool]:
    return lambda offer: all(offer.has(method) for method in methods)


class Choosing(Protocol):
    """The calls an action may be."""

    def __call__(self, state: State, offer: Offer) -> list[Call]: ...


def _plain(choose: Callable[[State], list[Call]]) -> Choosing:
    return lambda state, offer: choose(state)


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of step. choose: the calls it may be in a state. offered: whether the driver has what it takes."""

    choose: Choosing
    offered: Callable[[Offer], bool]

    def calls(self, state: State, offer: Offer) -> list[Call]:
        """Those of them that give the driver nothing it does not accept."""
        made = self.choose(state, offer)
        return made if not offer.accepts else [call for call in made if offer.takes(call)]

    def chooser(self, offer: Offer) -> Choice:
        """`calls` of a state, for this offer."""
        choose = self.calls if offer.accepts else self.choose
        return partial(choose, offer=offer)


ACTIONS: dict[str, Action] = {
    "send": Action(_plain(meanings.sends), _methods("messages.send")),
    "receive": Action(_plain(meanings.receives), _methods("messages.receive")),
    "peek": Action(_plain(meanings.peeks), _methods("messages.peek")),
    "peek_next": Action(_plain(meanings.peek_nexts), _methods("messages.peek_next", "cursors.open")),
    "open_cursor": Action(_plain(meanings.cursor_openings), _methods("cursors.open")),
    "close_cursor": Action(_plain(meanings.cursor_closings), _methods("cursors.close")),
    "begin": Action(_plain(meanings.begins), _methods("transactions.begin")),
    "end": Action(_plain(meanings.endings), _methods("transactions.commit", "transactions.abort")),
    "wait": Action(meanings.waits, lambda offer: True),
    "pass_time": Action(_plain(meanings.passing_time), lambda offer: offer.virtual),
    "cancel": Action(_plain(meanings.cancels), _methods("messages.cancel")),
    "open": Action(_plain(meanings.openings), _methods("queues.open")),
    "close": Action(_plain(meanings.closings), _methods("queues.close")),
    "purge": Action(_plain(meanings.purges), _methods("queues.purge")),
    "delete": Action(_plain(meanings.deletions), _methods("queues.delete")),
    "create": Action(_plain(meanings.creations), _methods("queues.create")),
    "mistake": Action(meanings.mistakes, lambda offer: True),
    "post": Action(_plain(meanings_keeping.posts), _methods("messages.send")),
    "fill": Action(_plain(meanings_keeping.fillings), _methods("messages.send")),
    "pass_seconds": Action(_plain(meanings_keeping.passing_seconds), lambda offer: offer.virtual),
    "count": Action(_plain(meanings_keeping.counts), _methods("queues.counts")),
    "lookup": Action(meanings.lookups, _methods("messages.peek_by_lookup_id")),
    "begin_receive": Action(_plain(meanings_moves.begun_receives), _methods("messages.receive_begin")),
    "end_receive": Action(_plain(meanings_moves.receive_ends), _methods("messages.receive_end")),
    "open_subqueue": Action(_plain(meanings_moves.subqueue_openings), _methods("messages.move")),
    "move": Action(_plain(meanings_moves.moves), _methods("messages.move")),
    "move_mistake": Action(_plain(meanings_moves.move_mistakes), _methods("messages.move")),
    "send_out": Action(_plain(meanings_outgoing.transactional_sends), _methods("messages.send", "transactions.begin")),
    "pause": Action(_plain(meanings_outgoing.pauses), _methods("outgoing.pause", "outgoing.resume")),
    "resume": Action(_plain(meanings_outgoing.resumptions), _methods("outgoing.resume")),
    "take": Action(_plain(meanings_outgoing.takes), _methods("outgoing.take")),
    "prepare": Action(_plain(meanings_moves.prepares), _methods("transactions.prepare")),
}


def offer_of(client: Client) -> Offer:
    """What this driver offers of what the walks can ask."""
    methods = frozenset(name for name in METHODS if name != "restart" and client.offers(name))
    return Offer(methods, client.hello.clock == "virtual" and client.offers("clock.advance"), client.hello.accepts)


def fitting(plan: Plan, offer: Offer) -> Plan:
    """The plan without the queues that cannot be made with what the driver accepts, where others are left."""
    queues = tuple(queue for queue in plan.queues if offer.takes(_creation(*queue)))
    return replace(plan, queues=queues) if queues else plan


def creations(plan: Plan) -> tuple[Call, ...]:
    """The calls a history of this plan begins with, but for its handles."""
    return (*plan.opening, *(_creation(*queue) for queue in plan.queues))


def _creation(queue: str, transactional: bool) -> Call:
    return Call("queues.create", queue=queue, transactional=transactional)


class Doing(Protocol):
    """A history, told or not."""

    @property
    def state(self) -> State: ...

    def do(self, call: Call, /) -> object: ...


def set_up(history: Doing, plan: Plan) -> None:
    """Create the queues of a plan, each open for send and for receive."""
    for call in plan.opening:
        history.do(call)
    for queue, transactional in plan.queues:
        history.do(_creation(queue, transactional))
        for access in ("send", "receive"):
            name = meanings.names("h", history.state.handles)
            history.do(Call("queues.open", name=name, queue=queue, access=access))
    if not plan.subqueues:
        return
    first = plan.queues[0][0]
    for queue in (f"{first};{subqueue}" for subqueue in plan.subqueues):
        for access in ("receive", "move"):
            history.do(Call("queues.open", name=meanings.names("h", history.state.handles), queue=queue, access=access))
    history.do(Call("queues.open", name=meanings.names("h", history.state.handles), queue=first, access="move"))


class Enough(BaseException):
    """The walk is over: it found what it was to find. No Exception: hypothesis lets it through at once."""


class Walk(RuleBasedStateMachine):
    """One example. `make` gives the class for a plan.

    There is one rule, and not one for each action: hypothesis would switch some off for a whole example, and a history
    without sends, or without commits, goes nowhere. What is worth doing is known from the model's state.
    """

    client: Client
    judge: Judge
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
        """Leave nothing waiting behind."""
        self.history.driving.leave()

    @rule(roll=st.integers(0, ROLLS - 1))
    def step(self, roll: int) -> None:
        """One call. The roll chooses the action, and among its calls."""
        history = self.history
        if self.failed or history.over:
            return
        if time.monotonic() > self.until:
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
        """A failure ends the example, or not even that when it is a wrong code alone; the walk goes on elsewhere."""
        call = Call.from_json(failure.repro["calls"][-1])
        self.findings.add(failure, self.history, call)
        self.steering.avoided.add(where(self.history.state, call))
        if self.first_only or self.findings.full:
            raise Enough
        self.failed = not self.history.go_on()


def spread(roll: int, before: int) -> int:
    """The roll, mixed with those before it.

    Hypothesis draws some numbers (0, the ends, those it drew before) far more often than others, which finds errors in
    arithmetic and would here repeat one call for a whole history, and one history for many examples.
    """
    return mixed(mixed(roll) ^ before)


def choices(client: Client, plan: Plan) -> tuple[Choice, ...]:
    """What the steps of a plan may be, with what the driver offers; a choice named twice is taken twice as often."""
    offer = offer_of(client)
    made = {name: ACTIONS[name].chooser(offer) for name in plan.actions if ACTIONS[name].offered(offer)}
    return tuple(made[name] for name in plan.actions if name in made)


def offered(client: Client, plan: Plan) -> bool:
    """Whether the driver offers enough for this plan to be about something."""
    if not all(map(client.offers, NEEDS)) or (plan.subqueues and not client.offers("messages.move")):
        return False
    if plan.opening and not all(map(client.offers, ("queues.get", "queues.counts"))):
        return False  # a driver without these is not asked for journals and quotas
    offer = offer_of(client)
    if not all(map(offer.takes, creations(plan))):
        return False
    return len(choices(client, plan)) * 2 >= len(plan.actions)


def make(
    client: Client,
    judge: Judge,
    plan: Plan,
    *,
    steering: Steering | None = None,
    first_only: bool = True,
    until: float = float("inf"),
) -> type[Walk]:
    """The state machine for this plan, with the actions the driver offers.

    first_only: end with the first failure. until: `time.monotonic()` at which to end.
    """
    members = {
        "client": client,
        "judge": judge,
        "model": Model(judge.readings),
        "plan": fitting(plan, offer_of(client)),
        "choices": choices(client, plan),
        "steering": steering or Steering(),
        "findings": Findings(),
        "refusals": refusals(),
        "first_only": first_only,
        "until": until,
    }
    made: type[Walk] = type("Walk", (Walk,), members)
    return made


def generated(made: type[Walk], settings: Settings) -> None:
    """Let hypothesis walk until the walk has enough."""
    try:
        run_state_machine_as_test(made, settings=settings)
    except Enough:
        pass
    except Flaky as error:
        # An example that ends where one with the same draws went on: hypothesis speaks first, and of its own concern.
        if not isinstance(error.__context__, Enough):
            raise


def walk(
    client: Client, judge: Judge, options: RunOptions, plan: Plan, *, share: float = 1.0, steered: bool = True
) -> None:
    """Walk through as many examples as the run asks for; `share` is this walk's part of them.

    Raises ConformanceFailure, with the shortest story found, when a requirement is broken, and ConformanceFailures
    when more than one is, or one in several places; a run that is to stop at the first failure looks for no second.
    """
    draw_from_the_seed_alone()
    until = time.monotonic() + options.budget_s if options.budget_s is not None else float("inf")
    made = make(client, judge, plan, steering=Steering(on=steered), first_only=options.first_only, until=until)
    settings = from_options(options, share=share, phases=(Phase.explicit, Phase.generate))
    generated(seed(options.seed)(made), settings)
    raised(made.findings.told(client, judge, options))
