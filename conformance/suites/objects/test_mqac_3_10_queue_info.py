"""MC-MQAC 3.10: MSMQQueueInfo, by its own answers and by what other objects see of the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import plans_queue_info as plans
from conformance.activex import plans_queue_info as values
from conformance.activex.plans import unimplemented
from conformance.activex.tables_queue_info import MEMBERS
from conformance.suites.objects import staging
from conformance.suites.objects.playing import Need, check, rows

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NOT_IMPLEMENTED = [member for member in MEMBERS if member.unimplemented]


@pytest.mark.parametrize("plans", staging.cases(plans.groups()))
def test_an_object_is_what_its_queue_is(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    staging.check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(NOT_IMPLEMENTED, unimplemented))
def test_members_that_do_nothing_say_so(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", staging.cases(values.value_groups()))
def test_a_property_takes_any_value_of_its_type(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    staging.check(plans, mq, judge, mq_need)
