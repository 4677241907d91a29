"""Plays plans on the objects of a driver and judges the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.ideal import Objects, judged
from conformance.activex.members import Member
from conformance.activex.plans import PATH_NAME, Act, Plan
from conformance.activex.values import Variant, text
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

Need = Callable[..., None]
Tell = Callable[[str, dict[str, Any], dict[str, Any]], object]
METHODS = ("objects.create", "objects.invoke")
EXAMPLE = "objects"


class NotCreated(Exception):
    """The driver does not create an object of this class."""


def rows(members: Iterable[Member], plans: Callable[[Member], Iterable[Plan]]) -> list[Any]:
    """Return pytest parameters: the plans of each member, marked with the requirements that they judge."""
    params = []
    for member in members:
        made = tuple(plans(member))
        params.append(pytest.param(made, id=member.name, marks=pytest.mark.requirement(*judged(made))))
    return params


def check(plans: Iterable[Plan], mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Play plans, each with new objects, and record the verdicts. Skips the test for a class that is not there."""
    mq_need(*METHODS)
    for plan in plans:
        judge.begin_example(EXAMPLE, {"acts": [act.to_json() for act in plan]})
        try:
            for verdicts in play(plan, mq, judge.readings, judge.step):
                judge.record(*verdicts)
        except NotCreated as lacking:
            pytest.skip(str(lacking))


def play(plan: Plan, mq: Port, readings: Readings, tell: Tell) -> Iterator[tuple[Verdict, ...]]:
    """Yield the verdicts on each answer. Ends with the first call that hands out no object where others need it."""
    objects, handles = Objects(readings), dict[str, str]()
    path_name = text(f"{mq.hello.computer}\\private$\\{mq.unique()}")
    try:
        for act in plan:
            if act.call is None:
                handles[act.object] = _create(act, mq, tell)
                objects.do(act, None)
                continue
            seen = _invoke(act.object, act.call, path_name, handles, mq, tell)
            yield objects.do(act, seen)
            if act.gives is not None:
                if seen.value is None or seen.value.vt not in ("DISPATCH", "UNKNOWN") or not seen.value.value:
                    return
                handles[act.gives] = seen.value.value
    finally:
        if mq.offers("objects.release"):
            mq.call("objects.release", objects=list(handles.values()))


def _create(act: Act, mq: Port, tell: Tell) -> str:
    params = {"class": act.coclass}
    result = mq.call("objects.create", **params)
    tell(f"{act.object} = {act.coclass}", {"method": "objects.create", "params": params}, {"status": result.status})
    if result.status != 0:
        raise NotCreated(f"the driver creates no {act.coclass}")
    return str(result.values["object"])


def _invoke(name: str, call: Invoke, path_name: Variant, handles: dict[str, str], mq: Port, tell: Tell) -> Seen:
    values = [path_name if value.value == PATH_NAME else value for value in call.arguments]
    values = [replace(one, value=handles[one.value]) if one.vt in ("DISPATCH", "UNKNOWN") else one for one in values]
    params = {
        "object": handles[name],
        "member": call.member,
        "kind": call.kind,
        "arguments": [value.to_json() for value in values],
    }
    result = mq.call("objects.invoke", **params)
    shown = result.values.get("value")
    seen = Seen(int(result.status or 0), None if shown is None else Variant.from_json(shown))
    tell(f"{call.kind} {name}.{call.member}", {"method": "objects.invoke", "params": params}, seen.to_json())
    return seen
