"""All events of MS-MQDMPR 3.1.7 and 3.1.4 in one walk, to show defects that need two of the other walks."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import plans
from conformance.histories.walk import NEEDS, walk

SUBQUEUES = ("messages.move", "transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement("MQDMPR-3.1.7.1.3.success", "MQDMPR-3.1.7.1.5.success", "MQDMPR-3.1.7.1.9.success")
def test_a_walk_with_everything(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *SUBQUEUES)
    walk(mq, judge, run_options, plans.EVERYTHING)
