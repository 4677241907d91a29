"""A walk of sends, transfers, acknowledgments, actions and looks at everything that management shows: MS-MQMR 3.1.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import PLAYED
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk


@pytest.mark.requirement(*judged_in("management"))
def test_a_walk_with_management(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *PLAYED, "management.get", "management.act", "transactions.begin", "transactions.commit")
    mq.need("format_names", "remote")
    walk(mq, judge, run_options, plans.MANAGEMENT)
