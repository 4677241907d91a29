"""MC-MQAC 3.16 and 3.11.4.1.9: sinks of an MSMQEvent, and the events in which notifications of a queue end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import plans_events
from conformance.suites.objects import services
from conformance.suites.objects.playing import Need

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", services.cases(plans_events.event_groups(), services.EVENTS))
def test_each_notification_ends_in_one_event(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    mq_need("objects.advise", "objects.unadvise", "objects.release")
    services.check(plans, mq, judge, mq_need, services.EVENTS)
