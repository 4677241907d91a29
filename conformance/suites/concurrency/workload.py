"""What each of several clients does: calls drawn from a seed, each making sense after what this client has seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from conformance.model import Answer, Call
from conformance.model.calls import INFINITE
from conformance.model.matching import message_name
from conformance.verdict import Json

PRIORITIES = (None, None, None, None, 3, 3, 2, 5)  # mostly one: order is judged within a priority
KINDS = (
    "send",
    "receive",
    "peek",
    "wait",
    "wait_peek",
    "cursor",
    "begin",
    "purge",
    "open",
    "create",
    "begin_read",
    "move",
    "fetch",
)
MAX_OPERATIONS = 1_000_000
_QUEUE = re.compile(r"q[0-9]{1,3}")


class BadWorkload(ValueError):
    """A stored workload that cannot be run; the message says why."""


@dataclass(frozen=True, slots=True)
class Workload:
    """queues: name to whether it is transactional. clients: at most 26. operations: of all clients together.

    weights: how often each kind of step is taken. `wait` and `wait_peek` may wait, `open` opens a handle, denying
    others or not, and closes it, `create` makes or deletes a queue that others make too, `begin_read` is a receive in
    two phases, `move` moves a message it has seen to a subqueue, and `fetch` receives from there. burst: how full the
    clients let a queue become. shared: all read by one handle. rivals: how often in a hundred a transaction is ended by
    two at once, or what is moved is received at once. aborts: how many transactions in a hundred are aborted.
    """

    queues: tuple[tuple[str, bool], ...]
    clients: int
    operations: int
    weights: tuple[tuple[str, int], ...]
    burst: int = 6
    shared: bool = False
    rivals: int = 0
    aborts: int = 30

    def to_json(self) -> dict[str, Json]:
        """As a repro file keeps it."""
        return {
            "queues": [[name, transactional] for name, transactional in self.queues],
            "clients": self.clients,
            "operations": self.operations,
            "weights": [[kind, weight] for kind, weight in self.weights],
            "burst": self.burst,
            "shared": self.shared,
            "rivals": self.rivals,
            "aborts": self.aborts,
        }

    @classmethod
    def from_json(cls, raw: Any) -> Workload:
        """The inverse of `to_json`. Raises BadWorkload for a value it could not have written."""
        try:
            queues = tuple((str(name), bool(transactional)) for name, transactional in raw["queues"])
            weights = tuple((str(kind), int(weight)) for kind, weight in raw["weights"])
            made = cls(queues, int(raw["clients"]), int(raw["operations"]), weights)
            made = replace(made, burst=int(raw["burst"]), shared=bool(raw["shared"]), rivals=int(raw["rivals"]))
            made = replace(made, aborts=int(raw.get("aborts", made.aborts)))
        except (KeyError, TypeError, ValueError):
            raise BadWorkload("it lacks a member or has one of another type") from None
        if not queues or not all(_QUEUE.fullmatch(name) for name, _ in queues):
            raise BadWorkload("its queues are not named q1, q2 and so on")
        if not 1 <= made.clients <= 26 or not 0 <= made.operations <= MAX_OPERATIONS:
            raise BadWorkload("it has too many clients or calls, or none")
        known = all(kind in KINDS and weight >= 0 for kind, weight in weights)
        if not known or not sum(weight for kind, weight in weights if kind in ("receive", "peek")):
            raise BadWorkload("its kinds of steps are not those of this version")
        return made


def opening(workload: Workload) -> list[Call]:
    """What is done before the clients begin: the queues, and for each client a handle to send and one to receive."""
    calls: list[Call] = []
    for queue, transactional in workload.queues:
        calls.append(Call("queues.create", queue=queue, transactional=transactional))
        calls += reopening(queue, range(workload.clients))
        if dict(workload.weights).get("move"):
            calls += moving(queue, range(workload.clients))
    if dict(workload.weights).get("open"):
        calls.append(Call("queues.create", queue=contended(workload)))
    return calls


def contended(workload: Workload) -> str:
    """The queue that clients open for themselves alone."""
    return f"{workload.queues[0][0]}8"


def reopening(queue: str, clients: range, epoch: int = 0) -> list[Call]:
    """Handles of this queue for these clients."""
    return [
        Call("queues.open", name=handle(access, client, queue, epoch), queue=queue, access=access)
        for client in clients
        for access in ("send", "receive")
    ]


def moving(queue: str, clients: range) -> list[Call]:
    """Handles of its subqueue for these clients: one to move messages there, one to receive them."""
    return [
        Call("queues.open", name=f"{handle(access, client, queue)}s", queue=subqueue(queue), access=access)
        for client in clients
        for access in ("move", "receive")
    ]


def subqueue(queue: str) -> str:
    """The subqueue that messages are moved to."""
    return f"{queue};one"


def handle(access: str, client: int, queue: str, epoch: int = 0) -> str:
    """The name of a client's handle. epoch: restarts before it."""
    return f"{access[0]}{letter(client)}{queue.removeprefix('q')}" + (f"e{epoch}" if epoch else "")


