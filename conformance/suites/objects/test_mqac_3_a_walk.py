"""MC-MQAC 3: walks over queue objects, messages and transactions, with fixed seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex.ideal import judged
from conformance.activex.walk import walks
from conformance.suites.objects.playing import Need, check

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

WALKS = 60
ROWS = [
    pytest.param(plan, id=str(seed), marks=pytest.mark.requirement(*judged([plan])))
    for seed, plan in enumerate(walks(WALKS))
]


@pytest.mark.parametrize("plan", ROWS)
def test_a_walk(plan: Plan, mq: Port, judge: Recorder, mq_need: Need) -> None:
    check([plan], mq, judge, mq_need)
