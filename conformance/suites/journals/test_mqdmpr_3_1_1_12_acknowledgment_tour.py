"""A tour of acknowledgments: every kind asked for, every end of a message, in every order: MS-MQDMPR 3.1.1.12."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.switch_cover import acknowledged, tour
from conformance.histories.walk import NEEDS


@pytest.mark.requirement(
    *(f"MQDMPR-3.1.1.12.ack-{word}" for word in ("pos-arrival", "pos-receive")),
    "MQDMPR-3.1.7.1.4.nack-queue-deleted",
    "MQDMPR-3.1.7.1.7.nack-queue-purged",
)
def test_acknowledgments_are_read_after_every_step(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "reset", "clock.now")
    tour(mq, judge, run_options, acknowledged(restarts=mq.keeps_state))
