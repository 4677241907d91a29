"""The verdicts of a concurrent history: what it shows to hold, or the smallest part of it that nothing explains."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.model.arrivals import KEEPS, WAKES
from conformance.model.blame import say_answer
from conformance.model.concurrent import MOVE, Operation, by_queue, until
from conformance.model.content import judge_content
from conformance.model.expected import Succeeds
from conformance.model.linear import Effect, Linear, Stuck, linearize
from conformance.model.matching import message_name
from conformance.model.observation import Answer, Observation, Scan
from conformance.model.reduction import reduced
from conformance.model.state import Position, State, Waiter
from conformance.model.step import Model, States
from conformance.model.tables import PositionState
from conformance.model.totals import Suspicion, suspicions
from conformance.model.work import DEFAULT_PRIORITY
from conformance.verdict import Json, Outcome, Verdict

SECONDS = 60.0  # for the search in one part of a history
REDUCING_SECONDS = 10.0
REDUCED_NODES = 4_000  # a part that takes more is not used to shorten with
_BODY = "MQDMPR-3.1.1.12.body-unchanged"
_SURVIVE = "MQDMPR-3.1.1.12.recoverable-attributes-survive"
_TAKING = frozenset({"messages.receive", "messages.receive_begin"})
_ONCE = "MQDMPR-3.1.7.1.9.once"
_UNIQUE = "MQDMPR-3.1.1.12.lookup-identifier-unique"
_INCREASES = "MQDMPR-3.1.7.1.9.lookup-identifier-increases"
_GONE = "MQDMPR-3.1.4.4.receives-gone"
_TOGETHER = "MQDMPR-3.1.4.4.all-together"
_ORDERED = frozenset({_INCREASES, "MQDMPR-3.1.1.12.lookup-identifier-order"})
TOO_LONG = "no order of these calls was found in the time there was, and there may be one"


@dataclass(frozen=True, slots=True)
class Judged:
    """verdicts: what was shown, ending with the failure if there is one. history: the smallest part of the history
    that shows it; empty when nothing failed. nodes: configurations the search went through."""

    verdicts: tuple[Verdict, ...]
    history: tuple[Operation, ...] = ()
    nodes: int = 0

    @property
    def failed(self) -> bool:
        """Whether a requirement was broken."""
        return any(verdict.outcome is Outcome.FAIL for verdict in self.verdicts)


def judge_history(model: Model, history: Sequence[Operation], *, seconds: float = SECONDS) -> Judged:
    """Judge what several clients saw at once. Ends at the first part, a queue or some with transactions in common,
    that nothing explains."""
    verdicts: list[Verdict] = []
    nodes = 0
    for part in by_queue(history):
        strange = _contents(part)
        if strange is not None:
            return Judged((*verdicts, strange[0]), strange[1], nodes)
        suspected = suspicions(part)
        found = None if suspected else linearize(model, part, seconds=seconds)
        nodes += found.nodes if found is not None else 0
        if found is not None and found.order is not None:
            verdicts += _shown(model, found.order)
            continue
        failure = _failure(model, part, found, suspected)
        if failure is not None:
            return Judged((*verdicts, failure[0]), failure[1], nodes)
        if suspected:  # what looked wrong was not: search after all
            found = linearize(model, part, seconds=seconds)
            nodes += found.nodes
            if found.order is not None:
                verdicts += _shown(model, found.order)
                continue
        verdicts.append(Verdict("MQDMPR-3.1.1.2.arrival-order", Outcome.INCONCLUSIVE, "history", reason=TOO_LONG))
    return Judged(tuple(verdicts), (), nodes)


def _contents(part: Sequence[Operation]) -> tuple[Verdict, tuple[Operation, ...]] | None:
    """A message that was given otherwise than it was sent, whatever the order."""
    sends = {op.call.message: op for op in part if op.call.method == "messages.send"}
    numbers: dict[str, tuple[int, Operation]] = {}
    owners: dict[int, tuple[str, Operation]] = {}
    taken: dict[str, Operation] = {}
    frame = tuple(op for op in part if op.call.method in ("queues.create", "queues.open"))
    restarts = tuple(op for op in part if op.call.method == "restart")
    queues = {op.call.name: op.call.queue for op in part if op.call.method == "queues.open"}
    elsewhere = {op.call.message for op in part if op.call.method == MOVE}  # in a subqueue by another identifier, maybe
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
            if again is not operation and not between and mine != number:  # both took it: it was there twice
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
    if restarts:  # then it is the order after a restart that is in question, and not how identifiers were given
        return None
    return _disordered(frame, sends, {name: number for name, (number, _) in numbers.items()}, part)


def _takes(operation: Operation, part: Sequence[Operation]) -> bool:
    """Whether it took its message for good, or to itself until it says otherwise."""
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
    """Two messages of one queue and priority whose identifiers are not in the order in which they were surely sent."""
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


def _shown(model: Model, order: tuple[Effect, ...]) -> list[Verdict]:
    """What the order that was found shows to hold, call by call."""
    verdicts: list[Verdict] = []
    parts = Counter(effect.operation.call.transaction for effect in order if effect.operation.message is not None)
    named = {effect.operation.call.message or "": 0 for effect in order if effect.operation.call.method == MOVE}
    states = States((State(waited=order[0].state.waited, lookups=named),)) if order else States()
    for effect in order:
        if effect.observation is None:
            states = States((effect.state,))
            continue
        judged = model.step(states, effect.operation.call, effect.observation)
        if judged.failed or not judged.states.states:
            # Only the identifiers of messages sent at once can be at odds here: the order among them was a choice.
            states = States((effect.state,))
            continue
        states = judged.states
        if effect.operation.call.method == "transactions.commit" and parts[effect.operation.call.transaction] > 1:
            verdicts.append(Verdict(_TOGETHER, Outcome.PASS, effect.operation.call.method))
        # Which reading an implementation follows this does not tell: another order might have taken another.
        verdicts += [replace(one, readings=()) for one in judged.verdicts if one.requirement not in _ORDERED]
    return verdicts


def _failure(
    model: Model, part: Sequence[Operation], found: Linear | None, suspected: tuple[Suspicion, ...]
) -> tuple[Verdict, tuple[Operation, ...]] | None:
    """The verdict and the smallest history that earns it; None when nothing is certain."""

    def unexplained(history: tuple[Operation, ...]) -> bool:
        return linearize(model, history, nodes=REDUCED_NODES + 2 * len(history), seconds=REDUCING_SECONDS / 3).refuted

    about: tuple[str, ...] = ()
    if suspected:
        moment, about = suspected[0].moment, suspected[0].messages
    elif found is not None and found.stuck is not None:
        moment = found.stuck.moment
    else:
        return None
    # The search knew what was seen later. An observer at that moment may not yet have known that something is wrong.
    last = max((operation.ended or 0 for operation in part), default=0)
    ahead, small = 0, None
    started = time.monotonic()
    while small is None and time.monotonic() < started + 2 * REDUCING_SECONDS:
        seen = until(part, moment + ahead)
        if suspected or len(seen) == len(part) or unexplained(seen):
            small = reduced(seen, unexplained, near=moment + ahead, about=about, seconds=REDUCING_SECONDS)
        if moment + ahead >= last:
            break
        ahead = 2 * ahead or 8
    if small is None:
        if found is None or not found.refuted:
            return None
        small = tuple(part)
    # Told with the answers that came later: they only say more.
    whole = {operation.began: operation for operation in part}
    return _blamed(model, small, part), tuple(whole[operation.began] for operation in small)


def _blamed(model: Model, small: tuple[Operation, ...], whole: Sequence[Operation]) -> Verdict:
    """The requirement that the smallest history breaks."""
    found = linearize(model, small, nodes=20 * REDUCED_NODES, seconds=REDUCING_SECONDS, by_lookup=False, forget=False)
    if found.fits and any(op.call.method == "transactions.commit" for op in small):
        # What the identifiers forbid is an order that would have had a transaction seen in pieces, or in another place.
        found = linearize(model, small, nodes=20 * REDUCED_NODES, seconds=REDUCING_SECONDS, forget=False)
    if found.fits:
        numbers = {str(op.message): str(_number(op)) for op in small if op.reads and _number(op) is not None}
        return Verdict(_INCREASES, Outcome.FAIL, "messages.send", "in the order of the sends", numbers)
    stuck = found.stuck
    if stuck is None:
        return Verdict("MQDMPR-3.1.1.2.arrival-order", Outcome.FAIL, "history", "an order of the calls", "none")
    if stuck.operation.waits_on:
        expected, actual = {stuck.operation.call.name: "ends"}, {stuck.operation.call.name: "goes on waiting"}
        return Verdict(WAKES[stuck.operation.call.method], Outcome.FAIL, stuck.operation.call.method, expected, actual)
    unserved = _unserved(model, small, whole)
    if unserved is not None:
        expected, actual = {unserved.call.name: "is woken in time"}, {unserved.call.name: say_answer(unserved.answer)}
        return Verdict(WAKES[unserved.call.method], Outcome.FAIL, unserved.call.method, expected, actual)
    waiter = next((one for one in stuck.state.waiters if one.name == stuck.operation.call.name), None)
    if waiter is not None and stuck.operation.reads:
        return _wrong_end(stuck, waiter, small)
    later = _later(whole, stuck.moment)
    call = stuck.operation.call
    # What is known to have waited did not find a message; that it got one in the end is another matter.
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
        if _torn(model, stuck, whole):
            return replace(failed, requirement=_TOGETHER)
        if failed.requirement in KEEPS.values():  # somebody had seen it; who took it since then is not known
            return replace(failed, requirement=_arrival(model, stuck))
        if failed.requirement == _GONE and _while_locked(stuck, whole):
            return replace(failed, requirement="MQDMPR-3.1.7.1.10.transaction-locks")
        if _locked_away(failed, stuck, whole):
            return replace(failed, requirement="MQDMPR-3.1.1.11.uncommitted-receive-not-lost")
        sent = any(op.message == stuck.operation.message for op in whole if op.call.method == "messages.send")
        if failed.requirement == _BODY and sent:  # it was sent, but another order of the sends is out of the question
            return replace(failed, requirement=model.allowed(stuck.state, call).outcomes[0].requirement)
        return failed
    actual = say_answer(stuck.operation.answer)
    return Verdict("MQDMPR-3.1.1.2.arrival-order", Outcome.FAIL, call.method, "an order of the calls", actual)


def _unserved(model: Model, small: Sequence[Operation], whole: Sequence[Operation]) -> Operation | None:
    """A read that was not woken: all is explained without it, or, when it was given a message in the end, without its
    having waited before that. A message that nobody ever saw may have been lost instead."""
    seen = {op.message for op in whole if op.reads}
    if any(op.message not in seen for op in small if op.call.method == "messages.send"):
        return None
    for operation in small:
        if operation.blocked is None or operation.call.method not in WAKES:
            continue
        name = operation.call.name
        later = () if operation.message is None else (replace(operation, blocked=None),)
        others = (*(one for one in small if one is not operation and (later or one.call.request != name)), *later)
        if linearize(model, others, nodes=REDUCED_NODES, seconds=REDUCING_SECONDS / 3).fits:
            return operation
    return None


def _later(whole: Sequence[Operation], moment: int) -> tuple[str, ...]:
    """What was received after this moment: once each, unless it was taken for good more than once."""
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
    """By what the message is there that a read should have given."""
    for outcome in model.allowed(stuck.state, stuck.operation.call).outcomes:
        message = outcome.result.message if isinstance(outcome.result, Succeeds) else None
        queue = stuck.state.queues[stuck.state.handles[stuck.operation.call.handle or ""].queue]
        found = queue.find(message) if message is not None else None
        if found is not None and found.transactional:
            return "MQDMPR-3.1.4.4.sends-appear"
    return "MQDMPR-3.1.7.1.9.available"


def _given_away(stuck: Stuck) -> str | None:
    """What a move breaks that succeeds though another one took the message: what that one was to do to it."""
    call, answer = stuck.operation.call, stuck.operation.answer
    if call.method != MOVE or answer is None or answer.failed:
        return None
    queue = stuck.state.queues[stuck.state.handles[call.handle or ""].queue]
    position = queue.find(call.message or "")
    return position.claim if position is not None and position.state is PositionState.DELETED else None


def _taken_twice(operation: Operation, whole: Sequence[Operation]) -> bool:
    """Whether this read took a message that another one took too."""
    if operation.message is None:
        return False
    taken = [op for op in whole if op.message == operation.message and op.reads and _takes(op, whole)]
    returned = {op.call.transaction for op in whole if op.call.method == "transactions.abort"} - {None}
    mine = operation.call.method in _TAKING and operation.call.transaction not in returned
    return mine and any(op.began != operation.began for op in taken)


def _while_locked(stuck: Stuck, whole: Sequence[Operation]) -> bool:
    """Whether a read was given what a transaction had received before the commit of that transaction was asked for."""
    mine = {op.call.transaction for op in whole if op.reads and op.message == stuck.operation.message}
    commits = [op for op in whole if op.call.method == "transactions.commit" and op.call.transaction in mine]
    others = [op for op in commits if op.call.transaction != stuck.operation.call.transaction]
    return any(stuck.operation.began < op.began for op in others)


def _torn(model: Model, stuck: Stuck, whole: Sequence[Operation]) -> bool:
    """Whether a message is missing, or there, that a commit in flight at the time was to settle with others: all of
    them or none would have been explained."""
    allowed = model.allowed(stuck.state, stuck.operation.call).outcomes
    wanted = {outcome.result.message for outcome in allowed if isinstance(outcome.result, Succeeds)}
    concerned = wanted | {stuck.operation.message}
    began = stuck.operation.began
    restarts = [op for op in whole if op.call.method == "restart" and op.began < began]
    if not restarts and _taken_twice(stuck.operation, whole):
        return False
    seen = {op.message for op in whole if op.reads and restarts and op.began > restarts[-1].began}
    for commit in whole:
        if commit.call.method != "transactions.commit" or (commit.answer is not None and commit.answer.failed):
            continue
        mine = [op for op in whole if op.call.transaction == commit.call.transaction and op.message is not None]
        sent = {op.message for op in mine if op.call.method == "messages.send"}
        taken = {op.message for op in mine} - sent
        if len(sent | taken) < 2 or not (sent | taken) & concerned:
            continue
        if restarts and commit.began < restarts[-1].began:
            if commit.answer is None and (sent & seen or taken - seen) and (sent - seen or taken & seen):
                return True
        elif began < (commit.ended or stuck.moment) and commit.began < stuck.moment:
            return True
    return False


def _locked_away(failed: Verdict, stuck: Stuck, whole: Sequence[Operation]) -> bool:
    """Whether what a restart lost may be what a transaction was just about to receive: the first there was."""
    if failed.requirement not in ("MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.1.12.recoverable-survives"):
        return False
    began = stuck.operation.began
    last = max((op.began for op in whole if op.call.method == "restart" and op.began < began), default=0)
    queues = {op.call.name: op.call.queue for op in whole if op.call.method == "queues.open"}
    here = queues.get(stuck.operation.call.handle)
    reads = [op for op in whole if op.reads and queues.get(op.call.handle) == here]
    if any(op.message is not None and last < op.began and (op.ended or began) < began for op in reads):
        return False  # another one stood before it, and is there
    return any(op.call.transaction is not None and op.answer is None and op.began < last for op in reads)


def _ended_with(stuck: Stuck, small: Sequence[Operation]) -> dict[str, Answer]:
    """The waiting reads that were given what this call made available, or that it cancelled."""
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


def _wrong_end(stuck: Stuck, waiter: Waiter, small: Sequence[Operation]) -> Verdict:
    """A read that waited was answered, and nothing that could be done before its answer explains it."""
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
                requirement = WAKES[waiter.method]  # nobody has it: it was another reader's turn, who waits on
        elif given is not None:
            requirement = WAKES[waiter.method]  # it lay there when the read began to wait, or came and did not wake it
    return Verdict(requirement, Outcome.FAIL, waiter.method, expected, actual)
