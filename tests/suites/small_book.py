"""A small book, made of seeded walks of the model, for tests that need any book."""

from __future__ import annotations

from random import Random

from conformance.histories import plans
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.table import ACTIONS, METHODS
from conformance.histories.situations.book import Book, Planned
from conformance.histories.situations.situation import Space, space
from conformance.histories.situations.specified_calls import after, default_model
from conformance.histories.walk import Plan, set_up
from conformance.model import BadCall, Call, Model, State

OFFER = Offer(METHODS, virtual=True)


class _Walked:
    """A history of the model, as `set_up` needs it."""

    def __init__(self, model: Model, met: Space) -> None:
        self.model, self.space = model, met
        self.state = State()
        self.calls: list[Call] = []
        self.met: list[tuple[int, ...]] = []

    def do(self, call: Call) -> None:
        """Make a call."""
        following = after(self.model, self.state, call)
        self.met.append(self.space.met(self.state, call))
        self.calls.append(call)
        self.state = following


def walked(plan: Plan, seed: str, steps: int = 25) -> _Walked:
    """One history of a plan."""
    random = Random(seed)
    history = _Walked(default_model(), space())
    set_up(history, plan)
    actions = [ACTIONS[name] for name in plan.actions if ACTIONS[name].offered(OFFER)]
    for _ in range(steps):
        options = [calls for action in actions if (calls := action.choose(history.state, OFFER))]
        if not options:
            break
        try:
            history.do(random.choice(random.choice(options)))
        except BadCall:
            continue
    return history


def small_book(walks: int = 2, steps: int = 25) -> Book:
    """Return a book with so many histories of each plan."""
    histories: list[Planned] = []
    seen: set[int] = set()
    named = {name: plan for name, plan in vars(plans).items() if isinstance(plan, Plan)}
    for walk in range(walks):
        for name, plan in named.items():
            history = walked(plan, f"{name} {walk}", steps)
            met = []
            for numbers in history.met:
                met.append(tuple(number for number in numbers if number not in seen))
                seen.update(numbers)
            methods = frozenset(call.method for call in history.calls)
            virtual = any(call.method == "clock.advance" or call.timeout_ms for call in history.calls)
            histories.append(Planned(len(histories), tuple(history.calls), tuple(met), virtual, methods, 0))
    return Book(space().digest, tuple(histories), {})
