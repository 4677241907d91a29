"""MS-MQMQ 2.3.1.8 and 2.3.1.23: the label of a queue and its multicast address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis.strategies import SearchStrategy

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import (
    MULTICAST_ADDRESS,
    MULTICAST_CLASS,
    MULTICAST_RULE,
    MULTICAST_SHAPE,
    QUEUE_LABEL,
    QUEUE_LABEL_KEPT,
    QUEUE_LABEL_MAXIMUM,
    REFUSED_UNCHANGED,
    VALUE_CODE,
    TextCase,
)
from conformance.spec.versions import applies
from conformance.suites.names.checks import Need, inconclusive
from conformance.suites.names.texts import (
    PLAIN,
    edge_multicast_addresses,
    edge_queue_labels,
    multicast_addresses,
    queue_labels,
    set_and_judge,
    takes,
    text_queue,
)
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions


@pytest.mark.requirement(QUEUE_LABEL_MAXIMUM, QUEUE_LABEL_KEPT, REFUSED_UNCHANGED, VALUE_CODE)
def test_queue_label(mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """A label up to the greatest length is kept unchanged; a longer one is refused and not kept."""
    explore_property(
        QUEUE_LABEL, QUEUE_LABEL_MAXIMUM, edge_queue_labels(), queue_labels(), mq, judge, mq_need, run_options
    )


@pytest.mark.requirement(MULTICAST_SHAPE, MULTICAST_CLASS, MULTICAST_RULE, REFUSED_UNCHANGED)
def test_multicast_address(mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """An address that the rule derives is kept; another address, shape or port is refused and not kept."""
    if not applies(judge.profile, "msmq-3.0", None):
        judge.not_demanded(f"queues have no multicast address in {judge.profile}")
    edges, generated = edge_multicast_addresses(), multicast_addresses()
    explore_property(MULTICAST_ADDRESS, MULTICAST_RULE, edges, generated, mq, judge, mq_need, run_options)


def explore_property(
    name: str,
    demand: str,
    edges: Sequence[TextCase],
    generated: SearchStrategy[TextCase],
    mq: Port,
    judge: Recorder,
    mq_need: Need,
    options: RunOptions,
) -> None:
    """Judge generated values of a property, and a plain one before and after."""
    mq_need("queues.create", "queues.open", "queues.close", "queues.set")
    queue = text_queue(mq)
    if queue is None:
        judge.record(inconclusive(demand, "no queue could be created to set properties of"))
        return
    plain = PLAIN[name]
    if not takes(mq, queue, name, plain):
        judge.record(inconclusive(demand, f"{name} cannot be set to {plain} either"))
        return

    def try_(case: TextCase) -> None:
        judge.begin_example("text", {"case": case.to_json()})
        judge.record(*set_and_judge(case, queue, mq, judge.step, options))

    @from_options(options)
    @given(generated)
    def run(case: TextCase) -> None:
        try_(case)

    for case in edges:
        try_(case)
    run()
    again = takes(mq, queue, name, plain)
    outcome = Outcome.PASS if again else Outcome.FAIL
    judge.record(Verdict(demand, outcome, f"{name} {plain}, again", {"accepted": True}, {"accepted": again}))
