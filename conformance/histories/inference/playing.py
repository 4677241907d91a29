"""Play an implementation with the model, under one alternative of every reading.

Where the documents still allow several answers, the player gives the first. It uses a freedom that shows only when
used: it serves the handles in reverse order, and it loses transactional express messages in a restart.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, State, rules
from conformance.model.expected import Blocks, Either, Expected, Fails, Succeeds, Transfers
from conformance.model.sends_and_commits import DEFAULT_PRIORITY
from conformance.model.state import Position
from conformance.model.tables import PositionState
from conformance.model.values import replace
from conformance.spec.catalogue import catalogue
from conformance.spec.constants import hresults

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
