"""MS-MQMQ 2.1.1 to 2.1.4: the names a manager gives out follow the rules for names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.names.checks import Need, inconclusive
from conformance.suites.names.texts import DIRECT, KINDS, PATH, names_of, text_queue

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.requirement(PATH, DIRECT, *KINDS.values())
def test_names_of_a_queue(mq: Port, judge: Recorder, mq_need: Need) -> None:
    """The format name its creation answers with, and the path name among its properties."""
    mq_need("queues.create", "queues.open", "queues.close")
    judge.begin_example("given-out")
    queue = text_queue(mq)
    if queue is None:
        judge.record(inconclusive(DIRECT, "no queue could be created to be named"))
        return
    judge.step(f"create a queue, {queue!r}")
    judge.record(*names_of(queue, mq, judge.profile))
