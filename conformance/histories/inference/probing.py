"""Plays an implementation under the alternatives of every reading, and notes the combinations that stay possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from conformance.adapter.errors import NotAccepted
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.history import History
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.walk import Plan, possible_choices, set_up
from conformance.model import (
    Answer,
    BadCall,
    Call,
    Judged,
    Model,
    Observation,
    Pending,
    SeenMessage,
    State,
    States,
    rules,
)
from conformance.model.expected import Blocks, Either, Expected, Fails, Succeeds, Tells, Transfers
from conformance.model.rules import Rules
from conformance.model.sends_and_commits import DEFAULT_PRIORITY
from conformance.model.state import Position
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import catalogue
from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict
from conformance.walks import steps

if TYPE_CHECKING:
    from conformance.harness.port import Port

OTHER_FAILURE = hresults.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION  # where any code is allowed; no alternative names it


def model_readings() -> tuple[str, ...]:
    """Return the readings on which the model's outcomes depend, in the order of `model.rules`."""
    known = catalogue().readings
    return tuple(dict.fromkeys(value for value in vars(rules).values() if isinstance(value, str) and value in known))


def every_alternative() -> dict[str, tuple[str, ...]]:
    """Return all readings of the register, each with all its alternatives."""
    return {reading.id: tuple(reading.alternatives) for reading in catalogue().readings.values()}


