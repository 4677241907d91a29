"""Plays the plans about services of objects: destinations, applications, management, collections, queries, events."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.activex import identity, scenes, services_reference_answers
from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.plans import PATH_NAME, Act, Plan, call_on
from conformance.activex.scene_services import DRIVER, PROFILE, RESTART
from conformance.activex.scenes import COMPUTER, MANAGER, QUEUE, SMALL, Place
from conformance.activex.services import EVENT
from conformance.activex.values import E_FAIL, MEMBER_NOT_FOUND, S_OK, Variant, text
from conformance.activex.words import act_line, as_call
from conformance.histories.driver_side import MIN_WAIT_MS
from conformance.histories.operations.objects import CREATE, INVOKE, named, objects_of, operation
from conformance.histories.situations.service_clients import OF_COORDINATED, OF_EVENTS, OF_SERVICES, STAGES
from conformance.model.values import replace
from conformance.runlog.events import StoryStep
from conformance.suites.objects.playing import METHODS, Need, NotCreated, Tell, begin, claimed
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

SERVICES: Final = OF_SERVICES
EVENTS: Final = OF_EVENTS
COORDINATED: Final = OF_COORDINATED
_TOLD: Final = ("values", "packets", "requests", "answer")
"""Members of results of the plain facets that scenes look at."""


def cases(plans: Mapping[str, Iterable[Plan]], stage: str = SERVICES) -> list[Any]:
    """Return pytest parameters: plans by name, marked with the requirements that a scene judges in them."""
    params = []
    for name, some in plans.items():
        made = tuple(some)
        found = claimed((stage, made), partial(services_reference_answers.claimed, made, STAGES[stage]))
        marks = pytest.mark.requirement(*found)
        params.append(pytest.param(made, id=name, marks=marks))
    return params


def check(plans: Iterable[Plan], mq: Port, judge: Recorder, mq_need: Need, stage: str = SERVICES) -> None:
    """Play plans, each with new objects, and record the verdicts. Skips the test for a class that is not there."""
    some = tuple(plans)
    mq_need(*METHODS, *(methods(some) if stage == COORDINATED else ()))
    for plan in some:
        begin(mq, judge, {"acts": [act.to_json() for act in plan], "scene": stage})
        try:
            for verdicts in play(plan, mq, judge.readings, judge.step_told, stage):
                judge.record(*verdicts)
        except NotCreated as lacking:
            pytest.skip(str(lacking))


def methods(plans: Iterable[Plan]) -> tuple[str, ...]:
    """Return the methods of the coordinator that plans call, without which they show nothing."""
    driven = (act.call.member for plan in plans for act in plan if act.object == DRIVER and act.call is not None)
    return tuple(dict.fromkeys(driven))


def play(
    plan: Plan, mq: Port, readings: Readings, tell: Tell, stage: str
) -> Generator[tuple[Verdict, ...], None, None]:
    """Yield the verdicts on each answer. Calls of an object that no answer has handed out are left out."""
    player = Player(mq, readings, tell, stage)
    try:
        for act in plan:
            yield player.do(act)
    finally:
        player.leave()


class Player:
    """Plays acts. handles: the driver's name of each object of the plan. texts: what its words stand for."""

    def __init__(self, mq: Port, readings: Readings, tell: Tell, stage: str) -> None:
        self.mq, self.readings, self.tell, self.stage = mq, readings, tell, stage
        self._virtual = mq.hello.clock == "virtual" and mq.offers("clock.advance")
        self._wait_ms = 0 if self._virtual else mq.hello.settle_ms + max(mq.hello.slack_ms, MIN_WAIT_MS)
        place = _place(mq)
        self.texts, self.scene = place.texts, STAGES[stage](readings, place)
        self.handles: dict[str, str] = {}
        self.created: list[str] = []
        self.events: list[str] = []  # handles of event objects that are held
        self.released: set[str] = set()
        self.refused: dict[str, bool] = {}
        if stage == EVENTS:
            mq.told_events()  # what an earlier example left

    def do(self, planned: Act) -> tuple[Verdict, ...]:
        """Play an act and judge the answer, unless a name in it stands for nothing."""
        act = scenes.with_texts(planned, self.texts)
        if act.passes_ms:
            return self._pass(act)
        if act.call is None:
            self.handles[act.object] = self._create(act)
            self.scene.do(act, None)
            return ()
        if act.object == DRIVER:
            return self._drive(act, act.call)
        call = replace(act.call, arguments=tuple(self._known(act.call)))
        made = replace(act, call=call)
        if act.object not in self.handles or not all(one in self.handles for one in objects_of(call)):
            return ()
        seen = self._call(made)
        if self.stage == EVENTS:
            seen = replace(seen, shown=self._told())
        self.tell(lambda: StoryStep(act_line(act), as_call(planned), seen.to_json()))
        verdicts = self.scene.do(act, seen)
        self.texts = scenes.texts_after(act, seen, self.texts)
        if act.gives is not None and seen.gives and seen.value is not None:
            self.handles[act.gives] = self.handles.get(seen.value.value, str(seen.value.value))
        elif act.gives is not None:
            self.handles.pop(act.gives, None)
        return verdicts

    def _pass(self, act: Act) -> tuple[Verdict, ...]:
        if self._virtual:
            self.mq.call("clock.advance", by_ms=act.passes_ms)
        else:
            self.mq.time.sleep(act.passes_ms / 1000)
        seen = Seen(S_OK, shown=self._told())
        self.tell(lambda: StoryStep(f"{act.passes_ms} ms pass", as_call(act), seen.to_json()))
        return self.scene.do(act, seen)

    def _told(self) -> Mapping[str, Seen]:
        """Return the events since the last look, as the scene of events shows them."""
        self._catch_up()
        told: dict[str, Seen] = {}
        for at, event in enumerate(self.mq.told_events(self._wait_ms)):
            source = named(Variant("DISPATCH", event["object"]), self.handles).value
            arguments = tuple(named(Variant.from_json(one), self.handles) for one in event.get("arguments", ()))
            told[f"{at} {source} {event['name']}"] = Seen(S_OK, Variant("ARRAY", arguments, "VARIANT"))
        return told

    def _catch_up(self) -> None:
        """Make a call that changes nothing: its answer comes after the events of the call before it."""
        if self.mq.offers("clock.now"):
            self.mq.call("clock.now")
        elif self.events and self.mq.offers("objects.get"):
            self.mq.call("objects.get", object=self.events[-1], members=["Hwnd"])
        elif self.mq.offers("objects.describe"):
            self.mq.call("objects.describe", **{"class": EVENT})

    def leave(self) -> None:
        """Delete what was made if no reset does, and let go of the objects."""
        if not self.mq.offers("reset"):
            for name in self.created:
                if name in self.handles:
                    self._call(call_on(name, "Delete"))
            for what in (one for one, still in self.refused.items() if still):
                self.mq.call("coordinator.refuse", what=what, refused=False)
            if self.stage == COORDINATED and self.mq.offers("coordinator.context"):
                self.mq.call("coordinator.context", transaction=None)
        if self.mq.offers("objects.release"):
            self.mq.call(
                "objects.release",
                objects=[one for one in dict.fromkeys(self.handles.values()) if one not in self.released],
            )

    def _create(self, act: Act) -> str:
        result = self.mq.call(CREATE.method, **CREATE.request(act, self.handles))
        self.tell(lambda: StoryStep(act_line(act), as_call(act), {"status": result.status}))
        if result.status != 0:
            raise NotCreated(f"the driver creates no {act.coclass}")
        if act.coclass == "MSMQQueueInfo":
            self.created.append(act.object)
        if act.coclass == EVENT:
            self.events.append(str(result.values["object"]))
        return str(result.values["object"])

    def _drive(self, act: Act, call: Invoke) -> tuple[Verdict, ...]:
        if call.member == RESTART:
            self.mq.restart(kill=False)
            self.tell(lambda: StoryStep("the queue manager is stopped and started again", as_call(act), {"status": 0}))
            return ()
        params = json.loads(str(call.arguments[0].value))
        if not self.mq.offers(call.member) or any(str(one).startswith("$") for one in params.values()):
            return ()
        result = self.mq.call(call.member, **params)
        values = next((result.values[name] for name in _TOLD if name in result.values), None)
        value = None if values is None else text(json.dumps(values))
        seen = Seen(E_FAIL if result.status is None else int(result.status), value)
        answer = {"status": result.status, **({} if values is None else {"told": values})}
        self.tell(lambda: StoryStep(call.member, {"method": call.member, "params": params}, answer))
        verdicts = self.scene.do(act, seen)
        self.texts = scenes.texts_after(act, seen, self.texts)
        if call.member == "coordinator.refuse":
            self.refused[params["what"]] = params["refused"]
        return verdicts

    def _known(self, call: Invoke) -> Iterable[Variant]:
        """Yield the arguments with what an act before has told, for words of the plan."""
        for one in call.arguments:
            if one.vt in ("I8", "UI4") and isinstance(one.value, str):  # a word for what an act before has told
                yield replace(one, value=int(self.texts.get(one.value, "0")))
            else:
                yield one

    def _call(self, act: Act) -> Seen:
        how, call = operation(act), act.call
        params = how.request(act, self.handles)
        if how.member == "Release":
            handle = self.handles[act.object]
            self.released.add(handle)
            self.events = [one for one in self.events if one != handle]
        result = self.mq.call(how.method, **params)
        other = None if call is None or how is not INVOKE else identity.other_kind(call.member, call.kind)
        if result.status == MEMBER_NOT_FOUND and other is not None:  # asked in any case: a record is judged anew
            found = self.mq.call(how.method, **{**params, "kind": other})
            result = found if identity.takes_other_kind(self.readings) else result
        return how.answer(result, self.handles)


def _place(mq: Port) -> Place:
    name = mq.unique()
    words = {
        COMPUTER: mq.hello.computer,
        SMALL: mq.hello.computer.lower(),
        MANAGER: mq.hello.queue_manager or "",
        QUEUE: name,
        **scenes.identifiers(name),
    }
    profile = str(mq.hello.profile)
    return Place(words | {PATH_NAME: f"{mq.hello.computer}\\private$\\{name}", PROFILE: profile})
