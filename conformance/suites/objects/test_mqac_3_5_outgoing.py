"""MC-MQAC 3.5 and 2.2.4: what is told of an outgoing queue, and what an administrator does to it."""

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


@pytest.mark.parametrize("plans", services.cases(services_plans.outgoing()))
def test_a_management_object_tells_of_its_outgoing_queue(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", services.cases(services_plans.locked()))
def test_a_management_object_tells_that_its_queue_is_locked(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    mq_need("harden")
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    services.check(plans, mq, judge, mq_need)
    mq.call("harden", hardened=False)
