"""MC-MQAC 2.2.2.1, 3.7 and 3.8, MS-MQMP 3.1.4.13: objects in transactions of a coordinator, which mqconform plays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import plans_coordinated
from conformance.suites.objects import services
from conformance.suites.objects.playing import Need

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", services.cases(plans_coordinated.dispensed(), services.COORDINATED))
def test_a_dispenser_begins_at_the_coordinator(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need, services.COORDINATED)


@pytest.mark.parametrize("plans", services.cases(plans_coordinated.ended(), services.COORDINATED))
def test_the_coordinator_is_asked_for_an_end(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    services.check(plans, mq, judge, mq_need, services.COORDINATED)


@pytest.mark.parametrize("plans", services.cases(plans_coordinated.in_context(known=True), services.COORDINATED))
def test_an_operation_is_part_of_the_transaction_of_its_caller(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need, services.COORDINATED)


@pytest.mark.parametrize("plans", services.cases(plans_coordinated.in_context(known=False), services.COORDINATED))
def test_a_transaction_that_the_manager_does_not_know_is_taken_in(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need, services.COORDINATED)


@pytest.mark.parametrize("plans", services.cases(plans_coordinated.beside_context(), services.COORDINATED))
def test_an_argument_goes_before_the_context(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    services.check(plans, mq, judge, mq_need, services.COORDINATED)


@pytest.mark.parametrize("plans", services.cases(plans_coordinated.enlistments(), services.COORDINATED))
def test_the_manager_is_refused_a_transaction(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need, services.COORDINATED)
