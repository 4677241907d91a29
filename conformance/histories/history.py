"""One history: drive every call, tell it as a story, judge it, store it as a repro, and run a repro again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from conformance.adapter.errors import NotAccepted
from conformance.harness.guarded_client import DriverGone, lacking, refusals
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.harness.repro_files import EndedEarly, NotRepeatable
from conformance.histories.driver_side import Driving
from conformance.histories.operations.management import judged as judged_packets
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.properties import few, look
from conformance.histories.operations.table import OPERATIONS, fitting, reused, stored_call, without
from conformance.model import Answer, BadCall, Call, Judged, Model, Observation, Pending, Scan, State, States
from conformance.model.expected import message_name
from conformance.model.journals import REPORTS
from conformance.model.names import told_apart
from conformance.model.property_judging import GET_SUCCEEDS
from conformance.model.state import shown_in
from conformance.runlog.events import StoryStep, Told
from conformance.spec.catalogue import catalogue
from conformance.spec.constants import hresults
from conformance.spec.constants.codes import status_text
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

_SHOWN = ("messages", "bytes", "journal_messages", "journal_bytes", "time_ms")


def tell(call: Call, state: State, observation: Observation | None) -> Told:
    """Return one line with the call and its result. observation: None when the driver died before an answer."""
    operation = OPERATIONS[call.method]
    asked = operation.story(call, state)
    if observation is None:
        return Told(asked, "no answer")
    if _refused(observation.answer) and call.handle and call.handle not in re.findall(r"\w+", asked):
        asked += f", by {call.handle}"  # of several kinds of access the handle has one: it may be why
    came = None if operation.manner is Manner.TIME else _answer(observation.answer)
    ended = (f"the waiting {name} ends: {_answer(answer)}" for name, answer in observation.completed.items())
    return Told(asked, came, tuple(ended))


def killed(call: Call | None) -> bool:
    """Tell whether a call kills the manager: nothing comes between the answer of the call before and the kill."""
    return call is not None and OPERATIONS[call.method].manner is Manner.RESTART and call.kill


def tell_scan(queue: str, scan: Scan | None) -> Told:
    """Return one line with the messages found by emptying a queue."""
    if scan is None:
        return Told(f"a look into {queue} was not possible")
    found = ", ".join(f"'{name}'" for name in scan.messages)
    return Told(f"a look into {queue}, by receiving all there is", found or "it is empty")


def _refused(answer: Answer | None) -> bool:
    """Tell whether a call failed, other than for lack of a message."""
    none_there = (hresults.MQ_ERROR_IO_TIMEOUT, hresults.MQ_ERROR_MESSAGE_NOT_FOUND)
    return answer is not None and answer.failed and answer.status not in none_there


def _answer(answer: Answer | None) -> str:
    if answer is None:
        return "waits"
    if answer.failed:
        if answer.status is None:
            return f"fails ({answer.text})"
        return f"fails with {status_text(answer.status)}"
    if answer.messages is not None:
        return ", ".join(f"'{seen.label or message_name(seen)}'" for seen in answer.messages) or "nothing comes"
    if answer.message is None:
        told = [f"{name.replace('_', ' ')} {value}" for name, value in answer.values.items() if name in _SHOWN]
        told += [str(answer.values["answer"])] if "answer" in answer.values else []
        listed = answer.values.get("transactions")
        told += [", ".join(map(str, listed)) or "none"] if isinstance(listed, list) else []
        return ", ".join((*told, *few(answer.values))) or "ok"
    seen = answer.message
    if seen.klass in REPORTS:
        return f"an acknowledgment of class 0x{seen.klass:04X} for {seen.correlation}"
    shown = seen.label or message_name(seen)
    return f"message '{shown}'" + (f" (priority {seen.priority})" if seen.priority is not None else "")


FORMAT = 1  # of the calls in a repro file
_FAIL, _RESTART, _TIME = Outcome.FAIL, Manner.RESTART, Manner.TIME  # looked up once
_TICK_MS = 1  # a clock with whole milliseconds is up to one behind when the wait begins


class NameTaken(BadCall):
    """A call gives a name that something alive has; the message is that name."""


class History:
    """A history from a fresh start of the implementation. Raises ConformanceFailure at the first broken requirement."""

    def __init__(self, client: Port, judge: Recorder, model: Model | None = None) -> None:
        self.judge = judge
        judge.played = client.hello.plays
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
        self.shown: list[str] = []  # transitions that the last call followed and requirements it judged
        self._lacking = False  # a call, or a member, was left out that the driver lacks
        self.left_out = 0  # number of calls left out because only the code of their refusal was wrong
        self._onward: States | None = None

    @property
    def state(self) -> State:
        """The state under the default readings."""
        return self.states.likely

    @property
    def over(self) -> bool:
        """True once nothing more can be judged in this history."""
        return self.judge.muted or self.states.capped

    def do(self, call: Call, *, shows: str | None = None) -> Observation | None:
        """Make a call, judge it and return its observation; None once the history is over. Raises BadCall.

        A call on what only a call that the driver lacks would have made is left out too.

        shows: the requirement to blame for a failure, where the same call succeeded before the calls in between.
        """
        if self.over:
            return None
        self._refuse_reused(call)
        try:
            pending = self.model.due(self.states, call)
        except BadCall:  # the call makes no sense
            if self._lacking:
                return None
            raise
        self.calls.append(call.to_json() if shows is None else {**call.to_json(), "shows": shows})
        try:
            observation = self.driving.perform(call, self.state, pending.endings, answered=pending.answered)
        except DriverGone:
            self._tell(call, None)
            raise
        except BadCall:
            self.calls.pop()
            raise
        self._tell(call, observation)
        self._judge(call, observation, shows, pending)
        return observation

    def expire(self, call: Call) -> None:
        """Make a read that waits until its time-out: by `clock.advance` on a virtual clock, else by real waiting."""
        passes = Call("clock.advance", by_ms=call.timeout_ms)
        if self.driving.virtual:
            if self.do(call) is not None and any(waiter.name == call.name for waiter in self.state.waiters):
                self.do(passes)
            return
        if self.over:
            return
        self._refuse_reused(call)
        self.calls.append({**call.to_json(), "expires": True})
        try:
            blocked, ended, took_ms = self.driving.expire(call)
        except BadCall:
            self.calls.pop()
            raise
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

    def attempt(self, call: Call, *, shows: str | None = None, expires: bool = False) -> Observation | None:
        """Do as `do` or `expire` does, without what the driver lacks: optional members, or else the call.

        A call is left out too if it refers to what another that was left out would have made. The recorder is told, so
        that only the requirements for which this mattered are skipped.
        """
        call, lacks = without(call, self.client.hello.takes)
        self._lacks(*lacks)
        made = len(self.calls)
        try:
            if not expires:  # what `shows` is about may be among the calls left out
                return self.do(call, shows=None if self._lacking else shows)
            self.expire(call)
        except BadCall:
            if not self._lacking:
                raise
        except refusals() as refused:
            what = lacking(refused)
            if what is None or self.driving.answered:
                raise
            del self.calls[made:]
            self._lacks(what)
        return None

    def _lacks(self, *what: str) -> None:
        self._lacking = self._lacking or bool(what)
        self.judge.lacks(*what)

    def run(self, *calls: Call) -> None:
        """Make several calls in turn, as `attempt` does."""
        for call, follower in zip_longest(calls, calls[1:]):
            self.driving.killing = killed(follower)
            self.attempt(call)

    def go_on(self) -> bool:
        """Leave out a call that failed only by a wrong code and go on; return False if that is impossible."""
        if self._onward is None:
            return False
        self.states, self._onward = self._onward, None
        self.left_out += 1
        self.calls = self.calls[:-1]  # the refused call has changed nothing, so a repro does not need it
        self.judge.repro_data(calls=self.calls)
        return True

    def _judge(
        self, call: Call, observation: Observation, shows: str | None = None, pending: Pending | None = None
    ) -> None:
        if observation.answer is not None and observation.answer.messages:
            self.judge.record(*judged_packets(self.driving.packets, self.judge))  # a bad packet may hide its message
            if self.judge.muted:
                return
        judged: Judged = self.model.step(self.states, call, observation, None, pending)
        if judged.ask is not None:
            scan = self.driving.scan(judged.ask, self._receivers(judged.ask))
            self.judge.step(tell_scan(judged.ask, scan))
            if scan is not None:
                judged = self.model.step(self.states, call, observation, scan, pending)
        verdicts = judged.verdicts if shows is None else tuple(_showing(judged.verdicts, shows, call.method))
        answer = observation.answer
        if call.name is not None and answer is not None and not answer.failed and not judged.failed:
            verdicts += tuple(told_apart(judged.states.likely, call, self.driving.handles.known))
        self._failed = self._failed or _FAIL in [verdict.outcome for verdict in verdicts]
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

    def _refuse_reused(self, call: Call) -> None:
        """Raise BadCall if the call gives a name that something alive has: what is said of it would be of two."""
        name = reused(call, self.state)
        if name is not None:
            raise NameTaken(name)

    def _phase(self, call: Call, observation: Observation) -> str:
        """Return the phase a judgement counts for: a suite that no longer judges in some phase has lost coverage."""
        manner = OPERATIONS[call.method].manner
        self._restarted = self._restarted or manner is _RESTART
        if self._restarted:
            return "after a restart"
        if observation.completed:
            return "waiting reads"
        return "time passes" if manner is _TIME else "calls"

    def _receivers(self, queue: str) -> list[str]:
        return [
            handle.name
            for handle in self.state.handles.values()
            if handle.queue == queue and handle.access == "receive" and handle.is_open and not handle.lost
        ]

    def _tell(self, call: Call, observation: Observation | None) -> None:
        method, params = self.driving.last
        state, took_ms = self.state, self.driving.took_ms

        def line() -> StoryStep:
            answer = None if observation is None else observation.answer
            told = tell(call, state, observation)
            if answer is not None and answer.failed and took_ms is not None:
                told = told._replace(came=f"{told.came} after {took_ms:.1f} ms")
            came = None if answer is None else answer.to_json()
            return StoryStep(told.text, {"method": method, "params": params}, came, told.parts)

        self.judge.step_told(line)


def _showing(verdicts: Iterable[Verdict], requirement: str, subject: str) -> Iterator[Verdict]:
    """Yield the verdicts of a call with `requirement` blamed for its failures, or shown to hold if it has none."""
    failed = False
    for verdict in verdicts:
        failed = failed or verdict.outcome is Outcome.FAIL
        yield replace(verdict, requirement=requirement) if verdict.outcome is Outcome.FAIL else verdict
    if not failed:
        yield Verdict(requirement, Outcome.PASS, subject)


def _unread(verdict: Verdict) -> Verdict:
    """Return a verdict without readings, from the first failure on: a deviation may look like another reading."""
    if not verdict.readings or verdict.outcome is Outcome.FAIL:
        return verdict
    holds = Outcome.PASS if verdict.outcome is Outcome.READING else verdict.outcome
    return replace(verdict, outcome=holds, readings=())


NEEDS = ("queues.create", "queues.get")
_PROBE = "pprobe"
_LOCAL = ("PROPID_Q_SCOPE", "PROPID_Q_QMID")  # not in the table of MS-MQMP 3.1.1.12: a manager may not show them


@dataclass(frozen=True, slots=True)
class Watched:
    """A history whose queues are read after each call that may have changed them. shown: the properties to be read."""

    history: History
    shown: tuple[str, ...]

    @classmethod
    def begun(cls, client: Port, judge: Recorder, shown: tuple[str, ...] | None = None) -> Watched:
        """Begin a history. shown: None to probe for them. Raises ConformanceFailure as `History` does."""
        history = History(client, judge)
        known = probed(history) if shown is None else shown
        history.do(Call("watch", names=known))
        return cls(history, known)

    @property
    def state(self) -> State:
        """The state of the model."""
        return self.history.state

    def has(self, queue: str) -> bool:
        """True if there is a queue of this name."""
        return queue in self.state.queues and self.state.queues[queue].exists

    def run(self, *calls: Call) -> None:
        """Make several calls in turn, and after each read every queue that it may have changed."""
        hello = self.history.client.hello
        for call in calls:
            fit = fitting(hello.takes, call)
            if fit is None:
                continue
            self.history.attempt(fit)
            properties = self.state.properties
            for queue in properties.unread if properties is not None else ():
                self.history.attempt(look(self.state, queue))


def probed(history: History) -> tuple[str, ...]:
    """Return the properties this manager shows. For a manager with HRESULTs, a missing one of MS-MQMP's table fails."""
    client, judge = history.client, history.judge
    wanted = shown_in(judge.profile)
    created = client.call("queues.create", path_name=history.driving.handles.path(_PROBE))
    if not created.ok:
        return wanted
    name = str(created.values["format_name"])
    found = []
    for each in wanted:
        if not client.hello.takes("properties", each):
            continue
        params = {"format_name": name, "properties": [each]}
        result = client.call("queues.get", **params)
        if result.ok:
            found.append(each)
            continue
        lacking = each in _LOCAL or result.status in (None, hresults.MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED)
        if not lacking:
            judge.step(f"read {each}", {"method": "queues.get", "params": params}, {"status": result.status})
            wrong = {"fails": True, "status": result.status}
            judge.record(Verdict(GET_SUCCEEDS, Outcome.FAIL, f"get {each}", {"fails": False}, wrong))
    if client.offers("queues.delete"):
        client.call("queues.delete", format_name=name)
    return tuple(found)