def defaults(chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return for each reading of the model the alternative that Windows follows, or the chosen one."""
    known = catalogue().readings
    return {name: known[name].defaults["windows"][0] for name in model_readings()} | dict(chosen or {})


class Player:
    """A conforming queue manager under one assignment of readings. choice: reading id to alternative."""

    def __init__(self, choice: Mapping[str, str]) -> None:
        self.choice = dict(choice)
        self.model = Model({name: (alternative,) for name, alternative in choice.items()})

    def play(self, state: State, call: Call) -> tuple[Observation, State]:
        """Return the observation and the state after a call. Raises BadCall for a call that no section describes."""
        ways = [way for way in self.model.allowed(state, call).outcomes if self._agrees(way)]
        if not ways:
            raise BadCall(f"no section says what {call.method} leads to here")
        free = (rules.READERS_ORDER, "by-handle")
        way = ways[-1 if any(free in found.readings for found in ways) else 0]
        after = way.next
        restarts = OPERATIONS[call.method].manner is Manner.RESTART
        if restarts and self.choice.get(rules.TRANSACTIONAL_EXPRESS) == "express":
            after = _lossy(after)
        completed = {}
        handle = after.handles.get(call.handle or "")
        queue = call.queue or "" if handle is None else handle.queue
        answer, after = self._answer(way.result, after, queue, state)
        waiting = {waiter.name: waiter.queue for waiter in state.waiters}
        for item in way.completions:
            ended, after = self._answer(item.result, after, waiting[item.waiter], state)
            assert ended is not None
            completed[item.waiter] = ended
        return Observation(answer, completed), after

    def _agrees(self, way: Expected) -> bool:
        return all(self.choice.get(reading, alternative) == alternative for reading, alternative in way.readings)

    def _answer(self, result: object, state: State, queue: str, before: State) -> tuple[Answer | None, State]:
        if isinstance(result, Fails):
            return Answer.of_status(self._code(result)), state
        if isinstance(result, Succeeds) and result.message is not None:
            return self._message(result.message, state, queue)
        if isinstance(result, Transfers):
            every = [self._message(name, before, queue)[0].message for name in _freely(result)]
            return Answer(messages=tuple(replace(one, destination=queue) for one in every if one is not None)), state
        if isinstance(result, Tells):
            return Answer(values={result.member: result.value}), state
        assert isinstance(result, (Succeeds, Either, Blocks))
        return (None if isinstance(result, Blocks) else Answer()), state

    def _code(self, fails: Fails) -> int:
        if fails.reading is not None:
            code = dict(fails.by_reading)[self.choice.get(fails.reading, fails.by_reading[0][0])]
            return OTHER_FAILURE if code is None else code
        return fails.codes[0] if fails.codes else hresults.MQ_ERROR

    def _message(self, name: str, state: State, queue: str) -> tuple[Answer, State]:
        position = state.position(queue, name)
        number = position.identifier if position.identifier is not None else state.lookups.get(name)
        if number is None:
            number = self._lookup_identifier(position)
        state = replace(state, lookups={**state.lookups, name: number})
        asked = DEFAULT_PRIORITY if position.asked is None else position.asked
        seen = SeenMessage(
            body=name.encode("ascii"),
            label=name,
            priority=self._transactional_priority(asked) if position.transactional else asked,
            delivery="recoverable" if position.transactional else position.delivery or "express",
            lookup_identifier=number,
        )
        return Answer(message=seen), state

    def _transactional_priority(self, asked: int) -> int:
        return {"default": DEFAULT_PRIORITY, "own": asked}.get(self.choice.get(rules.TRANSACTIONAL_PRIORITY, ""), 0)

    def _lookup_identifier(self, position: Position) -> int:
        high, low = position.rank
        if self.choice.get(rules.LOOKUP_ORDER) == "within-priority" and not position.transactional:
            high = 0
        return (high << 56) | (low + 1)


def _freely(result: Transfers) -> list[str]:
    """Return the messages of a transfer, with each group of free order reversed."""
    return [name for group in result.groups for name in reversed(group)]


def _lossy(state: State) -> State:
    """Return the state after a restart that lost all transactional messages sent as express, as it may."""
    for queue in state.queues.values():
        for position in queue.positions:
            if position.doubtful and position.transactional:
                gone = replace(position, state=PositionState.DELETED, doubtful=False)
                state = state.with_position(queue.name, gone)
    return state


Box: TypeAlias = Mapping[str, frozenset[str]]
"""Reading to its possible alternatives; for a reading not in the box, every alternative is possible."""

MAX_BOXES = 128  # a history of the suites leaves a handful; their products stay far below


@dataclass(frozen=True, slots=True)
class Worlds:
    """Combinations of alternatives not yet ruled out. Without any box, none explains the observations."""

    boxes: tuple[Box, ...] = ({},)

    @classmethod
    def of(cls, boxes: Iterable[Box]) -> Worlds:
        """Return the union of these boxes, without boxes inside another one."""
        return cls(tuple(_capped(_largest(boxes))))

    @property
    def empty(self) -> bool:
        """True if no combination is possible any more."""
        return not self.boxes

    def meet(self, other: Worlds) -> Worlds:
        """Return the intersection of both."""
        return Worlds.of(met for one in self.boxes for two in other.boxes if (met := _meet(one, two)) is not None)

    def possible(self, reading: str, every: Sequence[str]) -> tuple[str, ...]:
        """Return the alternatives of a reading that are possible in some box, in the order of `every`."""
        if any(reading not in box for box in self.boxes):
            return tuple(every)
        left = frozenset().union(*(box[reading] for box in self.boxes))
        return tuple(name for name in every if name in left)

    def without(self, reading: str, alternative: str, every: Sequence[str]) -> Worlds:
        """Return these combinations with one alternative ruled out."""
        return self.meet(Worlds(({reading: frozenset(every) - {alternative}},)))

    def named(self) -> tuple[str, ...]:
        """Return the readings that any box constrains."""
        return tuple(sorted({reading for box in self.boxes for reading in box}))


def _meet(one: Box, two: Box) -> Box | None:
    met = dict(one)
    for reading, possible in two.items():
        left = possible & met.get(reading, possible)
        if not left:
            return None
        met[reading] = left
    return met


def _inside(one: Box, two: Box) -> bool:
    return all(reading in one and one[reading] <= possible for reading, possible in two.items())


def _largest(boxes: Iterable[Box]) -> list[Box]:
    kept: list[Box] = []
    for box in boxes:
        if any(_inside(box, other) for other in kept):
            continue
        kept = [other for other in kept if not _inside(other, box)]
        kept.append(box)
    return kept


def _capped(boxes: list[Box]) -> list[Box]:
    """Return at most MAX_BOXES boxes; those beyond are joined into one that contains them all."""
    if len(boxes) <= MAX_BOXES:
        return boxes
    kept, over = boxes[: MAX_BOXES - 1], boxes[MAX_BOXES - 1 :]
    joined = dict(over[0])
    for box in over[1:]:
        joined = {reading: joined[reading] | box[reading] for reading in joined if reading in box}
    return _largest([*kept, joined])


Step = tuple[Call, Observation]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence from one history.

    seen: its calls and observations, without a last one that no alternative explains. story: a line for each call.
    worlds: the combinations of readings that explain it. held: the requirements shown to hold. failure: the verdict of
    that last call. kind: `trace` or `walk`. asked: the readings that the model used to judge it; no other reading can
    make a difference.
    """

    seen: tuple[Step, ...]
    story: tuple[str, ...]
    worlds: Worlds
    held: frozenset[str]
    failure: Verdict | None = None
    kind: str = "walk"
    asked: frozenset[str] = frozenset()


class Asked(Rules):
    """Rules that note which readings the model uses."""

    def __init__(self, readings: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def known(self, reading: str) -> tuple[str, ...]:
        """See `Rules.known`."""
        self.asked.add(reading)
        return Rules.known(self, reading)


class Probe(History):
    """A history that keeps its observations."""

    def __init__(self, client: Port, options: RunOptions) -> None:
        self.held: set[str] = set()
        model = Model(options.readings)
        self.rules = model.rules = Asked(options.readings)
        super().__init__(client, Recorder(options, self._note), model)
        self.seen: list[Step] = []

    def _note(self, verdict: Verdict, count: int) -> None:
        if verdict.outcome is Outcome.PASS:
            self.held.add(verdict.requirement)

    def _judge(
        self, call: Call, observation: Observation, shows: str | None = None, pending: Pending | None = None
    ) -> None:
        self.seen.append((call, observation))
        super()._judge(call, observation, shows, pending)

    def evidence(self, kind: str, failure: Verdict | None = None) -> Evidence:
        """Return the evidence so far."""
        self.judge.flush()
        seen = tuple(self.seen if failure is None else self.seen[:-1])
        story = tuple(step.text for step in self.judge.story)
        boxes = () if self.states.capped else tuple(dict(state.assumed) for state in self.states.states)
        worlds = Worlds.of(boxes) if boxes else Worlds()
        asked = frozenset(self.rules.asked)
        return Evidence(seen, story, worlds, frozenset(self.held), failure, kind, asked)


def evidence(client: Port, options: RunOptions, calls: Iterable[Call]) -> Evidence:
    """Make these calls, without those that make no sense at their turn, and return the evidence."""
    probe = Probe(client, options)
    try:
        for call in calls:
            try:
                probe.do(call)
            except BadCall:
                continue
    except ConformanceFailure as failure:
        return probe.evidence("trace", failure.verdict)
    finally:
        probe.driving.leave()
    return probe.evidence("trace")


def walked(client: Port, options: RunOptions, plan: Plan, seed: int) -> Evidence:
    """Walk a plan, with every step a sensible call chosen by the seed, and return the evidence."""
    probe = Probe(client, options)
    possible = possible_choices(client, plan)
    try:
        set_up(probe, plan)
        for call in steps(lambda: probe.state, possible, Random(seed), options.stateful_steps):
            if probe.over:
                break
            with suppress(NotAccepted):
                probe.do(call)
    except ConformanceFailure as failure:
        return probe.evidence("walk", failure.verdict)
    except BadCall:
        pass  # the chosen call makes no sense in another possible state, so the walk ends
    finally:
        probe.driving.leave()
    return probe.evidence("walk")


def contradicted(
    seen: Sequence[Step], readings: Mapping[str, tuple[str, ...]], reading: str, alternative: str
) -> int | None:
    """Return the number of the first call that an alternative does not explain; None if it explains them all.

    readings: the allowed alternatives of the other readings.
    """
    model = Model({**readings, reading: (alternative,)})
    states = States()
    for number, (call, observation) in enumerate(seen, start=1):
        try:
            judged: Judged = model.step(states, call, observation)
        except BadCall:
            return None
        if judged.failed:
            return number
        if judged.states.capped:
            return None
        states = judged.states
    return None
