"""MC-MQAC 3.17.4.1.15 and its like: a message takes queue objects by reference and hands out new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.plans_queue_info import destinations, message_queues
from conformance.suites.objects import staging
from conformance.suites.objects.playing import Need

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", staging.cases({**message_queues(), **destinations()}))
def test_a_message_names_a_queue(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    staging.check(plans, mq, judge, mq_need)
