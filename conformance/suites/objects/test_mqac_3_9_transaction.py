"""MC-MQAC 3.6, 3.8 and 3.9: transactions that a client begins, ends and attaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import services_plans
from conformance.activex.plans import unimplemented
from conformance.activex.plans_send import transactions
from conformance.activex.tables_transactions import DISPENSER, TRANSACTION
from conformance.suites.objects import services, staging
from conformance.suites.objects.playing import Need, check, rows

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

PLANS = {name: (plan,) for name, plan in transactions().items()}
NOT_IMPLEMENTED = [member for member in (*DISPENSER, *TRANSACTION) if member.unimplemented]


@pytest.mark.parametrize("plans", staging.cases(PLANS))
def test_a_transaction_ends_once(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    staging.check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(NOT_IMPLEMENTED, unimplemented))
def test_members_that_do_nothing_say_so(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", services.cases(services_plans.interfaces_of_transactions()))
def test_what_a_transaction_hands_out_is_an_itransaction(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    mq_need("objects.query")
    services.check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", services.cases(services_plans.coordinated()))
def test_a_coordinated_transaction_gives_back_what_it_holds(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    """It is aborted: to commit it takes a coordinator."""
    services.check(plans, mq, judge, mq_need)
