"""Judge a concurrent history: is there an order of one call at a time that explains it? Cut down one without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from conformance.model.arrivals import KEEPS, WAKES
from conformance.model.blame import say_answer
from conformance.model.calls import Answer, Call, Observation, Scan
from conformance.model.content import judge_content
from conformance.model.expected import Succeeds, message_name
from conformance.model.linearizability.history import BY_IDENTIFIER, MOVE, Operation, by_queue, family, until
from conformance.model.linearizability.search import Effect, Linear, Stuck, linearize
from conformance.model.sends_and_commits import DEFAULT_PRIORITY
from conformance.model.state import Position, State, Waiter
from conformance.model.step import Model, States
from conformance.model.tables import PositionState
from conformance.verdict import Json, Outcome, Verdict

_FRAME = frozenset(
    {
        *("queues.create", "queues.open", "restart", "clock.advance", "queues.close", "queues.delete"),
        *("coordinator.enlist", "coordinator.prepare", "coordinator.commit", "coordinator.abort"),
        *("coordinator.in_doubt", "coordinator.outcome"),
    }
)
_ENDS = frozenset({"transactions.begin", "transactions.prepare", "transactions.commit", "transactions.abort"})
_TAKING = frozenset({"messages.receive", "messages.receive_by_lookup_id", "messages.receive_begin"})

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


_BEGIN, _COMMIT = "transactions.begin", "transactions.commit"
_OF_ALL = frozenset({"transactions.prepare", _COMMIT})


def explained_by_pieces(model: Model, small: Sequence[Operation], whole: Sequence[Operation], *, nodes: int) -> bool:
    """Tell whether an order explains a history only if some commits take effect in pieces.

    small: a history that no order explains, a part of `whole`. nodes: see `linearize`. The messages that a transaction
    sent must still appear in the order of their sends, so a commit that reverses them is none in pieces.
    """
    parts = _parts(small, whole)
    if not parts:
        return False
    found = linearize(model, _in_pieces(small, parts), nodes=nodes)
    if found.order is None:
        return False
    placed = [effect.operation.call.transaction for effect in found.order if effect.operation.call.method == _COMMIT]
    sends = {op.message for op in small if op.call.method == "messages.send"}
    for transaction, messages in parts.items():
        sent = [_name(transaction, message) for message in messages if message in sends]
        places = [placed.index(name) for name in sent if name in placed]
        if any(first > second for first, second in pairwise(places)):
            return False
    return True


def _parts(small: Sequence[Operation], whole: Sequence[Operation]) -> dict[str, list[str]]:
    """Map each transaction that may have been committed, and has several messages in `whole`, to those of `small`."""
    found = _messages(small)
    several = {transaction for transaction, messages in _messages(whole).items() if len(messages) > 1}
    committed = {
        op.call.transaction
        for op in small
        if op.call.method == _COMMIT and not (op.answer is not None and op.answer.failed)
    }
    return {transaction: messages for transaction, messages in found.items() if transaction in several & committed}


def _messages(history: Sequence[Operation]) -> dict[str, list[str]]:
    """Map each transaction to the messages it sent or received, in the order of the calls."""
    found: dict[str, list[str]] = {}
    for operation in sorted(history, key=lambda operation: operation.began):
        transaction, message = operation.call.transaction, operation.message
        if transaction is not None and message is not None:
            messages = found.setdefault(transaction, [])
            if message not in messages:
                messages.append(message)
    return found


def _in_pieces(history: Sequence[Operation], parts: dict[str, list[str]]) -> tuple[Operation, ...]:
    """Return the history with several transactions in place of each of those in `parts`, begun and committed with it.

    One has each message, and another the calls without a message: reads that found nothing, and other ends.
    """
    out: list[Operation] = []
    for operation in history:
        call = operation.call
        transaction = str(call.name if call.method == _BEGIN else call.transaction)
        if transaction not in parts:
            out.append(operation)
            continue
        names = [_name(transaction, message) for message in (*parts[transaction], "")]
        if call.method == _BEGIN:
            out += [replace(operation, call=replace(call, name=name)) for name in names]
        elif call.method in _OF_ALL:
            out += [replace(operation, call=replace(call, transaction=name)) for name in names]
        else:
            mine = _name(transaction, operation.message or "")
            out.append(replace(operation, call=replace(call, transaction=mine)))
    return tuple(out)


def _name(transaction: str, message: str) -> str:
    return f"{transaction}/{message}"


# The cost of a search is counted, not timed, so that a busy machine comes to the same verdicts, only later.
REDUCING_NODES = 120_000  # for minimizing a history once: usually ten seconds
REDUCED_NODES = 4_000  # a part that costs more counts as explained
_BODY = "MQDMPR-3.1.1.12.body-unchanged"
_SURVIVE = "MQDMPR-3.1.1.12.recoverable-attributes-survive"
IN_TIME: Final = "is woken in time"
"""The expectation of a read that waited though its message was there."""
_ONCE = "MQDMPR-3.1.7.1.9.once"
_UNIQUE = "MQDMPR-3.1.1.12.lookup-identifier-unique"
_INCREASES = "MQDMPR-3.1.7.1.9.lookup-identifier-increases"
_GONE = "MQDMPR-3.1.4.4.receives-gone"
_TOGETHER = "MQDMPR-3.1.4.4.all-together"
_ORDERED = frozenset({_INCREASES, "MQDMPR-3.1.1.12.lookup-identifier-order"})
TOO_LONG = "no order of these calls was found within the bound of the search, but there may be one"


@dataclass(frozen=True, slots=True)
class Judged:
    """Result of judging. verdicts: in order, ending with the failure if there is one. history: the smallest part of the
    history that shows the failure; empty without one. nodes: configurations the search looked at."""

    verdicts: tuple[Verdict, ...]
    history: tuple[Operation, ...] = ()
    nodes: int = 0

    @property
    def failed(self) -> bool:
        """True if a requirement is broken."""
        return any(verdict.outcome is Outcome.FAIL for verdict in self.verdicts)


def judge_history(model: Model, history: Sequence[Operation]) -> Judged:
    """Judge the concurrent observations of several clients. Ends at the first part (a queue, or several with common
    transactions) that nothing explains."""
    verdicts: list[Verdict] = []
    nodes = 0
    for part in by_queue(history):
        strange = _contents(part)
        if strange is not None:
            return Judged((*verdicts, strange[0]), strange[1], nodes)
        suspected = suspicions(part)
        found = None if suspected else linearize(model, part)
        nodes += found.nodes if found is not None else 0
        if found is not None and found.order is not None:
            verdicts += _order_verdicts(model, found.order)
            continue
        failure = _failure(model, part, found, suspected)
        if failure is not None:
            return Judged((*verdicts, failure[0]), failure[1], nodes)
        if suspected:  # the suspicion was not confirmed, so search the whole part
            found = linearize(model, part)
            nodes += found.nodes
            if found.order is not None:
                verdicts += _order_verdicts(model, found.order)
                continue
        verdicts.append(Verdict("MQDMPR-3.1.1.2.arrival-order", Outcome.INCONCLUSIVE, "history", reason=TOO_LONG))
    return Judged(tuple(verdicts), (), nodes)


def _contents(part: Sequence[Operation]) -> tuple[Verdict, tuple[Operation, ...]] | None:
    """Return the failure of a message that differs from the sent one, whatever the order; None for none."""
    sends = {op.call.message: op for op in part if op.call.method == "messages.send"}
    numbers: dict[str, tuple[int, Operation]] = {}
    owners: dict[int, tuple[str, Operation]] = {}
    taken: dict[str, Operation] = {}
    frame = tuple(op for op in part if op.call.method in ("queues.create", "queues.open"))
    restarts = tuple(op for op in part if op.call.method == "restart")
    queues = {op.call.name: op.call.queue for op in part if op.call.method == "queues.open"}
    elsewhere = {op.call.message for op in part if op.call.method == MOVE}  # maybe another identifier in a subqueue
    for operation in part:
        seen = operation.answer.message if operation.answer is not None else None
        if operation.message is None or seen is None or not operation.reads:
            continue
        sent = sends.get(operation.message)
        if sent is None:
            actual: Json = say_answer(operation.answer)
            body = Verdict(_BODY, Outcome.FAIL, operation.call.method, "a message", actual)
            return body, (*frame, operation)
        call = sent.call
        within = call.transaction is not None
        claimed = Position(
            operation.message, (0, 0), PositionState.AVAILABLE, "", 0, within, call.priority, call.delivery
        )
        for verdict in judge_content(State(), operation.call.method, claimed, seen):
            if verdict.outcome is Outcome.FAIL:
                return verdict, (*frame, sent, operation)
        number = seen.lookup_identifier
        if number is None or (operation.message in elsewhere and ";" in str(queues.get(operation.call.handle))):
            continue
        before = numbers.setdefault(operation.message, (number, operation))
        owner = owners.setdefault(number, (operation.message, operation))
        if _takes(operation, part):
            again = taken.setdefault(operation.message, operation)
            between = any(again.ended is not None and again.ended <= op.began <= operation.began for op in restarts)
            mine = _number(again)
            if again is not operation and not between and mine != number:  # both took it, so it was there twice
                actual = {"received": [str(mine), str(number)]}
                twice = Verdict(_ONCE, Outcome.FAIL, operation.call.method, "one message", actual)
                return twice, (*frame, sent, again, *restarts, operation)
            taken[operation.message] = operation
        if before[0] != number or owner[0] != operation.message:
            other = before[1] if before[0] != number else owner[1]
            if any(other.ended <= op.began <= operation.began for op in restarts if other.ended):
                shown = {str(op.message): str(_number(op)) for op in (other, operation)}
                kept = Verdict(_SURVIVE, Outcome.FAIL, operation.call.method, "the same identifiers as before", shown)
                return kept, (*frame, sent, other, *restarts, operation)
            shown = {str(op.message): str(_number(op)) for op in (other, operation)}
            wrong = Verdict(_UNIQUE, Outcome.FAIL, operation.call.method, "one identifier for one message", shown)
            return wrong, (*frame, sent, other, operation)
    if restarts:  # the order may come from the restart instead of the assignment of identifiers
        return None
    return _disordered(frame, sends, {name: number for name, (number, _) in numbers.items()}, part)


def _takes(operation: Operation, part: Sequence[Operation]) -> bool:
    """Tell whether a read removed its message or, begun in two phases, locked it; in a transaction, with a commit."""
    transaction = operation.call.transaction
    if operation.call.method not in _TAKING or transaction is None:
        return operation.call.method in _TAKING
    return any(op.call.method == "transactions.commit" and op.call.transaction == transaction for op in part)


def _disordered(
    frame: tuple[Operation, ...],
    sends: Mapping[str | None, Operation],
    numbers: Mapping[str, int],
    part: Sequence[Operation],
) -> tuple[Verdict, tuple[Operation, ...]] | None:
    """Return the failure of two messages of one queue and priority whose identifiers contradict their sure order."""
    handles = {op.call.name: op.call.queue for op in frame}
    latest: dict[tuple[str | None, int | None], Operation] = {}
    for name in sorted(numbers, key=numbers.__getitem__):
        sent = sends[name]
        if sent.call.transaction is not None:
            continue
        place = (handles.get(sent.call.handle), DEFAULT_PRIORITY if sent.call.priority is None else sent.call.priority)
        before = latest.get(place)
        if before is not None and sent.ended is not None and sent.ended < before.began:
            names = (str(sent.message), str(before.message))
            shown = {one: str(numbers[one]) for one in names}
            seen = [next(op for op in part if op.reads and op.message == one) for one in names]
            verdict = Verdict(_INCREASES, Outcome.FAIL, sent.call.method, f"{names[0]} less than {names[1]}", shown)
            return verdict, (*frame, sent, before, *seen)
        if before is None or sent.began > before.began:
            latest[place] = sent
    return None


def _number(operation: Operation) -> int | None:
    seen = operation.answer.message if operation.answer is not None else None
    return seen.lookup_identifier if seen is not None else None


def _order_verdicts(model: Model, order: tuple[Effect, ...]) -> list[Verdict]:
    """Return the verdicts of the found order, call by call."""
    verdicts: list[Verdict] = []
    parts = Counter(effect.operation.call.transaction for effect in order if effect.operation.message is not None)
    named = {one.operation.call.message or "": 0 for one in order if one.operation.call.method in BY_IDENTIFIER}
    states = States((State(waited=order[0].state.waited, lookups=named),)) if order else States()
    for effect in order:
        if effect.observation is None:
            states = States((effect.state,))
            continue
        judged = model.step(states, effect.operation.call, effect.observation)
        if judged.failed or not judged.states.states:
            # Only identifiers of messages sent concurrently can conflict here: the search chose their order.
            states = States((effect.state,))
            continue
        states = judged.states
        if effect.operation.call.method == "transactions.commit" and parts[effect.operation.call.transaction] > 1:
            verdicts.append(Verdict(_TOGETHER, Outcome.PASS, effect.operation.call.method))
        # This does not tell which reading an implementation follows: another order might assume another one.
        verdicts += [replace(one, readings=()) for one in judged.verdicts if one.requirement not in _ORDERED]
    return verdicts


def _failure(
    model: Model, part: Sequence[Operation], found: Linear | None, suspected: tuple[Suspicion, ...]
) -> tuple[Verdict, tuple[Operation, ...]] | None:
    """Return the failure and the smallest history that shows it; None when nothing is certain."""

    effort = Effort()

    whole = {operation.began: operation for operation in part}

    # A part may cost what the whole has cost.
    bound = max(REDUCED_NODES, found.nodes if found is not None and found.refuted else 0)

    def unexplained(history: tuple[Operation, ...]) -> bool:
        found = linearize(model, history, nodes=bound + 2 * len(history))
        effort.spent += found.nodes + len(history)
        return found.refuted

    def smallest(seen: tuple[Operation, ...], near: int) -> tuple[Operation, ...] | None:
        # A call may be left out only with the message that it was given, even if that was told after this moment.
        known = {operation.began: operation for operation in seen}
        small = reduced(
            [whole[began] for began in known],
            lambda history: unexplained(tuple(known[operation.began] for operation in history)),
            near=near,
            about=about,
            effort=effort,
            most=effort.spent + REDUCING_NODES,
        )
        return None if small is None else tuple(known[operation.began] for operation in small)

    about: tuple[str, ...] = ()
    if suspected:
        moment, about = suspected[0].moment, suspected[0].messages
    elif found is not None and found.stuck is not None:
        moment = found.stuck.moment
    else:
        return None
    # The search used later observations. At that moment, the history alone may not yet show that something is wrong.
    last = max((operation.ended or 0 for operation in part), default=0)
    ahead, small = 0, None
    while small is None and effort.spent < 2 * REDUCING_NODES:
        seen = until(part, moment + ahead)
        if suspected or len(seen) == len(part) or unexplained(seen):
            small = smallest(seen, moment + ahead)
        if moment + ahead >= last:
            break
        ahead = 2 * ahead or 8
    if small is None:
        if found is None or not found.refuted:
            return None
        small = tuple(part)
    # The result includes answers that came later: they only add information.
    return _blamed(model, small, part), tuple(whole[operation.began] for operation in small)


def _blamed(model: Model, small: tuple[Operation, ...], whole: Sequence[Operation]) -> Verdict:
    """Return the verdict with the requirement that the smallest history breaks."""
    verdict = _first_unexplained(model, small, whole)
    if explained_by_pieces(model, small, whole, nodes=20 * REDUCED_NODES):
        return replace(verdict, requirement=_TOGETHER)
    return verdict


def _first_unexplained(model: Model, small: tuple[Operation, ...], whole: Sequence[Operation]) -> Verdict:
    """Return the verdict of the first call that no order of the smallest history explains."""
    found = linearize(model, small, nodes=20 * REDUCED_NODES, by_lookup=False, forget=False)
    if found.fits and any(op.call.method == "transactions.commit" for op in small):
        # Without identifiers, an order splits a transaction or moves it elsewhere; the identifiers forbid that order.
        found = linearize(model, small, nodes=20 * REDUCED_NODES, forget=False)
    if found.fits:
        numbers = {str(op.message): str(_number(op)) for op in small if op.reads and _number(op) is not None}
        return Verdict(_INCREASES, Outcome.FAIL, "messages.send", "in the order of the sends", numbers)
    stuck = found.stuck
    if stuck is None:
        return Verdict("MQDMPR-3.1.1.2.arrival-order", Outcome.FAIL, "history", "an order of the calls", "none")
    if stuck.operation.waits_on:
        expected, actual = {_reader(stuck.operation): "ends"}, {_reader(stuck.operation): "goes on waiting"}
        return Verdict(WAKES[stuck.operation.call.method], Outcome.FAIL, stuck.operation.call.method, expected, actual)
    unserved = _unserved(model, small, whole)
    if unserved is not None:
        expected, actual = {_reader(unserved): IN_TIME}, {_reader(unserved): say_answer(unserved.answer)}
        return Verdict(WAKES[unserved.call.method], Outcome.FAIL, unserved.call.method, expected, actual)
    waiter = next((one for one in stuck.state.waiters if one.name == stuck.operation.call.name), None)
    if waiter is not None and stuck.operation.reads:
        return _wrong_end(stuck, waiter, small)
    later = _later(whole, stuck.moment)
    call = stuck.operation.call
    # A read that waited found no message at first, even if it received one in the end.
    answer = stuck.operation.answer if stuck.operation.blocked is None else None
    observation = Observation(answer, _ended_with(stuck, small))
    judged = model.step(States((stuck.state,)), call, observation)
    if judged.ask is not None:
        judged = model.step(States((stuck.state,)), call, observation, Scan(later))
    failed = next((verdict for verdict in judged.verdicts if verdict.outcome is Outcome.FAIL), None)
    if failed is not None:
        given = _given_away(stuck)
        if given is not None:
            return replace(failed, requirement=given)
        if failed.requirement in KEEPS.values():  # a peek had seen it; it is unknown which call took it since then
            return replace(failed, requirement=_arrival(model, stuck))
        if failed.requirement == _GONE and _while_locked(stuck, whole):
            return replace(failed, requirement="MQDMPR-3.1.7.1.10.transaction-locks")
        if _locked_away(failed, stuck, whole):
            return replace(failed, requirement="MQDMPR-3.1.1.11.uncommitted-receive-not-lost")
        sent = any(op.message == stuck.operation.message for op in whole if op.call.method == "messages.send")
        if failed.requirement == _BODY and sent:  # it was sent, but no other order of the sends is possible
            return replace(failed, requirement=model.allowed(stuck.state, call).outcomes[0].requirement)
        return failed
    actual = say_answer(stuck.operation.answer)
    return Verdict("MQDMPR-3.1.1.2.arrival-order", Outcome.FAIL, call.method, "an order of the calls", actual)


def _unserved(model: Model, small: Sequence[Operation], whole: Sequence[Operation]) -> Operation | None:
    """Return a read that was not woken, or None. Without it, everything is explained; if it received a message in the
    end, everything is explained without its wait. None if a message was never seen: it may have been lost instead."""
    seen = {op.message for op in whole if op.reads}
    if any(op.message not in seen for op in small if op.call.method == "messages.send"):
        return None
    for operation in small:
        if operation.blocked is None or operation.call.method not in WAKES:
            continue
        name = operation.call.name
        later = () if operation.message is None else (replace(operation, blocked=None),)
        others = (*(one for one in small if one is not operation and (later or one.call.request != name)), *later)
        if linearize(model, others, nodes=REDUCED_NODES).fits:
            return operation
    return None


def _later(whole: Sequence[Operation], moment: int) -> tuple[str, ...]:
    """Return the messages received after this moment: once each, unless one was removed several times."""
    reads = [
        op
        for op in sorted(whole, key=lambda op: op.began)
        if op.call.method == "messages.receive" and op.message is not None and (op.ended or 0) > moment
    ]
    final = [op for op in reads if _takes(op, whole)]
    taken = {op.message for op in final}
    others = {op.message: op for op in reversed(reads) if op.message not in taken}.values()
    return tuple(str(op.message) for op in sorted((*final, *others), key=lambda op: op.began))


def _arrival(model: Model, stuck: Stuck) -> str:
    """Return the requirement by which the message that a read should have given is there."""
    for outcome in model.allowed(stuck.state, stuck.operation.call).outcomes:
        message = outcome.result.message if isinstance(outcome.result, Succeeds) else None
        queue = stuck.state.queues[stuck.state.handles[stuck.operation.call.handle or ""].queue]
        found = queue.find(message) if message is not None else None
        if found is not None and found.transactional:
            return "MQDMPR-3.1.4.4.sends-appear"
    return "MQDMPR-3.1.7.1.9.available"


def _given_away(stuck: Stuck) -> str | None:
    """Return the requirement broken by a move of a message that another call took: the claim of that call."""
    call, answer = stuck.operation.call, stuck.operation.answer
    if call.method != MOVE or answer is None or answer.failed:
        return None
    queue = stuck.state.queues[stuck.state.handles[call.handle or ""].queue]
    position = queue.find(call.message or "")
    return position.claim if position is not None and position.state is PositionState.DELETED else None


def _while_locked(stuck: Stuck, whole: Sequence[Operation]) -> bool:
    """Tell whether a read got a message that a transaction had received and not yet begun to commit."""
    mine = {op.call.transaction for op in whole if op.reads and op.message == stuck.operation.message}
    commits = [op for op in whole if op.call.method == "transactions.commit" and op.call.transaction in mine]
    others = [op for op in commits if op.call.transaction != stuck.operation.call.transaction]
    return any(stuck.operation.began < op.began for op in others)


def _locked_away(failed: Verdict, stuck: Stuck, whole: Sequence[Operation]) -> bool:
    """Tell whether the message lost in a restart may be the first one, which a transaction was about to receive."""
    if failed.requirement not in ("MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.1.12.recoverable-survives"):
        return False
    began = stuck.operation.began
    last = max((op.began for op in whole if op.call.method == "restart" and op.began < began), default=0)
    queues = {op.call.name: op.call.queue for op in whole if op.call.method == "queues.open"}
    here = queues.get(stuck.operation.call.handle)
    reads = [op for op in whole if op.reads and queues.get(op.call.handle) == here]
    if any(op.message is not None and last < op.began and (op.ended or began) < began for op in reads):
        return False  # another message was before it, and is still there
    return any(op.call.transaction is not None and op.answer is None and op.began < last for op in reads)


def _ended_with(stuck: Stuck, small: Sequence[Operation]) -> dict[str, Answer]:
    """Return the answers of the waiting reads that this call served or cancelled."""
    call = stuck.operation.call
    sent = {call.message} if call.method == "messages.send" else set[str | None]()
    if call.method == "transactions.commit":
        sent = {position.message for _, position in stuck.state.held_by(call.transaction or "")}
    found: dict[str, Answer] = {}
    for operation in small:
        name = operation.call.name
        if operation.answer is None or name is None or all(one.name != name for one in stuck.state.waiters):
            continue
        if (operation.message is not None and operation.message in sent) or name == call.request:
            found[name] = operation.answer
    return found


def _reader(operation: Operation) -> str:
    return operation.call.name or f"{operation.call.method} by {operation.call.handle}"


def _wrong_end(stuck: Stuck, waiter: Waiter, small: Sequence[Operation]) -> Verdict:
    """Return the failure of a waiting read whose answer no possible earlier call explains."""
    answer = stuck.operation.answer
    expected, actual = {waiter.name: "goes on waiting"}, {waiter.name: say_answer(answer)}
    requirement = "MQDMPR-3.1.7.2.2.others-remain"
    if answer is not None and answer.message is not None and not answer.failed:
        given = stuck.state.queues[waiter.queue].find(message_name(answer.message))
        if given is not None and not given.available:
            requirement = given.claim
            others = [op for op in small if op.reads and op is not stuck.operation and op.message == given.message]
            if (
                given.claim == "MQDMPR-3.1.7.1.10.removes"
                and stuck.operation.blocked
                and any(op.blocked for op in others)
            ):
                requirement = "MQDMPR-3.1.7.2.2.one-destructive"  # both waited
            if given.claim == "MQDMPR-3.1.7.1.10.removes" and not others:
                requirement = WAKES[waiter.method]  # nobody has it: another reader, still waiting, was to get it
        elif given is not None:
            requirement = WAKES[waiter.method]  # it was there before the wait, or came and did not wake the read
    return Verdict(requirement, Outcome.FAIL, waiter.method, expected, actual)
