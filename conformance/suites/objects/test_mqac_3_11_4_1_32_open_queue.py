"""MC-MQAC 3.11.4.1.1 to .6, .9, .10, .20, .31 and .32: what an open queue tells of itself; Close, Reset and Purge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.plans_reads import GETTERS, getter, methods, notification
from conformance.activex.reference_answers import judged
from conformance.suites.objects.playing import Need, check, rows

PLANS, NOTIFICATIONS = (
    [pytest.param(plan, id=name, marks=pytest.mark.requirement(*judged([plan]))) for name, plan in plans.items()]
    for plans in (methods(), notification())
)

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", rows(GETTERS, getter))
def test_an_open_queue_tells_how_it_was_opened(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plan", PLANS)
def test_close_reset_and_purge(plan: Plan, mq: Port, judge: Recorder, mq_need: Need) -> None:
    check([plan], mq, judge, mq_need)


@pytest.mark.parametrize("plan", NOTIFICATIONS)
def test_notification_is_refused(plan: Plan, mq: Port, judge: Recorder, mq_need: Need) -> None:
    check([plan], mq, judge, mq_need)
