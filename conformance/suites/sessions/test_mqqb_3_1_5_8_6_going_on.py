"""MS-MQQB 3.1.5.8.6, 3.1.6.9, 3.1.7.17: sequences that go on, begin anew, or repeat a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sequences import GOING_ON
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(GOING_ON))
def test_a_sequence_goes_on(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