def letter(client: int) -> str:
    """A client's name."""
    return chr(ord("A") + client)


@dataclass(slots=True)
class Worker:
    """One client. `next` gives its calls one after the other; `told` takes what came of each."""

    workload: Workload
    number: int
    random: Random
    left: int
    fill: Mapping[str, list[int]]
    epoch: int = 0
    count: int = 0
    transaction: str | None = None
    queue: str = ""
    in_it: int = 0
    cursors: dict[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    opened: str | None = None
    asked: str | None = None
    created: bool = False
    begun: str | None = None
    peeked: str | None = None

    @property
    def name(self) -> str:
        """A letter."""
        return letter(self.number)

    def next(self) -> Call | None:
        """The next call; None when there is no more to do."""
        if self.transaction is not None and (self.left <= 0 or self.in_it >= 3 or self.random.random() < 0.25):
            return self._end()
        if self.begun is not None and (self.left <= 0 or self.random.random() < 0.6):
            begun, self.begun = self.begun, None
            return Call("messages.receive_end", read=begun, acknowledge=self.random.random() < 0.5)
        if self.left <= 0:
            return None
        self.left -= 1
        choice = [one for one in self.workload.queues if one[1] or self.transaction is None]
        queue, transactional = self.random.choice(choice)
        self.queue = queue
        if self.peeked is not None and self.random.random() < 0.6:  # at once, while it is still there
            return self._call("move", queue)
        kinds = [(kind, weight) for kind, weight in self.workload.weights if self._sensible(kind, queue, transactional)]
        if transactional and self.transaction is None and self.random.random() < 0.5:
            return self._begin()
        kind = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return self._call(kind, queue)

    def rival(self, call: Call) -> Call | None:
        """What somebody else asks at the same time: now and then, the other end of the same transaction, or a receive
        of what it brings back or of the message that is moved."""
        if call.method == "messages.move" and self.random.randrange(100) < self.workload.rivals:
            return Call("messages.receive", handle=call.handle)
        ends = {"transactions.commit": "transactions.abort", "transactions.abort": "transactions.commit"}
        if call.method not in ends or self.random.randrange(100) >= self.workload.rivals:
            return None
        if self.random.random() < 0.5:  # somebody looks at what comes back or appears
            return Call("messages.receive", handle=self._reader(self.queue))
        return replace(call, method=ends[call.method])

    def told(self, call: Call, answer: Answer) -> None:
        """What came of a call."""
        queue = self.queue
        if call.method == "messages.send" and not answer.failed:
            self.fill[queue][0] += 1
        elif call.method == "messages.receive" and answer.message is not None:
            self.fill[queue][0] -= 1
        moves = dict(self.workload.weights).get("move")
        if moves and call.method == "messages.peek" and answer.message is not None and not answer.failed:
            self.peeked = message_name(answer.message)
        if call.method == "messages.receive_begin" and not answer.failed:
            self.begun = call.name
        if call.method == "queues.open" and not answer.failed:
            self.opened = self.asked
        if call.method == "queues.create":
            self.created = not answer.failed
        if call.cursor is not None:
            peeked = call.method != "messages.receive" and not answer.failed
            (self.read.add if peeked else self.read.discard)(call.cursor)

    def _sensible(self, kind: str, queue: str, transactional: bool) -> bool:
        full = self.fill[queue][0] >= self.workload.burst
        if kind == "send":
            return not full and (not transactional or self.transaction is not None)
        if kind == "begin":
            return transactional and self.transaction is None
        if kind in ("wait", "wait_peek", "open", "create", "begin_read"):
            return self.transaction is None
        return True

    def _reader(self, queue: str) -> str:
        return handle("receive", 0 if self.workload.shared else self.number, queue, self.epoch)

    def _opens(self, queue: str) -> Call:
        """A handle of its own, or the end of one."""
        if self.opened is not None:
            closed, self.opened = self.opened, None
            return Call("queues.close", handle=closed)
        self.asked = f"x{self._named('')}"
        share = self.random.choice((None, "deny_receive", "deny_receive"))
        access = self.random.choice(("receive", "receive", "peek"))
        return Call("queues.open", name=self.asked, queue=queue, access=access, share=share)

    def _creates(self) -> Call:
        name = f"{self.workload.queues[0][0]}9"
        if self.created and self.random.random() < 0.7:
            self.created = False
            return Call("queues.delete", queue=name)
        return Call("queues.create", queue=name)

    def _call(self, kind: str, queue: str) -> Call:
        reader = self._reader(queue)
        if kind == "open":
            return self._opens(contended(self.workload))
        if kind == "create":
            return self._creates()
        if kind == "begin_read":
            if self.begun is not None:
                return Call("messages.peek", handle=reader)
            return Call("messages.receive_begin", name=f"b{self._named('')}", handle=reader)
        if kind == "begin":
            return self._begin()
        if kind == "send":
            self.in_it += 1
            sent = self._named("")
            priority = None if self.transaction else self.random.choice(PRIORITIES)
            sender = handle("send", self.number, queue, self.epoch)
            call = Call("messages.send", message=sent, handle=sender, priority=priority, transaction=self.transaction)
            return replace(call, delivery=self.random.choice((None, "recoverable")))
        if kind == "fetch":
            return Call("messages.receive", handle=f"{handle('receive', self.number, queue)}s")
        if kind == "move" and self.peeked is not None:
            message, self.peeked = self.peeked, None
            return Call(
                "messages.move", message=message, handle=reader, destination=f"{handle('move', self.number, queue)}s"
            )
        if kind == "purge":
            return Call("queues.purge", handle=reader)
        if kind == "cursor":
            return self._with_cursor(queue, reader)
        if kind in ("wait", "wait_peek"):
            method = "messages.receive" if kind == "wait" else "messages.peek"
            return Call(method, name=f"w{self._named('')}", handle=reader, timeout_ms=INFINITE)
        self.in_it += 1
        if kind in ("peek", "move"):
            return Call("messages.peek", handle=reader)
        return Call("messages.receive", handle=reader, transaction=self.transaction)

    def _with_cursor(self, queue: str, reader: str) -> Call:
        cursor = self.cursors.get(queue)
        if cursor is None or self.random.random() < 0.1:
            cursor = self.cursors[queue] = f"c{self._named('')}"
            return Call("cursors.open", name=cursor, handle=reader)
        if cursor not in self.read or self.random.random() < 0.3:
            method = self.random.choice(("messages.peek", "messages.receive"))
        else:
            method = self.random.choice(("messages.peek_next", "messages.peek_next", "messages.receive"))
        within = self.transaction if method == "messages.receive" else None
        return Call(method, handle=reader, cursor=cursor, transaction=within)

    def _begin(self) -> Call:
        self.transaction, self.in_it = f"t{self._named('')}", 0
        return Call("transactions.begin", name=self.transaction)

    def _end(self) -> Call:
        how = "abort" if self.random.randrange(100) < self.workload.aborts else "commit"
        call = Call(f"transactions.{how}", transaction=self.transaction)
        self.transaction = None
        return call

    def _named(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.name}{self.count}"


def workers(workload: Workload, seed: int, *, epoch: int = 0, first: Mapping[str, int] | None = None) -> list[Worker]:
    """The clients. The same seed gives each the same calls, as long as it sees the same."""
    share, rest = divmod(workload.operations, workload.clients)
    fill = {queue: [0] for queue, _ in workload.queues}
    return [
        Worker(
            workload,
            number,
            Random(f"{seed}/{epoch}/{number}"),
            share + (number < rest),
            fill,
            epoch=epoch,
            count=(first or {}).get(letter(number), 0),
        )
        for number in range(workload.clients)
    ]
