"""MS-MQQB 3.1.1.6.1, 3.1.5.8.2, 3.1.5.8.7, 3.1.6.4: counts, marks and times of acknowledgments, round by round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_counts import ROUNDS
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(ROUNDS))
def test_each_round_is_counted_and_acknowledged_in_time(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
