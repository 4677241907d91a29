"""MC-MQAC 3.10: the properties of MSMQQueueInfo and the preconditions of its methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.plans import QUEUE_METHODS, QUEUE_PROPERTIES, queue_method, queue_property
from conformance.suites.objects.playing import Need, check, rows

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", rows(QUEUE_PROPERTIES, queue_property))
def test_a_new_queue_has_what_was_put(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(QUEUE_METHODS, queue_method))
def test_methods_take_a_named_queue(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)
