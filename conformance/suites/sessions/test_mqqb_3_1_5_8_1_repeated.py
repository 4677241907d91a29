"""MS-MQQB 3.1.5.8.1, 3.1.6.7, 3.1.7.1.2: messages of each kind that come again, or too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sequences import REPEATED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(REPEATED))
def test_each_message_is_taken_once_and_in_time(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
