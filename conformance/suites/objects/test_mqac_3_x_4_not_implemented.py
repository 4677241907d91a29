"""MC-MQAC 3.2, 3.7 and 3.12: members that do nothing."""

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


@pytest.mark.parametrize("plans", services.cases(services_plans.not_implemented()))
def test_members_that_do_nothing_say_so(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    services.check(plans, mq, judge, mq_need)
