"""MS-MQQB 3.1.1.1.1.2, 3.1.5.1 to 3.1.5.8: each state of an acceptor with each kind of packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import STATES, WAYS_IN
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases((*STATES, *WAYS_IN)))
def test_a_state_meets_a_packet(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
