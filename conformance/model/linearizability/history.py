"""Concurrent history: calls with the moments they began and ended, as one observer outside saw them. Values only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.model.calls import READS, Answer, BadCall, Call, SeenMessage
from conformance.model.expected import message_name
from conformance.verdict import Json

FORMAT = 1  # of a stored history
MOVE = "messages.move"
BY_IDENTIFIER = frozenset({MOVE, "messages.receive_by_lookup_id", "messages.peek_by_lookup_id"})
SPAN = 1 << 53  # more events than any history has: JSON readers keep whole numbers up to here


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of one client.

    began, blocked, ended: places (not times) in the observer's order of events: the request was sent, the driver
    reported that it waits, the answer came. ended and answer are None when no answer ever came: then the call may or
    may not have happened. client: the maker of the call; it has at most one call in flight, and cancels of that call.
    """

    call: Call
    client: str
    began: int
    ended: int | None = None
    answer: Answer | None = None
    blocked: int | None = None
    waits_on: bool = False

    @property
    def message(self) -> str | None:
        """Name of the message that the call sent, moved or received."""
        if self.call.method in ("messages.send", MOVE):
            return self.call.message
        if self.answer is None or self.answer.message is None or self.answer.failed:
            return None
        return message_name(self.answer.message)

    @property
    def reads(self) -> bool:
        """True for a receive or a peek."""
        return self.call.method in READS

    def to_json(self) -> dict[str, Json]:
        """Return the operation as evidence stores it."""
        out: dict[str, Json] = {"call": self.call.to_json(), "client": self.client, "began": self.began}
        if self.blocked is not None:
            out["blocked"] = self.blocked
        if self.ended is not None and self.answer is not None:
            out |= {"ended": self.ended, "answer": _answer_json(self.answer)}
        if self.waits_on:
            out["waits_on"] = True
        return out

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Operation:
        """Return an operation from its JSON form: the inverse of `to_json`. Raises BadCall for any other value."""
        call, client = raw.get("call"), raw.get("client")
        moments = [raw.get("began"), raw.get("blocked"), raw.get("ended")]
        sound = all(moment is None or (type(moment) is int and 0 <= moment < SPAN) for moment in moments)
        if not isinstance(call, Mapping) or not isinstance(client, str) or type(moments[0]) is not int or not sound:
            raise BadCall("not an operation of a recorded history")
        answer = raw.get("answer")
        if (answer is None) != (moments[2] is None):
            raise BadCall("an operation of a recorded history must have both an answer and an end, or neither")
        known = Call.from_json(call)
        return cls(
            known,
            client,
            moments[0],
            moments[2],
            None if answer is None else _answer(answer),
            moments[1],
            raw.get("waits_on") is True,
        )


def _answer_json(answer: Answer) -> dict[str, Json]:
    out: dict[str, Json] = {"status": answer.status, "failed": answer.failed}
    if answer.text:
        out["text"] = answer.text
    seen = answer.message
    if seen is not None:
        out["message"] = {
            "body": seen.body.hex(),
            "label": seen.label,
            "priority": seen.priority,
            "delivery": seen.delivery,
            "lookup_identifier": None if seen.lookup_identifier is None else str(seen.lookup_identifier),
        }
    return out


def _answer(raw: Any) -> Answer:
    try:
        seen, message = raw.get("message"), None
        if seen is not None:
            number = seen.get("lookup_identifier")
            message = SeenMessage(
                bytes.fromhex(seen["body"]),
                seen.get("label"),
                seen.get("priority"),
                seen.get("delivery"),
                None if number is None else int(number),
            )
        return Answer(raw["status"], bool(raw["failed"]), message, str(raw.get("text", "")))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadCall("not an answer of a recorded history") from None


def until(history: Iterable[Operation], moment: int) -> tuple[Operation, ...]:
    """Return the history as known just after this moment: without later calls and later answers."""
    history = tuple(history)
    if all(operation.began <= moment and (operation.ended or 0) <= moment for operation in history):
        return history
    known: list[Operation] = []
    for operation in history:
        if operation.began > moment:
            continue
        operation = replace(operation, waits_on=False)
        if operation.ended is not None and operation.ended > moment:
            operation = replace(operation, ended=None, answer=None)
        if operation.blocked is not None and operation.blocked > moment:
            operation = replace(operation, blocked=None)
        known.append(operation)
    return tuple(known)


def by_queue(history: Iterable[Operation]) -> list[tuple[Operation, ...]]:
    """Split the history into parts without common queues and transactions, each in the order calls began.

    Linearizability is local (Herlihy and Wing): an order explains a history if and only if one explains the history of
    each object. The objects here are queues, but a transaction on two queues makes one object of them. Restarts belong
    to every part: in each part, every call answered before a restart is ordered before it.
    """
    history = sorted(history, key=lambda operation: operation.began)
    names = _Names()
    queues = {op.call.name: op.call.queue for op in history if op.call.method == "queues.open"}
    cursors = {op.call.name: op.call.handle for op in history if op.call.method == "cursors.open"}
    requests = {op.call.name: op.call for op in history if op.reads and op.call.name is not None}
    keys: list[str | None] = []
    for operation in history:
        call = operation.call
        call = requests.get(call.request or call.read or "", call)
        handle = call.handle or cursors.get(call.cursor)
        queue = family(call.queue or queues.get(handle))
        transaction = call.transaction or (call.name if call.method == "transactions.begin" else None)
        if queue is not None and transaction is not None:
            names.join(f"queue {queue}", f"transaction {transaction}")
        key = f"queue {queue}" if queue is not None else f"transaction {transaction}" if transaction else None
        keys.append(key)
    parts: dict[str, list[Operation]] = {names.of(f"queue {family(queue)}"): [] for queue in queues.values()}
    if not parts:
        return [tuple(history)]
    first = next(iter(parts))
    for operation, key in zip(history, keys, strict=True):
        if key is None:
            for part in parts.values():
                part.append(operation)
        else:  # a transaction that touches no queue may be with any
            parts.get(names.of(key), parts[first]).append(operation)
    return [tuple(part) for part in parts.values()]


def family(queue: str | None) -> str | None:
    """Return the queue of a subqueue: both are one object, because messages move between them."""
    return queue.partition(";")[0] if queue is not None else None


class _Names:
    """Union-find over names."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def of(self, name: str) -> str:
        while (parent := self._parents.get(name, name)) != name:
            self._parents[name] = self._parents.get(parent, parent)
            name = parent
        return name

    def join(self, one: str, other: str) -> None:
        self._parents[self.of(one)] = self.of(other)
