"""MC-MQAC 3.17: the properties of MSMQMessage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.plans import MESSAGE_PROPERTIES, message_property
from conformance.suites.objects.playing import Need, check, rows

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", rows(MESSAGE_PROPERTIES, message_property))
def test_a_message_keeps_what_is_put(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A new message shows the listed values, then those put; values outside are refused and change nothing."""
    check(plans, mq, judge, mq_need)
