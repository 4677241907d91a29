"""Search an order in which a single queue manager, doing one call at a time, could have given a concurrent history."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from conformance.model.calls import Answer, BadCall, Observation
from conformance.model.expected import Blocks, Either, Expected, Fit, Match, match
from conformance.model.linearizability.history import BY_IDENTIFIER, MOVE, Operation
from conformance.model.rules import TRANSACTION_ORDER
from conformance.model.sends_and_commits import DEFAULT_PRIORITY
from conformance.model.state import PARKED, Cursor, Queue, State
from conformance.model.step import Model
from conformance.model.tables import CursorState, PositionState
from conformance.model.values import replace

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


_GONE = PositionState.DELETED
_NOTHING: Mapping[str, int] = MappingProxyType({})


def forgotten(
    state: State, waited: tuple[str, ...], transaction: str | None, named: Mapping[str, int] = _NOTHING
) -> State:
    """The state without the messages that are gone and that no cursor stands at, and without this ended transaction.

    waited: the reads that count as having waited. named: messages that a call names, which are kept in mind.
    """
    if state.waited is not waited:
        state = replace(state, waited=waited)
    if transaction is not None:
        left = {name: found for name, found in state.transactions.items() if name != transaction}
        state = replace(state, transactions=left)
    for queue in state.queues.values():
        if any(position.state is _GONE for position in queue.positions):
            seen = {cursor.message for cursor in state.cursors.values() if cursor.state is not CursorState.CLOSED}
            seen.update(named)
            seen |= {begun.message for begun in state.begun.values()}
            kept = tuple(
                position for position in queue.positions if position.state is not _GONE or position.message in seen
            )
            if len(kept) < len(queue.positions):
                state = state.put(replace(queue, positions=kept))
    return state


def same(state: State, kept: dict[Hashable, Hashable] | None = None) -> Hashable:
    """Return a key that is equal for states that allow the same for all later calls: with orders in place of times.

    kept: parts of keys, each once: a search holds hundreds of thousands of keys that differ in little.
    """
    once: Callable[[Hashable, Hashable], Hashable] = (lambda part, _: part) if kept is None else kept.setdefault
    parts = (
        frozenset((queue.name, queue.exists, _positions(queue, once)) for queue in state.queues.values()),
        frozenset((handle.name, handle.is_open, handle.lost) for handle in state.handles.values()),
        frozenset(_cursor(state, cursor) for cursor in state.cursors.values()),
        frozenset(state.transactions.values()),
        frozenset((begun.name, begun.message, begun.ended) for begun in state.begun.values()),
        tuple(waiter.name for waiter in state.waiters),
        frozenset(state.assumed.items()) if state.assumed else None,
        state.restarts,
        state.now,
        state.halted,
    )
    return tuple(once(part, part) for part in parts)


def _positions(queue: Queue, once: Callable[[Hashable, Hashable], Hashable]) -> Hashable:
    told = ((p.message, p.state, p.holder, p.doubtful, p.purged, p.target, p.marks) for p in queue.positions)
    return tuple(once(each, each) for each in told)


def _cursor(state: State, cursor: Cursor) -> Hashable:
    queue = _queue(state, cursor)
    if queue is None or cursor.state is CursorState.CLOSED:
        return (cursor.name, cursor.state)
    ranks = [position.rank for position in queue.positions]
    place = bisect_right(ranks, cursor.at)
    following = cursor.successor and bisect_left(ranks, cursor.successor)
    # What came after its last wait, or after its message was removed as the last one, may be all it sees.
    times = (cursor.ended_at, cursor.removed_at if cursor.successor == PARKED else None)
    beyond = tuple(
        flag
        for time in times
        if time is not None
        for p in queue.positions
        for flag in (p.since > time, p.rank[1] > time)
    )
    return (cursor.name, cursor.state, cursor.at[0], place, following, cursor.message, cursor.ended, beyond)


def _queue(state: State, cursor: Cursor) -> Queue | None:
    handle = state.handles.get(cursor.handle)
    return state.queues.get(handle.queue) if handle is not None else None


NODES = 400_000  # configurations looked at before the search gives up; a history that fits needs about one per call
NEVER = 1 << 60  # beyond any moment of a history
_BY_SEND = "by-send"
_ARRIVALS = ("messages.send", "transactions.commit")


@dataclass(frozen=True, slots=True)
class Effect:
    """One step of an order: an operation takes effect, or begins to wait. observation: its answer with those of the
    reads whose wait it ended; None if some of them are unknown. state: the state afterwards."""

    operation: Operation
    observation: Observation | None
    state: State


@dataclass(frozen=True, slots=True)
class Stuck:
    """Furthest point of a search. state: after all ordered operations. operation: the first that cannot be ordered: it
    had to take effect, or be served, before `moment`, or waits on though served. order: the steps before it."""

    state: State
    operation: Operation
    moment: int
    order: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Linear:
    """Result of a search. order: the operations as they took effect; None if no order was found. capped: the search
    gave up, so there may be one. nodes: configurations looked at."""

    order: tuple[Effect, ...] | None
    nodes: int
    capped: bool = False
    stuck: Stuck | None = None

    @property
    def fits(self) -> bool:
        """True if an order was found."""
        return self.order is not None

    @property
    def refuted(self) -> bool:
        """True if there is certainly no order."""
        return self.order is None and not self.capped


@dataclass(frozen=True, slots=True)
class _Move:
    """A step of the search. number: the operation that takes effect. placed: the operations that end with it: itself,
    unless it begins to wait, and the waiting reads it serves."""

    number: int
    state: State
    placed: tuple[int, ...]


@dataclass(slots=True)
class _Node:
    """A configuration: all operations before `base` and those in `done` have taken effect, begun to wait, or cannot
    happen any more. left: number of answered operations that are not over. depth: number of operations so far. horizon:
    the moment by which the next operation, number `due`, must have taken effect."""

    state: State
    base: int
    done: frozenset[int]
    left: int
    parent: _Node | None
    depth: int
    move: _Move | None = None
    horizon: int = NEVER
    due: int | None = None
    moves: Iterator[_Move] = field(default_factory=lambda: iter(()))


def linearize(
    model: Model,
    history: Sequence[Operation],
    *,
    nodes: int = NODES,
    by_lookup: bool = True,
    forget: bool = True,
) -> Linear:
    """Search an order. history: of one object, see `by_queue`; each name in it is given once.

    nodes: the bound of configurations for each reading; beyond it the result is `capped`. forget: drop messages that
    are gone (blaming needs them).
    """
    ways: tuple[str, ...] = (_BY_SEND,)
    if any(op.call.method == "messages.send" and op.call.transaction is not None for op in history):
        ways = model.rules.known(TRANSACTION_ORDER)
    spent, capped, furthest = 0, False, None
    for way in ways:
        rules = Model({**model.rules.readings, TRANSACTION_ORDER: (way,)}) if len(ways) > 1 else model
        search = _Search(rules, history, by_lookup=by_lookup, by_commit=way != _BY_SEND, forget=forget)
        found = search.run(nodes)
        spent += found.nodes
        if found.fits:
            return dataclasses.replace(found, nodes=spent)
        capped = capped or found.capped
        if furthest is None or (found.stuck is not None and found.stuck.moment > furthest.moment):
            furthest = found.stuck
    return Linear(None, spent, capped, furthest)


class _Search:
    def __init__(
        self, model: Model, history: Sequence[Operation], *, by_lookup: bool, by_commit: bool, forget: bool
    ) -> None:
        self.model = model
        self.operations = sorted(history, key=lambda operation: operation.began)
        self.forget = forget
        self.reads = {op.call.name: n for n, op in enumerate(self.operations) if op.reads and op.call.name is not None}
        # The model accepts cancels only of reads that waited; a cancel of one answered at once finds nothing.
        self.waited = tuple(self.reads)
        # A client that names a message has seen its identifier; its value does not affect the order.
        self.named = {op.call.message or "": 0 for op in self.operations if op.call.method in BY_IDENTIFIER}
        self.guess = guesses(self.operations)
        self.sends = SendOrder(self.operations, by_lookup=by_lookup, by_commit=by_commit)
        self.uses = transaction_uses(self.operations)
        self.quiet = [sure_to_change_nothing(operation) for operation in self.operations]
        self.waiting = [op for op in self.operations if op.waits_on]
        self.seen: set[Hashable] = set()
        self.kept: dict[Hashable, Hashable] = {}
        self.best: _Node | None = None
        self.unserved: Stuck | None = None

    def run(self, nodes: int) -> Linear:
        left = sum(operation.answer is not None for operation in self.operations)
        start = State(waited=self.waited, lookups=self.named)
        stack = [self._opened(_Node(start, 0, frozenset(), left, None, 0))]
        while stack:
            node = stack[-1]
            if node.left == 0:
                served = self._served(node.state)
                if served is None:
                    return Linear(self._order(node), len(self.seen))
                self.unserved = Stuck(node.state, served, NEVER, self._order(node))
            move = next(node.moves, None)
            if move is None:
                stack.pop()
                continue
            after = self._after(node, move)
            if after is None:
                continue
            stack.append(after)
            if len(self.seen) > nodes:
                return Linear(None, len(self.seen), True, self._stuck())
        return Linear(None, len(self.seen), False, self._stuck())

    def _after(self, node: _Node, move: _Move) -> _Node | None:
        """Return the configuration after a move; None if it was tried before."""
        done = {*node.done, move.number, *move.placed}
        base = node.base
        if self.operations[move.number].call.method == "restart":
            done.update(range(base, move.number))  # calls in flight cannot happen any more
        while base in done:
            done.remove(base)
            base += 1
        frozen = frozenset(done)
        state = move.state
        if self.forget:
            state = forgotten(state, self.waited, self._ended(move, base, done), self.named)
        key = (base, sum(1 << number for number in frozen), same(state, self.kept))
        if key in self.seen:
            return None
        self.seen.add(key)
        left = node.left - sum(self.operations[number].answer is not None for number in move.placed)
        return self._opened(_Node(state, base, frozen, left, node, node.depth + 1, move))

    def _ended(self, move: _Move, base: int, done: set[int]) -> str | None:
        """Return the transaction that ended with this move, if no later operation names it."""
        call = self.operations[move.number].call
        name = call.transaction
        if name is None or not call.method.startswith("transactions."):
            return None
        over = all(number < base or number in done for number in self.uses.get(name, ()))
        return name if over else None

    def _opened(self, node: _Node) -> _Node:
        """Fill in a configuration's horizon and its possible moves."""
        operations = self.operations
        for waiter in node.state.waiters:
            number = self.reads[waiter.name]
            ended = operations[number].ended
            if ended is not None and ended < node.horizon:
                node.horizon, node.due = ended, number
        begun: list[int] = []
        for number in range(node.base, len(operations)):
            if operations[number].began >= node.horizon:
                break
            if number in node.done:
                continue
            begun.append(number)
            due = _due(operations[number])
            if due < node.horizon:
                node.horizon, node.due = due, number
        may = sorted((n for n in begun if operations[n].began < node.horizon), key=self.guess.__getitem__)
        node.moves = self._moves(node, self.sends.sorted(may))
        best = self.best
        if node.left and (best is None or (node.horizon, node.depth) > (best.horizon, best.depth)):
            self.best = node
        return node

    def _moves(self, node: _Node, may: list[int]) -> Iterator[_Move]:
        """Yield the operations that may take effect now, the likeliest first."""
        here: Hashable = None
        for number in may:
            operation = self.operations[number]
            if operation.call.method in _ARRIVALS and self.sends.blocked(number, may):
                continue
            try:
                allowed = self.model.allowed(node.state, operation.call).outcomes
            except BadCall:
                continue  # not in this order: it names something that is not there yet, or no longer
            for expected in allowed:
                found = self._fits(operation, expected)
                if found is None:
                    continue
                state = _assuming(expected, found)
                waits = isinstance(expected.result, Blocks)
                served = tuple(self.reads[completion.waiter] for completion in expected.completions)
                move = _Move(number, state, served if waits else (number, *served))
                if self.quiet[number] and not waits:
                    here = here or same(node.state)
                    if here == same(state):
                        yield move
                        return
                yield move

    def _fits(self, operation: Operation, expected: Expected) -> Match | None:
        """Match an operation's known answers against one outcome; None if they do not fit."""
        waits = isinstance(expected.result, Blocks)
        if operation.blocked is not None and not waits:
            return None
        answer = None if waits else operation.answer
        if answer is None and not waits:  # no answer came, so any outcome fits
            expected = dataclasses.replace(expected, result=Either())
            answer = _ANY
        completed = {
            completion.waiter: seen
            for completion in expected.completions
            if (seen := self.operations[self.reads[completion.waiter]].answer) is not None
        }
        if len(completed) < len(expected.completions):
            known = tuple(item for item in expected.completions if item.waiter in completed)
            expected = dataclasses.replace(expected, completions=known)
        found = match(expected, Observation(answer, completed))
        return found if found.fit is Fit.FITS else None

    def _order(self, node: _Node | None) -> tuple[Effect, ...]:
        order: list[Effect] = []
        while node is not None and node.move is not None:
            order.append(self._effect(node.move))
            node = node.parent
        return tuple(reversed(order))

    def _effect(self, move: _Move) -> Effect:
        operation = self.operations[move.number]
        served = [self.operations[number] for number in move.placed if number != move.number]
        waits = move.number not in move.placed
        answer = None if waits else operation.answer
        known = {str(op.call.name): op.answer for op in served if op.answer is not None}
        if len(known) < len(served) or (answer is None and not waits):
            return Effect(operation, None, move.state)
        return Effect(operation, Observation(answer, known), move.state)

    def _served(self, state: State) -> Operation | None:
        """Return a read that waits to the end although this order serves it, or None."""
        waiters = {waiter.name for waiter in state.waiters}
        return next((op for op in self.waiting if op.call.name not in waiters), None)

    def _stuck(self) -> Stuck | None:
        if self.unserved is not None:
            return self.unserved
        best = self.best
        if best is None or best.due is None:
            return None
        return Stuck(best.state, self.operations[best.due], best.horizon, self._order(best))


_ANY = Answer()


def _due(operation: Operation) -> int:
    """Return the moment by which an operation must have taken effect, or begun to wait."""
    if operation.blocked is not None:
        return operation.blocked
    return NEVER if operation.ended is None else operation.ended


def _assuming(expected: Expected, found: Match) -> State:
    """Return the state after an outcome, with its assumptions."""
    state = expected.next
    if not expected.readings and not found.narrowed:
        return state
    assumed: dict[str, frozenset[str]] = dict(state.assumed)
    for reading, alternative in expected.readings:
        assumed[reading] = frozenset({alternative})
    for reading, possible in found.narrowed.items():
        assumed[reading] = possible & assumed.get(reading, possible)
    return dataclasses.replace(state, assumed=assumed)
