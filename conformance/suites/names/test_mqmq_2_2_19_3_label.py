"""MS-MQDMPR 3.1.1.12 and MS-MQMQ 2.4: the label of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import LABEL_CODE, LABEL_LENGTH, LABEL_TOO_LONG, LABEL_UNCHANGED
from conformance.suites.names.checks import Need, inconclusive
from conformance.suites.names.texts import edge_labels, labels, open_both, send_and_judge, text_queue

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions


@pytest.mark.requirement(LABEL_LENGTH, LABEL_UNCHANGED, LABEL_TOO_LONG, LABEL_CODE)
def test_label(mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """A label up to the longest is received as it was sent, a longer one refused or cut."""
    mq_need("queues.create", "queues.open", "queues.close", "messages.send", "messages.receive")
    queue = text_queue(mq)
    handles = open_both(mq, queue) if queue is not None else None
    if handles is None:
        judge.record(inconclusive(LABEL_LENGTH, "no queue could be created and opened to send labels to"))
        return

    def try_(label: str) -> None:
        judge.begin_example("label", {"label": label})
        judge.record(*send_and_judge(label, handles, mq, judge.step, run_options))

    @from_options(run_options)
    @given(labels())
    def run(label: str) -> None:
        try_(label)

    for label in edge_labels():
        try_(label)
    run()
    judge.begin_example("label", {"label": "orders"})
    judge.record(*send_and_judge("orders", handles, mq, judge.step, run_options))
    for handle in handles:
        mq.call("queues.close", queue=handle)
