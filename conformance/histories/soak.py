"""Call a driver in this process without a client in between, for walks of many million calls.

There are no checks of schemas, deadlines or second answers. A walk that meets anything odd is run again by a real
client, which tells what is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from conformance import walks
from conformance.adapter.errors import DriverTimeout, DriverUnusable, NotAccepted
from conformance.adapter.session import Result
from conformance.children import rarely_collecting
from conformance.harness.guarded_client import DriverGone, GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.harness.tape import Tape
from conformance.histories.driver_side import Driving
from conformance.histories.findings import MAX_EACH, confirmed, run, shortened
from conformance.histories.operations.state_queries import kind_of, where
from conformance.histories.walk import Choice, Plan, Steering, possible_choices, set_up, steering
from conformance.model import BadCall, Call, Judged, Model, State, States
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.host import Driver
    from conformance.harness.known_deviations import KnownDeviations
    from conformance.harness.playback import Playback
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions


class Odd(Exception):
    """The driver did something that only a real client can judge: it raised, did not answer, or answered nonsense."""


class Outstanding:
    """A request. done: it is answered."""

    __slots__ = ("_raw", "done", "id", "method")

    def __init__(self, number: int, method: str) -> None:
        self.id = number
        self.method = method
        self.done = False
        self._raw: Any = None

    @property
    def blocked(self) -> bool:
        """True while there is no answer: the driver acts only during calls, so an unanswered call waits."""
        return not self.done

    def answer(self, raw: Any) -> None:
        """Store the answer; the driver calls this."""
        self._raw = raw
        self.done = True

    def result(self) -> Result:
        """Return the answer. Raises Odd if there is none or if it cannot be read."""
        try:
            result = Result.from_json(self._raw)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise Odd(f"{self.method} was answered with {type(self._raw).__name__}") from error
        if result.lacking is not None:
            raise NotAccepted(result.lacking, "the driver")
        return result


class Direct:
    """A `harness.port.Port` that raises Odd instead of driver faults."""

    def __init__(self, client: Client) -> None:
        """Take the driver over from its client and restart it; request numbers begin after its hello."""
        self.hello = client.hello
        self.keeps_state = client.keeps_state
        self.time = client.time
        self.unique = client.unique
        self.offers = client.offers
        self.need = client.need
        self._client = client
        self._driver: Driver | None = None
        self._number = 0
        self.restart(kill=False)

    def start(self, method: str, /, **params: Any) -> Outstanding:
        """Send a request. A waiting read is answered during a later call."""
        params.pop("deadline_ms", None)
        self._number += 1
        call = Outstanding(self._number, method)
        driver = self._driver
        if driver is None:
            raise Odd("the driver is gone")
        try:
            driver.handle(method, params, call.answer, _nothing)
        except Exception as error:  # the driver's own code: any exception counts as its crash
            raise Odd(f"{method} raised {type(error).__name__}") from error
        return call

    def call(self, method: str, /, **params: Any) -> Result:
        """Send a request and return its answer."""
        return self.start(method, **params).result()

    def wait_blocked_or_done(self, call: Outstanding, within_ms: int) -> bool:
        """Return True: the driver acts only during calls, so there is nothing to wait for."""
        return True

    def wait_done(self, call: Outstanding, within_ms: int) -> bool:
        """See `wait_blocked_or_done`."""
        return call.done

    def poll(self, within_ms: int = 0) -> None:
        """See `wait_blocked_or_done`."""

    def told_events(self, within_ms: int = 0) -> list[dict[str, Any]]:
        """See `conformance.adapter.client.Client.told_events`."""
        return self._client.told_events(within_ms)

    def directory(self, do: str, /, **params: Any) -> dict[str, Any]:
        """See `conformance.adapter.client.Client.directory`."""
        return self._client.directory(do, **params)

    def restart(self, *, kill: bool) -> bool:
        """End the driver and start another one on the same state."""
        went = self._client.restart(kill=kill)
        self._driver = self._client.in_process_driver
        self._number = 1
        return went


if TYPE_CHECKING:
    _EVERY: tuple[type[Port], ...] = (Client, GuardedClient, Playback, Direct)


def _nothing() -> None:
    """Ignore the report that a read waits: its missing answer shows that."""


PROGRESS_S = 1.0
STEERED = 2_000  # steered steps of each plan; a steered step costs as much as four others
MAX_PLACES = 1_000  # places of failures that the walk avoids; beyond it the walk meets known failures again
MAX_CONFIRMED = 200  # failures looked into, new or not: each costs seconds, and later ones show less and less
MAX_LOOKS = 2  # failures looked into for one operation in one kind of state: it may have two defects


class Suspect(Exception):
    """The history failed; a real client has to make its calls again."""


class Quick:
    """A history without a story. `do` raises Suspect, Odd or DriverGone, and BadCall for a call without sense.

    known: called with requirement and place; True if the failure is known and the history may go on after it.
    """

    def __init__(self, client: Port, judge: Recorder, model: Model, known: Callable[[str, str], bool]) -> None:
        if client.offers("reset"):
            client.call("reset")
        self.judge = judge
        self.model = model
        self.known = known
        self.driving = Driving(client)
        self.states = States()
        self.calls: list[Call] = []
        self.left_out = False

    @property
    def state(self) -> State:
        """The state under the default readings."""
        return self.states.states[0]

    def do(self, call: Call) -> Judged:
        """Make a call and judge its observation."""
        states = self.states
        pending = self.model.due(states, call)
        self.calls.append(call)
        observation = self.driving.perform(call, states.states[0], pending.endings, answered=pending.answered)
        judged = self.model.step(states, call, observation, None, pending)
        if judged.ask is not None:
            raise Suspect
        try:
            self.judge.record(*judged.verdicts)
        except ConformanceFailure as failure:
            known = judged.onward is not None and self.known(failure.verdict.requirement, where(states.states[0], call))
            if judged.onward is None or not known:
                raise Suspect from None
            self.calls.pop()  # the refused call has changed nothing
            self.left_out = True
            self.states = judged.onward
            return judged
        self.judge.took(judged.transitions)
        self.states = judged.states
        return judged


@dataclass(slots=True)
class Lane:
    """A plan that the soak walks: the choices for its steps, and what they have shown so far."""

    name: str
    plan: Plan
    judge: Recorder
    choices: tuple[Choice, ...]
    steering: Steering


@dataclass(slots=True)
class Soaked:
    """Progress of a soak. suspects: histories that failed, repeated failures included."""

    steps: int = 0
    histories: int = 0
    suspects: int = 0
    findings: int = 0
    capped: int = 0


class Soak:
    """A walk without end over several plans in turn. Seed and number decide a history, whatever came before, as long as
    nothing has failed and nothing new was seen for a while.

    A driver in this process is called without a client in between. judge_of: the recorder for a plan's name.
    on_finding: called with each new failure and its plan's name.
    """

    def __init__(
        self,
        client: Client,
        options: RunOptions,
        plans: Mapping[str, Plan],
        *,
        judge_of: Callable[[str], Recorder],
        on_finding: Callable[[ConformanceFailure, str], None],
        past: KnownDeviations | None = None,
        on_consequence: Callable[[ConformanceFailure, str, str], None] = lambda failure, name, reason: None,
    ) -> None:
        """past: the quirks known so far. on_consequence: called with each failure that one of them explains."""
        self.soaked = Soaked()
        self._client = client
        self._options = options
        self._model = Model(options.readings)
        self._on_finding = on_finding
        self._past = past
        self._on_consequence = on_consequence
        self._lanes = [
            Lane(name, plan, judge_of(name), possible_choices(client, plan), steering(self._model, limit=STEERED))
            for name, plan in plans.items()
        ]
        self._direct = client.in_process_driver is not None
        self._asked = self._ask_anew()
        self._told: set[tuple[str, str]] = set()
        self._each: dict[str, int] = {}
        self._looked: dict[str, int] = {}

    def _ask_anew(self) -> Port:
        """Return a new port: the driver itself, or a client whose driver faults end a history, not the soak."""
        return Direct(self._client) if self._direct else GuardedClient(self._client)

    def run(self, *, until: float, histories: int | None = None, on_progress: Callable[[Soaked], None]) -> Soaked:
        """Walk until `time.monotonic()` reaches `until`, or for so many histories. Raises DriverUnusable."""
        soaked, told = self.soaked, 0.0
        with rarely_collecting():
            while histories is None or soaked.histories < histories:
                now = time.monotonic()
                if now > until:
                    break
                if now - told > PROGRESS_S:
                    told = now
                    on_progress(soaked)
                self.history(soaked.histories, until)
                soaked.histories += 1
        return soaked

    def history(self, number: int, until: float = float("inf")) -> None:
        """Walk one history."""
        lane = self._lanes[number % len(self._lanes)]
        history: Quick | None = None
        try:
            history = Quick(self._asked, lane.judge, self._model, self._known)
            set_up(history, lane.plan)
            self._steps(lane, history, Random(f"{self._options.seed}/{number}"), until)
        except (Suspect, Odd, DriverGone):
            self._look_into(lane, history)
        else:
            history.driving.leave()
        self.soaked.steps += len(history.calls) if history is not None else 0

    def _steps(self, lane: Lane, history: Quick, random: Random, until: float) -> None:
        steering, most = lane.steering, self._options.stateful_steps
        for step, call in enumerate(walks.steps(lambda: history.state, lane.choices, random, most, steering)):
            if step & 63 == 63 and time.monotonic() > until:
                return
            try:
                judged = history.do(call)
            except BadCall:  # the call makes sense only in the likely state, not in those of other readings
                continue
            except NotAccepted:  # the implementation's API has no such call
                del history.calls[-1]
                continue
            if steering.learning:
                shown = [*judged.transitions, *(verdict.requirement for verdict in judged.verdicts)]
                steering.took([*shown, (call.method, kind_of(history.states.states[0]))])
            if history.states.capped:
                self.soaked.capped += 1
                return

    def _known(self, requirement: str, place: str) -> bool:
        return (requirement, place) in self._told or self._each.get(requirement, 0) >= MAX_EACH

    def _look_into(self, lane: Lane, history: Quick | None) -> None:
        """Look into a history that failed: report the failure if it is new, and flaky if it does not recur."""
        self.soaked.suspects += 1
        if history is None or not history.calls:
            raise DriverUnusable("the driver does not answer reset, so no history can begin")
        call = history.calls[-1]
        place = where(history.state, call)
        if len(self._looked) >= MAX_PLACES and place not in self._looked:
            return
        lane.steering.avoided.add(place)
        self._looked[place] = self._looked.get(place, 0) + 1
        if self.soaked.suspects > MAX_CONFIRMED or self._looked[place] > MAX_LOOKS:
            return
        if self._direct:
            self._client.restart(kill=False)  # the client takes over, with request numbers from the start
        try:
            failure, came = self._failure(lane, history)
        finally:
            self._asked = self._ask_anew()
        if history.left_out and came == 0:
            return  # caused by the calls that were left out, which have findings of their own
        key = (failure.verdict.requirement, place)
        if key in self._told or self._each.get(key[0], 0) >= MAX_EACH:
            return
        self._told.add(key)
        self._each[key[0]] = self._each.get(key[0], 0) + 1
        for filed, reason in self._past.filed([failure]) if self._past is not None else [(failure, None)]:
            if reason is not None:
                self._on_consequence(filed, lane.name, reason)
            else:
                self.soaked.findings += 1
                self._on_finding(filed, lane.name)

    def _failure(self, lane: Lane, history: Quick) -> tuple[ConformanceFailure, int | None]:
        """Return the failure and how often it recurred, as `confirmed` does."""
        tape = Tape(set(), lambda example: None) if self._past is not None else None
        client = GuardedClient(self._client, tape=tape)
        judge = Recorder(self._options, lambda verdict, count: None, disabled=lane.judge.disabled, tape=tape)
        calls = tuple(history.calls)
        try:
            _, failure = run(client, judge, calls)
        except DriverGone as gone:
            return self._gone(history, gone, judge), None
        if failure is None:
            return confirmed(client, judge, self._options, _unseen(self._model, history, judge), calls)
        calls = shortened(client, self._options, failure, calls, disabled=judge.disabled)
        shown, came = confirmed(client, judge, self._options, failure, calls)
        shown.unshrunk = None if shown is failure else failure
        return shown, came

    def _gone(self, history: Quick, gone: DriverGone, judge: Recorder) -> ConformanceFailure:
        outcome = Outcome.TIMEOUT if isinstance(gone.fault, DriverTimeout) else Outcome.CRASH
        sentence = " ".join(gone.fault.sentence.split())[:500]
        requirement = _demanded(self._model, history)
        verdict = Verdict(requirement, outcome, gone.method, actual=sentence, reason=sentence)
        return ConformanceFailure(verdict, judge.story, judge.repro())


def _demanded(model: Model, history: Quick) -> str:
    """Return the requirement that the last call's answer should have shown."""
    return model.allowed(history.state, history.calls[-1]).outcomes[0].requirement


def _unseen(model: Model, history: Quick, judge: Recorder) -> ConformanceFailure:
    """Return the failure of a history that did not fail again, from its last call."""
    verdict = Verdict(_demanded(model, history), Outcome.FAIL, history.calls[-1].method, "as before", "otherwise once")
    return ConformanceFailure(verdict, judge.story, judge.repro())


def plans_of(*modules: object) -> dict[str, Plan]:
    """Return every plan in these modules, by its name in small letters with spaces."""
    return {
        name.lower().replace("_", " "): value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Plan)
    }