MAX_CALLS = 10_000  # a walk makes a few dozen


def rejudge(repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Return the verdicts of the calls in `repro["calls"]`, up to the first failure.

    Raises NotRepeatable when the repro data is not what `History` writes. Raises EndedEarly when a call makes no sense
    any more because the implementation answers differently, or when too many model states are possible to judge.
    """
    verdicts: list[Verdict] = []
    judge = Recorder(options, lambda verdict, count: verdicts.append(verdict))
    stored = repro.get("calls")
    if not isinstance(stored, list) or not all(isinstance(raw, dict) for raw in stored) or len(stored) > MAX_CALLS:
        raise NotRepeatable(f"The repro file must have a list of at most {MAX_CALLS:,} calls.")
    if repro.get("format") != FORMAT:
        raise NotRepeatable(f"The calls of the repro file have format {repro.get('format')!r}, not {FORMAT}.")
    try:
        calls = [(stored_call(_plain(raw)), bool(raw.get("expires")), _shows(raw)) for raw in stored]
    except BadCall as bad:
        raise NotRepeatable(f"The repro file holds a call that this version does not know: {bad}.") from None
    history = History(client, judge, Model(options.readings))
    try:
        for (call, expires, shows), follower in zip_longest(calls, calls[1:]):
            history.driving.killing = follower is not None and killed(follower[0])
            if expires:
                history.expire(call)
            else:
                history.do(call, shows=shows)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    except NameTaken as name:
        at = f"Call {len(history.calls) + 1} of {len(calls)} gives the name {name} again"
        why = "while what has it is still there: the story cannot tell the two apart, and shows nothing of anybody"
        raise EndedEarly(f"{at}, {why}.") from None
    except BadCall as bad:
        at = f"before call {len(history.calls) + 1} of {len(calls)}"
        why = "the implementation now answers differently, and the call makes no sense any more"
        raise EndedEarly(f"The history ended early, {at}: {why} ({bad}).") from None
    except NotAccepted as lacking:
        judge.flush()
        why = f"the implementation does not offer {lacking.what}"
        raise EndedEarly(f"The history ended early: {why}.", verdicts) from None
    if history.states.capped:
        raise EndedEarly("The history ended early: too many model states are possible to judge it.")
    judge.flush()
    return verdicts


def _plain(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if name not in ("expires", "shows")}


def _shows(raw: Mapping[str, Any]) -> str | None:
    shows = raw.get("shows")
    if shows is not None and (not isinstance(shows, str) or shows not in catalogue().requirements):
        raise NotRepeatable("The repro file holds a call that shows a requirement this version does not know.")
    return shows
