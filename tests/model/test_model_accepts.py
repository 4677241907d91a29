"""The model as its own implementation: what it allows it accepts, and what it does not allow it refuses, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import exploring
from exploring import Step
from scopes import everything

from conformance.model import Answer, Model, Observation, Scan, SeenMessage, State, States
from conformance.model.calls import READS
from conformance.model.expected import Blocks, Either, Expected, Fails, Result, Succeeds, Transfers
from conformance.model.journals import plain_name
from conformance.model.state import Position
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Outcome

WIDE = Model(exploring.all_readings())
SAMPLE = 600
ANY_FAILURE = 0xC00E0001  # MQ_ERROR, which no section demands


def sample() -> list[Step]:
    """Steps of every scope and plan, the same ones every time."""
    reports = ("ack",)  # which message a report is about is told by an identifier that these steps have not seen
    steps = [step for step in everything()[0] if not _shows_values(step)]
    told = [step for step in steps if not str(getattr(step.expected.result, "message", "")).startswith(reports)]
    return Random(1).sample(told, SAMPLE)


def _shows_values(step: Step) -> bool:
    """Tell whether the answer is made of values of properties: the tests of these tables judge them."""
    shown = step.call.method == "management.get" and isinstance(step.expected.result, Succeeds)
    return shown or step.scope == "properties"


def seen(position: Position, known: int | None = None) -> SeenMessage:
    """The message as an honest implementation shows it. known: the lookup identifier that it has shown before."""
    name = plain_name(position.message)
    body = name.encode().ljust(position.wishes.size if position.wishes is not None else 0)
    delivery = "recoverable" if position.recoverable else "express"
    number = known or position.identifier or position.rank[0] * 1_000_000 + position.rank[1]
    return SeenMessage(body, name, position.priority, delivery, number)


def answers(state: State, result: Result) -> Iterator[Answer | None]:
    """The answers that are this result, one for each code it may have."""
    if isinstance(result, Blocks):
        yield None
    elif isinstance(result, Fails):
        codes = [code for _, code in result.by_reading if code is not None] or list(result.codes) or [ANY_FAILURE]
        yield from (Answer.of_status(code) for code in codes)
    elif isinstance(result, Succeeds) and result.message is not None:
        queue = next(queue for queue in state.queues.values() if queue.find(result.message) is not None)
        yield Answer.of_status(0, seen(state.position(queue.name, result.message), state.lookups.get(result.message)))
    elif isinstance(result, Transfers):
        yield Answer(messages=tuple(_transferred(state, name) for name in result.messages))
    else:
        yield Answer()


def _transferred(state: State, name: str) -> SeenMessage:
    queue = next(queue for queue in state.queues.values() if queue.find(name) is not None)
    return replace(seen(state.position(queue.name, name)), destination=queue.name)


def observations(expected: Expected) -> Iterator[Observation]:
    """What an implementation that takes this way shows."""
    ends = {
        item.waiter: next(answers(expected.next, item.result))
        for item in expected.completions
        if not isinstance(item.result, Either)
    }
    for answer in answers(expected.next, expected.result):
        yield Observation(answer, {name: end for name, end in ends.items() if end is not None})


def key(state: State) -> object:
    """Without lookup identifiers: those an observation shows are added to the state."""
    return state.key()[:-1]  # type: ignore[index]


def test_what_is_allowed_is_accepted_and_leads_where_it_says() -> None:
    for step in sample():
        for observation in observations(step.expected):
            judged = WIDE.step(States((step.before,)), step.call, observation)
            assert not judged.failed, (step.call, step.expected.result, judged.verdicts)
            assert key(step.expected.next) in [key(state) for state in judged.states.states], step.call


def wrong(step: Step) -> Iterator[Observation]:
    """Observations that are not this outcome; they may be another one that is allowed."""
    result = step.expected.result
    if isinstance(result, Fails):
        yield Observation(Answer())
    else:
        yield Observation(Answer.of_status(ANY_FAILURE))
    if not isinstance(result, Blocks) and step.call.method in READS and step.call.timeout_ms:
        yield Observation(None)
    if step.call.method.startswith("messages.") and step.call.method not in ("messages.send", "messages.cancel"):
        for queue in step.before.queues.values():
            for position in queue.positions:
                yield Observation(Answer.of_status(0, seen(position)))
        yield Observation(Answer.of_status(0, SeenMessage(b"never sent")))
        yield Observation(Answer(0, False, None))
    if step.expected.completions:
        yield Observation(Answer())
    for waiter in step.before.waiters:
        yield Observation(Answer(), {waiter.name: Answer.of_status(ANY_FAILURE)})
        yield Observation(Answer(), {waiter.name: Answer.of_status(0, SeenMessage(b"never sent"))})


def allowed(step: Step, observation: Observation) -> bool:
    """Whether some allowed outcome is this one: decided without the engine's own matching."""

    def fits(result: Result, answer: Answer | None) -> bool:
        if isinstance(result, Blocks) or answer is None:
            return isinstance(result, Blocks) and answer is None
        if isinstance(result, Either):
            return True
        if isinstance(result, Fails):
            codes = {code for _, code in result.by_reading} or set(result.codes) or {None}
            return answer.failed and (None in codes or answer.status in codes)
        if answer.failed or result.message is None:
            return not answer.failed
        return answer.message is not None and answer.message.body.rstrip() == plain_name(result.message).encode()

    for expected in WIDE.allowed(step.before, step.call).outcomes:
        ends = {item.waiter: item.result for item in expected.completions}
        must = {name for name, result in ends.items() if not isinstance(result, Either)}
        if not must <= set(observation.completed) <= set(ends):
            continue
        if fits(expected.result, observation.answer) and all(
            fits(ends[name], answer) for name, answer in observation.completed.items()
        ):
            return True
    return False


def test_what_is_not_allowed_is_refused_and_blamed_on_a_requirement() -> None:
    blamed: set[str] = set()
    refused = 0
    for step in sample():
        for observation in wrong(step):
            judged = WIDE.step(States((step.before,)), step.call, observation)
            if judged.ask is not None:
                there = [p.message for queue in step.before.queues.values() for p in queue.positions if p.available]
                for scan in (Scan(()), Scan(tuple(there)), Scan(tuple(there[::-1])), Scan((*there, *there))):
                    again = WIDE.step(States((step.before,)), step.call, observation, scan)
                    assert again.failed and again.ask is None
                    blamed |= {v.requirement for v in again.verdicts if v.outcome is Outcome.FAIL}
            if allowed(step, observation):
                continue
            refused += 1
            assert judged.failed, (step.call, observation)
            failures = [verdict for verdict in judged.verdicts if verdict.outcome is Outcome.FAIL]
            assert failures
            assert all(verdict.expected != verdict.actual for verdict in failures)
            blamed |= {verdict.requirement for verdict in failures}
    for name in blamed:
        requirement_id(name)
    assert refused > 2 * SAMPLE
    assert len(blamed) > 50
