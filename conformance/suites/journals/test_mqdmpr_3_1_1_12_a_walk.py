"""Journals, dead letters, acknowledgments and times to be received, in whatever order: MS-MQDMPR 3.1.1.12, 3.1.2.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.stateful import claims, plans
from conformance.suites.stateful.examples_keeping import KEEPS
from conformance.suites.stateful.machine import walk

OFFERED = ("messages.peek", "queues.purge", "clock.advance", "clock.now", "transactions.begin", "transactions.commit")


@pytest.mark.requirement(*claims.JOURNALS)
def test_a_walk_with_journals(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*KEEPS, *OFFERED, "transactions.abort")
    walk(mq, judge, run_options, plans.JOURNALS, share=0.5)
