"""Check a concurrent history by counting, without a search: no message lost, received twice or overtaken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.model.linearizability.history import MOVE, Operation

_LOSING = frozenset({"queues.purge", "queues.delete", "restart"})


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something that looks wrong. messages: the messages concerned. moment: when it showed."""

    what: str
    messages: tuple[str, ...]
    moment: int


def suspicions(history: Sequence[Operation]) -> tuple[Suspicion, ...]:
    """Return what looks wrong, the earliest first. history: of one queue, or of several with common transactions.

    A suspicion is not yet a verdict: that needs the model. But it tells where to look, so a history of thousands of
    calls need not be searched.
    """
    found = [*_twice(history), *_lost(history), *_overtaken(history)]
    return tuple(sorted(found, key=lambda suspicion: suspicion.moment))


def _final(history: Sequence[Operation]) -> dict[str, list[Operation]]:
    """Map each message to the receives that took it for good: outside transactions, or in a committed one."""
    committed = {
        op.call.transaction
        for op in history
        if op.call.method == "transactions.commit" and op.answer is not None and not op.answer.failed
    }
    taken: dict[str, list[Operation]] = {}
    for operation in history:
        call = operation.call
        if call.method not in ("messages.receive", "messages.receive_by_lookup_id") or operation.message is None:
            continue
        if call.transaction is None or call.transaction in committed:
            taken.setdefault(operation.message, []).append(operation)
    return taken


def _twice(history: Sequence[Operation]) -> list[Suspicion]:
    return [
        Suspicion("received twice", (message,), sorted(op.ended or 0 for op in reads)[1])
        for message, reads in _final(history).items()
        if len(reads) > 1
    ]


def _lost(history: Sequence[Operation]) -> list[Suspicion]:
    """Return messages that were surely sent and never received, although a later read found the queue empty."""
    if any(op.call.method in _LOSING for op in history):
        return []
    queues = {op.call.name: op.call.queue for op in history if op.call.method == "queues.open"}
    committed = {
        op.call.transaction: op.ended
        for op in history
        if op.call.method == "transactions.commit" and op.answer is not None and not op.answer.failed
    }
    seen = {op.message for op in history if op.call.method.startswith("messages.receive")}
    empty: dict[str | None, int] = {}
    for operation in history:
        call = operation.call
        plain = operation.reads and call.cursor is None and call.transaction is None and operation.blocked is None
        if plain and operation.answer is not None and operation.answer.failed:
            queue = queues.get(call.handle)
            empty[queue] = max(operation.began, empty.get(queue, 0))
    found: list[Suspicion] = []
    for operation in history:
        call = operation.call
        if call.method != "messages.send" or operation.answer is None or operation.answer.failed:
            continue
        there = operation.ended if call.transaction is None else committed.get(call.transaction)
        last = empty.get(queues.get(call.handle), 0)
        if call.message not in seen and there is not None and there < last:
            found.append(Suspicion("lost", (str(call.message),), last))
    return found


def _overtaken(history: Sequence[Operation]) -> list[Suspicion]:
    """Return messages received before an earlier one of the same sender and priority, neither ever locked."""
    if any(op.call.method in _LOSING or op.call.method == MOVE or op.call.cursor is not None for op in history):
        return []
    reads: dict[str, list[Operation]] = {}
    for operation in history:
        if operation.reads and operation.message is not None:
            reads.setdefault(operation.message, []).append(operation)
    last: dict[tuple[str, str | None, int | None], Operation] = {}
    found: list[Suspicion] = []
    for operation in sorted(history, key=lambda op: op.began):
        call = operation.call
        if call.method != "messages.send" or call.transaction is not None or operation.ended is None:
            continue
        sender = (operation.client, call.handle, call.priority)
        before = last.get(sender)
        last[sender] = operation
        if before is None or (before.ended or 0) > operation.began:
            continue
        mine, theirs = reads.get(str(call.message), []), reads.get(str(before.call.message), [])
        if len(mine) == len(theirs) == 1 and not any(op.call.transaction for op in (*mine, *theirs)):
            first, second = mine[0], theirs[0]
            if first.ended is not None and first.ended < second.began:
                names = (str(before.call.message), str(call.message))
                found.append(Suspicion("overtaken", names, second.ended or second.began))
    return found
