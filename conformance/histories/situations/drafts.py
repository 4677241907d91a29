"""Drafts: histories that are being drawn, call by call, without the calls that make no sense."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, TypeVar

from conformance.histories.operations.state_queries import message_name, names
from conformance.histories.situations.pure import followed, foreseen
from conformance.model import Call, Model, State
from conformance.model.expected import Fails
from conformance.model.state import Handle
from conformance.model.values import replace

_Thing = TypeVar("_Thing")


class Draft:
    """A history that is being drawn. Calls that no section describes are left out.

    mark: in the names of what is made, if another part of the history has names too. focus: the queue that most of it
    is about. instead: handles that were closed or lost, and those opened in their place.
    """

    def __init__(self, model: Model, random: Random, mark: str = "") -> None:
        self.model = model
        self.random = random
        self.mark = mark
        self.focus = "q1"
        self.instead: dict[str, str] = {}
        self.calls: list[Call] = []
        self.state = State()

    def name(self, kind: str, taken: Iterable[str]) -> str:
        """Return an unused name."""
        return names(kind + self.mark, taken)

    def message(self) -> str:
        """Return the name of the next message."""
        name = message_name(self.state)
        return f"{name}{self.mark}" if self.mark else name

    def do(self, method: str, **members: Any) -> bool:
        """Make a call; return whether it made sense and succeeded."""
        return self.make(Call(method, **members))

    def make(self, call: Call) -> bool:
        """Make a call; return whether it made sense and succeeded."""
        outcome = foreseen(self.model, self.state, call)
        if outcome is None:
            return False
        self.calls.append(call)
        self.state = followed(outcome)
        return not isinstance(outcome.result, Fails)

    def chance(self, share: float) -> bool:
        """Return True in this share of the draws."""
        return self.random.random() < share

    def one(self, among: Sequence[_Thing]) -> _Thing | None:
        """Draw one; None if there is none."""
        return among[int(self.random.random() * len(among))] if among else None

    def handle(self, *access: str) -> Handle | None:
        """Draw a usable handle with one of these accesses."""
        every = [one for one in self.state.handles.values() if one.is_open and not one.lost and one.access in access]
        mains = [one for one in every if one.queue.startswith(self.focus)]
        return self.one(mains if mains and self.chance(0.7) else every)

    def open(self, queue: str, access: str, instead: str | None = None) -> None:
        """Open a queue. instead: the handle in whose place the new one is used."""
        name = self.name("h", self.state.handles)
        if self.do("queues.open", name=name, queue=queue, access=access) and instead is not None:
            self.instead[instead] = name

    def again(self, call: Call) -> bool:
        """Make a call of another history, by the handles that are there now."""
        handle, destination = self.instead.get(call.handle or ""), self.instead.get(call.destination or "")
        if handle is not None or destination is not None:
            call = replace(call, handle=handle or call.handle, destination=destination or call.destination)
        return self.make(call)

    def transaction(self) -> str | None:
        """Return an open transaction, perhaps a new one."""
        free = [one.name for one in self.state.transactions.values() if one.ended is None and not one.prepared]
        if free and self.chance(0.7):
            return free[0]
        name = self.name("t", self.state.transactions)
        return name if self.do("transactions.begin", name=name) else None
