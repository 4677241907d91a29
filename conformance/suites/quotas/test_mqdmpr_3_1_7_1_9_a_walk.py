"""Quotas and counts among transactions, purges and receives: MS-MQDMPR 3.1.7.1.9, 3.1.1.2."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import KEEPS
from conformance.histories.plans import judged_in
from conformance.histories.walk import walk

OFFERED = ("messages.peek", "queues.purge", "queues.counts", "transactions.begin", "transactions.commit")


@pytest.mark.requirement(*judged_in("quotas"))
def test_a_walk_with_quotas(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*KEEPS, *OFFERED, "transactions.abort")
    walk(mq, judge, run_options, plans.QUOTAS)
