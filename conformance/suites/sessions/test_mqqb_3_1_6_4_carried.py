"""MS-MQQB 3.1.6.3, 3.1.6.4, 3.1.7.11: counts and marks that a message carries, timers in a stream of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_counts import CARRIED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(CARRIED))
def test_counts_are_carried_and_sent_in_time(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
