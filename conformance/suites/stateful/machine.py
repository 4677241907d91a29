"""The random walk: a hypothesis state machine whose steps are calls that make sense in the model's state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from conformance.model import Call, Model, State
from conformance.model.calls import METHODS
from conformance.suites.judging import ConformanceFailure
from conformance.suites.settings import from_options
from conformance.suites.stateful import meanings
from conformance.suites.stateful.history import History
from conformance.suites.stateful.meanings import Offer
from conformance.suites.stateful.shorten import run, shortened

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import Judge, RunOptions

NEEDS = ("queues.create", "queues.open", "messages.send", "messages.receive")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a walk is about.

    queues: name to whether it is transactional. actions: what its steps may be, out of `ACTIONS`; an action named
    twice is taken twice as often.
    """

    queues: tuple[tuple[str, bool], ...]
    actions: tuple[str, ...]


def _methods(*methods: str) -> Callable[[Offer], bool]:
    return lambda offer: all(offer.has(method) for method in methods)


def _plain(choose: Callable[[State], list[Call]]) -> Callable[[State, Offer], list[Call]]:
    return lambda state, offer: choose(state)


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of step. choose: the calls it may be in a state. offered: whether the driver has what it takes."""

    choose: Callable[[State, Offer], list[Call]]
    offered: Callable[[Offer], bool]


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
    "lookup": Action(meanings.lookups, _methods("messages.peek_by_lookup_id")),
}


def offer_of(client: Client) -> Offer:
    """What this driver offers of what the walks can ask."""
    methods = frozenset(name for name in METHODS if name != "restart" and client.offers(name))
    return Offer(methods, client.hello.clock == "virtual" and client.offers("clock.advance"))


def set_up(history: History, plan: Plan) -> None:
    """Create the queues of a plan, each open for send and for receive."""
    for queue, transactional in plan.queues:
        history.run(
            Call("queues.create", queue=queue, transactional=transactional),
            Call("queues.open", name=meanings.names("h", history.state.handles), queue=queue, access="send"),
        )
        history.do(Call("queues.open", name=meanings.names("h", history.state.handles), queue=queue, access="receive"))


class Walk(RuleBasedStateMachine):
    """One example. `make` gives the class for a plan; the rules are added there."""

    client: Client
    judge: Judge
    model: Model
    plan: Plan
    offer: Offer

    def __init__(self) -> None:
        super().__init__()
        self.history = History(self.client, self.judge, self.model)
        set_up(self.history, self.plan)

    @rule()
    @precondition(lambda self: self.history.over)
    def rest(self) -> None:
        """Nothing more can be judged here; hypothesis wants a step to take all the same."""

    def options(self, action: str) -> list[Call]:
        """What this action may be now."""
        if self.history.over:
            return []
        return ACTIONS[action].choose(self.history.state, self.offer)

    def take(self, action: str, which: int) -> None:
        """Do it."""
        options = self.options(action)
        if options:
            self.history.do(options[which % len(options)])


def make(client: Client, judge: Judge, plan: Plan) -> type[Walk]:
    """The state machine for this plan, with the actions the driver offers."""
    offer = offer_of(client)
    rules: dict[str, object] = {}
    for number, action in enumerate(plan.actions):
        if ACTIONS[action].offered(offer):
            rules[f"{action}_{number}"] = _rule(action)
    members = {**rules, "client": client, "judge": judge, "model": Model(judge.readings), "plan": plan, "offer": offer}
    made: type[Walk] = type("Walk", (Walk,), members)
    return made


def _rule(action: str) -> object:
    def step(self: Walk, which: int) -> None:
        self.take(action, which)

    step.__name__ = action
    guarded = precondition(lambda self: bool(self.options(action)))(step)
    return rule(which=st.integers(0, 255))(guarded)


def walk(client: Client, judge: Judge, options: RunOptions, plan: Plan, *, share: float = 1.0) -> None:
    """Walk through as many examples as the run asks for; `share` is this walk's part of them.

    Raises ConformanceFailure, with the shortest story found, when a requirement is broken.
    """
    made = make(client, judge, plan)
    settings = from_options(options, share=share, phases=(Phase.explicit, Phase.generate))
    try:
        run_state_machine_as_test(made, settings=settings)
    except ConformanceFailure as failure:
        calls = [Call.from_json(raw) for raw in failure.repro["calls"]]
        _, again = run(client, judge, shortened(client, options, failure, calls))
        # What is not seen again is told as it was seen; whether it is flaky is for the caller to find out.
        raise (again or failure) from None
