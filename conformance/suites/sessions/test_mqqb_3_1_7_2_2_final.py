"""MS-MQQB 2.2.5.1, 3.1.7.2.2: what a message asks for to have a FinalAck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sequences import FINALS
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(FINALS))
def test_a_final_acknowledgment_is_sent_as_asked(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
