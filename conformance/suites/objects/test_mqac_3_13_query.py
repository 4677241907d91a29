"""MC-MQAC 3.13, 3.14 and what else looks at a directory: 3.2.4.1.1, 3.12.6.1, 3.1.6.2. The plans give the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import plans_events
from conformance.suites.objects import services
from conformance.suites.objects.playing import Need

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("plans", services.cases(plans_events.query_groups()))
def test_a_query_finds_what_the_directory_has(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    mq_need("directory")
    services.check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", services.cases(plans_events.without_directory()))
def test_what_no_query_made_has_nothing_to_give(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    services.check(plans, mq, judge, mq_need)
