"""What a conforming queue manager is seen to do, changed in one thing: which demands of the model notice?

The model plays the queue manager, so that every step has a right observation as its control. Of that one observation
one thing is changed (a status, the message, who is served), and the demand that fails must have held for the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from conformance.model import Answer, BadCall, Call, Model, Observation, SeenMessage, State, States
from conformance.model.calls import METHODS
from conformance.model.observation import Scan
from conformance.model.state import Queue
from conformance.model.values import replace
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults
from conformance.suites.inference.playing import Player, defaults
from conformance.suites.stateful import plans
from conformance.suites.stateful.machine import ACTIONS, Plan
from conformance.suites.stateful.machine import set_up as opened
from conformance.suites.stateful.meanings import Offer
from conformance.suites.stateful.steering import Choice, pick
from conformance.verdict import Outcome, Verdict

HISTORIES, STEPS = 30, 60
OF_EVERYTHING = 12  # times as many of the first plan
TRIES = 60  # with a requirement that nothing has made fail yet
_NOT_PLAYED = frozenset({"post", "fill", "count", "pass_seconds"})  # journals, quotas and reports
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
_EVERYTHING = Offer(frozenset(METHODS), virtual=True)


class Played:
    """A history in which the model plays the queue manager and judges itself.

    tried: how often observations were changed by which a requirement held. found: what noticed a change.
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
        """Make a call, and judge what it leads to with one thing after the other changed. Raises BadCall."""
        observation, after = self.player.play(self.now, call)
        control = self.model.step(self.states, call, observation)
        assert not control.failed, (call, control.verdicts)
        held = {verdict.requirement for verdict in control.verdicts if verdict.outcome is Outcome.PASS}
        wanted = {name for name in held - self.found if self.tried[name] < TRIES}
        self.tried.update(wanted)
        for changed in _changed(observation, self.now, call) if wanted else ():
            judged = self.model.step(self.states, call, changed)
            failed = _failed(judged.verdicts)
            if judged.ask is not None:
                left = tuple(one.message for one in after.queues[judged.ask].positions if one.available)
                gone = tuple(one.message for one in after.queues[judged.ask].positions if not one.available)
                for messages in (left, left[1:], (*left, *gone), gone):
                    scan = Scan(messages, judged.ask)
                    failed |= _failed(self.model.step(self.states, call, changed, scan).verdicts)
            self.found |= failed & held
        self.states, self.now = control.states, after


def caught(histories: int = HISTORIES, steps: int = STEPS) -> frozenset[str]:
    """The requirements that held for a right observation and failed for one changed in one thing."""
    found: set[str] = set()
    tried: Counter[str] = Counter()
    model = Model(assignment("windows"))
    for at, plan in enumerate(PLANS):
        for number in range(histories if at else histories * OF_EVERYTHING):
            played = Played(model, Player(defaults()), tried, found)
            opened(played, plan)
            _walk(played, plan, Random(f"{at}/{number}"), steps)
    return frozenset(found)


def _walk(played: Played, plan: Plan, random: Random, steps: int) -> None:
    choices: list[Choice] = [ACTIONS[name].chooser(_EVERYTHING) for name in plan.actions]
    for _ in range(steps):
        call, _ = pick(played.state, choices, random.getrandbits(32))
        if call is None:
            return
        try:
            played.do(call)
        except BadCall:
            continue


def _changed(right: Observation, state: State, call: Call) -> Iterator[Observation]:
    """The observation with one thing changed, each way in turn."""
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
    """Less than came, more, twice, in another order, to another queue; and what must not come, or all there is."""
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
