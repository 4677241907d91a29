"""Walks with a coordinator that prepares, ends, tells twice and lets the manager restart: MS-MQDMPR 3.1.4.6 to .11."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk
from conformance.suites.coordinator.acts import DOUBTS, ENDS


@pytest.mark.requirement(*judged_in("coordinated"))
def test_a_walk_with_a_coordinator(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    walk(mq, judge, run_options, plans.COORDINATED)


@pytest.mark.requirement(*judged_in("recovered"))
def test_a_walk_with_restarts(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    mq_need(*NEEDS, *ENDS, *DOUBTS)
    walk(mq, judge, run_options, plans.RECOVERED)
