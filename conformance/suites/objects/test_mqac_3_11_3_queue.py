"""MC-MQAC 3.11: members of an MSMQQueue that is not open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.plans import BLANK_QUEUE, NEEDS_OBJECT, blank_queue
from conformance.suites.objects.playing import Need, check, rows

CALLED = [member for member in BLANK_QUEUE if member.name not in NEEDS_OBJECT]


if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", rows(CALLED, blank_queue))
def test_a_queue_that_is_not_open_is_refused(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A queue object that no Open has handed out is blank, and one that was closed has no handle."""
    check(plans, mq, judge, mq_need)
