"""Plays plans for a scene: acts with real texts in them, judged by what the scene knows of their objects."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.activex import scenes
from conformance.activex.expected import Readings, Seen
from conformance.activex.library import constants, described
from conformance.activex.plans import PATH_NAME, Act, Plan
from conformance.activex.scene_client import client_objects
from conformance.activex.scenes import COMPUTER, MANAGER, QUEUE, Place, Stage
from conformance.activex.underlying_calls import Done
from conformance.activex.words import act_line, as_call
from conformance.harness.recorder import ConformanceFailure
from conformance.histories.operations.objects import CREATE, INVOKE, objects_of
from conformance.runlog.events import StoryStep
from conformance.suites.objects import playing
from conformance.suites.objects.playing import METHODS, Need, NotCreated, Tell, begin, claimed
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

CLIENT: Final = "client"
LIBRARY: Final = "MSMQQueueInfo"
"""The class whose description tells of the library's constants."""
STAGES: Final[Mapping[str, Stage]] = {CLIENT: client_objects}
"""Scenes by the name that an example has."""
_OLE_DAYS, _DAY_MS = 25569, 86_400_000


def cases(plans: Mapping[str, Iterable[Plan]], stage: str = CLIENT) -> list[Any]:
    """Return pytest parameters: plans by name, marked with the requirements that a scene judges in them."""
    params = []
    for name, some in plans.items():
        made = tuple(some)
        found = claimed((stage, made), partial(scenes.judged, made, STAGES[stage]))
        marks = pytest.mark.requirement(*found)
        params.append(pytest.param(made, id=name, marks=marks))
    return params


def check(plans: Iterable[Plan], mq: Port, judge: Recorder, mq_need: Need, stage: str = CLIENT) -> None:
    """Play plans, each with new objects, and record the verdicts. Skips the test for a class that is not there."""
    mq_need(*METHODS)
    for plan in plans:
        again = partial(example, mq=mq, stage=stage)
        try:
            again(plan, judge=judge, history=[])
        except NotCreated as lacking:
            pytest.skip(str(lacking))
        except ConformanceFailure as failure:
            raise playing.shortened(failure, plan, judge, again, partial(followed, stage)) from None


def example(plan: Plan, mq: Port, judge: Recorder, history: list[Done], stage: str) -> None:
    """Play a plan as an example of a test. history: gets each act with its answer. Raises NotCreated."""
    begin(mq, judge, {"acts": [act.to_json() for act in plan], "scene": stage})
    played = play(plan, mq, judge.readings, judge.step_told, stage, history)
    for verdicts in playing.judged_twin(played, history, mq, judge.options, judge.step_told, judge.disabled):
        judge.record(*verdicts)


def followed(stage: str, plan: Plan, readings: Readings) -> bool:
    """Tell whether the reference of a scene passes a plan."""
    return not scenes.refuted([plan], STAGES[stage], readings)


def play(
    plan: Plan, mq: Port, readings: Readings, tell: Tell, stage: str, history: list[Done]
) -> Generator[tuple[Verdict, ...], None, None]:
    """Yield the verdicts on each answer. Ends with the first call that hands out no object where others need it.

    history: gets each act with its answer.
    """
    place, handles = _place(mq), dict[str, str]()
    scene, texts = STAGES[stage](readings, place), place.texts
    try:
        for planned in plan:
            act = scenes.with_texts(planned, texts)
            if act.call is None:
                handles[act.object] = _create(act, mq, tell)
                history.append(Done(planned))
                scene.do(act, None)
                continue
            if act.object not in handles or not all(one in handles for one in objects_of(act.call)):
                return
            seen = INVOKE.answer(mq.call(INVOKE.method, **INVOKE.request(act, handles)), handles)
            history.append(Done(planned, seen))
            tell(partial(_step, act, planned, seen))
            yield scene.do(act, seen)
            texts = scenes.texts_after(act, seen, texts)
            if act.gives is not None and seen.gives and seen.value is not None:
                handles[act.gives] = handles.get(seen.value.value, seen.value.value)
    finally:
        if mq.offers("objects.release"):
            mq.call("objects.release", objects=list(handles.values()))


def describe(coclass: str, mq: Port, tell: Tell) -> tuple[Verdict, ...]:
    """Return the verdicts on what the driver tells of the members of a class."""
    params = {"class": coclass}
    result = mq.call("objects.describe", **params)
    if result.status != 0:
        raise NotCreated(f"the driver describes no {coclass}")
    call = {"method": "objects.describe", "params": params}
    tell(lambda: StoryStep(f"describe {coclass}", call, {"status": result.status}))
    library = result.values.get("constants") or {}  # that of the class: the same for all classes
    told = described(coclass, result.values["interfaces"])
    return (*told, *constants(library)) if coclass == LIBRARY and library else tuple(told)


def _step(act: Act, planned: Act, seen: Seen) -> StoryStep:
    return StoryStep(act_line(act), as_call(planned), seen.to_json())


def _place(mq: Port) -> Place:
    name = mq.unique()
    words = {COMPUTER: mq.hello.computer, MANAGER: mq.hello.queue_manager or "", QUEUE: name}
    now = None
    if mq.offers("clock.now"):
        now = _OLE_DAYS + mq.call("clock.now").values["time_ms"] / _DAY_MS
    return Place(words | {PATH_NAME: f"{mq.hello.computer}\\private$\\{name}"}, now)


def _create(act: Act, mq: Port, tell: Tell) -> str:
    result = mq.call(CREATE.method, **CREATE.request(act, {}))
    tell(lambda: StoryStep(act_line(act), as_call(act), {"status": result.status}))
    if result.status != 0:
        raise NotCreated(f"the driver creates no {act.coclass}")
    return str(result.values["object"])
