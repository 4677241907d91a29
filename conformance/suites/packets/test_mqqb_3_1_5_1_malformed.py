"""MS-MQQB 3.1.5.1.2 and 3.1.5.1.3, MS-MQMQ 2.2.19.2: packets that must be refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from conformance.suites.packets.cases import refuse_case
from conformance.suites.packets.malformed import MALFORMED, Malformed
from conformance.suites.packets.messages import base64_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=pytest.mark.requirement(case.requirement)) for case in MALFORMED],
)
def test_malformed_packets_are_refused(
    case: Malformed,
    mq: Port,
    mq_need: Callable[..., None],
    judge: Recorder,
    run_options: RunOptions,
) -> None:
    """A valid packet is read, the malformed one refused, and the valid one read again."""
    mq_need("packets.decode")
    data = case.data()
    judge.begin_example("packet", {"case": "refuse", "packet": base64_of(data), "requirement": case.requirement})
    what = case.name.replace("-", " ")
    judge.record(*refuse_case(mq, data, case.requirement, run_options, judge.step, what=what))
