"""Journals, dead letters, acknowledgments and times to be received, in any order: MS-MQDMPR 3.1.1.12, 3.1.2.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.examples import KEEPS
from conformance.histories.plans import judged_in
from conformance.histories.walk import walk

OFFERED = ("messages.peek", "queues.purge", "clock.advance", "clock.now", "transactions.begin", "transactions.commit")


@pytest.mark.requirement(*judged_in("journals"))
def test_a_walk_with_journals(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*KEEPS, *OFFERED, "transactions.abort")
    walk(mq, judge, run_options, plans.JOURNALS)
