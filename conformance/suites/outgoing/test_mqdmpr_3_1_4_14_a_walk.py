"""A walk among queues on other computers, paused and not, and local ones: MS-MQDMPR 3.1.4.14-15, 3.1.7.3.9."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.plans import judged_in
from conformance.histories.walk import NEEDS, walk

OUTGOING = ("outgoing.pause", "outgoing.resume", "outgoing.take")
ENDS = ("transactions.begin", "transactions.commit")


@pytest.mark.requirement(*judged_in("outgoing"))
def test_a_walk_among_outgoing_queues(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *OUTGOING, *ENDS)
    mq.need("format_names", "remote")
    walk(mq, judge, run_options, plans.OUTGOING)
