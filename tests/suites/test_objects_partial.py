"""Drivers of objects that lack something: what they do not offer is left out, what they should have is missed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from conformance.activex import identity, library, services_plans
from conformance.activex.plans import Plan
from conformance.activex.plans_events import arrivals
from conformance.activex.plans_queue_info import getters
from conformance.activex.values import MEMBER_NOT_FOUND
from conformance.adapter.session import Result
from conformance.fault_tapes import Port
from conformance.suites.objects import services, staging
from conformance.suites.objects.identifying import identify
from conformance.suites.objects.playing import NotCreated
from conformance.verdict import Outcome, Verdict

NOT_REGISTERED = 0x80040154
NOT_DESCRIBED, NOT_MADE = "objects.describe", "objects.create"
EVENT, INFO = "MSMQEvent", "MSMQQueueInfo"


class Partial(Port):
    """The embedded manager without some methods, and with classes that it does not describe, or does not make."""

    def __init__(self, *without: str, lacks: Mapping[str, Collection[str]] | None = None) -> None:
        self.without, self.lacks = without, lacks or {}
        super().__init__()

    def offers(self, method: str, /) -> bool:
        return method not in self.without and super().offers(method)

    def call(self, method: str, /, **params: Any) -> Result:
        assert method not in self.without, f"{method} is not offered"
        if params.get("class") in self.lacks.get(method, ()):
            return Result.from_json({"status": NOT_REGISTERED})
        return super().call(method, **params)


class WithProperty(Partial):
    """Has ActiveQueues as a property, as type libraries do: the method is not there."""

    def call(self, method: str, /, **params: Any) -> Result:
        if params.get("member") != "ActiveQueues":
            return super().call(method, **params)
        if params["kind"] == "method":
            return Result.from_json({"status": MEMBER_NOT_FOUND})
        return super().call(method, **{**params, "kind": "method"})


def untold(*_: object) -> None:
    """Drop a step of the story."""


def identified(coclass: str, port: Port) -> list[Verdict]:
    with port:
        return list(identify(coclass, port, {}, untold))


def lacking(*classes: str, without: Collection[str] = (), made: bool = False) -> Partial:
    """Return a driver that does not describe some classes, and makes no objects of them unless `made`."""
    return Partial(*without, lacks={NOT_DESCRIBED: classes} | ({} if made else {NOT_MADE: classes}))


@pytest.mark.parametrize("coclass", [EVENT, INFO, "MSMQQuery", "MSMQManagement"])
def test_a_class_that_a_driver_lacks_among_others_is_missed(coclass: str) -> None:
    (verdict,) = identified(coclass, lacking(coclass))
    assert verdict.outcome is Outcome.FAIL and verdict.requirement.endswith("class-id")
    assert verdict.actual == {"status": NOT_REGISTERED}


@pytest.mark.parametrize("coclass", identity.MEANS)
def test_a_class_about_what_a_driver_does_not_offer_is_left_out(coclass: str) -> None:
    with pytest.raises(NotCreated, match="offers no"):
        identified(coclass, lacking(coclass, without=identity.MEANS[coclass]))
    assert identified(coclass, Partial(*identity.MEANS[coclass])), "it is judged where it is there"


def test_a_driver_that_has_no_class_is_not_judged() -> None:
    with pytest.raises(NotCreated, match="no other class"):
        identified(INFO, lacking(*library.classes()))


def test_a_class_that_is_made_but_not_described_is_not_judged() -> None:
    with pytest.raises(NotCreated, match="does not describe"):
        identified(INFO, lacking(INFO, made=True))


def test_a_class_is_not_missed_where_no_objects_are_made() -> None:
    with pytest.raises(NotCreated, match=f"describes no {INFO}$"):
        identified(INFO, lacking(INFO, without=["objects.create"]))


def played(port: Port, plan: Plan, readings: Mapping[str, tuple[str, ...]], stage: str) -> list[Verdict]:
    with port:
        if stage in services.STAGES:
            each = services.play(plan, port, readings, untold, stage)
        else:
            each = staging.play(plan, port, readings, untold, stage, [])
        return [one for verdicts in each for one in verdicts]


def failures(verdicts: list[Verdict]) -> set[str]:
    return {one.requirement for one in verdicts if one.outcome is Outcome.FAIL}


def applications() -> list[Plan]:
    plans = [plan for some in services_plans.applications().values() for plan in some]
    return [plan for plan in plans if any(act.call is not None and act.call.member == "ActiveQueues" for act in plan)]


def test_active_queues_is_asked_for_in_its_other_form() -> None:
    plan = min(applications(), key=len)
    assert failures(played(WithProperty(), plan, {}, services.SERVICES)) == set()
    as_printed = {identity.KIND: ("method",)}
    assert failures(played(Port(), plan, as_printed, services.SERVICES)) == set()
    wrong = failures(played(WithProperty(), plan, as_printed, services.SERVICES))
    assert wrong and all(name.startswith("MQAC-3.2.") for name in wrong)


@pytest.mark.parametrize("without", [["clock.now"], ["clock.now", "objects.get"]])
def test_events_are_waited_for_without_a_look_at_the_clock(without: list[str]) -> None:
    plan = next(iter(arrivals()))
    wanted = [(one.requirement, one.outcome) for one in played(Port(), plan, {}, services.EVENTS)]
    assert [(one.requirement, one.outcome) for one in played(Partial(*without), plan, {}, services.EVENTS)] == wanted


def test_times_are_judged_without_a_look_at_the_clock() -> None:
    plan = getters()["identifiers"]
    verdicts = played(Partial("clock.now"), plan, {}, staging.CLIENT)
    assert failures(verdicts) == set()
    assert "MQAC-3.10.4.1.19.return-s-ok" in {one.requirement for one in verdicts}
