"""MC-MQAC 3.6 and 3.9: transactions that a client begins, ends and attaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.ideal import judged
from conformance.activex.plans import transactions, unimplemented
from conformance.activex.tables_transactions import DISPENSER, TRANSACTION
from conformance.suites.objects.playing import Need, check, rows

PLANS = [
    pytest.param(plan, id=name, marks=pytest.mark.requirement(*judged([plan]))) for name, plan in transactions().items()
]
NOT_IMPLEMENTED = [member for member in (*DISPENSER, *TRANSACTION) if member.unimplemented]


if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plan", PLANS)
def test_transactions_end_once_they_are_there(plan: Plan, mq: Port, judge: Recorder, mq_need: Need) -> None:
    check([plan], mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(NOT_IMPLEMENTED, unimplemented))
def test_members_that_do_nothing_say_so(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)
