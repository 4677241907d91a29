"""MS-MQQB 3.1.1.6, 3.1.7.3: sessions over a network that cuts, delays, doubles and reorders what goes over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.judge.dialogues.walk_plans import claims, plans
from conformance.suites.sessions.walking import check, planned, wander

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.judge.dialogues.walk_plans import Plan

_ALL: Final = tuple(dict.fromkeys(name for plan in plans().values() for name in claims(plan.acts)))


@pytest.mark.parametrize("plan", planned(plans().values()))
def test_a_fault_of_the_network_loses_and_doubles_nothing(plan: Plan, mq: Port, judge: Recorder) -> None:
    check(plan, mq, judge)


@pytest.mark.requirement(*_ALL)
def test_faults_in_any_order_lose_and_double_nothing(mq: Port, judge: Recorder, run_options: RunOptions) -> None:
    wander(mq, judge, run_options, _ALL)
