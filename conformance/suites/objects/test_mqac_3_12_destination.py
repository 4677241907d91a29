"""MC-MQAC 3.12: names, handle and opening of an MSMQDestination, each action after each other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import services_plans
from conformance.suites.objects import services
from conformance.suites.objects.playing import Need

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", services.cases(services_plans.destinations()))
def test_a_destination_has_its_names_and_its_handle(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need)
