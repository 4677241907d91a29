"""Tours: each step follows each other one, and all that management shows is read after each: MS-MQMR 3.1.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import GET, PLAYED, properties_of
from conformance.histories.switch_cover import TOURS, tour
from conformance.histories.walk import NEEDS
from conformance.model.management_rows import MACHINE, QUEUE


@pytest.mark.requirement(
    "MQMR-3.1.4.1.get",
    "MQMQ-2.3.11.2.propid-mgmt-msmq-privateq",
    "MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues",
    "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue",
    "MQDMPR-3.1.1.2.active",
)
@pytest.mark.parametrize("name", TOURS)
def test_everything_is_shown_after_every_step(mq: Any, judge: Any, run_options: Any, mq_need: Any, name: str) -> None:
    mq_need(*NEEDS, GET, "reset", "clock.now", *(PLAYED if name == "outgoing" else ()))
    if name == "outgoing":
        mq.need("format_names", "remote")
    properties = (*properties_of(MACHINE, judge.profile), *properties_of(QUEUE, judge.profile))
    tour(mq, judge, run_options, TOURS[name](properties, restarts=mq.keeps_state))
