"""Codes that refuse a message: MS-MQMQ 2.4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.properties.stories import SIZE, run_story

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.requirement(SIZE)
def test_a_correlation_identifier_of_another_size_is_refused(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need("queues.create", "queues.open", "messages.send", "transactions.begin", "transactions.abort")
    run_story("wrong-sizes", mq, judge)
