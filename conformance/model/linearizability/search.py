"""Search an order in which a single queue manager, doing one call at a time, could have given a concurrent history.

This is Wing and Gong's search with Lowe's memory of failed configurations. In the order sought, each call takes effect
at one moment between its request and its answer, and the model allows every answer. A waiting read takes effect twice:
when it begins to wait, and when another call ends its wait (then as a `Completion` of that call). A call without an
answer may take effect at any moment from its request on, or never; a restart ends that chance.

Four things keep the search narrow without changing its result:
- A read that fits and changes nothing anywhere is taken at once: it does not constrain what follows.
- The whole history must fit one alternative of where a transaction's sends arrive (R-MQDMPR-transaction-order).
- Sends to one queue are not tried in an order that `SendOrder` excludes. It uses lookup identifiers, which increase in
  the order of arrival (MS-MQDMPR 3.1.7.1.9); `by_lookup=False` ignores these.
- Messages that are gone are dropped, unless a cursor stands at them: no call can tell them apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from conformance.model.calls import BadCall
from conformance.model.expected import Blocks, Either, Expected
from conformance.model.linearizability.hints import SendOrder, guesses, sure_to_change_nothing, transaction_uses
from conformance.model.linearizability.history import MOVE, Operation
from conformance.model.linearizability.states import forgotten, same
from conformance.model.matching import Fit, Match, match
from conformance.model.observation import Answer, Observation
from conformance.model.rules import TRANSACTION_ORDER
from conformance.model.state import State
from conformance.model.step import Model

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
            return replace(found, nodes=spent)
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
        # A client that moves a message has seen its identifier; its value does not affect the order.
        self.named = {op.call.message or "": 0 for op in self.operations if op.call.method == MOVE}
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
            expected = replace(expected, result=Either())
            answer = _ANY
        completed = {
            completion.waiter: seen
            for completion in expected.completions
            if (seen := self.operations[self.reads[completion.waiter]].answer) is not None
        }
        if len(completed) < len(expected.completions):
            known = tuple(item for item in expected.completions if item.waiter in completed)
            expected = replace(expected, completions=known)
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
    return replace(state, assumed=assumed)
