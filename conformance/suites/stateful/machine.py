"""The random walk: a hypothesis state machine whose steps are calls that make sense in the model's state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hypothesis import Phase, seed
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.model import Call, Model, State
from conformance.model.calls import METHODS
from conformance.suites.judging import ConformanceFailure
from conformance.suites.settings import from_options
from conformance.suites.stateful import meanings, meanings_keeping, meanings_moves
from conformance.suites.stateful.history import History
from conformance.suites.stateful.meanings import Offer
from conformance.suites.stateful.shorten import run, shortened

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
    "prepare": Action(_plain(meanings_moves.prepares), _methods("transactions.prepare")),
}


def offer_of(client: Client) -> Offer:
    """What this driver offers of what the walks can ask."""
    methods = frozenset(name for name in METHODS if name != "restart" and client.offers(name))
    return Offer(methods, client.hello.clock == "virtual" and client.offers("clock.advance"))


def set_up(history: History, plan: Plan) -> None:
    """Create the queues of a plan, each open for send and for receive."""
    history.run(*plan.opening)
    for queue, transactional in plan.queues:
        history.run(
            Call("queues.create", queue=queue, transactional=transactional),
            Call("queues.open", name=meanings.names("h", history.state.handles), queue=queue, access="send"),
        )
        history.do(Call("queues.open", name=meanings.names("h", history.state.handles), queue=queue, access="receive"))
    if not plan.subqueues:
        return
    first = plan.queues[0][0]
    for queue in (f"{first};{subqueue}" for subqueue in plan.subqueues):
        for access in ("receive", "move"):
            history.do(Call("queues.open", name=meanings.names("h", history.state.handles), queue=queue, access=access))
    history.do(Call("queues.open", name=meanings.names("h", history.state.handles), queue=first, access="move"))


class Walk(RuleBasedStateMachine):
    """One example. `make` gives the class for a plan.

    There is one rule, and not one for each action: hypothesis would switch some off for a whole example, and a history
    without sends, or without commits, goes nowhere. What is worth doing is known from the model's state.
    """

    client: Client
    judge: Judge
    model: Model
    plan: Plan
    offer: Offer
    actions: tuple[Action, ...]

    def __init__(self) -> None:
        super().__init__()
        self.spread = 0
        self.history = History(self.client, self.judge, self.model)
        set_up(self.history, self.plan)

    def teardown(self) -> None:
        """Leave nothing waiting behind."""
        self.history.driving.leave()

    def options(self) -> list[list[Call]]:
        """For each action that makes sense now, the calls it may be."""
        state = self.history.state
        return [calls for action in self.actions if (calls := action.choose(state, self.offer))]

    @rule(roll=st.integers(0, ROLLS - 1))
    def step(self, roll: int) -> None:
        """One call. The roll chooses the action, and among its calls."""
        if self.history.over:
            return
        options = self.options()
        roll = self.spread = spread(roll, self.spread)
        if options:
            which, roll = roll % len(options), roll // len(options)
            self.history.do(options[which][roll % len(options[which])])


def spread(roll: int, before: int) -> int:
    """The roll, mixed with those before it.

    Hypothesis draws some numbers (0, the ends, those it drew before) far more often than others, which finds errors in
    arithmetic and would here repeat one call for a whole history, and one history for many examples.
    """
    mixed = ((roll + 1) * 0x9E3779B1 + before * 0x85EBCA77) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
    return mixed ^ (mixed >> 13)


def make(client: Client, judge: Judge, plan: Plan) -> type[Walk]:
    """The state machine for this plan, with the actions the driver offers."""
    offer = offer_of(client)
    actions = tuple(ACTIONS[name] for name in plan.actions if ACTIONS[name].offered(offer))
    members = {
        "client": client,
        "judge": judge,
        "model": Model(judge.readings),
        "plan": plan,
        "offer": offer,
        "actions": actions,
    }
    made: type[Walk] = type("Walk", (Walk,), members)
    return made


def walk(client: Client, judge: Judge, options: RunOptions, plan: Plan, *, share: float = 1.0) -> None:
    """Walk through as many examples as the run asks for; `share` is this walk's part of them.

    Raises ConformanceFailure, with the shortest story found, when a requirement is broken.
    """
    made = seed(options.seed)(make(client, judge, plan))
    settings = from_options(options, share=share, phases=(Phase.explicit, Phase.generate))
    try:
        run_state_machine_as_test(made, settings=settings)
    except ConformanceFailure as failure:
        calls = [Call.from_json(raw) for raw in failure.repro["calls"]]
        _, again = run(client, judge, shortened(client, options, failure, calls))
        # What is not seen again is told as it was seen; whether it is flaky is for the caller to find out.
        raise (again or failure) from None
