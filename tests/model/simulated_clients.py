"""Concurrent histories made from the model itself: each call takes effect at a random moment of its life.

What they show is known to be explicable; what `linearize` makes of them, and of damaged copies, is what is tested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from conformance.model import Answer, BadCall, Call, Model, SeenMessage, State
from conformance.model.calls import INFINITE
from conformance.model.expected import Blocks, Expected, Fails, Succeeds
from conformance.model.linearizability.history import Operation
from conformance.model.linearizability.search import forgotten
from conformance.model.tables import PositionState
from conformance.spec.constants import hresults

ENDS = ("transactions.commit", "transactions.abort")


@dataclass
class Pending:
    call: Call
    client: str
    began: int
    blocked: int | None = None
    answer: Answer | None = None
    waiting: bool = False


def answer_for(result: object, numbers: dict[str, int] | None) -> Answer:
    if isinstance(result, Fails):
        codes = result.codes or tuple(code for _, code in result.by_reading if code is not None)
        return Answer.of_status(codes[0] if codes else hresults.MQ_ERROR)
    assert isinstance(result, Succeeds)
    if result.message is None:
        return Answer()
    number = numbers.get(result.message) if numbers is not None else None
    return Answer(message=SeenMessage(result.message.encode(), lookup_identifier=number))


class Simulation:
    """queues: name to whether it is transactional. eager: how soon a call takes effect and is answered, 0 to 1."""

    def __init__(
        self, seed: int, *, clients: int = 8, queues: dict[str, bool] | None = None, lookups: bool = True,
        weights: dict[str, int] | None = None, eager: float = 0.5, priorities: bool = True,
    ) -> None:  # fmt: skip
        self.random = Random(seed)
        self.model = Model()
        self.state = State()
        self.clients = [chr(ord("A") + number) for number in range(clients)]
        self.queues = queues or {"q1": False}
        self.weights = weights or {"send": 5, "receive": 4, "peek": 1}
        self.eager = eager
        self.priorities = priorities
        self.lookups = {} if lookups else None
        self.clock = 0
        self.count = 0
        self.flying: dict[str, Pending] = {}
        self.open: dict[str, str] = {}
        self.history: list[Operation] = []
        for queue, transactional in self.queues.items():
            self.now(Call("queues.create", queue=queue, transactional=transactional))
            for client in self.clients:
                self.now(Call("queues.open", name=f"s{client}{queue}", queue=queue, access="send"))
                self.now(Call("queues.open", name=f"r{client}{queue}", queue=queue, access="receive"))

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def now(self, call: Call, client: str = "-") -> None:
        pending = Pending(call, client, self.tick())
        self.effect(pending)
        self.end(pending)

    def effect(self, pending: Pending) -> None:
        expected: Expected = self.model.allowed(self.state, pending.call).outcomes[0]
        self.state = forgotten(
            expected.next, expected.next.waited[-50:], pending.call.transaction if pending.call.method in ENDS else None
        )
        if pending.call.method == "messages.send" and self.lookups is not None:
            self.lookups[pending.call.message or ""] = len(self.lookups) + 1
        if isinstance(expected.result, Blocks):
            pending.waiting, pending.blocked = True, self.tick()
        else:
            pending.answer = answer_for(expected.result, self.lookups)
        for completion in expected.completions:
            waiting = next(other for other in self.flying.values() if other.call.name == completion.waiter)
            waiting.waiting, waiting.answer = False, answer_for(completion.result, self.lookups)

    def end(self, pending: Pending) -> None:
        self.history.append(
            Operation(pending.call, pending.client, pending.began, self.tick(), pending.answer, pending.blocked)
        )

    def full(self, queue: str) -> int:
        return sum(position.state is not PositionState.DELETED for position in self.state.queues[queue].positions)

    def call(self, client: str) -> Call:
        queue = self.random.choice(list(self.queues))
        within = self.open.get(client) if self.queues[queue] else None
        self.count += 1
        kinds = {kind: weight for kind, weight in self.weights.items() if kind != "send" or self.full(queue) < 6}
        if self.queues[queue] and within is None:
            self.open[client] = f"t{self.count}"
            return Call("transactions.begin", name=f"t{self.count}")
        if within is not None and self.random.random() < 0.3:
            del self.open[client]
            return Call(f"transactions.{self.random.choice(('commit', 'commit', 'abort'))}", transaction=within)
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        reader = f"r{client}{queue}"
        if kind == "send":
            priority = self.random.choice((None, None, None, 5)) if self.priorities and within is None else None
            return Call(
                "messages.send",
                message=f"{client}{self.count}", handle=f"s{client}{queue}", priority=priority, transaction=within,
            )  # fmt: skip
        if kind == "wait":
            return Call("messages.receive", name=f"w{self.count}", handle=reader, timeout_ms=INFINITE)
        if kind == "peek":
            return Call("messages.peek", handle=reader)
        return Call("messages.receive", handle=reader, transaction=within)

    def run(self, operations: int) -> tuple[Operation, ...]:
        left = operations
        while left > 0 or self.flying:
            idle = [client for client in self.clients if client not in self.flying]
            if left > 0 and idle and self.random.random() > self.eager * len(self.flying) / len(self.clients):
                client = self.random.choice(idle)
                self.flying[client] = Pending(self.call(client), client, self.tick())
                left -= 1
                continue
            before = [one for one in self.flying.values() if one.answer is None and not one.waiting]
            after = [client for client, one in self.flying.items() if one.answer is not None]
            if before and (not after or self.random.random() < 0.5):
                try:
                    self.effect(self.random.choice(before))
                except BadCall:
                    raise AssertionError("the simulation made a call that makes no sense") from None
            elif after:
                client = self.random.choice(after)
                self.end(self.flying.pop(client))
            else:  # all wait
                client = self.random.choice(list(self.flying))
                self.now(Call("messages.cancel", request=self.flying[client].call.name), f"{client}'")
        for client, name in list(self.open.items()):
            self.now(Call("transactions.abort", transaction=name), client)
        for queue in self.queues:
            while self.state.queues[queue].positions and any(p.available for p in self.state.queues[queue].positions):
                self.now(Call("messages.receive", handle=f"rA{queue}"))
            self.now(Call("messages.receive", handle=f"rA{queue}"))
        return tuple(sorted(self.history, key=lambda operation: operation.began))


def lost(history: tuple[Operation, ...], message: str) -> tuple[Operation, ...]:
    """Nobody was given this message: reads of it found nothing."""
    empty = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
    return tuple(replace(op, answer=empty) if op.reads and op.message == message else op for op in history)
