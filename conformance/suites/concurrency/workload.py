"""Workloads: each of several clients draws its calls from a seed; and the requirements that each judges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import Any, Final

from msgspec import convert

from conformance.model import Answer, Call
from conformance.model.calls import INFINITE
from conformance.model.expected import message_name
from conformance.verdict import Json

PLAIN: Final = (
    "MQDMPR-3.1.1.12.body-unchanged",
    "MQDMPR-3.1.1.12.label-unchanged",
    "MQDMPR-3.1.1.12.lookup-identifier-unique",
    "MQDMPR-3.1.1.12.priority-unchanged",
    "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.10.no-wait",
    "MQDMPR-3.1.7.1.10.no-wait-code",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.15.first-available",
    "MQDMPR-3.1.7.1.15.keeps",
    "MQDMPR-3.1.7.1.5.receive-then-receive",
    "MQDMPR-3.1.7.1.9.available",
    "MQDMPR-3.1.7.1.9.success",
    "MQMQ-2.2.19.1.higher-priority-nearer-front",
)

WAITS: Final = (
    "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.10.waits",
    "MQDMPR-3.1.7.1.10.wakes",
    "MQDMPR-3.1.7.1.17.cancelled",
    "MQDMPR-3.1.7.1.17.success",
    "MQDMPR-3.1.7.1.9.available",
    "MQDMPR-3.1.7.2.2.one-destructive",
)

TRANSACTIONS: Final = (
    "MQDMPR-3.1.1.2.arrival-order",
    "MQDMPR-3.1.4.4.receives-gone",
    "MQDMPR-3.1.4.4.sends-appear",
    "MQDMPR-3.1.4.4.success",
    "MQDMPR-3.1.4.5.receives-return",
    "MQDMPR-3.1.4.5.sends-vanish",
    "MQDMPR-3.1.4.5.success",
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.10.skips-locked",
    "MQDMPR-3.1.7.1.10.transaction-locks",
    "MQDMPR-3.1.7.1.8.created",
    "MQDMPR-3.1.7.1.9.uncommitted-locked",
)

CURSORS: Final = (
    "MQDMPR-3.1.7.1.1.opened",
    "MQDMPR-3.1.7.1.10.cursor-seeks",
    "MQDMPR-3.1.7.1.10.removes",
    "MQDMPR-3.1.7.1.14.next-available",
    "MQDMPR-3.1.7.1.15.message-already-received",
    "MQDMPR-3.1.7.1.15.message-already-received-code",
    "MQDMPR-3.2.7.2.already-received",
    "MQDMPR-3.2.7.2.unread-seeks",
    "MQDMPR-3.2.7.3.moves",
    "MQDMPR-3.2.7.4.continues",
    "MQDMPR-3.2.7.4.unread-seeks",
)

PRIORITIES = (None, None, None, None, 3, 3, 2, 5)  # mostly the default: the order is judged within one priority
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
_OTHER_END = {"transactions.commit": "transactions.abort", "transactions.abort": "transactions.commit"}
_QUEUE = re.compile(r"q[0-9]{1,3}")


class BadWorkload(ValueError):
    """A stored workload cannot be run; the message says why."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The work of several clients.

    queues: name, and True if transactional. clients: 1 to 26. operations: of all clients together. weights: of each
    kind of step. `wait` and `wait_peek` may wait; `open` opens and closes a handle, sometimes denying others; `create`
    creates or deletes a queue that other clients create too; `begin_read` receives in two phases; `move` moves a
    message it has seen to a subqueue; `fetch` receives from there. burst: the most messages in a queue.
    shared: all clients read by one handle. rivals: percentage of transactions that two calls end at once, and of moves
    that meet a receive. aborts: percentage of transactions that are aborted.
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
        """Return the JSON value that a repro file holds."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Any) -> Workload:
        """Read a value of `to_json`. Raises BadWorkload for a value it cannot have written."""
        try:
            made = convert(raw, cls)
        except ValueError as wrong:
            raise BadWorkload(str(wrong)) from None
        if not made.queues or not all(_QUEUE.fullmatch(name) for name, _ in made.queues):
            raise BadWorkload("its queues are not named q1, q2 and so on")
        if not 1 <= made.clients <= 26 or not 0 <= made.operations <= MAX_OPERATIONS:
            raise BadWorkload("it has too many clients or calls, or none")
        known = all(kind in KINDS and weight >= 0 for kind, weight in made.weights)
        if not known or not sum(weight for kind, weight in made.weights if kind in ("receive", "peek")):
            raise BadWorkload("its kinds of steps are not those of this version")
        return made


def opening(workload: Workload) -> list[Call]:
    """Return the calls before the clients begin: create the queues, open each for every client to send and receive."""
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
    """Return the queue that clients open with exclusive access."""
    return f"{workload.queues[0][0]}8"


def reopening(queue: str, clients: range, epoch: int = 0) -> list[Call]:
    """Return the calls that open this queue for these clients, to send and to receive."""
    return [
        Call("queues.open", name=handle(access, client, queue, epoch), queue=queue, access=access)
        for client in clients
        for access in ("send", "receive")
    ]


def moving(queue: str, clients: range) -> list[Call]:
    """Return the calls that open its subqueue for these clients, to move messages there and to receive them."""
    return [
        Call("queues.open", name=f"{handle(access, client, queue)}s", queue=subqueue(queue), access=access)
        for client in clients
        for access in ("move", "receive")
    ]


def subqueue(queue: str) -> str:
    """Return the subqueue to which clients move messages."""
    return f"{queue};one"


def handle(access: str, client: int, queue: str, epoch: int = 0) -> str:
    """Return the name of a client's handle. epoch: the number of restarts before it."""
    return f"{access[0]}{letter(client)}{queue.removeprefix('q')}" + (f"e{epoch}" if epoch else "")


