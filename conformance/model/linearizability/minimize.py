"""Minimize an unexplained concurrent history without running anything again.

The operations left out must not be those that explained the rest. A message is left out with all its operations: an
order that explains the whole history then explains the rest, because no operation left out gave a read its message or
kept it away. So if the rest cannot be explained, neither can the whole. The same holds for a read that found nothing,
for all operations with one cursor, and for a transaction without operations. A purge is left out with all messages that
nobody received. A receive that nobody saw the answer of is never left out: it may have taken any message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from conformance.model.calls import Call
from conformance.model.linearizability.history import Operation, family

_FRAME = frozenset({"queues.create", "queues.open", "restart", "clock.advance", "queues.close", "queues.delete"})
_ENDS = frozenset({"transactions.begin", "transactions.prepare", "transactions.commit", "transactions.abort"})
_TAKING = frozenset({"messages.receive", "messages.receive_begin"})

Unexplained = Callable[[tuple[Operation, ...]], bool]


def units(history: Sequence[Operation]) -> list[frozenset[int]]:
    """Return the smallest sets of operations, by place in the history, that may be left out together.

    history: with all answers that came, however late.
    """
    parents = list(range(len(history)))

    def of(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    firsts: dict[tuple[str, str], int] = {}

    def join(kind: str, name: str | None, number: int) -> None:
        if name is not None:
            parents[of(number)] = of(firsts.setdefault((kind, name), number))

    received = {op.message for op in history if op.call.method == "messages.receive"}
    queues = {op.call.name: op.call.queue for op in history if op.call.method == "queues.open"}
    for number, operation in enumerate(history):
        call = operation.call
        if call.method in _FRAME or call.method in _ENDS:
            continue
        join("message", operation.message, number)
        join("cursor", call.name if call.method == "cursors.open" else call.cursor, number)
        join("read", call.request or call.read or (call.name if operation.reads else None), number)
        never = call.method == "messages.send" and call.message not in received
        if call.method == "queues.purge" or never:
            join("purge", _purged(history, queues, call), number)
    found: dict[int, set[int]] = {}
    for number, operation in enumerate(history):
        if operation.call.method not in _FRAME and operation.call.method not in _ENDS:
            found.setdefault(of(number), set()).add(number)
    made = (frozenset(unit) for unit in found.values())
    return [unit for unit in made if not any(_may_have_taken(history[number]) for number in unit)]


def _may_have_taken(operation: Operation) -> bool:
    """Tell whether a call may have taken a message that nobody was told of."""
    return operation.call.method in _TAKING and operation.answer is None and not operation.waits_on


def _purged(history: Sequence[Operation], queues: dict[str | None, str | None], call: Call) -> str | None:
    queue = queues.get(call.handle)
    purges = any(op.call.method == "queues.purge" and queues.get(op.call.handle) == queue for op in history)
    return queue if purges else None


def without(history: Sequence[Operation], left_out: Iterable[frozenset[int]]) -> tuple[Operation, ...]:
    """Return the history without these units, and without transactions and handles that nothing needs any more."""
    gone = frozenset(number for unit in left_out for number in unit)
    kept = [operation for number, operation in enumerate(history) if number not in gone]
    used = {op.call.transaction for op in kept if op.call.method not in _ENDS}
    kept = [
        op
        for op in kept
        if op.call.method not in _ENDS
        or (op.call.name if op.call.method == "transactions.begin" else op.call.transaction) in used
    ]
    needed = {op.call.handle for op in kept if op.call.method != "queues.close"} | _contended(kept)
    needed |= {op.call.destination for op in kept}
    kept = [op for op in kept if op.call.method != "queues.open" or op.call.name in needed]
    kept = [op for op in kept if op.call.method != "queues.close" or op.call.handle in needed]
    queues = {family(op.call.queue) for op in kept if op.call.method == "queues.open"} | _made_again(kept)
    return tuple(op for op in kept if op.call.method != "queues.create" or op.call.queue in queues)


def _contended(history: Sequence[Operation]) -> set[str | None]:
    """Return the handles on queues where one open may have excluded another; none of these is left out."""
    opens = [op for op in history if op.call.method == "queues.open"]
    queues = {op.call.queue for op in opens if op.call.share is not None or op.answer is None or op.answer.failed}
    return {op.call.name for op in opens if op.call.queue in queues}


def _made_again(history: Sequence[Operation]) -> set[str | None]:
    """Return the queues that were created or deleted more than once."""
    made = Counter(op.call.queue for op in history if op.call.method in ("queues.create", "queues.delete"))
    return {queue for queue, times in made.items() if times > 1}


@dataclass(slots=True)
class Effort:
    """Cost of searches. spent: configurations looked at, plus operations of the histories searched."""

    spent: int = 0


def reduced(
    history: Sequence[Operation],
    unexplained: Unexplained,
    *,
    near: int,
    about: tuple[str, ...] = (),
    effort: Effort,
    most: int,
) -> tuple[Operation, ...] | None:
    """Return the smallest part found that is certainly unexplained; None when no tried part is.

    history: see `units`. unexplained: tells whether certainly no order explains a history; False if the search takes
    too long. about, near: the messages, and the moment, to begin with. effort: the cost of `unexplained` so far; at
    `most`, the part found by then is returned.
    """
    parts = units(history)

    def rank(unit: frozenset[int]) -> tuple[bool, int]:
        others = all(history[number].message not in about for number in unit)
        return others, min(_distance(history[number], near) for number in unit)

    parts.sort(key=rank)
    chosen = _enough(history, parts, unexplained, effort, most)
    if chosen is None:
        return None
    size = max(1, len(chosen) // 2)
    while effort.spent < most:
        smaller = False
        for start in range(0, len(chosen), size):
            candidate = chosen[:start] + chosen[start + size :]
            if effort.spent < most and unexplained(_only(history, parts, candidate)):
                chosen, smaller = candidate, True
                break
        if not smaller and size == 1:
            break
        size = min(size, len(chosen) // 2 or 1) if smaller else max(1, size // 2)
    return _only(history, parts, chosen)


def _enough(
    history: Sequence[Operation], parts: list[frozenset[int]], unexplained: Unexplained, effort: Effort, most: int
) -> list[frozenset[int]] | None:
    """Return some units that are unexplained by themselves: the nearest few, doubled until they suffice."""
    size = 4
    while effort.spent < most:
        chosen = parts[:size]
        if unexplained(_only(history, parts, chosen)):
            return chosen
        if size >= len(parts):
            return None
        size *= 2
    return None


def _only(
    history: Sequence[Operation], parts: list[frozenset[int]], chosen: list[frozenset[int]]
) -> tuple[Operation, ...]:
    keep = set(chosen)
    return without(history, [unit for unit in parts if unit not in keep])


def _distance(operation: Operation, moment: int) -> int:
    ended = operation.began if operation.ended is None else operation.ended
    if operation.began <= moment <= ended:
        return 0
    return min(abs(operation.began - moment), abs(ended - moment))
