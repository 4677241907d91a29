"""Hints on the order of a recorded history before any search: guesses and certain facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.model.linearizability.history import MOVE, Operation
from conformance.model.sends_and_commits import DEFAULT_PRIORITY

_LAST = 1 << 60


def guesses(operations: Sequence[Operation]) -> list[int]:
    """Guess the moment at which each operation took effect: most managers answer in the order they work.

    A message is seen after its send, or after the commit of its transaction; its reader may still be answered first.
    """
    seen: dict[str, int] = {}
    for operation in operations:
        if operation.reads and operation.message is not None and operation.ended is not None:
            seen[operation.message] = min(operation.ended, seen.get(operation.message, _LAST))
    committed: dict[str, int] = {}
    for operation in operations:
        call = operation.call
        if call.method == "messages.send" and call.transaction is not None and call.message in seen:
            committed[call.transaction] = min(seen[call.message], committed.get(call.transaction, _LAST))
    found: list[int] = []
    for operation in operations:
        call = operation.call
        moment = operation.blocked if operation.blocked is not None else operation.ended
        moment = _LAST if moment is None else moment
        if call.method == "messages.send" and call.transaction is None:
            moment = min(moment, seen.get(call.message or "", _LAST))
        elif call.method == "transactions.commit":
            moment = min(moment, committed.get(call.transaction or "", _LAST))
        found.append(moment)
    return found


class SendOrder:
    """Known order of sends before any search.

    Messages of one queue and priority arrive in the order of their lookup identifiers (MS-MQDMPR 3.1.7.1.9), if these
    are known. A message arrives with its send or, under the reading `by_commit` (R-MQDMPR-transaction-order), with the
    commit of its transaction.

    Without identifiers: a message seen by a read without a cursor, before the receive of another message began, was
    sent before that other one. Otherwise the other would have been nearer the front, and no read without a cursor
    passes it over. This holds only without locks, purges, restarts and cursors.
    """

    def __init__(self, operations: Sequence[Operation], *, by_lookup: bool, by_commit: bool = False) -> None:
        handles = {op.call.name: op.call.queue for op in operations if op.call.method == "queues.open"}
        self._numbers = _lookup_identifiers(operations) if by_lookup else {}
        self._plain = all(_keeps_order(operation) for operation in operations)
        self._seen: dict[str, int] = {}
        self._taken: dict[str, int] = {}
        self._classes: dict[int, tuple[str | None, int, str]] = {}
        self._arrivals: dict[int, dict[tuple[str | None, int], int]] = {}
        self._sure: set[int] = set()
        commits = {op.call.transaction: n for n, op in enumerate(operations) if op.call.method == "transactions.commit"}
        for number, operation in enumerate(operations):
            name = operation.message
            if name is None or operation.call.method == MOVE:
                continue
            if operation.call.method == "messages.send":
                call = operation.call
                within = call.transaction is not None
                priority = 0 if within else DEFAULT_PRIORITY if call.priority is None else call.priority
                self._classes[number] = (handles.get(call.handle), priority, name)
                if not within:
                    self._sure.add(number)
                arrives = commits.get(call.transaction) if within and by_commit else number
                if arrives is not None and name in self._numbers:
                    known = self._arrivals.setdefault(arrives, {})
                    one = self._classes[number][:2]
                    known[one] = min(self._numbers[name], known.get(one, _LAST))
                continue
            if operation.ended is not None:
                self._seen[name] = min(operation.ended, self._seen.get(name, _LAST))
            if operation.call.method == "messages.receive":
                self._taken[name] = min(operation.began, self._taken.get(name, _LAST))

    def blocked(self, number: int, others: Sequence[int]) -> bool:
        """Tell whether one of the others, none of which has taken effect, must do so before this one."""
        mine = self._arrivals.get(number)
        if mine is not None:
            for other in others:
                theirs = self._arrivals.get(other, {}) if other != number else {}
                if any(found < mine[one] for one, found in theirs.items() if one in mine):
                    return True
        if not self._plain or number not in self._sure:
            return False
        return any(other != number and other in self._sure and self._first(other, number) for other in others)

    def _first(self, one: int, other: int) -> bool:
        *one_class, name = self._classes[one]
        *other_class, theirs = self._classes[other]
        return one_class == other_class and self._seen.get(name, _LAST) < self._taken.get(theirs, _LAST)

    def sorted(self, numbers: list[int]) -> list[int]:
        """Return the operations with sends to one queue with one priority in their likely order."""
        groups: dict[tuple[str | None, int], list[int]] = {}
        for place, number in enumerate(numbers):
            found = self._classes.get(number)
            if found is not None:
                groups.setdefault(found[:2], []).append(place)
        for places in groups.values():
            if len(places) > 1:
                ordered = sorted((numbers[place] for place in places), key=self._likely)
                for place, number in zip(places, ordered, strict=True):
                    numbers[place] = number
        return numbers

    def _likely(self, number: int) -> tuple[int, int]:
        name = self._classes[number][2]
        return (self._numbers.get(name, _LAST), min(self._seen.get(name, _LAST), self._taken.get(name, _LAST)))


def _keeps_order(operation: Operation) -> bool:
    call = operation.call
    if operation.reads:
        return call.cursor is None and call.transaction is None and call.method != "messages.receive_begin"
    return call.method not in ("queues.purge", "restart", "queues.delete", MOVE)


def _lookup_identifiers(operations: Sequence[Operation]) -> dict[str, int]:
    """Return the lookup identifiers by message; empty if any two conflict, which the judge of contents reports."""
    numbers: dict[str, int] = {}
    moved = {operation.call.message for operation in operations if operation.call.method == MOVE}
    for operation in operations:
        name = operation.message if operation.message not in moved else None
        seen = operation.answer.message if operation.answer is not None else None
        if name is None or seen is None or seen.lookup_identifier is None:
            continue
        if numbers.setdefault(name, seen.lookup_identifier) != seen.lookup_identifier:
            return {}
    return numbers if len(set(numbers.values())) == len(numbers) else {}


def transaction_uses(operations: Sequence[Operation]) -> Mapping[str, tuple[int, ...]]:
    """Map each transaction to the operations that name it."""
    uses: dict[str, list[int]] = {}
    for number, operation in enumerate(operations):
        if operation.call.transaction is not None:
            uses.setdefault(operation.call.transaction, []).append(number)
    return {name: tuple(found) for name, found in uses.items()}


def sure_to_change_nothing(operation: Operation) -> bool:
    """Tell whether an operation changes nothing at any moment: a peek, or a failing read, without a cursor."""
    call = operation.call
    if not operation.reads or call.cursor is not None or operation.answer is None or operation.blocked is not None:
        return False
    return call.method == "messages.peek" or operation.answer.failed
