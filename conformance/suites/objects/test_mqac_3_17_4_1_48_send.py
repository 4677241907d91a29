"""MC-MQAC 3.17.4.1.48: Send, by what it refuses and by the message that is received."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import plans_send
from conformance.activex.plans_send import groups
from conformance.suites.objects import staging
from conformance.suites.objects.playing import Need

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", staging.cases(groups()))
def test_a_message_is_sent(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    staging.check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", staging.cases(plans_send.together_groups()))
def test_several_messages_are_sent(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    staging.check(plans, mq, judge, mq_need)
