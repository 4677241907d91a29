"""MC-MQAC 3.11.4.1.7 to .33: reads of MSMQQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.plans_reads import READS, gives_at_once
from conformance.suites.objects.playing import Need, check, rows

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", rows(READS, gives_at_once))
def test_a_read_gives_the_message(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)