def letter(client: int) -> str:
    """Return a client's name."""
    return chr(ord("A") + client)


@dataclass(slots=True)
class Worker:
    """One client. `next` returns its calls one after the other; `told` takes the answer of each.

    step: the purpose of the last call: a method without its facet, `begin_read`, or `end` of a transaction.
    """

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
    step: str = ""

    @property
    def name(self) -> str:
        """The client's name, a letter."""
        return letter(self.number)

    def next(self) -> Call | None:
        """Return the next call; None when the client is done."""
        self.step = ""
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
        if self.peeked is not None and self.random.random() < 0.6:  # soon, before another client receives it
            return self._call("move", queue)
        kinds = [(kind, weight) for kind, weight in self.workload.weights if self._sensible(kind, queue, transactional)]
        if transactional and self.transaction is None and self.random.random() < 0.5:
            return self._begin()
        kind = self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        return self._call(kind, queue)

    def rival(self, call: Call) -> Call | None:
        """Return a call for another client to make at the same time, `rivals` times in a hundred.

        It ends the same transaction the other way, receives from its queue, or receives the message being moved.
        """
        if self.step == "move" and self.random.randrange(100) < self.workload.rivals:
            return Call("messages.receive", handle=call.handle)
        if self.step != "end" or self.random.randrange(100) >= self.workload.rivals:
            return None
        if self.random.random() < 0.5:  # a receive may meet the messages that return or appear
            return Call("messages.receive", handle=self._reader(self.queue))
        return replace(call, method=_OTHER_END[call.method])

    def told(self, call: Call, answer: Answer) -> None:
        """Take the answer of a call."""
        queue = self.queue
        if self.step == "send" and not answer.failed:
            self.fill[queue][0] += 1
        elif self.step == "receive" and answer.message is not None:
            self.fill[queue][0] -= 1
        moves = dict(self.workload.weights).get("move")
        if moves and self.step == "peek" and answer.message is not None and not answer.failed:
            self.peeked = message_name(answer.message)
        if self.step == "begin_read" and not answer.failed:
            self.begun = call.name
        if self.step == "open" and not answer.failed:
            self.opened = self.asked
        if self.step == "create":
            self.created = not answer.failed
        if call.cursor is not None:
            peeked = self.step != "receive" and not answer.failed
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
        """Open a handle for this client alone, or close it."""
        if self.opened is not None:
            closed, self.opened = self.opened, None
            return Call("queues.close", handle=closed)
        self.asked = f"x{self._named('')}"
        self.step = "open"
        share = self.random.choice((None, "deny_receive", "deny_receive"))
        access = self.random.choice(("receive", "receive", "peek"))
        return Call("queues.open", name=self.asked, queue=queue, access=access, share=share)

    def _creates(self) -> Call:
        name = f"{self.workload.queues[0][0]}9"
        if self.created and self.random.random() < 0.7:
            self.created = False
            return Call("queues.delete", queue=name)
        self.step = "create"
        return Call("queues.create", queue=name)

    def _call(self, kind: str, queue: str) -> Call:
        reader = self._reader(queue)
        if kind == "open":
            return self._opens(contended(self.workload))
        if kind == "create":
            return self._creates()
        if kind == "begin_read":
            self.step = kind if self.begun is None else "peek"
            if self.begun is not None:
                return Call("messages.peek", handle=reader)
            return Call("messages.receive_begin", name=f"b{self._named('')}", handle=reader)
        if kind == "begin":
            return self._begin()
        if kind == "send":
            self.step = kind
            self.in_it += 1
            sent = self._named("")
            priority = None if self.transaction else self.random.choice(PRIORITIES)
            sender = handle("send", self.number, queue, self.epoch)
            call = Call("messages.send", message=sent, handle=sender, priority=priority, transaction=self.transaction)
            return replace(call, delivery=self.random.choice((None, "recoverable")))
        if kind == "fetch":
            self.step = "receive"
            return Call("messages.receive", handle=f"{handle('receive', self.number, queue)}s")
        if kind == "move" and self.peeked is not None:
            self.step = kind
            message, self.peeked = self.peeked, None
            return Call(
                "messages.move", message=message, handle=reader, destination=f"{handle('move', self.number, queue)}s"
            )
        if kind == "purge":
            return Call("queues.purge", handle=reader)
        if kind == "cursor":
            return self._with_cursor(queue, reader)
        if kind in ("wait", "wait_peek"):
            self.step = "receive" if kind == "wait" else "peek"
            return Call(f"messages.{self.step}", name=f"w{self._named('')}", handle=reader, timeout_ms=INFINITE)
        self.in_it += 1
        self.step = "peek" if kind in ("peek", "move") else "receive"
        within = self.transaction if self.step == "receive" else None
        return Call(f"messages.{self.step}", handle=reader, transaction=within)

    def _with_cursor(self, queue: str, reader: str) -> Call:
        cursor = self.cursors.get(queue)
        if cursor is None or self.random.random() < 0.1:
            cursor = self.cursors[queue] = f"c{self._named('')}"
            return Call("cursors.open", name=cursor, handle=reader)
        if cursor not in self.read or self.random.random() < 0.3:
            self.step = self.random.choice(("peek", "receive"))
        else:
            self.step = self.random.choice(("peek_next", "peek_next", "receive"))
        within = self.transaction if self.step == "receive" else None
        return Call(f"messages.{self.step}", handle=reader, cursor=cursor, transaction=within)

    def _begin(self) -> Call:
        self.transaction, self.in_it = f"t{self._named('')}", 0
        return Call("transactions.begin", name=self.transaction)

    def _end(self) -> Call:
        self.step = "end"
        how = "abort" if self.random.randrange(100) < self.workload.aborts else "commit"
        call = Call(f"transactions.{how}", transaction=self.transaction)
        self.transaction = None
        return call

    def _named(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.name}{self.count}"


def workers(workload: Workload, seed: int, *, epoch: int = 0, first: Mapping[str, int] | None = None) -> list[Worker]:
    """Return the clients. The same seed gives each the same calls, as long as it gets the same answers."""
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
