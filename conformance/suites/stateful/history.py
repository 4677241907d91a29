"""One history: every call is driven, told, judged and noted for the repro file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.model import Call, Judged, Model, Observation, State, States
from conformance.runlog.events import StoryStep
from conformance.suites.guard import DriverGone
from conformance.suites.stateful import outgoing
from conformance.suites.stateful.driving import Driving
from conformance.suites.stateful.telling import tell, tell_scan
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import Judge

FORMAT = 1  # of the calls in a repro file
_TICK_MS = 1  # a clock that counts whole milliseconds may have been anywhere within one when the wait began


class History:
    """A history from a fresh start of the implementation. Raises ConformanceFailure at the first broken requirement."""

    def __init__(self, client: Client, judge: Judge, model: Model | None = None) -> None:
        self.judge = judge
        self.model = model or Model(judge.readings)
        self.client = client
        self.calls: list[dict[str, Any]] = []
        judge.begin_example("calls", {"format": FORMAT, "calls": self.calls})
        if client.offers("reset"):
            client.call("reset")
        self.driving = Driving(client)
        self.states = States()
        self._failed = False
        self._restarted = False
        self.shown: list[str] = []  # by the last call: transitions followed, requirements judged
        self.left_out = 0  # calls, of which only the code of their refusal was wrong
        self._onward: States | None = None

    @property
    def state(self) -> State:
        """The state under the default readings."""
        return self.states.likely

    @property
    def over(self) -> bool:
        """Nothing more can be judged in this history."""
        return self.judge.muted or self.states.capped

    def do(self, call: Call, *, shows: str | None = None) -> Observation | None:
        """Make a call and judge what comes of it. None once the history is over.

        shows: the requirement that is at stake, where the same call was right before without what came between.
        """
        if self.over:
            return None
        due = self.model.due(self.states, call)  # and is it a call that makes sense?
        self.calls.append(call.to_json() if shows is None else {**call.to_json(), "shows": shows})
        try:
            observation = self.driving.perform(call, self.state, due)
        except DriverGone:
            self._tell(call, None)
            raise
        self._tell(call, observation)
        self._judge(call, observation, shows)
        return observation

    def expire(self, call: Call) -> None:
        """A read that waits for its whole time: by `clock.advance` on a virtual clock, by waiting on a real one."""
        passes = Call("clock.advance", by_ms=call.timeout_ms)
        if self.driving.virtual:
            if self.do(call) is not None and any(waiter.name == call.name for waiter in self.state.waiters):
                self.do(passes)
            return
        if self.over:
            return
        self.calls.append({**call.to_json(), "expires": True})
        blocked, ended, took_ms = self.driving.expire(call)
        self._tell(call, blocked)
        self._judge(call, blocked)
        if blocked.answer is not None or self.over:
            return
        self._tell(passes, ended)
        if took_ms <= call.timeout_ms - _TICK_MS:
            early = {"milliseconds": round(took_ms, 1)}
            self.judge.record(
                Verdict(
                    "MQDMPR-3.1.7.3.1.no-early-timeout",
                    Outcome.FAIL,
                    call.method,
                    {"milliseconds, at least": call.timeout_ms},
                    early,
                )
            )
            return
        self._judge(passes, ended)

    def run(self, *calls: Call) -> None:
        """Several calls in turn."""
        for call in calls:
            self.do(call)

    def go_on(self) -> bool:
        """After a failure that is a wrong code alone: leave that call out and go on; False where it cannot be."""
        if self._onward is None:
            return False
        self.states, self._onward = self._onward, None
        self.left_out += 1
        self.calls = self.calls[:-1]  # what was refused has changed nothing: a repro does without it
        self.judge.repro_data(calls=self.calls)
        return True

    def _judge(self, call: Call, observation: Observation, shows: str | None = None) -> None:
        if observation.answer is not None and observation.answer.messages:
            self.judge.record(*outgoing.judged(self.driving.packets, self.judge))  # a bad packet may hide its message
            if self.judge.muted:
                return
        judged: Judged = self.model.step(self.states, call, observation)
        if judged.ask is not None:
            scan = self.driving.scan(judged.ask, self._receivers(judged.ask))
            self.judge.step(tell_scan(judged.ask, scan))
            if scan is not None:
                judged = self.model.step(self.states, call, observation, scan)
        verdicts = judged.verdicts if shows is None else tuple(_showing(judged.verdicts, shows, call.method))
        self._failed = self._failed or any(verdict.outcome is Outcome.FAIL for verdict in verdicts)
        if self._failed:
            verdicts = tuple(map(_unread, verdicts))
        self.judge.took(judged.transitions)
        self.shown = [*judged.transitions, *(verdict.requirement for verdict in verdicts)]
        self._onward = judged.onward
        self.judge.record(*verdicts, phase=self._phase(call, observation))
        if self.judge.muted and self.go_on():
            self.judge.unmute()
            return
        self.states = judged.states

    def _phase(self, call: Call, observation: Observation) -> str:
        """The part of the work a judgement belongs to: a suite that no longer sees one of them has lost something."""
        self._restarted = self._restarted or call.method == "restart"
        if self._restarted:
            return "after a restart"
        if observation.completed:
            return "waiting reads"
        return "time passes" if call.method == "clock.advance" else "calls"

    def _receivers(self, queue: str) -> list[str]:
        return [
            handle.name
            for handle in self.state.handles.values()
            if handle.queue == queue and handle.access == "receive" and handle.is_open and not handle.lost
        ]

    def _tell(self, call: Call, observation: Observation | None) -> None:
        method, params = self.driving.last
        state = self.state

        def line() -> StoryStep:
            answer: dict[str, Any] | None = None
            if observation is not None and observation.answer is not None:
                answer = observation.answer.to_json()
            return StoryStep(tell(call, state, observation), {"method": method, "params": params}, answer)

        self.judge.step_told(line)


def _showing(verdicts: Iterable[Verdict], requirement: str, subject: str) -> Iterator[Verdict]:
    """The verdicts of a call by which another requirement is shown to hold, or is what is broken."""
    failed = False
    for verdict in verdicts:
        failed = failed or verdict.outcome is Outcome.FAIL
        yield replace(verdict, requirement=requirement) if verdict.outcome is Outcome.FAIL else verdict
    if not failed:
        yield Verdict(requirement, Outcome.PASS, subject)


def _unread(verdict: Verdict) -> Verdict:
    """A verdict from the first failure on: what deviates once may look like another reading of something else."""
    if not verdict.readings or verdict.outcome is Outcome.FAIL:
        return verdict
    holds = Outcome.PASS if verdict.outcome is Outcome.READING else verdict.outcome
    return replace(verdict, outcome=holds, readings=())
