"""MS-MQQB 3.1.1.1.1.1, 3.1.5.3.2, 3.1.5.4.2: each state of an initiator with each kind of packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import INITIATOR_STATES, RETRIES
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases((*INITIATOR_STATES, *RETRIES)))
def test_a_state_meets_a_packet(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
