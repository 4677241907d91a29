"""Mutate correct observations, one thing at a time, and find the requirements that notice.

The model plays the queue manager, so every step has a correct observation as its control. One thing in it is changed
(a status, the message, the reader served). A requirement notices if it fails then and held for the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random

from conformance import walks
from conformance.histories import plans
from conformance.histories.inference.probing import Player, defaults
from conformance.histories.operations.operation import Offer
from conformance.histories.operations.table import ACTIONS, METHODS
from conformance.histories.walk import Choice, Plan, chooser
from conformance.histories.walk import set_up as opened
from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, State, States
from conformance.model.calls import Scan
from conformance.model.state import Queue
from conformance.model.values import replace
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults
from conformance.verdict import Outcome, Verdict

HISTORIES, STEPS = 30, 60
OF_EVERYTHING = 12  # factor on HISTORIES for the first plan
TRIES = 60  # mutated steps for a requirement that no mutation has made fail yet
_NOT_PLAYED = frozenset({"post", "fill", "count", "pass_seconds"})  # journals, quotas and acknowledgments
PLANS = (
    Plan((plans.PLAIN, plans.TRANSACTIONAL), tuple(name for name in ACTIONS if name not in _NOT_PLAYED)),
    plans.CURSORS,
    plans.LOCKED_CURSORS,
    plans.WAITS,
    plans.QUEUES,
    plans.TRANSACTIONS,
    plans.SEVERAL_QUEUES,
    plans.LOOKUPS,
    plans.TWO_PHASES,
    plans.MOVES,
    plans.MOVES_IN_TRANSACTIONS,
    plans.PREPARED,
    plans.OUTGOING,
)
_STATUSES = (
    hresults.MQ_OK,
    hresults.MQ_INFORMATION_OPERATION_PENDING,
    hresults.MQ_ERROR,
    hresults.MQ_ERROR_IO_TIMEOUT,
    hresults.MQ_ERROR_MESSAGE_NOT_FOUND,
    hresults.MQ_ERROR_MESSAGE_ALREADY_RECEIVED,
    hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION,
    hresults.MQ_ERROR_QUEUE_NOT_AVAILABLE,
)
_EVERYTHING = Offer(METHODS, virtual=True)


class Played:
    """A history in which the model plays the queue manager and judges itself.

    tried: for each requirement, how many steps it held in were mutated. found: requirements that noticed a mutation.
    """

    def __init__(self, model: Model, player: Player, tried: Counter[str], found: set[str]) -> None:
        self.model, self.player = model, player
        self.states, self.now = States(), State()
        self.tried, self.found = tried, found

    @property
    def state(self) -> State:
        """The state under the default readings."""
        return self.now

    def do(self, call: Call) -> None:
        """Make a call and judge each mutation of its observation. Raises BadCall."""
        observation, after = self.player.play(self.now, call)
        pending = self.model.due(self.states, call)
        control = self.model.step(self.states, call, observation, None, pending)
        assert not control.failed, (call, control.verdicts)
        held = {verdict.requirement for verdict in control.verdicts if verdict.outcome is Outcome.PASS}
        wanted = {name for name in held - self.found if self.tried[name] < TRIES}
        self.tried.update(wanted)
        for changed in _changed(observation, self.now, call) if wanted else ():
            judged = self.model.step(self.states, call, changed, None, pending)
            failed = _failed(judged.verdicts)
            if judged.ask is not None:
                left = tuple(one.message for one in after.queues[judged.ask].positions if one.available)
                gone = tuple(one.message for one in after.queues[judged.ask].positions if not one.available)
                for messages in (left, left[1:], (*left, *gone), gone):
                    scan = Scan(messages, judged.ask)
                    failed |= _failed(self.model.step(self.states, call, changed, scan, pending).verdicts)
            self.found |= failed & held
        self.states, self.now = control.states, after


def caught(histories: int = HISTORIES, steps: int = STEPS) -> frozenset[str]:
    """Return the requirements that held for a correct observation and failed for a mutation of it."""
    found: set[str] = set()
    tried: Counter[str] = Counter()
    model = Model(assignment("windows"))
    for at, plan in enumerate(PLANS):
        choices = [chooser(ACTIONS[name], _EVERYTHING) for name in plan.actions]
        for number in range(histories if at else histories * OF_EVERYTHING):
            played = Played(model, Player(defaults()), tried, found)
            opened(played, plan)
            _walk(played, choices, Random(f"{at}/{number}"), steps)
    return frozenset(found)


def _walk(played: Played, choices: list[Choice], random: Random, steps: int) -> None:
    for call in walks.steps(lambda: played.state, choices, random, steps):
        with suppress(BadCall):
            played.do(call)


def _changed(right: Observation, state: State, call: Call) -> Iterator[Observation]:
    """Yield the observation with one thing changed, in every way."""
    handle = state.handles.get(call.handle or "")
    messages = [
        SeenMessage(body=position.message.encode(), label=position.message, priority=position.priority)
        for position in (state.queues[handle.queue].positions if handle is not None else ())
    ][:6]
    if right.answer is not None and right.answer.messages is not None:
        for other in _other_transfers(right.answer.messages, state.queues[call.queue or ""]):
            yield replace(right, answer=Answer(messages=other))
    answers: list[Answer | None] = [None, *(Answer.of_status(status) for status in _STATUSES)]
    answers += [Answer(message=message) for message in messages]
    for answer in answers:
        if answer != right.answer:
            yield replace(right, answer=answer)
    for name in right.completed:
        yield replace(right, completed={other: each for other, each in right.completed.items() if other != name})
    for waiter in state.waiters:
        for ended in answers[1:]:
            if ended is not None and ended != right.completed.get(waiter.name):
                yield replace(right, completed={**right.completed, waiter.name: ended})


def _other_transfers(came: tuple[SeenMessage, ...], queue: Queue) -> Iterator[tuple[SeenMessage, ...]]:
    """Yield wrong transfers: fewer messages, more, duplicates, other orders or destinations, and forbidden ones."""
    every = [SeenMessage(body=position.message.encode(), label=position.message) for position in queue.positions]
    held = [seen for seen, position in zip(every, queue.positions, strict=True) if position.available]
    others = [seen for seen, position in zip(every, queue.positions, strict=True) if not position.available]
    if not came:
        yield from [tuple(held), tuple(held[-1:])] if held else []
    else:
        yield from ((), came[1:], came[:-1], (*came, came[0]), came[::-1], (*came[1:], came[0]))
        yield (replace(came[0], destination="elsewhere"), *came[1:])
        yield (replace(came[0], label="another"), *came[1:])
    yield from ((*came, other) for other in others[:6])
    yield (*came, SeenMessage(body=b"stranger"))


def _failed(verdicts: tuple[Verdict, ...]) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}
