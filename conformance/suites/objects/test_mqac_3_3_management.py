"""MC-MQAC 3.3 and 3.4: what an MSMQManagement tells of a queue of this computer."""

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


@pytest.mark.parametrize("plans", services.cases(services_plans.managements()))
def test_a_management_object_tells_of_its_queue(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need)
